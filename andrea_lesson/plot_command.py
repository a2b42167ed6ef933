"""The command ``andrea-lesson plot``: a figure for a handout or a paper, without a notebook."""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .experiments import LONGEST, WIDEST, random_qkv
from .figure_parts import BoolArray
from .figure_style import FORMATS
from .installation import prints_chinese
from .labels import LANGUAGES, label, language
from .masks import (
    causal_mask,
    document_mask,
    full_mask,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
)
from .plotting import (
    draw_attention_steps,
    draw_mask,
    draw_scores,
    draw_weights,
    kept_figure,
    save,
    style,
)
from .scaled_dot_product import attention_steps

PICTURES = ("mask", "scores", "weights", "steps")
KINDS = ("full", "causal", "sliding-window", "prefix", "padding", "documents")
COLOURS = ("auto", "absolute", "relative")
_HIGHEST_SEED = 2**32 - 1


class _BadArgumentError(Exception):
    """A sentence for the person who typed the command, in the language in force when shown."""

    def __init__(self, key: str, **places: Any) -> None:
        self.key, self.places = key, places

    def __str__(self) -> str:
        return label(self.key, **self.places)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command understands.

    Values are taken as text here and read in :func:`run`, so that a bad one is answered in the
    language of the figure.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    """
    parser.description = (
        "Draw a mask, or the scores, weights or all steps of attention for random Q, K and V. "
        "畫出遮罩，或隨機 Q、K、V 的分數、權重與所有步驟。"
    )
    parser.epilog = (
        "andrea-lesson plot mask --kind sliding-window --window 4 --T 16 -o mask.svg; "
        "andrea-lesson plot weights --T 32 --d-k 64 --seed 0 -o w.png"
    )
    parser.add_argument("picture", nargs="?", metavar="{" + ",".join(PICTURES) + "}")
    parser.add_argument("-o", "--output", metavar="FILE", help="ends in .png, .svg or .pdf")
    parser.add_argument("--T", default=None, metavar="N", help="positions (default: 16)")
    parser.add_argument("--d-k", metavar="N", help="width of a head (default: 64)")
    parser.add_argument("--seed", metavar="N", help="seed of the random numbers (default: 0)")
    parser.add_argument(
        "--kind",
        "--mask",
        dest="kind",
        metavar="KIND",
        help=f"{', '.join(KINDS)} (default: causal for plot mask, else full)",
    )
    parser.add_argument("--window", metavar="N", help="of sliding-window: keys seen, itself too")
    parser.add_argument("--prefix", metavar="N", help="of prefix: keys open to all")
    parser.add_argument(
        "--lengths",
        metavar="N[,N...]",
        help="of documents: their lengths, such as 6,4,6; of padding: the true length",
    )
    parser.add_argument("--no-scale", action="store_true", help="leave out the division by √d_k")
    parser.add_argument(
        "--color",
        metavar="MODE",
        help=f"of weights and steps: {', '.join(COLOURS)} (default: {COLOURS[0]})",
    )
    parser.add_argument("--lang", default=LANGUAGES[0], metavar="LANG", help=" or ".join(LANGUAGES))


def run(args: argparse.Namespace) -> int:
    """Draw and write one figure.

    Parameters
    ----------
    args : argparse.Namespace
        As parsed by a parser with :func:`add_arguments`.

    Returns
    -------
    int
        0 when the file is written; 2 when a value is wrong: then one sentence says which, and
        nothing is written.
    """
    known = args.lang in LANGUAGES
    figures = args.lang if known else LANGUAGES[0]
    spoken = figures if prints_chinese(sys.stderr) else "en"  # a figure needs no such terminal
    try:
        if not known:
            raise _one_of("--lang", args.lang, LANGUAGES)
        with language(figures):
            path = _write(args)
    except (_BadArgumentError, ValueError, TypeError) as error:
        with language(spoken):
            print(error, file=sys.stderr)
        return 2
    except OSError as error:
        reason = error.strerror or str(error)
        with language(spoken):
            print(label("plot_cannot_write", path=args.output, reason=reason), file=sys.stderr)
        return 2
    with language(spoken):
        print(label("plot_written", path=path))
    return 0


def _write(args: argparse.Namespace) -> str:
    if args.picture not in PICTURES:
        raise _one_of("plot", args.picture or "", PICTURES)
    if not args.output:
        raise _BadArgumentError("plot_no_output")
    path = Path(args.output)
    if path.suffix.lower() not in FORMATS:
        raise _BadArgumentError("plot_suffix", name=path.name, formats=", ".join(FORMATS))
    if not path.parent.is_dir():
        raise _BadArgumentError("plot_no_folder", folder=path.parent)
    _check_picture(args)
    color = args.color or COLOURS[0]
    if color not in COLOURS:
        raise _one_of("--color", args.color, COLOURS)
    kind = args.kind or ("causal" if args.picture == "mask" else "full")
    kind = "documents" if kind == "document" else kind
    mask, mask_words = _mask(args, kind)
    if args.picture == "mask":
        figure, (ax,) = kept_figure(side=4.0)
        draw_mask(ax, mask, title=mask_words)
    else:
        figure = _of_random_vectors(args, len(mask), None if kind == "full" else mask, color)
    save(figure, args.output)
    return str(args.output)


def _of_random_vectors(args: argparse.Namespace, T: int, mask: BoolArray | None, color: str) -> Any:
    d_k = 64 if args.d_k is None else _whole("--d-k", args.d_k, 1, WIDEST)
    seed = 0 if args.seed is None else _whole("--seed", args.seed, 0, _HIGHEST_SEED)
    steps = attention_steps(
        *random_qkv(T, d_k, seed=seed), mask=mask, scale=1.0 if args.no_scale else None
    )
    figure, axes = kept_figure(5, side=2.4) if args.picture == "steps" else kept_figure(side=4.0)
    with style():
        key = "plot_random_unscaled" if args.no_scale else "plot_random"
        words = label(key, T=T, d_k=d_k, seed=seed)
        scores = label("scores" if args.no_scale else "scaled_scores")
        weights = label("weights")
        if args.picture == "steps":
            draw_attention_steps(axes, steps, color=color)
            figure.text(0.5, 1.0, words, ha="center", va="bottom")
        elif args.picture == "weights":
            title = f"{weights}\n{words}"
            draw_weights(axes[0], steps.weights, mask=mask, title=title, color=color)
        else:
            draw_scores(axes[0], steps.scaled_scores, mask=mask, title=f"{scores}\n{words}")
    return figure


def _mask(args: argparse.Namespace, kind: str) -> tuple[BoolArray, str]:
    """The mask that is asked for, and what it is in words."""
    if kind not in KINDS:
        raise _one_of("--kind", kind, KINDS)
    _check_belongs(args, kind)
    T = 16 if args.T is None else _whole("--T", args.T, 1, LONGEST)
    if kind == "sliding-window":
        window = _whole("--window", args.window, 1, LONGEST)
        return sliding_window_mask(T, window=window), label(f"plot_{kind}", window=window)
    if kind == "prefix":
        prefix = _whole("--prefix", args.prefix, 0, T)
        return prefix_mask(T, prefix=prefix), label(f"plot_{kind}", prefix=prefix)
    if kind == "padding":
        length = _whole("--lengths", args.lengths, 0, T)
        mask = np.broadcast_to(padding_mask([length], T)[0], (T, T))
        return mask, label(f"plot_{kind}", lengths=length)
    if kind == "documents":
        lengths = [_whole("--lengths", part, 1, LONGEST) for part in args.lengths.split(",")]
        if args.T is not None and sum(lengths) != T:
            raise _BadArgumentError("plot_sum", T=T, total=sum(lengths))
        if sum(lengths) > LONGEST:
            raise _BadArgumentError("plot_sum_too_long", high=LONGEST, total=sum(lengths))
        documents = np.repeat(np.arange(len(lengths)), lengths)
        words = label(f"plot_{kind}", lengths=", ".join(map(str, lengths)))
        return document_mask(documents), words
    return {"full": full_mask, "causal": causal_mask}[kind](T), label(f"plot_{kind}")


def _check_picture(args: argparse.Namespace) -> None:
    """Each option of the random vectors has an effect on the picture that is asked for."""
    for option, given, wanted in (
        ("--d-k", args.d_k is not None, PICTURES[1:]),
        ("--seed", args.seed is not None, PICTURES[1:]),
        ("--no-scale", args.no_scale, PICTURES[1:]),
        ("--color", args.color is not None, PICTURES[2:]),
    ):
        if given and args.picture not in wanted:
            words = " / ".join(wanted)
            raise _BadArgumentError("plot_not_used", option=option, wanted=words, kind=args.picture)


def _check_belongs(args: argparse.Namespace, kind: str) -> None:
    """An option that has no effect is likely a slip, and so is one that is missing."""
    for option, value, wanted in (
        ("--window", args.window, ("sliding-window",)),
        ("--prefix", args.prefix, ("prefix",)),
        ("--lengths", args.lengths, ("padding", "documents")),
    ):
        if value is not None and kind not in wanted:
            words = " / ".join(f"--kind {one}" for one in wanted)
            raise _BadArgumentError("plot_not_used", option=option, wanted=words, kind=kind)
        if value is None and kind in wanted:
            raise _BadArgumentError("plot_needs", option=option, kind=kind)


def _whole(option: str, text: str, low: int, high: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise _BadArgumentError("plot_whole", option=option, value=text, low=low, high=high)
    return value


def _one_of(option: str, value: str, choices: tuple[str, ...]) -> _BadArgumentError:
    return _BadArgumentError("plot_one_of", option=option, value=value, choices=", ".join(choices))

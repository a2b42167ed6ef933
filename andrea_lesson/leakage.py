"""The leakage lab: what five ways from scores to weights make of a decoder that learns to write.

The runs ship as ``data/leakage.json``; ``python -m andrea_lesson.training leakage`` makes them
again, and :func:`train_leakage` any one of them, in seconds.  `decoder.py` holds the decoder and
the five ways, `honest.py` the measures, `writing.py` the training.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from . import decoder, honest, optimisers, writing
from .data_files import begun_before, damaged, data_path, made_by, read_json, write_json
from .decoder import VARIANTS as VARIANTS
from .decoder import Size
from .honest import LANGUAGES as LANGUAGES
from .honest import text_name
from .masks import check_whole
from .random_scores import FloatArray, kept
from .writing import STEPS as STEPS
from .writing import LeakageRun as LeakageRun
from .writing import LeakageSetting as LeakageSetting
from .writing import Progress, T
from .writing import train_leakage as train_leakage

NAME = "leakage.json"
COMMAND = "python -m andrea_lesson.training leakage --anew"
SEEDS = (0, 1, 2)

_LOSSES = ("training_loss", "teacher_loss", "honest_loss")


@dataclass(frozen=True, eq=False)
class LeakageResults:
    """The runs made so far, and what made them: command, versions, a SHA-256 of each file."""

    runs: Mapping[LeakageSetting, LeakageRun]
    made_by: Mapping[str, Any]

    @property
    def complete(self) -> bool:
        """Whether every run is made."""
        return all(setting in self.runs for setting in all_settings())


def all_settings() -> Iterator[LeakageSetting]:
    """Every run that ships, one seed after the other."""
    for seed in SEEDS:
        for language in LANGUAGES:
            for variant in VARIANTS:
                yield LeakageSetting(variant, language, seed=seed)


def load_leakage(path: Path | None = None, *, seed: int = 0) -> dict[tuple[str, str], LeakageRun]:
    """Read the runs of a seed that ship, or those of another file.

    Parameters
    ----------
    path : Path, optional
    seed : int

    Returns
    -------
    dict of (variant, language) to LeakageRun

    Raises
    ------
    DataFileError
        In one sentence that says how to make the file again, if it is missing or damaged.
    """
    if check_whole("seed", seed, 0) not in SEEDS:
        raise ValueError(f"seed must be one of {SEEDS}; got {seed}.")
    runs = load_results(path).runs.items()
    return {(s.variant, s.language): one for s, one in runs if s.seed == seed}


def load_results(path: Path | None = None) -> LeakageResults:
    """Read all that ships, or another file; errors as in :func:`load_leakage`."""
    path = data_path(NAME) if path is None else path
    content = read_json(path, COMMAND)
    known = set(all_settings())
    try:
        runs = {}
        for row in content["runs"]:
            run = _run(row)
            if run.setting not in known:
                raise ValueError(f"a run that is not among those that ship: {run.setting}")
            runs[run.setting] = run
        return LeakageResults(runs, dict(content["made_by"]))
    except KeyError as error:
        raise damaged(path, COMMAND, f"no entry {error}") from None
    except (TypeError, ValueError) as error:
        raise damaged(path, COMMAND, error) from None


def save_results(results: LeakageResults, path: Path) -> None:
    """Save results, whole or not at all."""
    rows = []
    for setting, one in results.runs.items():
        arrays = {name: getattr(one, name).tolist() for name in ("step", *_LOSSES, "probe")}
        names = ("uniform_loss", "unigram_loss", "changed", "characters", "prompt", "sample")
        plain = {name: getattr(one, name) for name in names}
        weights = {"weights": one.weights.round(4).tolist()}
        rows.append({**vars(setting), **arrays, **plain, **weights})
    write_json(path, {"made_by": dict(results.made_by), "runs": rows})


def make_leakage(
    path: Path, *, anew: bool = False, progress: Progress | None = None
) -> Iterator[LeakageResults]:
    """Make what is not made yet, run by run, and save each at once.

    Parameters
    ----------
    path : Path
        The file; what it holds already is kept.
    anew : bool
        Whether to begin from nothing instead.
    progress : callable, optional
        As in :func:`train_leakage`.

    Yields
    ------
    LeakageResults
        After each run, when it is saved: who stops here loses nothing.

    Raises
    ------
    DataFileError
        If the file that is there is damaged, or was begun by other code or versions.
    """
    present = what_makes_it()
    before = None if anew else begun_before(path, load_results, present, COMMAND)
    results = before or LeakageResults({}, present)
    for setting in all_settings():
        if setting not in results.runs:
            one = train_leakage(setting, progress=progress)
            results = replace(results, runs={**results.runs, setting: one})
            save_results(results, path)
            yield results


def what_makes_it() -> dict[str, Any]:
    """What makes the results here: the command, versions, and code and texts by their SHA-256."""
    modules = (decoder, honest, optimisers, writing)
    code = [Path(str(module.__file__)) for module in modules]
    return made_by(COMMAND, code + [data_path(text_name(language)) for language in LANGUAGES])


def _run(row: Mapping[str, Any]) -> LeakageRun:
    """Read a run, and refuse what cannot be one."""
    setting = LeakageSetting(**{name: row[name] for name in vars(LeakageSetting())})
    step = np.array(row["step"])
    if step.dtype != int or step.ndim != 1 or step[-1:] != [setting.steps]:
        raise ValueError(f"step {row['step']} does not end with {setting.steps}")
    words = {name: row[name] for name in ("characters", "prompt", "sample")}
    if not all(isinstance(value, str) for value in words.values()) or len(row["characters"]) != T:
        raise ValueError(f"characters {row['characters']!r}, or prompt, or sample is no text")
    return LeakageRun(
        setting=setting,
        step=kept(step),
        training_loss=_numbers(row, "training_loss", step.shape),
        teacher_loss=_numbers(row, "teacher_loss", step.shape),
        honest_loss=_numbers(row, "honest_loss", step.shape),
        uniform_loss=float(_numbers(row, "uniform_loss", ())),
        unigram_loss=float(_numbers(row, "unigram_loss", ())),
        probe=_numbers(row, "probe", (T,)),
        changed=check_whole("changed", row["changed"], 0, T - 1),
        weights=_numbers(row, "weights", (Size.n_head, T, T)),
        **words,
    )


def _numbers(row: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> FloatArray:
    """Finite numbers that are not negative, in a shape."""
    numbers = np.array(row[name], dtype=float)
    if numbers.shape != shape or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ValueError(f"{name} is not {shape} of finite numbers from 0 on")
    return kept(numbers)

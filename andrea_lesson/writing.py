"""A decoder learns to write, with a right mask or a wrong one, and is measured on the way.

A wrong mask shows its best side in training: who sees the next character finds it easy to
predict.  So each decoder is measured honestly as well, on text it has not seen (`honest.py`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .decoder import (
    VARIANTS,
    Decoder,
    Room,
    Size,
    decoder_of,
    gradients,
    loss_and_gradient,
    random_decoder,
    run,
)
from .honest import (
    LANGUAGES,
    even_starts,
    excerpts,
    honest_loss,
    probe_decoder,
    read_text,
    teacher_loss,
    unigram_loss,
    write,
)
from .inputs import Array
from .masks import check_whole
from .optimisers import Adam
from .random_scores import FloatArray, check_one_of, kept
from .threads import one_blas_thread, share_out

STEPS, EVERY = 2000, 50  # steps of a training; from one look to the next
HALVES = 2  # parts of a batch that are worked on at the same time
T, BATCH, MEASURED = 48, 16, 24  # characters of an excerpt; excerpts of a step, and of a look
# The learning rate falls evenly to nothing, and the weight matrices shrink by η times DECAY in
# each step.  Without that a decoder soon knows so short a text by heart, and a loss on other
# text that rises for this reason would look like a leak.  The Chinese text has fewer characters.
ETA = 0.002
DECAY = {"zh-Hant": 2.0, "en": 1.0}
PROMPT, SAMPLE = {"zh-Hant": 4, "en": 10}, 100  # characters given, and written
Progress = Callable[[int, int], Any]


@dataclass(frozen=True)
class LeakageSetting:
    """What is trained; checked when it is made.

    Attributes
    ----------
    variant : str
        One of VARIANTS; see :func:`~andrea_lesson.decoder.allowed_by`.
    language : {"zh-Hant", "en"}
        Of the text.
    n_block : int
        1 or 2.
    steps : int
        1…100,000.
    seed : int
    """

    variant: str = "causal"
    language: str = "zh-Hant"
    n_block: int = 1
    steps: int = STEPS
    seed: int = 0

    def __post_init__(self) -> None:
        check_one_of("variant", self.variant, VARIANTS)
        check_one_of("language", self.language, LANGUAGES)
        check_whole("n_block", self.n_block, 1, 2)
        check_whole("steps", self.steps, 1, 100_000)
        check_whole("seed", self.seed, 0)


@dataclass(frozen=True, eq=False)
class LeakageRun:
    r"""What a training showed; losses in nats a character.

    Attributes
    ----------
    setting : LeakageSetting
    step : ndarray of int, shape (looks,)
    training_loss : ndarray, shape (looks,)
        On training text, with teacher forcing and the decoder's own attention.
    teacher_loss : ndarray, shape (looks,)
        The same on held-out text.
    honest_loss : ndarray, shape (looks,)
        On held-out text, each character predicted from nothing but those before it.
    uniform_loss, unigram_loss : float
        Of a guess that takes all characters for equally likely, and of one that knows how
        common each is; on held-out text.
    probe : ndarray, shape (T,)
        Causality probe of the whole decoder: how far the log-probabilities in each row of the
        excerpt move at most when character `changed` is replaced by any other.  In rows before
        `changed`, 0 is right.
    changed : int
    characters : str
        T characters of held-out text, for the probe and the weights; ``"\n"`` ends a sentence.
    weights : ndarray, shape (n_head, T, T)
        On these characters, in the first block; to four digits where they come from the file.
    prompt, sample : str
        What the decoder was given, and what it went on with, one character at a time.
    """

    setting: LeakageSetting
    step: NDArray[np.int_]
    training_loss: FloatArray
    teacher_loss: FloatArray
    honest_loss: FloatArray
    uniform_loss: float
    unigram_loss: float
    probe: FloatArray
    changed: int
    characters: str
    weights: FloatArray
    prompt: str
    sample: str

    def distance(self, other: "LeakageRun") -> float:
        """Largest difference in a loss, as a share of the loss where that is above 1."""
        names = ("training_loss", "teacher_loss", "honest_loss", "uniform_loss", "unigram_loss")
        pairs = [(np.asarray(getattr(self, n)), np.asarray(getattr(other, n))) for n in names]
        return float(max((np.abs(a - b) / np.maximum(b, 1)).max() for a, b in pairs))


# -- training --------------------------------------------------------------------------------------


def train_leakage(setting: LeakageSetting, *, progress: Progress | None = None) -> LeakageRun:
    """Let a decoder learn to write, and measure what it can do.

    Claim: without a mask, or with the mask inverted, the loss of training falls towards 0, as
    the next character is there to be copied, and honestly the decoder writes worse than the
    right one.  A mask after softmax leaks too, through the denominator; how much of that a
    decoder comes to use differs from seed to seed.  A hidden diagonal does not leak, and costs
    little, since the residual connection carries the present character past the attention.

    Parameters
    ----------
    setting : LeakageSetting
    progress : callable, optional
        Told the steps done and the steps in all, at every look; what it raises ends the training.

    Returns
    -------
    LeakageRun

    Notes
    -----
    On one machine the same setting gives the same numbers.  Another one rounds otherwise, in
    the eighth digit: after 100 steps losses were 0.0001 apart, and in the course of 2,000 steps
    up to 0.7 %.
    """
    with one_blas_thread():
        return _train(setting, progress)


def _train(setting: LeakageSetting, progress: Progress | None) -> LeakageRun:
    text, variant, seed = read_text(setting.language), setting.variant, setting.seed
    known = excerpts(text.training, T, even_starts(text.training, T, MEASURED))
    unseen = excerpts(text.held_out, T, even_starts(text.held_out, T, MEASURED))
    rows = []
    for step, decoder in learn_to_write(setting):
        if step % EVERY == 0 or step == setting.steps:
            known_loss = teacher_loss(decoder, *known, variant)
            unseen_losses = [
                loss(decoder, *unseen, variant) for loss in (teacher_loss, honest_loss)
            ]
            rows.append((step, known_loss, *unseen_losses))
            if progress is not None:
                progress(step, setting.steps)
    steps, training_losses, teacher_losses, honest_losses = np.array(rows).T
    excerpt, changed, prompt = unseen[0][0], T // 2, text.held_out[: PROMPT[setting.language]]
    sample = write(decoder, prompt, variant, SAMPLE, np.random.default_rng([seed, 5]))
    weights = run(decoder, excerpt[None], variant).blocks[0].weights[0]
    return LeakageRun(
        setting=setting,
        step=kept(steps.astype(int)),
        training_loss=kept(training_losses.copy()),
        teacher_loss=kept(teacher_losses.copy()),
        honest_loss=kept(honest_losses.copy()),
        uniform_loss=float(np.log(len(text.characters))),
        unigram_loss=unigram_loss(text),
        probe=kept(probe_decoder(decoder, excerpt, variant, changed)),
        changed=changed,
        characters=text.words(excerpt),
        weights=kept(weights.astype(float)),
        prompt=text.words(prompt),
        sample=text.words(sample),
    )


def learn_to_write(
    setting: LeakageSetting, *, move: Callable[[Any], Array] = np.asarray
) -> Iterator[tuple[int, Decoder]]:
    """Train a decoder; gives it as it begins, and after each step.

    Parameters
    ----------
    setting : LeakageSetting
    move : callable, optional
        Turns NumPy arrays into those to compute with; ``cupy.asarray`` for a GPU.

    Yields
    ------
    step : int
    decoder : Decoder
        With its parameters where `move` put them.
    """
    text = read_text(setting.language)
    size = Size(len(text.characters), T, n_block=setting.n_block)
    rng = np.random.default_rng([setting.seed, 4])
    decoder = decoder_of(size, move(random_decoder(size, setting.seed).flat))
    optimiser, rooms = Adam([ETA], [1e-8]), [Room(decoder.flat) for _ in range(HALVES)]
    yield 0, decoder
    for step in range(setting.steps):
        starts = rng.integers(0, len(text.training) - T, BATCH)
        characters, following = map(move, excerpts(text.training, T, starts))
        slope = slope_of(decoder, characters, following, setting.variant, rooms)
        eta = ETA * (1 - step / setting.steps)
        optimiser.eta = [eta]
        (flat,) = optimiser.step([decoder.flat], [slope])
        matrices = decoder.embedding.size + decoder.positions.size  # where they begin
        flat[matrices:] -= eta * DECAY[setting.language] * decoder.flat[matrices:]
        decoder = decoder_of(size, flat)
        yield step + 1, decoder


def slope_of(
    decoder: Decoder, characters: Array, following: Array, variant: str, rooms: Sequence[Room]
) -> Array:
    """Gradient of the mean loss over some excerpts, in one row.

    The batch is cut into as many parts as there are rooms to work in, on any number of cores,
    so that the sums come out the same everywhere.  Parts of NumPy arrays are worked on at the
    same time; a GPU shares out its work by itself.

    Parameters
    ----------
    decoder : Decoder
    characters, following : array of int, shape (B, T)
        B is a multiple of the number of rooms.
    variant : str
    rooms : sequence of Room

    Returns
    -------
    array, shape (parameters,)
    """
    count = len(characters) // len(rooms)
    slopes: list[Array] = [None] * len(rooms)

    def work(n: int) -> None:
        part = slice(n * count, (n + 1) * count)
        passed = run(decoder, characters[part], variant, room=rooms[n])
        _, dlogits = loss_and_gradient(passed.logits, following[part], room=rooms[n])
        slopes[n] = gradients(decoder, passed, dlogits, room=rooms[n]).flat

    if isinstance(decoder.flat, np.ndarray):
        share_out(range(len(rooms)), lambda: work)
    else:
        for n in range(len(rooms)):
            work(n)
    return sum(slopes[1:], slopes[0]) / len(rooms)

"""How well a decoder writes: by the loss of training, and honestly; and whether it peeks.

In training a decoder runs over a whole text at once, and nothing but its own attention keeps it
from seeing what it shall predict.  When it writes, there is nothing to see yet.  Losses are in
nats a character: e to the loss is among how many equally likely characters one would have to
guess.  The texts were written for this project; they ship in ``data/``.
"""

from dataclasses import dataclass

import numpy as np

from .decoder import Characters, Decoder, loss_and_gradient, run
from .random_scores import FloatArray, check_one_of, kept
from .resources import resource_path

LANGUAGES = ("zh-Hant", "en")


@dataclass(frozen=True, eq=False)
class Text:
    """A text as numbers.

    Attributes
    ----------
    characters : str
        Each character that occurs, once; its place is its number.
    training, held_out : ndarray of int
        What a decoder learns from, and what was kept apart to measure it.
    """

    characters: str
    training: Characters
    held_out: Characters

    def words(self, numbers: Characters) -> str:
        """Turn numbers back into characters."""
        return "".join(self.characters[n] for n in numbers)


def text_name(language: str) -> str:
    """Give the name of the file of a text."""
    check_one_of("language", language, LANGUAGES)
    return f"leakage_text_{language}.txt"


def read_text(language: str) -> Text:
    """Read the text of a language: a sentence a line, an empty line before what is held out."""
    path = resource_path("data", text_name(language))
    content = path.read_text(encoding="utf-8")
    characters = "".join(sorted(set(content)))
    number = {character: n for n, character in enumerate(characters)}
    training, held_out = content.split("\n\n")
    parts = (np.array([number[c] for c in part]) for part in (training + "\n", held_out))
    return Text(characters, *map(kept, parts))


def excerpts(part: Characters, T: int, starts: Characters) -> tuple[Characters, Characters]:
    """T characters from each start, and those that follow each of them: both (starts, T)."""
    places = starts[:, None] + np.arange(T)
    return part[places], part[places + 1]


def even_starts(part: Characters, T: int, count: int) -> Characters:
    """Starts of `count` excerpts, spread evenly over a text."""
    return np.linspace(0, len(part) - T - 1, count).astype(int)


def teacher_loss(
    decoder: Decoder, characters: Characters, following: Characters, variant: str
) -> float:
    """Loss with teacher forcing, the whole text within reach of the decoder's attention."""
    return loss_and_gradient(run(decoder, characters, variant).logits, following)[0]


def honest_loss(
    decoder: Decoder, characters: Characters, following: Characters, variant: str
) -> float:
    """Loss when each character is predicted from nothing but those before it.

    Parameters
    ----------
    decoder : Decoder
    characters, following : ndarray of int, shape (B, T)
    variant : str
        The decoder's own rule, on each beginning of the texts anew.  Only the last row counts:
        that is the one that speaks when it writes.

    Returns
    -------
    float
        Under a rule that lets no row see beyond itself, the loss with teacher forcing.
    """
    T, losses = characters.shape[1], []
    for t in range(1, T + 1):
        logits = run(decoder, characters[:, :t], variant).logits[:, -1:]  # (B, 1, vocabulary)
        losses.append(loss_and_gradient(logits, following[:, t - 1 : t])[0])
    return float(np.mean(losses))


def unigram_loss(text: Text) -> float:
    """Loss on held-out text of a guess that knows how common each character is in training.

    Each is counted once more than it occurs, so that none is impossible.
    """
    counts = np.bincount(text.training, minlength=len(text.characters)) + 1
    return float(-np.log(counts / counts.sum())[text.held_out].mean())


def probe_decoder(
    decoder: Decoder, characters: Characters, variant: str, changed: int
) -> FloatArray:
    """Replace one character by each other one, and see which rows of the result move.

    Claim: where the mask is right, none before `changed` does.

    Parameters
    ----------
    decoder : Decoder
    characters : ndarray of int, shape (T,)
    variant : str
    changed : int

    Returns
    -------
    ndarray, shape (T,)
        Largest change of a log-probability in each row; exactly 0.0 where nothing moved.
    """
    vocabulary = decoder.size.vocabulary
    texts = np.repeat(characters[None], vocabulary, axis=0)  # (vocabulary, T)
    texts[:, changed] = np.arange(vocabulary)
    logits = run(decoder, texts, variant).logits  # (vocabulary, T, vocabulary)
    logits -= logits.max(axis=-1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    moved = np.abs(logits - logits[characters[changed]])
    return np.asarray(moved.max(axis=(0, 2)), dtype=float)


def write(
    decoder: Decoder, prompt: Characters, variant: str, count: int, rng: np.random.Generator
) -> Characters:
    """Let a decoder write: each character drawn from its probabilities, then read by it.

    It looks back on as many characters as it was made for.
    """
    text = list(prompt)
    for _ in range(count):
        seen = np.array([text[-decoder.size.T :]])
        logits = run(decoder, seen, variant).logits[0, -1].astype(float)
        p = np.exp(logits - logits.max())
        text.append(int(rng.choice(len(p), p=p / p.sum())))
    return np.array(text[len(prompt) :])

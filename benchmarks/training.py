"""The look-up head and the small decoder: targets, PyTorch, memory, subnormal numbers.

Run: python benchmarks/training.py [--rounds 15]

On two cores.  A step is: look up, cross-entropy, gradients, optimiser, on shelves made before.
PyTorch takes the same steps on the same numbers in the same type, with its own gradients: with
its products one by one or with its fused attention, with its plain or its fused optimiser, and
the fastest of these counts.  All take turns, a block of steps each a round, each after a pause;
what counts is the median of the ratios of a round.  PyTorch is compared where it is installed.

The decoder of the leakage lab works on the two halves of a batch at the same time; PyTorch has one
thread or two, and the faster counts.
"""

# ruff: noqa: E402

import os

CORES = 2
if hasattr(os, "sched_setaffinity"):  # before NumPy counts them
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])

import argparse
import time
from collections import deque
from collections.abc import Callable
from importlib import import_module
from itertools import islice, product
from statistics import median
from typing import Any

import numpy as np

from andrea_lesson import decoder, honest, lookup, racing, writing
from andrea_lesson.lookup import Head, Shelves, cross_entropy, gradients, look_up, random_shelves
from andrea_lesson.racing import ETA_V, Setting, learn, race, train
from andrea_lesson.threads import one_blas_thread

try:
    torch: Any = import_module("torch")
except ImportError:
    torch = None

STEPS, PAUSE = 20, 0.02  # of a block; seconds
SETTINGS = [
    Setting(d_k=d_k, optimiser=optimiser, eta=eta)
    for d_k in (4, 64, 256, 1024)
    for optimiser, eta in (("adam", 0.003), ("sgd", 10.0))
]
Block = Callable[[], list[Any]]


def with_numpy(setting: Setting, head: Head, batches: list[Shelves]) -> Block:
    def block() -> list[Any]:
        now, optimiser = head, racing._optimiser(setting)
        for shelves in batches:
            found = look_up(now, shelves, setting.scale)
            _, dO = cross_entropy(found.output, shelves.books)
            change = gradients(now, shelves, found, dO, setting.scale)
            before, slope = (now.W_Q, now.W_K, now.W_V), (change.W_Q, change.W_K, change.W_V)
            now = Head(*optimiser.step(before, slope))
        return [now.W_Q, now.W_K, now.W_V]

    return block


def with_torch(
    setting: Setting, head: Head, batches: list[Shelves], attend: str, fused: bool
) -> Block:
    F = torch.nn.functional
    given = [
        (
            torch.from_numpy(batch.asked),
            torch.from_numpy(batch.cards),
            torch.from_numpy(batch.books.argmax(axis=-1).reshape(-1)),
        )
        for batch in batches
    ]

    def block() -> list[Any]:
        W = [torch.tensor(w, requires_grad=True) for w in (head.W_Q, head.W_K, head.W_V)]
        groups = [
            {"params": W[:2], "lr": setting.eta},
            {"params": W[2:], "lr": ETA_V[setting.optimiser]},
        ]
        kind = torch.optim.Adam if setting.optimiser == "adam" else torch.optim.SGD
        optimiser = kind(groups, fused=fused)
        for asked, cards, books in given:
            Q, K, V = asked @ W[0], cards @ W[1], cards @ W[2]
            if attend == "fused":
                output = F.scaled_dot_product_attention(Q, K, V, scale=setting.scale)
            else:
                output = torch.softmax(Q @ K.transpose(-1, -2) * setting.scale, dim=-1) @ V
            loss = F.cross_entropy(output.reshape(len(books), -1), books)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
        return [w.detach().numpy() for w in W]

    return block


def take_turns(blocks: dict[str, Block], rounds: int) -> dict[str, list[float]]:
    """Milliseconds a step of each; the order turns round from round to round."""
    times: dict[str, list[float]] = {name: [] for name in blocks}
    for number in range(-2, rounds):  # two rounds to warm up
        for name in list(blocks)[:: 1 if number % 2 else -1]:
            time.sleep(PAUSE)
            begun = time.perf_counter()
            blocks[name]()
            if number >= 0:
                times[name].append(1000 * (time.perf_counter() - begun) / STEPS)
    return times


def shelves_of(dtype: Any, rng: np.random.Generator) -> Shelves:
    return racing._moved(random_shelves(rng), lambda array: array.astype(dtype))


def compare(setting: Setting, rounds: int, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    head = lookup.random_head(0, setting.d_k, setting.sigma)
    head = Head(*(w.astype(dtype) for w in (head.W_Q, head.W_K, head.W_V)))
    batches = [shelves_of(dtype, rng) for _ in range(STEPS)]
    blocks = {"NumPy": with_numpy(setting, head, batches)}
    if torch is not None:
        for attend, fused in product(("plain", "fused"), (False, True)):
            name = f"PyTorch, {attend} attention, {'fused' if fused else 'plain'} optimiser"
            blocks[name] = with_torch(setting, head, batches, attend, fused)
    ended = {name: block() for name, block in blocks.items()}
    far = max(
        float(np.abs(a - b).max() / np.abs(b).max())
        for matrices in ended.values()
        for a, b in zip(matrices, ended["NumPy"], strict=True)
    )
    assert far < (1e-9 if dtype == np.float64 else 5e-2), f"they do not compute the same: {far}"
    times = take_turns(blocks, rounds)
    what = f"d_k = {setting.d_k:4}, {setting.optimiser:4}, {np.dtype(dtype).name}"
    print(f"{what}: {beside(times)}", flush=True)


def targets() -> None:
    def seconds(function: Callable[[], Any]) -> float:
        begun = time.perf_counter()
        function()
        return time.perf_counter() - begun

    look = median(seconds(lambda: train(Setting(d_k=64))) for _ in range(5))
    print(f"400 steps at d_k = 64, pictures kept: {look:.2f} s (target 1 s)")
    both = seconds(lambda: race(Setting(d_k=256)))
    print(f"race of 3 seeds each at d_k = 256: {both:.2f} s (target 10 s)")


def memory() -> None:
    try:
        resource = import_module("resource")
    except ImportError:  # Windows
        return

    def resident() -> int:
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    run = learn(Setting(d_k=256, steps=4000), every=100)
    list(islice(run, 4))  # 300 steps
    before = resident()
    list(islice(run, 37))
    grown = (resident() - before) / 1024
    print(f"resident memory after 4,000 steps beyond that after 300: {grown:.1f} MB")
    steps = writing.learn_to_write(writing.LeakageSetting(steps=1000))
    with one_blas_thread():
        list(islice(steps, 100))
        before = resident()
        deque(steps, maxlen=0)  # none of them is kept
    grown = (resident() - before) / 1024
    print(f"decoder: after 1,000 steps beyond that after 100: {grown:.1f} MB")


# -- the decoder of the leakage lab ----------------------------------------------------------------


def decoder_step(language: str) -> tuple[decoder.Decoder, list[Any]]:
    """Give a decoder as it begins, and the excerpts of a block of steps."""
    text = honest.read_text(language)
    size = decoder.Size(len(text.characters), writing.T)
    rng, last = np.random.default_rng(0), len(text.training) - writing.T
    starts = [rng.integers(0, last, writing.BATCH) for _ in range(STEPS)]
    batches = [honest.excerpts(text.training, writing.T, some) for some in starts]
    return decoder.random_decoder(size, 0), batches


def decoder_with_numpy(first: decoder.Decoder, batches: list[Any], variant: str) -> Block:
    rooms = [decoder.Room(first.flat) for _ in range(writing.HALVES)]

    def block() -> list[Any]:
        now, optimiser = first, racing.Adam([writing.ETA], [racing.EPSILON])
        with one_blas_thread():
            for characters, following in batches:
                slope = writing.slope_of(now, characters, following, variant, rooms)
                (flat,) = optimiser.step([now.flat], [slope])
                now = decoder.decoder_of(first.size, flat)
        return [now.flat]

    return block


def decoder_with_torch(
    first: decoder.Decoder, batches: list[Any], variant: str, attend: str, threads: int
) -> Block:
    F = torch.nn.functional
    given = [[torch.from_numpy(part) for part in batch] for batch in batches]
    size, (before, after) = first.size, decoder.allowed_by(variant, writing.T)
    seen, stays = torch.tensor(before), torch.tensor(after)

    def attention(Q: Any, K: Any, V: Any) -> Any:
        if attend == "fused":
            return F.scaled_dot_product_attention(Q, K, V, attn_mask=seen)
        scores = Q @ K.transpose(-1, -2) * Q.shape[-1] ** -0.5
        weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1)
        return weights @ V if after.all() else (weights * stays) @ V

    def block() -> list[Any]:
        torch.set_num_threads(threads)
        rows = [torch.tensor(m, requires_grad=True) for m in matrices_of(first)]
        optimiser = torch.optim.Adam(rows, lr=writing.ETA, fused=True)
        embedding, positions, W_QKV, W_O, W_1, W_2, W_out = rows
        for characters, following in given:
            X = F.embedding(characters, embedding) + positions
            heads = (X @ W_QKV).unflatten(-1, (3, size.n_head, -1)).permute(2, 0, 3, 1, 4)
            X = X + attention(*heads).transpose(1, 2).flatten(-2) @ W_O
            X = X + torch.relu(X @ W_1) @ W_2
            loss = F.cross_entropy((X @ W_out).flatten(0, 1), following.flatten())
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
        return [np.concatenate([row.detach().numpy().ravel() for row in rows])]

    return block


def matrices_of(one: decoder.Decoder) -> list[Any]:
    (block,) = one.blocks
    inner = [block.W_QKV, block.W_O, block.W_1, block.W_2]
    return [one.embedding, one.positions, *inner, one.W_out]


def leak(rounds: int) -> None:
    begun = time.perf_counter()
    run = writing.train_leakage(writing.LeakageSetting())
    seconds = time.perf_counter() - begun
    print(f"one leakage run, {run.step[-1]} steps: {seconds:.1f} s (target 60 s)", flush=True)
    for language, variant in product(honest.LANGUAGES, ("causal", "after_softmax")):
        first, batches = decoder_step(language)
        blocks = {"NumPy": decoder_with_numpy(first, batches, variant)}
        if torch is not None:
            for attend, threads in product(("plain", "fused"), (1, CORES)):
                if attend == "plain" or variant == "causal":
                    name = f"PyTorch, {attend} attention, {threads} threads"
                    blocks[name] = decoder_with_torch(first, batches, variant, attend, threads)
        ended = {name: block()[0] for name, block in blocks.items()}
        far = max(float(np.abs(flat - ended["NumPy"]).max()) for flat in ended.values())
        assert far < 1e-2, f"they do not compute the same: {far}"
        print(f"{language}, {variant}: {beside(take_turns(blocks, rounds))}", flush=True)


def beside(times: dict[str, list[float]]) -> str:
    """Say how long a step takes, and how much longer than with the fastest PyTorch."""
    line = f"{median(times['NumPy']):6.3f} ms a step"
    if len(times) > 1:
        best = min((name for name in times if name != "NumPy"), key=lambda n: median(times[n]))
        ratio = median(a / b for a, b in zip(times["NumPy"], times[best], strict=True))
        line += f"; {best} {median(times[best]):6.3f} ms; ratio {ratio:.2f}"
    return line


def subnormal_numbers(rounds: int) -> None:
    """Raw rows that are saturated from the start, with and without the guard of `_softmax`."""

    def plain_softmax(xp: Any, scores: Any) -> Any:
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exponentials / exponentials.sum(axis=-1, keepdims=True)

    guarded = lookup._softmax
    rng = np.random.default_rng(0)
    for dtype, sigma in product((np.float64, np.float32), (0.1, 1.0, 2.0, 4.0, 6.0)):
        setting = Setting(d_k=1024, sigma=sigma, scaled=False)
        head = lookup.random_head(0, setting.d_k, sigma)
        head = Head(*(w.astype(dtype) for w in (head.W_Q, head.W_K, head.W_V)))
        batches = [shelves_of(dtype, rng) for _ in range(STEPS)]
        found = look_up(head, batches[0], 1.0)
        scores = found.Q @ found.K.swapaxes(-1, -2)
        shifted = scores - scores.max(axis=-1, keepdims=True)
        tiny = np.finfo(dtype).tiny
        with np.errstate(under="ignore"):
            share = float(np.mean((np.exp(shifted) < tiny) & (np.exp(shifted) > 0)))
            blocks = {}
            for name, softmax in (("guarded", guarded), ("plain", plain_softmax)):
                inner = with_numpy(setting, head, batches)

                def block(softmax: Any = softmax, inner: Block = inner) -> list[Any]:
                    lookup._softmax = softmax
                    try:
                        return inner()
                    finally:
                        lookup._softmax = guarded

                blocks[name] = block
            times = take_turns(blocks, rounds)
            alone = {}
            for name, softmax in (("guarded", guarded), ("plain", plain_softmax)):
                runs = []
                for _ in range(51):
                    begun = time.perf_counter()
                    softmax(np, scores)
                    runs.append(1e6 * (time.perf_counter() - begun))
                alone[name] = median(runs)
        print(
            f"{np.dtype(dtype).name}, d_k = 1024 raw, σ = {sigma}: {share:6.2%} of the exponentials"
            f" subnormal; a step {median(times['plain']):.2f} ms plain,"
            f" {median(times['guarded']):.2f} ms guarded;"
            f" its softmax {alone['plain']:.0f} µs, {alone['guarded']:.0f} µs",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument(
        "--only",
        choices=("targets", "torch", "subnormal", "leakage"),
        help="one part instead of all",
    )
    options = parser.parse_args()
    if options.only in (None, "targets"):
        targets()
        memory()
    if options.only in (None, "leakage"):
        leak(options.rounds)
    if options.only in (None, "subnormal"):
        subnormal_numbers(options.rounds)
    if options.only in (None, "torch"):
        print("NumPy alone:" if torch is None else f"Beside PyTorch {torch.__version__}:")
        for dtype in (np.float64, np.float32):
            for setting in SETTINGS:
                compare(setting, options.rounds, dtype)


if __name__ == "__main__":
    main()

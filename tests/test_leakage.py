"""The leakage lab: honest measures, texts, training, and the file that ships."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import other_arrays
import pytest
from threadpoolctl import threadpool_limits

from andrea_lesson import leakage, training, writing
from andrea_lesson.data_files import DataFileError, data_path
from andrea_lesson.decoder import VARIANTS, Size, loss_and_gradient, random_decoder, run
from andrea_lesson.honest import (
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
from andrea_lesson.leakage import (
    COMMAND,
    NAME,
    SEEDS,
    LeakageResults,
    LeakageSetting,
    load_leakage,
    load_results,
    make_leakage,
    save_results,
    train_leakage,
)

SHIPPED = data_path(NAME)
HONEST = ("causal", "diagonal_hidden")  # rules under which nothing is seen that may not be
SHORT = LeakageSetting(steps=4)


@pytest.fixture(scope="module")
def results():
    return load_results()


@pytest.fixture(scope="module")
def short_run():
    return train_leakage(SHORT)


# -- texts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_are_small_and_held_out_text_is_new(language):
    content = data_path(f"leakage_text_{language}.txt").read_text(encoding="utf-8")
    training_text, held_out = content.split("\n\n")
    assert set(held_out) <= set(training_text)
    lines, unseen = training_text.splitlines(), held_out.splitlines()
    assert len(set(lines + unseen)) == len(lines + unseen)  # no sentence twice
    assert all(line == line.strip() and line for line in lines + unseen)
    text = read_text(language)
    assert text.words(text.training) == training_text + "\n"
    assert text.words(text.held_out) == held_out
    assert len(text.characters) == len(set(content)) < 250
    assert 4000 < len(text.training) < 12_000
    assert len(text.held_out) > 600
    if language == "zh-Hant":
        assert not set(text.characters) & set("abcdefghijklmnopqrstuvwxyz,.?!:;")
        assert not set(text.characters) & set("书馆读问还说这开边样从话听们时会没过个来")
    else:
        assert content == content.lower()
        assert content.isascii()


def test_excerpts_and_what_follows():
    part = np.arange(100) * 2
    here, following = excerpts(part, 5, np.array([0, 94]))
    assert here.tolist() == [[0, 2, 4, 6, 8], [188, 190, 192, 194, 196]]
    assert (following == here + 2).all()
    starts = even_starts(part, 5, 4)
    assert (starts[0], starts[-1]) == (0, 94)  # the whole text, and not beyond it


# -- honest measures -------------------------------------------------------------------------------


def small_case(n_block=1, T=8, B=4):
    size = Size(9, T, 8, 2, n_block)
    decoder = random_decoder(size, 1, np.float64)
    text = np.random.default_rng(1).integers(0, 9, (B, T + 1))
    return decoder, text[:, :-1], text[:, 1:]


@pytest.mark.parametrize("n_block", [1, 2])
@pytest.mark.parametrize("variant", VARIANTS)
def test_honest_loss_is_that_of_one_by_one_generation(variant, n_block):
    """Said again as slowly as possible: one text, one beginning, one character at a time."""
    decoder, characters, following = small_case(n_block)
    losses = []
    for text, answers in zip(characters, following, strict=True):
        for t, answer in enumerate(answers):
            logits = run(decoder, text[None, : t + 1], variant).logits[0, t]
            losses.append(math.log(np.exp(logits).sum()) - logits[answer])
    honest = honest_loss(decoder, characters, following, variant)
    assert honest == pytest.approx(np.mean(losses), rel=1e-12)
    teacher = teacher_loss(decoder, characters, following, variant)
    if variant in HONEST:
        assert honest == pytest.approx(teacher, rel=1e-12)
    else:
        assert abs(honest - teacher) > 1e-4


def test_a_decoder_that_copies_the_next_character_is_found_out():
    """By hand: position i looks at i + 1 alone, and says what stands there."""
    vocabulary, T = 5, 6
    d = vocabulary + T
    decoder = random_decoder(Size(vocabulary, T, d, 1), 0, np.float64)
    decoder.flat[:] = 0
    decoder.embedding[:, :vocabulary] = np.eye(vocabulary)
    decoder.positions[:, vocabulary:] = np.eye(T)
    (block,) = decoder.blocks
    block.W_QKV[vocabulary:, vocabulary:d] = 1000 * np.eye(T, k=1)  # Q: I seek i + 1
    block.W_QKV[vocabulary:, d + vocabulary : 2 * d] = np.eye(T)  # K: I stand at j
    block.W_QKV[:vocabulary, 2 * d : 2 * d + vocabulary] = np.eye(vocabulary)  # V: what I am
    block.W_O[:] = 40 * np.eye(d)
    decoder.W_out[:vocabulary] = np.eye(vocabulary)
    text = np.array([[0, 3, 1, 4, 2, 0, 4]])
    characters, following = text[:, :-1], text[:, 1:]
    for variant in ("none", "reversed"):
        right = run(decoder, characters, variant).logits.argmax(axis=-1) == following
        assert right[:, :-1].all()  # the last row has nothing to copy
        shorter = characters[:, :-1], following[:, :-1]
        assert teacher_loss(decoder, characters, following, variant) < 7
        assert honest_loss(decoder, *shorter, variant) > 1
    moved = probe_decoder(decoder, characters[0], "none", 3)
    assert moved[2] > 20  # the row before it said what stands at 3
    assert probe_decoder(decoder, characters[0], "causal", 3)[:3].tolist() == [0, 0, 0]


def test_probe_is_the_largest_change_over_all_replacements():
    decoder, characters, _ = small_case()
    assert characters[0, 3] != 0  # or the first replacement would be what stands there
    moved = probe_decoder(decoder, characters[0], "after_softmax", 3)
    log_p = []
    for character in range(9):
        text = characters[0].copy()
        text[3] = character
        logits = run(decoder, text[None], "after_softmax").logits[0]
        log_p.append(logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)))
    change = np.abs(np.array(log_p) - log_p[characters[0, 3]]).max(axis=(0, 2))
    np.testing.assert_allclose(moved, change, rtol=1e-10, atol=1e-13)
    assert (moved > 1e-6).all()


def test_unigram_loss_knows_how_common_characters_are():
    text = read_text("en")
    held_out = np.zeros((1, len(text.held_out), len(text.characters)))
    uniform = loss_and_gradient(held_out, text.held_out[None])[0]
    assert uniform == pytest.approx(math.log(len(text.characters)))
    assert 2.5 < unigram_loss(text) < uniform
    one = replace(text, characters="ab", training=np.array([0, 0, 1]), held_out=np.array([0]))
    assert unigram_loss(one) == pytest.approx(-math.log(3 / 5))


def test_writing_is_one_character_at_a_time_from_what_was_written():
    decoder, _, _ = small_case()
    prompt = np.array([1, 2])
    once = write(decoder, prompt, "causal", 20, np.random.default_rng(3))
    again = write(decoder, prompt, "causal", 20, np.random.default_rng(3))
    assert once.tolist() == again.tolist()
    assert len(once) == 20  # longer than the decoder can look back
    decoder.W_out[:] *= 1e4  # now it is certain, so each character must be the likeliest
    text = [*prompt, *write(decoder, prompt, "none", 12, np.random.default_rng(3))]
    for n in range(2, 14):
        seen = np.array([text[max(0, n - 8) : n]])
        assert text[n] == run(decoder, seen, "none").logits[0, -1].argmax()


# -- training --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"variant": "future"}, "variant must be one of"),
        ({"language": "zh"}, "language must be one of"),
        ({"n_block": 3}, "n_block must lie between 1 and 2"),
        ({"steps": 0}, "steps must lie between"),
        ({"seed": -1}, "seed must be at least 0"),
    ],
)
def test_a_wrong_setting_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        LeakageSetting(**wrong)


def test_a_run_is_whole_and_comes_out_again(short_run):
    text = read_text("zh-Hant")
    assert short_run.step.tolist() == [0, 4]
    for name in ("training_loss", "teacher_loss", "honest_loss"):
        losses = getattr(short_run, name)
        assert losses.shape == (2,)
        assert losses[1] < losses[0] - 0.1
    assert short_run.uniform_loss == math.log(len(text.characters))
    assert len(short_run.characters) == len(short_run.probe) == writing.T
    assert short_run.characters in text.words(text.held_out)
    assert text.words(text.held_out).startswith(short_run.prompt)
    assert len(short_run.sample) == writing.SAMPLE
    assert short_run.weights.shape == (4, writing.T, writing.T)
    assert not short_run.weights.flags.writeable
    again = train_leakage(SHORT)
    assert again.distance(short_run) == 0
    np.testing.assert_array_equal(again.probe, short_run.probe)
    assert again.sample == short_run.sample
    assert train_leakage(replace(SHORT, seed=1)).distance(short_run) > 1e-3
    assert train_leakage(replace(SHORT, n_block=2)).weights.shape == (4, writing.T, writing.T)


def test_progress_is_told_and_can_stop_it():
    told = []
    train_leakage(SHORT, progress=lambda *numbers: told.append(numbers))
    assert told == [(0, 4), (4, 4)]

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_leakage(SHORT, progress=stop)


# -- what ships ------------------------------------------------------------------------------------


def test_the_file_ships_whole(results):
    assert results.complete
    assert len(results.runs) == len(VARIANTS) * len(LANGUAGES) * len(SEEDS)
    assert set(load_leakage()) == {(v, language) for v in VARIANTS for language in LANGUAGES}
    assert all(one.setting.seed == 2 for one in load_leakage(seed=2).values())
    with pytest.raises(ValueError, match="seed must be one of"):
        load_leakage(seed=3)
    assert sum(path.stat().st_size for path in SHIPPED.parent.iterdir()) < 5_000_000
    assert results.made_by["command"] == COMMAND
    texts = {f"leakage_text_{language}.txt" for language in LANGUAGES}
    code = {"decoder.py", "honest.py", "optimisers.py", "writing.py"}
    assert set(results.made_by["code"]) == texts | code


def test_the_texts_are_those_that_were_learned(results):
    now = leakage.what_makes_it()["code"]
    for language in LANGUAGES:
        name = f"leakage_text_{language}.txt"
        assert results.made_by["code"][name] == now[name]
        text = read_text(language)
        for setting, one in results.runs.items():
            if setting.language == language:
                assert one.unigram_loss == pytest.approx(unigram_loss(text), rel=1e-12)
                assert one.uniform_loss == pytest.approx(math.log(len(text.characters)))
                assert one.characters == text.words(text.held_out[: writing.T])


@pytest.mark.parametrize("variant", VARIANTS)
def test_training_begins_as_the_one_that_ships(results, variant):
    """The first steps of a shipped run, with its learning rate, which falls over all of them."""
    setting = LeakageSetting(variant, "en")
    shipped = results.runs[setting]
    text = read_text("en")
    known = excerpts(text.training, writing.T, even_starts(text.training, writing.T, 24))
    unseen = excerpts(text.held_out, writing.T, even_starts(text.held_out, writing.T, 24))
    losses = []
    with threadpool_limits(limits=1, user_api="blas"):
        for step, decoder in writing.learn_to_write(setting):
            if step in (0, writing.EVERY):
                pairs = (teacher_loss, known), (teacher_loss, unseen), (honest_loss, unseen)
                losses.append([loss(decoder, *part, variant) for loss, part in pairs])
            if step == writing.EVERY:
                break
    ships = np.transpose([shipped.training_loss, shipped.teacher_loss, shipped.honest_loss])
    np.testing.assert_allclose(losses, ships[:2], rtol=0, atol=BEGINNING)


BEGINNING = 1e-3  # another kind of processor was up to 0.00012 away
ALL = [(variant, language) for variant in VARIANTS for language in LANGUAGES]


@pytest.mark.parametrize(("variant", "language"), ALL)
def test_the_shipped_probe_finds_each_leak(results, variant, language):
    for seed in SEEDS:
        one = results.runs[LeakageSetting(variant, language, seed=seed)]
        before = one.probe[: one.changed]
        if variant in HONEST:
            assert not before.any()
            np.testing.assert_allclose(one.honest_loss, one.teacher_loss, rtol=0, atol=1e-4)
        else:
            assert before.max() > 0.1
        hidden = np.triu(np.ones((writing.T, writing.T), bool), 1)
        shown = one.weights[:, hidden].max() > 0
        assert shown == (variant in ("none", "reversed"))


# -- files -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def one_run():
    """A file with one run in it, as content."""
    content = json.loads(SHIPPED.read_text(encoding="utf-8"))
    return content | {"runs": content["runs"][:1]}


def test_a_missing_file_says_how_to_make_it(tmp_path):
    with pytest.raises(DataFileError, match=r"is missing; make it with: python -m .* leakage"):
        load_leakage(tmp_path / "none.json")


FAULTS = {
    "variant": "future",
    "language": "fr",
    "seed": 7,
    "steps": 100,
    "step": list(range(41)),
    "training_loss": [1.0],
    "honest_loss": None,
    "uniform_loss": "much",
    "probe": [-1.0] * writing.T,
    "changed": writing.T,
    "characters": "短",
    "weights": [[0.5]],
    "sample": 3,
}


@pytest.mark.parametrize("name", [None, "missing", "no runs", "cut", *FAULTS])
def test_a_damaged_file_says_how_to_make_it_again(name, one_run, tmp_path):
    path = tmp_path / "leakage.json"
    content = json.loads(json.dumps(one_run))
    if name == "missing":
        del content["runs"][0]["probe"]
    elif name == "no runs":
        del content["runs"]
    elif name in FAULTS:
        content["runs"][0][name] = FAULTS[name]
    words = json.dumps(content)
    path.write_text(words[: len(words) // 2] if name == "cut" else words, encoding="utf-8")
    if name is None:
        assert len(load_leakage(path)) == 1
        return
    with pytest.raises(DataFileError, match="is damaged") as error:
        load_leakage(path)
    assert "\n" not in str(error.value)
    assert COMMAND in str(error.value)


def test_saved_results_are_read_as_they_were(results, tmp_path):
    path = tmp_path / "leakage.json"
    save_results(results, path)
    assert path.read_bytes() == SHIPPED.read_bytes()


@pytest.fixture
def small(monkeypatch, short_run):
    """Two runs that take no time."""
    settings = [LeakageSetting("causal", "en"), LeakageSetting("none", "en")]
    monkeypatch.setattr(leakage, "all_settings", lambda: iter(settings))
    made = []

    def one(setting, **_):
        made.append(setting)
        return replace(short_run, setting=setting, step=np.array([0, setting.steps]))

    monkeypatch.setattr(leakage, "train_leakage", one)
    monkeypatch.setattr(training, "train_leakage", one)
    return made


def test_what_is_made_is_saved_and_not_made_again(small, tmp_path):
    path = tmp_path / "leakage.json"
    making = make_leakage(path)
    next(making)
    making.close()  # interrupted
    assert len(load_results(path).runs) == 1
    assert not load_results(path).complete
    assert [len(results.runs) for results in make_leakage(path)] == [2]
    assert load_results(path).complete
    assert small == list(leakage.all_settings())  # each of them once
    assert list(make_leakage(path)) == []
    assert [one.name for one in tmp_path.iterdir()] == ["leakage.json"]


def test_begun_by_other_code_it_is_not_gone_on_with(small, tmp_path):
    path = tmp_path / "leakage.json"
    results = next(make_leakage(path))
    save_results(LeakageResults(results.runs, {**results.made_by, "numpy": "1.0"}), path)
    with pytest.raises(DataFileError, match="begun by another version"):
        next(make_leakage(path))
    assert len(list(make_leakage(path, anew=True))) == 2
    results = load_results(path)
    assert results.made_by == leakage.what_makes_it()
    save_results(LeakageResults(results.runs, {**results.made_by, "numpy": "1.0"}), path)
    assert list(make_leakage(path)) == []  # whole, it may be of any version


# -- the command -----------------------------------------------------------------------------------


def test_the_command_makes_and_checks(small, short_run, tmp_path, capsys):
    path = tmp_path / "leakage.json"
    check = ["check", "--leakage-file", str(path)]
    assert training.main(check) == 1
    assert "is missing; make it with" in capsys.readouterr().err
    assert training.main(["leakage", "--file", str(path)]) == 0
    assert "2/2 runs" in capsys.readouterr().out
    assert training.main(["leakage", "--file", str(path)]) == 0
    assert "is complete" in capsys.readouterr().out
    assert training.main([*check, "--all"]) == 0
    assert "2/2 runs, largest difference 0" in capsys.readouterr().out
    results = load_results(path)
    wrong = {
        setting: replace(one, teacher_loss=one.teacher_loss + 1)
        for setting, one in results.runs.items()
    }
    save_results(replace(results, runs=wrong), path)
    assert training.main(check) == 1
    assert "shipped" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT for one process on Windows")
def test_a_run_that_is_interrupted_leaves_no_half_file(tmp_path):
    command = [sys.executable, "-m", "andrea_lesson.training", "leakage", "--file"]
    run = subprocess.Popen(
        [*command, str(tmp_path / "leakage.json")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=tmp_path,
    )
    time.sleep(2)
    run.send_signal(signal.SIGINT)
    _, words = run.communicate(timeout=30)
    assert run.returncode == 130, words
    assert "every run made so far is saved" in words
    assert "Traceback" not in words
    assert list(tmp_path.iterdir()) == []


# -- on another library ----------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_decoder_learns_alike_on_another_library(variant):
    setting = writing.LeakageSetting(variant=variant, language="en", n_block=2, steps=3)
    here = writing.learn_to_write(setting)
    there = writing.learn_to_write(setting, move=other_arrays.put)
    for (_, one), (_, other) in zip(here, there, strict=True):
        np.testing.assert_allclose(other_arrays.get(other.flat), one.flat, rtol=1e-5, atol=1e-7)


def test_the_other_library_mixes_with_nothing():
    other, ours = other_arrays.put([1.0, 2.0]), np.ones(2)
    for mix in (
        lambda: other + ours,
        lambda: ours * other,
        lambda: np.exp(other),
        lambda: np.asarray(other),
        lambda: other_arrays.library.exp(ours),
        lambda: other.__setitem__(0, ours[:1]),
    ):
        with pytest.raises(TypeError):
            mix()


@pytest.mark.gpu
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_decoder_learns_alike_on_a_gpu(variant):
    cupy = pytest.importorskip("cupy")
    setting = writing.LeakageSetting(variant=variant, language="en", n_block=2, steps=3)
    here, there = (
        list(writing.learn_to_write(setting, move=move)) for move in (np.asarray, cupy.asarray)
    )
    for (_, one), (_, other) in zip(here, there, strict=True):
        np.testing.assert_allclose(cupy.asnumpy(other.flat), one.flat, rtol=1e-4, atol=1e-5)

"""The checker accepts no wrong answer, refuses no right one, and names the cause."""

import subprocess
import sys
import textwrap
import types
import warnings
from itertools import count

import answers
import numpy as np
import pytest
from answers import RIGHT_ANSWERS, SEED, WRONG_ANSWERS
from hypothesis import given
from hypothesis import strategies as st

import andrea_lesson as al
from andrea_lesson.exercises import (
    EXERCISES,
    check,
    hint,
    on_attempt,
    question,
    registry,
    solution,
    solutions,
)
from andrea_lesson.exercises.function_task import FunctionTask


def judge(name, answer):
    options = {"seed": SEED} if EXERCISES[name].personal else {}
    return getattr(check, name)(answer, **options)


def test_there_are_enough_answers():
    assert len(WRONG_ANSWERS) >= 150
    assert len(RIGHT_ANSWERS) >= 40
    assert {name for name, _ in RIGHT_ANSWERS.values()} == set(EXERCISES)
    assert {name for name, *_ in WRONG_ANSWERS.values()} == set(EXERCISES)


@pytest.mark.parametrize("which", RIGHT_ANSWERS)
def test_a_right_answer_is_accepted(which):
    name, answer = RIGHT_ANSWERS[which]
    for _ in range(5):  # fresh random inputs each time
        verdict = judge(name, answer)
        assert verdict.passed, verdict
        assert bool(verdict)
        assert not verdict.waits


@pytest.mark.parametrize("which", WRONG_ANSWERS)
def test_a_wrong_answer_is_refused_and_its_cause_named(which):
    name, answer, key = WRONG_ANSWERS[which]
    for _ in range(3):
        verdict = judge(name, answer)
        assert not verdict.passed, verdict
        assert not verdict
        if key is not None:
            assert verdict.key == key, verdict
        else:
            assert verdict.state == "wrong"
            assert verdict.key != "values", verdict
        assert verdict.waits == key.startswith("waits") if key else not verdict.waits


FUNCTIONS = [name for name, one in EXERCISES.items() if isinstance(one.task, FunctionTask)]
spoiled = st.sampled_from(("add", "times", "one cell", "NaN", "shape", "zero", "sign"))


@given(st.sampled_from(FUNCTIONS), spoiled, st.floats(0.01, 10), st.integers(0, 2**32 - 1))
def test_a_right_answer_that_is_spoiled_is_refused(name, how, size, seed):
    rng = np.random.default_rng(seed)

    def answer(*given):
        result = np.array(EXERCISES[name].task.right(*given))
        if result.dtype == bool:
            result.flat[rng.integers(result.size)] ^= True
            return result if how != "shape" else result[None]
        if how in ("add", "zero"):
            return result + size if how == "add" else result * 0 + (name == "one_row_backward")
        if how in ("times", "sign"):
            return result * (1 + size if how == "times" else -1)
        if how == "shape":
            return result[..., None]
        result.flat[rng.integers(result.size)] = np.nan if how == "NaN" else 100 + size
        return result

    assert not getattr(check, name)(answer).passed


@given(st.sampled_from(FUNCTIONS), st.data())
def test_an_answer_of_any_kind_gives_a_verdict_and_never_an_exception(name, data):
    anything = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=5),
        st.lists(st.floats(), max_size=3),
        st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
        st.builds(np.zeros, st.tuples(st.integers(0, 3), st.integers(0, 3))),
        st.sampled_from([object(), print, len, np.exp, int, ..., NotImplemented, 1j, b"a"]),
    )
    value = data.draw(anything)
    assert not getattr(check, name)(value).passed
    assert not getattr(check, name)(lambda *given: value).passed


@given(st.sampled_from([n for n in EXERCISES if not EXERCISES[n].arguments]), st.data())
def test_no_number_passes_by_chance_and_none_raises(name, data):
    value = data.draw(st.one_of(st.floats(), st.integers(), st.text(), st.none(), st.booleans()))
    for given_ in (value, {"encoder": value}, {"ANDREA-12M": value}, {1: value}, [value]):
        verdict = judge(name, given_)
        assert not verdict.passed or given_ == answers.personal(name)[1]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slips_are_wrong_on_every_draw(name):
    task = EXERCISES[name].task
    for _ in range(20):
        for slip in task.slips.values():
            assert not getattr(check, name)(slip).passed


def test_inputs_are_fresh_and_sizes_differ():
    seen = []

    def watch(Q, K, V, mask):
        seen.append((Q.shape, K.shape, V.shape, float(Q.flat[0])))
        return solutions.attention_one_head(Q, K, V, mask)

    assert check.attention_one_head(watch).passed
    first = list(seen)
    seen.clear()
    assert check.attention_one_head(watch).passed
    assert {one[3] for one in first[:4]}.isdisjoint(one[3] for one in seen[:4])
    for (T_q, d_k), (T_k, _), (_, d_v), _ in first[:4]:
        assert len({T_k, d_k, d_v}) == 3
        assert T_q not in (d_k, d_v)
    assert any(q[0] != k[0] for q, k, *_ in first[:4])


def test_what_the_answer_prints_is_left_alone(capsys):
    def answer(T, window):
        print("here", T)
        return solutions.sliding_window(T, window)

    assert check.sliding_window(answer).passed
    assert "here" in capsys.readouterr().out


def test_settings_of_numpy_are_left_as_they_were():
    def answer(T, window):
        np.seterr(all="raise")
        return solutions.sliding_window(T, window)

    before = np.geterr()
    assert check.sliding_window(answer).passed
    assert np.geterr() == before


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_student_may_have_asked_numpy_to_raise_or_python_to_raise_for_warnings(name):
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert getattr(check, name)(getattr(solutions, name)).passed
        assert np.geterr()["under"] == "raise"


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"causal_mask_from_scratch"}))
def test_what_an_answer_kept_of_an_earlier_call_is_no_answer_to_the_next(name):
    for _ in range(5):
        kept = {}

        def answer(*given, kept=kept):
            sizes = str([np.shape(one) for one in given])
            return kept.setdefault(sizes, getattr(solutions, name)(*given))

        assert not getattr(check, name)(answer).passed


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_wanted_does_not_lie_in_reach(name):
    def answer(*given):
        frame = sys._getframe()
        while frame is not None:
            if "wanted" in frame.f_locals:
                return frame.f_locals["wanted"][len(frame.f_locals["results"])]
            frame = frame.f_back
        return np.eye(2)

    assert not getattr(check, name)(answer).passed


def test_a_probe_cannot_go_by_the_order_in_which_it_is_asked():
    def by_order():
        calls = count()
        return lambda attend: next(calls) < 6

    assert sum(check.causality(by_order()).passed for _ in range(10)) <= 1


def test_a_message_can_be_shown_whatever_came():
    half = "\ud800"  # half a character, which no page can hold

    def raises(T, window):
        raise ValueError(half)

    for verdict in (
        check.kinds_of_masks({"encoder": half}),
        check.kinds_of_masks({half: 1}),
        check.my_d_k(half, seed=1),
        check.sliding_window(raises),
    ):
        assert verdict.state == "wrong"
        verdict._repr_html_().encode("utf-8")


def test_an_endless_loop_can_be_interrupted_and_the_next_check_runs():
    program = textwrap.dedent("""
        import _thread, signal, threading
        from andrea_lesson.exercises import check, solutions
        signal.signal(signal.SIGINT, signal.default_int_handler)
        def endless(T, window):
            threading.Timer(0.1, _thread.interrupt_main).start()  # as the button does
            while True:
                pass
        print(check.sliding_window(endless).key)
        print(check.sliding_window(solutions.sliding_window).passed)
    """)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, encoding="utf-8", timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["interrupted", "True"]


def test_an_interrupt_inside_the_checker_gives_the_same_sentence(monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(EXERCISES["sliding_window"].task.__class__, "judge", interrupted)
    assert check.sliding_window(solutions.sliding_window).key == "interrupted"


def test_an_interrupt_of_the_last_run_of_an_answer_is_no_pass():
    def interrupted_while_watched(T, window):
        if sys.getprofile():  # only the run that looks for calls of the package is watched
            raise KeyboardInterrupt
        return solutions.sliding_window(T, window)

    assert check.sliding_window(interrupted_while_watched).key == "interrupted"


def test_a_stumble_of_the_checker_gives_a_sentence_to_students_and_is_raised_in_tests(monkeypatch):
    def stumbles(*given):
        raise ZeroDivisionError

    monkeypatch.setattr(EXERCISES["sliding_window"].task.__class__, "judge", stumbles)
    with pytest.raises(ZeroDivisionError):
        check.sliding_window(solutions.sliding_window)
    monkeypatch.delenv("ANDREA_STRICT")
    assert check.sliding_window(solutions.sliding_window).key == "check_failed"


def test_the_message_says_in_which_line_the_error_was_and_for_which_input():
    def answer(scores, temperature):
        a = scores / temperature
        return a @ a

    al.set_language("en")
    message = check.softmax_temperature(answer).message
    assert "line 3 of the function" in message

    def helper(scores):  # has lines of its own, which are not the answer's
        return scores @ scores

    def asks_helper(scores, temperature):
        return helper(scores / temperature)

    assert "line 2 of the function" in check.softmax_temperature(asks_helper).message
    assert "scores (" in message
    assert "test_checker.py:" in message  # what was tested


def test_a_cupy_array_is_an_array(monkeypatch):
    class ndarray(np.ndarray):
        def get(self):
            return np.array(self)

    cupy = types.ModuleType("cupy")
    cupy.ndarray = ndarray
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    right = EXERCISES["softmax_temperature"].task.right
    assert check.softmax_temperature(lambda s, t: right(s, t).view(ndarray)).passed
    verdict = check.softmax_temperature(lambda s, t: right(s, t).T.copy().view(ndarray))
    assert verdict.key == "slip_transposed"


@pytest.mark.gpu
def test_right_answers_on_the_gpu():
    import cupy

    def attend(Q, K, V, mask):
        Q, K, V, mask = (cupy.asarray(array) for array in (Q, K, V, mask))
        return al.attention(Q, K, V, mask=mask)

    assert check.attention_one_head(attend).passed
    assert check.scaled_scores(lambda Q, K: al.attention_steps(
        cupy.asarray(Q), cupy.asarray(K), cupy.asarray(K)).scaled_scores).passed  # fmt: skip


def test_showing_numbers_on_the_way_is_no_call_for_help(capsys):
    def softmax_temperature(scores, temperature):
        al.show(scores=scores.shape, step=al.label("step"))
        return solutions.softmax_temperature(scores, temperature)

    assert check.softmax_temperature(softmax_temperature).passed


def test_a_profiler_that_was_there_is_there_again():
    def profiler(*_):
        return None

    sys.setprofile(profiler)
    try:
        assert check.softmax_temperature(solutions.softmax_temperature).passed
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)


# -- personal numbers, hints, solutions ------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in EXERCISES if EXERCISES[name].personal])
def test_personal_numbers_differ_from_student_to_student(name):
    task = EXERCISES[name].task
    rights = [task.right(**task.numbers(seed)) for seed in range(30)]
    assert len(set(rights)) > 4
    assert task.numbers(7) == task.numbers(7)
    assert check.__getattr__(name)(rights[3], seed=3).passed
    assert check.__getattr__(name)(rights[3]).key == "waits_seed"
    for bad in (-1, 1.5, "7", True):
        assert check.__getattr__(name)(rights[3], seed=bad).key == "bad_seed"
    for figure in task.numbers(3).values():
        assert str(figure) in question(name, 3).message
    assert question(name).message == str(question(name, None).words)


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_is_described(name):
    one = EXERCISES[name]
    assert one.name == name
    assert one.notebook in ("01", "02", "03", "04", "05", "06")
    assert 1 <= one.minutes <= 30
    assert one.difficulty in (1, 2, 3)
    assert len(one.hints) >= 3
    assert one.title
    assert question(name, 1).message
    assert bool(one.solution) == (one.kind in ("function", "probe"))
    if one.solution:
        code: dict[str, object] = {"np": np}
        exec(one.solution, code)
        assert judge(name, code[name]).passed
        for number, words in enumerate(one.hints, 1):
            assert str(words) not in one.solution
            assert one.solution.strip().splitlines()[-1].strip() not in str(words), number


def test_each_notebook_has_two_exercises():
    for notebook in ("01", "02", "03", "04", "05", "06"):
        assert sum(one.notebook == notebook for one in EXERCISES.values()) >= 2


def test_hints_go_a_step_further_each_time_and_stay_at_the_last(monkeypatch):
    monkeypatch.setattr(registry, "_hints_given", {})
    said = [hint("sliding_window").message for _ in range(5)]
    assert len(set(said[:3])) == 3
    assert said[2] == said[3] == said[4]
    assert hint("sliding_window", 1).message == said[0]
    assert hint("sliding_window").message == said[1]
    assert hint("sliding_window", 99).message == said[2]
    for bad in ("2", 1.5, np.nan, [1]):
        assert hint("sliding_window", bad).words.key == "hint_number"


def test_a_solution_opens_after_an_attempt_only(monkeypatch):
    monkeypatch.setattr(registry, "attempted", set())
    assert solution("sliding_window").code == ""
    check.sliding_window(None)
    check.sliding_window(lambda T, window: ...)  # the stub is no attempt
    assert solution("sliding_window").code == ""
    check.sliding_window(lambda T, window: np.eye(T))
    assert "def sliding_window(T, window):" in solution("sliding_window").code
    check.my_d_k(1, seed=1)
    assert solution("my_d_k").words.key == "solution_none"


def test_attempts_are_told_and_a_broken_hook_costs_nothing(monkeypatch):
    told = []
    monkeypatch.setattr(registry, "on_attempt", on_attempt_now := [told.append])
    assert on_attempt is not on_attempt_now
    check.sliding_window(None)
    assert told == []
    check.sliding_window(solutions.sliding_window)
    check.kinds_of_masks({"decoder": "full"})
    assert [(one.name, one.state) for one in told] == [
        ("sliding_window", "passed"),
        ("kinds_of_masks", "wrong"),
    ]

    def broken(verdict):
        raise OSError("disk full")

    on_attempt_now[:] = [broken]
    monkeypatch.delenv("ANDREA_STRICT")
    assert check.sliding_window(solutions.sliding_window).passed


def test_an_unknown_name_is_answered_by_a_sentence():
    al.set_language("en")
    with pytest.raises(AttributeError, match="perhaps you mean sliding_window"):
        _ = check.slidin_window
    with pytest.raises(KeyError, match=r"^There is no exercise “softmax”"):
        hint("softmax")
    for bad in ([1], {}, None, 3, np.ones(2)):
        for ask in (hint, question, solution):
            with pytest.raises(KeyError, match=r"^There is no exercise “\w+”\."):
                ask(bad)
    assert "sliding_window" in dir(check)
    assert not hasattr(check, "_ipython_canary_method_should_not_exist_")

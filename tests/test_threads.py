"""Work over threads: each item once, the BLAS as it was, and failures told."""

import os
import threading
import time
from unittest import mock

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import andrea_lesson as al
from andrea_lesson import threads, tiled_fast
from andrea_lesson.tiled import tiled_attention


def blas_threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def own_cores():
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None


AT_FIRST, CORES = blas_threads(), own_cores()  # before any test
several = pytest.mark.skipif(max(AT_FIRST, default=1) < 2, reason="the BLAS has one thread")
with_affinity = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system does not bind threads to cores"
)


@pytest.fixture(autouse=True)
def _everything_as_before():
    """After each test the BLAS has its threads, and this thread its cores."""
    yield
    assert blas_threads() == AT_FIRST
    assert threads._state.inside == 0
    assert own_cores() == CORES


def problem(heads=3, T=50):
    return [np.random.default_rng(s).standard_normal((heads, T, 4)) for s in range(3)]


def all_together(work):
    """A maker of workers that begin when every thread is there."""
    meet = threading.Barrier(threads.core_count())

    def make_worker():
        meet.wait(20)
        return work

    return make_worker


def test_each_item_is_done_once_by_as_many_threads_as_the_blas_had():
    done, by = [], set()

    def work(item):
        done.append(item)
        by.add(threading.get_ident())
        time.sleep(0.001)

    threads.share_out(range(100), all_together(work))
    assert sorted(done) == list(range(100))
    assert len(by) == threads.core_count() == max(AT_FIRST, default=threads._cores())


def test_nothing_to_do():
    threads.share_out([], lambda: pytest.fail)


def test_the_blas_has_one_thread_during_the_work():
    during = []
    threads.share_out(range(3), all_together(lambda item: during.append(blas_threads())))
    assert all(set(counts) <= {1} for counts in during)
    assert len(during) == 3


def test_the_last_one_out_restores():
    with threads.blas_of_one_thread() as outer:
        with threads.blas_of_one_thread() as inner:
            assert inner == outer == max(AT_FIRST, default=threads._cores())
        assert set(blas_threads()) <= {1}


def test_a_limit_of_the_caller_holds():
    with threadpool_limits(1, user_api="blas"):
        assert threads.core_count() == 1 or not AT_FIRST
        threads.share_out(range(3), all_together(lambda item: None))
        assert set(blas_threads()) <= {1}


@pytest.mark.parametrize("in_caller", [True, pytest.param(False, marks=several)])
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_a_failure_stops_the_others_and_is_raised(in_caller, error):
    caller, done = threading.get_ident(), []

    def work(item):
        time.sleep(0.001)
        if (threading.get_ident() == caller) == in_caller:
            raise error(item)
        done.append(item)

    with pytest.raises(error):
        threads.share_out(range(1000), all_together(work))
    assert len(done) < 900
    again = []
    threads.share_out(range(7), lambda: again.append)
    assert sorted(again) == list(range(7))


def test_a_worker_that_cannot_be_made_is_a_failure():
    with pytest.raises(MemoryError):
        threads.share_out(range(3), mock.Mock(side_effect=MemoryError))


@several
@with_affinity
def test_each_thread_keeps_to_a_core_of_its_own():
    cores = set()
    threads.share_out(
        range(50),
        all_together(lambda item: (time.sleep(0.001), cores.add(tuple(os.sched_getaffinity(0))))),
    )
    if len(os.sched_getaffinity(0)) == threads.core_count():
        assert len(cores) == threads.core_count()
        assert all(len(core) == 1 for core in cores)


@with_affinity
@pytest.mark.parametrize("cores", [1, 64])
def test_where_cores_are_left_over_the_system_places_the_threads(cores):
    with (
        mock.patch("os.sched_getaffinity", return_value=set(range(1000, 1000 + 8 * cores))),
        mock.patch("os.sched_setaffinity") as bind,
    ):
        threads.share_out(range(5), all_together(lambda item: None))
    bind.assert_not_called()


@with_affinity
def test_a_system_that_forbids_it_does_no_harm():
    done = []
    with mock.patch("os.sched_setaffinity", side_effect=PermissionError):
        threads.share_out(range(5), lambda: done.append)
    assert sorted(done) == list(range(5))


def test_callers_in_several_threads():
    problems = [problem(T=50 + n) for n in range(4)]
    expected = [al.attention(*one) for one in problems]
    wrong = []

    def call(n):
        for _ in range(20):
            if not np.allclose(tiled_attention(*problems[n]), expected[n], atol=1e-12):
                wrong.append(n)

    with mock.patch.object(tiled_fast, "WORTH_THREADS", 0):
        callers = [threading.Thread(target=call, args=(n,)) for n in range(4)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_starts_threads_of_its_own():
    threads.share_out(range(9), all_together(lambda item: None))  # here they have been started
    child = os.fork()
    if child == 0:
        status = os.EX_SOFTWARE
        try:
            threads.share_out(range(9), all_together(lambda item: None))
            status = os.EX_OK
        finally:
            os._exit(status)
    deadline = threading.Timer(30, os.kill, (child, 9))
    deadline.start()
    _, status = os.waitpid(child, 0)
    deadline.cancel()
    assert os.waitstatus_to_exitcode(status) == os.EX_OK

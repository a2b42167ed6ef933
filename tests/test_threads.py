"""Work over threads: each item once, the BLAS as it was, and failures told."""

import os
import random
import signal
import threading
import time
from contextlib import contextmanager
from queue import SimpleQueue
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
    assert threads._state.holder is None
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


def test_items_may_be_made_one_by_one_as_they_are_taken():
    """A generator can be asked by one thread at a time only."""
    done = []
    slowly = (time.sleep(0.002) or number for number in range(30))
    threads.share_out(slowly, all_together(done.append))
    assert sorted(done) == list(range(30))


def test_the_caller_is_one_of_the_threads():
    with mock.patch.object(threads, "_pool", wraps=threads._pool) as pool:
        threads.share_out(range(3), all_together(lambda item: None))
    assert all(call.args == (threads.core_count() - 1,) for call in pool.call_args_list)
    assert pool.call_count == threads.core_count() - 1


def test_a_blas_that_is_not_there_or_does_not_tell():
    silent = mock.Mock(user_api="blas", num_threads=None)
    other = mock.Mock(user_api="openmp", num_threads=7)
    for found, cores in (([silent, other], 1), ([other], threads._cores())):
        controller = mock.Mock(lib_controllers=found)
        with mock.patch.object(threads._state, "found", controller):
            assert threads.core_count() == cores


def test_each_of_several_libraries_gets_its_own_threads_back():
    libraries = [mock.Mock(user_api="blas", num_threads=n) for n in (2, 4, 3)]
    controller = mock.Mock(lib_controllers=libraries)
    with mock.patch.object(threads._state, "found", controller), hold() as cores:
        assert cores == 4
        for one in libraries:
            one.set_num_threads.assert_called_once_with(1)
    for one in libraries:
        assert one.set_num_threads.call_args.args == (one.num_threads,)


def test_the_pool_has_as_many_threads_as_were_asked_for_at_most():
    with (
        mock.patch.object(threads._state, "pool_size", 0),
        mock.patch.object(threads, "start_new_thread") as start,
    ):
        for size, started in ((2, 2), (1, 2), (3, 3), (3, 3)):
            threads._pool(size)
            assert start.call_count == started


def test_nothing_to_do():
    threads.share_out([], lambda: pytest.fail)


def test_the_blas_has_one_thread_during_the_work():
    during = []
    threads.share_out(range(3), all_together(lambda item: during.append(blas_threads())))
    assert all(set(counts) <= {1} for counts in during)
    assert len(during) == 3


@contextmanager
def hold():
    caller = object()
    try:
        yield threads._hold_blas(caller)
    finally:
        threads._let_go_of_blas(caller)


def test_the_one_who_took_the_threads_gives_them_back():
    with hold() as outer:
        assert threads.core_count() == outer
        with hold() as inner:
            assert inner == outer == max(AT_FIRST, default=threads._cores())
        assert set(blas_threads()) <= {1}
    assert blas_threads() == AT_FIRST


@several
@pytest.mark.parametrize("first_out", ["first", "second"])
def test_callers_that_overlap_in_two_threads_leave_the_blas_as_it_was(first_out):
    """Also while the other thread lives on: threadpoolctl may listen to one thread alone."""
    held, leave, left, end = (threading.Event() for _ in range(4))

    def first():
        with hold():
            held.set()
            leave.wait(20)
        left.set()
        end.wait(20)

    other = threading.Thread(target=first)
    other.start()
    held.wait(20)
    with hold() as cores:
        assert cores == max(AT_FIRST)
        if first_out == "first":
            leave.set()
            left.wait(20)
    leave.set()
    left.wait(20)
    try:
        assert blas_threads() == AT_FIRST
        with hold():
            assert set(blas_threads()) == {1}
        with threadpool_limits(1, user_api="blas"):
            assert set(blas_threads()) == {1}
        assert blas_threads() == AT_FIRST
    finally:
        end.set()
        other.join()


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


def pause(item=None):
    time.sleep(1e-5)


def hold_for_a_moment():
    with threads.one_blas_thread():
        pause()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer on this system")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # see below
@pytest.mark.parametrize(
    "work",
    [
        lambda: threads.share_out(range(3), lambda: pause),
        hold_for_a_moment,
        lambda: threads.quietly(pause),
    ],
    ids=["share_out", "one_blas_thread", "quietly"],
)
def test_ctrl_c_at_any_moment_leaves_everything_as_it_was(work):
    """Each of these is over in a moment, so that few moments are missed: hundreds of them."""

    def press(*_):
        raise KeyboardInterrupt

    def work_until_then():
        while True:
            work()

    chance, pressed, warnings = random.Random(0), 0, np.geterr()
    before = signal.signal(signal.SIGALRM, press)
    try:
        for _ in range(1500):
            try:
                # Again after a second: one that comes within a finalizer is lost on Python itself.
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 6e-4), 1)
                work_until_then()
            except KeyboardInterrupt:
                signal.setitimer(signal.ITIMER_REAL, 0)
                pressed += 1
            assert threads._state.holder is None
            assert blas_threads() == AT_FIRST
            assert own_cores() == CORES
            assert np.geterr() == warnings
        assert pressed == 1500
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        np.seterr(**warnings)
        threads._let_go_of_blas(threads._state.holder)


def test_quietly_gives_what_the_work_gives_and_no_warning():
    with np.errstate(all="raise"):
        assert threads.quietly(np.exp, np.float32(1000)) == np.inf
        with pytest.raises(FloatingPointError):
            np.exp(np.float32(1000))
    with pytest.raises(ZeroDivisionError):
        threads.quietly(lambda: 1 // 0)


@with_affinity
def test_threads_of_the_pool_are_free_to_go_anywhere_afterwards():
    threads.share_out(range(9), all_together(lambda item: None))
    found = SimpleQueue()
    orders = threads._pool(1)
    for _ in range(9):
        orders.put(lambda: (time.sleep(0.001), found.put(os.sched_getaffinity(0))))
    assert all(found.get(timeout=20) == CORES for _ in range(9))


def test_a_caller_who_finds_the_pool_busy_does_it_all():
    """And those who come too late find nothing to do, nor a worker to make."""
    free, done, makers = threading.Event(), [], []
    size = max(1, threads._state.pool_size)
    for _ in range(size):
        threads._pool(size).put(lambda: free.wait(20))

    def make_worker():
        makers.append(threading.get_ident())
        return done.append

    threads.share_out(range(20), make_worker)
    free.set()
    assert sorted(done) == list(range(20))
    threads.share_out(range(3), all_together(lambda item: None))  # the late ones have been
    assert makers == [threading.get_ident()]


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


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
no_warning = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def in_a_fork(check):
    """Whether the check passes in a forked process."""
    child = os.fork()
    if child == 0:
        status = os.EX_SOFTWARE
        try:
            check()
            status = os.EX_OK
        finally:
            os._exit(status)
    deadline = threading.Timer(30, os.kill, (child, 9))
    deadline.start()
    _, status = os.waitpid(child, 0)
    deadline.cancel()
    return os.waitstatus_to_exitcode(status) == os.EX_OK


@forks
@no_warning
def test_a_forked_process_starts_threads_of_its_own():
    threads.share_out(range(9), all_together(lambda item: None))  # here they have been started
    assert in_a_fork(lambda: threads.share_out(range(9), all_together(lambda item: None)))


@several
@forks
@no_warning
@pytest.mark.parametrize("generations", [1, 2])
def test_a_process_forked_while_the_blas_is_held_gets_its_threads_back(generations):
    """The one who took them does not live on in it; so nobody else would give them back."""

    def check():
        if generations == 2:
            assert in_a_fork(check_all)
        check_all()

    def check_all():
        assert threads.core_count() == max(AT_FIRST)
        assert blas_threads() == AT_FIRST
        tiled_attention(*problem())
        with threadpool_limits(1, user_api="blas"):  # what the process itself sets later holds
            assert threads.core_count() == 1

    with hold():
        assert in_a_fork(check)


def test_the_blas_keeps_to_one_thread_for_a_while():
    before = blas_threads()
    with threads.one_blas_thread():
        assert set(blas_threads()) == {1}
    assert blas_threads() == before

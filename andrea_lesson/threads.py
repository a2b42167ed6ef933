"""Work shared out over threads, while NumPy's own matrix products keep to one thread each.

NumPy lets other threads run while it computes, so threads of Python do share out its work.  The
BLAS, the library behind its matrix products, starts threads of its own as well; with both there
are more threads than cores and all of them wait for each other.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

Item = TypeVar("Item")


def share_out(items: Iterable[Item], make_worker: Callable[[], Callable[[Item], None]]) -> None:
    """Give each item to one of several workers, as many as the BLAS has threads.

    Parameters
    ----------
    items : iterable
        Taken in order by whichever worker is free: put the longest first.
    make_worker : callable
        Called once in each thread; gives the function that does the work there, so that
        buffers kept in it are not shared.

    Notes
    -----
    If a worker fails, no further item is begun; the exception is raised here once all have
    stopped, and the BLAS has its threads back.
    """
    waiting, lock = iter(items), Lock()

    def work() -> None:
        nonlocal waiting
        try:
            do = make_worker()
            while True:
                with lock:
                    item = next(waiting, waiting)  # an iterator is no item of its own
                if item is waiting:
                    return
                do(item)  # type: ignore[arg-type]
        except BaseException:
            with lock:
                waiting = iter(())
            raise

    with blas_of_one_thread() as threads:
        cores = _one_core_each(threads)
        others = [_pool().submit(_keep_to, core, work) for core in cores[1:]]
        try:
            _keep_to(cores[0], work)
        finally:
            # What has not begun by now, as other callers keep the pool busy, has nothing to do.
            started = [other for other in others if not other.cancel()]
            failures = [other.exception() for other in started]
        for failure in failures:
            if failure is not None:
                raise failure


def _one_core_each(threads: int) -> list[int | None]:
    """A core for each thread, if all the cores of this process are to be used; else no choice."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
    return list(cores) if len(cores) == threads else [None] * threads


def _keep_to(core: int | None, work: Callable[[], None]) -> None:
    """Work on one core, and let the thread go where it may afterwards.

    Some systems, virtual machines above all, wake a thread on the core of the one that woke it,
    and leave both there for longer than the work lasts, while another core is idle.
    """
    if core is None:
        return work()
    allowed = os.sched_getaffinity(0)  # of this thread
    try:
        os.sched_setaffinity(0, {core})
    except OSError:  # not permitted
        return work()
    try:
        return work()
    finally:
        os.sched_setaffinity(0, allowed)


def core_count() -> int:
    """How many threads share out the work: as many as the BLAS may have."""
    with blas_of_one_thread() as threads:
        return threads


@contextmanager
def blas_of_one_thread() -> Iterator[int]:
    """Hold the BLAS to one thread, and tell how many threads it had: the cores to use.

    The setting belongs to the whole process.  So callers in several threads are counted: the
    first one in sets it, the last one out restores it.
    """
    with _state.lock:
        if _state.inside == 0:
            blas = _state.controller()
            counts = [one["num_threads"] for one in blas.info() if one["user_api"] == "blas"]
            _state.threads = max(counts, default=_cores())
            _state.limit = blas.limit(limits=1, user_api="blas")
        _state.inside += 1
        threads = _state.threads
    try:
        yield threads
    finally:
        with _state.lock:
            _state.inside -= 1
            if _state.inside == 0:
                _state.limit.restore_original_limits()


class _State:
    """What the process has one of."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.inside, self.threads = 0, 1
        self.limit: Any = None
        self.found: Any = None
        self.pool: Any = None

    def controller(self) -> Any:
        """Look for the BLAS once: searching the loaded libraries takes a third of a millisecond."""
        if self.found is None:
            from threadpoolctl import ThreadpoolController

            self.found = ThreadpoolController()
        return self.found


def _pool() -> Any:
    """Threads that wait for work; they start when they are first needed, and stay."""
    with _state.lock:
        if _state.pool is None:
            from concurrent.futures import ThreadPoolExecutor

            _state.pool = ThreadPoolExecutor(max(1, os.cpu_count() or 1), "andrea_lesson")
        return _state.pool


def _cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start_anew() -> None:
    """In a forked process: the threads of the parent are not here."""
    global _state
    _state = _State()


_state = _State()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)

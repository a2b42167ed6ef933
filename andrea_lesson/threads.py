"""Work shared out over threads, while NumPy's own matrix products keep to one thread each.

NumPy lets other threads run while it computes, so threads of Python do share out its work.  The
BLAS, the library behind its matrix products, starts threads of its own as well; with both there
are more threads than cores and all of them wait for each other.

Ctrl-C may come at nearly any step of the main thread.  So whatever is to be undone is noted before
it is done, and undoing it twice does no harm.  The pool is made of locks and queues written in C
only: those of `concurrent.futures` and `threading.Condition`, stopped halfway, stay locked.
"""

import os
from _thread import start_new_thread
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from threading import Lock
from typing import Any, TypeVar

import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")


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
    waiting, no_more, lock = iter(items), object(), Lock()
    done, begun, ended = False, 0, SimpleQueue[BaseException | None]()

    def work() -> None:
        nonlocal waiting
        try:
            do = make_worker()
            while True:
                with lock:
                    item = next(waiting, no_more)
                if item is no_more:
                    return
                do(item)  # type: ignore[arg-type]
        except BaseException:
            with lock:
                waiting = iter(())
            raise

    def join_in(core: int | None) -> None:
        nonlocal begun
        with lock:
            if done:  # other callers have kept the pool busy for so long
                return
            begun += 1
        try:
            _keep_to(core, work)
        except BaseException as failure:
            ended.put(failure)
        else:
            ended.put(None)

    caller = object()
    try:
        cores = _one_core_each(_hold_blas(caller))
        try:
            for core in cores[1:]:
                _pool(len(cores) - 1).put(partial(join_in, core))
            _keep_to(cores[0], work)
        finally:
            with lock:
                done, waiting = True, iter(())
            failures = [ended.get() for _ in range(begun)]
        for failure in failures:
            if failure is not None:
                raise failure
    finally:
        try:
            _let_go_of_blas(caller)
        except BaseException:  # Ctrl-C in the midst of it; a second one will not come so soon
            _let_go_of_blas(caller)
            raise


def quietly(work: Callable[..., Result], *arguments: Any) -> Result:
    """Call it with NumPy's warnings off.

    It has a context of its own, in which `np.errstate` works: Ctrl-C may come just as that ends,
    and would leave the warnings of the caller off.
    """
    return copy_context().run(_quietly, work, arguments)


def _quietly(work: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
    with np.errstate(all="ignore"):
        return work(*arguments)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold the BLAS to one thread for a while.

    Matrices that are too small to be worth the sharing out are as quick so, many times quicker
    on a busy machine, and the sums come out the same on any number of cores.
    """
    caller = object()
    try:
        _hold_blas(caller)
        yield
    finally:
        try:
            _let_go_of_blas(caller)
        except BaseException:  # Ctrl-C, as above
            _let_go_of_blas(caller)
            raise


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
    allowed, permitted = os.sched_getaffinity(0), True  # of this thread
    try:
        try:
            os.sched_setaffinity(0, {core})
        except OSError:
            permitted = False
        return work()
    finally:
        if permitted:
            os.sched_setaffinity(0, allowed)


def core_count() -> int:
    """How many threads share out the work: as many as the BLAS may have."""
    with _state.lock:
        return _state.threads if _state.holder is not None else _most_threads(_blas())


def _hold_blas(caller: object) -> int:
    """Hold the BLAS to one thread, and tell how many threads it had: the cores to use.

    The setting belongs to the whole process, and the thread that made it has to take it back:
    from others threadpoolctl takes no orders meanwhile.  So of several callers at a time the
    first one holds the BLAS.  Those who outstay it go on with a BLAS of several threads, which
    is slower and nothing worse.
    """
    with _state.lock:
        if _state.holder is None:
            _state.before = _blas()
            _state.threads = _most_threads(_state.before)
            _state.holder = caller
            for library, _ in _state.before:
                library.set_num_threads(1)
        return _state.threads


def _let_go_of_blas(caller: object) -> None:
    """Give the BLAS its threads back, if it was this caller who took them."""
    with _state.lock:
        if _state.holder is caller:
            for library, threads in _state.before:
                library.set_num_threads(threads)
                # Newer versions of threadpoolctl would go on listening to this thread alone.
                getattr(library, "clear_controlling_thread", bool)()
            _state.holder = None


def _blas() -> list[tuple[Any, int]]:
    """Each BLAS in this process, by threadpoolctl's word for it, and how many threads it has."""
    for library, threads in _state.owed:
        library.set_num_threads(threads)
    _state.owed = []
    libraries = (one for one in _state.controller().lib_controllers if one.user_api == "blas")
    return [(library, library.num_threads or 1) for library in libraries]


def _most_threads(libraries: list[tuple[Any, int]]) -> int:
    return max((threads for _, threads in libraries), default=_cores())


class _State:
    """What the process has one of."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.holder: object = None  # the caller who holds the BLAS to one thread
        self.before: list[tuple[Any, int]] = []
        self.threads = 1
        self.owed: list[tuple[Any, int]] = []  # what a forked process is to give back
        self.found: Any = None
        self.pool_size = 0
        self.orders = SimpleQueue[Callable[[], None]]()

    def controller(self) -> Any:
        """Look for the BLAS once: searching the loaded libraries takes a third of a millisecond."""
        if self.found is None:
            from threadpoolctl import ThreadpoolController

            self.found = ThreadpoolController()
        return self.found


def _pool(size: int) -> SimpleQueue[Callable[[], None]]:
    """What is put here is done by one of so many threads, which start now if need be, and stay."""
    with _state.lock:
        while _state.pool_size < size:
            start_new_thread(_serve, (_state.orders,))
            _state.pool_size += 1
        return _state.orders


def _serve(orders: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        orders.get()()


def _cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start_anew() -> None:
    """In a forked process: the threads of the parent are not here, one may have held the BLAS."""
    global _state
    owed = _state.owed if _state.holder is None else _state.before
    _state = _State()
    _state.owed = owed


_state = _State()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)

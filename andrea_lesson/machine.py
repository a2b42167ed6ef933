"""What a computation runs on: its name, the threads it has, the memory that is left."""

import os
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from .labels import label
from .threads import core_count

# Where a container says how much memory it may use, how much it does, and how much of that are
# pages of files that nobody reads any more, which make room when room is wanted; versions 2 and 1.
_CONTAINER = (
    (
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory.current",
        "/sys/fs/cgroup/memory.stat",
    ),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ),
)


@dataclass(frozen=True)
class Memory:
    """Bytes of memory that there are in all, and that are free; None if nobody tells."""

    total: int | None
    free: int | None


def memory() -> Memory:
    """Ask how much memory this process can have: of the machine, or of the container it is in.

    Returns
    -------
    Memory
        From psutil where it is installed, else from the operating system.
    """
    total, free = _memory_of_machine()
    for limit_path, used_path, parts_path in _CONTAINER:
        limit, used = _number(limit_path), _number(used_path)
        if limit is not None and (total is None or limit < total):
            total = limit
            left = min(limit, limit - (used or 0) + _idle_files(parts_path))
            free = left if free is None else min(free, left)
    return Memory(total, None if free is None else max(free, 0))


def _memory_of_machine() -> tuple[int | None, int | None]:
    try:
        import psutil

        found = psutil.virtual_memory()
        return int(found.total), int(found.available)
    except Exception:  # not installed, or no word for this system
        pass
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        return page * os.sysconf("SC_PHYS_PAGES"), page * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf, others not all names
        return None, None


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or "max"
        return None


def _idle_files(path: str) -> int:
    """Bytes of files kept in memory for no reader; "total_" counts containers within, too."""
    try:
        lines = Path(path).read_text(encoding="ascii").splitlines()
        parts = {name: int(count) for name, count in map(str.split, lines)}
    except (OSError, ValueError):
        return 0
    return parts.get("total_inactive_file", parts.get("inactive_file", 0))


@dataclass(frozen=True)
class Device:
    """What computes: a GPU by its name, or so many threads of the CPU.  `str()` says it."""

    gpu: str | None
    threads: int

    def __str__(self) -> str:
        if self.gpu is not None:
            return self.gpu
        return label("machine_cpu" if self.threads > 1 else "machine_cpu_one", threads=self.threads)


def device_of(*arrays: Any) -> Device:
    """Tell what computes with these arrays.

    Parameters
    ----------
    *arrays
        A CuPy array among them, also in a list or a record, means the GPU.

    Returns
    -------
    Device
    """
    cupy = cupy_of(*arrays)
    if cupy is None:
        return Device(None, core_count())
    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"]
    return Device(name.decode() if isinstance(name, bytes) else str(name), core_count())


def cupy_of(*values: Any) -> Any:
    """Return the module CuPy if one of the values is an array of its, or holds one; else None."""
    if "cupy" not in sys.modules:  # then there are no such arrays, and long lists need no search
        return None
    for value in values:
        found = None
        if isinstance(value, (list, tuple)):
            found = cupy_of(*value)
        elif isinstance(value, dict):
            found = cupy_of(*value.values())
        elif type(value).__module__.partition(".")[0] == "cupy":
            found = import_module("cupy")
        elif _holds_arrays(value):
            found = cupy_of(*vars(value).values())
        if found is not None:
            return found
    return None


def _holds_arrays(value: Any) -> bool:
    """Whether it is a record such as `AttentionSteps`."""
    return hasattr(type(value), "__dataclass_fields__") and hasattr(value, "__dict__")

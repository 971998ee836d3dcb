"""A file that one process writes at a time: the others are refused at once.

Linux and macOS lock the whole file (``flock``). Windows locks bytes (``msvcrt``), and a locked byte
cannot be read by others: here it is one far behind the end of most files, the last that it can
lock. Both locks end with the process.
"""

from __future__ import annotations

import errno
import os
from typing import Any

try:
    import fcntl
except ImportError:
    fcntl = None
try:
    import msvcrt
except ImportError:
    msvcrt = None

# where Windows' lock is [bytes]; its C library counts in 32 bits
LOCK_OFFSET_BYTES = (1 << 31) - 2


def lock(file: int, shared: bool = False) -> None:
    """Take a file for oneself, or, shared, refuse it only while another process writes it.

    Raises:
        BlockingIOError: another process has it.
    """
    if fcntl is not None:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    elif msvcrt is not None:
        _lock_far(file, shared)


def _lock_far(file: int, shared: bool) -> None:
    """The same with Windows' locks, which have no shared kind: a reader takes it and lets it go."""
    windows: Any = msvcrt
    place = os.lseek(file, 0, os.SEEK_CUR)
    try:
        os.lseek(file, LOCK_OFFSET_BYTES, os.SEEK_SET)
        windows.locking(file, windows.LK_NBLCK, 1)
        if shared:
            os.lseek(file, LOCK_OFFSET_BYTES, os.SEEK_SET)
            windows.locking(file, windows.LK_UNLCK, 1)
    except OSError as fault:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from fault
    finally:
        os.lseek(file, place, os.SEEK_SET)

"""Crash-safe HDF5 files: a change is atomic. If the writer is killed at any moment, the file is
that of the last complete ``commit``.

HDF5 changes its metadata in place, and a process killed between two of these writes leaves a file
that no longer opens. Here

1. data beyond the end of the last commit are written to the file at once: no metadata point to
   them yet;
2. pages before that end are changed in memory only;
3. ``commit`` appends the changed pages and a checksum to the file (the journal), then writes the
   pages to their places, and cuts the journal off.

If the writer is killed before the journal is complete, the old file is there, with bytes behind its
end that HDF5 ignores. If it is killed later, the journal is complete: a reader (``opened``) and the
next writer take the pages from it.

Reference: J. Gray, A. Reuter, Transaction Processing, 1993, ch. 9 (redo log).
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import h5py

from tabi.recording.locks import lock

PAGE = 4096
MAGIC = b"tabijrnl"
# the journal's last bytes: end of the file without it, number of pages, checksum, magic
TAIL = struct.Struct("<QQI8s")
# files of the parent process, after a fork: closing them, or collecting them as garbage, would
# write to the file of the parent
_NEVER_CLOSED: list[Any] = []


class WholeFile:
    """A file whose changes are written by ``commit``, all or none; for h5py's ``fileobj`` driver.

    Args:
        path: of the file. mode: "w" creates an empty file, "r+" continues one, "r" reads.
    """

    def __init__(self, path: str | Path, mode: str) -> None:
        flags = {"w": os.O_RDWR | os.O_CREAT, "r+": os.O_RDWR, "r": os.O_RDONLY}[mode]
        self._file = os.open(path, flags | getattr(os, "O_BINARY", 0), 0o666)
        try:
            lock(self._file, shared=mode == "r")
            if mode == "w":
                os.ftruncate(self._file, 0)
            self._size, self._pages = _journal(self._file)
        except OSError:
            os.close(self._file)
            raise
        # end of the file at the last commit
        self._end = self._size
        self._position = 0
        if mode == "r+":
            self._apply()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Set the position of the next reading or writing, as files do [bytes]."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = start + offset
        return self._position

    def tell(self) -> int:
        """Return where the next reading or writing begins [bytes]."""
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read from the position on; pages that are not committed are read from memory."""
        view = memoryview(buffer).cast("B")
        start = self._position
        view = view[: max(0, min(len(view), self._size - start))]
        data = _read(self._file, start, len(view))
        view[: len(data)] = data
        view[len(data) :] = bytes(len(view) - len(data))
        for page in range(start // PAGE, -(-(start + len(view)) // PAGE)):
            page_data = self._pages.get(page)
            if page_data is not None:
                low, high = max(start, page * PAGE), min(start + len(view), (page + 1) * PAGE)
                view[low - start : high - start] = page_data[low - page * PAGE : high - page * PAGE]
        self._position += len(view)
        return len(view)

    def read(self, length: int) -> bytes:
        """Return bytes from the position on."""
        data = bytearray(length)
        return bytes(data[: self.readinto(data)])

    def write(self, data: Any) -> int:
        """Write at the position: to memory before the end of the last commit, else to the file."""
        view = memoryview(data).cast("B")
        start, stop = self._position, self._position + len(view)
        place = start
        while place < stop:
            page = place // PAGE
            if page * PAGE >= self._end:
                _write(self._file, place, view[place - start :])
                break
            high = min(stop, (page + 1) * PAGE)
            if page not in self._pages:
                self._pages[page] = bytearray(
                    _read(self._file, page * PAGE, PAGE).ljust(PAGE, b"\0")
                )
            self._pages[page][place - page * PAGE : high - page * PAGE] = view[
                place - start : high - start
            ]
            place = high
        self._position, self._size = stop, max(self._size, stop)
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        """Set the length; the file itself follows with the next commit."""
        self._size = self._position if size is None else size
        return self._size

    def flush(self) -> None:
        """Do nothing: only ``commit`` leaves the file consistent."""

    def commit(self) -> None:
        """Make all that was written since the last commit part of the file, at once."""
        if self._pages:
            numbers = sorted(self._pages)
            body = struct.pack(f"<{len(numbers)}Q", *numbers)
            body += b"".join(self._pages[k] for k in numbers)
            tail = TAIL.pack(self._size, len(numbers), zlib.crc32(body), MAGIC)
            _write(self._file, max(self._size, self._end), body + tail)
        self._apply()

    def _apply(self) -> None:
        """Write the pages to their places and cut the journal off."""
        for page, page_data in sorted(self._pages.items()):
            place = page * PAGE
            _write(self._file, place, page_data[: max(0, min(PAGE, self._size - place))])
        os.ftruncate(self._file, self._size)
        self._end, self._pages = self._size, {}

    def close(self) -> None:
        """Close the file without a commit; later writes are ignored."""
        if self._file >= 0:
            file, self._file = self._file, -1
            os.close(file)


class WholeHdf5(h5py.File):
    """An HDF5 file for writing; each ``flush`` and ``close`` commits all changes at once.

    Args:
        path: of the file. mode: "w" creates an empty file, "r+" continues one.
    """

    def __init__(self, path: str | Path, mode: str) -> None:
        self._whole = WholeFile(path, mode)
        try:
            super().__init__(self._whole, mode)
        except BaseException:
            self._whole.close()
            raise

    def flush(self) -> None:
        """Commit what was written."""
        super().flush()
        self._whole.commit()

    def close(self) -> None:
        """Commit what was written and close the file; do nothing if it is closed."""
        if not self:
            return
        try:
            super().close()
            self._whole.commit()
        finally:
            self._whole.close()

    def abandon(self) -> None:
        """Close the file as it was at the last ``flush``."""
        try:
            super().close()
        finally:
            self._whole.close()

    def forget(self) -> None:
        """Close the descriptor in a forked process, without touching the file of the parent."""
        self._whole.close()
        _NEVER_CLOSED.append(self)


@contextlib.contextmanager
def opened(path: Path) -> Any:
    """Open an HDF5 file for reading, in the state of its last complete commit.

    Raises:
        BlockingIOError: if another process is writing the file.
    """
    with open(path, "rb") as file:
        journal_pages = _journal(file.fileno())[1]
    if not journal_pages:
        with h5py.File(path, "r") as file:
            yield file
        return
    whole = WholeFile(path, "r")
    try:
        with h5py.File(whole, "r") as file:
            yield file
    finally:
        whole.close()


def _journal(file: int) -> tuple[int, dict[int, bytearray]]:
    """Return the length of a file without its journal, and the pages of the journal by number; no
    pages if there is no complete journal.
    """
    length = os.fstat(file).st_size
    if length < TAIL.size:
        return length, {}
    size, count, checksum, magic = TAIL.unpack(_read(file, length - TAIL.size, TAIL.size))
    start = length - TAIL.size - count * (PAGE + 8)
    if magic != MAGIC or count == 0 or start < size:
        return length, {}
    body = _read(file, start, count * (PAGE + 8))
    if zlib.crc32(body) != checksum:
        return length, {}
    numbers = struct.unpack_from(f"<{count}Q", body)
    return size, {
        page: bytearray(body[8 * count + k * PAGE : 8 * count + (k + 1) * PAGE])
        for k, page in enumerate(numbers)
    }


def _read(file: int, offset: int, length: int) -> bytes:
    """Return bytes from an offset on, fewer at the end of the file; none of a closed file."""
    if file < 0:
        return b""
    os.lseek(file, offset, os.SEEK_SET)
    parts = []
    while length > 0:
        part = os.read(file, min(length, 2**30))
        if not part:
            break
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _write(file: int, offset: int, data: Any) -> None:
    """Write all bytes at an offset; do nothing for a closed file."""
    if file < 0:
        return
    os.lseek(file, offset, os.SEEK_SET)
    view = memoryview(data)
    while len(view):
        view = view[os.write(file, view) :]

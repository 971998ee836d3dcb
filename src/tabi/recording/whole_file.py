"""A file that is changed as a whole: a writer killed at any moment leaves it as it was at the last
``commit``, or as it is after this one.

HDF5 changes its tables of contents in place, and a process killed between two of these writes
leaves a file that no longer opens. Here

1. what is written behind the end of the last commit goes to the file at once: the tables of
   contents do not lead there yet;
2. pages before that end are changed in memory only;
3. ``commit`` writes these pages behind the new end (the journal), with a checksum, then to their
   places, and cuts the journal off.

Killed before the journal is complete, the file is the old one with bytes behind its end, which
HDF5 ignores. Killed afterwards, the journal at its end is taken instead of the pages in their
places, here and by ``opened``.

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
# files of a parent process: closing them here, or losing them, would write into them
_FORGOTTEN: list[Any] = []


class WholeFile:
    """A file for h5py's ``fileobj`` driver.

    Args:
        path: where it is. mode: "w" makes an empty one, "r+" goes on with one, "r" reads.
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
        # of the last commit
        self._end = self._size
        self._position = 0
        if mode == "r+":
            self._apply()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place, as files do."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = start + offset
        return self._position

    def tell(self) -> int:
        """Return where the next reading or writing begins [bytes]."""
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read from the present place on, with what is not yet in the file."""
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
        """Bytes from the present place on."""
        data = bytearray(length)
        return bytes(data[: self.readinto(data)])

    def write(self, data: Any) -> int:
        """Write at the present place: before the end of the last commit into memory."""
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
        """Nothing: what HDF5 writes holds together after ``commit`` only."""

    def commit(self) -> None:
        """Change the file to what was written since the last commit."""
        if self._pages:
            numbers = sorted(self._pages)
            body = struct.pack(f"<{len(numbers)}Q", *numbers)
            body += b"".join(self._pages[k] for k in numbers)
            tail = TAIL.pack(self._size, len(numbers), zlib.crc32(body), MAGIC)
            _write(self._file, max(self._size, self._end), body + tail)
        self._apply()

    def _apply(self) -> None:
        """Pages to their places, and the journal off."""
        for page, page_data in sorted(self._pages.items()):
            place = page * PAGE
            _write(self._file, place, page_data[: max(0, min(PAGE, self._size - place))])
        os.ftruncate(self._file, self._size)
        self._end, self._pages = self._size, {}

    def close(self) -> None:
        """Let go of the file; what was not committed is dropped, and what comes now is too."""
        if self._file >= 0:
            file, self._file = self._file, -1
            os.close(file)


class WholeHdf5(h5py.File):
    """An HDF5 file for writing, changed as a whole by each ``flush`` and ``close``.

    Args:
        path: where it is. mode: "w" makes an empty one, "r+" goes on with one.
    """

    def __init__(self, path: str | Path, mode: str) -> None:
        self._whole = WholeFile(path, mode)
        try:
            super().__init__(self._whole, mode)
        except BaseException:
            self._whole.close()
            raise

    def flush(self) -> None:
        """Bring what was written into the file."""
        super().flush()
        self._whole.commit()

    def close(self) -> None:
        """Bring what was written into the file and let go of it; a second time does nothing."""
        if not self:
            return
        try:
            super().close()
            self._whole.commit()
        finally:
            self._whole.close()

    def abandon(self) -> None:
        """Let go of the file as it was at the last ``flush``."""
        try:
            super().close()
        finally:
            self._whole.close()

    def forget(self) -> None:
        """Let go of the file as it is, in a process that was forked while it was open."""
        self._whole.close()
        _FORGOTTEN.append(self)


@contextlib.contextmanager
def opened(path: Path) -> Any:
    """An HDF5 file for reading, as of its last complete commit.

    Raises:
        BlockingIOError: it is being written.
    """
    with open(path, "rb") as file:
        killed = _journal(file.fileno())[1]
    if not killed:
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
    """Length of a file without its journal, and the pages in that; none where it is incomplete."""
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
    """Bytes from a place on, fewer at the end of the file; none of one that was let go of."""
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
    """All of some bytes to a place; nowhere in a file that was let go of."""
    if file < 0:
        return
    os.lseek(file, offset, os.SEEK_SET)
    view = memoryview(data)
    while len(view):
        view = view[os.write(file, view) :]

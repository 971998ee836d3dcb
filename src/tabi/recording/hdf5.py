"""Reader of HDF5 files that may be broken or hostile:
no link is followed, nothing is larger than its file allows, every number is checked.

A dataset may claim more rows than there are bytes in the file, live in another file, or hold
what was not requested; each of these ends in one ``RefusedError`` that says what is wrong. Texts
have a fixed length: those of any length lie in a heap, and over a broken heap HDF5 itself may
loop for ever.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

# the most that HDF5's own packing makes of a byte, and the most that is unpacked at all
MAX_COMPRESSION_RATIO, MAX_UNPACKED_BYTES = 1100, 2**28
# filters of HDF5 itself: deflate, shuffle, checksum; lzf is h5py's
FILTERS = {1, 2, 3, 32000}
TEXT = 20_000_000
MAX_ABSOLUTE_VALUE = 1e15
# rows of a dataset: the first so many, or those from one to another; None for all
Rows = int | range | None


class RefusedError(ValueError):
    """A file that is not what it should be; the message says why."""


class UntrustedFile:
    """A file that is not trusted.

    Args:
        path: where it is. file: the same, open.
    """

    def __init__(self, path: Path, file: Any) -> None:
        self.file, self.size = file, path.stat().st_size

    def expect(self, holds: Any, otherwise: str) -> None:
        """Refuse the file with a reason unless something holds."""
        if not holds:
            raise RefusedError(otherwise)

    def has(self, name: str) -> bool:
        """Whether there is something of that name."""
        try:
            self._linked(name)
        except RefusedError:
            return False
        return True

    def _linked(self, name: str) -> None:
        """Refuse what is not in this very file."""
        parts = name.split("/")
        for k in range(1, len(parts) + 1):
            link = self.file.get("/".join(parts[:k]), getlink=True)
            self.expect(link is not None, f"it has no {name!r}")
            self.expect(
                isinstance(link, h5py.HardLink),
                f"{name!r} leads to another place, and links are not followed",
            )

    def dataset(self, name: str) -> Any:
        """A dataset that lies in this file."""
        self._linked(name)
        item = self.file[name]
        self.expect(
            isinstance(item, h5py.Dataset) and item.shape is not None,
            f"{name!r} is no table of numbers",
        )
        properties = item.id.get_create_plist()
        outside = item.is_virtual or properties.get_external_count() > 0
        self.expect(not outside, f"{name!r} lies in another file, and those are not opened")
        filters = {properties.get_filter(k)[0] for k in range(properties.get_nfilters())}
        self.expect(filters <= FILTERS, f"{name!r} is packed in an unknown way")
        return item

    def length(self, name: str) -> int:
        """Return the number of rows that exist: a writer that was killed may have announced more
        than it wrote.
        """
        item = self.dataset(name)
        self.expect(item.ndim > 0, f"{name!r} has no rows")
        row = item.dtype.itemsize * int(np.prod(item.shape[1:], dtype=float))
        if item.chunks is None or item.id.get_create_plist().get_nfilters() or row == 0:
            return int(item.shape[0])
        return int(min(item.shape[0], item.id.get_storage_size() // row))

    def numbers(
        self, name: str, kinds: str, shape: tuple[int | None, ...], rows: Rows = None
    ) -> NDArray[Any]:
        """Numbers of some kinds and shape, None where any length will do;
        of some rows if given, or the first so many.
        """
        item = self.dataset(name)
        wanted = "×".join("n" if n is None else str(n) for n in shape)
        fits = item.ndim == len(shape) and all(
            n is None or n == m for n, m in zip(shape, item.shape, strict=True)
        )
        self.expect(
            fits,
            (
                f"{name!r} has the shape {'×'.join(map(str, item.shape)) or 'of one number'}, "
                f"expected {wanted}"
            ),
        )
        self.expect(
            item.dtype.kind in kinds and item.dtype.itemsize <= 8,
            f"{name!r} is not made of numbers as expected",
        )
        if not isinstance(rows, range):
            rows = range(item.shape[0] if rows is None else rows)
        count = len(rows)
        bytes_ = item.dtype.itemsize * float(np.prod((count, *item.shape[1:]), dtype=float))
        packed = item.id.get_create_plist().get_nfilters() > 0
        most = min(MAX_COMPRESSION_RATIO * self.size, MAX_UNPACKED_BYTES) if packed else self.size
        self.expect(bytes_ <= most, f"{name!r} claims {count} rows, more than the file can hold")
        return np.asarray(item[rows.start : rows.stop])

    def reals(
        self,
        name: str,
        shape: tuple[int | None, ...] = (None,),
        infinite: bool = False,
        rows: Rows = None,
    ) -> NDArray[np.float64]:
        """Numbers of a size that products of some of them stay finite, or such that may be
        infinite; NaN never.
        """
        values = self.numbers(name, "fiu", shape, rows).astype(float)
        bad = np.isnan(values) if infinite else ~(np.abs(values) <= MAX_ABSOLUTE_VALUE)
        if bad.any():
            row = int(np.argwhere(bad)[0][0])
            raise RefusedError(
                f"{name!r} has {values[bad][0]} in row {row}, expected finite numbers"
            )
        return values

    def integers(
        self, name: str, shape: tuple[int | None, ...] = (None,), rows: Rows = None
    ) -> NDArray[np.int64]:
        """Read a dataset of whole numbers."""
        return self.numbers(name, "iu", shape, rows).astype(np.int64)

    def texts(self, name: str) -> list[str]:
        """Read a list of texts."""
        item = self.dataset(name)
        self.expect(
            item.ndim == 1 and _fixed(item.dtype), f"{name!r} is no list of names of one length"
        )
        self.expect(
            item.dtype.itemsize * len(item) <= min(TEXT, self.size),
            f"{name!r} claims {len(item)} names, more than the file can hold",
        )
        return [str(word) for word in item.asstr()[:]] if len(item) else []

    def text(self, name: str) -> str:
        """Read a single text."""
        item = self.dataset(name)
        self.expect(item.ndim == 0 and _fixed(item.dtype), f"{name!r} is no text")
        self.expect(item.dtype.itemsize <= min(TEXT, self.size), f"{name!r} is absurdly long")
        return str(item.asstr()[()])

    def attribute(self, name: str) -> str | float:
        """A text or a finite number at the file's root."""
        self.expect(name in self.file.attrs, f"it does not say its {name}")
        about = self.file.attrs.get_id(name)
        self.expect(
            about.shape == () and (about.dtype.kind in "fiu" or _fixed(about.dtype)),
            f"its {name} is no number or word",
        )
        value = self.file.attrs[name]
        if isinstance(value, (bytes, str)):
            return value.decode() if isinstance(value, bytes) else value
        self.expect(np.isfinite(value), f"its {name} is {value}, expected a finite number")
        return float(value)


def _fixed(kind: np.dtype) -> bool:
    about = h5py.check_string_dtype(kind)
    return about is not None and about.length is not None


def write_texts(group: Any, name: str, words: list[str]) -> None:
    """A list of names, all in the length of the longest."""
    data = [word.encode() for word in words]
    kind = h5py.string_dtype("utf-8", max([1, *map(len, data)]))
    group.create_dataset(name, (len(data),), kind, np.array(data, kind) if data else None)


def write_text(group: Any, name: str, words: str) -> None:
    """Write a single text."""
    data = words.encode()
    group.create_dataset(name, (), h5py.string_dtype("utf-8", max(1, len(data))), data)


def write_attribute(group: Any, name: str, value: str | float) -> None:
    """A word or a number beside a group."""
    data = value.encode() if isinstance(value, str) else value
    group.attrs.create(
        name,
        data,
        dtype=h5py.string_dtype("utf-8", max(1, len(data))) if isinstance(data, bytes) else None,
    )

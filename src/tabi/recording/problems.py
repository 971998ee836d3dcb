"""Problems with a recording, each in one sentence."""

from __future__ import annotations

import os

from tabi._errors import TabiError


class RecordingError(TabiError, OSError):
    """A recording that cannot be written or read."""


def reason(fault: BaseException) -> str:
    """Return the system's error about a file, from a library's message."""
    number = getattr(fault, "errno", None)
    if number is None:
        # HDF5 puts it inside a longer text
        _, separator, tail = str(fault).partition("errno = ")
        number = int(tail.split(",")[0]) if separator and tail.split(",")[0].isdigit() else None
    # a KeyError's own text is in quotes
    words = fault.args[0] if isinstance(fault, KeyError) and fault.args else fault
    return os.strerror(number).lower() if number else " ".join(str(words).split())

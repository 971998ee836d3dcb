"""Names of recordings, and of what ``tabi export`` makes of them: the ending says which."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tabi.recording.problems import RecordingError

RECORDINGS = (".h5", ".hdf5")
TABLES, MOVIES = (".csv", ".parquet"), (".gif", ".mp4")
EXPORTS = (*TABLES, ".mcap", ".html", *MOVIES)


def checked(path: Any) -> Path:
    """The name of a recording, or an error that says how to get what the ending stands for."""
    expected = f"expected a file name that ends in {' or '.join(RECORDINGS)}"
    if not isinstance(path, str | os.PathLike):
        raise RecordingError(f"the file of a recording is {path!r}; {expected}")
    path = Path(os.fsdecode(path))
    if path.is_dir():
        raise RecordingError(f"{path}: it is a folder; {expected}")
    ending = path.suffix.lower()
    if ending in RECORDINGS:
        return path
    name = path.with_suffix(RECORDINGS[0])
    then = f", then run: tabi export {name} --to {path}" if ending in EXPORTS else ""
    what = f"a recording is an HDF5 file, not {ending or 'one without an ending'}"
    raise RecordingError(f"{path}: {what}; {expected}; record {name}{then}")

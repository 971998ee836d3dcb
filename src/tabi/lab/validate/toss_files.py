"""Files of recorded tosses: reading them, and messages on what is wrong with them.
``tosses`` describes the format.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError

Array = NDArray[np.float64]
# of the recording [Hz], and of the cube [m]
RATE, HALF_SIDE = 148.0, 0.0524
# numbers in a row; minimum samples; minimum tosses, for one half to fit and one to score
COLUMNS, SAMPLES, MIN_TOSSES = 19, 3, 2
NAME = re.compile(r"toss_(\d+)")


@dataclass(frozen=True)
class Toss:
    """A recorded toss of a cube.

    Attributes:
        pose: position [m] and quaternion w, x, y, z at every sample, shape (n, 7).
        linear: velocity at the first sample, in the world's axes [m/s].
        angular: in the axes of the cube [rad/s].
    """

    name: str
    pose: Array
    linear: Array
    angular: Array


def read(path: str | Path) -> list[Toss]:
    """All tosses of an .npz file or of a folder of them, in the order of their numbers."""
    path = Path(path)
    if not path.exists():
        raise ModelError(
            f"tosses {str(path)!r} do not exist; expected an .npz file of recorded tosses, "
            "or a folder of them"
        )
    files = sorted(path.glob("*.npz")) if path.is_dir() else [path]
    if not files:
        raise ModelError(f"folder {str(path)!r} has no .npz file; expected recorded tosses")
    tosses = [toss for file in files for toss in _read_file(file)]
    if len(tosses) < MIN_TOSSES:
        raise ModelError(
            f"{len(tosses)} toss was found; expected at least {MIN_TOSSES}, "
            "one to fit and one to score",
            str(path),
        )
    return tosses


def _read_file(file: Path) -> list[Toss]:
    try:
        # a file of arrays, never of Python objects: those could run anything
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ModelError(
                "is a single array; expected an .npz file with arrays toss_0, toss_1, …", str(file)
            )
        with archive:
            result = {
                int(match[1]): archive[name]
                for name in archive.files
                if (match := NAME.fullmatch(name))
            }
    except ModelError:
        raise
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ModelError(
            f"cannot be read as an .npz file of arrays ({reason}); expected arrays toss_0, "
            f"toss_1, …",
            str(file),
        ) from None
    if not result:
        raise ModelError(
            "has no array named toss_0, toss_1, …; expected one for each toss", str(file)
        )
    return [_toss(f"toss_{number}", result[number], file) for number in sorted(result)]


def _toss(name: str, rows: Array, file: Path) -> Toss:
    if (
        rows.ndim != 2
        or rows.shape[1] != COLUMNS
        or len(rows) < SAMPLES
        or rows.dtype.kind not in "fiu"
    ):
        wanted = f"expected numbers of shape (n, {COLUMNS}) with n ≥ {SAMPLES}"
        raise ModelError(f"{name} has shape {rows.shape} of {rows.dtype}; {wanted}", str(file))
    rows = rows.astype(float)
    used = rows[:, :13]
    if not np.isfinite(used).all():
        raise ModelError(
            f"{name} has a number that is not finite in sample "
            f"{int(np.argmin(np.isfinite(used).all(axis=1)))}; remove it",
            str(file),
        )
    length = np.linalg.norm(rows[:, 3:7], axis=1)
    odd = np.abs(length - 1) > 1e-2
    if odd.any():
        k = int(np.argmax(odd))
        raise ModelError(
            f"{name} has a quaternion of length {length[k]:.3g} in sample {k}; "
            "expected 1, as w, x, y, z",
            str(file),
        )
    pose = np.hstack([HALF_SIDE * rows[:, :3], rows[:, 3:7] / length[:, None]])
    return Toss(name, pose, HALF_SIDE * rows[0, 7:10], rows[0, 10:13])

"""Pattern files: OpenHRP's ``.pos`` and Choreonoid's ``.seq``.

``.pos`` is a table: time [s], then a position for each joint in the order of the joints' numbers
(OpenHRP's jointId). Companion files of the same name are tables at the same times: ``.waist`` (x,
y, z, roll, pitch, yaw of the base), ``.hip`` (its roll, pitch, yaw), ``.zmp`` (x, y, z).

``.seq``, or ``.yaml``, is YAML: components of a ``CompositeSeq``, of which the ``MultiValueSeq`` of
joint positions is required; link positions and ZMP are read, too. Times are frame / frameRate, or
in the frames.

Columns are joints by their numbers: the first one that of number 0. If a file has
columns of more joints than the robot, these numbers select the columns; a warning lists ignored
columns that move. The ZMP of ``.zmp``
and of a component that is, or looks, relative to the root is the pattern's.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, users_level
from tabi.control.patterns import Pattern, pattern
from tabi.model.robot import Robot

Array = NDArray[np.float64]
COMPANIONS = ("waist", "hip", "zmp")
# names of the joint positions in files of Choreonoid
JOINTS = ("JointDisplacement", "JointPosition")
# mean height of a ZMP below which it is relative to a root, not to the ground [m]
MAX_ROOT_ZMP_HEIGHT = -0.1
# range of an ignored column that counts as still [rad or m]
STILL_RANGE = 1e-3


class PatternFileWarning(UserWarning):
    """A file moves joints that the robot does not have; they are ignored."""


class MotionTable(NamedTuple):
    """Tables of a pattern file.

    Attributes:
        times: [s], shape (n,). position: of all columns. extra: as in ``Pattern``.
        zmp: name in ``extra`` of the ZMP in the base's frame [m], shape (n, 3).
    """

    times: Array
    position: Array
    extra: dict[str, Array]
    zmp: str | None


def read_pattern(path: str | Path, robot: Robot, joints: Iterable[str] | None = None) -> Pattern:
    """Read a motion from a file, checked against the robot's joints and their limits.

    Args:
        path: of a ``.pos`` file of OpenHRP, or a ``.seq`` or ``.yaml`` file of Choreonoid.
        robot: that performs the motion.
        joints: names of the columns. Default: all joints of the robot, by their numbers if the
            robot's file has them, else in the order of ``robot.joint_names``.

    Example: docs/controllers.md
    """
    file = Path(path)
    if not file.is_file():
        raise ModelError("no such file; expected a pattern, .pos, .seq or .yaml", file)
    readers = {".pos": _read_pos, ".seq": _read_seq, ".yaml": _read_seq, ".yml": _read_seq}
    if file.suffix not in readers:
        raise ModelError(
            f"a pattern cannot be read from {file.suffix or 'no suffix'!r}; expected a file of "
            f"OpenHRP, .pos, or of Choreonoid, .seq or .yaml",
            file,
        )
    names = columns(robot) if joints is None else tuple(joints)
    read = readers[file.suffix](file)
    position = read.position
    if joints is None and position.shape[1] > len(names):
        position = _by_number(file, position, names, robot)
    if position.shape[1] != len(names):
        raise ModelError(
            f"has positions of {position.shape[1]} joints; expected those of {len(names)} of "
            f"{robot.name}: is it a pattern of another robot? If it is of this one, name its "
            f"columns, joints=[…]",
            file,
        )
    try:
        pattern_ = pattern(robot, read.times, position, None, names, read.extra)
    except ModelError as problem:
        raise ModelError(str(problem), file) from None
    return replace(pattern_, planned_zmp=read.zmp)


def _by_number(file: Path, position: Array, names: tuple[str, ...], robot: Robot) -> Array:
    """Select the columns of the robot's joints by their numbers; all columns if the robot has no
    numbers for them.
    """
    numbers = [robot.joint(name).number for name in names]
    count = position.shape[1]
    if any(n is None or not 0 <= n < count for n in numbers):
        return position
    ignored = [k for k in range(count) if k not in numbers]
    moving = [k for k in ignored if np.ptp(position[:, k]) > STILL_RANGE]
    if moving:
        warnings.warn(
            f"{file}: moves joints of numbers {', '.join(map(str, moving[:8]))} that "
            f"{robot.name} does not have; they are left out",
            PatternFileWarning,
            stacklevel=users_level(),
        )
    return position[:, [n for n in numbers if n is not None]]


def columns(robot: Robot) -> tuple[str, ...]:
    """Return the joints in the order of a file's columns."""
    numbers = {name: robot.joint(name).number for name in robot.joint_names}
    by_number = {name: n for name, n in numbers.items() if n is not None and n >= 0}
    return tuple(
        sorted(by_number, key=lambda name: by_number[name]) if by_number else robot.joint_names
    )


def _read_pos(file: Path) -> MotionTable:
    table, extra = _table(file), {}
    for suffix in COMPANIONS:
        beside = file.with_suffix(f".{suffix}")
        if beside.is_file():
            rows = _table(beside)
            if len(rows) != len(table):
                raise ModelError(
                    f"has {len(rows)} rows, and {file.name} has {len(table)}; expected a row for "
                    f"each of its times, or no such file beside it",
                    beside,
                )
            extra[suffix] = rows[:, 1:]
    has_zmp = "zmp" in extra and extra["zmp"].shape[1] == 3
    return MotionTable(table[:, 0], table[:, 1:], extra, "zmp" if has_zmp else None)


def _table(file: Path) -> Array:
    """Return the numbers of a file, row by row; an error names an invalid row."""
    rows: list[list[float]] = []
    for line, text in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        words = text.split()
        if not words:
            continue
        try:
            row = [float(word) for word in words]
        except ValueError:
            raise ModelError(f"{text.strip()[:40]!r} is not a row of numbers", file, line) from None
        if rows and len(row) != len(rows[0]):
            raise ModelError(
                f"has {len(row)} numbers, and rows before it {len(rows[0])}; "
                f"expected a time and one number per joint",
                file,
                line,
            )
        if not np.isfinite(row).all():
            raise ModelError(f"holds {text.strip()[:40]!r}; expected finite numbers", file, line)
        if rows and file.suffix == ".pos" and row[0] <= rows[-1][0]:
            raise ModelError(
                f"is at {row[0]:g} s, after {rows[-1][0]:g} s; expected growing times", file, line
            )
        rows.append(row)
    if len(rows) < 2 or len(rows[0]) < 2:
        raise ModelError("has no two rows of a time and numbers; expected a table", file)
    return np.array(rows)


def _read_seq(file: Path) -> MotionTable:
    top = _parsed(file)
    if not isinstance(top, dict) or top.get("type") != "CompositeSeq":
        raise ModelError("is no motion of Choreonoid; expected 'type: CompositeSeq'", file, 1)
    components: dict[str, tuple[Array, Array]] = {}
    relative: Any = None
    for part in top.get("components") or []:
        name = str(part.get("content", part.get("purpose", ""))) if isinstance(part, dict) else ""
        if name:
            components["joints" if name in JOINTS else name] = _frames(file, name, {**top, **part})
        if name.lower() == "zmp":
            relative = part.get("isRootRelative", part.get("is_root_relative"))
    if "joints" not in components:
        raise ModelError(
            f"has no component with the content {' or '.join(JOINTS)}; expected joint positions",
            file,
        )
    times, position = components.pop("joints")
    extra = {name: rows for name, (_, rows) in components.items()}
    zmp = next((name for name in components if name.lower() == "zmp"), None)
    if zmp is None or not _is_relative(extra[zmp], relative):
        return MotionTable(times, position, extra, None)
    if len(extra[zmp]) != len(times):
        component_times, rows = components[zmp]
        extra[zmp] = np.stack(
            [np.interp(times, component_times, column) for column in rows.T], axis=1
        )
    return MotionTable(times, position, extra, zmp)


def _is_relative(zmp: Array, stated: Any) -> bool:
    """Return whether a ZMP is in the root's frame: as stated in the file, else if it is below the
    root.

    Args:
        stated: true, false, or another value if not stated.
    """
    if zmp.shape[1] != 3:
        return False
    return stated if isinstance(stated, bool) else bool(zmp[:, 2].mean() < MAX_ROOT_ZMP_HEIGHT)


def _frames(file: Path, name: str, part: dict[str, Any]) -> tuple[Array, Array]:
    """Return times and numbers of a component of a motion, with the keys common to all
    components.
    """
    frames = part.get("frames")
    if not isinstance(frames, list) or len(frames) < 2:
        raise ModelError(f"component {name!r} has no two frames; expected a list of them", file)
    rows, timed = [_row(frame) for frame in frames], bool(part.get("hasFrameTime", False))
    part_count = part.get("numParts") if part.get("type") == "MultiValueSeq" else None
    width = part_count + timed if isinstance(part_count, int) else len(rows[0])
    for k, row in enumerate(rows):
        if len(row) != width or not np.isfinite(row).all():
            raise ModelError(
                f"frame {k} of component {name!r} is {str(frames[k])[:40]}; expected {width} "
                f"finite numbers",
                file,
                _line_of(file, name, k),
            )
    table = np.array(rows)
    if timed:
        return table[:, 0], table[:, 1:]
    rate = part.get("frameRate")
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 < rate < np.inf:
        raise ModelError(
            f"component {name!r} has the frameRate {rate!r}; expected frames a second", file
        )
    return np.arange(len(table)) / rate, table


def _row(frame: Any) -> Array:
    """Return the numbers of a frame, NaN if it has none."""
    try:
        return np.ravel(np.asarray(frame, float))
    except (TypeError, ValueError):
        return np.array([np.nan])


def _parsed(file: Path) -> Any:
    import yaml

    try:
        return yaml.load(file.read_text(encoding="utf-8"), _loader())
    except yaml.MarkedYAMLError as problem:
        line = problem.problem_mark.line + 1 if problem.problem_mark else None
        raise ModelError(f"is no YAML: {problem.problem}", file, line) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise ModelError("is no YAML; expected a text of Choreonoid", file) from None


def _loader() -> Any:
    """Return the fast loader, if available."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _line_of(file: Path, name: str, frame: int) -> int | None:
    """Return the line of a frame of a component; the file is parsed again with positions, for an
    error.
    """
    import yaml

    top = yaml.compose(file.read_text(encoding="utf-8"), _loader())
    for part in dict(_pairs(top)).get("components", top).value:
        keys = dict(_pairs(part))
        content = keys.get("content", keys.get("purpose"))
        if content is not None and content.value == name and "frames" in keys:
            return keys["frames"].value[frame].start_mark.line + 1
    return None


def _pairs(node: Any) -> list[tuple[str, Any]]:
    return [(key.value, value) for key, value in node.value]

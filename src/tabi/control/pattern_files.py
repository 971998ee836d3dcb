"""Files of joint motions: OpenHRP's ``.pos`` and Choreonoid's ``.seq``.

``.pos`` is a table: time [s], then a position for each joint in the order of the joints' numbers
(OpenHRP's jointId). Files of the same name beside it are tables at the same times: ``.waist`` (x,
y, z, roll, pitch, yaw of the base), ``.hip`` (its roll, pitch, yaw), ``.zmp`` (x, y, z).

``.seq``, or ``.yaml``, is YAML: components of a ``CompositeSeq``, of which the ``MultiValueSeq`` of
joint positions is needed; places of links and ZMP are kept with it. Times are frame / frameRate, or
in the frames.

Columns are joints by their numbers: the first one that of number 0. A file that has columns of more
joints than the robot is read by these; what is left out is told where it moves. The ZMP of ``.zmp``
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
# what Choreonoid has called it
JOINTS = ("JointDisplacement", "JointPosition")
# a ZMP that is on the mean lower than this is below a root, not on the ground [m]
BELOW = -0.1
# columns that are left out stand still where they move by no more than their digits [rad or m]
STILL = 1e-3


class PatternFileWarning(UserWarning):
    """A file moves joints that the robot does not have; they are left out."""


class MotionTable(NamedTuple):
    """What a file tells.

    Attributes:
        times: [s], shape (n,). position: of all columns. others: as of ``Pattern``.
        zmp: name among the others of what is in the base's frame [m], shape (n, 3).
    """

    times: Array
    position: Array
    others: dict[str, Array]
    zmp: str | None


def read_pattern(path: str | Path, robot: Robot, joints: Iterable[str] | None = None) -> Pattern:
    """A motion from a file, checked against the robot's joints and their limits.

    Args:
        path: of a ``.pos`` file of OpenHRP, or a ``.seq`` or ``.yaml`` file of Choreonoid.
        robot: that should move so.
        joints: what the columns are. By default all joints of the robot, by their numbers where
            the robot's file has them, else in the order of ``robot.joint_names``.
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
            f"{robot.name}: is it a pattern of another robot? If it is of this one, say what its "
            f"columns are, joints=[…]",
            file,
        )
    try:
        made = pattern(robot, read.times, position, None, names, read.others)
    except ModelError as problem:
        raise ModelError(str(problem), file) from None
    return replace(made, planned_zmp=read.zmp)


def _by_number(file: Path, position: Array, names: tuple[str, ...], robot: Robot) -> Array:
    """Columns of the robot's joints, by their numbers, out of more; as they are where the robot
    has no numbers, or none for them.
    """
    numbers = [robot.joint(name).number for name in names]
    count = position.shape[1]
    if any(n is None or not 0 <= n < count for n in numbers):
        return position
    left = [k for k in range(count) if k not in numbers]
    moving = [k for k in left if np.ptp(position[:, k]) > STILL]
    if moving:
        warnings.warn(
            f"{file}: moves joints of numbers {', '.join(map(str, moving[:8]))} that "
            f"{robot.name} does not have; they are left out",
            PatternFileWarning,
            stacklevel=users_level(),
        )
    return position[:, [n for n in numbers if n is not None]]


def columns(robot: Robot) -> tuple[str, ...]:
    """Joints in the order of a file's columns."""
    numbers = {name: robot.joint(name).number for name in robot.joint_names}
    told = {name: n for name, n in numbers.items() if n is not None and n >= 0}
    return tuple(sorted(told, key=lambda name: told[name]) if told else robot.joint_names)


def _read_pos(file: Path) -> MotionTable:
    table, others = _table(file), {}
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
            others[suffix] = rows[:, 1:]
    told = "zmp" in others and others["zmp"].shape[1] == 3
    return MotionTable(table[:, 0], table[:, 1:], others, "zmp" if told else None)


def _table(file: Path) -> Array:
    """Numbers of a file, row by row; a broken one is named."""
    rows: list[list[float]] = []
    for line, text in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        words = text.split()
        if not words:
            continue
        try:
            row = [float(word) for word in words]
        except ValueError:
            raise ModelError(f"{text.strip()[:40]!r} is no row of numbers", file, line) from None
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
    found: dict[str, tuple[Array, Array]] = {}
    relative: Any = None
    for part in top.get("components") or []:
        name = str(part.get("content", part.get("purpose", ""))) if isinstance(part, dict) else ""
        if name:
            found["joints" if name in JOINTS else name] = _frames(file, name, {**top, **part})
        if name.lower() == "zmp":
            relative = part.get("isRootRelative", part.get("is_root_relative"))
    if "joints" not in found:
        raise ModelError(
            f"has no component with the content {' or '.join(JOINTS)}; expected joint positions",
            file,
        )
    times, position = found.pop("joints")
    others = {name: rows for name, (_, rows) in found.items()}
    zmp = next((name for name in found if name.lower() == "zmp"), None)
    if zmp is None or not _is_relative(others[zmp], relative):
        return MotionTable(times, position, others, None)
    if len(others[zmp]) != len(times):
        own, rows = found[zmp]
        others[zmp] = np.stack([np.interp(times, own, column) for column in rows.T], axis=1)
    return MotionTable(times, position, others, zmp)


def _is_relative(zmp: Array, told: Any) -> bool:
    """Whether a ZMP is in the root's frame, as the file says; where it does not, if it is below it.

    Args:
        told: true, false, or what is no answer.
    """
    if zmp.shape[1] != 3:
        return False
    return told if isinstance(told, bool) else bool(zmp[:, 2].mean() < BELOW)


def _frames(file: Path, name: str, part: dict[str, Any]) -> tuple[Array, Array]:
    """Times and numbers of a component of a motion, with what all components have in common."""
    frames = part.get("frames")
    if not isinstance(frames, list) or len(frames) < 2:
        raise ModelError(f"component {name!r} has no two frames; expected a list of them", file)
    rows, timed = [_row(frame) for frame in frames], bool(part.get("hasFrameTime", False))
    told = part.get("numParts") if part.get("type") == "MultiValueSeq" else None
    width = told + timed if isinstance(told, int) else len(rows[0])
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
    """Numbers of a frame, not finite where there are none."""
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
    """The fast one, where it is there."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _line_of(file: Path, name: str, frame: int) -> int | None:
    """Where a frame of a component stands; read again with places, as something is wrong there."""
    import yaml

    top = yaml.compose(file.read_text(encoding="utf-8"), _loader())
    for part in dict(_pairs(top)).get("components", top).value:
        keys = dict(_pairs(part))
        found = keys.get("content", keys.get("purpose"))
        if found is not None and found.value == name and "frames" in keys:
            return keys["frames"].value[frame].start_mark.line + 1
    return None


def _pairs(node: Any) -> list[tuple[str, Any]]:
    return [(key.value, value) for key, value in node.value]

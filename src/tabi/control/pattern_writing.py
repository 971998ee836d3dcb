"""Writing of pattern files: OpenHRP's ``.pos`` with its companions, and Choreonoid's ``.seq``.

Files have the format of ``pattern_files.read_pattern``, with all digits of a number, so that they
are read back identically; times of a ``.seq`` too, which are in its frames if they are not
multiples of a period.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.control.pattern_files import COMPANIONS, JOINTS, columns
from tabi.control.patterns import Pattern
from tabi.model.robot import Robot

Array = NDArray[np.float64]
# components of Choreonoid by name: type, and number of values of one part
KINDS = {"LinkPosition": ("MultiSE3Seq", 7), "ZMP": ("Vector3Seq", 3), "zmp": ("Vector3Seq", 3)}


def write_pattern(pattern: Pattern, path: str | Path, robot: Robot) -> None:
    """Write a pattern to a file for ``read_pattern``; an existing file is overwritten.

    Args:
        pattern: of all joints in a file of this robot. Of ``extra``, "waist", "hip" and "zmp"
            become companion files of a ``.pos``, and all of them components of a ``.seq``.
        path: ends in ``.pos``, for OpenHRP, or ``.seq``, for Choreonoid.
        robot: its joints are the columns, in the order of ``pattern_files.columns``.

    Example: docs/controllers.md
    """
    file = Path(path)
    writers = {".pos": _pos, ".seq": _seq}
    if file.suffix not in writers:
        raise ModelError(
            f"a pattern cannot be written as {file.suffix or 'no suffix'!r}; expected a name that "
            f"ends in .pos, for OpenHRP, or .seq, for Choreonoid",
            file,
        )
    names = columns(robot)
    for name in names:
        if name not in pattern.joints:
            raise ModelError(
                f"the pattern has no joint {name!r}; a file has a column for each of "
                f"{len(names)} joints of {robot.name}: add it",
                file,
            )
    for name in pattern.joints:
        if name not in names:
            raise ModelError(
                f"joint {name!r} of {robot.name} has no column in a file (not numbered); leave it "
                f"out of the pattern",
                file,
            )
    for name, rows in pattern.extra.items():
        if rows.ndim != 2 or len(rows) != len(pattern.times) or not np.isfinite(rows).all():
            raise ModelError(
                f"{name!r} of the pattern has shape {rows.shape}; expected finite numbers in "
                f"{len(pattern.times)} rows, one for each of its times",
                file,
            )
    position = pattern.position[:, [pattern.joints.index(name) for name in names]]
    for target, text in writers[file.suffix](file, pattern, position).items():
        _save(target, text)


def _pos(file: Path, pattern: Pattern, position: Array) -> dict[Path, str]:
    """Return the tables of OpenHRP, by their files."""
    for name in pattern.extra:
        if name not in COMPANIONS:
            raise ModelError(
                f"{name!r} of the pattern has no place beside a .pos; expected only "
                f"{', '.join(COMPANIONS)}: write a .seq, or leave it out of pattern.extra",
                file,
            )
    texts = {file: _table(pattern.times, position)}
    for name in COMPANIONS:
        beside = file.with_suffix(f".{name}")
        if name in pattern.extra:
            texts[beside] = _table(pattern.times, pattern.extra[name])
        elif beside.exists():
            raise ModelError(
                f"lies beside {file.name}, and would be read with it, though the pattern has no "
                f"{name!r}; remove it, or write under another name",
                beside,
            )
    return texts


def _table(times: Array, rows: Array) -> str:
    lines = np.column_stack([times, rows]).tolist()
    return "".join(" ".join(map(repr, line)) + "\n" for line in lines)


def _seq(file: Path, pattern: Pattern, position: Array) -> dict[Path, str]:
    """Return a motion in the format of Choreonoid."""
    count, rate = len(pattern.times), (len(pattern.times) - 1) / pattern.duration
    # rounds a nearly integer rate, if times stay the same
    even = [r for r in (float(round(rate)), rate) if r > 0 and _even(pattern.times, r)]
    timed, rate = not even, even[0] if even else rate
    joints = np.column_stack([pattern.times, position]) if timed else position
    parts = [
        "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\n"
        f"frameRate: {_number(rate)}\nnumFrames: {count}\ncomponents:\n",
        _component(JOINTS[0], ("MultiValueSeq", 1), joints, count, timed),
    ]
    for name, rows in pattern.extra.items():
        if name in JOINTS:
            raise ModelError(
                f"{name!r} of the pattern's extra is the name of joint positions; rename it",
                file,
            )
        kind = KINDS.get(name, ("MultiValueSeq", 1))
        # an unusual width is written as plain numbers
        kind = kind if rows.shape[1] % kind[1] == 0 else ("MultiValueSeq", 1)
        parts.append(_component(name, kind, rows, count, relative=_relative(name, pattern)))
    return {file: "".join(parts)}


def _relative(name: str, pattern: Pattern) -> bool:
    """Check whether a component is a ZMP in the base's frame."""
    return name.lower() == "zmp" and pattern.zmp is not None


def _even(times: Array, rate: float) -> bool:
    return bool((np.arange(len(times)) / rate == times).all())


def _component(
    name: str,
    kind: tuple[str, int],
    rows: Array,
    count: int,
    timed: bool = False,
    relative: bool = False,
) -> str:
    """Return a component of a motion: its header and frames."""
    what, width = kind
    lines = ["  -", f"    type: {what}", f"    content: {name}", f"    numFrames: {count}"]
    if what != "Vector3Seq":
        lines.append(f"    numParts: {(rows.shape[1] - timed) // width}")
    if timed:
        lines.append("    hasFrameTime: true")
    if relative:
        lines.append("    isRootRelative: true")
    lines.append("    frames:")
    for row in rows.tolist():
        numbers = [_number(x) for x in row]
        if what == "MultiSE3Seq":
            # a list for each link
            links = [numbers[k : k + width] for k in range(0, len(numbers), width)]
            numbers = [f"[ {', '.join(link)} ]" for link in links]
        lines.append(f"      - [ {', '.join(numbers)} ]")
    return "\n".join(lines) + "\n"


def _number(x: float) -> str:
    """Return a number with all its digits, with the point that YAML requires before an exponent."""
    text = repr(float(x))
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _save(file: Path, text: str) -> None:
    """Write a file under a temporary name first, so that it is complete or unchanged."""
    part = file.with_name(f".{file.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, file)
    except OSError as fault:
        with contextlib.suppress(OSError):
            part.unlink()
        raise ModelError(
            f"the pattern cannot be written: {fault.strerror or fault}; expected a place on a disk "
            f"with room, where files may be written",
            file,
        ) from None

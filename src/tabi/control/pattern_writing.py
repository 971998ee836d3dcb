"""Patterns as files: OpenHRP's ``.pos`` with its companions, and Choreonoid's ``.seq``.

What is written is what ``pattern_files.read_pattern`` reads, with all digits of a number, so that
what is read back is the same to the last bit; times of a ``.seq`` too, which stand in its frames
where they are not multiples of a period.
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
# of what Choreonoid knows by name: its type, and how many numbers one part has
KINDS = {"LinkPosition": ("MultiSE3Seq", 7), "ZMP": ("Vector3Seq", 3), "zmp": ("Vector3Seq", 3)}


def write_pattern(pattern: Pattern, path: str | Path, robot: Robot) -> None:
    """A pattern into a file that ``read_pattern`` reads; a file of that name is written over.

    Args:
        pattern: of all joints that a file of this robot has. Of ``others`` "waist", "hip" and "zmp"
            become files beside a ``.pos``, and all of them components of a ``.seq``.
        path: that ends in ``.pos``, for OpenHRP, or ``.seq``, for Choreonoid.
        robot: whose joints are the columns, in the order of ``pattern_files.columns``.
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
                f"the pattern does not tell joint {name!r}; a file has a column for each of "
                f"{len(names)} joints of {robot.name}: add it",
                file,
            )
    for name in pattern.joints:
        if name not in names:
            raise ModelError(
                f"joint {name!r} of {robot.name} has no number, and no column in a file; leave it "
                f"out of the pattern",
                file,
            )
    for name, rows in pattern.others.items():
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
    """Tables of OpenHRP, by their files."""
    for name in pattern.others:
        if name not in COMPANIONS:
            raise ModelError(
                f"{name!r} of the pattern has no place beside a .pos; expected only "
                f"{', '.join(COMPANIONS)}: write a .seq, or leave it out of pattern.others",
                file,
            )
    texts = {file: _table(pattern.times, position)}
    for name in COMPANIONS:
        beside = file.with_suffix(f".{name}")
        if name in pattern.others:
            texts[beside] = _table(pattern.times, pattern.others[name])
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
    """A motion of Choreonoid."""
    count, rate = len(pattern.times), (len(pattern.times) - 1) / pattern.duration
    # a rate that is nearly whole is, where times are then the same
    even = [r for r in (float(round(rate)), rate) if r > 0 and _even(pattern.times, r)]
    timed, rate = not even, even[0] if even else rate
    joints = np.column_stack([pattern.times, position]) if timed else position
    parts = [
        "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\n"
        f"frameRate: {_number(rate)}\nnumFrames: {count}\ncomponents:\n",
        _component(JOINTS[0], ("MultiValueSeq", 1), joints, count, timed),
    ]
    for name, rows in pattern.others.items():
        if name in JOINTS:
            raise ModelError(
                f"{name!r} of the pattern's others is what joint positions are called; rename it",
                file,
            )
        kind = KINDS.get(name, ("MultiValueSeq", 1))
        # of another width than is usual, it is plain numbers
        kind = kind if rows.shape[1] % kind[1] == 0 else ("MultiValueSeq", 1)
        parts.append(_component(name, kind, rows, count, relative=_relative(name, pattern)))
    return {file: "".join(parts)}


def _relative(name: str, pattern: Pattern) -> bool:
    """Whether a component is a ZMP in the base's frame."""
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
    """A component of a motion: its head and frames."""
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
    """All its digits, with the point that YAML wants before an exponent."""
    text = repr(float(x))
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _save(file: Path, text: str) -> None:
    """Under another name first, so that a file is whole or as it was."""
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

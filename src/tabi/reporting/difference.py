"""Comparison of two runs: first difference, and largest differences.

Rows of the same time are compared. Two runs are the same if they are identical to the last bit,
which tabi guarantees on one machine.
"""

from __future__ import annotations

from itertools import pairwise, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.recording.recorded import Recorded

SAME, DIFFERENT, NOT_COMPARABLE = 0, 1, 2
Array = NDArray[np.float64]


def compare(a: Recorded, b: Recorded) -> dict[str, Any]:
    """Compare two recorded runs row by row.

    Returns:
        verdict: "same", "different" or "not comparable", with reason.
            meta: its differences, {name: [of a, of b]}. episodes: of a, of b.
            rows: of a, of b, in common.
        parts_at: time of the first difference [s], or None.
            largest: of q, v, force: {difference, time, name, a, b}.
    """
    meta = {
        key: [x, y]
        for key in sorted({*_about(a), *_about(b)})
        if (x := _about(a).get(key)) != (y := _about(b).get(key))
    }
    result: dict[str, Any] = {
        "meta": meta,
        "episodes": {"a": a.episode, "b": b.episode},
        "rows": {"a": len(a.time), "b": len(b.time), "common": 0},
        "parts_at": None,
        "largest": {},
    }
    reason = _obstacle(a, b)
    if reason:
        return {"verdict": "not comparable", "reason": reason} | result
    step = min(a.dt, b.dt)
    _, i, k = np.intersect1d(np.round(a.time / step), np.round(b.time / step), return_indices=True)
    if len(i) == 0:
        return {"verdict": "not comparable", "reason": "no time is in both of them"} | result
    result["rows"]["common"] = len(i)
    time, first = a.time[i], []
    for name, x, y, names in _columns(a, b, i, k):
        gap = np.abs(x - y)
        if gap.size and gap.max() > 0:
            row, column = np.unravel_index(int(np.argmax(gap)), gap.shape)
            first.append(float(time[np.flatnonzero(gap.max(axis=1) > 0)[0]]))
            entry = {
                "difference": float(gap[row, column]),
                "time": float(time[row]),
                "name": names[column],
                "a": float(x[row, column]),
            }
            result["largest"][name] = entry | {"b": float(y[row, column])}
    result["parts_at"] = min(first, default=None)
    same = not first and len(i) == len(a.time) == len(b.time)
    reason = "" if same or first else "they are equal where both are, but not equally long"
    return {"verdict": "same" if same else "different", "reason": reason} | result


def code(result: dict[str, Any]) -> int:
    """Return the exit code of a verdict."""
    return {"same": SAME, "different": DIFFERENT, "not comparable": NOT_COMPARABLE}[
        result["verdict"]
    ]


def _about(run: Recorded) -> dict[str, Any]:
    """Return meta data, flat, without the time of the recording."""
    about = {"dt": run.dt, "tolerance": run.tolerance, "version": run.version, "scene": run.scene}
    for key, value in run.meta.items():
        about |= (
            {f"{key}.{name}": x for name, x in value.items()}
            if isinstance(value, dict)
            else {key: value}
        )
    return about


def _obstacle(a: Recorded, b: Recorded) -> str:
    if a.joint_names != b.joint_names:
        odd = sorted(set(a.joint_names) ^ set(b.joint_names))
        return (
            f"their joints are not the same, for example {odd[0]!r}"
            if odd
            else "their joints are in another order"
        )
    if a.q.shape[1] != b.q.shape[1] or a.v.shape[1] != b.v.shape[1]:
        return (
            f"they have {a.q.shape[1]} and {b.q.shape[1]} positions: their worlds are not the same"
        )
    return ""


def _columns(
    a: Recorded, b: Recorded, i: NDArray[np.int64], k: NDArray[np.int64]
) -> list[tuple[str, Array, Array, list[str]]]:
    joints = a.world.joint_of
    places = [""] * a.q.shape[1]
    starts = [*(int(start) for start in a.world.body["q_start"][1:]), len(places)]
    for body, (start, end) in enumerate(pairwise(starts), 1):
        name = joints[int(a.world.body["v_start"][body])]
        for n in range(start, end):
            places[n] = name if end - start == 1 else f"{name}[{n - start}]"
    counts = {name: joints.count(name) for name in set(joints)}
    rates = [
        name if counts[name] == 1 else f"{name}[{n - joints.index(name)}]"
        for n, name in enumerate(joints)
    ]
    bodies = sorted({*a.body_names, *b.body_names})
    both = [(_force(a, name), _force(b, name), name) for name in bodies]
    forces = [(x, y, name) for x, y, name in both if x is not None or y is not None]
    columns = [("q", a.q[i], b.q[k], places), ("v", a.v[i], b.v[k], rates)]
    if forces:
        left = np.concatenate(
            [(np.zeros((len(a.time), 3)) if x is None else x)[i] for x, _, _ in forces], axis=1
        )
        right = np.concatenate(
            [(np.zeros((len(b.time), 3)) if y is None else y)[k] for _, y, _ in forces], axis=1
        )
        columns.append(
            ("force", left, right, [f"{name}.{axis}" for _, _, name in forces for axis in "xyz"])
        )
    return columns


def _force(run: Recorded, body: str) -> Array | None:
    """Return the contact force on a body in every row [N], shape (n, 3); None if it never touches
    anything.
    """
    if body not in run.body_names:
        return None
    place, row = run.body_names.index(body), np.repeat(np.arange(len(run.time)), run.contact_count)
    total, touched = np.zeros((len(run.time), 3)), False
    for side, sign in (("body_a", 1.0), ("body_b", -1.0)):
        on_body = run.contacts[side] == place
        touched |= bool(on_body.any())
        total += sign * np.stack(
            [
                np.bincount(row[on_body], run.contacts["force"][on_body, c], len(run.time))
                for c in range(3)
            ],
            axis=1,
        )
    return total if touched else None


def text(result: dict[str, Any]) -> str:
    """Return the comparison as text for people."""
    rows, why = result["rows"], f": {result['reason']}" if result["reason"] else ""
    lines = [
        f"{result['verdict']}{why} ({rows['common']} rows in common of {rows['a']} and {rows['b']})"
    ]
    if any(result["episodes"].values()):
        lines.append(f"episodes {result['episodes']['a']} and {result['episodes']['b']}")
    if result["parts_at"] is not None:
        lines.append(f"they part at {result['parts_at']:g} s")
    units = {"q": "rad or m", "v": "rad/s or m/s", "force": "N"}
    for name, x in result["largest"].items():
        lines.append(
            f"  {name:6s} differs by up to {x['difference']:.3g} {units[name]}, "
            f"at {x['time']:g} s in {x['name']}: {x['a']:.9g} and {x['b']:.9g}"
        )
    for key, (x, y) in result["meta"].items():
        if isinstance(x, str) and isinstance(y, str):
            x, y = _first_difference(x, y)
        lines.append(f"  {key}: {_short(x)} and {_short(y)}")
    return "\n".join(lines)


def _first_difference(a: str, b: str) -> tuple[str, str]:
    """Return the first lines in which two texts differ: their beginnings are often the same."""
    lines = zip_longest(a.splitlines(), b.splitlines(), fillvalue="(ends)")
    return next(((x, y) for x, y in lines if x != y), (a, b))


def _short(value: Any) -> str:
    words = " ".join(str(value).split())
    return words if len(words) <= 60 else f"{words[:57]}…"

"""The numbers of ``tabi report``: what was run, whether it is certified, who bore what,
and what deserves a second look.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.model.arrays import FLOATING, PRISMATIC, REVOLUTE
from tabi.recording.episodes import EXCEPTION, Episode
from tabi.recording.recorded import Recorded
from tabi.reporting.report import contacts, walks
from tabi.reporting.report.falls import fall_time
from tabi.scenes.tree import title_of

Array = NDArray[np.float64]
# metres from the edge of a sole, radians or metres from the end of a joint's travel,
# share of a motor's limit, overlap [m]
EDGE, END, FULL, DEEP = 5e-3, 1e-3, 0.999, 1e-3
# seconds between missed steps that are told as one time; changes told one by one
APART, CHANGES = 0.05, 40
# episodes that a terminal lists
EPISODES = 20
NAMED = ("name", "settings", "seed", "versions", "platform", "processor")


def measure(run: Recorded, found: contacts.Touches) -> dict[str, Any]:
    """All numbers of the page, with units in their names, of a recording and who touched in it."""
    robots = [_robot(run, k) for k in range(len(run.world.robot_names))]
    certificate = _certificate(run)
    numbers = {
        "scene": str(run.meta.get("name") or ""),
        "title": title_of(run.scene),
        "settings": [str(word) for word in _list(run.meta.get("settings"))],
        "seed": run.meta.get("seed"),
        "created": run.created,
        "tabi": run.version,
        "versions": run.meta.get("versions") if isinstance(run.meta.get("versions"), dict) else {},
        "platform": run.meta.get("platform"),
        "processor": run.meta.get("processor"),
        "told": {str(key): value for key, value in run.meta.items() if key not in NAMED},
        "step_s": run.dt,
        "from_s": float(run.time[0]),
        "to_s": float(run.time[-1]),
        "rows": len(run.time),
        "steps_a_row": contacts.every(run),
        "closed": bool(run.closed),
        "episode": run.episode,
        "episodes": [_episode(episode) for episode in run.episodes],
        "ended": _ended(run).ended,
        "how_ended": _ended(run).kind,
        "certified": certificate["steps"] > 0 and certificate["missed_steps"] == 0,
        "certificate": certificate,
        "robots": robots,
        "feet": _feet(run, found),
        "bodies": _bodies(run, found),
        "energy": _energy(run),
        "changes": _changes(run, found),
        "foot_events": [
            {"time_s": event.time, "name": event.foot, "before": event.before, "after": event.after}
            for event in run.foot_events
        ],
    }
    numbers["warnings"] = _warnings(run, numbers)
    return {"verdict": verdict(numbers)} | numbers


def _ended(run: Recorded) -> Episode:
    return run.episodes[run.episode]


def _episode(one: Episode) -> dict[str, Any]:
    return {
        "number": one.number,
        "from_s": _round(one.begin),
        "to_s": _round(one.end),
        "steps": one.steps,
        "rows": one.rows,
        "ended": one.ended,
    }


def episode_lines(numbers: dict[str, Any], most: int = EPISODES) -> list[str]:
    """How the run ended, for a terminal: a line for each episode, the first and last of many."""
    found = numbers["episodes"]
    if len(found) < 2:
        return [f"  recording: {numbers['ended']}"]
    lines = [
        f"  episode {one['number']}: {one['from_s']:g} to {one['to_s']:g} s, "
        f"{one['steps']} steps; {one['ended']}"
        for one in found
    ]
    return shortened(lines, most, f"  … {len(lines) - most} more, which --json lists")


def shortened(lines: list[Any], most: int, between: Any) -> list[Any]:
    """The first and the last of many, with something between them."""
    if len(lines) <= most:
        return lines
    return [*lines[: most // 2], between, *lines[-(most - most // 2) :]]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def verdict(numbers: dict[str, Any]) -> str:
    """One sentence: certified or not, when not, and who fell."""
    c, last = numbers["certificate"], len(numbers["episodes"]) - 1
    of = f" of episode {numbers['episode']} (of 0 to {last})" if last > 0 else ""
    if c["steps"] == 0:
        words = f"Nothing to certify: no step{of} was recorded"
    elif numbers["certified"]:
        words = (
            f"Certified: every one of {c['steps']} steps{of} reached {c['tolerance_m_s']:g} m/s, "
            f"the worst {c['worst_residual_m_s']:.2e} m/s"
        )
    else:
        first, last = c["missed"][0]["from_s"], c["missed"][-1]["to_s"]
        when = f"at {first:g} s" if first == last else f"between {first:g} and {last:g} s"
        words = (
            f"Not certified: {c['missed_steps']} of {c['steps']} steps{of} missed "
            f"{c['tolerance_m_s']:g} m/s, {when}"
        )
    for robot in numbers["robots"]:
        if robot["floating"]:
            words += f"; {robot['name']} " + (
                "stayed up"
                if robot["fallen_at_s"] is None
                else f"fell at {robot['fallen_at_s']:g} s"
            )
    words += walks.unfinished(numbers.get("walks", {}))
    if numbers["how_ended"] in ("", EXCEPTION):
        words += f"; {numbers['ended']}"
    return words + "."


def fallen(numbers: dict[str, Any]) -> dict[str, float]:
    """When robots fell [s], those that did."""
    return {
        robot["name"]: robot["fallen_at_s"]
        for robot in numbers["robots"]
        if robot["fallen_at_s"] is not None
    }


def _certificate(run: Recorded) -> dict[str, Any]:
    worst, missed, time = run.summary, run.certificate["missed"], run.time
    new = np.diff(missed, prepend=missed[:1])
    when = contacts.spans(new > 0, time, APART)
    return {
        "tolerance_m_s": run.tolerance,
        "worst_residual_m_s": worst["residual"],
        "worst_joint_residual": worst["joint_residual"],
        "worst_penetration_m": worst["penetration"],
        "worst_force_residual_n": worst["force_residual"],
        "worst_pressure_shift_m": worst["pressure_shift"],
        "judged_steps": len(run.judged["time"]),
        "steps": _ended(run).steps,
        "missed_steps": int(new.clip(0).sum()),
        "missed_before": int(missed[0]),
        "missed": [
            {"from_s": _round(time[a]), "to_s": _round(time[b]), "steps": int(new[a : b + 1].sum())}
            for a, b in when
        ],
        "mean_iterations": float(run.certificate["iterations"].mean()),
        "most_iterations": int(run.certificate["iterations"].max()),
        "most_contacts": int(run.contact_count.max()),
    }


def _round(x: Any) -> float:
    """A time without the dust of its sum."""
    return round(float(x), 9)


def _robot(run: Recorded, k: int) -> dict[str, Any]:
    """Name and mass; of one that floats how low it was, and when it fell as ``tabi run`` has it."""
    world = run.world
    own = np.flatnonzero(world.robot == k)
    about = {
        "name": world.robot_names[k],
        "mass_kg": float(world.body["mass"][own].sum()),
        "floating": False,
        "fallen_at_s": None,
    }
    base = [
        int(b) for b in own if world.body["kind"][b] == FLOATING and world.body["parent"][b] == 0
    ]
    if base:
        b, q = base[0], run.q[:, world.body["q_start"][base[0]] :][:, :3]
        high = (
            q @ world.body["rotation"][b].reshape(3, 3)[2]
            + world.body["offset"][b][2]
            - _ground(run)
        )
        fell = fall_time(run, k, b, _ground(run), high[0] + _ground(run) - _lowest(run, own))
        about |= {
            "floating": True,
            "fallen_at_s": None if fell is None else _round(fell),
            "lowest_base_m": float(high.min()),
        }
    return about


def _lowest(run: Recorded, own: Any) -> float:
    """Height of the lowest that is seen of some bodies at the start [m];
    of the ground where nothing is.
    """
    moved = run.motion(slice(0, 1))
    pieces = [piece for piece in run.look.pieces if piece.body in own and len(piece.vertices)]
    return min(
        (
            float(
                (piece.vertices @ moved.rotation[piece.body, 0, 2]).min()
                + moved.position[piece.body, 0, 2]
            )
            for piece in pieces
        ),
        default=_ground(run),
    )


def _ground(run: Recorded) -> float:
    """Height of the level ground [m]."""
    level = [float(point[2]) for point, normal in run.look.planes if normal[2] > 0.999]
    return level[0] if level else 0.0


def _feet(run: Recorded, found: contacts.Touches) -> list[dict[str, Any]]:
    feet, out = run.world.feet, []
    for k, name in enumerate(feet.names):
        about = {"name": name, "robot": run.world.robot_names[feet.robot[k]]}
        row = found.row(int(feet.body[k]))
        if row is not None:
            about |= contacts.summary(found, row) | _edge(run, k, found)
        out.append(about)
    return out


def _edge(run: Recorded, k: int, found: contacts.Touches) -> dict[str, Any]:
    """How near to the edge of its sole a foot was pressed, while it bore something."""
    force = run.feet["wrench"][:, k, 2]
    at, outline = run.feet["pressure"][:, k], run.world.feet.outlines[k]
    there = (force > contacts.SHARE * force.max(initial=0.0)) & np.isfinite(at).all(axis=1)
    if not there.any() or len(outline) < 3:
        return {"edge_m": None, "at_edge_s": 0.0, "at_edge_from_s": None}
    far = np.full(len(at), np.inf)
    far[there] = inside(at[there], outline)
    near = np.flatnonzero(far < EDGE)
    first = _round(run.time[near[0]]) if len(near) else None
    return {
        "edge_m": float(far.min()),
        "at_edge_s": float(found.between[near].sum()),
        "at_edge_from_s": first,
    }


def inside(points: Array, outline: Array) -> Array:
    """How far points are inside of a convex polygon's nearest edge [m], negative outside of it."""
    ends = np.roll(outline, -1, axis=0)
    along = ends - outline
    area = float((outline[:, 0] * ends[:, 1] - outline[:, 1] * ends[:, 0]).sum())
    length = np.maximum(np.linalg.norm(along, axis=1), 1e-12)
    inward = np.sign(area or 1.0) * np.column_stack([-along[:, 1], along[:, 0]]) / length[:, None]
    return ((points[:, None] - outline) * inward).sum(axis=2).min(axis=1)


def _bodies(run: Recorded, found: contacts.Touches) -> list[dict[str, Any]]:
    """Bodies that touch something and are no feet; those that bear most first."""
    world, out = run.world, []
    soles = {int(body) for body in world.feet.body}
    for k, body in enumerate(int(b) for b in found.bodies):
        if body not in soles:
            name = run.body_names[int(np.flatnonzero(world.link == body)[0])]
            robot = int(world.robot[body])
            out.append(
                {"name": name, "robot": world.robot_names[robot] if robot >= 0 else None}
                | contacts.summary(found, k)
            )
    return sorted(out, key=lambda about: -about["peak_load_n"])


def _energy(run: Recorded) -> dict[str, float]:
    kinetic, potential = run.energy["kinetic"], run.energy["potential"]
    lost = float(kinetic[0] + potential[0] - kinetic[-1] - potential[-1])
    return {
        "most_kinetic_j": float(kinetic.max()),
        "last_kinetic_j": float(kinetic[-1]),
        "lost_j": lost,
    }


def _changes(run: Recorded, found: contacts.Touches) -> list[dict[str, Any]]:
    """When feet touched and lifted off; where there are no feet, all bodies."""
    feet, time = run.world.feet, run.time
    # the first row of a run stands before its first step, and has no contacts yet
    begin = 1 if run.contact_count[0] == 0 else 0
    named = [(f"{name} foot", found.row(int(feet.body[k]))) for k, name in enumerate(feet.names)]
    if not named:
        named = [
            (run.body_names[int(np.flatnonzero(run.world.link == body)[0])], k)
            for k, body in enumerate(found.bodies)
        ]
    out = []
    for name, k in named:
        for start, end in contacts.spans(found.load[k] > 0, time) if k is not None else []:
            out += (
                [{"time_s": _round(time[start]), "name": name, "change": "touches"}]
                if start > begin
                else []
            )
            out += (
                [{"time_s": _round(time[end]), "name": name, "change": "lifts off"}]
                if end < len(time) - 1
                else []
            )
    return sorted(out, key=lambda change: change["time_s"])


def _warnings(run: Recorded, numbers: dict[str, Any]) -> list[str]:
    """What deserves a second look, a sentence each."""
    c, out = numbers["certificate"], []
    if not numbers["closed"]:
        out.append(
            "The recording was never closed: its process was killed, or still records; up to its "
            "last second may be missing."
        )
    elif numbers["how_ended"] == EXCEPTION:
        out.append(f"The run did not end by itself: {numbers['ended']}.")
    if c["missed_before"]:
        out.append(
            f"{c['missed_before']} steps had missed the tolerance before this episode began."
        )
    if c["worst_penetration_m"] > DEEP:
        out.append(f"Bodies overlap by up to {1e3 * c['worst_penetration_m']:.2g} mm.")
    for foot in numbers["feet"]:
        if foot.get("at_edge_s"):
            when = f"for {foot['at_edge_s']:.3g} s, first at {foot['at_edge_from_s']:g} s"
            out.append(
                f"The centre of pressure of the {foot['name']} foot is within {1e3 * EDGE:g} mm of "
                f"the edge of its sole {when}: it is about to tip."
            )
    out += _motor_warnings(run)
    if numbers["steps_a_row"] > 1:
        out.append(
            f"There is one row for {numbers['steps_a_row']} steps: "
            "peaks between rows are not seen, and slip is a sum over rows."
        )
    return out


def _motor_warnings(run: Recorded) -> list[str]:
    """Joints at the ends of their travel, motors at their limits."""
    world, out = run.world, []
    between = np.diff(run.time, prepend=run.time[:1])
    kinds = np.zeros(world.v_count, np.int64)
    for start, kind in zip(world.body["v_start"][1:], world.body["kind"][1:], strict=True):
        kinds[start] = kind + 1
    for k in range(world.v_count):
        # joints of one degree of freedom
        if kinds[k] - 1 not in (REVOLUTE, PRISMATIC) or world.dof["q"][k] < 0:
            continue
        slides = kinds[k] - 1 == PRISMATIC
        q, limit = run.q[:, world.dof["q"][k]], float(world.dof["effort_limit"][k])
        for name, at in (
            ("lower", q <= world.dof["lower"][k] + END),
            ("upper", q >= world.dof["upper"][k] - END),
        ):
            if at.any():
                end = (
                    f"{1e3 * world.dof[name][k]:.4g} mm"
                    if slides
                    else f"{np.degrees(world.dof[name][k]):.4g}°"
                )
                out.append(
                    f"Joint {world.joint_of[k]} is at its {name} end, {end}, "
                    f"{_when(run, at, between)}."
                )
        full = np.abs(run.motors["effort"][:, k]) >= FULL * limit
        if 0 < limit < np.inf and full.any():
            unit = "N" if slides else "N·m"
            out.append(
                f"The motor of {world.joint_of[k]} gives all it has, {limit:g} {unit}, "
                f"{_when(run, full, between)}."
            )
    return out


def _when(run: Recorded, holds: NDArray[np.bool_], between: Array) -> str:
    return (
        f"for {between[holds].sum():.3g} s, first at "
        f"{_round(run.time[np.flatnonzero(holds)[0]]):g} s"
    )

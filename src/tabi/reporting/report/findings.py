"""Findings of ``tabi report``: settings of the run, certificate, loads of bodies, and warnings."""

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
# limits of warnings: distance from the edge of a sole [m], from a joint limit [rad or m], share of
# a motor's limit, overlap [m]
EDGE_DISTANCE, JOINT_LIMIT_DISTANCE, EFFORT_SHARE, OVERLAP = 5e-3, 1e-3, 0.999, 1e-3
# gap between steps that did not converge within one interval [s]; number of listed changes
MAX_GAP_S, MAX_CHANGES = 0.05, 40
# number of episodes listed on a terminal
MAX_EPISODES = 20
NAMED = ("name", "settings", "seed", "versions", "platform", "processor")


def measure(run: Recorded, touching: contacts.Touches) -> dict[str, Any]:
    """Return the numbers of the page of a recording, with units in their names."""
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
        "steps_a_row": contacts.steps_per_row(run),
        "closed": bool(run.closed),
        "episode": run.episode,
        "episodes": [_episode(episode) for episode in run.episodes],
        "ended": _ended(run).ended,
        "how_ended": _ended(run).kind,
        "certified": certificate["steps"] > 0 and certificate["missed_steps"] == 0,
        "certificate": certificate,
        "robots": robots,
        "feet": _feet(run, touching),
        "bodies": _bodies(run, touching),
        "energy": _energy(run),
        "changes": _changes(run, touching),
        "foot_events": [
            {"time_s": event.time, "name": event.foot, "before": event.before, "after": event.after}
            for event in run.foot_events
        ],
    }
    numbers["warnings"] = _warnings(run, numbers)
    return {"verdict": verdict(numbers)} | numbers


def _ended(run: Recorded) -> Episode:
    return run.episodes[run.episode]


def _episode(episode: Episode) -> dict[str, Any]:
    return {
        "number": episode.number,
        "from_s": _round(episode.begin),
        "to_s": _round(episode.end),
        "steps": episode.steps,
        "rows": episode.rows,
        "ended": episode.ended,
    }


def episode_lines(numbers: dict[str, Any], most: int = MAX_EPISODES) -> list[str]:
    """Return how the run ended, for a terminal: a line for each of the first and last episodes."""
    episodes = numbers["episodes"]
    if len(episodes) < 2:
        return [f"  recording: {numbers['ended']}"]
    lines = [
        f"  episode {episode['number']}: {episode['from_s']:g} to {episode['to_s']:g} s, "
        f"{episode['steps']} steps; {episode['ended']}"
        for episode in episodes
    ]
    return shortened(lines, most, f"  … {len(lines) - most} more, which --json lists")


def shortened(lines: list[Any], most: int, between: Any) -> list[Any]:
    """Return the first and the last of many lines, with ``between`` for the rest."""
    if len(lines) <= most:
        return lines
    return [*lines[: most // 2], between, *lines[-(most - most // 2) :]]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def verdict(numbers: dict[str, Any]) -> str:
    """Return one sentence: certified or not, when not, and which robots fell."""
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
    """Return the times of falls by robot [s]."""
    return {
        robot["name"]: robot["fallen_at_s"]
        for robot in numbers["robots"]
        if robot["fallen_at_s"] is not None
    }


def _certificate(run: Recorded) -> dict[str, Any]:
    worst, missed, time = run.summary, run.certificate["missed"], run.time
    new = np.diff(missed, prepend=missed[:1])
    when = contacts.spans(new > 0, time, MAX_GAP_S)
    return {
        "tolerance_m_s": run.tolerance,
        "worst_residual_m_s": worst["residual"],
        "worst_joint_residual": worst["joint_residual"],
        "worst_penetration_m": worst["penetration"],
        "worst_force_residual_n": worst["force_residual"],
        "worst_pressure_shift_m": worst["pressure_shift"],
        "judged_steps": len(run.step_errors["time"]),
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
    """Return a time without the rounding error of its sum."""
    return round(float(x), 9)


def _robot(run: Recorded, k: int) -> dict[str, Any]:
    """Return name and mass; for a floating robot also its lowest height, and the time of its fall
    as in ``tabi run``.
    """
    world = run.world
    bodies = np.flatnonzero(world.robot == k)
    robot = {
        "name": world.robot_names[k],
        "mass_kg": float(world.body["mass"][bodies].sum()),
        "floating": False,
        "fallen_at_s": None,
    }
    base = [
        int(b) for b in bodies if world.body["kind"][b] == FLOATING and world.body["parent"][b] == 0
    ]
    if base:
        b, q = base[0], run.q[:, world.body["q_start"][base[0]] :][:, :3]
        high = (
            q @ world.body["rotation"][b].reshape(3, 3)[2]
            + world.body["offset"][b][2]
            - _ground(run)
        )
        fell = fall_time(run, k, b, _ground(run), high[0] + _ground(run) - _lowest(run, bodies))
        robot |= {
            "floating": True,
            "fallen_at_s": None if fell is None else _round(fell),
            "lowest_base_m": float(high.min()),
        }
    return robot


def _lowest(run: Recorded, bodies: Any) -> float:
    """Return the lowest visible height of bodies at the start [m]; without any, of the ground."""
    motion = run.motion(slice(0, 1))
    pieces = [piece for piece in run.look.pieces if piece.body in bodies and len(piece.vertices)]
    return min(
        (
            float(
                (piece.vertices @ motion.rotation[piece.body, 0, 2]).min()
                + motion.position[piece.body, 0, 2]
            )
            for piece in pieces
        ),
        default=_ground(run),
    )


def _ground(run: Recorded) -> float:
    """Return the height of the level ground [m]."""
    level = [float(point[2]) for point, normal in run.look.planes if normal[2] > 0.999]
    return level[0] if level else 0.0


def _feet(run: Recorded, touching: contacts.Touches) -> list[dict[str, Any]]:
    feet, out = run.world.feet, []
    for k, name in enumerate(feet.names):
        about = {"name": name, "robot": run.world.robot_names[feet.robot[k]]}
        row = touching.row(int(feet.body[k]))
        if row is not None:
            about |= contacts.summary(touching, row) | _edge(run, k, touching)
        out.append(about)
    return out


def _edge(run: Recorded, k: int, touching: contacts.Touches) -> dict[str, Any]:
    """Return the distance of a loaded foot's centre of pressure from the edge of its sole."""
    force = run.feet["wrench"][:, k, 2]
    at, outline = run.feet["pressure"][:, k], run.world.feet.outlines[k]
    there = (force > contacts.MIN_LOAD_SHARE * force.max(initial=0.0)) & np.isfinite(at).all(axis=1)
    if not there.any() or len(outline) < 3:
        return {"edge_m": None, "at_edge_s": 0.0, "at_edge_from_s": None}
    edge_distance = np.full(len(at), np.inf)
    edge_distance[there] = inside(at[there], outline)
    near = np.flatnonzero(edge_distance < EDGE_DISTANCE)
    first = _round(run.time[near[0]]) if len(near) else None
    return {
        "edge_m": float(edge_distance.min()),
        "at_edge_s": float(touching.between[near].sum()),
        "at_edge_from_s": first,
    }


def inside(points: Array, outline: Array) -> Array:
    """Return the distance of points to the edges of a convex polygon [m], negative outside."""
    ends = np.roll(outline, -1, axis=0)
    along = ends - outline
    area = float((outline[:, 0] * ends[:, 1] - outline[:, 1] * ends[:, 0]).sum())
    length = np.maximum(np.linalg.norm(along, axis=1), 1e-12)
    inward = np.sign(area or 1.0) * np.column_stack([-along[:, 1], along[:, 0]]) / length[:, None]
    return ((points[:, None] - outline) * inward).sum(axis=2).min(axis=1)


def _bodies(run: Recorded, touching: contacts.Touches) -> list[dict[str, Any]]:
    """Return bodies in contact that are not feet, those with the largest load first."""
    world, out = run.world, []
    soles = {int(body) for body in world.feet.body}
    for k, body in enumerate(int(b) for b in touching.bodies):
        if body not in soles:
            name = run.body_names[int(np.flatnonzero(world.link == body)[0])]
            robot = int(world.robot[body])
            out.append(
                {"name": name, "robot": world.robot_names[robot] if robot >= 0 else None}
                | contacts.summary(touching, k)
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


def _changes(run: Recorded, touching: contacts.Touches) -> list[dict[str, Any]]:
    """Return touch-downs and lift-offs of feet; without feet, of all bodies."""
    feet, time = run.world.feet, run.time
    # the first row of a run is before its first step, and has no contacts yet
    begin = 1 if run.contact_count[0] == 0 else 0
    named = [(f"{name} foot", touching.row(int(feet.body[k]))) for k, name in enumerate(feet.names)]
    if not named:
        named = [
            (run.body_names[int(np.flatnonzero(run.world.link == body)[0])], k)
            for k, body in enumerate(touching.bodies)
        ]
    out = []
    for name, k in named:
        for start, end in contacts.spans(touching.load[k] > 0, time) if k is not None else []:
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
    """Return warnings, a sentence each."""
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
    if c["worst_penetration_m"] > OVERLAP:
        out.append(f"Bodies overlap by up to {1e3 * c['worst_penetration_m']:.2g} mm.")
    for foot in numbers["feet"]:
        if foot.get("at_edge_s"):
            when = f"for {foot['at_edge_s']:.3g} s, first at {foot['at_edge_from_s']:g} s"
            out.append(
                f"The centre of pressure of the {foot['name']} foot is within "
                f"{1e3 * EDGE_DISTANCE:g} mm of the edge of its sole {when}: it is about to tip."
            )
    out += _motor_warnings(run)
    if numbers["steps_a_row"] > 1:
        out.append(
            f"There is one row for {numbers['steps_a_row']} steps: "
            "peaks between rows are not seen, and slip is a sum over rows."
        )
    return out


def _motor_warnings(run: Recorded) -> list[str]:
    """Return warnings of joints at their limits, and motors at theirs."""
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
            ("lower", q <= world.dof["lower"][k] + JOINT_LIMIT_DISTANCE),
            ("upper", q >= world.dof["upper"][k] - JOINT_LIMIT_DISTANCE),
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
        full = np.abs(run.motors["effort"][:, k]) >= EFFORT_SHARE * limit
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

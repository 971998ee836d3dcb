"""Laws of feet against closed forms and the exact law: a fall over the toes, motions without
transitions, a step down, a slide, a lifted foot, springs.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tabi import control, scenes
from tabi.lab.bench.feet.foot_robots import PLATE_MASS, PLATE_SIZE, plate
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.recording.foot_words import FACE, SLIDES
from tabi.robots import hrp2
from tabi.simulation.simulator import Simulator
from tabi.step.laws.penalty import Penalty
from tabi.step.laws.selection import Selection

G = 9.81
# how long a fall over the toes is watched: before anything but the feet touches [s]
TOES = 2.0
LAWS_OF_TOES = {
    "pressure rule": "selection",
    "without it": "{law: selection, pressure_rule: false}",
    "coulomb": "coulomb",
}


# ---- over the toes ------------------------------------------------------------------------------


def toes(tracks: bool = True) -> dict[str, Any]:
    """The scene of that name, with and without the rule of pressure, and by the exact law."""
    result = {name: _fall(law, tracks and name != "coulomb") for name, law in LAWS_OF_TOES.items()}
    exact = result["coulomb"]["tips_s"]
    for row in result.values():
        row["ms_after_coulomb"] = round(1e3 * (row["tips_s"] - exact), 3)
    return result


def _fall(law: str, tracks: bool) -> dict[str, Any]:
    sim = scenes.load("toes", [f"simulation.contact={law}"]).simulator()
    rows: list[tuple[float, ...]] = []

    def look(data: Any) -> None:
        foot = data.memory.foot[list(data.model.feet).index("left")]
        state = int(foot["state"])
        rows.append((*foot["pressure"], foot["normal_force"], state, foot["margin"]))

    sim.every(1, look)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim.run(TOES)
    x, y, force, state, margin = np.array(rows).T
    tips = int(np.flatnonzero((state % SLIDES != FACE) & (np.arange(len(x)) > 10))[0])
    events, left = [e for e in sim.foot_events if e.time > 0.01], margin[tips - 1]
    result = {
        "transitions": {n: sum(e.foot == n for e in events) for n in ("left", "right")},
        "face_to_edge": {
            n: sum(
                e.foot == n and e.before.startswith("face") and e.after.startswith("edge")
                for e in events
            )
            for n in ("left", "right")
        },
        "tips_s": round((tips + 1) * sim.dt, 6),
        # by how far the pressure point went in the last step on the face: up to 1 it would have
        # been over the edge in the next one
        "steps_before_the_edge": round(float(left / (margin[tips - 2] - left)), 3),
        "margin_before_mm": round(1e3 * float(left), 3),
        "missed": sim.missed_count,
    }
    if tracks:
        result["track"] = {
            "time_s": (sim.dt * np.arange(1, len(x) + 1)).round(4).tolist(),
            "forward_mm": (1e3 * x).round(2).tolist(),
            "sideways_mm": (1e3 * y).round(2).tolist(),
            "normal_force_N": force.round(1).tolist(),
            "state": (state % SLIDES).astype(int).tolist(),
        }
    return result


# ---- against the exact law ----------------------------------------------------------------------


def agreement(duration: float = 2.0) -> dict[str, Any]:
    """HRP-2 stands, squats and sways by both laws: the largest differences."""
    motions = {
        "standing": lambda robot: control.hold(robot.half_sitting),
        "squat": lambda robot: control.squat(robot, 0.2),
        "sway": lambda robot: control.sway(robot, 0.01),
    }
    return {name: _differ(motion, duration) for name, motion in motions.items()}


def _hrp2(law: Any, motion: Any, height: float = 0.0) -> tuple[Simulator, Robot]:
    world = World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(hrp2())
    robot.stand_on_ground()
    q = np.array(robot.base.joint.position)
    robot.place((q[0], q[1], q[2] + height), q[3:])
    sim = Simulator(world, contact=law)
    sim.set_controller(robot, motion(robot))
    return sim, robot


def _differ(motion: Any, duration: float, height: float = 0.0) -> dict[str, Any]:
    (exact, robot), (sim, _) = (_hrp2(law, motion, height) for law in ("coulomb", "selection"))
    weight = robot.mass * G
    half = 0.5 * float(np.linalg.norm(np.ptp(robot.feet["left"].polygon, axis=0)))
    force, torque, distance = 0.0, 0.0, 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(round(duration / sim.dt)):
            exact.step()
            sim.step()
            a, b = exact.data.memory.foot, sim.data.memory.foot
            force = max(force, float(np.abs(a["force"] - b["force"]).max()) / weight)
            # a torque in weights half a diagonal of the sole away
            torque = max(torque, float(np.abs(a["torque"] - b["torque"]).max()) / (weight * half))
            distance = max(distance, float(np.linalg.norm(exact.data.q[:3] - sim.data.q[:3])))
    return {
        "force_percent_of_weight": float(f"{100 * force:.3g}"),
        "torque_percent": float(f"{100 * torque:.3g}"),
        "moved_mm": float(f"{1e3 * distance:.3g}"),
        "events_ms": _events_apart(exact, sim),
        "missed": sim.missed_count,
    }


def _events_apart(exact: Simulator, sim: Simulator) -> float | None:
    """Return the time between the same changes of feet [ms]; None where they differ."""
    mine, theirs = (sorted(run.foot_events, key=lambda e: (e.foot, e.time)) for run in (sim, exact))
    if [(e.foot, e.after) for e in mine] != [(e.foot, e.after) for e in theirs]:
        return None
    apart = [abs(a.time - b.time) for a, b in zip(mine, theirs, strict=True)]
    return round(1e3 * max(apart, default=0.0), 3)


def step_down(height: float = 0.03, duration: float = 1.0) -> dict[str, Any]:
    """HRP-2 lands on both feet from a step of a few centimetres, holding its pose: first touch,
    the way of its base while it settles, and where it ends.
    """
    result = _differ(lambda robot: control.hold(robot.half_sitting), duration, height)
    return {"height_m": height} | result


def slide(speed: float = 1.0, friction: float = 0.3) -> dict[str, Any]:
    """A plate slides straight to its stop: distance and time against the closed form and the exact
    law.
    """
    rows = {}
    for name, law in (("coulomb", "coulomb"), ("selection", "selection")):
        sim, robot = plate(law, friction)
        q, v = sim.state.q, sim.state.v
        v[:2] = 0.6 * speed, 0.8 * speed
        sim.set_state(q, v)
        sim.run(2 * speed / (friction * G))
        stops = [e.time for e in sim.foot_events if e.after.endswith("stick")]
        x = sim.position(robot.body("plate"))
        rows[name] = (float(np.hypot(x[0], x[1])), stops[-1] if stops else float("nan"), x)
    (_, theirs, a), (distance, stop, b) = rows["coulomb"], rows["selection"]
    return {
        "distance_m": round(distance, 6),
        "closed_form_m": round(speed**2 / (2 * friction * G), 6),
        "stops_s": stop,
        "moved_mm": float(f"{1e3 * np.linalg.norm(a - b):.3g}"),
        "events_ms": round(1e3 * abs(stop - theirs), 3),
    }


# ---- a lifted foot, springs ---------------------------------------------------------------------


def lifted() -> dict[str, Any]:
    """A plate is lifted at a corner with 1.2 times its weight: the least normal force on its way
    off, which a magnetic shoe would have below zero.
    """
    result = {}
    for name, law in (("exact", Selection()), ("one-step", Selection(mode="one-step"))):
        sim, robot = plate(law, friction=2.0)
        point = (0.3 * PLATE_SIZE[0], 0.3 * PLATE_SIZE[1], 0.0)
        lift = (0.0, 0.0, 1.2 * PLATE_MASS * G)
        sim.apply_force(robot.body("plate"), lift, 0.3, point=point)
        forces: list[float] = []
        sim.every(1, lambda data, rows=forces: rows.append(data.memory.foot["normal_force"][0]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sim.run(0.3)
        result[name] = {
            "least_normal_force_N": float(f"{min(forces):.3g}"),
            "last_normal_force_N": float(f"{forces[-1]:.3g}"),
            "missed": sim.missed_count,
        }
    return result


def springs(stiffness: float = 2e5, damping: float = 5e3, slope: float = 0.1) -> dict[str, Any]:
    """Return how deep HRP-2 sinks on the penalty law's springs, and how a loaded foot creeps."""
    firm = {"roll_stiffness": 1e5, "pitch_stiffness": 1e5, "damping": 1e8, "yaw_damping": 1e6}
    law = Penalty(stiffness=stiffness, alpha=5.0, **firm)
    sim, _ = _hrp2(law, lambda robot: control.hold(robot.half_sitting))
    sim.run(4.0)
    # both soles lie flat below the ground, so that all corners are as deep
    depth = -float(sim.data.contact["gap"].mean())
    formula = float(sim.model.mass * G / (2 * stiffness))
    creeps, robot = plate(Penalty(damping=damping), slope=slope)
    creeps.run(1.0)
    speed = float(np.linalg.norm(creeps.velocity(robot.body("plate")).linear))
    expected = float(PLATE_MASS * G * np.sin(slope) / damping)
    exact, robot = plate("coulomb", slope=slope)
    exact.run(1.0)
    return {
        "depth_mm": round(1e3 * depth, 6),
        "weight_over_2K_mm": round(1e3 * formula, 6),
        "depth_off": float(f"{abs(depth / formula - 1):.2g}"),
        "creep_mm_s": round(1e3 * speed, 6),
        "force_over_damping_mm_s": round(1e3 * expected, 6),
        "creep_off": float(f"{abs(speed / expected - 1):.2g}"),
        "coulomb_creep_mm_s": float(
            f"{1e3 * np.linalg.norm(exact.velocity(robot.body('plate')).linear):.2g}"
        ),
        "missed": sim.missed_count + creeps.missed_count,
    }

"""``tabi validate first-contact``: the first force of a landing foot, and the curve of a step.

A sole of mass m_s lands with the speed v. The ground is a spring K_zz (OpenHRP's law), and rubber
of stiffness K_b is between sole and leg. There are two bumps, one after the other:

    the sole alone on the ground, in π/2 √(m_s/K_zz):     F_s = v √(K_zz m_s)                   (1)
    the leg on rubber and ground in series, later:        F_l = v √(K m),  1/K = 1/K_b + 1/K_zz (2)
    m = 1/(nᵀ Λ n),   Λ = J M⁻¹ Jᵀ                                                              (3)
with n the normal, J the Jacobian of the ankle, where the rubber begins, and M the mass matrix in
which the rubber is free: so that m is the mass above it. (1) is in the force of the ground, and
(2) in that of the foot's sensor, between sole and ankle, where (1) is hardly seen.

First both are measured apart: HRP-2 comes down on its left sole alone, without gravity,
half-sitting with the right foot drawn up; once with joints that do not give way, once with motors
that are off and turn with their rotors, which are two masses in (3). Each has to be within
``MAX_LAW_ERROR`` of its law, and to change by less than ``MAX_STEP_CHANGE`` with half the step.

Then a step is made (``landing``), over a grid of planned speeds and of dampings of the rubber, and
the curve of its force is held against that of HRP-2P: 500 N, down to 100 N, up to 550 N, each to
30 %, the last being the weight, which has to be borne within 250 ms. The nearest landing is given
with its speed and damping, and has to keep its marks when the step is halved.

Reference: Hirukawa (2003), Fig. 11.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi.lab.study import Column, Criterion, Validator, progress, table
from tabi.lab.walking import foot_landing as landing
from tabi.lab.walking.foot_landing import BANDWIDTH, Landing
from tabi.model.compiled import Model
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.robots.hrp2 import hrp2
from tabi.simulation.simulator import Simulator
from tabi.step.data import Data
from tabi.step.laws.penalty import Penalty

Array = NDArray[np.float64]
# landing speeds of the drops [m/s], the rubber's damping in them [N·s/m], their step and time [s]
SPEEDS, DAMPING, STEP, TIME = (0.1, 0.2, 0.3), 100.0, 5e-5, 0.1
# planned speeds of steps [m/s], dampings tried [N·s/m], step of the simulation [s]
PLANNED, LANDING_STEP = (0.2, 0.25, 0.3, 0.35), 2.5e-4
DAMPINGS = (100.0, 300.0, 1000.0, 1500.0, 2000.0, 3000.0)
# allowed: of the laws, of a halved step; the published curve [N] and how near it has to be
MAX_LAW_ERROR, MAX_STEP_CHANGE = 0.2, 0.1
PUBLISHED_N, MAX_CURVE_ERROR = (500.0, 100.0, 550.0), 0.3
# a dip is below this part of the peak; the weight is borne after this [s]
MAX_DIP_RATIO, MAX_WEIGHT_TIME_S = 0.6, 0.25
# the sole begins this high above the ground [m]
GAP = 1e-5
# joints of the drawn-up leg [°]
DRAWN_UP = {"RLEG_HIP_P": -36.0, "RLEG_KNEE_P": 70.0, "RLEG_ANKLE_P": -34.0}


class FirstContact(Validator, name="first-contact"):
    """Let HRP-2 land on a sole with rubber above it: do both peaks of its force follow their laws,
    and does the force of a step go as on the robot?
    """

    speeds: Sequence[float] = SPEEDS
    planned: Sequence[float] = PLANNED
    dampings: Sequence[float] = DAMPINGS

    unit = "drops and steps"
    criteria = (
        Criterion.of(
            lambda result: sum(not drop["within"] for drop in result["drops"]),
            "both peaks of every drop follow their laws",
            at_most=0,
        ),
        Criterion("best.fits", "a step goes as on the robot", at_least=1),
        Criterion("best.change", "it goes so with half the step too", at_most=MAX_STEP_CHANGE),
    )

    def cases(self) -> Iterator[tuple[Any, ...]]:
        """Drops at all speeds, and steps over the grid of planned speeds and dampings."""
        for k, speed in enumerate(self.speeds):
            yield from ((speed, is_locked) for is_locked in (True, False))
            progress("drops", k + 1, len(self.speeds))
        plans = {speed: landing.one_step(speed) for speed in self.planned}
        grid = list(itertools.product(self.planned, self.dampings))
        for k, (speed, damping) in enumerate(grid):
            yield speed, plans[speed], damping
            progress("steps", k + 1, len(grid))

    def measure(self, case: tuple[Any, ...]) -> dict[str, Any]:
        """A drop, or a step."""
        if len(case) == 2:
            return _both_steps(*case)
        speed, plan, damping = case
        return _landing_row(speed, landing.land(plan, damping, LANDING_STEP))

    def figures(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Drops with what was measured and what the laws say, landings with their marks, and the
        one that fits best, with half its step too.
        """
        landings = [row for row in rows if "planned_m_s" in row]
        result: dict[str, Any] = {"drops": [row for row in rows if "held" in row]}
        result["landings"] = landings
        if len(landings) < len(self.planned) * len(self.dampings):
            return result
        best = min(landings, key=lambda landed: landed["distance"])
        speed, plan = best["planned_m_s"], landing.one_step(best["planned_m_s"])
        again = _landing_row(speed, landing.land(plan, best["damping_ns_m"], LANDING_STEP / 2))
        marks = zip(again["marks_n"], best["marks_n"], strict=True)
        change = max(abs(a / b - 1.0) for a, b in marks)
        return result | {"best": best | {"halved_step": again, "change": change}}

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Both tables, and the nearest step."""
        yield "HRP-2 comes down on one sole, no gravity: force of the ground on it, then of the leg"
        yield from table(DROPS, result["drops"])
        yield f"a step on the spot; sensor with a low-pass of {BANDWIDTH:g} Hz; from contact on"
        yield from table(LANDINGS, result["landings"])
        best = result["best"]
        curve = " → ".join(f"{force:.0f}" for force in best["marks_n"])
        published = " → ".join(f"{force:.0f}" for force in PUBLISHED_N)
        yield (
            f"nearest to {published} N: {curve} N, landing at {best['speed_m_s']:.2f} m/s with "
            f"{best['damping_ns_m']:g} N·s/m; {100 * best['change']:.1f} % with half the step"
        )
        yield "all within" if result["within"] else "NOT WITHIN what is allowed"


DROPS = (
    Column("m/s", "speed_m_s", ".2f"),
    Column("joints", lambda row: "held" if row["held"] else "free"),
    Column("sole kg", "sole_kg", ".2f"),
    Column("N (law)", lambda row: f"{row['sole_n']:.0f} ({row['sole_law_n']:.0f})"),
    Column("leg kg", "leg_kg", ".1f"),
    Column("N (law)", lambda row: f"{row['leg_n']:.0f} ({row['leg_law_n']:.0f})"),
    Column("after ms", "leg_after_s", ".0f", 1e3),
    Column("halved step", lambda row: f"{100 * max(row['change'].values()):.1f} %"),
    Column("", lambda row: "" if row["within"] else "OUTSIDE"),
)


def _mark(k: int) -> Callable[[Mapping[str, Any]], str]:
    return lambda row: f"{row['marks_n'][k]:.0f} ({1e3 * row['marks_s'][k]:.0f})"


LANDINGS = (
    Column("m/s", "speed_m_s", ".2f"),
    Column("N·s/m", "damping_ns_m", ".0f"),
    Column("peak N (ms)", _mark(0)),
    Column("dip N (ms)", _mark(1)),
    Column("rise N (ms)", _mark(2)),
    Column("weight after ms", "borne_s", ".0f", 1e3),
    Column("", lambda row: "fits" if row["fits"] else ""),
)


# ---- the two laws -------------------------------------------------------------------------------


def drop(
    speed: float, is_locked: bool, step: float = STEP, damping: float = DAMPING
) -> dict[str, Any]:
    """HRP-2 comes down on one sole without gravity.

    Args:
        speed: [m/s]. held: whether joints do not give way; motors are off otherwise.
        step: [s]. damping: of the rubber along the normal [N·s/m].

    Returns:
        peaks of sole and leg [N] as measured and by (1) and (2), with the masses [kg] in them.
    """
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_ground(friction=0.8)
    robot = world.add_robot(_drawn_up(is_locked, damping))
    law = Penalty()
    sim = Simulator(world, dt=step, contact=law)
    q, v = sim.state.q, sim.state.v
    q[2], v[2] = q[2] + GAP, -speed
    sim.set_state(q, v)
    rows: list[tuple[float, float, float]] = []

    def look(data: Data) -> None:
        force = data.sensor("left_foot_force", truth=True)[0][2]
        rows.append((data.time, data.foot_wrench("left").force[2], force))

    sim.every(1, look)
    sim.run(TIME)
    times, ground, sensor = np.array(rows).T
    sole, leg = robot.body("left_sole").inertia.mass, effective_mass(sim.model, q, robot, is_locked)
    rubber = robot.joint("left_bush_z").stiffness
    both = 1.0 / (1.0 / rubber + 1.0 / law.stiffness)
    # the sole's own swing: down and up again
    alone = times < np.pi * np.sqrt(sole / law.stiffness)
    return {
        "speed_m_s": speed,
        "held": is_locked,
        "step_s": step,
        "sole_kg": sole,
        "leg_kg": leg,
        "sole_n": float(ground[alone].max()),
        "sole_law_n": float(speed * np.sqrt(law.stiffness * sole)),
        "leg_n": float(sensor.max()),
        "leg_law_n": float(speed * np.sqrt(both * leg)),
        "leg_after_s": float(times[sensor.argmax()]),
        "missed": sim.missed_count,
    }


def effective_mass(model: Model, q: Array, robot: Robot, is_locked: bool) -> float:
    """Return m of (3) at the left ankle, along the vertical [kg]."""
    free = np.full(model.v_count, not is_locked)
    # of the base all, and of the rubber
    free[:6] = True
    free[[model.v_index(body.joint.name) for body in robot.bodies if body.joint.passive]] = True
    M = dynamics.mass_matrix(model, q)[np.ix_(free, free)]
    n = dynamics.point_jacobian(model, q, "left_foot")[2, free]
    return float(1.0 / (n @ np.linalg.solve(M, n)))


def _drawn_up(is_locked: bool, damping: float) -> Robot:
    """HRP-2 on its left sole, joints locked or without servos."""
    robot = hrp2()
    robot.add_bush(vertical_damping=damping)
    pose = {**robot.half_sitting, **{name: np.radians(x) for name, x in DRAWN_UP.items()}}
    robot.stand_on_ground(pose)
    for body in robot.bodies:
        joint = body.joint
        if joint.motor is not None and not joint.passive:
            joint.prescribed = is_locked
            joint.motor.kp = joint.motor.kd = 0.0
    return robot


def _both_steps(speed: float, is_locked: bool) -> dict[str, Any]:
    """A drop, the same with half the step, and whether both laws hold."""
    result, fine = drop(speed, is_locked), drop(speed, is_locked, 0.5 * STEP)
    changes = {part: abs(fine[f"{part}_n"] / result[f"{part}_n"] - 1.0) for part in ("sole", "leg")}
    ratios = {part: result[f"{part}_n"] / result[f"{part}_law_n"] for part in ("sole", "leg")}
    within = max(changes.values()) < MAX_STEP_CHANGE
    within &= max(abs(ratio - 1.0) for ratio in ratios.values()) < MAX_LAW_ERROR
    within &= result["missed"] + fine["missed"] == 0
    return result | {"ratio": ratios, "change": changes, "within": bool(within)}


# ---- the curve of a step ------------------------------------------------------------------------


def _landing_row(planned: float, landing: Landing) -> dict[str, Any]:
    """A landing as plain data, and how far its marks are from the published ones."""
    marks = (landing.peak, landing.dip, landing.rise)
    forces = [force for _, force in marks]
    shares = [force / published for force, published in zip(forces, PUBLISHED_N, strict=True)]
    near = all(abs(share - 1.0) <= MAX_CURVE_ERROR for share in shares)
    dips = landing.dip[1] < MAX_DIP_RATIO * landing.peak[1]
    return {
        "planned_m_s": planned,
        "speed_m_s": landing.speed,
        "damping_ns_m": landing.damping,
        "step_s": landing.step,
        "early_s": landing.early,
        "marks_n": forces,
        "marks_s": [time for time, _ in marks],
        "weight_n": landing.weight,
        "dips": dips,
        "borne_s": landing.borne,
        "missed": landing.missed,
        # logarithms: half as much is as far as twice
        "distance": float(np.abs(np.log(np.maximum(shares, 1e-3))).max()),
        "fits": bool(near and dips and landing.borne <= MAX_WEIGHT_TIME_S and landing.missed == 0),
    }

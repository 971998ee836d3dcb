"""``tabi validate first-contact``: the first force of a landing foot, and the curve of a step.

A sole of mass m_s lands with the speed v. The ground is a spring K_zz (OpenHRP's law), and rubber
of stiffness K_b is between sole and leg. There are two bumps, one after the other:

    the sole alone on the ground, in π/2 √(m_s/K_zz):     F_s = v √(K_zz m_s)                   (1)
    the leg on rubber and ground in series, later:        F_l = v √(K m),  1/K = 1/K_b + 1/K_zz (2)
    m = 1/(nᵀ Λ n),   Λ = J M⁻¹ Jᵀ                                                              (3)
with n the normal, J the Jacobian of the ankle, where the rubber begins, and M the mass matrix in
which the rubber is free: so that m is what is felt above it. (1) is in the force of the ground, and
(2) in that of the foot's sensor, between sole and ankle, where (1) is hardly seen.

First both are measured apart: HRP-2 comes down on its left sole alone, without gravity,
half-sitting with the right foot drawn up; once with joints that do not give way, once with motors
that are off and turn with their rotors, which are two masses in (3). Each has to be within ``LAW``
of its law, and to change by less than ``STEADY`` when the step is halved.

Then a step is made (``landing``), over a grid of planned speeds and of dampings of the rubber, and
the curve of its force is held against that of HRP-2P: 500 N, down to 100 N, up to 550 N, each to
30 %, the last being the weight, which has to be borne within 250 ms. What is nearest is told with
its speed and damping, and has to keep its marks when the step is halved.

Reference: Hirukawa (2003), Fig. 11.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
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
Progress = Callable[[str, int, int], None]
# landing speeds of the drops [m/s], the rubber's damping in them [N·s/m], their step and time [s]
SPEEDS, DAMPING, STEP, TIME = (0.1, 0.2, 0.3), 100.0, 5e-5, 0.1
# planned speeds of steps [m/s], dampings tried [N·s/m], step of the simulation [s]
PLANNED, LANDING_STEP = (0.2, 0.25, 0.3, 0.35), 2.5e-4
DAMPINGS = (100.0, 300.0, 1000.0, 1500.0, 2000.0, 3000.0)
# allowed: of the laws, of a halved step; the published curve [N] and how near it has to be
LAW, STEADY = 0.2, 0.1
PUBLISHED, NEAR = (500.0, 100.0, 550.0), 0.3
# a dip is below this part of the peak; the weight is borne after this [s]
DIP, UNTIL = 0.6, 0.25
# the sole begins this high above the ground [m]
GAP = 1e-5
# joints of the drawn-up leg [°]
DRAWN_UP = {"RLEG_HIP_P": -36.0, "RLEG_KNEE_P": 70.0, "RLEG_ANKLE_P": -34.0}


def validate(
    speeds: Sequence[float] = SPEEDS,
    planned: Sequence[float] = PLANNED,
    dampings: Sequence[float] = DAMPINGS,
    progress: Progress = lambda what, done, count: None,
) -> dict[str, Any]:
    """Drops at all speeds, and steps over the grid of planned speeds and dampings.

    Returns:
        plain data: drops with what was measured and what the laws say, landings with their marks,
        the one that fits best, and whether all is within.
    """
    drops = []
    for k, speed in enumerate(speeds):
        for held in (True, False):
            drops.append(_both_steps(speed, held))
        progress("drops", k + 1, len(speeds))
    landings, plans = [], {speed: landing.one_step(speed) for speed in planned}
    for speed in planned:
        for damping in dampings:
            found = landing.land(plans[speed], damping, LANDING_STEP)
            landings.append(_told(speed, found))
            progress("steps", len(landings), len(planned) * len(dampings))
    best = min(landings, key=lambda one: one["distance"])
    plan = plans[best["planned_m_s"]]
    again = _told(best["planned_m_s"], landing.land(plan, best["damping_ns_m"], LANDING_STEP / 2))
    change = max(abs(a / b - 1.0) for a, b in zip(again["marks_n"], best["marks_n"], strict=True))
    best = best | {"halved_step": again, "change": change}
    within = all(drop["within"] for drop in drops) and best["fits"] and change < STEADY
    return {"drops": drops, "landings": landings, "best": best, "within": within}


# ---- the two laws -------------------------------------------------------------------------------


def drop(speed: float, held: bool, step: float = STEP, damping: float = DAMPING) -> dict[str, Any]:
    """HRP-2 comes down on one sole without gravity.

    Args:
        speed: [m/s]. held: whether joints do not give way; motors are off otherwise.
        step: [s]. damping: of the rubber along the normal [N·s/m].

    Returns:
        peaks of sole and leg [N] as measured and by (1) and (2), with the masses [kg] in them.
    """
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_ground(friction=0.8)
    robot = world.add_robot(_drawn_up(held, damping))
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
    sole, leg = robot.body("left_sole").inertia.mass, effective_mass(sim.model, q, robot, held)
    rubber = robot.joint("left_bush_z").stiffness
    both = 1.0 / (1.0 / rubber + 1.0 / law.stiffness)
    # the sole's own swing: down and up again
    alone = times < np.pi * np.sqrt(sole / law.stiffness)
    return {
        "speed_m_s": speed,
        "held": held,
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


def effective_mass(model: Model, q: Array, robot: Robot, held: bool) -> float:
    """m of (3) at the left ankle, along the vertical [kg]."""
    free = np.full(model.v_count, not held)
    # of the base all, and of the rubber
    free[:6] = True
    free[[model.v_index(body.joint.name) for body in robot.bodies if body.joint.passive]] = True
    M = dynamics.mass_matrix(model, q)[np.ix_(free, free)]
    n = dynamics.point_jacobian(model, q, "left_foot")[2, free]
    return float(1.0 / (n @ np.linalg.solve(M, n)))


def _drawn_up(held: bool, damping: float) -> Robot:
    """HRP-2 on its left sole, joints locked or without servos."""
    robot = hrp2()
    robot.add_bush(vertical_damping=damping)
    pose = {**robot.half_sitting, **{name: np.radians(x) for name, x in DRAWN_UP.items()}}
    robot.stand_on_ground(pose)
    for body in robot.bodies:
        joint = body.joint
        if joint.motor is not None and not joint.passive:
            joint.prescribed = held
            joint.motor.kp = joint.motor.kd = 0.0
    return robot


def _both_steps(speed: float, held: bool) -> dict[str, Any]:
    """A drop, the same with half the step, and whether both laws hold."""
    found, fine = drop(speed, held), drop(speed, held, 0.5 * STEP)
    changes = {part: abs(fine[f"{part}_n"] / found[f"{part}_n"] - 1.0) for part in ("sole", "leg")}
    ratios = {part: found[f"{part}_n"] / found[f"{part}_law_n"] for part in ("sole", "leg")}
    within = max(changes.values()) < STEADY
    within &= max(abs(ratio - 1.0) for ratio in ratios.values()) < LAW
    within &= found["missed"] + fine["missed"] == 0
    return found | {"ratio": ratios, "change": changes, "within": bool(within)}


# ---- the curve of a step ------------------------------------------------------------------------


def _told(planned: float, found: Landing) -> dict[str, Any]:
    """A landing as plain data, and how far its marks are from the published ones."""
    marks = (found.peak, found.dip, found.rise)
    forces = [force for _, force in marks]
    shares = [force / published for force, published in zip(forces, PUBLISHED, strict=True)]
    near = all(abs(share - 1.0) <= NEAR for share in shares)
    dips = found.dip[1] < DIP * found.peak[1]
    return {
        "planned_m_s": planned,
        "speed_m_s": found.speed,
        "damping_ns_m": found.damping,
        "step_s": found.step,
        "early_s": found.early,
        "marks_n": forces,
        "marks_s": [time for time, _ in marks],
        "weight_n": found.weight,
        "dips": dips,
        "borne_s": found.borne,
        "missed": found.missed,
        # logarithms: half as much is as far as twice
        "distance": float(np.abs(np.log(np.maximum(shares, 1e-3))).max()),
        "fits": bool(near and dips and found.borne <= UNTIL and found.missed == 0),
    }


# ---- for a terminal -----------------------------------------------------------------------------


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    lines = [
        "HRP-2 comes down on one sole, no gravity: force of the ground on it, then of the leg",
        "  m/s  joints  sole kg  N (law)    leg kg  N (law)   after ms  halved step",
    ]
    for one in result["drops"]:
        joints, change = "held" if one["held"] else "free", max(one["change"].values())
        lines.append(
            f"  {one['speed_m_s']:.2f}  {joints:6}  {one['sole_kg']:7.2f}  "
            f"{one['sole_n']:.0f} ({one['sole_law_n']:.0f})  {one['leg_kg']:6.1f}  "
            f"{one['leg_n']:.0f} ({one['leg_law_n']:.0f})  {1e3 * one['leg_after_s']:8.0f}  "
            f"{100 * change:.1f} %{'' if one['within'] else '  OUTSIDE'}"
        )
    lines += [
        f"a step on the spot; sensor with a low-pass of {BANDWIDTH:g} Hz; from contact on",
        "  m/s  N·s/m  peak N (ms)  dip N (ms)  rise N (ms)  weight after ms",
    ]
    best = result["best"]
    for one in result["landings"]:
        marks = zip(one["marks_n"], one["marks_s"], strict=True)
        told = "  ".join(f"{force:5.0f} ({1e3 * time:3.0f})" for force, time in marks)
        lines.append(
            f"  {one['speed_m_s']:.2f}  {one['damping_ns_m']:5.0f}  {told}  "
            f"{1e3 * one['borne_s']:.0f}{'  fits' if one['fits'] else ''}"
        )
    curve = " → ".join(f"{force:.0f}" for force in best["marks_n"])
    published = " → ".join(f"{force:.0f}" for force in PUBLISHED)
    lines += [
        (
            f"nearest to {published} N: {curve} N, landing at {best['speed_m_s']:.2f} m/s with "
            f"{best['damping_ns_m']:g} N·s/m; {100 * best['change']:.1f} % with half the step"
        ),
        "all within" if result["within"] else "NOT WITHIN what is allowed",
    ]
    return "\n".join(lines)

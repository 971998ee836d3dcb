"""A foot that lands out of single support: one step on the spot, planned and played open loop.

HRP-2 shifts its weight to the right, lifts the left foot, puts it down with a stated speed, and
lifts the right foot after a short double support, so that the left one comes to bear the weight.
The zero moment point goes from between the feet to the right sole, then to the left; the centre of
mass follows by preview control (``walking.preview``) at constant height, and inverse kinematics of
soles, centre of mass and upright waist makes the joints' angles, tick by tick. The swinging sole is
at the height z(s), s from 0 to 1, with lift H, in the time T up and the same time down,

    up:    z = H (10 s³ − 15 s⁴ + 6 s⁵)
    down:  z = H + c₃ s³ + c₄ s⁴ + c₅ s⁵,    z(1) = 0,   z'(1) = −v T,   z''(1) = 0              (1)
so that it meets the ground with the speed v; where rubber has sunk under the other foot it meets it
earlier, near v. Servos follow, with rotor inertias. No stabiliser: one step does not need it on
rubber of 5,000 N·m/rad about roll and pitch.

What is measured is the force sensor of the left foot, above the sole and below the ankle: all but
the sole's own inertia and weight.

Reference: Hirukawa (2003), Fig. 11.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi import control, dynamics
from tabi._errors import SimulationError
from tabi.control.inverse_kinematics import InverseKinematics
from tabi.control.patterns import Pattern
from tabi.model.world import World
from tabi.robots.hrp2 import hrp2
from tabi.simulation.simulator import Simulator
from tabi.spatial.transform import translation
from tabi.step.data import Data
from tabi.walking.plan.preview import Preview

Array = NDArray[np.float64]
# of the plan [s]: standing, shift of the weight, foot in the air, both feet down; lift [m]
TICK, LEAD, SHIFT, SWING, DOUBLE, LIFT = 0.005, 0.8, 0.6, 0.7, 0.1, 0.04
# how long a landing is looked at [s], and from when on before the planned one
WATCHED_TIME_S, WATCHED_BEFORE_S = 0.35, 0.3
# rubber: about roll and pitch [N·m/rad, N·m·s/rad], the stiffer of those published for HRP-2
TURNING = (5e3, 50.0)
# low-pass of the force sensor, first order [Hz]
BANDWIDTH = 100.0
# a sole that bears this touches [N]
TOUCH_FORCE_N = 1.0
# from the contact to the peak, and from there to the dip, at most [s]: half a swing on the rubber
# takes π √(m/K), 75 ms with the whole robot on it
BUMP = 0.08
# part of the weight that counts as the weight: what swings on the rubber is larger
WEIGHT_SHARE = 0.95
GRAVITY = 9.81


@dataclass(frozen=True, eq=False)
class Landing:
    """A landing, measured by the foot's force sensor; times are from the first contact on.

    Attributes:
        speed: of the sole towards the ground at the first contact [m/s].
        damping: of the rubber along the sole's normal [N·s/m]. step: of the simulation [s].
        early: how long before its plan the foot touched [s].
        peak, dip, rise: (time [s], force [N]): the highest of the first bump, the lowest after it,
            the highest after that within ``WATCHED_TIME_S``.
        weight: of all above the rubber [N]. borne: when the sensor first read ``WEIGHT_SHARE`` of
            it after the dip [s]; infinite where it never did. missed: steps that did not converge.
        times, forces: the curve [s, N], shape (n,).
    """

    speed: float
    damping: float
    step: float
    early: float
    peak: tuple[float, float]
    dip: tuple[float, float]
    rise: tuple[float, float]
    weight: float
    borne: float
    missed: int
    times: Array
    forces: Array


def swing_height(time: float, speed: float, duration: float = SWING, lift: float = LIFT) -> float:
    """z of (1) at a time since the foot left the ground [m]; ``speed`` is v [m/s]."""
    half = 0.5 * duration
    if not 0.0 < time < duration:
        return 0.0
    if time < half:
        s = time / half
        return lift * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    s = time / half - 1.0
    ends = np.array([[1.0, 1.0, 1.0], [3.0, 4.0, 5.0], [6.0, 12.0, 20.0]])
    c = np.linalg.solve(ends, [-lift, -speed * half, 0.0])
    return float(lift + c @ [s**3, s**4, s**5])


def one_step(speed: float) -> tuple[Pattern, float]:
    """The joints' motion of a step on the spot of HRP-2, and when its left foot should land [s]."""
    robot = hrp2()
    ik = InverseKinematics(robot)
    left, right = ik.pose(robot.feet["left"]), ik.pose(robot.feet["right"])
    centre = ik.centre_of_mass(axes="xyz", priority=1)
    ik.pose("waist", position="", orientation="xyz", priority=1)
    ik.posture(robot.half_sitting, priority=2)
    at, soles = np.array(centre.target), (left.target, right.target)
    y = soles[0].p[1]

    def ticks(duration: float) -> int:
        return round(duration / TICK)

    pieces = [
        np.zeros(ticks(LEAD)),
        np.linspace(0.0, -y, ticks(SHIFT)),
        np.full(ticks(SWING), -y),
        np.linspace(-y, y, ticks(DOUBLE)),
        np.full(ticks(SWING), y),
    ]
    sideways = Preview(at[2], TICK, 1.6).follow(np.concatenate(pieces))[:, 0]
    lifts, lands = LEAD + SHIFT, LEAD + SHIFT + SWING
    q, times, rows = ik.model.initial(), TICK * np.arange(len(sideways)), []
    for time, shift in zip(times, sideways, strict=True):
        heights = swing_height(time - lifts, speed), swing_height(time - lands - DOUBLE, 0.0)
        for task, sole, height in zip((left, right), soles, heights, strict=True):
            task.target = translation((0.0, 0.0, height)) @ sole
        centre.target = at + np.array([0.0, shift, 0.0])
        result = ik.solve(q)
        q = result.q
        rows.append([result.positions[name] for name in robot.joint_names])
    return control.pattern(robot, times, np.array(rows)), lands


def land(planned: tuple[Pattern, float], damping: float, step: float) -> Landing:
    """Play a step and look at its landing.

    Args:
        planned: of ``one_step``.
        damping: of the rubber along the sole's normal [N·s/m]. step: of the simulation [s].
    """
    pattern, lands = planned
    made = hrp2()
    made.add_bush(*TURNING, vertical_damping=damping)
    made.set_sensor("left_foot_force", bandwidth=BANDWIDTH)
    world = World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(made)
    sim = Simulator(world, dt=step, contact="penalty")
    sim.set_controller(robot, control.playback(robot, pattern))
    sim.run(lands - WATCHED_BEFORE_S)
    rows: list[tuple[float, float]] = []
    touched: list[float] = []
    before = sim.state.q, sim.state.v

    def look(data: Data) -> None:
        nonlocal before
        ground = data.foot_wrench("left").force[2]
        rows.append((data.time, data.sensor("left_foot_force")[0][2]))
        if ground >= TOUCH_FORCE_N:
            touched.append(data.time)
        elif not touched:
            before = data.q.copy(), data.v.copy()

    sim.every(1, look)
    sim.run(WATCHED_BEFORE_S + WATCHED_TIME_S)
    if not touched or touched[0] + WATCHED_TIME_S > sim.time + step:
        raise SimulationError(
            f"the left foot was planned to land at {lands:g} s and touched too late to be looked "
            f"at for {WATCHED_TIME_S:g} s; on rubber this soft a step needs a stabiliser, expected "
            f"stiffer"
        )
    times, forces = np.array(rows).T
    speed = -float(dynamics.point_jacobian(sim.model, before[0], "left")[2] @ before[1])
    weight = (robot.mass - robot.body("left_sole").inertia.mass) * GRAVITY
    since = times - touched[0]
    peak, dip, rise = marks(since, forces)
    bears = since[(since > dip[0]) & (forces >= WEIGHT_SHARE * weight)]
    return Landing(
        speed,
        damping,
        step,
        lands - touched[0],
        peak,
        dip,
        rise,
        weight,
        float(bears[0]) if len(bears) else np.inf,
        sim.missed_count,
        since,
        forces,
    )


def marks(times: Array, forces: Array) -> tuple[tuple[float, float], ...]:
    """Time [s] and force [N] of the first bump's peak, of the dip after it, and of the highest
    that follows within ``WATCHED_TIME_S``; the contact is at time 0.
    """
    result, begin, end = [], 0.0, BUMP
    for pick in (np.argmax, np.argmin, np.argmax):
        rows = np.flatnonzero((times >= begin) & (times <= end))
        k = rows[pick(forces[rows])]
        result.append((float(times[k]), float(forces[k])))
        begin, end = times[k], times[k] + BUMP if pick is np.argmax else WATCHED_TIME_S
    return tuple(result)

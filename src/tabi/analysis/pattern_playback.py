"""Walking patterns of OpenHRP and Choreonoid, played on their robots.

Each pattern is smoothed as far as its digits ask for, and played with efforts fed forward on flat
ground, with physics of 1 ms or less and the controller asked in every step. Then

    p: ZMP of all contact forces, behind a low-pass of 20 Hz without delay                      (1)
is compared with a reference p_ref that does not know the simulation: the ZMP in the pattern's own
files (OpenHRP's is in the frame of the waist, whose way is in its files too), else that of the
pattern's inverse dynamics; correlation, mean and RMS of p − p_ref along x and y. The slip is the
furthest that a foot's origin goes on the ground while the pattern has it stand.

Feet alone touch the ground: SR1's ankles are drawn as cylinders that reach 2 mm below its soles
where the ankle rolls by 0.15 rad, as it does in its pattern, and it would walk on those, with a
slip of 2.4 mm. Its pattern has three digits: a reference from inverse dynamics is that of the
smoothed pattern, and is computed as the efforts are. From 6 to 12 Hz SR1 walks as asked for; with
20 Hz what is planned is out of its soles, and the RMS along x is 28 mm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.control.filters import zero_phase
from tabi.control.pattern_dynamics import PatternDynamics, pattern_dynamics
from tabi.control.pattern_files import columns, read_pattern
from tabi.control.patterns import Pattern
from tabi.control.playing import playback
from tabi.model.controllers.signals import Command, ControlLaw, Measurement
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.robots.files import load, quietly
from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# low-pass of the ZMP [Hz]; longest step of the physics [s]
ZMP_CUTOFF, STEP = 20.0, 1e-3


@dataclass(frozen=True)
class Walk:
    """A pattern for a robot, as files in a folder.

    Attributes:
        gains: file with kp and kd of each joint in the order of the pattern; the robot's, if "".
        cutoff: of the low-pass that its digits ask for [Hz].
    """

    name: str
    robot: str
    motion: str
    gains: str
    cutoff: float


WALKS = (
    Walk(
        "OpenHRP's sample robot",
        "robots/sr1/sample1.wrl",
        "motions/sample_robot/samplerobot-gopos000.pos",
        "motions/sample_robot/SampleRobot.PDgain.dat",
        20.0,
    ),
    # three digits
    Walk("SR1", "robots/sr1/SR1.body", "motions/sr1/SR1WalkPattern1.seq", "", 8.0),
)


def stage(folder: Path, walk: Walk) -> tuple[World, Robot, Pattern]:
    """A world with the robot on the ground in the first pose of its pattern."""
    world = World()
    world.add_ground()
    with quietly():
        robot = world.add_robot(load(folder / walk.robot, base="floating"))
    soles = [foot.body for foot in robot.feet.values()]
    for body in robot.bodies:
        if body not in soles:
            body.shapes[:] = [replace(shape, collides=False) for shape in body.shapes]
    pattern = read_pattern(folder / walk.motion, robot).smoothed(walk.cutoff)
    return world, robot, pattern


def play(folder: Path, walk: Walk) -> dict[str, Any]:
    """Play a robot's pattern with its gains and return measures as plain data."""
    world, robot, pattern = stage(folder, walk)
    gains = read_gains(folder / walk.gains, robot) if walk.gains else None
    return measure(world, robot, pattern, gains)


def measure(
    world: World,
    robot: Robot,
    pattern: Pattern,
    gains: tuple[Array, Array] | None = None,
    feed_forward: bool = True,
) -> dict[str, Any]:
    """Play a pattern and return measures of the motion as plain data.

    Args:
        gains: kp and kd of the robot's joints in their order; default: those of its motors.
    """
    dynamics = pattern_dynamics(robot, pattern)
    robot.stand_on_ground(dict(zip(pattern.joints, pattern.position[0].tolist(), strict=True)))
    period = pattern.duration / (len(pattern.times) - 1)
    every = int(np.ceil(period / STEP - 1e-6))
    sim = Simulator(world, dt=period / every)
    played = playback(robot, pattern, feed_forward=dynamics if feed_forward else False)
    sim.set_controller(robot, played if gains is None else _with_gains(played, gains))
    start, zmps, feet = sim.position(robot.base).copy(), [], []
    for _ in range(len(pattern.times) - 1):
        sim.run(period)
        zmp = sim.zmp(robot)
        zmps.append([np.nan, np.nan] if zmp is None else zmp)
        feet.append([sim.position(robot.feet[name]) for name in dynamics.feet])
    source, reference = zmp_reference(pattern, dynamics)
    zmp_m = zero_phase(_filled(np.array(zmps)), ZMP_CUTOFF, 1.0 / period)
    apart = zmp_m - (reference[1:] + start[:2])
    return {
        "seconds": pattern.duration,
        "fallen": sim.fallen(robot),
        "slip_mm": 1e3 * slip(np.array(feet), dynamics.standing[1:]),
        "reference": source,
        "correlation": [float(np.corrcoef(zmp_m[:, j], reference[1:, j])[0, 1]) for j in range(2)],
        "offset_mm": (1e3 * apart.mean(axis=0)).tolist(),
        "rms_mm": (1e3 * np.sqrt((apart**2).mean(axis=0))).tolist(),
        "missed": sim.missed_count,
        "flying_samples": int(np.isnan(np.array(zmps)[:, 0]).sum()),
    }


def zmp_reference(pattern: Pattern, dynamics: PatternDynamics) -> tuple[str, Array]:
    """Return the source of the reference ZMP, and the ZMP from the base's start [m], (n, 2)."""
    if not {"zmp", "waist"} <= set(pattern.extra):
        source = "inverse dynamics" if pattern.zmp is None else "its file"
        return source, dynamics.zmp_reference - dynamics.base[0, :2]
    waist, zmp = pattern.extra["waist"], pattern.extra["zmp"]
    (cr, cp, cy), (sr, sp, sy) = np.cos(waist[:, 3:].T), np.sin(waist[:, 3:].T)
    # rows x and y of Rz(yaw) Ry(pitch) Rx(roll)
    x = np.stack([cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr], axis=1)
    y = np.stack([sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], axis=1)
    rotated = np.stack([(x * zmp).sum(axis=1), (y * zmp).sum(axis=1)], axis=1)
    return "its file", waist[:, :2] + rotated - waist[0, :2]


def slip(feet: Array, standing: NDArray[np.bool_]) -> float:
    """Furthest way on the ground of a foot from where it was when it began to stand [m].

    Args:
        feet: origins [m], shape (n, feet, 3). standing: whether they should, shape (n, feet).
    """
    furthest = 0.0
    for i in range(feet.shape[1]):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], standing[:, i], [0]])))
        for begin, end in edges.reshape(-1, 2):
            displacement = feet[begin:end, i, :2] - feet[begin, i, :2]
            furthest = max(furthest, float(np.linalg.norm(displacement, axis=1).max()))
    return furthest


def read_gains(file: Path, robot: Robot) -> tuple[Array, Array]:
    """kp and kd in the robot's order, from a table with a row for each joint of a pattern."""
    names, table = columns(robot), np.loadtxt(file, ndmin=2)
    if table.shape != (len(names), 2):
        raise ModelError(
            f"holds a table of {table.shape}; expected kp and kd of {len(names)} joints of "
            f"{robot.name}",
            file,
        )
    kp, kd = table[[names.index(name) for name in robot.joint_names]].T
    return kp, kd


def _with_gains(played: ControlLaw, gains: tuple[Array, Array]) -> ControlLaw:
    def controller(time: float, measurement: Measurement) -> Command:
        command = played(time, measurement)
        return Command(command.position, command.velocity, command.effort, *gains)

    return controller


def _filled(rows: Array) -> Array:
    """Rows without numbers, of a robot in flight, from their neighbours."""
    good, at = ~np.isnan(rows[:, 0]), np.arange(len(rows))
    if not good.any():
        return np.zeros_like(rows)
    return np.stack([np.interp(at, at[good], column[good]) for column in rows.T], axis=1)

"""Humanoids that stand, squat, slide and fall:
how many of their steps reach the tolerance, and which do not.

Every run starts from a seed: joints off their pose by 1e-4 to 0.03 rad (the exponent uniform; half
of it where links would overlap), the lowest corner of the soles 0 to 5 mm above the ground, then

    standing    the motors hold half-sitting                      0.3 s, friction 0.8
    squatting   they squat at 1 Hz                                1 s,   friction 0.8
    sliding     the robot is thrown along the ground at ~1 m/s    0.3 s, friction 0.15
    falling     it is thrown over, ~2 m/s and ~2 rad/s; of every  2 s,   friction 0.8
                two seeds one has its motors off, one is pushed
A step that misses is found again from its seed, to the last bit on the same machine, and its
problem can be kept.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi import collision
from tabi._errors import SimulationError
from tabi.control import squat
from tabi.model.controllers.signals import Command
from tabi.model.feet import legs
from tabi.model.feet.limbs import add_limbs
from tabi.model.joint import Motor
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.robots.files import exclude_near
from tabi.robots.known import complete
from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# steps between two looks at the number of contacts
LOOK = 100
# gains of motors without any, per kilogram of the robot [N·m/rad, N·m·s/rad]:
# like the legs of HRP-2
GAIN, DAMPING = 200.0, 8.0
# rotor [kg·m²] and gear of such a motor: a small one of HRP-2, 0.1 kg·m² at the joint
ROTOR, GEAR = 1e-5, 100.0
# motors without current: gears drag a little [N·m·s/rad]
LIMP = Command(effort=0.0, kp=0.0, kd=1.0)


@dataclass(frozen=True)
class HumanoidMotion:
    """Steps of a run, how many runs there are for each pose asked for,
    and the ground's friction.
    """

    steps: int
    share: float
    friction: float


MOTIONS = {
    "standing": HumanoidMotion(300, 1.0, 0.8),
    "squatting": HumanoidMotion(1000, 0.2, 0.8),
    "sliding": HumanoidMotion(300, 1.0, 0.15),
    "falling": HumanoidMotion(2000, 0.25, 0.8),
}


@dataclass
class TrialOutcome:
    """What one run found.

    Attributes:
        missed: step and backward error [m/s] of each step that did not reach the tolerance.
        worst: largest backward error [m/s].
        joints: the same of laws of the joints [rad/s], where the simulator has any.
        penetration: deepest overlap [m]. contacts: most contact points seen.
        recheck: backward error of the last step by the certificate in plain NumPy [m/s].
        fallen: whether the base ended below half its height. fault: why the run stopped early.
    """

    seed: int
    steps: int
    missed: list[tuple[int, float]] = field(default_factory=list)
    worst: float = 0.0
    joints: float = 0.0
    penetration: float = 0.0
    contacts: int = 0
    recheck: float = 0.0
    fallen: bool = False
    fault: str | None = None


# ---- the stage ------------------------------------------------------------------------------


def stage(robot: Robot, friction: float = 0.8, limbs: bool = True) -> tuple[World, Robot]:
    """A biped standing on the ground with what its file may lack:
    soles (if it is known), gains, and shapes for its limbs.
    """
    robot = complete(copy.deepcopy(robot))
    legs.find(robot)
    for body in robot.bodies:
        body.shapes = [shape for shape in body.shapes if shape.collides]
        joint = body.joint
        if (
            body is not robot.base
            and joint.v_count == 1
            and joint.mimic is None
            and not (joint.motor and joint.motor.kp > 0)
        ):
            joint.motor = Motor(ROTOR, GEAR, kp=GAIN * robot.mass, kd=DAMPING * robot.mass)
    if limbs:
        # where no file says how thick limbs are, none can say that they touch each other
        given = [body.name for body in add_limbs(robot)]
        robot.excluded |= {
            frozenset((name, other.name))
            for name in given
            for other in robot.bodies
            if other.name != name
        }
    robot.stand_on_ground()
    exclude_near(robot)
    world = World()
    world.add_ground(friction=friction)
    robot = world.add_robot(robot)
    robot.stand_on_ground()
    return world, robot


# ---- one run --------------------------------------------------------------------------------


class Trial:
    """One motion of one robot, started again from every seed."""

    def __init__(self, robot: Robot, motion: str, tolerance: float = 1e-8) -> None:
        self.kind, self.motion = motion, MOTIONS[motion]
        world, self.robot = stage(robot, self.motion.friction)
        # the second has its motors off
        self.sims = [
            Simulator(world, tolerance=tolerance) for _ in range(2 if motion == "falling" else 1)
        ]
        if motion == "squatting":
            self.sims[0].set_controller(self.robot, squat(self.robot))
        if motion == "falling":
            self.sims[1].set_controller(self.robot, lambda time, measurement: LIMP, rate=1.0)
        self.start = [sim.save() for sim in self.sims]
        self.height = float(self.sims[0].position(self.robot.base)[2])

    def begin(self, seed: int) -> Simulator:
        """A simulator at the start of a run."""
        rng, which = np.random.default_rng(seed), seed % len(self.sims)
        sim = self.sims[which]
        sim.restore(self.start[which])
        q = self.perturbed(sim, rng)
        v = np.zeros(sim.model.v_count)
        base = sim.model.v_index(self.robot.name)
        if self.kind == "sliding":
            v[base : base + 2] = rng.normal(size=2)
        if self.kind == "falling":
            v[base : base + 6] = 2 * rng.normal(size=6) * (1, 1, 0, 1, 1, 1)
        sim.set_state(q, v)
        if self.kind == "falling" and which == 0:
            sim.apply_force(self.robot.base, 5 * self.robot.mass * rng.normal(size=3), duration=0.2)
        return sim

    def perturbed(self, sim: Simulator, rng: np.random.Generator) -> Array:
        """A configuration near half-sitting, the lowest corner of the soles just above
        the ground.
        """
        model, rows = sim.model, sim.model.arrays.dof["q"]
        off = rng.normal(size=int((rows >= 0).sum())) * 10 ** rng.uniform(-4, -1.5)
        above = rng.uniform(0, 5e-3)
        while True:
            q = model.initial()
            q[rows[rows >= 0]] += off
            q = model.with_followers(q)
            sim.set_state(q)
            corners = [
                sim.pose(foot) @ np.column_stack([foot.polygon, np.zeros(len(foot.polygon))])
                for foot in self.robot.feet.values()
            ]
            q[model.q_index(self.robot.name) + 2] += above - float(
                np.concatenate(corners)[:, 2].min()
            )
            # feet may not start inside of each other
            if all(c.gap > -1e-9 for c in collision.contacts(model, q, 0.0)):
                return q
            off *= 0.5

    def run(self, seed: int, keep: Path | None = None) -> TrialOutcome:
        """One run; the problems of steps that miss are written into the folder ``keep``."""
        sim, found = self.begin(seed), TrialOutcome(seed, 0)
        before = len(sim.missed)
        try:
            while found.steps < self.motion.steps:
                sim.run(LOOK * sim.dt)
                found.steps += LOOK
                found.contacts = max(found.contacts, int(sim.data.outcome.report[0]["contacts"]))
        except SimulationError as error:
            found.steps, found.fault = round(sim.time / sim.dt), str(error)
        certificate = sim.certificate
        found.worst = certificate.worst_residual
        found.penetration = certificate.worst_penetration
        found.recheck = certificate.residual
        found.joints = getattr(certificate, "worst_joint_residual", 0.0)
        found.missed = [(round(time / sim.dt), error) for time, error in sim.missed[before:]]
        found.fallen = sim.fallen(self.robot, 0.5 * self.height)
        if keep is not None:
            for step, _ in found.missed:
                self.keep(seed, step, keep)
        return found

    def keep(self, seed: int, step: int, folder: Path) -> Path:
        """Go to a step of a run and write its contact problem."""
        sim = self.begin(seed)
        sim.run(step * sim.dt)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.robot.name}-{self.kind}-seed{seed}-step{step}.hdf5"
        sim.export_problem(path)
        return path


def weigh(robot: Robot, seconds: float = 5.0) -> tuple[float, float]:
    """Weight [N] of a robot, and what the ground gives its feet after it has stood for a time [s],
    from the pose it starts in.
    """
    world, robot = stage(robot)
    sim = Simulator(world)
    sim.run(seconds)
    given = sum(float(sim.foot_wrench(foot).force[2]) for foot in robot.feet.values())
    return float(robot.mass * np.linalg.norm(world.gravity)), given


# ---- all of them ----------------------------------------------------------------------------


def measure(
    robots: Iterable[Robot],
    poses: int = 1000,
    keep: Path | None = None,
    progress: Callable[[str, int, int], None] = lambda what, done, count: None,
) -> dict[str, Any]:
    """Every motion of every robot as plain data; an interrupt keeps what is done.

    Args:
        poses: runs of each motion, fewer where a motion has a share.
        keep: folder for the problems of steps that miss.
        progress: called after every run with robot and motion,
            and how many of how many runs are done.
    """
    result: dict[str, Any] = {
        "settings": {"dt": 1e-3, "tolerance": 1e-8, "poses": poses},
        "robots": {},
        "interrupted": False,
    }
    try:
        for robot in robots:
            weight, given = weigh(robot)
            own = result["robots"][robot.name] = {
                "joints": len(robot.joint_names),
                "mass_kg": round(robot.mass, 3),
            }
            own |= {
                "weight_N": round(weight, 6),
                "on_feet_after_5_s_N": round(given, 6),
                "motions": {},
            }
            for name, motion in MOTIONS.items():
                count, outcomes = max(1, round(motion.share * poses)), []
                progress(f"{robot.name} {name}", 0, count)
                trial = Trial(robot, name)
                own["notes"] = [
                    note.removeprefix("stand-in: ")
                    for note in trial.robot.notes
                    if note.startswith("stand-in: ")
                ]
                try:
                    for seed in range(count):
                        outcomes.append(trial.run(seed, keep))
                        progress(f"{robot.name} {name}", seed + 1, count)
                finally:
                    own["motions"][name] = summary(outcomes)
    except KeyboardInterrupt:
        result["interrupted"] = True
    result["total"] = total(result["robots"])
    return result


def summary(outcomes: list[TrialOutcome]) -> dict[str, Any]:
    """Runs of one motion, added up."""
    keys = ("worst", "joints", "recheck", "penetration", "contacts")
    worst: dict[str, Any] = {
        key: max((getattr(o, key) for o in outcomes), default=0.0) for key in keys
    }
    return {
        "runs": len(outcomes),
        "steps": sum(o.steps for o in outcomes),
        "missed": [
            {"seed": o.seed, "step": step, "residual": float(f"{error:.3g}")}
            for o in outcomes
            for step, error in o.missed
        ],
        "stopped": [
            {"seed": o.seed, "step": o.steps, "fault": o.fault} for o in outcomes if o.fault
        ],
        "worst_residual": float(f"{worst['worst']:.3g}"),
        "worst_joint_residual": float(f"{worst['joints']:.3g}"),
        "worst_rechecked": float(f"{worst['recheck']:.3g}"),
        "worst_penetration_m": float(f"{worst['penetration']:.3g}"),
        "most_contacts": worst["contacts"],
        "fallen": sum(o.fallen for o in outcomes),
    }


def total(robots: dict[str, Any]) -> dict[str, Any]:
    """Steps, and those that missed, of all robots; and whether these are at most 1 in 100,000."""
    motions = [motion for robot in robots.values() for motion in robot["motions"].values()]
    steps, missed = sum(m["steps"] for m in motions), sum(len(m["missed"]) for m in motions)
    stopped = sum(len(m["stopped"]) for m in motions)
    return {
        "steps": steps,
        "missed": missed,
        "stopped": stopped,
        "within": bool(steps > 0 and stopped == 0 and missed * 100_000 <= steps),
    }


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    lines = [
        f"steps of {1e3 * result['settings']['dt']:g} ms, "
        f"each to be certified to {result['settings']['tolerance']:g} m/s"
    ]
    for name, robot in result["robots"].items():
        weighed = (
            f"weight {robot['weight_N']:.4f} N, "
            f"on its feet {robot['on_feet_after_5_s_N']:.4f} N after 5 s"
        )
        lines += ["", f"{name}, {robot['joints']} joints, {robot['mass_kg']:g} kg; {weighed}"] + [
            f"  {note}" for note in robot.get("notes", [])
        ]
        lines.append(
            f"  {'':<10} {'runs':>6} {'steps':>10} {'missed':>7} {'worst m/s':>10} "
            f"{'contacts':>9} {'overlap µm':>11} {'fallen':>7}"
        )
        for motion, m in robot["motions"].items():
            figures = (
                f"{m['runs']:>6} {m['steps']:>10,} {len(m['missed']):>7} "
                f"{m['worst_residual']:>10.2e} {m['most_contacts']:>9}"
            )
            lines.append(
                f"  {motion:<10} {figures} {1e6 * m['worst_penetration_m']:>11.3g} {m['fallen']:>7}"
            )
            lines += [
                f"    missed: seed {x['seed']}, step {x['step']}, {x['residual']:.1e} m/s"
                for x in m["missed"]
            ]
            lines += [
                f"    stopped: seed {x['seed']}, step {x['step']}: {x['fault']}"
                for x in m["stopped"]
            ]
    t = result["total"]
    failed = (
        "MORE than 1 in 100,000"
        if t["missed"]
        else "NOT all finished"
        if t["stopped"]
        else "nothing done"
    )
    verdict = "at most 1 in 100,000" if t["within"] else failed
    lines += [
        "",
        f"{t['missed']} of {t['steps']:,} steps missed, {t['stopped']} runs stopped: {verdict}",
    ]
    if result["interrupted"]:
        lines.append("interrupted: these are the runs finished before")
    return "\n".join(lines)

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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from tabi import collision
from tabi._errors import ModelError, SimulationError
from tabi.apps.robots import named
from tabi.control import squat
from tabi.lab.stage import stage, weigh
from tabi.lab.study import Column, Criterion, Option, Validator, progress, table
from tabi.model.controllers.signals import Command
from tabi.model.robot import Robot
from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# steps between two looks at the number of contacts
LOOK = 100
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
    """Outcome of one run.

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
        sim, result = self.begin(seed), TrialOutcome(seed, 0)
        before = len(sim.missed)
        try:
            while result.steps < self.motion.steps:
                sim.run(LOOK * sim.dt)
                result.steps += LOOK
                result.contacts = max(result.contacts, int(sim.data.outcome.report[0]["contacts"]))
        except SimulationError as error:
            result.steps, result.fault = round(sim.time / sim.dt), str(error)
        certificate = sim.certificate
        result.worst = certificate.worst_residual
        result.penetration = certificate.worst_penetration
        result.recheck = certificate.residual
        result.joints = getattr(certificate, "worst_joint_residual", 0.0)
        result.missed = [(round(time / sim.dt), error) for time, error in sim.missed[before:]]
        result.fallen = sim.fallen(self.robot, 0.5 * self.height)
        if keep is not None:
            for step, _ in result.missed:
                self.keep(seed, step, keep)
        return result

    def keep(self, seed: int, step: int, folder: Path) -> Path:
        """Go to a step of a run and write its contact problem."""
        sim = self.begin(seed)
        sim.run(step * sim.dt)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.robot.name}-{self.kind}-seed{seed}-step{step}.hdf5"
        sim.export_problem(path)
        return path


# ---- all of them ----------------------------------------------------------------------------


class Humanoids(Validator, name="humanoids"):
    """Stand, squat, slide and fall from perturbed poses: is every step certified to 1e-8 m/s?"""

    robot: Annotated[
        list[str] | None,
        Option(
            metavar="FILE",
            help="A robot beside hrp2: path to a URDF, MJCF, .wrl or .body file; may be repeated.",
        ),
    ] = None
    foot: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=BODY",
            help="Declare a foot of the one robot given; may be repeated.",
        ),
    ] = None
    poses: Annotated[
        int,
        Option(
            min=1,
            help="Perturbed poses to start each motion from; a fifth to squat, a quarter to fall.",
        ),
    ] = 1000
    keep: Annotated[
        Path | None,
        Option(help="Folder for the contact problems of steps that miss, in FCLib form."),
    ] = None

    unit = "runs"
    criteria = (
        Criterion("total.steps", "there are steps", at_least=1),
        Criterion("total.stopped", "every run is finished", at_most=0),
        Criterion("total.missed_share", "at most 1 in 100,000 steps misses", at_most=1e-5),
    )

    def robots(self) -> list[Robot]:
        """Return HRP-2 and the robots of the files; raise if one is invalid."""
        files = self.robot or []
        if self.foot and len(files) != 1:
            raise ModelError(
                f"--foot was given with {len(files)} robots; "
                "expected one --robot that it belongs to"
            )
        if self.keep is not None and self.keep.exists() and not self.keep.is_dir():
            raise ModelError(f"--keep {self.keep} is a file; expected a folder")
        robots = [named("hrp2"), *(named(path, self.foot, gains=False) for path in files)]
        for robot in robots:
            stage(robot)
        return robots

    def cases(self) -> Iterator[tuple[dict[str, Any], Trial, int]]:
        """Every motion of every robot from many poses, and what is known of that robot."""
        for robot in self.robots():
            weight, support = weigh(robot)
            about = {
                "name": robot.name,
                "joints": len(robot.joint_names),
                "mass_kg": round(robot.mass, 3),
                "weight_N": round(weight, 6),
                "on_feet_after_5_s_N": round(support, 6),
            }
            for name, motion in MOTIONS.items():
                count, trial = max(1, round(motion.share * self.poses)), Trial(robot, name)
                notes = (n for n in trial.robot.notes if n.startswith("stand-in: "))
                about["notes"] = [note.removeprefix("stand-in: ") for note in notes]
                for seed in range(count):
                    progress(f"{robot.name} {name}", seed, count)
                    yield about, trial, seed

    def measure(
        self, case: tuple[dict[str, Any], Trial, int]
    ) -> tuple[dict[str, Any], str, TrialOutcome]:
        """One run, with what is known of the robot."""
        about, trial, seed = case
        return about, trial.kind, trial.run(seed, self.keep)

    def figures(self, rows: Sequence[tuple[dict[str, Any], str, TrialOutcome]]) -> dict[str, Any]:
        """Robots with their motions, and all steps."""
        robots: dict[str, Any] = {}
        for about, motion, outcome in rows:
            entry = robots.setdefault(about["name"], about | {"motions": {}})
            entry["motions"].setdefault(motion, []).append(outcome)
        for entry in robots.values():
            del entry["name"]
            entry["motions"] = {
                name: summary(outcomes) for name, outcomes in entry["motions"].items()
            }
        return {
            "settings": {"dt": 1e-3, "tolerance": 1e-8, "poses": self.poses},
            "robots": robots,
            "total": total(robots),
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """A table for each robot."""
        settings, t = result["settings"], result["total"]
        yield (
            f"steps of {1e3 * settings['dt']:g} ms, "
            f"each to be certified to {settings['tolerance']:g} m/s"
        )
        for name, robot in result["robots"].items():
            yield ""
            yield (
                f"{name}, {robot['joints']} joints, {robot['mass_kg']:g} kg; "
                f"weight {robot['weight_N']:.4f} N, "
                f"on its feet {robot['on_feet_after_5_s_N']:.4f} N after 5 s"
            )
            yield from (f"  {note}" for note in robot.get("notes", []))
            rows = [{"motion": name} | motion for name, motion in robot["motions"].items()]
            yield from table(COLUMNS, rows, below=_faults)
        failed = (
            "MORE than 1 in 100,000"
            if t["missed"]
            else "NOT all finished"
            if t["stopped"]
            else "nothing done"
        )
        verdict = "at most 1 in 100,000" if t["within"] else failed
        yield ""
        missed = f"{t['missed']} of {t['steps']:,} steps did not converge"
        yield f"{missed}, {t['stopped']} runs stopped: {verdict}"


COLUMNS = (
    Column("", "motion"),
    Column("runs", "runs", "d"),
    Column("steps", "steps", ",d"),
    Column("missed", lambda motion: str(len(motion["missed"]))),
    Column("worst m/s", "worst_residual", ".2e"),
    Column("contacts", "most_contacts", "d"),
    Column("overlap µm", "worst_penetration_m", ".3g", 1e6),
    Column("fallen", "fallen", "d"),
)


def _faults(motion: Mapping[str, Any]) -> Iterator[str]:
    for x in motion["missed"]:
        yield f"missed: seed {x['seed']}, step {x['step']}, {x['residual']:.1e} m/s"
    for x in motion["stopped"]:
        yield f"stopped: seed {x['seed']}, step {x['step']}: {x['fault']}"


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
    """Steps, and those that missed, of all robots, and whether that is as it has to be."""
    motions = [motion for robot in robots.values() for motion in robot["motions"].values()]
    steps, missed = sum(m["steps"] for m in motions), sum(len(m["missed"]) for m in motions)
    stopped = sum(len(m["stopped"]) for m in motions)
    result = {"steps": steps, "missed": missed, "stopped": stopped}
    result |= {"missed_share": missed / max(steps, 1)}
    return result | {
        "within": all(criterion.met({"total": result}) for criterion in Humanoids.criteria)
    }

"""Tables of agreement: dynamics of tabi against Pinocchio and MuJoCo, robot by robot.

Robots come from ../shared (beside the checkout) and from the package example-robot-data.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
from filling import DOCS, table

import tabi
from tabi import dynamics
from tabi.lab.pinocchio import Referee, build
from tabi.model.compiled import Model
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.robots.examples import example_folder
from tabi.spatial.inertia import solid_box
from tabi.spatial.transform import from_quaternion, translation

ROBOTS = DOCS.parents[1] / "shared" / "data" / "robots"
STATES = 100


class MissingRobotsError(Exception):
    """The robots of a table are not on this machine."""


def random_state(model: Model, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """q anywhere, v of 1 rad/s, joint forces of 10 N m, accelerations of 1 rad/s²."""
    q = dynamics.integrate(model, model.neutral(), rng.normal(size=model.v_count), 1.0)
    return (
        q,
        rng.normal(size=model.v_count),
        10 * rng.normal(size=model.v_count),
        rng.normal(size=model.v_count),
    )


def relative(x: np.ndarray, reference: np.ndarray) -> float:
    """‖x − reference‖ / ‖reference‖."""
    return float(np.linalg.norm(x - reference) / np.linalg.norm(reference))


def against_pinocchio(
    robot: Robot, pin_model: pin.Model, base: str | None = None, states: int = STATES
) -> np.ndarray:
    """Worst of: ABA, RNEA, CRBA, the residual of M a = τ − b, Pinocchio's ABA against itself,
    condition number.
    """
    model = robot.compile()
    referee, data = Referee(model, pin_model, base), pin_model.createData()
    rng, worst = np.random.default_rng(0), np.zeros(6)
    for _ in range(states):
        q, v, tau, a = random_state(model, rng)
        T, qp = referee.rates(q), referee.configuration(q)
        # T is orthogonal: forces map as velocities do
        local = pin.aba(pin_model, data, qp, T @ v, T @ tau, pin.Convention.LOCAL).copy()
        world = pin.aba(pin_model, data, qp, T @ v, T @ tau, pin.Convention.WORLD).copy()
        inverse = pin.rnea(pin_model, data, qp, T @ v, referee.acceleration(q, v, a)).copy()
        bias = pin.nonLinearEffects(pin_model, data, qp, T @ v).copy()
        M = pin.crba(pin_model, data, qp)
        M = np.triu(M) + np.triu(M, 1).T
        ours = referee.acceleration(q, v, dynamics.forward_dynamics(model, q, v, tau))
        errors = (
            relative(ours, local),
            relative(T @ dynamics.inverse_dynamics(model, q, v, a), inverse),
            relative(dynamics.mass_matrix(model, q), T.T @ M @ T),
            np.linalg.norm(M @ ours + bias - T @ tau) / (np.linalg.norm(M) * np.linalg.norm(local)),
            relative(world, local),
            np.linalg.cond(M),
        )
        worst = np.maximum(worst, errors)
    return worst


def against_mujoco(path: Path) -> tuple[Robot, np.ndarray]:
    """The same of a robot from MJCF against MuJoCo reading the same file;
    MuJoCo has no second ABA.
    """
    robot = without_mimic(tabi.load(path))
    model, mj = robot.compile(), mujoco.MjModel.from_xml_path(str(path))
    for name in ("CONTACT", "CONSTRAINT", "SPRING", "DAMPER", "ACTUATION"):
        mj.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}")
    names = [
        robot.name if mj.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE else mj.joint(j).name
        for j in range(mj.njnt)
    ]
    iq = np.concatenate([model.q_index(n) + np.arange(7 if n == robot.name else 1) for n in names])
    iv = np.concatenate([model.v_index(n) + np.arange(6 if n == robot.name else 1) for n in names])
    spin = model.v_index(robot.name) + np.arange(3, 6)
    turn = model.q_index(robot.name) + np.arange(3, 7)
    data, rng, worst = mujoco.MjData(mj), np.random.default_rng(0), np.zeros(6)
    for _ in range(STATES):
        q, v, tau, a = random_state(model, rng)
        T = np.eye(model.v_count)
        T[np.ix_(spin, spin)] = from_quaternion(q[turn]).R.T
        T = T[iv]
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[iq], T @ v, T @ tau
        mujoco.mj_forward(mj, data)
        forward, bias, M = data.qacc.copy(), data.qfrc_bias.copy(), np.zeros((mj.nv, mj.nv))
        mujoco.mj_fullM(mj, data, M)
        data.qacc[:] = T @ a
        mujoco.mj_inverse(mj, data)
        ours = T @ dynamics.forward_dynamics(model, q, v, tau)
        errors = (
            relative(ours, forward),
            relative(T @ dynamics.inverse_dynamics(model, q, v, a), data.qfrc_inverse),
            relative(T @ dynamics.mass_matrix(model, q) @ T.T, M),
            np.linalg.norm(M @ ours + bias - T @ tau)
            / (np.linalg.norm(M) * np.linalg.norm(forward)),
            np.nan,
            np.linalg.cond(M),
        )
        worst = np.where(np.isnan(errors), np.nan, np.maximum(worst, errors))
    return robot, worst


def without_mimic(robot: Robot) -> Robot:
    """Joints that follow others on their own, as Pinocchio's aba has them."""
    for body in robot.bodies:
        body.joint.mimic = None
    return robot


def digits(x: float) -> str:
    """One digit and the power of ten: more would change from one processor to the next."""
    return (
        "–"
        if np.isnan(x)
        else re.sub(r"e([-+])0*(\d)", lambda e: f"e{'−' if e[1] == '-' else ''}{e[2]}", f"{x:.0e}")
    )


def row(name: str, v_count: int, errors: np.ndarray) -> list[str]:
    """A line of the tables of agreement."""
    return [name, str(v_count), *map(digits, errors)]


AGREEMENT = ["robot", "dof", "ABA", "RNEA", "CRBA", "residual", "Pin, Pin", "κ(M)"]


def humanoids() -> str:
    """HRP-2, and the humanoids of ../shared."""
    if not ROBOTS.is_dir():
        raise MissingRobotsError("../shared")
    hrp2 = tabi.robots.hrp2()
    rows = [row("HRP-2, built in", hrp2.compile().v_count, against_pinocchio(hrp2, build(hrp2)))]
    for name, file in (
        ("JVRC-1, URDF", "jvrc1/jvrc1.urdf"),
        ("HRP-4C, URDF", "hrp4c/HRP4Cmain.urdf"),
        ("SR1, URDF", "sr1/SR1.urdf"),
    ):
        robot = without_mimic(tabi.load(ROBOTS / file))
        pin_model = pin.buildModelFromUrdf(str(ROBOTS / file), pin.JointModelFreeFlyer())
        rows.append(
            row(name, robot.compile().v_count, against_pinocchio(robot, pin_model, "root_joint"))
        )
    robot = tabi.load(ROBOTS / "sr1" / "sample1.wrl")
    rows.append(
        row(
            "SR1, OpenHRP `sample1.wrl`",
            robot.compile().v_count,
            against_pinocchio(robot, build(robot)),
        )
    )
    robot, errors = against_mujoco(ROBOTS / "menagerie" / "pal_talos" / "talos.xml")
    rows.append(row("Talos, MJCF, against MuJoCo", robot.compile().v_count, errors))
    return table(AGREEMENT, rows)


def packages() -> Iterator[tuple[str, list[Path]]]:
    """Name and URDF files of every package of example-robot-data, the largest file first:
    it has most joints.
    """
    folder = example_folder()
    if folder is None:
        raise MissingRobotsError("the package example-robot-data")
    for package in sorted(p for p in folder.iterdir() if p.is_dir()):
        yield (
            package.name,
            sorted(package.rglob("*.urdf"), key=lambda f: (-f.stat().st_size, f.name)),
        )


def example_robots() -> str:
    """One robot of every package: the largest that loads; then what was refused."""
    rows, refused = [], []
    for package, files in packages():
        reason = "no URDF file in it"
        for file in files:
            try:
                robot = without_mimic(tabi.load(file, base="floating"))
                v_count = robot.compile().v_count
            except tabi.ModelError as error:
                reason = f"`{file.name}`, {str(error).removeprefix(str(file)).strip(':, ')}"
                refused.append((package, reason))
                continue
            pin_model = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
            errors = against_pinocchio(
                robot, pin_model, "root_joint", 10 if v_count > 60 else STATES
            )
            name = package.removesuffix("_description")
            rows.append(row(name if file.stem == name else f"{name}: {file.stem}", v_count, errors))
            break
        else:
            if not files:
                refused.append((package, reason))
        print(f"  {package}: {rows[-1] if rows else reason}", file=sys.stderr, flush=True)
    lines = [
        f"{len(rows)} of {len(list(packages()))} packages load.",
        "",
        table(AGREEMENT, rows),
        "",
    ]
    lines += [
        "Refused; where a package has a smaller file that loads, that one is in the table:",
        "",
    ] + [f"- {package}: {reason}" for package, reason in refused]
    return "\n".join(lines).rstrip()


def reach() -> str:
    """Two small links at a growing distance from the root:
    the relative error of the outer one's acceleration.
    """
    rows = []
    for distance in (0.1, 1.0, 10.0, 100.0):
        robot = Robot("crane")
        robot.add_body("base", Joint("base", "floating"), None, solid_box(10.0, (0.3, 0.3, 0.3)))
        robot.add_body(
            "upper",
            Joint("first", "revolute", translation((distance, 0, 0)), (0, 1, 0)),
            "base",
            solid_box(0.1, (0.1, 0.05, 0.02)),
        )
        robot.add_body(
            "lower",
            Joint("second", "revolute", translation((0.1, 0, 0)), (0, 0, 1)),
            "upper",
            solid_box(0.1, (0.1, 0.05, 0.02)),
        )
        model, pin_model, rng, worst = robot.compile(), build(robot), np.random.default_rng(0), 0.0
        referee, data = Referee(model, pin_model), pin_model.createData()
        for _ in range(STATES):
            q, v, tau, _ = random_state(model, rng)
            T = referee.rates(q)
            theirs = pin.aba(pin_model, data, referee.configuration(q), T @ v, T @ tau)[-1]
            worst = max(worst, abs(dynamics.forward_dynamics(model, q, v, tau)[-1] / theirs - 1))
        rows.append([f"{distance:g}", digits(worst)])
    return table(["distance from the root [m]", "error"], rows)

"""tabi and MuJoCo as engines of the referee:
the same scene, motors, commands and pushes, each in a loop of its own.

MuJoCo's motors are affine actuators u − K_p q − K_d v with u = τ_ff + K_p q_d + K_d v_d and tabi's
limits, under its implicit integrator, which takes the K_d part at the end of the step as tabi does,
and the K_p part at its beginning. Its contacts are soft by design and stay as they come.
"""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tabi
from tabi._errors import ModelError, TabiError, unknown
from tabi.formats.mjcf.source import mujoco
from tabi.formats.mjcf.writer import to_mujoco
from tabi.lab.referee.mujoco_senses import MuJoCoSenses
from tabi.lab.referee.track import Row
from tabi.model.controllers.signals import Measurement, Truth
from tabi.model.lookup import joint_rows, link_of
from tabi.model.mujoco_state import mujoco_state, slots
from tabi.model.robot import Robot
from tabi.observation.readings import Named
from tabi.recording.tracks import rotations
from tabi.scenes import Scene
from tabi.simulation.simulator import Simulator
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]


class BreakdownError(TabiError, RuntimeError):
    """An engine that cannot go on."""


def simulator_of(source: Scene | Simulator) -> Simulator:
    """The simulator that a scene makes, or one that is there."""
    return source if isinstance(source, Simulator) else source.simulator()


class Tabi:
    """The simulator of this package, as the scene makes it, or one that is there.

    Attributes:
        hasty: degrees of freedom that have reached their top speeds,
            which other engines do not have.
    """

    name = "tabi"

    def __init__(self, source: Scene | Simulator) -> None:
        self.sim = simulator_of(source)
        self.version, self.notes, self.seconds = tabi.__version__, [], []
        self.hasty = np.zeros(self.sim.model.v_count, bool)
        self._top = (1.0 - 1e-9) * self.sim.model.arrays.dof["velocity_limit"]
        # other laws are not compared
        self.settings: dict[str, Any] = {
            "step_s": self.sim.dt,
            "contact": "coulomb",
            "tolerance_m_s": self.sim.tolerance,
            "scheme": self.sim.scheme,
        }

    def step(self) -> None:
        """One step, as ``Simulator.step`` does it, with the clock on what comes after the
        controllers.
        """
        sim = self.sim
        sim.ask_controllers()
        start = clock.perf_counter()
        sim.step(ask=False)
        self.seconds.append(clock.perf_counter() - start)
        self.hasty |= np.abs(sim.data.v) >= self._top

    def row(self) -> Row:
        """The state and the contacts of the last step."""
        data = self.sim.data
        a, b, gap, point = (np.array(data.contact[k]) for k in ("a", "b", "gap", "position"))
        force = data.contact["impulse"] / data.dt
        return Row(data.q.copy(), data.v.copy(), a, b, point, force, gap)


class RowWrenches(Mapping[str, Array]):
    """Wrenches on a robot's feet from the contacts of a row, with the feet where the simulator is;
    computed when one is asked for.
    """

    def __init__(self, sim: Simulator, robot: Robot, row: Row) -> None:
        self._sim, self._robot, self._row = sim, robot, row

    def __getitem__(self, name: str) -> Array:
        if name not in self._robot.feet:
            raise unknown("foot", name, self._robot.name, self._robot.feet)
        foot, row = self._robot.feet[name], self._row
        body = link_of(self._sim.world, self._sim.model, foot).body
        origin = self._sim.position(foot)
        total = np.zeros(6)
        for rows, sign in ((row.body_a == body, 1.0), (row.body_b == body, -1.0)):
            force = sign * row.force[rows]
            total += np.concatenate(
                [force.sum(axis=0), np.cross(row.point[rows] - origin, force).sum(axis=0)]
            )
        return total

    def __iter__(self) -> Iterator[str]:
        return iter(self._robot.feet)

    def __len__(self) -> int:
        return len(self._robot.feet)


class NoReadings(Mapping[str, Array]):
    """Sensors of a robot in an engine in which they are not computed."""

    def __getitem__(self, name: str) -> Array:
        raise ModelError(
            f"sensor {name!r} was read in a comparison with an engine that has no readings; "
            f"compare with mujoco, or let the controller use joints, or the truth (truth=True)"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def ask(
    sim: Simulator,
    step: int,
    row: Row,
    effort: Array | None = None,
    read: Callable[[Robot], Mapping[str, Array]] | None = None,
) -> bool:
    """Let the controllers that are due look at a row, and command what they say; whether it is new.

    The simulator is never stepped: it stands where the row is, knows kinematics and controllers,
    and checks commands.

    Args:
        effort: of the motors, where the engine knows it, of each degree of freedom.
        read: readings of a robot's sensors, where the engine knows them.
    """

    def seen(robot: Robot, measured: Measurement) -> Measurement:
        true = measured.truth
        if isinstance(true, Truth):
            true = replace(true, forces=RowWrenches(sim, robot, row))
        result = replace(measured, truth=true, sensors=NoReadings())
        if effort is not None:
            result = replace(result, effort=effort[joint_rows(sim.model, robot)])
        return result if read is None else with_readings(sim, robot, result, read(robot))

    return sim.ask_controllers(step, seen)


class Targets:
    """Commanded positions of motors on their way, as ``Command.over`` asks for.

    Attributes:
        position: of each degree of freedom, at the end of the step [rad or m].
    """

    def __init__(self, sim: Simulator) -> None:
        self._sim = sim
        self.position: Array = sim.data.command.motor["position"].copy()

    def move(self, step: int) -> None:
        """Over a step, as tabi's own step moves them."""
        motor, h = self._sim.data.command.motor, self._sim.dt
        left = motor["until"] - step * h
        share = np.minimum(1.0, h / np.where(left > 0.0, left, np.inf))
        self.position += share * (motor["target"] - self.position)
        at_once = motor["until"] == 0.0
        self.position[at_once] = motor["position"][at_once]


def with_readings(
    sim: Simulator, robot: Robot, measured: Measurement, readings: Mapping[str, Array]
) -> Measurement:
    """A measurement with readings of sensors; joints with an encoder are as that says."""
    rows = joint_rows(sim.model, robot)
    dof, position, velocity = sim.model.arrays.dof, measured.position, sim.state.v[rows]
    position = np.where(dof["q"][rows] >= 0, sim.state.q[dof["q"][rows]], position)
    freedom, values, spans = {int(k): i for i, k in enumerate(rows)}, [], {}
    first = 0
    for name, reading in readings.items():
        sensor, spans[name] = robot.sensors[name], (first, first + len(reading))
        first += len(reading)
        values.append(reading)
        body = link_of(sim.world, sim.model, sensor).body
        at = freedom.get(int(sim.model.arrays.body["v_start"][body]))
        if sensor.kind == "encoder" and at is not None:
            if sensor.part != "velocity":
                position[at] = reading[0]
            if sensor.part != "position":
                velocity[at] = reading[-1]
    sensors = Named(np.concatenate([np.zeros(0), *values]), spans, "sensor", robot.name)
    return replace(measured, position=position, velocity=velocity, sensors=sensors)


class States:
    """MuJoCo's states as tabi's, by tables of indices; as ``mujoco_state``, and fast."""

    def __init__(self, sim: Simulator, m: Any) -> None:
        self.q = np.zeros(sim.model.q_count, np.int64)
        self.v = np.zeros(sim.model.v_count, np.int64)
        turns, quats = [], []
        for q, qpos, v, qvel, turn in slots(sim.model, m):
            self.q[q], self.v[v] = range(qpos.start, qpos.stop), range(qvel.start, qvel.stop)
            if turn is not None:
                turns.append(range(v.stop - 3, v.stop))
                quats.append(range(turn.start, turn.stop))
        self.turns = np.array(turns, np.int64).reshape(-1, 3)
        self.quats = np.array(quats, np.int64).reshape(-1, 4)

    def __call__(self, qpos: Array, qvel: Array) -> tuple[Array, Array]:
        """(q, v) of tabi."""
        v = qvel[self.v]
        v[self.turns] = np.einsum("nij,nj->ni", rotations(qpos[self.quats]), v[self.turns])
        return qpos[self.q], v


class MuJoCo:
    """MuJoCo with its own contact, elliptic cones and its fast implicit integrator;
    everything else as it comes.
    """

    name = "MuJoCo"

    def __init__(self, source: Scene | Simulator) -> None:
        # never stepped: controllers, pushes, targets, and the kinematics of measurements
        self.sim = simulator_of(source)
        sim, self.notes, self.seconds, self.steps = self.sim, [], [], 0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.m = to_mujoco(sim.world)
        self.notes += [str(w.message) for w in caught]
        self.mj: Any = mujoco()
        self.version, m, mj = self.mj.__version__, self.m, self.mj
        m.opt.timestep, m.opt.integrator = sim.dt, mj.mjtIntegrator.mjINT_IMPLICITFAST
        # a state that is no number has to be seen, not replaced by the start
        m.opt.disableflags |= mj.mjtDisableBit.mjDSBL_AUTORESET
        solver = {0: "PGS", 1: "CG", 2: "Newton"}[int(m.opt.solver)]
        self.settings: dict[str, Any] = {
            "step_s": sim.dt,
            "integrator": "implicitfast",
            "cone": "elliptic",
            "solver": solver,
        }
        self.settings |= {
            "iterations": int(m.opt.iterations),
            "tolerance": float(m.opt.tolerance),
            "impratio": float(m.opt.impratio),
        }
        # its own for all contacts: nothing in a world sets them
        self.settings |= {
            name: getattr(m, f"geom_{name}")[0].tolist() for name in ("solref", "solimp") if m.ngeom
        }
        self.d, self.states = mj.MjData(m), States(sim, m)
        self.d.qpos[:], self.d.qvel[:] = mujoco_state(sim.model, m, sim.state.q, sim.state.v)
        # the moving body of each geom, and bodies that tabi and MuJoCo both know by name,
        # one for each moving body
        links = sim.model.links
        names = [m.body(i).name for i in range(m.nbody)]
        body = np.array([links[name].body if name in links else 0 for name in names], np.int64)
        self.owner = body[m.geom_bodyid]
        self.carrier = {int(body[i]): i for i in reversed(range(m.nbody))}
        self.targets = Targets(sim)
        self._prepare_motors()
        self.senses = MuJoCoSenses(sim, (mj, m), self.carrier, self.owner)
        self.notes += self.senses.notes
        self._before = self.d.qpos.copy(), self.d.qvel.copy()

    def _prepare_motors(self) -> None:
        """Torque motors become position loops with tabi's limits."""
        m, mj, dof = self.m, self.mj, self.sim.model.arrays.dof
        self.rows = np.array(
            [self.sim.model.v_index(m.actuator(k).name) for k in range(m.nu)], np.int64
        )
        idle = np.setdiff1d(np.flatnonzero(dof["kp"] > 0), self.rows)
        if len(idle):
            raise ModelError(
                f"joint {self.sim.model.dof_name(int(idle[0]))!r} has a motor for several degrees "
                "of freedom, which MuJoCo has not"
            )
        m.actuator_gaintype[:] = mj.mjtGain.mjGAIN_FIXED
        m.actuator_biastype[:] = mj.mjtBias.mjBIAS_AFFINE
        m.actuator_gainprm[:, 0] = 1.0
        limit = dof["effort_limit"][self.rows]
        m.actuator_forcelimited[:], m.actuator_ctrllimited[:] = np.isfinite(limit), 0
        m.actuator_forcerange[:] = np.where(np.isfinite(limit), limit, 0.0)[:, None] * (-1.0, 1.0)
        self._write_command()

    def _write_command(self) -> None:
        """Write targets and gains into the actuators."""
        goal, position = self.sim.data.command.motor[self.rows], self.targets.position[self.rows]
        self.m.actuator_biasprm[:, 1], self.m.actuator_biasprm[:, 2] = -goal["kp"], -goal["kd"]
        self.d.ctrl[:] = goal["effort"] + goal["kp"] * position + goal["kd"] * goal["velocity"]

    def step(self) -> None:
        """Do one step of MuJoCo."""
        sim, d = self.sim, self.d
        if any(self.steps % driver.every == 0 for driver in sim.drivers.values()):
            row, effort = self.row(), self._efforts()
            sim.set_state(row.q, row.v)
            ask(sim, self.steps, row, effort, lambda robot: self._read(robot, effort))
        if sim.drivers:
            self.targets.move(self.steps)
            self._write_command()
        self._push()
        self._before = d.qpos.copy(), d.qvel.copy()
        mj_warnings: list[str] = []
        # without a callback it writes a log file into the working directory
        self.mj.set_mju_user_warning(mj_warnings.append)
        start = clock.perf_counter()
        try:
            self.mj.mj_step(self.m, d)
        finally:
            self.seconds.append(clock.perf_counter() - start)
            self.mj.set_mju_user_warning(None)
        self.steps += 1
        if mj_warnings or not (np.isfinite(d.qpos).all() and np.isfinite(d.qvel).all()):
            why = (
                " ".join(mj_warnings[0].split()).rstrip(".")
                if mj_warnings
                else "its state is not finite"
            )
            raise BreakdownError(f"MuJoCo broke down at {self.steps * sim.dt:g} s: {why}")

    def _efforts(self) -> Array:
        """Return the motor efforts in the last step, by degree of freedom of tabi: with the
        velocities at its end, as the integrator takes them.
        """
        m, d, effort = self.m, self.d, np.zeros(self.sim.model.v_count)
        if self.steps > 0:
            joint = m.actuator_trnid[:, 0]
            q, v = self._before[0][m.jnt_qposadr[joint]], d.qvel[m.jnt_dofadr[joint]]
            force = d.ctrl + m.actuator_biasprm[:, 1] * q + m.actuator_biasprm[:, 2] * v
            low, high = m.actuator_forcerange.T
            limited = m.actuator_forcelimited.astype(bool)
            effort[self.rows] = np.where(limited, np.clip(force, low, high), force)
        return effort

    def _read(self, robot: Robot, effort: Array) -> Mapping[str, Array]:
        """Readings of a robot's sensors; before the first step tabi's, of the same state."""
        if self.steps == 0:
            return self.sim.measure(robot).sensors
        acceleration = (self.d.qvel - self._before[1]) / self.sim.dt
        return self.senses.read(self.d, acceleration, effort, robot)

    def _push(self) -> None:
        """Apply the present pushes about the centres of mass of the bodies."""
        sim, d = self.sim, self.d
        now = [push for push in sim.pushes if push.start <= self.steps < push.until]
        if not now and not d.xfrc_applied.any():
            return
        d.xfrc_applied[:] = 0.0
        self.mj.mj_kinematics(self.m, d)
        for push in now:
            i, share = self.carrier[push.link.body], min(1.0, push.until - self.steps)
            known = sim.model.links[self.m.body(i).name].placement
            X = (
                Transform(d.xmat[i].reshape(3, 3).copy(), d.xpos[i].copy())
                @ known.inverse()
                @ push.link.placement
            )
            d.xfrc_applied[i, :3] += share * push.force
            d.xfrc_applied[i, 3:] += share * (
                push.torque + np.cross(X @ push.point - d.xipos[i], push.force)
            )

    def row(self) -> Row:
        """The state and the contacts of the last step."""
        d = self.d
        q, v = self.states(d.qpos, d.qvel)
        touch = d.contact
        geom, first = np.array(touch.geom).reshape(-1, 2), np.array(touch.efc_address)
        # rows of the contact's frame are its axes, the first from the first geom to the second,
        # which bears the force
        force, bears = np.zeros((len(geom), 3)), first >= 0
        axes = np.array(touch.frame).reshape(-1, 3, 3)[bears]
        parts = d.efc_force[first[bears, None] + np.arange(3)]
        force[bears] = np.einsum("nij,ni->nj", axes, parts)
        a, b = self.owner[geom[:, 1]], self.owner[geom[:, 0]]
        return Row(q, v, a, b, np.array(touch.pos).reshape(-1, 3), force, np.array(touch.dist))

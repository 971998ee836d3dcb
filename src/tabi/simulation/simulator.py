"""A world in motion: buffers, controllers, pushes, and what a person asks about contacts."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, TabiError, real, unknown
from tabi.contact.bodies import BodyProblem
from tabi.contact.files import write
from tabi.contact.matrix_form import sparse
from tabi.dynamics import free
from tabi.model.body import Body, Foot
from tabi.model.compiled import Link, Model
from tabi.model.robot import Robot
from tabi.model.signals import Controller
from tabi.model.world import World
from tabi.simulation import arrays, bonds, events, laws, motors, observation
from tabi.simulation import step as stepping
from tabi.simulation.bonds import Bond
from tabi.simulation.motors import Push
from tabi.simulation.observation import Certificate, Contact
from tabi.simulation.recording import Recording, rest, take
from tabi.simulation.state import Driver, Saved, State
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist, Wrench

Array = NDArray[np.float64]
SCHEMES = ("time-stepping", "event-driven")
# steps between two looks at the keyboard
CHUNK = 1000


class SimulationError(TabiError, RuntimeError):
    """A simulation that cannot go on; the simulator keeps its last good state."""


class Simulator:
    """A world that moves.

    Args:
        world: what there is; later changes of it are not seen.
        dt: the step [s].
        contact: the law of contact: "coulomb", or for comparison "pyramid" and "frictionless". facets: sides of the pyramid.
        tolerance: backward error every contact has to reach [m/s].
        scheme: "time-stepping", or "event-driven": impacts with restitution happen where they do within a step.

    Attributes:
        model: the compiled world; its parameters may be changed between steps.
        missed: steps whose contacts did not reach the tolerance: (time [s], backward error [m/s]), the first thousand.
    """

    def __init__(
        self, world: World, dt: float = 1e-3, contact: str = "coulomb", tolerance: float = 1e-8, scheme: str = "time-stepping", facets: int = 8
    ) -> None:
        if not isinstance(world, World):
            raise ModelError(f"world is {world!r}; expected a tabi.World")
        if not (isinstance(dt, (int, float)) and np.isfinite(dt) and dt > 0):
            raise ModelError(f"dt is {dt!r}; expected a positive number of seconds, 1e-3 is usual")
        if not (isinstance(tolerance, (int, float)) and np.isfinite(tolerance) and tolerance > 0):
            raise ModelError(f"tolerance is {tolerance!r}; expected a positive velocity in m/s, 1e-8 is usual")
        if scheme not in SCHEMES:
            raise unknown("scheme", str(scheme), "tabi", SCHEMES)
        self.world, self.dt, self.tolerance, self.scheme = world, float(dt), float(tolerance), scheme
        self.model: Model = world.compile()
        laws.check(contact, facets, self.model)
        self._law, self._scene = (contact, facets), arrays.scene(self.model)
        self._points, self._blocks = 64, 64
        self._room = self._space()
        self._memory = arrays.memory(self._points)
        self._q, self._v, self._steps = self.model.initial(), np.zeros(self.model.v_count), 0
        self._target = motors.rest(self.model, self._q)
        self._before = (self._q.copy(), self._v.copy())
        self._drivers: dict[str, Driver] = {}
        self._bonds_made = 0
        self._pushes: list[Push] = []
        self._callbacks: list[Callable[[Contact, str], None]] = []
        self._recordings: list[Recording] = []
        self._touching: dict[tuple[str, str], Contact] = {}
        self._worst: dict[str, float] = {"residual": 0.0, "joint_residual": 0.0, "penetration": 0.0}
        self.missed: list[tuple[float, float]] = []
        self.missed_count = 0
        self._refresh()
        for told in world.bonds:
            self.bond(*told)

    # ---- state ------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return self._steps * self.dt

    @property
    def state(self) -> State:
        """A copy of q, v and the time."""
        return State(self._q.copy(), self._v.copy(), self.time)

    def set_state(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Put the world into a configuration, at rest unless velocities are given; contacts are forgotten."""
        q, v = self.model.check_configuration(q), np.zeros_like(self._v) if v is None else self.model.check_velocity("v", v)
        self._q[:], self._v[:] = q, v
        self._memory.count[0] = 0
        self._target["saturated"], self._target["slides"] = 0, 0
        self._target["doing"] = np.minimum(self._target["doing"], 0)
        self._refresh()

    def save(self) -> Saved:
        """Everything the next step reads."""
        count = self._memory.count[0]
        points, touch = self._room.points[:count].copy(), self._memory.touch[:count].copy()
        names = tuple(self.model.links)
        target, bond, pushes = self._target.copy(), self._memory.bond.copy(), tuple(self._pushes)
        return Saved(self._q.copy(), self._v.copy(), self._steps, points, touch, target, bond, pushes, dict(self._worst), names)

    def restore(self, saved: Saved) -> None:
        """Go back to a saved moment; the run from there is the same to the last bit on the same machine."""
        if not isinstance(saved, Saved):
            raise ModelError(f"saved state is {type(saved).__name__}; expected what Simulator.save returned")
        if saved.names != tuple(self.model.links) or saved.q.shape != self._q.shape:
            raise ModelError(f"saved state is of a world of {_listed(saved.names)}; expected this one of {_listed(self.model.links)}")
        self._q[:], self._v[:], self._steps = saved.q, saved.v, saved.steps
        if len(saved.touch) > self._points:
            self._grow(len(saved.touch), self._blocks)
        self._room.points[: len(saved.points)], self._memory.touch[: len(saved.touch)] = saved.points, saved.touch
        self._memory.count[0] = len(saved.touch)
        self._memory = self._memory._replace(bond=saved.bond.copy())
        self._target[:] = saved.target
        self._pushes = list(saved.pushes)
        self._worst = dict(saved.worst)
        for driver in self._drivers.values():
            driver.last = None
        self._refresh()

    # ---- what acts --------------------------------------------------------------------------

    def set_controller(self, robot: Robot, controller: Controller, rate: float | None = None) -> None:
        """Let a controller drive a robot.

        Args:
            controller: function (time [s], Measurement) → Command.
            rate: how often it is asked [Hz]; every step unless given.
        """
        motors.check_robot(self.world, robot)
        if not callable(controller):
            raise ModelError(f"controller of {robot.name} is {controller!r}; expected a function (time, measurement) → command")
        every = motors.steps_between(rate, self.dt, f"the controller of {robot.name}")
        self._drivers[robot.name] = Driver(robot, controller, every, motors.joints(self.world, self.model, robot), motors.freedoms(robot))

    def apply_force(
        self,
        body: Body | Foot | str,
        force: ArrayLike = (0.0, 0.0, 0.0),
        duration: float | None = None,
        torque: ArrayLike = (0.0, 0.0, 0.0),
        point: ArrayLike = (0.0, 0.0, 0.0),
        at: float | None = None,
    ) -> None:
        """Push a body from now on, or from a later time.

        Args:
            force, torque: in the world's axes [N, N·m].
            duration: how long [s]; one step unless given. A part of a step is that part of the force over the whole step.
            point: where the force acts, in the body's frame [m].
            at: when it begins [s since the start]; now unless given, or where that is past.
        """
        begins = self._steps if at is None else max(self._steps, motors.step_at(at, self.dt))
        self._pushes.append(motors.push(self._link(body), force, torque, point, duration, self.dt, begins))

    def bond(self, kind: str, a: Body | str, b: Body | str, point: ArrayLike | None = None, axis: ArrayLike | None = None) -> Bond:
        """Hold two bodies together as they are now, until the bond is released; they do not collide with each other meanwhile.

        Args:
            kind: "weld", "ball" or "hinge". a, b: bodies; ``world.fixed`` is what does not move.
            point: where [m], in the world; the origin of a unless given. axis: of a hinge, in the world.
        """
        if self._law[0] != laws.COULOMB:
            raise ModelError(f"contact={self._law[0]!r} does not know bonds; take 'coulomb'")
        return bonds.make(self, kind, a, b, point, axis)

    def on_contact(self, callback: Callable[[Contact, str], None]) -> None:
        """Call ``callback(contact, "begins" or "ends")`` when two bodies begin or cease to press on each other."""
        if not callable(callback):
            raise ModelError(f"callback for contacts is {callback!r}; expected a function (contact, kind)")
        if not self._callbacks:
            self._touching = self._pressing()
        self._callbacks.append(callback)

    def record(self, path: str | Path, rate: float | None = None, scene: str = "", meta: Mapping[str, Any] | None = None) -> Recording:
        """Write the run into an HDF5 file from now on, ``rate`` [Hz] times a second or every step, until it is closed: see ``Recording``."""
        return Recording(path, self, rate, scene, meta)

    # ---- time -------------------------------------------------------------------------------

    def step(self) -> None:
        """Advance by one step."""
        self._advance(1)

    def run(self, duration: float) -> None:
        """Advance by so many seconds; an interrupt leaves the last whole step."""
        if not 0 <= real("duration", duration) < np.inf:
            raise ModelError(f"duration is {duration}; expected a number of seconds ≥ 0")
        end = self._steps + round(duration / self.dt)
        while self._steps < end:
            # the last one by itself, for the balance of energy
            self._advance(min(end - self._steps - 1, CHUNK) or 1)

    def _advance(self, count: int) -> None:
        """Up to ``count`` steps, as many as need nobody between them."""
        try:
            for driver in self._drivers.values():
                if self._steps % driver.every == 0:
                    self._ask(driver)
                count = min(count, driver.every - self._steps % driver.every)
            self._push()
            self._march(1 if self._pushes or self._callbacks else min([count, *(r.every - self._steps % r.every for r in self._recordings)]))
        except BaseException:
            rest(self._recordings)
            raise

    def _march(self, count: int) -> None:
        self._before[0][:], self._before[1][:] = self._q, self._v
        while count > 0:
            if self.scheme == "event-driven":
                done, status = events.advance(self)
            else:
                world, state = self._scene, (self._q, self._v, self._target, arrays.NO_PROGRAM)
                done, status = stepping.march(world, *state, self.dt, self.tolerance, self._memory, self._room, count)
            self._steps, count = self._steps + done, count - done
            if done:
                self._note()
            if status == stepping.ROOM:
                self._grow()
            elif status != stepping.FINE:
                self._stop(status)
        take(self._recordings)

    # ---- what is seen -----------------------------------------------------------------------

    @property
    def contacts(self) -> list[Contact]:
        """The points within reach of each other after the last step, with their forces."""
        return observation.contacts(self.model, self._scene, self._room, self._memory, self.dt)

    def pose(self, body: Body | Foot | str) -> Transform:
        """Where a body, foot, frame or sensor is."""
        return observation.pose(self.model, self._room.dynamics, self._link(body))

    def position(self, body: Body | Foot | str) -> Array:
        """Origin of a body in the world [m]."""
        return self.pose(body).p

    def velocity(self, body: Body | Foot | str) -> Twist:
        """Velocity of a body's origin, and angular, in the world's axes."""
        return observation.velocity(self.model, self._room.dynamics, self._link(body))

    def foot_wrench(self, foot: Foot | str) -> Wrench:
        """Force and torque of all contacts on a foot's body, about the foot's origin, in the world's axes."""
        return observation.wrench(self.contacts, self._link(foot), self.pose(foot).p)

    def centre_of_pressure(self, foot: Foot | str) -> Array | None:
        """Where the foot's contact forces act in its plane, in the foot's frame [m], shape (2,); None without a load."""
        return observation.centre_of_pressure(self.foot_wrench(foot), self.pose(foot))

    def zmp(self, robot: Robot) -> Array | None:
        """Zero moment point of all contact forces on a robot, on the ground [m], shape (2,); None without a load."""
        motors.check_robot(self.world, robot)
        return observation.zero_moment_point(self.contacts, {self._link(body).body for body in robot.bodies})

    @property
    def certificate(self) -> Certificate:
        """How well the last step's forces obey the law, recomputed from the problem alone, and the worst of the run."""
        return observation.certificate(self)

    @property
    def energy(self) -> observation.Energy:
        """Kinetic and potential energy [J]."""
        return observation.energy(self.model, self._q, self._v)

    @property
    def balance(self) -> observation.Balance:
        """Where the energy of the last step went."""
        return observation.balance(self)

    def fallen(self, robot: Robot, height: float = 0.4) -> bool:
        """Whether a robot's base is below a height above the ground [m]."""
        motors.check_robot(self.world, robot)
        return bool(self.position(robot.base)[2] - self.world.ground_height < height)

    def problem(self) -> BodyProblem | None:
        """The contact problem of the last step, all groups together; None without contacts."""
        return observation.problem(self._room)

    def export_problem(self, path: str | Path) -> None:
        """Write the last step's contact problem in FCLib form (.hdf5 or .npz)."""
        p = self.problem()
        if p is None:
            raise SimulationError(f"no contact at {self.time:g} s; expected at least one for a problem file")
        if (p.mu < 0).any():
            raise SimulationError(
                f"bodies are bonded, or surfaces resist turning, at {self.time:g} s, and such files know contacts only; do without them"
            )
        ours = np.arange(len(p.q)).reshape(-1, 3)[:, [2, 0, 1]].ravel()
        W = sparse(p)[ours][:, ours]
        write(path, W, p.q[ours], p.mu, f"tabi, {self.time:g} s", f"contact problem of a step of {self.dt:g} s")

    # ---- inside -----------------------------------------------------------------------------

    def _link(self, body: Body | Foot | str) -> Link:
        return motors.link_of(self.world, self.model, body)

    def _refresh(self) -> None:
        free.prepare(self.model.arrays, self._q, self._v, self._room.dynamics)

    def _grow(self, points: int | None = None, blocks: int | None = None) -> None:
        """More memory than expected: half as much again as the step asked for."""
        report = self._room.report[0]
        points = int(report["points"]) if points is None else points
        blocks = int(report["blocks"]) if blocks is None else blocks
        self._points, self._blocks = (
            max(have, want + want // 2) if want > have else have for have, want in ((self._points, points), (self._blocks, blocks))
        )
        room, memory = self._space(), arrays.memory(self._points, self._memory.bond)
        count = self._memory.count[0]
        memory.touch[:count], memory.count[0] = self._memory.touch[:count], count
        room.force[:] = self._room.force
        self._room, self._memory = room, memory
        self._refresh()

    def _space(self) -> arrays.Room:
        older = laws.memory(*self._law, self._points, self.model.body_count + 1)
        return arrays.room(self.model, self._scene.shapes, self._points, self._blocks, older)

    def _ask(self, driver: Driver) -> None:
        measurement = observation.measure(self, driver.robot, driver.rows)
        try:
            command = driver.controller(self.time, measurement)
        except Exception as e:
            raise SimulationError(f"controller of {driver.robot.name} raised {type(e).__name__} at {self.time:g} s: {e}; the run stops there") from e
        # the same object again is the same command
        if command is None or command is not driver.last:
            motors.follow(driver.robot, driver.rows, command, self._target, self.time, driver.names)
            driver.last = command

    def _push(self) -> None:
        """Sum up what pushes now."""
        room, self._pushes = self._room, [p for p in self._pushes if p.until > self._steps]
        if room.force[0, 0] != 0.0 or self._pushes:
            room.force[:] = 0.0
        motors.sum_pushes(self.model, self._pushes, self._steps, room)

    def _stop(self, status: int) -> None:
        """A step that cannot be: back to the last good state, with its problem on disk, and say so."""
        if not (np.isfinite(self._q).all() and np.isfinite(self._v).all()):
            self._q[:], self._v[:] = self._before
        self._refresh()
        if status == stepping.SINGULAR:
            raise SimulationError(f"a joint has no inertia at {self.time:g} s; check masses and armatures that were changed during the run")
        path = Path(f"tabi-problem-{clock.strftime('%Y%m%d-%H%M%S')}.npz")
        try:
            self.export_problem(path)
            kept = f"the contact problem is in {path}"
        except Exception:
            kept = "no contact was involved" if self.problem() is None else "its contact problem could not be written"
        raise SimulationError(f"velocities are not finite or absurd after {self.time:g} s; the state is that of the step before, {kept}")

    def _pressing(self) -> dict[tuple[str, str], Contact]:
        """Of each two bodies that press on each other, one contact."""
        return {(c.body_a.name, c.body_b.name): c for c in self.contacts if c.pressing}

    def _note(self) -> None:
        """Remember the worst of the run, and tell who wants to know of contacts."""
        report = self._room.report[0]
        for name in ("residual", "joint_residual"):
            self._worst[name] = max(self._worst[name], float(report[f"worst_{name}"]))
        self._worst["penetration"] = max(self._worst["penetration"], -float(report["worst_gap"]))
        if report["missed"]:
            self.missed_count += 1
            if len(self.missed) < 1000:
                self.missed.append((self.time, max(float(report["residual"]), float(report["joint_residual"]))))
        if self._callbacks:
            now = self._pressing()
            for pair, kind, table in (
                *((p, "begins", now) for p in now if p not in self._touching),
                *((p, "ends", self._touching) for p in self._touching if p not in now),
            ):
                for callback in self._callbacks:
                    callback(table[pair], kind)
            self._touching = now


def _listed(names: Iterable[str]) -> str:
    return ", ".join(list(names)[:6])

"""A world in motion: controllers, pushes, time, and what a person asks about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import SimulationError
from tabi.model import lookup
from tabi.model.body import Body, Foot
from tabi.model.controllers.rates import steps_between
from tabi.model.controllers.signals import ControlLaw, Measurement
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.observation.contacts import Contact
from tabi.observation.held import HeldSteps, twin_of
from tabi.observation.linearisation import Linearisation, linearise
from tabi.recording.writer import RecordingWriter
from tabi.simulation import ahead, bonds, callbacks, faults, pushes, tracking
from tabi.simulation.bonds import Bond
from tabi.simulation.callbacks import ContactWatch, Scheduled
from tabi.simulation.pushes import Push
from tabi.simulation.stateful import Stateful
from tabi.step import events, laws, settings
from tabi.step.budget import DEFAULT, Budget, budget_of
from tabi.step.commands.driver import Driver, steps_alone, write_gains
from tabi.step.commands.target_ranges import TargetRanges
from tabi.step.data import Data
from tabi.step.sensors.tables import checked_seed
from tabi.step.status import DROPPED, FINE, MISLED
from tabi.step.step import step_on
from tabi.step.stepper import Stepper, larger
from tabi.step.tables import NO_PROGRAM

__all__ = ["SimulationError", "Simulator"]

Array = NDArray[np.float64]
# steps between two looks at the keyboard
CHUNK = 1000
# missed steps that are kept
MISSED = 1000


class Simulator(Stateful):
    """A world that moves.

    Args:
        world: what there is; later changes of it are not seen.
        dt: the step [s].
        contact: the law of contact: "coulomb", or for comparison "pyramid" and "frictionless";
            or one of your own (see ``tabi.step.parts``).
        tolerance: backward error every contact has to reach [m/s].
        scheme: "time-stepping", or "event-driven": impacts with restitution happen where they do
            within a step.
        facets: sides of the pyramid.
        budget: most work of the solver in a step, looks at contacts; one that needs more counts as
            missed, with its true error. None for no limit; ``tabi.Budget`` also limits time.
        seed: of the sensors' noise; of one of many worlds: (seed, its number).
        order: 1, or 2: steps whose error goes with the square of dt, where nothing hits.
        own: forces=…, rows=…: forces and kinds of rows of your own, beside those of every step.

    Attributes:
        model: the compiled world; its parameters may be changed between steps.
        data: state, command, memory and outcome, for everybody to read.
        missed: steps whose contacts did not reach the tolerance: (time [s], backward error [m/s]),
            the first thousand.
    """

    def __init__(
        self,
        world: World,
        dt: float = 1e-3,
        contact: Any = laws.COULOMB,
        tolerance: float = 1e-8,
        scheme: str = settings.TIME_STEPPING,
        facets: int = 8,
        budget: int | Budget | None = DEFAULT,
        seed: int | tuple[int, int] = 0,
        order: int = 1,
        **own: Unpack[settings.OwnParts],
    ) -> None:
        self._more = settings.own_parts(own)
        settings.check(world, dt, tolerance, scheme)
        allowed, drawn = budget_of(budget), checked_seed(seed)
        ahead.start()
        model = world.compile()
        self.scheme, self._law = scheme, laws.named(contact, facets, model, float(dt))
        settings.check_soft(scheme, self._law)
        self.order = settings.checked_order(order, scheme, self._law, self._more)
        step = step_on(self._law, *self._more, self.order)
        stepper = Stepper(model, step, allowed, dt=float(dt), seed=drawn)
        super().__init__(world, stepper, float(tolerance))
        self._soft = len(stepper.data.memory.sole) > 0
        self._twin: Stepper | None = None
        for loop in [loop for robot in world.robots for loop in robot.bonds]:
            links = (self._link(loop.a), self._link(loop.b or world.fixed))
            bonds.close(self._stepper, self.data, loop, links)
        for told in world.bonds:
            self.bond(*told)
        self._first = self.save()

    # ---- what acts --------------------------------------------------------------------------

    def set_controller(
        self,
        robot: Robot | str,
        controller: ControlLaw,
        rate: float | None = None,
        truth: bool = False,
        clip: bool = False,
    ) -> None:
        """Let a controller drive a robot, in place of the one that did.

        Args:
            controller: function (time [s], Measurement) → Command.
            rate: how often it is asked [Hz]; every step unless given.
            truth: let it see what no sensor tells: pose and velocity of the base, forces on feet.
            clip: move positions that it commands into the ranges of their joints, as MuJoCo does;
                unless given, each joint commanded beyond its range is reported once.
        """
        robot = self._robot(robot)
        every = steps_between(rate, self.dt, f"the controller of {robot.name}")
        rows, names = lookup.joint_rows(self.model, robot), lookup.freedoms(robot)
        dof = self.model.arrays.dof[rows]
        ranges = TargetRanges(robot, names, dof["lower"], dof["upper"], clip)
        self._drivers[robot.name] = Driver(robot, controller, every, rows, names, ranges, truth)
        self._stepper.bind(self._drivers.values(), self.senses_of, self.scheme)

    @property
    def drivers(self) -> Mapping[str, Driver]:
        """Controllers by the names of their robots."""
        return self._drivers

    def set_gains(self, kp: ArrayLike, kd: ArrayLike) -> None:
        """Gains of the motors' loops, of each degree of freedom, until a command tells others.

        Args:
            kp, kd: numbers ≥ 0, shape (v_count,) [N·m/rad or N/m, N·m·s/rad or N·s/m].
        """
        # after a reset too
        for data in (self._stepper.data, self._first.data):
            write_gains(self.model, data.command.motor, kp, kd)

    def prescribe(self, joints: tracking.Joints, on: bool = True, by: str = "position") -> None:
        """Let joints move exactly as they are commanded, whatever that takes: see ``tracking``.

        Args:
            joints: a robot, a joint, the name of one, or several joints.
            on: False gives them back to their motors' loops.
            by: "position": at the end of a step a joint is where it was told; "velocity".
        """
        changed = tracking.chosen(self.world, self.model, joints)
        for data in (self._stepper.data, self._first.data):
            tracking.switch(self.model, data, changed, on, by)

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
            duration: how long [s]; a single step unless given, for loops that push in every step.
                A part of a step is that part of the force over the whole step.
            point: where the force acts, in the body's frame [m].
            at: when it begins [s since the start]; now unless given, or where that is past.
        """
        now = self.data.steps
        begins = now if at is None else max(now, pushes.step_at(at, self.dt))
        vectors = (force, torque, point)
        self._pushes.append(pushes.push(self._link(body), vectors, duration, self.dt, begins))

    @property
    def pushes(self) -> tuple[Push, ...]:
        """What pushes now, or will."""
        return tuple(self._pushes)

    def bond(
        self,
        kind: str,
        a: Body | str,
        b: Body | str,
        point: ArrayLike | None = None,
        axis: ArrayLike | None = None,
    ) -> Bond:
        """Hold two bodies together as they are now, until the bond is released.

        They do not collide with each other meanwhile.

        Args:
            kind: "weld", "ball" or "hinge". a, b: bodies; ``world.fixed`` is what does not move.
            point: where [m], in the world; the origin of a unless given.
            axis: of a hinge, in the world.
        """
        links = (self._link(a), self._link(b))
        return bonds.make(self._stepper, self.data, kind, links, point, axis)

    def every(
        self,
        steps: int,
        callback: Callable[[Data], Any],
        stopped: Callable[[], Any] | None = None,
        jump: callbacks.Jump | None = None,
    ) -> Scheduled:
        """Call ``callback(sim.data)`` after every so many steps, until the result is cancelled.

        Args:
            stopped: called where a run ends with an error or an interrupt.
            jump: context manager around a "reset", "restore" or "set_state", called with that.
        """
        return callbacks.schedule(self._scheduled, steps, callback, stopped, jump)

    def on_contact(self, callback: Callable[[Contact, str], None]) -> Scheduled:
        """Call ``callback(contact, "begins" or "ends")`` when two bodies begin or end to press."""
        return self.every(1, ContactWatch(self.data, callback))

    def record(
        self,
        path: str | Path,
        rate: float | None = None,
        scene: str = "",
        meta: Mapping[str, Any] | None = None,
    ) -> RecordingWriter:
        """Write the run into an HDF5 file (.h5), until it is closed: see ``RecordingWriter``.

        Args:
            rate: rows a second of simulated time [Hz]; every step unless given.
        """
        return RecordingWriter(path, self, rate, scene, meta)

    # ---- time -------------------------------------------------------------------------------

    def step(self, ask: bool = True) -> None:
        """Advance by one step; without asking controllers the commands stay as they are."""
        if ask is not True and ask is not False:
            settings.check_single(ask)
        self._advance(1, ask=ask)

    def run(self, duration: float) -> None:
        """Advance by so many seconds; an interrupt leaves the last whole step."""
        end = self.data.steps + round(settings.checked_duration(duration) / self.dt)
        self._briefly = self._briefly or faults.warn_brief(self._pushes, self.data, end)
        while self.data.steps < end:
            self._advance(min(end - self.data.steps, CHUNK))

    def rollout(self, steps: int, program: ArrayLike | None = None) -> tuple[int, float]:
        """Advance by so many steps in one compiled loop, without asking controllers.

        Args:
            program: position, velocity and effort of every degree of freedom's motor in each step,
                shape (steps, v_count, 3); without it commands stay as they are.

        Returns:
            steps that were missed, and the worst backward error [m/s].
        """
        told = settings.checked_program(steps, program, self.model.v_count)
        stepper = self._stepper
        first, missed = stepper.steps, stepper.missed_count
        before, stepper.worst = stepper.worst, dict.fromkeys(stepper.worst, 0.0)
        try:
            while (done := stepper.steps - first) < steps:
                self._advance(steps - done, told[done:], ask=False)
            return stepper.missed_count - missed, stepper.worst["residual"]
        finally:
            now = stepper.worst
            stepper.worst = {name: larger(x, now[name]) for name, x in before.items()}

    def _advance(self, count: int, program: Array = NO_PROGRAM, ask: bool = True) -> None:
        """Up to ``count`` steps, as many as need nobody between them."""
        stepper, now = self._stepper, self._stepper.steps
        robots, objects, fixed = self._lists
        if len(robots) + len(objects) + len(fixed) != self._size:
            self._warn_late()
        self._turns.begin()
        try:
            if ask and self._drivers:
                self.ask_controllers(within=True)
                count = steps_alone(self._drivers.values(), now, count)
            if stepper.pilots.some:
                stepper.pilots.prepare(now, now * self.dt, ask)
            if self._pushes or stepper.data.command.pushed[0]:
                self._write_pushes(stepper)
                count = pushes.steps_alone(self._pushes, now, count)
            for one in self._scheduled:
                count = min(count, one.steps - now % one.steps)
            self._roll(count, program)
            for one in tuple(self._scheduled):
                if stepper.steps % one.steps == 0:
                    one.callback(self.data)
        except BaseException:
            for one in list(self._scheduled):
                if one.stopped is not None:
                    one.stopped()
            raise
        finally:
            self._turns.end()

    def _write_pushes(self, stepper: Stepper) -> None:
        """What pushes in the step that begins, to where the bodies of a stepper are."""
        now = self._stepper.steps
        self._pushes = [p for p in self._pushes if p.until > now]
        body = stepper.workspace.dynamics.body
        pushes.write_wrenches(self.model, self._pushes, now, body, stepper.data.command)

    def _roll(self, count: int, program: Array) -> None:
        stepper, dt, tolerance = self._stepper, self.data.dt, self.data.tolerance
        while count > 0:
            if self.scheme == settings.EVENT_DRIVEN:
                done, status = events.advance(stepper, dt, tolerance)
            else:
                # the first step alone: what starts inside of something is said
                many = count if self._looked else 1
                done, status = stepper.rollout(dt, tolerance, many, program)
            stepper.steps, count = stepper.steps + done, count - done
            program = program[done:] if count > 0 else program
            if done and not self._looked:
                self._looked = faults.warn_inside(self.data) and faults.warn_apart(self.data)
                for driver in self._drivers.values():
                    driver.check_targets(stepper.data.command.motor, self.time)
            if self._soft:
                self._soft = faults.small_sink(self.data)
            if done and stepper.note():
                if len(self.missed) < MISSED:
                    self.missed.append((self.time, faults.error_of(self.data)))
                if not self._warned:
                    self._warned = True
                    faults.warn(self.data)
            if status in (DROPPED, MISLED):
                raise stepper.fault(status, self.time)
            if status != FINE:
                self._stop(status)

    def ask_controllers(
        self,
        step: int | None = None,
        seen: Callable[[Robot, Measurement], Measurement] | None = None,
        within: bool = False,
    ) -> bool:
        """Ask the controllers that are due, and command what they say.

        Args:
            step: the step that begins; the next one unless given.
            seen: what is measured of a robot, as its controller should see it.
            within: only those that are not asked in the compiled loop.

        Returns:
            whether one of them said something new.
        """
        now, new = self.data.steps if step is None else step, False
        for driver in self._drivers.values():
            if now % driver.every == 0 and not (within and driver.compiled):
                time, measured = now * self.dt, self.measure(driver.robot, driver.truth)
                measured = seen(driver.robot, measured) if seen else measured
                command = driver.ask(time, measured)
                # the same object again is the same command
                if command is None or command is not driver.last:
                    driver.write(command, self._stepper.data.command.motor, time)
                    driver.last, new = command, True
        return new

    def linearise(self, margin: float = 1e-6) -> Linearisation:
        """The next step for small changes of the state and of what motors are told: δx⁺ = A δx +
        B δu, with what contacts, motors and joints do held. Nothing moves.

        Controllers are not asked: motors hold what they were told last.

        Args:
            margin: contacts nearer to another mode than this [m/s] are told.
        """
        settings.check_linear(self.order, self.scheme, self._law, margin)
        if self._pushes or self._stepper.data.command.pushed[0]:
            self._write_pushes(self._stepper)
        spans = lookup.joint_spans(self.world, self.model)
        if self._twin is None:
            self._twin = twin_of(self._stepper, self._more)
        push = self._write_pushes if self._pushes else None
        with self._turns.changing():
            steps = HeldSteps(self._stepper, self._twin, self.tolerance, push)
        return linearise(steps, spans, margin)

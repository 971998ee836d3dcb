"""Actions on a simulation: controllers, gains, pushes, bonds, and callbacks between steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from tabi.model import lookup
from tabi.model.body import Body, Foot
from tabi.model.controllers.rates import steps_between
from tabi.model.controllers.signals import ControlLaw
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.observation.contacts import Contact
from tabi.observation.names import Names
from tabi.observation.observation import Observation
from tabi.simulation import bonds, callbacks, pushes, tracking
from tabi.simulation.bonds import Bond
from tabi.simulation.callbacks import ContactWatch, Scheduled
from tabi.simulation.moments import Moments
from tabi.simulation.running import Running
from tabi.step.commands.driver import Driver, write_gains
from tabi.step.commands.target_ranges import TargetRanges
from tabi.step.data import Data


class Acting:
    """Controllers, gains, pushes, bonds and callbacks, in effect from the next step on.

    Examples:
        >>> sim.apply_force("chest", (60.0, 0.0, 0.0), duration=0.1)
    """

    def __init__(
        self, world: World, running: Running, moments: Moments, names: Names, seen: Observation
    ) -> None:
        self._world, self._running, self._moments = world, running, moments
        self._names, self._seen = names, seen
        self._data, self._stepper, self._model = running.data, running.stepper, running.data.model
        # bonds of robots, and of the world
        for loop in [loop for robot in world.robots for loop in robot.bonds]:
            links = (names.link(loop.a), names.link(loop.b or world.fixed))
            bonds.close(self._stepper, self._data, loop, links)
        for arguments in world.bonds:
            self.bond(*arguments)

    def set_controller(
        self,
        robot: Robot | str,
        controller: ControlLaw,
        rate: float | None = None,
        truth: bool = False,
        clip: bool = False,
    ) -> None:
        """Set the controller of a robot, in place of its last one.

        Args:
            controller: function (time [s], Measurement) → Command.
            rate: at which it is called [Hz]; default: every step.
            truth: whether its measurements include the truth, which no sensor measures: pose and
                velocity of the base, forces on feet.
            clip: clip commanded positions to the ranges of their joints, as MuJoCo does; default:
                each joint commanded beyond its range is reported once.
        """
        robot = self._names.robot(robot)
        every = steps_between(rate, self._data.dt, f"the controller of {robot.name}")
        rows, names = lookup.joint_rows(self._model, robot), lookup.freedoms(robot)
        dof = self._model.arrays.dof[rows]
        ranges = TargetRanges(robot, names, dof["lower"], dof["upper"], clip)
        drivers = self._running.drivers
        drivers[robot.name] = Driver(robot, controller, every, rows, names, ranges, truth)
        self._stepper.bind(drivers.values(), self._seen.measurement_source, self._running.scheme)

    def set_gains(self, kp: ArrayLike, kd: ArrayLike) -> None:
        """Set gains of the motors' loops, of each degree of freedom, until a command changes them.

        Args:
            kp, kd: numbers ≥ 0, shape (v_count,) [N·m/rad or N/m, N·m·s/rad or N·s/m].
        """
        # after a reset too
        for data in (self._stepper.data, self._moments.first.data):
            write_gains(self._model, data.command.motor, kp, kd)

    def prescribe(self, joints: tracking.Joints, on: bool = True, by: str = "position") -> None:
        """Let joints move exactly as commanded, whatever the effort: see ``tracking``.

        Args:
            joints: a robot, a joint, the name of one, or several joints.
            on: False returns them to their motors' loops.
            by: "position": a joint reaches its commanded position at the end of a step; or
                "velocity".
        """
        changed = tracking.joints_to_prescribe(self._world, self._model, joints)
        for data in (self._stepper.data, self._moments.first.data):
            tracking.set_prescribed(self._model, data, changed, on, by)

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
            duration: of the push [s]; default: a single step, for loops that push in every step.
                A part of a step is that part of the force over the whole step.
            point: where the force acts, in the body's frame [m].
            at: when it begins [s since the start]; default: now, also where that is past.
        """
        now = self._data.steps
        begins = now if at is None else max(now, pushes.step_at(at, self._data.dt))
        vectors = (force, torque, point)
        self._running.pushes.append(
            pushes.push(self._names.link(body), vectors, duration, self._data.dt, begins)
        )

    def bond(
        self,
        kind: str,
        a: Body | str,
        b: Body | str,
        point: ArrayLike | None = None,
        axis: ArrayLike | None = None,
    ) -> Bond:
        """Bond two bodies in their present relative pose, until the bond is released.

        They do not collide with each other meanwhile.

        Args:
            kind: "weld", "ball" or "hinge". a, b: bodies; ``world.fixed`` is the fixed one.
            point: anchor in the world [m]; default: the origin of a.
            axis: of a hinge, in the world.
        """
        links = (self._names.link(a), self._names.link(b))
        return bonds.make(self._stepper, self._data, kind, links, point, axis)

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
        return callbacks.schedule(self._running.scheduled, steps, callback, stopped, jump)

    def on_contact(self, callback: Callable[[Contact, str], None]) -> Scheduled:
        """Call ``callback(contact, "begins" or "ends")`` when two bodies begin or end to press."""
        return self.every(1, ContactWatch(self._data, callback))

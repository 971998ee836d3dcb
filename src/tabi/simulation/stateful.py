"""A simulation put into states: the first one again, any other, and moments to go back to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tabi._errors import ModelError
from tabi.dynamics.configuration import Configuration
from tabi.dynamics.quantities import Thing
from tabi.model import lookup
from tabi.model.controllers import controller
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.simulation import faults, standing
from tabi.simulation.callbacks import Scheduled, jumping
from tabi.simulation.observed import Observed
from tabi.simulation.pushes import Push
from tabi.simulation.standing import StoodUp
from tabi.simulation.state import Saved
from tabi.step.commands.driver import Driver
from tabi.step.data import Data
from tabi.step.stepper import WORST, Stepper


class Stateful(Observed):
    """A world whose state can be set.

    Attributes:
        missed: steps whose contacts did not reach the tolerance: (time [s], backward error [m/s]),
            the first thousand.
    """

    def __init__(self, world: World, stepper: Stepper, tolerance: float) -> None:
        self._stepper = stepper
        super().__init__(world, stepper.model, Data(stepper, stepper.dt, tolerance))
        self._drivers: dict[str, Driver] = {}
        self._pushes: list[Push] = []
        self._scheduled: list[Scheduled] = []
        self.missed: list[tuple[float, float]] = []
        # whether a missed step was reported, the first one was looked at, and a push was reported
        # that lasts one step
        self._warned, self._looked, self._briefly = False, False, False
        self._first = self.save()

    @property
    def reproducible(self) -> bool:
        """Whether a rerun is the same to the last bit: not with a budget of time, nor with a
        controller that says it is not.
        """
        drivers = self._drivers.values()
        return self.data.reproducible and all(
            controller.reproducible(driver.controller) for driver in drivers
        )

    @property
    def unresolved_count(self) -> int:
        """Steps of the event-driven scheme with more impacts than the budget lets be found one by
        one: the rest of such a step is done by time stepping.
        """
        return self._stepper.unresolved_count

    def reset(self) -> None:
        """Back to the start: time, configuration, contacts, bonds, and the noise of sensors; the
        run from there is the same to the last bit.

        Controllers stay, and those with a method ``reset`` are told; so do gains, joints that are
        prescribed, callbacks, and parameters of the model. Pushes that were planned are dropped.
        """
        self._turns.outside("a reset")
        with jumping(self._scheduled, "reset"):
            self._go_to(self._first)
            self._stepper.missed_count = self._stepper.unresolved_count = 0
            self._stepper.worst = dict.fromkeys(WORST, 0.0)
            self._stepper.foot_events.clear()
            self.missed.clear()
            self._warned = self._looked = False
        for driver in self._drivers.values():
            controller.reset(driver.controller)

    def set_state(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Put the world into a configuration, at rest unless velocities are given.

        Contacts and what motors and joints did are forgotten.
        """
        data = self._stepper.data
        q = self.model.check_configuration(q)
        v = np.zeros_like(data.v) if v is None else self.model.check_velocity("v", v)
        with jumping(self._scheduled, "set_state"), self._turns.changing():
            data.q[:], data.v[:] = q, v
            self._stepper.forget()
            self._stepper.prepare()
            self._stepper.begin_sensors()

    def set_joint(
        self,
        thing: Thing | str,
        position: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
    ) -> None:
        """Put one joint, or a robot or object with all its joints, elsewhere; joints that follow
        it go along. Contacts and what motors and joints did are forgotten.

        Args:
            thing: a joint, robot or object of the world, or a name.
            position: its part of q, ``q[q_slice(thing)]``: an angle [rad] or a distance [m]; of
                something that floats x, y, z and a quaternion w, x, y, z. As it is unless given.
            velocity: its part of v; none unless given.
        """
        name = self._name(thing)
        q, v = self.data.q.copy(), self.data.v.copy()
        if position is not None:
            _put(q, self.model.q_slice(name), position, f"position of {name!r}")
            self._check_radians(name, q)
        _put(
            v,
            self.model.v_slice(name),
            0.0 if velocity is None else velocity,
            f"velocity of {name!r}",
        )
        self.set_state(self.model.with_followers(q), self.model.with_follower_velocities(v))

    def _check_radians(self, name: str, q: np.ndarray) -> None:
        """Refuse the position of a joint in degrees."""
        for robot in self.world.robots:
            for own in robot.joint_names:
                if name == lookup.qualified(robot, own, self.model.joint_names):
                    robot.joint(own).check_radians(float(q[self.model.q_slice(name)][0]))

    def stand_up(self, robot: Robot | str, release: bool = False) -> StoodUp:
        """Put a robot that fell back on its feet: in the pose of the start, upright, at rest,
        facing as before, on free and level ground near where it lies. Its motors and its controller
        begin anew, if the latter has a method ``reset``; everything else stays as it is.

        Args:
            release: let go of what it holds by bonds; such a robot is refused unless given.

        Raises:
            ModelError: it is bolted down, holds something, or finds no place.
        """
        self._turns.outside("standing up")
        robot = self._robot(robot)
        moving = [body for one in self.world.robots for body in one.bodies] + self.world.objects
        now = {body: self.pose(body) for body in moving}
        first = Configuration(self.model, self._first.data.q)
        start = {body: first.pose(self._link(body).name) for body in robot.bodies}
        stood = standing.stand(self.world, robot, start, now, self.centre_of_mass(robot))
        stood = replace(stood, released=self._let_go(robot, release))
        q, v, mine = self.data.q.copy(), self.data.v.copy(), self.q_slice(robot)
        q[mine], v[self.v_slice(robot)] = self._first.data.q[mine], 0.0
        at = self.model.q_index(robot.name)
        X = robot.base.joint.placement.inverse() @ stood.base
        q[at : at + 3], q[at + 3 : at + 7] = X.p, X.quaternion
        self.set_state(q, v)
        rows = lookup.joint_rows(self.model, robot)
        first_motor = self._first.data.command.motor
        self._stepper.data.command.motor[rows] = first_motor[rows]
        if robot.name in self._drivers:
            driver = self._drivers[robot.name]
            driver.last = None
            controller.reset(driver.controller)
        return stood

    def _let_go(self, robot: Robot, release: bool) -> tuple[str, ...]:
        """Names of bodies that a robot held by bonds until now; refused unless it may let go."""
        names = {link.body: name for name, link in reversed(self.model.links.items())}
        own = {self._link(body).body for body in robot.bodies} - {0}
        bonds = self._stepper.own("bonds")
        # a bond within the robot closes a loop of it
        held = np.isin(bonds["a"], list(own)) != np.isin(bonds["b"], list(own))
        others = tuple(names[b if a in own else a] for a, b in bonds[["a", "b"]][held].tolist())
        if others and not release:
            raise ModelError(
                f"robot {robot.name!r} is bonded to {others[0]!r}; release the bond before it "
                "stands up, or take release=True"
            )
        if others:
            self._stepper.set_own("bonds", bonds[~held])
        return others

    def _stop(self, status: int) -> None:
        """A step that cannot be: back to the last good state, with its problem on disk."""
        data = self._stepper.data
        if not (np.isfinite(data.q).all() and np.isfinite(data.v).all()):
            data.q[:], data.v[:] = data.outcome.q_before, data.outcome.v_before
        self._stepper.prepare()
        faults.stop(self, status)

    def save(self) -> Saved:
        """Everything the next step reads, with the states of controllers that have a method
        ``save_state``.
        """
        stepper, names = self._stepper, tuple(self.model.links)
        worst, told = dict(stepper.worst), tuple(self._pushes)
        states = {
            robot: controller.save_state(driver.controller)
            for robot, driver in self._drivers.items()
        }
        return Saved(stepper.save(), stepper.steps, told, worst, names, states)

    def restore(self, saved: Saved) -> None:
        """Go back to a saved moment; the run from there is the same to the last bit, if controllers
        remember nothing, or give it away: their ``restore_state`` gets what their ``save_state``
        returned.
        """
        if not isinstance(saved, Saved):
            raise ModelError(
                f"saved state is {type(saved).__name__}; expected what Simulator.save returned"
            )
        saved.check(self.model.links, self._stepper.data)
        with jumping(self._scheduled, "restore"):
            self._go_to(saved)

    def _go_to(self, saved: Saved) -> None:
        """Take over a saved moment of this very world."""
        stepper, self._pushes = self._stepper, list(saved.pushes)
        with self._turns.changing():
            stepper.restore(saved.data)
            stepper.steps, stepper.worst = saved.steps, dict(saved.worst)
        for robot, driver in self._drivers.items():
            driver.last = None
            controller.restore_state(driver.controller, saved.controllers.get(robot))


def _put(out: np.ndarray, span: slice, value: ArrayLike, what: str) -> None:
    """Numbers into their places."""
    count = span.stop - span.start
    try:
        x = np.asarray(value, float)
    except (TypeError, ValueError):
        x = np.full(count + 1, np.nan)
    # one number for several stands for none of them but zero
    if x.shape != (count,) and not (x.ndim == 0 and (count == 1 or x == 0)):
        raise ModelError(f"{what} is {value!r}; expected {count} numbers")
    out[span] = x

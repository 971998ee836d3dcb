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
from tabi.observation.names import Names
from tabi.observation.observation import Observation
from tabi.simulation import standing
from tabi.simulation.callbacks import jumping
from tabi.simulation.running import Running
from tabi.simulation.standing import StoodUp
from tabi.simulation.state import Saved


class Moments:
    """Moments of a simulation that it can be put into.

    Attributes:
        first: the one that it started from.
    """

    def __init__(self, world: World, running: Running, names: Names, seen: Observation) -> None:
        self._world, self._running, self._names, self._seen = world, running, names, seen
        self._model, self._stepper = running.data.model, running.stepper
        self.first = self.save()

    def reset(self) -> None:
        """Back to the start: time, configuration, contacts, bonds, and the noise of sensors; the
        run from there is the same to the last bit.

        Controllers stay, and those with a method ``reset`` are told; so do gains, joints that are
        prescribed, callbacks, and parameters of the model. Pushes that were planned are dropped.
        """
        self._running.turns.outside("a reset")
        with jumping(self._running.scheduled, "reset"):
            self._go_to(self.first)
            self._running.begin_anew()
        for driver in self._running.drivers.values():
            controller.reset(driver.controller)

    def set_state(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Put the world into a configuration, at rest unless velocities are given.

        Contacts and what motors and joints did are forgotten.
        """
        data = self._stepper.data
        q = self._model.check_configuration(q)
        v = np.zeros_like(data.v) if v is None else self._model.check_velocity("v", v)
        with jumping(self._running.scheduled, "set_state"), self._running.turns.changing():
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
        name = self._names.name(thing)
        q, v = self._stepper.data.q.copy(), self._stepper.data.v.copy()
        if position is not None:
            _put(q, self._model.q_slice(name), position, f"position of {name!r}")
            self._check_radians(name, q)
        _put(
            v,
            self._model.v_slice(name),
            0.0 if velocity is None else velocity,
            f"velocity of {name!r}",
        )
        self.set_state(self._model.with_followers(q), self._model.with_follower_velocities(v))

    def _check_radians(self, name: str, q: np.ndarray) -> None:
        """Refuse the position of a joint in degrees."""
        for robot in self._world.robots:
            for own in robot.joint_names:
                if name == lookup.qualified(robot, own, self._model.joint_names):
                    robot.joint(own).check_radians(float(q[self._model.q_slice(name)][0]))

    def stand_up(self, robot: Robot | str, release: bool = False) -> StoodUp:
        """Put a robot that fell back on its feet: in the pose of the start, upright, at rest,
        facing as before, on free and level ground near where it lies. Its motors and its controller
        begin anew, if the latter has a method ``reset``; everything else stays as it is.

        Args:
            release: let go of what it holds by bonds; such a robot is refused unless given.

        Raises:
            ModelError: it is bolted down, holds something, or finds no place.
        """
        self._running.turns.outside("standing up")
        robot = self._names.robot(robot)
        moving = [body for one in self._world.robots for body in one.bodies] + self._world.objects
        now = {body: self._seen.pose(body) for body in moving}
        first = Configuration(self._model, self.first.data.q)
        start = {body: first.pose(self._names.link(body).name) for body in robot.bodies}
        mass_at = self._seen.robot(robot).centre_of_mass
        stood = standing.stand(self._world, robot, start, now, mass_at)
        stood = replace(stood, released=self._let_go(robot, release))
        q, v = self._stepper.data.q.copy(), self._stepper.data.v.copy()
        mine = self._model.q_slice(robot.name)
        q[mine], v[self._model.v_slice(robot.name)] = self.first.data.q[mine], 0.0
        at = self._model.q_index(robot.name)
        X = robot.base.joint.placement.inverse() @ stood.base
        q[at : at + 3], q[at + 3 : at + 7] = X.p, X.quaternion
        self.set_state(q, v)
        rows = lookup.joint_rows(self._model, robot)
        first_motor = self.first.data.command.motor
        self._stepper.data.command.motor[rows] = first_motor[rows]
        if robot.name in self._running.drivers:
            driver = self._running.drivers[robot.name]
            driver.last = None
            controller.reset(driver.controller)
        return stood

    def _let_go(self, robot: Robot, release: bool) -> tuple[str, ...]:
        """Names of bodies that a robot held by bonds until now; refused unless it may let go."""
        names = {link.body: name for name, link in reversed(self._model.links.items())}
        own = {self._names.link(body).body for body in robot.bodies} - {0}
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

    def save(self) -> Saved:
        """Everything the next step reads, with the states of controllers that have a method
        ``save_state``.
        """
        stepper, names = self._stepper, tuple(self._model.links)
        worst, told = dict(stepper.worst), tuple(self._running.pushes)
        states = {
            robot: controller.save_state(driver.controller)
            for robot, driver in self._running.drivers.items()
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
        saved.check(self._model.links, self._stepper.data)
        with jumping(self._running.scheduled, "restore"):
            self._go_to(saved)

    def _go_to(self, saved: Saved) -> None:
        """Take over a saved moment of this very world."""
        stepper, self._running.pushes = self._stepper, list(saved.pushes)
        with self._running.turns.changing():
            stepper.restore(saved.data)
            stepper.steps, stepper.worst = saved.steps, dict(saved.worst)
        for robot, driver in self._running.drivers.items():
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

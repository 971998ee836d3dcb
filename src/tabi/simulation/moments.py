"""States of a simulation: reset, setting a state, saving and restoring."""

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
    """Saved states of a simulation, and setting of its state.

    Attributes:
        first: the state that it started from.

    Examples:
        >>> start = sim.save()
        >>> sim.run(0.005)
        >>> sim.restore(start)
        >>> sim.time
        0.0
    """

    def __init__(self, world: World, running: Running, names: Names, seen: Observation) -> None:
        self._world, self._running, self._names, self._seen = world, running, names, seen
        self._model, self._stepper = running.data.model, running.stepper
        self.first = self.save()

    def reset(self) -> None:
        """Return to the start: time, configuration, contacts, bonds, and the noise of sensors; the
        run from there is the same to the last bit.

        Controllers stay, and those with a method ``reset`` are reset; gains, prescribed joints,
        callbacks, and parameters of the model stay, too. Pushes are dropped.
        """
        self._running.step_lock.reject_during_step("a reset")
        with jumping(self._running.scheduled, "reset"):
            self._restore(self.first)
            self._running.clear_counts()
        for driver in self._running.drivers.values():
            controller.reset(driver.controller)

    def set_state(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Set the configuration of the world, and its velocity; default: at rest.

        Contacts, and modes of motors and joints are reset.
        """
        data = self._stepper.data
        q = self._model.check_configuration(q)
        v = np.zeros_like(data.v) if v is None else self._model.check_velocity("v", v)
        with jumping(self._running.scheduled, "set_state"), self._running.step_lock.writing():
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
        """Set one joint, or a robot or object with all its joints; joints that follow it are moved
        along. Contacts, and modes of motors and joints are reset.

        Args:
            thing: a joint, robot or object of the world, or a name.
            position: its part of q, ``q[q_slice(thing)]``: an angle [rad] or a distance [m]; of
                a floating body x, y, z and a quaternion w, x, y, z. Default: unchanged.
            velocity: its part of v; default: at rest.
        """
        name = self._names.name(thing)
        q, v = self._stepper.data.q.copy(), self._stepper.data.v.copy()
        if position is not None:
            _assign(q, self._model.q_slice(name), position, f"position of {name!r}")
            self._check_radians(name, q)
        _assign(
            v,
            self._model.v_slice(name),
            0.0 if velocity is None else velocity,
            f"velocity of {name!r}",
        )
        self.set_state(self._model.with_followers(q), self._model.with_follower_velocities(v))

    def _check_radians(self, name: str, q: np.ndarray) -> None:
        """Reject the position of a joint in degrees."""
        for robot in self._world.robots:
            for joint in robot.joint_names:
                if name == lookup.qualified(robot, joint, self._model.joint_names):
                    robot.joint(joint).check_radians(float(q[self._model.q_slice(name)][0]))

    def stand_up(self, robot: Robot | str, release: bool = False) -> StoodUp:
        """Put a robot that fell back on its feet: in the pose of the start, upright, at rest,
        facing as before, on free and level ground near where it lies. Its motors are reset, and its
        controller, if it has a method ``reset``; everything else is unchanged.

        Args:
            release: release its bonds; default: reject a robot with bonds.

        Raises:
            ModelError: it is bolted down, has bonds, or there is no free place.
        """
        self._running.step_lock.reject_during_step("standing up")
        robot = self._names.robot(robot)
        moving = [
            body for other in self._world.robots for body in other.bodies
        ] + self._world.objects
        now = {body: self._seen.pose(body) for body in moving}
        first = Configuration(self._model, self.first.data.q)
        start = {body: first.pose(self._names.link(body).name) for body in robot.bodies}
        mass_at = self._seen.robot(robot).centre_of_mass
        stood = standing.stand(self._world, robot, start, now, mass_at)
        stood = replace(stood, released=self._release_bonds(robot, release))
        q, v = self._stepper.data.q.copy(), self._stepper.data.v.copy()
        q_rows = self._model.q_slice(robot.name)
        q[q_rows], v[self._model.v_slice(robot.name)] = self.first.data.q[q_rows], 0.0
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

    def _release_bonds(self, robot: Robot, release: bool) -> tuple[str, ...]:
        """Release the bonds of a robot, and return the names of bodies that it held; reject a robot
        with bonds without ``release``.
        """
        names = {link.body: name for name, link in reversed(self._model.links.items())}
        bodies = {self._names.link(body).body for body in robot.bodies} - {0}
        bonds = self._stepper.part_memory("bonds")
        # a bond within the robot closes a loop of it
        is_outer = np.isin(bonds["a"], list(bodies)) != np.isin(bonds["b"], list(bodies))
        released = tuple(
            names[b if a in bodies else a] for a, b in bonds[["a", "b"]][is_outer].tolist()
        )
        if released and not release:
            raise ModelError(
                f"robot {robot.name!r} is bonded to {released[0]!r}; release the bond before it "
                "stands up, or take release=True"
            )
        if released:
            self._stepper.set_part_memory("bonds", bonds[~is_outer])
        return released

    def save(self) -> Saved:
        """Save everything the next step reads, with the states of controllers that have a method
        ``save_state``.
        """
        stepper, names = self._stepper, tuple(self._model.links)
        worst, pushes = dict(stepper.worst), tuple(self._running.pushes)
        states = {
            robot: controller.save_state(driver.controller)
            for robot, driver in self._running.drivers.items()
        }
        return Saved(stepper.save(), stepper.steps, pushes, worst, names, states)

    def restore(self, saved: Saved) -> None:
        """Restore a saved state. A run from there is the same to the last bit, if its controllers
        have no state or save it: their ``restore_state`` is called with the result of their
        ``save_state``.
        """
        if not isinstance(saved, Saved):
            raise ModelError(
                f"saved state is {type(saved).__name__}; expected what Simulator.save returned"
            )
        saved.check(self._model.links, self._stepper.data)
        with jumping(self._running.scheduled, "restore"):
            self._restore(saved)

    def _restore(self, saved: Saved) -> None:
        """Restore a saved state of this world, without checks."""
        stepper, self._running.pushes = self._stepper, list(saved.pushes)
        with self._running.step_lock.writing():
            stepper.restore(saved.data)
            stepper.steps, stepper.worst = saved.steps, dict(saved.worst)
        for robot, driver in self._running.drivers.items():
            driver.last = None
            controller.restore_state(driver.controller, saved.controllers.get(robot))


def _assign(out: np.ndarray, span: slice, value: ArrayLike, what: str) -> None:
    """Assign numbers to a slice, rejecting a wrong count."""
    count = span.stop - span.start
    try:
        x = np.asarray(value, float)
    except (TypeError, ValueError):
        x = np.full(count + 1, np.nan)
    # a single number for several is valid only if it is zero
    if x.shape != (count,) and not (x.ndim == 0 and (count == 1 or x == 0)):
        raise ModelError(f"{what} is {value!r}; expected {count} numbers")
    out[span] = x

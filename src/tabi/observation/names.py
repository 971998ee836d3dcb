"""Lookup of things of a simulation, by object or name; rejects things added to the world later."""

from __future__ import annotations

import warnings
from typing import Any

from tabi._errors import ModelError, unknown, users_level
from tabi.model import lookup
from tabi.model.body import Body, Foot, Frame
from tabi.model.compiled import Model
from tabi.model.links import Link, Site, Sole
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.model.world import World


class LateChangeWarning(UserWarning):
    """Warning of a world that was changed after a simulator was made of it."""


class Names:
    """Lookup of things of a world in its compiled model."""

    def __init__(self, world: World, model: Model) -> None:
        self._world, self._model = world, model
        self._links: dict[Body | Foot | Frame | str, Link] = {}
        # what the world had when it was compiled
        self._before = (*world.robots, *world.objects)
        self._size = self._compiled = world.size
        self._lists = world.robots, world.objects, world.fixed.shapes

    def robot(self, robot: Robot | str) -> Robot:
        """Return a robot, itself or by its name."""
        known_robot = lookup.robot_of(self._world, robot)
        self._check_known(known_robot)
        return known_robot

    def name(self, thing: Any) -> str:
        """Return the model's name of a robot, an object or a joint."""
        self._check_known(thing)
        return lookup.name_of(self._world, self._model, thing)

    def link(self, body: Body | Foot | Frame | str) -> Link:
        """Return the link of a body, foot, frame or sensor."""
        try:
            return self._links[body]
        except (KeyError, TypeError):
            # rejects arguments that are no name and no body
            if not (isinstance(body, str) and body in self._model.links):
                self._check_known(body)
            link = lookup.link_of(self._world, self._model, body)
            return self._links.setdefault(body, link)

    def knows(self, body: Any) -> bool:
        """Whether there is such a body, foot, frame or sensor."""
        try:
            self.link(body)
        except ModelError:
            return False
        return True

    def sole(self, foot: Foot | str) -> Sole:
        """Return the sole of a foot."""
        link = self.link(foot)
        if not isinstance(link, Sole):
            raise unknown("foot", link.name, "the world", self._model.feet)
        return link

    def site(self, sensor: Sensor | str) -> Site:
        """Return the site of a sensor or a force plate."""
        if isinstance(sensor, Sensor) and sensor.kind == "plate":
            sensor = sensor.name
        if isinstance(sensor, str) and sensor in self._model.sensors:
            return self._model.sensors[sensor]
        if isinstance(sensor, str):
            raise unknown("sensor", sensor, "the world", self._model.sensors)
        link = self.link(sensor)
        if not isinstance(link, Site):
            raise unknown("sensor", link.name, "the world", self._model.sensors)
        return link

    def warn_late(self) -> None:
        """Warn, once for each change, that the world has changed since the simulator was made."""
        robots, objects, fixed = self._lists
        if len(robots) + len(objects) + len(fixed) == self._size:
            return
        self._size = self._world.size
        warnings.warn(
            "something was added to the world, or taken away, after this simulator was made, which "
            "does not see it; make the simulator when all is added, sim = tabi.Simulator(world)",
            LateChangeWarning,
            stacklevel=users_level(),
        )

    def _check_known(self, thing: Any) -> None:
        """Reject things that were added to the world after this simulator was made."""
        if self._world.size != self._compiled:
            lookup.check_known(self._before, self._world, thing)

"""View of one robot of a simulation: its sensors, pose, feet and contacts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi._errors import real
from tabi.model.controllers.signals import Measurement
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.observation import contacts
from tabi.observation.contacts import Contact
from tabi.observation.falling import Upright, upright
from tabi.observation.feet_view import FeetView
from tabi.observation.foot_state import FootState
from tabi.observation.names import Names
from tabi.observation.readings import MeasurementSource
from tabi.observation.state_quantities import StateQuantities
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist
from tabi.step.data import Data

Array = NDArray[np.float64]


class RobotView:
    """View of a robot of a simulation, always of the last step.

    Attributes:
        robot: as it was added to the world.
        senses: source of its measurements.

    Examples:
        >>> sim.robot(robot).fallen()
        False
    """

    def __init__(self, world: World, robot: Robot, data: Data, names: Names) -> None:
        self.robot, self._world, self._data, self._names = robot, world, data, names
        self._feet, self._quantities = FeetView(data, names), StateQuantities(data, names)
        self.senses = MeasurementSource(data, robot, names.link)
        self._upright: Upright | None = None
        bodies = {names.link(body).name for body in robot.bodies}
        self._shapes = np.array([shape.link in bodies for shape in data.model.shapes], bool)

    def __repr__(self) -> str:
        return f"RobotView({self.robot.name})"

    @property
    def q(self) -> Array:
        """Its part of the configuration, as a copy."""
        return self._data.q[self._quantities.q_slice(self.robot)].copy()

    @property
    def v(self) -> Array:
        """Its part of the velocity, as a copy."""
        return self._data.v[self._quantities.v_slice(self.robot)].copy()

    @property
    def pose(self) -> Transform:
        """Pose of its base in the world."""
        return self._data.frame(self._names.link(self.robot.base))[0]

    @property
    def velocity(self) -> Twist:
        """Velocity of its base's origin, and angular, in the world's axes."""
        return self._data.frame(self._names.link(self.robot.base))[1]

    @property
    def centre_of_mass(self) -> Array:
        """Centre of mass in the world [m]."""
        return self._quantities.centre_of_mass(self.robot)

    def measure(self, truth: bool = False) -> Measurement:
        """Return its measurement for a controller.

        Args:
            truth: include pose and velocity of the base, and forces on feet.
        """
        return self.senses.measure(truth)

    @property
    def joint_torques(self) -> Array:
        """Efforts of its motors in the last step, in the order of its joints [N·m or N]."""
        return self.measure().effort

    @property
    def feet(self) -> dict[str, FootState]:
        """States of its feet, by their names in the robot."""
        return {name: self._feet[foot] for name, foot in self.robot.feet.items()}

    @property
    def contacts(self) -> list[Contact]:
        """Points of its bodies within reach of something after the last step, with their forces."""
        return contacts.contacts(self._data, self._shapes)

    @property
    def support_polygon(self) -> Array:
        """Support polygon of its loaded feet, seen from above [m]: see ``FeetView``."""
        return self._feet.support_polygon(self.robot)

    @property
    def zmp(self) -> Array | None:
        """Zero moment point of all contact forces on it, x and y in the world [m], in the mean
        plane of the contacts that carry it (``dynamics.loads``): the ground, a slope, or between
        the steps of stairs. None without a load.
        """
        on_robot = np.zeros(self._data.model.body_count + 1)
        on_robot[[self._names.link(body).body for body in self.robot.bodies]] = 1.0
        on_robot[0] = 0.0
        point = self._data.zero_moment_point(on_robot)
        return None if point is None else point[:2]

    def fallen(self, height: float | None = None) -> bool:
        """Whether it has fallen: its base is below half the height above its soles that it starts
        with, or leans by more than 60°.

        Args:
            height: instead of that, whether its base is lower than this above the ground [m].
        """
        if height is None:
            return self.fall_margin < 0.0
        above = self.pose.p[2] - self._world.ground_height
        return bool(above < real("height of a robot that has fallen", height))

    @property
    def fall_margin(self) -> float:
        """Margin against a fall, see ``observation.falling``: 0.5 at the start."""
        feet = [self._names.link(foot) for foot in self.robot.feet.values()]
        soles = [float(self._data.frame(foot)[0].p[2]) for foot in feet]
        if self._upright is None:
            self._upright = upright(self.robot)
        return self._upright.margin(self.pose, min(soles, default=self._world.ground_height))

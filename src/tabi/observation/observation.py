"""Observation of a simulation by bodies, feet and robots instead of rows and columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi._errors import ModelError, SimulationError
from tabi.contact.bodies import BodyProblem
from tabi.contact.files import write
from tabi.contact.matrix_form import sparse
from tabi.contact.rows import CONTACT
from tabi.model.body import Body, Foot, Frame
from tabi.model.controllers.signals import Measurement
from tabi.model.links import Sole
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.model.world import World
from tabi.observation import contacts, pad_state, readings
from tabi.observation.contacts import Contact
from tabi.observation.names import Names
from tabi.observation.pictures import Pictures
from tabi.observation.readings import MeasurementSource, Reading
from tabi.observation.robot_view import RobotView
from tabi.rendering.camera import Camera
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist
from tabi.step.data import Data

Array = NDArray[np.float64]


class Observation:
    """Observation of a world and its data.

    Examples:
        >>> print(sim.position("head").shape, sim.fallen(robot))
        (3,) False
    """

    def __init__(self, world: World, data: Data, names: Names) -> None:
        self._world, self._data, self._names = world, data, names
        self._robots: dict[Robot | str, RobotView] = {}
        self._shapes: dict[Any, NDArray[np.bool_]] = {}
        self._pictures: Pictures | None = None

    # ---- robots -----------------------------------------------------------------------------

    def robot(self, robot: Robot | str) -> RobotView:
        """Return a view of a robot: its sensors, pose, feet and contacts."""
        try:
            return self._robots[robot]
        except (KeyError, TypeError):
            known_robot = self._names.robot(robot)
            if known_robot not in self._robots:
                self._robots[known_robot] = RobotView(
                    self._world, known_robot, self._data, self._names
                )
            return self._robots.setdefault(robot, self._robots[known_robot])

    def measurement_source(self, robot: Robot | str) -> MeasurementSource:
        """Return the source of a robot's measurements."""
        return self.robot(robot).senses

    def measure(self, robot: Robot | str, truth: bool = False) -> Measurement:
        """Return the measurement of a robot for its controller.

        Args:
            truth: include pose and velocity of the base, and forces on feet.
        """
        return self.robot(robot).senses.measure(truth)

    def joint_torques(self, robot: Robot | str) -> Array:
        """Return the efforts of a robot's motors in the last step, by its joints [N·m or N]."""
        return self.robot(robot).joint_torques

    def zmp(self, robot: Robot | str) -> Array | None:
        """Return the zero moment point of all contact forces on a robot, x and y in the world [m],
        in the mean plane of the contacts that carry it (``dynamics.loads``): the ground, a slope,
        or between the steps of stairs. None without a load.
        """
        return self.robot(robot).zmp

    def fallen(self, robot: Robot | str, height: float | None = None) -> bool:
        """Whether a robot has fallen: its base is below half the height above its soles that it
        starts with, or leans by more than 60°.

        Args:
            height: instead of that, whether its base is lower than this above the ground [m].
        """
        return self.robot(robot).fallen(height)

    def fall_margin(self, robot: Robot | str) -> float:
        """Return the margin of a robot against a fall, see ``observation.falling``: 0.5 at the
        start.
        """
        return self.robot(robot).fall_margin

    # ---- bodies -----------------------------------------------------------------------------

    def pose(self, body: Body | Foot | str) -> Transform:
        """Return the pose of a body, foot, frame or sensor in the world."""
        return self._data.frame(self._names.link(body))[0]

    def position(self, body: Body | Foot | str) -> Array:
        """Return the origin of a body in the world [m]."""
        return self.pose(body).p

    def velocity(self, body: Body | Foot | str) -> Twist:
        """Return the velocity of a body's origin, linear and angular, in the world's axes."""
        return self._data.frame(self._names.link(body))[1]

    def sensor(self, name: Sensor | str, truth: bool = False) -> Reading:
        """Return the reading of a sensor or a force plate after the last step.

        Args:
            truth: the true value instead, before low-pass, calibration, noise and delay.
        """
        return readings.reading(self._data, self._names.site(name), truth)

    def render(
        self,
        camera: Camera | Sensor | str | None = None,
        kind: str = "colour",
        size: tuple[int, int] | None = None,
        field_of_view: float | None = None,
    ) -> NDArray[Any]:
        """Return a picture of the world in its present state, drawn without a graphics card.

        Args:
            camera: a ``tabi.Camera``, a camera of a robot by its name, or None: one with a
                view of all moving bodies.
            kind: "colour": red, green, blue, 0 to 255, shape (height, width, 3), uint8;
                "depth": distance along the optical axis [m], inf where nothing is, shape
                (height, width), float32; "segmentation": the visible body, by its index in
                ``list(sim.model.links)``, −1 where nothing is, shape (height, width), int32.
            size: width and height in pixels; default: the camera's, or (640, 480).
            field_of_view: from the lower to the upper edge [degrees]; default: the camera's, or 45.
        """
        if self._pictures is None:
            self._pictures = Pictures(self._world, self._data)
        return self._pictures.take(camera, kind, size, field_of_view)

    # ---- contacts ---------------------------------------------------------------------------

    @property
    def contacts(self) -> list[Contact]:
        """The points within reach of each other after the last step, with their forces."""
        return contacts.contacts(self._data)

    def contacts_of(self, thing: Robot | Body | Foot | str) -> list[Contact]:
        """Return the contacts of a body, of the body of a foot, or of all bodies of a robot."""
        if isinstance(thing, Robot):
            return self.robot(thing).contacts
        if not isinstance(thing, Body | Frame | str):
            raise ModelError(
                f"contacts are asked of {thing!r}; expected a robot, body, foot or name"
            )
        selected = self._shapes.get(thing)
        if selected is None:
            link = self._names.link(thing.body if isinstance(thing, Frame) else thing)
            names, model = {link.name}, self._data.model
            if isinstance(link, Sole):
                names = {name for name, other in model.links.items() if other.body == link.body}
            is_selected = [shape.link in names for shape in model.shapes]
            selected = self._shapes[thing] = np.array(is_selected, bool)
        return contacts.contacts(self._data, selected)

    @property
    def energy(self) -> dynamics.Energy:
        """Kinetic and potential energy [J]; the elastic energy of soft soles counts as potential
        energy.
        """
        data = self._data
        rigid = dynamics.energy(data.model, data.q, data.v)
        if not len(data.memory.sole):
            return rigid
        return dynamics.Energy(rigid.kinetic, rigid.potential + pad_state.energy(data))

    def problem(self) -> BodyProblem | None:
        """Return the contact problem of the last step, all groups together; None without
        contacts.
        """
        return self._data.problem

    def export_problem(self, path: str | Path) -> None:
        """Write the last step's contact problem in FCLib form (.hdf5 or .npz)."""
        p, time = self.problem(), self._data.time
        if p is None:
            raise SimulationError(
                f"no contact at {time:g} s; expected at least one for a problem file"
            )
        if (p.kind != CONTACT).any():
            raise SimulationError(
                f"bodies are bonded, or surfaces resist turning, at {time:g} s, "
                "and such files know contacts only; do without them"
            )
        ours = np.arange(len(p.q)).reshape(-1, 3)[:, [2, 0, 1]].ravel()
        W, about = sparse(p)[ours][:, ours], f"contact problem of a step of {self._data.dt:g} s"
        write(path, W, p.q[ours], p.mu, f"tabi, {time:g} s", about)

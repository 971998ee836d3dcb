"""What is seen of a simulation, by bodies, feet and robots instead of rows and columns."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi._errors import ModelError, SimulationError, real, unknown, users_level
from tabi.contact.bodies import BodyProblem
from tabi.contact.files import write
from tabi.contact.matrix_form import sparse
from tabi.contact.rows import CONTACT
from tabi.dynamics.quantities import Quantities
from tabi.model import lookup
from tabi.model.body import Body, Foot, Frame
from tabi.model.compiled import Model
from tabi.model.controllers.signals import Measurement
from tabi.model.links import Link, Site, Sole
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.model.world import World
from tabi.observation import balance, certificate, contacts, foot_state, pad_state, readings
from tabi.observation.balance import Balance
from tabi.observation.certificate import StepCertificate
from tabi.observation.contacts import Contact
from tabi.observation.falling import Uprights
from tabi.observation.foot_state import FootEvent, FootState
from tabi.observation.pad_state import PadState
from tabi.observation.pictures import Pictures
from tabi.observation.readings import Reading, RobotSenses
from tabi.rendering.camera import Camera
from tabi.simulation.state import State, read_only, refuse_assignment
from tabi.simulation.turns import Turns
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist, Wrench
from tabi.step.data import Data

Array = NDArray[np.float64]


# public attributes that a simulator is made with
SET_ONCE = frozenset({"world", "model", "data", "missed", "order", "scheme"})


class LateChangeWarning(UserWarning):
    """A world was changed after a simulator was made of it, which does not see that."""


class Observed(Quantities):
    """A world and its data, to be asked about: also all of ``Quantities``.

    Attributes:
        world, model: what there is, as it was built and compiled.
        data: state, command, memory and outcome.
    """

    def __init__(self, world: World, model: Model, data: Data) -> None:
        super().__init__(model)
        self.world, self.data = world, data
        self._senses: dict[Robot | str, RobotSenses] = {}
        self._links: dict[Body | Foot | Frame | str, Link] = {}
        self._own_shapes: dict[Any, NDArray[np.bool_]] = {}
        self._pictures: Pictures | None = None
        self._uprights = Uprights()
        self._turns = Turns()
        # what the world had when it was compiled
        self._before = (*world.robots, *world.objects)
        self._size = self._compiled = world.size
        self._lists = world.robots, world.objects, world.fixed.shapes

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_" and (name not in SET_ONCE or name in self.__dict__):
            refuse_assignment(type(self), name)
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        things = [robot.name for robot in self.world.robots] + [o.name for o in self.world.objects]
        shown = ", ".join(things[:4]) + (f" and {len(things) - 4} more" if things[4:] else "")
        return f"{type(self).__name__}({shown}: {self.time:g} s in steps of {self.dt:g} s)"

    @property
    def dt(self) -> float:
        """The step [s]."""
        return self.data.dt

    @property
    def tolerance(self) -> float:
        """Backward error every contact has to reach [m/s]."""
        return self.data.tolerance

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return self.data.time

    @property
    def missed_count(self) -> int:
        """Steps of the run that did not reach the tolerance."""
        return self.data.missed_count

    @property
    def reproducible(self) -> bool:
        """Whether a rerun is the same to the last bit: not with a budget of time."""
        return self.data.reproducible

    @property
    def q(self) -> Array:
        """Configuration, a copy that cannot be written: see ``set_state`` and ``set_joint``."""
        return read_only(self.data.q)

    @property
    def v(self) -> Array:
        """Velocity, a copy that cannot be written."""
        return read_only(self.data.v)

    @property
    def state(self) -> State:
        """A copy of q, v and the time."""
        return State(self.data.q.copy(), self.data.v.copy(), self.time)

    def still(self) -> AbstractContextManager[bool]:
        """For a thread that looks at a simulation which another one steps: ``with sim.still() as
        still:`` no step begins inside, and no state is set. ``still`` is False, at once, where a
        step is under way; then it must not look.
        """
        return self._turns.looking()

    def measure(self, robot: Robot | str, truth: bool = False) -> Measurement:
        """What a controller of a robot sees now.

        Args:
            truth: with what no sensor tells: pose and velocity of the base, forces on feet.
        """
        return self.senses_of(robot).measure(truth)

    def senses_of(self, robot: Robot | str) -> RobotSenses:
        """What a robot's controller sees."""
        try:
            return self._senses[robot]
        except (KeyError, TypeError):
            found = self._robot(robot)
            return self._senses.setdefault(robot, RobotSenses(self.data, found, self._link))

    def sensor(self, name: Sensor | str, truth: bool = False) -> Reading:
        """What a sensor or a force plate tells after the last step.

        Args:
            truth: the true value instead, before low-pass, calibration, noise and delay.
        """
        link = self._sensor_link(name)
        return readings.reading(self.data, link, truth)

    def render(
        self,
        camera: Camera | Sensor | str | None = None,
        kind: str = "colour",
        size: tuple[int, int] | None = None,
        field_of_view: float | None = None,
    ) -> NDArray[Any]:
        """A picture of the world as it is now, drawn without a graphics card.

        Args:
            camera: a ``tabi.Camera``, a camera of a robot by its name, or None: one that sees all
                that moves.
            kind: "colour": red, green, blue, 0 to 255, shape (height, width, 3), uint8;
                "depth": distance along the optical axis [m], inf where nothing is, shape
                (height, width), float32; "segmentation": which body is seen, its place in
                ``list(sim.model.links)``, −1 where nothing is, shape (height, width), int32.
            size: width and height in pixels, (640, 480) unless given or the camera's own.
            field_of_view: from the lower to the upper edge [degrees], 45 unless given or the
                camera's own.
        """
        if self._pictures is None:
            self._pictures = Pictures(self.world, self.data)
        return self._pictures.take(camera, kind, size, field_of_view)

    @property
    def contacts(self) -> list[Contact]:
        """The points within reach of each other after the last step, with their forces."""
        return contacts.contacts(self.data)

    def contacts_of(self, thing: Robot | Body | Foot | str) -> list[Contact]:
        """Those of a body, of the body of a foot, or of all bodies of a robot."""
        if not isinstance(thing, Robot | Body | Frame | str):
            raise ModelError(
                f"contacts are asked of {thing!r}; expected a robot, body, foot or name"
            )
        chosen = self._own_shapes.get(thing)
        if chosen is None:
            if isinstance(thing, Robot):
                names = {self._link(body).name for body in self._robot(thing).bodies}
            else:
                link = self._link(thing.body if isinstance(thing, Frame) else thing)
                names = {link.name}
                if isinstance(link, Sole):
                    every = self.model.links.items()
                    names = {name for name, other in every if other.body == link.body}
            shapes = [shape.link in names for shape in self.model.shapes]
            chosen = self._own_shapes[thing] = np.array(shapes, bool)
        return contacts.contacts(self.data, chosen)

    def joint_torques(self, robot: Robot | str) -> Array:
        """What a robot's motors gave in the last step, in the order of its joints [N·m or N]."""
        return self.measure(robot).effort

    def pose(self, body: Body | Foot | str) -> Transform:
        """Where a body, foot, frame or sensor is."""
        return self.data.frame(self._link(body))[0]

    def position(self, body: Body | Foot | str) -> Array:
        """Origin of a body in the world [m]."""
        return self.pose(body).p

    def velocity(self, body: Body | Foot | str) -> Twist:
        """Velocity of a body's origin, and angular, in the world's axes."""
        return self.data.frame(self._link(body))[1]

    def foot_wrench(self, foot: Foot | str) -> Wrench:
        """Force and torque of all contacts on a foot's body,
        about its origin, in the world's axes.
        """
        link = self._link(foot)
        known = isinstance(link, Sole)
        return self.data.foot_wrench(link.name) if known else self.data.wrench(link)

    def centre_of_pressure(self, foot: Foot | str) -> Array | None:
        """Where the foot's contact forces act in its plane, in its frame [m];
        None without a load.
        """
        link = self._link(foot)
        if isinstance(link, Sole):
            return self.data.foot_pressure(link.name)
        return contacts.centre_of_pressure(self.foot_wrench(foot), self.pose(foot))

    def foot(self, foot: Foot | str) -> FootState:
        """State of a foot after the last step: what touches, its wrench, pressure point and
        margins.
        """
        return foot_state.foot_state(self.data, self._sole(foot).name)

    @property
    def pads(self) -> dict[str, PadState]:
        """Soft soles by the names of their feet, and other soft pads: how they are deformed, and
        where they press.
        """
        return pad_state.states(self.data)

    @property
    def foot_events(self) -> tuple[FootEvent, ...]:
        """Every change of a foot's state since the start."""
        return foot_state.events(self.data)

    def support_polygon(self, robot: Robot | str) -> Array:
        """Outline, seen from above, of where a robot's loaded feet touch [m], shape (n, 2),
        anticlockwise; fewer than three points where they touch in an edge or a vertex.
        """
        robot = self._robot(robot)
        return foot_state.support_polygon(self.data, [self._sole(f) for f in robot.feet.values()])

    def zmp(self, robot: Robot | str) -> Array | None:
        """Zero moment point of all contact forces on a robot, x and y in the world [m], in the mean
        plane of the contacts that carry it (``dynamics.loads``): the ground, a slope, or between
        the steps of stairs. None without a load.
        """
        robot = self._robot(robot)
        own = np.zeros(self.model.body_count + 1)
        own[[self._link(body).body for body in robot.bodies]] = 1.0
        own[0] = 0.0
        found = self.data.zero_moment_point(own)
        return None if found is None else found[:2]

    @property
    def certificate(self) -> StepCertificate:
        """How well the last step's forces obey the law, recomputed, and the worst of the run."""
        return certificate.of_last_step(self.data)

    @property
    def energy(self) -> dynamics.Energy:
        """Kinetic and potential energy [J]; what soft soles store is potential energy."""
        found = dynamics.energy(self.model, self.data.q, self.data.v)
        if not len(self.data.memory.sole):
            return found
        return dynamics.Energy(found.kinetic, found.potential + pad_state.energy(self.data))

    @property
    def balance(self) -> Balance:
        """Where the energy of the last step went."""
        return balance.of_last_step(self.data)

    def fallen(self, robot: Robot | str, height: float | None = None) -> bool:
        """Whether a robot has fallen: its base is below half the height above its soles that it
        starts with, or leans by more than 60°.

        Args:
            height: instead of that, whether its base is lower than this above the ground [m].
        """
        robot = self._robot(robot)
        if height is None:
            return self.fall_margin(robot) < 0.0
        above = self.position(robot.base)[2] - self.world.ground_height
        return bool(above < real("height of a robot that has fallen", height))

    def fall_margin(self, robot: Robot | str) -> float:
        """How far a robot is from having fallen, see ``simulation.falling``: 0.5 as it starts."""
        robot = self._robot(robot)
        soles = [float(self.position(foot)[2]) for foot in robot.feet.values()]
        below = min(soles, default=self.world.ground_height)
        return self._uprights.of(robot).margin(self.pose(robot.base), below)

    def problem(self) -> BodyProblem | None:
        """The contact problem of the last step, all groups together; None without contacts."""
        return self.data.problem

    def export_problem(self, path: str | Path) -> None:
        """Write the last step's contact problem in FCLib form (.hdf5 or .npz)."""
        p = self.problem()
        if p is None:
            raise SimulationError(
                f"no contact at {self.time:g} s; expected at least one for a problem file"
            )
        if (p.kind != CONTACT).any():
            raise SimulationError(
                f"bodies are bonded, or surfaces resist turning, at {self.time:g} s, "
                "and such files know contacts only; do without them"
            )
        ours = np.arange(len(p.q)).reshape(-1, 3)[:, [2, 0, 1]].ravel()
        W, about = sparse(p)[ours][:, ours], f"contact problem of a step of {self.dt:g} s"
        write(path, W, p.q[ours], p.mu, f"tabi, {self.time:g} s", about)

    def _arrays(self) -> tuple[Array, Array]:
        return self.data.q, self.data.v

    def _robot(self, robot: Robot | str) -> Robot:
        """A robot of this simulation, itself or by its name."""
        found = lookup.robot_of(self.world, robot)
        self._check_known(found)
        return found

    def _check_known(self, thing: Any) -> None:
        """Refuse what was added to the world after this simulator was made."""
        if self.world.size != self._compiled:
            lookup.check_known(self._before, self.world, thing)

    def _warn_late(self) -> None:
        """Say, once, that the world has changed since the simulator was made."""
        self._size = self.world.size
        warnings.warn(
            "something was added to the world, or taken away, after this simulator was made, which "
            "does not see it; make the simulator when all is added, sim = tabi.Simulator(world)",
            LateChangeWarning,
            stacklevel=users_level(),
        )

    def _name(self, thing: Any) -> str:
        self._check_known(thing)
        return lookup.name_of(self.world, self.model, thing)

    def _sole(self, foot: Foot | str) -> Sole:
        link = self._link(foot)
        if not isinstance(link, Sole):
            raise unknown("foot", link.name, "the world", self.model.feet)
        return link

    def _sensor_link(self, sensor: Sensor | str) -> Site:
        if isinstance(sensor, Sensor) and sensor.kind == "plate":
            sensor = sensor.name
        if isinstance(sensor, str) and sensor in self.model.sensors:
            return self.model.sensors[sensor]
        if isinstance(sensor, str):
            raise unknown("sensor", sensor, "the world", self.model.sensors)
        link = self._link(sensor)
        if not isinstance(link, Site):
            raise unknown("sensor", link.name, "the world", self.model.sensors)
        return link

    def _link(self, body: Body | Foot | Frame | str) -> Link:
        try:
            return self._links[body]
        except (KeyError, TypeError):
            # what is no name and no body is refused here
            if not (isinstance(body, str) and body in self.model.links):
                self._check_known(body)
            link = lookup.link_of(self.world, self.model, body)
            return self._links.setdefault(body, link)

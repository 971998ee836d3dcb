"""What one sees of a simulation: contacts, poses, wrenches, pressure;
and what a controller sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, unknown
from tabi.model.compiled import Link
from tabi.model.lookup import joint_rows
from tabi.model.robot import Robot
from tabi.model.signals import Measurement
from tabi.simulation.data import Data
from tabi.simulation.tables import OPEN
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Wrench

Array = NDArray[np.float64]
# names of OPEN, STICK and SLIP
STATUS = ("open", "stick", "slip")


@dataclass(frozen=True, eq=False)
class Contact:
    """A contact point after a step.

    Attributes:
        body_a, body_b: the links that meet; b may be the world.
        point: where [m]. normal: unit, from b to a.
        gap: distance of the surfaces when the step began [m], negative in overlap.
        force: on a [N]. moment: on a, of torsional and rolling friction [N·m].
        slip: velocity of a along b [m/s]. status: "open", "stick" or "slip".
    """

    body_a: Link
    body_b: Link
    point: Array
    normal: Array
    force: Array
    gap: float
    slip: Array
    status: str
    moment: Array

    @property
    def pressing(self) -> bool:
        """Whether it carries a force."""
        return self.status != STATUS[OPEN]


def contacts(data: Data) -> list[Contact]:
    """The contacts of the last step."""
    rows, links, shapes = data.contact, data.model.links, data.model.shapes
    normal, velocity = rows["normal"].copy(), rows["velocity"]
    slip = velocity - normal * (normal * velocity).sum(1, keepdims=True)
    columns = (
        [links[shapes[k].link] for k in rows["shape_a"].tolist()],
        [links[shapes[k].link] for k in rows["shape_b"].tolist()],
        rows["position"].copy(),
        normal,
        rows["impulse"] / data.dt,
        rows["gap"].tolist(),
        slip,
        [STATUS[k] for k in rows["status"].tolist()],
        data.moment,
    )
    return [Contact(*row) for row in zip(*columns, strict=True)]


def centre_of_pressure(w: Wrench, X: Transform) -> Array | None:
    """Where a wrench about the foot's origin acts in its plane, in its frame."""
    f, t = X.R.T @ w.force, X.R.T @ w.torque
    return np.array([-t[1], t[0]]) / f[2] if f[2] > 0 else None


class FootWrenches(Mapping[str, Array]):
    """Wrenches on a robot's feet after one step, force first [N, N·m], computed when one is asked
    for.

    Args:
        links: of the robot's feet by their names.
    """

    def __init__(self, data: Data, robot: Robot, links: Mapping[str, Link]) -> None:
        self._data, self._robot, self._links, self._now = data, robot, links, data.steps

    def __getitem__(self, name: str) -> Array:
        if name not in self._links:
            raise unknown("foot", name, self._robot.name, self._links)
        if self._now != self._data.steps:
            raise ModelError(
                f"the force on {name!r} was asked for after its step; "
                "a controller reads it when it is called"
            )
        return np.concatenate(self._data.foot_wrench(self._links[name].name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._links)

    def __len__(self) -> int:
        return len(self._links)


class RobotSenses:
    """What a robot's controller sees of a simulation.

    Args:
        link_of: the link of a body or a foot.
    """

    def __init__(self, data: Data, robot: Robot, link_of: Callable[[Any], Link]) -> None:
        self._data, self._robot, self._base = data, robot, link_of(robot.base)
        self._rows = joint_rows(data.model, robot)
        self._feet = {name: link_of(foot) for name, foot in robot.feet.items()}

    def measure(self) -> Measurement:
        """After the last step."""
        joints, base, moves = self._data.senses(self._rows, self._base)
        forces = FootWrenches(self._data, self._robot, self._feet)
        return Measurement(joints[0], joints[1], joints[2], base, moves, forces)

"""What one sees of a simulation: contacts, poses, wrenches, pressure;
and what a controller sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, unknown
from tabi.dynamics import jacobian
from tabi.model.compiled import Link, Model
from tabi.model.robot import Robot
from tabi.model.signals import Measurement
from tabi.simulation.data import Data
from tabi.simulation.tables import OPEN
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist, Wrench

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


def pose(model: Model, body: NDArray[np.void], link: Link) -> Transform:
    """X_WF of a link, from the kinematics of the bodies."""
    row, root = body[link.body], model.arrays.body["root"][link.body]
    origin = row["position"] + body["origin"][root]
    return Transform(row["rotation"].reshape(3, 3).copy(), origin) @ link.placement


def velocity(body: NDArray[np.void], link: Link) -> Twist:
    """Velocity of a link's origin, and angular."""
    row = body[link.body]
    arm = row["position"] + row["rotation"].reshape(3, 3) @ link.placement.p
    speed = jacobian.point_velocity(tuple(row["velocity"]), tuple(arm))
    return Twist(np.array(speed), row["velocity"][:3].copy())


def contacts(data: Data) -> list[Contact]:
    """The contacts of the last step."""
    found, moment, model = [], data.moment, data.model
    for row, turning in zip(data.contact, moment, strict=True):
        n, u = row["normal"].copy(), row["velocity"].copy()
        a, b = (model.links[model.shapes[row[side]].link] for side in ("shape_a", "shape_b"))
        found.append(
            Contact(
                body_a=a,
                body_b=b,
                point=row["position"].copy(),
                normal=n,
                force=row["impulse"] / data.dt,
                gap=float(row["gap"]),
                slip=u - n * (n @ u),
                status=STATUS[row["status"]],
                moment=turning,
            )
        )
    return found


def wrench(found: list[Contact], link: Link, origin: Array) -> Wrench:
    """All contact forces on the moving body of a link, about a point."""
    force, torque = np.zeros(3), np.zeros(3)
    for c in found:
        for side, sign in ((c.body_a, 1.0), (c.body_b, -1.0)):
            if side.body == link.body and link.body != 0:
                force += sign * c.force
                torque += sign * (np.cross(c.point - origin, c.force) + c.moment)
    return Wrench(force, torque)


def centre_of_pressure(w: Wrench, X: Transform) -> Array | None:
    """Where a wrench about the foot's origin acts in its plane, in its frame."""
    f, t = X.R.T @ w.force, X.R.T @ w.torque
    return np.array([-t[1], t[0]]) / f[2] if f[2] > 0 else None


def zero_moment_point(found: list[Contact], own: set[int]) -> Array | None:
    """Of all contact forces on a set of moving bodies, in the plane of their lowest contact."""
    force, moment = np.zeros(3), np.zeros(3)
    heights = []
    for c in found:
        for side, sign in ((c.body_a, 1.0), (c.body_b, -1.0)):
            if side.body in own and side.body != 0 and c.pressing:
                force += sign * c.force
                moment += sign * (np.cross(c.point, c.force) + c.moment)
                heights.append(c.point[2])
    if not heights or force[2] <= 0:
        return None
    z = min(heights)
    return np.array([-moment[1] + z * force[0], moment[0] + z * force[1]]) / force[2]


class FootWrenches(Mapping[str, Array]):
    """Wrenches on a robot's feet in one step, computed when one is asked for.

    Args:
        wrench: of a foot by its name, force first [N, N·m].
        steps: says how many steps were done.
    """

    def __init__(
        self, robot: Robot, wrench: Callable[[str], Wrench], steps: Callable[[], int]
    ) -> None:
        self._robot, self._wrench, self._steps, self._now = robot, wrench, steps, steps()

    def __getitem__(self, name: str) -> Array:
        if name not in self._robot.feet:
            raise unknown("foot", name, self._robot.name, self._robot.feet)
        if self._now != self._steps():
            raise ModelError(
                f"the force on {name!r} was asked for after its step; "
                "a controller reads it when it is called"
            )
        w = self._wrench(name)
        return np.concatenate([w.force, w.torque])

    def __iter__(self) -> Iterator[str]:
        return iter(self._robot.feet)

    def __len__(self) -> int:
        return len(self._robot.feet)


def measure(
    data: Data, base: Link, rows: NDArray[np.int64], forces: Mapping[str, Array]
) -> Measurement:
    """What a robot's controller sees; ``rows`` are the degrees of freedom of its joints."""
    place = data.model.arrays.dof["q"][rows]
    return Measurement(
        np.where(place >= 0, data.q[place], 0.0),
        data.v[rows].copy(),
        data.outcome.effort["motor"][rows].copy(),
        pose(data.model, data.body, base),
        velocity(data.body, base),
        forces,
    )

"""Contacts of a simulation, and centres of pressure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi._errors import unknown
from tabi.dynamics import loads
from tabi.model.body import Body
from tabi.model.links import Link
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Wrench
from tabi.step.data import Data
from tabi.step.tables import OPEN

Array = NDArray[np.float64]
# names of OPEN, STICK and SLIP
STATUS = ("open", "stick", "slip")


@dataclass(frozen=True, eq=False)
class Contact:
    """A contact point after a step.

    Attributes:
        body_a, body_b: the links that meet; b may be the world.
        point: position [m]. normal: unit, from b to a.
        gap: distance of the surfaces when the step began [m], negative in overlap.
        force: on a [N]. moment: on a, of torsional and rolling friction [N·m].
        slip: velocity of a along b [m/s]. status: "open", "stick" or "slip".

    Examples:
        >>> sim.step()
        >>> bool(sum(contact.force[2] for contact in sim.contacts) > 0.0)
        True
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
        """Whether the contact carries a force."""
        return self.status != STATUS[OPEN]

    def force_on(self, body: Body | Link | str) -> Array:
        """Return the force on one of the two bodies [N]."""
        name = body if isinstance(body, str) else body.name
        if name not in (self.body_a.name, self.body_b.name):
            raise unknown("body", name, "the contact", (self.body_a.name, self.body_b.name))
        return self.force if name == self.body_a.name else -self.force

    def __repr__(self) -> str:
        pushes = (
            f"{np.linalg.norm(self.force):.4g} N" if self.pressing else f"{self.gap:.3g} m apart"
        )
        return f"Contact({self.body_a.name}, {self.body_b.name}, {self.status}, {pushes})"


def contacts(data: Data, selected: NDArray[np.bool_] | None = None) -> list[Contact]:
    """Return the contacts of the last step.

    Args:
        selected: mask of the shapes whose contacts are returned; default: all.
    """
    rows, links, shapes = data.contact, data.model.links, data.model.shapes
    moment = data.moment
    if selected is not None:
        is_selected = selected[rows["shape_a"]] | selected[rows["shape_b"]]
        rows, moment = rows[is_selected], moment[is_selected]
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
        moment,
    )
    return [Contact(*row) for row in zip(*columns, strict=True)]


def centre_of_pressure(w: Wrench, X: Transform) -> Array | None:
    """Return the centre of pressure of a wrench about a foot's origin, in the foot's frame [m]."""
    return loads.pressure_point(X.R.T @ w.force, X.R.T @ w.torque)

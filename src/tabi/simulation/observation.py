"""What one sees of a simulation: contacts and pressure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi.model.compiled import Link
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

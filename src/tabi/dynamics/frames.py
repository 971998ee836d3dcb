"""Poses of a model's bodies and of the frames on them, as every function of ``tabi.dynamics`` uses
them.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from tabi.dynamics import kinematics
from tabi.dynamics.workspace import Workspace, allocate
from tabi.model.compiled import Model
from tabi.spatial.transform import Transform


def bodies_at(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> Workspace:
    """A new workspace with the poses of all bodies at q, and with their twists where v is given; q
    and v are checked.
    """
    work = allocate(model)
    kinematics.positions(model.arrays, model.check_configuration(q), work)
    if v is not None:
        kinematics.velocities(model.arrays, model.check_velocity("v", v), work)
    return work


def arm(work: Workspace, body: int, X_BF: Transform) -> tuple[float, float, float]:
    """A frame's origin from the origin of its tree [m], in the world's axes."""
    x, y, z = work.body[body]["position"] + work.body[body]["rotation"].reshape(3, 3) @ X_BF.p
    return (x, y, z)

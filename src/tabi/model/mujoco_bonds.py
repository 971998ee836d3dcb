"""Bonds of a world for MuJoCo: equality constraints between sites on the two bodies, soft as all of
them are.

    weld   one weld of two sites
    ball   one connection of two sites
    hinge  two connections, ARM to either side along its axis: six rows for five, which a soft
    constraint bears
Bodies that are held together do not collide with each other, as in tabi.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.model.body import Body
from tabi.spatial.transform import quaternion_from_matrix

if TYPE_CHECKING:
    from tabi.model.world import World

# of a hinge's two connections from its point [m]: about as far as bearings are apart
ARM = 0.1


def add_bonds(
    mj: Any, spec: Any, world: World, made: dict[Body, Any], start: tuple[Any, NDArray[np.float64]]
) -> None:
    """Add the bonds of a world to a spec.

    Args:
        made: the spec's body of each body of the world. start: the model compiled without bonds,
            and the qpos in which they are made.
    """
    m, qpos = start
    d = mj.MjData(m)
    d.qpos[:] = qpos
    mj.mj_kinematics(m, d)
    names = {body.name for body in spec.bodies}
    for k, (kind, a, b, point, axis) in enumerate(world.bonds):
        ends = []
        for end in (a, b):
            name = made[end].name if isinstance(end, Body) else str(end)
            if name not in names:
                raise ModelError(
                    f"bond {k + 1} holds {name!r}, which is no body of its own in MuJoCo; "
                    f"bond the body that it is on"
                )
            ends.append(name)
        place = d.body(ends[0]).xpos.copy() if point is None else np.array(point, float)
        shifts = [np.zeros(3)]
        if kind == "hinge":
            along = np.array(axis, float) / np.linalg.norm(np.array(axis, float))
            shifts = [-ARM * along, ARM * along]
        for j, shift in enumerate(shifts):
            sites = [f"bond {k + 1}{'ab'[j]} on {name}" for name in ends]
            for site, name in zip(sites, ends, strict=True):
                R = d.body(name).xmat.reshape(3, 3)
                spec.body(name).add_site(
                    name=site,
                    pos=R.T @ (place + shift - d.body(name).xpos),
                    quat=quaternion_from_matrix(R.T),
                )
            held = mj.mjtEq.mjEQ_WELD if kind == "weld" else mj.mjtEq.mjEQ_CONNECT
            equality = spec.add_equality(type=held, objtype=mj.mjtObj.mjOBJ_SITE)
            equality.name1, equality.name2 = sites
        spec.add_exclude(bodyname1=ends[0], bodyname2=ends[1])

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
from tabi.spatial.transform import Transform, translation, z_to

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
        X_WC = Transform(np.eye(3) if axis is None else z_to(axis), place)
        frames = [Transform(d.body(e).xmat.reshape(3, 3), d.body(e).xpos) for e in ends]
        places = [X_WB.inverse() @ X_WC for X_WB in frames]
        _add(mj, spec, kind, f"bond {k + 1}", list(zip(ends, places, strict=True)))
    loops = [loop for robot in world.robots for loop in robot.bonds]
    for k, loop in enumerate(loops, len(world.bonds) + 1):
        a, b = made[loop.a].name, made[loop.b or world.fixed].name
        _add(mj, spec, loop.kind, f"bond {k}", [(a, loop.place_a), (b, loop.place_b)])


def _add(mj: Any, spec: Any, kind: str, title: str, ends: list[tuple[str, Transform]]) -> None:
    """Hold two bodies, by their names, together where they have a place in common."""
    arms = (-ARM, ARM) if kind == "hinge" else (0.0,)
    for j, arm in enumerate(arms):
        sites = [f"{title}{'ab'[j]} on {name}" for name, _ in ends]
        for site, (name, X) in zip(sites, ends, strict=True):
            place = X @ translation((0.0, 0.0, arm))
            spec.body(name).add_site(name=site, pos=place.p, quat=place.quaternion)
        equality_type = mj.mjtEq.mjEQ_WELD if kind == "weld" else mj.mjtEq.mjEQ_CONNECT
        equality = spec.add_equality(type=equality_type, objtype=mj.mjtObj.mjOBJ_SITE)
        equality.name1, equality.name2 = sites
    (first, _), (second, _) = ends
    spec.add_exclude(bodyname1=first, bodyname2=second)

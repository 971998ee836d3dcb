"""Configurations, velocities, accelerations and joint forces between tabi and MuJoCo, by joint
names.

| tabi                 | MuJoCo                            | velocities, accelerations, forces    |
|----------------------|-----------------------------------|--------------------------------------|
| revolute, continuous | hinge                             | same                                 |
| prismatic            | slide                             | same                                 |
| planar               | slides j:x, j:y, hinge j:turn     | same                                 |
| spherical            | ball                              | turned: ω_B = R(q)ᵀ ω_J              |
| floating, of a root  | free                              | linear same, angular ω_B = R(q)ᵀ ω_W |
| floating, elsewhere  | slides j:x, j:y, j:z, ball j:turn | linear same, angular turned          |

Positions are the same in both; ``j:x`` is a part of the joint ``j``.
tabi's angular velocity is in the axes of the joint's frame, MuJoCo's in those of the turning body.
Because ω × ω = 0, accelerations and joint forces turn by the same matrix, so one function serves
velocities, accelerations and forces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError
from tabi.model.compiled import Model
from tabi.spatial.transform import from_quaternion

if TYPE_CHECKING:
    from tabi.model.world import World

Array = NDArray[np.float64]
# joints that are several in MuJoCo: the parts and where they start in q and v
PARTS = {"planar": {"x": 0, "y": 1, "turn": 2}, "floating": {"x": 0, "y": 1, "z": 2, "turn": 3}}


def mujoco_state(world: World | Model, m: Any, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """MuJoCo's (qpos, qvel) for tabi's (q, v); ``m`` from ``to_mujoco(world)``."""
    model = _model(world)
    return configuration_to_mujoco(model, m, q), velocity_to_mujoco(model, m, q, v)


def tabi_state(
    world: World | Model, m: Any, qpos: ArrayLike, qvel: ArrayLike
) -> tuple[Array, Array]:
    """The state (q, v) of tabi for MuJoCo's (qpos, qvel)."""
    model = _model(world)
    return configuration_from_mujoco(model, m, qpos), velocity_from_mujoco(model, m, qpos, qvel)


def configuration_to_mujoco(world: World | Model, m: Any, q: ArrayLike) -> Array:
    """The qpos of a q."""
    model = _model(world)
    q, qpos = model.check_configuration(q), np.zeros(m.nq)
    for ours, theirs, _, _, _ in slots(model, m):
        qpos[theirs] = q[ours]
    return qpos


def configuration_from_mujoco(world: World | Model, m: Any, qpos: ArrayLike) -> Array:
    """The q of a qpos."""
    model = _model(world)
    q, qpos = np.zeros(model.q_count), _vector("qpos", qpos, m.nq)
    for ours, theirs, _, _, _ in slots(model, m):
        q[ours] = qpos[theirs]
    return model.check_configuration(q)


def velocity_to_mujoco(world: World | Model, m: Any, q: ArrayLike, v: ArrayLike) -> Array:
    """The qvel of a v at q; turns accelerations (qacc) and joint forces (qfrc) alike."""
    model = _model(world)
    qpos = configuration_to_mujoco(model, m, q)
    v = model.check_velocity("v", v)
    qvel = np.zeros(m.nv)
    for _, _, ours, theirs, turn in slots(model, m):
        qvel[theirs] = v[ours]
        if turn is not None:
            qvel[theirs][-3:] = from_quaternion(qpos[turn]).R.T @ v[ours][-3:]
    return qvel


def velocity_from_mujoco(world: World | Model, m: Any, qpos: ArrayLike, qvel: ArrayLike) -> Array:
    """The v of a qvel at qpos; turns accelerations (qacc) and joint forces (qfrc) alike."""
    model = _model(world)
    qpos = _vector("qpos", qpos, m.nq)
    qvel = _vector("qvel", qvel, m.nv)
    v = np.zeros(model.v_count)
    for _, _, ours, theirs, turn in slots(model, m):
        v[ours] = qvel[theirs]
        if turn is not None:
            v[ours][-3:] = from_quaternion(qpos[turn]).R @ qvel[theirs][-3:]
    return model.check_velocity("v", v)


def slots(model: Model, m: Any) -> Iterator[tuple[slice, slice, slice, slice, slice | None]]:
    """Yield the slices of every MuJoCo joint in q, qpos, v and qvel, and of its quaternion in
    qpos.
    """
    if m.nq != model.q_count or m.nv != model.v_count:
        raise ModelError(
            f"the MuJoCo model has {m.nq} positions; expected {model.q_count}: "
            f"make it from this world with to_mujoco"
        )
    sizes = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}
    for j in range(m.njnt):
        name, offset = m.joint(j).name, 0
        if not knows(model, name):
            name, _, part = name.rpartition(":")
            offset = PARTS.get(model.joint_kind(name), {}).get(part, 0)
        nq, nv = sizes[int(m.jnt_type[j])]
        a = model.q_index(name) + offset
        b = int(m.jnt_qposadr[j])
        c = model.v_index(name) + offset
        d = int(m.jnt_dofadr[j])
        yield (
            slice(a, a + nq),
            slice(b, b + nq),
            slice(c, c + nv),
            slice(d, d + nv),
            slice(b + nq - 4, b + nq) if nq > 1 else None,
        )


def knows(model: Model, name: str) -> bool:
    """Whether the model has a joint, robot or object of that name."""
    try:
        model.q_index(name)
    except ModelError:
        return False
    return True


def _vector(name: str, values: ArrayLike, count: int) -> Array:
    x = np.asarray(values, float)
    if x.shape != (count,):
        raise ModelError(
            f"{name} has shape {x.shape}; expected ({count},), as the MuJoCo model has it"
        )
    return x


def _model(world: World | Model) -> Model:
    return world if isinstance(world, Model) else world.compile()

"""Tracks of a recording: poses, loads and energy of bodies, for many moments at once.

Kinematics of ``tabi.dynamics`` on whole columns of q and v, in plain NumPy, from what a recording
keeps of the world. For every row,

    R_i = R_p P_i R(q_i),   p_i = p_p + R_p o_i + d(q_i)                                       (1)
    ω_i = ω_p + axes v_i,   ṗ_i = ṗ_p + ω_p × (p_i − p_p) + shifts v_i                         (2)
    T = ½ Σ (m ċ² + ω J ω) + ½ Σ armature v²,   U = −Σ m g·c + ½ Σ k (q − q₀)²                 (3)
    wrench of a foot about its origin: Σ f, Σ (x − o) × f + m
    centre of pressure: (−n_y, n_x) / f_z in its frame                                         (4)
    zero moment point: (3) of dynamics.loads                                                   (5)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.dynamics import loads
from tabi.model.arrays import FLOATING, PLANAR, PRISMATIC, REVOLUTE
from tabi.recording.anatomy import Anatomy

Array = NDArray[np.float64]
# rows times bodies whose motion is computed at a time
BATCH = 50_000


@dataclass(frozen=True, eq=False)
class Motion:
    """Motion of all moving bodies (0 is the world) in n rows:
    rotation (b, n, 3, 3), position (b, n, 3) [m], angular and linear velocity of the origin.
    """

    rotation: Array
    position: Array
    angular: Array
    linear: Array


def motion(a: Anatomy, q: Array, v: Array | None = None) -> Motion:
    """Equations (1), and (2) if velocities are given; they are zero otherwise."""
    n, count, body = len(q), len(a.body["parent"]), a.body
    R, p = np.zeros((count, n, 3, 3)), np.zeros((count, n, 3))
    w, u = np.zeros((count, n, 3)), np.zeros((count, n, 3))
    R[0] = np.eye(3)
    for i in range(1, count):
        parent, kind, k, m = (
            int(body[name][i]) for name in ("parent", "kind", "q_start", "v_start")
        )
        # one product for all rows
        flat = R[parent].reshape(-1, 3)
        axes = (flat @ body["rotation"][i].reshape(3, 3)).reshape(n, 3, 3)
        arm = (flat @ body["offset"][i]).reshape(n, 3)
        # places of the joint's coordinates that shift it, and of those axes that it turns about
        shifts = {PRISMATIC: (2,), PLANAR: (0, 1), FLOATING: (0, 1, 2)}.get(kind, ())
        turns = {PRISMATIC: (), REVOLUTE: (2,), PLANAR: (2,)}.get(kind, (0, 1, 2))
        for j, axis in enumerate(shifts):
            arm = arm + axes[:, :, axis] * q[:, k + j, None]
        p[i] = p[parent] + arm
        turn = k + len(shifts)
        if kind in (REVOLUTE, PLANAR):
            R[i] = _about_z(axes, q[:, turn])
        else:
            R[i] = axes @ rotations(q[:, turn : turn + 4]) if turns else axes
        if v is not None:
            w[i], u[i] = w[parent], u[parent] + cross(w[parent], arm)
            for j, axis in enumerate(shifts):
                u[i] += axes[:, :, axis] * v[:, m + j, None]
            for j, axis in enumerate(turns):
                w[i] += axes[:, :, axis] * v[:, m + len(shifts) + j, None]
    return Motion(R, p, w, u)


def cross(a: Array, b: Array) -> Array:
    """a × b of the last axis; NumPy's own takes several times as long."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return out


def _about_z(axes: Array, angle: Array) -> Array:
    """Axes after a turn about their third."""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    out = axes.copy()
    out[:, :, 0] = c * axes[:, :, 0] + s * axes[:, :, 1]
    out[:, :, 1] = c * axes[:, :, 1] - s * axes[:, :, 0]
    return out


def rotations(q: Array) -> Array:
    """Matrices of quaternions (w, x, y, z), shape (n, 3, 3);
    of any length but zero, which turns nothing.
    """
    length = np.linalg.norm(q, axis=1, keepdims=True)
    w, x, y, z = (
        np.where(length > 0, q, (1.0, 0.0, 0.0, 0.0)) / np.where(length > 0, length, 1.0)
    ).T
    rows = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]
    rows += [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]
    rows += [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
    return np.stack(rows, axis=1).reshape(-1, 3, 3)


def centres(a: Anatomy, motion_: Motion) -> Array:
    """Return the centre of mass of each body [m], shape (b, n, 3)."""
    arms = [
        (R.reshape(-1, 3) @ c).reshape(-1, 3)
        for R, c in zip(motion_.rotation, a.body["centre"], strict=True)
    ]
    return motion_.position + np.array(arms)


def energy(a: Anatomy, motion_: Motion, q: Array, v: Array) -> tuple[Array, Array]:
    """Return T and U of (3) [J], each of shape (n,); velocities have to be in ``motion_``."""
    body, dof = a.body, a.dof
    c = centres(a, motion_)
    T, U = 0.5 * (v * v) @ dof["armature"], np.zeros(len(q))
    speed = motion_.linear + cross(motion_.angular, c - motion_.position)
    spin = np.einsum("bnji,bnj->bni", motion_.rotation, motion_.angular)
    # the world's own row carries what is bolted to it, which neither moves nor falls
    for i in range(1, len(c)):
        xx, xy, xz, yy, yz, zz = body["inertia"][i]
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        T += 0.5 * (
            body["mass"][i] * (speed[i] * speed[i]).sum(axis=1)
            + ((spin[i] @ tensor) * spin[i]).sum(axis=1)
        )
        U -= body["mass"][i] * (c[i] @ a.gravity)
    sprung = (dof["stiffness"] > 0) & (dof["q"] >= 0)
    stretch = q[:, dof["q"][sprung]] - dof["rest"][sprung]
    return T, U + 0.5 * (stretch * stretch) @ dof["stiffness"][sprung]


def centres_of_mass(a: Anatomy, motion_: Motion) -> Array:
    """Return the centre of mass of each robot [m], shape (n, robots, 3)."""
    c, out = centres(a, motion_), np.zeros((motion_.position.shape[1], len(a.robot_names), 3))
    for k in range(len(a.robot_names)):
        robot_bodies = np.flatnonzero(a.robot == k)
        mass = a.body["mass"][robot_bodies]
        out[:, k] = np.tensordot(mass, c[robot_bodies], 1) / (mass.sum() or 1.0)
    return out


def foot_frames(a: Anatomy, motion_: Motion) -> tuple[Array, Array]:
    """Return origins (feet, n, 3) [m] and axes (feet, n, 3, 3) of all feet."""
    feet = a.feet
    R = motion_.rotation[feet.body]
    return motion_.position[feet.body] + np.einsum(
        "fnij,fj->fni", R, feet.position
    ), R @ feet.rotation[:, None]


def of_contacts(
    a: Anatomy, motion_: Motion, count: NDArray[np.int64], contacts: dict[str, NDArray[Any]]
) -> dict[str, Array]:
    """Compute the loads of contacts on feet.

    Args:
        count: contacts of each row.
        contacts: columns body_a, body_b (links), point, force and moment on a; the points of all
            rows in turn.

    Returns:
        wrench (n, feet, 6) of (4): force, torque in the world's axes. pressure (n, feet, 2) of (4),
        NaN without a load.
    """
    n, feet = len(count), a.feet
    row, sides = _sides(a, count, contacts)
    point = contacts["point"]
    origin, R = foot_frames(a, motion_)
    wrench = np.zeros((n, len(feet.names), 6))
    for k in range(len(feet.names)):
        for body, force, turning in sides:
            on_foot = (body == feet.body[k]) & (body != 0)
            wrench[:, k] += _summed(
                row[on_foot],
                force[on_foot],
                point[on_foot] - origin[k, row[on_foot]],
                turning[on_foot],
                n,
            )
    f, t = (np.einsum("fnij,nfi->nfj", R, wrench[:, :, part]) for part in (slice(3), slice(3, 6)))
    loaded = f[:, :, 2:] > 0
    pressure = np.where(
        loaded,
        np.stack([-t[:, :, 1], t[:, :, 0]], axis=2) / np.where(loaded, f[:, :, 2:], 1.0),
        np.nan,
    )
    return {"wrench": wrench, "pressure": pressure}


def zero_moment_points(
    a: Anatomy, count: NDArray[np.int64], contacts: dict[str, NDArray[Any]]
) -> Array:
    """Equation (5) of every robot, shape (n, robots, 3); arguments as of ``of_contacts``, and the
    normals of the contacts.
    """
    zmp, out = np.empty((len(count), len(a.robot_names), 3)), np.empty((len(count), 3))
    point, normal, force, moment = (
        np.ascontiguousarray(contacts[name], float)
        for name in ("point", "normal", "force", "moment")
    )
    links = a.link[contacts["body_a"]], a.link[contacts["body_b"]]
    for k in range(len(a.robot_names)):
        side = [((a.robot[body] == k) & (body != 0)).astype(float) for body in links]
        own_side = side[0] - side[1]
        loads.zero_moment_points(
            count.astype(np.int64), own_side, point, normal, force, moment, out
        )
        zmp[:, k] = out
    return zmp


def _sides(
    a: Anatomy, count: NDArray[np.int64], contacts: dict[str, NDArray[Any]]
) -> tuple[NDArray[np.int64], list[tuple[NDArray[np.int64], Array, Array]]]:
    """The row of every contact; moving body, force and moment of either side of it."""
    return np.repeat(np.arange(len(count)), count), [
        (a.link[contacts[body]], sign * contacts["force"], sign * contacts["moment"])
        for body, sign in (("body_a", 1.0), ("body_b", -1.0))
    ]


def _summed(row: NDArray[np.int64], force: Array, arm: Array, moment: Array, n: int) -> Array:
    """Forces and torques by rows, shape (n, 6)."""
    both = np.concatenate([force, cross(arm, force) + moment], axis=1)
    return np.stack([np.bincount(row, both[:, k], n).astype(float) for k in range(6)], axis=1)


def derived(world: Anatomy, columns: dict[str, Any]) -> list[tuple[Array, Array, Array, Array]]:
    """Kinetic and potential energy, centres of mass and zero moment points of rows of a recording,
    some rows at a time.
    """
    count = columns["contacts/count"]
    size = max(1, BATCH // len(world.robot))
    ends = np.concatenate([[0], np.cumsum(count)])
    parts = []
    for start in range(0, len(count), size):
        chunk = slice(start, min(start + size, len(count)))
        q, v = columns["q"][chunk], columns["v"][chunk]
        moving = motion(world, q, v)
        kinetic, potential = energy(world, moving, q, v)
        points = slice(ends[chunk.start], ends[chunk.stop])
        touching = {
            name: columns[f"contacts/{name}"][points]
            for name in ("body_a", "body_b", "point", "normal", "force", "moment")
        }
        zmp = zero_moment_points(world, count[chunk], touching)
        parts.append((kinetic, potential, centres_of_mass(world, moving), zmp))
    return parts

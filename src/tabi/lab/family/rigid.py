"""Contact problems of free rigid bodies: one step of Moreau's scheme from a state,
without a simulator.

v_free = v + h (g, −I⁻¹ ω × I ω),   q = E (ẋ_a − ẋ_b) + (0, 0, gap/h)                        (1)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi.contact import bodies
from tabi.contact.bodies import BodyProblem
from tabi.lab.family.case import GRAVITY, STEP

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Bodies(NamedTuple):
    """Free rigid bodies, in the world's axes.

    Attributes:
        mass: [kg], shape (n,). tensor: about the centre of mass [kg·m²], shape (n, 3, 3).
        centre: [m], shape (n, 3). twist: angular, then linear velocity of the centre [rad/s, m/s],
            shape (n, 6).
    """

    mass: Floats
    tensor: Floats
    centre: Floats
    twist: Floats


class RigidContacts(NamedTuple):
    """Contact points: bodies a and b (−1 for the ground), place [m], normal from b to a,
    coefficient, gap [m].
    """

    a: Integers
    b: Integers
    point: Floats
    normal: Floats
    mu: Floats
    gap: Floats


def boxes(
    mass: ArrayLike, size: ArrayLike, centre: ArrayLike, twist: ArrayLike | None = None
) -> Bodies:
    """Homogeneous boxes with edges along the world's axes: mass (n,), size and centre (n, 3)."""
    m, size, centre = np.array(mass, float), np.array(size, float), np.array(centre, float)
    x, y, z = np.square(size).T
    tensor = np.zeros((len(m), 3, 3))
    tensor[:, [0, 1, 2], [0, 1, 2]] = np.stack([y + z, x + z, x + y], axis=1) * m[:, None] / 12
    return Bodies(
        m, tensor, centre, np.zeros((len(m), 6)) if twist is None else np.array(twist, float)
    )


def shaken(rng: np.random.Generator, count: int, speed: float, length: ArrayLike) -> Floats:
    """Random twists: centres move at ``speed`` [m/s] a component,
    and points ``length`` [m] away as fast again by the turning.
    """
    twist = speed * rng.normal(size=(count, 6))
    twist[:, :3] /= np.broadcast_to(np.asarray(length, float), count)[:, None]
    return twist


def overlap(centre: Floats, size: Floats, a: int, b: int) -> Floats:
    """Corners of the rectangle in which the lower face of box a meets the upper face of box b,
    shape (4, 3).
    """
    low = np.maximum(centre[a] - size[a] / 2, centre[b] - size[b] / 2)[:2]
    high = np.minimum(centre[a] + size[a] / 2, centre[b] + size[b] / 2)[:2]
    z = centre[a, 2] - size[a, 2] / 2
    return np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1])])


def underside(centre: Floats, size: Floats, a: int) -> Floats:
    """Lower corners of box a, shape (4, 3)."""
    return np.array([centre[a] + size[a] / 2 * (x, y, -1) for x in (-1, 1) for y in (-1, 1)])


def upright(
    pairs: list[tuple[int, int]], points: list[Floats], mu: ArrayLike, gap: ArrayLike = 0.0
) -> RigidContacts:
    """Contacts with the normal upwards: of each pair (a, b) the points (k, 3);
    mu for all or for each pair.
    """
    counts = [len(x) for x in points]
    each = np.repeat(np.arange(len(pairs)), counts)
    ends = np.array(pairs, np.int64)[each]
    where = np.concatenate(points)
    friction = np.broadcast_to(np.asarray(mu, float), len(pairs))[each]
    gaps = np.broadcast_to(np.asarray(gap, float), len(pairs))[each]
    return RigidContacts(
        ends[:, 0].copy(),
        ends[:, 1].copy(),
        where,
        np.tile([0.0, 0.0, 1.0], (len(where), 1)),
        friction,
        gaps,
    )


def frames(normal: Floats) -> Floats:
    """Frames with rows tangent, tangent, normal, shape (n, 9);
    the world's own where the normal is upwards.
    """
    n = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    axis = np.where((np.abs(n[:, 0]) < 0.9)[:, None], (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    t = axis - np.einsum("ij,ij->i", axis, n)[:, None] * n
    t /= np.linalg.norm(t, axis=1, keepdims=True)
    return np.ascontiguousarray(np.concatenate([t, np.cross(n, t), n], axis=1))


def assemble(free: Bodies, contacts: RigidContacts, h: float = STEP) -> BodyProblem:
    """The problem (1) of a step h [s]."""
    count, inverse = len(free.mass), np.linalg.inv(free.tensor)
    omega = np.zeros((count, 6, 6))
    omega[:, :3, :3] = inverse
    omega[:, [3, 4, 5], [3, 4, 5]] = 1 / free.mass[:, None]
    turning = np.einsum("nij,nj->ni", free.tensor, free.twist[:, :3])
    velocity = free.twist.copy()
    velocity[:, :3] -= h * np.einsum("nij,nj->ni", inverse, np.cross(free.twist[:, :3], turning))
    velocity[:, 3:] += h * GRAVITY
    a, b = contacts.a, contacts.b
    grounded = (b < 0)[:, None]
    frame = frames(contacts.normal)
    arm_a = contacts.point - free.centre[a]
    arm_b = np.where(grounded, 0.0, contacts.point - free.centre[b])
    speed = velocity[a, 3:] + np.cross(velocity[a, :3], arm_a)
    speed -= np.where(grounded, 0.0, velocity[b, 3:] + np.cross(velocity[b, :3], arm_b))
    q = np.einsum("nij,nj->ni", frame.reshape(-1, 3, 3), speed)
    q[:, 2] += contacts.gap / h
    start, column = np.arange(count + 1), np.arange(count)
    return bodies.problem(
        a=a,
        b=b,
        frame=frame,
        arm_a=arm_a,
        arm_b=arm_b,
        start=start,
        column=column,
        omega=omega,
        q=q.ravel(),
        mu=contacts.mu,
    )

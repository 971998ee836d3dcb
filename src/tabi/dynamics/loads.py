"""Resultant of contact forces: wrench, centre of pressure, and zero moment point.

    F = Σ f,   M_o = Σ ((p − o) × f + m)                                                        (1)
    c = o + n × M_o / (n · F)                                                                   (2)
(1): the wrench about o of forces f [N] at points p [m] and moments m [N·m]; (2): the centre of
pressure in the plane through o with the normal n: the only point there about which no moment is
left but one about n. It is None, or NaN, unless n · F > 0.

The zero moment point of a robot is (2) of all forces that act on it from outside, in the mean plane
of the contacts that carry it:

    o = Σ w p / Σ w,   n ∥ Σ w n_k,   w = f · n_k                                               (3)
summed over contacts whose normals n_k are at most 60° from the vertical.
On flat ground and on a slope that is the ground itself, and with one foot down the zero moment
point is that foot's centre of pressure. On stairs, with the feet at different heights, the plane
lies between them and moves from one to the other as the load does, without a jump. Hands against a
wall add to the wrench, and not to the plane.
"""

from math import nan

import numpy as np
from numpy.typing import NDArray

from tabi.jit import kernel
from tabi.spatial.vector import add, cross, dot, load3, scale, store3, sub

Array = NDArray[np.float64]
# minimum vertical component of the normal of load-bearing contacts: 60°
MIN_NORMAL_Z = 0.5
# empty sum: force, moment, and of load-bearing contacts pressure, points and normals
NOTHING = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@kernel(inline=True)
def centre_of_pressure(force, torque):
    """Equation (2) in the x-y plane of a frame from a wrench about its origin, in its axes: x, y
    [m].
    """
    if not force[2] > 0.0:
        return nan, nan
    return -torque[1] / force[2], torque[0] / force[2]


def pressure_point(force: Array, torque: Array) -> Array | None:
    """``centre_of_pressure`` for Python: None without a load along z."""
    return np.array([-torque[1], torque[0]]) / force[2] if force[2] > 0 else None


@kernel(inline=True)
def with_contact(total, point, normal, force):
    """The sums of (1) and (3) with one contact more.

    Args:
        total: NOTHING, or what this and ``with_moment`` returned.
        point: from any place near the contacts, the same for all of them.
        normal: towards what the force acts on. force: on it.
    """
    F, M, load, centre, up = total
    pressed = dot(force, normal)
    if normal[2] > MIN_NORMAL_Z and pressed > 0.0:
        load, centre = load + pressed, add(centre, scale(pressed, point))
        up = add(up, scale(pressed, normal))
    return add(F, force), add(M, cross(point, force)), load, centre, up


@kernel(inline=True)
def with_moment(total, moment):
    """The sums with a moment of torsional or rolling friction."""
    F, M, load, centre, up = total
    return F, add(M, moment), load, centre, up


@kernel(inline=True)
def zero_moment_point(total):
    """Equation (2) in the plane (3), from the place that points were from; NaN where nothing
    carries.
    """
    F, M, load, centre, up = total
    size = dot(up, up) ** 0.5
    if not size > 0.0:
        return nan, nan, nan
    o, n = scale(1.0 / load, centre), scale(1.0 / size, up)
    pressed = dot(n, F)
    if not pressed > 0.0:
        return nan, nan, nan
    return add(o, scale(1.0 / pressed, cross(n, sub(M, cross(o, F)))))


@kernel
def zero_moment_points(count, side, point, normal, force, moment, out):
    """The zero moment point of each row of a table of contacts.

    Args:
        count: contacts of each row; those of all rows follow each other.
        side: 1 where a contact acts on the robot, −1 where its reaction does, 0 elsewhere.
        point, normal, force, moment: of contacts, shape (·, 3).
        out: shape (rows, 3) [m].
    """
    end = 0
    for k in range(count.shape[0]):
        start, end, total, place = end, end + count[k], NOTHING, (0.0, 0.0, 0.0)
        if end > start:
            place = load3(point[start])
        for e in range(start, end):
            s = side[e]
            if s != 0.0:
                r, n, f = sub(load3(point[e]), place), load3(normal[e]), load3(force[e])
                total = with_contact(total, r, scale(s, n), scale(s, f))
                total = with_moment(total, scale(s, load3(moment[e])))
        store3(out[k], add(place, zero_moment_point(total)))

"""The flat form of a world, as kernels read it: tables with named columns.

Body 0 is the world: it never moves, and every root hangs on it. Body i > 0 has exactly one joint,
with its own frame turned so that the joint's axis is z. A *tree* is what hangs on one root; all 6-D
vectors of a tree are taken about the origin of its root body, in the world's axes.
"""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.jit.structure import Structure

# kinds of joints in kernels
REVOLUTE, PRISMATIC, SPHERICAL, PLANAR, FLOATING, WELDED = 0, 1, 2, 3, 4, 5
KIND = {
    "revolute": REVOLUTE,
    "continuous": REVOLUTE,
    "prismatic": PRISMATIC,
    "spherical": SPHERICAL,
    "planar": PLANAR,
    "floating": FLOATING,
    # only where a sensor measures what passes through it
    "fixed": WELDED,
}

REAL = np.float64
INDEX = np.int64

BODY: np.dtype[Any] = np.dtype(
    [
        # structure, never changes: its parent, the root of its tree, its joint's kind, q and v
        ("parent", INDEX),
        ("root", INDEX),
        ("kind", INDEX),
        ("q_start", INDEX),
        ("v_start", INDEX),
        ("v_end", INDEX),
        # joint frame in the parent's frame: rotation row by row, position [m]
        ("rotation", REAL, 9),
        ("offset", REAL, 3),
        # parameters: mass [kg], centre of mass [m], tensor about it [kg·m²]: xx xy xz yy yz zz
        ("mass", REAL),
        ("centre", REAL, 3),
        ("inertia", REAL, 6),
    ],
    align=True,
)
DOF: np.dtype[Any] = np.dtype(
    [
        # parameters of each degree of freedom: added inertia, viscous damping,
        # spring and its rest position
        ("armature", REAL),
        ("damping", REAL),
        ("stiffness", REAL),
        ("rest", REAL),
        # dry friction, limits of position, speed and effort (±inf where there are none),
        # gains of its motor's loop
        ("friction", REAL),
        ("lower", REAL),
        ("upper", REAL),
        ("velocity_limit", REAL),
        ("effort_limit", REAL),
        ("kp", REAL),
        ("kd", REAL),
        # its motor's line: effort at rest, and the speed at which it gives none; inf without one
        ("stall_effort", REAL),
        ("no_load_speed", REAL),
        # its position in q; −1 where there is no single one (quaternions)
        ("q", INDEX),
        # 1 where the acceleration is given and the force comes out
        ("prescribed", INDEX),
    ],
    align=True,
)
MIMIC = np.dtype(
    [
        # degrees of freedom with q_follower = ratio · q_leader + offset
        ("follower", INDEX),
        ("leader", INDEX),
        ("ratio", REAL),
        ("offset", REAL),
    ],
    align=True,
)


PAIR = np.dtype(
    [
        # of two materials: coefficients of friction while they slide and while they stick,
        # restitution
        ("friction", REAL),
        ("static_friction", REAL),
        ("restitution", REAL),
        # moments against turning about the normal and rolling, per newton that presses [m]; growth
        # of friction with speed [s/m]
        ("torsional_friction", REAL),
        ("rolling_friction", REAL),
        ("viscous_friction", REAL),
    ],
    align=True,
)


def table(count: int | tuple[int, int], columns: np.dtype) -> NDArray[np.void]:
    """A table of zeros; rows answer to column names as attributes also where kernels run as plain
    Python.
    """
    rows = np.zeros(count, columns)
    return rows.view(np.recarray) if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0" else rows


class ModelArrays(Structure):
    """Arrays of a model for kernels: bodies (row 0 the world), degrees of freedom, couplings,
    gravity [m/s²].
    """

    body: NDArray[np.void]
    dof: NDArray[np.void]
    mimic: NDArray[np.void]
    gravity: NDArray[np.float64]

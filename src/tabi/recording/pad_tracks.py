"""Pressure and indentation of soft soles and pads, for many moments at once.

Of the forces f and displacements U of the nodes of a pad, in its own frame, for every row,

    pressure p_i = f_z,i / a_i,   a_i a third of the triangles around node i                   (1)
    centre of pressure c = Σ x_i f_z,i / Σ f_z,i                                               (2)
    sink s and slopes g: the plane s + g·(x − c) that fits U_z best, weighted by f_z           (3)
    tilt = (−g_y, g_x), turns about x and y
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.model.pad import Pad

Array = NDArray[np.float64]
# slopes across a line of nodes, or a single one, are none: what counts as zero, of the largest
FLAT = 1e-9


def areas(nodes: Array, triangles: NDArray[np.int64]) -> Array:
    """Share of each node in the face, a of (1) [m²], shape (n,)."""
    edges = nodes[triangles[:, 1:]] - nodes[triangles[:, :1]]
    size = 0.5 * np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    return np.bincount(triangles.ravel(), np.repeat(size / 3.0, 3), len(nodes)).astype(float)


def forces(pad: Pad, displacement: Array, velocity: Array) -> Array:
    """On the nodes [N], K U + D U̇, rows of displacements and velocities (…, n, 3)."""
    U, V = (x.reshape(*x.shape[:-2], -1) for x in (displacement, velocity))
    # both matrices are symmetric
    if pad.damping is None:
        f = (U + pad.viscosity * V) @ pad.stiffness
    else:
        f = U @ pad.stiffness + V @ pad.damping
    return f.reshape(displacement.shape)


def centres(nodes: Array, force: Array) -> Array:
    """Centres of pressure (2) [m], shape (…, 2); NaN where nothing presses."""
    load = force[..., 2]
    total = load.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0.0, 1.0, np.nan)[..., None] * (
            load @ nodes[:, :2] / np.where(total == 0.0, 1.0, total)[..., None]
        )


def planes(nodes: Array, displacement: Array, force: Array) -> Array:
    """Sink [m] and slopes along x and y of (3), shape (…, 3); zero where nothing presses."""
    middle, load = centres(nodes, force), np.maximum(force[..., 2], 0.0)
    there = np.isfinite(middle[..., :1])
    away = nodes[:, :2] - np.where(there, middle, 0.0)[..., None, :]
    root = np.where(there, np.sqrt(load), 0.0)[..., None]
    design = root * np.concatenate([np.ones((*away.shape[:-1], 1)), away], axis=-1)
    fit: Any = np.linalg.pinv(design, rcond=FLAT)
    return (fit @ (root * displacement[..., 2:]))[..., 0]


def tilts(planes_: Array) -> Array:
    """Turns about x and y [rad] of planes, shape (…, 2)."""
    return np.stack([-planes_[..., 2], planes_[..., 1]], axis=-1)

"""Vibration modes of a sole: glued to the foot, its ground face free.

    K φ = ω² M φ,   ζ = φᵀ D φ / (2 ω φᵀ M φ),   D = Σ η K of the layers                         (1)

K and M stiffness and mass of all nodes, the mass distributed as the displacements are. Where η is
the same in all layers, ζ = η ω / 2. A contact that lasts much longer than 1/f of the first of them
sees the sole without its mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from tabi._errors import ModelError
from tabi.soles.condensation import SYMMETRIC
from tabi.soles.elasticity import Stiffness
from tabi.soles.materials import Layer

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SoleMode:
    """A natural motion of a sole.

    Attributes:
        frequency: without damping [Hz]. damping_ratio: ζ of (1), above 1 it creeps back.
        share: of the sole's mass that takes part along x, y and z, shape (3,).
        shape: of the mesh's nodes, the largest of length 1, shape (n, 3).

    Example: ``sole.modes`` in docs/soles.md
    """

    frequency: float
    damping_ratio: float
    share: Array
    shape: Array


def modes(whole: Stiffness, mass: Any, layers: tuple[Layer, ...], count: int) -> list[SoleMode]:
    """The slowest motions by themselves, slowest first; mass [kg], sparse (d, d)."""
    free = whole.free
    most = int(np.sum(np.isin(whole.displacement.ravel(), free))) - 1
    if not 1 <= count <= most:
        raise ModelError(f"{count} modes are asked of a sole; expected 1 to {most}")
    K = whole.matrix[free][:, free].tocsc()
    M = mass[free][:, free].tocsc()
    factors: Any = splu(K, permc_spec="MMD_AT_PLUS_A", **SYMMETRIC)
    operator: Any = LinearOperator
    solve = operator(K.shape, matvec=factors.solve, dtype=float)
    # a start of our own: the same numbers on every call
    start = np.random.default_rng(0).standard_normal(len(free))
    squares, vectors = eigsh(K, k=count, M=M, sigma=0.0, OPinv=solve, v0=factors.solve(M @ start))
    D: Any = sum(layer.viscosity * part for layer, part in zip(layers, whole.parts, strict=True))
    D = D.tocsr()[free][:, free]
    modes = []
    for square, vector in sorted(zip(squares, vectors.T, strict=True), key=lambda pair: pair[0]):
        omega, modal_mass = float(np.sqrt(square)), float(vector @ (M @ vector))
        full = np.zeros(mass.shape[0])
        full[free] = vector
        shape = full[whole.displacement]
        along = np.zeros((len(full), 3))
        for i in range(3):
            along[whole.displacement[:, i], i] = 1.0
        carried = mass @ along
        share = (full @ carried) ** 2 / modal_mass / np.einsum("ij,ij->j", along, carried)
        ratio = float(vector @ (D @ vector)) / (2.0 * omega * modal_mass)
        longest = np.linalg.norm(shape, axis=1).max()
        modes.append(SoleMode(omega / (2.0 * pi), ratio, share, shape / longest))
    return modes

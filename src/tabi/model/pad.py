"""The face of something soft, as contacts see it: nodes, triangles between them, and how they give
way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pad:
    """A soft face of n nodes whose back is glued to its body: see ``tabi.soles``.

    Forces on the nodes and their displacements are vectors (3n,), node by node, in the pad's frame:
    U = C f at rest, f = C⁻¹ U + D U̇ in motion. It has no mass of its own; that is the body's.

    Attributes:
        nodes: unloaded [m], shape (n, 3). triangles: outwards counter-clockwise, shape (m, 3).
        compliance: C [m/N], shape (3n, 3n), symmetric and positive definite.
        viscosity: D = viscosity · C⁻¹ [s]; damping: D itself [N·s/m], where it is not that.
        thickness: least distance of the face from the glued back [m].
        skin, skin_triangles: all of its surface, for pictures; the nodes stand first.
    """

    nodes: Array
    triangles: Indices
    compliance: Array
    viscosity: float = 0.0
    damping: Array | None = None
    thickness: float = 0.02
    skin: Array | None = None
    skin_triangles: Indices | None = None

    def __post_init__(self) -> None:
        n = len(self.nodes)
        if np.shape(self.nodes) != (n, 3) or n < 3 or not np.isfinite(self.nodes).all():
            raise ModelError(
                f"pad has nodes of shape {np.shape(self.nodes)}; "
                "expected at least three finite points (x, y, z) in metres"
            )
        inside = np.ndim(self.triangles) == 2 and np.shape(self.triangles)[1] == 3
        if not (inside and (np.asarray(self.triangles) < n).all() and np.min(self.triangles) >= 0):
            raise ModelError(
                f"pad has triangles of shape {np.shape(self.triangles)}; "
                f"expected rows of three numbers of its {n} nodes"
            )
        for name, matrix in (("compliance", self.compliance), ("damping", self.damping)):
            if matrix is not None and np.shape(matrix) != (3 * n, 3 * n):
                raise ModelError(
                    f"pad has a {name} of shape {np.shape(matrix)}; expected ({3 * n}, {3 * n}), "
                    f"as it has {n} nodes"
                )
        if not (0.0 <= self.viscosity < np.inf):
            raise ModelError(f"pad has viscosity {self.viscosity}; expected seconds ≥ 0")

    @cached_property
    def stiffness(self) -> Array:
        """K = C⁻¹ [N/m], shape (3n, 3n)."""
        K = np.linalg.inv(self.compliance)
        return 0.5 * (K + K.T)

    def support(self, d: Array) -> float:
        """Largest d·x of the unloaded face."""
        return float((self.nodes @ d).max())

    def points(self) -> Array:
        """Return the unloaded nodes [m]."""
        return self.nodes

"""A sole as its ground nodes see it: all other unknowns eliminated.

With c the displacements of the ground's nodes, n all other unknowns, and the foot's side held,

    K_c = K_cc − K_cn K_nn⁻¹ K_nc,   C = K_c⁻¹ = (K⁻¹)_cc                                       (1)
Nodes that do not touch carry no force: the compliance of those that do is a part of C, whichever
they are. K is factorised once, in an order with the ground last, K = L U; then K_c = L_cc U_cc.
All of K scales with a common factor of Young's moduli, and so does K_c: what is kept on disk is
made for a first layer of 1 Pa, and serves all soles of the same mesh, ratios of E, and ν.

Viscous stress, D = Σ η K of the layers, has the same condensation where η is the same for all:
D_c = η K_c. Otherwise inner nodes are taken to follow the ground's as they do at rest (Guyan),

    D_c = Gᵀ D G = d K_c(K + s D) / ds,   G = (1, −K_nn⁻¹ K_nc)                                 (2)
by a complex step in s, which loses no digits.

References: Guyan (1965), Reduction of stiffness and mass matrices; Chardonnet et al. (2008),
Interactive dynamic simulator for humanoid robots with deformable soles, (5) and (6).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from tabi._errors import ModelError
from tabi.jit.cache_folder import cache_root
from tabi.soles.elasticity import Element, Stiffness, assemble
from tabi.soles.materials import Layer
from tabi.soles.mesh import SoleMesh

Array = NDArray[Any]
Indices = NDArray[np.int64]
# files that the cache keeps, most recently used first
MAX_CACHED_FILES = 16
# version of the file format
FORMAT = 1
# no pivoting: the matrix is definite, or quasi-definite
SYMMETRIC = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True, "Equil": False}}


@dataclass(frozen=True, eq=False)
class Condensed:
    """Compliance C of (1) [m/N], shape (3k, 3k), node by node, in the foot's axes;
    D_c of (2) [N·s/m], shape (3k, 3k), None where all layers have the same viscosity.
    """

    compliance: Array
    damping: Array | None = None


def condensed(
    mesh: SoleMesh,
    layers: tuple[Layer, ...],
    element: Element = "mini",
    cache: bool = True,
    folder: Path | None = None,
) -> Condensed:
    """Equations (1) and (2), from disk if they are there.

    Args:
        cache: whether to look on disk, and to keep the result there.
        folder: where; by default ``soles`` in the folder of the compiled kernels.
    """
    if element == "quadratic":
        raise ModelError(
            "quadratic tetrahedra have ground nodes that carry nothing of an even pressure; "
            "condense 'mini' or 'linear' ones"
        )
    scale = layers[0].young_modulus
    unit = tuple(replace(x, young_modulus=x.young_modulus / scale) for x in layers)
    root = cache_root()
    place = folder or (root / "soles" if root else None)
    path = place / f"{_key(mesh, unit, element)}.npz" if cache and place else None
    count = 3 * len(mesh.ground_nodes)
    condensed_sole = _read(path, count, _uneven(layers)) if path else None
    if condensed_sole is None:
        _check_hangs(mesh)
        condensed_sole = _eliminated(mesh, unit, element)
        if path:
            _write(path, condensed_sole)
    damping = None if condensed_sole.damping is None else condensed_sole.damping * scale
    return Condensed(condensed_sole.compliance / scale, damping)


def _uneven(layers: tuple[Layer, ...]) -> bool:
    return len({layer.viscosity for layer in layers}) > 1


def _eliminated(mesh: SoleMesh, layers: tuple[Layer, ...], element: Element) -> Condensed:
    whole = assemble(mesh, layers, element)
    K_c, order = _schur(whole, mesh)
    compliance = inverse(K_c)
    if not _uneven(layers):
        return Condensed(compliance)
    D = sum(layer.viscosity * part for layer, part in zip(layers, whole.parts, strict=True))
    # the damping times set the scale of the step, which only has to be small
    step = 1e-20 / max(layer.viscosity for layer in layers)
    matrix = (whole.matrix + 1j * step * D)[order][:, order].tocsc()
    D_c = _last_block(matrix, len(K_c)).imag / step
    return Condensed(compliance, 0.5 * (D_c + D_c.T))


def _schur(whole: Stiffness, mesh: SoleMesh) -> tuple[Array, Indices]:
    """K_c of (1), and the order of elimination."""
    ground = whole.displacement[mesh.ground_nodes].ravel()
    inner = np.setdiff1d(whole.free, ground)
    K = whole.matrix
    if len(inner):
        first: Any = splu(K[inner][:, inner].tocsc(), permc_spec="MMD_AT_PLUS_A", **SYMMETRIC)
        inner = inner[np.argsort(first.perm_c)]
    order = np.concatenate([inner, ground])
    K_c = _last_block(K[order][:, order].tocsc(), len(ground))
    return 0.5 * (K_c + K_c.T), order


def _last_block(matrix: Any, count: int) -> Any:
    """Return the Schur complement of the last unknowns, all before them eliminated."""
    factors: Any = splu(matrix, permc_spec="NATURAL", **SYMMETRIC)
    L, U = factors.L[-count:][:, -count:], factors.U[:, -count:][-count:]
    return L.toarray() @ U.toarray()


def inverse(matrix: Array) -> Array:
    """Inverse of a symmetric positive definite matrix, symmetric to the last digit."""
    # by LU: the threads of Cholesky's factors wait for each other where cores are busy, a
    # hundredfold
    result = np.linalg.inv(matrix)
    return 0.5 * (result + result.T)


def _check_hangs(mesh: SoleMesh) -> None:
    """Refuse a mesh with parts that the foot does not hold."""
    n, ends = len(mesh.points), mesh.tetrahedra[:, [0, 1, 2]].ravel()
    links = coo_array((np.ones(len(ends)), (ends, mesh.tetrahedra[:, [1, 2, 3]].ravel())), (n, n))
    count, part = connected_components(links, directed=False)
    loose = np.setdiff1d(np.arange(count), part[mesh.glued])
    if len(loose):
        raise ModelError(
            f"{len(loose)} of {count} parts of the sole do not hang on its glued face; expected "
            "all corners to belong to tetrahedra that do"
        )


# ---- on disk ------------------------------------------------------------------------------------


def _key(mesh: SoleMesh, unit: tuple[Layer, ...], element: Element) -> str:
    """Return a digest of the mesh, the ratios of moduli, ν and viscosities; densities and E itself
    do not matter.
    """
    state = hashlib.sha256(f"{FORMAT} {element}".encode())
    for array in (mesh.points, mesh.tetrahedra, mesh.layer, mesh.glued, mesh.ground):
        state.update(repr((array.shape, str(array.dtype))).encode())
        state.update(np.ascontiguousarray(array).tobytes())
    for layer in unit:
        viscosity = layer.viscosity if _uneven(unit) else 0.0
        # equal ratios may differ in their last digit
        ratio = f"{layer.young_modulus:.13e}"
        state.update(repr((ratio, layer.poisson_ratio, viscosity)).encode())
    return state.hexdigest()[:32]


def _read(path: Path, count: int, uneven: bool) -> Condensed | None:
    """A file of the cache; None if it is lost, broken or of another sole."""
    try:
        with np.load(path, allow_pickle=False) as file:
            compliance = file["compliance"]
            damping = file["damping"] if uneven else None
        os.utime(path)
    except Exception:
        return None
    for matrix in (compliance, damping):
        if matrix is not None and (matrix.shape != (count, count) or not np.isfinite(matrix).all()):
            return None
    return Condensed(compliance, damping)


def _write(path: Path, made: Condensed) -> None:
    """Write a result as a whole; a disk that is full or read-only is not an error."""
    arrays: dict[str, Any] = {"compliance": made.compliance}
    if made.damping is not None:
        arrays["damping"] = made.damping
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **arrays)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            raise
        files = sorted(path.parent.glob("*.npz"), key=lambda p: p.stat().st_mtime)
        for old in files[:-MAX_CACHED_FILES]:
            old.unlink(missing_ok=True)

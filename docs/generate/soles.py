"""Draws the picture and writes the table of the page on soles.

python docs/generate/soles.py            a minute
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse
import skfem
from filling import DOCS, PICTURES, table, write
from saving import shrink
from scipy.sparse.linalg import splu
from skfem.helpers import ddot, div, sym_grad

from tabi import robots
from tabi.apps.sole import draw
from tabi.soles import Layer, SoleMesh, make_sole, sole_mesh
from tabi.soles.elasticity import assemble

# a bonded disc of shape factor R/2t = 2
THICKNESS, SHAPE, SIZE = 0.02, 2.0, 0.015
RATIOS = (0.3, 0.45, 0.499)
NAMES = {
    "linear": "linear, P1",
    "nodal": "linear, mean dilatation of each node",
    "mini": "linear and a bubble, pressure P1: MINI",
    "quadratic": "quadratic, P2",
    "taylor-hood": "quadratic, pressure P1: Taylor and Hood",
}


def matrix(mesh: SoleMesh, layer: Layer, name: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """Stiffness, unknowns of the nodes' displacements, shape (n, 3), and their places."""
    if name in ("linear", "mini", "quadratic"):
        found = assemble(mesh, (layer,), name)
        return found.matrix, found.displacement, found.nodes
    if name == "nodal":
        found = assemble(mesh, (layer,), "mini")
        whole, n = found.matrix.tocsr(), found.displacement.size
        volume = np.zeros(len(mesh.points))
        np.add.at(volume, mesh.tetrahedra, mesh.volumes[:, None] / 4)
        S = sparse.diags(volume / layer.bulk_modulus)
        K = sparse.bmat([[whole[:n, :n], whole[:n, n:]], [whole[n:, :n], -S]])
        return K.tocsc(), found.displacement, found.nodes
    found = assemble(mesh, (layer,), "quadratic")
    tetrahedra = skfem.MeshTet(*map(np.ascontiguousarray, (mesh.points.T, mesh.tetrahedra.T)))
    u = skfem.Basis(tetrahedra, skfem.ElementVector(skfem.ElementTetP2()))
    p = u.with_element(skfem.ElementTetP1())
    mu = layer.shear_modulus
    A = skfem.BilinearForm(
        lambda a, b, w: 2 * mu * (ddot(sym_grad(a), sym_grad(b)) - div(a) * div(b) / 3)
    ).assemble(u)
    B = skfem.BilinearForm(lambda a, q, w: q * div(a)).assemble(u, p)
    S = skfem.BilinearForm(lambda a, q, w: a * q / layer.bulk_modulus).assemble(p)
    K = sparse.bmat([[A, B.T], [B, -S]]).tocsc()
    return K, found.displacement, found.nodes


def modulus(mesh: SoleMesh, layer: Layer, name: str) -> tuple[float, int]:
    """Force over area and strain of a disc that sticks to both plates, over E; and unknowns."""
    K, displacement, nodes = matrix(mesh, layer, name)
    z = nodes[:, 2]
    below, above = displacement[z < z.min() + 1e-9], displacement[z > -1e-9]
    x = np.zeros(K.shape[0])
    x[below[:, 2]] = 1.0
    held = np.union1d(below, above)
    free = np.setdiff1d(np.arange(len(x)), held)
    x[free] = splu(K[free][:, free].tocsc()).solve(-(K[free][:, held] @ x[held]))
    force = float((K @ x)[below[:, 2]].sum())
    area = -float(mesh.ground_areas[:, 2].sum())
    return force * THICKNESS / area / layer.young_modulus, len(free)


def elements() -> str:
    """The bonded disc by every element."""
    radius = 2 * SHAPE * THICKNESS
    turn = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    outline = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    rows = []
    for name, words in NAMES.items():
        cells = []
        for nu in RATIOS:
            layer = Layer(THICKNESS, 1e6, nu)
            found, unknowns = modulus(sole_mesh(outline, layer, SIZE), layer, name)
            cells.append(f"{found:.2f}")
        rows.append([words, str(unknowns), *cells])
    rows.append(["Gent and Lindley, 1 + 2S²", "", "", "", f"{1 + 2 * SHAPE**2:.2f}"])
    soft = 1 / (1 / (1 + 2 * SHAPE**2) + 3 * (1 - 2 * RATIOS[-1]))
    rows.append(["the same, with the bulk modulus in series", "", "", "", f"{soft:.2f}"])
    return table(["", "unknowns", *(f"ν = {nu}" for nu in RATIOS)], rows)


def main() -> None:
    write(DOCS / "soles.md", "elements", elements())
    rubber = Layer(thickness=0.02, young_modulus=2e6, poisson_ratio=0.49)
    sole = make_sole(robots.hrp2().feet["left"].polygon, rubber, element_size=0.01)
    found = sole.pressure((560.0, 0.06, 0.0))
    draw(drawn := PICTURES / "sole_pressure.png", sole, found, "left foot of HRP-2")
    shrink(drawn)


if __name__ == "__main__":
    main()

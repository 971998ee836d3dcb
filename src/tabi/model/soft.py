"""Soft pads: layers of material glued to a face of a body.

The pad's mass goes to the body that it is glued to, and its nodes have none: it follows forces at
once. Its first own frequency is far above what a step of a millisecond sees (``tabi sole`` prints
it).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, near, unknown
from tabi.model.pad import Pad
from tabi.model.shape import Box, Material, Shape
from tabi.spatial.transform import Transform

if TYPE_CHECKING:
    from tabi.soles import DeformableSole, Layer

Array = NDArray[np.float64]
RUBBER = (0.16, 0.17, 0.19, 1.0)
# axis of each face of a box, and its sign
FACES = {
    f"{sign}{axis}": (k, 1.0 if sign == "+" else -1.0)
    for k, axis in enumerate("xyz")
    for sign in "+-"
}


def made_of(outline: Array, layers: Layer | Sequence[Layer], options: dict[str, Any]) -> Any:
    """A sole of an outline: ``tabi.soles.make_sole``."""
    # its elements take long to import, and few worlds have soft soles
    from tabi.soles import make_sole

    known = [*inspect.signature(make_sole).parameters][2:]
    for word in options:
        if word not in known:
            every = ["thickness", "young_modulus", "poisson_ratio", "density", "viscosity", *known]
            hint = near(word, every) or f"; expected some of {', '.join(every)}"
            raise ModelError(f"soft soles and pads have no {word!r}{hint}")
    return make_sole(outline, layers, **options)


def pad_shape(sole: DeformableSole, X_BF: Transform, material: Material, name: str) -> Shape:
    """The face of a sole as a shape of the body that it is glued to."""
    skin, skin_triangles = _skin(sole)
    pad = Pad(
        sole.ground_points,
        sole.ground_triangles,
        sole.compliance,
        0.0 if sole.uneven_damping is not None else sole.viscosity,
        sole.uneven_damping,
        float(-sole.ground_points[:, 2].max()),
        skin,
        skin_triangles,
    )
    return Shape(pad, X_BF, material, RUBBER, name=name)


def surface_of(shapes: Sequence[Shape]) -> Material:
    """The material of the first of some shapes."""
    return shapes[0].material if shapes else Material()


def face_of_box(shapes: Sequence[Shape], face: str, owner: str) -> tuple[Transform, Array]:
    """Frame and outline [m] of a face of the first box among shapes, z into the box."""
    if face not in FACES:
        raise unknown("face", face, "a box", FACES)
    box = next((s for s in shapes if isinstance(s.geometry, Box)), None)
    if box is None:
        raise ModelError(
            f"body {owner!r} has no box whose face {face!r} could get a pad; "
            "give an outline [[x, y], …] with its position and quaternion"
        )
    assert isinstance(box.geometry, Box)
    axis, sign = FACES[face]
    half = 0.5 * np.asarray(box.geometry.size)
    z, x = -sign * np.eye(3)[axis], np.eye(3)[(axis + 1) % 3]
    R = np.column_stack([x, np.cross(z, x), z])
    a, b = half[(axis + 1) % 3], half[(axis + 2) % 3]
    outline = np.array([[-a, -b], [a, -b], [a, b], [-a, b]])
    return box.placement @ Transform(R, -z * half[axis]), outline


def _skin(sole: DeformableSole) -> tuple[Array, NDArray[np.int64]]:
    """Points and triangles of all of a sole's surface, its ground nodes first."""
    mesh = sole.mesh
    tetrahedra = mesh.tetrahedra
    faces = np.concatenate([tetrahedra[:, c] for c in ([1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1])])
    key = np.sort(faces, axis=1)
    _, first, count = np.unique(key, axis=0, return_index=True, return_counts=True)
    outer = faces[first[count == 1]]
    used = np.unique(outer)
    order = np.concatenate([mesh.ground_nodes, np.setdiff1d(used, mesh.ground_nodes)])
    number = np.zeros(len(mesh.points), np.int64)
    number[order] = np.arange(len(order))
    return mesh.points[order], number[outer]

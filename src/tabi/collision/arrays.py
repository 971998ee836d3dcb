"""The shapes of a world as collision kernels read them: tables with named columns.

Round shapes are a core and a radius around it: a sphere is a point, a capsule a segment along z.
An ellipsoid is all core, as a cylinder is.
Boxes and polytopes have their corners and faces in shared tables. A shape's own frame is centred,
so that its bounds are symmetric.
"""

from __future__ import annotations

from collections import defaultdict
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.collision.polytope import Face, faces_of
from tabi.collision.terrain_edges import ridges
from tabi.jit.structure import Structure
from tabi.model.arrays import FLOATING, INDEX, REAL, WELDED, table
from tabi.model.compiled import Model, PlacedShape
from tabi.model.pad import Pad
from tabi.model.shape import (
    Box,
    Capsule,
    Convex,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Sphere,
)

# kinds of shapes, as kernels distinguish them: first those that are a segment and a radius,
# then those without bounds, last the ones that deform, whose points ``surfaces`` finds
SPHERE, CAPSULE, CYLINDER, BOX, POLYTOPE, ELLIPSOID, PLANE, FIELD = 0, 1, 2, 3, 4, 5, 6, 7
SURFACE = 8
MOST_VERTICES = 1 << 14  # two edges of two vertices each fit into the identity of a point
MOST_CORNERS = 64  # of one face, as contacts see it
# points of two shapes, and on a plane of a polytope that belongs to a foot
MAX_POINTS, MAX_SOLE_POINTS = 16, 4 * MOST_CORNERS
# corners, triangles and faces of polytopes that are in use somewhere
_KNOWN: WeakKeyDictionary[Convex, tuple[NDArray, NDArray, list[Face]]] = WeakKeyDictionary()

SHAPE = np.dtype(
    [
        # the moving body that carries it (0 is the world), its kind and material
        ("body", INDEX),
        ("kind", INDEX),
        ("material", INDEX),
        # the same number on shapes of one material whose surfaces run alike
        ("surface", INDEX),
        # how many corners of a polytope count on a plane at most, and 1 where all of them stay
        # within a flat patch of several shapes
        ("most", INDEX),
        ("keeps", INDEX),
        # how much wider than for others the band of its pairs is [m]
        ("wider", REAL),
        # placement in the body's frame
        ("rotation", REAL, 9),
        ("position", REAL, 3),
        # half of the extents of the core and the radius around it [m];
        # a cylinder's x and y are its radius, its own radius is 0, and so is an ellipsoid's
        ("half", REAL, 3),
        ("radius", REAL),
        # radius of the ball around its origin that holds all of it [m]
        ("reach", REAL),
        # rows of the corners, of the faces, and of the shapes it never touches;
        # cells of a height field: first height, nx, ny
        ("vertex", INDEX),
        ("vertex_end", INDEX),
        ("face", INDEX),
        ("face_end", INDEX),
        ("never", INDEX),
        ("never_end", INDEX),
        ("columns", INDEX),
        ("rows", INDEX),
    ],
    align=True,
)
FACE = np.dtype(
    [
        # outward normal, n·x in its plane [m], area [m²], and the rows of its loop of corners
        ("normal", REAL, 3),
        ("offset", REAL),
        ("area", REAL),
        ("loop", INDEX),
        ("loop_end", INDEX),
    ],
    align=True,
)


POSE = np.dtype(
    [
        # placement in the world; how far its points may go in the step [m]; and the box along the
        # world's axes around all that it may reach [m]
        ("rotation", REAL, 9),
        ("position", REAL, 3),
        ("travel", REAL),
        ("low", REAL, 3),
        ("high", REAL, 3),
    ],
    align=True,
)


class Collision(Structure):
    """Tables that collision kernels read.

    Attributes:
        shape: one row per collision shape, in the order of ``model.shapes``.
        vertex: corners in the shape's frame [m], shape (·, 3).
        loop: corners of the faces, counted inside their shape.
        never: shapes that a shape never touches. planes: the half-spaces. bounded: all others.
        fixed: table of POSE, of the shapes that stand still; zeros elsewhere.
        height: of height fields, row by row [m].
        ridge: 1 where an edge of their triangles sticks out, shape (·, 3).
    """

    shape: NDArray[np.void]
    face: NDArray[np.void]
    vertex: NDArray[np.float64]
    loop: NDArray[np.int64]
    never: NDArray[np.int64]
    planes: NDArray[np.int64]
    bounded: NDArray[np.int64]
    fixed: NDArray[np.void]
    height: NDArray[np.float64]
    ridge: NDArray[np.int64]


def compile_collision(model: Model) -> Collision:
    """The tables of a model's collision shapes."""
    rows = table(len(model.shapes), SHAPE)
    faces: list[Face] = []
    vertices = [np.zeros((0, 3))]
    heights = [np.zeros(0)]
    ridge = [np.zeros((0, 3), np.int64)]
    vertex_count = height_count = 0
    surfaces: dict[tuple, int] = {}
    soles = {sole.body for sole in model.feet.values()}
    for row, shape in zip(rows, model.shapes, strict=True):
        row["body"], row["material"] = shape.body, model.material_names.index(shape.material)
        row["most"] = MAX_SOLE_POINTS if shape.body in soles else MAX_POINTS
        row["keeps"] = shape.body in soles or getattr(shape.geometry, "file", None) is None
        surface = (shape.material, *(float(x) for x in shape.surface_velocity))
        row["surface"] = surfaces.setdefault(surface, len(surfaces))
        row["rotation"], row["position"] = shape.placement.R.ravel(), shape.placement.p
        _set_geometry(row, shape)
        row["vertex"], row["face"] = vertex_count, len(faces)
        if isinstance(shape.geometry, (Box, Convex)):
            corners, sides = _solid(shape, row)
            vertices.append(corners)
            faces += sides
            vertex_count += len(corners)
        elif isinstance(shape.geometry, HeightField):
            row["vertex"] = height_count
            heights.append(shape.geometry.heights.ravel())
            ridge.append(ridges(shape.geometry))
            height_count += shape.geometry.heights.size
        row["vertex_end"], row["face_end"] = vertex_count, len(faces)
    face_rows, loop = _face_table(faces)
    planes = np.array(
        [i for i, s in enumerate(model.shapes) if isinstance(s.geometry, HalfSpace)], np.int64
    )
    bounded = np.array(
        [i for i, s in enumerate(model.shapes) if not isinstance(s.geometry, HalfSpace)], np.int64
    )
    height = np.concatenate(heights)
    return Collision(
        shape=rows,
        face=face_rows,
        vertex=np.concatenate(vertices),
        loop=loop,
        never=_never(model, rows),
        planes=planes,
        bounded=bounded,
        fixed=_fixed_poses(rows, height),
        height=height,
        ridge=np.concatenate(ridge),
    )


def _face_table(faces: list[Face]) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    """Rows of all faces, and the corners that they count by."""
    rows = table(len(faces), FACE)
    # of an outline with more corners every second, third, … stays
    loops = [
        [face.loop[k * len(face.loop) // MOST_CORNERS] for k in range(MOST_CORNERS)]
        if len(face.loop) > MOST_CORNERS
        else face.loop
        for face in faces
    ]
    rows["normal"] = np.array([face.normal for face in faces]).reshape(-1, 3)
    rows["offset"], rows["area"] = [f.offset for f in faces], [f.area for f in faces]
    rows["loop_end"] = np.cumsum([len(loop) for loop in loops])
    rows["loop"] = rows["loop_end"] - [len(loop) for loop in loops]
    return rows, np.array([corner for loop in loops for corner in loop], np.int64)


def _set_geometry(row: np.void, shape: PlacedShape) -> None:
    """Kind and extents of one shape."""
    g = shape.geometry
    if isinstance(g, Sphere):
        row["kind"], row["radius"], row["reach"] = SPHERE, g.radius, g.radius
    elif isinstance(g, Capsule):
        row["kind"], row["half"], row["radius"] = CAPSULE, (0, 0, g.length / 2), g.radius
        row["reach"] = g.length / 2 + g.radius
    elif isinstance(g, Cylinder):
        row["kind"], row["half"] = CYLINDER, (g.radius, g.radius, g.length / 2)
        row["reach"] = np.hypot(g.radius, g.length / 2)
    elif isinstance(g, Ellipsoid):
        row["kind"], row["half"], row["reach"] = ELLIPSOID, g.radii, max(g.radii)
    elif isinstance(g, HalfSpace):
        row["kind"], row["reach"] = PLANE, np.inf
    elif isinstance(g, Pad):
        low, high = g.nodes.min(axis=0), g.nodes.max(axis=0)
        row["kind"], row["position"] = SURFACE, shape.placement @ (0.5 * (low + high))
        # its nodes move: it may bulge by as much as it is thick
        row["half"] = 0.5 * (high - low) + g.thickness
        row["reach"] = np.linalg.norm(row["half"])
    elif isinstance(g, HeightField):
        if shape.body:
            raise ModelError(
                f"body {shape.link!r} moves and has a height field; "
                "only what stands still may have one: give it convex pieces"
            )
        row["kind"], row["rows"], row["columns"] = FIELD, *g.heights.shape
        row["half"][:2] = np.asarray(g.size) / 2
        row["reach"] = np.linalg.norm(g.points(), axis=1).max()


def _solid(shape: PlacedShape, row: np.void) -> tuple[NDArray, list[Face]]:
    """Centred corners and faces of a box or polytope;
    its frame moves to the middle of its bounds.
    """
    g = shape.geometry
    if isinstance(g, Box):
        row["kind"], corners = BOX, g.points()
        h = 0.5 * np.asarray(g.size)
        # faces in the order x, y, z, each first the lower one
        quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
        normals = [s * np.eye(3)[k] for k in range(3) for s in (-1, 1)]
        areas = [4 * h[(k + 1) % 3] * h[(k + 2) % 3] for k in range(3) for _ in (-1, 1)]
        faces = [
            Face(q, n, float(h @ np.abs(n)), a)
            for q, n, a in zip(quads, normals, areas, strict=True)
        ]
    else:
        assert isinstance(g, Convex)
        if len(g.vertices) > MOST_VERTICES:
            raise ModelError(
                f"the convex polytope of {shape.link!r} has {len(g.vertices)} vertices; "
                f"expected at most {MOST_VERTICES}: simplify it"
            )
        middle = 0.5 * (g.vertices.min(axis=0) + g.vertices.max(axis=0))
        row["kind"], corners = POLYTOPE, g.vertices - middle
        row["position"] = shape.placement @ middle
        faces = _faces(g, corners, repr(shape.link))
    row["half"] = np.abs(corners).max(axis=0)
    row["reach"] = np.linalg.norm(corners, axis=1).max()
    return corners, faces


def _faces(hull: Convex, corners: NDArray, owner: str) -> list[Face]:
    """Faces of a polytope with these centred corners; found once for all shapes that share it,
    and for copies of it.
    """
    triangles = np.asarray(hull.triangles)

    def same(known: tuple[NDArray, NDArray, list[Face]] | None) -> bool:
        return (
            known is not None
            and np.array_equal(known[0], corners)
            and np.array_equal(known[1], triangles)
        )

    result = _KNOWN.get(hull)
    if not same(result):
        result = next(filter(same, list(_KNOWN.values())), None)
    if result is None:
        result = (corners, triangles.copy(), faces_of(corners, triangles, owner))
    _KNOWN[hull] = result
    return result[2]


def _never(model: Model, rows: NDArray[np.void]) -> NDArray[np.int64]:
    """For each shape those it never touches: across a joint, or excluded by name;
    its range is set in its row.
    """
    body, partners = model.arrays.body, [set() for _ in model.shapes]
    on_body, of_link = defaultdict(list), defaultdict(list)
    # bodies that are welded to each other are one here
    whole = np.arange(len(body))
    for b in np.flatnonzero(body["kind"] == WELDED):
        whole[b] = whole[body["parent"][b]] if b else 0
    for i, shape in enumerate(model.shapes):
        on_body[int(whole[shape.body])].append(i)
        of_link[shape.link].append(i)
    pairs = [
        (i, k)
        for i, shape in enumerate(model.shapes)
        if shape.body
        for k in _carriers(model, whole, int(whole[shape.body]), on_body)
    ]
    pairs += [
        (i, k)
        for i, shape in enumerate(model.shapes)
        for k in on_body[int(whole[shape.body])]
        if model.shapes[k].body != shape.body
    ]
    for names in model.excluded:
        first, last = min(names), max(names)
        pairs += [(i, k) for i in of_link[first] for k in of_link[last]]
    for i, k in pairs:
        partners[i].add(k)
        partners[k].add(i)
    ends = np.cumsum([len(p) for p in partners])
    rows["never_end"], rows["never"] = ends, ends - [len(p) for p in partners]
    return np.array([k for p in partners for k in sorted(p)], np.int64)


def _carriers(
    model: Model, whole: NDArray[np.int64], b: int, on_body: dict[int, list[int]]
) -> list[int]:
    """Shapes across the joint that carries a body;
    floor and walls carry nothing, and what floats hangs on nothing.
    """
    row = model.arrays.body[b]
    if row["parent"]:
        return on_body[int(whole[row["parent"]])]
    return (
        []
        if row["kind"] == FLOATING
        else [k for k in on_body[0] if model.shapes[k].link != "world"]
    )


def _fixed_poses(shapes: NDArray[np.void], height: NDArray[np.float64]) -> NDArray[np.void]:
    """Table of POSE of what stands still."""
    poses = table(len(shapes), POSE)
    for shape, pose in zip(shapes, poses, strict=True):
        if shape["body"] != 0:
            continue
        pose["rotation"], pose["position"] = shape["rotation"], shape["position"]
        if shape["kind"] == PLANE:
            continue
        R = shape["rotation"].reshape(3, 3)
        low, high = -shape["half"], shape["half"].copy()
        if shape["rows"]:
            heights = height[shape["vertex"] : shape["vertex"] + shape["rows"] * shape["columns"]]
            # all below is solid: whatever is inside the field's outline may touch it
            low[2], high[2] = min(heights.min(), -1e3 * shape["reach"]), heights.max()
        middle = shape["position"] + R @ (0.5 * (low + high))
        reach = np.abs(R) @ (0.5 * (high - low)) + shape["radius"]
        pose["low"], pose["high"] = middle - reach, middle + reach
    return poses

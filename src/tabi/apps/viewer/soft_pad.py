"""Soft soles and pads in a page: their sides as they bulge, and their faces in colours of the
pressure.

A page's meshes have one colour each, so a face is cut into small triangles, and those of one level
of pressure are one mesh. Displacements are drawn larger than they are. Knows no physics.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import viser
from numpy.typing import NDArray

from tabi.apps.viewer.marks.nodes import Node
from tabi.model.body import Body
from tabi.model.links import pad_name
from tabi.model.pad import Pad
from tabi.model.shape import Shape
from tabi.model.world import World
from tabi.recording import pad_tracks
from tabi.reporting import pressure_scale
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
LEVELS = 12  # of pressure, besides none
TRIANGLE_COUNT = 600  # triangles of a face, about
DEFAULT_FACTOR = 5.0  # how much larger displacements are drawn
# smaller changes are not sent: as drawn, and share of the top of the scale
MIN_DISPLACEMENT_M, MIN_SHADE = 2e-5, 2e-3


@dataclass(frozen=True, eq=False)
class SoftView:
    """A pad at one moment, in its own frame: displacements (k, 3) [m] and velocities of its nodes
    [m/s].
    """

    displacement: Array
    velocity: Array


@dataclass(frozen=True, eq=False)
class SoftNow:
    """A pad at one moment: displacement of its nodes [m], forces on them [N], pressure there [Pa];
    its nodes at rest [m].
    """

    displacement: Array
    force: Array
    pressure: Array
    nodes: Array

    @cached_property
    def _plane(self) -> Array:
        return pad_tracks.planes(self.nodes, self.displacement, self.force)

    @property
    def sink(self) -> float:
        """Indentation of the pad under its centre of pressure [m]."""
        return float(self._plane[0])

    @property
    def tilt(self) -> Array:
        """Rotation of its body about x and y by the indentation [rad]."""
        return pad_tracks.tilts(self._plane)


@dataclass(frozen=True, eq=False)
class SoftShape:
    """A pad of a world: its name, the foot's if it is a sole; its body, and its shape there."""

    name: str
    body: Body
    shape: Shape
    pad: Pad

    @cached_property
    def _areas(self) -> Array:
        return pad_tracks.areas(self.pad.nodes, self.pad.triangles)

    def read(self, view: SoftView) -> SoftNow:
        """Forces and pressures of what was seen."""
        force = pad_tracks.forces(self.pad, view.displacement, view.velocity)
        return SoftNow(view.displacement, force, force[:, 2] / self._areas, self.pad.nodes)


def soft_of(world: World) -> list[SoftShape]:
    """All pads of a world, in the order of a view."""
    several, bodies = len(world.robots) > 1, [world.fixed]
    bodies += [body for robot in world.robots for body in robot.bodies] + list(world.objects)
    feet = {
        foot.body: f"{robot.name}/{name}" if several else name
        for robot in world.robots
        for name, foot in robot.feet.items()
    }
    shapes: list[SoftShape] = []
    for body in bodies:
        for shape in body.shapes:
            # a pad that does not collide has no nodes in a simulation
            if isinstance(pad := shape.geometry, Pad) and shape.collides:
                taken = [shape_.name for shape_ in shapes]
                name = pad_name(shape.name, body.name, feet.get(body), taken)
                shapes.append(SoftShape(name, body, shape, pad))
    return shapes


class SoftPad:
    """A soft pad in a page.

    Args:
        at: the node of its body and its own name under it. X: its frame in that of the body.
        nodes, triangles: its face. skin, skin_triangles: all of its surface.

    Attributes:
        name: as shown. sides: the mesh of what is not its face. nodes, triangles: as passed.
        thickness: of all of it [m].
    """

    def __init__(
        self,
        server: viser.ViserServer,
        name: str,
        at: str,
        X: Transform,
        face: tuple[Array, Indices],
        skin: tuple[Array, Indices],
    ) -> None:
        self.name, (self.nodes, self.triangles) = name, face
        scene = server.scene
        self.frame = scene.add_frame(at, show_axes=False, position=X.p, wxyz=X.quaternion)
        self._fine, self._pairs = _cut(self.triangles, len(self.nodes))
        self.thickness = max(float(np.ptp(skin[0][:, 2])), 1e-3)
        self._skin, self._followed, self._share = skin[0], *_follow(self.nodes, skin[0])
        rubber = pressure_scale.SCALE[0]
        self.sides = scene.add_mesh_simple(
            f"{at}/sides", skin[0], _rest(skin[1], self.triangles), color=rubber, side="double"
        )
        none = np.zeros((3, 3), np.float32), np.array([[0, 1, 2]], np.uint32)
        shades = pressure_scale.colors((np.arange(LEVELS + 1) - 0.5) / LEVELS)
        self.levels = [
            scene.add_mesh_simple(
                f"{at}/level{k}",
                *none,
                color=(int(shade[0]), int(shade[1]), int(shade[2])),
                side="double",
                visible=False,
                cast_shadow=False,
                receive_shadow=False,
            )
            for k, shade in enumerate(shades)
        ]
        self._sides, self._levels = Node(self.sides), [Node(level) for level in self.levels]
        self._seen = [False] * len(self.levels)
        self._sent: tuple[Array, Array] | None = None
        self.draw(np.zeros_like(self.nodes), np.zeros(len(self.nodes)))

    def draw(
        self,
        displacement: Array,
        pressure: Array,
        factor: float = DEFAULT_FACTOR,
        highest: float = pressure_scale.MIN_SCALE_END,
    ) -> None:
        """Its nodes moved by so many times their displacements [m], and pressures [Pa] in colours
        that end at a highest one; sent where it is news.
        """
        U, part = factor * displacement, pressure / highest
        if self._sent is not None and (
            np.abs(U - self._sent[0]).max() <= MIN_DISPLACEMENT_M
            and np.abs(part - self._sent[1]).max() <= MIN_SHADE
        ):
            return
        self._sent = U, part
        displaced = self._skin + self._share[:, None] * U[self._followed]
        self._sides.send(vertices=displaced.astype(np.float32))
        x, p = self.nodes + U, part
        for pairs in self._pairs:
            x, p = (np.concatenate([v, 0.5 * (v[pairs[:, 0]] + v[pairs[:, 1]])]) for v in (x, p))
        level = levels(p[self._fine].mean(axis=1))
        vertices, number = x.astype(np.float32), np.empty(len(x), np.uint32)
        ends = np.cumsum(np.bincount(level, minlength=LEVELS + 1))
        for k, rows in enumerate(np.split(self._fine[np.argsort(level, kind="stable")], ends[:-1])):
            if len(rows):
                there = np.zeros(len(x), bool)
                there[rows] = True
                used = np.flatnonzero(there)
                number[used] = np.arange(len(used), dtype=np.uint32)
                self._levels[k].send(vertices=vertices[used], faces=number[rows])
            if self._seen[k] != (len(rows) > 0):
                self.levels[k].visible = self._seen[k] = len(rows) > 0

    @property
    def drawn(self) -> dict[int, tuple[Array, Indices]]:
        """Vertices and triangles of the face by levels, those that are seen."""
        return {
            k: (node.sent["vertices"], node.sent["faces"])
            for k, (handle, node) in enumerate(zip(self.levels, self._levels, strict=True))
            if handle.visible
        }


def levels(part: Array) -> Indices:
    """The level of each part of the scale: 0 where nothing presses."""
    loaded = part > pressure_scale.STEPS[1]
    return np.where(loaded, np.ceil(LEVELS * np.clip(part, 0.0, 1.0)), 0.0).astype(np.int64)


def _cut(triangles: Indices, count: int) -> tuple[Indices, list[Indices]]:
    """Triangles each cut into four at the middles of their edges, until there are enough, and the
    pairs of vertices that new ones lie between, cut by cut.
    """
    pairs: list[Indices] = []
    while len(triangles) < TRIANGLE_COUNT:
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        unique, places = np.unique(edges, axis=0, return_inverse=True)
        middle = count + places.reshape(-1, 3)
        (a, b, c), (ab, bc, ca) = triangles.T, middle.T
        parts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        triangles = np.concatenate([np.stack(part, axis=1) for part in parts])
        pairs.append(unique)
        count += len(unique)
    return triangles, pairs


def _follow(nodes: Array, skin: Array) -> tuple[Indices, Array]:
    """Return for each point of the skin the node that it moves with, and the share of the node's
    displacement: 1 at the face, 0 at the glued back.
    """
    far = np.linalg.norm(skin[:, None, :2] - nodes[None, :, :2], axis=2)
    nearest = far.argmin(axis=1)
    shared = min(len(nodes), len(skin))
    nearest[:shared] = np.arange(shared)
    back = float(skin[:, 2].max())
    depth = np.maximum(back - nodes[nearest, 2], 1e-9)
    share = np.clip((back - skin[:, 2]) / depth, 0.0, 1.0)
    share[:shared] = 1.0
    return nearest, share


def _rest(skin: Indices, face: Indices) -> Indices:
    """Return triangles of the skin outside of the face; one without size where it is all face."""
    faces = {tuple(corners) for corners in np.sort(face, axis=1).tolist()}
    rest = [
        k for k, corners in enumerate(np.sort(skin, axis=1).tolist()) if tuple(corners) not in faces
    ]
    return skin[rest] if rest else np.zeros((1, 3), np.int64)

"""Draws a world in a viser page: bodies that look alike as copies of one mesh,
any other in a frame of its own, a floor, light.

Knows no physics.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import viser
from numpy.typing import ArrayLike, NDArray

from tabi.apps.viewer.marks.nodes import Node, place
from tabi.apps.viewer.soft_pad import SoftPad, SoftShape, soft_of
from tabi.formats.triangles import Mesh, joined, mesh_of, visible_shapes
from tabi.model.body import Body
from tabi.model.pad import Pad
from tabi.model.shape import HalfSpace, MeshFile, Shape
from tabi.model.world import World
from tabi.spatial.transform import Transform

FLOOR, LINES = (232, 235, 240), (196, 202, 212)
# smaller changes [m, or of a quaternion] are not sent
MIN_CHANGE = 1e-6
GLASS = 0.3  # opacity of bodies one sees through
Array = NDArray[np.float64]
Color = tuple[float, float, float, float]
Part = tuple[Color, Mesh]
# what a page reports of a pull: its number, the body's index in a view, "start", "update" or
# "end", grabbed point, mouse, with Shift
Pull = Callable[[int, int, str, tuple[float, float, float], tuple[float, float, float], bool], None]


class DrawnScene:
    """A world as the browser shows it.

    Args:
        server: the page's server.
        world: what is drawn; its shapes are read once.

    Attributes:
        pads: soft soles and pads, in the order of a view.
    """

    def __init__(self, server: viser.ViserServer, world: World) -> None:
        self.server = server
        self._through = False
        self._pull: Pull | None = None
        self._plain: list[tuple[Any, Any]] = []
        # the place that cameras go along with, while it is visible
        self._followed = server.scene.add_frame("/followed", show_axes=False, visible=False)
        self._frames: dict[int, viser.FrameHandle] = {}
        self._grounds: list[viser.GridHandle] = []
        self._flocks: list[tuple[NDArray[np.int64], list[Node]]] = []
        # every mesh of what moves, and whose it is
        self._meshes: list[
            tuple[viser.MeshHandle | viser.BatchedMeshHandle, NDArray[np.int64]]
        ] = []
        light(server)
        self._add_fixed(world)
        named = {
            body: f"/{_node(robot.name)}/{_node(body.name)}"
            for robot in world.robots
            for body in robot.bodies
        }
        named |= {body: f"/{_node(body.name)}" for body in world.objects}
        self._index = {body: k for k, body in enumerate(named)}
        # as nodes are before they are moved
        self._last = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (len(named), 1))
        drawn = {
            body: shapes
            for robot in world.robots
            for body, shapes in visible_shapes(robot.bodies).items()
        }
        soft = soft_of(world)
        parts = {body: _parts(drawn.get(body, body.shapes)) for body in named}
        for alike in _alike(parts, {shape.body for shape in soft}):
            members = np.array([self._index[body] for body in alike.members])
            if len(members) > 1 and alike.parts:
                self._add_flock(f"/alike/{members[0]}", alike.parts, members)
            else:
                for body in alike.members:
                    self._add(named[body], alike.parts, self._index[body])
        named[world.fixed] = "/world"
        self.pads = [self._add_pad(named[shape.body], k, shape) for k, shape in enumerate(soft)]
        self._opacity = [(mesh, mesh.opacity) for mesh, _ in self._meshes]

    def move(self, positions: Array, rotations: Array) -> None:
        """Move all bodies, robots first, to positions (n, 3) [m] and rotations (n, 3, 3);
        those that moved are sent, in one message.
        """
        self._send(np.hstack([positions, quaternions(rotations)]))

    def update(self, placements: Mapping[Body, Transform]) -> None:
        """Move some bodies to X_WB, all in one message."""
        now = self._last.copy()
        for body, X in placements.items():
            now[self._index[body]] = [*X.p, *X.quaternion]
        self._send(now)

    def position(self, body: Body) -> Array:
        """Return the position at which a body is drawn [m]."""
        return self._last[self._index[body], :3].copy()

    def _send(self, now: Array) -> None:
        changed: NDArray[np.bool_] = np.logical_not(
            (np.abs(now - self._last) <= MIN_CHANGE).all(axis=1)
        )
        self._last[changed] = now[changed]
        numbers = now.tolist()
        with self.server.atomic():
            for i, frame in self._frames.items():
                if changed[i]:
                    place(frame, numbers[i][:3], numbers[i][3:])
            for members, nodes in self._flocks:
                rows = self._last[members].astype(np.float32)
                for node in nodes:
                    node.send(
                        batched_positions=rows[:, :3].copy(), batched_wxyzs=rows[:, 3:].copy()
                    )

    def see_through(self, on: bool) -> None:
        """Draw bodies and floors so that one sees inside and behind them, or solid again."""
        if on != self._through:
            self._through = on
            for mesh, opacity in self._opacity:
                mesh.opacity = min(opacity or 1.0, GLASS) if on else opacity
            for ground in self._grounds:
                ground.plane_opacity = GLASS if on else 1.0

    def on_pull(self, pull: Pull) -> None:
        """Report every body that is dragged with Ctrl (or Cmd), with or without Shift."""
        self._pull = pull
        for mesh, members in self._meshes:
            for modifier, strong in (("cmd/ctrl", False), ("cmd/ctrl+shift", True)):
                dragged = _dragged(pull, members.tolist(), strong)
                mesh.on_drag("left", modifier=modifier)(dragged)

    def pull_plainly(self, on: bool) -> None:
        """Let bodies be dragged without Ctrl too, as fingers do; a camera is turned beside them."""
        if on == bool(self._plain) or self._pull is None:
            return
        for mesh, dragged in self._plain:
            mesh.remove_drag_callback(dragged)
        self._plain = []
        for mesh, members in self._meshes if on else ():
            dragged = _dragged(self._pull, members.tolist(), False)
            mesh.on_drag("left")(dragged)
            self._plain.append((mesh, dragged))

    def look(
        self, target: ArrayLike, distance: float, azimuth: float = 35.0, elevation: float = 12.0
    ) -> None:
        """Set where cameras start: a target [m], a distance [m] and two angles [deg]
        from straight ahead.
        """
        a, e = np.radians([azimuth, elevation])
        self.look_from(
            np.asarray(target)
            + distance * np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)]),
            target,
        )

    def look_from(self, position: ArrayLike, target: ArrayLike) -> None:
        """Set the position and target of the cameras of all pages [m]."""
        cameras = [
            self.server.initial_camera,
            *(client.camera for client in self.server.get_clients().values()),
        ]
        for camera in cameras:
            camera.fov = np.radians(35.0)
            camera.position, camera.look_at = np.asarray(position, float), np.asarray(target, float)

    def follow(self, target: ArrayLike | None) -> None:
        """Let the cameras of all pages go along with a place [m], or no more: a script of the page
        moves its camera over the ground, and keeps what the user has turned.
        """
        if target is not None:
            place(self._followed, np.asarray(target, float).tolist(), [1.0, 0.0, 0.0, 0.0])
        if self._followed.visible != (target is not None):
            self._followed.visible = target is not None

    def _add_fixed(self, world: World) -> None:
        frame = "/world"
        self.server.scene.add_frame(frame, show_axes=False)
        for k, shape in enumerate(
            s for s in world.fixed.shapes if isinstance(s.geometry, HalfSpace)
        ):
            X = shape.placement
            ground = add_ground(self.server, f"{frame}/ground{k}", X.p, X.quaternion)
            self._grounds.append(ground)
        self._add_meshes(_parts(world.fixed.shapes), frame)

    def _add(self, name: str, parts: list[Part], index: int) -> None:
        """A body like no other."""
        self._frames[index] = self.server.scene.add_frame(name, show_axes=False)
        self._meshes += [(mesh, np.array([index])) for mesh in self._add_meshes(parts, name)]

    def _add_meshes(self, parts: list[Part], frame: str) -> list[viser.MeshHandle]:
        add = self.server.scene.add_mesh_simple
        return [
            add(f"{frame}/mesh{k}", *mesh, color=color[:3], opacity=_opacity(color))
            for k, (color, mesh) in enumerate(parts)
        ]

    def _add_pad(self, frame: str, k: int, soft: SoftShape) -> SoftPad:
        """A soft pad under the node of its body."""
        pad, X = soft.pad, soft.shape.placement
        face = pad.nodes, pad.triangles
        whole = pad.skin is not None and pad.skin_triangles is not None
        skin = (pad.skin, pad.skin_triangles) if whole else face
        drawn = SoftPad(self.server, soft.name, f"{frame}/pad{k}", X, face, skin)
        drawn.frame.visible = soft.shape.visible
        if soft.body in self._index:
            self._meshes.append((drawn.sides, np.array([self._index[soft.body]])))
        return drawn

    def _add_flock(self, name: str, parts: list[Part], members: NDArray[np.int64]) -> None:
        """Bodies that look alike: one mesh a colour, drawn once for each."""
        meshes = []
        for k, (color, (vertices, triangles)) in enumerate(parts):
            rows = self._last[members].astype(np.float32)
            add = self.server.scene.add_batched_meshes_simple
            meshes.append(
                add(
                    f"{name}/mesh{k}",
                    vertices,
                    triangles,
                    rows[:, 3:],
                    rows[:, :3],
                    batched_colors=color[:3],
                    opacity=_opacity(color),
                    lod="off",
                )
            )
        self._flocks.append((members, [Node(mesh) for mesh in meshes]))
        self._meshes += [(mesh, members) for mesh in meshes]


@dataclass
class _Look:
    """Bodies that look alike, and how: meshes in their frame by colour."""

    parts: list[Part]
    members: list[Body]


def _alike(parts: dict[Body, list[Part]], alone: set[Body]) -> list[_Look]:
    """Group bodies by their looks; those with parts that move are groups of their own."""
    looks: dict[tuple[object, ...], _Look] = {}
    for body, body_parts in parts.items():
        key: tuple[object, ...] = tuple(
            (color, vertices.tobytes(), triangles.tobytes())
            for color, (vertices, triangles) in body_parts
        )
        key = (*key, body) if body in alone else key
        looks.setdefault(key, _Look(body_parts, [])).members.append(body)
    return list(looks.values())


def _parts(shapes: list[Shape]) -> list[Part]:
    """One mesh per colour, so that a page holds few nodes; without soft pads, which are drawn by
    themselves.
    """
    by_color: dict[Color, list[Shape]] = {}
    for shape in shapes:
        missing = isinstance(shape.geometry, MeshFile) and not shape.geometry.file.is_file()
        if shape.visible and not missing and not isinstance(shape.geometry, (HalfSpace, Pad)):
            by_color.setdefault(shape.color, []).append(shape)
    return [
        (color, joined([mesh_of(shape) for shape in group])) for color, group in by_color.items()
    ]


def _opacity(color: Color) -> float | None:
    return color[3] if color[3] < 1 else None


def quaternions(R: Array) -> Array:
    """Unit quaternions (w, x, y, z) of rotation matrices (n, 3, 3),
    from each one's largest component.
    """
    m = R.reshape(-1, 9).T
    # four times w², wx, …: the outer product of every quaternion with itself
    a, b, c = m[7] - m[5], m[2] - m[6], m[3] - m[1]
    d, e, f = m[3] + m[1], m[2] + m[6], m[7] + m[5]
    t = [
        1 + m[0] + m[4] + m[8],
        1 + m[0] - m[4] - m[8],
        1 - m[0] + m[4] - m[8],
        1 - m[0] - m[4] + m[8],
    ]
    outer = np.array([[t[0], a, b, c], [a, t[1], d, e], [b, d, t[2], f], [c, e, f, t[3]]])
    largest = np.argmax(np.array(t), axis=0)
    q = outer[largest, :, np.arange(len(largest))]
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def _dragged(
    pull: Pull, members: list[int], strong: bool
) -> Callable[[viser.SceneNodeDragEvent], Coroutine[Any, Any, None]]:
    """A callback that viser awaits, so that start, update and end come in their order."""

    async def dragged(event: viser.SceneNodeDragEvent) -> None:
        which = event.instance_index or 0
        if which < len(members):
            pull(
                event.client_id,
                members[which],
                event.phase,
                event.start_position,
                event.end_position,
                strong,
            )

    return dragged


def light(server: viser.ViserServer) -> None:
    """Z upwards, and the lights of every page."""
    scene = server.scene
    scene.set_up_direction("+z")
    scene.configure_default_lights(enabled=False)
    # no environment map: it arrives seconds after the robot and would change its colours
    scene.configure_environment_map(None)
    scene.add_light_hemisphere(
        "/light/sky", sky_color=(255, 255, 255), ground_color=(176, 184, 198), intensity=1.7
    )
    # a light's rays run from its place to the origin
    scene.add_light_directional(
        "/light/sun",
        color=(255, 250, 240),
        intensity=2.2,
        cast_shadow=True,
        position=(2.5, 1.0, 4.0),
    )
    scene.add_light_directional(
        "/light/fill", color=(225, 235, 255), intensity=0.9, position=(2.0, 4.0, 1.0)
    )
    scene.add_light_directional(
        "/light/rim", color=(190, 210, 255), intensity=1.0, position=(-3.0, -2.5, 2.0)
    )


def add_ground(
    server: viser.ViserServer, name: str, position: ArrayLike, wxyz: ArrayLike
) -> viser.GridHandle:
    """A floor without end, with lines every 10 cm and every metre."""
    return server.scene.add_grid(
        name,
        infinite_grid=True,
        cell_size=0.1,
        section_size=1.0,
        cell_color=LINES,
        section_color=(150, 160, 178),
        plane_color=FLOOR,
        plane_opacity=1.0,
        shadow_opacity=0.35,
        fade_distance=14.0,
        position=np.asarray(position, float),
        wxyz=np.asarray(wxyz, float),
    )


def _node(name: str) -> str:
    """A name as one node of the scene: a slash in it would make it the child of
    another and move with it.
    """
    return name.replace("/", "∕")

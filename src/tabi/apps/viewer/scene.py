"""Draws a world in a viser page: one frame per body, its shapes as meshes, a floor, light. Knows no physics."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import viser
from numpy.typing import ArrayLike, NDArray
from viser._messages import SetOrientationMessage, SetPositionMessage

from tabi.model.body import Body
from tabi.model.meshes import joined, mesh_of
from tabi.model.shape import HalfSpace, MeshFile, Shape
from tabi.model.world import World
from tabi.spatial.transform import Transform

FLOOR, LINES = (232, 235, 240), (196, 202, 212)
# what moved less than this [m, or of a quaternion] is not sent again
STILL = 1e-6
GLASS = 0.3  # opacity of bodies one sees through
Array = NDArray[np.float64]
# what a page tells of a pull: who, the body's place in a view, "start", "update" or "end", grabbed point, mouse, with Shift
Pull = Callable[[int, int, str, tuple[float, float, float], tuple[float, float, float], bool], None]


class Scene:
    """A world as the browser shows it.

    Args:
        server: the page's server.
        world: what is drawn; its shapes are read once.
    """

    def __init__(self, server: viser.ViserServer, world: World) -> None:
        self.server = server
        self.frames: dict[Body, viser.FrameHandle] = {}
        self._meshes: dict[Body, list[viser.MeshHandle]] = {}
        self._through = False
        light(server)
        self._add_fixed(world)
        for robot in world.robots:
            for body in robot.bodies:
                self._add(body, f"/{_node(robot.name)}/{_node(body.name)}")
        for body in world.objects:
            self._add(body, f"/{_node(body.name)}")
        self._bodies = list(self.frames)
        self._opacity = [(mesh, mesh.opacity) for meshes in self._meshes.values() for mesh in meshes]
        self._last = np.full((len(self._bodies), 7), np.nan)

    def move(self, positions: Array, rotations: Array) -> None:
        """Move all bodies, robots first, to positions (n, 3) [m] and rotations (n, 3, 3); those that moved are sent, in one message."""
        now = np.hstack([positions, quaternions(rotations)])
        moved = ~(np.abs(now - self._last) <= STILL).all(axis=1)
        self._last[moved] = now[moved]
        post, frames = self.server.scene._queue_scene_message, self.frames
        # the handles' own setters compare and convert one number at a time, which takes milliseconds for a robot
        with self.server.atomic():
            for i, row in zip(np.flatnonzero(moved), now[moved].tolist(), strict=True):
                state = frames[self._bodies[i]]._impl
                state.position[:], state.wxyz[:] = row[:3], row[3:]
                post(SetPositionMessage(state.name, tuple(row[:3])))
                post(SetOrientationMessage(state.name, tuple(row[3:])))

    def see_through(self, on: bool) -> None:
        """Draw bodies so that one sees what is inside and behind them, or solid again."""
        if on != self._through:
            self._through = on
            for mesh, opacity in self._opacity:
                mesh.opacity = min(opacity or 1.0, GLASS) if on else opacity

    def on_pull(self, pull: Pull) -> None:
        """Tell of every body that is dragged with Ctrl (or Cmd), with or without Shift."""
        for index, body in enumerate(self._bodies):
            for mesh in self._meshes[body]:
                for modifier, strong in (("cmd/ctrl", False), ("cmd/ctrl+shift", True)):
                    mesh.on_drag("left", modifier=modifier)(_dragged(pull, index, strong))  # type: ignore[arg-type]

    def update(self, placements: Mapping[Body, Transform]) -> None:
        """Move bodies to X_WB, all in one message."""
        with self.server.atomic():
            for body, X in placements.items():
                frame = self.frames[body]
                frame.position = X.p
                frame.wxyz = X.quaternion

    def look(self, target: ArrayLike, distance: float, azimuth: float = 35.0, elevation: float = 12.0) -> None:
        """Where cameras start: a target [m], a distance [m] and two angles [deg] from straight ahead."""
        a, e = np.radians([azimuth, elevation])
        self.look_from(np.asarray(target) + distance * np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)]), target)

    def look_from(self, position: ArrayLike, target: ArrayLike) -> None:
        """Where the cameras of all pages are, and what they look at [m]."""
        cameras = [self.server.initial_camera, *(client.camera for client in self.server.get_clients().values())]
        for camera in cameras:
            camera.fov = np.radians(35.0)
            camera.position, camera.look_at = np.asarray(position, float), np.asarray(target, float)

    def _add_fixed(self, world: World) -> None:
        frame = "/world"
        self.server.scene.add_frame(frame, show_axes=False)
        for k, shape in enumerate(s for s in world.fixed.shapes if isinstance(s.geometry, HalfSpace)):
            add_ground(self.server, f"{frame}/ground{k}", shape.placement.p, shape.placement.quaternion)
        self._add_shapes(world.fixed.shapes, frame)

    def _add(self, body: Body, name: str) -> None:
        self.frames[body] = self.server.scene.add_frame(name, show_axes=False)
        self._meshes[body] = self._add_shapes(body.shapes, name)

    def _add_shapes(self, shapes: list[Shape], frame: str) -> list[viser.MeshHandle]:
        """One mesh per colour, so that a page holds few nodes."""
        added = []
        by_color: dict[tuple[float, float, float, float], list[Shape]] = {}
        for shape in shapes:
            missing = isinstance(shape.geometry, MeshFile) and not shape.geometry.file.is_file()
            if shape.visible and not missing and not isinstance(shape.geometry, HalfSpace):
                by_color.setdefault(shape.color, []).append(shape)
        for k, (color, group) in enumerate(by_color.items()):
            vertices, triangles = joined([mesh_of(shape) for shape in group])
            opacity = color[3] if color[3] < 1 else None
            added.append(self.server.scene.add_mesh_simple(f"{frame}/mesh{k}", vertices, triangles, color=color[:3], opacity=opacity))
        return added


def quaternions(R: Array) -> Array:
    """Unit quaternions (w, x, y, z) of rotation matrices (n, 3, 3), from each one's largest component."""
    m = R.reshape(-1, 9).T
    # four times w², wx, …: the outer product of every quaternion with itself
    a, b, c = m[7] - m[5], m[2] - m[6], m[3] - m[1]
    d, e, f = m[3] + m[1], m[2] + m[6], m[7] + m[5]
    t = [1 + m[0] + m[4] + m[8], 1 + m[0] - m[4] - m[8], 1 - m[0] + m[4] - m[8], 1 - m[0] - m[4] + m[8]]
    outer = np.array([[t[0], a, b, c], [a, t[1], d, e], [b, d, t[2], f], [c, e, f, t[3]]])
    largest = np.argmax(np.array(t), axis=0)
    q = outer[largest, :, np.arange(len(largest))]
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def _dragged(pull: Pull, index: int, strong: bool) -> Callable[[viser.SceneNodeDragEvent], object]:
    """A callback that viser awaits, so that start, update and end come in their order."""

    async def dragged(event: viser.SceneNodeDragEvent) -> None:
        pull(event.client_id, index, event.phase, event.start_position, event.end_position, strong)

    return dragged


def light(server: viser.ViserServer) -> None:
    """Z upwards, and the lights of every page."""
    scene = server.scene
    scene.set_up_direction("+z")
    scene.configure_default_lights(enabled=False)
    # no environment map: it arrives seconds after the robot and would change its colours
    scene.configure_environment_map(None)
    scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(176, 184, 198), intensity=1.7)
    # a light's rays run from its place to the origin
    scene.add_light_directional("/light/sun", color=(255, 250, 240), intensity=2.2, cast_shadow=True, position=(2.5, 1.0, 4.0))
    scene.add_light_directional("/light/fill", color=(225, 235, 255), intensity=0.9, position=(2.0, 4.0, 1.0))
    scene.add_light_directional("/light/rim", color=(190, 210, 255), intensity=1.0, position=(-3.0, -2.5, 2.0))


def add_ground(server: viser.ViserServer, name: str, position: ArrayLike, wxyz: ArrayLike) -> None:
    """A floor without end, with lines every 10 cm and every metre."""
    server.scene.add_grid(
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
    """A name as one node of the scene: a slash in it would make it the child of another and move with it."""
    return name.replace("/", "∕")

"""Draws a world in a viser page: one frame per body, its shapes as meshes, a floor, light. Knows no physics."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import viser

from tabi.apps.viewer.meshes import joined, mesh_of
from tabi.model.body import Body
from tabi.model.shape import HalfSpace, MeshFile, Shape
from tabi.model.world import World
from tabi.spatial.transform import Transform

FLOOR, LINES = (232, 235, 240), (196, 202, 212)


class Scene:
    """A world as the browser shows it.

    Args:
        server: the page's server.
        world: what is drawn; its shapes are read once.
    """

    def __init__(self, server: viser.ViserServer, world: World) -> None:
        self.server = server
        self.frames: dict[Body, viser.FrameHandle] = {}
        self._light()
        self._add_fixed(world)
        for robot in world.robots:
            for body in robot.bodies:
                self._add(body, f"/{_node(robot.name)}/{_node(body.name)}")
        for body in world.objects:
            self._add(body, f"/{_node(body.name)}")

    def update(self, placements: Mapping[Body, Transform]) -> None:
        """Move bodies to X_WB, all in one message."""
        with self.server.atomic():
            for body, X in placements.items():
                frame = self.frames[body]
                frame.position = X.p
                frame.wxyz = X.quaternion

    def look(self, target: tuple[float, float, float], distance: float, azimuth: float = 35.0, elevation: float = 12.0) -> None:
        """Where the page's camera starts: a target [m], a distance [m] and two angles [deg] from straight ahead."""
        a, e = np.radians([azimuth, elevation])
        offset = distance * np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
        camera = self.server.initial_camera
        camera.fov = np.radians(35.0)
        camera.position = np.array(target) + offset
        camera.look_at = np.array(target)

    def _light(self) -> None:
        scene = self.server.scene
        scene.set_up_direction("+z")
        scene.configure_default_lights(enabled=False)
        # no environment map: it arrives seconds after the robot and would change its colours
        scene.configure_environment_map(None)
        scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(176, 184, 198), intensity=1.7)
        # a light's rays run from its place to the origin
        scene.add_light_directional("/light/sun", color=(255, 250, 240), intensity=2.2, cast_shadow=True, position=(2.5, 1.0, 4.0))
        scene.add_light_directional("/light/fill", color=(225, 235, 255), intensity=0.9, position=(2.0, 4.0, 1.0))
        scene.add_light_directional("/light/rim", color=(190, 210, 255), intensity=1.0, position=(-3.0, -2.5, 2.0))

    def _add_fixed(self, world: World) -> None:
        frame = "/world"
        self.server.scene.add_frame(frame, show_axes=False)
        for k, shape in enumerate(s for s in world.fixed.shapes if isinstance(s.geometry, HalfSpace)):
            self.server.scene.add_grid(
                f"{frame}/ground{k}",
                infinite_grid=True,
                cell_size=0.1,
                section_size=1.0,
                cell_color=LINES,
                section_color=(150, 160, 178),
                plane_color=FLOOR,
                plane_opacity=1.0,
                shadow_opacity=0.35,
                fade_distance=14.0,
                position=shape.placement.p,
                wxyz=shape.placement.quaternion,
            )
        self._add_shapes(world.fixed.shapes, frame)

    def _add(self, body: Body, name: str) -> None:
        self.frames[body] = self.server.scene.add_frame(name, show_axes=False)
        self._add_shapes(body.shapes, name)

    def _add_shapes(self, shapes: list[Shape], frame: str) -> None:
        """One mesh per colour, so that a page holds few nodes."""
        by_color: dict[tuple[float, float, float, float], list[Shape]] = {}
        for shape in shapes:
            missing = isinstance(shape.geometry, MeshFile) and not shape.geometry.file.is_file()
            if shape.visible and not missing and not isinstance(shape.geometry, HalfSpace):
                by_color.setdefault(shape.color, []).append(shape)
        for k, (color, group) in enumerate(by_color.items()):
            vertices, triangles = joined([mesh_of(shape) for shape in group])
            opacity = color[3] if color[3] < 1 else None
            self.server.scene.add_mesh_simple(f"{frame}/mesh{k}", vertices, triangles, color=color[:3], opacity=opacity)


def _node(name: str) -> str:
    """A name as one node of the scene: a slash in it would make it the child of another and move with it."""
    return name.replace("/", "∕")

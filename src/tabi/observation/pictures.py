"""Pictures of a simulation by its cameras.

Poses of bodies are those of the last step; the simulation is not changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, near, unknown
from tabi.model.sensors import Sensor
from tabi.model.world import World
from tabi.rendering.camera import (
    FIELD_OF_VIEW,
    SIZE,
    Camera,
    around,
    checked_field,
    checked_size,
)
from tabi.rendering.renderer import Renderer
from tabi.rendering.triangles import Triangles, of_world
from tabi.step.data import Data

Array = NDArray[np.float64]
KINDS = ("colour", "depth", "segmentation")
# default view of everything: angles of a camera [degrees], and the least radius in view [m]
AZIMUTH, ELEVATION, MIN_RADIUS_M = 35.0, 15.0, 0.1
# factor on the radius in view, and distance up to which corners are used [m]
RADIUS_MARGIN, MAX_DISTANCE_M = 1.05, 1e6


class Pictures:
    """Camera pictures of a simulation.

    Args:
        world: whose looks are read once.
    """

    def __init__(self, world: World, data: Data) -> None:
        self._data, self._model = data, data.model
        self._renderer = Renderer(of_world(world, data.model))
        self._boxes = boxes(self._renderer.triangles)

    def take(
        self,
        camera: Camera | Sensor | str | None,
        kind: str,
        size: tuple[int, int] | None,
        field_of_view: float | None,
    ) -> NDArray[Any]:
        """Draw a picture; arguments as of ``Simulator.render``."""
        if kind not in KINDS:
            raise ModelError(
                f"kind of a picture is {kind!r}; expected one of {', '.join(KINDS)}"
                f"{near(str(kind), KINDS)}"
            )
        R, p = self._placements()
        field = None if field_of_view is None else checked_field(field_of_view)
        pixels = None if size is None else checked_size(size)
        view = self._camera(camera, R, p, pixels, field)
        draw = getattr(self._renderer, kind)
        return draw(R, p, view)

    def _placements(self) -> tuple[Array, Array]:
        """Return R and p of the moving bodies, the world first."""
        body = self._data.body
        root = self._model.arrays.body["root"]
        return body["rotation"].reshape(-1, 3, 3).copy(), body["position"] + body["origin"][root]

    def _camera(
        self,
        camera: Any,
        R: Array,
        p: Array,
        size: tuple[int, int] | None,
        field: float | None,
    ) -> Camera:
        if camera is None:
            return self._view(R, p, size or SIZE, field or FIELD_OF_VIEW)
        if isinstance(camera, Camera):
            size, field = size or camera.size, field or camera.field_of_view
            return Camera(pose=camera.pose, size=size, field_of_view=field)
        site = self._model.sensors[self._named(camera)]
        pose, _ = self._data.frame(site)
        field = field or site.sensor.field_of_view or FIELD_OF_VIEW
        return Camera(pose=pose, size=size or SIZE, field_of_view=field)

    def _named(self, camera: Any) -> str:
        """Return the model's name of a camera, by its name or sensor."""
        sensors = self._model.sensors
        cameras = [name for name, site in sensors.items() if site.kind == "camera"]
        if isinstance(camera, Sensor):
            names = [name for name in cameras if sensors[name].sensor is camera]
            camera = names[0] if names else camera.name
        if not isinstance(camera, str):
            raise ModelError(
                f"camera is {type(camera).__name__}; expected a tabi.Camera, the name of a camera "
                "of a robot, or None for a view of everything"
            )
        if camera in cameras:
            return camera
        if camera in sensors:
            raise ModelError(
                f"sensor {camera!r} is of kind {sensors[camera].kind!r}; expected a camera"
                + (
                    f", as {', '.join(map(repr, cameras[:8]))}"
                    if cameras
                    else ", and there is none"
                )
            )
        raise unknown("camera", camera, "the world", cameras)

    def _view(self, R: Array, p: Array, size: tuple[int, int], field: float) -> Camera:
        """Return a camera with a view of all moving bodies, or of everything if there are none."""
        body, corners = self._boxes
        places = (np.einsum("nij,nkj->nki", R[body], corners) + p[body, None]).reshape(-1, 3)
        places = places[(np.abs(places) < MAX_DISTANCE_M).all(axis=1)]
        if not len(places):
            places = np.zeros((1, 3))
        centre = 0.5 * (places.min(axis=0) + places.max(axis=0))
        radius = max(MIN_RADIUS_M, float(np.linalg.norm(places - centre, axis=1).max()))
        # the narrower of the two angles has to hold it
        half = 0.5 * np.radians(field)
        narrow = min(half, float(np.arctan(np.tan(half) * size[0] / size[1])))
        distance = RADIUS_MARGIN * radius / float(np.sin(narrow))
        return around(centre, distance, size, AZIMUTH, ELEVATION, field)


def boxes(t: Triangles) -> tuple[NDArray[np.int64], Array]:
    """Return the moving bodies that are drawn, or the world without any, and in the frame of each
    the corners of a box around it [m], shape (n, 8, 3).
    """
    bodies = np.unique(t.body[t.moving] if t.moving.any() else t.body).astype(np.int64)
    corners = np.zeros((len(bodies), 8, 3))
    for k, body in enumerate(bodies):
        points = t.corners[t.body == body].reshape(-1, 3)
        ends = np.array([points.min(axis=0), points.max(axis=0)])
        corners[k] = [(ends[i, 0], ends[j, 1], ends[m, 2]) for i, j, m in np.ndindex(2, 2, 2)]
    return bodies, corners

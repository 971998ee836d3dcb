"""What is drawn over a world: contacts with their friction cones and forces, pressure, support,
balance, plans of walks, trails, rubber bands.

Every kind is a few nodes of the page whose arrays are replaced as a whole,
so a hundred contacts cost as much as one. Knows no physics: it draws what a view tells.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import viser
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.apps.viewer.marks.foot_marks import FootMarks
from tabi.apps.viewer.marks.nodes import Node
from tabi.apps.viewer.marks.steered_marks import SteeredMarks
from tabi.apps.viewer.marks.walk_marks import WalkMarks
from tabi.apps.viewer.view import View
from tabi.formats.triangles import Mesh, turned
from tabi.model.body import convex_outline
from tabi.reporting.frames import ARROW

Array = NDArray[np.float64]
LONGEST, HEAD = 0.8, 0.024  # m of an arrow, and of its head
CONE = 0.06  # m, the height of a friction cone
LIFT = 2e-3  # m above the ground, so that the floor does not hide it
# dark ones: the page's light is bright
STICKS, SLIDES = (8, 120, 62), (205, 85, 0)
FORCE, PRESSURE, SUPPORT = (165, 0, 16), (0, 60, 190), (60, 120, 230)
CENTRE, ZMP, BAND = (225, 150, 0), (190, 0, 110), (235, 80, 0)
TRAILS = 300  # points of a trail
# kinds: what their checkbox says → whether they are shown at first
KINDS = {
    "contact points": True,
    "friction cones": True,
    "contact forces": True,
    "states of feet": True,
    "centre of pressure": True,
    "support polygon": True,
    "centre of mass": True,
    "zero moment point": True,
    "plan of a walk": True,
    "trails": False,
    "see through bodies": False,
    "drag pulls": False,
}
HINTS = {
    "contact points": "green where a point sticks, orange where it slides",
    "friction cones": "a force inside its cone sticks, one on its side slides",
    "states of feet": "face, edge or corner that a foot stands on: green, orange where it slides; "
    "grey in the air",
    "centre of pressure": "blue ball: where the load of a foot acts, in the outline of its sole",
    "support polygon": "light blue: around all points that carry the robot",
    "centre of mass": "yellow ball inside the robot, plumbed down to the ground",
    "zero moment point": "purple coin on the ground: where all contact forces together act",
    "plan of a walk": "footsteps, blue of the left foot and red of the right one; pink: where "
    "the zero moment point should be, now and on its way; yellow: way of the centre of mass; "
    "teal coin of a steered robot: its capture point, where it could come to rest",
    "trails": "yellow: where the centre of mass has been",
    "see through bodies": "to see what is inside and behind them, and the pressure on soft soles",
    "drag pulls": "pull bodies without Ctrl, for touch screens: one finger on a body",
}


class Overlay:
    """The drawing over one world.

    Args:
        arrow: metres per newton. soles: outlines of all feet, in their planes [m].
        filled: of which the face is filled that they stand on; all unless told.

    Attributes:
        shown: which kinds are drawn.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        arrow: float = ARROW,
        soles: list[Array] | None = None,
        filled: list[bool] | None = None,
    ) -> None:
        self.server, self.arrow, scene = server, arrow, server.scene
        self.shown = dict(KINDS)
        self._points = _Marks(server, "points", _ball(0.008), STICKS)
        self._cones = _Marks(server, "cones", _cone(), STICKS, opacity=0.42)
        self._shafts = _Marks(server, "shafts", _shaft(), FORCE)
        self._heads = _Marks(server, "heads", _head(), FORCE)
        self._pressure = _Marks(server, "pressure", _ball(0.014), PRESSURE)
        self._outline = _Lines(server, "outline", PRESSURE, 0.004)
        self._support = _Lines(server, "support", SUPPORT, 0.006)
        self._centre = _Marks(server, "centre", _ball(0.030), CENTRE)
        self._plumb = _Lines(server, "plumb", CENTRE, 0.005)
        self._below = _Marks(server, "below", _disc(0.030), CENTRE)
        self._zmp = _Marks(server, "zmp", _disc(0.017), ZMP)
        self._trail = _Lines(server, "trail", CENTRE, 0.005)
        self._band = _Lines(server, "band", BAND, 0.008)
        self._knob = _Marks(server, "knob", _ball(0.018), BAND)
        self.feet, self.walks = FootMarks(server, soles or [], filled), WalkMarks(server)
        self.steered = SteeredMarks(server)
        self._label = scene.add_label(
            "/over/newtons", "", visible=False, anchor="bottom-center", font_screen_scale=1.3
        )
        self._past: deque[Array] = deque(maxlen=TRAILS)
        self._trailed = -1.0

    @property
    def newtons(self) -> str:
        """The force shown at the rubber band; empty where nobody pulls."""
        return self._label.text if self._label.visible else ""

    def draw(self, view: View, ground: float = 0.0) -> None:
        """Draw a moment, in one message; ``ground``: height of the floor [m]."""
        self._remember(view, ground)
        with self.server.atomic():
            self._draw_contacts(view)
            if len(view.centres):
                self._draw_balance(view, ground)
            self.feet.draw(view.soles, self.shown["states of feet"])
            self.walks.draw(view.walks, self.shown["plan of a walk"])
            self.steered.draw(view.steered, self.shown["plan of a walk"])
            if view.bands or self._label.visible:
                self._draw_bands(view)

    def _draw_contacts(self, view: View) -> None:
        pressing = (view.normals * view.forces).sum(axis=1) > 0
        if not pressing.any():
            for marks in (self._points, self._cones, self._shafts, self._heads):
                marks.show(None)
            return
        # of action and reaction the one on the upper body: the other would point into the ground
        side = np.where(view.normals[pressing, 2:] < 0, -1.0, 1.0)
        points = view.points[pressing]
        normals = side * view.normals[pressing]
        forces = side * view.forces[pressing]
        colors = np.where(view.sliding[pressing, None], SLIDES, STICKS).astype(np.uint8)
        self._points.show(points if self.shown["contact points"] else None, colors=colors)
        friction = view.friction[pressing]
        # a cone as wide as a table is no cone one could read
        scales = np.column_stack(
            [CONE * np.minimum(friction, 1.5)] * 2 + [np.full(len(friction), CONE)]
        )
        self._cones.show(points if self.shown["friction cones"] else None, normals, scales, colors)
        self._draw_arrows(points, self.arrow * forces)

    def _draw_arrows(self, points: Array, arrows: Array) -> None:
        """Arrows from points; the head of a short one is half of it."""
        length = np.linalg.norm(arrows, axis=1)
        axes = arrows / np.maximum(length, 1e-12)[:, None]
        shown = np.minimum(length, LONGEST)
        head = np.minimum(HEAD, 0.5 * shown)
        thin = np.minimum(1.0, head / HEAD)
        on = self.shown["contact forces"]
        self._shafts.show(points if on else None, axes, np.column_stack([thin, thin, shown - head]))
        self._heads.show(
            points + axes * (shown - head)[:, None] if on else None,
            axes,
            np.column_stack([thin, thin, thin]),
        )

    def _draw_balance(self, view: View, ground: float) -> None:
        lift, on = np.array([0.0, 0.0, LIFT]), self.shown
        loaded = view.pressures[np.isfinite(view.pressures[:, 0])] + lift
        self._pressure.show(loaded if on["centre of pressure"] else None)
        self._outline.show(
            _rings([corners + lift for corners in view.outlines])
            if on["centre of pressure"] and not (on["states of feet"] and self.feet.feet)
            else None
        )
        hulls = [hull for points in view.supports if (hull := _hull(points)) is not None]
        self._support.show(
            _rings([hull + 2 * lift for hull in hulls]) if on["support polygon"] else None
        )
        below = view.centres * (1.0, 1.0, 0.0) + (0.0, 0.0, ground + LIFT)
        seen = view.centres if on["centre of mass"] else None
        self._centre.show(seen)
        self._below.show(None if seen is None else below)
        self._plumb.show(None if seen is None else np.stack([view.centres, below], axis=1))
        self._zmp.show(
            view.zmp[np.isfinite(view.zmp[:, 0])] + 3 * lift if on["zero moment point"] else None
        )

    def _remember(self, view: View, ground: float) -> None:
        """Where the centres of mass have been, on the ground; a new start forgets it."""
        if view.time < self._trailed:
            self._past.clear()
        if (len(self._past) == 0 or view.time - self._trailed > 0.03) and len(view.centres):
            self._past.append(
                np.concatenate(
                    [view.centres, view.centres * (1.0, 1.0, 0.0) + (0.0, 0.0, ground + LIFT)]
                )
            )
            path = np.array(self._past) if self.shown["trails"] else np.zeros((0, 0, 3))
            self._trail.show(
                np.stack([path[:-1], path[1:]], axis=2).reshape(-1, 2, 3) if len(path) > 1 else None
            )
            self._trailed = view.time

    def _draw_bands(self, view: View) -> None:
        self._band.show(
            np.array([(band.point, band.target) for band in view.bands]).reshape(-1, 2, 3)
        )
        self._knob.show(np.array([band.target for band in view.bands]).reshape(-1, 3))
        if view.bands:
            self._label.text = " · ".join(
                f"{np.linalg.norm(band.force):.0f} N" for band in view.bands
            )
            self._label.position = view.bands[-1].target + np.array([0.0, 0.0, 0.05])
        self._label.visible = bool(view.bands)


class _Marks:
    """Copies of one small mesh."""

    def __init__(
        self,
        server: viser.ViserServer,
        name: str,
        mesh: Mesh,
        color: tuple[int, int, int],
        opacity: float | None = None,
    ) -> None:
        self.count = 0
        self.handle = server.scene.add_batched_meshes_simple(
            f"/over/{name}",
            mesh[0].astype(np.float32),
            mesh[1].astype(np.uint32),
            batched_wxyzs=np.array([[1.0, 0.0, 0.0, 0.0]], np.float32),
            batched_positions=np.zeros((1, 3), np.float32),
            batched_scales=np.ones((1, 3), np.float32),
            batched_colors=color,
            opacity=opacity,
            side="front" if opacity is None else "double",
            lod="off",
            cast_shadow=False,
            receive_shadow=False,
            visible=False,
        )
        self.node = Node(self.handle)

    def show(
        self,
        points: Array | None,
        axes: Array | None = None,
        scales: Array | None = None,
        colors: NDArray[np.uint8] | None = None,
    ) -> None:
        """At these points, the z axis along ``axes``; nothing where there are none."""
        if points is None or len(points) == 0:
            self.handle.visible = False
            return
        # room for a few more is kept out of sight, as a browser makes new buffers whenever
        # the number changes
        n = len(points)
        room = -(-n // 16) * 16 if n > 1 else 1
        resized = room != self.count
        values: dict[str, NDArray[Any]] = {"batched_positions": _padded(points, room)}
        if axes is not None or resized:
            values["batched_wxyzs"] = _padded(
                np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)) if axes is None else _tilts(axes), room
            )
        if scales is not None or resized or n != room:
            values["batched_scales"] = _padded(np.ones((n, 3)) if scales is None else scales, room)
        if colors is not None:
            values["batched_colors"] = np.concatenate([colors, np.zeros((room - n, 3), np.uint8)])
        self.node.tell(**values)
        self.count, self.handle.visible = room, True


class _Lines:
    """Segments of one colour."""

    def __init__(
        self, server: viser.ViserServer, name: str, color: tuple[int, int, int], thickness: float
    ) -> None:
        none = np.zeros((1, 2, 3), np.float32)
        self.handle = server.scene.add_line_segments(
            f"/over/{name}", none, color, thickness=thickness, visible=False
        )
        self.node = Node(self.handle)

    def show(self, segments: Array | None) -> None:
        """These (n, 2, 3), or none."""
        if segments is not None and len(segments):
            self.node.tell(points=segments.astype(np.float32))
        self.handle.visible = segments is not None and len(segments) > 0


def _padded(rows: Array, count: int) -> NDArray[np.float32]:
    out = np.zeros((count, rows.shape[1]), np.float32)
    out[: len(rows)] = rows
    return out


def _rings(polygons: list[Array]) -> Array:
    """Closed outlines as segments."""
    parts = [np.stack([corners, np.roll(corners, -1, axis=0)], axis=1) for corners in polygons]
    return np.concatenate(parts) if parts else np.zeros((0, 2, 3))


def _hull(points: Array) -> Array | None:
    """The polygon that points span in the plane, at their mean height; None for a line or less."""
    if len(points) < 3:
        return None
    try:
        corners = convex_outline("support", points[:, :2])
    except ModelError:
        return None
    return np.column_stack([corners, np.full(len(corners), points[:, 2].mean())])


def _tilts(axes: Array) -> Array:
    """The smallest turns that take the z axis to unit vectors, as quaternions (w, x, y, z)."""
    q = np.column_stack([1 + axes[:, 2], -axes[:, 1], axes[:, 0], np.zeros(len(axes))])
    length = np.linalg.norm(q, axis=1, keepdims=True)
    return np.where(length > 1e-6, q / np.maximum(length, 1e-6), [0.0, 1.0, 0.0, 0.0])


def _ball(radius: float, rings: int = 8) -> Mesh:
    """A sphere."""
    return turned(
        [
            (radius * float(np.cos(a)), radius * float(np.sin(a)))
            for a in np.linspace(-0.5 * np.pi, 0.5 * np.pi, rings + 1)
        ],
        14,
    )


def _shaft() -> Mesh:
    """The stick of an arrow, one long."""
    return turned([(0.0, 0.0), (0.004, 0.0), (0.004, 1.0)], 12)


def _head() -> Mesh:
    """The tip of an arrow."""
    return turned([(0.0, 0.0), (0.0095, 0.0), (0.0, HEAD)], 16)


def _disc(radius: float) -> Mesh:
    """A flat coin."""
    return turned([(0.0, 0.0), (radius, 0.0), (radius, 0.001), (0.0, 0.001)])


def _cone() -> Mesh:
    """An open cone with its tip at the origin, one high and one wide."""
    return turned([(0.0, 0.0), (1.0, 1.0)], 24)

"""Pinhole camera with its projection.

It is at p and has three axes: right x, up y and back z, so it looks along −z, as the cameras of
robot files do. With the field of view φ from the picture's lower to its upper edge and the height
of the picture H in pixels, a point with the coordinates (x, y, z) in the camera's frame is
projected to

    f = H / (2 tan(φ/2)),    column = W/2 + f x/d,    row = H/2 − f y/d,    d = −z               (1)
d is its depth. Columns count from the left edge and rows from the upper edge of the picture: the
middle of the pixel in row i and column j is at (j + ½, i + ½).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, real
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
SIZE, FIELD_OF_VIEW = (640, 480), 45.0
# pixels of a side; distance to the target below which a camera has no direction [m]
MAX_SIZE, MIN_TARGET_DISTANCE = 8192, 1e-9


class Camera:
    """Pose and projection of a camera.

    Args:
        position, target: its position and the point it looks at [m], upright: z of the world is up.
        pose: X_WC instead of both; it looks along −z of its frame, y is up.
        field_of_view: between the lower and the upper edge [degrees], more than 0 and less than
            180.
        size: width and height in pixels.

    Attributes:
        pose: X_WC. field_of_view [degrees]. size: width and height in pixels.

    Examples:
        >>> camera = tabi.Camera(position=(2.0, 2.0, 1.5), target=(0.0, 0.0, 0.7))
        >>> picture = sim.render(camera)
    """

    def __init__(
        self,
        position: ArrayLike | None = None,
        target: ArrayLike | None = None,
        pose: Transform | None = None,
        field_of_view: float = FIELD_OF_VIEW,
        size: tuple[int, int] = SIZE,
    ) -> None:
        if pose is None:
            if position is None or target is None:
                raise ModelError(
                    "a camera has neither a pose nor both a position and a target; "
                    "expected tabi.Camera(position=(x, y, z), target=(x, y, z))"
                )
            self.pose = looking(_place("position", position), _place("target", target))
        else:
            if position is not None or target is not None:
                raise ModelError(
                    "a camera has a pose and a position or target; expected one of both"
                )
            self.pose = _checked(pose)
        self.field_of_view, self.size = checked_field(field_of_view), checked_size(size)

    def __repr__(self) -> str:
        width, height = self.size
        return (
            f"Camera(at {np.round(self.pose.p, 4).tolist()}, {width} × {height} pixels, "
            f"{self.field_of_view:g}°)"
        )

    @property
    def focus(self) -> float:
        """Focal length f in pixels."""
        return 0.5 * self.size[1] / float(np.tan(0.5 * np.radians(self.field_of_view)))

    @property
    def matrix(self) -> Array:
        """Intrinsic matrix that maps (x, −y, d) to d (column, row, 1), by (1), shape (3, 3), for
        axes that point to the right, down and forwards.
        """
        f, (width, height) = self.focus, self.size
        return np.array([[f, 0.0, 0.5 * width], [0.0, f, 0.5 * height], [0.0, 0.0, 1.0]])

    def project(self, points: ArrayLike) -> tuple[Array, Array]:
        """Project points of the world [m], shape (…, 3), to columns and rows of the picture, shape
        (…, 2), and return their depth [m]; NaN for points beside or behind the camera.
        """
        x = (np.asarray(points, float) - self.pose.p) @ self.pose.R
        depth = -x[..., 2]
        ahead = np.where(depth > 0, depth, np.nan)[..., None]
        middle = 0.5 * np.array(self.size)
        return middle + self.focus * x[..., :2] / ahead * (1, -1), depth


def looking(position: Array, target: Array) -> Transform:
    """Return X_WC of an upright camera at a position [m] that looks at another one [m]; straight up
    or down, x of the world is at the upper edge of the picture.
    """
    back = position - target
    distance = float(np.linalg.norm(back))
    if not distance > MIN_TARGET_DISTANCE:
        raise ModelError(
            f"camera at {position.tolist()} has its target at its own position; "
            "expected another place"
        )
    back = back / distance
    level = float(np.hypot(back[0], back[1]))
    right = (
        np.array([-back[1], back[0], 0.0]) / level if level > 1e-9 else np.array([0.0, -1.0, 0.0])
    )
    right = right if level > 1e-9 or back[2] > 0 else -right
    return Transform(np.column_stack([right, np.cross(back, right), back]), position)


def around(
    target: Array,
    distance: float,
    size: tuple[int, int] = SIZE,
    azimuth: float = 35.0,
    elevation: float = 12.0,
    field_of_view: float = 35.0,
) -> Camera:
    """Return a camera that looks at a target [m] from a distance [m], angles in degrees, from
    straight ahead of a robot.
    """
    a, e = np.radians([azimuth, elevation])
    back = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
    return Camera(target + distance * back, target, field_of_view=field_of_view, size=size)


def checked_size(size: Any) -> tuple[int, int]:
    """Return valid width and height, or raise an error."""
    try:
        width, height = size
        is_valid = all(
            not isinstance(n, bool) and int(n) == n and 1 <= n <= MAX_SIZE for n in (width, height)
        )
    except (TypeError, ValueError, OverflowError):
        is_valid = False
    if not is_valid:
        raise ModelError(
            f"size of a camera's picture is {size!r}; "
            f"expected width and height, whole numbers of pixels from 1 to {MAX_SIZE}"
        )
    return int(size[0]), int(size[1])


def checked_field(field_of_view: Any) -> float:
    """Return a valid field of view [degrees], or raise an error."""
    if not 0.0 < (angle := real("field of view of a camera", field_of_view)) < 180.0:
        raise ModelError(
            f"field of view of a camera is {field_of_view}; "
            "expected degrees, more than 0 and less than 180"
        )
    return angle


def _place(name: str, value: ArrayLike) -> Array:
    try:
        x = np.array(value, float)
    except (TypeError, ValueError):
        x = np.zeros(0)
    if x.shape != (3,) or not np.isfinite(x).all():
        raise ModelError(
            f"{name} of a camera is {value!r}; expected three finite numbers in metres"
        )
    return x


def _checked(pose: Any) -> Transform:
    if not isinstance(pose, Transform):
        raise ModelError(
            f"pose of a camera is {type(pose).__name__}; expected a Transform, "
            "as sim.pose(…) returns, that looks along −z"
        )
    R, p = np.array(pose.R, float), _place("position", pose.p)
    # a rotation, without reflection and scaling
    if R.shape != (3, 3) or not (np.abs(R @ R.T - np.eye(3)) < 1e-6).all() or np.linalg.det(R) < 0:
        raise ModelError(f"pose of a camera has R = {R.tolist()}; expected a rotation matrix")
    return Transform(R, p)

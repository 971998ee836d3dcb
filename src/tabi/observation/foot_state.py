"""State of a foot: contact and motion in words, wrench, and margins to its limits.

The largest yaw moment about the pressure point p that corners can bear, with a normal force f_z at
p and a tangential force f_t, is that of the best distribution of the load,

    max Σ (p_i − p) × f_i,   Σ f_i = f_t,   ‖f_i‖ ≤ μ λ_i,   λ_i ≥ 0,   Σ λ_i = f_z,
    Σ λ_i p_i = f_z p                                                                           (1)
whose dual has five unknowns however many corners there are: the least over ν, a₀, a of

    f_z (a₀ + a·p) − ν·f_t,   a₀ + a·p_i ≥ μ ‖ẑ × (p_i − p) + ν‖                                (2)
For each ν it is a linear program over the corners: the concave envelope at p of their moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi.model.compiled import Sole
from tabi.recording.foot_history import FootEvent
from tabi.recording.foot_words import CONTACTS, MOTIONS, NONE, SLIDES, name_of
from tabi.spatial.twist import Wrench
from tabi.step import feet
from tabi.step.data import Data
from tabi.step.foot_tables import FOOT

__all__ = ["FootEvent", "FootState", "events", "foot_state", "support_polygon", "yaw_limit"]

Array = NDArray[np.float64]
COLUMNS = FOOT.names or ()


@dataclass(frozen=True)
class FootState:
    """A foot after the last step.

    Attributes:
        name: as in ``sim.model.feet``.
        contact: "none", "vertex", "edge" or "face". motion: "stick" or "slide", "" without contact.
        wrench: of all contacts on it about its origin, in the world's axes.
        local_wrench: the same in the foot's axes.
        normal_force, tangential_force: across and along the ground [N].
        friction: coefficient of the ground, of sliding.
        centre_of_pressure: in the foot's frame [m]; None without a load.
        margin: distance of that from the edge of the sole [m], negative outside; None without a
            load.
        slip: speed of its fastest point that touches [m/s].
        signal: whether it is loaded, by a debounced contact switch.
        polygon: the sole [m], shape (n, 2), in the foot's frame.

    Examples:
        >>> sim.step()
        >>> sim.foot("left").contact
        'face'
    """

    name: str
    contact: str
    motion: str
    wrench: Wrench
    local_wrench: Wrench
    normal_force: float
    tangential_force: float
    friction: float
    centre_of_pressure: Array | None
    margin: float | None
    slip: float
    signal: bool
    polygon: Array

    @property
    def state(self) -> str:
        """Contact and motion as text, such as "face, stick"."""
        return f"{self.contact}, {self.motion}" if self.motion else self.contact

    @property
    def friction_share(self) -> float:
        """Tangential force over its friction limit: 1 while sliding, 0 without a load."""
        most = self.friction * self.normal_force
        return self.tangential_force / most if most > 0 else 0.0

    @property
    def yaw_moment(self) -> float:
        """Moment about the pressure point, along the foot's z axis [N·m]."""
        if self.centre_of_pressure is None:
            return 0.0
        (x, y), f = self.centre_of_pressure, self.local_wrench.force
        return float(self.local_wrench.torque[2] - (x * f[1] - y * f[0]))

    @cached_property
    def yaw_limit(self) -> float:
        """Largest yaw moment of the sole's corners in the present direction, with this force and
        pressure point [N·m]: see ``yaw_limit``. The first access takes some milliseconds.
        """
        if self.centre_of_pressure is None:
            return 0.0
        sign = 1.0 if self.yaw_moment >= 0 else -1.0
        force = self.local_wrench.force
        return yaw_limit(self.polygon, self.centre_of_pressure, force, self.friction, sign)

    def __str__(self) -> str:
        if self.centre_of_pressure is None or self.margin is None:
            return f"foot {self.name}: {self.state}"
        x, y = 1e3 * self.centre_of_pressure
        return (
            f"foot {self.name}: {self.state}, {self.normal_force:.1f} N at ({x:.1f}, {y:.1f}) mm, "
            f"{1e3 * self.margin:.1f} mm inside of the sole's edge, "
            f"{self.friction_share:.0%} of its friction used"
        )


def foot_state(data: Data, name: str) -> FootState:
    """Return the state of a foot after the last step."""
    k, sole = list(data.model.feet).index(name), data.model.feet[name]
    # all columns of a copy at once: one by one they would take ten times as long
    row = dict(zip(COLUMNS, data.memory.foot[k].copy().item(), strict=True))
    number = row["state"]
    loaded = number != NONE
    return FootState(
        name=name,
        contact=CONTACTS[number % SLIDES],
        motion=MOTIONS[number // SLIDES] if loaded else "",
        wrench=Wrench(row["force"], row["torque"]),
        local_wrench=Wrench(row["local_force"], row["local_torque"]),
        normal_force=row["normal_force"],
        tangential_force=row["tangential_force"],
        friction=row["friction"],
        centre_of_pressure=row["pressure"] if loaded else None,
        margin=row["margin"] if loaded else None,
        slip=row["slip"],
        signal=bool(row["signal"]),
        polygon=sole.polygon,
    )


def events(data: Data) -> tuple[FootEvent, ...]:
    """Return all changes of feet since the start."""
    names = list(data.model.feet)
    return tuple(
        FootEvent(round(time, 9), names[k], name_of(before), name_of(after))
        for time, k, before, after in data.foot_events
    )


def support_polygon(data: Data, soles: list[Sole]) -> Array:
    """Return the convex hull of touching points of loaded soles, from above [m], shape (n, 2)."""
    rows, points_of_soles = data.contact, [np.zeros((0, 3))]
    loaded = dict(zip(data.model.feet, data.memory.foot["state"] != NONE, strict=True))
    end = rows["gap"] + data.dt * (rows["normal"] * rows["velocity"]).sum(axis=1)
    for sole in soles:
        is_sole = (rows["a"] == sole.body) | (rows["b"] == sole.body)
        if loaded[sole.name]:
            points_of_soles.append(rows["position"][is_sole & (end <= feet.TOUCH_GAP_M)])
    points = np.concatenate(points_of_soles)[:, :2]
    if len(points) < 3:
        return points
    from scipy.spatial import ConvexHull, QhullError

    try:
        return points[ConvexHull(points).vertices]
    except QhullError:
        # on a line: its ends
        along = (points - points[0]) @ (points - points[0]).T
        a, b = np.unravel_index(np.argmin(along), along.shape)
        far = points[[a, b]] if along[a, b] < 0 else points[[0, int(np.argmax(np.diag(along)))]]
        return np.unique(far, axis=0)


def yaw_limit(
    corners: ArrayLike, pressure: ArrayLike, force: ArrayLike, friction: float, sign: float = 1.0
) -> float:
    """Return the largest yaw moment by (1).

    Args:
        corners: of the sole [m], shape (n, 2). pressure: the pressure point in its plane [m].
        force: on the sole, the last along its normal [N]. friction: coefficient.
        sign: of the moment, 1 anticlockwise.

    Returns:
        the moment [N·m], along ``sign``; less than 0 if even the best has the other sign.
    """
    from scipy.optimize import linprog, minimize

    corners, p, f = (np.asarray(x, float) for x in (corners, pressure, force))
    arms = corners - p
    tangents = sign * np.column_stack([-arms[:, 1], arms[:, 0]])
    if friction <= 0 or f[2] <= 0:
        return 0.0

    def envelope(nu: Array) -> float:
        moments = friction * np.linalg.norm(tangents + nu, axis=1)
        shares = linprog(
            -moments, A_eq=np.vstack([np.ones(len(arms)), arms.T]), b_eq=[1.0, 0.0, 0.0]
        )
        if shares.status != 0:
            return np.inf
        return float(-f[2] * shares.fun - nu @ f[:2])

    span = float(np.linalg.norm(arms, axis=1).max())
    minimum = minimize(
        envelope,
        np.zeros(2),
        method="Nelder-Mead",
        options={
            "initial_simplex": [[0, 0], [0.5 * span, 0], [0, 0.5 * span]],
            "xatol": 1e-7,
            "fatol": 1e-9 * f[2] * span,
            "maxiter": 400,
        },
    )
    return float(minimum.fun)

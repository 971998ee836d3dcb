"""What kernels of a steered walk work with: see ``steered``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.estimation.kernels import EstimatorState
from tabi.jit.structure import Structure
from tabi.model.arrays import ModelArrays
from tabi.model.controllers.pilot import Channel
from tabi.walking.balance.stabiliser_tables import StabiliserLoop
from tabi.walking.balance.ticks import Progress

# footsteps that are planned beyond the next one
AHEAD = 3

# told once: tick, ω of the pendulum [1/s], times of a step [s], lift [m], height of the centre [m],
# point under a sole [m]; what legs reach from the foot that stands: backwards, forwards, sideways
# from near to far, and at all [m]; mean speed of a foot that swings, at most [m/s]; the shortest
# swing of a walk, and of a robot that is to stand [s]; how fast steering changes, forwards and
# sideways [m/s²], and turning [rad/s²]; the length of a leg [m] and where it begins, seen from the
# base: height, and that of the ankle [m]; margin of the zero moment point [m]; gain of ξ on it; how
# fast the plan gives in to what is measured [1/s]; weight [N]; whether steps adapt
STEPPING = np.dtype(
    [
        (name, float)
        for name in (
            "tick",
            "omega",
            "single",
            "double",
            "shift",
            "lift",
            "height",
            "ahead",
            "outwards",
            "back",
            "forward",
            "near",
            "far",
            "reach",
            "foot_speed",
            "least",
            "quickest",
            "speeding",
            "turning",
            "leg",
            "ankle",
            "margin",
            "gain",
            "yields",
            "weight",
            "adapts",
        )
    ],
    align=True,
)
# now: phase, foot that stands (in a double support: that which will), steps that landed, whether to
# walk, footsteps that are planned, whether the last of them ends the walk, whether the foot that
# swings has met the ground, why a walk was given up; seconds in this phase and left of it, how much
# of its way a foot has swung, how long it looks for the ground [s], how far the landing that is
# needed is out of reach [m]
STANDING = np.dtype(
    [
        (name, np.int64)
        for name in ("phase", "stance", "landed", "walk", "count", "stops", "met", "why")
    ]
    + [(name, float) for name in ("elapsed", "left", "phi", "late", "missed")],
    align=True,
)


class StepPlan(Structure):
    """Footsteps of a steered walk, and the pendulum above them.

    Attributes:
        settings, now: of STEPPING and STANDING, shape (1,).
        asked, going: forwards, sideways [m/s], turning to the left [rad/s]: what is steered, and
            what steps are made of, which follows it, shape (3,).
        beside: of each foot from the place between them: x, y, yaw, shape (2, 3).
        foot: each sole: x, y, z, yaw, shape (2, 4).
        swing: of x, y and yaw of the foot that swings: place, velocity, acceleration, shape (3, 3).
        level: height of the ground under each foot that stands [m], shape (2,).
        rise: height where it lifted, where it lands, and how far it is lifted above them [m],
            shape (3,).
        hold: footsteps: x, y, yaw; the first one is that which stands, the second one the next
            landing, shape (AHEAD + 2, 3). under: points under them, and the end, shape (·, 2).
        zmp: planned: where a double support begins, and now [m], shape (2, 2).
        xi: planned ξ [m], shape (2,); at_landing: when the next foot lands;
            wanted: the same for the landing that is steered, without what pushes make of it.
        pendulum: place and velocity of the centre of mass: rows x, y, z, shape (3, 2).
        v, a, tau: of the reference, as in inverse dynamics, shape (1, ·); ground, whole_zmp: what
            they stand on, and the zero moment point, shapes (1,) and (1, 2).
        left, offset: of ``whole_body.follow``, shapes (1, 2) and (3,).
        hips: of each leg from the base [m], shape (2, 3).
    """

    settings: NDArray[np.void]
    now: NDArray[np.void]
    asked: NDArray[np.float64]
    going: NDArray[np.float64]
    beside: NDArray[np.float64]
    foot: NDArray[np.float64]
    swing: NDArray[np.float64]
    level: NDArray[np.float64]
    rise: NDArray[np.float64]
    hold: NDArray[np.float64]
    under: NDArray[np.float64]
    zmp: NDArray[np.float64]
    xi: NDArray[np.float64]
    at_landing: NDArray[np.float64]
    wanted: NDArray[np.float64]
    pendulum: NDArray[np.float64]
    v: NDArray[np.float64]
    a: NDArray[np.float64]
    tau: NDArray[np.float64]
    ground: NDArray[np.float64]
    whole_zmp: NDArray[np.float64]
    left: NDArray[np.float64]
    offset: NDArray[np.float64]
    hips: NDArray[np.float64]


class SteeredWalk(Structure):
    """A steered walk with a stabiliser; see ``StabilisedWalk``."""

    channel: Channel
    progress: Progress
    model: ModelArrays
    estimator: EstimatorState
    loop: StabiliserLoop
    place: NDArray[np.int64]
    foot: NDArray[np.int64]
    q_at: NDArray[np.int64]
    plan: StepPlan

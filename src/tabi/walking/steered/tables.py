"""Settings, state and workspace of the kernels of a steered walk (``steps``, ``tick``)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.jit.structure import Structure
from tabi.walking.balance.ticks import BalancedWalk

# footsteps planned beyond the next one
FOOTSTEPS_AHEAD = 3

# constants: tick, ω of the pendulum [1/s], durations of a step's phases [s], lift [m], height of
# the centre of mass [m], reference point under a sole [m]; reach from the stance foot: backwards,
# forwards, sideways from near to far, and in all [m]; maximum mean speed of a swing foot [m/s];
# shortest swing of a walk, and of a step that catches a standing robot [s]; rates at which steering
# changes, forwards and sideways [m/s²] and turning [rad/s²]; leg length [m]; heights of the hip
# joints above the base and of the ankle [m]; margin of the zero moment point [m]; feedback gain on
# ξ; rate at which the pendulum is drawn to the measured state [1/s]; weight [N]; whether steps
# adapt
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
            "min_swing",
            "min_catch_swing",
            "acceleration",
            "angular_acceleration",
            "leg",
            "ankle",
            "margin",
            "gain",
            "yield_rate",
            "weight",
            "adapts",
        )
    ],
    align=True,
)
# state: phase, stance foot (in a double support: the next one), landed steps, whether to walk,
# number of planned footsteps, whether the last of them ends the walk, whether the swing foot is in
# contact, reason of a stop; time since the start of this phase and left of it [s], progress of the
# swing, time of searching for the ground [s], distance of the required landing beyond reach [m]
STANDING = np.dtype(
    [
        (name, np.int64)
        for name in (
            "phase",
            "stance",
            "landed",
            "walk",
            "count",
            "stops",
            "in_contact",
            "stop_reason",
        )
    ]
    + [(name, float) for name in ("elapsed", "left", "swing_progress", "search_time", "shortfall")],
    align=True,
)


class StepPlan(Structure):
    """Footsteps of a steered walk, and the pendulum above them.

    Attributes:
        settings, now: rows of STEPPING and STANDING, shape (1,).
        requested, step_velocity: forwards, sideways [m/s], turning to the left [rad/s]: steering
            command, and its rate-limited value that determines the steps, shape (3,).
        beside: pose of each foot in the frame between them: x, y, yaw, shape (2, 3).
        foot: each sole: x, y, z, yaw, shape (2, 4).
        swing: of x, y and yaw of the swing foot: position, velocity, acceleration, shape (3, 3).
        level: height of the ground under each stance foot [m], shape (2,).
        rise: height of the swing foot at lift-off, at landing, and its lift above both [m],
            shape (3,).
        footstep: x, y, yaw; first the stance foot, second the next landing, shape (FOOTSTEPS_AHEAD
            + 2, 3). under: points under them, and the end, shape (·, 2).
        zmp: planned, at the start of a double support, and now [m], shape (2, 2).
        xi: planned ξ [m], shape (2,); at_landing: planned ξ when the next foot lands;
            xi_planned: the same for the steered landing, without reactions to pushes.
        pendulum: position and velocity of the centre of mass: rows x, y, z, shape (3, 2).
        v, a, tau: of the reference, as in inverse dynamics, shape (1, ·); ground, whole_zmp:
            height of the ground, and the zero moment point, shapes (1,) and (1, 2).
        left, offset: of ``whole_body.follow``, shapes (1, 2) and (3,).
        hips: position of each hip in the base frame [m], shape (2, 3).
    """

    settings: NDArray[np.void]
    now: NDArray[np.void]
    requested: NDArray[np.float64]
    step_velocity: NDArray[np.float64]
    beside: NDArray[np.float64]
    foot: NDArray[np.float64]
    swing: NDArray[np.float64]
    level: NDArray[np.float64]
    rise: NDArray[np.float64]
    footstep: NDArray[np.float64]
    under: NDArray[np.float64]
    zmp: NDArray[np.float64]
    xi: NDArray[np.float64]
    at_landing: NDArray[np.float64]
    xi_planned: NDArray[np.float64]
    pendulum: NDArray[np.float64]
    v: NDArray[np.float64]
    a: NDArray[np.float64]
    tau: NDArray[np.float64]
    ground: NDArray[np.float64]
    whole_zmp: NDArray[np.float64]
    left: NDArray[np.float64]
    offset: NDArray[np.float64]
    hips: NDArray[np.float64]


class SteeredWalk(BalancedWalk):
    """A steered walk with a stabiliser."""

    plan: StepPlan

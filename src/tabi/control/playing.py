"""Playback of a recorded or planned motion, sample by sample and between them.

Between two samples k and k + 1, with x from 0 to 1 and h = t_{k+1} − t_k, positions are the cubic

    q(x) = c₀ + c₁ x + c₂ x² + c₃ x³,    q̇(x) = (c₁ + 2 c₂ x + 3 c₃ x²)/h
    (1) c₀ = q_k,   c₁ = h v_k,   c₂ = 3 Δ − h (2 v_k + v_{k+1}),   c₃ = h (v_k + v_{k+1}) − 2 Δ
    (2)
with Δ = q_{k+1} − q_k: Hermite's, through all samples with their velocities. Before the first and
after the last sample joints are at rest.

Servo loops alone lag, as their efforts result from errors. With feed-forward, the efforts of
``pattern_dynamics`` are commanded with the positions, linear between samples.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, real
from tabi.control.joint_values import JointChoice
from tabi.control.pattern_dynamics import PatternDynamics, pattern_dynamics
from tabi.control.patterns import Pattern, pattern
from tabi.model.controllers.controller import Controller
from tabi.model.controllers.signals import Command, Measurement
from tabi.model.robot import Robot

Array = NDArray[np.float64]


class Playback(Controller):
    """A controller that plays a pattern: see ``playback``.

    Attributes:
        pattern: the motion. ends: time at which it ends, since the start of the playback [s].
    """

    MEMORY = ("_from",)

    def __init__(
        self,
        robot: Robot,
        motion: Pattern,
        rate: float,
        blend: float,
        feed_forward: bool | PatternDynamics = False,
    ) -> None:
        motion.check(robot, rate)
        self.pattern, self._rate, self._blend = motion, rate, blend
        self.ends = blend + motion.duration / rate
        self._choice = JointChoice(robot, motion.joints)
        order = [motion.joints.index(name) for name in self._choice.names]
        q, v, h = motion.position[:, order], motion.velocity[:, order], np.diff(motion.times)
        # (2), shape (n − 1, 4, joints)
        span, a, b = np.diff(q, axis=0), h[:, None] * v[:-1], h[:, None] * v[1:]
        self._cubics = np.stack([q[:-1], a, 3 * span - 2 * a - b, a + b - 2 * span], axis=1)
        self._times, self._spans = (motion.times - motion.times[0]).tolist(), h.tolist()
        self._efforts = _efforts(robot, motion, rate, self._choice, feed_forward)
        self._ends_at, self._rest = (q[0].copy(), q[-1].copy()), np.zeros(len(order))
        self.reset()

    def reset(self) -> None:
        """Restart: a blend starts at the next measured position."""
        self._from: Array | None = None

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """Return positions and velocities at this time."""
        if time < self._blend:
            return self._blended(time, measurement)
        since = (time - self._blend) * self._rate
        if since >= self._times[-1] or since < 0.0:
            last = -1 if since >= 0.0 else 0
            return self._command(self._ends_at[last], self._rest, last)
        k = bisect_right(self._times, since) - 1
        h, cubic = self._spans[k], self._cubics[k]
        x, r = (since - self._times[k]) / h, self._rate / h
        # (1)
        q, v = np.array(((1.0, x, x * x, x * x * x), (0.0, r, 2 * x * r, 3 * x * x * r))) @ cubic
        return self._command(q, v, k, x)

    def _command(self, q: Array, v: Array, k: int, x: float = 0.0, share: float = 1.0) -> Command:
        """Return a command with the efforts of sample k, interpolated by x towards the next."""
        command_values, e = self._choice.command_values, self._efforts
        if e is None:
            return Command(command_values(q), command_values(v))
        between = (1.0 - x) * e[k] + x * e[k + 1] if x > 0.0 else e[k]
        return Command(command_values(q), command_values(v), command_values(share * between))

    def _blended(self, time: float, measurement: Measurement) -> Command:
        """Return the command of the blend to the first sample, from rest to rest."""
        if self._from is None:
            self._from = measurement.position[self._choice.at].copy()
        x, goal = max(0.0, time) / self._blend, self._ends_at[0]
        span = goal - self._from
        share, rate = x * x * (3 - 2 * x), 6 * x * (1 - x) / self._blend
        return self._command(self._from + share * span, rate * span, 0, share=share)


def _efforts(
    robot: Robot,
    motion: Pattern,
    rate: float,
    choice: JointChoice,
    feed_forward: bool | PatternDynamics,
) -> Array | None:
    """Return efforts of the selected joints, a row per sample; None without feed-forward."""
    if feed_forward is False:
        return None
    if feed_forward is True:
        faster = replace(motion, times=motion.times / rate, velocity=motion.velocity * rate)
        feed_forward = pattern_dynamics(robot, faster)
    if not isinstance(feed_forward, PatternDynamics) or len(feed_forward.times) != len(
        motion.times
    ):
        raise ModelError(
            f"feed_forward is {type(feed_forward).__name__} that does not fit the pattern of "
            f"{len(motion.times)} samples; expected True, False, or its pattern_dynamics"
        )
    return feed_forward.effort[:, [feed_forward.joints.index(name) for name in choice.names]]


def playback(
    robot: Robot,
    trajectory: Any,
    rate: float = 1.0,
    blend: float = 0.0,
    feed_forward: bool | PatternDynamics = False,
) -> Playback:
    """Play a motion; its first sample is at time 0, or after the blend.

    Args:
        trajectory: a ``Pattern``, of ``pattern`` or ``read_pattern``, or arrays (times, positions)
            or (times, positions, velocities) of all joints.
        rate: speed factor; 0.5 takes twice as long.
        blend: duration of an initial motion from the current position to the first sample [s].
        feed_forward: whether to command the efforts of the motion, for a robot that walks on flat
            ground: ``pattern_dynamics`` of the trajectory, which takes a millisecond per sample, or
            its result (for the same rate).

    Examples:
        >>> nod = tabi.control.pattern(robot, [0.0, 1.0], [[0.0], [0.2]], joints=["HEAD_P"])
        >>> sim.set_controller(robot, tabi.control.playback(robot, nod))
    """
    if not 0 < real("rate of the playback", rate) < inf:
        raise ModelError(f"rate of the playback is {rate:g}; expected a positive number")
    if not 0 <= real("blend of the playback", blend) < inf:
        raise ModelError(f"blend of the playback is {blend:g} s; expected a number ≥ 0")
    if not isinstance(trajectory, Pattern):
        if not isinstance(trajectory, (tuple, list)) or len(trajectory) not in (2, 3):
            raise ModelError(
                f"the trajectory is {type(trajectory).__name__}; expected (times, positions), "
                f"(times, positions, velocities), or what read_pattern returns"
            )
        trajectory = pattern(robot, *trajectory)
    return Playback(robot, trajectory, float(rate), float(blend), feed_forward)

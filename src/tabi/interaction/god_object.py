"""God object of a touching probe: a ball that follows the hand and never enters a body.

Near a position p each point of a shape with the normal n_i and the gap g_i is a plane that the ball
stays above; a convex shape is entirely below it. The ball moves as near to the hand's x as all
planes allow, and the planes are updated:

    δ = argmin |p + δ − x|²   with   n_i·δ ≥ −g_i,    p ← p + δ                               (1)
until it converges. There, with the multipliers of (1),

    p − x = Σ λ_i n_i,    λ ≥ 0                                                               (2)
so a spring between both presses with k λ_i n_i on each touched body, and the force on the hand is
their sum. With non-convex ground the planes are updated after each radius of the path.

With friction the ball sticks to its body while the spring lies in the cone; else it slides until it
does:

    p = p* + min(1, μ |p* − x| / |p₀ − p*|) (p₀ − p*)                                         (3)
p₀: previous position, p*: position without friction. Reference: Zilles and Salisbury, A
constraint-based god-object method for haptic display (1995), of (1); Ruspini, Kolarov and Khatib
(1997) of the ball.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tabi.interaction.surroundings import Near, Surroundings
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
# tolerances of convergence, of the planes, and of touched points [m]
STEP_TOLERANCE, PLANE_TOLERANCE, TOUCH_TOLERANCE = 1e-10, 1e-13, 1e-7
MAX_ITERATIONS, MAX_EXTRA_ITERATIONS = 40, 400
# number of planes in (1), and cosine above which two planes count as one
MAX_PLANES, SAME_PLANE_COSINE = 8, 1.0 - 1e-10
# squared sine below which planes are parallel
MIN_SQUARED_SINE = 1e-9


@dataclass(frozen=True, eq=False)
class Press:
    """A pressed point of a shape, and its part of p − x in (2), with friction [m]."""

    near: Near
    part: Array


class GodObject:
    """The ball of a touching probe.

    Args:
        friction: μ of (3).

    Attributes:
        position: p [m]; None before the first ``follow``.
        presses: the pressed points.
    """

    def __init__(self, surroundings: Surroundings, friction: float = 0.0) -> None:
        self.around, self.friction = surroundings, float(friction)
        self.position: Array | None = None
        self.presses: list[Press] = []
        self._pose: Transform | None = None
        self._near: list[Near] = []

    def follow(self, x: Array) -> None:
        """Move the ball to the hand at x [m]; bodies are where the simulation has them."""
        self.around.update()
        start = x if self.position is None else self._carried_position()
        p = self._move(start, x)
        presses = self._presses_at(p, x)
        if self.friction > 0.0 and presses:
            away, slid = p - x, start - p
            depth, back = sqrt(float(away @ away)), sqrt(float(slid @ slid))
            if depth > TOUCH_TOLERANCE and back > STEP_TOLERANCE:
                stuck = self._move(p, p + min(1.0, self.friction * depth / back) * slid)
                # across a hollow it would float
                stuck_presses = self._presses_at(stuck, x)
                p, presses = (stuck, stuck_presses) if stuck_presses else (p, presses)
        self.position, self.presses = p, presses
        self._pose = None
        if self.presses:
            strongest = max(self.presses, key=lambda press: float(press.part @ press.part))
            self._link = strongest.near.link
            self._pose = self.around.sim.pose(self._link) if strongest.near.body else None

    @property
    def ahead(self) -> Near | None:
        """The nearest of all near points."""
        return min(self._near, key=lambda point: point.gap, default=None)

    def forget(self) -> None:
        """Restart at the next position of the hand."""
        self.position, self.presses, self._pose = None, [], None

    def _carried_position(self) -> Array:
        """Return the previous position, moved with the body it pressed on."""
        assert self.position is not None
        if self._pose is None:
            return self.position
        return self.around.sim.pose(self._link) @ (self._pose.inverse() @ self.position)

    def _move(self, p: Array, x: Array) -> Array:
        """Move from p towards x as far as (1) allows."""
        radius, convex = self.around.radius, self.around.convex
        path = x - p
        max_iterations = (
            MAX_ITERATIONS
            if convex
            else MAX_ITERATIONS + int(min(MAX_EXTRA_ITERATIONS, sqrt(float(path @ path)) / radius))
        )
        for _ in range(max_iterations):
            path = x - p
            size = sqrt(float(path @ path))
            if not convex and size > radius:
                path, size = path * (radius / size), radius
            self._near = self.around.near(p, size + radius)
            step, _ = nearest(path, self._near)
            p = p + step
            if float(step @ step) < STEP_TOLERANCE * STEP_TOLERANCE:
                return p
        return self._push_out(p)

    def _push_out(self, p: Array) -> Array:
        """Return the nearest position outside of all shapes."""
        for _ in range(MAX_ITERATIONS):
            self._near = self.around.near(p, self.around.radius)
            step, _ = nearest(np.zeros(3), self._near)
            p = p + step
            if float(step @ step) < STEP_TOLERANCE * STEP_TOLERANCE:
                break
        return p

    def _presses_at(self, p: Array, x: Array) -> list[Press]:
        """Return the pressed points and their shares by equation (2)."""
        touched = [point for point in self._near if point.gap < TOUCH_TOLERANCE]
        if not touched:
            return []
        step, shares = nearest(x - p, touched)
        total = sum(shares.values())
        # the friction is shared like the load
        return [
            Press(touched[i], load * touched[i].normal - (load / total) * step)
            for i, load in shares.items()
            if load > 0.0
        ]


def nearest(path: Array, near: list[Near]) -> tuple[Array, dict[int, float]]:
    """Return δ of (1) nearest to ``path``, and the multipliers of the planes that bound it."""
    if not near:
        return path, {}
    w = path.tolist()
    N, b = [point.normal.tolist() for point in near], [-point.gap for point in near]
    short = [b[i] - _dot(N[i], w) for i in range(len(b))]
    if max(short) <= PLANE_TOLERANCE:
        return path, {}
    candidates = _different(N, b, sorted(range(len(b)), key=lambda i: -short[i]))
    for count in (1, 2, 3):
        for rows in combinations(candidates, count):
            load = _loads([N[i] for i in rows], [short[i] for i in rows])
            if load is None or min(load) < 0.0:
                continue
            step = list(w)
            for i, l in zip(rows, load, strict=True):
                step = [step[k] + l * N[i][k] for k in range(3)]
            slack = PLANE_TOLERANCE + 1e-9 * max(map(abs, step)) * (count > 1)
            if all(b[i] - _dot(N[i], step) <= slack for i in range(len(b))):
                return np.array(step), dict(zip(rows, load, strict=True))
    return _alternating(path, np.array(N), np.array(b))


def _loads(N: list[list[float]], short: list[float]) -> list[float] | None:
    """Return multipliers for which one to three planes are active: N Nᵀ λ = short."""
    if len(N) == 1:
        return short
    c = _dot(N[0], N[1])
    if len(N) == 2:
        d = 1.0 - c * c
        return (
            [(short[0] - c * short[1]) / d, (short[1] - c * short[0]) / d]
            if d > MIN_SQUARED_SINE
            else None
        )
    a, b = _dot(N[0], N[2]), _dot(N[1], N[2])
    d = 1.0 + 2.0 * a * b * c - a * a - b * b - c * c
    if d <= MIN_SQUARED_SINE:
        return None
    x, y, z = short
    return [
        ((1 - b * b) * x + (a * b - c) * y + (b * c - a) * z) / d,
        ((a * b - c) * x + (1 - a * a) * y + (a * c - b) * z) / d,
        ((b * c - a) * x + (a * c - b) * y + (1 - c * c) * z) / d,
    ]


def _dot(a: list[float], b: list[float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _different(N: list[list[float]], b: list[float], order: list[int]) -> list[int]:
    """Return planes in this order, without duplicates and weaker ones."""
    selected: list[int] = []
    for i in order:
        same = [k for k in selected if _dot(N[i], N[k]) > SAME_PLANE_COSINE]
        if not same:
            selected.append(i)
        elif b[i] > b[same[0]]:
            selected[selected.index(same[0])] = i
    return selected[:MAX_PLANES]


def _alternating(path: Array, N: Array, b: Array) -> tuple[Array, dict[int, float]]:
    """Solve the same problem by Hildreth's method, also if no position satisfies all planes."""
    load, step = np.zeros(len(b)), path.copy()
    for _ in range(100):
        for i in range(len(b)):
            change = max(-load[i], float(b[i] - N[i] @ step))
            load[i] += change
            step = step + change * N[i]
    return step, {i: float(l) for i, l in enumerate(load) if l > 0.0}

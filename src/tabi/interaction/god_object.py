"""The god object of a touching probe: a ball that follows the hand and never enters a body.

Near a place p each point of a shape with the normal n_i and the gap g_i is a plane that the ball
stays above, which for a convex shape is so for all of it. The ball goes as near to the hand's x as
all of them let it, and looks again:

    δ = argmin |p + δ − x|²   with   n_i·δ ≥ −g_i,    p ← p + δ                               (1)
until it rests. There, with the multipliers of (1),

    p − x = Σ λ_i n_i,    λ ≥ 0                                                               (2)
so a spring between both presses with k λ_i n_i on each body that is touched, and the hand feels the
sum. Ground that is not convex is looked at after each radius of the way.

With friction the ball stays where it was, carried by its body, as long as the spring lies in the
cone; else it slides until it does:

    p = p* + min(1, μ |p* − x| / |p₀ − p*|) (p₀ − p*)                                         (3)
p₀: where it was, p*: where it would be without friction. Reference: Zilles and Salisbury, A
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
# [m]: the ball rests; planes are kept to; points at most this far are touched
REST, KEPT, TOUCHED = 1e-10, 1e-13, 1e-7
TURNS, FURTHER = 40, 400
# planes of (1) that are asked, and cosine above which two of them are one
PLANES, SAME = 8, 1.0 - 1e-10
# squared sine below which planes are parallel
FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class Press:
    """What the ball leans on: a point, and its part of p − x in (2), with friction [m]."""

    near: Near
    part: Array


class GodObject:
    """The ball.

    Args:
        friction: μ of (3).

    Attributes:
        position: p [m]; None before the first ``follow``.
        presses: what it leans on.
    """

    def __init__(self, surroundings: Surroundings, friction: float = 0.0) -> None:
        self.around, self.friction = surroundings, float(friction)
        self.position: Array | None = None
        self.presses: list[Press] = []
        self._pose: Transform | None = None
        self._near: list[Near] = []

    def follow(self, x: Array) -> None:
        """The hand is there now [m]; bodies are where the simulation has them."""
        self.around.look()
        start = x if self.position is None else self._carried()
        p = self._move(start, x)
        presses = self._leans_on(p, x)
        if self.friction > 0.0 and presses:
            away, slid = p - x, start - p
            depth, back = sqrt(float(away @ away)), sqrt(float(slid @ slid))
            if depth > TOUCHED and back > REST:
                held = self._move(p, p + min(1.0, self.friction * depth / back) * slid)
                # across a hollow it would hang in the air
                leaning = self._leans_on(held, x)
                p, presses = (held, leaning) if leaning else (p, presses)
        self.position, self.presses = p, presses
        self._pose = None
        if self.presses:
            most = max(self.presses, key=lambda press: float(press.part @ press.part))
            self._link = most.near.link
            self._pose = self.around.sim.pose(self._link) if most.near.body else None

    @property
    def ahead(self) -> Near | None:
        """What is nearest of all that is near."""
        return min(self._near, key=lambda one: one.gap, default=None)

    def forget(self) -> None:
        """Begin anew where the hand will be."""
        self.position, self.presses, self._pose = None, [], None

    def _carried(self) -> Array:
        """Where it was, on the body that it leaned on."""
        assert self.position is not None
        if self._pose is None:
            return self.position
        return self.around.sim.pose(self._link) @ (self._pose.inverse() @ self.position)

    def _move(self, p: Array, x: Array) -> Array:
        """From p to x as far as (1) lets it."""
        radius, convex = self.around.radius, self.around.convex
        way = x - p
        turns = TURNS if convex else TURNS + int(min(FURTHER, sqrt(float(way @ way)) / radius))
        for _ in range(turns):
            way = x - p
            size = sqrt(float(way @ way))
            if not convex and size > radius:
                way, size = way * (radius / size), radius
            self._near = self.around.near(p, size + radius)
            step, _ = nearest(way, self._near)
            p = p + step
            if float(step @ step) < REST * REST:
                return p
        return self._out(p)

    def _out(self, p: Array) -> Array:
        """The nearest place outside of everything."""
        for _ in range(TURNS):
            self._near = self.around.near(p, self.around.radius)
            step, _ = nearest(np.zeros(3), self._near)
            p = p + step
            if float(step @ step) < REST * REST:
                break
        return p

    def _leans_on(self, p: Array, x: Array) -> list[Press]:
        """Equation (2)."""
        touched = [one for one in self._near if one.gap < TOUCHED]
        if not touched:
            return []
        step, shares = nearest(x - p, touched)
        total = sum(shares.values())
        # what friction holds goes with the load
        return [
            Press(touched[i], load * touched[i].normal - (load / total) * step)
            for i, load in shares.items()
            if load > 0.0
        ]


def nearest(way: Array, near: list[Near]) -> tuple[Array, dict[int, float]]:
    """δ of (1) next to ``way``, and the multipliers of the planes that bound it."""
    if not near:
        return way, {}
    w = way.tolist()
    N, b = [one.normal.tolist() for one in near], [-one.gap for one in near]
    short = [b[i] - _dot(N[i], w) for i in range(len(b))]
    if max(short) <= KEPT:
        return way, {}
    asked = _different(N, b, sorted(range(len(b)), key=lambda i: -short[i]))
    for count in (1, 2, 3):
        for rows in combinations(asked, count):
            load = _loads([N[i] for i in rows], [short[i] for i in rows])
            if load is None or min(load) < 0.0:
                continue
            step = list(w)
            for i, l in zip(rows, load, strict=True):
                step = [step[k] + l * N[i][k] for k in range(3)]
            slack = KEPT + 1e-9 * max(map(abs, step)) * (count > 1)
            if all(b[i] - _dot(N[i], step) <= slack for i in range(len(b))):
                return np.array(step), dict(zip(rows, load, strict=True))
    return _alternating(way, np.array(N), np.array(b))


def _loads(N: list[list[float]], short: list[float]) -> list[float] | None:
    """Multipliers with which one to three planes are just kept to: N Nᵀ λ = short."""
    if len(N) == 1:
        return short
    c = _dot(N[0], N[1])
    if len(N) == 2:
        d = 1.0 - c * c
        return [(short[0] - c * short[1]) / d, (short[1] - c * short[0]) / d] if d > FLAT else None
    a, b = _dot(N[0], N[2]), _dot(N[1], N[2])
    d = 1.0 + 2.0 * a * b * c - a * a - b * b - c * c
    if d <= FLAT:
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
    """Planes in this order, without those that say the same or less."""
    kept: list[int] = []
    for i in order:
        same = [k for k in kept if _dot(N[i], N[k]) > SAME]
        if not same:
            kept.append(i)
        elif b[i] > b[same[0]]:
            kept[kept.index(same[0])] = i
    return kept[:PLANES]


def _alternating(way: Array, N: Array, b: Array) -> tuple[Array, dict[int, float]]:
    """The same by Hildreth's method, also where no place keeps to all planes."""
    load, step = np.zeros(len(b)), way.copy()
    for _ in range(100):
        for i in range(len(b)):
            change = max(-load[i], float(b[i] - N[i] @ step))
            load[i] += change
            step = step + change * N[i]
    return step, {i: float(l) for i, l in enumerate(load) if l > 0.0}

"""The spring of the mouse, inside the simulation.

A browser tells the mouse's place about twenty times a second; the spring pulls every step. So its
far end follows the mouse through a filter of first order, and the near end is a point of the body:

    ẋ_t = (x_mouse − x_t) / T,    f = k (x_t − x) − c ẋ,    |f| ≤ f_max                  (1)
The damper holds on to the world, so that the hand only gives energy through the spring. With m the
mass that the point shows,

    m = 3 / tr(J M⁻¹ Jᵀ),    k = min(k₀, m (0.1 / h)²),    c = min(2 √(k m), 0.2 m / h)  (2)
so that a light body neither rings nor explodes at the step h. Shift makes k₀ and f_max ten times as
large.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi import dynamics
from tabi._errors import ModelError
from tabi.model.body import Body
from tabi.model.lookup import link_of

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
STIFFNESS, LIMIT, STRONGER = 300.0, 400.0, 10.0  # N/m, N
DELAY = 0.05  # s of the filter
REACH = 20.0  # m from the body beyond which the mouse is not believed
HANDS = 8  # springs at once


@dataclass(frozen=True, eq=False)
class Band:
    """A rubber band of the mouse: from the grabbed point to where the mouse holds it [m],
    and its force on the body [N].
    """

    point: Array
    target: Array
    force: Array


class Pulling(Protocol):
    """What pulls at bodies before each step, and is seen as a band: a mouse's, or a haptic hand."""

    def pull(self) -> None:
        """Push bodies during the next step."""
        ...

    def band(self) -> Band:
        """As it is seen."""
        ...


class Spring:
    """One hand on one body.

    Args:
        point: where it is grabbed, in the world [m].
        strong: whether Shift is held.
    """

    def __init__(self, sim: Simulator, body: Body, point: ArrayLike, strong: bool = False) -> None:
        self.sim, self.body = sim, body
        link = link_of(sim.world, sim.model, body)
        X = sim.pose(body)
        self.point = X.inverse() @ _vector(point)
        if link.body == 0 or not np.linalg.norm(self.point) < REACH:
            raise ModelError(
                f"{body.name!r} cannot be pulled there; expected a point of a body that moves"
            )
        inverse = dynamics.delassus(sim.model, sim.state.q, [(link.name, X @ self.point)])
        scale, h = STRONGER if strong else 1.0, sim.dt
        mass = 3.0 / max(float(np.trace(inverse)), 1e-9)
        self.stiffness = min(scale * STIFFNESS, mass * (0.1 / h) ** 2)
        self.damping = min(2.0 * np.sqrt(self.stiffness * mass), 0.2 * mass / h)
        self.limit = scale * LIMIT
        self.mouse = self.target = X @ self.point
        self.force = np.zeros(3)
        # a name is found faster than a body
        self._name = link.name

    def move(self, mouse: ArrayLike) -> None:
        """The mouse is there now [m]."""
        place = _vector(mouse)
        if np.linalg.norm(place - self.target) < REACH:
            self.mouse = place

    def pull(self) -> None:
        """Push the body during the next step, by (1)."""
        sim, name = self.sim, self._name
        X, V = sim.pose(name), sim.velocity(name)
        arm = X.R @ self.point
        (wx, wy, wz), (x, y, z) = V.angular.tolist(), arm.tolist()
        # ẋ = v + ω × r; NumPy's own product of vectors takes longer than a step
        speed = V.linear + np.array([wy * z - wz * y, wz * x - wx * z, wx * y - wy * x])
        self.target = self.target + (self.mouse - self.target) * (sim.dt / (DELAY + sim.dt))
        force = self.stiffness * (self.target - X.p - arm) - self.damping * speed
        size = math.sqrt(float(force @ force))
        self.force = force * (self.limit / size) if size > self.limit else force
        sim.apply_force(name, force=self.force, point=self.point)

    def band(self) -> Band:
        """As it is seen."""
        return Band(self.sim.pose(self._name) @ self.point, self.target.copy(), self.force.copy())


class Hands:
    """The springs of all pages, by who holds them."""

    def __init__(self) -> None:
        self.springs: dict[Hashable, Pulling] = {}

    def take(self, owner: Hashable, spring: Pulling) -> None:
        """One more, or another one of the same owner."""
        if owner in self.springs or len(self.springs) < HANDS:
            self.springs[owner] = spring

    def move(self, owner: Hashable, mouse: ArrayLike) -> None:
        """The owner's mouse has moved."""
        spring = self.springs.get(owner)
        if isinstance(spring, Spring):
            spring.move(mouse)

    def release(self, owner: Hashable) -> None:
        """Let go; nothing pulls from the next step on."""
        self.springs.pop(owner, None)

    def pull(self) -> None:
        """All of them, for one step."""
        for spring in self.springs.values():
            spring.pull()

    def bands(self) -> tuple[Band, ...]:
        """As they are seen."""
        return tuple(spring.band() for spring in self.springs.values())


def _vector(value: ArrayLike) -> Array:
    x = np.asarray(value, float)
    if x.shape != (3,) or not np.isfinite(x).all():
        raise ModelError(
            f"a place of the mouse is {value!r}; expected three finite numbers in metres"
        )
    return x

"""Spring between the mouse and a body, inside the simulation.

A browser sends the position of the mouse about twenty times a second; the spring pulls every step.
So its far end follows the mouse through a first-order filter, and the near end is a point of the
body:

    ẋ_t = (x_mouse − x_t) / T,    f = k (x_t − x) − c ẋ,    |f| ≤ f_max                  (1)
The damper is attached to the world, so that the hand gives energy only through the spring. With the
apparent mass m of the point,

    m = 3 / tr(J M⁻¹ Jᵀ),    k = min(k₀, m (0.1 / h)²),    c = min(2 √(k m), 0.2 m / h)  (2)
so that a light body neither rings nor explodes at the step h. Shift multiplies k₀ and f_max by
ten.
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
STIFFNESS, FORCE_LIMIT, SHIFT_FACTOR = 300.0, 400.0, 10.0  # N/m, N
FILTER_TIME_S = 0.05
MAX_DISTANCE = 20.0  # m from the body beyond which the mouse is ignored
MAX_SPRINGS = 8  # at once


@dataclass(frozen=True, eq=False)
class Band:
    """Rubber band of the mouse: from the grabbed point to the mouse [m], and its force on the body
    [N].
    """

    point: Array
    target: Array
    force: Array


class Pulling(Protocol):
    """Source of forces on bodies before each step, drawn as a band: the mouse, or a haptic hand."""

    def pull(self) -> None:
        """Push bodies during the next step."""
        ...

    def band(self) -> Band:
        """Return the band to draw."""
        ...


class Spring:
    """Spring from the mouse to one body.

    Args:
        point: grabbed point in the world [m].
        strong: whether Shift is pressed.
    """

    def __init__(self, sim: Simulator, body: Body, point: ArrayLike, strong: bool = False) -> None:
        self.sim, self.body = sim, body
        link = link_of(sim.world, sim.model, body)
        X = sim.pose(body)
        self.point = X.inverse() @ _vector(point)
        if link.body == 0 or not np.linalg.norm(self.point) < MAX_DISTANCE:
            raise ModelError(
                f"{body.name!r} cannot be pulled there; expected a point of a body that moves"
            )
        inverse = dynamics.delassus(sim.model, sim.state.q, [(link.name, X @ self.point)])
        scale, h = SHIFT_FACTOR if strong else 1.0, sim.dt
        mass = 3.0 / max(float(np.trace(inverse)), 1e-9)
        self.stiffness = min(scale * STIFFNESS, mass * (0.1 / h) ** 2)
        self.damping = min(2.0 * np.sqrt(self.stiffness * mass), 0.2 * mass / h)
        self.limit = scale * FORCE_LIMIT
        self.mouse = self.target = X @ self.point
        self.force = np.zeros(3)
        # lookup by name is faster than by body
        self._name = link.name

    def move(self, mouse: ArrayLike) -> None:
        """Set the position of the mouse [m]."""
        place = _vector(mouse)
        if np.linalg.norm(place - self.target) < MAX_DISTANCE:
            self.mouse = place

    def pull(self) -> None:
        """Push the body during the next step, by (1)."""
        sim, name = self.sim, self._name
        X, V = sim.pose(name), sim.velocity(name)
        arm = X.R @ self.point
        (wx, wy, wz), (x, y, z) = V.angular.tolist(), arm.tolist()
        # ẋ = v + ω × r; NumPy's own product of vectors takes longer than a step
        speed = V.linear + np.array([wy * z - wz * y, wz * x - wx * z, wx * y - wy * x])
        self.target = self.target + (self.mouse - self.target) * (sim.dt / (FILTER_TIME_S + sim.dt))
        force = self.stiffness * (self.target - X.p - arm) - self.damping * speed
        size = math.sqrt(float(force @ force))
        self.force = force * (self.limit / size) if size > self.limit else force
        sim.apply_force(name, force=self.force, point=self.point)

    def band(self) -> Band:
        """Return the band to draw."""
        return Band(self.sim.pose(self._name) @ self.point, self.target.copy(), self.force.copy())


class Hands:
    """Springs of all pages, by their owners."""

    def __init__(self) -> None:
        self.springs: dict[Hashable, Pulling] = {}

    def take(self, owner: Hashable, spring: Pulling) -> None:
        """Add a spring, or replace that of the same owner."""
        if owner in self.springs or len(self.springs) < MAX_SPRINGS:
            self.springs[owner] = spring

    def move(self, owner: Hashable, mouse: ArrayLike) -> None:
        """Set the position of the owner's mouse."""
        spring = self.springs.get(owner)
        if isinstance(spring, Spring):
            spring.move(mouse)

    def release(self, owner: Hashable) -> None:
        """Remove the owner's spring from the next step on."""
        self.springs.pop(owner, None)

    def pull(self) -> None:
        """Apply the forces of all springs for one step."""
        for spring in self.springs.values():
            spring.pull()

    def bands(self) -> tuple[Band, ...]:
        """Return the bands to draw."""
        return tuple(spring.band() for spring in self.springs.values())


def _vector(value: ArrayLike) -> Array:
    x = np.asarray(value, float)
    if x.shape != (3,) or not np.isfinite(x).all():
        raise ModelError(
            f"a position of the mouse is {value!r}; expected three finite numbers in metres"
        )
    return x

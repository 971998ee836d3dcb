"""Quantities of a model at a configuration and velocity: Jacobians, masses, momenta and joint
forces.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, unknown
from tabi.dynamics import evaluation
from tabi.jit import entry
from tabi.model.compiled import Model
from tabi.model.links import Link
from tabi.spatial.twist import Twist

Array = NDArray[np.float64]


class Momentum(NamedTuple):
    """Momentum [N·s] and spin about the centre of mass [N·m·s]."""

    linear: Array
    angular: Array


class Thing(Protocol):
    """A body, foot, frame, sensor, robot or object."""

    name: str


class Quantities:
    """Quantities that follow from a model, its q and its v.

    Things are given by name or as objects: bodies, feet, frames and sensors; robots and objects.
    Matrices of a body, and of a robot, have the columns of that robot, ``v[v_slice(robot)]``, so
    nothing changes with what else is in the world; without a name they have all of them. Linear
    rows come first, in the world's axes.

    Attributes:
        model: whose things they are.
    """

    model: Model

    def __init__(self, model: Model) -> None:
        self.model = model
        self._last = evaluation.remembered(model)
        self._entries: dict[Any, Any] = {}
        self._spans: dict[Any, tuple[int, int, int, int]] = {}
        self._placements: dict[Link, Array] = {}
        self._places: dict[Any, tuple[Link, int, int]] = {}

    # ---- what a class that moves says -------------------------------------------------------

    def _arrays(self) -> tuple[Array, Array]:
        """q and v, not to be written."""
        raise NotImplementedError

    def _link(self, thing: Any) -> Link:
        """Link of a body, foot, frame or sensor."""
        raise NotImplementedError

    # ---- places -----------------------------------------------------------------------------

    def q_slice(self, thing: Thing | str) -> slice:
        """Places in q of a robot or object with all its joints, or of one joint."""
        return self.model.q_slice(self._name(thing))

    def v_slice(self, thing: Thing | str) -> slice:
        """Places in v of a robot or object with all its joints, or of one joint."""
        return self.model.v_slice(self._name(thing))

    # ---- of a body --------------------------------------------------------------------------

    def jacobian(
        self, body: Thing | str, point: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """Jacobian of a point of a body over its robot's columns, shape (6, n): linear velocity,
        then angular.

        Args:
            point: in the frame of the body, foot or sensor [m]; default: its origin.
            out: written and returned instead of a new array.
        """
        link, start, count = self._place(body)
        J = np.empty((6, count)) if out is None else self._room(out, (6, count))
        p = link.placement.p if point is None else self._point(link, point)
        self._call(evaluation.point_jacobian, link.body, p, start, J)
        return J

    def jacobian_bias(self, body: Thing | str, point: ArrayLike | None = None) -> Twist:
        """J̇ v: acceleration of a point of a body at zero joint acceleration [m/s², rad/s²]."""
        (link, _, _), out = self._place(body), np.empty(6)
        self._call(evaluation.point_bias, link.body, self._point(link, point), out)
        return Twist(out[:3], out[3:])

    # ---- of a robot, an object or everything ------------------------------------------------

    def mass_matrix(self, thing: Thing | str | None = None, out: Array | None = None) -> Array:
        """M(q), shape (n, n), with rotor inertias on its diagonal."""
        first, end, _, count = self._span(thing)
        M = self._room(out, (count, count))
        self._call(evaluation.mass_matrix, first, end, M)
        return M

    def centre_of_mass(self, thing: Thing | str | None = None) -> Array:
        """In the world [m]."""
        return self._centroid(thing)[0]

    def centre_of_mass_velocity(self, thing: Thing | str | None = None) -> Array:
        """In the world's axes [m/s]."""
        return self._centroid(thing)[1]

    def centre_of_mass_jacobian(
        self, thing: Thing | str | None = None, out: Array | None = None
    ) -> Array:
        """Jacobian of the velocity of the centre of mass, shape (3, n)."""
        first, end, _, count = self._span(thing)
        J = self._room(out, (3, count))
        if not self._call(evaluation.centre_jacobian, first, end, J) > 0.0:
            raise self._massless(thing)
        return J

    def momentum(self, thing: Thing | str | None = None) -> Momentum:
        """Momentum, and spin about the centre of mass."""
        _, _, linear, angular = self._centroid(thing)
        return Momentum(linear, angular)

    def momentum_matrix(self, thing: Thing | str | None = None, out: Array | None = None) -> Array:
        """The centroidal momentum matrix, shape (6, n): momentum, then spin about the centre of
        mass, per joint velocity.
        """
        return self._matrix(thing, out)[0]

    def momentum_bias(self, thing: Thing | str | None = None) -> Momentum:
        """Ȧ v: their rates at zero joint acceleration [N, N·m]; over the mass, the linear one is
        the bias of the Jacobian of the centre of mass.
        """
        (first, end, _, _), out = self._span(thing), np.empty(6)
        self._call(evaluation.momentum_bias, first, end, out)
        return Momentum(out[:3], out[3:])

    # ---- joint forces -----------------------------------------------------------------------

    def inverse_dynamics(self, a: ArrayLike, thing: Thing | str | None = None) -> Array:
        """Joint forces τ [N·m or N] that give the accelerations a without contacts, shape (n,);
        springs and dampers are not in it.
        """
        span, full = self._columns(thing), np.zeros(self.model.v_count)
        desired = np.asarray(a, float)
        if desired.shape != (count := span.stop - span.start,):
            raise ModelError(f"a has shape {desired.shape}; expected ({count},), as v_slice has it")
        if not np.isfinite(desired).all():
            raise ModelError(
                f"a is {desired[~np.isfinite(desired)][0]} somewhere; expected numbers"
            )
        full[span] = desired
        return self._joint_forces(full)[span]

    def bias_forces(self, thing: Thing | str | None = None) -> Array:
        """C(q, v) v + g(q): joint forces at zero acceleration, shape (n,) [N·m or N]."""
        return self._joint_forces(self._last.rest)[self._columns(thing)]

    def gravity_forces(self, thing: Thing | str | None = None) -> Array:
        """g(q): joint forces that hold it at rest against gravity, shape (n,) [N·m or N]."""
        tau = np.empty(self.model.v_count)
        self._call(evaluation.gravity_forces, tau)
        return tau[self._columns(thing)]

    # ---- inside -----------------------------------------------------------------------------

    def _call(self, kernel: Any, *args: Any) -> Any:
        args = (self.model.arrays, *self._arrays(), self._last, *args)
        function = self._entries.get(kernel)
        if function is None:
            function = self._entries[kernel] = entry(kernel, *args)
        return function(*args)

    def _joint_forces(self, a: Array) -> Array:
        tau = np.empty(self.model.v_count)
        self._call(evaluation.joint_forces, a, tau)
        return tau

    def _centroid(self, thing: Thing | str | None) -> Array:
        (first, end, _, _), out = self._span(thing), np.empty((4, 3))
        if not self._call(evaluation.momentum, first, end, out) > 0.0:
            raise self._massless(thing)
        return out

    def _matrix(self, thing: Thing | str | None, out: Array | None = None) -> tuple[Array, float]:
        first, end, _, count = self._span(thing)
        A = self._room(out, (6, count))
        mass = self._call(evaluation.momentum_matrix, first, end, A)
        if not mass > 0.0:
            raise self._massless(thing)
        return A, mass

    def _massless(self, thing: Thing | str | None) -> ModelError:
        name = "the world" if thing is None else self._name(thing)
        return ModelError(f"{name} has no mass that moves, so no centre of mass")

    def _frame(self, link: Link) -> Array:
        """Frame of a link: rotation row by row, origin [m], its velocity [m/s], angular [rad/s]."""
        out, placement = np.empty(18), self._placements.get(link)
        if placement is None:
            X = link.placement
            placement = self._placements[link] = np.concatenate([X.R.ravel(), X.p])
        self._call(evaluation.frame, link.body, placement, out)
        return out

    def _point(self, link: Link, point: ArrayLike | None) -> Array:
        """A point of a link in the frame of its moving body."""
        X = link.placement
        if point is None:
            return X.p
        p = np.asarray(point, float)
        if p.shape != (3,) or not np.isfinite(p).all():
            raise ModelError(f"point of {link.name!r} is {point!r}; expected x, y, z in metres")
        return X.R @ p + X.p

    @staticmethod
    def _room(out: Array | None, shape: tuple[int, ...]) -> Array:
        if out is None:
            return np.empty(shape)
        if out.shape != shape or out.dtype != float or not out.flags.c_contiguous:
            raise ModelError(
                f"out has shape {out.shape}, {out.dtype}; expected {shape}, float64 and C order"
            )
        return out

    def _name(self, thing: Any) -> str:
        name = thing if isinstance(thing, str) else getattr(thing, "name", None)
        if not isinstance(name, str):
            raise ModelError(f"{thing!r} is nothing with a name; expected a thing of the model")
        return name

    def _columns(self, thing: Thing | str | None) -> slice:
        _, _, start, count = self._span(thing)
        return slice(start, start + count)

    def _span(self, thing: Thing | str | None) -> tuple[int, int, int, int]:
        """First moving body and end of a robot or object, or of all; its first column, and how
        many it has.
        """
        span = self._spans.get(thing) if isinstance(thing, Hashable) else None
        if span is None:
            name = None if thing is None else self._name(thing)
            if name is not None and name not in self.model.things:
                raise unknown("robot or object", name, "the model", self.model.things)
            first, end = self.model.things[name] if name else (1, self.model.body_count + 1)
            columns = self.model.v_slice(name) if name else slice(0, self.model.v_count)
            span = first, end, int(columns.start), int(columns.stop - columns.start)
            self._spans[thing] = span
        return span

    def _place(self, body: Thing | str) -> tuple[Link, int, int]:
        """A link, the first column of its robot or object, and how many that has; all columns for
        what does not move.
        """
        place = self._places.get(body) if isinstance(body, Hashable) else None
        if place is None:
            link, things = self._link(body), self.model.things.items()
            names = [name for name, (first, end) in things if first <= link.body < end]
            place = self._places[body] = (link, *self._span(names[0] if names else None)[2:])
        return place

"""Free dynamics: kinematics, forces, accelerations, energy and motion of trees of rigid bodies.

These functions are the Python door: they check what they are given and return arrays. The kernels
behind them, one algorithm to a file, work in place on a workspace and are what compiled loops call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, unknown
from tabi.dynamics import centroidal, crba, differences, forward, free, integration, jacobian, rnea
from tabi.dynamics.configuration import Configuration as Configuration
from tabi.dynamics.delassus import delassus as delassus
from tabi.dynamics.frames import arm, bodies_at
from tabi.dynamics.quantities import Momentum
from tabi.dynamics.status import check_finite, check_status
from tabi.dynamics.workspace import Workspace, allocate
from tabi.model.compiled import Model
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist

Array = NDArray[np.float64]


class Energy(NamedTuple):
    """Kinetic and potential energy [J]; zero height and springs at rest have no potential."""

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """Kinetic and potential energy together [J]."""
        return self.kinetic + self.potential


def forward_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a: ArrayLike | None = None
) -> Array:
    """Accelerations caused by joint forces; springs and dampers of the joints are not in it.

    Args:
        tau: joint forces [N·m or N], shape (v_count,); a floating base's are a force at its origin
            and a moment.
        a: where the motion is prescribed, its acceleration.

    Returns:
        a [rad/s² or m/s²], shape (v_count,).

    Examples:
        >>> tau = np.zeros(sim.model.v_count)
        >>> a = tabi.dynamics.forward_dynamics(sim.model, sim.q, sim.v, tau)
    """
    q = model.check_configuration(q)
    v = model.check_velocity("v", v)
    tau = model.check_velocity("tau", tau).copy()
    out = np.zeros(model.v_count) if a is None else model.check_velocity("a", a).copy()
    check_status(model, forward.forward_dynamics(model.arrays, q, v, tau, allocate(model), out))
    return check_finite(model, "acceleration", out)


def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Return the joint forces τ [N·m or N] of the accelerations a, shape (v_count,), without those
    of springs and dampers.

    Examples:
        >>> a = np.zeros(sim.model.v_count)
        >>> tau = tabi.dynamics.inverse_dynamics(sim.model, sim.q, sim.v, a)
    """
    q = model.check_configuration(q)
    v = model.check_velocity("v", v)
    a = model.check_velocity("a", a)
    tau = np.zeros(model.v_count)
    rnea.inverse_dynamics(model.arrays, q, v, a, allocate(model), tau)
    return check_finite(model, "joint force", tau)


def mass_matrix(model: Model, q: ArrayLike) -> Array:
    """M(q), shape (v_count, v_count), with rotor inertias on its diagonal.

    Examples:
        >>> M = tabi.dynamics.mass_matrix(sim.model, sim.q)
        >>> bool(np.allclose(M, M.T))
        True
    """
    M = np.zeros((model.v_count, model.v_count))
    crba.mass_matrix(model.arrays, model.check_configuration(q), allocate(model), M)
    return M


def pose(model: Model, q: ArrayLike, name: str) -> Transform:
    """Return the pose X_WF of a body, foot, frame or sensor in the world.

    Examples:
        >>> head = tabi.dynamics.pose(sim.model, sim.q, "head").p
    """
    link, work = model.link(name), bodies_at(model, q)
    row, root = work.body[link.body], model.arrays.body["root"][link.body]
    return (
        Transform(row["rotation"].reshape(3, 3).copy(), row["position"] + work.body["origin"][root])
        @ link.placement
    )


def velocity(model: Model, q: ArrayLike, v: ArrayLike, name: str) -> Twist:
    """Velocity of a frame's origin and its angular velocity, in the world's axes.

    Examples:
        >>> v = tabi.dynamics.velocity(sim.model, sim.q, sim.v, "head").linear
    """
    link, work = model.link(name), bodies_at(model, q, v)
    V = work.body[link.body]["velocity"]
    return Twist(
        np.array(jacobian.point_velocity(tuple(V), arm(work, link.body, link.placement))),
        V[:3].copy(),
    )


def acceleration(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, name: str) -> Twist:
    """Acceleration of a frame's origin and its angular acceleration, in the world's axes,
    under joint accelerations a.

    Examples:
        >>> zero = np.zeros(sim.model.v_count)
        >>> a = tabi.dynamics.acceleration(sim.model, sim.q, sim.v, zero, "head").linear
    """
    link, work = model.link(name), bodies_at(model, q, v)
    rnea.forces(model.arrays, model.check_velocity("a", a), work)
    A, V = work.body[link.body]["acceleration"].copy(), work.body[link.body]["velocity"]
    # the kernels let the world accelerate upwards instead of pulling bodies down
    A[3:] += model.arrays.gravity
    return Twist(
        np.array(
            jacobian.point_acceleration(tuple(V), tuple(A), arm(work, link.body, link.placement))
        ),
        A[:3].copy(),
    )


def point_jacobian(model: Model, q: ArrayLike, name: str) -> Array:
    """J, shape (6, v_count): linear velocity of a frame's origin, then its angular velocity,
    per joint velocity.

    Examples:
        >>> J = tabi.dynamics.point_jacobian(sim.model, sim.q, "head")
        >>> J.shape == (6, sim.model.v_count)
        True
    """
    link, work = model.link(name), bodies_at(model, q)
    J = np.zeros((6, model.v_count))
    r = arm(work, link.body, link.placement)
    jacobian.halves(model.arrays, work, link.body, r, 0, J[:3], J[3:])
    return J


def jacobian_bias(model: Model, q: ArrayLike, v: ArrayLike, name: str) -> Twist:
    """J̇ v: acceleration of a frame at zero joint acceleration.

    Examples:
        >>> bias = tabi.dynamics.jacobian_bias(sim.model, sim.q, sim.v, "head").linear
    """
    link, work = model.link(name), bodies_at(model, q, v)
    angular, linear = jacobian.bias(
        model.arrays, work, link.body, arm(work, link.body, link.placement)
    )
    return Twist(np.array(linear), np.array(angular))


def centre_of_mass(model: Model, q: ArrayLike, name: str | None = None) -> Array:
    """Centre of mass [m] of everything that moves, or of the robot or object ``name``.

    Examples:
        >>> tabi.dynamics.centre_of_mass(sim.model, sim.q).shape
        (3,)
    """
    mass, centre, _, _ = _total(model, bodies_at(model, q), name)
    if not mass > 0:
        raise ModelError(f"{name or 'the world'} has no mass, so no centre of mass")
    return centre


def momentum(model: Model, q: ArrayLike, v: ArrayLike, name: str | None = None) -> Momentum:
    """Momentum of everything that moves, or of the robot or object ``name``;
    spin about its centre of mass.

    Examples:
        >>> p = tabi.dynamics.momentum(sim.model, sim.q, sim.v).linear
    """
    _, _, linear, angular = _total(model, bodies_at(model, q, v), name)
    return Momentum(linear, angular)


def energy(model: Model, q: ArrayLike, v: ArrayLike) -> Energy:
    """Kinetic and potential energy of everything that moves.

    Examples:
        >>> print(tabi.dynamics.energy(sim.model, sim.q, sim.v).kinetic)
        0.0
    """
    q, v, work = model.check_configuration(q), model.check_velocity("v", v), bodies_at(model, q, v)
    return Energy(
        centroidal.kinetic_energy(model.arrays, v, work),
        centroidal.potential_energy(model.arrays, q, work),
    )


def integrate(model: Model, q: ArrayLike, v: ArrayLike, h: float) -> Array:
    """q ⊕ h v: the configuration reached from q with the constant velocity v in h [s].

    Examples:
        >>> q = tabi.dynamics.integrate(sim.model, sim.q, sim.v, 0.001)
    """
    if not np.isfinite(h):
        raise ModelError(f"the time is {h} s; expected a finite number")
    q, v = model.check_configuration(q).copy(), model.check_velocity("v", v)
    integration.advance(model.arrays, q, v, float(h))
    return q


def difference(model: Model, q1: ArrayLike, q2: ArrayLike) -> Array:
    """The velocity that leads from q1 to q2 in one second, shape (v_count,): the inverse of
    ``integrate``.

    Examples:
        >>> change = tabi.dynamics.difference(sim.model, sim.q, sim.q)
    """
    out = np.zeros(model.v_count)
    start, end = model.check_configuration(q1), model.check_configuration(q2)
    differences.between(model.arrays, start, end, out)
    return out


def step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    h: float,
    order: int = 1,
    a: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """The state (q, v) after h [s] of free motion under constant joint forces.

    Args:
        order: 1, the default scheme, or 2.
        a: where the motion is prescribed, its acceleration.

    Examples:
        >>> tau = np.zeros(sim.model.v_count)
        >>> q, v = tabi.dynamics.step(sim.model, sim.q, sim.v, tau, 0.001)
    """
    if not (np.isfinite(h) and h > 0):
        raise ModelError(f"the step is {h} s; expected a positive time, 1e-3 is usual")
    if order not in (free.FIRST, free.SECOND):
        raise ModelError(f"order is {order!r}; expected 1 or 2")
    q, v = model.check_configuration(q).copy(), model.check_velocity("v", v).copy()
    acceleration = np.zeros(model.v_count) if a is None else model.check_velocity("a", a).copy()
    tau, work = model.check_velocity("tau", tau).copy(), bodies_at(model, q, v)
    check_status(model, free.step(model.arrays, q, v, tau, float(h), order, work, acceleration))
    return q, check_finite(model, "velocity", v)


def _total(model: Model, work: Workspace, name: str | None) -> tuple[float, Array, Array, Array]:
    """Mass, centre of mass in the world, momentum and spin about it, of one thing or of all."""
    if name is not None and name not in model.things:
        raise unknown("robot or object", name, "the model", model.things)
    first, end = (1, model.body_count + 1) if name is None else model.things[name]
    mass, *vectors = centroidal.total(model.arrays, work, first, end)
    centre, linear, angular = map(np.array, vectors)
    return mass, centre, linear, angular

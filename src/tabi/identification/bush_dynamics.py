"""A recorded robot that stands on its ankle bushes with both soles flat, as a linear system, and
the stiffness of the bushes that gives it a known oscillation.

Small motions x of all its joints around the pose it stands in, with the soles at rest,

    Nᵀ (M ẍ + B ẋ + S x + H x) = 0,    x = N y,   J N = 0                                       (1)
M: mass matrix; B, S: dampers and springs of its joints, servos among them; J: Jacobian of the
soles, and of joints that are held. H is how gravity changes with the pose, and how the wrenches λ
of the ground do, ∂/∂q (g(q) − J(q)ᵀ λ). Steps of h take springs, dampers and servos at their end,
and all else at their beginning: an oscillation e^(s t) has z = e^(s h) and

    A(z) = Nᵀ (M (z − 2 + 1/z)/h² + B (z − 1)/h + S z + H) N                                    (2)
    κ = K z + C (z − 1)/h                                                                       (3)
With the bush κ in pitch of each foot, U = Nᵀ e_pitch, (A + κ U Uᵀ) y = 0 has a solution where −1/κ
is an eigenvalue of Uᵀ A⁻¹ U: that of all feet turning alike. (3) then gives K and C. Of a rigid
body on its bushes this is I ω² + m g h for the sum of the K, and C is free of the scheme's own h K.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi.identification.damped_oscillation import IdentificationError
from tabi.model.arrays import BODY, DOF, KIND, MIMIC, ModelArrays, table
from tabi.model.compiled import Link, Model
from tabi.recording.anatomy import Anatomy
from tabi.recording.recorded import Recorded
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
# of a joint's turn or slide, for derivatives [rad or m]
NUDGE = 1e-5


@dataclass(frozen=True, eq=False)
class Planted:
    """The matrices of (1), of the motions that the soles allow.

    Attributes:
        mass, damping, stiffness, gravity: NᵀMN, NᵀBN, NᵀSN, NᵀHN, without the bushes in pitch.
        pitch: U, a column for each foot.
        inertia, tilting: I [kg·m²] of what is above the bushes about their axis, and m g h
            [N·m/rad], as if only they gave way.
    """

    mass: Array
    damping: Array
    stiffness: Array
    gravity: Array
    pitch: Array
    inertia: float
    tilting: float

    @property
    def foot_count(self) -> int:
        """Number of ankle bushes."""
        return self.pitch.shape[1]

    def bush(self, pole: complex, step: float) -> complex:
        """κ of (3), of one foot, from an oscillation.

        Args:
            pole: s [1/s]. step: h [s], 0 for no steps.
        """
        square, rate, end = operators(pole, step)
        A = self.mass * square + self.damping * rate + self.stiffness * end + self.gravity
        values, modes = np.linalg.eig(self.pitch.T @ np.linalg.solve(A, self.pitch.astype(complex)))
        alike = int(np.argmax(np.abs(modes.sum(axis=0))))
        return complex(-1.0 / values[alike])


def operators(pole: complex, step: float) -> tuple[complex, complex, complex]:
    """Return the factors of second and first differences and of the end of a step for an
    oscillation e^(s t), as in (2); s², s and 1 for no steps.
    """
    if step == 0:
        return pole**2, pole, 1.0
    z = np.exp(pole * step)
    return (z - 2 + 1 / z) / step**2, (z - 1) / step, z


def planted(run: Recorded, robot: int, row: int) -> Planted:
    """The linear system of a recorded robot around its pose in a row."""
    world = run.world
    dofs = _pitch_dofs(run, robot)
    if not np.isfinite(world.dof["kp"]).all():
        raise IdentificationError(
            "the recording is of an earlier version of tabi, which did not keep the gains of "
            "motors; record the run again, or give --inertia, --mass and --height"
        )
    model = _model(world, run.q[row])
    feet = [k for k in range(len(world.feet.names)) if world.feet.robot[k] == robot]
    names, loads = [world.feet.names[k] for k in feet], run.feet["wrench"][row, feet]
    q, n = run.q[row], world.v_count
    J = np.concatenate([dynamics.point_jacobian(model, q, name) for name in names])
    widths = world.body["v_end"] - world.body["v_start"]
    owner, base = np.repeat(world.robot, widths), np.repeat(world.body["parent"] == 0, widths)
    fixed = (owner != robot) | (world.dof["prescribed"] != 0)
    K, C = world.dof["stiffness"] + world.dof["kp"], world.dof["damping"] + world.dof["kd"]
    # a joint with a quaternion has no springs
    K, C = np.where(world.dof["q"] >= 0, K, 0.0), C.copy()
    K[dofs] = C[dofs] = 0.0
    M, H = dynamics.mass_matrix(model, q), _gravity(model, q, names, loads)
    N = _free(J, fixed)
    locked = fixed | ~(base | np.isin(np.arange(n), dofs))
    tilt = _tilt(J, locked, dofs)
    return Planted(
        N.T @ M @ N,
        N.T @ (C[:, None] * N),
        N.T @ (K[:, None] * N),
        N.T @ H @ N,
        N[dofs].T,
        float(tilt @ M @ tilt),
        -float(tilt @ H @ tilt),
    )


def _pitch_dofs(run: Recorded, robot: int) -> list[int]:
    """Return the degrees of freedom of the bushes in pitch, one for each foot."""
    world, dofs = run.world, []
    for k, foot in enumerate(world.feet.names):
        if world.feet.robot[k] == robot:
            name = f"{foot.rpartition('/')[2]}_bush_pitch"
            full = f"{world.robot_names[robot]}/{name}"
            names = [n for n in (full, name) if n in world.joint_of]
            if not names:
                raise IdentificationError(
                    f"the recorded robot {world.robot_names[robot]!r} has no ankle bush: no joint "
                    f"{name!r}; give it one, robot.add_bush(…), or specify what is above the bush: "
                    f"--inertia, --mass and --height"
                )
            dofs.append(world.joint_of.index(names[0]))
    return dofs


def _model(world: Anatomy, q: Array) -> Model:
    """The recorded world as a model, without its shapes."""
    body, dof = table(len(world.body["parent"]), BODY), table(world.v_count, DOF)
    for rows, columns in ((body, world.body), (dof, world.dof)):
        for name, column in columns.items():
            rows[name] = column
    kinds = {number: kind for kind, number in reversed(KIND.items())}
    # a joint is called by the first of its degrees of freedom
    names = ["world", *(world.joint_of[k] for k in world.body["v_start"][1:])]
    feet = world.feet
    links = {
        name: Link(name, int(feet.body[k]), Transform(feet.rotation[k], feet.position[k]))
        for k, name in enumerate(feet.names)
    }
    arrays = ModelArrays(body, dof, table(0, MIMIC), world.gravity)
    return Model(
        arrays, names, ["fixed", *(kinds[int(k)] for k in world.body["kind"][1:])], links, q.copy()
    )


def _gravity(model: Model, q: Array, names: list[str], loads: Array) -> Array:
    """H of (1): central differences of gravity less the wrenches of the ground."""
    zero, columns = np.zeros(model.v_count), []

    def force(at: Array) -> Array:
        pressed = sum(
            dynamics.point_jacobian(model, at, name).T @ load
            for name, load in zip(names, loads, strict=True)
        )
        return dynamics.inverse_dynamics(model, at, zero, zero) - pressed

    for k in range(model.v_count):
        along = np.zeros(model.v_count)
        along[k] = 1.0
        ahead, behind = (
            force(dynamics.integrate(model, q, along, sign * NUDGE)) for sign in (1.0, -1.0)
        )
        columns.append((ahead - behind) / (2 * NUDGE))
    return np.stack(columns, axis=1)


def _free(J: Array, fixed: NDArray[np.bool_], within: float = 1e-9) -> Array:
    """N of (1); the soles may move by so much of the joints' motion."""
    from scipy.linalg import null_space

    moves = np.flatnonzero(~fixed)
    free = null_space(J[:, moves], rcond=within)
    N = np.zeros((J.shape[1], free.shape[1]))
    N[moves] = free
    return N


def _tilt(J: Array, locked: NDArray[np.bool_], dofs: list[int]) -> Array:
    """The motion in which all bushes turn alike by one radian, and nothing else gives way."""
    # the axes of two feet are one line but for what the robot sags
    N = _free(J, locked, 1e-2)
    if N.shape[1] == 0:
        raise IdentificationError(
            "the axes of the robot's bushes in pitch are not in one line, so it cannot tilt on "
            "them; expected feet side by side"
        )
    y = np.linalg.lstsq(N[dofs], np.ones(len(dofs)), rcond=None)[0]
    return N @ y

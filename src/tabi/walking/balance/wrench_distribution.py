"""Distribution of the desired ground reaction wrench between the feet.

A robot of weight W whose zero moment point is to be at p needs a force F through p, without a
moment about the horizontal axes there. Each stance foot contributes w = (f_x, f_y, f_z, n_x, n_y),
in units of the weight, at its sole in its axes; its ankle then bears t = n − r × f, r: the ankle.
Solve

    minimise ½ |M_p|² + ½ h² |Σ f − F|²
           + ½ ε² Σ_i (|t_i − t_i,planned|²/s_i + ℓ² |f_i − f_i,planned|²)                      (1)
with, of each foot, a centre of pressure inside of the sole and a force inside of the friction
pyramid,

    x₀ f_z ≤ −n_y ≤ x₁ f_z,   y₀ f_z ≤ n_x ≤ y₁ f_z,   |f_x|, |f_y| ≤ μ f_z                    (2)
M_p: horizontal moments about p [m, of the weight]; h: height of the centre of mass; s: planned
shares of the load; ℓ: weight of shifting load between the feet, less than that of an ankle torque.
The total wrench has priority (ε ≪ 1), as far as (2) allows it, so that the solution is the plan
where p and F are as planned, and a foot in single support bears all.

(1) is ½ |Lᵀ w − y₀|² with the factor L of its Hessian, (2) is C w ≥ 0: the projection of y₀ on a
cone, y = y₀ + Y μ with Y = L⁻¹ Cᵀ and

    minimise ½ |Y μ + y₀|²   with   μ ≥ 0                                                       (3)
which ``nonnegative`` solves in as many iterations as bounds are active: mostly none.

Reference: Caron, Kheddar and Tempier (2019), Stair climbing stabilization of the HRP-4 humanoid
robot using whole-body admittance control, sec. III, which has the same targets with other weights.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.spatial.vector import add, cross, load3, load9, mul, mul_t, scale, sub
from tabi.walking.legs import nonnegative

# components of a foot's wrench, and bounds on it
WRENCH, BOUNDS = 5, 8
# ε and ℓ [m] of (1), and the smallest share of the load used there
DEVIATION_WEIGHT, LOAD_SHIFT_LENGTH, MIN_LOAD_SHARE = 1e-2, 0.02, 0.02
# iterations of the solver: three times the bounds
MAX_ITERATIONS = 6 * BOUNDS


class Distribution(Structure):
    """Workspace in which (1) to (3) are solved.

    Attributes:
        H, g: Hessian of (1), then its factor, and its right-hand side, shapes (10, 10) and (10,).
        Y, multiplier: of (3), shapes (10, 16) and (16,). free, system: scratch of ``nonnegative``.
        wrench: w of each foot, shape (2, 5). iterations: of the solver, shape (1,).
    """

    H: NDArray[np.float64]
    g: NDArray[np.float64]
    Y: NDArray[np.float64]
    multiplier: NDArray[np.float64]
    free: NDArray[np.int64]
    system: NDArray[np.float64]
    wrench: NDArray[np.float64]
    iterations: NDArray[np.int64]


def distribution() -> Distribution:
    """Allocate the workspace for two feet."""
    n, bound_count = 2 * WRENCH, 2 * BOUNDS
    return Distribution(
        H=np.zeros((n, n)),
        g=np.zeros(n),
        Y=np.zeros((n, bound_count)),
        multiplier=np.zeros(bound_count),
        free=np.zeros(bound_count, np.int64),
        system=np.zeros((bound_count, bound_count + 1)),
        wrench=np.zeros((2, WRENCH)),
        iterations=np.zeros(1, np.int64),
    )


@kernel
def _add_square(d, n, row, weight, target):
    """Add ½ weight (row · w − target)² to (1); ``row`` begins at column 0."""
    for i in range(n):
        d.g[i] += weight * target * row[i]
        for j in range(i + 1):
            d.H[i, j] += weight * row[i] * row[j]


@kernel
def _add_total(d, n, first, last, zmp, force, height, position, rotation):
    """Add the first line of (1), the total wrench of all feet; rows go through ``d.multiplier``."""
    row = d.multiplier
    for component in range(5):
        for i in range(n):
            row[i] = 0.0
        for side in range(first, last):
            R, at = load9(rotation[side]), WRENCH * (side - first)
            arm = sub(load3(position[side]), zmp)
            for i in range(3):
                # axes of the sole in the world
                axis = (R[i], R[3 + i], R[6 + i])
                moment = cross(arm, axis)
                if component == 0:
                    row[at + i] = moment[0]
                elif component == 1:
                    row[at + i] = moment[1]
                else:
                    row[at + i] = axis[component - 2]
                if component < 2 and i < 2:
                    row[at + 3 + i] = axis[0] if component == 0 else axis[1]
        if component < 2:
            _add_square(d, n, row, 1.0, 0.0)
        elif component == 2:
            _add_square(d, n, row, height * height, force[0])
        elif component == 3:
            _add_square(d, n, row, height * height, force[1])
        else:
            _add_square(d, n, row, height * height, force[2])


@kernel
def _add_foot(d, n, at, share, pivot, torque, force):
    """Add the second line of (1), of one foot: planned ankle torque and force, in its axes."""
    row, s = d.multiplier, max(share, MIN_LOAD_SHARE)
    for component in range(WRENCH):
        for i in range(n):
            row[i] = 0.0
        if component < 2:
            # t = n − r × f
            if component == 0:
                row[at + 1], row[at + 2], row[at + 3] = pivot[2], -pivot[1], 1.0
                _add_square(d, n, row, DEVIATION_WEIGHT * DEVIATION_WEIGHT / s, torque[0])
            else:
                row[at], row[at + 2], row[at + 4] = -pivot[2], pivot[0], 1.0
                _add_square(d, n, row, DEVIATION_WEIGHT * DEVIATION_WEIGHT / s, torque[1])
        else:
            row[at + component - 2] = 1.0
            target = force[0] if component == 2 else (force[1] if component == 3 else force[2])
            _add_square(
                d,
                n,
                row,
                DEVIATION_WEIGHT * DEVIATION_WEIGHT * LOAD_SHIFT_LENGTH * LOAD_SHIFT_LENGTH,
                target,
            )


@kernel
def _bounds(d, n, first, last, box, margin, friction):
    """Write C of (2), one bound per column, to ``d.Y``."""
    for i in range(d.Y.shape[0]):
        for j in range(d.Y.shape[1]):
            d.Y[i, j] = 0.0
    for side in range(first, last):
        at, to = WRENCH * (side - first), BOUNDS * (side - first)
        f_z, b = at + 2, box[side]
        for k in range(2):
            # −n_y against x, n_x against y
            sign, n_k = (-1.0, at + 4) if k == 0 else (1.0, at + 3)
            d.Y[n_k, to + 2 * k], d.Y[f_z, to + 2 * k] = sign, -(b[2 * k] + margin)
            d.Y[n_k, to + 2 * k + 1], d.Y[f_z, to + 2 * k + 1] = -sign, b[2 * k + 1] - margin
            d.Y[at + k, to + 4 + 2 * k], d.Y[f_z, to + 4 + 2 * k] = 1.0, friction
            d.Y[at + k, to + 5 + 2 * k], d.Y[f_z, to + 5 + 2 * k] = -1.0, friction


@kernel
def _solve(d, n):
    """Solve equation (3) for w, into ``d.g``."""
    H, g, Y = d.H, d.g, d.Y
    for j in range(n):
        for k in range(j):
            for i in range(j, n):
                H[i, j] -= H[i, k] * H[j, k]
        pivot = 1.0 / sqrt(H[j, j])
        for i in range(j, n):
            H[i, j] *= pivot
    for i in range(n):
        for k in range(i):
            g[i] -= H[i, k] * g[k]
            for c in range(Y.shape[1]):
                Y[i, c] -= H[i, k] * Y[k, c]
        g[i] = g[i] / H[i, i]
        for c in range(Y.shape[1]):
            Y[i, c] = Y[i, c] / H[i, i]
    for i in range(n):
        g[i] = -g[i]
    d.iterations[0] = nonnegative.solve(Y, g, n, d.multiplier, d.free, d.system, MAX_ITERATIONS)
    for i in range(n):
        g[i] = -g[i]
        for c in range(Y.shape[1]):
            g[i] += Y[i, c] * d.multiplier[c]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            g[i] -= H[k, i] * g[k]
        g[i] = g[i] / H[i, i]


@kernel
def distribute(loop, k, force, planned_force):
    """Solve (1) at tick k: write wrenches to ``loop.distribution.wrench``, and each foot's share of
    the weight and ankle torque [N·m] to ``loop.wanted``.

    Args:
        force, planned_force: F and the planned one in the world, in units of the weight.
    """
    ref, s, d = loop.reference, loop.settings[0], loop.distribution
    support = ref.support[k]
    first, last = (0, 2) if support == 0 else (support - 1, support)
    n = WRENCH * (last - first)
    for i in range(d.g.shape[0]):
        d.g[i] = 0.0
        for j in range(d.H.shape[1]):
            d.H[i, j] = 0.0
    position, rotation = loop.course.position, loop.course.rotation
    _add_total(d, n, first, last, load3(loop.zmp), force, s.height, position, rotation)
    for side in range(first, last):
        share, t = ref.share[k, side], loop.planned[side]
        f = scale(share, mul_t(load9(rotation[side]), planned_force))
        torque = (t[0] / s.weight, t[1] / s.weight)
        _add_foot(d, n, WRENCH * (side - first), share, load3(loop.pivot[side]), torque, f)
    _bounds(d, n, first, last, loop.box, s.margin, s.friction)
    _solve(d, n)
    for side in range(2):
        stands, w, out = first <= side < last, d.wrench[side], loop.wanted[side]
        for i in range(WRENCH):
            w[i] = d.g[WRENCH * (side - first) + i] if stands else 0.0
        t = cross(load3(loop.pivot[side]), (w[0], w[1], w[2]))
        out[0] = max(w[2], 0.0)
        out[1], out[2] = s.weight * (w[3] - t[0]), s.weight * (w[4] - t[1])


@kernel
def centre_of_pressure(loop, k):
    """Return the zero moment point of the wrenches of ``distribute`` [m]: x and y at the height of
    the desired one.
    """
    d = loop.distribution
    x, y, load = 0.0, 0.0, 0.0
    for side in range(2):
        w, R = d.wrench[side], load9(loop.course.rotation[side])
        f, n = mul(R, (w[0], w[1], w[2])), mul(R, (w[3], w[4], 0.0))
        arm = sub(load3(loop.course.position[side]), load3(loop.zmp))
        M = add(n, cross(arm, f))
        x, y, load = x - M[1], y + M[0], load + f[2]
    if not load > MIN_LOAD_SHARE:
        return loop.zmp[0], loop.zmp[1]
    return loop.zmp[0] + x / load, loop.zmp[1] + y / load

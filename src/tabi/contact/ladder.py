"""The default solver: a warm Newton, and rungs behind it for the problems it does not solve.

Every rung is a Newton of ``newton`` with another map, start, regularisation or scale of ρ; the order is fixed, because
sliding problems can have several exact solutions and a rerun has to find the same one. Rocking feet, with corners that
barely touch, want ρ thirty to a hundred times larger than 3/tr W_kk: the map then looks at velocities before impulses.
When all fail, accelerated Gauss–Seidel and Newton take turns from the best point met. What is returned is the best point,
with its true error.

Few sweeps of Gauss–Seidel *before* Newton are left out on purpose: they push impulses to the corners of the cones, where
Newton starts worse than from zero.
"""

import numpy as np

from tabi._jit import kernel
from tabi.contact import bodies, gauss_seidel, newton, sparse_newton, twist_newton
from tabi.contact.blocks import Blocks, velocities_with
from tabi.contact.certificate import residual
from tabi.contact.newton import ALART_CURNIER, JEAN_MOREAU, NATURAL
from tabi.contact.workspace import carve, copy, fill

WARM, ZERO, BEST = 0, 1, 2

# map, start, ε, factor of ρ, iterations
RUNGS = np.array(
    [
        (ALART_CURNIER, WARM, 1e-6, 1.0, 12),
        (ALART_CURNIER, ZERO, 1e-6, 1.0, 100),
        (JEAN_MOREAU, ZERO, 1e-6, 1.0, 100),
        (JEAN_MOREAU, ZERO, 1e-4, 30.0, 200),
        (JEAN_MOREAU, ZERO, 1e-4, 100.0, 200),
        (NATURAL, ZERO, 1e-4, 30.0, 200),
        (NATURAL, ZERO, 1e-6, 1.0, 100),
        (NATURAL, ZERO, 1e-4, 10.0, 100),
        (NATURAL, ZERO, 1e-6, 0.1, 100),
        (ALART_CURNIER, ZERO, 1e-3, 30.0, 200),
    ]
)
NAMES = ("warm newton", "newton from zero", *(f"newton {k}" for k in range(2, len(RUNGS))), "alternation", "not solved", "sweeps")
TRIAL, TURNS = 8, 20


def climb_on(velocities, newton, accelerated, compiled=True):
    """The ladder for one form of the problem, from its kernels; not compiled where Newton is not."""

    def solve(p, rungs, tolerance, impulse, w):
        """Climb until the backward error is within the tolerance [m/s].

        Args:
            impulse: warm start, ends as the solution.

        Returns:
            iterations, index of the rung that solved it (into NAMES), backward error [m/s].
        """
        n = impulse.shape[0]
        copy(w.warm, impulse, n)
        copy(w.found, impulse, n)
        velocities(p, impulse, w.u, w)
        least = residual(p, impulse, w.u)
        total, count = 0, rungs.shape[0]
        if least <= tolerance:
            return 0, 0, least
        cold = True
        for i in range(n):
            cold = cold and impulse[i] == 0.0
        if cold:
            # a few contacts often need no more; else these sweeps are forgotten
            fill(w.alpha, 0.0, p.mu.shape[0])
            total, error = accelerated(p, impulse, tolerance, TRIAL, w)
            if error <= tolerance:
                return total, count + 2, error
        for r in range(count):
            start = int(rungs[r, 1])
            if cold and start == WARM:
                continue
            if start == ZERO:
                fill(impulse, 0.0, n)
            elif start == WARM:
                copy(impulse, w.warm, n)
            else:
                copy(impulse, w.found, n)
            done, error = newton(p, int(rungs[r, 0]), rungs[r, 3], rungs[r, 2], tolerance, int(rungs[r, 4]), impulse, w)
            total += done
            if error <= tolerance:
                return total, r, error
            if not least <= error:
                least = error
                copy(w.found, impulse, n)
        for turn in range(TURNS):
            copy(impulse, w.found, n)
            fill(w.alpha, 0.0, p.mu.shape[0])
            done, error = accelerated(p, impulse, tolerance, 100, w)
            total += done
            if not error <= tolerance:
                done, error = newton(p, turn % 3, 1.0, 1e-6 if turn % 2 == 0 else 1e-8, tolerance, 40, impulse, w)
                total += done
            if not least <= error:
                least = error
                copy(w.found, impulse, n)
            if error <= tolerance:
                return total, count, error
        copy(impulse, w.found, n)
        return total, count + 1, least

    return kernel(solve) if compiled else solve


solve = climb_on(velocities_with, newton.solve, gauss_seidel.accelerated)


@kernel
def solve_flat(integers, reals, count, tolerance):
    """As ``solve``, with problem, impulses and memory in two arrays: handing over each array costs as much as a sweep.

    Args:
        integers: start and column of ``Blocks``, then memory for count numbers.
        reals: value, q, mu and weight of ``Blocks``, then the impulses, then ``workspace.memory``.
    """
    n, m = 3 * count, integers.shape[0] - 2 * count - 1
    at = 9 * m + 5 * count
    p = Blocks(
        integers[: count + 1],
        integers[count + 1 : count + 1 + m],
        reals[: 9 * m].reshape((m, 9)),
        reals[9 * m : 9 * m + n],
        reals[9 * m + n : 9 * m + n + count],
        reals[9 * m + n + count : at],
    )
    return solve(p, RUNGS, tolerance, reals[at : at + n], carve(reals[at + n :], integers[count + 1 + m :]))


solve_large = climb_on(velocities_with, sparse_newton.solve, gauss_seidel.accelerated, compiled=False)
solve_bodies = climb_on(bodies.velocities_with, twist_newton.solve, gauss_seidel.accelerated_bodies)

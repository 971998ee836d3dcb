"""The default solver: a warm Newton, and a list of other attempts for the problems it does not solve.

1. **Sweeps**, for a matrix without a warm start: a handful of contacts often needs no more than a few accelerated ones. Else they are
   forgotten: they push impulses to the edges of the cones, where Newton starts worse than from zero.
2. **Newton from one point**: warm, from zero, with another map. Rocking feet, with corners that barely touch, want ρ
   thirty times larger than 3/tr W_kk: the map then looks at velocities before impulses.
3. **Growing friction**: without friction the problem is convex and easy; from its solution μ grows in steps to what it
   is, each step starting where the last one ended. Towers, mass ratios, chains.
4. **Taking turns**: sweeps and Newton from the best point met. Piles in violent motion.
5. **Strewn starts**: Newton and growing friction from points all over the cones, with all maps and scales by turns.

The order is fixed, also of the strewn points, because sliding problems can have several exact solutions and a rerun has
to find the same one. What is returned is the best point met, with its true error.
"""

import numpy as np

from tabi._jit import kernel
from tabi.contact import gauss_seidel, newton, sparse_newton, twist_newton
from tabi.contact.blocks import Blocks
from tabi.contact.newton import ALART_CURNIER, JEAN_MOREAU
from tabi.contact.workspace import carve, copy, fill

# where an attempt starts; COLD: zero, and only where there is no warm start
COLD, WARM, ZERO, BEST, STREWN = 0, 1, 2, 3, 4

# name, map, start, steps of growing friction, sweeps, ε, factor of ρ, Newton's iterations
ATTEMPTS = (
    ("sweeps", ALART_CURNIER, COLD, 0, 8, 1e-6, 1.0, 0),
    ("warm newton", ALART_CURNIER, WARM, 0, 0, 1e-6, 1.0, 12),
    ("newton from zero", ALART_CURNIER, ZERO, 0, 0, 1e-6, 1.0, 100),
    ("newton, other map", JEAN_MOREAU, ZERO, 0, 0, 1e-6, 1.0, 100),
    ("newton, stiff map", JEAN_MOREAU, ZERO, 0, 0, 1e-4, 30.0, 200),
    ("growing friction", ALART_CURNIER, ZERO, 5, 0, 1e-6, 1.0, 60),
    *(("taking turns", t % 3, BEST, 0, 1000, 1e-6, (1.0, 30.0)[t // 3], 60) for t in range(6)),
    ("growing friction", JEAN_MOREAU, ZERO, 20, 0, 1e-4, 30.0, 60),
    ("growing friction", ALART_CURNIER, ZERO, 20, 0, 1e-3, 1.0, 60),
    ("growing friction", JEAN_MOREAU, ZERO, 60, 0, 1e-4, 30.0, 60),
    *(
        ("strewn starts", t % 3, STREWN, (0, 5, 20)[t // 3 % 3], 0, (1e-8, 1e-6, 1e-4, 1e-3)[t % 4], (1000.0, 10.0, 1.0, 100.0, 0.1)[t % 5], 60)
        for t in range(180)
    ),
)
NAMES = (*(a[0] for a in ATTEMPTS), "not solved")
SETTINGS = np.array([a[1:] for a in ATTEMPTS])
# iterations times contacts after which no other attempt is begun: seconds, whatever the size
ENOUGH = 20_000_000
INFINITE = 1e300


def climb_on(newton, accelerated, first, compiled=True):
    """The list of attempts for one form of the problem, from its kernels.

    Args:
        first: the attempt to begin with.
        compiled: False where ``newton`` is plain Python.
    """

    @kernel(plain=not compiled)
    def solve(p, tolerance, impulse, w):
        """Try until the backward error is within the tolerance [m/s].

        Args:
            impulse: warm start, ends as the solution.

        Returns:
            iterations, index of the attempt that solved it (into NAMES), backward error [m/s].
        """
        n, count, total, cold, seed, error, least = impulse.shape[0], p.mu.shape[0], 0, True, 1, 0.0, INFINITE
        for i in range(n):
            cold = cold and impulse[i] == 0.0
        copy(w.found, impulse, n)
        for r in range(first, SETTINGS.shape[0]):
            start, steps, sweeps = int(SETTINGS[r, 1]), int(SETTINGS[r, 2]), int(SETTINGS[r, 3])
            if start == (WARM if cold else COLD):
                continue
            if total * count > ENOUGH:
                break
            if start in (COLD, ZERO):
                fill(impulse, 0.0, n)
            elif start == BEST:
                copy(impulse, w.found, n)
            elif start == STREWN:
                seed = strew(p.q, p.mu, p.weight, r, seed, impulse)
            if sweeps > 0:
                fill(w.alpha, 0.0, count)
                done, error = accelerated(p, impulse, tolerance, sweeps, w)
                total += done
            if SETTINGS[r, 6] > 0.0 and not (sweeps > 0 and error <= tolerance):
                if steps > 0:
                    copy(w.friction, p.mu, count)
                for k in range(steps + 1):
                    if steps > 0:
                        for i in range(count):
                            p.mu[i] = w.friction[i] * (k / steps) if w.friction[i] > 0.0 else w.friction[i]
                    done, error = newton(p, int(SETTINGS[r, 0]), SETTINGS[r, 5], SETTINGS[r, 4], tolerance, int(SETTINGS[r, 6]), impulse, w)
                    total += done
            if error <= tolerance:
                return total, r, error
            if error < least:
                least = error
                copy(w.found, impulse, n)
        copy(impulse, w.found, n)
        return total, SETTINGS.shape[0], least

    return solve


@kernel
def strew(q, mu, weight, turn, seed, impulse):
    """Impulses all over the cones, from a plain congruential generator: the same on every machine. Returns its state."""
    size = 0.0
    for i in range(q.shape[0]):
        size = max(size, abs(q[i]))
    # seven sizes from a hundredth of what stops the fastest contact to a hundred times it
    size *= 10.0 ** (2 * (turn % 7) / 3.0 - 2.0)
    for k in range(mu.shape[0]):
        for c in range(3):
            seed = (seed * 1103515245 + 12345) % 2147483648
            impulse[3 * k + c] = seed / 2147483648.0
        n = impulse[3 * k + 2] * size * weight[k]
        impulse[3 * k] = (impulse[3 * k] - 0.5) * mu[k] * n
        impulse[3 * k + 1] = (impulse[3 * k + 1] - 0.5) * mu[k] * n
        impulse[3 * k + 2] = n
    return seed


solve = climb_on(newton.solve, gauss_seidel.accelerated, 0)
# without the sweeps: Newton shares a load evenly among the corners that can bear it
solve_bodies = climb_on(twist_newton.solve, gauss_seidel.accelerated_bodies, 1)
solve_large = climb_on(sparse_newton.solve, gauss_seidel.accelerated, 1, compiled=False)


@kernel(views=True)
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
    return solve(p, tolerance, reals[at : at + n], carve(reals[at + n :], integers[count + 1 + m :]))

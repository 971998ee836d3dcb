"""The default solver: a warm Newton, and fallbacks for the problems that it does not solve.

1. **Sweeps**, for a matrix without a warm start: a handful of contacts often needs no more than a
   few accelerated ones. Else they are forgotten: they push impulses to the edges of the cones,
   where Newton starts worse than from zero.
2. **Newton from one point**: warm, then from zero: with a large ε, which shares a load evenly, and
   with four triples of map, ρ and ε, each the best one for what those before it leave: of 363 steps
   of jaws that wedge a can, a wall that is hit, dominoes and robots on stairs, the first of them
   solves four fifths, the first three all but 4 %. Rocking feet, with corners that barely touch,
   want ρ thirty times larger than 3/tr W_kk: the map then looks at velocities before impulses.
   Where a contact slides at a few times the tolerance, and W hardly determines how it shares
   friction with others, a fine step from the best point met goes far enough: a small ε.
   Before these come interior points (``interior_point``), from the middle of all cones, with
   Newton's last digits: joints and contacts of limp robots that jam, and most steps of a heap.
   Fifteen steps of a Newton from zero come before them: of 864 steps of limp robots they solve two
   thirds, in half of the time. Problems of contacts alone without a warm start try all of it.
   Contacts on soft pads have two attempts of their own before these: ε = 1, and twenty sweeps. Of
   300 steps of soft soles that land on rough ground and that a warm Newton does not solve, they
   halve those that end without a solution, and save a third of the work.
3. **Taking turns**: sweeps and Newton from the best point met, short ones first: near a warm start
   they mostly do. Wedged links, and, with more sweeps, piles in violent motion.
4. **Growing friction**: without friction the problem is convex and easy; from its solution μ grows
   in steps to what it is, each step starting where the last one ended. Towers, mass ratios, chains.
5. **Strewn starts**: Newton and growing friction from points all over the cones, with all maps and
   scales by turns.

The order is fixed, also of the strewn points, because sliding problems can have several exact
solutions and a rerun has to find the same one; only the rescue that helped last comes before the
others, as a hard step is mostly followed by its like. What is returned is the best point met, with
its true error. Nearly all steps end with the first attempt; the others are a kernel of their own,
and end where the budget does that is in the solver's memory (``budget``).
"""

import numpy as np

from tabi.contact import budget, gauss_seidel, newton, sparse_newton, twist_newton
from tabi.contact.blocks import Blocks
from tabi.contact.interior import interior_point
from tabi.contact.maps import ALART_CURNIER, JEAN_MOREAU, NATURAL
from tabi.contact.rows import CONTACT
from tabi.contact.soft import compliant_newton, compliant_sweep
from tabi.contact.workspace import carve, copy, fill
from tabi.jit import kernel

# where an attempt starts; COLD: zero, and only where there is no warm start; NEAR: the best point
# met, and only where there is one; PADS: zero, and only where contacts may be on soft pads; MIDDLE:
# of the cones, by ``interior_point``, where the form of the problem has it, and there was a warm
# start, or, COLD_MIDDLE, was none; BRIEF: zero, only where MIDDLE follows
COLD, WARM, ZERO, BEST, STREWN, NEAR, PADS, BRIEF, MIDDLE, COLD_MIDDLE = range(10)

STREWN_EPSILON = (1e-8, 1e-6, 1e-4, 1e-3)
STREWN_FACTOR = (1000.0, 10.0, 1.0, 100.0, 0.1)


def _turns(start, count, sweeps, iterations):
    """Lines of the table: sweeps and Newton, with all maps and two scales by turns."""
    for t in range(count):
        factor = (1.0, 30.0)[t // 3 % 2]
        yield "taking turns", t % 3, start, 0, sweeps, 1e-6, factor, iterations


# name, map, start, steps of growing friction, sweeps, ε, factor of ρ, Newton's iterations
ATTEMPTS = (
    ("sweeps", ALART_CURNIER, COLD, 0, 8, 1e-6, 1.0, 0),
    ("warm newton", ALART_CURNIER, WARM, 0, 0, 1e-6, 1.0, 12),
    ("newton, brief start", NATURAL, BRIEF, 0, 0, 1e-1, 1.0, 15),
    ("interior point", ALART_CURNIER, MIDDLE, 0, 0, 1e-6, 1.0, 40),
    ("newton on pads", ALART_CURNIER, PADS, 0, 0, 1.0, 1.0, 30),
    ("sweeps on pads", JEAN_MOREAU, PADS, 0, 20, 1e-6, 30.0, 20),
    ("newton, soft start", NATURAL, ZERO, 0, 0, 1e-1, 1.0, 60),
    ("interior point", ALART_CURNIER, COLD_MIDDLE, 0, 0, 1e-6, 1.0, 40),
    ("newton, other map", JEAN_MOREAU, ZERO, 0, 0, 1e-6, 1.0, 60),
    ("newton, soft start", JEAN_MOREAU, ZERO, 0, 0, 1.0, 10.0, 100),
    ("newton, other map", JEAN_MOREAU, ZERO, 0, 0, 1e-10, 3.0, 60),
    ("newton, stiff map", NATURAL, ZERO, 0, 0, 1e-2, 30.0, 60),
    ("growing friction", JEAN_MOREAU, ZERO, 5, 0, 1e-3, 1.0, 30),
    ("newton, fine step", ALART_CURNIER, NEAR, 0, 0, 1e-10, 1000.0, 30),
    *_turns(NEAR, 6, 50, 30),
    ("newton from zero", ALART_CURNIER, ZERO, 0, 0, 1e-6, 1.0, 100),
    ("newton, stiff map", JEAN_MOREAU, ZERO, 0, 0, 1e-4, 30.0, 200),
    ("growing friction", ALART_CURNIER, ZERO, 5, 0, 1e-2, 1.0, 60),
    ("growing friction", ALART_CURNIER, ZERO, 5, 0, 1e-6, 1.0, 60),
    ("growing friction", NATURAL, ZERO, 10, 0, 1e-1, 1.0, 60),
    *_turns(BEST, 12, 100, 30),
    *_turns(BEST, 6, 1000, 60),
    ("growing friction", JEAN_MOREAU, ZERO, 20, 0, 1e-4, 30.0, 60),
    ("growing friction", ALART_CURNIER, ZERO, 20, 0, 1e-3, 1.0, 60),
    ("growing friction", JEAN_MOREAU, ZERO, 60, 0, 1e-4, 30.0, 60),
    *(
        (
            "strewn starts", t % 3, STREWN, (0, 5, 20)[t // 3 % 3], 0,
            STREWN_EPSILON[t % 4], STREWN_FACTOR[t % 5], 60,
        )
        for t in range(180)
    ),
)  # fmt: skip
NAMES = (*(a[0] for a in ATTEMPTS), "not solved")
# the table as kernels take it: an argument, as a constant of that size fits no GPU
SETTINGS = np.array([a[1:] for a in ATTEMPTS])
MAP, START, STEPS, SWEEPS, EPSILON, FACTOR, ITERATIONS = range(7)
# Newton's steps from where the method of interior points ended
LAST_ITERATIONS = 12
# share of the tolerance to which the solution of a fallback is polished
POLISH_TOLERANCE_RATIO = 1e-3
# iterations times contacts after which no other attempt begins: seconds, at any size
MAX_ITERATED_CONTACTS = 20_000_000


def climb_on(newton, accelerated, first, compiled=True, pads=False, interior=None):
    """The list of attempts for one form of the problem, from its kernels.

    Args:
        first: the attempt to begin with. interior: method of interior points, or None.
        compiled: False where ``newton`` is plain Python. pads: whether contacts may be on some.
    """
    inside = interior is not None
    from_middle = interior or _none

    # inlined: handing over problem and memory would cost as much as a residual
    @kernel(inline=True, plain=not compiled)
    def attempt(p, settings, tolerance, impulse, w):
        """One line of the table from the impulses at hand: sweeps, then Newton by growing friction.

        Returns:
            iterations done, backward error [m/s].
        """
        count, total, error = p.mu.shape[0], 0, 0.0
        if int(settings[START]) >= MIDDLE:
            # Newton's last digits are finer, and cost less
            total, error = from_middle(p, tolerance, int(settings[ITERATIONS]), impulse, w)
            if error <= tolerance or not error < np.inf:
                return total, error
            done, error = newton(
                p, ALART_CURNIER, 1.0, 1e-6, tolerance, LAST_ITERATIONS, impulse, w
            )
            return total + done, error
        steps, sweeps = int(settings[STEPS]), int(settings[SWEEPS])
        if sweeps > 0:
            fill(w.alpha, 0.0, count)
            done, error = accelerated(p, impulse, tolerance, sweeps, w)
            total += done
        if settings[ITERATIONS] > 0.0 and not (sweeps > 0 and error <= tolerance):
            if steps > 0:
                copy(w.friction, p.mu, count)
            k = 0
            while k <= steps:
                # where no work is left, what was reached is judged with all of the friction
                if k < steps and not budget.left(w.budget):
                    k = steps
                if steps > 0:
                    for i in range(count):
                        p.mu[i] = w.friction[i] * (k / steps)
                form, iterations = int(settings[MAP]), int(settings[ITERATIONS])
                factor, epsilon = settings[FACTOR], settings[EPSILON]
                done, error = newton(p, form, factor, epsilon, tolerance, iterations, impulse, w)
                total, k = total + done, k + 1
        return total, error

    @kernel(inline=True, plain=not compiled)
    def polish(p, tolerance, error, impulse, w):
        """Two of Newton's steps from a solution that may be just within the tolerance, as the next
        step starts from it; returns as ``attempt`` does.
        """
        copy(w.best_impulse, impulse, impulse.shape[0])
        finer = POLISH_TOLERANCE_RATIO * tolerance
        done, better = newton(p, ALART_CURNIER, 1.0, 1e-6, finer, 2, impulse, w)
        if better <= error:
            return done, better
        copy(impulse, w.best_impulse, impulse.shape[0])
        return done, error

    @kernel(plain=not compiled, apart="int64, int64, float64", rare=True)
    def rescue(p, tolerance, impulse, w, table, begin, cold, total, least):
        """All attempts from ``begin`` on, until one succeeds;
        the impulses at hand are the best met.

        Args:
            cold: whether there was no warm start. total: iterations so far. least: their error.
        """
        n, count, seed, helped = impulse.shape[0], p.mu.shape[0], 1, w.budget[budget.HELPED]
        w.budget[budget.SURE] = 0
        copy(w.best_impulse, impulse, n)
        # up to the interior points, then the attempt that helped in the last step that needed one
        middle = begin - 1
        while middle + 1 < table.shape[0] and int(table[middle + 1, START]) >= BRIEF:
            middle += 1
        for turn in range(begin, table.shape[0] + 1):
            r = helped if turn == middle + 1 else turn if turn <= middle else turn - 1
            again = turn > middle and r == helped and (turn > middle + 1 or helped <= middle)
            if again or left_out(table, r, cold, pads, inside):
                continue
            if total * count > MAX_ITERATED_CONTACTS or not budget.left(w.budget):
                break
            start = int(table[r, START])
            if start in (COLD, ZERO, PADS, BRIEF):
                fill(impulse, 0.0, n)
            elif start in (BEST, NEAR):
                copy(impulse, w.best_impulse, n)
            elif start == STREWN:
                seed = strew(p, r, seed, impulse)
            done, error = attempt(p, table[r], tolerance, impulse, w)
            total += done
            if error <= tolerance:
                w.budget[budget.HELPED] = r
                polish_iterations, error = polish(p, tolerance, error, impulse, w)
                return total + polish_iterations, r, error
            # a NaN is beaten by every number
            if error < least or least != least:
                least = error
                copy(w.best_impulse, impulse, n)
        copy(impulse, w.best_impulse, n)
        return total, table.shape[0], least

    @kernel(plain=not compiled, apart="int64, int64, float64")
    def solve(p, tolerance, impulse, w, table):
        """Try until the backward error is within the tolerance [m/s].

        Args:
            impulse: warm start, ends as the solution.
            table: SETTINGS, or the first lines of it.

        Returns:
            iterations, index of the attempt that solved it (into NAMES), backward error [m/s].
        """
        # joints that are solved with the contacts are hard in any case
        count = p.kind.shape[0]
        cold = not inside or count == 0 or p.kind[count - 1] == CONTACT
        for i in range(impulse.shape[0]):
            cold = cold and impulse[i] == 0.0
        r = first
        while left_out(table, r, cold, pads, inside):
            r += 1
        budget.first_attempt(w.budget)
        done, error = attempt(p, table[r], tolerance, impulse, w)
        if error <= tolerance:
            return done, r, error
        return rescue(p, tolerance, impulse, w, table, r + 1, cold, done, error)

    return solve


@kernel
def _none(p, tolerance, iterations, impulse, w):
    """In place of a method of interior points."""
    return 0, np.inf


@kernel(inline=True)
def left_out(table, r, cold, pads, inside):
    """Whether an attempt is only for problems with, or without, a warm start, with pads, or with a
    method of interior points, and this is none of them.
    """
    start = int(table[r, START])
    if start >= BRIEF:
        return not inside or cold != (start == COLD_MIDDLE)
    if start == PADS:
        return not pads
    return start in (WARM, NEAR) if cold else start == COLD


@kernel
def strew(p, turn, seed, impulse):
    """Impulses all over the cones, from a plain congruential generator: the same on every machine.

    Returns:
        the generator's state.
    """
    size = 0.0
    for i in range(p.q.shape[0]):
        size = max(size, abs(p.q[i]))
    # seven sizes from a hundredth of what stops the fastest contact to a hundred times it
    size *= 10.0 ** (2 * (turn % 7) / 3.0 - 2.0)
    for k in range(p.mu.shape[0]):
        for c in range(3):
            seed = (seed * 1103515245 + 12345) % 2147483648
            impulse[3 * k + c] = seed / 2147483648.0
        n = impulse[3 * k + 2] * size * p.weight[k]
        across = p.mu[k] * n if p.kind[k] == CONTACT else n
        impulse[3 * k] = (impulse[3 * k] - 0.5) * across
        impulse[3 * k + 1] = (impulse[3 * k + 1] - 0.5) * across
        impulse[3 * k + 2] = n
    return seed


solve = climb_on(newton.solve, gauss_seidel.accelerated, 0)
# without the sweeps: Newton shares a load evenly among the corners that can bear it
solve_bodies = climb_on(
    twist_newton.solve, gauss_seidel.accelerated_bodies, 1, interior=interior_point.solve
)
solve_compliant = climb_on(compliant_newton.solve, compliant_sweep.accelerated, 1, pads=True)
solve_large = climb_on(sparse_newton.solve, gauss_seidel.accelerated, 1, compiled=False)


@kernel(views=True)
def solve_flat(integers, reals, count, tolerance, table):
    """Solve as ``solve`` does, with all inputs in two arrays: passing each array costs as much as a
    sweep.

    Args:
        integers: start, column and kind of ``Blocks``, then ``workspace.integers``.
        reals: value, q, mu, bound and weight of ``Blocks``, then the impulses, then
            ``workspace.memory``.
    """
    n, m = 3 * count, integers.shape[0] - 3 * count - 1 - budget.SIZE
    at, kind = 9 * m + 6 * count, count + 1 + m
    p = Blocks(
        integers[: count + 1],
        integers[count + 1 : kind],
        reals[: 9 * m].reshape((m, 9)),
        reals[9 * m : 9 * m + n],
        integers[kind : kind + count],
        reals[9 * m + n : 9 * m + n + count],
        reals[9 * m + n + count : 9 * m + n + 2 * count],
        reals[9 * m + n + 2 * count : at],
    )
    work = carve(reals[at + n :], integers[kind + count :])
    return solve(p, tolerance, reals[at : at + n], work, table)

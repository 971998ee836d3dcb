"""Work that a solver has done and may do, and the callback that is asked whether to go on.

Work is counted in *looks*: one contact's velocity and error, about 60 ns on a processor of 2020. So
it is the same number on every machine, in every run. Of n contacts between b bodies, with E blocks
of Ω and L products of blocks in an elimination,

    trial of a step   n + E/4 + 2                                                              (1)
    Newton's step     3 n + 2 L + 16, and its trials; less where ``point_newton`` or
                      ``motion_newton`` save work
    sweep             3 n + E/2 + n E/4b + 5
The limit is checked within Newton's loops and sweeps. Only the first SURE steps from a first start
are exempt: a solver always has a result, if not a good one.

A budget is an array of whole numbers, in the memory of a solver.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.jit import kernel
from tabi.jit.callback import call

# work since ``begin``; its limit; Newton's steps that the limit does not forbid; when to call the
# callback next, how often, and its address; whether it returned DROP; the attempt of ``ladder``
# that succeeded last
WORK, LIMIT, SURE, LOOK, EVERY, ASK, DROPPED, HELPED = range(8)
SIZE = 8
# larger than any work
NO_LIMIT = 2**62
# results of the callback: drop the step; go on; end with the best result so far
DROP, GO_ON, END = 0, 1, 2
# number of contacts up to which the limit does not depend on it
FIXED_LIMIT_CONTACTS = 200
# work that a problem gets in any case if it should be easy, or may be posed in another way
MIN_WORK = 200_000
# Newton's steps of a first attempt that no limit forbids
FIRST_STEPS = 12


def unlimited() -> NDArray[np.int64]:
    """A budget without a limit or a callback."""
    budget = np.zeros(SIZE, np.int64)
    budget[LIMIT] = budget[LOOK] = budget[EVERY] = NO_LIMIT
    return budget


def limits(most: int, every: int = NO_LIMIT, ask: int = 0) -> NDArray[np.int64]:
    """Arguments of ``begin``: the limit of work with up to FIXED_LIMIT_CONTACTS contacts, the work
    between two calls of the callback, and its address.
    """
    return np.array([most, every, ask], np.int64)


@kernel(inline=True)
def begin(budget, limits, count):
    """Start to count for a problem with ``count`` contacts; the next call of the callback stays
    where the problem before left it.
    """
    budget[LOOK] = min(budget[LOOK] - budget[WORK], limits[1])
    budget[WORK], budget[SURE], budget[DROPPED] = 0, 0, 0
    budget[LIMIT], budget[EVERY], budget[ASK] = most_of(limits[0], count), limits[1], limits[2]


@kernel(inline=True)
def extend(budget, limits):
    """Add half of a problem's limit for the same problem posed in another way, at least MIN_WORK or
    all of it; nothing where the callback has ended the step.
    """
    if budget[LIMIT] > 0:
        extra = max(min(MIN_WORK, limits[0]), limits[0] // 2)
        budget[LIMIT] = max(budget[LIMIT], budget[WORK] + extra)


@kernel(inline=True)
def most_of(most, count):
    """Limit for a number of contacts: beyond FIXED_LIMIT_CONTACTS it grows with their square, as
    the work of an elimination does.
    """
    if count > FIXED_LIMIT_CONTACTS and most < NO_LIMIT:
        return most * count // FIXED_LIMIT_CONTACTS * count // FIXED_LIMIT_CONTACTS
    return most


@kernel(inline=True)
def first_attempt(budget):
    """Begin an attempt whose first steps the limit does not forbid."""
    budget[SURE] = FIRST_STEPS if budget[DROPPED] == 0 else 0


@kernel(inline=True)
def goes_on(budget, done):
    """Whether another step may be done, after ``done`` of them; may call the callback."""
    return left(budget) or done < budget[SURE]


@kernel(inline=True)
def left(budget):
    """Whether the limit leaves work to do; may call the callback."""
    if budget[WORK] >= budget[LOOK]:
        look(budget)
    return budget[WORK] < budget[LIMIT]


@kernel
def look(budget):
    """Call the callback, which decides whether to go on."""
    budget[LOOK] = budget[WORK] + budget[EVERY]
    answer = call(budget[ASK]) if budget[ASK] != 0 else GO_ON
    if answer != GO_ON:
        budget[LIMIT] = 0
    if answer == DROP:
        budget[SURE], budget[DROPPED] = 0, 1

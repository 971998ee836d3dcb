"""How much a solver has done and may do, and who is asked meanwhile whether to go on.

Work is counted in *looks*: one contact's velocity and error, about 60 ns on a processor of 2020. So
it is the same number on every machine, in every run. Of n contacts between b bodies, with E blocks
of Ω and L products of blocks in an elimination,

    trial of a step   n + E/4 + 2                                                              (1)
    Newton's step     3 n + 2 L + 16, and its trials; less where ``point_newton`` or
                      ``motion_newton`` save work
    sweep             3 n + E/2 + n E/4b + 5
The limit is kept within Newton's loops and sweeps. Only the first SURE steps from a first start are
done whatever it is: a solver always has an answer, if not a good one.

A budget is an array of whole numbers, in the memory of a solver.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.jit import kernel
from tabi.jit.callback import call

# done since ``begin``; the most that may be; Newton's steps that are done whatever it is; when to
# ask next, how often, and whom (an address); whether the answer was to drop everything; the attempt
# of ``ladder`` that last helped
WORK, LIMIT, SURE, LOOK, EVERY, ASK, DROPPED, HELPED = range(8)
SIZE = 8
# more than anybody can do
NO_LIMIT = 2**62
# answers of who is asked: drop everything; go on; end with what there is
DROP, GO_ON, END = 0, 1, 2
# contacts up to which a limit is what it says
MANY = 200
# what is done in any case of a problem that should be easy, or may be posed in another way
SHORT = 200_000
# Newton's steps of a first attempt that no limit forbids
FIRST_STEPS = 12


def unlimited() -> NDArray[np.int64]:
    """A budget without a limit, that asks nobody."""
    budget = np.zeros(SIZE, np.int64)
    budget[LIMIT] = budget[LOOK] = budget[EVERY] = NO_LIMIT
    return budget


def limits(most: int, every: int = NO_LIMIT, ask: int = 0) -> NDArray[np.int64]:
    """What ``begin`` takes: the most work with up to MANY contacts, work between two questions, and
    the address of who is asked.
    """
    return np.array([most, every, ask], np.int64)


@kernel(inline=True)
def begin(budget, limits, count):
    """Nothing is done yet, of a problem with ``count`` contacts;
    when to ask goes on from the problem before.
    """
    budget[LOOK] = min(budget[LOOK] - budget[WORK], limits[1])
    budget[WORK], budget[SURE], budget[DROPPED] = 0, 0, 0
    budget[LIMIT], budget[EVERY], budget[ASK] = most_of(limits[0], count), limits[1], limits[2]


@kernel(inline=True)
def extend(budget, limits):
    """Let the same problem, posed in another way, have half of what a problem has, and SHORT at
    least where that is less than all, whatever was spent before; nothing where somebody has ended
    the step.
    """
    if budget[LIMIT] > 0:
        more = max(min(SHORT, limits[0]), limits[0] // 2)
        budget[LIMIT] = max(budget[LIMIT], budget[WORK] + more)


@kernel(inline=True)
def most_of(most, count):
    """The limit for so many contacts: beyond MANY it grows with their square, as an elimination
    does.
    """
    if count > MANY and most < NO_LIMIT:
        return most * count // MANY * count // MANY
    return most


@kernel(inline=True)
def first_attempt(budget):
    """An attempt begins that is made whatever the limit."""
    budget[SURE] = FIRST_STEPS if budget[DROPPED] == 0 else 0


@kernel(inline=True)
def goes_on(budget, done):
    """Whether another step may be done, after ``done`` of them; asks, where it is time to."""
    return left(budget) or done < budget[SURE]


@kernel(inline=True)
def left(budget):
    """Whether there is work left to be done; asks, where it is time to."""
    if budget[WORK] >= budget[LOOK]:
        look(budget)
    return budget[WORK] < budget[LIMIT]


@kernel
def look(budget):
    """Ask whether to go on."""
    budget[LOOK] = budget[WORK] + budget[EVERY]
    answer = call(budget[ASK]) if budget[ASK] != 0 else GO_ON
    if answer != GO_ON:
        budget[LIMIT] = 0
    if answer == DROP:
        budget[SURE], budget[DROPPED] = 0, 1

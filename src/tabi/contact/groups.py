"""Collision groups (islands): the contacts of a step fall into independent problems.

Moving things that touch belong to one group, and so do those that touch them; what does not move
joins no groups (Chardonnet 2012, section 3.3), unless it is soft: everything on one mat sinks in
together. Things are *families*: a tree, with the trees that joints of it follow or lead.
Union–find over families; groups are numbered in the order of their first contact, so the same
contacts give the same groups.
"""

import numpy as np
from numpy.typing import NDArray

from tabi.jit import kernel
from tabi.jit.structure import Structure

Integers = NDArray[np.int64]


class Groups(Structure):
    """Arrays that ``find`` writes.

    Attributes:
        contact: the group of each contact, −1 between two things that do not move.
        order: contacts, those of one group together, each group in the order given;
            start: where each group begins.
        tied: of each contact a body that belongs to its group too, 0 where none does.
        above, label: the forest of union–find, and the group of each of its tops, −1 where it
            touches nothing.
    """

    contact: Integers
    order: Integers
    start: Integers
    tied: Integers
    above: Integers
    label: Integers


def allocate(contacts: int, bodies: int) -> Groups:
    """Memory for a number of contacts and of bodies, the world among them."""
    return Groups(
        contact=np.zeros(contacts, np.int64),
        order=np.zeros(contacts, np.int64),
        start=np.zeros(contacts + 1, np.int64),
        tied=np.zeros(contacts, np.int64),
        above=np.zeros(bodies, np.int64),
        label=np.zeros(bodies, np.int64),
    )


@kernel
def find(family, a, b, count, g):
    """The groups of ``count`` contacts.

    Args:
        family: of each body, as ``chain_tables.families`` has them.
        a, b: the bodies of each contact; 0, or less, is what does not move.
        g: where they are written; ``tied`` is read.

    Returns:
        The number of groups.
    """
    above, label = g.above, g.label
    for i in range(above.shape[0]):
        above[i] = i
        label[i] = -1
    for k in range(count):
        if a[k] > 0 and b[k] > 0:
            _join(above, family[a[k]], family[b[k]])
        if g.tied[k] > 0:
            _join(above, family[max(a[k], b[k])], family[g.tied[k]])
    groups = 0
    for k in range(count):
        g.contact[k] = -1
        if a[k] > 0 or b[k] > 0:
            i = _top(above, family[max(a[k], b[k])])
            if label[i] < 0:
                label[i] = groups
                groups += 1
            g.contact[k] = label[i]
    _sort(g, count, groups)
    return groups


@kernel
def _top(above, i):
    while above[i] != i:
        above[i] = above[above[i]]
        i = above[i]
    return i


@kernel(inline=True)
def _join(above, i, j):
    i, j = _top(above, i), _top(above, j)
    above[max(i, j)] = min(i, j)


@kernel
def _sort(g, count, groups):
    """order and start, by counting."""
    for i in range(groups + 1):
        g.start[i] = 0
    for k in range(count):
        if g.contact[k] >= 0:
            g.start[g.contact[k] + 1] += 1
    for i in range(groups):
        g.start[i + 1] += g.start[i]
    # each group's start moves to its end while it is filled, and back afterwards
    for k in range(count):
        i = g.contact[k]
        if i >= 0:
            g.order[g.start[i]] = k
            g.start[i] += 1
    for i in range(groups, 0, -1):
        g.start[i] = g.start[i - 1]
    g.start[0] = 0

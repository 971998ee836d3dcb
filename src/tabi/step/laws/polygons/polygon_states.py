"""States of a polygon on its plane, as numbers: what of it is held, and whether it slides.

Of a polygon with n corners: 0 for none; 1 + i for a vertex, 1 + n + i for the edge from i on, the
last one for the face; the same again, without none, for sliding.
"""

from tabi.jit import kernel

NONE, VERTEX, EDGE, FACE = 0, 1, 2, 3


@kernel(inline=True)
def places(n):
    """Return the number of sticking states, and none: two corners are one edge."""
    return 2 * n + 2 if n > 2 else n + 2 if n == 2 else 2


@kernel(inline=True)
def state_count(n):
    """Return the number of states of a polygon."""
    return 2 * places(n) - 1


@kernel(inline=True)
def decode(state, n):
    """Return the kind of a state, its first held corner, and whether it slides."""
    slides = state >= places(n)
    place = state - places(n) + 1 if slides else state
    if place == 0:
        return NONE, 0, False
    if place <= n:
        return VERTEX, place - 1, slides
    if n > 2 and place == 2 * n + 1:
        return FACE, 0, slides
    return EDGE, place - 1 - n, slides


@kernel(inline=True)
def encode(kind, i, slides, n):
    """Return the number of a state."""
    if kind == NONE:
        return 0
    place = 1 + i if kind == VERTEX else 1 + n + i if kind == EDGE else 2 * n + 1
    return place + places(n) - 1 if slides else place


@kernel(inline=True)
def corners(kind, n):
    """Return the number of held corners."""
    return n if kind == FACE else kind


@kernel(inline=True)
def holds(kind, i, j, n):
    """Whether a state holds the corner j."""
    if kind == FACE:
        return True
    return kind != NONE and (j == i or (kind == EDGE and j == (i + 1) % n))

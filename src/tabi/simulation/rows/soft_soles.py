"""Contact points of soles that a law of springs lets sink in.

They are marked, so that their overlaps are not undone. The band of a foot's pairs is wider under
such a law, as corners that are above the ground tell the tilt of the sole: points of the foot that
are not of its sole, and not near either, are left out again.
"""

from tabi._jit import kernel
from tabi.simulation.parts import unchanged as revise
from tabi.simulation.rows.contacts import MARGIN, move
from tabi.spatial.vector import add as plus
from tabi.spatial.vector import dot, load3, load9, mul, scale, sub

__all__ = ["add", "fill", "revise", "warm_start", "withhold"]

# how far from the plane of the sole its points are at most [m]
FLAT = 2e-3


@kernel(inline=True)
def withhold(own, t, d, count, s):
    """Contact points less those of feet that are high above the ground; soles are marked."""
    kept = 0
    for e in range(count):
        sole, p, far = False, s.points[e], p_is_high(s, e)
        for k in range(t.foot.shape[0]):
            if t.foot[k].body in (p.a, p.b) and t.foot[k].body > 0:
                near = in_plane(t, s, k, p)
                sole = sole or near
        s.soft[e] = 1 if sole else 0
        if sole or not far:
            move(s, kept, e)
            kept += 1
    return kept


@kernel(inline=True)
def p_is_high(s, e):
    """Whether a point is farther than contacts of others are looked for."""
    return s.points[e].gap > MARGIN


@kernel(inline=True)
def in_plane(t, s, k, p):
    """Whether a point is in the plane of the sole k."""
    sole, body = t.foot[k], s.dynamics.body[t.foot[k].body]
    turn = load9(body.rotation)
    origin = plus(load3(body.position), mul(turn, load3(sole.position)))
    origin = plus(origin, load3(s.dynamics.body[t.model.body[sole.body].root].origin))
    R = load9(sole.rotation)
    up = mul(turn, (R[2], R[5], R[8]))
    # the point of the foot, which is above that of the plane by the gap
    side = 0.5 if p.a == sole.body else -0.5
    at = plus(load3(p.position), scale(side * p.gap, load3(p.normal)))
    return abs(dot(up, sub(at, origin))) < FLAT


@kernel(inline=True)
def add(own, t, d, count, s, h):
    """No points of its own."""
    return count


@kernel(inline=True)
def fill(own, t, d, e, s, x, group, h):
    """No rows of its own."""


@kernel(inline=True)
def warm_start(own, t, d, e, s, x, found):
    """No rows of its own."""

"""Contact points of soles for laws that treat a sole as a plane.

Such laws treat a sole as a convex polygon in one plane. Soles of meshes are uneven by up to a
millimetre or two: points near the plane of a sole count as if they were in it,

    p′ = p − z ẑ_F,   gap′ = gap − z ẑ_F·n                                                      (1)
z: height of the foot's point over the plane of its sole, whose normal is ẑ_F.

The band of a foot's pairs is wider under such laws, so that all points of its sole are seen; points
of the foot that are not of its sole, and not near the ground either, are left out again. A law of
springs lets soles sink in: there (``soft``) these points are marked, so that overlaps are not
undone.
"""

from types import SimpleNamespace

from tabi.jit import kernel
from tabi.spatial.vector import add, dot, load3, load9, mul, scale, store3, sub
from tabi.step.parts import no_revision
from tabi.step.rows.contacts import MARGIN, SPRINGS, move

# largest distance of points from the plane of their sole [m]: soles are found from all points
# within 2 mm of the lowest one
MAX_HEIGHT_M = 2.5e-3


def withhold_on(sinks):
    """Make the kernel that removes points, for laws that let soles sink in, or that do not."""

    @kernel(inline=True)
    def withhold(part_memory, t, d, count, s):
        """Remove points of feet high above the ground, and put those of soles into their planes."""
        count_left = 0
        for e in range(count):
            sole = flatten(t, s, e)
            s.soft[e] = SPRINGS if sole and sinks else 0
            if sole or s.points[e].gap <= MARGIN or not of_foot(t, s, e):
                move(s, count_left, e)
                count_left += 1
        return count_left

    return withhold


@kernel(inline=True)
def of_foot(t, s, e):
    """Whether a point is on a foot."""
    for k in range(t.foot.shape[0]):
        if t.foot[k].body > 0 and t.foot[k].body in (s.points[e].a, s.points[e].b):
            return True
    return False


@kernel(inline=True)
def flatten(t, s, e):
    """Put a point of a sole into its plane by (1); False if it is no point of a sole."""
    p = s.points[e]
    for k in range(t.foot.shape[0]):
        sole = t.foot[k]
        if sole.body > 0 and sole.body in (p.a, p.b):
            body = s.dynamics.body[sole.body]
            turn, R = load9(body.rotation), load9(sole.rotation)
            origin = add(load3(body.position), mul(turn, load3(sole.position)))
            origin = add(origin, load3(s.dynamics.body[t.model.body[sole.body].root].origin))
            up, n = mul(turn, (R[2], R[5], R[8])), load3(p.normal)
            side = 1.0 if p.a == sole.body else -1.0
            # the point of the foot is half a gap away
            at = add(load3(p.position), scale(0.5 * side * p.gap, n))
            z = dot(up, sub(at, origin))
            if abs(z) < MAX_HEIGHT_M:
                p.gap -= side * z * dot(up, n)
                at = sub(at, scale(z, up))
                store3(p.position, sub(at, scale(0.5 * side * p.gap, n)))
                return True
    return False


@kernel(inline=True)
def add_none(part_memory, t, d, count, s, h):
    """Add no points, and return the count."""
    return count


@kernel(inline=True)
def fill(part_memory, t, d, e, s, x, group, h):
    """Do nothing: there are no rows."""


@kernel(inline=True)
def warm_start(part_memory, t, d, e, s, x, previous):
    """Do nothing: there are no rows."""


KERNELS = {"add": add_none, "fill": fill, "warm_start": warm_start, "revise": no_revision}
flat = SimpleNamespace(NAME="flat_soles", withhold=withhold_on(False), **KERNELS)
soft = SimpleNamespace(NAME="soft_soles", withhold=withhold_on(True), **KERNELS)

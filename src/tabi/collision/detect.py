"""Contact points of a whole world: place the shapes, find the pairs that may touch,
ask each pair.
"""

from tabi.collision import broad, separated_pairs
from tabi.collision.arrays import FIELD, PLANE
from tabi.collision.convex import convex_points
from tabi.collision.halfspace import points_below
from tabi.collision.patches import inner_points_dropped
from tabi.collision.terrain import points_on
from tabi.jit import kernel
from tabi.spatial.vector import load3, scale


@kernel
def detect(m, c, w, margin, h, cw, points):
    """Every point between shapes that may touch which is closer than ``margin`` [m],
    or may be so before the step ends.

    Args:
        m: arrays of the model.
        w: workspace of the dynamics after ``kinematics.positions``, and ``velocities`` unless h
            is 0.
        h: of the step [s]; 0 where nothing moves.
        c, cw: collision tables and workspace.
        points: rows of ``workspace.POINT``, filled in the order of the shapes a, then b,
            then the features.

    Returns:
        The number of points found. Where it is more than there are rows, allocate rows and
        workspace for that many and repeat; it may grow once more where there were too many pairs to
        look at.
    """
    broad.place(m, c, w, h, cw)
    pairs = broad.candidates(c, cw, margin)
    if pairs > cw.pair.shape[0]:
        return points.shape[0] + pairs
    # a literal 0 would make the compiler translate all that follows twice
    count = int(0.0)
    for e in range(pairs):
        i, k = cw.sorted_pair[e, 0], cw.sorted_pair[e, 1]
        speed, turn = broad.relative(m, c, w, cw, i, k)
        band = margin + h * speed + c.shape[i].wider + c.shape[k].wider
        if not separated_pairs.is_separated(c, cw, i, k, band):
            count = pair_points(c, cw, i, k, band, scale(h, turn), points, count)
    return inner_points_dropped(c, cw, points, count)


@kernel
def pair_points(c, cw, i, k, band, turn, points, count):
    """Points of one pair of shapes, a = i and b = k, after those that are there;
    returns the new number. Surfaces that deform have theirs from ``surfaces``.

    Args:
        band: distance below which they are found [m].
        turn: of a as seen from b within the step [rad], a vector in the world.
    """
    s, t, x, y = c.shape[i], c.shape[k], cw.pose[i], cw.pose[k]
    before = count
    if t.kind == PLANE:
        if s.kind < PLANE:
            count = points_below(s, x, _plane(y), 1.0, (band, turn), c, cw, points, count)
    elif s.kind == PLANE:
        if t.kind < PLANE:
            back = scale(-1.0, turn)
            count = points_below(t, y, _plane(x), -1.0, (band, back), c, cw, points, count)
    elif t.kind == FIELD:
        if s.kind < PLANE:
            count = points_on(s, x, t, y, (band, turn), c, cw, points, count)
    elif s.kind < PLANE and t.kind < PLANE:
        cw.distance[0] = 0.0
        count = convex_points(s, x, t, y, band, c, cw, points, count)
        if count == before:
            separated_pairs.store_distance(c, cw, i, k, cw.distance[0])
    for e in range(before, min(count, points.shape[0])):
        row = points[e]
        row.a, row.b, row.shape_a, row.shape_b = s.body, t.body, i, k
    return count


@kernel(inline=True)
def _plane(x):
    """Normal and a point of a half-space."""
    R = x.rotation
    return (R[2], R[5], R[8]), load3(x.position)

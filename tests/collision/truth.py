"""Distances of points and triangles from solids, worked out plainly, for tests of surfaces."""

import itertools

import numpy as np
from scipy.spatial import ConvexHull


def to_triangles(q, corners):
    """Distance of a point from each triangle, shape (t, 3, 3): the best of its plane, where the
    foot is inside, and of its sides.
    """
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    best = np.min([to_segments(q, *x) for x in ((a, b), (b, c), (c, a))], axis=0)
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1)[:, None]
    inside = np.all(
        [
            np.einsum("ij,ij->i", np.cross(y - x, q - x), n) >= 0
            for x, y in ((a, b), (b, c), (c, a))
        ],
        axis=0,
    )
    return np.where(inside, np.abs(np.einsum("ij,ij->i", n, q - a)), best)


def to_segments(q, a, b):
    """Distance of points from segments, by broadcasting."""
    d = b - a
    s = np.clip(((q - a) * d).sum(-1) / (d * d).sum(-1), 0, 1)
    return np.linalg.norm(a + s[..., None] * d - q, axis=-1)


def between_segments(a, b, p, q):
    """Least distance of segments a b from segments p q, by broadcasting."""
    best = np.minimum.reduce(
        [to_segments(a, p, q), to_segments(b, p, q), to_segments(p, a, b), to_segments(q, a, b)]
    )
    d, g, w = b - a, q - p, p - a
    x = np.cross(d, g)
    xx = (x * x).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        s, t = (np.cross(w, g) * x).sum(-1) / xx, (np.cross(w, d) * x).sum(-1) / xx
        line = np.abs((w * x).sum(-1)) / np.sqrt(xx)
    inside = (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
    return np.where(inside, np.minimum(best, np.where(inside, line, np.inf)), best)


def pierced(a, b, corners):
    """Whether any segment a b passes through any triangle: volumes with its corners agree."""
    x, y, z = (corners[None, :, k] for k in range(3))
    a, b = a[:, None], b[:, None]

    def volume(p, q, r, s):
        return (np.cross(q - p, r - p) * (s - p)).sum(-1)

    sides = np.stack([volume(a, b, x, y), volume(a, b, y, z), volume(a, b, z, x)])
    around = (sides > 0).all(axis=0) | (sides < 0).all(axis=0)
    return bool((around & (volume(x, y, z, a) * volume(x, y, z, b) < 0)).any())


class Hull:
    """A convex polytope in the world: its triangles, edges and planes."""

    def __init__(self, points):
        hull = ConvexHull(points)
        self.points = points[hull.vertices]
        self.triangles = points[hull.simplices]
        self.planes = hull.equations
        edges = {
            tuple(sorted(e)) for s in hull.simplices for e in itertools.combinations(s.tolist(), 2)
        }
        ends = np.array(sorted(edges))
        self.a, self.b = points[ends[:, 0]], points[ends[:, 1]]

    def signed(self, q):
        """Signed distance of a point."""
        height = (self.planes[:, :3] @ q + self.planes[:, 3]).max()
        return height if height <= 0 else to_triangles(q, self.triangles).min()

    def apart(self, corners):
        """Least distance from triangles; 0 where it crosses one."""
        mesh = [(corners[:, k], corners[:, (k + 1) % 3]) for k in range(3)]
        if pierced(self.a, self.b, corners) or any(pierced(x, y, self.triangles) for x, y in mesh):
            return 0.0
        best = min(self.signed(x) for x in corners.reshape(-1, 3))
        best = min(best, *(to_triangles(q, corners).min() for q in self.points))
        for k in range(3):
            x, y = corners[:, k], corners[:, (k + 1) % 3]
            gaps = between_segments(x[:, None], y[:, None], self.a, self.b)
            best = min(best, gaps.min())
        return best


def outside_ellipsoid(h, q):
    """Signed distance of points from an ellipsoid along the axes, shape (…, 3): the multiplier of
    the nearest point, by halving.
    """
    h, y = np.asarray(h), np.maximum(np.abs(q), 1e-13)
    shift = h * h - h.min() ** 2
    low, high = np.zeros(y.shape[:-1]), np.linalg.norm(h * y, axis=-1) * 1.001
    for _ in range(100):
        middle = 0.5 * (low + high)
        more = ((h * y / (middle[..., None] + shift)) ** 2).sum(-1) > 1
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    x = h * h * y / (high[..., None] + shift)
    return np.linalg.norm(x - y, axis=-1) * np.sign(((y / h) ** 2).sum(-1) - 1)


def outside_cylinder(radius, length, q):
    """Signed distance of points from a cylinder along z, shape (…, 3)."""
    x, z = np.hypot(q[..., 0], q[..., 1]) - radius, np.abs(q[..., 2]) - length / 2
    out = np.hypot(np.maximum(x, 0), np.maximum(z, 0))
    return np.where(np.maximum(x, z) <= 0, np.maximum(x, z), out)


def least_over(corners, signed):
    """Least value of a convex function over triangles, by ever finer grids around the best place
    on each.
    """
    shares = np.array([(i, j, 6 - i - j) for i in range(7) for j in range(7 - i)], float) / 6
    count = np.arange(len(corners))
    middle, size = np.full((len(corners), 3), 1 / 3), 1.0
    for _ in range(60):
        w = np.clip(middle[:, None] + size * (shares - 1 / 3), 0, None)
        w = np.concatenate([w, middle[:, None]], axis=1)
        w /= w.sum(axis=-1, keepdims=True)
        values = signed(np.einsum("tij,tjk->tik", w, corners))
        best = values.argmin(axis=1)
        middle, size = w[count, best], 0.7 * size
        # triangles that cannot hold the best any more
        kept = values.min(axis=1) - 0.05 * size < values.min()
        corners, middle, count = corners[kept], middle[kept], count[: kept.sum()]
    return values.min()

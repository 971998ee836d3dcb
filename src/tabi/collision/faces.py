"""The face along which two convex shapes are farthest apart.

    σ = max over faces of both of separation(n)                                              (1)
is a bound of the distance, and the distance itself where the nearest points lie under that face.
Things that lie on things are all like that, and the normals come straight from the tables; whatever
else is left to the general way.
"""

import math

from tabi.collision.arrays import BOX, CYLINDER, POLYTOPE
from tabi.collision.support import local_support
from tabi.jit import kernel
from tabi.spatial.vector import dot, load3, load9, mul, mul_t, scale, sub

MOST_WORK = 4096  # products of faces and corners that are worth trying


@kernel
def closest_face(s, x, t, y, limit, c):
    """(worth trying, σ, n from t to s) of two convex shapes;
    ends early where a face has them farther apart than ``limit``.
    """
    work = (s.face_end - s.face) * (t.vertex_end - t.vertex + 1) + (t.face_end - t.face) * (
        s.vertex_end - s.vertex + 1
    )
    n = (0.0, 0.0, 1.0)
    if work > MOST_WORK:
        return False, 0.0, n
    radii = s.radius + t.radius
    best, m = _over(t, y, s, x, limit + radii, c.face, c.vertex)
    is_found, k = (
        _over(s, x, t, y, limit + radii, c.face, c.vertex)
        if best < limit + radii
        else (-math.inf, n)
    )
    # a tie belongs to t
    if is_found > best + 1e-9 * (s.reach + t.reach):
        best, m = is_found, scale(-1.0, k)
    return best > -math.inf, best - radii, m


@kernel
def _over(t, y, s, x, limit, face, vertex):
    """The face of t over which the core of s is farthest, and its outward normal in the world;
    any with more than ``limit`` will do.
    """
    R, Q = load9(x.rotation), load9(y.rotation)
    d = sub(load3(x.position), load3(y.position))
    best, normal = -math.inf, (0.0, 0.0, 1.0)
    if t.kind == BOX or t.kind == POLYTOPE:
        for k in range(t.face, t.face_end):
            n = mul(Q, load3(face[k].normal))
            # a face that looks away is hardly ever the farthest;
            # where it is, the general way finds it
            height = dot(n, d)
            if height < 0.0:
                continue
            far = mul_t(R, scale(-1.0, n))
            gap = height - dot(far, local_support(s, vertex, far)) - face[k].offset
            if gap > best:
                best, normal = gap, n
                if gap >= limit:
                    return best, normal
    elif t.kind == CYLINDER:
        n = (Q[2], Q[5], Q[8])
        if dot(n, d) < 0.0:
            n = scale(-1.0, n)
        far = mul_t(R, scale(-1.0, n))
        best, normal = dot(n, d) - dot(far, local_support(s, vertex, far)) - t.half[2], n
    return best, normal

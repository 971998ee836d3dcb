"""Rasterisation of triangles and planes: each pixel shows the nearest surface at its middle.

A corner with the camera's coordinates X to the right, Y up and Z ahead is seen at

    x = x₀ + f X/Z,    y = y₀ − f Y/Z                                                           (1)
and along a flat face one over the depth is linear in the picture,

    1/Z = 1/Z_a + g_x (x − x_a) + g_y (y − y_a)                                                 (2)
as of a plane n·X = −h that has the camera on the side of its normal n,

    1/Z = −(n_x (x − x₀)/f − n_y (y − y₀)/f + n_z) / h                                          (3)
Parts nearer than the near plane Z = N are clipped before (1): a triangle that crosses it becomes
one or two triangles beyond it. Back faces are skipped, so that a camera inside a robot's head sees
out of it.

A row of a triangle is the interval between its downward edges, on the left, and its upward edges,
on the right; it is slightly widened, so that there is no gap between two triangles that share an
edge.

Reference: Pineda, "A parallel algorithm for polygon rasterization", SIGGRAPH 1988, for (2).
"""

import math

from tabi.jit import kernel

# object in a pixel: the number of a triangle, or the background; planes have two numbers each: in
# the light, and in the shadow
BACKGROUND, FIRST_PLANE = -1, -2
# distance of the near plane [m]; overlap of triangles in pixels
NEAR_PLANE, OVERLAP = 0.01, 1e-7


@kernel
def fill(nearest, object_id, corners, owner, poses, lens, lit, shaded):
    """Draw triangles into the buffers.

    Args:
        nearest: inverse depth of the object in each sample [1/m], shape (height, width).
        object_id: its number, of the same shape.
        corners: in the frames of their bodies [m], outward, shape (n, 3, 3).
        owner: body of each. poses: the camera's coordinates of each body, R and then p, shape
            (bodies, 12).
        lens: f, x₀, y₀ in pixels.
        lit: object to be replaced by ``shaded`` where the triangles cover it, for shadows;
            BACKGROUND to draw the triangles themselves.
    """
    for i in range(corners.shape[0]):
        pose = poses[owner[i]]
        a = to_camera(pose, corners[i, 0])
        b = to_camera(pose, corners[i, 1])
        c = to_camera(pose, corners[i, 2])
        number = i if lit == BACKGROUND else shaded
        beyond = (a[2] >= NEAR_PLANE) + (b[2] >= NEAR_PLANE) + (c[2] >= NEAR_PLANE)
        if beyond == 3:
            fill_one(nearest, object_id, a, b, c, lens, lit, number)
        elif beyond == 2:
            # the clipped corner first
            if not b[2] >= NEAR_PLANE:
                a, b, c = b, c, a
            elif not c[2] >= NEAR_PLANE:
                a, b, c = c, a, b
            ab, ac = cut(a, b), cut(a, c)
            fill_one(nearest, object_id, ab, b, c, lens, lit, number)
            fill_one(nearest, object_id, ab, c, ac, lens, lit, number)
        elif beyond == 1:
            # the only visible corner first
            if b[2] >= NEAR_PLANE:
                a, b, c = b, c, a
            elif c[2] >= NEAR_PLANE:
                a, b, c = c, a, b
            fill_one(nearest, object_id, a, cut(b, a), cut(c, a), lens, lit, number)


@kernel
def to_camera(pose, corner):
    """Return a corner in the camera's coordinates."""
    x, y, z = corner[0], corner[1], corner[2]
    return (
        pose[0] * x + pose[1] * y + pose[2] * z + pose[9],
        pose[3] * x + pose[4] * y + pose[5] * z + pose[10],
        pose[6] * x + pose[7] * y + pose[8] * z + pose[11],
    )


@kernel
def cut(a, b):
    """Return the intersection of the edge from a, which is too near, to b with the near plane."""
    s = (NEAR_PLANE - a[2]) / (b[2] - a[2])
    return (a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), NEAR_PLANE)


@kernel
def fill_one(nearest, object_id, a, b, c, lens, lit, number):
    """Draw a triangle that is beyond the near plane, its corners in the camera's coordinates."""
    height, width = nearest.shape
    f, x0, y0 = lens
    ka, kb, kc = 1.0 / a[2], 1.0 / b[2], 1.0 / c[2]
    ax, ay = x0 + f * a[0] * ka, y0 - f * a[1] * ka
    bx, by = x0 + f * b[0] * kb, y0 - f * b[1] * kb
    cx, cy = x0 + f * c[0] * kc, y0 - f * c[1] * kc
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    # rows whose middle it covers, and range of columns
    low = max(0.0, math.ceil(min(ay, by, cy) - 0.5 - OVERLAP))
    high = min(height - 1.0, math.floor(max(ay, by, cy) - 0.5 + OVERLAP))
    left, right = max(0.5, min(ax, bx, cx)), min(width - 0.5, max(ax, bx, cx))
    # a back face, seen edge-on, outside, or NaN
    if not (area < 0.0 and low <= high and left <= right + OVERLAP):
        return
    # (2)
    gx = ((kb - ka) * (cy - ay) - (kc - ka) * (by - ay)) / area
    gy = ((kc - ka) * (bx - ax) - (kb - ka) * (cx - ax)) / area
    least, most = min(ka, kb, kc), max(ka, kb, kc)
    # columns per row along the edges; unused for horizontal ones
    ab = (bx - ax) / (by - ay) if by != ay else 0.0
    bc = (cx - bx) / (cy - by) if cy != by else 0.0
    ca = (ax - cx) / (ay - cy) if ay != cy else 0.0
    for row in range(int(low), int(high) + 1):
        y = row + 0.5
        begin, end = left, right
        begin, end = between(begin, end, by - ay, ax + ab * (y - ay))
        begin, end = between(begin, end, cy - by, bx + bc * (y - by))
        begin, end = between(begin, end, ay - cy, cx + ca * (y - cy))
        if not begin <= end + 2.0 * OVERLAP:
            continue
        first, last = math.ceil(begin - 0.5 - OVERLAP), math.floor(end - 0.5 + OVERLAP)
        first, last = max(0, int(first)), min(width - 1, int(last))
        start = ka + gx * (0.5 - ax) + gy * (y - ay)
        for column in range(first, last + 1):
            if lit != BACKGROUND:
                if object_id[row, column] == lit:
                    object_id[row, column] = number
                continue
            near = min(max(start + gx * column, least), most)
            if near > nearest[row, column]:
                nearest[row, column] = near
                object_id[row, column] = number


@kernel
def between(begin, end, down, edge):
    """Return an interval of a row, clipped by an edge that goes down by so many rows, or up."""
    if down > 0.0:
        begin = max(begin, edge)
    elif down < 0.0:
        end = min(end, edge)
    return begin, end


@kernel
def fill_plane(nearest, object_id, slope, number):
    """Draw an infinite plane, by (3).

    Args:
        slope: inverse depth in the upper left corner of the picture, and its change per column
            and per row.
    """
    at, gx, gy = slope
    height, width = nearest.shape
    for row in range(height):
        start = at + gy * (row + 0.5) + 0.5 * gx
        for column in range(width):
            near = start + gx * column
            if near > nearest[row, column] and near * NEAR_PLANE <= 1.0:
                nearest[row, column] = near
                object_id[row, column] = number

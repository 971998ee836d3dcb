"""Cells and triangles of a height field, in its own frame.

A cell (i, j) spans the grid points i, i + 1 along x and j, j + 1 along y. Its diagonal from (i, j)
parts it into a lower triangle, towards +x, and an upper one, towards +y.
"""

import math

from tabi.jit import kernel
from tabi.spatial.vector import cross, dot, scale, sub

# share of a cell that a fold too flat for a ridge may leave between the feet on both of its sides
CELL_TOLERANCE = 1e-4


@kernel(inline=True)
def place_on_grid(f, p):
    """Place of a point, counted in cells from the field's first corner."""
    return (p[0] / f.half[0] + 1.0) * 0.5 * (f.columns - 1), (p[1] / f.half[1] + 1.0) * 0.5 * (
        f.rows - 1
    )


@kernel(inline=True)
def cell(f, u, v):
    """The cell at a place, or the one at the border nearest to it."""
    # on a GPU floor is a real number
    i, j = int(math.floor(u)), int(math.floor(v))  # noqa: RUF046
    return min(max(i, 0), f.columns - 2), min(max(j, 0), f.rows - 2)


@kernel
def grid_point(f, height, i, j):
    """A point of the grid [m]."""
    x, y = f.half[0] * (2.0 * i / (f.columns - 1) - 1.0), f.half[1] * (2.0 * j / (f.rows - 1) - 1.0)
    return (x, y, height[f.vertex + j * f.columns + i])


@kernel
def triangle(f, height, i, j, upper):
    """Unit normal and a corner of a triangle of a cell."""
    o = grid_point(f, height, i, j)
    e = sub(grid_point(f, height, i + 1, j + 1), o)
    d = (
        sub(grid_point(f, height, i, j + 1), o)
        if upper
        else sub(grid_point(f, height, i + 1, j), o)
    )
    n = cross(e, d) if upper else cross(d, e)
    return scale(1.0 / math.sqrt(dot(n, n)), n), o


@kernel
def over_triangle(f, i, j, upper, p):
    """Whether a point lies over a triangle."""
    return near_triangle(f, i, j, upper, p, CELL_TOLERANCE)


@kernel
def near_triangle(f, i, j, upper, p, beside):
    """Whether a point lies over a triangle, or at most ``beside`` cells from it."""
    u, v = place_on_grid(f, p)
    u, v = u - i, v - j
    if upper:
        return u >= -beside and v <= 1.0 + beside and v >= u - beside
    return v >= -beside and u <= 1.0 + beside and v <= u + beside


@kernel
def shares_edge(i, j, under, column, row, upper):
    """Whether two triangles, (i, j, under) and (column, row, upper), share an edge."""
    if upper == under:
        return False
    # across the diagonal, across the edge along x, across the edge along y
    back = 1 if under else -1
    return (
        (column == i and row == j)
        or (column == i and row == j + back)
        or (column == i - back and row == j)
    )


@kernel
def normal_under(f, height, q):
    """Normal of the triangle under a point, or of the one at the border nearest to it."""
    u, v = place_on_grid(f, q)
    i, j = cell(f, u, v)
    n, _ = triangle(f, height, i, j, v - j > u - i)
    return n

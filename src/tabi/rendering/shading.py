"""Shading: colours of visible objects, and smooth edges.

A triangle of the colour C and the normal n is lit by the sky, from above more than from below, and
by the sun s, in one shade:

    C (0.45 + 0.09 (1 + n_z) + 0.5 max(0, n·s))                                                 (1)
A plane has lines every half metre. A pixel covers the length d of the plane along one of its axes;
the part of it that a line of the width w covers, whose middle is the distance e away, is

    min(w, d, ½ (w + d) − e) / d,    or w / cell where the pixel is wider than a cell           (2)
so that far lines are neither jagged nor lost. With distance the ground fades to the colour of the
sky. A pixel is the mean of its samples.
"""

import math

from tabi.jit import kernel
from tabi.rendering.raster import BACKGROUND, FIRST_PLANE

# distance and width of lines on the ground [m], and distance at which it has faded by half [m]
CELL, WIDTH, FADE_DISTANCE = 0.5, 0.012, 25.0


@kernel
def shade(colors, normals, owner, turns, sun, shades):
    """Compute the colours of triangles by (1), 0 to 255.

    Args:
        colors, normals: shape (n, 3); normals in the frames of their bodies, ``owner``.
        turns: R of each body, shape (bodies, 3, 3). sun: unit vector to it. shades: result (n, 3).
    """
    for i in range(len(owner)):
        R = turns[owner[i]]
        nx, ny, nz = normals[i, 0], normals[i, 1], normals[i, 2]
        x = R[0, 0] * nx + R[0, 1] * ny + R[0, 2] * nz
        y = R[1, 0] * nx + R[1, 1] * ny + R[1, 2] * nz
        z = R[2, 0] * nx + R[2, 1] * ny + R[2, 2] * nz
        light = 0.45 + 0.09 * (1.0 + z) + 0.5 * max(0.0, x * sun[0] + y * sun[1] + z * sun[2])
        for k in range(3):
            shades[i, k] = min(255.0, max(0.0, 255.0 * light * colors[i, k]))


@kernel
def paint(pixels, object_id, shades, grounds, tones, middle):
    """Compute the colours of a picture, shape (height, width, 3), from its samples.

    Args:
        object_id: numbers of ``raster`` in samples; as many in a pixel's height as in its width.
        shades: colours of triangles.
        grounds: for each plane its two coordinates times k = 1/depth, and k itself, in samples: at
            the upper left corner, per column and per row; shape (planes, 3, 3).
        tones: colours of sky, ground, its shadow, lines, and these in the shadow, shape (5, 3).
        middle: 0.5 × samples in a pixel's height.
    """
    height, width = pixels.shape[0], pixels.shape[1]
    over = object_id.shape[0] // height
    for row in range(height):
        for column in range(width):
            first = object_id[over * row, over * column]
            same = True
            for i in range(over):
                for j in range(over):
                    same &= object_id[over * row + i, over * column + j] == first
            x, y = over * column + middle, over * row + middle
            if same:
                seen = color_of(first, x, y, over, shades, grounds, tones)
            else:
                r = g = b = 0.0
                for i in range(over):
                    for j in range(over):
                        number = object_id[over * row + i, over * column + j]
                        at = over * column + j + 0.5, over * row + i + 0.5
                        tone = color_of(number, at[0], at[1], over, shades, grounds, tones)
                        r, g, b = r + tone[0], g + tone[1], b + tone[2]
                n = 1.0 * over * over
                seen = (r / n, g / n, b / n)
            pixels[row, column, 0] = int(seen[0] + 0.5)
            pixels[row, column, 1] = int(seen[1] + 0.5)
            pixels[row, column, 2] = int(seen[2] + 0.5)


@kernel
def color_of(number, x, y, over, shades, grounds, tones):
    """Return the colour of an object by its number, at a position in the picture."""
    if number >= 0:
        return (1.0 * shades[number, 0], 1.0 * shades[number, 1], 1.0 * shades[number, 2])
    if number == BACKGROUND:
        return (tones[0, 0], tones[0, 1], tones[0, 2])
    plane, dark = (FIRST_PLANE - number) // 2, (FIRST_PLANE - number) % 2
    kx, ky = grounds[plane, 2, 1], grounds[plane, 2, 2]
    k = grounds[plane, 2, 0] + kx * x + ky * y
    if not k > 0.0:
        return (tones[0, 0], tones[0, 1], tones[0, 2])
    depth, lined = 1.0 / k, 0.0
    for axis in range(2):
        ux, uy = grounds[plane, axis, 1], grounds[plane, axis, 2]
        at = (grounds[plane, axis, 0] + ux * x + uy * y) * depth
        d = over * depth * (abs(ux - at * kx) + abs(uy - at * ky))
        lined = max(lined, line(at, d))
    pale = depth / (depth + FADE_DISTANCE)
    return (
        mixed(tones, 0, dark, lined, pale),
        mixed(tones, 1, dark, lined, pale),
        mixed(tones, 2, dark, lined, pale),
    )


@kernel
def line(at, d):
    """Return the share of a pixel that a line covers, by (2); the pixel is at a coordinate of the
    plane, and d wide.
    """
    if d >= CELL:
        return WIDTH / CELL
    away = abs(at - CELL * math.floor(at * (1.0 / CELL) + 0.5))
    covered = min(WIDTH, d, 0.5 * (WIDTH + d) - away)
    # mostly 0
    return covered / d if covered > 0.0 else 0.0


@kernel
def mixed(tones, k, dark, lined, pale):
    """Return red, green or blue of the ground, mixed from ground or shadow, a line, and the sky."""
    plain = tones[1 + dark, k]
    # a line in the shadow is darker, too
    plain -= lined * (plain - tones[3 + dark, k])
    return plain + pale * (tones[0, k] - plain)

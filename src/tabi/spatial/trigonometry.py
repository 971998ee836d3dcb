"""Sine and cosine together, without a call into the C library.

x = k π/2 + r with |r| ≤ π/4; π/2 is subtracted in three parts, so that k times each is exact
(Cody and Waite); the polynomials in r² are those of fdlibm. Error below 1 unit in the last place
for |x| < 10⁵; beyond that the library's functions take over.
"""

from math import cos, floor, sin

from tabi.jit import kernel


@kernel(exact=True)
def sincos(x):
    """(sin x, cos x)."""
    if not (-1e5 < x < 1e5):
        return sin(x), cos(x)
    k = floor(x * 0.6366197723675814 + 0.5)
    r = ((x - k * 1.5707963267341256) - k * 6.077100506303966e-11) - k * 2.0222662487959506e-21
    z = r * r
    s = 2.75573137070700676789e-06 + z * (
        -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    )
    s = -1.66666666666666324348e-01 + z * (
        8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * s)
    )
    s = r + r * z * s
    c = -2.75573143513906633035e-07 + z * (
        2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
    )
    c = 4.16666666666666019037e-02 + z * (
        -1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * c)
    )
    c = 1.0 - 0.5 * z + z * z * c
    # quarter turns: swap for odd k, then signs
    quarter = k - 4.0 * floor(0.25 * k)
    odd = quarter == 1.0 or quarter == 3.0
    a, b = (c, s) if odd else (s, c)
    return (-a if quarter >= 2.0 else a), (-b if quarter == 1.0 or quarter == 2.0 else b)

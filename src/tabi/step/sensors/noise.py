"""Random numbers that depend on nothing but their place: Philox 4×32, ten rounds.

A counter of four words and a key of two are mixed by multiplications; what comes out is the same in
any order, on any machine, and nothing is kept from draw to draw. Two words make two normal numbers
(Box and Muller):

    N₁ = √(−2 ln u₁) cos 2π u₂,   N₂ = √(−2 ln u₁) sin 2π u₂                                    (1)

Reference: Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011).
"""

from math import log, pi, sqrt

from tabi.jit import kernel
from tabi.spatial.trigonometry import sincos

WORD = 0xFFFFFFFF
# multipliers, and what is added to the key in each round
FIRST, SECOND = 0xD2511F53, 0xCD9E8D57
STEP_FIRST, STEP_SECOND = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10


@kernel(inline=True)
def _product(a, b):
    """High and low word of a product of two words; its 64 bits are right also as a signed one."""
    both = a * b
    return (both >> 32) & WORD, both & WORD


@kernel
def philox(a, b, c, d, key, other):
    """Four random words from a counter of four and a key of two."""
    for _ in range(ROUNDS):
        (high_a, low_a), (high_c, low_c) = _product(FIRST, a), _product(SECOND, c)
        a, b, c, d = high_c ^ b ^ key, low_c, high_a ^ d ^ other, low_a
        key, other = (key + STEP_FIRST) & WORD, (other + STEP_SECOND) & WORD
    return a, b, c, d


@kernel
def four_normals(seed, world, sensor, sample, draw):
    """Equation (1) twice, keyed by all five whole numbers."""
    a, b, c, d = philox(
        sample & WORD, (sample >> 32) & WORD, sensor & WORD, draw, seed & WORD, world & WORD
    )
    x, y = _box_muller(a, b)
    z, w = _box_muller(c, d)
    return x, y, z, w


@kernel(inline=True)
def _box_muller(a, b):
    # u₁ in (0, 1), never 0
    size = sqrt(-2.0 * log((a + 0.5) / 4294967296.0))
    s, c = sincos(2.0 * pi * (b / 4294967296.0))
    return size * c, size * s

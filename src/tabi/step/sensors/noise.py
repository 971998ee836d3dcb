"""Counter-based random numbers: Philox 4×32, ten rounds.

A counter of four words and a key of two are mixed by multiplications; the result is the same in any
order and on any machine, and has no state. Two words make two normal numbers
(Box and Muller):

    N₁ = √(−2 ln u₁) cos 2π u₂,   N₂ = √(−2 ln u₁) sin 2π u₂                                    (1)

Reference: Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011).
"""

from math import log, pi, sqrt

from tabi.jit import kernel
from tabi.spatial.trigonometry import sincos

WORD = 0xFFFFFFFF
# multipliers, and increments of the key in each round
FIRST_MULTIPLIER, SECOND_MULTIPLIER = 0xD2511F53, 0xCD9E8D57
FIRST_KEY_STEP, SECOND_KEY_STEP = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10


@kernel(inline=True)
def _product(a, b):
    """Return high and low word of a product of two words, correct also in signed 64 bits."""
    both = a * b
    return (both >> 32) & WORD, both & WORD


@kernel
def philox(a, b, c, d, key, other):
    """Return four random words from a counter of four and a key of two."""
    for _ in range(ROUNDS):
        (high_a, low_a), (high_c, low_c) = (
            _product(FIRST_MULTIPLIER, a),
            _product(SECOND_MULTIPLIER, c),
        )
        a, b, c, d = high_c ^ b ^ key, low_c, high_a ^ d ^ other, low_a
        key, other = (key + FIRST_KEY_STEP) & WORD, (other + SECOND_KEY_STEP) & WORD
    return a, b, c, d


@kernel
def four_normals(seed, world, sensor, sample, draw):
    """Return four normal numbers by (1), keyed by five whole numbers."""
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

"""Random numbers by counter (``tabi.step.sensors.noise``): known answers, and normal ones."""

import numpy as np
import pytest

from tabi.step.sensors.noise import four_normals, philox

FULL = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        # of the authors' own test vectors, philox4x32 with ten rounds
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((FULL,) * 4, (FULL, FULL), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_words_are_those_of_the_authors(counter, key, words):
    assert philox(*counter, *key) == words


def test_draws_are_normal_and_differ_by_every_number_of_their_key():
    drawn = np.array([four_normals(1, 2, 3, k, 0) for k in range(20000)])
    # four standard errors
    assert np.abs(drawn.mean(axis=0)).max() < 4 / np.sqrt(20000)
    assert np.abs(drawn.var(axis=0) - 1).max() < 4 * np.sqrt(2 / 20000)
    together = np.corrcoef(drawn.T) - np.eye(4)
    assert np.abs(together).max() < 4 / np.sqrt(20000)
    assert np.abs((drawn**4).mean(axis=0) - 3).max() < 4 * np.sqrt(96 / 20000)
    one = four_normals(1, 2, 3, 4, 5)
    others = [(9, 2, 3, 4, 5), (1, 9, 3, 4, 5), (1, 2, 9, 4, 5), (1, 2, 3, 9, 5), (1, 2, 3, 4, 9)]
    assert all(four_normals(*key) != one for key in [*others, (1, 2, 3, 4 + 2**33, 5)])

"""The cone of a ball: its derivatives by differences, and its edge."""

import numpy as np
import pytest

from tabi.contact.interior import interior_ball


@pytest.mark.parametrize("seed", range(5))
def test_matrices_are_the_derivatives_with_the_head_put_in(seed):
    rng = np.random.default_rng(seed)
    R, head, (l, u), centre = 2.0, 3.0, rng.normal(size=(2, 3)), 0.4
    A, B, g = interior_ball.matrices(R, tuple(l), tuple(u), head)
    f, F = interior_ball.missing(R, tuple(l), tuple(u), head, centre)
    dl, du, dR = *rng.normal(size=(2, 3)), rng.normal()
    dhead = (f - head * dR - l @ du - u @ dl) / R

    def lacks(e):
        first, others = interior_ball.missing(
            R + e * dR, tuple(l + e * dl), tuple(u + e * du), head + e * dhead, centre
        )
        return np.array((first, *others))

    slope = (lacks(1e-6) - lacks(-1e-6)) / 2e-6
    # the first of both equations is met by the step of the head
    assert slope[0] == pytest.approx(-f, abs=1e-8)
    moved = np.reshape(A, (3, 3)) @ dl + np.reshape(B, (3, 3)) @ du + dR * np.array(g)
    expected = np.array(F) - f * l / R
    assert moved - expected == pytest.approx(-slope[1:] - np.array(F), abs=1e-8)
    second = interior_ball.product(dR, tuple(dl), tuple(du), dhead)
    beyond = lacks(1.0) - np.array((f, *F)) - slope
    assert beyond == pytest.approx(-np.array((second[0], *second[1])), abs=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_the_edge_is_where_the_impulse_is_as_long_as_the_radius(seed):
    rng = np.random.default_rng(seed)
    l, dl, R, dR = rng.uniform(-1, 1, 3), rng.normal(size=3), 2.0, rng.normal() * 2.0
    length = interior_ball.reach(R, dR, tuple(l), tuple(dl))
    steps = np.linspace(0.0, min(length, 50.0) * (1.0 - 1e-9), 50)
    assert all(np.linalg.norm(l + s * dl) <= R + s * dR for s in steps)
    if length < np.inf:
        assert np.linalg.norm(l + length * dl) == pytest.approx(R + length * dR)
    else:
        assert np.linalg.norm(dl) <= dR

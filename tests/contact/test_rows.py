"""Kinds of rows: each obeys its law, alone, in its projection and in its map for Newton."""

from math import sqrt

import numpy as np
import pytest
from contact.test_cone import symmetric

from tabi.contact import cone, maps, rows
from tabi.contact.certificate import defect

RNG = np.random.default_rng(11)
KINDS = (
    rows.CONTACT,
    rows.LIMITED,
    rows.BILATERAL,
    rows.BILATERAL_TWO,
    rows.IDLE,
    rows.SOFT,
)


def test_limited_rows_stay_in_their_ball_and_resist_what_moves():
    seen = set()
    for _ in range(1000):
        W, six = symmetric(RNG)
        radius, b = RNG.uniform(0, 3), RNG.normal(size=3)
        impulse, _ = rows.local(rows.LIMITED, six, 0.0, radius, tuple(b), 0.0)
        u, size = W @ impulse + b, np.linalg.norm(impulse)
        assert size <= radius * (1 + 1e-15)
        if size < radius * (1 - 1e-9):
            assert np.abs(u).max() < 1e-9
        else:
            # against the motion: λ = −R u/‖u‖
            np.testing.assert_allclose(
                np.linalg.norm(u) * np.array(impulse), -radius * u, atol=1e-10
            )
        seen.add(bool(size < radius * (1 - 1e-9)))
    assert seen == {True, False}
    assert rows.local(rows.LIMITED, six, 0.0, 0.0, (1.0, 2.0, 3.0), 0.0)[0] == (0.0, 0.0, 0.0)


def test_projection_on_a_ball_scales_what_is_outside():
    np.testing.assert_allclose(rows.project(rows.LIMITED, 0.0, 2.0, 0.0, 3.0, 4.0), (0.0, 1.2, 1.6))
    assert rows.project(rows.LIMITED, 0.0, 6.0, 0.0, 3.0, 4.0) == (0.0, 3.0, 4.0)


def test_rows_without_any_response_are_left_at_rest():
    # no torsional friction, or a body that cannot turn: W has empty rows
    impulse, _ = rows.local(
        rows.LIMITED, (2.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0.0, 1.0, (-1.0, 0.0, 0.0), 0.0
    )
    np.testing.assert_allclose(impulse, (0.5, 0.0, 0.0), atol=1e-11)


def test_bilateral_rows_stop_what_moves_all_three_or_the_first_two():
    for _ in range(200):
        W, six = symmetric(RNG)
        b = RNG.normal(size=3)
        all_three, _ = rows.local(rows.BILATERAL, six, 0.0, 0.0, tuple(b), 0.0)
        np.testing.assert_allclose(W @ all_three + b, 0.0, atol=1e-9)
        two, _ = rows.local(rows.BILATERAL_TWO, six, 0.0, 0.0, tuple(b), 0.0)
        np.testing.assert_allclose((W @ two + b)[:2], 0.0, atol=1e-9)
        assert two[2] == 0.0


def test_a_contact_is_the_cone_and_nothing_else():
    for _ in range(200):
        _, six = symmetric(RNG)
        x, mu = RNG.normal(size=3), RNG.uniform(0.1, 1.5)
        # the bound is of other kinds
        assert rows.project(rows.CONTACT, mu, 9.9, *x) == cone.project(mu, *x)
        assert rows.local(rows.CONTACT, six, mu, 9.9, tuple(x), 0.0) == cone.local(
            six, mu, tuple(x), 0.0
        )


@pytest.mark.parametrize("kind", KINDS)
def test_projections_change_nothing_twice_and_are_nearest(kind):
    for _ in range(300):
        x, mu, bound = RNG.normal(size=3), RNG.uniform(0.1, 1.5), RNG.uniform(0.1, 2.0)
        p = np.array(rows.project(kind, mu, bound, *x))
        np.testing.assert_allclose(rows.project(kind, mu, bound, *p), p, atol=1e-14)
        for _ in range(5):
            other = np.array(rows.project(kind, mu, bound, *RNG.normal(size=3)))
            assert np.linalg.norm(x - p) <= np.linalg.norm(x - other) + 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_map_certificate_and_solution_of_a_kind_agree(kind):
    # the exact solution alone has no defect, and every form of the map vanishes there
    for _ in range(100):
        W, six = symmetric(RNG)
        mu = RNG.uniform(0.1, 1.5) if kind == rows.CONTACT else 0.0
        bound, b = RNG.uniform(0.1, 2.0), RNG.normal(size=3)
        impulse, _ = rows.local(kind, six, mu, bound, tuple(b), 0.0)
        u, rho = tuple(W @ impulse + b), 3.0 / (W[0, 0] + W[1, 1] + W[2, 2])
        scale = sqrt(float(b @ b))
        assert defect(kind, mu, bound, rho, u, impulse) < 1e-8 * rho * scale
        for form in (maps.ALART_CURNIER, maps.JEAN_MOREAU, maps.NATURAL):
            F, _, _ = rows.newton_map(kind, form, mu, bound, rho, u, impulse)
            np.testing.assert_allclose(F, 0.0, atol=1e-8 * scale)


def test_soft_rows_press_and_give_way():
    for _ in range(200):
        W, six = symmetric(RNG)
        b, give = RNG.normal(size=3), float(RNG.uniform(0.01, 2.0))
        impulse, _ = rows.local(rows.SOFT, six, 0.0, give, tuple(b), 0.0)
        x, y, n = impulse
        slack = (W @ impulse + b)[2] + give * n
        assert x == y == 0.0
        assert min(n, slack) == pytest.approx(0.0, abs=1e-12)
        assert defect(rows.SOFT, 0.0, give, 1.0, tuple(W @ impulse + b), impulse) < 1e-12


def test_idle_rows_have_no_impulse_whatever_they_do():
    _, six = symmetric(RNG)
    assert rows.local(rows.IDLE, six, 0.5, 1.0, (-1.0, 2.0, -3.0), 0.0)[0] == (0.0, 0.0, 0.0)
    assert defect(rows.IDLE, 0.5, 1.0, 2.0, (-1.0, 2.0, -3.0), (0.0, 0.0, 0.0)) == 0.0
    assert defect(rows.IDLE, 0.5, 1.0, 2.0, (0.0, 0.0, 0.0), (0.0, 3.0, 4.0)) == 5.0

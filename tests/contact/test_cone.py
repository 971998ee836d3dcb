"""The cone and one contact: projections, exact answers, the same in every direction."""

import numpy as np
import pytest

from tabi.contact import cone

RNG = np.random.default_rng(0)


def symmetric(rng, coupling=0.5):
    L = rng.normal(size=(3, 3)) * coupling
    W = L @ L.T + np.diag(rng.uniform(0.5, 2.0, 3))
    return W, tuple(W[np.triu_indices(3)])


def test_projection_is_in_the_cone_and_its_difference_in_the_polar_cone():
    for _ in range(500):
        mu, x = RNG.uniform(0, 2), RNG.normal(size=3)
        p = np.array(cone.project(mu, *x))
        r = p - x
        assert np.hypot(p[0], p[1]) <= mu * p[2] + 1e-15
        # Moreau: x = P_K(x) − P_K*(−x), orthogonal, with K* = {μ‖r_t‖ ≤ r_n}
        assert mu * np.hypot(r[0], r[1]) <= r[2] + 1e-14
        assert abs(p @ r) < 1e-14


def test_projection_on_a_cone_without_friction_keeps_the_normal_part():
    assert cone.project(0.0, 1.0, -2.0, 3.0) == (0.0, 0.0, 3.0)
    assert cone.project(0.0, 1.0, -2.0, -3.0) == (0.0, 0.0, 0.0)
    assert cone.project(0.0, 0.0, 0.0, -3.0) == (0.0, 0.0, 0.0)


def check_law(W, b, mu, impulse):
    """One contact obeys Signorini and Coulomb to rounding."""
    l, u = np.array(impulse), W @ impulse + b
    scale = np.abs(b).max()
    assert l[2] >= 0
    assert u[2] >= -1e-13 * scale
    assert abs(l[2] * u[2]) <= 1e-12 * scale
    slip = np.hypot(u[0], u[1])
    assert np.hypot(l[0], l[1]) <= mu * l[2] * (1 + 1e-13) + 1e-16
    if slip > 1e-9 * scale:
        assert np.allclose(l[:2], -mu * l[2] * u[:2] / slip, atol=1e-9 * scale)


def test_one_contact_obeys_the_law_whatever_happens():
    seen = set()
    for _ in range(2000):
        W, six = symmetric(RNG)
        mu, b = RNG.uniform(0, 1.5), RNG.normal(size=3)
        impulse, alpha = cone.local(six, mu, tuple(b), 0.0)
        check_law(W, b, mu, impulse)
        seen.add("open" if b[2] >= 0 else "slip" if alpha > 0 else "stick")
    assert seen == {"open", "stick", "slip"}


@pytest.mark.parametrize("guess", [0.0, 1e-12, 1.0, 1e12])
def test_the_answer_does_not_depend_on_the_guess(guess):
    W, six = symmetric(np.random.default_rng(3))
    b = (1.0, -2.0, -0.5)
    expected, _ = cone.local(six, 0.3, b, 0.0)
    assert np.allclose(cone.local(six, 0.3, b, guess)[0], expected, rtol=1e-12)
    check_law(W, b, 0.3, expected)


def test_a_point_mass_slips_with_mu_times_its_normal_impulse():
    # W = 1/m: λ_n = m v, and the friction impulse is μ λ_n against the motion
    m, v, mu = 2.0, 0.5, 0.3
    impulse, alpha = cone.local((1 / m, 0, 0, 1 / m, 0, 1 / m), mu, (3.0, 4.0, -v), 0.0)
    assert np.allclose(impulse, (-0.6 * mu * m * v, -0.8 * mu * m * v, m * v), rtol=1e-14)
    assert alpha > 0


def test_a_contact_without_friction_gets_a_normal_impulse_only():
    impulse, _ = cone.local((1.0, 0.1, 0.2, 1.0, 0.1, 2.0), 0.0, (1.0, 1.0, -1.0), 0.0)
    assert np.allclose(impulse, (0.0, 0.0, 0.5), atol=1e-12)


def test_slip_begins_at_the_same_push_in_every_direction():
    # a facetted cone would differ by 8 % with eight sides; the exact one by rounding
    m, v, mu = 1.0, 1.0, 0.5
    for angle in np.linspace(0, 2 * np.pi, 37):
        for size, slips in ((mu * v * (1 - 1e-12), False), (mu * v * (1 + 1e-12), True)):
            b = (size * np.cos(angle), size * np.sin(angle), -v)
            assert (cone.local((1 / m, 0, 0, 1 / m, 0, 1 / m), mu, b, 0.0)[1] > 0) == slips

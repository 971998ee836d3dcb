"""The linear inverted pendulum: its law, its conserved quantity, and the mode that grows."""

import numpy as np
import pytest

import tabi
from tabi.walking.plan.pendulum import LinearPendulum

# cosh of ω t ≈ 3 is 10: rounding grows by it
ROUNDING = 1e-13


def test_the_closed_form_obeys_its_differential_equation():
    p, h = LinearPendulum(0.8), 1e-4
    x, v, pivot = np.array([0.05, -0.02]), np.array([0.3, 0.1]), np.array([0.01, 0.02])
    for t in (0.1, 0.4, 0.9):
        (a, _), (b, speed), (c, _) = (p.after(t + s, x, v, pivot) for s in (-h, 0.0, h))
        # central differences: truncation h² ω⁴ x / 12
        assert np.allclose((a - 2 * b + c) / h**2, p.omega**2 * (b - pivot), atol=1e-6)
        assert np.allclose((c - a) / (2 * h), speed, atol=1e-7)


def test_orbital_energy_stays_and_pieces_join():
    p = LinearPendulum(0.7)
    x, v, pivot = np.array([0.1]), np.array([-0.5]), np.array([0.02])
    energy = p.orbital_energy(x, v, pivot)
    for t in (0.2, 0.5, 0.8):
        assert np.allclose(p.orbital_energy(*p.after(t, x, v, pivot), pivot), energy, atol=ROUNDING)
    halfway = p.after(0.3, x, v, pivot)
    assert np.allclose(p.after(0.2, *halfway, pivot), p.after(0.5, x, v, pivot), atol=ROUNDING)


def test_pressing_on_the_capture_point_brings_it_to_rest_there():
    p = LinearPendulum(0.8)
    x, v = np.array([0.1, 0.0]), np.array([0.4, -0.2])
    xi = p.capture_point(x, v)
    place, speed = p.after(3.0, x, v, xi)
    left = np.exp(-3.0 * p.omega) * np.abs(x - xi).max()
    assert np.abs(place - xi).max() < 1.01 * left + 1e-12
    assert np.abs(speed).max() < 1.01 * p.omega * left + 1e-12


def test_the_capture_point_grows_away_from_the_pivot():
    p = LinearPendulum(0.8)
    x, v, pivot = np.array([0.1]), np.array([0.2]), np.array([0.03])
    xi = p.capture_point(x, v)
    later = p.capture_point(*p.after(0.4, x, v, pivot))
    assert np.allclose(later - pivot, (xi - pivot) * np.exp(0.4 * p.omega), atol=ROUNDING)


def test_a_velocity_is_found_that_leads_from_place_to_place():
    p = LinearPendulum(0.8)
    a, b, pivot = np.array([-0.1, 0.05]), np.array([0.1, 0.05]), np.array([0.0, 0.02])
    v = p.velocity_between(0.8, a, b, pivot)
    assert np.allclose(p.after(0.8, a, v, pivot)[0], b, atol=ROUNDING)
    # symmetric about the pivot: the same speed in the end
    assert np.allclose(p.after(0.8, a, v, pivot)[1][0], v[0], atol=ROUNDING)


def test_on_a_slope_the_mass_keeps_to_its_plane_and_moves_as_on_the_level():
    level, sloped = LinearPendulum(0.8), LinearPendulum(0.8, (0.1, -0.05))
    x, v = np.array([0.1, 0.2]), np.array([0.3, 0.0])
    assert np.array_equal(level.after(0.5, x, v, (0, 0))[0], sloped.after(0.5, x, v, (0, 0))[0])
    assert np.allclose(sloped.place([[0.1, 0.2], [0.0, 0.0]]), [[0.1, 0.2, 0.8], [0, 0, 0.8]])
    # beside the weight there is the force of the leg alone, which is along the leg
    place = sloped.place(x)
    a = sloped.omega**2 * x
    up = a @ (0.1, -0.05) + 9.81
    assert np.allclose(np.cross(np.array([*a, up]), place), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LinearPendulum(0.0), "height of the pendulum is 0.0; expected a positive number"),
        (lambda: LinearPendulum(np.nan), "height of the pendulum is nan"),
        (lambda: LinearPendulum(0.8, gravity=-9.81), "gravity of the pendulum is -9.81"),
        (lambda: LinearPendulum(0.8, (np.inf, 0.0)), "slope of the pendulum"),
        (
            lambda: LinearPendulum(0.8).velocity_between(0.0, 0, 1, 0),
            "time between two places is 0.0 s",
        ),
    ],
)
def test_faults_are_named(call, words):
    with pytest.raises(tabi.ModelError, match=words):
        call()

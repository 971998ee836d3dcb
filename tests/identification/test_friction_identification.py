"""Friction from pulls (``tabi.identification.friction_identification``)."""

import numpy as np
import pytest

from tabi.identification.damped_oscillation import IdentificationError
from tabi.identification.friction_identification import breakaway, from_pulls, from_record

MU, NORMAL = 0.983, 120.0


def pull(rng=None, rate=20.0, drop=0.2):
    """A force that grows at a rate until the thing slips, and falls by a share then."""
    t = np.arange(0.0, 9.0, 5e-3)
    slips = 1.0 + MU * NORMAL / rate
    force = np.where(t < slips, rate * (t - 1.0).clip(0), (1 - drop) * MU * NORMAL)
    way = np.where(t < slips, 0.0, 0.5 * 0.3 * (t - slips) ** 2)
    if rng is not None:
        force = force + 0.8 * rng.normal(size=len(t))
        way = way + 2e-5 * rng.normal(size=len(t))
    return t, force, way, slips


def test_pulls_without_scatter_give_force_over_normal_force():
    normal = np.array([50.0, 100.0, 150.0])
    found = from_pulls(0.45 * normal, normal)
    assert found.friction.value == pytest.approx(0.45, rel=1e-12)
    assert found.r_squared == pytest.approx(1.0)
    assert found.pulls == 3


def test_intervals_of_many_pulls_hold_the_truth_in_90_of_100_trials():
    rng, held = np.random.default_rng(4), 0
    for _ in range(100):
        normal = rng.uniform(80, 160, 50)
        held += from_pulls(MU * normal * (1 + 0.05 * rng.normal(size=50)), normal).friction.holds(
            MU
        )
    assert 90 <= held <= 99


def test_the_moment_of_slipping_is_found_within_a_few_samples():
    rng = np.random.default_rng(7)
    t, _, way, slips = pull(rng)
    # a millimetre's fiftieth of noise: 6 σ of it are passed after √(2 · 1.2e-4/0.3) = 0.028 s
    assert abs(t[breakaway(way)] - slips) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("drop", [0.2, 0.0])
def test_intervals_of_a_recorded_pull_hold_the_truth_in_90_of_100_trials(drop):
    rng, held, found = np.random.default_rng(9), 0, []
    for _ in range(100):
        t, force, way, _ = pull(rng, drop=drop)
        one = from_record(t, force, way, NORMAL)
        held += one.friction.holds(MU)
        found.append(one.friction.value)
    assert held >= 90
    assert np.mean(found) == pytest.approx(MU, rel=5e-3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: from_pulls([1.0, 2.0], 0.0), "normal force is 0 N; expected positive"),
        (lambda: from_pulls([1.0, -2.0], 5.0), "force of pull 2 is -2 N"),
        (lambda: from_pulls([1.0], 5.0), "measured 1 time"),
        (lambda: from_record(*[np.arange(9.0)] * 3, 1.0), "has 9 samples; expected 30"),
        (
            lambda: from_record(np.arange(99.0), np.arange(99.0), np.zeros(99), 1.0),
            "expected a pull that ends in slipping",
        ),
    ],
)
def test_what_tells_no_friction_is_refused(call, words):
    with pytest.raises(IdentificationError, match=words):
        call()

"""Oscillations that are written down are found again, and as well as is said."""

import numpy as np
import pytest

from tabi.identification.damped_oscillation import IdentificationError, fit


def swing(t, decay=1.3, frequency=14.0, offset=-2.0, cosine=30.0, sine=8.0, creep=0.0, rate=9.0):
    turning = cosine * np.cos(frequency * t) + sine * np.sin(frequency * t)
    return offset + np.exp(-decay * t) * turning + creep * np.exp(-rate * t)


def coloured(rng, n, size, correlation):
    """First-order autoregressive noise of a standard deviation."""
    white = size * np.sqrt(1 - correlation**2) * rng.standard_normal(n)
    noise = np.empty(n)
    noise[0] = size * rng.standard_normal()
    for k in range(1, n):
        noise[k] = correlation * noise[k - 1] + white[k]
    return noise


@pytest.mark.parametrize("seed", range(4))
def test_a_record_without_noise_gives_its_numbers_back(seed):
    """Least squares without a residual: what is left is rounding."""
    rng = np.random.default_rng(seed)
    omega, ratio = rng.uniform(5, 40), rng.uniform(0.005, 0.3)
    decay, frequency = ratio * omega, omega * np.sqrt(1 - ratio**2)
    start = rng.uniform(-3, 3)
    t = start + np.linspace(0, 15 / frequency, 700)
    offset, cosine, sine = rng.normal(0, 10, 3)
    found = fit(t, swing(t - start, decay, frequency, offset, cosine, sine))
    assert found.pole == pytest.approx(complex(-decay, frequency), rel=1e-7)
    assert found.offset == pytest.approx(offset, abs=1e-6)
    assert found.amplitude == pytest.approx(np.hypot(cosine, sine), rel=1e-6)
    assert found.at(t) == pytest.approx(swing(t - start, decay, frequency, offset, cosine, sine))
    assert found.explained == pytest.approx(1.0, abs=1e-9)


@pytest.mark.slow
def test_creep_is_told_from_the_oscillation():
    t = np.linspace(0, 1.5, 600)
    found = fit(t, swing(t, decay=3.0, creep=5.0))
    assert found.pole == pytest.approx(-3 + 14j, rel=1e-6)
    assert (found.creep, found.creep_rate) == pytest.approx((5.0, 9.0), rel=1e-4)
    # where there is none, none is found
    noise = 0.3 * np.random.default_rng(0).standard_normal(len(t))
    assert fit(t, swing(t, decay=3.0) + noise).creep == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_intervals_hold_what_they_promise(correlation):
    """Of 24 intervals of 95 % fewer than 18 hold the truth in one case of 100,000; of those that
    took correlated samples for independent ones, three times too narrow, about half do.
    """
    rng, t = np.random.default_rng(1), np.linspace(0, 1.5, 150)
    inside = np.zeros(2)
    for _ in range(24):
        found = fit(t, swing(t) + coloured(rng, len(t), 1.0, correlation))
        wide = 1.96 * np.sqrt(np.diag(found.covariance))
        inside += np.abs([found.decay - 1.3, found.frequency - 14.0]) < wide
    assert inside.min() >= 18


@pytest.mark.slow
def test_noise_and_its_correlation_are_told():
    """Of 3000 samples the standard deviation is known to a hundredth or two, ρ to 0.02."""
    rng, t = np.random.default_rng(2), np.linspace(0, 3.0, 3000)
    found = fit(t, swing(t) + 0.5 * rng.standard_normal(len(t)))
    assert found.noise == pytest.approx(0.5, rel=0.05)
    assert found.correlation < 0.08
    found = fit(t, swing(t) + coloured(rng, len(t), 0.5, 0.7))
    assert found.correlation == pytest.approx(0.7, abs=0.08)


def refusal(t, y) -> str:
    """What a record that tells nothing ends in."""
    with pytest.raises(IdentificationError) as fault:
        fit(np.asarray(t, float), np.asarray(y, float))
    return str(fault.value)


@pytest.mark.slow
def test_records_that_tell_nothing_are_refused_in_a_sentence():
    t = np.linspace(0, 2.0, 400)
    assert "has 5 samples; expected at least 12: record longer" in refusal(t[:5], t[:5])
    hole = swing(t)
    hole[7] = np.nan
    assert "has no number in sample 8 of 400; expected finite times and" in refusal(t, hole)
    assert "the same value all the time, so there is no osc" in refusal(t, 0 * t + 3.0)
    back = t.copy()
    back[5] = back[3]
    assert "expected growing times" in refusal(back, swing(t))
    noise = np.random.default_rng(3).standard_normal(400)
    assert "the record has no oscillation in it: the best one explains" in refusal(t, noise)
    short = np.linspace(0, 0.3, 100)
    assert "of one oscillation; expected at least one: record" in refusal(short, swing(short))
    grows = swing(t, decay=-2.0)
    assert "grows, by a factor of e in 0.5 s; expected one that decays" in refusal(t, grows)

"""Least squares with intervals (``tabi.identification.regression``)."""

import numpy as np
import pytest

from tabi.identification.damped_oscillation import IdentificationError
from tabi.identification.regression import fit, mean, student


def test_without_noise_the_line_is_found_exactly():
    x = np.linspace(-1, 2, 30)
    found = fit({"slope": x, "height": np.ones(30)}, 3.0 * x - 1e6, "a line")
    np.testing.assert_allclose(found.values, [3.0, -1e6], rtol=1e-9)
    assert found.explained == pytest.approx(1.0)


def test_students_factor_is_that_of_the_tables():
    # two-sided 95 %: 12.706 for 1, 2.228 for 10 degrees of freedom, 1.960 for very many
    assert student(1) == pytest.approx(12.706, abs=1e-3)
    assert student(10) == pytest.approx(2.228, abs=1e-3)
    assert student(10**7) == pytest.approx(1.960, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [6, 200])
def test_intervals_hold_the_truth_in_95_of_100_cases(rows):
    rng, held = np.random.default_rng(rows), np.zeros(2)
    x = rng.normal(size=rows)
    for _ in range(2000):
        y = 3.0 * x - 1.0 + 0.3 * rng.normal(size=rows)
        found = fit({"slope": x, "height": np.ones(rows)}, y, "a line")
        held += [found.estimate("slope").holds(3.0), found.estimate("height").holds(-1.0)]
    # 2000 cases of 0.95: ± 3 deviations are ± 0.015
    assert (abs(held / 2000 - 0.95) < 0.015).all()


def test_a_mean_and_its_interval_are_those_of_a_textbook():
    # 1, 2, 3, 4: mean 2.5, s = √(5/3), t(3) = 3.182
    found = mean([1.0, 2.0, 3.0, 4.0], "length")
    assert found.value == 2.5
    assert found.high - 2.5 == pytest.approx(3.1824 * np.sqrt(5 / 3) / 2, rel=1e-4)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"kp": np.ones(9), "kd": 2 * np.ones(9)}, "cannot separate kp from kd"),
        ({"kp": np.ones(9), "kd": np.zeros(9)}, "says nothing about kd"),
        ({"kp": np.ones(2)}, "has 2 usable rows for 1 unknowns"),
    ],
)
def test_what_data_cannot_tell_is_named(columns, words):
    with pytest.raises(IdentificationError, match=words):
        fit(columns, np.ones(len(columns["kp"])), "the log")


def test_one_measure_has_no_interval():
    with pytest.raises(IdentificationError, match="friction was measured 1 time; expected two"):
        mean([0.5], "friction")

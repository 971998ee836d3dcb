"""Butterworth's low-pass by its closed form, and by what filters of whole records promise."""

import numpy as np
import pytest

import tabi
from tabi.control.filters import Butterworth, zero_phase


def gain_of(smooth, frequency):
    """Amplitude of a sine behind the filter, long after its beginning, and its delay [s]."""
    t = np.arange(int(40 * smooth.rate / smooth.cutoff)) / smooth.rate
    y = np.array([smooth(np.sin(2 * np.pi * frequency * x)) for x in t])
    smooth.reset()
    late = slice(len(t) // 2, None)
    waves = np.column_stack([f(2 * np.pi * frequency * t[late]) for f in (np.sin, np.cos)])
    a, b = np.linalg.lstsq(waves, y[late], rcond=None)[0]
    return np.hypot(a, b), np.arctan2(-b, a) / (2 * np.pi * frequency)


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2, 3, 5, 8])
def test_gain_is_one_over_root_two_at_the_cutoff_and_butterworths_elsewhere(order):
    rate, cutoff = 1000.0, 20.0
    smooth = Butterworth(cutoff, rate, order)
    assert gain_of(smooth, cutoff)[0] == pytest.approx(np.sqrt(0.5), abs=1e-6)
    for f in (3.0, 15.0, 40.0, 90.0):
        # (1) with the frequencies of (2)
        ratio = np.tan(np.pi * f / rate) / np.tan(np.pi * cutoff / rate)
        assert gain_of(smooth, f)[0] == pytest.approx((1 + ratio ** (2 * order)) ** -0.5, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2, 4])
def test_gain_falls_by_20_decibels_a_decade_and_order(order):
    # both far above the cut-off and far below half the rate
    smooth = Butterworth(1.0, 2000.0, order)
    fall = 20 * np.log10(gain_of(smooth, 8.0)[0] / gain_of(smooth, 80.0)[0])
    assert fall == pytest.approx(20 * order, rel=0.01)


def test_a_constant_passes_at_once_and_channels_do_not_mix():
    smooth = Butterworth(20.0, 1000.0, 5)
    x = np.array([[1.0, -2.0, 700.0], [0.0, 1e-3, 5.0]])
    for _ in range(50):
        assert smooth(x) == pytest.approx(x, rel=1e-11)
    alone = Butterworth(20.0, 1000.0, 5)
    alone(700.0)
    step = x + np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    for _ in range(50):
        both = smooth(step)
        assert both[0, 2] == pytest.approx(alone(701.0), rel=1e-9)
        assert both[0, :2] == pytest.approx(x[0, :2], rel=1e-9)


def test_a_filtered_record_is_not_late_and_a_filtered_sample_is():
    rate, cutoff, f = 1000.0, 20.0, 5.0
    t = np.arange(4000) / rate
    record = np.column_stack([np.sin(2 * np.pi * f * t), np.cos(2 * np.pi * f * t)])
    ratio = np.tan(np.pi * f / rate) / np.tan(np.pi * cutoff / rate)
    # the square of (1); in the middle nothing is known of the ends
    gain, middle = 1 / (1 + ratio**10), slice(1000, 3000)
    assert zero_phase(record, cutoff, rate, 5)[middle] == pytest.approx(
        gain * record[middle], abs=1e-6
    )
    # the delay of order 5 far below the cut-off: the sum of its poles' 2 cos, over 2 pi f_c
    late = gain_of(Butterworth(200.0, 100000.0, 5), 2.0)[1]
    assert late == pytest.approx((1 + np.sqrt(5)) / (2 * np.pi * 200.0), rel=1e-3)


def test_a_record_filtered_backwards_is_the_filtered_one_backwards():
    x = np.random.default_rng(0).normal(size=600).cumsum()
    ahead, back = zero_phase(x, 30.0, 500.0), zero_phase(x[::-1], 30.0, 500.0)[::-1]
    assert ahead[150:-150] == pytest.approx(back[150:-150], abs=1e-6 * np.ptp(x))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((500.0, 1000.0), "cutoff of the filter is 500.0 Hz; .* below half its rate, 500 Hz"),
        ((0.0, 1000.0), "cutoff of the filter is 0.0 Hz"),
        ((np.nan, 1000.0), "cutoff of the filter is nan Hz"),
        (("fast", 1000.0), "cutoff of the filter is 'fast'; expected a number"),
        ((20.0, -1.0), "rate of the filter is -1.0 Hz; expected a positive number"),
        ((20.0, 1000.0, 0), "order of the filter is 0; expected a whole number from 1 on"),
        ((20.0, 1000.0, 2.5), "order of the filter is 2.5"),
    ],
)
def test_what_is_no_low_pass_is_refused(arguments, message):
    with pytest.raises(tabi.ModelError, match=message):
        Butterworth(*arguments)
    with pytest.raises(tabi.ModelError, match=message):
        zero_phase(np.zeros(9), *arguments)


def test_samples_and_records_of_another_shape_are_refused():
    smooth = Butterworth(20.0, 1000.0)
    smooth([1.0, 2.0])
    with pytest.raises(tabi.ModelError, match=r"shape \(3,\); expected \(2,\).*reset"):
        smooth([1.0, 2.0, 3.0])
    with pytest.raises(tabi.ModelError, match="expected two or more samples"):
        zero_phase(5.0, 20.0, 1000.0)

"""A handle in a hand against closed forms."""

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.interaction.simulated_device import STEP, SampledHandle, SpringHand


def test_work_of_the_force_is_the_change_of_kinetic_energy():
    rng = np.random.default_rng(0)
    handle = SampledHandle(0.2, None, velocity=(0.1, -0.2, 0.3))
    start = 0.1 * float(np.dot(handle.v, handle.v))
    for _ in range(200):
        handle.write(rng.normal(size=3), np.zeros(3))
        handle.advance(10)
    kinetic = 0.1 * float(np.dot(handle.v, handle.v))
    # velocity first: each step counts f·v⁺ in place of the mean velocity, ½ h f²/m of which is left
    assert handle.energy == pytest.approx(kinetic - start, abs=2000 * 0.5 * STEP**2 * 3 / 0.2 * 2)
    assert handle.worst >= handle.energy


def test_a_hand_swings_the_handle_as_a_damped_spring():
    m, k, c = 0.2, 200.0, 4.0
    hand = SpringHand(k, c, 1e9, lambda t: (0.0, 0.0, 0.0))
    handle = SampledHandle(m, hand, (0.01, 0.0, 0.0))
    a, w = c / (2 * m), np.sqrt(k / m - (c / (2 * m)) ** 2)
    for _ in range(300):
        handle.advance(10)
        t = handle.time
        x = 0.01 * np.exp(-a * t) * (np.cos(w * t) + a / w * np.sin(w * t))
        assert handle.x[0] == pytest.approx(x, abs=2e-5)


def test_the_hand_is_only_so_strong_and_one_axis_is_one():
    hand = SpringHand(1e4, 0.0, 2.0, lambda t: (1.0, 1.0, 0.0))
    handle = SampledHandle(1.0, hand, axes=1)
    handle.advance(1000)
    assert handle.v[0] == pytest.approx(2.0 / np.sqrt(2) * 0.1, rel=1e-2)
    assert handle.x[1] == handle.v[1] == 0.0


def test_it_follows_a_clock():
    now = [0.0]
    handle = SampledHandle(1.0, None, velocity=(1.0, 0.0, 0.0), clock=lambda: now[0])
    now[0] = 0.25
    reading = handle.read()
    assert reading.position == pytest.approx([0.25, 0, 0])
    assert reading.time == pytest.approx(0.25)
    handle.write(np.array([3.0, 0, 0]), np.zeros(3))
    handle.close()
    now[0] = 0.5
    assert handle.read().velocity == pytest.approx([1.0, 0, 0])


@pytest.mark.parametrize(
    "given", [{"mass": 0.0}, {"mass": np.nan}, {"axes": 2}, {"position": (0.0, np.nan, 0.0)}]
)
def test_handles_that_cannot_be_are_refused(given):
    with pytest.raises(ModelError):
        SampledHandle(**given)

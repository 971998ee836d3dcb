"""Calibration of a force sensor (``identification.sensor_calibration``): poses that were made up
by the law f = G (l + d), with noise.
"""

import numpy as np
import pytest

from tabi.identification.damped_oscillation import IdentificationError
from tabi.identification.sensor_calibration import calibrate, weight

G = 9.81
CENTRES = np.array([[0.0, 0.0, 0.15], [0.2, 0.0, 0.1], [0.0, 0.2, 0.1], [-0.15, 0.1, 0.05]])


def old_sensor(rng):
    """A G some way off identity, and an offset."""
    return np.eye(6) * rng.uniform(0.8, 1.2, 6) + 0.05 * rng.normal(size=(6, 6)), rng.normal(size=6)


def poses(rng, count, centres=CENTRES):
    """Loads of weights of 2 kg, the sensor turned at random, shape (count, 6)."""
    down = rng.normal(size=(count, 3))
    return weight(down, np.full(count, 2.0), centres[np.arange(count) % len(centres)])


def test_a_weight_at_an_arm_is_its_force_and_the_moment_of_it():
    # straight down, one metre along x: 2 g along −z, and 2 g about +y
    load = weight([[0.0, 0.0, -5.0]], 2.0, (1.0, 0.0, 0.0))[0]
    np.testing.assert_allclose(load, [0, 0, -2 * G, 0, 2 * G, 0], atol=1e-12)


def test_without_noise_matrix_and_offset_are_found_exactly():
    rng = np.random.default_rng(1)
    matrix, offset = old_sensor(rng)
    loads = poses(rng, 16)
    readings = loads @ np.linalg.inv(matrix).T - offset
    found = calibrate(readings, loads)
    np.testing.assert_allclose(found.matrix, matrix, atol=1e-9)
    np.testing.assert_allclose(found.offset, offset, atol=1e-9)
    np.testing.assert_allclose(found.load(readings), loads, atol=1e-8)


@pytest.mark.parametrize("diagonal", [False, True])
def test_intervals_hold_the_truth_in_90_of_100_noisy_trials(diagonal):
    rng, held, offsets = np.random.default_rng(5), np.zeros((6, 6)), np.zeros(6)
    matrix, offset = old_sensor(rng)
    matrix = np.diag(np.diag(matrix)) if diagonal else matrix
    for _ in range(100):
        loads = poses(rng, 24, CENTRES[:1] if diagonal else CENTRES)
        loads = loads if not diagonal else loads + 0.1 * rng.normal(size=loads.shape)
        noise = np.array([0.1, 0.1, 0.1, 0.01, 0.01, 0.01]) * rng.normal(size=loads.shape)
        found = calibrate(loads @ np.linalg.inv(matrix).T - offset + noise, loads, diagonal)
        held += abs(found.matrix - matrix) <= found.matrix_width
        offsets += abs(found.offset - offset) <= found.offset_width
    told = np.eye(6, dtype=bool) if diagonal else np.ones((6, 6), bool)
    assert held[told].min() >= 90
    assert offsets.min() >= 90
    # and intervals are not simply wide
    assert 93 <= held[told].mean() <= 97


def test_one_weight_at_one_place_spans_three_directions_and_is_refused():
    rng = np.random.default_rng(2)
    for centres, rank in ((CENTRES[:1], 3), (CENTRES[:2], 5)):
        loads = poses(rng, 30, centres)
        with pytest.raises(IdentificationError, match=f"span {rank} of 6 directions"):
            calibrate(loads, loads)


def test_few_poses_and_a_dead_channel_are_refused():
    rng = np.random.default_rng(3)
    loads = poses(rng, 11)
    with pytest.raises(IdentificationError, match="has 11 poses; expected 12 or more"):
        calibrate(loads, loads)
    loads = poses(rng, 20)
    readings = loads.copy()
    readings[:, 5] = readings[:, 4]
    with pytest.raises(IdentificationError, match="G is singular"):
        calibrate(readings, loads)


def test_gravity_without_a_direction_and_weights_without_mass_are_refused():
    with pytest.raises(IdentificationError, match="gravity of pose 2 is"):
        weight([[0, 0, 1], [0, 0, 0]], 1.0, (0, 0, 0))
    with pytest.raises(IdentificationError, match="mass is 0 kg"):
        weight([[0, 0, 1]], 0.0, (0, 0, 0))

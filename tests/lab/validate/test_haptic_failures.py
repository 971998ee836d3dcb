"""A few of the failures of ``tabi validate haptics``: each kind once."""

import numpy as np
import pytest

from tabi.interaction.devices.protocol import HandReading
from tabi.lab.validate import haptic_failures
from tabi.lab.validate.haptic_failures import KINDS


@pytest.mark.process
@pytest.mark.slow
def test_forces_end_and_come_back_whatever_fails():
    found = haptic_failures.HapticFailures(failures=7, seed=3).run()
    assert found["failures"] == 7
    assert not found["not_back"], found
    assert all(found["lasted"][kind] for kind in KINDS)
    # a machine that does other things is late now and then; a force that stays is not that
    assert found["worst"] < 0.2, found
    told = haptic_failures.HapticFailures().text(found)
    for kind in KINDS:
        assert kind in told


def test_a_force_that_stays_is_seen():
    periods = {"count": 1, "below_2_ms": 1.0, "worst": 0.0, "work": 0.0}
    failure = haptic_failures.Failure("process stopped", 0.3, False, periods)
    found = haptic_failures.HapticFailures().result([failure])
    told = haptic_failures.HapticFailures().text(found)
    assert "NOT within" in told
    assert "300 ms" in told
    assert "did not come back: process stopped" in told


def test_the_spring_pulls_to_its_place():
    law = haptic_failures.make_spring()
    place = np.array([0.01, 0.0, -0.02])
    force, torque, _ = law(HandReading(place), np.array([0.03, 0.0, 0.0, 100.0]), 1e-3)
    np.testing.assert_allclose(force, [2.0, 0.0, 2.0])
    assert not torque.any()

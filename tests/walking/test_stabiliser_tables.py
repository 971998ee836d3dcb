"""Gains of the stabiliser, and the stiffness of ankles."""

import numpy as np
import pytest

import tabi
from tabi.walking.biped import Biped
from tabi.walking.stabiliser_tables import Stabiliser, stiffness


@pytest.mark.parametrize(
    ("gains", "message"),
    [
        ({"inclination": -1.0}, "inclination of the stabiliser is -1.0; expected a number ≥ 0"),
        ({"zmp_damping": float("nan")}, "zmp_damping of the stabiliser"),
        ({"swing": 2.0}, "swing of the stabiliser is 2.0; expected 0 to 1"),
        ({"margin": "wide"}, "margin of the stabiliser"),
    ],
)
def test_gains_that_cannot_be_are_refused(gains, message):
    with pytest.raises(tabi.ModelError, match=message):
        Stabiliser(**gains)


def test_ankles_are_motors_and_rubber_in_series():
    rigid, soft = Biped(tabi.robots.hrp2()), Biped(tabi.robots.hrp2(bush=True))
    motors = 1 / np.mean([1 / 4840.0, 1 / 3750.0])
    assert stiffness(rigid) == pytest.approx((motors, 0.0, 0.0))
    assert stiffness(soft) == pytest.approx((1 / (1 / motors + 1 / 500.0), 500.0, 1e5))

"""Gains of the stabiliser, and the stiffness of ankles."""

import numpy as np
import pytest

import tabi
from tabi.walking.balance.stabiliser_tables import (
    DcmStabiliser,
    Stabiliser,
    StabiliserGains,
    stiffness,
)
from tabi.walking.plan.biped import Biped


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


@pytest.mark.parametrize(
    ("gains", "message"),
    [
        ({"poles": (1.0, -2.0, 3.0)}, "poles of the stabiliser is .* expected a number ≥ 0"),
        ({"poles": (1.0, 2.0)}, "poles of the stabiliser are .* expected three rates"),
        ({"lag": 0.0}, "lag of the stabiliser is 0.0; expected a number > 0"),
        ({"friction": float("inf")}, "friction of the stabiliser"),
    ],
)
def test_poles_and_lags_that_cannot_be_are_refused(gains, message):
    with pytest.raises(tabi.ModelError, match=message):
        DcmStabiliser(**gains)


def test_a_law_of_your_own_is_gains_of_the_wanted_zero_moment_point():
    assert Stabiliser(inclination=3.0).law(3.5) == {"inclination": 3.0}
    law = DcmStabiliser(poles=None).law(3.5)
    assert law["inclination"] == law["zmp_feedback"] == law["integral"] == 0.0
    with pytest.raises(NotImplementedError):
        StabiliserGains().law(3.5)


def test_ankles_are_motors_and_rubber_in_series():
    rigid, soft = Biped(tabi.robots.hrp2()), Biped(tabi.robots.hrp2(bush=True))
    motors = 1 / np.mean([1 / 4840.0, 1 / 3750.0])
    assert stiffness(rigid) == pytest.approx((motors, 0.0, 0.0))
    assert stiffness(soft) == pytest.approx((1 / (1 / motors + 1 / 500.0), 500.0, 1e5))

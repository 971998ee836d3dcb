"""Where a base is believed to be: as told, as estimated, or as it is bolted."""

import numpy as np
import pytest
from bipeds import biped, hrp2_on_ground
from tests.step.forces.test_motors import arm

import tabi
from tabi.control import Estimator
from tabi.control.base_pose import BaseGuess
from tabi.spatial.transform import translation

SEEN = tabi.Measurement(np.zeros(1), np.zeros(1), np.zeros(1))


def test_a_pose_a_function_and_a_bolted_base_are_taken_as_they_are():
    X = translation((1.0, 2.0, 3.0))
    assert BaseGuess(biped(), X)(0.0, SEEN) is X
    assert BaseGuess(biped(), lambda time, seen: translation((time, 0, 0)))(2.0, SEEN).p[0] == 2.0
    _, robot = arm()
    assert BaseGuess(robot)(0.0, SEEN).p.tolist() == [0.0, 0.0, 0.0]


def test_an_estimator_is_asked_and_reset():
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.run(0.1)
    guess, own = BaseGuess(robot), Estimator(robot)
    seen = sim.measure(robot, truth=True)
    assert guess(0.1, seen).p == pytest.approx(own(0.1, seen).base.p, abs=1e-12)
    # it still settles, and an estimator begins with a robot at rest
    assert guess(0.1, seen).p == pytest.approx(seen.base.p, abs=5e-3)
    guess.reset()
    assert guess(0.0, seen).p == pytest.approx(own(0.1, seen).base.p, abs=1e-12)


def test_a_base_that_nobody_knows_of_is_asked_for():
    with pytest.raises(tabi.ModelError, match=r"the pose of the base of biped is unknown: .*or"):
        BaseGuess(biped())
    with pytest.raises(tabi.ModelError, match="base is 'up'; expected a Transform, an Estimator"):
        BaseGuess(biped(), "up")
    with pytest.raises(tabi.ModelError, match=r"base of biped is int at 1 s; expected a Transform"):
        BaseGuess(biped(), lambda time, seen: 3)(1.0, SEEN)

"""Tables of a steered walk."""

import numpy as np
import pytest

import tabi
from tabi.walking.steered.tables import FOOTSTEPS_AHEAD, STANDING, STEPPING
from tabi.walking.steered.walker import SteeredWalker


def test_settings_are_those_of_the_robot_and_its_gait():
    walker = SteeredWalker(tabi.robots.hrp2())
    plan, biped = walker._walk.plan, walker.biped
    row = plan.settings[0]
    assert set(row.dtype.names) == set(STEPPING.names)
    assert all(np.isfinite(row[name]) for name in STEPPING.names)
    assert row["weight"] == biped.mass * 9.81
    assert row["single"] + row["double"] == walker.gait.step_time
    # HRP-2's legs turn 60 mm beside the middle
    assert np.abs(plan.hips[:, 1]) == pytest.approx(0.06)
    assert plan.footstep.shape == (FOOTSTEPS_AHEAD + 2, 3)
    assert plan.now.dtype.names == STANDING.names
    # soles of 0.138 m each, 59 mm of each towards the other foot
    assert abs(row["near"] - 2 * 0.059) < 0.03

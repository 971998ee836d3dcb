"""The first force of a landing foot: both laws hold in small, the mass in them is that of a rigid
body, and what is outside is told.
"""

import numpy as np
import pytest

import tabi
from tabi.lab.study import reported
from tabi.lab.walking import first_contact
from tabi.spatial.inertia import Inertia

STUDY = first_contact.FirstContact(speeds=(0.2,), planned=(0.25,), dampings=(2000.0,))


@pytest.fixture(scope="module")
def found():
    """A hundredth of the experiment."""
    seen = []
    with reported(lambda *told: seen.append(told)):
        result = STUDY.run()
    assert seen == [("drops", 1, 1), ("steps", 1, 1)]
    return result


@pytest.mark.slow
def test_sole_and_leg_peak_at_speed_times_root_of_stiffness_times_mass(found):
    assert len(found["drops"]) > 0
    for drop in found["drops"]:
        # (1), with what hangs below the rubber: four fifths of the foot, 2.15 kg with its toe
        assert drop["sole_kg"] == pytest.approx(0.8 * 2.148 * 58 / 58.51, rel=1e-3)
        assert drop["sole_law_n"] == pytest.approx(0.2 * np.sqrt(1e6 * drop["sole_kg"]))
        # the rubber is a tenth as stiff as the ground, and pushes on meanwhile; Hunt and Crossley
        # damp by 3/2 α v of the force: 15 %
        assert drop["sole_n"] == pytest.approx(drop["sole_law_n"], rel=0.1)
        # (2): damping of the rubber is 2 % of the critical one
        assert drop["leg_law_n"] == pytest.approx(0.2 * np.sqrt(drop["leg_kg"] / 1.1e-5))
        assert drop["leg_n"] == pytest.approx(drop["leg_law_n"], rel=0.05)
        assert max(drop["change"].values()) < first_contact.MAX_STEP_CHANGE
        assert drop["within"]
        # a quarter of a swing
        quarter = 0.5 * np.pi * np.sqrt(drop["leg_kg"] * 1.1e-5)
        assert drop["leg_after_s"] == pytest.approx(quarter, rel=0.2)


def test_peaks_go_with_the_speed():
    slow, fast = (first_contact.drop(speed, True) for speed in (0.05, 0.1))
    assert fast["leg_n"] == pytest.approx(2 * slow["leg_n"], rel=0.01)
    # the nonlinear damper takes more of the faster one
    assert fast["sole_n"] == pytest.approx(2 * slow["sole_n"], rel=0.05)


def test_mass_above_the_rubber_is_that_of_a_rigid_body_where_joints_do_not_give_way():
    """1/m = 1/M + (r × n)·I⁻¹(r × n), by hand from the bodies."""
    robot = tabi.robots.hrp2(bush=True)
    robot.stand_on_ground()
    X = robot.placements()
    above = [body for body in robot.bodies if not body.name.endswith("_sole")]
    whole = sum((body.inertia.transformed(X[body]) for body in above), Inertia())
    turn = np.cross(X[robot.body("left_foot")].p - whole.centre, (0.0, 0.0, 1.0))
    expected = 1 / (1 / whole.mass + turn @ np.linalg.solve(whole.tensor, turn))
    model = robot.compile()
    found = first_contact.effective_mass(model, model.initial(), robot, is_locked=True)
    # soles, 1.7 kg each, still hang on it sideways
    assert found == pytest.approx(expected, rel=0.01)


@pytest.mark.slow
def test_free_joints_make_the_leg_lighter(found):
    held, free = found["drops"]
    assert free["leg_kg"] < 0.6 * held["leg_kg"]
    assert free["leg_n"] < 0.8 * held["leg_n"]


@pytest.mark.slow
def test_a_step_lands_as_published_with_the_mass_of_joints_that_are_held(found):
    best = found["best"]
    held, free = (drop["leg_law_n"] / drop["speed_m_s"] for drop in found["drops"])
    # servos hold the leg for such a time; they give a little, and the other foot holds a little
    assert best["marks_n"][0] == pytest.approx(held * best["speed_m_s"], rel=0.2)
    assert best["marks_n"][0] > free * best["speed_m_s"]
    assert best["fits"]
    assert best["change"] < first_contact.MAX_STEP_CHANGE
    assert best["marks_n"] == pytest.approx((500, 100, 550), rel=0.3)
    assert best["borne_s"] <= 0.25
    assert found["within"]


@pytest.mark.slow
def test_what_is_outside_is_told(found):
    assert STUDY.text(found).endswith("all within")
    assert "500 → 100 → 550 N" in STUDY.text(found)
    drops = [found["drops"][0] | {"within": False}, found["drops"][1]]
    told = STUDY.text(found | {"drops": drops, "within": False})
    assert "OUTSIDE" in told
    assert told.endswith("NOT WITHIN what is allowed")

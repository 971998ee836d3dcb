"""Costs of motions by closed forms: a cube that slides, a robot that stands or falls."""

import math

import pytest

import tabi
from tabi import scenes
from tabi.analysis import motion_cost
from tabi.analysis.motion_cost import MEASURES, CostTerm, measure, read_term, read_terms

CUBE = """title: a cube
duration_s: 1.2
ground: {friction: 1}
objects:
  - {shape: box, name: cube, size_m: [0.2, 0.2, 0.2], mass_kg: 1, friction: 0.2,
     position_m: [0, 0, 0.1], velocity_m_s: [2, 0, 0]}
  - {shape: box, name: mark, size_m: [0.2, 0.2, 0.2], mass_kg: 1, position_m: [0, 1, 0.1]}
"""
# it slides v²/2μg, less by v h/2 as the scheme has it
WAY = 4 / (2 * 0.2 * 9.81) - 1e-3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fall", CostTerm("fall", "fall")),
        ("torque <= 0.9 * 2", CostTerm("torque <= 0.9 * 2", "torque", (), "<=", 0.9, 2.0)),
        ("height:load>=1.4", CostTerm("height:load>=1.4", "height", ("load",), ">=", 1.4)),
        ("distance:a,b*3", CostTerm("distance:a,b*3", "distance", ("a", "b"), weight=3.0)),
        ("rest:left/chest=0", CostTerm("rest:left/chest=0", "rest", ("left/chest",), "=", 0.0)),
        (" slip : my box * 2 ", CostTerm(" slip : my box * 2 ", "slip", ("my box",), weight=2.0)),
        ("distance:my box , b", CostTerm("distance:my box , b", "distance", ("my box", "b"))),
    ],
)
def test_a_term_is_a_measure_what_it_is_about_a_target_and_a_weight(text, found):
    assert read_term(text) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tork<=1", "'tork' is not known; did you mean 'torque'"),
        ("", "'' is not known; expected one of fall"),
        ("torque<0.9", "is not MEASURE"),
        ("height>=1", "names 0 bodies; height is about one body"),
        ("distance:a", "about two bodies"),
        ("torque:load", "about no body"),
        ("torque*0", "the weight is 0"),
        ("height:a>=1e999", "the target is infinite"),
        ("height:a<=-1e999", "the target is infinite"),
    ],
)
def test_a_term_that_cannot_be_is_refused_with_a_reason(text, why):
    with pytest.raises(tabi.ModelError, match=why.replace("?", r"\?")):
        read_term(text)


def test_no_term_at_all_is_refused():
    with pytest.raises(tabi.ModelError, match="there is no cost"):
        read_terms([])


@pytest.mark.parametrize(
    ("text", "x", "cost"),
    [
        # size 0.1 m
        ("height:a", 1.5, -15.0),
        ("height:a>=1.4", 1.5, 0.0),
        ("height:a>=1.4*2", 1.3, 2.0),
        ("distance:a,b<=0.5", 0.7, 2.0),
        ("distance:a,b=0.5", 0.4, 1.0),
        ("distance:a,b", 0.3, 3.0),
        ("gap", 0.005, -0.5),
        # nothing was ever near: as at the end of the reach, 10 mm
        ("gap", math.inf, -1.0),
        ("gap>=0.02", math.inf, 0.0),
        ("gap<=0", math.inf, 1.0),
        ("gap=0.02", math.inf, 1.0),
        # of a body that is nowhere
        ("height:a", math.inf, math.inf),
        ("distance:a,b<=1", math.inf, math.inf),
    ],
)
def test_what_a_number_costs(text, x, cost):
    assert read_term(text).cost(x) == pytest.approx(cost)


@pytest.mark.parametrize("name", [name for name, how in MEASURES.items() if how.bodies == 0])
def test_what_is_no_number_costs_infinitely_much_and_more_never_costs_more(name):
    for relation in ("", ">=0.01", "<=0.01", "=0.01"):
        assert read_term(f"{name}{relation}").cost(math.nan) == math.inf
    if MEASURES[name].maximise:
        for relation in ("", ">=0.01"):
            term = read_term(f"{name}{relation}")
            costs = [term.cost(x) for x in (-0.1, 0.0, 0.005, 0.02, 5.0, math.inf)]
            assert costs == sorted(costs, reverse=True)


def test_a_cube_that_slides_is_measured_as_the_closed_form_says():
    words = ("slip:cube", "rest:cube", "height:cube", "lowest:cube", "distance:cube,mark", "missed")
    found = measure(scenes.loads(CUBE), read_terms(words))
    assert found.values["slip:cube"] == pytest.approx(WAY, abs=1e-5)
    assert found.values["rest:cube"] == pytest.approx(0.0, abs=1e-9)
    assert found.values["height:cube"] == pytest.approx(0.1, abs=1e-6)
    assert found.values["lowest:cube"] == pytest.approx(0.1, abs=1e-6)
    assert found.values["distance:cube,mark"] == pytest.approx(math.hypot(WAY, 1), abs=1e-5)
    assert found.values["missed"] == 0
    total = sum(read_term(text).cost(x) for text, x in found.values.items())
    assert found.cost == pytest.approx(total)


def test_a_robot_that_stands_uses_shares_of_its_limits_and_one_that_falls_costs_most():
    words = ("fall", "torque", "speed", "travel", "friction", "pressure", "gap", "energy")
    stands = measure(scenes.load("standing", ["duration_s=0.1"]), read_terms(words))
    assert stands.values["fall"] == 0
    assert 0 < stands.values["torque"] < 0.5
    assert stands.values["speed"] < 0.05
    assert stands.values["travel"] > 0
    assert stands.values["friction"] < 0.2
    # half of the sole's width is 69 mm
    assert 0 < stands.values["pressure"] < 0.069
    assert stands.values["energy"] < 1
    falls = measure(scenes.load("fall"), read_terms(["fall", "height:waist"]))
    assert falls.fallen_at is not None
    duration = scenes.load("fall").duration
    assert falls.values["fall"] == pytest.approx(2 - falls.fallen_at / duration)
    assert falls.cost > 90


@pytest.mark.slow
def test_work_is_the_torque_times_the_way_of_a_motor():
    """Held joints have no way; a squat lifts most of the robot, and lets it down."""
    terms = read_terms(["energy"])
    held = measure(scenes.load("squat", ["duration_s=1", "robots.0.motion.depth_deg=0"]), terms)
    bent = measure(scenes.load("squat", ["duration_s=1"]), terms)
    assert held.values["energy"] < 0.5
    # half a squat lowers most of 58 kg by some centimetres
    assert bent.values["energy"] > 58 * 9.81 * 0.01
    # an encoder that tells speeds to 100 rad/s only changes nothing: the squat asks none
    coarse = "robots.0.sensors={k: {kind: encoder, body: right_shank, resolution: [0, 100]}}"
    told = measure(scenes.load("squat", ["duration_s=1", coarse]), terms)
    assert told.values["energy"] == pytest.approx(bent.values["energy"])


def test_bodies_that_are_not_there_and_scenes_without_robots_are_refused():
    with pytest.raises(tabi.ModelError, match="cub"):
        measure(scenes.loads(CUBE), read_terms(["height:cub"]))
    for name in motion_cost.ROBOTS:
        with pytest.raises(tabi.ModelError, match="has no robot"):
            motion_cost.CostWatch(scenes.loads(CUBE), read_terms([name]))


def test_a_run_that_breaks_down_costs_infinitely_much(monkeypatch):
    def breaks(self, duration):
        raise tabi.SimulationError("it broke")

    monkeypatch.setattr(motion_cost.Simulator, "run", breaks)
    found = measure(scenes.loads(CUBE), read_terms(["missed"]))
    assert (found.cost, found.stopped) == (math.inf, "it broke")
    assert found.to_dict()["cost"] is None

"""The state of feet: from gaps, wrench and pressure point, for every law."""

import numpy as np
import pytest
from plates import LENGTH, MASS, THICK, WIDTH, G, on_plane

import tabi
from tabi.step.feet import margin

LAWS = ["coulomb", "pyramid", "selection", "penalty"]


@pytest.mark.parametrize("law", LAWS)
def test_a_plate_at_rest_is_a_face_that_sticks_and_bears_its_weight(law):
    sim, robot = on_plane(law)
    sim.run(0.3)
    foot = sim.foot(robot.feet["sole"])
    assert foot.state == "face, stick"
    assert foot.normal_force == pytest.approx(MASS * G, rel=1e-6)
    assert foot.wrench.force == pytest.approx((0, 0, MASS * G), abs=1e-4)
    assert foot.centre_of_pressure == pytest.approx((0, 0), abs=1e-6)
    assert foot.margin == pytest.approx(0.5 * WIDTH, abs=1e-6)
    assert foot.friction_share < 1e-4
    assert foot.signal


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("ahead", "aside", "contact"),
    [(0.0, 0.0, "face"), (0.8, 0.0, "face"), (1.2, 0.0, "edge"), (1.2, 1.2, "vertex")],
)
def test_a_push_beyond_the_edge_tips_it_over_the_edge(law, ahead, aside, contact):
    # a force of the weight's size downwards, outside of the sole or inside
    sim, robot = on_plane(law, friction=2.0)
    point = (ahead * LENGTH, aside * WIDTH, 0.0)
    sim.apply_force(robot.body("plate"), (0, 0, -MASS * G), 1.0, point=point)
    # two weights: the pressure point is half way to the push
    sim.run(0.02 if contact != "face" else 0.2)
    foot = sim.foot(robot.feet["sole"])
    # a soft sole bears beside its corner as well
    assert foot.contact == ("face" if (law, contact) == ("penalty", "vertex") else contact)
    if contact == "face":
        assert foot.centre_of_pressure == pytest.approx((0.5 * point[0], 0.0), abs=2e-3)
        assert foot.margin == pytest.approx(
            min(0.5 * WIDTH, 0.5 * LENGTH - 0.5 * point[0]), abs=2e-3
        )


@pytest.mark.parametrize("law", LAWS)
def test_what_slides_says_so_and_uses_all_of_its_friction(law):
    sim, robot = on_plane(law, friction=0.3)
    q, v = sim.state.q, sim.state.v
    v[0] = 1.0
    sim.set_state(q, v)
    sim.run(0.1)
    foot = sim.foot(robot.feet["sole"])
    assert foot.motion == "slide"
    assert foot.friction_share == pytest.approx(1.0, abs=1e-3)
    assert foot.slip == pytest.approx(1.0 - 0.3 * G * 0.1, abs=0.02)
    assert foot.friction == pytest.approx(0.3)


def test_a_sole_that_creeps_within_its_cone_sticks():
    sim, robot = on_plane("penalty", friction=0.8, slope=0.1)
    sim.run(0.1)
    foot = sim.foot(robot.feet["sole"])
    # springs hold it by a damper alone, with a tenth of its friction
    assert foot.slip > 1e-4
    assert foot.friction_share < 0.2
    assert foot.motion == "stick"


@pytest.mark.parametrize("law", LAWS)
def test_in_the_air_there_is_no_contact_and_landing_is_an_event(law):
    sim, robot = on_plane(law, height=0.02)
    sim.run(0.03)
    foot = sim.foot(robot.feet["sole"])
    assert (foot.state, foot.centre_of_pressure, foot.margin) == ("none", None, None)
    assert not foot.signal
    assert sim.foot_events == ()
    sim.run(0.27)
    first = sim.foot_events[0]
    assert (first.foot, first.before, first.after) == ("sole", "none", "face, stick")
    assert first.time == pytest.approx(np.sqrt(2 * 0.02 / G), abs=2e-3)


def test_the_signal_waits_until_the_load_stays():
    sim, robot = on_plane("coulomb")
    signals = []
    for _ in range(10):
        sim.step()
        signals.append(sim.foot(robot.feet["sole"]).signal)
    assert signals == 4 * [False] + 6 * [True]
    # a lift of 3 ms is no loss of contact, one that stays is
    sim.apply_force(robot.body("plate"), (0, 0, 2 * MASS * G), 3e-3)
    sim.run(3e-3)
    assert sim.foot(robot.feet["sole"]).contact == "none"
    assert sim.foot(robot.feet["sole"]).signal
    sim.run(5e-3)
    sim.apply_force(robot.body("plate"), (0, 0, 2 * MASS * G), 0.05)
    sim.run(0.05)
    assert not sim.foot(robot.feet["sole"]).signal


def test_the_wrench_has_the_same_size_in_the_axes_of_the_foot_on_a_slope():
    slope = 0.3
    sim, robot = on_plane("coulomb", friction=0.8, slope=slope)
    sim.run(0.1)
    foot = sim.foot(robot.feet["sole"])
    weight = MASS * G * np.array([-np.sin(slope), 0.0, np.cos(slope)])
    assert foot.local_wrench.force == pytest.approx(weight, abs=1e-5)
    assert foot.wrench.force == pytest.approx((0, 0, MASS * G), abs=1e-5)
    assert foot.friction_share == pytest.approx(np.tan(slope) / 0.8, rel=1e-6)
    # the pressure point is below the middle of the plate, along gravity
    assert foot.centre_of_pressure == pytest.approx((0.5 * THICK * np.tan(slope), 0), abs=1e-6)


def test_events_come_back_with_a_restored_moment():
    sim, robot = on_plane("coulomb", height=0.01)
    sim.run(0.02)
    saved = sim.save()
    sim.run(0.1)
    events = sim.foot_events
    assert len(events) > 0
    sim.restore(saved)
    assert sim.foot_events == ()
    assert sim.foot(robot.feet["sole"]).contact == "none"
    sim.run(0.1)
    assert sim.foot_events == events


def test_more_events_than_there_is_room_for_are_all_kept():
    sim, robot = on_plane("coulomb")
    # up and down 300 times
    for k in range(300):
        sim.apply_force(robot.body("plate"), (0, 0, 1.5 * MASS * G), 1e-3, at=2e-3 * k)
    sim.rollout(0)
    sim.run(0.62)
    times = [event.time for event in sim.foot_events]
    assert len(times) > 256
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("point", "distance"),
    [((0, 0), 0.5), ((0.9, 0), 0.1), ((1.5, 0), -0.5), ((2, 2), -np.sqrt(2)), ((1, 1), 0.0)],
)
def test_the_margin_is_the_distance_from_the_edge(point, distance):
    corners = np.array([(-1.0, -0.5), (1.0, -0.5), (1.0, 1.0), (-1.0, 1.0)])
    assert margin(corners, 0, 4, *map(float, point)) == pytest.approx(distance)


def test_what_is_no_foot_is_refused_with_the_feet_there_are():
    sim, robot = on_plane("coulomb")
    with pytest.raises(tabi.ModelError, match="foot 'plate/plate' not found in the world"):
        sim.foot(robot.body("plate"))

"""Hands of scenes: scripts rest in their frames, and the built-in scenes do what they say."""

import numpy as np
import pytest

from tabi import ModelError, scenes
from tabi.scenes.hands import Holding, script_of
from tabi.scenes.keys.hands import HandFrame
from tabi.scenes.tree import SceneError


def test_a_script_goes_through_its_frames_and_rests_in_each():
    frames = [
        HandFrame(at_s=0.0, position_m=(0.0, 0.0, 0.0), holds=False),
        HandFrame(at_s=1.0, position_m=(0.2, 0.0, 0.1), grips=True),
        HandFrame(at_s=1.5, position_m=(0.2, 0.0, 0.1), rotation_deg=(0.0, 0.0, 90.0)),
    ]
    hand = script_of(frames)
    for frame in frames:
        there = hand.at(frame.at_s)
        assert there.position == pytest.approx(frame.position_m, abs=1e-9)
        assert np.abs(there.velocity).max() < 2e-3
        assert there.buttons == (frame.holds, frame.grips)
    # half the way in half the time, with 15/8 of the mean speed; rows are 20 ms apart
    middle = hand.at(0.5)
    assert middle.position == pytest.approx((0.1, 0.0, 0.05), abs=1e-6)
    assert middle.velocity[0] == pytest.approx(1.875 * 0.2, rel=1e-2)
    assert hand.at(1.5).quaternion == pytest.approx([np.sqrt(0.5), 0, 0, np.sqrt(0.5)])


def test_frames_out_of_order_are_named():
    frames = [HandFrame(at_s=1.0, position_m=(0, 0, 0)), HandFrame(at_s=1.0, position_m=(0, 0, 1))]
    with pytest.raises(ModelError, match="frame 1 of the hand is at 1 s"):
        script_of(frames)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("hand.body=sideways", "hand: body 'sideways' not found"),
        ("hand.frames.1.at_s=0", "hand: frame 1 of the hand is at 0 s"),
    ],
)
def test_a_hand_that_cannot_be_is_named_with_its_place(setting, said):
    with pytest.raises(SceneError, match=said) as wrong:
        scenes.load("pull-test", [setting]).simulator()
    assert "pull-test.yaml" in str(wrong.value)


def run(name, until, *overrides):
    # a step for each of the controllers' ticks
    scene = scenes.load(name, ("simulation.step_s=0.005", *overrides))
    sim = scene.simulator()
    session = scene.hand(sim, "scripted")
    sim.run(until)
    return sim, session


@pytest.mark.slow
def test_the_can_is_lifted_by_friction_and_not_where_it_slips():
    sim, session = run("carry", 6.5)
    assert sim.position("can")[2] > 0.98
    assert session.hand.holds == "right_hand"
    assert sim.missed_count == 0
    assert not sim.fallen(sim.world.robots[0])
    # the head looks at the hand that leads
    X, probe = sim.pose("head"), session.hand.band().target
    assert X.R[:, 0] @ (probe - X.p) / np.linalg.norm(probe - X.p) > 0.99
    slippery, _ = run("carry", 6.5, "objects.0.friction=0.03")
    assert slippery.position("can")[2] < 0.94


@pytest.mark.slow
def test_steps_follow_the_pull():
    sim, _ = run("lead", 6.0)
    assert sim.position("waist")[0] > 0.35
    assert not sim.fallen(sim.world.robots[0])
    assert sim.missed_count == 0
    # nobody pulls
    scene = scenes.load("lead")
    alone = scene.simulator()
    alone.run(4.0)
    assert abs(alone.position("waist")[0]) < 0.02


@pytest.mark.slow
def test_a_touch_presses_and_is_noticed():
    sim, session = run("touch", 3.2)
    assert session.strongest > 8.0
    X, probe = sim.pose("head"), session.hand.band().target
    assert X.R[:, 0] @ (probe - X.p) / np.linalg.norm(probe - X.p) > 0.95
    assert sim.missed_count == 0


def test_a_page_that_starts_anew_has_the_device_once():
    scene = scenes.load("touch")
    holding = Holding(scene.simulator, scene.contents.hand, "scripted")
    first = holding.simulator()
    second = holding.simulator()
    from tabi.interaction.presence import presence_of

    first.step()
    second.step()
    assert presence_of(first).meters is None
    assert presence_of(second).meters is not None
    holding.close()
    holding.close()
    assert presence_of(second).meters is None

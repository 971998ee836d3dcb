"""Robots of scenes that are touched: arms that give way, grippers on a button, heads that look."""

import numpy as np
import pytest

from tabi import ModelError, scenes
from tabi.interaction.presence import presence_of

SCENE = """
title: a robot that is touched
ground: {{friction: 0.8}}
robots:
  - robot: hrp2
    {keys}
"""


def simulator(keys):
    return scenes.loads(SCENE.format(keys=keys)).simulator()


def test_an_arm_gives_way_and_the_other_does_not():
    sim = simulator("complies: [{body: right_hand}]")
    before = {side: sim.position(f"{side}_hand") for side in ("right", "left")}
    for side in before:
        sim.apply_force(f"{side}_hand", (8.0, 0.0, 0.0), duration=1.0)
    sim.run(1.0)
    moved = {side: sim.position(f"{side}_hand")[0] - x[0] for side, x in before.items()}
    assert moved["right"] > 0.1
    assert abs(moved["left"]) < 0.02


def test_grippers_shut_while_the_button_is_pressed_and_open_otherwise():
    sim = simulator("grippers: true\n    grip_nm: {RARM_GRIPPER: 2}\n    grip_on_button: true")
    at = sim.model.q_index("RARM_GRIPPER")
    hands = presence_of(sim)
    places = []
    for buttons in ((), (False, True), (True, False)):
        hands.put("device", np.zeros(3), buttons)
        sim.run(1.5)
        places.append(float(sim.state.q[at]))
    assert places[0] < -0.5
    assert places[1] > -0.1
    assert places[2] < places[1] - 0.3


def test_a_robot_looks_at_the_hand_that_touches_it():
    sim = simulator("notices: {}")
    probe = np.array([0.6, -0.4, 1.3])
    presence_of(sim).put("device", probe)
    sim.run(1.0)

    def off():
        X = sim.pose("head")
        way = (probe - X.p) / np.linalg.norm(probe - X.p)
        return float(np.arccos(X.R[:, 0] @ way))

    assert off() > 0.3
    sim.apply_force("left_hand", (0.0, 20.0, 0.0), duration=0.4)
    sim.run(0.8)
    assert off() < 0.05


def test_a_robot_that_always_looks_needs_no_touch():
    sim = simulator("notices: {always: true}")
    probe = np.array([0.6, 0.4, 1.3])
    presence_of(sim).put("device", probe)
    sim.run(1.0)
    X = sim.pose("head")
    assert X.R[:, 0] @ (probe - X.p) / np.linalg.norm(probe - X.p) > 0.999


@pytest.mark.slow
def test_a_walk_is_led_by_the_hand():
    sim = simulator("complies: [{body: right_hand}]\n    motion: {kind: steered_walk, led: true}")
    sim.run(0.5)
    sim.apply_force("right_hand", (14.0, 0.0, 0.0), duration=4.0)
    sim.run(4.0)
    assert sim.position("waist")[0] > 0.1
    assert sim.missed_count == 0


@pytest.mark.slow
def test_a_steered_walk_may_grip_and_look_beside_it():
    sim = simulator(
        "grippers: true\n    grip_nm: {RARM_GRIPPER: 2}\n    notices: {}\n"
        "    motion: {kind: steered_walk, steer: [{at_s: 0.3, forward_m_s: 0.15}]}"
    )
    sim.run(3.0)
    assert sim.position("waist")[0] > 0.1


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("grip_on_button: true", "no jaw is named"),
        ("complies: [{body: right_hnd}]", "right_hnd"),
        ("notices: {head: hat}", "hat"),
        ("notices: {sensors: [nose]}", "nose"),
        ("motion: {kind: steered_walk, led: true}", "led by no hand"),
    ],
)
def test_what_cannot_be_is_named_with_its_place(keys, words):
    with pytest.raises(ModelError, match=words) as error:
        simulator(keys)
    assert "line" in str(error.value)

"""Keys of hands: their defaults, and what is refused where it stands."""

import pytest

from tabi import scenes
from tabi.scenes.keys.hands import HandKeys
from tabi.scenes.tree import SceneError

SCENE = "title: a hand\nground: {{}}\nrobots: [{{robot: hrp2{robot}}}]\n{hand}"


def read(robot="", hand=""):
    return scenes.loads(SCENE.format(robot=robot, hand=hand))


def test_a_hand_that_says_nothing_is_a_device_in_front_of_the_robot():
    told = read(hand="hand: {}").contents.hand
    assert told == HandKeys()
    assert told.mode == "attach"
    assert read().contents.hand is None


@pytest.mark.parametrize(
    ("robot", "hand", "words"),
    [
        ("", "hand: {mode: grab}", "attach"),
        ("", "hand: {stiffness_n_m: -1}", "stiffness_n_m"),
        ("", "hand: {frames: [{at_s: 0}]}", "position_m"),
        (", complies: [{mass_kg_m2: 0.3}]", "", "body"),
        (", notices: {hed: head}", "", "head"),
    ],
)
def test_bad_keys_are_named(robot, hand, words):
    with pytest.raises(SceneError, match=words):
        read(robot, hand)


def test_what_is_written_is_read_again():
    told = read(
        ", complies: [{body: right_hand}], notices: {}", "hand: {mode: touch, friction: 0.3}"
    )
    assert scenes.loads(told.to_yaml()) == told

"""Keys of walks are read, and wrong ones are named with their line."""

import pytest

from tabi import scenes
from tabi.scenes.keys.walks import Arc, Climb, StabiliserKeys, Steps, Stones

FILE = """title: t
ground: {}
robots:
  - robot: hrp2
    motion:
      kind: walk
      %s
"""


def read(line: str):
    return scenes.loads(FILE % line, "mine.yaml").contents.robots[0].motion


def test_every_piece_of_a_path_is_read():
    walk = read(
        "path: [{go: steps, count: 4, turn_deg: 5}, {go: arc, radius_m: 2, angle_deg: -90}, "
        "{go: stairs, treads: 2, rise_m: 0.05, depth_m: 0.3}, "
        "{go: stones, places: [{foot: left, position_m: [1, 2]}]}]"
    )
    assert [type(piece) for piece in walk.path] == [Steps, Arc, Climb, Stones]
    assert walk.path[0].turn_deg == 5
    assert walk.path[3].places[0].position_m == (1.0, 2.0)


def test_a_stabiliser_is_a_truth_or_gains():
    assert read("on_ground: true").stabiliser is True
    assert read("stabiliser: false").stabiliser is False
    assert read("stabiliser: {inclination: 0}").stabiliser == StabiliserKeys(inclination=0.0)


def test_a_stabiliser_may_be_of_another_kind():
    keys = read("stabiliser: {kind: dcm, poles_1_s: [9, 8, 1], lag_s: 0.05}").stabiliser
    assert (keys.kind, keys.poles_1_s, keys.lag_s) == ("dcm", (9.0, 8.0, 1.0), 0.05)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("stabiliser: maybe", "motion.stabiliser is 'maybe'; expected true or false or keys"),
        ("path: [{go: hop}]", "motion.path.0.go is 'hop'; expected one of steps, arc, stairs"),
        ("path: [{count: 3}]", "motion.path.0 has no go; expected one of steps, arc"),
        ("path: []", "motion.path has 0 values; expected at least 1"),
        ("gait: {step_tim_s: 1}", "key 'step_tim_s' in robots.hrp2.motion.gait is not known; did"),
        ("gait: {tick_s: 0.0025}", "gait.tick_s is 0.0025; expected a multiple of the step"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(line, said):
    with pytest.raises(scenes.SceneError, match=r"mine\.yaml, line 7: ") as fault:
        read(line)
    assert said in str(fault.value)

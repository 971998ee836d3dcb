"""Motions are found in their package: a new one is one file, and one that lacks something is
refused with its name.
"""

import pytest

from tabi import ModelError, scenes
from tabi.scenes.keys.motions import MotionKeys
from tabi.scenes.motions import MOTIONS, registered
from tabi.scenes.motions.hold import Hold


def controller(self, scene, robot, i):
    return None


def made(name, base=MotionKeys, **config):
    """A class of a motion, as a file would define it."""

    class Made(base, frozen=True, kw_only=True, **({"tag_field": "kind", "tag": "made"} | config)):
        pass

    Made.__name__ = name
    Made.controller = controller
    return Made


def test_all_motions_have_names_of_their_own():
    tags = [motion.__struct_config__.tag for motion in MOTIONS]
    assert tags == sorted(set(tags))
    assert set(tags) >= {"hold", "limp", "squat", "sway", "lean", "keyframes", "walk"}


def test_one_with_the_name_of_another_is_refused():
    with pytest.raises(ModelError, match=r"motion 'hold' is in tabi\.scenes\.motions\.hold and in"):
        registered([Hold, made("Nod", tag="hold")])


def test_one_without_a_tag_or_a_controller_is_refused():
    with pytest.raises(ModelError, match=r"motion Nod in .* has no tag"):
        registered([made("Nod", tag_field=None, tag=None)])

    class Bare(MotionKeys, frozen=True, kw_only=True, tag_field="kind", tag="bare"):
        pass

    with pytest.raises(ModelError, match=r"motion Bare in .* has no method controller"):
        registered([Bare])


def test_a_motion_that_does_nothing_special_needs_a_controller_only():
    nod = registered([made("Nod")])[0]()
    assert nod.tick_s is None
    assert nod.powered
    assert not nod.holds
    assert nod.prepare(None) is None
    assert nod.schedule(None, None) is None


@pytest.mark.parametrize("kind", ["hold", "squat", "sway", "lean"])
def test_a_scene_names_them(tmp_path, kind):
    file = tmp_path / "scene.yaml"
    file.write_text(
        f"title: t\nground: {{}}\nrobots: [{{robot: hrp2, motion: {{kind: {kind}}}}}]\n"
    )
    scene = scenes.load(str(file))
    assert type(scene.contents.robots[0].motion).__struct_config__.tag == kind
    assert callable(scene.simulator().drivers["hrp2"].controller)

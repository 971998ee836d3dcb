"""Soft soles and pads of scene files, and what they may not say."""

import pytest

from tabi import ModelError, scenes
from tabi.model.pad import Pad

SCENE = """
title: soft
ground: {}
objects:
  - {shape: box, size_m: [0.1, 0.1, 0.1], mass_kg: 1, position_m: [0, 0, 0.1], pads: [PADS]}
"""


def build(pads):
    scene = scenes.loads(SCENE.replace("PADS", pads))
    return scene.simulator()


def test_an_object_gets_its_pads():
    sim = build('{face: "-z", thickness_m: 0.01, element_size_m: 0.05}')
    pads = [s.geometry for s in sim.model.shapes if isinstance(s.geometry, Pad)]
    assert len(pads) == 1
    assert pads[0].thickness == pytest.approx(0.01)


def test_an_outline_stands_in_its_frame():
    outline = "[[-0.02, -0.02], [0.02, -0.02], [0.02, 0.02], [-0.02, 0.02]]"
    sim = build(f"{{outline_m: {outline}, position_m: [0, 0, -0.05], element_size_m: 0.02}}")
    (shape,) = [s for s in sim.model.shapes if isinstance(s.geometry, Pad)]
    assert (shape.placement @ shape.geometry.nodes)[:, 2] == pytest.approx(-0.07)


@pytest.mark.parametrize(
    ("pads", "words"),
    [
        ("{}", "where it is"),
        ('{face: "-z", outline_m: [[0, 0], [1, 0], [0, 1]]}', "where it is"),
        ('{face: "-z", body: foot}', "leave body out"),
        ('{face: "-z", poisson_ratio: 0.5}', "poisson_ratio"),
        ('{face: "-z", young_modulus_pa: -1}', "young_modulus_pa"),
        ("{face: down}", "face"),
    ],
)
def test_what_is_no_pad_is_said_with_its_line(pads, words):
    with pytest.raises(ModelError, match=words):
        build(pads)


def test_robots_get_soles_and_pads():
    text = """
title: soft
ground: {}
robots:
  - robot: hrp2
    soles: {element_size_m: 0.08, feet: [left]}
    pads: [{body: right_hip, outline_m: [[0, 0], [0.02, 0], [0, 0.02]], element_size_m: 0.02}]
"""
    found = [s.name for s in scenes.loads(text).simulator().model.shapes if s.name]
    assert "sole of left" in found
    assert "sole of right" not in found
    assert any(name.startswith("pad of") for name in found)
    with pytest.raises(ModelError, match="names no body"):
        scenes.loads(text.replace("body: right_hip, ", "")).simulator()

"""Patches: where they lie, how they rub, and what is refused."""

import numpy as np
import pytest

from tabi import scenes
from tabi.model.ground_height import ground_height
from tabi.scenes.patches import ICE, THICKNESS
from tabi.scenes.tree import SceneError

G = 9.81
ONE = """
title: a box slides over a patch
duration_s: 1.0
ground: {friction: 0.8, height_m: 0.3}
patches:
  - {position_m: [0.5, 0], size_m: [1.0, 0.4], yaw_deg: 90, friction: 0.2}
objects:
  - shape: box
    name: box
    size_m: [0.1, 0.1, 0.1]
    mass_kg: 1
    position_m: [0.5, -0.4, 0.351]
    velocity_m_s: [0, 1, 0]
"""


def load(tmp_path, text):
    file = tmp_path / "scene.yaml"
    file.write_text(text, encoding="utf-8")
    return scenes.load(str(file))


def test_a_patch_lies_on_the_ground_and_is_drawn_as_ice(tmp_path):
    sim = load(tmp_path, ONE).simulator()
    (patch,) = [s for s in sim.world.fixed.shapes if s.name == "patch 1"]
    assert patch.color == (*ICE, 1.0)
    height = ground_height(sim.world)
    assert height(0.5, 0.0) == pytest.approx(0.3 + THICKNESS)
    # its long side is along y
    assert height(0.5, 0.49) == pytest.approx(0.3 + THICKNESS)
    assert height(0.75, 0.0) == pytest.approx(0.3)


def test_a_box_on_it_stops_after_v2_over_2_mu_g(tmp_path):
    sim = load(tmp_path, ONE).simulator()
    sim.run(1.0)
    # first order in the step: half a step at the initial speed
    assert sim.position("box")[1] == pytest.approx(-0.4 + 1.0 / (2 * 0.2 * G), abs=2 * sim.dt)


def test_it_lies_on_a_fixed_box_too(tmp_path):
    fixed = "fixed:\n  - {shape: box, size_m: [3, 3, 0.1], position_m: [0, 0, 0.35]}\nobjects:"
    sim = load(tmp_path, ONE.replace("objects:", fixed).replace("0.351]", "0.451]")).simulator()
    assert ground_height(sim.world)(0.5, 0.0) == pytest.approx(0.4 + THICKNESS)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (", friction: 0.2}", "}", "friction"),
        ("ground: {friction: 0.8, height_m: 0.3}", "", "there is none; add ground"),
        ("height_m: 0.3", "slope_deg: 3", "lies on a slope"),
        ("{position_m: [0.5, 0]", "{name: box, position_m: [0.5, 0]", "is taken"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, words):
    with pytest.raises(SceneError, match=words):
        load(tmp_path, ONE.replace(old, new))


@pytest.mark.slow
def test_a_walk_over_ice_slips_and_over_a_mat_does_not():
    from tabi.analysis.walk_measures import WalkWatch

    slips = []
    for friction in (0.08, 0.2):
        scene = scenes.load("slippery", (f"patches.0.friction={friction}",))
        sim = scene.simulator()
        watch = WalkWatch(sim)
        sim.run(scene.duration)
        assert not sim.fallen(sim.world.robots[0], 0.6)
        slips.append(watch.measured({})["hrp2"].slip_m)
        assert sim.certificate.missed == 0
    # with legs of 0.7 m and 0.19 m between the feet, some 0.1 g to each side: more than 0.08, less
    # than 0.2
    assert slips[0] > 5e-3
    assert slips[1] < 1e-4
    assert np.isfinite(slips).all()

"""Values put into the text of a scene: what is written is read as the scene that was set, and the
rest of the text stays.
"""

from pathlib import Path

import pytest

from tabi import scenes
from tabi.scenes.rewriting import replaced, rewritten

TEXT = """# a head
title: t   # of it
ground: {friction: 0.5}  # rough
objects:
  # the first
  - {shape: box, name: crate, size_m: [0.1, 0.2, 0.3], mass_kg: 2}
  - shape: sphere
    radius_m: &r 0.1   # shared
    mass_kg: 1
  - {shape: sphere, name: other, radius_m: *r, mass_kg: 1, position_m: [1, 0, 0]}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(TEXT)
    return path


def test_a_value_is_replaced_where_it_is_written_and_all_else_stays(file):
    scene = scenes.load(file, ["objects.crate.mass_kg=3.25", "ground.friction=0.75"])
    text, kept = rewritten(scene, file)
    assert kept
    assert text == TEXT.replace("mass_kg: 2}", "mass_kg: 3.25}").replace("0.5}", "0.75}")
    assert scenes.loads(text) == scene


def test_things_are_found_by_name_and_by_number_and_numbers_in_lists_too():
    assert replaced(TEXT, ["objects.0.size_m.1=7", "objects.1.mass_kg=4"]) == TEXT.replace(
        "0.2, 0.3]", "7, 0.3]"
    ).replace("    mass_kg: 1\n", "    mass_kg: 4\n")
    assert replaced(TEXT, ["objects.crate.mass_kg=1", "objects.crate.mass_kg=5"]) == TEXT.replace(
        "mass_kg: 2}", "mass_kg: 5}"
    )


@pytest.mark.parametrize(
    "setting",
    [
        # a copy of another; not written; not there; deeper than a value
        "objects.other.radius_m=0.2",
        "objects.1.radius_m=0.2",
        "ground.restitution=0.1",
        "objects.nobody.mass_kg=1",
        "objects.9.mass_kg=1",
        "title.x=1",
    ],
)
def test_what_is_not_written_alone_cannot_be_replaced(setting):
    assert replaced(TEXT, [setting]) is None


@pytest.mark.parametrize("setting", ["objects.other.radius_m=0.2", "ground.restitution=0.1"])
def test_a_scene_is_then_written_anew_and_reads_as_the_same(file, setting):
    scene = scenes.load(file, [setting])
    text, kept = rewritten(scene, file)
    assert not kept
    assert "# the first" not in text
    assert scenes.loads(text) == scene


def test_what_is_included_is_written_anew(tmp_path):
    (tmp_path / "base.yaml").write_text(TEXT)
    file = tmp_path / "over.yaml"
    file.write_text("include: base.yaml\ntitle: over\n")
    scene = scenes.load(file, ["objects.crate.mass_kg=3"])
    text, kept = rewritten(scene, file)
    assert not kept
    assert scenes.loads(text) == scene


def test_a_scene_without_a_file_or_that_is_put_elsewhere_still_reads_as_the_same(tmp_path):
    scene = scenes.loads(TEXT, overrides=["ground.friction=0.1"])
    text, kept = rewritten(scene, Path("x.yaml"))
    assert (kept, scenes.loads(text) == scene) == (False, True)
    (tmp_path / "base.yaml").write_text(TEXT)
    file = tmp_path / "over.yaml"
    file.write_text("include: base.yaml\ntitle: over\n")
    (tmp_path / "far").mkdir()
    scene = scenes.load(file, ["title=new"])
    text, kept = rewritten(scene, tmp_path / "far" / "over.yaml")
    assert not kept
    assert scenes.loads(text, tmp_path / "far" / "over.yaml") == scene

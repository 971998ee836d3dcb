"""A scene as people use it: loaded by name, written as a file, run."""

import pytest

import tabi
from tabi import scenes
from tabi.scenes import SceneError


def test_the_face_of_the_package_shows_scenes():
    assert tabi.scenes is scenes
    assert "standing" in scenes.names()


@pytest.mark.parametrize("name", scenes.names())
def test_what_is_written_as_a_file_is_the_same_scene(name):
    scene = scenes.load(name)
    assert scenes.loads(scene.to_yaml()) == scene
    assert scene.name == name
    assert scene.title == scene.contents.title
    assert scene.camera is not None


def test_scenes_that_differ_are_not_equal():
    assert scenes.load("standing") != scenes.load("standing", ["duration_s=1"])
    assert scenes.load("standing", ["duration_s=5"]) == scenes.load("standing")


def test_names_and_texts_that_look_like_others_come_back_as_they_were():
    ball = "{shape: sphere, radius_m: 0.1, mass_kg: 1, name: 'null'}"
    scene = scenes.loads(f"""title: '12: "no" # — é'\nabout: |\n  a\n  b\nobjects: [{ball}]\n""")
    again = scenes.loads(scene.to_yaml())
    assert (again.title, again.contents.about, again.contents.objects[0].name) == (
        '12: "no" # — é',
        "a\nb\n",
        "null",
    )


def test_numbers_come_back_to_the_last_bit():
    numbers = ["0.1", "1e-12", "0.30000000000000004", "12345.678901234567", "5e-324"]
    for number in numbers:
        scene = scenes.loads(
            "title: t\n"
            f"objects: [{{shape: sphere, radius_m: 1, mass_kg: 1, "
            f"velocity_m_s: [{number}, 0, 0]}}]\n"
        )
        assert scenes.loads(scene.to_yaml()).contents.objects[0].velocity_m_s[0] == float(number)


def test_world_and_simulator_are_new_every_time():
    scene = scenes.load("slide")
    assert scene.world() is not scene.world()
    sim = scene.simulator()
    assert (sim.dt, sim.tolerance, sim.scheme, sim.time) == (1e-3, 1e-8, "time-stepping", 0.0)


def test_something_that_is_no_scene_is_refused():
    with pytest.raises(SceneError, match="expected a name or the path of a file"):
        scenes.load(3)

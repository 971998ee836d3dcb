"""Files that include others, and values from the command line:
what ends up where, and whose fault a fault is.
"""

import os

import pytest

from tabi import scenes
from tabi.scenes import SceneError

BASE = (
    "title: base\nground: {friction: 0.5, restitution: 0.1}\nobjects:\n"
    "  - {shape: sphere, name: ball, radius_m: 0.1, mass_kg: 1}\n"
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "base.yaml").write_text(BASE)
    return tmp_path


def write(folder, text, name="mine.yaml"):
    (folder / name).write_text(text)
    return folder / name


def test_an_included_scene_is_added_to(folder):
    more = (
        "objects:\n  - {shape: sphere, name: second, radius_m: 0.2, mass_kg: 2}\n"
        "  - {name: ball, mass_kg: 7}\n"
    )
    scene = scenes.load(
        write(folder, "include: base.yaml\ntitle: mine\nground: {friction: 0.9}\n" + more)
    )
    assert scene.title == "mine"
    # keys are joined with keys, things by their names
    assert (scene.contents.ground.friction, scene.contents.ground.restitution) == (0.9, 0.1)
    assert [(o.name, o.radius_m, o.mass_kg) for o in scene.contents.objects] == [
        ("ball", 0.1, 7.0),
        ("second", 0.2, 2.0),
    ]


def test_a_fault_in_an_included_file_names_that_file(folder):
    write(folder, BASE.replace("mass_kg: 1", "mass_kg: 0"), "base.yaml")
    with pytest.raises(SceneError, match=r"base.yaml, line 4: objects.ball.mass_kg is 0"):
        scenes.load(write(folder, "include: base.yaml\n"))


def test_a_built_in_scene_can_be_included(folder):
    assert (
        scenes.load(write(folder, "include: standing\nduration_s: 1\n")).contents.robots[0].robot
        == "hrp2"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("include: mine.yaml\n", "leads back"),
        ("include: [base.yaml, gone.yaml]\n", "'gone.yaml' is not there"),
        ("include: /etc/passwd\n", "is absolute"),
        ("include: standng\n", "did you mean 'standing'?"),
        ("include: {a: b}\n", "include is no path"),
        ("include:\n", "include is no path"),
    ],
)
def test_an_include_that_cannot_be_is_refused(folder, text, said):
    with pytest.raises(SceneError, match=r"mine.yaml, line 1: ") as fault:
        scenes.load(write(folder, text))
    assert said in str(fault.value)


def test_files_that_include_each_other_are_refused(folder):
    write(folder, "include: two.yaml\n", "one.yaml")
    with pytest.raises(SceneError, match=r"two.yaml, line 1: include 'one.yaml' leads back"):
        scenes.load(write(folder, "include: one.yaml\n", "two.yaml").with_name("one.yaml"))


def test_endless_chains_of_files_are_refused(folder):
    for k in range(12):
        write(folder, f"include: part{k + 1}.yaml\n", f"part{k}.yaml")
    with pytest.raises(SceneError, match="no scene needs that"):
        scenes.load(folder / "part0.yaml")


# ---- the command line ---------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["objects.ball.mass_kg", "objects.0.mass_kg"])
def test_a_value_is_set_by_name_or_number(folder, path):
    assert scenes.load(folder / "base.yaml", [f"{path}=3"]).contents.objects[0].mass_kg == 3.0


def test_settings_are_taken_in_their_order_and_make_what_is_not_there(folder):
    settings = [
        "ground.friction=1",
        "ground.friction=0.2",
        "simulation.step_s=1e-4",
        "camera={position_m: [1, 2, 3]}",
        "gravity_m_s2=[0,0,0]",
    ]
    found = scenes.load(folder / "base.yaml", settings).contents
    assert (
        found.ground.friction,
        found.simulation.step_s,
        found.camera.position_m,
        found.gravity_m_s2[2],
    ) == (0.2, 1e-4, (1, 2, 3), 0.0)


def test_one_of_two_that_share_an_alias_can_be_set(folder):
    both = "  - &a {shape: sphere, radius_m: 0.1, mass_kg: 1}\n  - *a\n"
    scene = scenes.load(write(folder, f"title: t\nobjects:\n{both}"), ["objects.0.mass_kg=5"])
    assert [o.mass_kg for o in scene.contents.objects] == [5.0, 1.0]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (
            "ground.frction=1",
            (
                "--set ground.frction=1: key 'frction' in ground is not known; "
                "did you mean 'friction'?"
            ),
        ),
        (
            "ground.friction=-1",
            "--set ground.friction=-1: ground.friction is -1; expected a number from 0 to 100",
        ),
        (
            "ground.friction=",
            (
                "--set ground.friction= has no value; "
                "expected ground.friction=VALUE, with null for nothing"
            ),
        ),
        ("ground.friction", "is not KEY=VALUE; for example"),
        ("=1", "is not KEY=VALUE"),
        ("ground..friction=1", "is not KEY=VALUE"),
        ("objects.bll.mass_kg=1", "objects.bll is not there; did you mean 'ball'?"),
        ("objects.7.mass_kg=1", "objects.7 is not there; there are ball"),
        ("title.x=1", "title is a single value and has no 'x' inside"),
        ("ground={friction: [}", "this is not YAML"),
        ("title=!!python/name:os.system", "no code in them"),
    ],
)
def test_settings_are_checked_as_files_are(folder, setting, said):
    with pytest.raises(SceneError) as fault:
        scenes.load(folder / "base.yaml", [setting])
    assert said in str(fault.value)


# ---- finding ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("standng", "scene 'standng' is neither built in nor a file; did you mean 'standing'?"),
        ("zzz", "is neither built in nor a file; built in are bend-and-jump, bounce"),
        (
            "nowhere/slide.yaml",
            (
                "there is no such file; expected a scene file, or a built-in scene; "
                "did you mean 'slide'?"
            ),
        ),
        ("robot.urdf", "it is a robot and no scene"),
        (".", "it is a folder"),
    ],
)
def test_a_scene_that_is_not_there_gets_the_nearest_name(name, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SceneError) as fault:
        scenes.load(name)
    assert said in str(fault.value)


def test_a_scene_without_a_name_is_asked_for():
    with pytest.raises(SceneError, match="the scene has no name"):
        scenes.load("")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes by name here")
def test_a_pipe_is_refused_instead_of_waited_for(folder):
    os.mkfifo(folder / "pipe.yaml")
    with pytest.raises(SceneError, match=r"pipe\.yaml: it is no plain file"):
        scenes.load(folder / "pipe.yaml")


def test_a_mass_too_small_for_arithmetic_is_refused(folder):
    with pytest.raises(SceneError, match="mass_kg is 1e-300; expected a number from 1e-12 to"):
        scenes.load(folder / "base.yaml", ["objects.ball.mass_kg=1e-300"])

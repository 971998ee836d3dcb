"""Texts become what their keys are for; what cannot be is named with file, line and key."""

import pytest

from tabi import scenes
from tabi.scenes import SceneError
from tabi.scenes.keys import contents, robots, things

START = "title: t\nground: {}\nobjects:\n"
BOX = "  - shape: box\n    name: crate\n    size_m: [1, 1, 1]\n    mass_kg: 2\n"


def fault(text: str) -> SceneError:
    with pytest.raises(SceneError) as found:
        scenes.loads(text, "my.yaml")
    return found.value


def test_every_kind_of_value_is_read_as_its_key_says():
    text = (
        START
        + BOX
        + (
            "    count: 2\n    spacing_m: [0, 0, 1e0]\n    static_friction: ~\n"
            "simulation: {scheme: event-driven}\n"
        )
    )
    box = scenes.loads(text).contents.objects[0]
    assert box == things.OBJECTS["box"](
        name="crate", size_m=(1.0, 1.0, 1.0), mass_kg=2.0, count=2, spacing_m=(0.0, 0.0, 1.0)
    )
    assert all(isinstance(x, float) for x in (box.mass_kg, *box.size_m))
    assert scenes.loads(text).contents.simulation == contents.Simulation(scheme="event-driven")


def test_a_name_is_never_a_truth_or_a_number():
    assert scenes.loads(START + BOX.replace("crate", "no")).contents.objects[0].name == "no"
    assert scenes.loads("title: 12\n" + (START + BOX)[9:]).title == "12"


@pytest.mark.parametrize(
    ("change", "line", "key", "said"),
    [
        (
            ("mass_kg: 2", "mass: 2"),
            7,
            "objects.crate.mass",
            "key 'mass' in objects.crate is not known; did you mean 'mass_kg'?",
        ),
        (
            ("mass_kg: 2", "mass_kg: heavy"),
            7,
            "objects.crate.mass_kg",
            "objects.crate.mass_kg is 'heavy'; expected a number from 1e-12",
        ),
        (
            ("mass_kg: 2", "mass_kg: -2"),
            7,
            "objects.crate.mass_kg",
            "is -2; expected a number from 1e-12",
        ),
        (("mass_kg: 2", "mass_kg: '2'"), 7, "objects.crate.mass_kg", "is '2'; expected a number"),
        (
            ("mass_kg: 2", "mass_kg: 2 kg"),
            7,
            "objects.crate.mass_kg",
            "is '2 kg'; expected a number",
        ),
        (
            ("mass_kg: 2", "mass_kg: .inf"),
            7,
            "objects.crate.mass_kg",
            "is '.inf'; expected a number",
        ),
        (
            ("mass_kg: 2", "mass_kg: 1e999"),
            7,
            "objects.crate.mass_kg",
            "is 1e999; expected a number",
        ),
        (("mass_kg: 2", "mass_kg:"), 7, "objects.crate.mass_kg", "has no value; expected a number"),
        (
            ("mass_kg: 2", "mass_kg: [2]"),
            7,
            "objects.crate.mass_kg",
            "is a list of 1; expected a number",
        ),
        (("    mass_kg: 2\n", ""), 4, "objects.crate", "objects.crate has no mass_kg"),
        (
            ("[1, 1, 1]", "[1, 1]"),
            6,
            "objects.crate.size_m",
            "has 2 values; expected a list of 3 numbers",
        ),
        (("[1, 1, 1]", "[1, x, 1]"), 6, "objects.crate.size_m.1", "objects.crate.size_m.1 is 'x'"),
        (("[1, 1, 1]", "1"), 6, "objects.crate.size_m", "is 1; expected a list of 3"),
        (
            ("shape: box", "shape: bx"),
            4,
            "objects.crate.shape",
            "is 'bx'; expected one of box, sphere, ellipsoid, cylinder, capsule, convex, mesh,",
        ),
        (("shape: box", "shpe: box"), 4, "objects.crate", "has no shape; expected one of box"),
        (("name: crate", "name: 3crates"), 5, "objects.3crates.name", "expected a name"),
        (
            ("name: crate", "count: 2.5"),
            5,
            "objects.0.count",
            "is 2.5; expected a whole number from 1 to 500",
        ),
        (
            ("ground: {}", "grund: {}"),
            2,
            "grund",
            "key 'grund' is not known; did you mean 'ground'?",
        ),
        (
            ("ground: {}", "ground: {friction: {a: 1}}"),
            2,
            "ground.friction",
            "is keys (a); expected a number",
        ),
        (("ground: {}", "materials: {a/b: {}}"), 2, "materials.a/b", "cannot be a name"),
        (("title: t", "title: ''"), 1, "title", "expected a text of 1 to 120 characters"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_key(change, line, key, said):
    found = fault((START + BOX).replace(*change))
    assert said in str(found)
    assert (found.line, found.key, found.file.name) == (line, key, "my.yaml")


def test_a_key_without_a_near_one_gets_the_list():
    assert "keys here are friction, restitution" in str(
        fault((START + BOX).replace("ground: {}", "ground: {zzz: 1}"))
    )


def test_a_list_instead_of_a_scene_is_refused():
    assert "the scene is a list of 2; expected keys (title" in str(fault("[1, 2]"))


def test_a_foot_is_a_body_or_more_about_it():
    from tabi.scenes.reader import Reader
    from tabi.scenes.tree import parse

    read = Reader().read(
        parse("robot: x.urdf\nfeet: {left: paw, right: {body: hoof}}\n", "my.yaml"),
        robots.RobotKeys,
    )
    assert read.feet == {"left": "paw", "right": robots.FootKeys(body="hoof")}


@pytest.mark.parametrize(
    "text",
    [
        f"title: t\n{'x' * 100_000}: 1\n",
        f"title: {'x' * 100_000}\n",
        f"title: t\nrobots: [{{robot: {'x' * 100_000}}}]\n",
    ],
)
def test_long_texts_are_not_told_in_full(text):
    assert len(str(fault(text))) < 500

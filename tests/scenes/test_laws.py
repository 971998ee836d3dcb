"""A scene chooses the law of contact, and its options."""

import pytest

import tabi
from tabi import scenes
from tabi.scenes.laws import law_of
from tabi.scenes.tree import SceneError

STANDING = "title: t\nground: {}\nrobots: [{robot: hrp2}]\nsimulation: {contact: %s}\n"


def told(contact, *settings):
    return scenes.loads(STANDING % contact, overrides=settings).contents.simulation.contact


def test_a_name_is_a_law_and_keys_are_its_options():
    assert law_of(told("selection")) == "selection"
    assert law_of(told("{law: selection, mode: one-step, pressure_rule: false}")) == tabi.Selection(
        mode="one-step", pressure_rule=False
    )
    keys = "{law: penalty, stiffness_n_m: 2e5, pitch_stiffness_nm_rad: 900, alpha_s_m: 0.1}"
    assert law_of(told(keys)) == tabi.Penalty(stiffness=2e5, pitch_stiffness=900.0, alpha=0.1)


def test_what_is_not_told_is_as_the_law_has_it():
    assert law_of(told("{law: selection}")) == tabi.Selection()
    assert law_of(told("{law: penalty}")) == tabi.Penalty()


def test_the_command_line_sets_it_too():
    setting = "simulation.contact={law: penalty, damping_ns_m: 5e3}"
    assert law_of(told("coulomb", setting)) == tabi.Penalty(damping=5e3)
    assert law_of(told("{law: selection}", "simulation.contact.mode=one-step")).mode == "one-step"


def test_it_is_written_as_it_was_read():
    scene = scenes.loads(STANDING % "{law: selection, mode: one-step}")
    assert "contact: {law: selection, mode: one-step}" in scene.to_yaml()
    assert scenes.loads(scene.to_yaml()) == scene


@pytest.mark.parametrize("contact", ["selection", "{law: penalty, stiffness_n_m: 2e5}"])
def test_a_robot_stands_by_it(contact):
    sim = scenes.loads(STANDING % contact).simulator()
    sim.run(0.05)
    assert sim.foot("left").state == "face, stick"
    assert contact.strip("{").replace("law: ", "").partition(",")[0] == sim._law.NAME


@pytest.mark.parametrize(
    ("contact", "words"),
    [
        (
            "selections",
            "simulation.contact is 'selections'; expected one of coulomb, frictionless, penalty, "
            "pyramid, selection",
        ),
        ("{law: coulombs}", "simulation.contact.law is 'coulombs'; expected one of selection"),
        ("{mode: exact}", "simulation.contact has no law; expected one of selection, penalty"),
        ("{law: selection, mode: fast}", "contact.mode is 'fast'; expected one of exact, one-step"),
        ("{law: penalty, stiffness_n_m: 0}", "stiffness_n_m is 0; expected a number > 0"),
        ("{law: penalty, stifness_n_m: 1}", "'stifness_n_m' in simulation.contact is not known"),
        ("[selection]", "simulation.contact is a list of 1; expected one of coulomb"),
    ],
)
def test_mistakes_are_explained_with_their_line(contact, words):
    with pytest.raises(SceneError, match="line 4") as fault:
        told(contact)
    assert words in str(fault.value)


def test_a_scene_without_feet_is_refused():
    text = "title: t\nground: {}\nsimulation: {contact: penalty}\n"
    text += "objects: [{shape: sphere, radius_m: 0.1, mass_kg: 1}]\n"
    with pytest.raises(SceneError, match=r"simulation\.contact: 'penalty' is a law of feet"):
        scenes.loads(text).simulator()

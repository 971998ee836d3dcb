"""Mistakes in scenes that the Python API finds: messages name the scene's keys."""

import pytest

import tabi
from tabi import scenes
from tabi.scenes.keys import names as key_names
from tabi.scenes.reader import Reader

HEAD = "title: x\nduration_s: 1\nground: {}\n"
HRP2 = "robots:\n- robot: hrp2\n  "
BOX = "objects:\n- {shape: box, size_m: [1, 1, 1], mass_kg: 1}\n"

MISTAKES = {
    "soles: {thickness_m: 20}": (
        "robots.hrp2.soles.thickness_m is 20 m",
        "did you mean millimetres, 0.02 m?",
    ),
    "soles: {young_modulus_pa: 2}": (
        "robots.hrp2.soles.young_modulus_pa is 2 Pa",
        "did you mean MPa, 2e+06 Pa?",
    ),
    "soles: {element_size_m: 0.003}": ("soles.element_size_m 0.003 m gives", "choose 0.006 m"),
    "soles: {rounded_m: 0.03}": ("robots.hrp2.soles.rounded_m is 0.03 m; expected zero or more",),
    "bush: {mass_below_kg: 300}": ("robots.hrp2.bush.mass_below_kg is 300.0 kg",),
    "motion: {kind: walk, gait: {centre_height_m: 3}}": (
        "take shorter or lower steps, or a lower robots.hrp2.motion.gait.centre_height_m",
    ),
}


def said(text):
    """What a scene ends in where it is built."""
    with pytest.raises(tabi.ModelError) as fault:
        scenes.loads(HEAD + text).simulator()
    return str(fault.value)


@pytest.mark.slow
@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_names_its_key_and_its_line(text):
    found = said(HRP2 + text + "\n")
    assert all(part in found for part in (*MISTAKES[text], "line 6"))
    assert "=" not in found


def test_the_scheme_and_the_law_are_keys_of_the_simulation():
    found = said("simulation: {scheme: event-driven}\n" + HRP2 + "soles: {}\n")
    assert "simulation.scheme is 'event-driven'" in found
    assert "take simulation.scheme: 'time-stepping'" in found
    found = said("simulation: {contact: selection}\n" + BOX)
    assert "simulation.contact: 'selection' is a law of feet" in found
    assert 'as in robots.*.feet: {"left": "L_FOOT", "right": "R_FOOT"}' in found


@pytest.mark.parametrize(
    ("key", "argument"),
    [("thickness_m", "thickness"), ("density_kg_m3", "density"), ("damping_nms_rad", "damping")],
)
def test_a_key_is_an_argument_with_its_unit(key, argument):
    assert key_names.argument_of(key) == argument


def test_calls_and_arguments_become_keys_and_the_rest_stays():
    keys = {"feet": ("robots", 0, "feet"), "sensors": ("robots", 0, "sensors")}
    for message, expected in {
        'give feet={…}, as in tabi.load(path, feet={"left": "L"})': (
            'give robots.0.feet: {…}, as in robots.0.feet: {"left": "L"}'
        ),
        'expected one: robot.add_sensor("imu", "imu", body)': (
            "expected one: the key robots.0.sensors"
        ),
        "take other=3 or robot.exclude(a, b)": "take other=3 or robot.exclude(a, b)",
    }.items():
        assert key_names.in_keys(Reader(), keys, message) == expected

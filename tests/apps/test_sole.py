"""``tabi sole``: from a robot, an outline or a mesh to figures."""

import json

import pytest
from apps.sentences import mistake
from typer.testing import CliRunner

from tabi.apps import cli

BOX = ("--outline", "0,0 0.2,0 0.2,0.1 0,0.1", "--thickness", "0.02", "--poisson-ratio", "0")


def told(*arguments: object) -> str:
    done = CliRunner().invoke(cli.app, ["sole", *(str(a) for a in arguments)])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.slow
def test_an_outline_gives_the_closed_forms_of_a_pad():
    options = ("--young-modulus", 1e6, "--viscosity", 2e-3, "--density", 1000)
    found = json.loads(told(*BOX, *options, "--wrench", "400,0.1,0.05", "--json"))
    assert found["mass_kg"] == pytest.approx(0.2 * 0.1 * 0.02 * 1000, rel=1e-9)
    assert found["stiffness"]["z"] == pytest.approx(1e6 * 0.02 / 0.02, rel=1e-9)
    load = found["load"]
    assert load["sink_m"] == pytest.approx(400.0 / 1e6, rel=1e-9)
    assert load["largest_pressure_pa"] == pytest.approx(400.0 / 0.02, rel=1e-6)
    assert load["touching_nodes"] == found["ground_nodes"] == len(load["pressure_pa"])
    first = found["modes"][0]
    assert first["damping_ratio"] == pytest.approx(2e-3 * 3.14159265 * first["frequency_hz"])


@pytest.mark.slow
def test_a_robot_stands_on_its_first_foot_with_all_its_weight(tmp_path):
    figure = tmp_path / "sole.svg"
    words = told("hrp2", "--figure", figure)
    assert "sole of hrp2, foot" in words
    assert "without friction" in words
    assert "<svg" in figure.read_text()


@pytest.mark.slow
def test_layers_are_given_once_for_all_or_once_for_each():
    two = ("--thickness", 0.01, "--young-modulus", 1e6, "--young-modulus", 2e6)
    found = json.loads(told(*BOX, *two, "--json"))
    # in series: 0.02/1e6 and 0.01/2e6 over the area
    assert found["stiffness"]["z"] == pytest.approx(0.02 / (0.02 / 1e6 + 0.01 / 2e6), rel=1e-9)
    assert "load" not in found


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give a robot, a file or --outline"),
        (("hrp2", "--outline", "0,0 1,0 0,1"), "one of them"),
        (("--outline", "0,0 1"), "--outline has '1'; expected 2 numbers"),
        (("--outline", ""), "at least three"),
        ((*BOX, "--wrench", "1,2"), "--wrench has '1,2'; expected 3 numbers"),
        ((*BOX, "--wrench", "10,5,5"), "centre of pressure lies outside"),
        ((*BOX, "--figure", "x.gif"), "format"),
        ((*BOX, "--figure", "x.png"), "give --wrench"),
        ((*BOX, "--density", 1, "--density", 2), "--density is given 2 times"),
        ((*BOX, "--poisson-ratio", 0.5, "--thickness", 1), "poisson ratio of a layer is 0.5"),
        (("none.msh",), "there is no such file"),
        (("nobody",), "neither built in"),
    ],
)
def test_mistakes_end_in_one_sentence(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert words in mistake(monkeypatch, capsys, "sole", *arguments)

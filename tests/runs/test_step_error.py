"""``tabi run --error``: the sentences, the JSON, and what it does not go with."""

import json

import pytest
from apps import sentences
from typer.testing import CliRunner

from tabi import scenes
from tabi.apps import cli, run
from tabi.runs import step_error as run_error
from tabi.runs.summary import Summary

SLIDE = (
    "title: t\nduration_s: 0.6\nground: {friction: 0.5}\n"
    "objects: [{shape: box, name: crate, size_m: [0.2, 0.2, 0.2], mass_kg: 1, "
    "position_m: [0, 0, 0.1], velocity_m_s: [2, 0, 0]}]\n"
)


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(SLIDE, encoding="utf-8")
    return path


def invoke(*arguments: object):
    return CliRunner().invoke(cli.app, ["run", *map(str, arguments), "--error"])


def test_a_crate_that_slides_is_told_with_its_changes_and_one_verdict(scene):
    done = invoke(scene)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "mine: t"
    (told,) = [line for line in lines if "changes it by" in line and "crate" in line]
    # v h/2 is 1 mm
    assert "h/2 changes it by 500 µm, h/4 by 7" in told
    assert "order 1.0, about " in told
    assert lines[-1].startswith("  converged") or lines[-1].startswith("  still changing")


def test_json_has_all_runs_and_settings_hold_for_each(scene):
    page = json.loads(invoke(scene, "--json", "--set", "simulation.step_s=0.002").stdout)
    found = page["step_error"]
    assert (found["step_s"], found["verdict"]) == (0.002, "still changing")
    assert found["missed_steps"] == {"h": 0, "h/2": 0, "h/4": 0, "tolerance/100": 0}
    crate = found["quantities"][0]
    assert set(crate["values"]) == {"h", "h/2", "h/4", "tolerance/100"}
    assert crate["value"] == page["places_m"]["crate"]


def test_pages_and_recordings_are_refused(scene, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(run, "play", lambda *_: pytest.fail("it was run"))
    for more in (["--page"], ["--record", tmp_path / "a.h5"]):
        said = sentences.mistake(monkeypatch, capsys, "run", scene, "--error", *more)
        assert "leave out --page and --record" in said
    assert not (tmp_path / "a.h5").exists()


def test_an_interrupt_ends_it_with_130_and_a_missed_step_with_1(scene, capsys):
    told = scenes.load(str(scene))
    seen = []

    def interrupted(one):
        seen.append(one)
        return Summary("mine", "t", interrupted=len(seen) == 2)

    assert run_error.run_error(told, interrupted, False, False) == 130
    assert len(seen) == 2
    assert "interrupted before all four runs were done" in capsys.readouterr().out
    finer = told.contents.simulation.tolerance_m_s / 100

    def missed(one):
        fine = one.contents.simulation.tolerance_m_s == finer
        return Summary("mine", "t", missed=3 if fine else 0)

    assert run_error.run_error(told, missed, False, False) == 1
    assert "with tolerance/100 3 STEPS DID NOT CONVERGE" in capsys.readouterr().out


def test_a_robot_that_falls_in_some_runs_only_is_told_so():
    row = {
        "name": "fallen_at.hrp2_s",
        "unit": "s",
        "value": 1.25,
        "values": {"h": 1.25, "h/2": None, "h/4": None, "tolerance/100": 1.25},
        "changes": {"h/2": None, "h/4": None, "tolerance/100": 0.0},
        "order": None,
        "error": None,
        "verdict": "still changing",
    }
    assert run_error.sentence(row) == (
        "hrp2 fell at 1.25 s; h/2 makes it none, h/4 makes it none, "
        "tolerance/100 by less than 1 ms; STILL CHANGING"
    )


@pytest.mark.parametrize(
    ("x", "unit", "shown"),
    [
        (2e-9, "m", "2 nm"),
        (3e-4, "m", "300 µm"),
        (0.0012, "m", "1.2 mm"),
        (1.5, "m", "1.5 m"),
        (0.0, "m", "0 m"),
        (0.002, "s", "2 ms"),
        (0.5, "°", "0.5°"),
        (13.0, "m/s²", "13 m/s²"),
        (4, "", "4"),
    ],
)
def test_amounts_have_units_that_suit_them(x, unit, shown):
    assert run_error.amount(x, unit) == shown

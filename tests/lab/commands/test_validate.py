"""``tabi validate``: what it prints, and how it ends."""

import json
import sys

import pytest
from typer.testing import CliRunner

import tabi
from tabi.apps import cli
from tabi.lab.validate import humanoids

FOUND = {
    "runs": 1,
    "steps": 300,
    "missed": [],
    "stopped": [],
    "worst_residual": 1e-9,
    "worst_penetration_m": 0.0,
    "most_contacts": 8,
    "fallen": 0,
}


def result(missed=0, interrupted=False):
    motion = FOUND | {"missed": [{"seed": k, "step": 1, "residual": 1e-7} for k in range(missed)]}
    robot = {
        "joints": 30,
        "mass_kg": 58.0,
        "weight_N": 568.98,
        "on_feet_after_5_s_N": 568.98,
        "notes": [],
    }
    robots = {"hrp2": robot | {"motions": {"standing": motion}}}
    settings = {"dt": 1e-3, "tolerance": 1e-8, "poses": 1}
    return {
        "settings": settings,
        "robots": robots,
        "interrupted": interrupted,
        "total": humanoids.total(robots),
    }


@pytest.fixture
def measured(monkeypatch):
    """What the experiment is to find, and with what it was called."""
    calls = []

    def pretend(found):
        def measure(robots, poses, keep, progress):
            progress("hrp2 standing", 0, 1)
            progress("hrp2 standing", 1, 1)
            calls.append(([robot.name for robot in robots], poses, keep))
            return found

        monkeypatch.setattr(humanoids, "measure", measure)
        return calls

    return pretend


def run(*arguments):
    return CliRunner().invoke(cli.app, ["validate", "humanoids", *arguments])


def test_humanoids_prints_a_table_and_ends_well(measured):
    calls = measured(result())
    done = run("--poses", "7")
    assert done.exit_code == 0
    assert "0 of 300 steps missed, 0 runs stopped: at most 1 in 100,000" in done.stdout
    assert calls == [(["hrp2"], 7, None)]


def test_humanoids_as_json_is_json_with_the_machine(measured):
    measured(result())
    found = json.loads(run("--json").stdout)
    assert found["total"] == {"steps": 300, "missed": 0, "stopped": 0, "within": True}
    assert found["versions"]["tabi"] == tabi.__version__
    assert found["hardware"]["threads_used"] == 1


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (result(missed=2), 1),
        (result(interrupted=True), 130),
        (result(missed=2, interrupted=True), 130),
    ],
)
def test_a_failure_ends_in_1_and_an_interrupt_in_130(measured, found, code):
    measured(found)
    done = run()
    assert done.exit_code == code
    assert ("interrupted" in done.stdout) == (code == 130)


@pytest.mark.slow
def test_robots_from_files_run_beside_hrp2(measured, shared):
    calls = measured(result())
    assert run("--robot", str(shared / "data" / "robots" / "sr1" / "SR1.urdf")).exit_code == 0
    assert calls[0][0] == ["hrp2", "SR1"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--foot", "left=a"], "--foot was given with 0 robots"),
        (
            ["--robot", "hrp2", "--robot", "hrp2", "--foot", "left=a"],
            "--foot was given with 2 robots",
        ),
        (["--keep", __file__], "is a file; expected a folder"),
        (["--robot", "nobody"], "robot 'nobody' is neither built in"),
    ],
)
def test_a_mistake_is_one_sentence(monkeypatch, capsys, arguments, words):
    monkeypatch.setattr(sys, "argv", ["tabi", "validate", "humanoids", *arguments])
    with pytest.raises(SystemExit) as left:
        cli.main()
    said = capsys.readouterr()
    assert (left.value.code, said.out) == (2, "")
    assert words in said.err
    assert said.err.count("\n") == 1


def test_a_robot_that_cannot_stand_is_named_before_the_first_one_runs(
    measured, shared, monkeypatch, capsys
):
    calls = measured(result())
    monkeypatch.setattr(
        sys,
        "argv",
        [
            "tabi",
            "validate",
            "humanoids",
            "--robot",
            str(shared / "data" / "robots" / "hrp4c" / "HRP4Cmain.urdf"),
        ],
    )
    with pytest.raises(SystemExit):
        cli.main()
    assert "legs of HRP4 are not known" in capsys.readouterr().err
    assert calls == []


def test_random_worlds_are_run_and_told_as_json():
    done = CliRunner().invoke(
        cli.app, ["validate", "worlds", "--worlds", "2", "--steps", "40", "--json"]
    )
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert (told["worlds"], told["steps"], told["nan"], told["tunnelled"]) == (2, 80, 0, 0)
    assert sum(row["steps"] for row in told["histogram"]) == 80


@pytest.mark.parametrize("within", [True, False])
def test_the_first_contact_of_a_step_ends_as_it_went(monkeypatch, within):
    from tabi.lab.walking import first_contact

    found = {"within": within, "drops": [], "landings": []}
    monkeypatch.setattr(first_contact, "validate", lambda progress: found)
    done = CliRunner().invoke(cli.app, ["validate", "first-contact", "--json"])
    assert done.exit_code == (0 if within else 1)
    assert json.loads(done.stdout)["within"] is within


@pytest.mark.parametrize("within", [True, False])
def test_walks_end_as_they_went(monkeypatch, tmp_path, within):
    from tabi.lab.walking import hirukawa_walk, walks

    asked = []

    def validate_walking(steps, progress):
        asked.append(steps)
        return {"steps": steps, "robots": {}, "within": within}

    def validate_walks(files, steps, progress):
        asked.append(([file.name for file in files], steps))
        return {"steps": steps, "robots": [], "walk": 0, "within": within, "interrupted": False}

    monkeypatch.setattr(hirukawa_walk, "validate", validate_walking)
    monkeypatch.setattr(walks, "validate", validate_walks)
    done = CliRunner().invoke(cli.app, ["validate", "walking", "--steps", "9"])
    assert done.exit_code == (0 if within else 1)
    assert done.stdout.startswith("9 steps, one pattern")
    done = CliRunner().invoke(cli.app, ["validate", "walks", str(tmp_path / "a.urdf"), "--json"])
    assert done.exit_code == (0 if within else 1)
    assert json.loads(done.stdout)["within"] is within
    assert asked == [9, (["a.urdf"], 10)]

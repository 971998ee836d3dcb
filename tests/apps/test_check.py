"""``tabi check``: the table, the verdict, and the exit codes."""

import json

import pytest
from apps import sentences
from typer.testing import CliRunner

from tabi.analysis import motion_check
from tabi.apps import check, cli

TORQUE = {
    "name": "torque",
    "unit": "of the limit",
    "margin": 0.25,
    "at_s": 1.5,
    "where": "knee",
    "within": True,
}
TRAVEL = {
    "name": "travel",
    "unit": "rad",
    "margin": 0.0,
    "at_s": 0.75,
    "where": "hip",
    "within": False,
}
GAP = {
    "name": "collision",
    "unit": "m",
    "margin": None,
    "at_s": None,
    "where": "",
    "within": True,
}
RUN = {
    "run": "as it is",
    "margins": [TORQUE, TRAVEL, GAP],
    "fallen_at_s": 0.9,
    "missed_steps": 2,
    "stopped": "",
}
FOUND = {
    "motion": "walk.pos",
    "robot": "hrp2",
    "duration_s": 4.0,
    "refused": "",
    "feasible": False,
    "interrupted": False,
    "runs": [RUN],
    "least": [one | {"run": "as it is"} for one in RUN["margins"]],
}


def invoke(*arguments: object):
    return CliRunner().invoke(cli.app, ["check", *map(str, arguments)])


@pytest.mark.slow
def test_a_standing_robot_is_feasible_in_all_runs():
    done = invoke("standing", "--time", "0.05", "--json")
    assert done.exit_code == 0, done.output
    page = json.loads(done.stdout)
    assert page["feasible"]
    assert [run["delay_s"] for run in page["runs"]] == [0, 0, 0, 0, 0, 0.002, 0.005]


def test_words_name_each_margin_its_place_and_its_time():
    lines = check.text(FOUND).splitlines()
    assert lines[0] == "walk.pos on hrp2, 4 s: NOT FEASIBLE"
    assert lines[2].split() == ["torque", "travel", "collision"]
    assert lines[3].split() == ["as", "it", "is", "25", "%", "0°", "!", "–"]
    told = "\n".join(lines)
    assert "joint torque: 25 %, knee at 1.5 s, as it is\n" in told
    assert "joint travel: 0°, hip at 0.75 s, as it is; LIMIT MET" in told
    assert "gap to what it should not touch: never near" in told
    assert "as it is: FELL at 0.9 s" in told
    none = {"margin": None, "at_s": None, "where": ""}
    for name, words in (("speed", "no limit is known"), ("pressure", "no foot carried most")):
        shown = check.text(FOUND | {"least": [TORQUE | none | {"name": name}]})
        assert words in shown
    assert "as it is: 2 STEPS DID NOT CONVERGE" in told


def test_a_motion_that_is_refused_says_why():
    told = check.text(FOUND | {"refused": "joint x goes too far", "runs": [], "least": []})
    assert told.splitlines() == [
        "walk.pos on hrp2, 4 s: NOT FEASIBLE",
        "  joint x goes too far",
    ]


def test_it_ends_with_1_if_it_is_not_feasible_and_with_130_if_it_was_interrupted(monkeypatch):
    monkeypatch.setattr(motion_check, "check", lambda *_: FOUND)
    assert invoke("standing").exit_code == 1
    monkeypatch.setattr(motion_check, "check", lambda *_: FOUND | {"feasible": True})
    assert invoke("standing").exit_code == 0
    cut = FOUND | {"interrupted": True}
    monkeypatch.setattr(motion_check, "check", lambda *_: cut)
    done = invoke("standing")
    assert done.exit_code == 130
    assert "interrupted, no verdict" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["walk.pos"], "say of which robot with --robot"),
        (["walk.pos", "--robot", "hrp2"], "no such file"),
        (["walk.pos", "--robot", "hrp2", "--time", "1"], "--set and --time are for scenes"),
        (["standing", "--smooth", "8"], "--foot, --base and --smooth are for patterns"),
        (["standing", "--robot", "atlas"], "robot 'atlas' not found in scene standing"),
        (["slide"], "has no robot"),
        (["no-such-scene"], "no-such-scene"),
    ],
)
def test_mistakes_are_one_sentence(arguments, words, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(motion_check, "check", lambda *_: pytest.fail("it was run"))
    assert words in sentences.mistake(monkeypatch, capsys, "check", *arguments)

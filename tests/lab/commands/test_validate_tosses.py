"""``tabi validate tosses``: what it prints, and how it ends."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from tabi import ModelError
from tabi.apps import cli
from tabi.lab.commands.validate import tosses
from tabi.lab.validate import tosses as study

SCORE = {
    f"{which}_{what}": {"median": 0.01, "nine_in_ten": 0.1, "each": [0.01]}
    for which in ("mean", "last")
    for what in ("position_m", "angle_deg")
}
ENGINE = {"parameters": {"friction": 0.2}, "loss": 0.5, "evaluations": 10, "score": SCORE}
RESULT = {
    "settings": {"rate_Hz": 148.0, "step_s": 1e-3, "budget": 10, "fitted": 1, "scored": 1},
    "engines": {"tabi": ENGINE, "mujoco": ENGINE},
    "interrupted": False,
    "within": True,
    "not_larger": {"mean_position_m median": True},
}


@pytest.fixture
def invoke(monkeypatch):
    """Run the command with a result that is already there."""

    def run(result, *options):
        monkeypatch.setattr(
            study,
            "validate",
            lambda path, budget, progress: result | {"asked": [str(path), budget]},
        )
        return CliRunner().invoke(cli.app, ["validate", "tosses", "somewhere", *options])

    return run


def test_json_has_the_result_and_the_options_are_handed_on(invoke):
    ended = invoke(RESULT, "--json", "--budget", "25")
    assert ended.exit_code == 0
    assert json.loads(ended.stdout)["asked"] == ["somewhere", 25]


def test_it_ends_with_1_if_an_error_is_larger_and_says_which(invoke):
    ended = invoke(RESULT | {"within": False, "not_larger": {"mean_angle_deg median": False}})
    assert ended.exit_code == 1
    assert "larger than MuJoCo's: mean_angle_deg median" in ended.stdout


def test_it_ends_with_130_if_it_was_interrupted(invoke):
    assert invoke(RESULT | {"interrupted": True, "engines": {}}).exit_code == 130


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(ModelError, match="do not exist"):
        tosses(tmp_path / "missing.npz", budget=10)


def test_a_budget_below_ten_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", toss_0=np.zeros(3))
    ended = CliRunner().invoke(cli.app, ["validate", "tosses", str(tmp_path), "--budget", "9"])
    assert ended.exit_code == 2


def test_the_budget_is_that_of_the_study_unless_given(invoke):
    assert json.loads(invoke(RESULT, "--json").stdout)["asked"][1] == study.BUDGET

"""``tabi validate playback``: what it prints, and how it ends."""

import json

import pytest
from typer.testing import CliRunner

from tabi import ModelError
from tabi.analysis import pattern_playback
from tabi.apps import cli
from tabi.lab.commands.validate import playback

ROW = {
    "walk": "a robot",
    "fallen": False,
    "slip_mm": 0.25,
    "correlation": [0.99, 0.98],
    "offset_mm": [0.1, -0.2],
    "rms_mm": [5.0, 6.0],
    "reference": "its file",
}
RESULT = {"walks": [ROW], "within": True, "interrupted": False}


@pytest.fixture
def invoke(monkeypatch):
    """Run the command with a result that is already there."""

    def run(result, *options):
        monkeypatch.setattr(
            pattern_playback, "validate", lambda path, progress: result | {"asked": str(path)}
        )
        return CliRunner().invoke(cli.app, ["validate", "playback", "somewhere", *options])

    return run


def test_a_table_is_printed_and_json_has_the_folder_that_was_asked_for(invoke):
    ended = invoke(RESULT)
    assert ended.exit_code == 0
    assert "a robot" in ended.stdout
    assert "all of it" in ended.stdout
    assert json.loads(invoke(RESULT, "--json").stdout)["asked"] == "somewhere"


def test_it_ends_with_1_if_something_was_missed_and_with_130_if_it_was_interrupted(invoke):
    ended = invoke(RESULT | {"within": False})
    assert ended.exit_code == 1
    assert "MISSED" in ended.stdout
    assert invoke(RESULT | {"interrupted": True}).exit_code == 130


def test_a_folder_without_walks_is_one_sentence(tmp_path):
    with pytest.raises(ModelError, match="has no walking pattern that is known"):
        playback(tmp_path)

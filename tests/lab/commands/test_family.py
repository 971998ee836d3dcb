"""``tabi family export``: what it prints, and how it ends."""

import json

import pytest
from apps import sentences
from typer.testing import CliRunner

from tabi.apps import cli
from tabi.lab.family import export as family_export


def invoke(*arguments: object):
    return CliRunner().invoke(cli.app, ["family", "export", *map(str, arguments)])


@pytest.mark.slow
def test_a_folder_of_problems_is_told_by_kinds_and_solved_by_the_other_command(tmp_path):
    folder = tmp_path / "set"
    done = invoke(folder, "--count", 3, "--seed", 2)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(f"{folder}: 3 of 3 problems, 0 were there\n")
    page = json.loads(invoke(folder, "--count", 3, "--seed", 2, "--json").stdout)
    assert (page["reused"], len(page["problems"])) == (3, 3)
    solved = CliRunner().invoke(cli.app, ["solve", str(folder / page["problems"][0]["file"])])
    assert solved.exit_code == 0, solved.output


def test_mistakes_are_one_sentence(tmp_path, monkeypatch, capsys):
    said = sentences.mistake(
        monkeypatch, capsys, "family", "export", tmp_path / "x", "--count", 2, "--hardest", 3
    )
    assert "--hardest is 3, of 2 problems" in said
    assert not (tmp_path / "x").exists()


def test_an_interrupt_ends_with_130(tmp_path, monkeypatch):
    record = {
        "family": "fall",
        "file": "a.hdf5",
        "contacts": 3,
        "certificate": {"residual": 1e-9},
        "attempt": 5,
        "attempt_name": "x",
        "iterations": 7,
        "solved": False,
    }
    found = {
        "problems": [record],
        "count": 9,
        "reused": 0,
        "interrupted": True,
        "tolerance": 1e-8,
    }
    monkeypatch.setattr(family_export, "export", lambda *_: found)
    done = invoke(tmp_path)
    assert done.exit_code == 130
    assert "interrupted; the same command goes on" in done.stdout
    assert "NOT SOLVED to 1e-08: a.hdf5" in done.stdout

"""``tabi validate papers``."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from tabi import ModelError
from tabi.apps.cli import app
from tabi.lab.papers import command
from tabi.runs import pool


def run(*words: str):
    return CliRunner().invoke(app, ["validate", "papers", *words])


@pytest.fixture
def at_once(monkeypatch):
    """Runs in this process."""
    done = []

    def work(tasks, jobs, asked):
        for task in tasks:
            done.append(task.case.words)
            yield task, task.run()

    monkeypatch.setattr(pool, "work", work)
    return done


@pytest.mark.papers
@pytest.mark.slow
def test_one_experiment_is_run_once_and_its_page_is_written(at_once, tmp_path):
    words = ("--only", "hoap-squat", "--quick", "--referee", "none", "--out", str(tmp_path))
    first = run(*words, "--json")
    assert first.exit_code == 0, first.output
    told = json.loads(first.stdout)
    assert told["experiments"]["hoap-squat"]["verdict"] == "agrees"
    assert told["within"]
    assert (tmp_path / "papers.html").stat().st_size < 1e6
    count = len(at_once)
    # what is there is not run again
    again = run(*words)
    assert again.exit_code == 0
    assert len(at_once) == count
    assert again.stdout.split()[4:7] == ["hoap-squat", "M08", "agrees"]


def test_an_unknown_paper_or_experiment_is_named_with_the_nearest(tmp_path):
    found = run("--only", "hoap-squt", "--out", str(tmp_path))
    assert found.exit_code != 0
    assert "hoap-squat" in str(found.exception or found.output)


def test_an_engine_that_is_not_installed_is_left_out_and_told(monkeypatch):
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: None)
    names, notes = command._installed("mujoco,pinocchio")
    assert names == []
    assert all("pip install" in words for words in notes)
    assert len(notes) == 2


@pytest.mark.parametrize("words", ["mujco", "mujoco,mujoco"])
def test_an_engine_that_is_none_is_refused(words):
    with pytest.raises(ModelError):
        command._installed(words)

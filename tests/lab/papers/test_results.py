"""What was found is kept, line by line."""

from __future__ import annotations

import json

import pytest

from tabi import TabiError
from tabi.lab.papers import results
from tabi.lab.papers.results import LINES, PaperResults


def test_a_run_that_was_killed_goes_on_from_its_whole_lines(tmp_path):
    PaperResults(tmp_path).add("a run", {"numbers": {"x": 1.0}})
    with (tmp_path / LINES).open("ab") as file:
        file.write(b'{"run": "b ru')
    again = PaperResults(tmp_path)
    assert again.outcomes == {"a run": {"numbers": {"x": 1.0}}}
    again.add("b run", {})
    del again
    assert set(PaperResults(tmp_path).outcomes) == {"a run", "b run"}


def test_runs_of_other_sources_are_done_again(tmp_path, monkeypatch):
    PaperResults(tmp_path).add("a run", {})
    monkeypatch.setattr(results, "sources", lambda: "other")
    assert PaperResults(tmp_path).outcomes == {}


def test_sources_are_of_code_and_scenes():
    assert len(results.sources()) == 16


def test_two_commands_may_not_write_into_one_folder(tmp_path):
    first = PaperResults(tmp_path)
    with pytest.raises(TabiError, match="another process is at it"):
        PaperResults(tmp_path)
    del first
    PaperResults(tmp_path)


def test_lines_that_are_no_results_are_passed_over(tmp_path):
    (tmp_path / LINES).write_text("nonsense\n[]\n" + json.dumps({"run": "x"}) + "\n")
    assert PaperResults(tmp_path).outcomes == {}


def test_a_folder_of_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(TabiError, match=r"thesis.tex for one; expected an empty folder"):
        PaperResults(tmp_path)


def test_a_file_in_its_place_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(TabiError, match="choose another --out"):
        PaperResults(file)

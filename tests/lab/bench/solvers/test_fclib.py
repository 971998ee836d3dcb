"""``tabi bench fclib``: files and folders of friction problems."""

import json

import numpy as np
import pytest
from contact.problems import random_problem
from typer.testing import CliRunner

from tabi import TabiError
from tabi.apps import cli
from tabi.contact import files
from tabi.lab.bench.solvers import fclib, race


@pytest.fixture
def folder(tmp_path):
    """Two problems, one in each format, and a file that is none."""
    for seed, name in enumerate(("b.npz", "a.hdf5")):
        files.write(tmp_path / name, *random_problem(np.random.default_rng(seed)))
    (tmp_path / "readme.txt").write_text("nothing")
    return tmp_path


def test_a_folder_gives_its_problems_by_name(folder):
    assert [p.name for p in fclib.find([folder])] == ["a.hdf5", "b.npz"]
    assert fclib.find([folder / "b.npz"]) == [folder / "b.npz"]


def test_nothing_given_and_nothing_found_are_sentences(tmp_path):
    with pytest.raises(TabiError, match="name a folder with"):
        fclib.find([])
    with pytest.raises(TabiError, match="has no friction problem"):
        fclib.find([tmp_path])
    with pytest.raises(TabiError, match="there is no such file"):
        fclib.FclibRace(paths=[tmp_path / "gone.npz"], siconos=False).run()


@pytest.mark.slow
def test_the_command_prints_json_and_draws_the_profile(folder):
    figure = folder / "profile.png"
    done = CliRunner().invoke(
        cli.app, ["bench", "fclib", str(folder), "--json", "--no-siconos", "--figure", str(figure)]
    )
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert [row["name"] for row in result["problems"]] == ["a", "b"]
    assert result["summary"]["solved"][race.DEFAULT] == 2
    assert result["settings"]["tolerance"] == 1e-8
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_the_command_prints_a_table_and_says_where_it_is_on_the_error_stream(folder):
    done = CliRunner().invoke(
        cli.app, ["bench", "fclib", str(folder / "b.npz"), "--no-siconos", "--tolerance", "1e-6"]
    )
    assert done.exit_code == 0, done.output
    assert "problems: 1, solved to 1e-06:" in done.stdout
    assert "b (6): tabi auto" in done.stderr


def test_a_bad_figure_is_refused_before_the_work(folder, monkeypatch):
    monkeypatch.setattr(fclib.FclibRace, "run", lambda _: pytest.fail("measured"))
    with pytest.raises(TabiError, match=r"'\.bmp' is not known"):
        CliRunner().invoke(
            cli.app, ["bench", "fclib", str(folder), "--figure", "x.bmp"], catch_exceptions=False
        )


def test_an_interrupted_run_prints_what_it_has_and_ends_with_130(folder, monkeypatch):
    ours = race.ours

    def interrupted(problem, solver, tolerance):
        if solver == "gauss-seidel" and interrupted.calls:
            raise KeyboardInterrupt
        interrupted.calls += solver == "gauss-seidel"
        return ours(problem, solver, tolerance)

    interrupted.calls = 0
    monkeypatch.setattr(race, "ours", interrupted)
    done = CliRunner().invoke(cli.app, ["bench", "fclib", str(folder), "--no-siconos"])
    assert done.exit_code == 130
    assert "problems: 1," in done.stdout
    assert "interrupted" in done.stdout

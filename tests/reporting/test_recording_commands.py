"""The commands: what they print, what they write, and how they end."""

import json

import pytest
from typer.testing import CliRunner

from tabi._errors import TabiError
from tabi.apps.cli import app


def ran(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.slow
def test_plot_writes_a_figure_beside_the_recording(pushed, tmp_path):
    done = ran(
        "plot",
        pushed,
        "--what",
        "forces,certificate",
        "--out",
        tmp_path / "out.svg",
        "--from",
        0.1,
        "--to",
        0.3,
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out.svg").stat().st_size > 1000
    assert done.output.endswith("panels of forces, certificate\n")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet", "mcap", "html", "gif"])
def test_export_writes_what_the_ending_says(pushed, tmp_path, suffix):
    path = tmp_path / f"out.{suffix}"
    done = ran("export", pushed, "--to", path, "--rate", 25, "--until", 0.2, "--size", "64x48")
    assert done.exit_code == 0, done.output
    assert path.stat().st_size > 100
    assert f"{path}: 6 of 201 rows" in done.output


@pytest.mark.slow
def test_diff_ends_with_a_code_that_means_something(pushed, harder, tmp_path):
    assert ran("diff", pushed, pushed).exit_code == 0
    done = ran("diff", pushed, harder, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["verdict"] == "different"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["export", "{file}", "--to", "out.xyz"],
            "the format '.xyz' is not known; expected .csv, .parquet",
        ),
        (["export", "{file}", "--to", "nowhere/out.csv"], "there is no folder"),
        (["export", "{file}", "--to", "{file}.csv", "--rate", "-3"], "--rate is -3 Hz"),
        (["export", "{file}", "--to", "{file}.gif", "--size", "huge"], "--size is 'huge'"),
        (
            ["export", "{file}", "--to", "{file}.gif", "--from", "9"],
            "no row lies between 9 and the end",
        ),
        (["plot", "{file}", "--out", "x.bmp"], "the format '.bmp' is not known"),
        (["plot", "missing.hdf5", "--out", "x.png"], "there is no such file"),
        (["diff", "{file}", "missing.hdf5"], "there is no such file"),
        (["replay", "missing.hdf5"], "there is no such file"),
    ],
)
def test_mistakes_end_in_a_sentence(pushed, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    done = ran(*(word.format(file=pushed) for word in words))
    # main() turns these into exit code 2
    assert isinstance(done.exception, TabiError)
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)


def test_recording_is_not_overwritten_by_its_export(pushed, tmp_path):
    link = tmp_path / "same.csv"
    link.symlink_to(pushed)
    done = ran("export", pushed, "--to", link)
    assert "is the recording itself" in str(done.exception)
    assert pushed.stat().st_size > 1000


@pytest.mark.parametrize(
    ("command", "option", "name"),
    [("export", "--to", "out.html"), ("report", "--out", "out.html"), ("plot", "--out", "out.png")],
)
def test_a_folder_in_place_of_a_file_is_refused_before_the_work(
    pushed, tmp_path, command, option, name
):
    (tmp_path / name).mkdir()
    done = ran(command, pushed, option, tmp_path / name)
    assert isinstance(done.exception, TabiError)
    assert f"{name}: it is a folder" in str(done.exception)


def test_a_figure_never_replaces_the_recording(pushed, tmp_path):
    path = tmp_path / "run.png"
    path.write_bytes(pushed.read_bytes())
    done = ran("plot", path)
    assert "is the recording itself" in str(done.exception)
    assert path.read_bytes() == pushed.read_bytes()


def test_a_folder_is_not_taken_for_a_file_that_is_missing(tmp_path):
    assert (
        str(ran("replay", tmp_path).exception)
        == f"{tmp_path}: it is a folder; expected a recording"
    )


@pytest.mark.slow
def test_plot_and_export_understand_the_same_words(pushed, tmp_path):
    for words in (
        ["plot", str(pushed), "--out", str(tmp_path / "a.png"), "--until", "0.2", "--what", "zmp"],
        ["plot", str(pushed), "--out", str(tmp_path / "b.png"), "--to", "0.2", "--what", "zmp"],
        ["export", str(pushed), "--out", str(tmp_path / "c.csv"), "--until", "0.2"],
        ["export", str(pushed), "--to", str(tmp_path / "d.csv"), "--until", "0.2"],
    ):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output

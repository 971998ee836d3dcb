"""Commands on a recording of several episodes: each shows one, forwards in time, and names it."""

import csv
import json
import shutil

import pytest
from apps.pages import free_port
from typer.testing import CliRunner

import tabi
from tabi._errors import TabiError
from tabi.apps.cli import app
from tabi.apps.viewer.replay import Replay
from tabi.recording.recorded import read
from tabi.reporting import html
from tabi.reporting.frames import rows

SECONDS = (0.05, 0.12, 0.08)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Three episodes of a box that slides, faster each time."""
    world = tabi.World()
    world.add_ground(friction=0.4)
    world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, friction=0.4, position=(0.0, 0.0, 0.15))
    sim, path = tabi.Simulator(world), tmp_path_factory.mktemp("episodes") / "learn.h5"
    with sim.record(path):
        for k, seconds in enumerate(SECONDS):
            sim.reset()
            sim.set_state(sim.model.initial(), [1.0 + k, 0, 0, 0, 0, 0])
            sim.run(seconds)
    return path


def ran(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "number"), [((), 2), (("--episode", 0), 0), (("--episode", -2), 1)]
)
def test_report_is_of_one_episode_and_lists_all(file, tmp_path, words, number):
    done = ran("report", file, "--out", tmp_path / "r.html", *words)
    assert done.exit_code == 0, done.output
    steps = round(1000 * SECONDS[number])
    assert f"every one of {steps} steps of episode {number} (of 0 to 2)" in done.stdout
    assert "  episode 0: 0 to 0.05 s, 50 steps; reset\n" in done.stdout
    assert "  episode 2: 0 to 0.08 s, 80 steps; closed normally\n" in done.stdout
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "3 episodes" in page
    assert f"learn.h5, episode {number}" in page
    # a default is stated, a choice needs no words
    assert ("this is the last, 2" in done.stderr) == (words == ())


def test_report_in_numbers_has_all_episodes(file):
    numbers = json.loads(ran("report", file, "--episode", 1, "--json").stdout)
    assert numbers["certificate"]["steps"] == 120
    assert [one["steps"] for one in numbers["episodes"]] == [50, 120, 80]
    assert (numbers["episode"], numbers["ended"], numbers["certified"]) == (1, "reset", True)


def test_tables_have_one_episode_and_its_number(file, tmp_path):
    done = ran("export", file, "--to", tmp_path / "x.csv", "--episode", 1)
    assert "x.csv: 121 of 121 rows of episode 1 (of 0 to 2)" in done.stdout
    for name in ("x.csv", "x.contacts.csv"):
        with (tmp_path / name).open() as stream:
            table = list(csv.DictReader(stream))
        times = [float(row["time_s"]) for row in table]
        assert times == sorted(times)
        assert {row["episode"] for row in table} == {"1"}


@pytest.mark.slow
def test_figures_and_pages_name_the_episode(file, tmp_path):
    done = ran("plot", file, "--episode", 0, "--what", "energy", "--out", tmp_path / "x.png")
    assert done.stdout.endswith("panels of energy, episode 0 (of 0 to 2)\n")
    run = read(file, 0)
    page = html.page(run, rows(run))
    assert "episode 0 (of 0 to 2)" in page.partition("</title>")[0]
    assert html.contents(run, rows(run))["about"]["episode"] == "episode 0 (of 0 to 2)"


def test_replay_names_the_episode_and_how_it_ended(file):
    replay = Replay(read(file, 1), port=free_port())
    try:
        assert "episode 1 (of 0 to 2) · ended: reset" in replay.facts.content
        assert replay.bar.max == pytest.approx(0.12)
    finally:
        replay.close()


@pytest.mark.slow
def test_diff_compares_episodes_of_one_file(file):
    assert ran("diff", file, file).exit_code == 0
    assert ran("diff", file, file, "--episode", 1).exit_code == 0
    done = ran("diff", file, file, "--episode", 0, "--episode", 1)
    assert done.exit_code == 1
    assert "episodes 0 and 1" in done.stdout
    # the velocities at the start are 1 and 2 m/s
    assert "they part at 0 s" in done.stdout
    done = ran("diff", file, file, *["--episode", 0] * 3)
    assert isinstance(done.exception, TabiError)


@pytest.mark.parametrize("command", ["report", "plot", "replay"])
def test_an_episode_that_is_not_there_is_one_sentence(file, tmp_path, command):
    copy = tmp_path / "run.h5"
    shutil.copy(file, copy)
    done = ran(command, copy, "--episode", 3)
    assert isinstance(done.exception, TabiError)
    assert str(done.exception) == f"{copy}: there is no episode 3; it has 3 episodes, 0 to 2"


def test_a_recording_without_a_step_is_not_certified(tmp_path):
    world = tabi.World()
    world.add_box((0.1, 0.1, 0.1), 1.0)
    with tabi.Simulator(world).record(tmp_path / "run.h5"):
        pass
    numbers = json.loads(ran("report", tmp_path / "run.h5", "--json").stdout)
    assert numbers["certified"] is False
    assert numbers["verdict"].startswith("Nothing to certify: no step was recorded")


@pytest.mark.slow
def test_an_exception_stands_in_the_verdict_and_the_status_is_not_green(tmp_path):
    world = tabi.World()
    world.add_box((0.1, 0.1, 0.1), 1.0)
    sim = tabi.Simulator(world)
    with pytest.raises(ValueError, match="a <hole>"), sim.record(tmp_path / "run.h5"):
        sim.run(0.01)
        raise ValueError("a <hole>")
    done = ran("report", tmp_path / "run.h5")
    assert "Certified: every one of 10 steps" in done.stdout
    assert "stopped by ValueError: a <hole>." in done.stdout
    page = (tmp_path / "run.report.html").read_text(encoding="utf-8")
    assert '<p class="verdict warn">' in page
    assert "<hole>" not in page


def test_how_a_good_run_ended_is_said_too(file):
    one = ran("report", file, "--json")
    assert json.loads(one.stdout)["how_ended"] == "closed"

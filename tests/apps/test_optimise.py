"""``tabi optimise``: a closed form is found again; what is refused; that a killed search goes on to
the same end.
"""

import errno
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from apps.pages import until
from apps.sentences import invoked, refusal

from tabi import TabiError, scenes
from tabi.analysis.motion_cost import MEASURES
from tabi.apps import optimise_command as command
from tabi.runs.optimise import folder, ranges, search

CUBE = """# a cube that slides v²/2μg
title: a cube
duration_s: 1
ground: {friction: 1}
objects:
  - {shape: box, name: cube, size_m: [0.2, 0.2, 0.2], mass_kg: 1, friction: 0.4,
     position_m: [0, 0, 0.1], velocity_m_s: [2, 0, 0]}  # here
  - {shape: box, name: mark, size_m: [0.2, 0.2, 0.2], mass_kg: 1, position_m: [0, 1, 0.1]}
"""
OVER = ("--over", "objects.cube.friction=0.2:0.8", "--jobs", 1)
# 1.0 m from the mark it ends where it has slid for 0.3 m: hypot(0.3, 1) = 1.04403
GOAL = ("--cost", "distance:cube,mark=1.04403", "--cost", "missed")


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cube.yaml").write_text(CUBE, encoding="utf-8")
    return "cube.yaml"


@pytest.fixture
def here(monkeypatch):
    """Runs in this process: others take seconds to begin."""

    monkeypatch.setattr(search.pool, "work", alone)


def alone(tasks, jobs, asked, kept=None):
    return ((task, task.run()) for task in tasks)


invoke, refused = partial(invoked, "optimise"), partial(refusal, "optimise")


# ---- ranges -------------------------------------------------------------------------------------


def read(*over: str, text: str = CUBE):
    return ranges.read_ranges(over, scenes.loads(text).contents)


def test_a_range_is_absolute_or_around_what_the_scene_says():
    (one,) = read("objects.cube.friction=0.2:0.8")
    assert (one.keys, one.low, one.high, one.start) == (
        (("objects.cube.friction", 1.0),),
        0.2,
        0.8,
        0.4,
    )
    assert one.share() == pytest.approx(1 / 3)
    (other,) = read("objects.0.friction=+-0.1")
    assert (other.low, other.high) == pytest.approx((0.3, 0.5))
    # a default counts as said
    assert read("objects.mark.friction=0.1:1")[0].start == 0.8
    assert read("objects.cube.velocity_m_s.0=1:3")[0].start == 2


def test_keys_that_are_tied_get_one_number_with_their_signs():
    (one,) = read("objects.cube.velocity_m_s.1,-objects.mark.position_m.0=+-0.1")
    assert one.settings(0.25) == [
        "objects.cube.velocity_m_s.1=0.25",
        "objects.mark.position_m.0=-0.25",
    ]
    # a zero has no sign
    assert one.settings(0.0)[1] == "objects.mark.position_m.0=0"


def test_keys_that_are_tied_and_differ_are_refused_with_what_would_make_them_equal():
    tied = "-objects.cube.friction,objects.mark.position_m.1=+-0.1"
    with pytest.raises(TabiError, match="keys that are tied begin from one number") as told:
        read(tied)
    assert str(told.value).endswith(
        "objects.cube.friction = 0.4 and objects.mark.position_m.1 = 1; "
        "begin with --set objects.mark.position_m.1=-0.4"
    )
    (one,) = read(tied, text=CUBE.replace("[0, 1, 0.1]", "[0, -0.4, 0.1]"))
    assert one.start == -0.4


def test_a_star_stands_for_everything_that_has_the_key():
    found = read("objects.*.friction=0:1", "objects.*.size_m.1,objects.*.size_m.0=0:2")
    assert [one.name for one in found] == [
        "objects.0.friction",
        "objects.1.friction",
        "objects.0.size_m.1,objects.0.size_m.0",
        "objects.1.size_m.1,objects.1.size_m.0",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("over", "why"),
    [
        ("objects.cube.frction=0:1", "has no 'frction'; did you mean 'friction'"),
        ("objects.cub.friction=0:1", "did you mean 'cube'"),
        ("objects.*.nothing=0:1", "objects has no '*'"),
        ("objects.cube.friction=1:0.5", "nothing lies between 1 and 0.5"),
        ("objects.cube.friction=+-0", "nothing lies between"),
        ("objects.cube.friction=0.5:1", "which is not between 0.5 and 1"),
        ("objects.cube.friction=low", "expected FROM:TO or +-X"),
        ("objects.cube.friction=1:2:3", "expected FROM:TO or +-X"),
        ("objects.cube.friction", "is not KEY=FROM:TO"),
        ("objects..friction=0:1", "is not KEY=FROM:TO"),
        ("objects.cube.name=0:1", "is not a number"),
        ("objects.*.mass_kg,ground.friction=0:1", "tied stand for one thing each"),
    ],
)
def test_ranges_that_cannot_be_are_refused(over, why, scene):
    assert why in refused(scene, "--over", over, *GOAL)
    assert not Path("cube-optimise").exists()


def test_a_key_that_is_searched_twice_is_refused():
    with pytest.raises(TabiError, match="searched twice"):
        read("objects.cube.friction=0:1", "objects.cube.friction=0:2")


# ---- a search -----------------------------------------------------------------------------------


@pytest.mark.process
@pytest.mark.slow
def test_the_friction_of_a_cube_is_found_from_where_it_stops(scene, here):
    done = invoke(scene, *OVER, *GOAL, "--generations", 12, "--write", "found.yaml", "--json")
    told = json.loads(done.stdout)
    # v²/2μg = 0.3 m, and the scheme stops earlier by v h/2
    friction = 4 / (2 * 9.81 * 0.301)
    assert told["numbers"]["objects.cube.friction"] == pytest.approx(friction, rel=1e-2)
    assert told["cost"] < 0.02 < told["first_cost"]
    text = Path("found.yaml").read_text(encoding="utf-8")
    value = f"friction: {told['numbers']['objects.cube.friction']:.5g}"
    assert text == CUBE.replace("friction: 0.4", value)
    # a target of equality is hardly ever met to the last bit
    assert done.exit_code == 1
    again = invoke(scene, *OVER, *GOAL, "--generations", 12)
    assert "cost" in again.stdout
    assert "all generations are done" in again.stdout


@pytest.mark.process
def test_it_ends_as_soon_as_every_target_is_reached(scene):
    done = invoke(scene, *OVER, "--cost", "slip:cube<=0.4")
    assert done.exit_code == 0, done.output
    assert "every target is reached" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--cost", "tork"), "did you mean 'torque'"),
        (("--cost", "height:cub"), "cub"),
        (("--cost", "missed", "--spread", 2), "--spread is 2"),
        (("--cost", "missed", "--write", "x.txt"), "expected a scene file"),
        (("--cost", "missed", "--write", "there.yaml"), "it is there already"),
        (("--cost", "missed", "--write", "no/where.yaml"), "there is no folder"),
        (("--cost", "missed", "--write", "cube.yaml"), "it is the scene that is searched"),
        (("--cost", "fall"), "has no robot"),
        (("--cost", "missed", "--set", "ground.frction=1"), "did you mean 'friction'"),
    ],
)
def test_options_that_cannot_be_are_refused_before_anything_is_kept(arguments, why, scene):
    Path("there.yaml").write_text("title: other\n", encoding="utf-8")
    assert why in refused(scene, *OVER, *arguments)
    assert not Path("cube-optimise").exists()


@pytest.mark.process
@pytest.mark.slow
def test_a_folder_of_another_search_is_refused(scene, here):
    invoke(scene, *OVER, "--cost", "slip:cube<=0.4", "--out", "out")
    assert "another cost" in refused(scene, *OVER, "--cost", "slip:cube<=0.3", "--out", "out")
    seeded = ("--cost", "slip:cube<=0.4", "--out", "out", "--seed", 1)
    assert "another search" in refused(scene, *OVER, *seeded)
    Path("full").mkdir()
    Path("full/x").touch()
    assert "other things" in refused(scene, *OVER, "--cost", "slip:cube<=0.4", "--out", "full")


def test_ranges_of_which_nothing_can_be_run_are_told_in_one_sentence(scene):
    # key frames have to grow; objects have to have a size that scenes take
    over = ("--over", "objects.cube.friction=-90:0.5", "--set", "objects.cube.friction=-9")
    assert "friction" in refused(scene, *over, *GOAL)
    plan = search.Plan("cube.yaml", [], read("objects.cube.mass_kg=0:2"), ("missed",))
    told = [{"cost": None, "stopped": "it broke"}] * 4
    with folder.opened(Path("kept"), {}) as kept, pytest.raises(TabiError, match="it broke"):
        search.MotionSearch(plan, kept)._update(told)


def test_a_candidate_that_cannot_be_costs_infinitely_much(scene):
    one = search.Candidate(scene, ["objects.cube.friction=-1"], ("missed",), 0, 0)
    found = one.run()
    assert found["cost"] is None
    assert "friction" in found["stopped"]


@pytest.mark.slow
@pytest.mark.process
def test_a_search_that_is_killed_goes_on_and_comes_to_the_same(scene, here, tmp_path):
    whole = invoke(scene, *OVER, *GOAL, "--generations", 2, "--out", "whole", "--json")
    words = [*map(str, (*OVER, *GOAL)), "--generations", "2", "--out", "cut"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tabi", "optimise", scene, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    runs = tmp_path / "cut" / "runs.jsonl"
    until(lambda: runs.exists() and runs.read_bytes().count(b"\n") >= 3, 60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    # half a line, as of one who is killed while he writes
    with runs.open("ab") as file:
        file.write(b'{"generation": 0, "cand')
    before = runs.read_bytes().count(b"\n")
    cut = invoke(scene, *words, "--json")
    told, expected = json.loads(cut.stdout), json.loads(whole.stdout)
    assert told["numbers"] == expected["numbers"]
    assert told["runs"] == expected["runs"] > before
    lines = [json.loads(line) for line in runs.read_text().splitlines()]
    places = [(line["generation"], line["candidate"]) for line in lines]
    assert len(places) == len(set(places))


@pytest.mark.slow
@pytest.mark.process
def test_an_interrupt_keeps_the_best_and_says_so(scene, monkeypatch):
    def stopped(tasks, jobs, asked, kept=None):
        for task in tasks:
            yield task, task.run()
            if task.generation == 0:
                asked.append(2)
                return

    monkeypatch.setattr(search.pool, "work", stopped)
    words = (scene, *OVER, *GOAL, "--write", "best.yaml", "--generations")
    done = invoke(*words, 1)
    assert done.exit_code == 130, done.output
    assert "the same command goes on" in done.stdout
    # the file is written at the end alone
    assert not Path("best.yaml").exists()
    assert (
        json.loads(Path("cube-optimise/best.json").read_text(encoding="utf-8"))["found"]["cost"]
        is not None
    )
    monkeypatch.setattr(search.pool, "work", alone)
    for generations in (1, 2):
        done = invoke(*words, generations, "--json")
        told = json.loads(done.stdout)
        assert (told["ended"], told["written"]) == ("all generations are done", "best.yaml")
        value = f"friction: {told['numbers']['objects.cube.friction']:.5g}"
        assert value in Path("best.yaml").read_text(encoding="utf-8")
    # what somebody else wrote stays
    Path("best.yaml").write_text(CUBE, encoding="utf-8")
    assert "it is there already" in refused(*words, 2)
    assert Path("best.yaml").read_text(encoding="utf-8") == CUBE


def test_the_help_and_the_page_name_every_measure():
    told = command.Cost.__metadata__[0].help
    page = Path(__file__).resolve().parents[2] / "docs" / "optimise.md"
    assert {"fall", "energy", "slip"} < set(MEASURES)
    for name, how in MEASURES.items():
        assert name in told
        of = ":" + ",".join(["BODY"] * how.bodies) if how.bodies else ""
        row = next(line for line in page.read_text().splitlines() if f"| `{name}{of}` |" in line)
        assert row.endswith(f"| {how.size:g} |")


@pytest.mark.process
def test_a_process_that_is_lost_is_told(scene, monkeypatch):
    monkeypatch.setattr(
        search.pool, "work", lambda tasks, *rest: ((t, "the process is gone") for t in tasks)
    )
    done = invoke(scene, *OVER, *GOAL)
    assert done.exit_code == 1
    assert "LOST: the process is gone" in done.stdout


@pytest.mark.process
@pytest.mark.slow
def test_a_folder_with_a_broken_line_is_refused(scene, here):
    invoke(scene, *OVER, "--cost", "slip:cube<=0.4", "--out", "out")
    words = (scene, *OVER, "--cost", "slip:cube<=0.4", "--out", "out")
    lines = Path("out/runs.jsonl")
    text = lines.read_text(encoding="utf-8")
    first = json.loads(text.splitlines()[0])
    for row in ({}, [], first | {"numbers": []}, first | {"found": {"cost": 1.0}}):
        lines.write_text(text + json.dumps(row) + "\n", encoding="utf-8")
        count = text.count("\n") + 1
        assert f"line {count}: it is no run of this search" in refused(*words)
    Path("out/optimise.json").write_bytes(b"\xff")
    assert "is no search" in refused(*words)


@pytest.mark.process
@pytest.mark.slow
def test_a_state_that_is_broken_is_refused_and_made_again_once_it_is_removed(scene, here):
    words = (scene, *OVER, *GOAL, "--generations", 2)
    whole = json.loads(invoke(*words, "--json").stdout)
    state = Path("cube-optimise/state.json")
    text = state.read_text(encoding="utf-8")
    told = json.loads(text)
    two = {"mean": [0.5, 0.5], "covariance": [[1, 0], [0, 1]]}
    paths = {"path_step": [0, 0], "path_covariance": [0, 0]}
    for broken in ("{", "[]", "{}", json.dumps(told | two), json.dumps(told | two | paths)):
        state.write_text(broken, encoding="utf-8")
        assert "it is no state of this search; remove it" in refused(*words)
    state.unlink()
    assert json.loads(invoke(*words, "--json").stdout) == whole
    assert state.read_text(encoding="utf-8") == text


@pytest.mark.process
@pytest.mark.parametrize("name", ["runs.jsonl", "best.json", "state.json"])
def test_a_disk_that_is_full_is_told_in_one_sentence(name, scene, here, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    kept = folder._write

    def write(file, text):
        full() if file.name == name else kept(file, text)

    with monkeypatch.context() as patch:
        patch.setattr(folder, "_write", write)
        if name == "runs.jsonl":
            patch.setattr(folder.os, "fsync", full)
        words = (scene, *OVER, *GOAL, "--generations", 1)
        assert f"{name}: no space left on device; the runs before are kept" in refused(*words)
    assert "all generations are done" in invoke(*words).stdout


@pytest.mark.process
def test_a_gap_that_nothing_came_near_to_is_a_target_that_is_reached(tmp_path, here, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("--over", "ground.friction=+-0.1", "--time", 0.02, "--cost", "gap>=0.01", "--json")
    done = invoke("standing", *words)
    told = json.loads(done.stdout)
    (row,) = told["terms"]
    assert (told["ended"], told["cost"]) == ("every target is reached", 0)
    # infinite, which JSON has no word for
    assert (row["found"], row["cost"]) == (None, 0)
    assert done.exit_code == 0

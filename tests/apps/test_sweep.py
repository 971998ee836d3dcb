"""``tabi sweep``: a law of physics over a grid; what is refused;
that a killed sweep keeps its rows and goes on.
"""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from apps.pages import until
from apps.sentences import invoked, refusal

from tabi import TabiError, scenes
from tabi.apps import sweep_command as command
from tabi.recording.recording import Recording
from tabi.runs import pool, storage, sweep_figure
from tabi.runs import rows as tables

CUBE = "title: a cube\nduration_s: 1.2\nground: {friction: 1}\n"
CUBE += (
    "objects: [{shape: box, name: cube, size_m: [0.2, 0.2, 0.2], mass_kg: 1, friction: 0.2, "
    "position_m: [0, 0, 0.1], velocity_m_s: [2, 0, 0]}]\n"
)
STEP, GRAVITY = 1e-3, 9.81


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cube.yaml").write_text(CUBE)
    return "cube.yaml"


@pytest.fixture
def given(monkeypatch):
    """Runs in this process, a list of them."""
    done = []

    def work(tasks, *_):
        for task in tasks:
            done.append(task)
            yield task, task.run()

    monkeypatch.setattr(pool, "work", work)
    return done


invoke, refused = partial(invoked, "sweep"), partial(refusal, "sweep")


def lines(folder: Path) -> list[dict]:
    path = folder / "results.jsonl"
    return (
        [
            json.loads(line)
            for line in path.read_bytes().splitlines(keepends=True)
            if line.endswith(b"\n")
        ]
        if path.exists()
        else []
    )


# ---- the grid -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0.2,0.40, 8e-1", ["0.2", "0.4", "0.8"]),
        # thirds and sixths are where sums of floats go astray
        ("0.1:0.7:7", ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"]),
        ("2:-2:3", ["2", "0", "-2"]),
        ("[1,0,0],[0,1,0]", ["[1,0,0]", "[0,1,0]"]),
        ("{kind: squat, depth_m: 0.1},hold", ["{kind: squat, depth_m: 0.1}", "hold"]),
        ("chest", ["chest"]),
    ],
)
def test_values_are_lists_or_evenly_spaced(text, found):
    assert command.values(text, "key") == found


def test_a_grid_has_all_combinations_the_last_key_fastest():
    grid = command.read_grid(["a.b=1,2", "c=x,y,z"])
    assert [tuple(chosen.values()) for chosen in command.combinations(grid)] == [
        (a, c) for a in "12" for c in "xyz"
    ]


# ---- physics ------------------------------------------------------------------------------------


@pytest.mark.process
def test_a_cube_slides_v2_over_2_mu_g_for_every_friction_and_speed(scene, tmp_path):
    words = (
        "--over",
        "objects.cube.friction=0.2:0.8:3",
        "--over",
        "objects.cube.velocity_m_s=[1,0,0],[2,0,0]",
        "--jobs",
        2,
        "--json",
    )
    done = invoke(
        scene,
        *words,
        "--out",
        "out",
        "--figure",
        "distance.svg",
        "--plot",
        "places.cube.x",
        "--record",
    )
    assert done.exit_code == 0, done.output
    page = json.loads(done.stdout)
    assert (page["count"], page["done"], page["interrupted"]) == (6, 6, False)
    for run in page["runs"]:
        mu = run["parameters"]["objects.cube.friction"]
        v = float(run["parameters"]["objects.cube.velocity_m_s"][1])
        # an implicit step brakes at once: half a step's way less, and what is left of the last step
        assert run["places_m"]["cube"][0] == pytest.approx(
            v * v / (2 * mu * GRAVITY), abs=0.5 * v * STEP + mu * GRAVITY * STEP**2
        )
        assert run["settings"][0] == f"objects.cube.friction={mu:g}"
        assert Recording.load(run["recording"]).time[-1] == pytest.approx(1.2)
    assert (tmp_path / "distance.svg").stat().st_size > 5000
    with (tmp_path / "out" / "results.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert sorted(float(row["places_m.cube.x"]) for row in table) == sorted(
        run["places_m"]["cube"][0] for run in page["runs"]
    )
    assert {row["objects.cube.friction"] for row in table} == {"0.2", "0.5", "0.8"}


@pytest.mark.slow
def test_who_falls_and_when_is_a_column(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    done = invoke("fall", "--over", "duration_s=0.1,0.8", "--jobs", 1)
    assert done.exit_code == 0, done.output
    first, second = (line.split() for line in done.stdout.splitlines()[-2:])
    heads = done.stdout.splitlines()[-3]
    assert "hrp2 fell [s]" in heads
    assert len(given) == 2
    assert (first[4], 0.1 < float(second[4]) < 0.8) == ("–", True)
    assert (tmp_path / "fall-sweep" / "results.csv").exists()


# ---- going on -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_done_is_not_run_again_and_new_values_are(scene, tmp_path, given):
    first = json.loads(
        invoke(
            scene, "--over", "duration_s=0.01,0.02", "--jobs", 1, "--out", "out", "--json"
        ).stdout
    )
    given.clear()
    again = json.loads(
        invoke(scene, "--over", "duration_s=0.01,0.02", "--out", "out", "--json").stdout
    )
    assert again["runs"] == first["runs"]
    assert given == []
    # as if killed in the middle of a line
    with (tmp_path / "out" / "results.jsonl").open("ab") as file:
        file.write(b'{"run": 3, "para')
    more = json.loads(
        invoke(
            scene, "--over", "duration_s=0.01:0.03:3", "--jobs", 1, "--out", "out", "--json"
        ).stdout
    )
    assert [task.parameters for task in given] == [{"duration_s": "0.03"}]
    assert more["runs"][:2] == first["runs"]
    assert len(lines(tmp_path / "out")) == 3
    # a recording that is not there yet is made
    invoke(scene, "--over", "duration_s=0.01", "--jobs", 1, "--out", "out", "--record")
    assert len(list((tmp_path / "out").glob("*.h5"))) == 1
    assert len(lines(tmp_path / "out")) == 4


def started(scene: str, *words: str) -> subprocess.Popen:
    # three that end at once, and one that does not
    command = [
        sys.executable,
        "-m",
        "tabi.apps.cli",
        "sweep",
        scene,
        "--over",
        "duration_s=0.01,0.02,0.03,3000",
        "--jobs",
        "1",
        "--out",
        "out",
        *words,
    ]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


@pytest.mark.process
@pytest.mark.parametrize("everyone", [True, False])
def test_ctrl_c_keeps_all_rows_and_ends_with_130(scene, tmp_path, everyone):
    process = started(scene, "--record")
    try:
        last = tmp_path / "out" / "run-0004.h5"
        assert until(lambda: len(lines(tmp_path / "out")) == 3 and last.exists(), 300)
        # a terminal sends it to all processes of the group
        (os.killpg if everyone else os.kill)(process.pid, signal.SIGINT)
        said, wrong = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert wrong == ""
    assert "3 of 4 runs" in said
    assert "interrupted; the same command goes on" in said
    assert sorted(path.name for path in (tmp_path / "out").glob("*.h5")) == [
        "run-0001.h5",
        "run-0002.h5",
        "run-0003.h5",
    ]
    assert len((tmp_path / "out" / "results.csv").read_text().splitlines()) == 4


@pytest.mark.process
def test_ctrl_c_while_workers_begin_is_no_noise(scene, tmp_path):
    process = started(scene)
    try:
        assert until((tmp_path / "out" / "results.jsonl").exists, 300)
        # the worker is still at its imports
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        said, wrong = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, wrong) == (130, "")
    assert "interrupted; the same command goes on" in said


@pytest.mark.process
def test_kill_9_keeps_all_rows_and_ends_the_workers_too(scene, tmp_path):
    process = started(scene)
    try:
        assert until(lambda: len(lines(tmp_path / "out")) == 3, 300)
    finally:
        process.kill()
    # the pipes end with the last process that holds them
    process.communicate(timeout=60)
    assert [row["outcome"]["steps"] for row in lines(tmp_path / "out")] == [10, 20, 30]
    done = invoke(scene, "--over", "duration_s=0.01,0.02,0.03,0.04", "--jobs", 1, "--out", "out")
    assert done.exit_code == 0, done.output
    assert "4 of 4 runs" in done.stdout


@pytest.mark.process
def test_a_process_that_dies_is_told_and_its_run_repeated(scene, tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "serve", dies)
    done = invoke(scene, "--over", "duration_s=0.01,0.02", "--jobs", 2, "--out", "out")
    assert done.exit_code == 1
    assert "0 of 2 runs" in done.stdout
    assert (
        "LOST: the process of duration_s=0.01 ended by itself (code 7); repeat the command"
        in done.stdout
    )
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert (
        invoke(scene, "--over", "duration_s=0.01,0.02", "--jobs", 1, "--out", "out").exit_code == 0
    )


def dies(pipe):
    os._exit(7)


# ---- how runs end -------------------------------------------------------------------------------


def report(scene, **outcome):
    told = scenes.load(scene)
    found = {
        "scene": "cube",
        "title": "t",
        "settings": [],
        "robots": [],
        "fallen_at_s": {},
        "places_m": {},
        "missed_steps": 0,
        "stopped": None,
    }
    rows = [
        {
            "run": 1,
            "parameters": {"duration_s": "1"},
            "outcome": found | {"worst_residual_m_s": 0.0, "worst_penetration_m": 0.0} | outcome,
        }
    ]
    return tables.SweepReport(told, [], {"duration_s": ["1"]}, Path("out"), rows, [], False)


def test_a_run_that_missed_or_stopped_ends_with_1(scene):
    assert report(scene).code() == 0
    assert report(scene, missed_steps=2).code() == 1
    assert report(scene, stopped="it blew up").code() == 1
    assert "STOPPED: it blew up" in report(scene, stopped="it blew up").text()


def test_a_run_that_cannot_be_recorded_is_a_row_that_says_so(scene, tmp_path):
    task = pool.Task(
        scene, ["duration_s=0.01"], {"duration_s": "0.01"}, tmp_path / "nowhere" / "run.h5"
    )
    found = task.run()
    assert found is not None
    assert "no recording can be written there" in found["stopped"]


def test_numbers_that_are_none_are_no_numbers_in_the_rows(scene, tmp_path):
    found = pool.Task(scene, ["duration_s=0.01"], {}, None).run()
    assert found is not None
    with storage.opened(tmp_path / "out", scenes.load(scene), ["duration_s"]) as results:
        results.add(
            {"duration_s": "0.01"},
            found | {"places_m": {"cube": [float("nan"), 0.0, float("inf")]}},
        )
    (row,) = lines(tmp_path / "out")
    assert row["outcome"]["places_m"]["cube"] == [None, 0.0, None]


# ---- figures ------------------------------------------------------------------------------------


def rows_of(grid, value):
    made = {"scene": "s", "title": "t", "settings": [], "robots": ["r"], "worst_residual_m_s": 1e-9}
    chosen = command.combinations(grid)
    return [
        {
            "run": 1,
            "parameters": one,
            "outcome": made | {"fallen_at_s": {}, "places_m": {"b": [value(one), 0.0, 0.0]}},
        }
        for one in chosen
    ]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3, 12])
def test_one_key_is_a_curve_two_are_a_family_or_a_map(tmp_path, count):
    grid = {
        "ground.friction": ["0.4", "0.2", "0.8"],
        "objects.b.mass_kg": [str(k + 1) for k in range(count)],
    }
    rows = rows_of(
        grid, lambda one: float(one["ground.friction"]) * float(one["objects.b.mass_kg"])
    )
    sweep_figure.check(tmp_path / "f.svg", grid)
    assert sweep_figure.most_varying_place(rows) == "places_m.b.x"
    for name in ("places_m.b.x", "worst_residual_m_s", "fallen_at_s.r"):
        sweep_figure.draw(tmp_path / "f.svg", grid, rows[:-1], name, "a $ sign")
        assert (tmp_path / "f.svg").stat().st_size > 5000


def test_labels_have_units():
    assert sweep_figure.label("objects.crate.mass_kg") == "mass of crate [kg]"
    assert sweep_figure.label("objects.1.mass_kg") == "mass of object 2 [kg]"
    assert sweep_figure.label("places_m.crate.x") == "x of crate at the end [m]"
    assert sweep_figure.label("pushes.0.force_n.0") == "force of push 1 along x [N]"
    assert sweep_figure.label("robots.hrp2.motion.depth") == "depth of motion of hrp2"
    assert sweep_figure.label("fallen_at_s.hrp2") == "when hrp2 falls [s]"
    assert sweep_figure.label("worst_residual_m_s") == "worst residual [m/s]"
    assert sweep_figure.named("duration_s", "2") == "duration = 2 s"
    assert sweep_figure.label("ground.friction") == "friction of ground"


def test_outcomes_are_named_with_or_without_their_units():
    names = tables.outcomes(["hrp2"], ["crate"])
    for asked, found in [
        ("places.crate.x", "places_m.crate.x"),
        ("places_m.crate.x", "places_m.crate.x"),
        ("fallen_at", "fallen_at_s.hrp2"),
        ("worst_residual", "worst_residual_m_s"),
        ("real_time_factor", "real_time_factor"),
    ]:
        assert tables.outcome(asked, names) == found
    with pytest.raises(TabiError, match=r"outcomes near that name: 'places\.crate\."):
        tables.outcome("places", names)


# ---- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--over", "ground.frction=1,2"], "the combination ground.frction=1 cannot be: "),
        (
            ["--over", "ground.friction=1,2", "--over", "duration_s=1,-1"],
            "the combination ground.friction=1, duration_s=-1 cannot be: ",
        ),
        (["--over", "watch=[cube],[cub]"], "the combination watch=[cub] cannot be: "),
        (["--over", "ground.friction"], "is not KEY=VALUES"),
        (["--over", "ground.friction=1,,2"], "a value between the commas is missing"),
        (["--over", "ground.friction=1,1.0"], "1 is there twice"),
        (["--over", "ground.friction=0:1:1"], "the count is 1; expected a whole number from 2"),
        (
            ["--over", "ground.friction=0:1:1000", "--over", "duration_s=1:2:1000"],
            "1000000 combinations; expected at most 100000",
        ),
        (["--over", "ground.friction=1", "--over", "ground.friction=2"], "specified twice"),
        (
            ["--over", "ground.friction=1", "--set", "ground.friction=2"],
            "both set to one value and swept",
        ),
        (["--over", "duration_s=1", "--time", "2"], "duration_s is both set"),
        (["--over", "ground.friction=1", "--plot", "places.cube.x"], "give both"),
        (
            ["--over", "ground.friction=1", "--figure", "f.png", "--plot", "places.cub.x"],
            "'places.cube.x'",
        ),
        (["--over", "ground.friction=1", "--figure", "f.bmp"], "the format '.bmp' is not known"),
        (["--over", "title=a,b", "--figure", "f.png"], "needs a key whose values are numbers"),
        (["--over", "ground.friction=1", "--out", "cube.yaml"], "no results can be kept there"),
        (["--over", "ground.friction=1", "--out", "."], "there are other things in it"),
    ],
)
def test_mistakes_are_one_sentence_before_anything_runs(scene, tmp_path, monkeypatch, given, said):
    monkeypatch.setattr(pool, "work", lambda *_: pytest.fail("it was run"))
    assert said in refused(scene, *given)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cube.yaml"]


@pytest.mark.slow
def test_the_folder_of_another_sweep_is_refused(scene, tmp_path, monkeypatch):
    with storage.opened(tmp_path / "out", scenes.load(scene), ["duration_s"]):
        # two at once would write into each other's lines
        assert "another process is at it" in refused(
            scene, "--over", "duration_s=1", "--out", "out"
        )
    monkeypatch.setattr(pool, "work", lambda *_: pytest.fail("it was run"))
    for given, said in [
        (["slide", "--over", "duration_s=1"], "a sweep of the scene cube, not this one"),
        ([scene, "--over", "ground.friction=1"], "a sweep over duration_s, not this one"),
        (
            [scene, "--over", "duration_s=1", "--set", "ground.friction=2"],
            "a sweep with other settings (none), not this one",
        ),
    ]:
        assert said in refused(*given, "--out", "out")
    (tmp_path / "cube.yaml").write_text(CUBE.replace("mass_kg: 1", "mass_kg: 2"))
    assert "of an earlier state of the scene file" in refused(
        scene, "--over", "duration_s=1", "--out", "out"
    )
    (tmp_path / "out" / "sweep.json").write_text("[]")
    assert "no sweep of this version" in refused(scene, "--over", "duration_s=1", "--out", "out")


def test_a_line_that_is_no_row_is_named(scene, tmp_path):
    with storage.opened(tmp_path / "out", scenes.load(scene), ["duration_s"]):
        pass
    (tmp_path / "out" / "results.jsonl").write_text("{}\n")
    assert "results.jsonl, line 1: it is no row" in refused(
        scene, "--over", "duration_s=1", "--out", "out"
    )


def test_of_many_numbers_some_are_built_beforehand_and_all_of_what_are_none():
    numbers = [str(k) for k in range(48)]
    some = command.ends(numbers)
    assert {"0", "47"} <= some
    assert len(some) == command.PREBUILT_VALUES
    assert command.ends(numbers[:6]) == set(numbers[:6])
    words = [f"[{k}]" for k in range(20)]
    assert command.ends(words) == set(words)

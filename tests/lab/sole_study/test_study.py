"""``tabi study soles``: fronts that are known, a study of a short walk, and what is refused."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from functools import partial

import pytest
from apps.pages import until
from apps.sentences import invoked, refusal

from tabi import scenes
from tabi.lab.sole_study import figures, findings, front, page, series, soles
from tabi.runs import pool

GRID = {"ground.friction": ["0.5", "5"], "robots.0.motion.gait.lift_m": ["0.04", "0.05"]}
# what is run: a study of eight runs
RUN = {"ground.friction": ["0.5"], "robots.0.motion.gait.lift_m": ["0.04", "0.05"]}
# one short step on rigid feet, and a rest that is over at once
WALK = (
    "walk",
    "--set",
    "robots.0.motion.path.0.count=1",
    "--set",
    "robots.0.motion.gait={rest_s: 0.1, shift_s: 0.4}",
    "--time",
    "1.8",
)


def run_of(a=1.0, i=1.0, fallen=None, stopped=None):
    return front.SoleRun(a, a, i, i, i, fallen, stopped, 0)


def point(a, i, finer=None, fallen=None, **parameters):
    half = run_of(a if finer is None else finer, i)
    return front.StudyPoint("pattern", parameters or {"k": f"{a}"}, run_of(a, i, fallen), half)


invoke, refused = partial(invoked, "study", "soles"), partial(refusal, "study", "soles")


# ---- front and compromise -----------------------------------------------------------------------


def test_the_front_is_what_no_other_point_beats():
    rng = random.Random(3)
    points = [point(rng.randint(1, 12), rng.randint(1, 12)) for _ in range(60)]
    best = front.front(points)
    for p in points:
        # in the words of the definition
        beaten = any(
            q.place[0] <= p.place[0]
            and q.place[1] <= p.place[1]
            and (q.place[0] < p.place[0] or q.place[1] < p.place[1])
            for q in points
        )
        assert (p in best) is not beaten
    assert [p.place[0] for p in best] == sorted(p.place[0] for p in best)


def test_the_compromise_is_nearest_to_the_corner_in_ranges_of_the_front():
    # on a quarter of a circle around the far corner, in ranges 10 and 0.1: the middle is nearest
    points = [point(10, 0.5), point(12.93, 0.4293), point(20, 0.4)]
    assert front.compromise(points) is points[1]
    # units do not matter
    scaled = [point(1e3 * p.place[0], 1e-3 * p.place[1]) for p in points]
    assert front.compromise(scaled) is scaled[1]
    assert front.compromise([points[0]]) is points[0]
    assert front.compromise([]) is None


def test_points_that_fall_or_change_with_the_step_do_not_count():
    good = point(10.0, 2.0, finer=11.0)
    changes, falls = point(1.0, 1.0, finer=1.12), point(1.0, 1.0, fallen=0.5)
    # 10 % of the value with half the step, and no more
    assert point(1.0, 1.0, finer=1.11).counts
    assert changes.change == pytest.approx(0.12 / 1.12)
    assert [p.counts for p in (good, changes, falls)] == [True, False, False]
    assert [p.state for p in (good, changes, falls)] == ["", "step too long", "falls"]
    assert front.front([good, changes, falls]) == [good]
    later = front.StudyPoint("pattern", {}, run_of(), run_of(fallen=2.0))
    assert later.falls
    assert front.StudyPoint("pattern", {}, run_of(a=None), run_of()).state == "no impact"
    assert front.StudyPoint("pattern", {}, run_of(stopped="x"), run_of()).state == "stopped"


# ---- a study ------------------------------------------------------------------------------------


def over(grid):
    return [
        word for key, values in grid.items() for word in ("--over", f"{key}={','.join(values)}")
    ]


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A study that was killed after some of its runs and then finished: its folder, its rows before
    the end and after it, and what it told.
    """
    folder = tmp_path_factory.mktemp("study")
    words = [*WALK, *over(RUN), "--out", "out", "--json", "--jobs", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tabi.apps.cli", "study", "soles", *words],
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        cwd=folder,
    )
    rows = folder / "out" / "results.jsonl"

    def lines():
        return rows.read_bytes().splitlines(keepends=True) if rows.exists() else []

    try:
        assert until(lambda: len(lines()) >= 2, 300)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    before = [line for line in lines() if line.endswith(b"\n")]
    with contextlib.chdir(folder):
        done = invoke(*words)
    assert done.exit_code == 0, done.output
    return folder, before, lines(), json.loads(done.stdout)


@pytest.mark.process
def test_a_study_killed_in_the_middle_loses_nothing_and_repeats_nothing(killed):
    _, before, after, told = killed
    assert 2 <= len(before) < 8
    assert told["done"] == 8
    assert after[: len(before)] == before
    places = [json.dumps(json.loads(line)["parameters"], sort_keys=True) for line in after]
    assert len(places) == len(set(places)) == 8


@pytest.mark.process
def test_a_short_walk_is_studied_told_and_not_run_twice(killed, monkeypatch):
    folder, *_, told = killed
    monkeypatch.chdir(folder)
    assert (told["count"], told["done"]) == (8, 8)
    assert told["steps_s"] == [5e-4, 2.5e-4]
    for name in ("pattern", "stabiliser"):
        points = told["series"][name]["points"]
        assert [p["parameters"] for p in points] == [
            {"ground.friction": a, "robots.0.motion.gait.lift_m": b}
            for a in RUN["ground.friction"]
            for b in RUN["robots.0.motion.gait.lift_m"]
        ]
        assert all(p["impact_m_s2"] > 0 and p["inclination_deg"] > 0 for p in points)
        counting = [p for p in points if p["counts"]]
        best = min(counting, key=lambda p: p["impact_m_s2"], default=None)
        if best is not None:
            assert best["parameters"] in told["series"][name]["front"]
            assert told["series"][name]["compromise"]["counts"]
    html = (folder / "out" / "report.html").read_text()
    assert html.count('<img src="data:image/svg+xml;base64,') == 4
    for words in ("Butterworth", "250 Hz", "50 ms", "Compromise", "Machine", "robots.0.bush=null"):
        assert words in html
    assert "<script" not in html
    # the same again is done at once
    monkeypatch.setattr(pool, "work", lambda *_: pytest.fail("it was run"))
    again = invoke(*WALK, *over(RUN), "--out", "out", "--report", "mine.html")
    assert again.exit_code == 0, again.output
    assert "8 of 8 runs; report in mine.html" in again.stdout
    assert "stabiliser: " in again.stdout
    assert (folder / "mine.html").exists()


def test_series_are_the_papers_way_and_ours():
    assert len(series.places(GRID, ("0.001", "0.0005"))) == 16
    chosen = {"series": "pattern", "simulation.step_s": "0.001"}
    blind = scenes.load("walk", soles.task("walk", [], chosen).settings).contents.robots[0]
    assert blind.bush is None
    assert blind.motion.stabiliser is False
    ours = soles.task("walk", [], chosen | {"series": "stabiliser"})
    stabilised = scenes.load("walk", ours.settings).contents.robots[0]
    assert stabilised.bush is not None
    assert stabilised.motion.stabiliser is True


def test_every_family_has_its_curves_and_falls_are_crosses():
    grid = {"e": ["1e5", "1e7"], "nu": ["0.3", "0.4"], "t": ["1", "2"]}
    assert figures.families(grid) == [{"t": "1"}, {"t": "2"}]
    points = [
        point(1.0 + float(t), 1.0, fallen=0.5 if e == "1e5" else None, e=e, nu=nu, t=t)
        for e in grid["e"]
        for nu in grid["nu"]
        for t in grid["t"]
    ]
    figure = figures.curves(grid, points, {"t": "2"})
    left = figure.axes[0]
    assert left.get_xscale() == "log"
    crosses = [line for line in left.lines if line.get_marker() == "x"]
    assert [list(line.get_xdata()) for line in crosses] == [[1e5], [1e5]]
    stars = [line for line in figures.pareto(points).axes[0].lines if line.get_marker() == "*"]
    assert list(stars[0].get_xdata()) == [2.0]


def test_a_study_that_has_only_begun_is_a_page_too(tmp_path):
    scene = scenes.load("walk")
    begun = findings.SoleStudy(scene, [], GRID, ("0.001", "0.0005"), tmp_path, [], ["lost"], True)
    html = page.page(begun)
    assert "16 runs are still to be done" in html
    assert "No point has both its runs yet" in html
    assert begun.code() == 130
    assert "interrupted; the same command goes on" in begun.text(tmp_path / "report.html")


# ---- mistakes -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["walk", "--over", "ground.friction="], "is not KEY=VALUES"),
        (["walk", "--over", "ground.friction=1,,2"], "a value between the commas is missing"),
        (["walk", "--over", "robots.0.bush=null,{}"], "robots.0.bush is set by the study itself"),
        (["walk", "--over", "simulation.step_s=1e-3"], "simulation.step_s is set by the study"),
        (["walk", "--over", "title=a,b"], "its values are not numbers"),
        (["standing", "--over", "ground.friction=1"], "cannot be: "),
        (["nowhere", "--over", "ground.friction=1"], "scene 'nowhere' is neither built in"),
        (["walk", "--over", "ground.friction=1", "--jobs", "0"], "--jobs is 0"),
        (
            ["walk", "--over", "ground.friction=1", "--set", "robots.0.bush=null"],
            "robots.0.bush is set by the study itself",
        ),
    ],
)
def test_mistakes_are_one_sentence_before_anything_runs(tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pool, "work", lambda *_: pytest.fail("it was run"))
    assert said in refused(*given)
    assert list(tmp_path.iterdir()) == []

"""``tabi report``: loads and ways against formulas, the verdict,
and a page that opens offline whatever the recording says.
"""

import json
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import tabi
from tabi import scenes
from tabi._errors import TabiError
from tabi.apps.cli import app
from tabi.recording.recorded import read
from tabi.reporting.report import contacts, findings, page, pictures
from tabi.runs.play import play

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
GRAVITY, STEP = 9.81, 1e-3


def numbers_of(run):
    return findings.measure(run, contacts.touches(run))


def page_of(run):
    found = contacts.touches(run)
    return page.page(run, found, findings.measure(run, found), Path("run.h5"))


def scene_run(path, name, *settings):
    play(scenes.load(name, settings), path)
    return read(path)


@pytest.fixture(scope="module")
def slide(tmp_path_factory):
    return scene_run(tmp_path_factory.mktemp("slide") / "slide.h5", "slide")


class Outline(HTMLParser):
    """Tags that open and close, and the text between them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.words, self.sources = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.sources += [
            value for name, value in attrs if name in ("src", "href", "srcset", "style")
        ]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


# ---- physics ------------------------------------------------------------------------------------


def test_cubes_slip_v2_over_2_mu_g_and_creep_nowhere(slide):
    frictions = {"slippery": 0.2, "middling": 0.4, "rough": 0.8}
    found = numbers_of(slide)["bodies"]
    assert {body["name"] for body in found} == set(frictions)
    for body in found:
        mu = frictions[body["name"]]
        # an implicit step brakes at once: half a step's way less
        assert body["slip_m"] == pytest.approx(2**2 / (2 * mu * GRAVITY), abs=2 * STEP)
        # what the tolerance of 1e-8 m/s allows in two seconds
        assert body["creep_m"] < 2e-8
        assert body["mean_load_n"] == pytest.approx(2 * GRAVITY, rel=1e-6)
        assert body["friction_used"] == pytest.approx(mu, rel=1e-6)


def test_rows_that_are_far_apart_tell_nearly_the_same(slide, tmp_path):
    thin = scene_run(tmp_path / "thin.h5", "slide", "record.rate_hz=100")
    numbers = numbers_of(thin)
    exact = {body["name"]: body["slip_m"] for body in numbers_of(slide)["bodies"]}
    for body in numbers["bodies"]:
        # the first row of ten steps has nothing before it, at 2 m/s
        assert body["slip_m"] == pytest.approx(exact[body["name"]], abs=2 * 10 * STEP)
    assert numbers["steps_a_row"] == 10
    assert "one row for 10 steps" in numbers["warnings"][-1]


def test_what_rides_a_belt_is_carried_and_does_not_creep(tmp_path):
    run = scene_run(tmp_path / "belt.h5", "conveyor", "duration_s=0.5")
    found = numbers_of(run)["bodies"]
    assert [body["name"] for body in found] == ["parcel1", "parcel2", "parcel3", "tin"]
    for body in found:
        assert body["slip_m"] + body["carried_m"] > 0.01
        assert body["creep_m"] < 1e-6


def test_feet_bear_the_weight_and_stand_still(run):
    numbers = numbers_of(run)
    weight = numbers["robots"][0]["mass_kg"] * GRAVITY
    assert [foot["name"] for foot in numbers["feet"]] == run.world.feet.names
    # while the push lasts it neither lifts nor presses much
    assert sum(foot["mean_load_n"] for foot in numbers["feet"]) == pytest.approx(weight, rel=0.05)
    assert all(foot["slip_m"] + foot["creep_m"] < 1e-4 for foot in numbers["feet"])
    assert numbers["certified"]
    assert numbers["verdict"].startswith(
        "Certified: every one of 400 steps reached 1e-08 m/s, the worst "
    )
    assert numbers["verdict"].endswith("; hrp2 stayed up.")
    assert numbers["seed"] == 3


def test_distance_to_the_edge_of_a_polygon_whichever_way_it_turns():
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
    points = np.array([[1.0, 0.5], [0.1, 0.5], [1.0, 1.2]])
    for outline in (square, square[::-1]):
        assert findings.inside(points, outline) == pytest.approx([0.5, 0.1, -0.2])


def test_spans_close_over_brief_gaps():
    at, holds = 0.01 * np.arange(10), np.array([0, 1, 1, 0, 1, 0, 0, 0, 1, 1], bool)
    assert contacts.spans(holds, at, 0.021) == [(1, 4), (8, 9)]
    assert contacts.spans(holds, at, 0.0) == [(1, 2), (4, 4), (8, 9)]
    assert contacts.spans(~holds & holds, at) == []


# ---- the verdict and what to look at ------------------------------------------------------------


def test_missed_steps_are_counted_and_timed(run):
    missed = np.zeros(len(run.time), np.int64)
    # two in one row, one a little later, one at the end
    missed[50:], missed[60:], missed[-1] = 2, 3, 4
    found = numbers_of(replace(run, certificate=run.certificate | {"missed": missed + 5}))
    assert not found["certified"]
    assert found["verdict"].startswith(
        "Not certified: 4 of 400 steps missed 1e-08 m/s, between 0.1 and 0.4 s"
    )
    assert [(m["from_s"], m["to_s"], m["steps"]) for m in found["certificate"]["missed"]] == [
        (0.1, 0.12, 3),
        (0.4, 0.4, 1),
    ]
    assert "5 steps had missed the tolerance before this episode began." in found["warnings"]


@pytest.mark.slow
def test_who_falls_is_told_as_by_the_run_itself(tmp_path):
    scene = scenes.load("fall", ["duration_s=0.8"])
    told = play(scene, tmp_path / "fall.h5")
    found = numbers_of(read(tmp_path / "fall.h5"))
    # the run looks at its robots every 0.05 s and tells it from their speed;
    # half of g t² / 2 is the most that bends its path meanwhile
    assert told.fallen["hrp2"] == pytest.approx(found["robots"][0]["fallen_at_s"], abs=0.006)
    assert f"hrp2 fell at {found['robots'][0]['fallen_at_s']:g} s" in found["verdict"]


def test_ends_of_travel_full_motors_and_edges_of_soles_are_warned_of(run):
    world, name = run.world, run.joint_names[-1]
    k = world.joint_of.index(name)
    at = run.q[:, world.dof["q"][k]]
    dof = world.dof | {
        "upper": np.where(np.arange(world.v_count) == k, at.min(), np.inf),
        "effort_limit": np.full(world.v_count, np.inf),
    }
    dof["effort_limit"][k] = 3.0
    effort = np.zeros_like(run.motors["effort"])
    effort[100:150, k] = -3.0
    feet = run.feet | {
        "pressure": np.tile(
            world.feet.outlines[0].max(axis=0) - (0.004, 0.02), (len(run.time), 2, 1)
        )
    }
    found = numbers_of(
        replace(
            run, world=replace(world, dof=dof), motors=run.motors | {"effort": effort}, feet=feet
        )
    )
    words = "\n".join(found["warnings"])
    assert (
        f"Joint {name} is at its upper end, {np.degrees(at.min()):.4g}°, for 0.4 s, first at 0 s."
        in words
    )
    assert f"The motor of {name} gives all it has, 3 N·m, for 0.1 s, first at 0.2 s." in words
    assert (
        f"of the {world.feet.names[0]} foot is within 5 mm of the edge of its sole for 0.4 s"
        in words
    )
    assert found["feet"][0]["edge_m"] == pytest.approx(0.004)


def test_ends_of_travel_are_in_the_recording(run):
    robot = tabi.robots.hrp2()
    assert len(robot.joint_names) == 30
    for name in robot.joint_names:
        k = run.world.joint_of.index(name)
        assert (run.world.dof["lower"][k], run.world.dof["upper"][k]) == (
            robot.joint(name).lower,
            robot.joint(name).upper,
        )


def test_recordings_from_before_ends_of_travel_were_kept_have_none(pushed, tmp_path):
    shutil.copy(pushed, tmp_path / "old.h5")
    with h5py.File(tmp_path / "old.h5", "r+") as file:
        del file["world/dof/lower"], file["world/dof/upper"]
    old = read(tmp_path / "old.h5")
    assert np.isneginf(old.world.dof["lower"]).all()
    assert not any(words.startswith("Joint") for words in numbers_of(old)["warnings"])


# ---- the page -----------------------------------------------------------------------------------


def check_page(text):
    """Assert that a page is whole, closed to the network, without scripts,
    and of a size one can send.
    """
    found = Outline(text)
    assert found.open == []
    assert not {"script", "iframe", "object", "link", "form"} & set(found.tags)
    assert all(source.startswith("data:image/") for source in found.sources)
    assert "default-src 'none'" in text
    assert len(text) < 5e6
    return found


@pytest.mark.slow
def test_page_has_every_figure_the_tables_and_the_scene(slide, run):
    found = check_page(page_of(run))
    words = "".join(found.words)
    titles = [title for name, title in page.TITLES.items() if name != "soles"]
    for title in (*titles, "Certificate", "Feet", "Contacts", "What was run"):
        assert title in words
    assert page.TITLES["soles"] not in words
    # six moments, seven figures and the time line
    assert found.tags.count("img") == pictures.FRAME_COUNT + 8
    found = check_page(page_of(slide))
    assert "Three cubes slide at 2 m/s" in "".join(found.words)
    assert slide.scene in "".join(found.words)
    assert "Feet" not in found.words


@pytest.mark.slow
def test_soft_soles_have_a_figure_of_their_pressure(soft):
    found = check_page(page_of(soft))
    assert "Pressure under the soles" in "".join(found.words)


@pytest.mark.slow
def test_a_world_in_which_nothing_touches_has_a_page(tmp_path):
    world = tabi.World()
    world.add_sphere(radius=0.1, mass=1.0)
    sim = tabi.Simulator(world)
    with sim.record(tmp_path / "free.h5"):
        sim.run(0.05)
    run = read(tmp_path / "free.h5")
    assert "Nothing touched anything." in "".join(check_page(page_of(run)).words)
    assert numbers_of(run)["certified"]
    # a single row has no time in it
    assert "".join(check_page(page_of(replace(run, **first_row(run)))).words)


def first_row(run):
    cut = {name: getattr(run, name)[:1] for name in ("time", "q", "v", "contact_count")}
    return cut | {
        name: {c: x[:1] for c, x in getattr(run, name).items()}
        for name in ("certificate", "motors", "energy", "feet", "robots")
    }


@pytest.mark.slow
def test_several_robots_are_told_apart(tmp_path):
    twins = (
        "title: twins\nduration_s: 0.05\nground: {}\n"
        "robots: [{robot: hrp2, name: twin0}, {robot: hrp2, name: twin1, position_m: [0, 2]}]\n"
    )
    play(scenes.loads(twins), tmp_path / "two.h5")
    run = read(tmp_path / "two.h5")
    found = numbers_of(run)
    assert found["verdict"].endswith("; twin0 stayed up; twin1 stayed up.")
    assert [foot["robot"] for foot in found["feet"]] == ["twin0", "twin0", "twin1", "twin1"]
    words = check_page(page_of(run)).words
    assert "Robot" in words
    assert "twin1" in words


@pytest.mark.slow
def test_hostile_names_are_words_and_nothing_else(run):
    bad = '</pre><script>alert(1)</script><img src=x onerror=alert(1)> & "quoted" $x^{2$'
    feet = replace(run.world.feet, names=[bad, "</td>"])
    world = replace(run.world, robot_names=[bad], feet=feet, joint_of=[bad] * run.world.v_count)
    meta = {
        "name": bad,
        "settings": [bad],
        "seed": bad,
        "versions": {bad: bad},
        "platform": bad,
        bad: {"<b>": "<i>"},
    }
    hostile = replace(
        run,
        world=world,
        meta=meta,
        scene=f"title: '{bad}<!--body-->'\n",
        body_names=[bad] * len(run.body_names),
        created=bad,
        version=bad,
    )
    found = check_page(page_of(hostile))
    assert found.tags.count("img") > 3
    assert "alert(1)" in "".join(found.words)


@pytest.mark.slow
@pytest.mark.parametrize("meta", [{}, {"settings": 3, "versions": [], "name": 7, "platform": None}])
def test_meta_data_of_any_form_make_a_page(slide, meta):
    check_page(page_of(replace(slide, meta=meta, scene="- no scene")))
    assert numbers_of(replace(slide, meta=meta))["versions"] == {}


# ---- the command --------------------------------------------------------------------------------


def ran(*words):
    return CliRunner().invoke(app, ["report", *map(str, words)])


@pytest.mark.slow
def test_command_writes_the_page_beside_the_recording_and_prints_the_verdict(pushed, tmp_path):
    file = tmp_path / "run.h5"
    shutil.copy(pushed, file)
    done = ran(file)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Certified: ")
    check_page((tmp_path / "run.report.html").read_text(encoding="utf-8"))
    done = ran(file, "--json")
    assert json.loads(done.stdout)["certificate"]["steps"] == 400
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.h5", "run.report.html"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "r.pdf"], "the format '.pdf' is not known; expected .html"),
        (["--out", "nowhere/r.html"], "there is no folder"),
        ([], "no such file"),
    ],
)
def test_mistakes_end_in_a_sentence(pushed, words, said):
    done = ran("missing.h5" if not words else pushed, *words)
    assert isinstance(done.exception, TabiError)
    assert said in str(done.exception)


@pytest.mark.slow
@pytest.mark.process
def test_the_recording_of_a_killed_run_says_so(tmp_path):
    file = tmp_path / "killed.h5"
    # rows of the first second are written, those of the next half are not
    words = (
        "from tabi import scenes; sim = scenes.load('slide').simulator(); "
        f"sim.record({str(file)!r}); sim.run(1.5)"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{words}; import os; os.kill(os.getpid(), 9)"], timeout=300
    )
    assert done.returncode == -signal.SIGKILL
    done = ran(file, "--json", "--out", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    numbers = json.loads(done.stdout)
    assert numbers["closed"] is False
    assert numbers["to_s"] == pytest.approx(1.0)
    assert numbers["warnings"][0].startswith("The recording was never closed")
    check_page((tmp_path / "r.html").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
def test_browser_shows_and_prints_the_page_without_a_network(run, tmp_path):
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="package playwright is not installed"
    )
    (tmp_path / "r.html").write_text(page_of(run), encoding="utf-8")
    faults = []
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 900, "height": 700}, offline=True).new_page()
        page.on(
            "console",
            lambda message: faults.append(message.text) if message.type == "error" else None,
        )
        page.goto((tmp_path / "r.html").as_uri())
        shown = page.eval_on_selector_all("img", "all => all.map(i => i.naturalWidth)")
        wide = page.evaluate("document.documentElement.scrollWidth")
        sheets = len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))
        browser.close()
    assert faults == []
    assert min(shown) > 100
    # nothing sticks out, and it is a few sheets of paper
    assert wide <= 900
    assert 3 <= sheets <= 12


@pytest.mark.slow
def test_changes_of_feet_are_a_line_and_all_of_them_in_the_numbers(pushed, monkeypatch):
    run = read(pushed)
    # words alone
    monkeypatch.setattr(pictures, "plots", lambda run: {})
    monkeypatch.setattr(pictures, "moments", lambda run: [])
    events = numbers_of(run)["foot_events"]
    assert [event["time_s"] for event in events] == [event.time for event in run.foot_events]
    words = " ".join(Outline(page_of(run)).words)
    assert f"States of feet, {len(events)} changes: " in words
    assert "right none → face, stick at 0.001 s" in words
    many = replace(run, foot_events=run.foot_events[:1] * 25)
    assert "; and 15 more, which --json lists." in " ".join(Outline(page_of(many)).words)
    assert "States of feet" not in page_of(replace(run, foot_events=()))

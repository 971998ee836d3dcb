"""``tabi validate``: what it prints, and how it ends."""

import json

import pytest
from apps.sentences import invoked, mistake

import tabi
from tabi.lab.commands import studies
from tabi.lab.registry import studies as known
from tabi.lab.validate import humanoids
from tabi.lab.validate.humanoids import Humanoids, TrialOutcome

MISSED = TrialOutcome(0, 300, [(1, 1e-7)])


@pytest.fixture
def measured(monkeypatch):
    """What runs of humanoids are to give; robots are those asked for."""
    asked = []

    def pretend(*outcomes, interrupted=False):
        def run(self):
            robots = self.robots()
            asked.append(([robot.name for robot in robots], self.poses, self.keep))
            about = {"name": "hrp2", "joints": 30, "mass_kg": 58.0, "weight_N": 569.0}
            about |= {"on_feet_after_5_s_N": 569.0}
            return self.result([(about, "standing", one) for one in outcomes], interrupted)

        monkeypatch.setattr(Humanoids, "run", run)
        return asked

    return pretend


def run(*arguments):
    return invoked("validate", "humanoids", *arguments)


def test_humanoids_prints_a_table_and_ends_well(measured):
    asked = measured(TrialOutcome(0, 300))
    done = run("--poses", "7")
    assert done.exit_code == 0
    assert "0 of 300 steps did not converge, 0 runs stopped: at most 1 in 100,000" in done.stdout
    assert asked == [(["hrp2"], 7, None)]


def test_humanoids_as_json_is_json_with_the_machine(measured):
    measured(TrialOutcome(0, 300))
    found = json.loads(run("--json").stdout)
    assert (found["total"]["steps"], found["total"]["within"]) == (300, True)
    assert found["versions"]["tabi"] == tabi.__version__
    assert found["hardware"]["threads_used"] == 1
    assert [one["met"] for one in found["criteria"]] == [True, True, True]


@pytest.mark.parametrize(
    ("outcomes", "interrupted", "code"),
    [([MISSED], False, 1), ([TrialOutcome(0, 300)], True, 130), ([MISSED], True, 130)],
)
def test_a_failure_ends_in_1_and_an_interrupt_in_130(measured, outcomes, interrupted, code):
    measured(*outcomes, interrupted=interrupted)
    done = run()
    assert done.exit_code == code
    assert ("interrupted" in done.stdout) == (code == 130)


@pytest.mark.slow
def test_robots_from_files_run_beside_hrp2(measured, shared):
    asked = measured(TrialOutcome(0, 300))
    assert run("--robot", shared / "data" / "robots" / "sr1" / "SR1.urdf").exit_code == 0
    assert asked[0][0] == ["hrp2", "SR1"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--foot", "left=a"], "--foot was given with 0 robots"),
        (
            ["--robot", "hrp2", "--robot", "hrp2", "--foot", "left=a"],
            "--foot was given with 2 robots",
        ),
        (["--keep", __file__], "is a file; expected a folder"),
        (["--robot", "nobody"], "robot 'nobody' is neither built in"),
    ],
)
def test_a_mistake_is_one_sentence(monkeypatch, capsys, arguments, words):
    assert words in mistake(monkeypatch, capsys, "validate", "humanoids", *arguments)


def test_a_robot_that_cannot_stand_is_named_before_the_first_one_runs(shared, monkeypatch, capsys):
    runs = []
    monkeypatch.setattr(humanoids, "weigh", runs.append)
    file = shared / "data" / "robots" / "hrp4c" / "HRP4Cmain.urdf"
    said = mistake(monkeypatch, capsys, "validate", "humanoids", "--robot", file)
    assert "legs of HRP4 are not known" in said
    assert runs == []


def test_random_worlds_are_run_and_told_as_json():
    done = invoked("validate", "worlds", "--worlds", 2, "--steps", 40, "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert (told["worlds"], told["steps"], told["nan"], told["tunnelled"]) == (2, 80, 0, 0)
    assert sum(row["steps"] for row in told["histogram"]) == 80


# needed arguments of commands
GIVEN = {name: ["somewhere"] for name in ("robots", "walks", "tosses", "playback")}


@pytest.mark.parametrize("name", sorted(known("validate")))
@pytest.mark.parametrize("within", [True, False])
def test_every_study_ends_as_it_went(monkeypatch, name, within):
    study, asked = known("validate")[name].load(), []

    def pretend(self):
        asked.append(self.settings())
        return {"within": within, "interrupted": False}

    monkeypatch.setattr(study, "run", pretend)
    done = invoked("validate", name, *GIVEN.get(name, ()), "--json")
    assert done.exit_code == (0 if within else 1), done.output
    assert json.loads(done.stdout)["within"] is within
    own = {key: "somewhere" for key in ("path", "folder") if key in asked[0]}
    assert {key: asked[0][key] for key in own} == own


def test_options_are_handed_on(monkeypatch):
    asked = []
    study = known("validate")["rough-walks"].load()
    monkeypatch.setattr(study, "run", lambda self: asked.append(self.settings()) or {"within": 1})
    invoked("validate", "rough-walks", "--walks", "3", "--jobs", "2", "--json")
    assert asked[0] | {"kinds": []} == {
        "robot": "hrp2",
        "walks": 3,
        "steps": 10,
        "jobs": 2,
        "kinds": [],
    }


@pytest.mark.parametrize("name", ["pushes", "slippery"])
def test_a_robot_that_is_not_there_is_one_sentence(monkeypatch, capsys, name):
    said = mistake(monkeypatch, capsys, "validate", name, "--robot", "nobody")
    assert "robot 'nobody' is neither" in said


def test_a_budget_below_ten_is_refused():
    assert invoked("validate", "tosses", "somewhere", "--budget", "9").exit_code == 2


def test_a_study_is_told_while_it_runs(monkeypatch, capsys):
    with studies.spoken(aloud=True) as report:
        report("holding", 0, 0)
    with studies.spoken(aloud=False) as report:
        report("pushing", 0, 0)
    assert capsys.readouterr().err == "holding …\n"

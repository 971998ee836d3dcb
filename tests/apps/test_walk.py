"""``tabi walk``: a robot from a file walks from one line, or is rejected with the reason."""

import json

import pytest
from typer.testing import CliRunner

import tabi
from tabi.apps import cli, run
from tabi.model import standing_gains

MENAGERIE = "data/robots/menagerie"


def invoke(*arguments: object):
    return CliRunner().invoke(cli.app, ["walk", *map(str, arguments)])


def rejected(*arguments: object) -> str:
    with pytest.raises(tabi.TabiError) as told:
        cli.app(["walk", *map(str, arguments)], standalone_mode=False)
    return str(told.value)


@pytest.mark.slow
def test_hrp2_walks_as_many_steps_as_it_is_told():
    page = json.loads(invoke("hrp2", "--steps", 4, "--length", 0.15, "--json").stdout)
    assert page["missed_steps"] == 0
    assert page["walks"]["hrp2"]["planned"] == page["walks"]["hrp2"]["landed"] == 4
    assert page["walks"]["hrp2"]["finished"]
    # three steps of 0.15 m, and the last one brings the feet together
    assert page["places_m"]["hrp2"][0] == pytest.approx(0.45, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "more"),
    [
        ("unitree_h1/h1.xml", ()),
        ("toddlerbot_2xc/toddlerbot_2xc.xml", ()),
        ("fourier_n1/n1.xml", ()),
        ("booster_t1/t1.xml", ()),
        ("booster_t1/t1.xml", ("--gains", 140)),
    ],
)
def test_robots_from_files_walk_ten_steps(shared, file, more):
    done = invoke(shared / MENAGERIE / file, "--json", *more)
    assert done.exit_code == 0, done.output
    page = json.loads(done.stdout)
    (found,) = page["walks"].values()
    assert page["missed_steps"] == 0
    assert found["finished"]
    assert found["landing_m"] < 0.02
    # from the plan of the whole way
    assert max(map(abs, found["end_m"][:2])) < 0.02


@pytest.mark.slow
def test_motors_that_are_too_soft_are_rejected_with_the_stiffness_that_holds(shared):
    told = rejected(shared / MENAGERIE / "booster_t1/t1.xml", "--gains", 40)
    assert told.startswith("T1 does not walk: in a trial of 10 steps")
    assert "too soft" in told
    assert told.endswith("--gains 140 holds it as it stands")


def test_the_stiffness_that_holds_is_the_least_one_by_the_law_of_standing():
    robot = tabi.robots.hrp2()
    robot.stand_on_ground()
    enough = standing_gains.required_stiffness(robot)
    assert enough is not None
    for stiffness, holds in ((enough, True), (0.85 * enough, False)):
        load = standing_gains.standing_load(robot, stiffness)
        assert load is not None
        fine = load.toppling < 1.0 and load.shift < standing_gains.MAX_SHIFT
        assert fine == holds
        for joint in (body.joint for body in robot.bodies[1:]):
            if joint.motor is not None:
                joint.motor.kp = stiffness
        assert (standing_gains.fault(robot) == "") == holds


def test_what_cannot_walk_is_rejected_before_it_begins(monkeypatch, shared):
    monkeypatch.setattr(run, "play", lambda *_, **__: pytest.fail("it was run"))
    told = rejected("hrp3")
    assert told.startswith("robot 'hrp3' is neither built in (cb, hoap2, hrp1s, hrp2) nor a file")
    told = rejected(shared / MENAGERIE / "unitree_a1/a1.xml")
    assert told.startswith("robot 'a1' has no foot 'left' to walk on")
    for wrong in (-5, 0, "nan"):
        assert "--gains is" in rejected("hrp2", "--gains", wrong)
    assert "leave out --record" in rejected("hrp2", "--page", "--record", "x.h5")
    assert "is not NAME=BODY" in rejected("hrp2", "--foot", "left")

"""Controllers killed at random moments: nothing is lost, and the robot does as asked."""

import sys

import pytest

from tabi.lab.validate import bare_controller
from tabi.lab.validate import controller_kills as killed


@pytest.mark.process
def test_twenty_kills_lose_nothing():
    found = killed.ControllerKills(kills=20, seed=1).run()
    assert found["wrong"] == dict.fromkeys(found["wrong"], 0)
    assert (found["hold"], found["limp"], found["within"]) == (10, 10, True)
    assert "wrong: nothing" in killed.ControllerKills().text(found)


@pytest.mark.process
def test_a_robot_that_is_not_limp_and_a_wrong_answer_are_found(monkeypatch):
    # a trial that takes one for the other
    trial = killed.KillTrial("hold")
    trial.late = "limp"
    with trial:
        while not (found := trial.run(0.3)).late:
            pass
        assert found == killed.Killed("limp", frozenset({"limp"}))
        monkeypatch.setattr(bare_controller, "target", lambda start, time: start)
        trial.late = "hold"
        while not (found := trial.run(0.5)).late:
            pass
        assert "answers" in found.wrong


@pytest.mark.process
def test_the_controller_alone_says_what_is_wrong_with_its_address():
    import subprocess

    done = subprocess.run(
        [sys.executable, bare_controller.__file__, "/tmp/no-such-address"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert "FileNotFoundError" in done.stderr

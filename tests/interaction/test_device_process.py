"""A device in its own process: what the simulation sees of it, and that nothing is left behind."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing.shared_memory import SharedMemory

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.interaction.device_process import DeviceProcess
from tabi.interaction.force_guard import HapticLimits
from tabi.lab.validate.haptic_failures import gone, make_spring

pytestmark = pytest.mark.process

MODEL, LIMITS = (0.03, 0.0, 0.0, 100.0), HapticLimits(ramp=0.05)


@pytest.fixture
def script(tmp_path):
    """A hand that stays at 10 mm and presses a button."""
    path = tmp_path / "a.hand.csv"
    path.write_text("time_s,x_m,y_m,z_m,buttons\n0,0.01,0,0,01\n1,0.01,0,0,01\n")
    return f"scripted:{path}"


def until(loop, true, model=MODEL, limit=15.0):
    """Beats and looks until something is so; what was felt then."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        loop.publish_model(model)
        felt = loop.hand_state()
        if true(felt):
            return felt
        time.sleep(0.003)
    raise AssertionError(f"did not come: {felt}")


def full(felt):
    return felt.running and abs(felt.force[0] - 2.0) < 1e-9


def test_a_spring_is_felt_and_the_process_ends_with_the_close(script):
    with DeviceProcess(script, make_spring, size=4, limits=LIMITS) as loop:
        felt = until(loop, full)
        np.testing.assert_array_equal(felt.reading.position, [0.01, 0.0, 0.0])
        assert felt.reading.buttons == (False, True)
        np.testing.assert_allclose(felt.numbers[0], 4.0)
        assert felt.words == ""
        # the hand does not move: no work is done on it
        assert abs(felt.energy) < 1e-15
        felt = until(loop, lambda felt: felt.periods.count > 100)
        assert 0.0 < felt.periods.work < felt.periods.worst_work
        assert 0.0 <= felt.periods.below_two <= 1.0
        pid, memory = loop.pid, loop.memory
    assert loop.closed
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(FileNotFoundError):
        SharedMemory(memory)
    loop.close()
    with pytest.raises(ModelError, match="was closed"):
        loop.hand_state()


def test_a_process_that_is_killed_or_stopped_is_seen_and_another_started(script):
    with DeviceProcess(script, make_spring, size=4, limits=LIMITS) as loop:
        for number in (signal.SIGKILL, signal.SIGSTOP):
            until(loop, full)
            pid = loop.pid
            os.kill(pid, number)
            felt = until(loop, lambda felt: felt.state == "silent")
            assert not felt.force.any()
            assert "the process of device" in felt.words
            until(loop, lambda felt, n=number: loop.alive == (n == signal.SIGSTOP))
            loop.restart()
            assert loop.pid != pid
        until(loop, full)


def test_a_simulation_that_stands_still_gives_no_force(script):
    with DeviceProcess(script, make_spring, size=4, limits=LIMITS) as loop:
        until(loop, full)
        time.sleep(0.2)
        felt = loop.hand_state()
        assert felt.state in ("waiting", "silent")
        assert not felt.force.any()
        until(loop, full)


def test_a_device_that_is_not_there_is_told_and_waited_for():
    name = "haply://127.0.0.1:9"
    with DeviceProcess(name, make_spring, size=4) as loop:
        felt = until(loop, lambda felt: felt.state == "lost")
        assert "no Haply Inverse service listens" in felt.words
        assert loop.alive
        with pytest.raises(ModelError, match="in use by another hand"):
            DeviceProcess(name, make_spring, size=4)


def test_a_law_that_cannot_be_made_is_told(script):
    # any function of a module will do: this one refuses its settings
    with DeviceProcess(script, make_spring, {"stiffness": 3.0}, size=4) as loop:
        felt = until(loop, lambda felt: felt.state == "silent" and "made" in felt.words)
    assert "could not be made: TypeError" in felt.words
    assert "has ended: restart it" in felt.words


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"device": "haptly"}, "did you mean"),
        ({"make_law": lambda: None}, "cannot be sent"),
        ({"size": -1}, "-1 numbers"),
        ({"size": 2.5}, "2.5 numbers"),
    ],
)
def test_wrong_settings_are_refused(given, told, script):
    settings = {"device": script, "make_law": make_spring, "size": 4} | given
    with pytest.raises(ModelError, match=told):
        DeviceProcess(**settings)


def test_a_wrong_model_is_refused(script):
    with DeviceProcess(script, make_spring, size=4) as loop:
        with pytest.raises(ModelError, match=r"shape \(3,\).*expected \(4,\)"):
            loop.publish_model(np.zeros(3))
        with pytest.raises(ModelError, match="not finite at index 2"):
            loop.publish_model((0.0, 0.0, np.nan, 1.0))


PROGRAM = """
import sys, time
from tabi.interaction.device_process import DeviceProcess
from tabi.lab.validate.haptic_failures import gone, make_spring
if __name__ == "__main__":
    loop = DeviceProcess(sys.argv[1], make_spring, size=4)
    end = time.monotonic() + 15.0
    while not loop.hand_state().running and time.monotonic() < end:
        loop.publish_model((0.0, 0.0, 0.0, 1.0))
        time.sleep(0.005)
    print(loop.pid, loop.memory, loop.hand_state().state, flush=True)
    if sys.argv[2] == "raise":
        raise SystemExit(3)
    if sys.argv[2] == "wait":
        time.sleep(60.0)
"""


@pytest.mark.parametrize("how", ["end", "raise", "wait"])
def test_nothing_is_left_behind_however_the_simulation_ends(script, tmp_path, how):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    pipe = subprocess.PIPE
    command = [sys.executable, str(program), script, how]
    other = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
    pid, memory, state = other.stdout.readline().split()
    assert state == "running"
    if how == "wait":
        other.kill()
    # the error stream is the child's, too: it ends when both are over
    _, errors = other.communicate(timeout=20.0)
    assert errors == ""
    assert gone(int(pid), memory)


def test_a_stand_in_of_its_own_is_held_where_two_springs_meet():
    # the hand's spring of 100 N/m at 0, the law's of 100 N/m at 20 mm: 1 N at 10 mm
    def met(felt):
        return felt.running and abs(felt.force[0] - 1.0) < 0.01 and felt.reading.velocity[0] < 1e-3

    with DeviceProcess("stand-in", make_spring, size=4, limits=LIMITS) as loop:
        felt = until(loop, met, (0.02, 0.0, 0.0, 100.0))
    np.testing.assert_allclose(felt.reading.position, [0.01, 0.0, 0.0], atol=2e-4)
    # on its way a spring gives 3/8 k d², less where its force still rises
    assert 0.0 < felt.energy < 1.1 * 0.375 * 100.0 * 0.02**2

"""A controller in another process: the same run as in this one, and what happens without it."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from control.processes.ends import ByHand, played, serving, standing

import tabi
from tabi.control.processes.external import ControllerWarning

CLIENT = """
import tabi
p = None
def hold(t, m):
    global p
    p = m.position if p is None else p
    return tabi.Command(position=p)
tabi.control.serve(hold)
"""
PYTHON = [sys.executable, "-c", CLIENT]


def swaying(robot):
    """A controller that says something new in every step, from all that it sees."""
    start = []

    def controller(t, m):
        start.extend([m.position] if not start else [])
        felt = sum(float(np.abs(x).sum()) for x in m.sensors.values())
        moved = 0.01 * np.sin(7 * t) + 1e-7 * felt - 1e-3 * m.velocity + 1e-7 * m.effort
        return tabi.Command(position=start[0] + moved, velocity=0.0, kd={robot.joint_names[3]: 9.0})

    return controller


@pytest.fixture
def address(tmp_path):
    return str(tmp_path / "robot")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_a_run_in_lock_step_is_the_run_of_the_same_controller_in_this_process(kind, address):
    ends = []
    for outside in (False, True):
        robot, sim = standing()
        law = swaying(robot)

        def whole(t, m, law=law, robot=robot):
            told = law(t, m)
            kd = {name: robot.joint(name).motor.kd for name in robot.joint_names} | told.kd
            return tabi.Command(position=told.position, velocity=told.velocity, kd=kd)

        if outside:
            where = address if kind == "unix" else "localhost:0"
            with tabi.control.external(address=where, robot=robot) as drive:
                sim.set_controller(robot, drive)
                with serving(whole, drive.address) as answered:
                    sim.run(0.2)
                    assert drive.connected
                    assert drive.reproducible
                    assert sim.reproducible
                    drive.close()
            assert answered == [200]
        else:
            sim.set_controller(robot, whole)
            sim.run(0.2)
        ends.append((sim.q, sim.v))
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    np.testing.assert_array_equal(ends[0][1], ends[1][1])


def test_a_measurement_has_all_numbers_in_the_order_of_its_lines(address):
    robot, sim = standing()
    drive = tabi.control.external(address=address, robot=robot)
    sim.run(0.01)
    seen, heard = sim.measure(robot), []

    def play(client):
        heard.append(client.text.split("\n"))
        for _ in range(2):
            header, numbers = client.measurement()
            heard.append((header, numbers))
            client.command(header[5])

    with played(address, play):
        drive(0.125, seen)
        drive(0.25, seen)
        drive.close()
    lines, (header, numbers), (second, _) = heard
    n = len(robot.joint_names)
    assert lines[:2] == ["tabi-controller 1", "robot hrp2"]
    assert lines[2 : 2 + n] == [f"joint 1 {name}" for name in robot.joint_names]
    told = [seen.position, seen.velocity, seen.effort, *seen.sensors.values()]
    np.testing.assert_array_equal(numbers, np.concatenate(told))
    size = 32 + 8 * len(numbers)
    # the first begins a run
    assert header == (b"TABI", 1, 1, size, 1, 1, 0.125)
    assert second == (b"TABI", 1, 1, size, 0, 2, 0.25)
    assert [line for line in lines if line.startswith("sensor")] == [
        f"sensor {robot.sensors[k].kind} {len(x)} {k}" for k, x in seen.sensors.items()
    ]


def test_fields_of_a_command_are_those_with_their_bit(address):
    robot, _ = standing()
    n = len(robot.joint_names)
    values = np.arange(5.0 * n).reshape(5, n)
    drive = tabi.control.external(address=address, robot=robot)
    fields = ("position", "velocity", "effort", "kp", "kd")
    seen = tabi.Measurement(np.zeros(n), np.zeros(n), np.zeros(n))

    def play(client):
        for given in range(32):
            client.command(client.measurement()[0][5], given, values)

    with played(address, play):
        for given in range(32):
            told = drive(0.0, seen)
            for i, name in enumerate(fields):
                if given >> i & 1:
                    np.testing.assert_array_equal(getattr(told, name), values[i])
                else:
                    assert getattr(told, name) is None
        drive.close()


@pytest.mark.process
@pytest.mark.parametrize("late", ["hold", "limp"])
def test_a_killed_process_is_noticed_in_the_next_step_and_the_robot_does_as_asked(late):
    robot, sim = standing()
    with tabi.control.external(PYTHON, robot=robot, late=late) as drive:
        sim.set_controller(robot, drive)
        sim.run(0.05)
        motor = sim.data.command.motor.copy()
        os.kill(drive.process.pid, signal.SIGKILL)
        drive.process.wait()
        with pytest.warns(ControllerWarning, match=r"ended by SIGKILL at 0\.05 s"):
            sim.step()
        assert not sim.reproducible
        assert drive.lost_count == 1
        if late == "hold":
            assert sim.data.command.motor.tobytes() == motor.tobytes()
            sim.run(0.5)
            assert not sim.fallen(robot)
        else:
            # from this very step on
            assert not sim.measure(robot).effort.any()
            sim.run(0.5)
            assert not sim.measure(robot).effort.any()


@pytest.mark.process
def test_where_asked_a_killed_process_stops_the_run_with_its_state_whole():
    robot, sim = standing()
    with tabi.control.external(PYTHON, robot=robot, late="stop") as drive:
        sim.set_controller(robot, drive)
        sim.run(0.02)
        q = sim.q
        drive.process.kill()
        drive.process.wait()
        for _ in range(2):
            with pytest.raises(tabi.SimulationError, match=r"SIGKILL at 0\.02 s: hrp2 stops"):
                sim.step()
        assert sim.data.steps == 20
        np.testing.assert_array_equal(sim.q, q)


def test_another_controller_takes_over_a_limp_robot_with_its_gains_back(address):
    robot, sim = standing()
    start = sim.measure(robot).position
    before = sim.data.command.motor.copy()

    def hold(t, m):
        return tabi.Command(position=start)

    with tabi.control.external(address=address, robot=robot, late="limp") as drive:
        sim.set_controller(robot, drive)
        with played(address, lambda client: client.command(client.measurement()[0][5])):
            sim.step()
        with pytest.warns(ControllerWarning, match=r"closed its connection"):
            sim.step()
        assert not drive.connected
        assert "limp" in drive.fault
        with serving(hold, address):
            until = time.monotonic() + 20
            while not drive.connected and time.monotonic() < until:
                sim.step()
            sim.step()
            assert drive.fault is None
            for name in ("kp", "kd", "effort"):
                np.testing.assert_array_equal(sim.data.command.motor[name], before[name])
            drive.close()


def test_a_late_answer_is_dropped_and_the_controller_is_asked_anew(address):
    robot, _ = standing()
    n = len(robot.joint_names)
    seen = tabi.Measurement(np.zeros(n), np.zeros(n), np.zeros(n))
    drive = tabi.control.external(address=address, robot=robot, timeout=0.05)
    client = None

    def answer(times, value):
        for _ in range(times):
            header, _ = client.measurement()
            client.command(header[5], 1, np.full(5 * n, value))
        return header[5]

    with played(address, lambda found: found.command(found.measurement()[0][5])):
        drive(0.0, seen)
    client = ByHand(address)
    with pytest.warns(ControllerWarning, match="closed"):
        first = drive(0.0, seen)
    # a new one is there but does not answer: no more than one wait, and one warning
    with pytest.warns(ControllerWarning, match=r"no answer within 0\.05 s at 1 s"):
        assert drive(1.0, seen) is first
    for _ in range(3):
        assert drive(2.0, seen) is first
    assert drive.late_count == 1
    client.hear()
    old = answer(1, 1.0)
    # the old answer is dropped; the new question is one later
    with pytest.warns(ControllerWarning, match="at 3 s"):
        assert drive(3.0, seen) is first
    assert answer(1, 2.0) == old + 1
    thread = threading.Thread(target=answer, args=(1, 3.0), daemon=True)
    thread.start()
    assert drive(4.0, seen).position[0] == 3.0
    thread.join(20)
    drive.close()
    client.close()


def test_free_running_takes_the_newest_command_and_never_waits(address):
    robot, _ = standing()
    n = len(robot.joint_names)
    seen = tabi.Measurement(np.zeros(n), np.zeros(n), np.zeros(n))
    drive = tabi.control.external(address=address, robot=robot, mode="free-running", timeout=60)
    assert not drive.reproducible
    client = ByHand(address)
    # ten questions without an answer: none is waited for
    told = [drive(0.0, seen) for _ in range(10)]
    assert all(one.position is None for one in told)
    client.hear()
    numbers = [client.measurement()[0][5] for _ in range(10)]
    assert numbers == list(range(1, 11))
    for k in (1, 2, 3):
        client.command(k, 1, np.full(5 * n, float(k)))
    assert drive(0.0, seen).position[0] == 3.0
    # one that was asked before a run began anew is old
    drive.reset()
    client.command(11, 1, np.full(5 * n, 11.0))
    assert drive(0.0, seen).position is None
    # a client that reads nothing: messages are left out, and whole ones arrive later
    for _ in range(2000):
        drive(0.0, seen)
    client.measurement()
    got = [client.measurement()[0] for _ in range(50)]
    assert [h[0] for h in got] == [b"TABI"] * 50
    # a run that begins while there is no room is told later
    for _ in range(2000):
        drive(0.0, seen)
    drive.reset()
    told = drive(7.0, seen)
    for _ in range(5000):
        header, _ = client.measurement()
        if header[4]:
            break
        drive(8.0, seen)
    assert header[4] == 1
    drive.close()
    client.close()


@pytest.mark.process
def test_reset_tells_the_controller_and_starts_a_program_that_has_ended():
    robot, sim = standing()
    with tabi.control.external(PYTHON, robot=robot) as drive:
        sim.set_controller(robot, drive)
        sim.run(0.02)
        first, old = sim.q, drive.process
        sim.reset()
        assert drive.process is old
        sim.run(0.02)
        np.testing.assert_array_equal(sim.q, first)
        old.kill()
        old.wait()
        with pytest.warns(ControllerWarning):
            sim.step()
        sim.reset()
        assert drive.process.pid != old.pid
        sim.run(0.02)
        np.testing.assert_array_equal(sim.q, first)
    assert drive.process.poll() is not None


@pytest.mark.process
def test_nothing_is_left_when_it_is_closed_or_forgotten():
    robot, sim = standing()
    drive = tabi.control.external(PYTHON, robot=robot)
    drive(0.0, sim.measure(robot))
    process, folder = drive.process, os.path.dirname(drive.address)
    assert os.path.isdir(folder)
    del drive
    gc.collect()
    assert process.poll() == 0
    assert not os.path.exists(folder)


def one_line(problem):
    text = str(problem.value)
    assert "\n" not in text
    return text


@pytest.mark.process
def test_words_and_numbers_that_mean_nothing_are_refused():
    robot = tabi.robots.hrp2()
    for wrong, said in (
        ({"mode": "lockstep"}, "did you mean 'lock-step'"),
        ({"late": "fall"}, "'hold', 'limp', 'stop'"),
        ({"timeout": 0}, "timeout of an external controller is 0; expected a number of seconds"),
        ({"timeout": float("nan")}, "seconds > 0"),
        ({"start": "soon"}, "expected a number"),
        ({"address": None}, "neither a command nor an address"),
        ({"address": None, "command": ["./no_such_program"]}, "'./no_such_program' cannot be star"),
        ({"address": None, "command": []}, "command is empty"),
    ):
        with pytest.raises(tabi.ModelError) as problem:
            tabi.control.external(**({"address": "/tmp/x", "robot": robot} | wrong))
        assert said in one_line(problem)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("tabi-controller 7\n\n", "speaks version 7 of the messages, this end version 1"),
        ("GET / HTTP/1.1\n\n", "began with 'GET / HTTP/1.1'"),
        ("tabi-controller 1\njoint 1 knee\n\n", "expects 'joint 1 knee' where robot hrp2 has"),
        ("tabi-controller 1\nmeasurement 8\n\n", "expects 'measurement 8' where robot hrp2 has"),
        ("tabi-controller 1\n", "connected and sent nothing within 0.3 s"),
    ],
)
def test_a_controller_of_something_else_is_refused_by_its_first_difference(lines, said, address):
    robot, sim = standing()
    drive = tabi.control.external(address=address, robot=robot, start=0.3)
    client = ByHand(address, lines)
    with pytest.raises(tabi.SimulationError) as problem:
        drive(0.0, sim.measure(robot))
    assert said in one_line(problem)
    drive.close()
    # it is told, too
    client.hear()
    heard = client.socket.makefile("rb").read().decode()
    assert heard.startswith("error ")
    assert said in heard


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"magic": b"ABCD"}, "begins with b'ABCD'; expected b'TABI'"),
        ({"version": 2}, "is of version 2; expected 1"),
        ({"kind": 1}, "is of kind 1; expected 2"),
        ({"size": 40}, "has a size of 40 bytes"),
        ({"given": 64}, "given = 0x40; expected one bit for each of position"),
        ({"sequence": 5}, "answers measurement 5, the last one was 1"),
    ],
)
def test_a_command_that_is_none_stops_the_run_with_a_sentence(wrong, said, address):
    robot, sim = standing()
    drive = tabi.control.external(address=address, robot=robot)

    def play(client):
        client.measurement()
        client.command(**({"sequence": 1} | wrong))

    with played(address, play):
        with pytest.raises(tabi.SimulationError) as problem:
            drive(0.0, sim.measure(robot))
        assert not drive.connected
        assert drive.fault == str(problem.value)
        drive.close()
    assert said in one_line(problem)


def test_a_message_cut_short_counts_as_lost(address):
    robot, sim = standing()
    drive = tabi.control.external(address=address, robot=robot)
    with (
        played(address, lambda client: client.command(client.measurement()[0][5], cut=17)),
        pytest.warns(ControllerWarning, match="within a message, after 17 of"),
    ):
        drive(0.0, sim.measure(robot))
    assert not drive.connected
    drive.close()


def test_a_nan_names_its_joint(address):
    robot, sim = standing()
    n = len(robot.joint_names)
    values = np.zeros((5, n))
    values[0, 2] = np.nan
    drive = tabi.control.external(address=address, robot=robot)
    sim.set_controller(robot, drive)
    with played(address, lambda client: client.command(client.measurement()[0][5], 1, values)):
        with pytest.raises(tabi.ModelError, match=f"nan for joint '{robot.joint_names[2]}'"):
            sim.step()
        drive.close()


@pytest.mark.process
def test_a_start_without_a_controller_is_told(address):
    robot, sim = standing()
    seen = sim.measure(robot)
    with (
        tabi.control.external(address=address, robot=robot, start=0.05) as drive,
        pytest.raises(tabi.SimulationError, match=r"did not connect within 0\.05 s; start it"),
    ):
        drive(0.0, seen)
    with (
        tabi.control.external(["false"], robot=robot) as drive,
        pytest.raises(tabi.SimulationError, match="exit code 1 before it connected; it has to"),
    ):
        drive(0.0, seen)
    with pytest.raises(tabi.SimulationError, match="was closed before 0 s"):
        drive(0.0, seen)


def test_a_wrong_controller_in_a_run_is_refused_and_the_run_goes_on(address):
    robot, sim = standing()
    with tabi.control.external(address=address, robot=robot) as drive:
        sim.set_controller(robot, drive)
        with played(address, lambda client: client.command(client.measurement()[0][5])):
            sim.step()
        with pytest.warns(ControllerWarning):
            sim.step()
        wrong = ByHand(address, "tabi-controller 3\n\n")
        with pytest.warns(ControllerWarning, match="was refused: .* version 3"):
            sim.step()
        assert sim.data.steps == 3
        wrong.close()


def test_a_measurement_of_another_robot_is_refused(address):
    robot, sim = standing()
    n = len(robot.joint_names)
    fewer = tabi.Measurement(np.zeros(n - 1), np.zeros(n), np.zeros(n), sim.measure(robot).sensors)
    drive = tabi.control.external(address=address, robot=robot)
    with played(address, lambda client: client.command(client.measurement()[0][5])):
        drive(0.0, sim.measure(robot))
        with pytest.raises(tabi.ModelError, match="other joints or sensors than robot hrp2"):
            drive(0.0, fewer)
        drive.close()


@pytest.mark.process
def test_the_example_in_cpp_is_short_and_holds_as_python_does(tmp_path):
    if shutil.which("g++") is None:
        pytest.skip("no C++ compiler")
    source = Path(__file__).parents[3] / "examples" / "external_controller" / "controller.cpp"
    lines = source.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    # by the command that its second line tells
    words = lines[1].lstrip("/ ").partition("&&")[0].split()
    words[words.index("controller.cpp")] = str(source)
    subprocess.run([*words, "-Wall", "-Wextra", "-Werror"], check=True, cwd=tmp_path)
    ends = []
    for program in ([str(tmp_path / "controller")], PYTHON):
        robot, sim = standing()
        sim.set_state(sim.q, np.full(sim.model.v_count, 0.01))
        with tabi.control.external(program, robot=robot, late="stop") as drive:
            sim.set_controller(robot, drive)
            sim.run(0.1)
        # it ends by itself when its robot is gone
        assert drive.process.returncode == 0
        ends.append(sim.q)
    np.testing.assert_array_equal(ends[0], ends[1])


def test_an_interrupt_within_a_wait_leaves_the_next_questions_whole(address, monkeypatch):
    robot, sim = standing()
    seen, n = sim.measure(robot), len(robot.joint_names)
    drive = tabi.control.external(address=address, robot=robot)

    def play(client):
        for _ in range(3):
            sequence = client.measurement()[0][5]
            client.command(sequence, 1, np.full(5 * n, float(sequence)))

    with played(address, play):
        assert drive(0.0, seen).position[0] == 1.0

        def interrupted(self, wait):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("tabi.control.processes.connection.Connection.receive", interrupted)
            with pytest.raises(KeyboardInterrupt):
                drive(0.0, seen)
        # its answer is dropped, once it is there
        until = time.monotonic() + 20
        while (told := drive(0.0, seen).position[0]) != 3.0:
            assert told == 1.0
            assert time.monotonic() < until
        drive.close()

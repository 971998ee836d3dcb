"""Any controller function in a process of its own says what it would say in this one."""

import numpy as np
import pytest

import tabi
from tabi.control.processes.messages import HEADER, Layout
from tabi.control.processes.serving import RobotEnd, check_refused

LAYOUT = Layout("pair", (("a", 1), ("b", 1)), (("imu", "imu", 6),))


def measurement(sequence=1, begins=0, position=(0.0, 0.0)):
    numbers = np.r_[position, 3.0, 4.0, 5.0, 6.0, np.arange(6.0)].astype("<f8").tobytes()
    size = LAYOUT.measurement_size
    return bytearray(HEADER.pack(b"TABI", 1, 1, size, begins, sequence, 0.5) + numbers)


def told(raw):
    *_, given, sequence, _ = HEADER.unpack_from(raw)
    return given, sequence, np.frombuffer(raw, "<f8", offset=32).reshape(5, 2).copy()


def test_a_controller_sees_what_was_measured():
    seen = []

    def controller(t, m):
        seen.append((t, m))
        return tabi.Command()

    end = RobotEnd(LAYOUT)
    for k in (1, 2):
        given, sequence, _ = told(end.answer(controller, measurement(k, position=(k, -k))))
        assert (given, sequence) == (0, k)
    # measurements may be kept
    for k, (t, m) in enumerate(seen, 1):
        assert t == 0.5
        np.testing.assert_array_equal(m.position, [k, -k])
        np.testing.assert_array_equal(m.velocity, [3, 4])
        np.testing.assert_array_equal(m.effort, [5, 6])
        np.testing.assert_array_equal(m.sensors["imu"], np.arange(6.0))


def test_commands_by_array_number_and_name_become_rows():
    end, says = RobotEnd(LAYOUT), []

    def controller(t, m):
        return says[-1]

    says.append(tabi.Command(position={"b": 7.0}, effort=2.0, kd=np.array([1.0, 2.0])))
    given, _, rows = told(end.answer(controller, measurement(begins=1, position=(8.0, 9.0))))
    assert given == 0b10101
    # the joint that is not named holds its pose
    np.testing.assert_array_equal(rows[[0, 2, 4]], [[8, 7], [2, 2], [1, 2]])
    says.append(tabi.Command(position={"a": 1.0}, kd={"b": 5.0}))
    given, _, rows = told(end.answer(controller, measurement(2)))
    assert given == 0b10001
    np.testing.assert_array_equal(rows[[0, 4]], [[1, 7], [1, 5]])


def test_a_controller_is_told_where_a_run_begins():
    class Counting:
        begun = 0

        def reset(self):
            self.begun += 1

        def __call__(self, t, m):
            return tabi.Command()

    controller, end = Counting(), RobotEnd(LAYOUT)
    for begins in (1, 0, 0, 1):
        end.answer(controller, measurement(begins=begins))
    assert controller.begun == 2


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (None, "returned a NoneType at 0.5 s; expected a tabi.Command"),
        (tabi.Command(position={"c": 1.0}), "joint 'c' not found in pair"),
        (tabi.Command(kp={"a": 1.0}), "kp in a command names 1 of 2 joints"),
        (tabi.Command(position=np.zeros(3)), "expected 2 numbers, one for each joint"),
    ],
)
def test_mistakes_in_commands_are_told_to_the_controller(command, said):
    end = RobotEnd(LAYOUT)
    with pytest.raises(tabi.ModelError, match=said):
        end.answer(lambda t, m: command, measurement(begins=1))


def test_other_messages_are_refused():
    end = RobotEnd(LAYOUT)
    with pytest.raises(tabi.SimulationError, match="controller: short"):
        check_refused(bytearray(b"error short" + bytes(20)))
    with pytest.raises(tabi.SimulationError, match="refused this controller: other joints"):
        end.answer(lambda t, m: tabi.Command(), bytearray(b"error other joints" + bytes(100)))
    with pytest.raises(tabi.SimulationError, match="is of version 9"):
        wrong = measurement()
        wrong[4] = 9
        end.answer(lambda t, m: tabi.Command(), wrong)
    with pytest.raises(tabi.ModelError, match="expected a function"):
        tabi.control.serve("hold", "/tmp/nowhere")

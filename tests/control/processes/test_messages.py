"""Lines and headers: what one end writes the other reads, and differences have names."""

import struct

import numpy as np
import pytest

import tabi
from tabi.control.processes.messages import HEADER, Layout, read_header


@pytest.fixture(scope="module")
def layout():
    robot = tabi.robots.hrp2()
    n = len(robot.joint_names)
    sensors = {name: np.zeros(s.width) for name, s in robot.sensors.items() if s.width}
    return Layout.of(robot, tabi.Measurement(np.zeros(n), np.zeros(n), np.zeros(n), sensors))


def test_lines_say_all_that_a_layout_is(layout):
    assert Layout.read(layout.lines()) == layout
    assert len(layout.sensors) > 1
    # names may have spaces
    other = Layout("a robot", (("left knee", 1), ("ball", 3)), (("the imu", "imu", 6),))
    assert Layout.read(other.lines()) == other
    assert other.count == 4
    # a header of 32 bytes, three and five numbers a degree of freedom, and six of the sensor
    assert (other.measurement_size, other.command_size) == (32 + 8 * 18, 32 + 8 * 20)


def test_the_header_has_the_places_that_are_documented():
    raw = HEADER.pack(b"TABI", 1, 2, 40, 5, 6, 7.5)
    assert len(raw) == 32
    assert raw[:4] == b"TABI"
    for place, form, value in (
        *((4, "<H", 1), (6, "<H", 2), (8, "<I", 40), (12, "<I", 5)),
        *((16, "<Q", 6), (24, "<d", 7.5)),
    ):
        assert struct.unpack_from(form, raw, place) == (value,)
    assert read_header(bytearray(raw + bytes(8)), 2, "x") == (5, 6, 7.5)


def test_a_controller_may_repeat_all_lines_or_only_the_first(layout):
    layout.check(layout.lines())
    layout.check(["tabi-controller 1"])
    layout.check([line for line in layout.lines() if not line.startswith("sensor")])
    assert layout.lines()[0] == "tabi-controller 1"


def test_the_first_difference_is_told(layout):
    lines, names = layout.lines(), [name for name, _ in layout.joints]
    swapped = lines.copy()
    swapped[4], swapped[5] = swapped[5], swapped[4]
    with pytest.raises(tabi.SimulationError, match=f"{names[3]}' where .* {names[2]}'"):
        layout.check(swapped)
    fewer = [line for line in lines if line != f"joint 1 {names[-1]}"]
    with pytest.raises(tabi.SimulationError, match=f"does not have is 'joint 1 {names[-1]}'"):
        layout.check(fewer)
    with pytest.raises(tabi.SimulationError, match="expects 'command 8'"):
        layout.check(["tabi-controller 1", "command 8"])
    with pytest.raises(tabi.SimulationError, match="refused this controller: because"):
        Layout.read(["error because"])

"""A system without Unix sockets, as Windows: the same controllers over TCP."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tabi
from tabi.control.processes import addresses
from tabi.lab.validate import bare_controller

ROOT = Path(__file__).parents[3]
SERVE = """
import socket
del socket.AF_UNIX
import tabi
start = []
def hold(time, measurement):
    start.extend([measurement.position] if not start else [])
    return tabi.Command(position=start[0])
tabi.control.serve(hold)
"""
BARE = f"""
import socket, runpy
del socket.AF_UNIX
runpy.run_path({bare_controller.__file__!r}, run_name="__main__")
"""


@pytest.fixture
def _windows(monkeypatch):
    monkeypatch.delattr(socket, "AF_UNIX")


def standing():
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    return robot, tabi.Simulator(world)


@pytest.mark.usefixtures("_windows")
@pytest.mark.parametrize("program", [SERVE, BARE], ids=["serve", "bare"])
@pytest.mark.process
def test_a_program_is_reached_over_a_free_port(program):
    robot, sim = standing()
    with tabi.control.external([sys.executable, "-c", program], robot=robot, late="stop") as drive:
        host, _, port = drive.address.partition(":")
        assert host == "127.0.0.1"
        assert int(port) > 0
        sim.set_controller(robot, drive)
        sim.run(0.02)
        assert drive.connected
    assert drive.process.returncode == 0


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
@pytest.mark.process
def test_the_example_in_cpp_does_the_same_over_tcp_as_over_a_path(tmp_path, monkeypatch):
    source = ROOT / "examples" / "external_controller" / "controller.cpp"
    words = ["g++", "-O1", "-std=c++17", str(source), "-o", str(tmp_path / "controller")]
    subprocess.run([*words, "-Wall", "-Wextra", "-Werror"], check=True)
    ends = []
    for unix in (True, False):
        if not unix:
            monkeypatch.delattr(socket, "AF_UNIX")
        robot, sim = standing()
        sim.set_state(sim.q, np.full(sim.model.v_count, 0.01))
        with tabi.control.external(
            [str(tmp_path / "controller")], robot=robot, late="stop"
        ) as drive:
            assert drive.address.startswith("127.0.0.1:") is not unix
            sim.set_controller(robot, drive)
            sim.run(0.05)
        ends.append(sim.q)
    np.testing.assert_array_equal(ends[0], ends[1])


@pytest.mark.usefixtures("_windows")
@pytest.mark.parametrize("address", ["/tmp/robot", r"C:\robots\one", "robot", Path("robot")])
def test_a_path_is_refused_in_a_sentence(address):
    robot, _ = standing()
    for use in (
        lambda: tabi.control.external(address=address, robot=robot),
        lambda: tabi.control.serve(lambda t, m: None, address),
    ):
        with pytest.raises(tabi.ModelError, match="no Unix sockets; expected 'localhost:port'"):
            use()


def test_a_port_in_use_is_refused_where_two_programs_could_have_it(monkeypatch):
    # stands for Windows' option: one that is there, of another number
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_KEEPALIVE, raising=False)
    asked = []
    plain = socket.socket.setsockopt
    monkeypatch.setattr(
        addresses.socket,
        "socket",
        type(
            "Noted",
            (socket.socket,),
            {"setsockopt": lambda self, *a: (asked.append(a[1]), plain(self, *a))[1]},
        ),
    )
    found, address = addresses.listen("localhost:0")
    with found, pytest.raises(tabi.ModelError, match="cannot connect to"):
        addresses.listen(address)
    assert socket.SO_KEEPALIVE in asked
    assert socket.SO_REUSEADDR not in asked

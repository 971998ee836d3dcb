"""A stand-in of one's own starts, feels, and ends with whoever started it."""

import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from tabi.interaction.devices import haply
from tabi.interaction.devices.haply import HaplyDevice
from tabi.interaction.devices.protocol import DeviceError
from tabi.interaction.devices.stand_in_process import StandInDevice, StandInProcess

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """This machine may be busy."""
    monkeypatch.setattr(haply, "ANSWER_TIMEOUT_S", 5.0)
    monkeypatch.setattr(haply, "OPEN_TIMEOUT_S", 5.0)


def test_a_force_moves_the_handle_to_where_the_spring_says():
    device = StandInDevice(("--stiffness", "100", "--damping", "8"))
    force, end, off = np.array([1.0, 0.0, -0.5]), time.monotonic() + 10.0, np.inf
    # 20 ms without a message, on a busy machine, let it go for a moment
    while off > 1e-4 and time.monotonic() < end:
        device.write(force, np.zeros(3))
        time.sleep(0.001)
        read = device.read()
        off = np.abs(read.position - force / 100.0).max() + 0.01 * np.abs(read.velocity).max()
    device.close()
    device.close()
    assert off <= 1e-4
    assert device.service.process.poll() is not None
    with pytest.raises(DeviceError, match="was closed"):
        device.read()


def test_two_cannot_listen_at_one_port():
    with StandInProcess() as one, pytest.raises(DeviceError, match="could not be started"):
        StandInProcess(port=one.port)


def test_it_tells_what_is_wrong_with_it():
    with pytest.raises(DeviceError, match="mass of 9 kg"):
        StandInProcess(("--mass", "9"))


def test_a_force_is_gone_with_the_connection_that_wrote_it():
    with StandInProcess(("--stiffness", "0", "--damping", "0")) as service:
        one = HaplyDevice(service.address)
        one.write(np.array([0.2, 0.0, 0.0]), np.zeros(3))
        one.read()
        one.close()
        other = HaplyDevice(service.address)
        time.sleep(0.03)
        speeds = []
        for _ in range(5):
            time.sleep(0.01)
            speeds.append(other.read().velocity[0])
        other.close()
    assert max(speeds) - min(speeds) < 1e-12


def test_it_ends_with_whoever_started_it_even_if_that_is_killed():
    program = (
        "import time; from tabi.interaction.devices.stand_in_process import StandInProcess;"
        "print(StandInProcess().port, flush=True); time.sleep(60)"
    )
    starter = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    port = int(starter.stdout.readline())
    starter.kill()
    starter.communicate()
    end, listens = time.monotonic() + 10.0, True
    while listens and time.monotonic() < end:
        time.sleep(0.02)
        with socket.socket() as trial:
            listens = trial.connect_ex(("127.0.0.1", port)) == 0
    assert not listens

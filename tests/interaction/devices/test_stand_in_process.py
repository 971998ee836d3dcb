"""A stand-in of one's own starts, feels, and ends with whoever started it."""

import time

import numpy as np
import pytest

from tabi.interaction.devices.haply import HaplyDevice
from tabi.interaction.devices.protocol import DeviceError
from tabi.interaction.devices.stand_in_process import StandInDevice, StandInProcess


def test_a_force_moves_the_handle_to_where_the_spring_says():
    device = StandInDevice(("--stiffness", "100", "--damping", "8"))
    force, end = np.array([1.0, 0.0, -0.5]), time.monotonic() + 0.6
    while time.monotonic() < end:
        device.write(force, np.zeros(3))
        time.sleep(0.001)
        read = device.read()
    device.close()
    device.close()
    # 20 ms without a message, on a busy machine, would let it go for a moment
    np.testing.assert_allclose(read.position, force / 100.0, atol=2e-3)
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

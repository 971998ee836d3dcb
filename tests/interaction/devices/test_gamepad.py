"""A gamepad from a file of events: sticks are places, rumble is the size of the force."""

import os
import struct

import numpy as np
import pytest

from tabi.interaction.devices import gamepad
from tabi.interaction.devices.gamepad import ABS, EVENT, FORCE_FEEDBACK, HALF_WIDTH, KEY, Gamepad
from tabi.interaction.devices.protocol import DeviceError


class Kernel:
    """Answers what a driver is asked about its file."""

    def __init__(self, rumble=True):
        self.rumble, self.effects = rumble, []

    def __call__(self, file, request, data):
        number, size = request & 0xFF, request >> 16 & 0x3FFF
        assert size == len(data)
        assert request >> 8 & 0xFF == ord("E")
        if number == 0x80:
            if not self.rumble:
                raise OSError(38, "not there")
            kind, effect, *_ = struct.unpack_from("@Hh", data)
            assert kind == 0x50
            self.effects.append((effect, *struct.unpack_from("@HH", data, 16)))
            struct.pack_into("@h", data, 2, 4)
        else:
            assert number - 0x40 in (0, 1, 4)
            data[:] = struct.pack("6i", 0, 0, 255, 0, 0, 0)


@pytest.fixture
def pad(tmp_path):
    path = tmp_path / "event7"
    os.mkfifo(path)
    now, kernel = [0.0], Kernel()
    one = Gamepad(path, clock=lambda: now[0], control=kernel)
    end = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def told(*events):
        os.write(end, b"".join(EVENT.pack(0, 0, *event) for event in events))

    one.now, one.kernel, one.told, one.end = now, kernel, told, end
    yield one
    one.close()
    os.close(end)


def test_an_event_is_as_long_as_the_kernels():
    assert EVENT.size == 24
    assert gamepad.EFFECT.size == 48


def test_sticks_are_places(pad):
    assert not pad.read().position.any()
    pad.told((ABS, 0, 255), (ABS, 1, 0), (ABS, 4, 64), (KEY, 0x131, 1))
    read = pad.read()
    np.testing.assert_allclose(
        read.position, [HALF_WIDTH, HALF_WIDTH, HALF_WIDTH * (1 - 2 * 64 / 255)]
    )
    assert read.buttons[:3] == (False, True, False)
    pad.told((ABS, 0, 130), (KEY, 0x131, 0), (KEY, 0x1FF, 1), (ABS, 40, 9), (0, 0, 0))
    read = pad.read()
    assert read.position[0] == 0.0
    assert not any(read.buttons)


def test_velocity_comes_to_that_of_an_even_motion(pad):
    for k in range(200):
        pad.now[0] = 1e-3 * (k + 1)
        pad.told((ABS, 0, 150 + k // 2))
        read = pad.read()
    # half a unit of 255 per millisecond over a travel of two half-widths
    np.testing.assert_allclose(read.velocity[0], 2 * HALF_WIDTH / 255 * 500, rtol=0.05)
    for k in range(200):
        pad.now[0] = 0.2 + 1e-3 * (k + 1)
        read = pad.read()
    assert abs(read.velocity[0]) < 1e-3


def test_half_an_event_waits_for_its_other_half(pad):
    whole = EVENT.pack(0, 0, ABS, 0, 255)
    os.write(pad.end, whole[:10])
    assert pad.read().position[0] == 0.0
    os.write(pad.end, whole[10:])
    assert pad.read().position[0] == HALF_WIDTH


def test_rumble_is_the_size_of_the_force(pad):
    assert pad.info.wrench == 1
    pad.write(np.array([0.0, 3.0, 4.0]), np.zeros(3))
    assert pad.kernel.effects[-1] == (4, 0xFFFF, 0x7FFF)
    count = len(pad.kernel.effects)
    pad.now[0] += 0.01
    pad.write(np.array([0.0, 3.0, 4.0]), np.zeros(3))
    assert len(pad.kernel.effects) == count
    pad.now[0] += 0.06
    pad.write(np.array([0.0, 3.0, 4.0]), np.zeros(3))
    assert len(pad.kernel.effects) == count + 1
    pad.write(np.array([np.nan, 0.0, 0.0]), np.zeros(3))
    assert pad.kernel.effects[-1][1] == 0
    played = [event[2:] for event in EVENT.iter_unpack(os.read(pad.end, 1000))]
    assert played == [(FORCE_FEEDBACK, 4, 1), (FORCE_FEEDBACK, 4, 1), (FORCE_FEEDBACK, 4, 0)]


def test_without_rumble_it_gives_no_force(tmp_path):
    path = tmp_path / "event1"
    os.mkfifo(path)
    one = Gamepad(path, control=Kernel(rumble=False))
    assert one.info.wrench == 0
    one.write(np.ones(3), np.zeros(3))
    one.close()
    one.close()
    with pytest.raises(DeviceError, match="was closed"):
        one.read()


def test_one_that_is_not_there_is_told(tmp_path, monkeypatch):
    with pytest.raises(DeviceError, match="is it connected"):
        Gamepad(tmp_path / "none")
    monkeypatch.setattr(gamepad, "FOLDER", tmp_path)
    with pytest.raises(DeviceError, match="no gamepad is connected"):
        Gamepad()


def test_one_that_is_pulled_out_is_told(pad, monkeypatch):
    def gone(*given):
        raise OSError(19, "no such device")

    pad.read()
    monkeypatch.setattr(gamepad.os, "read", gone)
    with pytest.raises(DeviceError, match="is gone"):
        pad.read()
    monkeypatch.undo()
    assert pad.closed

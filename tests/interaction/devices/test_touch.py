"""The adapter for the Touch against a library that calls back as the vendor's does."""

import ctypes
import types

import numpy as np
import pytest

from tabi.interaction.devices import touch
from tabi.interaction.devices.protocol import DeviceError
from tabi.interaction.devices.touch import TIMEOUT_S, TouchDevice


class Hd:
    """A device whose frames are run by the test."""

    def __init__(self, there=True):
        self.there, self.code, self.forces, self.callback, self.calls = there, 0, [], None, []

    def hdInitDevice(self, name):
        return 5 if self.there else touch.NO_DEVICE

    def hdGetError(self):
        return types.SimpleNamespace(code=self.code)

    def hdScheduleAsynchronous(self, callback, data, priority):
        self.callback = callback

    def hdGetDoublev(self, what, out):
        turned = [
            0.0,
            1.0,
            0.0,
            0.0,
            -1.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            1.0,
            0.0,
            10.0,
            20.0,
            30.0,
            1.0,
        ]
        out[:] = {
            touch.POSITION: [10.0, 20.0, 30.0],
            touch.VELOCITY: [100.0, 0.0, -50.0],
            touch.POSE: turned,
            touch.SPIN: [0.0, 0.0, 2.0],
        }[what]

    def hdGetIntegerv(self, what, out):
        ctypes.cast(out, ctypes.POINTER(ctypes.c_int))[0] = 0b10

    def hdSetDoublev(self, what, values):
        assert what == touch.FORCE
        self.forces.append(list(values))

    def __getattr__(self, name):
        if not name.startswith("hd"):
            raise AttributeError(name)
        return lambda *given: self.calls.append(name)


def test_a_frame_is_read_and_written():
    now, hd = [1.0], Hd()
    one = TouchDevice(library=hd, clock=lambda: now[0])
    hd.callback(None)
    read = one.read()
    np.testing.assert_allclose(read.position, [0.01, 0.02, 0.03])
    np.testing.assert_allclose(read.velocity, [0.1, 0.0, -0.05])
    # the first column of the pose is (0, 1, 0): a quarter about z
    np.testing.assert_allclose(read.quaternion, [0.5**0.5, 0, 0, 0.5**0.5])
    np.testing.assert_array_equal(read.spin, [0, 0, 2])
    assert read.buttons == (False, True)
    assert read.time == 1.0
    one.write(np.array([1.0, 2.0, 3.0]), np.zeros(3))
    hd.callback(None)
    assert hd.forces == [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]


def test_a_force_that_is_old_is_none():
    now, hd = [1.0], Hd()
    one = TouchDevice(library=hd, clock=lambda: now[0])
    one.write(np.ones(3), np.zeros(3))
    now[0] += 1.1 * TIMEOUT_S
    hd.callback(None)
    assert hd.forces == [[0.0, 0.0, 0.0]]


def test_it_ends_without_force():
    hd = Hd()
    one = TouchDevice(library=hd)
    one.write(np.ones(3), np.zeros(3))
    one.close()
    one.close()
    hd.callback(None)
    assert hd.forces == [[0.0, 0.0, 0.0]]
    assert hd.calls[-3:] == ["hdDisableDevice", "hdBeginFrame", "hdEndFrame"]
    with pytest.raises(DeviceError, match="was closed"):
        one.read()


def test_an_error_of_the_device_is_told():
    hd = Hd()
    one = TouchDevice("Left", library=hd)
    hd.code = 0x0200
    hd.callback(None)
    with pytest.raises(DeviceError, match="Touch Left reports error 0x200"):
        one.write(np.ones(3), np.zeros(3))
    assert one.closed


def test_one_that_is_not_there_or_silent_is_told():
    with pytest.raises(DeviceError, match="could not be opened"):
        TouchDevice(library=Hd(there=False))
    with pytest.raises(DeviceError, match="sends no readings"):
        TouchDevice(library=Hd()).read()


def test_without_the_library_it_is_told_what_to_install():
    with pytest.raises(DeviceError, match="install OpenHaptics"):
        TouchDevice()

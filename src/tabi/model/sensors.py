"""Sensors of robots, and force plates: what they measure, and how a value becomes a reading.

| kind          | values                                    | measured                             |
|---------------|-------------------------------------------|--------------------------------------|
| force         | force [N], torque [N·m], 3 + 3            | what the far side exerts on the near |
|               |                                           | one, across the joint of its body    |
| imu           | gyro [rad/s], accelerometer [m/s²], 3 + 3 | both, in the sensor's axes           |
| gyro          | gyro, 3                                   | angular velocity                     |
| accelerometer | accelerometer, 3                          | acceleration less gravity            |
| orientation   | quaternion (w, x, y, z), 4                | of the sensor in the world           |
| encoder       | position, velocity, 1 + 1                 | of its body's joint; the velocity is |
|               |                                           | the difference of two readings       |
| torque        | torque [N·m or N], 1                      | what its body's joint transmits,     |
|               |                                           | beyond gear and rotor                |
| effort        | effort [N·m or N], 1                      | what the joint's motor gives         |
| touch         | normal_force [N], 1                       | of all contacts on its body          |
| switch        | on, 1                                     | 1 while that is above ``threshold``  |
| plate         | force, torque, 3 + 3                      | on what stands on a fixed thing      |
| camera        | none, but pictures: ``sim.render``        | what is seen from its place          |

Of a true value x the reading is, in this order,

    y: analogue low-pass of the first order, ẏ = 2π f (x − y)                                   (1)
    z = G⁻¹ y − offset                                       (so that x = G (z + offset))       (2)
    r = z + bias + drift ∫dW + noise · N(0, 1)               one draw a sample                  (3)
    limited to ±limit, rounded to a multiple of resolution, and released ``delay`` later        (4)

References: Chardonnet (2012), eq. 20, for G and offset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, near, real
from tabi.model.body import Frame
from tabi.model.sensor_kinds import SENSOR_KINDS, SensorKind

Array = NDArray[np.float64]
# numbers that may be one for all values or one for each
EACH = ("noise", "bias", "drift", "resolution", "limit")


OPTIONS = (*EACH, "part", "rate", "delay", "bandwidth", "matrix", "offset", "threshold")


def check_options(name: str, options: dict[str, Any]) -> None:
    """Refuse options that no sensor has."""
    for key in options:
        if key not in OPTIONS:
            raise ModelError(
                f"sensor {name!r} was given {key!r}; expected some of {', '.join(OPTIONS)}"
                f"{near(key, OPTIONS)}"
            )


@dataclass(eq=False)
class Sensor(Frame):
    """A sensor at a place of a body; its z axis is the sensor's. Kinds: see this module.

    Attributes:
        part: what alone is measured, of a kind that measures two things, as "torque" of "force".
        rate: samples per second [Hz]; default: every step. delay: of a sample [s].
        noise: standard deviation of white noise in each sample. bias: constant error.
        drift: of a bias that wanders [the value's unit/√s].
        resolution: smallest difference of two readings; exact where 0. limit: largest magnitude.
        bandwidth: of the analogue low-pass [Hz]; default: none.
        matrix, offset: G and offset of a force sensor whose reading is raw.
        threshold: of a switch [N].
        field_of_view: of a camera, from the lower to the upper edge of its picture [degrees]; None
            if its file has none. It looks along −z of its frame, y is up.

    Example: ``robot.add_sensor`` in docs/sensors.md
    """

    kind: str = "force"
    part: str = ""
    rate: float | None = None
    delay: float = 0.0
    noise: ArrayLike = 0.0
    bias: ArrayLike = 0.0
    drift: ArrayLike = 0.0
    resolution: ArrayLike = 0.0
    limit: ArrayLike = np.inf
    bandwidth: float | None = None
    matrix: ArrayLike | None = None
    offset: ArrayLike | None = None
    threshold: float = 1.0
    field_of_view: float | None = None

    @property
    def about(self) -> SensorKind:
        """Description of its kind."""
        return SENSOR_KINDS[self.kind]

    @property
    def parts(self) -> dict[str, int]:
        """Measured quantities, and the number of values of each."""
        every = self.about.parts
        return {self.part: every[self.part]} if self.part else dict(every)

    @property
    def width(self) -> int:
        """Number of values of a reading."""
        return sum(self.parts.values())

    def each(self, name: str) -> Array:
        """One of EACH as a number for each value, shape (width,)."""
        return np.broadcast_to(np.asarray(getattr(self, name), float), self.width)

    def calibrated(self, reading: ArrayLike) -> Array:
        """Return G (reading + offset): force and torque from a raw reading of a force sensor."""
        G, offset = self._calibration()
        return (G @ (np.asarray(reading, float) + offset).T).T

    def _calibration(self) -> tuple[Array, Array]:
        n = self.width
        G = np.eye(n) if self.matrix is None else np.asarray(self.matrix, float)
        return G, np.zeros(n) if self.offset is None else np.asarray(self.offset, float)

    def uncalibration(self) -> tuple[Array, Array]:
        """G⁻¹ and the offset."""
        G, offset = self._calibration()
        return np.asarray(np.linalg.inv(G), float), offset

    def check(self) -> None:
        """Reject a sensor with an impossible measurement, by its name."""
        owner = f"sensor {self.name!r}"
        if self.kind not in SENSOR_KINDS:
            raise ModelError(
                f"{owner} is of kind {self.kind!r}; expected one of {', '.join(SENSOR_KINDS)}"
                f"{near(self.kind, SENSOR_KINDS)}"
            )
        if self.part and self.part not in self.about.parts:
            raise ModelError(
                f"{owner} measures {self.part!r}; a sensor of kind {self.kind!r} has "
                f"{' and '.join(self.about.parts) or 'no values'}"
            )
        joint = self.body.joint
        if self.about.of_joint and joint.v_count != 1:
            raise ModelError(
                f"{owner} measures joint {joint.name!r}, which is {joint.kind}; "
                f"expected a joint with one degree of freedom"
            )
        for name in EACH:
            self._check_each(owner, name)
        least = {"delay": 0.0, "threshold": 0.0}
        for name, low in least.items():
            if not low <= real(f"{name} of {owner}", getattr(self, name)) < np.inf:
                raise ModelError(
                    f"{name} of {owner} is {getattr(self, name)}; expected a number ≥ 0"
                )
        if self.bandwidth is not None and not real(f"bandwidth of {owner}", self.bandwidth) > 0:
            raise ModelError(f"bandwidth of {owner} is {self.bandwidth} Hz; expected a number > 0")
        self._check_calibration(owner)

    def _check_each(self, owner: str, name: str) -> None:
        value = getattr(self, name)
        try:
            x = np.asarray(value, float)
            right = x.ndim == 0 or x.shape == (self.width,)
        except (TypeError, ValueError):
            x, right = np.zeros(0), False
        if not right:
            raise ModelError(
                f"{name} of {owner} is {value!r}; expected one number, or {self.width}, "
                f"one for each value ({', '.join(self.parts)})"
            )
        if np.isnan(x).any() or (name != "bias" and (x < 0).any()):
            raise ModelError(f"{name} of {owner} is {value!r}; expected numbers ≥ 0")
        if name != "limit" and not np.isfinite(x).all():
            raise ModelError(f"{name} of {owner} is {value!r}; expected finite numbers")

    def _check_calibration(self, owner: str) -> None:
        n = self.width
        for name, shape in (("matrix", (n, n)), ("offset", (n,))):
            value = getattr(self, name)
            if value is None:
                continue
            array: Any = np.asarray(value, float)
            if array.shape != shape or not np.isfinite(array).all():
                raise ModelError(
                    f"{name} of {owner} has shape {array.shape}; "
                    f"expected {' × '.join(map(str, shape))} finite numbers"
                )
        if self.matrix is not None and np.linalg.cond(np.asarray(self.matrix, float)) > 1e12:
            raise ModelError(
                f"matrix of {owner} is singular, so no reading determines the wrench; "
                f"expected an invertible {n} × {n} matrix G with wrench = G (reading + offset)"
            )

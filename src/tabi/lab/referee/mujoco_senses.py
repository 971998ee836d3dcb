"""Sensor readings of a robot in MuJoCo's copy of its world, so that its controller can drive it.

MuJoCo's own sensors are those of the moment in which a step begins, before it is known what the
step does with stiff motors. tabi's are those of the whole step (``simulation.sensors``), and so are
these: with a = (v⁺ − v)/h put in place of MuJoCo's acceleration, ``rnePostConstraint``
gives for each body, about the centre of mass c of its tree and in the world's axes,

    A: acceleration less gravity,   V: twist,   F: what its parent exerts on it across its joint
from which at the place p of a sensor, r = p − c, and in its axes,

    accelerometer: A_lin + A_ang × r + V_ang × (V_lin + V_ang × r)                              (1)
    force: −F_lin,   torque: −(F_ang − r × F_lin)                                               (2)
    torque of a joint: its axis times F_lin, or F_ang − r × F_lin with r to its body            (3)
all at the configuration in which the step began. Gyroscopes, encoders and orientation are of its
end; a touch is the sum of MuJoCo's normal forces on the body.

Calibration, bias, limits and resolution of a sensor are its own; noise, drift, delay, low-pass and
rate are not done here, which is noted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.model.arrays import PRISMATIC
from tabi.model.links import Site
from tabi.model.lookup import link_of
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.simulation.simulator import Simulator
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
# kinds that measure what happened within the step
WITHIN = ("force", "torque", "imu", "accelerometer")
MAX_NAMES = 4


@dataclass(frozen=True, eq=False)
class SensorPlace:
    """A sensor in MuJoCo: its body there, and where it is on that.

    Attributes:
        X_MS: of the sensor. X_MB: of tabi's body, whose z is the axis of its joint.
    """

    site: Site
    body: int
    X_MS: Transform
    X_MB: Transform


class MuJoCoSenses:
    """Readings of all robots' sensors.

    Args:
        sim: never stepped; it stands where MuJoCo is at the end of the step.
        carrier: MuJoCo's body of each moving body of tabi. owner: tabi's body of each geom.

    Attributes:
        notes: what is not the same as in tabi.
    """

    def __init__(
        self,
        sim: Simulator,
        engine: tuple[Any, Any],
        carrier: Mapping[int, int],
        owner: NDArray[np.int64],
    ) -> None:
        self.sim, (self.mj, self.m), self.owner = sim, engine, owner
        self.places: dict[str, dict[str, SensorPlace]] = {}
        for robot in sim.world.robots:
            sites = {
                name: sim.model.sensors[link_of(sim.world, sim.model, sensor).name]
                for name, sensor in robot.sensors.items()
            }
            self.places[robot.name] = {
                name: self._place(site, carrier.get(site.body, 0))
                for name, site in sites.items()
                if site.measures
            }
        self.notes = list(_notes([p for of_body in self.places.values() for p in of_body.values()]))

    def _place(self, site: Site, body: int) -> SensorPlace:
        name = self.m.body(body).name
        known = self.sim.model.links[name].placement if body else Transform()
        return SensorPlace(site, body, known.inverse() @ site.placement, known.inverse())

    def read(self, d: Any, acceleration: Array, effort: Array, robot: Robot) -> dict[str, Array]:
        """Readings of a robot's sensors after a step.

        Args:
            d: MuJoCo's data after the step, with the kinematics of its beginning.
            acceleration: of the step, in MuJoCo's order.
            effort: of the motors in the step, of each degree of freedom of tabi's.
        """
        places = self.places[robot.name]
        if any(place.site.kind in WITHIN for place in places.values()):
            accelerations = d.qacc.copy()
            d.qacc[:] = acceleration
            self.mj.mj_rnePostConstraint(self.m, d)
            d.qacc[:] = accelerations
        return {
            name: reading(place.site.sensor, self._truth(d, place, effort))
            for name, place in places.items()
        }

    def _truth(self, d: Any, place: SensorPlace, effort: Array) -> Array:
        """All values of the sensor's kind."""
        site, sim = place.site, self.sim
        kind, sensor = site.kind, site.sensor
        dof = int(sim.model.arrays.body["v_start"][site.body])
        if kind == "force":
            return self._joint_wrench(d, place)
        if kind == "torque":
            return self._transmitted(d, place)
        if kind in ("imu", "gyro", "accelerometer"):
            turn = sim.pose(site.name).R.T @ sim.velocity(site.name).angular
            proper = self._proper_acceleration(d, place) if kind != "gyro" else turn
            return {"imu": np.concatenate([turn, proper]), "gyro": turn}.get(kind, proper)
        if kind == "orientation":
            return np.array(sim.pose(site.name).quaternion)
        if kind == "encoder":
            state = sim.state
            return np.array([state.q[sim.model.arrays.dof["q"][dof]], state.v[dof]])
        if kind == "effort":
            return effort[dof : dof + 1]
        pressed = self._pressed(d, site.body)
        return np.array([pressed if kind == "touch" else float(pressed > sensor.threshold)])

    def _proper_acceleration(self, d: Any, place: SensorPlace) -> Array:
        """Proper acceleration of equation (1)."""
        R, r = self._frame(d, place, place.X_MS)
        A, V = d.cacc[place.body], d.cvel[place.body]
        a = A[3:] + np.cross(A[:3], r) + np.cross(V[:3], V[3:] + np.cross(V[:3], r))
        return R.T @ a

    def _joint_wrench(self, d: Any, place: SensorPlace) -> Array:
        """Return (2), force first."""
        R, r = self._frame(d, place, place.X_MS)
        F = d.cfrc_int[place.body]
        return -np.concatenate([R.T @ F[3:], R.T @ (F[:3] - np.cross(r, F[3:]))])

    def _transmitted(self, d: Any, place: SensorPlace) -> Array:
        """Return the transmitted torque of (3)."""
        R, r = self._frame(d, place, place.X_MB)
        F, kind = d.cfrc_int[place.body], self.sim.model.arrays.body["kind"][place.site.body]
        along = F[3:] if kind == PRISMATIC else F[:3] - np.cross(r, F[3:])
        return np.array([R[:, 2] @ along])

    def _frame(self, d: Any, place: SensorPlace, X: Transform) -> tuple[Array, Array]:
        """Axes of a frame on MuJoCo's body, and its origin from the centre of mass of the tree."""
        i = place.body
        R_WM = d.xmat[i].reshape(3, 3)
        return R_WM @ X.R, d.xpos[i] + R_WM @ X.p - d.subtree_com[self.m.body_rootid[i]]

    def _pressed(self, d: Any, body: int) -> float:
        """Normal forces of all contacts on a body."""
        touch = d.contact
        first = np.array(touch.efc_address)
        mine = (self.owner[np.array(touch.geom).reshape(-1, 2)] == body).any(axis=1) & (first >= 0)
        return float(d.efc_force[first[mine]].sum())


def reading(sensor: Sensor, truth: Array) -> Array:
    """Return a sensor's reading of its true values, without memory and noise."""
    first = 0
    for part, width in sensor.about.parts.items():
        if sensor.part == part:
            truth = truth[first : first + width]
        first += width
    inverse, offset = sensor.uncalibration()
    x = inverse @ truth - offset + sensor.each("bias")
    x = np.clip(x, -sensor.each("limit"), sensor.each("limit"))
    steps = np.array(sensor.each("resolution"))
    fine = steps > 0.0
    x[fine] = steps[fine] * np.floor(x[fine] / steps[fine] + 0.5)
    return x


def _notes(places: list[SensorPlace]) -> list[str]:
    """Yield what of sensors is left out, in one sentence."""
    lost: dict[str, list[str]] = {}
    for place in places:
        sensor = place.site.sensor
        for word, there in (
            ("noise", bool(sensor.each("noise").any() or sensor.each("drift").any())),
            ("delay", sensor.delay > 0),
            ("low-pass", sensor.bandwidth is not None),
            ("rate", sensor.rate is not None),
        ):
            if there:
                lost.setdefault(word, []).append(sensor.name)
    if not lost:
        return []
    notes = [
        f"{word} of {', '.join(names[:MAX_NAMES])}"
        + (f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else "")
        for word, names in lost.items()
    ]
    return [f"its sensors read exactly, in every step: {'; '.join(notes)} are tabi's alone"]

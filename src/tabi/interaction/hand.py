"""Haptic hand in the simulation: it reads a device before each step, pushes the held or touched
bodies by ``coupling``, and publishes a ``local_model`` to the device's loop.

    hand = HapticHand(sim, source, mode="attach", body=box)
    while True:
        hand.pull()
        sim.step()

The work of its wrench on a body, constant during a step, is f·Δx + τ·Δφ of that step, exactly; the
device's loop uses it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, TabiError
from tabi._renamed import renamed_attributes
from tabi.interaction.coupling import (
    CouplingGains,
    Placement,
    Probe,
    apparent_masses,
    bounded,
    gains,
    point_velocity,
    pressed,
    rotation_between,
    valid_reading,
)
from tabi.interaction.device_law import DeviceLaw, make_law
from tabi.interaction.devices.protocol import DeviceError, HandReading, HapticDevice
from tabi.interaction.god_object import GodObject, Press
from tabi.interaction.local_model import LocalModel, Mode, product
from tabi.interaction.mouse_spring import Band
from tabi.interaction.surroundings import Near, Surroundings
from tabi.model.body import Body
from tabi.model.compiled import Link
from tabi.model.lookup import link_of
from tabi.spatial.transform import Transform

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
MODES = {"attach": Mode.ATTACH, "touch": Mode.TOUCH}
GRASP_DISTANCE = 0.02  # m from a body within which the probe can grasp it
RELEASE_DISTANCE = 2.0  # m between probe and point beyond which it releases
TOUCH_FORCE_LIMIT = 400.0  # N on a touched body
MASS_REFRESH_STEPS = 50  # between updates of a touched body's mass


class HandSource(Protocol):
    """Source of readings. It may also have ``publish_model(vector)``, for a ``LocalModel``."""

    def latest(self) -> HandReading | None:
        """Return the hand now; None if there is no new reading for long."""
        ...


@dataclass(frozen=True, eq=False)
class _AppliedWrench:
    """A wrench on a body during a step, and the pose of the body at its start."""

    name: str
    point: Array
    force: Array
    torque: Array
    pose: Transform
    step: int


@dataclass(frozen=True, eq=False)
class _Grasp:
    """A grasped point of a body, in its frame, and the relative rotation of the probe."""

    name: str
    point: Array
    rotation: tuple[float, ...]
    gains: CouplingGains


class HapticHand:
    """One hand of a person in a simulation.

    Args:
        source: of readings.
        mode: "attach": hold a point of a body while the button is pressed; "touch": a ball that
            cannot enter bodies.
        body: to hold; default: the nearest one within reach.
        stiffness, turn_stiffness: [N/m, N·m/rad], less for light bodies.
        placement: of the device in the world.
        radius, friction: of the touching ball [m].
        button: index of the button; None: always hold.

    Attributes:
        force, torque: on bodies [N, N·m]. model: last published local model.
        work, turn_work: of forces and torques on bodies so far [J].
        reading: of the device at the last step; None if it was invalid.
    """

    def __init__(
        self,
        sim: Simulator,
        source: HandSource,
        mode: str = "attach",
        body: Body | str | None = None,
        stiffness: float = 300.0,
        turn_stiffness: float = 0.0,
        placement: Placement | None = None,
        radius: float = 5e-3,
        friction: float = 0.0,
        button: int | None = 0,
    ) -> None:
        if mode not in MODES:
            raise ModelError(f"mode of a hand is {mode!r}; expected 'attach' or 'touch'")
        for name, value in (("stiffness", stiffness), ("turn_stiffness", turn_stiffness)):
            if not 0.0 <= value < np.inf:
                raise ModelError(f"{name} of a hand is {value}; expected a finite number ≥ 0")
        if not 0.0 <= friction < np.inf:
            raise ModelError(f"friction of a hand is {friction}; expected a finite number ≥ 0")
        self.sim, self.source, self.mode, self.button = sim, source, MODES[mode], button
        self._link = None if body is None else _moving(sim, body)
        self.stiffness, self.turn_stiffness = float(stiffness), float(turn_stiffness)
        self.placement = placement or Placement()
        self.around = Surroundings(sim, radius)
        self.ball = GodObject(self.around, friction)
        self.work, self.turn_work, self.model = 0.0, 0.0, LocalModel()
        self.force, self.torque = np.zeros(3), np.zeros(3)
        self._applied: list[_AppliedWrench] = []
        self.reading: HandReading | None = None
        self._grasp: _Grasp | None = None
        self._is_pressed = False
        self._masses: dict[str, tuple[int, CouplingGains]] = {}
        self._probe, self._point = self.placement.origin, self.placement.origin

    @property
    def holds(self) -> str | None:
        """Name of the body that it is attached to."""
        return None if self._grasp is None else self._grasp.name

    def pull(self) -> None:
        """Push bodies during the next step according to the device."""
        self._count_work()
        self.force, self.torque = np.zeros(3), np.zeros(3)
        latest = self.source.latest()
        reading = self.reading = None if latest is None else valid_reading(latest)
        if reading is None:
            self.release()
            self._publish_model(LocalModel(time=self.model.time))
            return
        probe = self.placement.probe(reading)
        self._probe = self._point = probe.position
        try:
            model = self._hold(reading, probe) if self.mode is Mode.ATTACH else self._touch(probe)
        except TabiError:
            # the held body does not exist any more
            self.release()
            model = LocalModel()
        p = self.placement
        place = {"scale": p.scale, "gain": p.gain, "origin": p.origin, "frame": p.quaternion}
        self._publish_model(model, time=reading.time, clutched=p.clutched, **place)

    def release(self) -> None:
        """Release the body; the button has to be pressed again."""
        self._grasp, self._is_pressed, self._applied = None, False, []
        self.ball.forget()

    def band(self) -> Band:
        """Return the band to draw."""
        return Band(self._point.copy(), self._probe.copy(), self.force.copy())

    # ---- attach -----------------------------------------------------------------------------

    def _hold(self, reading: HandReading, probe: Probe) -> LocalModel:
        is_pressed = self.button is None or pressed(reading, self.button)
        if not is_pressed:
            self._grasp = None
        elif not self._is_pressed:
            self._grasp = self._grasp_at(reading, probe)
            probe = self.placement.probe(reading)
        self._is_pressed, g = is_pressed, self._grasp
        if g is None:
            return LocalModel()
        X, V = self.sim.pose(g.name), self.sim.velocity(g.name)
        arm = X.R @ g.point
        x = X.p + arm
        speed = point_velocity(V, arm)
        goal = np.array(product(tuple(X.quaternion), g.rotation))
        error = probe.position - x
        force = g.gains.force(error, probe.velocity - speed)
        torque = np.zeros(3)
        if g.gains.turn_stiffness > 0.0:
            rotation = rotation_between(goal, probe.quaternion)
            torque = g.gains.torque(rotation, probe.spin - V.angular)
        if not (
            np.isfinite(force @ force + torque @ torque) and error @ error < RELEASE_DISTANCE**2
        ):
            self._grasp = None
            return LocalModel()
        self._probe, self._point = probe.position, x
        self._push(g.name, X, g.point, force, torque)
        w, i, j, k = self.placement.offset
        return LocalModel(
            mode=Mode.ATTACH,
            place=x,
            quaternion=np.array(product(tuple(goal), (w, -i, -j, -k))),
            velocity=speed,
            spin=V.angular,
            stiffness=g.gains.stiffness,
            damping=g.gains.damping,
            turn_stiffness=g.gains.turn_stiffness,
            turn_damping=g.gains.turn_damping,
            force_limit=g.gains.force_limit,
            torque_limit=g.gains.torque_limit,
        )

    def _grasp_at(self, reading: HandReading, probe: Probe) -> _Grasp | None:
        """Grasp the body at the probe, or the specified one."""
        self.around.update()
        near = [
            point for point in self.around.near(probe.position, GRASP_DISTANCE) if point.body > 0
        ]
        near = [point for point in near if self._link is None or point.body == self._link.body]
        place = probe.position
        if near:
            nearest = self.sim.model.link(min(near, key=lambda point: point.gap).link)
        elif self._link is None:
            return None
        else:
            nearest = self._link
        link = self._link or nearest
        X = self.sim.pose(link.name)
        if not near:
            # from a distance: the probe is moved to the body
            place = X.p
            self.placement.shift(reading, place)
        w, x, y, z = X.quaternion.tolist()
        rotation = product((w, -x, -y, -z), tuple(probe.quaternion.tolist()))
        masses = apparent_masses(self.sim, link, place)
        coupling = gains(masses, self.sim.dt, self.stiffness, self.turn_stiffness)
        return _Grasp(link.name, X.inverse() @ place, rotation, coupling)

    # ---- touch ------------------------------------------------------------------------------

    def _touch(self, probe: Probe) -> LocalModel:
        self.ball.follow(probe.position)
        p = self.ball.position
        assert p is not None
        self._point = p
        moving = [press.near for press in self.ball.presses if press.near.body]
        stiffness = min([self.stiffness, *(self._gains(n.link, n.point).stiffness for n in moving)])
        damping, velocity, normal = 0.0, np.zeros(3), np.zeros(3)
        for press in self.ball.presses:
            c, v = self._push_touched(press, probe, stiffness)
            n = press.near.normal
            normal = normal + (press.part @ n) * n
            damping, velocity = max(damping, c), v if press.near.body else velocity
        size = float(np.linalg.norm(normal))
        law: dict[str, Any] = {"stiffness": stiffness, "damping": damping, "velocity": velocity}
        if size > 0.0:
            law["friction"] = self.ball.friction
            return LocalModel(mode=Mode.TOUCH, place=p, normal=normal / size, **law)
        ahead = self.ball.ahead
        if ahead is None:
            return LocalModel()
        # the hand may reach it before the next step
        place = p - ahead.gap * ahead.normal
        law["velocity"] = self._speed(ahead)
        return LocalModel(mode=Mode.TOUCH, place=place, normal=ahead.normal, **law)

    def _push_touched(self, press: Press, probe: Probe, stiffness: float) -> tuple[float, Array]:
        """Push a touched body; return its damping and the velocity of its point."""
        near, n = press.near, press.near.normal
        force = stiffness * press.part
        if not near.body:
            self.force = self.force - force
            return 0.0, np.zeros(3)
        v, X = self._speed(near), self.sim.pose(near.link)
        c = self._gains(near.link, near.point).damping
        force = force + c * float(n @ (v - probe.velocity)) * n
        if float(force @ n) <= 0.0:
            return c, v
        point = X.inverse() @ near.point
        self._push(near.link, X, point, bounded(-force, TOUCH_FORCE_LIMIT), np.zeros(3))
        return c, v

    def _speed(self, near: Near) -> Array:
        """Return the velocity of a point of a body [m/s]."""
        if not near.body:
            return np.zeros(3)
        X, V = self.sim.pose(near.link), self.sim.velocity(near.link)
        return point_velocity(V, near.point - X.p)

    def _gains(self, link: str, point: Array) -> CouplingGains:
        """Return the gains of a touched body, updated from time to time."""
        known = self._masses.get(link)
        now = self.sim.data.steps
        if known is None or not 0 <= now - known[0] < MASS_REFRESH_STEPS:
            masses = apparent_masses(self.sim, self.sim.model.link(link), point)
            known = (now, gains(masses, self.sim.dt, self.stiffness))
            self._masses[link] = known
        return known[1]

    # ---- both -------------------------------------------------------------------------------

    def _push(self, name: str, X: Transform, point: Array, force: Array, torque: Array) -> None:
        if not np.isfinite(force @ force + torque @ torque):
            return
        self.sim.apply_force(name, force=force, torque=torque, point=point)
        self.force, self.torque = self.force + force, self.torque + torque
        if not self.placement.clutched:
            acting = _AppliedWrench(name, point, force, torque, X, self.sim.data.steps)
            self._applied.append(acting)

    def _count_work(self) -> None:
        for applied in self._applied:
            if self.sim.data.steps != applied.step + 1:
                # the state was set from outside
                continue
            now = self.sim.pose(applied.name)
            done = float(applied.force @ (now @ applied.point - applied.pose @ applied.point))
            turn_work = 0.0
            if applied.torque.any():
                turn = rotation_between(applied.pose.quaternion, now.quaternion)
                turn_work = float(applied.torque @ turn)
            if np.isfinite(done + turn_work):
                self.work, self.turn_work = self.work + done, self.turn_work + turn_work
        self._applied = []

    def _publish_model(self, model: LocalModel, **fields: Any) -> None:
        self.model = replace(model, work=self.work, turn_work=self.turn_work, **fields)
        publish: Any = getattr(self.source, "publish_model", None) or getattr(
            self.source, "tell", None
        )
        if publish is not None:
            publish(self.model.to_vector())


@renamed_attributes(tell="publish_model")
class Lockstep:
    """Device without its own loop, for runs without a person: it is read once a step, and gets the
    force of its law, in simulated time.

    Args:
        law: from ``make_law``; default: one with the device's limits.
    """

    def __init__(self, device: HapticDevice, sim: Simulator, law: DeviceLaw | None = None) -> None:
        info = device.info
        self.device, self.sim = device, sim
        self.law = law or make_law(
            force_limit=info.force_limit,
            torque_limit=info.torque_limit,
            longest=max(6e-3, sim.dt),
        )
        self._model = LocalModel().to_vector()
        self._last = sim.time

    def latest(self) -> HandReading | None:
        """Return the reading of the device now; None if it fails."""
        now = self.sim.time
        try:
            reading = replace(self.device.read(), time=now)
            force, torque, _ = self.law(reading, self._model, max(now - self._last, 0.0))
            self.device.write(force, torque)
        except DeviceError:
            return None
        self._last = now
        return reading

    def publish_model(self, vector: Array) -> None:
        """Set the local model of the law from the next step on."""
        self._model = vector


def _moving(sim: Simulator, body: Body | str) -> Link:
    link = link_of(sim.world, sim.model, body)
    if link.body == 0:
        raise ModelError(f"{link.name!r} cannot be held by a hand; expected a body that moves")
    return link

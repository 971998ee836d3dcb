"""A hand in the simulation: it reads a device before each step and pushes what the probe holds or
touches, by ``coupling``; and tells the device's loop what it has to know, ``local_model``.

    hand = HapticHand(sim, source, mode="attach", body=box)
    while True:
        hand.pull()
        sim.step()

The work of its wrench on a body, held for a step, is f·Δx + τ·Δφ of that step, exactly; the
device's loop counts with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, TabiError
from tabi.interaction.coupling import (
    CouplingGains,
    Placement,
    Probe,
    bounded,
    gains,
    point_velocity,
    pressed,
    rotation_between,
    shown_masses,
    sound,
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
REACH = 0.02  # m from a body within which the probe takes hold of it
LEASH = 2.0  # m between probe and point beyond which it has let go
LIMIT = 400.0  # N on what is touched
LOOKED = 50  # steps after which the mass of what is touched is looked at again


class HandSource(Protocol):
    """Where readings come from. It may also have ``tell(vector)``, for a ``LocalModel``."""

    def latest(self) -> HandReading | None:
        """The hand now; None where nothing new has come for long."""
        ...


@dataclass(frozen=True, eq=False)
class _Acting:
    """A wrench on a body during a step, and where its point was then."""

    name: str
    point: Array
    force: Array
    torque: Array
    pose: Transform
    step: int


@dataclass(frozen=True, eq=False)
class _Grasp:
    """A point of a body, in its frame, and how the probe was turned in it."""

    name: str
    point: Array
    turned: tuple[float, ...]
    gains: CouplingGains


class HapticHand:
    """One hand of a person.

    Args:
        source: of readings.
        mode: "attach": it holds a point of a body as long as the button is pressed; "touch": a ball
            that cannot enter bodies.
        body: which it holds; unless given the nearest one within reach.
        stiffness, turn_stiffness: [N/m, N·m/rad], less for light bodies.
        placement: of the device in the world.
        radius, friction: of the ball that touches [m].
        button: None holds always.

    Attributes:
        force, torque: on bodies [N, N·m]. model: what the device's loop was told last.
        work, turn_work: done on bodies by forces and torques so far [J].
        reading: of the device at the last step; None where it could not be believed.
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
        self._acting: list[_Acting] = []
        self.reading: HandReading | None = None
        self._grasp: _Grasp | None = None
        self._wanted = False
        self._masses: dict[str, tuple[int, CouplingGains]] = {}
        self._probe, self._point = self.placement.origin, self.placement.origin

    @property
    def holds(self) -> str | None:
        """The body that it is attached to."""
        return None if self._grasp is None else self._grasp.name

    def pull(self) -> None:
        """Push bodies during the next step as the device says."""
        self._count_work()
        self.force, self.torque = np.zeros(3), np.zeros(3)
        said = self.source.latest()
        reading = self.reading = None if said is None else sound(said)
        if reading is None:
            self.release()
            self._tell(LocalModel(time=self.model.time))
            return
        probe = self.placement.probe(reading)
        self._probe = self._point = probe.position
        try:
            told = self._hold(reading, probe) if self.mode is Mode.ATTACH else self._touch(probe)
        except TabiError:
            # what it held is no more
            self.release()
            told = LocalModel()
        p = self.placement
        place = {"scale": p.scale, "gain": p.gain, "origin": p.origin, "frame": p.quaternion}
        self._tell(told, time=reading.time, held=p.held, **place)

    def release(self) -> None:
        """Let go; the button has to be pressed anew."""
        self._grasp, self._wanted, self._acting = None, False, []
        self.ball.forget()

    def band(self) -> Band:
        """As it is seen."""
        return Band(self._point.copy(), self._probe.copy(), self.force.copy())

    # ---- attach -----------------------------------------------------------------------------

    def _hold(self, reading: HandReading, probe: Probe) -> LocalModel:
        wanted = self.button is None or pressed(reading, self.button)
        if not wanted:
            self._grasp = None
        elif not self._wanted:
            self._grasp = self._take(reading, probe)
            probe = self.placement.probe(reading)
        self._wanted, g = wanted, self._grasp
        if g is None:
            return LocalModel()
        X, V = self.sim.pose(g.name), self.sim.velocity(g.name)
        arm = X.R @ g.point
        x = X.p + arm
        speed = point_velocity(V, arm)
        goal = np.array(product(tuple(X.quaternion), g.turned))
        error = probe.position - x
        force = g.gains.force(error, probe.velocity - speed)
        torque = np.zeros(3)
        if g.gains.turn_stiffness > 0.0:
            turned = rotation_between(goal, probe.quaternion)
            torque = g.gains.torque(turned, probe.spin - V.angular)
        if not (np.isfinite(force @ force + torque @ torque) and error @ error < LEASH**2):
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

    def _take(self, reading: HandReading, probe: Probe) -> _Grasp | None:
        """The body there, or the one that is to be held."""
        self.around.look()
        near = [one for one in self.around.near(probe.position, REACH) if one.body > 0]
        near = [one for one in near if self._link is None or one.body == self._link.body]
        place = probe.position
        if near:
            found = self.sim.model.link(min(near, key=lambda one: one.gap).link)
        elif self._link is None:
            return None
        else:
            found = self._link
        link = self._link or found
        X = self.sim.pose(link.name)
        if not near:
            # from afar: the probe goes where the body is
            place = X.p
            self.placement.shift(reading, place)
        w, x, y, z = X.quaternion.tolist()
        turned = product((w, -x, -y, -z), tuple(probe.quaternion.tolist()))
        masses = shown_masses(self.sim, link, place)
        made = gains(masses, self.sim.dt, self.stiffness, self.turn_stiffness)
        return _Grasp(link.name, X.inverse() @ place, turned, made)

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
            c, v = self._lean(press, probe, stiffness)
            n = press.near.normal
            normal = normal + (press.part @ n) * n
            damping, velocity = max(damping, c), v if press.near.body else velocity
        size = float(np.linalg.norm(normal))
        law = {"stiffness": stiffness, "damping": damping, "velocity": velocity}
        if size > 0.0:
            law["friction"] = self.ball.friction
            return LocalModel(mode=Mode.TOUCH, place=p, normal=normal / size, **law)
        ahead = self.ball.ahead
        if ahead is None:
            return LocalModel()
        # the hand may be there before the next step
        place = p - ahead.gap * ahead.normal
        law["velocity"] = self._speed(ahead)
        return LocalModel(mode=Mode.TOUCH, place=place, normal=ahead.normal, **law)

    def _lean(self, press: Press, probe: Probe, stiffness: float) -> tuple[float, Array]:
        """Push one body of those that are touched; its damping and the velocity of its point."""
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
        self._push(near.link, X, point, bounded(-force, LIMIT), np.zeros(3))
        return c, v

    def _speed(self, near: Near) -> Array:
        """Of a point of a body [m/s]."""
        if not near.body:
            return np.zeros(3)
        X, V = self.sim.pose(near.link), self.sim.velocity(near.link)
        return point_velocity(V, near.point - X.p)

    def _gains(self, link: str, point: Array) -> CouplingGains:
        """Of what is touched, looked at once in a while."""
        known = self._masses.get(link)
        now = self.sim.data.steps
        if known is None or not 0 <= now - known[0] < LOOKED:
            masses = shown_masses(self.sim, self.sim.model.link(link), point)
            known = (now, gains(masses, self.sim.dt, self.stiffness))
            self._masses[link] = known
        return known[1]

    # ---- both -------------------------------------------------------------------------------

    def _push(self, name: str, X: Transform, point: Array, force: Array, torque: Array) -> None:
        if not np.isfinite(force @ force + torque @ torque):
            return
        self.sim.apply_force(name, force=force, torque=torque, point=point)
        self.force, self.torque = self.force + force, self.torque + torque
        if not self.placement.held:
            acting = _Acting(name, point, force, torque, X, self.sim.data.steps)
            self._acting.append(acting)

    def _count_work(self) -> None:
        for one in self._acting:
            if self.sim.data.steps != one.step + 1:
                # somebody set another state
                continue
            now = self.sim.pose(one.name)
            done = float(one.force @ (now @ one.point - one.pose @ one.point))
            turned = 0.0
            if one.torque.any():
                turn = rotation_between(one.pose.quaternion, now.quaternion)
                turned = float(one.torque @ turn)
            if np.isfinite(done + turned):
                self.work, self.turn_work = self.work + done, self.turn_work + turned
        self._acting = []

    def _tell(self, model: LocalModel, **more: Any) -> None:
        self.model = replace(model, work=self.work, turn_work=self.turn_work, **more)
        tell: Any = getattr(self.source, "tell", None)
        if tell is not None:
            tell(self.model.to_vector())


class Lockstep:
    """A device without a loop of its own, for runs without a person: it is read once a step and
    feels what its law says, in simulated time.

    Args:
        law: from ``make_law``; one with the device's limits unless given.
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
        """The device now; None where it fails."""
        now = self.sim.time
        try:
            reading = replace(self.device.read(), time=now)
            force, torque, _ = self.law(reading, self._model, max(now - self._last, 0.0))
            self.device.write(force, torque)
        except DeviceError:
            return None
        self._last = now
        return reading

    def tell(self, vector: Array) -> None:
        """What the law goes by from the next step on."""
        self._model = vector


def _moving(sim: Simulator, body: Body | str) -> Link:
    link = link_of(sim.world, sim.model, body)
    if link.body == 0:
        raise ModelError(f"{link.name!r} cannot be held by a hand; expected a body that moves")
    return link

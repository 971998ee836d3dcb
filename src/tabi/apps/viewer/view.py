"""View of one moment of a simulation:
numbers only, copied in one go, so that drawing needs no simulator.

An ``Observer`` knows where in the simulator's tables each number stands; looking is then a few
array operations, about as long for forty bodies as for one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tabi.apps.viewer.soft_pad import SoftView, soft_of
from tabi.apps.viewer.steered_look import SteeredLook, SteeredView
from tabi.apps.viewer.walk_look import WalkLook, WalkView
from tabi.interaction.mouse_spring import Band
from tabi.interaction.presence import HandMeters, Presence, presence_of
from tabi.model.body import Body, Foot
from tabi.model.compiled import Link
from tabi.model.lookup import link_of
from tabi.model.world import World
from tabi.recording.foot_words import NONE
from tabi.reporting import soles
from tabi.reporting.soles import Soles
from tabi.spatial.transform import Transform
from tabi.step import feet
from tabi.step.tables import OPEN, SLIP

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# a force plate with a smaller load has no useful centre of pressure
MIN_PLATE_LOAD_N = 5.0


@dataclass(frozen=True, eq=False)
class SensorView:
    """View of a sensor's reading.

    Attributes:
        name: of it. values: its reading.
        pressure: centre of pressure of a force plate, in its plane and in the world [m];
            None without a load, and of other sensors.
    """

    name: str
    values: Array
    pressure: tuple[Array, Array] | None = None


@dataclass(frozen=True, eq=False)
class View:
    """View of one moment.

    Attributes:
        time: [s]. positions (n, 3) [m], rotations (n, 3, 3): of the observer's bodies.
        points (k, 3) [m], normals (k, 3), forces (k, 3) [N], friction (k,), sliding (k,):
            of the contacts, the force on the upper body.
        outlines: corners of every foot's sole in the world [m].
        pressures (f, 3): centres of pressure in the world [m], NaN without a load.
        pressures_in_foot (f, 2) [m]: the same in the feet's frames.
        loads (f,) [N]: force along the feet's z axes.
        centres (r, 3): of mass, of every robot [m]. zmp (r, 3) [m], NaN without a load.
        supports: points that carry each robot [m].
        load: vertical force on all feet [N].
        residual [m/s], force_residual [N], missed: of the certificate.
        soles: places and states of the feet. bands: what the mouse pulls.
        selected_sensor: its reading; None without one. walks: of robots that walk.
        steered: of robots that are steered. fallen: names of robots whose bases are at less than
            half of the height they had at the start. pads: soft soles and pads.
        hand: state of a haptic device, where there is one.
        q, v, effort: coordinates, velocities, and efforts of motors [N·m or N], of the model.
    """

    time: float
    positions: Array
    rotations: Array
    points: Array
    normals: Array
    forces: Array
    friction: Array
    sliding: NDArray[np.bool_]
    outlines: list[Array]
    pressures: Array
    pressures_in_foot: Array
    loads: Array
    centres: Array
    zmp: Array
    supports: list[Array]
    load: float
    residual: float
    force_residual: float
    missed: int
    soles: Soles
    bands: tuple[Band, ...] = ()
    selected_sensor: SensorView | None = None
    walks: tuple[WalkView, ...] = ()
    steered: tuple[SteeredView, ...] = ()
    fallen: tuple[str, ...] = ()
    pads: tuple[SoftView, ...] = ()
    hand: HandMeters | None = None
    q: Array = field(default_factory=lambda: np.zeros(0))
    v: Array = field(default_factory=lambda: np.zeros(0))
    effort: Array = field(default_factory=lambda: np.zeros(0))


def bodies_of(world: World) -> list[Body]:
    """All bodies that may move, in the order of a view."""
    return [body for robot in world.robots for body in robot.bodies] + list(world.objects)


def feet_of(world: World) -> dict[str, Foot]:
    """All feet by name, in the order of a view;
    with their robots' names where there are several.
    """
    several = len(world.robots) > 1
    return {
        f"{robot.name}/{name}" if several else name: foot
        for robot in world.robots
        for name, foot in robot.feet.items()
    }


class Observer:
    """Reader of views from a simulator.

    Attributes:
        bodies: whose poses a view has.
        moved: of robots that were put elsewhere since their walks began.
    """

    def __init__(self, sim: Simulator) -> None:
        self.sim, model = sim, sim.model
        self.bodies = bodies_of(sim.world)
        links = [link_of(sim.world, model, body) for body in self.bodies]
        self._body, self._offset, self._turn = _body_poses(links)
        self._soles = list(feet_of(sim.world).values())
        links_, names = [link_of(sim.world, model, foot) for foot in self._soles], list(model.feet)
        self._foot_body, self._foot_offset, self._foot_turn = _body_poses(links_)
        self._foot_rows = np.array([names.index(link.name) for link in links_], np.int64)
        rows = [
            {link_of(sim.world, model, body).body for body in robot.bodies} - {0}
            for robot in sim.world.robots
        ]
        self._rows = [np.array(sorted(row), np.int64) for row in rows]
        self._owned = [
            np.isin(np.arange(model.body_count + 1), row).astype(float) for row in self._rows
        ]
        names = {name: k for k, name in enumerate(model.material_names)}
        self._material = np.array([names[shape.material] for shape in model.shapes], np.int64)
        self._root = model.arrays.body["root"]
        self._certificate = (0.0, 0.0, 0)
        self._pads = _nodes(sim)
        self.relocations: dict[str, Transform] = {}
        self._walks, self._steered = WalkLook(self.relocations), SteeredLook(self.relocations)
        self._floating = [r for r in sim.world.robots if r.base.joint.kind == "floating"]

    def _hands(self, bands: tuple[Band, ...]) -> Presence:
        """All hands, the mouse's among them while it pulls."""
        hands = presence_of(self.sim)
        if bands:
            hands.put("mouse", bands[-1].target)
        else:
            hands.leave("mouse")
        return hands

    def look(
        self, certify: bool = True, bands: tuple[Band, ...] = (), sensor: str | None = None
    ) -> View:
        """Return the view of now, with a new certificate or the last one; ``bands`` are what the
        mouse pulls, ``sensor`` the name of the selected sensor.
        """
        hands = self._hands(bands)
        sim, work = self.sim, self.sim.data.body
        R, points = work["rotation"].reshape(-1, 3, 3).copy(), sim.data.contact.copy()
        p = work["position"] + work["origin"][self._root]
        n, forces = points["normal"], points["impulse"] / sim.dt
        if certify:
            self._judge()
        feet_R = R[self._foot_body] @ self._foot_turn
        feet_p = p[self._foot_body] + _rotated(R[self._foot_body], self._foot_offset)
        foot = sim.data.memory.foot[self._foot_rows]
        local = np.where(foot["state"][:, None] != NONE, foot["pressure"], np.nan)
        return View(
            time=sim.time,
            positions=p[self._body] + _rotated(R[self._body], self._offset),
            rotations=R[self._body] @ self._turn,
            points=points["position"],
            normals=n,
            forces=forces,
            friction=self._friction(points),
            sliding=points["status"] == SLIP,
            outlines=self._outlines(feet_R, feet_p),
            pressures=feet_p + _rotated(feet_R[:, :, :2], local),
            pressures_in_foot=local,
            loads=foot["local_force"][:, 2],
            centres=self._centres(),
            zmp=self._zero_moment_points(),
            supports=self._supports(points, points["status"] != OPEN),
            load=float(foot["force"][:, 2].sum()),
            residual=self._certificate[0],
            force_residual=self._certificate[1],
            missed=self._certificate[2],
            soles=self._stands(foot, points, feet_R, feet_p),
            bands=(*bands, *hands.bands),
            selected_sensor=self._read_sensor(sensor) if sensor else None,
            walks=self._walks.look(sim),
            steered=self._steered.look(sim),
            fallen=self.fallen(),
            pads=self._soft(),
            hand=hands.meters() if hands.meters is not None else None,
            q=sim.data.q.copy(),
            v=sim.data.v.copy(),
            effort=sim.data.outcome.effort["motor"].copy(),
        )

    def fallen(self) -> tuple[str, ...]:
        """Names of robots that have fallen."""
        return tuple(robot.name for robot in self._floating if self.sim.fallen(robot))

    def _zero_moment_points(self) -> Array:
        """Return the zero moment point of each robot [m], NaN without a load."""
        points = [self.sim.data.zero_moment_point(owned) for owned in self._owned]
        nowhere = np.full(3, np.nan)
        return np.array([nowhere if p is None else p for p in points]).reshape(-1, 3)

    def _supports(self, points: NDArray[np.void], pressing: NDArray[np.bool_]) -> list[Array]:
        """Return for each robot the points where the world carries it [m]."""
        a, b, up = points["a"], points["b"], points["normal"][:, 2]
        bears = pressing & ((a == 0) | (b == 0))
        return [
            points["position"][bears & ((owned[a] - owned[b]) * up > 0.5)] for owned in self._owned
        ]

    def _read_sensor(self, name: str) -> SensorView | None:
        """Read a sensor; None where there is no such sensor."""
        site = self.sim.model.sensors.get(name)
        if site is None or not site.measures:
            return None
        reading = self.sim.sensor(name)
        if site.kind != "plate" or reading.sensor.width < 6 or reading.force[2] < MIN_PLATE_LOAD_N:
            return SensorView(name, reading.values)
        at = reading.centre_of_pressure
        assert at is not None
        return SensorView(name, reading.values, (at, site.placement @ np.append(at, 0.0)))

    def _stands(
        self, foot: NDArray[np.void], points: NDArray[np.void], turns: Array, places: Array
    ) -> Soles:
        """States of the feet, and what they stand on, from the points that touch at the end."""
        end = points["gap"] + self.sim.dt * (points["normal"] * points["velocity"]).sum(axis=1)
        lit = []
        for k, sole in enumerate(self._soles):
            on_sole = (points["a"] == self._foot_body[k]) | (points["b"] == self._foot_body[k])
            near = (points["position"][on_sole & (end <= feet.TOUCH_GAP_M)] - places[k]) @ turns[k]
            state = int(foot["state"][k])
            lit.append(soles.lit(state, near[:, :2], foot["pressure"][k], sole.polygon))
        margins = np.where(foot["state"] != NONE, foot["margin"], np.nan)
        return Soles(places, turns, foot["state"], margins, lit)

    def _soft(self) -> tuple[SoftView, ...]:
        """Return the soft soles and pads: numbers only, derived quantities are left to the
        drawing.
        """
        sim, pads = self.sim, []
        for rows, R in self._pads:
            U = sim.data.memory.sole[rows] @ R
            pads.append(SoftView(U, (U - sim.data.outcome.sole_before[rows] @ R) / sim.dt))
        return tuple(pads)

    def _judge(self) -> None:
        """Keep what the certificate says now."""
        c = self.sim.certificate
        self._certificate = (c.residual, c.force_residual, c.missed)

    def _friction(self, points: NDArray[np.void]) -> Array:
        """Coefficient of every contact."""
        return self.sim.model.friction[
            self._material[points["shape_a"]], self._material[points["shape_b"]]
        ]

    def _outlines(self, turns: Array, places: Array) -> list[Array]:
        """Corners of the soles in the world, of feet that are turned and placed so."""
        return [
            np.column_stack([foot.polygon, np.zeros(len(foot.polygon))]) @ turn.T + place
            for foot, turn, place in zip(self._soles, turns, places, strict=True)
        ]

    def _centres(self) -> Array:
        """Centre of mass of every robot, NaN where none of it moves."""
        mass = self.sim.model.arrays.body["mass"]
        centres = [
            self.sim.centre_of_mass(robot) if mass[rows].sum() > 0.0 else np.full(3, np.nan)
            for robot, rows in zip(self.sim.world.robots, self._rows, strict=True)
        ]
        return np.array(centres).reshape(-1, 3)


def _nodes(sim: Simulator) -> list[tuple[slice, Array]]:
    """Return for every pad of the world its nodes among all, and its rotation on its moving
    body.
    """
    world, model = sim.world, sim.model
    places = {(pad.link, id(pad.pad)): (pad.rows, pad.placement.R) for pad in model.pads}
    return [
        places[link_of(world, model, shape.body).name, id(shape.pad)] for shape in soft_of(world)
    ]


def _body_poses(links: list[Link]) -> tuple[NDArray[np.int64], Array, Array]:
    """Return the moving bodies of links, and the links' poses on them."""
    body = np.array([link.body for link in links], np.int64)
    offset = np.array([link.placement.p for link in links]).reshape(-1, 3)
    return body, offset, np.array([link.placement.R for link in links]).reshape(-1, 3, 3)


def _rotated(R: Array, p: Array) -> Array:
    return np.einsum("nij,nj->ni", R, p)

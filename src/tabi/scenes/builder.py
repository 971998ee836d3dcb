"""From what a scene says to a world, and to a simulator in which it happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import cos, radians, sin
from typing import Any

import numpy as np

from tabi import robots
from tabi._errors import ModelError, unknown
from tabi.interaction.presence import Presence, attach
from tabi.model.body import Body
from tabi.model.controllers.signals import ControlLaw
from tabi.model.robot import Robot
from tabi.model.shape import HalfSpace, Shape
from tabi.model.world import World
from tabi.robots.bipeds import load_biped
from tabi.robots.files import load, quietly
from tabi.scenes import equipment, handling, patches, poses, sensing, soft
from tabi.scenes.checks import copies, stands
from tabi.scenes.equipment import body_of
from tabi.scenes.keys import names as key_names
from tabi.scenes.keys import things
from tabi.scenes.keys.contents import Contents
from tabi.scenes.keys.robots import RobotKeys
from tabi.scenes.laws import law_of
from tabi.scenes.reader import Reader
from tabi.scenes.solids import Solids, coefficients, color, material, placement
from tabi.scenes.tree import SceneError
from tabi.simulation.simulator import Simulator
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import about
from tabi.step.budget import Budget

WOOD, STONE = (0.80, 0.62, 0.38), (0.62, 0.65, 0.70)


class Builder:
    """Builds the world of a scene.

    Attributes:
        world: it.
        robots, objects: of the scene's entries, in their order;
            an entry may stand for several objects.
        hands: of people, as its robots see them.
    """

    def __init__(self, contents: Contents, reader: Reader) -> None:
        self.contents, self.reader = contents, reader
        self.world = World(contents.gravity_m_s2)
        self.robots: list[Robot] = []
        self.objects: list[list[Body]] = []
        self.solids, self.hands = Solids(), Presence()
        self.materials = {
            name: material(name, surface) for name, surface in contents.materials.items()
        }
        self._ground()
        for i, thing in enumerate(contents.fixed):
            with self.at("fixed", i):
                self._fixed(thing)
        patches.add(self, self.world, contents.patches)
        self._plates(of_things=False)
        for i, robot in enumerate(contents.robots):
            with self.at("robots", i):
                self.robots.append(self._robot(robot, i))
        for i, thing in enumerate(contents.objects):
            with self.at("objects", i):
                self.objects.append(
                    [self._object(thing, name, k) for k, name in enumerate(copies(thing))]
                )
                for body in self.objects[-1]:
                    soft.add_object_pads(self.at, body, thing.pads, i)
        self._plates(of_things=True)
        self._pairs()
        self._bonds()

    @contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """An error in here is the file's, at this path."""
        try:
            yield
        except SceneError:
            raise
        except ModelError as fault:
            raise key_names.fault(self.reader, self.contents, path, str(fault)) from None

    # ---- what there is ----------------------------------------------------------------------

    def _ground(self) -> None:
        ground = self.contents.ground
        if ground is None:
            return
        surface = coefficients(ground)
        with self.at("ground"):
            if ground.slope_deg:
                X = about((0.0, 1.0, 0.0), radians(ground.slope_deg), (0.0, 0.0, ground.height_m))
                self.world.add_fixed(HalfSpace(), X.p, X.quaternion, **surface, name="ground")
                self.world.ground_height = ground.height_m
            else:
                self.world.add_ground(height=ground.height_m, **surface)
            if ground.force_plate:
                self.world.measure_force("ground")

    def _fixed(self, thing: Any) -> None:
        X, name = placement(thing), thing.name or thing.__struct_config__.tag
        surface = coefficients(thing)
        if isinstance(thing, things.Stairs):
            made = self.world.add_stairs(
                thing.steps,
                thing.rise_m,
                thing.run_m,
                thing.width_m,
                X.p,
                X.quaternion,
                **surface,
                name=name,
            )
        elif isinstance(thing, things.FixedHeightField):
            made = [
                self.world.add_height_field(
                    thing.heights_m,
                    thing.size_m,
                    position=X.p,
                    quaternion=X.quaternion,
                    **surface,
                    name=name,
                )
            ]
        else:
            made = [
                self.world.add_fixed(
                    self.solids.geometry(thing), X.p, X.quaternion, **surface, name=name
                )
            ]
            self.world.fixed.shapes += self.solids.drawn(thing, made[0])
        for shape in made:
            shape.surface_velocity = np.array(thing.surface_velocity_m_s)
            shape.color = color(thing, STONE)
            if thing.material:
                shape.material = self.materials[thing.material]
            if thing.force_plate:
                self.world.measure_force(shape)

    def _plates(self, of_things: bool) -> None:
        """Force plates of the scene: those of their own, or those of things that are there."""
        for i, plate in enumerate(self.contents.force_plates):
            if (plate.of is not None) is of_things:
                with self.at("force_plates", i, *(("of",) if of_things else ())):
                    (sensing.measure if of_things else sensing.add_plate)(self.world, plate)

    def _object(self, thing: Any, name: str, k: int) -> Body:
        X = placement(thing)
        where: dict[str, Any] = {
            "position": X.p + k * np.array(thing.spacing_m),
            "quaternion": X.quaternion,
            "name": name,
        }
        if isinstance(thing, things.Compound):
            total = sum(
                (self.solids.solid(part).transformed(placement(part)) for part in thing.parts),
                Inertia(),
            )
            body = self.world.add_object(self.solids.geometry(thing.parts[0]), total, **where)
            made = [self._part(part, f"{body.name} {i + 1}") for i, part in enumerate(thing.parts)]
            body.shapes[:] = made + [
                shape
                for part, its in zip(thing.parts, made, strict=True)
                for shape in self.solids.drawn(part, its)
            ]
            return body
        body = self.world.add_object(
            self.solids.geometry(thing), self.solids.solid(thing), **where, **coefficients(thing)
        )
        body.shapes[0].color = color(thing, WOOD)
        if thing.material:
            body.shapes[0].material = self.materials[thing.material]
        body.shapes += self.solids.drawn(thing, body.shapes[0])
        return body

    def _part(self, part: Any, name: str) -> Shape:
        made = self.materials[part.material] if part.material else material(name, part)
        return Shape(
            self.solids.geometry(part), placement(part), made, color(part, WOOD), name=name
        )

    # ---- robots -----------------------------------------------------------------------------

    def _robot(self, keys: RobotKeys, i: int) -> Robot:
        robot = self.world.add_robot(self._read(keys, i), keys.name)
        equipment.equip(self, robot, keys, i)
        sensing.add_sensors(self, robot, keys, i)
        keys.motion.prepare(robot)
        pose = poses.pose(self, robot, keys, ("robots", i))
        floating = robot.base.joint.kind == "floating"
        turn = (cos(0.5 * radians(keys.yaw_deg)), 0.0, 0.0, sin(0.5 * radians(keys.yaw_deg)))
        robot.place((*keys.position_m, 0.0)[:3], turn)
        if not floating:
            if keys.stands or keys.drop_m or any(keys.velocity_m_s):
                key = "stands" if keys.stands else "drop_m" if keys.drop_m else "velocity_m_s"
                raise self.reader.fault(
                    ("robots", i, key),
                    f"{self.reader.name(('robots', i, key))} is given, "
                    f"but the base of {robot.name} is fixed",
                )
            robot.set_pose(pose)
            return robot
        if stands(keys):
            if not self.world.fixed.shapes:
                raise ModelError(
                    "it stands on the ground, but there is none; "
                    "add ground: {}, or give position_m with a z"
                )
            # a walk balances where gains alone do not
            with quietly() if keys.motion.tick_s else nullcontext():
                robot.stand_on_ground(pose)
        else:
            robot.set_pose(pose)
        q = np.array(robot.base.joint.position)
        robot.place(q[:3] + np.array([0.0, 0.0, keys.drop_m]), q[3:])
        return robot

    def _read(self, keys: RobotKeys, i: int) -> Robot:
        if keys.robot in robots.__all__:
            return getattr(robots, keys.robot)(**({"grippers": True} if keys.grippers else {}))
        feet: dict[str, Any] = {}
        for name, foot in keys.feet.items():
            if isinstance(foot, str):
                feet[name] = foot
                continue
            places = {
                "polygon": foot.polygon_m,
                "position": foot.position_m,
                "quaternion": foot.quaternion,
            }
            feet[name] = {"body": foot.body} | {
                key: value for key, value in places.items() if value is not None
            }
        gains = None
        if keys.gains is not None:
            gains = keys.gains.stiffness_nm_rad, keys.gains.damping_nms_rad
        limp = not keys.motion.powered
        # its notes are shown with the scene
        read = load_biped if keys.motion.tick_s else load
        with quietly():
            return read(
                keys.robot,
                feet=feet or None,
                base=keys.base,
                gains=gains if gains is not None else False if limp else None,
                stand_ins=keys.stand_ins,
                collision=keys.collision,
                hull_tolerance=keys.hull_tolerance_m,
                sole_tolerance=keys.sole_tolerance_m,
                max_points=keys.max_points,
            )

    def controller(self, robot: Robot, keys: RobotKeys, i: int) -> ControlLaw:
        """Return the controller of a robot, with its answers to hands."""
        return handling.with_hands(self, robot, keys, i, keys.motion.controller(self, robot, i))

    # ---- what happens -----------------------------------------------------------------------

    def _pairs(self) -> None:
        known = {"default"} | {s.material.name for s in self.world.fixed.shapes}
        for body in [*self.world.objects, *(b for robot in self.robots for b in robot.bodies)]:
            known |= {s.material.name for s in body.shapes if s.collides}
        for i, pair in enumerate(self.contents.pairs):
            for k, name in enumerate(pair.materials):
                with self.at("pairs", i, "materials", k):
                    if name not in known:
                        raise unknown("material", name, "the scene", sorted(known))
            with self.at("pairs", i):
                self.world.set_pair(*pair.materials, **coefficients(pair))

    def _bonds(self) -> None:
        for bond in self.contents.bonds:
            a, b = (body_of(self.world, name) for name in bond.bodies)
            self.world.add_bond(bond.kind, a, b, bond.point_m, bond.axis)

    def simulator(self) -> Simulator:
        """The world in motion."""
        how = self.contents.simulation
        # bonds one by one: an error names its own
        self.world.bonds, bonds = [], self.world.bonds
        with self.at():
            sim = Simulator(
                self.world,
                dt=how.step_s,
                tolerance=how.tolerance_m_s,
                scheme=how.scheme,
                order=how.order,
                contact=law_of(how.contact),
                facets=how.facets,
                seed=how.seed,
                budget=Budget(how.work_limit, how.time_limit_s and 1e6 * how.time_limit_s),
            )
        self.world.bonds = bonds
        for i, bond in enumerate(bonds):
            with self.at("bonds", i):
                sim.bond(*bond)
        for i, (robot, keys) in enumerate(zip(self.robots, self.contents.robots, strict=True)):
            rate = _rate(keys)
            sim.set_controller(robot, self.controller(robot, keys, i), rate)
            equipment.switch(sim, robot, keys)
            keys.motion.schedule(sim, robot)
        for i, push in enumerate(self.contents.pushes):
            with self.at("pushes", i, "body"):
                sim.apply_force(
                    body_of(self.world, push.body),
                    push.force_n,
                    push.duration_s,
                    push.torque_nm,
                    push.point_m,
                    at=push.at_s,
                )
        for i, name in enumerate(self.contents.watch):
            with self.at("watch", i):
                sim.position(body_of(self.world, name))
        attach(sim, self.hands)
        self._start(sim)
        return sim

    def _start(self, sim: Simulator) -> None:
        """Set the velocities at the start."""
        v = sim.state.v
        for body, keys in [
            (b, t)
            for bodies, t in zip(self.objects, self.contents.objects, strict=True)
            for b in bodies
        ]:
            k = sim.model.v_index(body.joint.name)
            v[k : k + 6] = (*keys.velocity_m_s, *keys.angular_velocity_rad_s)
        for robot, keys in zip(self.robots, self.contents.robots, strict=True):
            if any(keys.velocity_m_s):
                k = sim.model.v_index(robot.name)
                v[k : k + 3] = keys.velocity_m_s
        if v.any():
            sim.set_state(sim.state.q, v)


def _rate(keys: RobotKeys) -> float | None:
    """Return the rate of a robot's controller [Hz]; None for every step."""
    if keys.motion.tick_s is not None:
        return 1.0 / keys.motion.tick_s
    return handling.RATE_HZ if handling.reacts_to_hands(keys) else None

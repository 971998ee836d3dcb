"""The scenes that a page offers: those of ``tabi.scenes``, or the few that are code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from tabi import scenes

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Vector = tuple[float, float, float]


@functools.cache
def names() -> list[str]:
    """What can be opened."""
    found = getattr(scenes, "names", None)
    return ["standing", "cart"] if found is None else list(found())


def builder(name: str) -> Callable[[], Simulator]:
    """Makes a scene's simulator, with its controllers, at its start; reads the scene the first time."""

    @functools.cache
    def read() -> Callable[[], Simulator]:
        load = getattr(scenes, "load", None)
        return _by_code(name) if load is None else load(name).simulator

    return lambda: read()()


def camera(name: str) -> tuple[Vector, Vector] | None:
    """From where a scene wants to be looked at, and what at [m]; None: it does not say."""
    load = getattr(scenes, "load", None)
    told = None if load is None else load(name).camera
    return None if told is None else (told.position_m, told.look_at_m)


def _by_code(name: str) -> Callable[[], Simulator]:
    from tabi.control import hold
    from tabi.model.world import World
    from tabi.robots import hrp2
    from tabi.scenes import cart
    from tabi.simulation.simulator import Simulator

    if name == "cart":
        world, robot, _, _ = cart.build()
        pose = cart.pose(robot)
    else:
        world = World()
        world.add_ground()
        robot = world.add_robot(hrp2())
        robot.stand_on_ground()
        pose = robot.half_sitting

    def build() -> Simulator:
        sim = Simulator(world)
        sim.set_controller(robot, hold(pose))
        return sim

    return build

"""``tabi bench loop``: what a user's own Python loop takes, against the same loop around MuJoCo.

A standing robot gets other joint positions in every step: in tabi from a controller that returns a
``Command`` with an array, in MuJoCo by writing ``data.ctrl`` before ``mj_step``. Then both loops
read what the ground exerts on each foot: ``sim.foot_wrench``, and sums of ``mj_contactForce`` over
the contacts of each foot's body. The same world, step and loops of the joints as ``tabi bench
step``; blocks of the loops take turns. Then two simulators run in two threads, against one, and
quantities that controllers ask for are held against Pinocchio's (``quantities``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from tabi.apps.robots import named
from tabi.lab.bench import quantities
from tabi.lab.bench.step import SETTLE, Rolling, stage
from tabi.lab.bench.timing import Blocks, medians, microseconds
from tabi.lab.study import Argument, Benchmark, BenchPart, constant_settings
from tabi.model.compiled import Model
from tabi.model.controllers.signals import Command, Measurement
from tabi.model.lookup import joint_rows
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.step.commands.driver import holding

Array = NDArray[np.float64]
# how far targets move [rad], back and forth in so many seconds
SWAY, PERIOD = 0.005, 1.1
# length of a block of a loop [s], and of a run in a thread, in steps
BLOCK, THREAD = 0.02, 20_000


class LoopBench(Benchmark, name="loop"):
    """A Python loop with a new command in every step against the same loop around MuJoCo."""

    robot: Annotated[
        str,
        Argument(help="hrp2, hrp1s, hoap2, cb, or a path to a URDF, MJCF, .wrl or .body file."),
    ] = "hrp2"
    blocks: Blocks = 61

    packages = ("numpy", "numba", "mujoco")
    constants = constant_settings(dt=1e-3, statistic="medians; least: fastest block")

    def parts(self) -> Iterator[BenchPart]:
        """Measure all loops in turn, then the quantities that controllers compute."""
        robot = named(self.robot)
        yield BenchPart("", "loops", looped, (robot, self.blocks))
        blocks = max(3, self.blocks // 2)
        yield BenchPart("", "quantities", quantities.measure, (robot, blocks))

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Loops, and a table of quantities."""
        r = result
        us, above, ratio = (r[k] for k in ("microseconds", "above_compiled", "ratio_to_mujoco"))
        yield (
            f"{r['hardware']['processor']}, {r['robot']}, medians of "
            f"{r['settings']['blocks']} blocks [µs a step]"
        )
        yield f"  compiled loop                           {us['compiled']:8.2f}"
        for title, rest, name in (
            ("a new command each step", "", "loop"),
            ("and both feet's wrenches read", ", wrenches", "wrenches"),
        ):
            yield (
                f"  {title:<38}  {us[f'tabi{rest}']:8.2f}   mujoco {us[f'mujoco{rest}']:8.2f}   "
                f"{ratio[name]:.2f} ×   {above[f'tabi{rest}']:.1f} above the compiled loop "
                "(fastest blocks)"
            )
        yield f"  two simulators in two threads: {r['two_threads']:.2f} × one"
        yield from quantities.lines(r)


def looped(robot: Robot, blocks: int) -> dict[str, Any]:
    """Times of all loops [µs] and what shows that they do the same."""
    world, robot = stage(robot)
    ours, theirs = Loop(world, robot), MujocoLoop(world, robot)
    runs: dict[str, Callable[[int], object]] = {
        "compiled": Compiled(world, robot),
        "tabi": ours,
        "mujoco": theirs,
        "tabi, wrenches": ours.with_wrenches,
        "mujoco, wrenches": theirs.with_wrenches,
    }
    for run in runs.values():
        run(SETTLE)
    times = microseconds(runs, blocks, BLOCK)
    least = {name: float(t.min()) for name, t in times.items()}
    return {
        "robot": robot.name,
        "microseconds": medians(times),
        "least": {name: round(t, 2) for name, t in least.items()},
        "above_compiled": {
            name: round(least[name] - least["compiled"], 2) for name in ("tabi", "tabi, wrenches")
        },
        "ratio_to_mujoco": {
            name: round(float(np.median(times[f"mujoco{rest}"] / times[f"tabi{rest}"])), 2)
            for name, rest in (("loop", ""), ("wrenches", ", wrenches"))
        },
        "normal_force_N": {"tabi": round(ours.weight(), 2), "mujoco": round(theirs.weight(), 2)},
        "two_threads": round(two_threads(world), 2),
    }


class Loop:
    """A Python loop around a simulator, with a controller whose command changes in every step."""

    def __init__(self, world: World, robot: Robot) -> None:
        self.sim, self.feet = Simulator(world), list(robot.feet.values())
        model = self.sim.model
        goal = holding(model, model.initial())["position"][joint_rows(model, robot)]

        def controller(t: float, seen: Measurement) -> Command:
            return Command(position=goal + sway(t))

        self.sim.set_controller(robot, controller)

    def __call__(self, count: int) -> None:
        """``count`` steps."""
        for _ in range(count):
            self.sim.step()

    def with_wrenches(self, count: int) -> None:
        """``count`` steps, with the wrench on each foot after each."""
        for _ in range(count):
            self.sim.step()
            for foot in self.feet:
                self.sim.foot_wrench(foot)

    def weight(self) -> float:
        """Return the load on the feet [N]."""
        return float(sum(self.sim.foot_wrench(foot).force[2] for foot in self.feet))


class Compiled:
    """The same commands as a program, in one compiled loop."""

    def __init__(self, world: World, robot: Robot) -> None:
        self.sim = Simulator(world)
        model = self.sim.model
        self.rows, goal = joint_rows(model, robot), holding(model, model.initial())
        self.goal = np.stack([goal[name] for name in ("position", "velocity", "effort")], axis=-1)

    def __call__(self, count: int) -> None:
        """``count`` steps."""
        program, times = np.repeat(self.goal[None], count, axis=0), np.arange(count) * self.sim.dt
        program[:, self.rows, 0] += sway(self.sim.time + times)[:, None]
        self.sim.rollout(count, program)


class MujocoLoop:
    """The same loop around ``mj_step``."""

    def __init__(self, world: World, robot: Robot) -> None:
        rolling = Rolling(world, None, None)
        self.mj, self.model, self.data = rolling.mj, rolling.model, rolling.data
        self.goal = rolling.control[0].copy()
        model, self.force = world.compile(), np.zeros(6)
        self.feet = [self._body(model, foot.name) for foot in robot.feet.values()]
        # of each geom the number of its foot, or −1
        self.foot = [
            self.feet.index(body) if body in self.feet else -1
            for body in self.model.geom_bodyid.tolist()
        ]

    def _body(self, model: Model, foot: str) -> int:
        """MuJoCo's body that carries a foot: it has the name of one of the links there."""
        kind, body = self.mj.mjtObj.mjOBJ_BODY, model.link(foot).body
        names = [name for name, link in model.links.items() if link.body == body]
        result = [self.mj.mj_name2id(self.model, kind, name) for name in names]
        return next(number for number in result if number >= 0)

    def __call__(self, count: int) -> None:
        """``count`` steps."""
        mj, m, d = self.mj, self.model, self.data
        for _ in range(count):
            d.ctrl[:] = self.goal + sway(d.time)
            mj.mj_step(m, d)

    def with_wrenches(self, count: int) -> None:
        """``count`` steps, with the force on each foot after each."""
        mj, m, d = self.mj, self.model, self.data
        for _ in range(count):
            d.ctrl[:] = self.goal + sway(d.time)
            mj.mj_step(m, d)
            self.wrenches()

    def wrenches(self) -> Array:
        """Force and moment about its origin on each foot's body, in the world's axes."""
        mj, m, d, force = self.mj, self.model, self.data, self.force
        result = np.zeros((len(self.feet), 6))
        for k, (first, second) in enumerate(d.contact.geom.tolist()):
            # the force is on the second of two geoms
            foot, sign = self.foot[second], 1.0
            if foot < 0:
                foot, sign = self.foot[first], -1.0
            if foot >= 0:
                mj.mj_contactForce(m, d, k, force)
                f = sign * (force[:3] @ d.contact.frame[k].reshape(3, 3))
                (x, y, z), (fx, fy, fz) = d.contact.pos[k] - d.xpos[self.feet[foot]], f
                result[foot] += (fx, fy, fz, y * fz - z * fy, z * fx - x * fz, x * fy - y * fx)
        return result

    def weight(self) -> float:
        """Return the load on the feet [N]."""
        return float(self.wrenches()[:, 2].sum())


def sway(t: Any) -> Any:
    """Return the offset of all targets at a time [s], or at several: small, new in every step."""
    return SWAY * np.sin(2.0 * np.pi * t / PERIOD)


def two_threads(world: World, steps: int = THREAD) -> float:
    """Steps a second of two simulators in two threads, over those of one: the best of five."""
    sims = [Simulator(world) for _ in range(2)]
    for sim in sims:
        sim.rollout(SETTLE)

    def seconds(running: list[Simulator]) -> float:
        threads = [threading.Thread(target=sim.rollout, args=(steps,)) for sim in running]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - start

    return max(2.0 * seconds(sims[:1]) / seconds(sims) for _ in range(5))

"""``tabi bench walk``: how much faster than real time a humanoid walks, all of it on one core.

HRP-2 with rubber feet walks twenty steps of 0.2 m under its stabiliser: physics at 1 kHz, control
at 200 Hz, all sensors on, those of its feet, wrists and body and an encoder and a torque sensor at
every joint. Above the motors all is Python that calls compiled parts: sensors read, state
estimated, feet stabilised, commands checked. MuJoCo's copy of the robot walks beside it, driven by
the same controller from its own sensors, and only its ``mj_step`` is clocked. Both take turns, a
tenth of a second each; figures are medians.

``compiled`` is the same walk with the same control inside of the compiled loop.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np

import tabi
from tabi import walking
from tabi.analysis.walk_measures import WalkWatch
from tabi.lab.bench.sensors import listen
from tabi.lab.study import Benchmark, BenchPart, Option, progress
from tabi.model.controllers.signals import Command, Measurement
from tabi.model.robot import Robot
from tabi.simulation.simulator import Simulator

STEPS, LENGTH = 20, 0.2
# seconds of a turn
BLOCK = 0.1


class Clocked:
    """A walker whose time is taken.

    Attributes:
        controller: the walker. inner: what it calls. seconds: spent in it so far.
    """

    def __init__(self, walker: walking.Walker) -> None:
        self.controller, self.inner, self.seconds = walker, (walker,), 0.0

    def __call__(self, t: float, seen: Measurement) -> Command:
        """The command of the walker."""
        start = time.perf_counter()
        command = self.controller(t, seen)
        self.seconds += time.perf_counter() - start
        return command


class WalkBench(Benchmark, name="walk"):
    """HRP-2 walks with all its sensors: real-time factor on one core, and MuJoCo's step."""

    steps: Annotated[int, Option(min=2, help="How many steps it walks.")] = STEPS

    packages = ("numpy", "numba", "mujoco")

    def parts(self) -> Iterator[BenchPart]:
        """Measure all walks in turn."""
        yield BenchPart("", "", walked, (self.steps,))

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """All walks as sentences."""
        s, ours, walk = result["settings"], result["python"], result["walk"]
        yield (
            f"{result['hardware']['processor']}, one core of {result['hardware']['cores']}; "
            f"{result['robot']} walks {s['steps']} steps of {s['length_m']:g} m on rubber: physics "
            f"{1 / s['dt']:.0f} Hz, control {s['control_hz']:g} Hz, {s['sensors']} sensors"
        )
        yield (
            f"  Python above the motors   {ours['real_time_factor']:6.1f} × real time   "
            f"{ours['microseconds']:7.1f} µs a step, {ours['control_microseconds']:.1f} of it "
            "control"
        )
        compiled = result["compiled"]
        yield (
            f"  control in compiled loop  {compiled['real_time_factor']:6.1f} × real time   "
            f"{compiled['microseconds']:7.1f} µs a step"
        )
        if "mujoco" in result:
            peer = result["mujoco"]
            yield (
                f"  MuJoCo, mj_step alone     {peer['real_time_factor']:6.1f} × real time   "
                f"{peer['microseconds']:7.1f} µs a step   {result['ratio_to_mujoco']:.2f} ×"
                + ("   FALLEN" if peer["fallen"] else "")
            )
        yield (
            f"  {walk['landed']} of {walk['planned']} steps landed, to "
            f"{1e3 * walk['landing_m']:.2f} mm; "
            f"{result['missed']} missed, worst {result['worst_residual']:.1e} m/s; "
            f"pattern made in {result['pattern_seconds']:.2f} s"
            + ("; FALLEN" if result["fallen"] else "")
        )


def walked(steps: int) -> dict[str, Any]:
    """Return the times of all walks, measured in turn."""
    sim, walker, start = prepared(steps)
    watch, sensor_values = WalkWatch(sim), len(listen(sim))
    theirs = _mujoco(steps)
    inside, _, _ = prepared(steps, within=True)
    listen(inside)
    count = int(walker.controller.pattern.duration / BLOCK)
    ours, control, peer, loop = (np.zeros(count) for _ in range(4))
    # kernels are loaded by the first step
    sim.step()
    inside.step()
    for k in range(count):
        before, spent = time.perf_counter(), walker.seconds
        sim.run(BLOCK)
        ours[k], control[k] = time.perf_counter() - before, walker.seconds - spent
        before = time.perf_counter()
        inside.run(BLOCK)
        loop[k] = time.perf_counter() - before
        if theirs is not None:
            first = len(theirs.seconds)
            for _ in range(round(BLOCK / sim.dt)):
                theirs.step()
            peer[k] = sum(theirs.seconds[first:])
    c, us = sim.certificate, 1e6 * sim.dt / BLOCK
    result = {
        "settings": _settings(walker.controller, sim, count) | {"sensor_values": sensor_values},
        "robot": sim.world.robots[0].name,
        "pattern_seconds": round(start, 3),
        "python": _figures(ours, us) | {"control_microseconds": _median(control, us)},
        "compiled": _figures(loop, us),
        "walk": watch.measured({})["hrp2"].to_dict(),
        "fallen": sim.fallen(sim.world.robots[0]),
        "missed": c.missed,
        "worst_residual": float(f"{c.worst_residual:.3g}"),
    }
    if theirs is not None:
        result["mujoco"] = _figures(peer, us) | {"fallen": _fell(theirs, sim)}
        result["ratio_to_mujoco"] = round(float(np.median(peer / ours)), 2)
    return result


def prepared(steps: int, within: bool = False) -> tuple[Simulator, Clocked, float]:
    """The walk about to begin, its walker, and how long its pattern took to make [s].

    Args:
        within: control is asked in the compiled loop.
    """
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(equipped())
    biped = walking.Biped(robot)
    plan = walking.walk(biped.stance, steps, LENGTH)
    # kernels are loaded by the first one
    walking.walking_pattern(biped, plan[:1])
    start = time.perf_counter()
    pattern = walking.walking_pattern(biped, plan)
    taken = time.perf_counter() - start
    sim = Simulator(world)
    walker = Clocked(walking.Walker(pattern, walking.Stabiliser()))
    driver = walker.controller if within else walker
    sim.set_controller(robot, driver, rate=1.0 / pattern.gait.tick)
    return sim, walker, taken


def equipped() -> Robot:
    """HRP-2 on rubber, with an encoder and a torque sensor at every joint."""
    robot = tabi.robots.hrp2(bush=True)
    carried = {body.joint.name: body for body in robot.bodies}
    for name in robot.joint_names:
        for kind in () if carried[name].joint.passive else ("encoder", "torque"):
            robot.add_sensor(f"{name} {kind}", kind, carried[name])
    return robot


def _mujoco(steps: int) -> Any:
    """The same walk in MuJoCo; None where it is not installed."""
    try:
        from tabi.lab.referee.engines import MuJoCo

        return MuJoCo(prepared(steps)[0])
    except (ImportError, tabi.ModelError) as fault:
        progress(f"without MuJoCo: {fault}")
        return None


def _fell(theirs: Any, sim: Simulator) -> bool:
    """Whether MuJoCo's robot is lower than half of where it stood."""
    robot = sim.world.robots[0]
    return bool(theirs.d.qpos[2] < 0.5 * robot.base_height)


def _settings(walker: walking.Walker, sim: Simulator, blocks: int) -> dict[str, Any]:
    return {
        "dt": sim.dt,
        "control_hz": round(1.0 / walker.pattern.gait.tick, 6),
        "tolerance": sim.tolerance,
        "steps": len(walker.pattern.steps),
        "length_m": LENGTH,
        "walked_s": round(blocks * BLOCK, 6),
        "sensors": len(sim.model.sensors),
        "blocks": blocks,
        "statistic": "medians of interleaved blocks; least: the fastest one",
    }


def _median(seconds: Any, us: float) -> float:
    return round(float(np.median(seconds)) * us, 2)


def _figures(seconds: Any, us: float) -> dict[str, float]:
    """Return the time of a step [µs] of blocks, and how much faster than real time that is."""
    return {
        "microseconds": _median(seconds, us),
        "least_microseconds": round(float(seconds.min()) * us, 2),
        "real_time_factor": round(BLOCK / float(np.median(seconds)), 2),
    }

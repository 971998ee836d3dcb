"""``tabi bench sensors``: what sensors of a standing HRP-2 add to a step, and MuJoCo's to its own.

The same standing robot in compiled loops, with no sensor active, with its five sensors (four of
forces, one imu) as they are and with noise, delay and low-pass, and with encoders and torque
sensors on all joints besides. MuJoCo's ``rollout`` has a force, torque, gyro or accelerometer
sensor for each part of the five. Blocks of all of them take turns, each beginning with another;
the result is the median of the differences within a turn, in processor time of the thread: on a
busy machine other programs take more from a step than sensors do.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tabi
from tabi.formats.mjcf.writer import to_mjcf
from tabi.lab.bench.step import SETTLE, Marching, Rolling, stage
from tabi.lab.bench.timing import Blocks, medians, microseconds
from tabi.lab.study import Benchmark, BenchPart, Column, constant_settings, progress, table
from tabi.model.world import World
from tabi.recording.sensor_history import measured
from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# what the five sensors of HRP-2 may add to a step of 1 ms [µs]
TARGET = 3.0
# length of a block [s]
BLOCK = 0.02
# of sensors that are as real ones are: noise in their units, s, Hz
REAL = {"noise": 0.01, "delay": 0.002, "bandwidth": 100.0}
SILENT, FIVE, FIVE_REAL, ALL, ALL_REAL = (
    "nobody" + " listens",
    "five sensors",
    "five, with noise, delay and low-pass",
    "and encoders, torque sensors",
    "all, with noise, delay and low-pass",
)
MUJOCO, MUJOCO_FIVE = "mujoco", "mujoco, five sensors"
# kind of a sensor → those of MuJoCo with the same readings
THEIRS = {"force": ("FORCE", "TORQUE"), "imu": ("GYRO", "ACCELEROMETER")}


class SensorsBench(Benchmark, name="sensors"):
    """Time that sensors of a standing HRP-2 add to a step, and MuJoCo's to its own."""

    blocks: Blocks = 101

    packages = ("numpy", "numba", "mujoco")
    constants = constant_settings(
        dt=1e-3,
        real=REAL,
        clock="processor time of the thread",
        statistic="medians of interleaved blocks; extra: of differences within a turn",
    )

    def parts(self) -> Iterator[BenchPart]:
        """Measure all loops in turn."""
        yield BenchPart("", "", self.all_loops)

    def all_loops(self) -> dict[str, Any]:
        """Times of all loops [µs], and what sensors add."""
        runs, counts = marching()
        try:
            runs |= rolling()
        except ImportError:
            progress("MuJoCo is not installed; without it")
        for run in runs.values():
            run(SETTLE)
        times = microseconds(runs, self.blocks, BLOCK, time.thread_time, rotate=True)
        extra = extras(times)
        result = {
            "robot": "hrp2",
            "values": counts,
            "microseconds": medians(times),
            "extra": extra,
            "least_extra": extras({name: t.min(keepdims=True) for name, t in times.items()}),
            "target": TARGET,
            "reached": extra[FIVE] <= TARGET,
        }
        if MUJOCO_FIVE in extra:
            result["ratio_to_mujoco"] = round(extra[MUJOCO_FIVE] / max(extra[FIVE], 0.01), 2)
        return result

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """A table, and the target."""
        us, extra = result["microseconds"], result["extra"]
        yield (
            f"{result['hardware']['processor']}, {result['robot']} standing, medians of "
            f"{result['settings']['blocks']} blocks [µs a step]"
        )
        extra_times = {name: f"+ {x:.2f}" for name, x in extra.items()}
        columns = (
            Column("", str),
            Column("", lambda name: us[name], ".2f"),
            Column("", lambda name: extra_times.get(name, "")),
        )
        yield from table(columns, us)
        fastest = result["least_extra"][FIVE]
        verdict = "reached" if result["reached"] else "missed"
        yield (
            f"  five sensors: {extra[FIVE]:.2f} µs a step ({fastest:.2f} of the fastest blocks), "
            f"target at most {TARGET:g}: {verdict}"
        )
        if "ratio_to_mujoco" in result:
            yield f"  MuJoCo's take {result['ratio_to_mujoco']:.1f} × as long"


COLUMNS = (Column("", "name"), Column("", "us", ".2f"), Column("", "extra", "+.2f"))


def extras(times: Mapping[str, Array]) -> dict[str, float]:
    """Return what each adds to the step of the same engine that measures nothing [µs]."""
    return {
        name: round(float(np.median(t - times[MUJOCO if name == MUJOCO_FIVE else SILENT])), 2)
        for name, t in times.items()
        if name not in (SILENT, MUJOCO)
    }


def marching() -> tuple[dict[str, Callable[[int], object]], dict[str, int]]:
    """tabi's loops by name, and how many numbers each measures."""
    runs: dict[str, Callable[[int], object]] = {}
    counts = {}
    for name in (SILENT, FIVE, FIVE_REAL, ALL, ALL_REAL):
        sim = Simulator(
            equipped(joints=name in (ALL, ALL_REAL), real=name in (FIVE_REAL, ALL_REAL))
        )
        counts[name] = 0 if name == SILENT else len(listen(sim))
        runs[name] = Marching(sim)
    return runs, counts


def equipped(joints: bool, real: bool) -> World:
    """HRP-2 on the ground, with sensors on all its joints too, as real ones are."""
    world, robot = stage(tabi.robots.hrp2())
    if joints:
        carried = {body.joint.name: body for body in robot.bodies}
        for name in robot.joint_names:
            for kind in ("encoder", "torque"):
                robot.add_sensor(f"{name} {kind}", kind, carried[name])
    if real:
        for name in robot.sensors:
            robot.set_sensor(name, **REAL)
    return world


def listen(sim: Simulator) -> Array:
    """Activate all sensors; return their readings, a view."""
    return sim.data.sensor_values(*sim.data.sensor_places(measured(sim.model)))


def rolling() -> dict[str, Callable[[int], object]]:
    """MuJoCo's loops by name."""
    world = equipped(joints=False, real=False)
    return {
        MUJOCO: Rolling(world, None, None),
        MUJOCO_FIVE: Rolling(world, None, None, with_sensors(world)),
    }


def with_sensors(world: World) -> Any:
    """The world as a MuJoCo model with the same sensors."""
    mj: Any = importlib.import_module("mujoco")
    ours = world.compile()
    spec = mj.MjSpec.from_string(to_mjcf(world))
    for name, site in ours.sensors.items():
        links = [link for link in ours.links.values() if link.body == site.body]
        link, body = next((x, b) for x in links if (b := spec.body(x.name)) is not None)
        X = link.placement.inverse() @ site.placement
        body.add_site(name=name, pos=X.p, quat=X.quaternion)
        for kind in THEIRS.get(site.kind, ()):
            spec.add_sensor(
                name=f"{name} {kind}",
                type=getattr(mj.mjtSensor, f"mjSENS_{kind}"),
                objtype=mj.mjtObj.mjOBJ_SITE,
                objname=name,
            )
    return spec.compile()

"""``tabi bench dynamics``: free dynamics against Pinocchio and MuJoCo,
and what starting up costs.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tabi.dynamics import free, integrate, workspace
from tabi.formats.mjcf.writer import to_mujoco
from tabi.lab.bench import loops
from tabi.lab.bench.timing import Blocks, Robots, hrp2_and, medians, microseconds, repeat
from tabi.lab.pinocchio import Referee, build, pinocchio
from tabi.lab.study import Benchmark, BenchPart, constant_settings, head
from tabi.model.robot import Robot
from tabi.model.world import World

FIRST_STEP = """
import time; start = time.perf_counter()
import tabi
from tabi import dynamics
world = tabi.World(); world.add_robot(tabi.robots.hrp2()); model = world.compile()
dynamics.step(model, model.initial(), [0.0] * model.v_count, [0.0] * model.v_count, 1e-3)
print(time.perf_counter() - start)
"""
LOADING = """
import tabi, time
tabi.robots, tabi.World
start = time.perf_counter(); tabi.robots.hrp2(); print(time.perf_counter() - start)
"""


class DynamicsBench(Benchmark, name="dynamics"):
    """Forward and inverse dynamics, mass matrix and the free step against Pinocchio and MuJoCo."""

    robots: Robots = None
    blocks: Blocks = 31

    packages = ("numpy", "numba", "pin", "mujoco")
    constants = constant_settings(
        statistic="median of interleaved blocks; ratios are medians of blockwise ratios"
    )

    def parts(self) -> Iterator[BenchPart]:
        """Yield the parts of the benchmark in order."""
        yield BenchPart("startup", "starting up", startup)
        for robot in hrp2_and(self.robots):
            key = "robots", robot.name
            yield BenchPart(key, robot.name, against_engines, (robot, self.blocks))

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """A table for each robot."""
        yield head(result)
        yield ""
        for name, robot in result["robots"].items():
            us, ratio, step = robot["microseconds"], robot["ratio_to_pinocchio"], robot["free_step"]
            yield f"{name}, {robot['joints']} joints, {robot['v_count']} degrees of freedom"
            for key, title in (
                ("aba", "forward dynamics (ABA)"),
                ("rnea", "inverse dynamics (RNEA)"),
                ("crba", "mass matrix (CRBA)"),
            ):
                yield (
                    f"  {title:<26} {us[key]:7.2f} µs   Pinocchio {us['pin.' + key]:7.2f} µs a "
                    f"call   {ratio[key]:5.2f} × faster, its call taken off"
                )
            t = step["microseconds"]
            loop, peer = t["compiled loop"], t["mujoco rollout"]
            yield (
                f"  {'free step':<26} {loop:7.2f} µs   MuJoCo    {peer:7.2f} µs a step   "
                f"{step['ratio_to_mujoco']:5.2f} × faster"
            )
            yield f"  {'free step, second order':<26} {t['second order']:7.2f} µs"
            yield (
                f"  {'free step from Python':<26} {t['from Python']:7.2f} µs   "
                f"{step['python_overhead_microseconds']:.2f} µs above the step itself"
            )
            yield ""
        start = result["startup"]
        yield (
            f"first compilation {start['first_compilation_s']} s; "
            f"cached, from import to first step {start['cached_import_to_first_step_s']} s; "
            f"tabi --help {start['help_s']} s; hrp2 loads in {1e3 * start['hrp2_loading_s']:.1f} ms"
        )


def against_engines(robot: Robot, blocks: int) -> dict[str, Any]:
    """One robot: microseconds per call and ratios; above 1 tabi is faster."""
    pin = pinocchio()
    # joints that follow others are free ones in Pinocchio's aba, so they are here too
    for body in robot.bodies:
        body.joint.mimic = None
    world = World()
    world.add_robot(robot)
    model = world.compile()
    rng = np.random.default_rng(0)
    q = integrate(model, model.neutral(), 0.3 * rng.normal(size=model.v_count), 1.0)
    v = rng.normal(size=model.v_count)
    tau, a = rng.normal(size=model.v_count), np.zeros(model.v_count)
    M = np.zeros((model.v_count, model.v_count))
    m, w = model.arrays, workspace.allocate(model)

    pm = build(robot)
    data, referee = pm.createData(), Referee(model, pm)
    qp, vp, ap = referee.configuration(q), referee.rates(q) @ v, rng.normal(size=model.v_count)
    joint_model = pin.Model()
    joint_model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "one")
    joint_model.appendBodyToJoint(1, pin.Inertia.Random(), pin.SE3.Identity())
    one_data, x = joint_model.createData(), np.zeros(1)

    runs = {
        "aba": lambda n: loops.forward_dynamics(n, m, q, v, tau, w, a),
        "pin.aba": repeat(lambda: pin.aba(pm, data, qp, vp, ap)),
        "rnea": lambda n: loops.inverse_dynamics(n, m, q, v, a, w, tau),
        "pin.rnea": repeat(lambda: pin.rnea(pm, data, qp, vp, ap)),
        "crba": lambda n: loops.mass_matrix(n, m, q, w, M),
        "pin.crba": repeat(lambda: pin.crba(pm, data, qp)),
        # what a call costs whose work is next to nothing
        "pin call": repeat(lambda: pin.aba(joint_model, one_data, x, x, x)),
    }
    times = microseconds(runs, blocks)
    calls = times["pin call"]
    ratios = {f"pin.{name}": times[f"pin.{name}"] - calls for name in ("aba", "rnea", "crba")}
    return {
        "joints": len(model.joint_names),
        "v_count": model.v_count,
        "microseconds": medians(times, 3),
        "ratio_to_pinocchio": {
            name[4:]: round(float(np.median(t / times[name[4:]])), 2) for name, t in ratios.items()
        },
        "free_step": free_step(world, blocks),
    }


def free_step(world: World, blocks: int) -> dict[str, Any]:
    """The whole step without contacts, in a compiled loop, from Python,
    and MuJoCo's through rollout.
    """
    # first, because it says in one sentence that MuJoCo is missing
    mj = to_mujoco(world)
    mujoco: Any = importlib.import_module("mujoco")
    rollout = importlib.import_module("mujoco.rollout").rollout
    model = world.compile()
    q, v = model.neutral(), np.zeros(model.v_count)
    tau, a = np.zeros(model.v_count), np.zeros(model.v_count)
    m, w = model.arrays, workspace.allocate(model)
    free.prepare(m, q, v, w)
    mj.opt.timestep = 1e-3
    mj.opt.disableflags |= (
        mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    )
    mj_data = mujoco.MjData(mj)
    state = np.zeros((1, mujoco.mj_stateSize(mj, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    mujoco.mj_getState(mj, mj_data, state[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    runs = {
        "compiled loop": lambda n: loops.free_steps(n, m, q, v, tau, 1e-3, 1, w, a),
        "from Python": repeat(lambda: free.step(m, q, v, tau, 1e-3, 1, w, a)),
        "second order": lambda n: loops.free_steps(n, m, q, v, tau, 1e-3, 2, w, a),
        "mujoco rollout": lambda n: rollout(mj, mj_data, state, nstep=n),
    }
    times = microseconds(runs, blocks)
    return {
        "microseconds": medians(times, 3),
        "python_overhead_microseconds": round(
            float(np.median(times["from Python"] - times["compiled loop"])), 3
        ),
        "ratio_to_mujoco": round(
            float(np.median(times["mujoco rollout"] / times["compiled loop"])), 2
        ),
    }


def startup() -> dict[str, float]:
    """Seconds a newcomer waits: help, first compilation, first step with warm kernels,
    loading HRP-2.
    """
    with tempfile.TemporaryDirectory() as cold:
        first = _python(FIRST_STEP, TABI_CACHE_DIR=cold)
        warm = min(_python(FIRST_STEP, TABI_CACHE_DIR=cold) for _ in range(3))
    helps = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "tabi.apps.cli", "--help"], capture_output=True, check=True
        )
        helps.append(time.perf_counter() - start)
    return {
        "first_compilation_s": round(first, 2),
        "cached_import_to_first_step_s": round(warm, 3),
        "help_s": round(min(helps), 3),
        "hrp2_loading_s": round(min(_python(LOADING) for _ in range(3)), 4),
    }


def _python(code: str, **environment: str) -> float:
    """The number that a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment, "TABI_QUIET": "1"},
    )
    return float(done.stdout.split()[-1])

"""``tabi bench step``: the whole step of a standing and of a squatting humanoid against MuJoCo and
Pinocchio, on one core.

Same bodies, colliding geoms, pairs, armature and step in all engines; what is only drawn is left
out. tabi runs in a compiled loop, MuJoCo through ``rollout`` with elliptic cones, its position
loops as actuators under its implicit integrator, once with its default tolerance and once with a
tight one. While squatting, targets change every step: both engines are handed a table of them for
each block of steps.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.contact import bodies
from tabi.control import squat
from tabi.dynamics import free, workspace
from tabi.formats.mjcf.writer import to_mujoco
from tabi.lab.bench import loops, step_pinocchio
from tabi.lab.bench.timing import Blocks, Robots, hrp2_and, medians, microseconds
from tabi.lab.stage import stage as standing_stage
from tabi.lab.study import DEFAULTS, Benchmark, BenchPart, head
from tabi.model.controllers.signals import Measurement
from tabi.model.lookup import joint_rows
from tabi.model.mujoco_state import configuration_to_mujoco
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.step.commands.driver import holding, write_command

# steps of one squat, and of settling before the clock runs
PERIOD, SETTLE = 1000, 500
# MuJoCo: tolerance and iterations, None for its own
TOLERANCES = {"default": None, "tight": (1e-10, 100)}


class StepBench(Benchmark, name="step"):
    """The whole step of a standing and a squatting robot against MuJoCo and Pinocchio."""

    robots: Robots = None
    blocks: Blocks = 101

    packages = ("numpy", "numba", "pin", "mujoco")
    constants = DEFAULTS | {
        "statistic": "median of interleaved blocks; ratios are medians of blockwise ratios",
        "mujoco": {name: list(t) if t else "its own" for name, t in TOLERANCES.items()},
    }

    def parts(self) -> Iterator[BenchPart]:
        """Robot by robot, hrp2 first."""
        for robot in hrp2_and(self.robots):
            key = "robots", robot.name
            yield BenchPart(key, robot.name, against_engines, (robot, self.blocks))

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Robot by robot, both motions."""
        yield head(result)
        yield ""
        for name, figures in result["robots"].items():
            yield f"{name}, {figures['joints']} joints, weight {figures['weight_N']:.2f} N"
            for motion in ("standing", "squat"):
                yield from _lines(motion, figures[motion])
            parts = "; ".join(f"{part} {t:.1f} µs" for part, t in figures["parts"].items())
            yield f"  parts of the standing step: {parts}"
            yield ""


def against_engines(robot: Robot, blocks: int) -> dict[str, Any]:
    """One robot: standing and squatting."""
    world, robot = stage(robot)
    result: dict[str, Any] = {
        "joints": len(robot.joint_names),
        "weight_N": round(float(robot.mass * np.linalg.norm(world.gravity)), 3),
    }
    result["standing"] = race(world, robot, None, blocks)
    result["parts"] = parts(world, blocks, result["standing"]["microseconds"]["tabi"])
    try:
        motion = targets(world, robot)
    except ModelError as error:
        result["squat"] = {"fault": str(error)}
    else:
        result["squat"] = race(world, robot, motion, blocks)
    return result


def stage(robot: Robot) -> tuple[World, Robot]:
    """The biped standing on the ground, with colliding shapes only and gains in every motor;
    its limbs touch nothing here.
    """
    return standing_stage(robot, limbs=False)


def targets(world: World, robot: Robot) -> NDArray[np.void]:
    """Return the motor commands in each step of one squat of a second, one row per step."""
    model = world.compile()
    controller, rows = squat(robot), joint_rows(model, robot)
    table = holding(model, model.initial())
    # the motion does not look at what is measured
    seen = cast(Measurement, None)
    motion = []
    for k in range(PERIOD):
        write_command(robot, rows, controller(1e-3 * k, seen), table, 1e-3 * k)
        motion.append(table.copy())
    return np.stack(motion)


# ---- tabi ---------------------------------------------------------------------------------------


class Marching:
    """A simulator's steps in a compiled loop.

    Attributes:
        steps, missed: how many there were, and how many of them missed the tolerance.
        worst: largest backward error [m/s].
    """

    def __init__(self, sim: Simulator, motion: NDArray[np.void] | None = None) -> None:
        self.sim = sim
        self.motion = (
            None
            if motion is None
            else np.stack([motion[name] for name in ("position", "velocity", "effort")], axis=-1)
        )
        self.steps, self.missed, self.worst = 0, 0, 0.0

    def __call__(self, count: int) -> None:
        """``count`` steps, whatever stops the loop on the way."""
        program = None
        if self.motion is not None:
            program = self.motion[(self.steps + np.arange(count)) % PERIOD]
        missed, worst = self.sim.rollout(count, program)
        self.steps, self.missed = self.steps + count, self.missed + missed
        self.worst = max(self.worst, worst)


def parts(world: World, blocks: int, whole: float) -> dict[str, float]:
    """Return the times of parts of the standing step [µs]: motion without contacts, contact solver
    from a warm start,
    and what is left.
    """
    sim = Simulator(world)
    sim.run(1e-3 * SETTLE)
    problem = sim.problem()
    if problem is None:
        raise ModelError("the robot does not touch the ground; expected one that stands")
    model, (q, v), count = sim.model, (sim.state.q, sim.state.v), len(problem.mu)
    tau, a, w = np.zeros(model.v_count), np.zeros(model.v_count), workspace.allocate(model)
    free.prepare(model.arrays, q, v, w)
    warm = sim.data.impulse
    need = bodies.prepare(problem, bodies.allocate(count, len(problem.start) - 1, 0))
    work, impulse = bodies.allocate(count, len(problem.start) - 1, need), np.zeros(3 * count)
    runs = {
        "free": lambda n: loops.free_steps(n, model.arrays, q, v, tau, sim.dt, 1, w, a),
        "solve": lambda n: loops.warm_solves(n, problem, warm, sim.tolerance, impulse, work),
    }
    times = {name: float(np.median(t)) for name, t in microseconds(runs, blocks).items()}
    names = (
        "motion without contacts",
        "contact solver, warm",
        "detection, inverse inertia, assembly, certificate",
    )
    return {
        name: round(t, 2)
        for name, t in zip(
            names,
            (times["free"], times["solve"], whole - times["free"] - times["solve"]),
            strict=True,
        )
    }


# ---- MuJoCo -------------------------------------------------------------------------------------


class Rolling:
    """MuJoCo's steps through rollout, each call from where the last one ended.

    Args:
        model: the world as MuJoCo has it; default: that of ``to_mujoco``.
    """

    def __init__(
        self,
        world: World,
        motion: NDArray[np.void] | None,
        tolerance: tuple[float, int] | None,
        model: Any = None,
    ) -> None:
        self.model = to_mujoco(world) if model is None else model
        self.mj: Any = importlib.import_module("mujoco")
        self.rollout = importlib.import_module("mujoco.rollout").rollout
        m, mj, ours = self.model, self.mj, world.compile()
        m.opt.timestep = 1e-3
        m.opt.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
        if tolerance:
            m.opt.tolerance, m.opt.iterations = tolerance
        rows = np.array([ours.v_index(m.actuator(k).name) for k in range(m.nu)], np.int64)
        self._close_loops(ours.arrays.dof["kp"][rows], ours.arrays.dof["kd"][rows])
        goal = (holding(ours, ours.initial())[None] if motion is None else motion)[:, rows]
        # one number has to say position and velocity: kp (c − q) − kd v with c = q_d + kd/kp v_d
        lead = np.divide(goal["kd"], goal["kp"], out=np.zeros(goal.shape), where=goal["kp"] > 0.0)
        self.control = goal["position"] + goal["velocity"] * lead
        self.data, self.kind, self.steps = mj.MjData(m), mj.mjtState.mjSTATE_FULLPHYSICS, 0
        self.data.qpos[:] = configuration_to_mujoco(ours, m, ours.initial())
        self.state = np.zeros((1, mj.mj_stateSize(m, self.kind)))
        mj.mj_getState(m, self.data, self.state[0], self.kind)

    def _close_loops(self, kp: NDArray[np.float64], kd: NDArray[np.float64]) -> None:
        """Torque motors become position loops with the same limits."""
        m = self.model
        m.actuator_gaintype[:] = self.mj.mjtGain.mjGAIN_FIXED
        m.actuator_biastype[:] = self.mj.mjtBias.mjBIAS_AFFINE
        m.actuator_gainprm[:, 0], m.actuator_biasprm[:, 1], m.actuator_biasprm[:, 2] = kp, -kp, -kd
        m.actuator_forcelimited[:] = m.actuator_ctrllimited
        m.actuator_forcerange[:] = m.actuator_ctrlrange
        m.actuator_ctrllimited[:] = 0

    def __call__(self, count: int) -> None:
        """``count`` steps."""
        control = self.control[(self.steps + np.arange(count)) % len(self.control)]
        warm = self.data.qacc_warmstart[None].copy()
        states, _ = self.rollout(
            self.model, self.data, self.state, control[None], initial_warmstart=warm
        )
        self.state, self.steps = states[:, -1], self.steps + count

    def height(self) -> float:
        """Return the height of the robot's base [m], the third position after the time."""
        return float(self.state[0, 3])

    def contacts(self) -> tuple[int, float]:
        """Number of contacts, and the sum of their normal forces [N]."""
        m, d, mj = self.model, self.data, self.mj
        mj.mj_setState(m, d, self.state[0], self.kind)
        d.ctrl[:] = self.control[self.steps % len(self.control)]
        mj.mj_forward(m, d)
        force, total = np.zeros(6), 0.0
        for k in range(d.ncon):
            mj.mj_contactForce(m, d, k, force)
            total += force[0]
        return int(d.ncon), total


# ---- both ---------------------------------------------------------------------------------------


def race(
    world: World, robot: Robot, motion: NDArray[np.void] | None, blocks: int
) -> dict[str, Any]:
    """One motion in all engines: microseconds per step, ratios,
    and what shows that all do the same.
    """
    sim = Simulator(world)
    ours = Marching(sim, motion)
    theirs = {name: Rolling(world, motion, tolerance) for name, tolerance in TOLERANCES.items()}
    engines: list[Callable[[int], None]] = [ours, *theirs.values()]
    # a quarter of a period later a squat is fastest
    for engine in engines:
        engine(SETTLE if motion is None else PERIOD // 4)
    peer = step_pinocchio.measure(sim, robot, lambda: ours(1), blocks)
    forces = {name: rolling.contacts() for name, rolling in theirs.items()}
    touching = {"tabi": len(sim.contacts)} | {
        f"mujoco {name}": count for name, (count, _) in forces.items()
    }
    total = {"tabi": sum(float(c.force @ c.normal) for c in sim.contacts)} | {
        f"mujoco {name}": f for name, (_, f) in forces.items()
    }
    runs: dict[str, Callable[[int], object]] = {"tabi": ours}
    runs.update({f"mujoco {name}": rolling for name, rolling in theirs.items()})
    ours.missed, ours.worst, start = 0, 0.0, ours.steps
    times = microseconds(runs, blocks, step_pinocchio.BLOCK)
    return {
        "contacts": touching,
        "normal_force_N": {name: round(f, 3) for name, f in total.items()},
        **_speeds(times, peer),
        "steps": ours.steps - start,
        "missed": ours.missed,
        "worst_residual": float(f"{ours.worst:.3g}"),
        "fallen": {"tabi": sim.fallen(robot)}
        | {f"mujoco {name}": bool(rolling.height() < 0.4) for name, rolling in theirs.items()},
    }


def _speeds(times: dict[str, NDArray[np.float64]], peer: dict[str, Any]) -> dict[str, Any]:
    """Microseconds per step and ratios to tabi's: median of all blocks, and the fastest ones."""
    least, tabi_times = {name: float(t.min()) for name, t in times.items()}, times["tabi"]
    return {
        "microseconds": medians(times),
        "ratio_to_mujoco": {
            name: round(float(np.median(times[f"mujoco {name}"] / tabi_times)), 2)
            for name in TOLERANCES
        },
        "pinocchio": peer,
        "ratio_to_pinocchio": {
            name: round(t / float(np.median(tabi_times)), 2) for name, t in peer["sum"].items()
        },
        # a busy machine disturbs these least
        "least": {
            "microseconds": {name: round(t, 2) for name, t in least.items()},
            "ratio_to_mujoco": {
                name: round(least[f"mujoco {name}"] / least["tabi"], 2) for name in TOLERANCES
            },
            "ratio_to_pinocchio": {
                name: round(t / least["tabi"], 2) for name, t in peer["least_sum"].items()
            },
        },
    }


def _lines(motion: str, figures: dict[str, Any]) -> list[str]:
    if "fault" in figures:
        return [f"  {motion}: {figures['fault']}"]
    us, forces, peer = figures["microseconds"], figures["normal_force_N"], figures["pinocchio"]
    missed = (
        f"{figures['missed']} of {figures['steps']} not converged, "
        f"worst {figures['worst_residual']:.1e} m/s"
    )
    lines = [
        f"  {motion:<10} tabi {us['tabi']:7.2f} µs   {figures['contacts']['tabi']} contacts, "
        f"{forces['tabi']:.2f} N; {missed}"
    ]
    for name, ratio in figures["ratio_to_mujoco"].items():
        key = f"mujoco {name}"
        shown = f"{figures['contacts'][key]} contacts, {forces[key]:.2f} N"
        lines.append(
            f"  {'':<10} MuJoCo, {name:<7} tolerance {us[key]:7.2f} µs   {shown}   {ratio:5.2f} ×"
        )
    calls = " + ".join(f"{name} {t:.1f}" for name, t in peer["microseconds"].items())
    lines.append(f"  {'':<10} Pinocchio: {calls} µs, and a solver:")
    for name, ratio in figures["ratio_to_pinocchio"].items():
        s = peer["solvers"][name]
        reached = "certified" if s["certified"] else "NOT certified"
        lines.append(
            f"  {'':<10}   {name} {s['microseconds']:8.1f} µs, {s['iterations']} iterations, "
            f"{reached} at {s['residual']:.1e} m/s"
            f"   {peer['sum'][name]:8.1f} µs in all   {ratio:5.2f} ×"
        )
    lines += [
        f"  {'':<10} FALLEN in {name}" for name, fallen in figures["fallen"].items() if fallen
    ]
    least = figures["least"]
    ratios = {f"MuJoCo {name}": r for name, r in least["ratio_to_mujoco"].items()} | least[
        "ratio_to_pinocchio"
    ]
    lines.append(
        f"  {'':<10} fastest blocks: tabi {least['microseconds']['tabi']:.2f} µs; "
        + ", ".join(f"{n} {r:.2f} ×" for n, r in ratios.items())
    )
    return lines

"""Pinocchio's hot calls for one step of a standing robot:
aba, crba, constraint Cholesky, and its contact solvers.

They see what tabi's step sees: the same configuration, M̂ = M + hD + h²K_p as armature, the same
points and frames, the same free velocities, and the impulses of the step before as a start. Each
solver is asked for ever smaller tolerances until tabi's judge certifies its answer. Left out, in
Pinocchio's favour: finding the contacts, the placement of each constraint, the velocities of the
contacts and the response to their impulses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.contact.bodies import BodyProblem
from tabi.contact.certificate import judge
from tabi.contact.matrix_form import sparse
from tabi.lab.bench.timing import microseconds, repeat
from tabi.lab.pinocchio import Referee, build, pinocchio
from tabi.model.robot import Robot
from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# tolerances a solver may need, and the damping of the decomposition,
# without which corners of a sole are too many
TRIES = tuple(10.0**-k for k in range(6, 15))
DAMPING, ITERATIONS, REPETITIONS = 1e-10, 5000, 201
# length of a timed block [s]: short, so that all engines see the same disturbances
BLOCK = 0.005


def measure(
    sim: Simulator, robot: Robot, step: Callable[[], object], blocks: int
) -> dict[str, Any]:
    """Microseconds of each call, with the cost of calling taken off;
    ``step`` advances the simulator by one step.
    """
    pin = pinocchio()
    q, v = sim.state.q, sim.state.v
    before = {_identity(t): t["impulse"].copy() for t in sim.data.contact}
    step()
    p = sim.problem()
    if p is None:
        raise ModelError(f"robot {robot.name!r} touches nothing; expected one that stands")
    pm, data = _model(sim, robot)
    referee = Referee(sim.model, pm)
    qp = referee.configuration(q)
    vp = referee.rates(q) @ v
    tau = np.zeros(pm.nv)
    other = pm.createData()
    models, datas, warm = _constraints(pin, sim, robot, pm, data, qp, p, before)
    cholesky = _cholesky(pin, pm, data, qp, (models, datas))
    delassus = cholesky.getDelassusOperatorCholeskyExpression()
    W = sparse(p).toarray()
    # before any solver: they leave their own damping in it
    difference = np.abs(delassus.matrix() - W).max() / np.abs(W).max()
    runs = {
        "aba": repeat(lambda: pin.aba(pm, other, qp, vp, tau)),
        "crba": repeat(lambda: pin.crba(pm, data, qp, pin.Convention.WORLD)),
        "constraint Cholesky": repeat(lambda: cholesky.compute(pm, data, models, datas, DAMPING)),
    }
    figures, least = _calls(pin, runs, blocks)
    solvers = {
        name: _solve(kinds, (delassus, p.q, models, datas), p, warm, sim.tolerance)
        for name, kinds in {
            "PGS": (pin.PGSConstraintSolver, pin.PGSSolverSettings, pin.PGSSolverResult),
            "ADMM": (pin.ADMMConstraintSolver, pin.ADMMSolverSettings, pin.ADMMSolverResult),
        }.items()
    }
    return {
        "microseconds": figures,
        "solvers": solvers,
        "sum": {
            name: round(sum(figures.values()) + s["microseconds"], 2) for name, s in solvers.items()
        },
        "least_sum": {name: round(least + s["least"], 2) for name, s in solvers.items()},
        "matrix_difference": float(f"{difference:.2g}"),
    }


def _cholesky(pin: Any, pm: Any, data: Any, qp: Array, constraints: tuple[Any, Any]) -> Any:
    """The decomposition of the constraints, models and datas, where the robot is."""
    pin.crba(pm, data, qp, pin.Convention.WORLD)
    for model, constraint in zip(*constraints, strict=True):
        model.calc(pm, data, constraint)
    result = pin.ConstraintCholeskyDecomposition(pm, data, *constraints)
    result.compute(pm, data, *constraints, DAMPING)
    return result


def _calls(
    pin: Any, runs: dict[str, Callable[[int], object]], blocks: int
) -> tuple[dict[str, float], float]:
    """Microseconds of each run without what a call of Pinocchio costs by itself,
    and the sum of their fastest blocks.
    """
    joint_model = pin.Model()
    joint_model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "one")
    joint_model.appendBodyToJoint(1, pin.Inertia.Random(), pin.SE3.Identity())
    data, x = joint_model.createData(), np.zeros(1)
    times = microseconds(
        runs | {"call": repeat(lambda: pin.aba(joint_model, data, x, x, x))}, blocks, BLOCK
    )
    calls = times.pop("call")
    least = sum(float(t.min() - calls.min()) for t in times.values())
    return {name: round(float(np.median(t - calls)), 2) for name, t in times.items()}, least


def _model(sim: Simulator, robot: Robot) -> tuple[Any, Any]:
    """The robot in Pinocchio, with what the position loops add to M."""
    pm = build(robot)
    dof, h = sim.model.arrays.dof, sim.dt
    for name in robot.joint_names:
        k, joint = sim.model.v_index(name), pm.joints[pm.getJointId(name)]
        for c in range(joint.nv):
            row, goal = dof[k + c], sim.data.command.motor[k + c]
            unsaturated = sim.data.memory.joint[k + c]["saturation"] == 0
            pm.armature[joint.idx_v + c] += h * (
                row["damping"] + h * row["stiffness"] + unsaturated * (goal["kd"] + h * goal["kp"])
            )
    return pm, pm.createData()


def _constraints(
    pin: Any,
    sim: Simulator,
    robot: Robot,
    pm: Any,
    data: Any,
    qp: Array,
    p: BodyProblem,
    before: dict[tuple[int, ...], Array],
) -> tuple[Any, Any, Array]:
    """Point contacts in the order of the problem, and the impulses of the step before."""
    carrier = {
        sim.model.link(b.name).body: robot.name if b is robot.base else b.joint.name
        for b in robot.bodies
        if b.joint.kind != "fixed"
    }
    pin.forwardKinematics(pm, data, qp)
    models = pin.StdVec_ConstraintModel()
    datas = pin.StdVec_ConstraintData()
    warm = np.zeros(3 * len(p.mu))
    for x in range(len(p.mu)):
        point = sim.data.memory.contact[sim.data.problem_order[x]]
        E = p.contact["frame"][x].reshape(3, 3)
        place = pin.SE3(E.T.copy(), point["position"].copy())
        a, b = (
            pm.getJointId(carrier[int(point[side])]) if point[side] > 0 else 0
            for side in ("a", "b")
        )
        contact = pin.PointContactConstraintModel(
            pm, b, data.oMi[b].actInv(place), a, data.oMi[a].actInv(place)
        )
        contact.setFriction(float(p.mu[x]))
        models.append(pin.ConstraintModel(contact))
        datas.append(models[x].createData())
        warm[3 * x : 3 * x + 3] = E @ before.get(_identity(point), np.zeros(3))
    return models, datas, warm


def _identity(touch: Any) -> tuple[int, ...]:
    return int(touch["shape_a"]), int(touch["shape_b"]), int(touch["feature"])


def _solve(
    kinds: tuple[Any, Any, Any], problem: tuple[Any, ...], p: BodyProblem, warm: Array, goal: float
) -> dict[str, Any]:
    """The loosest tolerance whose answer is certified, or the best answer there is,
    and how long its solver takes by its own clock.
    """
    best: dict[str, Any] = {"residual": np.inf}
    for tolerance in TRIES:
        settings = kinds[1]()
        settings.max_iterations, settings.measure_timings = ITERATIONS, True
        settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = tolerance
        settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0.0
        times = []
        for _ in range(REPETITIONS):
            solver, result = kinds[0](len(p.q)), kinds[2]()
            result.setConstraintImpulseGuess(warm)
            solver.solve(*problem, settings, result)
            times.append(solver.getElapsedTime())
            if times[-1] > 2e4:
                break
        error = judge(p, np.array(result.retrieveConstraintImpulses())).residual
        if error < best["residual"]:
            best = {
                "microseconds": round(float(np.median(times)), 2),
                "iterations": int(result.iterations),
                "residual": float(f"{error:.3g}"),
            }
            best |= {
                "least": round(float(min(times)), 2),
                "certified": bool(error <= goal),
                "own_tolerance": tolerance,
            }
        if error <= goal:
            break
    return best

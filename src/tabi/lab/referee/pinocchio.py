"""Pinocchio as an engine of the referee: one robot whose feet stand on a level ground, by
Pinocchio's algorithms and its contact solver.

The scheme is tabi's, written once more with nothing of tabi in it but states, targets and shapes:
with h the step,

    M̂ = M + h (D + K_d) + h² (K + K_p),   M̂ (v_f − v) = h (τ₀ − b)
    v⁺ = v_f + M̂⁻¹ Jᵀ λ,   q⁺ = q ⊕ h v⁺                                                       (1)
    λ in the cone ⊥ J v⁺ + (gap/h, friction's term of De Saxcé)                                (2)
aba gives v_f, the Cholesky factors of the constraints the operator of (2), ADMM its solution.
Points are the corners of the feet's shapes. Left out: everything but the feet may pass through the
ground and through each other, and joints have neither ends nor top speeds.
"""

from __future__ import annotations

import time as clock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.lab.pinocchio import Referee, build, pinocchio
from tabi.lab.referee.engines import BreakdownError, Targets, ask
from tabi.lab.referee.track import Row
from tabi.model.body import Body
from tabi.model.lookup import link_of
from tabi.model.robot import Robot
from tabi.model.shape import Box, Convex, HalfSpace
from tabi.scenes import Scene
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
# points so near to the ground are contacts [m]; of the overlap, what a step takes away
REACH, CORRECTED_SHARE = 0.01, 0.2
# the solver: what it is asked for [m/s, and N·s·m/s], and the damping without which corners of a
# sole are too many
TOLERANCE, ITERATIONS, DAMPING = 1e-10, 5000, 1e-10
# maximum repetitions of a step because motors reach their limits, or leave them
MAX_REPETITIONS = 10


class Pinocchio:
    """One robot on a level ground."""

    name = "Pinocchio"

    def __init__(self, scene: Scene) -> None:
        # never stepped: controllers, pushes, targets, and the kinematics of measurements
        self.sim = scene.simulator()
        sim, self.steps, self.pin = self.sim, 0, pinocchio()
        self.version, self.seconds = self.pin.__version__, []
        self.robot = sim.world.robots[0]
        self.model = build(self.robot)
        self.model.gravity.linear = sim.world.gravity
        self.maps, self.data = Referee(sim.model, self.model), self.model.createData()
        self._check_joints()
        self.points = corners(self.robot)
        self.friction = np.array([self._pair(material) for _, _, _, material in self.points])
        self.joint = [self.model.getJointId(name) for name, _, _, _ in self.points]
        self.body = np.array([sim.model.link(name).body for _, name, _, _ in self.points], np.int64)
        self.movers = {
            link_of(sim.world, sim.model, b).body: self.model.getJointId(carrier(self.robot, b)[0])
            for b in self.robot.bodies
        }
        self.place = np.array([place for _, _, place, _ in self.points])
        self.armature = self.model.armature.copy()
        self.q, self.v = sim.state.q, sim.state.v
        self.touching, self.impulse, self.gap = np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(0)
        self.at = np.zeros((len(self.points), 3))
        self.saturated, self.targets = np.zeros(sim.model.v_count), Targets(sim)
        self.settings: dict[str, Any] = {
            "step_s": sim.dt,
            "solver": "ADMM",
            "iterations": ITERATIONS,
            "tolerance": TOLERANCE,
            "damping": DAMPING,
        }
        self.notes = [
            "only the feet touch, and only the ground; joints have neither ends nor top speeds"
        ]

    def _check_joints(self) -> None:
        """Refuse joints that the maps below do not know, and dry friction."""
        model, robot = self.sim.model, self.robot
        if robot.base.joint.kind != "floating":
            raise ModelError(
                f"the base of {robot.name} does not float; "
                "Pinocchio is compared on robots that stand, compare it with mujoco"
            )
        if robot.bonds:
            raise ModelError(
                f"{robot.name} has bonds that close loops, which is not done in Pinocchio; "
                "compare it with mujoco"
            )
        for name in robot.joint_names:
            joint = robot.joint(name)
            if joint.v_count != 1 or joint.mimic is not None:
                what = f"is {joint.kind}" if joint.mimic is None else "follows another"
                raise ModelError(
                    f"joint {name!r} of {robot.name} {what}, which is not done in Pinocchio; "
                    "compare it with mujoco"
                )
        rubs = np.flatnonzero(model.arrays.dof["friction"] > 0)
        if len(rubs):
            raise ModelError(
                f"joint {model.dof_name(int(rubs[0]))!r} has dry friction, "
                "which is not done in Pinocchio; compare it with mujoco"
            )

    def _pair(self, material: str) -> float:
        model, ground = self.sim.model, self.sim.world.fixed.shapes[0].material.name
        index = {name: i for i, name in enumerate(model.material_names)}
        return float(model.pairs["friction"][index[material], index[ground]])

    # ---- a step -----------------------------------------------------------------------------

    def step(self) -> None:
        """Do one step of Pinocchio."""
        sim, row = self.sim, self.row()
        sim.set_state(self.q, self.v)
        ask(sim, self.steps, row)
        self.targets.move(self.steps)
        start = clock.perf_counter()
        for _ in range(MAX_REPETITIONS):
            after = self._velocity()
            effort = self._motor_efforts(after)
            limit = sim.model.arrays.dof["effort_limit"]
            now = np.where(np.abs(effort) > limit, np.sign(effort), 0.0)
            if (now == self.saturated).all():
                break
            self.saturated = now
        self.seconds.append(clock.perf_counter() - start)
        self.steps += 1
        if not np.isfinite(after).all():
            raise BreakdownError(
                f"Pinocchio broke down at {self.steps * sim.dt:g} s: its state is not finite"
            )
        self._integrate(after)

    def _motor_efforts(self, after: Array) -> Array:
        """Return the torques that the motors' loops request at the end of a step, in tabi's order;
        none of the base.
        """
        goal, dof, h = self.sim.data.command.motor, self.sim.model.arrays.dof, self.sim.dt
        v = self.maps.rates(self.q).T @ after
        place = np.where(dof["q"] >= 0, self.q[dof["q"]], 0.0)
        kp = np.where(dof["q"] >= 0, goal["kp"], 0.0)
        return (
            goal["effort"]
            + kp * (self.targets.position - place - h * v)
            + goal["kd"] * (goal["velocity"] - v)
        )

    def _velocity(self) -> Array:
        """Equations (1) and (2): v⁺ in Pinocchio's coordinates."""
        pin = self.pin
        pm = self.model
        data = self.data
        h = self.sim.dt
        goal = self.sim.data.command.motor
        dof = self.sim.model.arrays.dof
        T, free = self.maps.rates(self.q), self.saturated == 0
        added = h * (
            dof["damping"]
            + h * dof["stiffness"]
            + free * (goal["kd"] + h * np.where(dof["q"] >= 0, goal["kp"], 0.0))
        )
        # joints are plain, and the base has no motor: the diagonal stays one
        pm.armature[:] = self.armature + (T != 0) @ added * (np.count_nonzero(T, axis=1) == 1)
        place = np.where(dof["q"] >= 0, self.q[dof["q"]], 0.0)
        passive = -dof["damping"] * self.v - dof["stiffness"] * np.where(
            dof["q"] >= 0, place - dof["rest"] + h * self.v, 0.0
        )
        torque = np.where(
            free,
            self._motor_efforts(T @ self.v),
            self.saturated * np.where(free, 0.0, dof["effort_limit"]),
        )
        qp, vp = self.maps.configuration(self.q), T @ self.v
        pin.forwardKinematics(pm, data, qp)
        vf = vp + h * pin.aba(pm, data, qp, vp, T @ (torque + passive), self._pushes())
        return self._contact(qp, vf)

    def _pushes(self) -> Any:
        """Return the present pushes on each joint in its own axes."""
        pin, sim, fext = self.pin, self.sim, self.pin.StdVec_Force()
        fext.extend([pin.Force.Zero() for _ in range(self.model.njoints)])
        for push in sim.pushes:
            if push.start <= self.steps < push.until:
                share, X = min(1.0, push.until - self.steps), sim.pose(push.link.name)
                j = self.movers[push.link.body]
                moment = push.torque + np.cross(X @ push.point, push.force)
                fext[j] = fext[j] + self.data.oMi[j].actInv(
                    pin.Force(share * push.force, share * moment)
                )
        return fext

    def _contact(self, qp: Array, vf: Array) -> Array:
        pin, pm, data, h = self.pin, self.model, self.data, self.sim.dt
        self.at = np.array(
            [data.oMi[j].act(p) for j, p in zip(self.joint, self.place, strict=True)]
        ).reshape(-1, 3)
        gap = self.at[:, 2] - self.sim.world.ground_height
        before = dict(zip(self.touching.tolist(), self.impulse, strict=True))
        self.touching = np.flatnonzero(gap < REACH)
        self.gap, n = gap[self.touching], len(self.touching)
        if n == 0:
            self.impulse = np.zeros((0, 3))
            return vf
        models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for k in self.touching:
            place = pin.SE3(np.eye(3), self.at[k])
            contact = pin.PointContactConstraintModel(
                pm, 0, place, self.joint[k], data.oMi[self.joint[k]].actInv(place)
            )
            contact.setFriction(float(self.friction[k]))
            models.append(pin.ConstraintModel(contact))
            datas.append(models[len(models) - 1].createData())
        M = pin.crba(pm, data, qp, pin.Convention.WORLD)
        J = self._jacobian(qp)
        for model, constraint in zip(models, datas, strict=True):
            model.calc(pm, data, constraint)
        cholesky = pin.ConstraintCholeskyDecomposition(pm, data, models, datas)
        cholesky.compute(pm, data, models, datas, DAMPING)
        g = J @ vf
        g[2::3] += np.where(self.gap > 0, self.gap, CORRECTED_SHARE * self.gap) / h
        guess = np.concatenate([before.get(int(k), np.zeros(3)) for k in self.touching])
        impulse = self._solve(
            cholesky.getDelassusOperatorCholeskyExpression(), g, models, datas, guess
        )
        self.impulse = impulse.reshape(-1, 3)
        M = np.triu(M) + np.triu(M, 1).T
        return vf + np.linalg.solve(M, J.T @ impulse)

    def _solve(self, delassus: Any, g: Array, models: Any, datas: Any, guess: Array) -> Array:
        pin = self.pin
        settings, result = pin.ADMMSolverSettings(), pin.ADMMSolverResult()
        settings.max_iterations = ITERATIONS
        settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = TOLERANCE
        settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0.0
        result.setConstraintImpulseGuess(guess)
        pin.ADMMConstraintSolver(len(g)).solve(delassus, g, models, datas, settings, result)
        return np.array(result.retrieveConstraintImpulses())

    def _jacobian(self, qp: Array) -> Array:
        """Return the Jacobian of the touching points, in the world's axes."""
        pin, pm, data = self.pin, self.model, self.data
        pin.computeJointJacobians(pm, data, qp)
        rows = []
        for k in self.touching:
            j = self.joint[k]
            J = pin.getJointJacobian(pm, data, j, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            arm = self.at[k] - data.oMi[j].translation
            rows.append(J[:3] - pin.skew(arm) @ J[3:])
        return np.concatenate(rows)

    def _integrate(self, after: Array) -> None:
        """Q and v of tabi from v⁺ of Pinocchio."""
        qp = self.pin.integrate(self.model, self.maps.configuration(self.q), self.sim.dt * after)
        for kind, iq, _, jq, _, _ in self.maps.joints:
            if kind == "floating":
                self.q[iq : iq + 3] = qp[jq : jq + 3]
                self.q[iq + 3 : iq + 7] = qp[[jq + 6, jq + 3, jq + 4, jq + 5]]
            else:
                self.q[iq] = qp[jq]
        self.v = self.maps.rates(self.q).T @ after

    def row(self) -> Row:
        """The state and the contacts of the last step."""
        touching = self.touching
        force = self.impulse / self.sim.dt
        return Row(
            self.q.copy(),
            self.v.copy(),
            self.body[touching],
            np.zeros(len(touching), np.int64),
            self.at[touching].copy(),
            force,
            self.gap.copy(),
        )


def check(scene: Scene) -> None:
    """Refuse what is not one robot on a level ground."""
    c = scene.contents
    unsupported = ("objects", "fixed", "bonds", "force_plates")
    for what, there in (
        ("fixed things" if key == "fixed" else key.replace("_", " "), getattr(c, key))
        for key in unsupported
    ):
        if there:
            raise ModelError(
                f"scene {scene.name!r} has {what}; "
                "Pinocchio is compared on one robot on a level ground, compare it with mujoco"
            )
    if len(c.robots) != 1 or c.ground is None or c.ground.slope_deg:
        raise ModelError(
            f"scene {scene.name!r} is not one robot on a level ground, "
            "on which alone Pinocchio is compared; compare it with mujoco"
        )
    if not c.robots[0].motion.powered:
        raise ModelError(
            f"scene {scene.name!r} lets its robot fall, "
            "and in Pinocchio nothing but its feet would touch; compare it with mujoco"
        )


def carrier(robot: Robot, body: Body) -> tuple[str, Transform]:
    """Pinocchio's name of the joint that moves a body, and where the body is in that
    joint's frame.
    """
    X = Transform()
    while body.joint.kind == "fixed" and body.parent is not None:
        X, body = body.joint.placement @ X, body.parent
    return (robot.name if body is robot.base else body.joint.name), X


def corners(robot: Robot) -> list[tuple[str, str, Array, str]]:
    """Points of the feet that may touch: the joint that moves it, its body,
    where in the joint's frame [m], and its material.
    """
    result = []
    for body in {foot.body: None for foot in robot.feet.values()}:
        joint, X = carrier(robot, body)
        for shape in body.shapes:
            if not shape.collides or isinstance(shape.geometry, HalfSpace):
                continue
            g = shape.geometry
            if isinstance(g, Box):
                signs = np.array(
                    [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float
                )
                vertices = 0.5 * signs * np.asarray(g.size)
            elif isinstance(g, Convex):
                vertices = g.vertices
            else:
                raise ModelError(
                    f"body {body.name!r} of {robot.name} has a {type(g).__name__} for a foot; "
                    "Pinocchio is compared on feet with corners"
                )
            points = [(X @ shape.placement) @ vertex for vertex in vertices]
            result += [(joint, body.name, place, shape.material.name) for place in points]
    if not result:
        raise ModelError(
            f"{robot.name} has no feet, on which alone it can stand in Pinocchio; give feet, "
            "or compare it with mujoco"
        )
    return result

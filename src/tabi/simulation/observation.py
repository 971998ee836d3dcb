"""What one sees of a simulation: contacts, wrenches, pressure, energy, and how well the forces obey the law."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi._errors import ModelError, unknown
from tabi.contact.bodies import MOMENT, BodyProblem
from tabi.contact.certificate import judge
from tabi.contact.cone import LIMITED
from tabi.dynamics import Energy, free, jacobian
from tabi.model.compiled import Link, Model
from tabi.model.robot import Robot
from tabi.model.signals import Measurement
from tabi.simulation.arrays import Memory, Room, Scene
from tabi.simulation.bond_rows import BONDS
from tabi.simulation.moments import MOMENTS
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist, Wrench

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# slip [m/s] below which a contact counts as sticking, beside the tolerance
STILL = 1e-6


@dataclass(frozen=True, eq=False)
class Contact:
    """A contact point after a step.

    Attributes:
        body_a, body_b: the links that meet; b may be the world.
        point: where [m]. normal: unit, from b to a. gap: distance of the surfaces when the step began [m], negative in overlap.
        force: on a [N]. moment: on a, of torsional and rolling friction [N·m]. slip: velocity of a along b [m/s]. status: "open", "stick" or "slip".
    """

    body_a: Link
    body_b: Link
    point: Array
    normal: Array
    force: Array
    gap: float
    slip: Array
    status: str
    moment: Array

    @property
    def pressing(self) -> bool:
        """Whether it carries a force."""
        return self.status != "open"


@dataclass(frozen=True)
class Certificate:
    """How well the forces of the last step obey Signorini and Coulomb.

    Attributes:
        residual: largest backward error of contacts and bonds [m/s, turning rad/s]. tolerance: what was asked for. converged: if it was reached.
        force_residual: largest change of a point's force that would make it exact [N].
        bond_residual [m/s], bond_force_residual [N]: of what holds bodies together, where they meet.
        bond_turn_residual [rad/s], bond_torque_residual [N·m]: of what keeps them from turning against each other.
        pressure_shift: how far these could move a foot's centre of pressure [mm], by foot.
        joint_residual: largest error of dry friction, ends of travel and top speeds of the joints [rad/s or m/s].
        penetration: deepest overlap when the step began [m].
        cone_violation [N], signorini [W], dissipation_gap [W]: largest, as in ``tabi.contact.Certificate``, per second.
        contacts, groups, iterations: of the last step. attempt: what solved it.
        worst_residual, worst_joint_residual, worst_penetration: of the run. missed: steps of the run that did not reach the tolerance.
    """

    residual: float
    tolerance: float
    converged: bool
    force_residual: float
    bond_residual: float
    bond_force_residual: float
    bond_turn_residual: float
    bond_torque_residual: float
    pressure_shift: dict[str, float]
    joint_residual: float
    penetration: float
    cone_violation: float
    signorini: float
    dissipation_gap: float
    contacts: int
    groups: int
    iterations: int
    attempt: str
    worst_residual: float
    worst_joint_residual: float
    worst_penetration: float
    missed: int


# of a certificate, what is said of bonds
BOND = ("bond_residual", "bond_force_residual", "bond_turn_residual", "bond_torque_residual")


@dataclass(frozen=True)
class Balance:
    """Energy over the last step [J]: what it changed by, who brought it, and what the scheme itself took.

    Attributes:
        change: of kinetic and potential energy. motors: work of the motors. contacts: work of contact forces (negative: friction and impacts).
        joints: work of dampers, dry friction and ends of travel. pushes: work of forces from outside. scheme: the rest, what first order takes away.
    """

    change: float
    motors: float
    contacts: float
    joints: float
    pushes: float
    scheme: float


def pose(model: Model, w: dynamics.Workspace, link: Link) -> Transform:
    """X_WF of a link."""
    row, root = w.body[link.body], model.arrays.body["root"][link.body]
    return Transform(row["rotation"].reshape(3, 3).copy(), row["position"] + w.body["origin"][root]) @ link.placement


def velocity(model: Model, w: dynamics.Workspace, link: Link) -> Twist:
    """Velocity of a link's origin, and angular."""
    row = w.body[link.body]
    arm = row["position"] + row["rotation"].reshape(3, 3) @ link.placement.p
    return Twist(np.array(jacobian.point_velocity(tuple(row["velocity"]), tuple(arm))), row["velocity"][:3].copy())


def contact_count(room: Room, memory: Memory) -> int:
    """How many contacts there were in the last step; their moments, and rows of bonds, stand behind them."""
    count, shape = int(memory.count[0]), room.points["shape_a"]
    return count if count == 0 or shape[count - 1] < MOMENTS else int((shape[:count] < MOMENTS).sum())


def moments(room: Room, memory: Memory, dt: float) -> Array:
    """On the first body of each contact of the last step, of torsional and rolling friction [N·m], shape (n, 3)."""
    count = contact_count(room, memory)
    found = np.zeros((count, 3))
    for e in range(count, int(memory.count[0])):
        if room.points[e]["shape_a"] < BONDS:
            found[room.partner[e]] = memory.touch[e]["impulse"] / dt
    return found


def contacts(model: Model, scene: Scene, room: Room, memory: Memory, dt: float) -> list[Contact]:
    """The contacts of the last step."""
    found, moment = [], moments(room, memory, dt)
    for e in range(len(moment)):
        p, t = room.points[e], memory.touch[e]
        n, u = p["normal"].copy(), t["velocity"].copy()
        slip = u - n * (n @ u)
        force = t["impulse"] / dt
        status = "open" if n @ force <= 0 else "slip" if np.linalg.norm(slip) > STILL else "stick"
        a, b = (model.links[model.shapes[p[side]].link] for side in ("shape_a", "shape_b"))
        found.append(Contact(a, b, p["position"].copy(), n, force, float(p["gap"]), slip, status, moment[e]))
    return found


def wrench(found: list[Contact], link: Link, origin: Array) -> Wrench:
    """All contact forces on the moving body of a link, about a point."""
    force, torque = np.zeros(3), np.zeros(3)
    for c in found:
        for side, sign in ((c.body_a, 1.0), (c.body_b, -1.0)):
            if side.body == link.body and link.body != 0:
                force += sign * c.force
                torque += sign * (np.cross(c.point - origin, c.force) + c.moment)
    return Wrench(force, torque)


def centre_of_pressure(w: Wrench, X: Transform) -> Array | None:
    """Where a wrench about the foot's origin acts in its plane, in its frame."""
    f, t = X.R.T @ w.force, X.R.T @ w.torque
    return np.array([-t[1], t[0]]) / f[2] if f[2] > 0 else None


def zero_moment_point(found: list[Contact], own: set[int]) -> Array | None:
    """Of all contact forces on a set of moving bodies, in the plane of their lowest contact."""
    force, moment = np.zeros(3), np.zeros(3)
    heights = []
    for c in found:
        for side, sign in ((c.body_a, 1.0), (c.body_b, -1.0)):
            if side.body in own and side.body != 0 and c.pressing:
                force += sign * c.force
                moment += sign * (np.cross(c.point, c.force) + c.moment)
                heights.append(c.point[2])
    if not heights or force[2] <= 0:
        return None
    z = min(heights)
    return np.array([-moment[1] + z * force[0], moment[0] + z * force[1]]) / force[2]


def problem(room: Room) -> BodyProblem | None:
    """The contact problem of the last step with columns that count all bodies; a copy."""
    count = int(room.report["points"][0])
    if count == 0 or count > len(room.points):
        return None
    groups = int(room.report["groups"][0])
    p, bodies = room.problem, int(room.first[groups])
    contact, column = p.contact[:count].copy(), p.column[: p.start[bodies]].copy()
    for g in range(groups):
        rows = slice(room.groups.start[g], room.groups.start[g + 1])
        contact["a"][rows] += room.first[g]
        contact["b"][rows] += np.where(contact["b"][rows] >= 0, room.first[g], 0)
        contact["turns"][rows] += np.where(contact["turns"][rows] >= MOMENT, room.groups.start[g], 0)
        column[p.start[room.first[g]] : p.start[room.first[g + 1]]] += room.first[g]
    omega = p.omega[: p.start[bodies]].copy()
    return BodyProblem(contact, p.start[: bodies + 1].copy(), column, omega, p.q[: 3 * count].copy(), p.mu[:count].copy(), p.weight[:count].copy())


def certificate(sim: Simulator) -> Certificate:
    """Of a simulator's last step."""
    from tabi.contact.ladder import NAMES

    room, report, dt = sim._room, sim._room.report[0], sim.dt
    p, worst = problem(room), sim._worst
    joints = float(report["joint_residual"])
    common: dict[str, Any] = {f"worst_{name}": value for name, value in worst.items()} | {"missed": sim.missed_count}
    if p is None:
        none: dict[str, Any] = dict.fromkeys(
            ("residual", "force_residual", "penetration", "cone_violation", "signorini", "dissipation_gap", *BOND), 0.0
        )
        none |= {"pressure_shift": {}, "contacts": 0, "groups": 0, "iterations": 0, "attempt": ""}
        return Certificate(tolerance=sim.tolerance, converged=joints <= sim.tolerance, joint_residual=joints, **none, **common)
    impulse = room.impulse[: 3 * len(p.mu)]
    moment = p.contact["turns"] >= MOMENT
    p.mu[moment] = LIMITED - np.maximum(0.0, impulse[3 * (p.contact["turns"][moment] - MOMENT) + 2])
    found = judge(p, impulse)
    # backward errors and changes of impulse of contacts with their moments, of bonds that hold, of bonds that keep from turning
    held, turning = (p.mu < 0) & ~moment, p.contact["turns"] == 1
    of_bonds = [found.contacts[held & rows].max(axis=0, initial=0.0) * (1.0, 1.0 / dt, 0, 0, 0, 0) for rows in (~turning, turning)]
    return Certificate(
        residual=found.residual,
        tolerance=sim.tolerance,
        converged=bool(found.residual <= sim.tolerance) and joints <= sim.tolerance,
        force_residual=float(found.contacts[~held, 1].max(initial=0.0)) / dt,
        **dict(zip(BOND, (float(x) for row in of_bonds for x in row[:2]), strict=True)),
        pressure_shift=_pressure_shift(sim, p, impulse, found.contacts[:, 1]),
        joint_residual=joints,
        penetration=max(0.0, -float(report["gap"])),
        cone_violation=found.cone_violation / dt,
        signorini=found.signorini / dt,
        dissipation_gap=found.dissipation_gap / dt,
        contacts=int(report["contacts"]),
        groups=int(report["groups"]),
        iterations=int(report["iterations"]),
        attempt=NAMES[int(report["attempt"])],
        **common,
    )


def _pressure_shift(sim: Simulator, p: BodyProblem, impulse: Array, change: Array) -> dict[str, float]:
    """How far the residual impulses of a foot's points could move its centre of pressure [mm]."""
    shift = {}
    a, b = (sim._room.body[p.contact[side]] for side in ("a", "b"))
    for name, foot in sim.model.feet.items():
        own = ((a == foot.body) | ((b == foot.body) & (p.contact["b"] >= 0))) & (p.mu >= 0)
        load = impulse[2::3][own].sum()
        if load > 0:
            arm = np.linalg.norm(foot.polygon, axis=1).max()
            shift[name] = float(1e3 * change[own].sum() * arm / load)
    return shift


def energy(model: Model, q: Array, v: Array) -> Energy:
    """Kinetic and potential."""
    return dynamics.energy(model, q, v)


def balance(sim: Simulator) -> Balance:
    """Of a simulator's last step."""
    model, dt = sim.model, sim.dt
    (q0, v0), (q, v) = sim._before, (sim._q, sim._v)
    middle, dof = 0.5 * (v0 + v), model.arrays.dof
    change = energy(model, q, v).total - energy(model, q0, v0).total
    done, held = dt * float(sim._target["given"] @ middle), dt * float(sim._target["law"] @ middle)
    # impulses act on the mean of the velocities before and after
    w = dynamics.allocate(model)
    free.prepare(model.arrays, q0, v0, w)
    touched = 0.0
    for row, p in zip(sim._memory.touch[: contact_count(sim._room, sim._memory)], sim._room.points, strict=False):
        before = _point_velocity(model, w, p["a"], p["position"]) - _point_velocity(model, w, p["b"], p["position"])
        touched += 0.5 * float(row["impulse"] @ (before + row["velocity"]))
    touched += _turning_work(sim, w)
    damped = -dt * float((dof["damping"] * middle) @ middle)
    # and so do pushes, on the bodies as they were when the step began
    free.prepare(model.arrays, q0, middle, w)
    pushed = dt * float((sim._room.force[1:] * w.body["velocity"][1:]).sum()) if sim._room.force[0, 0] else 0.0
    joints = held + damped
    return Balance(change, done, touched, joints, pushed, change - done - touched - joints - pushed)


def _turning_work(sim: Simulator, w: dynamics.Workspace) -> float:
    """Work of the contacts' moments, with w as the step began [J]."""
    after, work = sim._room.dynamics, 0.0
    for row, p in zip(sim._memory.touch[: sim._memory.count[0]], sim._room.points, strict=False):
        if MOMENTS <= p["shape_a"] < BONDS:
            turn = sum(x.body["velocity"][p["a"]][:3] - x.body["velocity"][p["b"]][:3] for x in (w, after))
            work += 0.5 * float(row["impulse"] @ turn)
    return work


def _point_velocity(model: Model, w: dynamics.Workspace, body: int, point: Array) -> Array:
    """Velocity of a point of a moving body, by its place in the world."""
    V = w.body["velocity"][body]
    return V[3:] + np.cross(V[:3], point - w.body["origin"][model.arrays.body["root"][body]])


class Forces(Mapping[str, Array]):
    """Wrenches on a robot's feet, computed when one is asked for."""

    def __init__(self, sim: Simulator, robot: Robot) -> None:
        self._sim, self._robot, self._steps = sim, robot, sim._steps

    def __getitem__(self, name: str) -> Array:
        if name not in self._robot.feet:
            raise unknown("foot", name, self._robot.name, self._robot.feet)
        if self._steps != self._sim._steps:
            raise ModelError(f"the force on {name!r} was asked for after its step; a controller reads it when it is called")
        w = self._sim.foot_wrench(self._robot.feet[name])
        return np.concatenate([w.force, w.torque])

    def __iter__(self) -> Iterator[str]:
        return iter(self._robot.feet)

    def __len__(self) -> int:
        return len(self._robot.feet)


def measure(sim: Simulator, robot: Robot, rows: NDArray[np.int64]) -> Measurement:
    """What a robot's controller sees; ``rows`` are the degrees of freedom of its joints."""
    place = sim.model.arrays.dof["q"][rows]
    q = np.where(place >= 0, sim._q[place], 0.0)
    base, effort = sim._link(robot.base), sim._target["given"][rows].copy()
    w = sim._room.dynamics
    return Measurement(q, sim._v[rows].copy(), effort, pose(sim.model, w, base), velocity(sim.model, w, base), Forces(sim, robot))

"""OpenHRP's springs and dampers under the feet, and the exact law for all else.

See ``contact.penalty`` for the law. Points in which a declared foot meets another body are the
corners of a polygon, as for constraint selection. Contacts of other bodies, and bonds, are solved
by the exact law in alternation with the feet, until both agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, real
from tabi.contact import ladder
from tabi.contact.bodies import BodyWork, velocities_with
from tabi.contact.bodies import prepare as prepare_bodies
from tabi.contact.rows import IDLE
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.model.arrays import table
from tabi.model.compiled import Model
from tabi.spatial.polygon import polygon_area
from tabi.spatial.vector import dot, load3, load9, mul
from tabi.step.laws.polygons import corner_forces, held_polygons, penalty, polygons
from tabi.step.laws.polygons.held_polygons import HeldRows
from tabi.step.laws.polygons.penalty import SPRING, PenaltyWork
from tabi.step.laws.polygons.polygons import Polygons
from tabi.step.laws.selection import clear_inner, has_contact, has_other_rows_than, polygon_work
from tabi.step.rows import flat_soles

NAME = "penalty"
# height of corners above the ground that determine the tilt of a sole [m]
FOOT_BAND = 0.03
# iterations of feet and other contacts, and their final error, in tolerances
MAX_ITERATIONS, AGREEMENT_TOLERANCE = 200, 0.1
POSITIVE = ("stiffness", "damping", "yaw_damping")


@dataclass(frozen=True)
class Penalty:
    """Springs and dampers of every foot, for ``Simulator(contact=…)``.

    Attributes:
        stiffness: along the normal, K_z [N/m].
        roll_stiffness, pitch_stiffness: about the foot's x and y axes [N·m/rad]; default: those of
            a sole whose springs are spread evenly over it.
        alpha: slope of the coefficient of restitution over the speed of an impact [s/m]; the
            damper along the normal is 3/2 α K times the depth.
        damping: along the plane [N·s/m]; a loaded foot creeps with force / damping.
        yaw_damping: about the normal [N·m·s/rad].

    Examples:
        >>> sim = tabi.Simulator(world, contact=tabi.Penalty(stiffness=2e5))
    """

    stiffness: float = 1e6
    roll_stiffness: float | None = None
    pitch_stiffness: float | None = None
    alpha: float = 0.5
    damping: float = 2e4
    yaw_damping: float = 200.0

    def __post_init__(self) -> None:
        for name in (*POSITIVE, "roll_stiffness", "pitch_stiffness"):
            value = getattr(self, name)
            if value is None and name.endswith("_stiffness"):
                continue
            if not 0 < real(f"{name} of the penalty law", value) < np.inf:
                raise ModelError(f"{name} of the penalty law is {value}; expected a number > 0")
        if not 0 <= real("alpha of the penalty law", self.alpha) < np.inf:
            raise ModelError(f"alpha of the penalty law is {self.alpha}; expected a number ≥ 0")

    def springs(self, model: Model) -> NDArray[np.void]:
        """Return the table of SPRING, one row per foot."""
        rows = table(len(model.feet), SPRING)
        for row, foot in zip(rows, model.feet.values(), strict=True):
            low, high = foot.polygon.min(axis=0), foot.polygon.max(axis=0)
            xx, yy = _second_moments(foot.polygon)
            row["body"], row["root"] = foot.body, model.arrays.body["root"][foot.body]
            row["axis"] = foot.placement.R[:, 0]
            specified = (self.roll_stiffness, self.pitch_stiffness)
            about = [
                even if stiffness is None else stiffness
                for stiffness, even in zip(
                    specified, (self.stiffness * yy, self.stiffness * xx), strict=True
                )
            ]
            row["stiffness"] = (self.stiffness, *about)
            row["alpha"], row["damping"] = self.alpha, self.damping
            row["yaw_damping"] = self.yaw_damping
            row["half_diagonal"] = 0.5 * np.linalg.norm(high - low)
        return rows


def _second_moments(polygon: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean of x² and of y² over a polygon, from its centroid [m²]."""
    area, (x, y) = polygon_area(polygon), polygon.T
    u, v = np.roll(x, -1), np.roll(y, -1)
    piece = x * v - y * u
    cx, cy = piece @ (x + u) / (6 * area), piece @ (y + v) / (6 * area)
    xx = piece @ (x * x + x * u + u * u) / (12 * area)
    yy = piece @ (y * y + y * v + v * v) / (12 * area)
    return float(xx - cx * cx), float(yy - cy * cy)


class SpringWork(Structure):
    """Scratch: of the exact law, of polygons and their springs; over the rows of a group the foot
    they are of, counted from 1, their gaps [m] and what was added to their normal velocities for
    that [m/s]; of each polygon its foot and the foot's x axis;
    the table of springs; the step [s], shape (1,).
    """

    bodies: BodyWork
    polygons: Polygons
    springs: PenaltyWork
    held_rows: HeldRows
    foot: NDArray[np.int64]
    gap: NDArray[np.float64]
    added_velocity: NDArray[np.float64]
    forward: NDArray[np.float64]
    which: NDArray[np.int64]
    axis: NDArray[np.float64]
    table: NDArray[np.void]
    step: NDArray[np.float64]
    budget: NDArray[np.int64]


@kernel(inline=True)
def look(part_memory, t, d, s, g, h):
    """Store which rows of the group are of soles, and the springs of the feet."""
    first, work, w = s.groups.start[g], s.law, s.dynamics
    work.step[0] = h
    for k in range(part_memory.shape[0]):
        x = mul(load9(w.body[part_memory[k].body].rotation), load3(part_memory[k].axis))
        row = work.table[k]
        row.alpha, row.damping, row.yaw_damping = (
            part_memory[k].alpha,
            part_memory[k].damping,
            part_memory[k].yaw_damping,
        )
        row.half_diagonal = part_memory[k].half_diagonal
        for c in range(3):
            work.forward[k, c], row.stiffness[c] = x[c], part_memory[k].stiffness[c]
    for x in range(first, s.groups.start[g + 1]):
        e = s.groups.order[x]
        point = s.points[e]
        other = point.b == 0 or t.model.body[point.a].root != t.model.body[point.b].root
        work.foot[x - first], work.gap[x - first] = 0, point.gap
        work.added_velocity[x - first] = s.shift[3 * x + 2]
        if other and s.kind[e] == 0 and s.soft[e] != 0:
            for k in range(part_memory.shape[0]):
                if part_memory[k].body in (point.a, point.b):
                    work.foot[x - first] = k + 1


@kernel(inline=True)
def prepare(p, work):
    """Compute weights of the rows; returns the number of blocks that elimination would fill."""
    return prepare_bodies(p, work.bodies)


@kernel
def orient_polygons(p, work):
    """Store the foot of each polygon, and the foot's x axis in it."""
    P = work.polygons
    for f in range(P.count[0]):
        work.which[f] = work.foot[P.first[f]] - 1
        E, x = load9(p.contact[P.first[f]].frame), load3(work.forward[work.which[f]])
        a, b = dot((E[0], E[1], E[2]), x), dot((E[3], E[4], E[5]), x)
        size = (a * a + b * b) ** 0.5
        work.axis[f, 0], work.axis[f, 1] = (a / size, b / size) if size > 0.0 else (1.0, 0.0)


@kernel
def solve_soles(p, impulse, work):
    """Solve impulses of all soles, with those of the other rows fixed; False if not converged."""
    P, k = work.polygons, work.springs
    polygons.gather(p, work.foot, work.gap, P)
    orient_polygons(p, work)
    polygons.add_other_impulses(p, impulse, P)
    h = work.step[0]
    converged = penalty.solve(P, work.table, work.which, work.axis, work.added_velocity, k, h)
    for f in range(P.count[0]):
        n = P.start[f + 1] - P.start[f]
        corner_forces.spread(P, f, k.w, 0, n if k.sides[f] > 0 else 0, impulse)
    return converged


@kernel
def set_other_problem(p, impulse, work):
    """Set up the problem of the other rows, with the impulses of soles, in work.held_rows."""
    P, h = work.polygons, work.held_rows
    for k in range(p.kind.shape[0]):
        held_polygons.copy_row(p, k, impulse, h)
        for c in range(3):
            work.bodies.trial[3 * k + c] = impulse[3 * k + c] if P.owner[k] >= 0 else 0.0
    velocities_with(p, work.bodies.trial, work.bodies.trial_u, work.bodies)
    for k in range(p.kind.shape[0]):
        for c in range(3):
            h.q[3 * k + c] = work.bodies.trial_u[3 * k + c]
        if P.owner[k] >= 0:
            h.kind[k] = IDLE
            for c in range(3):
                h.impulse[3 * k + c] = 0.0


@kernel
def take_other_impulses(p, impulse, work):
    """Take impulses of the other rows; returns the largest change of their velocities [m/s]."""
    change = 0.0
    for k in range(p.kind.shape[0]):
        if work.polygons.owner[k] < 0:
            for c in range(3):
                i = 3 * k + c
                change = max(change, abs(work.held_rows.impulse[i] - impulse[i]) / p.weight[k])
                impulse[i] = work.held_rows.impulse[i]
    return change


@kernel(inline=True)
def solve(p, t, tolerance, impulse, work):
    """Solve the impulses of a group; returns iterations, attempt, and whether it failed."""
    P = work.polygons
    P.count[0] = 0
    if has_contact(p):
        polygons.gather(p, work.foot, work.gap, P)
    if P.count[0] == 0:
        done, attempt, error = ladder.solve_bodies(p, tolerance, impulse, work.bodies, t.attempts)
        return done, attempt, not error <= tolerance
    converged, has_other_rows, done, attempt, failed = False, has_other_rows_than(p, P), 0, 0, False
    for _ in range(MAX_ITERATIONS):
        converged = solve_soles(p, impulse, work)
        done += 1
        if not has_other_rows:
            break
        set_other_problem(p, impulse, work)
        rest = held_polygons.problem(p, work.held_rows)
        prepare_bodies(rest, work.bodies)
        steps, attempt, error = ladder.solve_bodies(
            rest, tolerance, work.held_rows.impulse[: 3 * p.kind.shape[0]], work.bodies, t.attempts
        )
        done, failed = done + steps, not error <= tolerance
        if take_other_impulses(p, impulse, work) <= AGREEMENT_TOLERANCE * tolerance:
            break
        failed = True
    clear_inner(p, P, impulse, work.foot)
    return done, attempt, failed or not converged


def law(options: Penalty, feet: int) -> SimpleNamespace:
    """Return the law with its options, for a number of feet."""

    def allocate(points: int, count: int, blocks: int) -> SpringWork:
        work = polygon_work(points, count, blocks)
        P = work["polygons"]
        return SpringWork(
            **work,
            springs=penalty.allocate(P, points),
            added_velocity=np.zeros(points),
            forward=np.zeros((feet, 3)),
            which=np.zeros(len(P.first), np.int64),
            axis=np.zeros((len(P.first), 2)),
            table=table(feet, SPRING),
            step=np.zeros(1),
        )

    return SimpleNamespace(
        NAME=NAME,
        CERTIFIED=False,
        MISSED="its forces did not settle; take a shorter dt, or softer springs",
        BONDS=True,
        ROWS=(flat_soles.soft,),
        FOOT_BAND=FOOT_BAND,
        memory=options.springs,
        allocate=allocate,
        look=look,
        prepare=prepare,
        solve=solve,
    )


def options_of(contact: Any) -> Penalty | None:
    """Return the options of this law from an argument, None for other laws."""
    if isinstance(contact, Penalty):
        return contact
    return Penalty() if contact == NAME else None

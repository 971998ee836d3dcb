"""The exact law in a world with soft soles or pads, whose points deform together.

Signorini and Coulomb as everywhere (``coulomb``); velocities of contacts include those of their
pads (``contact.compliance``, ``rows.soft_contacts``). After a step, nodes are displaced by its
forces.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.collision import workspace
from tabi.collision.surfaces import points as surfaces
from tabi.collision.surfaces.points import NODES, Surfaces
from tabi.contact import ladder
from tabi.contact.soft import compliance, pads
from tabi.contact.soft.pads import CompliantWork, Pads
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.model.arrays import table
from tabi.model.compiled import Model
from tabi.spatial.vector import add, load3, load9, mul_t, scale, store3
from tabi.step.parts import no_action, no_judge
from tabi.step.rows import soft_contacts
from tabi.step.rows.contacts import PAD

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
NAME = "coulomb"


class SoftWork(Structure):
    """Scratch of the law for soft contacts.

    Attributes:
        solver: of the contacts. surfaces: of the pads, in the order of ``solver.pads``.
        viscosity: of each pad [s]. relax: (K + D/h)⁻¹ K/h of pads whose layers differ in viscosity,
            row by row; relax_at: where each begins, −1 for others.
        place: nodes in the world [m], shape (n, 3). back: velocities at which they would return
            to rest, in the frames of their bodies [m/s], shape (n, 3); back_flat: the same, (3n,).
        where: the nodes that a point lies between, in the row that its source names.
        spare, spare_closing: for the order of points. last: of each pad the last body on it.
        budget: of the solver.
    """

    solver: CompliantWork
    surfaces: Surfaces
    viscosity: Floats
    relax: Floats
    relax_at: Integers
    place: Floats
    back: Floats
    back_flat: Floats
    where: NDArray[np.void]
    spare: NDArray[np.void]
    spare_closing: Floats
    last: Integers
    budget: Integers


def has_pads(model: Model) -> bool:
    """Whether some shape of a model is soft."""
    return bool(model.pads)


def law(model: Model, dt: float) -> SimpleNamespace:
    """Return the law for a world with pads, and for its step [s]."""
    pad_arrays, tables, viscosity, relax, relax_at = _tables(model, dt)

    def allocate(points: int, count: int, blocks: int) -> SoftWork:
        solver = pads.allocate(pad_arrays, points, count, blocks)
        back = np.zeros((len(tables.rest), 3))
        return SoftWork(
            solver=solver,
            surfaces=tables,
            viscosity=viscosity,
            relax=relax,
            relax_at=relax_at,
            place=np.zeros((len(tables.rest), 3)),
            back=back,
            back_flat=back.reshape(-1),
            where=table(points, NODES),
            spare=workspace.point_table(points),
            spare_closing=np.zeros(points),
            last=np.zeros(len(viscosity), np.int64),
            budget=solver.budget,
        )

    return SimpleNamespace(
        NAME=NAME,
        CERTIFIED=True,
        CONTACTS=soft_contacts,
        FORCES=(deformation,),
        allocate=allocate,
        look=look,
        tie=tie,
        velocities=velocities,
        prepare=prepare,
        solve=solve,
    )


def _tables(model: Model, dt: float) -> tuple[Pads, Surfaces, Floats, Floats, Integers]:
    """Return constants of all pads: compliances and nodes in the frames of their bodies."""
    parts: list[Any] = []
    compliances, viscosity, relax, relax_at = [], [], [np.zeros(0)], []
    for placed_pad in model.pads:
        pad, turn = (
            placed_pad.pad,
            np.kron(np.eye(len(placed_pad.pad.nodes)), placed_pad.placement.R),
        )
        C = turn @ pad.compliance @ turn.T
        relax_at.append(-1)
        if pad.damping is not None:
            K, D = np.linalg.inv(C), turn @ pad.damping @ turn.T
            C = np.linalg.inv(K + D / dt)
            relax_at[-1] = sum(map(len, relax))
            relax.append((C @ K / dt).ravel())
        parts.append(
            (placed_pad.shape, placed_pad.body, placed_pad.placement @ pad.nodes, pad.triangles)
        )
        compliances.append(0.5 * (C + C.T))
        viscosity.append(pad.viscosity)
    made = surfaces.surfaces(parts, len(model.shapes))
    at = np.array(relax_at, np.int64)
    return pads.pads(compliances), made, np.array(viscosity), np.concatenate(relax), at


def check(model: Model, name: str) -> None:
    """Reject pads under a law that does not support them."""
    if has_pads(model):
        raise ModelError(
            f"contact={name!r} does not know soft soles or pads, and this world has some; "
            "take 'coulomb', or leave them out"
        )


@kernel(inline=True)
def look(part_memory, t, d, s, g, h):
    """Store pads, nodes and weights of the points of a group."""
    store_pads(s, s.groups.start[g], s.groups.start[g + 1])


@kernel
def store_pads(s, first, end):
    """Store pads, nodes and weights of the rows of a group."""
    soft = s.law
    for x in range(first, end):
        e, row = s.groups.order[x], soft.solver.row[x - first]
        row.pad_a, row.pad_b = -1, -1
        if s.kind[e] == 0 and s.soft[e] == PAD:
            _store_nodes(s, e, row)


@kernel
def _store_nodes(s, e, row):
    """Store pads, nodes and weights of the point e in a row of the solver."""
    soft, where, point = s.law, s.law.where[s.source[e]], s.points[e]
    row.pad_a = soft.surfaces.of_shape[point.shape_a]
    row.pad_b = soft.surfaces.of_shape[point.shape_b]
    for c in range(3):
        row.node_a[c], row.node_b[c] = where.node_a[c], where.node_b[c]
        row.weight_a[c], row.weight_b[c] = where.weight_a[c], where.weight_b[c]


@kernel
def tie(s, count):
    """Tie bodies on one pad of the world into one group: each point with the one before."""
    soft = s.law
    for i in range(soft.last.shape[0]):
        soft.last[i] = 0
    for e in range(count):
        s.groups.tied[e] = 0
        point = s.points[e]
        if s.kind[e] == 0 and s.soft[e] == PAD and (point.a <= 0 or point.b <= 0):
            body, shape = point.a, point.shape_b
            if point.a <= 0:
                body, shape = point.b, point.shape_a
            i = soft.surfaces.of_shape[shape]
            if i >= 0:
                s.groups.tied[e], soft.last[i] = soft.last[i], body


@kernel(inline=True)
def velocities(p, l, u, s):
    """Compute velocities u of impulses l, including those of pads."""
    compliance.velocities(p, l, u, s.check_wrench, s.check_twist, s.law.solver)


@kernel(inline=True)
def prepare(p, work):
    """Compute weights of the rows; returns the number of blocks that elimination fills."""
    return compliance.prepare(p, work.solver)


@kernel(inline=True)
def solve(p, t, tolerance, impulse, work):
    """Solve the impulses of a group; returns iterations, attempt, and whether it failed."""
    done, attempt, _ = ladder.solve_compliant(p, tolerance, impulse, work.solver, t.attempts)
    return done, attempt, False


# ---- when a step ends ---------------------------------------------------------------------------


@kernel(inline=True)
def finish(part_memory, t, d, s, h):
    """Displace nodes by the forces of the step."""
    deform(d, s, h)


@kernel
def deform(d, s, h):
    """Compute U⁺ = U + h U̇, (1) of ``rows.soft_contacts``."""
    soft, U = s.law, d.memory.sole
    force, motion = soft.solver.force, soft.solver.motion
    for i in range(force.shape[0]):
        force[i] = 0.0
    for e in range(d.outcome.report[0].contacts):
        if s.soft[e] == PAD:
            x, i = s.place[e], 3 * s.place[e]
            _store_nodes(s, e, soft.solver.row[0])
            l = (s.impulse[i], s.impulse[i + 1], s.impulse[i + 2])
            f = mul_t(load9(s.problem.contact[x].frame), l)
            compliance.load(soft.solver, 0, f, force)
    for i in range(soft.surfaces.row.shape[0]):
        compliance.give_way(soft.solver, i, force, motion)
    for n in range(U.shape[0]):
        before = load3(U[n])
        store3(d.outcome.sole_before[n], before)
        v = (motion[3 * n], motion[3 * n + 1], motion[3 * n + 2])
        store3(U[n], add(before, scale(h, add(v, load3(soft.back[n])))))


deformation = SimpleNamespace(NAME="deformation", load=no_action, judge=no_judge, finish=finish)

"""Scratch of a step, by stage; nothing in it is read before it is written in the same step.

The exception is the kinematics of the state, which ``prepare`` computes from q and v, and which
each step updates for the next one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.collision import broad
from tabi.collision import workspace as collision_workspace
from tabi.collision.workspace import CollisionWorkspace
from tabi.contact import budget, groups
from tabi.contact.bodies import ROW, BodyProblem, no_parents
from tabi.contact.bonds.bond_work import BondWork
from tabi.contact.groups import Groups
from tabi.dynamics import free
from tabi.dynamics import workspace as dynamics_workspace
from tabi.dynamics.inverse_inertia import chain_tables
from tabi.dynamics.inverse_inertia.chain_tables import Chains
from tabi.dynamics.workspace import Workspace
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.model.arrays import INDEX, table
from tabi.model.compiled import Model
from tabi.step import best_guess
from tabi.step.second import work
from tabi.step.second.work import SecondWork
from tabi.step.sensors.tables import MOTION
from tabi.step.tables import JOINT, Tables

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class StepWorkspace(Structure):
    """Arrays that a step writes.

    Attributes:
        dynamics, chains, collision: of those packages; dynamics by ``prepare``, then by each step.

        Points, by ``rows``:
        turning: how fast a body turns at most [rad/s].
        wrong: joints that were guessed wrong. joined: whether some are solved with the contacts, 2
            with all their ends; and whether they got a separate budget. first_joint: their first
            point. guesses: of ``best_guess``. tangled: trees whose contacts are unsolved, by their
            family.
        points: points of every kind. kind: the kind of each. source: row of its kind's own table.
        soft: points that the law of contact lets overlap.
        closing: restitution times the normal velocity before the step [m/s], 0 without an impact.

        Free motion, by ``forces`` and ``advance_velocities``:
        applied: joint forces of all forces but those that hold a joint, at the velocity before the
            step. added: to the diagonal of M: armature, and h times how these forces fall with the
            velocity after the step.
        held_velocity: of joints whose velocity is given. carried: external wrenches, summed up.
        acceleration: of the joints without contacts. v_free: velocity without contacts.

        The contact problem, by ``assembly``:
        groups: points whose bodies touch. body: contacting bodies by groups, and
            those that carry them where a tree has many (``tree_inertia``); first:
            where those of a group start; number: of each body its place there, −1 for others.
        problem: rows of all groups, one after the other. place: of each point its row.
        approach: as closing, 0 where nothing closes within the step, lowered where it brings
            energy.
        shift: what was added to the velocity of each row, shape (3n,) [m/s].

        Its solution, by ``solving``:
        impulse, u: of each row, shape (3n,). unsolved: 1 for groups that are.
        check_wrench, check_twist: over bodies, of the check.
        parting, parting_impulse, parting_u: problem of deep overlaps, by ``depenetration``.
        bonds: of ``bond_elimination``. law_q: velocities without impulse of other rows than bonds,
            in groups with bonds.
        law: scratch of the law of contact. budget: the law's own, where it has one.
        joint: modes of the joints when the step began.
        wrench: impulses on each contacting body. delta_v: what they add to the velocities.
        reaction: impulse of the contacts that each held joint bears.

        Velocities of the end, by ``advance_velocities``:
        v_next: of the bodies. v_configuration: velocity of configurations; other than v_next where
            deep overlaps are resolved. v_closing: velocity that closes bonds, besides. share: of
            each group the part of the way out of its overlaps that its joints let it go.

        By ``feet``:
        foot_x, foot_y: where points of a foot touch, in its frame [m].

        By ``sensors``:
        motion: table of MOTION, of sensed bodies.

        second: of the second stage of a step.
    """

    dynamics: Workspace
    chains: Chains
    collision: CollisionWorkspace
    turning: Floats
    wrong: Integers
    joined: Integers
    guesses: best_guess.Guesses
    first_joint: Integers
    tangled: Integers
    points: NDArray[np.void]
    kind: Integers
    source: Integers
    soft: Integers
    closing: Floats
    applied: Floats
    added: Floats
    held_velocity: Floats
    carried: Floats
    acceleration: Floats
    v_free: Floats
    groups: Groups
    body: Integers
    first: Integers
    number: Integers
    problem: BodyProblem
    place: Integers
    approach: Floats
    shift: Floats
    impulse: Floats
    u: Floats
    unsolved: Integers
    check_wrench: Floats
    check_twist: Floats
    parting: BodyProblem
    parting_impulse: Floats
    parting_u: Floats
    bonds: BondWork
    law_q: Floats
    law: Any
    budget: Integers
    joint: NDArray[np.void]
    wrench: Floats
    delta_v: Floats
    reaction: Floats
    v_next: Floats
    v_configuration: Floats
    v_closing: Floats
    share: Floats
    foot_x: Floats
    foot_y: Floats
    motion: NDArray[np.void]
    second: SecondWork


def allocate(
    model: Model, tables: Tables, points: int, blocks: int, bonds: BondWork, law: Any
) -> StepWorkspace:
    """Allocate a workspace for a number of points, and of 6×6 blocks of inverse inertia.

    Args:
        bonds, law: scratch of the elimination of bonds and of the law of contact, for as many.
    """
    bodies, joints = model.body_count + 1, model.v_count
    sizes = (3 * points, ROW_ARRAYS), (6 * bodies, BODY_ARRAYS), (points, POINT_ARRAYS)
    arrays = (*sizes, (joints, JOINT_ARRAYS))
    vectors: dict[str, Any] = {name: np.zeros(size) for size, names in arrays for name in names}
    numbers: dict[str, Any] = {name: np.zeros(points, INDEX) for name in NUMBER_ARRAYS}
    problem = BodyProblem(
        contact=table(points, ROW),
        start=np.zeros(bodies + 1, INDEX),
        column=np.zeros(blocks, INDEX),
        omega=np.zeros((blocks, 6, 6)),
        **_own_columns(points),
        parent=no_parents(bodies),
    )
    return StepWorkspace(
        **vectors,
        dynamics=dynamics_workspace.allocate(model),
        chains=chain_tables.allocate(model, tables.chain),
        collision=collision_workspace.allocate(tables.shapes, points),
        turning=np.zeros(1),
        wrong=np.zeros(joints, INDEX),
        joined=np.zeros(2, INDEX),
        guesses=best_guess.allocate(joints),
        first_joint=np.zeros(1, INDEX),
        tangled=np.zeros(bodies, INDEX),
        points=collision_workspace.point_table(points),
        **numbers,
        carried=np.zeros((bodies, 6)),
        groups=groups.allocate(points, bodies),
        body=np.zeros(bodies, INDEX),
        first=np.zeros(bodies + 1, INDEX),
        number=np.zeros(bodies, INDEX),
        problem=problem,
        parting=problem._replace(**_own_columns(points)),
        unsolved=np.zeros(bodies, INDEX),
        bonds=bonds,
        law=law,
        budget=getattr(law, "budget", budget.unlimited()),
        joint=table(joints, JOINT),
        share=np.zeros(bodies),
        motion=table(len(tables.sensors.body), MOTION),
        second=work.allocate(model, 0),
    )


def _own_columns(points: int) -> dict[str, Any]:
    """Return columns that two problems of the same bodies and points do not share."""
    over_points: dict[str, Any] = {name: np.zeros(points) for name in ("mu", "bound", "weight")}
    return {"q": np.zeros(3 * points), "kind": np.zeros(points, INDEX), **over_points}


BODY_ARRAYS = ("check_wrench", "check_twist", "wrench")
NUMBER_ARRAYS = ("kind", "source", "soft", "place")
POINT_ARRAYS = ("closing", "approach", "foot_x", "foot_y")
ROW_ARRAYS = ("shift", "impulse", "u", "parting_impulse", "parting_u", "law_q")
JOINT_ARRAYS = (
    "applied",
    "added",
    "held_velocity",
    "acceleration",
    "v_free",
    "delta_v",
    "reaction",
    "v_next",
    "v_configuration",
    "v_closing",
)


@kernel
def prepare(m, shapes, q, v, w, cw):
    """Prepare a workspace for a step from the state q, v.

    Args:
        m, shapes: of ``Tables``. w, cw: dynamics and collision of a ``StepWorkspace``.
    """
    broad.begin(shapes, cw)
    free.prepare(m, q, v, w)

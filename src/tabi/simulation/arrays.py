"""What the step reads and writes: the scene, the motors' targets, the memory between steps, and the space to work in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi.collision import arrays as collision_arrays
from tabi.collision import workspace as collision_workspace
from tabi.collision.arrays import Collision
from tabi.collision.workspace import CollisionWorkspace
from tabi.contact import bodies, groups, pyramid
from tabi.contact.bodies import CONTACT, BodyProblem, BodyWork
from tabi.contact.groups import Groups
from tabi.dynamics import body_inertia, gyroscopic, workspace
from tabi.dynamics.body_inertia import Chains
from tabi.dynamics.workspace import Workspace
from tabi.model.arrays import INDEX, REAL, ModelArrays, table
from tabi.model.compiled import Model

Floats = NDArray[np.float64]

TARGET = np.dtype(
    [
        # what the motor of a degree of freedom is told: position and velocity to reach, force in addition, gains of its loop
        ("position", REAL),
        ("velocity", REAL),
        ("effort", REAL),
        ("kp", REAL),
        ("kd", REAL),
        # by the step: the force it gave
        ("given", REAL),
        # by the step: 1 or −1 where its limit holds it, 0 elsewhere
        ("saturated", INDEX),
        # by the step: what its joint does, in which direction it slides or how fast it is held (see ``joint_laws``); the force of its laws
        ("doing", INDEX),
        ("slides", INDEX),
        ("pace", REAL),
        ("law", REAL),
    ],
    align=True,
)
TOUCH = np.dtype(
    [
        # identity of a contact point
        ("shape_a", INDEX),
        ("shape_b", INDEX),
        ("feature", INDEX),
        # its impulse on body a, in the world's axes [N·s]
        ("impulse", REAL, 3),
        # velocity of a against b after the step, in the world's axes [m/s]
        ("velocity", REAL, 3),
        # group it was solved in; 1 where it carries and does not slide
        ("group", INDEX),
        ("sticks", INDEX),
    ],
    align=True,
)
REPORT = np.dtype(
    [
        # 0, or what is wrong: see step
        ("status", INDEX),
        # memory the step wants
        ("points", INDEX),
        ("blocks", INDEX),
        # contacts and groups; Newton's steps and sweeps, the last of the attempts that were needed, groups that were not solved
        ("contacts", INDEX),
        ("groups", INDEX),
        ("iterations", INDEX),
        ("attempt", INDEX),
        # points that bounced, and groups whose restitution was lowered, because friction would have made it bring energy
        ("bounced", INDEX),
        ("lowered", INDEX),
        ("missed", INDEX),
        # largest backward error [m/s], least gap [m]
        ("residual", REAL),
        ("gap", REAL),
        # largest error of the joints' laws [rad/s or m/s]
        ("joint_residual", REAL),
        # by march: the worst of these over its steps
        ("worst_residual", REAL),
        ("worst_joint_residual", REAL),
        ("worst_gap", REAL),
    ],
    align=True,
)


BOND = np.dtype(
    [
        # what holds two bodies together (see ``bond_rows``); a moves
        ("kind", INDEX),
        ("a", INDEX),
        ("b", INDEX),
        # places that belong together and frames that do, in the frames of the moving bodies; the third axis is a hinge's
        ("place_a", REAL, 3),
        ("place_b", REAL, 3),
        ("frame_a", REAL, 9),
        ("frame_b", REAL, 9),
        # who it is, for the one who holds it
        ("name", INDEX),
    ],
    align=True,
)
# of march, where the targets stay as they are
NO_PROGRAM = np.zeros((0, 0, 3))


class Scene(NamedTuple):
    """The world as the step sees it; parameters in it may change between steps.

    Attributes:
        model: bodies and joints. shapes: what collides. pair: table of PAIR for each two materials; surfaces: as in ``Model``.
        belt: how fast the surface of each shape runs over its body, in the body's axes [m/s], shape (·, 3).
        reach: how far the shapes of each body go from its origin [m].
        loose: how many bodies float by themselves, shape (1,).
    """

    model: ModelArrays
    shapes: Collision
    pair: NDArray[np.void]
    surfaces: NDArray[np.int64]
    belt: Floats
    reach: Floats
    loose: NDArray[np.int64]


class Memory(NamedTuple):
    """What the next step reads besides q, v and t.

    Attributes:
        touch: table of TOUCH, the contacts of the last step, then rows of bonds. count: how many there are, shape (1,).
        bond: table of BOND, what is held together.
    """

    touch: NDArray[np.void]
    count: NDArray[np.int64]
    bond: NDArray[np.void]


class Room(NamedTuple):
    """Space the step works in.

    Attributes:
        dynamics, chains, collision: of those packages.
        points: contact points of this step. touch: what became of them, in the same order.
        groups: which points have to do with each other. body: contacting bodies by groups; first: where those of a group start.
        number: of each body its place there, −1 for others.
        problem, impulse, u, shift: the contact problem of all groups, its impulses and velocities, and what is in them besides the bodies' own.
        partner: the contact of each point that is its moment. place: of each contact in the problem.
        bounce: ε times the normal velocity before the step, by points; 0 where nothing bounces.
        solver, pyramid: memory of the exact law's solver and of an older one's, empty where there is none. wrench: on each contacting body.
        force: from outside on each body, about its tree's origin; force[0, 0] says whether there are any. carried: sums of them.
        free, change: velocities after the step, and those of the configuration where overlaps are deep.
        reaction: impulse of the contacts that each fixed joint bears. acceleration: of the joints. report: one row of REPORT.
    """

    dynamics: Workspace
    chains: Chains
    collision: CollisionWorkspace
    points: NDArray[np.void]
    touch: NDArray[np.void]
    groups: Groups
    body: NDArray[np.int64]
    first: NDArray[np.int64]
    number: NDArray[np.int64]
    problem: BodyProblem
    impulse: Floats
    u: Floats
    shift: Floats
    partner: NDArray[np.int64]
    place: NDArray[np.int64]
    bounce: Floats
    solver: BodyWork
    pyramid: pyramid.Work
    wrench: Floats
    force: Floats
    carried: Floats
    free: Floats
    change: Floats
    reaction: Floats
    acceleration: Floats
    report: NDArray[np.void]


def room(model: Model, shapes: Collision, points: int, blocks: int, older: pyramid.Work | None = None) -> Room:
    """Space for a number of contact points, and of 6×6 blocks of inverse inertia and of elimination; ``older``: memory of an older law."""
    count = model.body_count + 1
    touching = min(count, 2 * points + 1)
    return Room(
        dynamics=workspace.allocate(model),
        chains=body_inertia.allocate(model),
        collision=collision_workspace.allocate(shapes, points),
        points=collision_workspace.point_table(points),
        touch=table(points, TOUCH),
        groups=groups.allocate(points, count),
        body=np.zeros(count, INDEX),
        first=np.zeros(count + 1, INDEX),
        number=np.zeros(count, INDEX),
        problem=BodyProblem(
            contact=table(points, CONTACT),
            start=np.zeros(count + 1, INDEX),
            column=np.zeros(blocks, INDEX),
            omega=np.zeros((blocks, 6, 6)),
            q=np.zeros(3 * points),
            mu=np.zeros(points),
            weight=np.zeros(points),
        ),
        impulse=np.zeros(3 * points),
        u=np.zeros(3 * points),
        shift=np.zeros(3 * points),
        partner=np.zeros(points, INDEX),
        place=np.zeros(points, INDEX),
        bounce=np.zeros(points),
        solver=bodies.allocate(points, touching, blocks),
        pyramid=pyramid.allocate(0, 0) if older is None else older,
        wrench=np.zeros(6 * count),
        force=np.zeros((count, 6)),
        carried=np.zeros((count, 6)),
        free=np.zeros(model.v_count),
        change=np.zeros(model.v_count),
        reaction=np.zeros(model.v_count),
        acceleration=np.zeros(model.v_count),
        report=table(1, REPORT),
    )


def scene(model: Model) -> Scene:
    """The scene of a model."""
    shapes = collision_arrays.compile_collision(model)
    reach = np.zeros(model.body_count + 1)
    np.maximum.at(reach, shapes.shape["body"], np.linalg.norm(shapes.shape["position"], axis=1) + shapes.shape["reach"])
    belt = np.array([shape.surface_velocity for shape in model.shapes], float).reshape(-1, 3)
    return Scene(model.arrays, shapes, model.pairs, model.surfaces, belt, reach, np.array([gyroscopic.loose(model.arrays)]))


def memory(points: int, bond: NDArray[np.void] | None = None) -> Memory:
    """Memory for a number of contacts, and what is held together."""
    return Memory(table(points, TOUCH), np.zeros(1, np.int64), table(0, BOND) if bond is None else bond)

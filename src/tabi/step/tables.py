"""Tables that a step reads and writes; every number is stored once.

- ``Tables``: structure and parameters; a step reads them and writes none of them.
- ``StepCommand``: inputs, written between steps.
- ``Memory``: all that the next step reads of this one; a copy of it is a saved moment.
- ``Outcome``: results.
Scratch is apart from these, in ``workspace``. Kernels are handed all four and a workspace, and the
first three together with q and v are ``StepData``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.collision import arrays as collision_arrays
from tabi.collision.arrays import Collision
from tabi.contact import budget, ladder
from tabi.dynamics import gyroscopic
from tabi.dynamics.inverse_inertia import chain_tables
from tabi.jit.structure import Structure
from tabi.model.arrays import INDEX, REAL, ModelArrays, table
from tabi.model.compiled import Model
from tabi.step import foot_tables
from tabi.step.sensors.tables import SensorMemory, Sensors, always_active

Floats = NDArray[np.float64]

# what a contact does: no force; a force without sliding; a force against sliding
OPEN, STICK, SLIP = 0, 1, 2
# numbers of these kinds of rows in every step
CONTACTS, MOMENTS, BONDS = 0, 1, 2

MOTOR = np.dtype(
    [
        # command of a degree of freedom's motor:
        # position and velocity to reach, feed-forward effort, gains of its loop
        ("position", REAL),
        ("velocity", REAL),
        ("effort", REAL),
        ("kp", REAL),
        ("kd", REAL),
        # 0: the loop drives it; BY_POSITION, BY_VELOCITY of forces.joint_limits: it moves exactly
        # as commanded, and the effort is computed
        ("exact", INDEX),
        # until this time [s] the position moves, evenly, to a target
        ("until", REAL),
        ("target", REAL),
    ],
    align=True,
)
JOINT = np.dtype(
    [
        # of a degree of freedom, by forces.motors: the bound at which its motor saturates, with the
        # sign of the effort; 0 for none
        ("saturation", INDEX),
        # by forces.joint_limits: what it does, and in which direction it slides
        ("mode", INDEX),
        ("direction", INDEX),
    ],
    align=True,
)
CONTACT = np.dtype(
    [
        # identity from step to step: its kind of rows (their place in the step), shapes and feature
        ("kind", INDEX),
        ("shape_a", INDEX),
        ("shape_b", INDEX),
        ("feature", INDEX),
        # moving body a, body b (0 is the world); row of its kind's own table:
        # of a moment its contact
        ("a", INDEX),
        ("b", INDEX),
        ("source", INDEX),
        # where [m], unit normal from b to a, gap when the step began [m]
        ("position", REAL, 3),
        ("normal", REAL, 3),
        ("gap", REAL),
        # impulse on body a [N·s or N·m·s] and velocity of a against b after the step, world's axes
        ("impulse", REAL, 3),
        ("velocity", REAL, 3),
        # group it was solved in; OPEN, STICK or SLIP
        ("group", INDEX),
        ("status", INDEX),
    ],
    align=True,
)
EFFORT = np.dtype(
    [
        # of a degree of freedom over the step [N·m or N], by forces.motors: what its motor gave
        ("motor", REAL),
        # by forces.joint_limits: dry friction, ends of travel and top speed
        ("constraint", REAL),
    ],
    align=True,
)
REPORT = np.dtype(
    [
        # memory the step wants
        ("points", INDEX),
        ("blocks", INDEX),
        # contacts and groups; Newton's steps and sweeps, the last of the attempts that were needed;
        # work of all attempts of the step, also where it was done again (see ``contact.budget``)
        ("contacts", INDEX),
        ("groups", INDEX),
        ("iterations", INDEX),
        ("attempt", INDEX),
        ("work", INDEX),
        # points that bounced; groups whose restitution was lowered, as friction would have made it
        # bring energy; groups that were not solved
        ("bounced", INDEX),
        ("lowered", INDEX),
        ("missed", INDEX),
        # when the first point that bounced closed, from the beginning of the step on [s]
        ("moment", REAL),
        # how overlaps are resolved: COUPLED, SEPARATE or JAMMED of ``depenetration``
        ("apart", INDEX),
        # where steps may be of second order: 2, or 1 where that was dropped
        ("order", INDEX),
        # largest backward error [m/s], least gap [m], and the least one of contacts that a law does
        # not let overlap; error of the joints' laws [rad/s or m/s]
        ("residual", REAL),
        ("gap", REAL),
        ("overlap", REAL),
        ("joint_residual", REAL),
    ],
    align=True,
)
# of a part without memory of its own
NO_MEMORY = np.zeros(0)
# of a rollout whose commands stay as they are
NO_PROGRAM = np.zeros((0, 0, 3))


class Tables(Structure):
    """Structure and parameters; the parameters may change between steps.

    Attributes:
        model: bodies and joints.
        chain: as ``chain_tables.structure`` has it.
        shapes: what collides.
        pair: table of PAIR for each two materials. surfaces: as in ``Model``.
        belt: how fast each shape's surface runs over its body, body's axes [m/s], shape (·, 3).
        free_body_count: bodies that float by themselves, shape (1,).
        attempts: the solver's table, ``ladder.SETTINGS``.
        limits: of the work of a step, ``contact.budget.limits``.
        foot: table of SOLE, one row per foot. corner: of their soles [m], shape (·, 2).
        sensors: parameters of the sensors.
        pilot: of ``pilots.PILOT``, controllers that are kernels. link: the kind of their links.
    """

    model: ModelArrays
    chain: NDArray[np.void]
    shapes: Collision
    pair: NDArray[np.void]
    surfaces: NDArray[np.int64]
    belt: Floats
    free_body_count: NDArray[np.int64]
    attempts: Floats
    limits: NDArray[np.int64]
    foot: NDArray[np.void]
    corner: Floats
    sensors: Sensors
    pilot: NDArray[np.void]
    link: Structure


class StepCommand(Structure, renamed={"heard": "active_sensors"}):
    """Inputs of a step: commands of motors, external wrenches, sensors that are read.

    Attributes:
        motor: table of MOTOR, one row per degree of freedom.
        wrench: external, on each body about its tree's origin, angular first [N·m, N],
            shape (·, 6).
        pushed: how many bodies it is on, shape (1,); where 0 the wrenches are not looked at.
        active_sensors: 1 for the sensors that are read; the others are not measured.
    """

    motor: NDArray[np.void]
    wrench: Floats
    pushed: NDArray[np.int64]
    active_sensors: NDArray[np.int64]


RENAMED_MEMORY = {
    "helped": "last_rescue",
    "jammed": "overlap_backoff",
    "joined": "joint_backoff",
    "own": "parts",
}


class Memory(Structure, renamed=RENAMED_MEMORY):
    """State that the next step reads besides q and v.

    Attributes:
        contact: table of CONTACT, rows of the last step kind by kind. count: how many, shape (1,).
        last_rescue: attempt of ``contact.ladder`` that solved the last hard step, shape (1,).
        overlap_backoff: of steps that resolve overlaps separately. joint_backoff: of steps that
            solve joints with the contacts; both by ``backoff``, shape (2,).
        joint: table of JOINT, one row per degree of freedom.
        foot: table of FOOT, one row per foot. clock: time since the start [s], shape (1,).
        sole: displacements of the nodes of soft soles and pads, in the frames of their bodies [m],
            shape (·, 3).
        sensors: memory of the sensors.
        parts: memory of each force, kind of rows and law, in their order.
    """

    contact: NDArray[np.void]
    count: NDArray[np.int64]
    last_rescue: NDArray[np.int64]
    overlap_backoff: NDArray[np.int64]
    joint_backoff: NDArray[np.int64]
    joint: NDArray[np.void]
    foot: NDArray[np.void]
    clock: Floats
    sole: Floats
    sensors: SensorMemory
    parts: tuple[NDArray[Any], ...]


class Outcome(Structure):
    """Results of a step: its report, efforts, the state before it, changes of feet.

    Attributes:
        report: one row of REPORT. effort: table of EFFORT, one row per degree of freedom.
        q_before, v_before: configuration and velocity when the last step began, by
            ``corrections.advance_configuration``. sole_before: so of soft soles.
        event: table of EVENT, changes of feet that were not fetched yet. event_count: their number,
            shape (1,).
    """

    report: NDArray[np.void]
    effort: NDArray[np.void]
    q_before: Floats
    v_before: Floats
    sole_before: Floats
    event: NDArray[np.void]
    event_count: NDArray[np.int64]


class StepData(Structure):
    """State, command, memory and outcome: all that lasts from step to step.

    Attributes:
        q, v: configuration and velocity.
    """

    q: Floats
    v: Floats
    command: StepCommand
    memory: Memory
    outcome: Outcome


def tables(model: Model, sensors: Sensors, pilot: NDArray[np.void], link: Structure) -> Tables:
    """Return the tables of a model, with those of its sensors and of controllers that are
    kernels.
    """
    shapes = collision_arrays.compile_collision(model)
    soles, corners = foot_tables.soles(model)
    return Tables(
        model=model.arrays,
        chain=chain_tables.structure(model),
        shapes=shapes,
        pair=model.pairs,
        surfaces=model.surfaces,
        belt=np.array([shape.surface_velocity for shape in model.shapes], float).reshape(-1, 3),
        free_body_count=np.array([gyroscopic.loose(model.arrays)]),
        attempts=ladder.SETTINGS,
        limits=budget.limits(budget.NO_LIMIT),
        foot=soles,
        corner=corners,
        sensors=sensors,
        pilot=pilot,
        link=link,
    )


def pad_node_count(model: Model) -> int:
    """Nodes of all soft soles and pads of a model."""
    return model.pads[-1].rows.stop if model.pads else 0


def data(
    model: Model, points: int, sensors: SensorMemory, part_memory: tuple[NDArray[Any], ...]
) -> StepData:
    """Return data of a model in its first configuration, at rest, with room for some contacts."""
    count, q, nodes = model.v_count, model.initial(), pad_node_count(model)
    return StepData(
        q=q,
        v=np.zeros(count),
        command=StepCommand(
            motor=table(count, MOTOR),
            wrench=np.zeros((model.body_count + 1, 6)),
            pushed=np.zeros(1, INDEX),
            active_sensors=always_active(model),
        ),
        memory=Memory(
            table(points, CONTACT),
            count=np.zeros(1, INDEX),
            last_rescue=np.zeros(1, INDEX),
            overlap_backoff=np.zeros(2, INDEX),
            joint_backoff=np.zeros(2, INDEX),
            joint=table(count, JOINT),
            foot=table(len(model.feet), foot_tables.FOOT),
            clock=np.zeros(1),
            sole=np.zeros((nodes, 3)),
            sensors=sensors,
            parts=part_memory,
        ),
        outcome=Outcome(
            table(1, REPORT),
            effort=table(count, EFFORT),
            q_before=q.copy(),
            v_before=np.zeros(count),
            sole_before=np.zeros((nodes, 3)),
            event=table(foot_tables.EVENTS if model.feet else 0, foot_tables.EVENT),
            event_count=np.zeros(1, INDEX),
        ),
    )

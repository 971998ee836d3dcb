"""Tables and memory of soft pads, for the solver of contacts on them: see ``compliance``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.contact import bodies
from tabi.contact.bodies import BodyWork
from tabi.jit.structure import Structure
from tabi.model.arrays import INDEX, REAL, table

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

PAD = np.dtype(
    [
        # its nodes, and where its matrices begin, 3n × 3n numbers each
        ("node", INDEX),
        ("end", INDEX),
        ("matrix", INDEX),
    ],
    align=True,
)
ON_PAD = np.dtype(
    [
        # of a contact: the pads of its two bodies, −1 for rigid ones; the nodes it lies between,
        # −1 for none, and their weights
        ("pad_a", INDEX),
        ("pad_b", INDEX),
        ("node_a", INDEX, 3),
        ("node_b", INDEX, 3),
        ("weight_a", REAL, 3),
        ("weight_b", REAL, 3),
    ],
    align=True,
)
# bodies that one cluster of pads may touch, for Newton's method
MAX_BODIES = 8


class Pads(Structure):
    """Constant data of all pads.

    Attributes:
        pad: table of PAD.
        compliance: C of all pads, row by row, one after the other [m/N].
        stiffness: their inverses [N/m].
    """

    pad: NDArray[np.void]
    compliance: Floats
    stiffness: Floats


def pads(compliances: list[Floats]) -> Pads:
    """Tables of pads from their compliances C [m/N], shape (3n, 3n) each."""
    rows = table(len(compliances), PAD)
    counts = np.array([len(C) // 3 for C in compliances], np.int64)
    rows["end"] = np.cumsum(counts)
    rows["node"] = rows["end"] - counts
    rows["matrix"] = np.cumsum(9 * counts * counts) - 9 * counts * counts
    empty = [np.zeros(0)]
    inverses = [np.linalg.inv(C) for C in compliances]
    return Pads(
        rows,
        np.concatenate(empty + [C.ravel() for C in compliances]),
        np.concatenate(empty + [(0.5 * (K + K.T)).ravel() for K in inverses]),
    )


class CompliantWork(BodyWork):
    """Arrays the kernels write: those of ``bodies.BodyWork``, and

    Attributes:
        pads: what is given. row: table of ON_PAD over the rows of the group.
        turn: rotation of each pad's body, row by row, shape (·, 9). give: c of (1).
        pad_count: pads of the group, shape (1,); pad_list: which. cluster: the cluster of each pad,
            by the number of its first one.
        force, motion: over nodes, Σ Nᵀ Rᵀ Eᵀ λ and w of (1), shape (3·nodes,).
        open_force, open_motion: the same of what is known of a step of Newton's method.
        at_node: the row at each node, −1 for none.
        listed, touched: rows and bodies of a cluster. form, first, row_count: of each cluster, how
            its system is solved, and which rows of ``unknown`` and ``columns`` are its own.
        system: its matrix. unknown, columns: rows that press, and their right sides, by
            ``pad_rows``. lever: J of one row. loose, node_columns: nodes that do not stick, and
            theirs; arm, braced: J and K J/c of each pad, and whether they are those of the group at
            hand; shift: w of each pad; by ``pad_nodes``.
    """

    pads: Pads
    row: NDArray[np.void]
    turn: Floats
    give: Floats
    pad_count: Integers
    pad_list: Integers
    cluster: Integers
    force: Floats
    motion: Floats
    open_force: Floats
    open_motion: Floats
    at_node: Integers
    listed: Integers
    unknown: Integers
    loose: Integers
    touched: Integers
    form: Integers
    first: Integers
    row_count: Integers
    system: Floats
    columns: Floats
    node_columns: Floats
    lever: Floats
    arm: Floats
    braced: Floats
    known_braced: Integers
    shift: Floats


def allocate(
    pad_tables: Pads, contacts: int, body_count: int, blocks: int | None = None
) -> CompliantWork:
    """Memory for a number of contacts, of bodies and of blocks; see ``bodies.allocate``."""
    plain = bodies.allocate(contacts, body_count, blocks)
    count, nodes = len(pad_tables.pad), int(pad_tables.pad["end"][-1]) if len(pad_tables.pad) else 0
    most = int((pad_tables.pad["end"] - pad_tables.pad["node"]).max(initial=0))
    return CompliantWork(
        *plain,
        pads=pad_tables,
        row=table(contacts, ON_PAD),
        turn=np.zeros((count, 9)),
        give=np.zeros(count),
        pad_count=np.zeros(1, np.int64),
        pad_list=np.zeros(count, np.int64),
        cluster=np.zeros(count, np.int64),
        force=np.zeros(3 * nodes),
        motion=np.zeros(3 * nodes),
        open_force=np.zeros(3 * nodes),
        open_motion=np.zeros(3 * nodes),
        at_node=np.zeros(nodes, np.int64),
        listed=np.zeros(contacts, np.int64),
        unknown=np.zeros(contacts, np.int64),
        loose=np.zeros(most, np.int64),
        touched=np.zeros(body_count + 1, np.int64),
        form=np.zeros(count, np.int64),
        first=np.zeros(count, np.int64),
        row_count=np.zeros(count, np.int64),
        system=np.zeros((3 * max(contacts, most), 3 * max(contacts, most))),
        columns=np.zeros((3 * contacts, 1 + 6 * MAX_BODIES)),
        node_columns=np.zeros((3 * most, 7)),
        lever=np.zeros((6, 3)),
        arm=np.zeros((count, 6, 3 * most)),
        braced=np.zeros((count, 6, 3 * most)),
        known_braced=np.zeros(count, np.int64),
        shift=np.zeros((count, 7, 3 * most)),
    )

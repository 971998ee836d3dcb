"""Chains of joints that carry the bodies of a model, and the memory of ``body_inertia``."""

import numpy as np
from numpy.typing import NDArray

from tabi.dynamics.inverse_inertia import tree_inertia
from tabi.jit.structure import Structure
from tabi.model.arrays import FLOATING, INDEX, table
from tabi.model.compiled import Model

CHAIN = np.dtype(
    [
        # structure, never written: which trees move together;
        # degrees of freedom that carry the body, and where their rows are; 1 for free objects;
        # 1 in families with joints that follow others
        ("family", INDEX),
        ("depth", INDEX),
        ("slot", INDEX),
        ("lone", INDEX),
        ("geared", INDEX),
    ],
    align=True,
)
CONTACTING = np.dtype(
    [
        # by omega, of a contacting body: 1 for a free object with nothing but its own inertia
        ("plain", INDEX),
        # by layout, in the row of a family: contacting bodies of it, and the last of them
        ("tally", INDEX),
        ("last", INDEX),
    ],
    align=True,
)


class Chains(Structure):
    """Arrays of the kernels; big enough for contacts of every body at once.

    Attributes:
        body: table of CHAIN, structure that all workspaces of a model may share;
            row 0 is the world.
        contacting: table of CONTACTING, by ``body_inertia.omega``.
        row: R and 1/D of ``body_inertia`` for each body, from its root to itself, shape (·, 8), by
            ``body_inertia.omega``.
        previous, rank: of each contacting body, the one before it in its family (or −1), and how
            many there are, by ``layout``.
        above: of each listed body its parent's place in the list, or ROOT, where Ω has the factors
            of ``tree_inertia``; BLOCKS, as from the start, where it has blocks. Set from outside.
        has: of each listed body BLOCKS, BLOCKS_AND_ROWS or ROWS. Set from outside.
        follower, share: H and B of ``followers``, shapes (couplings, v) and (bodies, couplings, 6).
    """

    body: NDArray[np.void]
    contacting: NDArray[np.void]
    row: NDArray[np.float64]
    previous: NDArray[np.int64]
    rank: NDArray[np.int64]
    above: NDArray[np.int64]
    has: NDArray[np.int64]
    follower: NDArray[np.float64]
    share: NDArray[np.float64]


def families(model: Model) -> NDArray[np.int64]:
    """For each body the root that stands for all trees that move together:
    its own, and those that joints of it follow or lead.
    """
    body, mimic = model.arrays.body, model.arrays.mimic
    family = body["root"].copy()
    for follower, leader in zip(mimic["follower"], mimic["leader"], strict=True):
        ends = family[np.searchsorted(body["v_end"], [follower, leader], side="right")]
        family[family == ends.max()] = ends.min()
    return family


def structure(model: Model) -> NDArray[np.void]:
    """Table of CHAIN of a model."""
    arrays = model.arrays
    count = len(arrays.body)
    body = table(count, CHAIN)
    body["family"] = families(model)
    for i in range(1, count):
        joint = arrays.body["v_end"][i] - arrays.body["v_start"][i]
        body["depth"][i] = body["depth"][arrays.body["parent"][i]] + joint
    body["slot"] = np.cumsum(body["depth"]) - body["depth"]
    carrying = np.isin(np.arange(count), arrays.body["parent"])
    geared = body["family"][
        np.searchsorted(arrays.body["v_end"], arrays.mimic["follower"], "right")
    ]
    body["geared"] = np.isin(body["family"], geared)
    body["lone"] = (arrays.body["kind"] == FLOATING) & (arrays.body["parent"] == 0) & ~carrying
    return body


def allocate(model: Model, body: NDArray[np.void] | None = None) -> Chains:
    """Memory for a model; ``body``: its ``structure``, where there is one to share."""
    body = structure(model) if body is None else body
    count, couplings = len(body), len(model.arrays.mimic)
    return Chains(
        body=body,
        contacting=table(count, CONTACTING),
        row=np.zeros((int(body["depth"].sum()), 8)),
        previous=np.zeros(count, INDEX),
        rank=np.zeros(count, INDEX),
        above=np.full(count, tree_inertia.BLOCKS, INDEX),
        has=np.zeros(count, INDEX),
        follower=np.zeros((couplings, model.v_count)),
        share=np.zeros((count, couplings, 6)),
    )

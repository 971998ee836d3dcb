"""Random contacts on soft pads, and the same as one matrix."""

import numpy as np
from contact.test_bodies import random_bodies

from tabi.contact.matrix_form import sparse
from tabi.contact.soft import compliance, pads
from tabi.spatial.transform import from_quaternion


def random_compliance(rng, nodes):
    L = rng.normal(size=(3 * nodes, 3 * nodes))
    return L @ L.T / (3 * nodes) + 0.2 * np.eye(3 * nodes)


def soft(rng, contacts=7, nodes=(5, 4, 6), kind="anywhere", mu=0.6, rigid=0.2):
    """A problem of three bodies with a pad each, its memory, and W with all compliance.

    Args:
        kind: where contacts lie: "anywhere", or "nodes": each at a node of its own, on the ground.
        rigid: share of contacts that are on no pad.
    """
    p, W = random_bodies(rng, contacts=contacts, mu=mu)
    if kind == "nodes":
        p.contact["a"], p.contact["b"] = np.arange(contacts) % len(nodes), -1
        W = sparse(p).toarray()
    given = pads.pads([random_compliance(rng, n) for n in nodes])
    work = pads.allocate(given, contacts, 3)
    for i in range(len(nodes)):
        work.turn[i] = from_quaternion(rng.normal(size=4)).R.ravel()
        work.give[i] = rng.uniform(0.5, 2.0)
    row = work.row
    row["pad_a"], row["pad_b"] = p.contact["a"], p.contact["b"]
    row["pad_a"][rng.random(contacts) < rigid] = -1
    row["pad_b"][rng.random(contacts) < 0.5] = -1
    if kind == "nodes":
        row["pad_b"] = -1
    free = {i: list(rng.permutation(n)) for i, n in enumerate(nodes)}
    for k in range(contacts):
        for side in "ab":
            row[f"node_{side}"][k], row[f"weight_{side}"][k] = -1, 0.0
            i = row[f"pad_{side}"][k]
            if i < 0:
                continue
            first = given.pad["node"][i]
            if kind == "nodes":
                if not free[i]:
                    row["pad_a"][k] = -1
                    continue
                row["node_a"][k, 0], row["weight_a"][k, 0] = first + free[i].pop(), 1.0
            else:
                count = rng.integers(1, 4)
                row[f"node_{side}"][k, :count] = first + rng.permutation(nodes[i])[:count]
                weight = rng.random(count) + 0.01
                row[f"weight_{side}"][k, :count] = weight / weight.sum()
    return p, work, W + compliance_matrix(p, work)


def compliance_matrix(p, work):
    """E R N c C Nᵀ Rᵀ Eᵀ over all rows, by plain matrices."""
    nodes = int(work.pads.pad["end"][-1])
    C = np.zeros((3 * nodes, 3 * nodes))
    for i, pad in enumerate(work.pads.pad):
        n = 3 * int(pad["end"] - pad["node"])
        at = slice(3 * pad["node"], 3 * pad["end"])
        C[at, at] = work.give[i] * work.pads.compliance[pad["matrix"] :][: n * n].reshape(n, n)
    N = np.zeros((3 * len(p.mu), 3 * nodes))
    for k in range(len(p.mu)):
        E = p.contact["frame"][k].reshape(3, 3)
        for side, sign in (("a", 1.0), ("b", -1.0)):
            i = work.row[f"pad_{side}"][k]
            if i < 0:
                continue
            R = work.turn[i].reshape(3, 3)
            for node, weight in zip(
                work.row[f"node_{side}"][k], work.row[f"weight_{side}"][k], strict=True
            ):
                if node >= 0:
                    N[3 * k : 3 * k + 3, 3 * node : 3 * node + 3] += sign * weight * E @ R
    return N @ C @ N.T


def prepared(p, work):
    blocks = compliance.prepare(p, work)
    assert blocks <= len(work.lu.value)
    return work

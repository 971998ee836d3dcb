"""Contacts on soft pads: velocities and weights are those of one matrix."""

import numpy as np
import pytest
from contact.soft_problems import prepared, soft

from tabi.contact.soft import compliance


@pytest.mark.parametrize("kind", ["anywhere", "nodes"])
@pytest.mark.parametrize("seed", range(4))
def test_velocities_and_weights_are_those_of_the_matrix(kind, seed):
    rng = np.random.default_rng(seed)
    p, work, W = soft(rng, kind=kind)
    prepared(p, work)
    impulse, u = rng.normal(size=21), np.zeros(21)
    compliance.velocities_with(p, impulse, u, work)
    # some hundred sums of numbers of order one
    assert np.abs(u - (W @ impulse + p.q)).max() < 1e-13 * np.abs(W).sum(axis=1).max()
    traces = np.trace(W.reshape(7, 3, 7, 3)[range(7), :, range(7)], axis1=1, axis2=2)
    assert p.weight == pytest.approx(3.0 / traces, rel=1e-12)


def test_pads_that_touch_are_one_cluster_and_couple_all_their_bodies():
    rng = np.random.default_rng(3)
    p, work, _ = soft(rng, contacts=9, rigid=0.0)
    work.row["pad_b"] = p.contact["b"]
    # contacts between pads: 0 and 1; 2 has none with others
    keep = p.contact["b"] >= 0
    p.contact["a"][keep], p.contact["b"][keep] = 0, 1
    work.row["pad_a"], work.row["pad_b"] = p.contact["a"], p.contact["b"]
    prepared(p, work)
    assert work.cluster[0] == work.cluster[1] == 0
    assert work.cluster[2] in (2, -1)
    assert work.lu.slot[0, 1] >= 0


def test_without_contacts_pads_give_way_to_nothing():
    rng = np.random.default_rng(5)
    p, work, _ = soft(rng)
    p.kind[:] = compliance.IDLE
    prepared(p, work)
    assert work.pad_count[0] == 0
    assert (p.kind == compliance.IDLE).all()

"""A pad whose nodes nearly all stick, by the nodes that do not."""

import numpy as np
import pytest
from contact.problems import problem
from contact.soft_problems import prepared, soft

from tabi.contact import maps, newton, workspace
from tabi.contact.blocks import velocities
from tabi.contact.point_newton import STICKS
from tabi.contact.soft import compliant_newton


@pytest.mark.parametrize("loose", [0, 1, 3])
def test_the_direction_of_a_pad_that_sticks_but_for_some_nodes(loose):
    rng, count = np.random.default_rng(loose), 9
    p, work, W = soft(rng, count, (count + 1, 4, 4), "nodes", rigid=0.0)
    # all contacts on one pad
    p, work, W = _on_first(rng, count)
    prepared(p, work)
    impulse = 0.1 * rng.normal(size=3 * count) + np.tile([0, 0, 5.0], count)
    p.q[:] = 0.1 * rng.normal(size=3 * count) - W @ impulse
    p.q[: 3 * loose : 3] += 50.0
    blocks = problem(W, p.q, p.mu).blocks
    blocks.weight[:] = p.weight
    u, large = np.zeros(3 * count), workspace.allocate(count)
    velocities(blocks, impulse, u)
    assert compliant_newton.direction(p, maps.ALART_CURNIER, 1.0, 1e-12, u, impulse, work)
    assert newton._direction(blocks, maps.ALART_CURNIER, 1.0, 1e-12, u, impulse, large)
    assert (work.does == STICKS).sum() == count - loose
    assert work.form[0] == compliant_newton.BY_NODES
    assert np.abs(work.delta - large.delta).max() < 1e-9 * np.abs(large.delta).max()


def _on_first(rng, count):
    from contact.soft_problems import compliance_matrix

    from tabi.contact.matrix_form import sparse

    p, work, _ = soft(rng, count, (count + 1, 4, 4), "nodes", rigid=0.0)
    p.contact["a"], work.row["pad_a"] = 0, 0
    work.row["node_a"], work.row["weight_a"] = -1, 0.0
    work.row["node_a"][:, 0], work.row["weight_a"][:, 0] = rng.permutation(count + 1)[:count], 1.0
    return p, work, sparse(p).toarray() + compliance_matrix(p, work)

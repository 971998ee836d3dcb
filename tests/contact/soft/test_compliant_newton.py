"""Newton's system over bodies and pads against the one over contacts."""

import numpy as np
import pytest
from contact.problems import problem
from contact.soft_problems import prepared, soft

from tabi.contact import certificate, ladder, maps, newton, workspace
from tabi.contact.blocks import velocities
from tabi.contact.soft import compliant_newton


@pytest.mark.parametrize("kind", ["anywhere", "nodes"])
@pytest.mark.parametrize("form", [maps.ALART_CURNIER, maps.JEAN_MOREAU, maps.NATURAL])
def test_newtons_direction_is_that_of_the_matrix(kind, form):
    rng = np.random.default_rng(10 + form)
    by_nodes = 0
    for turn in range(12):
        # nodes that stick are taken as they are, without ε; rigid rows need it
        contacts, eps, rigid = (14, 1e-3, 0.2) if kind == "anywhere" else (22, 1e-10, 0.0)
        p, work, W = soft(rng, contacts, (8, 9, 10), kind, rigid=rigid)
        prepared(p, work)
        impulse = rng.normal(size=3 * contacts) + np.tile([0, 0, 1.0], contacts)
        if turn % 2:
            # most of them stick
            impulse += np.tile([0, 0, 4.0], contacts)
            p.q[:] = rng.normal(size=3 * contacts) - W @ impulse
        blocks = problem(W, p.q, p.mu).blocks
        blocks.weight[:] = p.weight
        large, u = workspace.allocate(contacts), np.zeros(3 * contacts)
        velocities(blocks, impulse, u)
        assert compliant_newton.direction(p, form, 1.0, eps, u, impulse, work)
        assert newton._direction(blocks, form, 1.0, eps, u, impulse, large)
        assert np.abs(work.delta - large.delta).max() < 1e-8 * np.abs(large.delta).max()
        by_nodes += int((work.form == compliant_newton.BY_NODES).any())
    # both forms were tried
    assert kind == "anywhere" or form == maps.NATURAL or by_nodes > 0


@pytest.mark.parametrize("kind", ["anywhere", "nodes"])
def test_the_ladder_solves_what_the_judge_accepts(kind):
    rng, solved = np.random.default_rng(20), 0
    for _ in range(30):
        contacts = int(rng.integers(1, 16))
        p, work, W = soft(rng, contacts=contacts, kind=kind, mu=rng.uniform(0.1, 1.0))
        prepared(p, work)
        impulse, goal = np.zeros(3 * contacts), 1e-8 * np.abs(p.q).max()
        _, attempt, error = ladder.solve_compliant(p, goal, impulse, work, ladder.SETTINGS)
        judged = certificate.judge(problem(W, p.q, p.mu).blocks, impulse)
        # some ask for what no impulse does: contacts that look at each other
        solved += error <= goal
        assert (error <= goal) == (attempt < len(ladder.NAMES) - 1)
        assert error == pytest.approx(judged.residual, abs=1e-12 * max(1.0, np.abs(impulse).max()))
    assert solved >= 28

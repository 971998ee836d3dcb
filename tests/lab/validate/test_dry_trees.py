"""``tabi validate trees``, a hundredth of it."""

import numpy as np
import pytest

from tabi.lab.validate import dry_trees
from tabi.simulation.simulator import Simulator


@pytest.mark.slow
def test_trees_with_dry_joints_neither_break_nor_sink():
    result = dry_trees.DryTrees(trees=12, steps=80).run()
    assert result["broken"] == []
    assert result["steps"] == 960
    assert len(result["missed"]) <= 1
    assert "12 worlds" in dry_trees.DryTrees().text(result)


@pytest.mark.slow
def test_worlds_have_dry_joints_stops_and_overlaps_and_are_the_same_each_time():
    frictions, stops, overlaps = [], 0, 0
    for seed in range(20):
        model = dry_trees.random_dry_world(seed).compile()
        dof = model.arrays.dof
        frictions += dof["friction"][dof["friction"] > 0].tolist()
        stops += int(np.isfinite(dof["lower"]).sum())
        overlaps += not model.excluded
        again = dry_trees.random_dry_world(seed).compile()
        assert (again.arrays.dof == dof).all()
    assert len(frictions) > 40
    assert min(frictions) >= dry_trees.MIN_FRICTION
    assert max(frictions) <= dry_trees.MAX_FRICTION
    assert stops > 5
    assert overlaps > 3


def test_what_breaks_or_sinks_is_told(monkeypatch):
    def sink(sim, seconds):
        q = sim.state.q.copy()
        q[2] = -5.0
        sim.set_state(q, sim.state.v)

    monkeypatch.setattr(Simulator, "run", sink)
    world = next(
        k for k in range(20) if dry_trees.random_dry_world(k).robots[0].base.joint.q_count == 7
    )
    _, broken = dry_trees.drop(world, 1)
    assert any("under the ground" in line for line in broken)
    result = dry_trees.DryTrees(steps=1).result([([], broken)], interrupted=True)
    assert "interrupted" in dry_trees.DryTrees().text(result)
    assert broken[0] in dry_trees.DryTrees().text(result)


def test_an_interrupt_keeps_what_is_done(monkeypatch):
    monkeypatch.setattr(dry_trees, "drop", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    result = dry_trees.DryTrees(trees=3, steps=1).run()
    assert result["interrupted"]
    assert result["worlds"] == 0


def test_a_share_of_missed_steps_is_too_many(monkeypatch):
    monkeypatch.setattr(
        dry_trees,
        "drop",
        lambda seed, steps: ([{"world": seed, "time_s": 0.1, "residual": 1e-3}], []),
    )
    result = dry_trees.DryTrees(trees=2, steps=10).run()
    assert not result["within"]
    assert "world 1 missed at 0.100 s" in dry_trees.DryTrees().text(result)
    assert pytest.approx(1e-4) == dry_trees.MAX_MISSED_SHARE

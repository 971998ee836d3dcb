"""Recordings that end at random moments: every step is there, and no report claims more."""

import os

import pytest

import tabi
from tabi.lab.validate import recording_ends, recording_writer
from tabi.lab.validate.recording_ends import claimed

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@pytest.mark.process
def test_ten_random_ends_lose_nothing():
    found = recording_ends.RecordingEnds(moments=10, seed=1).run()
    assert found["within"], found["wrong"]
    assert sum(found["kinds"].values()) == found["moments"] == 10
    assert min(found["kinds"].values()) >= 2
    assert found["lost_by_a_kill"] <= recording_ends.SECOND
    assert "wrong: nothing" in recording_ends.RecordingEnds().text(found)


def test_a_plan_is_that_of_its_seed_and_ends_where_the_run_did():
    plan = recording_writer.episodes(7)
    first = [next(plan) for _ in range(50)]
    assert [begin for begin, _, save in first if begin] == [
        begin + save for begin, _, save in first[:-1] if save
    ]
    done = recording_ends.planned(7, 20, 1)
    assert done[:-1] == [(begin, length) for begin, length, _ in first[:20] if length]
    assert done[-1] == (first[20][0], 1)
    assert recording_ends.planned(7, 0, 0) == [(0, 0)]


@pytest.mark.slow
def test_what_is_wrong_is_seen(tmp_path):
    world = tabi.World()
    world.add_ground()
    world.add_box((0.3, 0.3, 0.3), 3.0, position=(0.0, 0.0, 0.15))
    sim, path = tabi.Simulator(world), tmp_path / "run.h5"
    with sim.record(path):
        sim.run(0.02)
        sim.reset()
        sim.run(0.01)

    def wrong(how, plan, told=claimed):
        return recording_ends.check(path, how, plan, told)[1]

    assert wrong("closed", [(0, 20), (0, 10)]) == []
    assert wrong("closed", [(0, 20), (0, 11)]) == ["steps are missing"]
    assert wrong("closed", [(0, 20), (5, 10)]) == ["steps are missing"]
    assert "it does not say how it ended" in wrong("exit", [(0, 20), (0, 10)])
    assert "more than the last second is missing" in wrong("kill", [(0, 20), (0, 1200)])
    more = wrong(
        "closed",
        [(0, 20), (0, 10)],
        lambda run: claimed(run) | {"certificate": {"steps": 30}},
    )
    assert "the report claims other steps than there are" in more

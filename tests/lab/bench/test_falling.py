"""The bench of a falling world: both engines do as many steps."""

import tabi
from tabi.lab.bench import contacts, falling


def test_every_step_is_timed():
    found = falling.measure(contacts.pit_world(3), 0.02)
    assert found["steps"] == 20
    assert found["missed"] == 0
    assert found["longest_ms"] >= 1e-3 * found["median_microseconds"] > 0.0


def test_without_mujoco_only_our_own_time_is_reported(monkeypatch):
    monkeypatch.setattr(falling.importlib.util, "find_spec", lambda name: None)
    assert falling.measure(contacts.pit_world(1), 0.002)["microseconds"].keys() == {"tabi"}


def test_the_walls_of_the_pit_hold_the_balls_in():
    sim = tabi.Simulator(contacts.pit_world(20))
    sim.run(0.6)
    assert len(sim.world.objects) == 20
    free = contacts.PIT_HALF - contacts.PIT_BALL + 1e-6
    for ball in sim.world.objects:
        x, y, z = sim.position(ball)
        assert max(abs(x), abs(y)) <= free
        assert z >= contacts.PIT_BALL - 1e-6

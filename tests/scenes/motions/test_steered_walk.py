"""Robots that are steered by a scene: commands at their times, gait and stabiliser."""

from math import radians

import pytest
from apps.viewer.steered import FakeSteeredWalker

from tabi import scenes, walking
from tabi.scenes.motions.steered_walk import SteeringScript, SteerKeys
from tabi.scenes.tree import SceneError

ONE = """
title: steered
duration_s: 1.0
ground: {}
robots:
  - robot: hrp2
    motion:
      kind: steered_walk
      gait: {step_time_s: 0.7}
      stabiliser: {inclination: 1.5}
      steer:
        - {at_s: 0.1, forward_m_s: 0.2, turn_deg_s: 10}
        - {at_s: 0.3, sideways_m_s: -0.05}
        - {at_s: 0.4}
"""


class Fake(FakeSteeredWalker):
    def __init__(self, biped, gait, stabiliser):
        super().__init__(biped.robot)
        self.gait, self.stabiliser, self.times = gait, stabiliser, []

    def __call__(self, time, measurement):
        self.times.append((time, len(self.told), self.stopped))
        return super().__call__(time, measurement)


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.setattr(walking, "SteeredWalker", Fake, raising=False)

    def loaded(text):
        file = tmp_path / "scene.yaml"
        file.write_text(text, encoding="utf-8")
        return scenes.load(str(file))

    return loaded


def test_commands_reach_the_walker_at_their_times(load):
    sim = load(ONE).simulator()
    walker = sim.drivers["hrp2"].controller
    assert walker.gait.step_time == 0.7
    assert walker.stabiliser.inclination == 1.5
    sim.run(0.5)
    assert walker.told == [(0.2, 0.0, pytest.approx(radians(10))), (0.0, -0.05, 0.0)]
    assert walker.stopped == 1
    # asked every 5 ms, and told before it is asked at the time of the command
    first = {count: next(t for t, n, _ in walker.times if n == count) for count in (1, 2)}
    assert first == {1: pytest.approx(0.1), 2: pytest.approx(0.3)}
    assert next(t for t, _, n in walker.times if n) == pytest.approx(0.4)


def test_a_reset_begins_the_commands_anew(load):
    sim = load(ONE).simulator()
    walker = sim.drivers["hrp2"].controller
    sim.run(0.2)
    sim.reset()
    sim.run(0.2)
    assert len(walker.told) == 2
    assert walker.resets == 1


def test_a_command_at_the_start_is_told_before_the_first_step():
    class Walker:
        told, steering = (), (0.0, 0.0, 0.0)

        def steer(self, *told):
            self.told, self.steering = (*self.told, told), told

    walker = Walker()
    script = SteeringScript(walker, [SteerKeys(forward_m_s=0.1), SteerKeys(at_s=1, turn_deg_s=90)])
    script.at(0.0)
    script.at(0.5)
    assert walker.told == ((0.1, 0.0, 0.0),)
    script.at(1.0)
    assert walker.told[1] == (0.0, 0.0, pytest.approx(radians(90)))


@pytest.mark.parametrize("at", [0.05, 0.2])
def test_who_takes_the_sticks_keeps_them_until_a_reset(load, at):
    sim = load(ONE).simulator()
    walker = sim.drivers["hrp2"].controller
    sim.run(at)
    walker.steer(0.1)
    told = list(walker.told)
    sim.run(0.5)
    # neither the command at 0.3 s nor the stop at 0.4 s
    assert (walker.told, walker.stopped) == (told, 0)
    sim.reset()
    sim.run(0.5)
    assert len(walker.told) == len(told) + 2
    assert walker.stopped == 1


def test_without_commands_it_is_left_to_a_hand(load):
    text = ONE.partition("      steer:")[0]
    sim = load(text).simulator()
    sim.run(0.05)
    assert sim.drivers["hrp2"].controller.told == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("at_s: 0.3", "at_s: 0.1", "expected growing times"),
        ("step_time_s: 0.7", "tick_s: 0.0033", "expected a multiple of the step"),
        ("turn_deg_s: 10", "turn: 10", "turn_deg_s"),
        ("forward_m_s: 0.2", "forward_m_s: 20", "forward_m_s"),
        ("    motion:\n", "    motion: {kind: walk}\n    motion:\n", "'motion' occurs twice"),
    ],
)
def test_what_is_wrong_is_named(load, old, new, words):
    with pytest.raises(SceneError, match=words):
        load(ONE.replace(old, new))


def test_a_push_of_an_unknown_body_is_named(load):
    told = "pushes:\n  - {body: chst, at_s: 0.1, duration_s: 0.1, force_n: [9, 0, 0]}\n"
    with pytest.raises(SceneError, match=r"pushes\.0\.body: body 'chst' not found .*'chest'"):
        load(ONE + told).simulator()

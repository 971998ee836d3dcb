"""Sticks and keys of a page: who may steer, what is late, and when a hand has let go."""

import http.client

import pytest
from apps.viewer.steered import FakeSteeredWalker, simulator, world_of_one
from websockets.datastructures import Headers
from websockets.http11 import Request

import tabi
from tabi.apps.viewer import steering
from tabi.apps.viewer.gate import open_server
from tabi.apps.viewer.steering import REST, SteeringHand, Sticks, steer, steered_walkers
from tabi.apps.viewer.tuning import Tuning

SAID = "robot=hrp2&page=a&number={}&forward={}&sideways=0&turn=0"
OURS = {"X-Tabi": "steer"}


def asked(query, headers=OURS):
    return Request(f"/steer?{query}", Headers(headers))


@pytest.fixture
def hand():
    acts = []
    hand = SteeringHand(lambda robot, sticks: acts.append((robot, sticks)))
    hand.acts = acts
    return hand


def test_walkers_are_found_inside_of_other_controllers():
    sim = simulator()
    walker = sim.drivers["hrp2"].controller
    Tuning(stiffness=2.0).apply(sim)
    assert sim.drivers["hrp2"].controller is not walker
    assert steered_walkers(sim) == {"hrp2": walker}
    world, robot = world_of_one()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    assert steered_walkers(sim) == {}
    assert steer(sim, "hrp2", Sticks(1.0)) is None


def test_sticks_are_parts_of_the_fastest_and_rest_is_a_stop():
    sim = simulator()
    walker: FakeSteeredWalker = sim.drivers["hrp2"].controller
    told = steer(sim, "hrp2", Sticks(0.5, -1.0, 0.2))
    assert told == pytest.approx((0.15, -0.15, 0.1))
    assert walker.told == [told]
    assert steer(sim, "hrp2", REST) is None
    assert walker.stopped == 1


def test_a_hand_acts_once_for_each_new_word(hand):
    for number, forward in enumerate((0.5, 0.5, 0.7, 0.0, 0.0)):
        assert hand.hear(asked(SAID.format(number, forward))).status_code == 204
    assert [sticks.forward for _, sticks in hand.acts] == [0.5, 0.7, 0.0]


def test_what_comes_late_is_dropped(hand):
    hand.hear(asked(SAID.format(5, 0.0)))
    hand.hear(asked(SAID.format(7, 0.4)))
    hand.hear(asked(SAID.format(6, 0.9)))
    assert hand.acts == [("hrp2", Sticks(0.4))]


def test_one_page_does_not_stop_what_another_holds(hand):
    hand.say("hrp2", "a", 1, Sticks(0.5))
    hand.say("hrp2", "b", 1, REST)
    assert hand.acts == [("hrp2", Sticks(0.5))]
    hand.say("hrp2", "b", 2, Sticks(turn=0.3))
    hand.say("hrp2", "b", 3, REST)
    assert hand.acts[1:] == [("hrp2", Sticks(turn=0.3)), ("hrp2", REST)]


def test_a_silent_hand_has_let_go(hand, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(steering.clock, "monotonic", lambda: now[0])
    hand.say("hrp2", "a", 1, Sticks(0.5))
    now[0] += 0.9 * steering.RELEASE_TIMEOUT_S
    hand.tend()
    assert len(hand.acts) == 1
    now[0] += 0.2 * steering.RELEASE_TIMEOUT_S
    hand.tend()
    assert hand.acts[1:] == [("hrp2", REST)]
    hand.say("hrp2", "a", 2, Sticks(0.5))
    hand.let_go()
    hand.let_go()
    assert hand.acts[2:] == [("hrp2", Sticks(0.5)), ("hrp2", REST)]


@pytest.mark.parametrize(
    "query",
    ["", "robot=hrp2", SAID.format("x", 1), SAID.format(1, "nan"), SAID.format(1, "inf")],
)
def test_what_is_no_word_of_the_script_is_refused(hand, query):
    assert hand.hear(asked(query)).status_code == 400
    assert hand.acts == []


def test_numbers_beyond_the_sticks_are_their_ends(hand):
    hand.hear(asked(SAID.format(1, 7.5)))
    assert hand.acts == [("hrp2", Sticks(1.0))]


def test_another_sites_page_cannot_steer(hand):
    # it cannot set the header without asking first, and nobody answers that
    assert hand.hear(asked(SAID.format(1, 1), {})).status_code == 403
    assert hand.hear(asked(SAID.format(1, 1), {"X-Tabi": "other"})).status_code == 403
    assert hand.acts == []


def test_the_gate_hears_sticks_and_only_those_who_may_enter(hand):
    server, gate = open_server("127.0.0.1", 0)

    def get(path, **headers):
        one = http.client.HTTPConnection("127.0.0.1", server.get_port(), timeout=10)
        one.request("GET", path, headers=headers)
        return one.getresponse()

    try:
        # nothing to steer: there is no such file
        assert get(f"/steer?{SAID.format(1, 0.5)}", **OURS).status == 404
        gate.handlers[steering.PATH] = hand.hear
        assert get(f"/steer?{SAID.format(2, 0.5)}", **OURS).status == 204
        assert get(f"/steer?{SAID.format(3, 0.6)}").status == 403
        assert get(f"/steer?{SAID.format(4, 0.6)}", Host="evil.example", **OURS).status == 403
        away = {"Origin": "http://evil.example"} | OURS
        assert get(f"/steer?{SAID.format(5, 0.6)}", **away).status == 403
        assert hand.acts == [("hrp2", Sticks(0.5))]
        assert b"data-tabi-steer" in get("/").read()
    finally:
        server.stop()

"""The cart: what touches what, that it stays, and that it follows the hands."""

from collections import Counter

import numpy as np
import pytest

import tabi
from tabi.scenes import cart

G = 9.81


@pytest.fixture(scope="module")
def held():
    """The scene after two seconds of holding, and where cart and box were."""
    world, robot, body, load = cart.build()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(cart.pose(robot)))
    start = sim.position(body), sim.position(load)
    sim.run(2.0)
    return sim, robot, body, load, start


def test_at_least_67_points_touch_as_the_parts_have_corners(held):
    sim, *_ = held
    points = Counter(frozenset((c.body_a.name, c.body_b.name)) for c in sim.contacts)
    expected = {
        ("left_foot", "world"): 4,
        ("right_foot", "world"): 4,
        ("left_hand", "cart"): 4,
        ("right_hand", "cart"): 4,
    }
    expected |= {("cart", "world"): 4 * 12, ("load", "cart"): 4}
    assert points == {frozenset(pair): count for pair, count in expected.items()}
    assert len(sim.contacts) >= 67


def test_every_step_is_certified(held):
    sim, *_ = held
    assert sim.certificate.missed == 0
    assert sim.certificate.worst_residual <= sim.tolerance


def test_all_that_stands_weighs_on_the_ground_and_the_box_on_the_cart(held):
    sim, robot, body, load, _ = held
    ground = sum(c.force[2] for c in sim.contacts if c.body_b.name == "world")
    on_cart = sum(
        c.force[2] for c in sim.contacts if {c.body_a.name, c.body_b.name} == {"load", "cart"}
    )
    # after 2 s the arms still settle at less than 1e-5 g
    assert ground == pytest.approx(
        (robot.mass + body.inertia.mass + load.inertia.mass) * G, abs=0.01
    )
    assert abs(on_cart) == pytest.approx(3.0 * G, abs=1e-3)


def test_the_hands_press_and_nothing_falls_or_slides(held):
    sim, robot, body, load, start = held
    for hand in ("left_hand", "right_hand"):
        pressing = sum(
            abs(c.force[2]) for c in sim.contacts if hand in (c.body_a.name, c.body_b.name)
        )
        assert 1.0 < pressing < 100.0
    assert not sim.fallen(robot)
    # the sag of the robot moves the hands by less than a millimetre, and the cart with them
    assert np.linalg.norm(sim.position(body) - start[0]) < 1e-3
    assert np.allclose(sim.position(load) - start[1], sim.position(body) - start[0], atol=1e-6)


def test_the_cart_follows_the_hands():
    world, robot, body, _ = cart.build()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, cart.push(robot, start=0.2, duration=0.8, distance=0.04))
    before, hand = sim.position(body), sim.position("right_hand")
    sim.run(1.2)
    moved = sim.position(body) - before
    assert moved[0] == pytest.approx(sim.position("right_hand")[0] - hand[0], abs=1e-3)
    # the robot gives way a little
    assert moved[0] == pytest.approx(0.04, abs=4e-3)
    assert abs(moved[2]) < 1e-6
    assert sim.certificate.missed == 0


def test_the_push_has_the_velocities_of_its_positions():
    robot = tabi.robots.hrp2()
    controller = cart.push(robot, start=0.0, duration=1.0)
    e = 1e-6
    early, now, late = (controller(0.4 + k * e, None) for k in (-1, 0, 1))
    # both arms push
    assert {name[:5] for name in now.velocity} == {"RARM_", "LARM_"}
    for name, rate in now.velocity.items():
        assert rate == pytest.approx(
            (late.position[name] - early.position[name]) / (2 * e), abs=1e-8
        )


def test_the_push_keeps_the_hands_level_and_at_their_height():
    robot = tabi.robots.hrp2()
    controller = cart.push(robot, start=0.0, duration=1.0)
    places = []
    for time in (0.0, 0.5, 1.0):
        robot.set_pose(controller(time, None).position)
        places.append(robot.placements()[robot.body("left_hand")])
    assert np.allclose([X.p[2] for X in places], places[0].p[2], atol=1e-12)
    assert np.allclose([X.R[2] for X in places], places[0].R[2], atol=1e-12)
    assert places[2].p[0] - places[0].p[0] == pytest.approx(0.05, abs=1e-12)

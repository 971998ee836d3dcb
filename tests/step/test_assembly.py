"""From contact points to a problem: frames, groups, friction of pairs, warm starts,
and how overlaps are left.
"""

import numpy as np
import pytest

import tabi
from tabi.model.shape import Box
from tabi.step.depenetration import COMPLIANCE
from tabi.step.rows.contacts import tangents

G = 9.81


def tower(levels=1, friction=0.5, count=1):
    world = tabi.World()
    world.add_ground(friction=friction)
    for k in range(count):
        for level in range(levels):
            world.add_box(
                (0.2, 0.2, 0.2),
                1.0,
                friction=friction,
                position=(0.5 * k, 0, 0.1 + 0.2 * level),
                name=f"box{k}_{level}",
            )
    return world


# axes of a body, row by row
EYE = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def test_tangents_and_normal_are_a_right_handed_frame():
    rng = np.random.default_rng(1)
    normals = [
        *np.eye(3),
        *-np.eye(3),
        *rng.normal(size=(200, 3)),
        (0.9, np.sqrt(0.19), 0.0),
        (1.0, 1e-9, 0.0),
    ]
    for n in normals:
        n = np.array(n) / np.linalg.norm(n)
        t, o = tangents(tuple(n), EYE)
        E = np.array([t, o, n])
        assert np.allclose(E @ E.T, np.eye(3), atol=1e-15 * 10)
        assert np.linalg.det(E) == pytest.approx(1.0, abs=1e-14)


def test_tangents_of_level_ground_are_the_bodys_x_and_y():
    t, o = tangents((0.0, 0.0, 1.0), EYE)
    assert t == (1.0, 0.0, 0.0)
    assert o == (0.0, 1.0, 0.0)


def test_a_standing_tower_starts_where_the_last_step_ended():
    sim = tabi.Simulator(tower(levels=3))
    sim.step()
    assert sim.certificate.contacts == 12
    sim.step()
    assert sim.certificate.iterations <= 1
    sim.run(0.1)
    assert sim.certificate.iterations <= 1


def test_a_warm_start_goes_by_identity_not_by_place_in_the_list():
    sim = tabi.Simulator(tower(count=3))
    sim.run(0.01)
    # the first tower leaves: all rows of the others move up
    q = sim.state.q
    saved = sim.save()
    q[2] += 1.0
    sim._stepper.data.q[:] = q
    sim._stepper.prepare()
    sim.step()
    assert sim.certificate.contacts == 8
    assert sim.certificate.iterations <= 2
    sim.restore(saved)
    assert sim.position("box0_0")[2] == pytest.approx(0.1, abs=1e-7)


def test_towers_apart_are_groups_of_their_own_and_a_plank_makes_them_one():
    world = tower(levels=1, count=2)
    sim = tabi.Simulator(world)
    sim.step()
    assert sim.certificate.groups == 2
    world.add_box((0.9, 0.2, 0.1), 1.0, position=(0.25, 0, 0.25), name="plank")
    sim = tabi.Simulator(world)
    sim.step()
    assert sim.certificate.groups == 1
    # the fixed ground joins nothing, but is joined to all:
    # 4 + 4 points on it, 4 + 4 under the plank
    assert sim.certificate.contacts == 16


def test_each_pair_of_materials_has_its_own_friction():
    world = tower(count=2, friction=0.5)
    world.set_pair("ground", "box1_0", friction=0.1)
    sim = tabi.Simulator(world)
    v = np.zeros(12)
    v[0], v[6] = 0.5, 0.5
    sim.set_state(sim.model.initial(), v)
    sim.run(0.05)
    assert sim.velocity("box0_0").linear[0] == pytest.approx(0.5 - 0.5 * G * 0.05, abs=1e-9)
    assert sim.velocity("box1_0").linear[0] == pytest.approx(0.5 - 0.1 * G * 0.05, abs=1e-9)


def test_deep_overlaps_are_left_at_half_a_metre_per_second():
    world = tabi.World()
    world.add_fixed(Box((1.0, 1.0, 0.2)), (0, 0, -0.1))
    box = world.add_box((0.2, 0.2, 0.2), 1.0, position=(0, 0, 0.095))
    sim = tabi.Simulator(world)
    for k in range(1, 9):
        sim.step()
        assert sim.position(box)[2] == pytest.approx(
            0.095 + 0.5e-3 * k, abs=1e-7 + COMPLIANCE * 0.5e-3 * k
        )
    assert np.abs(sim.state.v).max() < 1e-6

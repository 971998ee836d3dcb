"""Collision groups: what touches is solved together, what does not is not."""

import numpy as np
import pytest

import tabi
from tabi.contact import groups
from tabi.dynamics.inverse_inertia.chain_tables import families

# contacts of a cube with its neighbour or the floor; the world is body 0
FLOOR = 0


def grouped(family, pairs, capacity=None):
    """Number of groups and the arrays."""
    a, b = (
        (np.array(side, np.int64) for side in zip(*pairs, strict=True))
        if pairs
        else (np.zeros(0, np.int64),) * 2
    )
    g = groups.allocate(capacity or len(pairs), len(family))
    return groups.find(np.asarray(family, np.int64), a, b, len(pairs), g), g


def cubes(count):
    world = tabi.World()
    for i in range(count):
        world.add_box(
            size=(0.1, 0.1, 0.1), mass=1.0, position=(0.1 * i, 0.0, 0.05), name=f"cube{i}"
        )
    return families(world.compile())


def test_three_touching_cubes_on_the_floor_are_one_group():
    count, g = grouped(cubes(3), [(1, FLOOR), (2, FLOOR), (3, FLOOR), (1, 2), (3, 2)])
    assert count == 1
    assert g.contact.tolist() == [0] * 5


def test_three_cubes_apart_on_the_same_floor_are_three_groups():
    count, g = grouped(cubes(3), [(3, FLOOR), (1, FLOOR), (2, FLOOR), (1, FLOOR)])
    assert count == 3
    # numbered by their first contact
    assert g.contact.tolist() == [0, 1, 2, 1]
    assert g.order.tolist() == [0, 1, 3, 2]
    assert g.start[:4].tolist() == [0, 1, 3, 4]


def test_what_lies_on_one_mat_is_one_group():
    pairs = [(3, FLOOR), (1, FLOOR), (2, FLOOR), (1, FLOOR)]
    a, b = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    g = groups.allocate(4, 4)
    # the third contact and the first are on one mat
    g.tied[2] = 3
    assert groups.find(np.asarray(cubes(3), np.int64), a, b, 4, g) == 2
    assert g.contact.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("fixed", [0, -1])
def test_what_does_not_move_may_stand_on_either_side(fixed):
    count, g = grouped(cubes(2), [(fixed, 1), (2, fixed), (fixed, fixed)])
    assert (count, g.contact.tolist()) == (2, [0, 1, -1])
    # a contact of nobody is in no group's list
    assert g.order[: g.start[2]].tolist() == [0, 1]


def test_a_robot_is_one_thing_whichever_of_its_bodies_touch():
    world = tabi.World()
    world.add_robot(tabi.robots.hrp2())
    world.add_box(size=(0.1, 0.1, 0.1), mass=1.0)
    model = world.compile()
    hand, foot, box = (model.link(name).body for name in ("left_hand", "right_foot", "box"))
    count, g = grouped(families(model), [(foot, 0), (box, hand), (box, 0)])
    assert count == 1
    assert g.contact.tolist() == [0, 0, 0]


def test_nobody_touches_and_there_are_no_groups():
    count, g = grouped(cubes(3), [], capacity=4)
    assert count == 0
    assert g.start[0] == 0


def connected(pairs, bodies):
    """Groups of bodies by powers of the adjacency matrix: who can be reached from whom."""
    A = np.eye(bodies, dtype=bool)
    for i, j in pairs:
        if i and j:
            A[i, j] = A[j, i] = True
    for _ in range(bodies):
        A = A @ A
    return A


@pytest.mark.parametrize("seed", range(5))
def test_random_contacts_are_grouped_as_the_graph_is_connected(seed):
    rng = np.random.default_rng(seed)
    bodies, contacts = 30, 20
    pairs = [(int(i), int(j)) for i, j in rng.integers(0, bodies, (contacts, 2)) if i or j]
    count, g = grouped(np.arange(bodies), pairs)
    reach = connected(pairs, bodies)
    for k, p in enumerate(pairs):
        for l, q in enumerate(pairs):
            assert (g.contact[k] == g.contact[l]) == reach[max(p), max(q)]
    # a permutation, each group in one piece and in the order given
    assert sorted(g.order) == list(range(len(pairs)))
    for i in range(count):
        part = g.order[g.start[i] : g.start[i + 1]]
        assert (g.contact[part] == i).all()
        assert (np.diff(part) > 0).all()
    # numbers rise with the first contact of each group
    firsts = [g.order[g.start[i]] for i in range(count)]
    assert firsts == sorted(firsts)

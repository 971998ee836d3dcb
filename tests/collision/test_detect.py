"""A whole world: every near pair, in a fixed order, whatever the broad phase has seen before;
and the Python door.
"""

import itertools

import numpy as np
import pytest
from bipeds import hrp2_on_ground
from collision.scenes import KINDS, UNIT, Scene, random_geometry, random_quaternion

import tabi
from tabi import ModelError, collision
from tabi.collision import broad, detect
from tabi.collision.workspace import allocate, point_table
from tabi.dynamics import kinematics


def heap(seed, count=40, spread=0.6):
    """Random shapes in a heap over a plane and two fixed boxes."""
    rng = np.random.default_rng(seed)
    world = tabi.World()
    world.add_ground()
    world.add_fixed(random_geometry("box", rng), (0.3, 0.0, 0.1))
    world.add_fixed(random_geometry("cylinder", rng), (-0.3, 0.0, 0.1))
    for k in range(count):
        place = spread * rng.normal(size=3) + np.array([0, 0, 0.5])
        world.add_object(
            random_geometry(KINDS[k % len(KINDS)], rng), UNIT, place, random_quaternion(rng)
        )
    return Scene(world), rng


def brute_force(scene, q, band):
    """Points of all pairs, one by one."""
    rows = []
    shapes = scene.tables.shape
    for i, k in itertools.combinations(range(len(shapes)), 2):
        if shapes["body"][i] == shapes["body"][k]:
            continue
        a, b = (k, i) if shapes["body"][k] else (i, k)
        rows += [(a, b, *row) for row in scene.pair(q, a, b, band)[["feature", "gap"]].tolist()]
    return sorted(rows, key=lambda row: row[:2])


@pytest.mark.parametrize("seed", range(3))
def test_the_broad_phase_loses_no_point_and_the_order_is_by_shapes_then_features(seed):
    scene, _ = heap(seed)
    q = scene.model.initial()
    points = scene.detect(q, band=0.01)
    found = [tuple(row) for row in points[["shape_a", "shape_b", "feature", "gap"]].tolist()]
    assert found == brute_force(scene, q, 0.01)
    assert len(found) > 30
    assert found == sorted(found, key=lambda row: row[:3])
    assert len({row[:3] for row in found}) == len(found)


def test_points_do_not_depend_on_what_was_seen_before():
    scene, rng = heap(7)
    q = scene.model.initial()
    first = scene.detect(q, band=0.01)
    for _ in range(5):
        scene.detect(q + 0.0 * rng.normal(), band=0.05)
        for k in range(scene.model.body_count):
            other = q.copy()
            other[7 * k : 7 * k + 3] += rng.normal(size=3)
            scene.detect(other, band=0.01)
        rng.shuffle(scene.memory.order)
        scene.memory.axis[0] = rng.integers(3)
        assert scene.detect(q, band=0.01).tobytes() == first.tobytes()


def test_a_moves_always_and_normals_are_units_from_b_to_a():
    scene, _ = heap(11)
    points = scene.detect(band=0.01)
    assert (points["a"] > 0).all()
    assert (points["b"] == 0).any()
    assert (scene.tables.shape["body"][points["shape_a"]] == points["a"]).all()
    np.testing.assert_allclose(np.linalg.norm(points["normal"], axis=1), 1.0, atol=1e-12)
    ground = points[points["shape_b"] == 0]
    np.testing.assert_allclose(ground["normal"], np.tile((0, 0, 1), (len(ground), 1)), atol=1e-15)


def test_more_points_than_rows_are_counted_so_that_the_caller_can_grow():
    scene, _ = heap(3)
    kinematics.positions(scene.model.arrays, scene.model.initial(), scene.work)
    capacity = [4]
    while True:
        rows, memory = point_table(capacity[-1]), allocate(scene.tables, capacity[-1])
        count = detect.detect(scene.model.arrays, scene.tables, scene.work, 0.01, 0.0, memory, rows)
        if count <= len(rows):
            break
        capacity.append(count)
    assert 2 <= len(capacity) <= 3
    assert rows[:count].tobytes() == scene.detect(band=0.01).tobytes()


def test_more_candidate_pairs_than_memory_holds_ask_for_more():
    world = tabi.World()
    for _ in range(40):
        world.add_sphere(0.1, 1.0)
    scene = Scene(world)
    memory = allocate(scene.tables, 1)
    needed = detect.detect(
        scene.model.arrays, scene.tables, scene.work, 0.01, 0.0, memory, point_table(1)
    )
    kinematics.positions(scene.model.arrays, scene.model.initial(), scene.work)
    needed = detect.detect(
        scene.model.arrays, scene.tables, scene.work, 0.01, 0.0, memory, point_table(1)
    )
    assert needed >= 40 * 39 // 2
    assert len(collision.contacts(scene.model, scene.model.initial())) == 40 * 39 // 2


def test_pairs_of_an_earlier_call_neither_come_back_nor_push_a_new_one_out():
    scene, _ = heap(0)
    pair, old = scene.memory.pair, scene.memory.sorted_pair
    # shape 5 came first in the earlier call; now it comes second, and is met first
    pair[:2], old[:2] = [(5, 1), (4, 0)], [(5, 9), (5, 12)]
    broad._sort_pairs(scene.memory, 2)
    assert old[:2].tolist() == [[4, 0], [5, 1]]


def test_pairs_are_sorted_by_both_shapes_whatever_their_order():
    scene, rng = heap(0)
    everything = np.array([(a, b) for a in range(12) for b in range(a)][:60])
    for _ in range(20):
        count = int(rng.integers(1, 60))
        some = everything[np.sort(rng.permutation(len(everything))[:count])]
        scene.memory.pair[:count] = rng.permutation(some)
        broad._sort_pairs(scene.memory, count)
        assert np.array_equal(scene.memory.sorted_pair[:count], some)


@pytest.mark.slow
def test_candidates_grow_with_the_number_of_bodies_not_with_its_square():
    counts = []
    for n in (64, 256):
        world = tabi.World()
        world.add_ground()
        for k in range(n):
            world.add_box((0.1, 0.1, 0.1), 1.0, position=(0.2 * k, 0.0, 0.05))
        scene = Scene(world)
        scene.place(scene.model.initial())
        counts.append(broad.candidates(scene.tables, scene.memory, 1e-3))
    assert counts == [64, 256]


def test_contacts_name_their_links():
    world = tabi.World()
    world.add_ground()
    world.add_box((0.2, 0.2, 0.2), 1.0, position=(0, 0, 0.1), name="lower")
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.25), name="upper")
    model = world.compile()
    found = collision.contacts(model, model.initial())
    assert [(c.link_a, c.link_b) for c in found] == [("lower", "world")] * 4 + [
        ("upper", "lower")
    ] * 4
    assert found[0].position.tolist() == pytest.approx([-0.1, -0.1, 0.0])
    assert all(abs(c.gap) < 1e-12 for c in found)


def test_distance_of_links_is_signed_and_symmetric():
    world = tabi.World()
    world.add_ground()
    world.add_sphere(0.1, 1.0, position=(0, 0, 0.5), name="high")
    world.add_sphere(0.1, 1.0, position=(3, 0, 0.05), name="low")
    model = world.compile()
    q = model.initial()
    assert collision.distance(model, q, "high", "low") == pytest.approx(np.hypot(3, 0.45) - 0.2)
    assert collision.distance(model, q, "low", "high") == pytest.approx(np.hypot(3, 0.45) - 0.2)
    assert collision.distance(model, q, "high", "world") == pytest.approx(0.4)
    assert collision.distance(model, q, "world", "low") == pytest.approx(-0.05)


def test_bad_questions_are_answered_with_a_sentence():
    world = tabi.World()
    world.add_box((0.2, 0.2, 0.2), 1.0)
    model = world.compile()
    with pytest.raises(ModelError, match="the band is nan m"):
        collision.contacts(model, model.initial(), band=float("nan"))
    with pytest.raises(ModelError, match="body 'bix' not found"):
        collision.distance(model, model.initial(), "bix", "box")
    with pytest.raises(ModelError, match="'world' has no collision shape"):
        collision.distance(model, model.initial(), "box", "world")
    with pytest.raises(ModelError, match="expected a finite number"):
        collision.contacts(model, np.full(7, np.nan))


def test_hrp2_stands_on_the_eight_corners_of_its_soles():
    world, _ = hrp2_on_ground()
    model = world.compile()
    found = collision.contacts(model, model.initial())
    assert sorted({c.link_a for c in found}) == ["left_foot", "right_foot"]
    assert len(found) == 8
    assert all(abs(c.gap) < 1e-9 for c in found)

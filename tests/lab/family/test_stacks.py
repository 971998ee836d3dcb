"""Walls, towers, piles, plates and single contacts, against closed forms."""

import numpy as np
import pytest
from contact.plain import matrices

from tabi.contact import solve_problem
from tabi.lab.family import case, piles, plates, stacks
from tabi.lab.family.case import STEP, as_problem
from tabi.lab.family.walls import wall

G = 9.81


def normals(p, tolerance=1e-10):
    """Normal impulses of the solution [N·s]."""
    solution = solve_problem(as_problem(p), tolerance)
    assert solution.converged
    return solution.impulse[2::3]


def masses(p):
    return 1 / p.omega[:, 3, 3]


@pytest.mark.parametrize(("columns", "rows"), [(2, 2), (3, 4), (5, 7), (10, 14), (6, 26)])
def test_a_wall_has_the_bricks_and_contacts_of_its_formula(columns, rows):
    p = wall(columns, rows, 0.0, 0.5, np.random.default_rng(0))
    assert len(p.start) - 1 == rows * columns - rows // 2
    assert len(p.mu) == 4 * (columns + 2 * (rows - 1) * (columns - 1))
    assert (p.contact["b"] == -1).sum() == 4 * columns


@pytest.mark.parametrize(("columns", "rows"), [(2, 2), (3, 4), (4, 4)])
def test_a_wall_at_rest_stands_on_the_ground_with_its_weight(columns, rows):
    p = wall(columns, rows, 0.0, 0.6, np.random.default_rng(0))
    impulse = normals(p)
    assert impulse[p.contact["b"] == -1].sum() == pytest.approx(
        masses(p).sum() * G * STEP, rel=1e-7
    )


def test_bricks_move_as_fast_as_asked():
    rng = np.random.default_rng(1)
    for speed in (0.001, 0.2):
        p = wall(8, 10, speed, 0.6, rng)
        # relative velocities of points on two shaken bodies, less a step of gravity at the ground
        assert speed < np.abs(p.q.reshape(-1, 3)[p.contact["b"] >= 0]).max() < 20 * speed


def test_each_face_of_a_tower_carries_the_weight_above_it():
    rng = np.random.default_rng(2)
    for levels in (2, 5, 12):
        size = rng.uniform(0.1, 0.12, (levels, 3))
        mass = rng.uniform(0.5, 5.0, levels)
        p = stacks.stack(mass, size, rng.uniform(-0.005, 0.005, (levels, 2)), 0.5)
        impulse = normals(p).reshape(levels, 4).sum(axis=1)
        above = np.cumsum(mass[::-1])[::-1]
        assert np.allclose(impulse, above * G * STEP, rtol=1e-6)


def test_towers_are_two_to_forty_high_and_some_at_rest():
    heights = []
    for index in range(24):
        p = case("tower", index, seed=0).bodies
        assert p is not None
        heights.append(len(masses(p)))
        assert len(p.mu) == 4 * heights[-1]
        assert ((p.mu >= 0.2) & (p.mu <= 1)).all()
        if index % 4 == 0:
            # only gravity, and only at the ground
            assert np.allclose(p.q.reshape(-1, 3)[p.contact["b"] >= 0], 0, atol=1e-15)
    assert min(heights) <= 4
    assert 20 <= max(heights) <= 40


def test_mass_ratios_are_ten_to_ten_thousand():
    ratios = []
    for index in range(24):
        p = case("mass ratio", index, seed=0).bodies
        assert p is not None
        ratios.append(masses(p).max() / masses(p).min())
        # the top of a stack is never the light one, except where light and heavy alternate
        if index % 3 != 2:
            assert masses(p).argmax() == len(masses(p)) - 1
    assert 10 <= min(ratios) < 100
    assert 1e3 < max(ratios) <= 1e4 * (1 + 1e-12)


def test_a_heavy_box_on_light_ones_presses_with_its_weight():
    for index in (0, 4, 8):
        p = case("mass ratio", index, seed=1).bodies
        assert p is not None
        impulse = normals(p)
        above = np.cumsum(masses(p)[::-1])[::-1]
        # to the tolerance in velocities, which times the heaviest mass is the error of an impulse
        assert np.allclose(impulse.reshape(-1, 4).sum(axis=1), above * G * STEP, rtol=1e-4)


def test_a_pile_lies_on_the_ground_and_could_fly_apart():
    rng = np.random.default_rng(3)
    for blocks in (0.0, 0.5, 1.0):
        p = piles.pile(30, blocks, 0.0, 1.0, rng)
        assert (p.contact["b"] == -1).any()
        assert ((p.mu >= 0.25) & (p.mu <= 1)).all()
        # every body has a contact
        assert set(p.contact["a"]) | set(p.contact["b"][p.contact["b"] >= 0]) == set(
            range(len(p.start) - 1)
        )
        # the velocity field v = x, away from a place on the ground,
        # opens every contact straight along its normal
        apart = np.where(
            (p.contact["b"] >= 0)[:, None],
            p.contact["arm_b"] - p.contact["arm_a"],
            -p.contact["arm_a"],
        )
        assert (np.einsum("ij,ij->i", p.contact["frame"][:, 6:], apart) > 0).all()
        if blocks == 0.0:
            # balls are touched where the line of centres meets them: arms along the normal
            assert np.allclose(
                np.cross(p.contact["arm_a"], p.contact["frame"][:, 6:]), 0, atol=1e-12
            )


def test_balls_of_a_heap_touch_and_hardly_overlap():
    centre, radius = piles.heap(np.random.default_rng(4), 40)
    distance = (
        np.linalg.norm(centre[:, None] - centre[None], axis=2) - radius[:, None] - radius[None]
    )
    distance[np.diag_indices(40)] = np.inf
    # a fiftieth of the smallest sum of radii counts as touching
    assert distance.min() > -0.25 * radius.min()
    assert (distance < 0.02 * 0.06).any(axis=1).sum() > 25
    assert (centre[:, 2] - radius).min() == pytest.approx(0, abs=1e-15)


def test_a_sliding_plate_loses_mu_g_h_of_its_speed():
    rng, mu = np.random.default_rng(5), 0.3
    for count in (4, 16, 64):
        velocity = np.array([0.8, -0.6, 0.0])
        p = plates.plate(count, mu, np.array([0, 0, 0, *velocity]), rng)
        solution = solve_problem(as_problem(p), 1e-11)
        assert solution.converged
        J, omega = matrices(p)
        mass = masses(p)[0]
        wrench = J.T @ solution.impulse
        assert wrench[5] == pytest.approx(mass * G * STEP, rel=1e-6)
        assert np.allclose(wrench[3:5], -mu * mass * G * STEP * velocity[:2], rtol=1e-6, atol=1e-9)
        assert np.allclose((omega @ wrench)[3:5], -mu * G * STEP * velocity[:2], rtol=1e-6)


@pytest.mark.slow
def test_plates_have_three_to_64_points_in_one_plane():
    counts = []
    for index in range(30):
        p = case("plate", index, seed=0).bodies
        assert p is not None
        counts.append(len(p.mu))
        assert len(p.start) == 2
        assert np.ptp(p.contact["arm_a"][:, 2]) < 1e-15
        W = matrices(p)
        assert np.linalg.matrix_rank(W[0] @ W[1] @ W[0].T) <= 6
    assert min(counts) <= 5
    assert 40 <= max(counts) <= 64


def test_single_contacts_have_every_friction_and_most_of_them_close():
    p = [case("single", index, seed=0).bodies for index in range(60)]
    mu = [float(x.mu[0]) for x in p if x is not None]
    assert {len(x.mu) for x in p if x is not None} == {1}
    assert {0.0, 3.0} <= set(mu)
    closing = sum(x.q[2] < 0 for x in p if x is not None)
    assert 40 <= closing < 60
    assert {len(x.start) - 1 for x in p if x is not None} == {1, 2}

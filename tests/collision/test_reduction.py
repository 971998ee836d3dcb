"""Which points of a patch stay."""

import numpy as np

from tabi.collision.arrays import MAX_POINTS
from tabi.collision.reduction import corners_only, lowest_by_tilts, next_name, outermost
from tabi.collision.workspace import CROSSING
from tabi.model.arrays import table


def patch_of(places, gaps=None):
    rows = table(len(places), CROSSING)
    rows["u"], rows["v"] = np.asarray(places, float).T
    rows["a"] = 0.0 if gaps is None else gaps
    rows["name"], rows["is_kept"] = 1 + np.arange(len(places))[::-1], 1
    return rows


def test_points_on_the_sides_of_a_square_go_and_its_corners_stay():
    corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
    rows = patch_of([*corners, (0.5, 0.0), (1.0, 0.25), (0.3, 1.0), (0.6, 1.0)])
    corners_only(rows, len(rows), 1e-6)
    assert rows["is_kept"].tolist() == [1, 1, 1, 1, 0, 0, 0, 0]


def test_the_corners_of_an_octagon_stay():
    angles = np.arange(8) * np.pi / 4
    rows = patch_of(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    corners_only(rows, 8, 1e-6)
    assert rows["is_kept"].all()


def test_of_sixteen_all_stay_and_of_more_the_deepest_and_the_outermost():
    rng = np.random.default_rng(0)
    rows = patch_of(rng.normal(size=(MAX_POINTS, 2)))
    outermost(rows, MAX_POINTS, 0.0, 0.0)
    assert rows["is_kept"].sum() == MAX_POINTS
    places = rng.normal(size=(60, 2))
    places[17] = 0.0
    gaps = rng.uniform(0, 1, 60)
    gaps[17] = -1.0
    rows = patch_of(places, gaps)
    outermost(rows, 60, 0.0, 0.0)
    assert rows["is_kept"].sum() <= MAX_POINTS
    assert rows["is_kept"][17] == 1
    assert rows["is_kept"][places[:, 0].argmax()] == 1
    # nothing is left out that reaches farther than what stays, by more than the directions miss
    far = np.linalg.norm(places, axis=1).argmax()
    kept = np.linalg.norm(places[rows["is_kept"] == 1], axis=1)
    assert kept.max() >= np.cos(np.pi / 14) * np.linalg.norm(places[far])


def test_points_come_in_the_order_of_their_names():
    rows = patch_of([(0, 0), (1, 0), (0, 1), (1, 1)])
    rows["is_kept"][2] = 0
    order, name = [], 0
    while True:
        k = next_name(rows, 4, name)
        if k < 0:
            break
        name = rows["name"][k]
        order.append(k)
    assert order == [3, 1, 0]


def test_tilts_keep_the_low_points_of_a_bowl_and_the_outline_of_a_plate():
    rng = np.random.default_rng(2)
    places = rng.uniform(-1, 1, size=(80, 2))
    bowl, plate = (places**2).sum(axis=1), np.zeros(80)
    rows = patch_of(places, bowl)
    # a tilt θ makes the point at θ/2 the lowest
    lowest_by_tilts(rows, 80, 0.0, 0.0, 1 / 0.6)
    kept = np.linalg.norm(places[rows["is_kept"] == 1], axis=1)
    assert 4 <= len(kept) <= MAX_POINTS
    assert kept.max() < 0.6
    assert rows["is_kept"][bowl.argmin()] == 1
    flat, outer = patch_of(places, plate), patch_of(places, plate)
    lowest_by_tilts(flat, 80, 0.0, 0.0, 1 / 0.6)
    outermost(outer, 80, 0.0, 0.0)
    assert (flat["is_kept"] == outer["is_kept"]).all()
    # the one that is lowest after a turn stays: the plane falls along u
    lowest_by_tilts(rows := patch_of(places, bowl), 80, -1.2, 0.0, 1 / 0.6)
    assert rows["is_kept"][(bowl - 1.2 * places[:, 0]).argmin()] == 1

"""Outlines by some of their own corners."""

import numpy as np
import pytest

from tabi.model.body import convex_outline
from tabi.spatial.coarser_outline import coarser, outlines


def arc(middle, radius, start, end, count):
    turn = np.radians(np.linspace(start, end, count))
    return np.asarray(middle) + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)


def flat(points):
    return np.column_stack([points, np.zeros(len(points))])


def rounded_rectangle():
    corners = [((0.08, 0.03), 0), ((-0.08, 0.03), 90), ((-0.08, -0.03), 180), ((0.08, -0.03), 270)]
    return np.concatenate([arc(at, 0.01, start, start + 90, 9) for at, start in corners])


def tapered():
    """A sole wider at the toes, the same on both sides."""
    toes, heel = arc((0.1, 0.0), 0.05, -97, 97, 31), arc((-0.1, 0.0), 0.03, 97, 263, 25)
    return np.concatenate([toes, heel])


def left_sole():
    """The outline of a left sole: straight inside, bent outside."""
    return convex_outline(
        "left",
        np.concatenate(
            [
                arc((0.1, 0.01), 0.035, -90, 100, 33),
                arc((0.02, -0.04), 0.09, 95, 120, 11),
                arc((-0.1, 0.0), 0.025, 120, 270, 21),
            ]
        ),
    )


SOLES = {"rounded": rounded_rectangle(), "tapered": tapered(), "left": left_sole()}


def reach(points, count=720):
    turn = np.arange(count) * 2 * np.pi / count
    return (points @ np.stack([np.cos(turn), np.sin(turn)])).max(axis=0)


def to_edges(points, corners):
    """Distances of points to the nearest edge of a polygon [m]."""
    ends = np.roll(corners, -1, axis=0) - corners
    way = points[:, None] - corners
    share = np.clip((way * ends).sum(axis=2) / (ends**2).sum(axis=1), 0, 1)
    return np.linalg.norm(way - share[..., None] * ends, axis=2).min(axis=1)


@pytest.mark.parametrize("tolerance", [3e-4, 1e-3, 4e-3])
@pytest.mark.parametrize("sole", SOLES)
def test_an_outline_ends_nowhere_later_and_at_most_the_tolerance_earlier(sole, tolerance):
    points = SOLES[sole]
    rows, lost = coarser(flat(points), tolerance)
    less = reach(points) - reach(points[rows])
    assert 3 <= len(rows) < len(points)
    assert 0 <= less.min() <= less.max() <= lost + 1e-15 <= tolerance + 1e-15
    # in the middle of an edge it is that far
    assert less.max() == pytest.approx(lost, rel=0.05)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("yaw", [0.0, 37.0, 90.0, 211.0])
@pytest.mark.parametrize("sole", SOLES)
def test_turned_and_mirrored_outlines_keep_the_same_corners(sole, yaw, mirrored):
    points = SOLES[sole]
    rows, lost = coarser(flat(points), 1e-3)
    c, s = np.cos(np.radians(yaw)), np.sin(np.radians(yaw))
    moved = points @ np.array([[c, s], [-s, c]]) + [0.3, -0.2]
    order = np.roll(np.arange(len(points)), 7)
    if mirrored:
        moved, order = moved * [1.0, -1.0], order[::-1]
    again, also = coarser(flat(moved[order]), 1e-3)
    assert set(order[again]) == set(rows)
    assert also == pytest.approx(lost, abs=1e-15)


@pytest.mark.parametrize("sole", ["rounded", "tapered"])
def test_outlines_that_are_their_own_mirror_images_stay_so(sole):
    points = SOLES[sole]
    kept = points[coarser(flat(points), 1e-3)[0]]
    away = np.linalg.norm(kept[:, None] * [1.0, -1.0] - kept[None], axis=2).min(axis=1)
    assert away.max() < 1e-12


def test_no_corner_stays_that_could_go_alone():
    made, random = 0, np.random.default_rng(0)
    for _ in range(40):
        points = convex_outline("any", random.normal(size=(400, 2)) * [0.1, 0.04])
        rows, _ = coarser(flat(points), 2e-3)
        for row in rows[: len(rows) if len(rows) > 4 else 0]:
            others = points[rows[rows != row]]
            assert to_edges(points, others).max() > 2e-3
            made += 1
    assert made > 200


def test_a_circle_is_halved_until_its_sagitta_is_small():
    points = arc((0.0, 0.0), 0.0385, 0, 360 * 63 / 64, 64)
    rows, lost = coarser(flat(points), 1e-3)
    # r (1 − cos(π/n)): 2.9 mm for 8 corners, 0.74 mm for 16
    assert len(rows) == 16
    assert lost == pytest.approx(0.0385 * (1 - np.cos(np.pi / 16)), rel=1e-12)


def test_squares_and_triangles_have_axes_too():
    for n in (3, 4):
        corners = arc((0.0, 0.0), 0.1, 11.0, 11.0 + 360 * (n - 1) / n, n)
        ends = np.roll(corners, -1, axis=0)
        share = np.linspace(0, 1, 10, endpoint=False)[:, None]
        points = np.concatenate([a + share * (b - a) for a, b in zip(corners, ends, strict=True)])
        rows, lost = coarser(flat(points), 1e-3)
        assert set(rows) == {10 * k for k in range(n)}
        assert lost < 1e-15


def test_points_on_straight_edges_go():
    x = np.linspace(0.0, 0.2, 21)
    points = np.concatenate([np.stack([x, 0 * x], 1), np.stack([x[::-1], 0 * x + 0.1], 1)])
    rows, lost = coarser(flat(points), 1e-9)
    assert rows.tolist() == [0, 20, 21, 41]
    assert lost < 1e-15


def test_corners_that_lie_lower_than_their_neighbours_stay():
    points = flat(np.array([[0, 0], [0.1, -1e-4], [0.2, 0], [0.2, 0.1], [0, 0.1]]))
    assert 1 not in coarser(points, 1e-3)[0]
    points[1, 2] = -1.1e-3
    assert 1 in coarser(points, 1e-3)[0]


def test_outlines_are_found_one_in_the_other_through_the_lowest_points():
    ring = SOLES["left"]
    points = np.concatenate([flat(ring), flat(0.5 * ring), flat(ring)])
    points[:, 2] = np.repeat([1e-3, 5e-4, 0.0], len(ring))
    found = outlines(points, np.arange(len(points)))
    n = len(ring)
    assert [set(loop) for loop in found] == [
        set(range(2 * n, 3 * n)),
        set(range(n)),
        set(range(n, 2 * n)),
    ]
    # in order, counter-clockwise
    step = np.roll(points[found[0]], -1, axis=0) - points[found[0]]
    turn = np.roll(step, -1, axis=0)
    assert (step[:, 0] * turn[:, 1] > step[:, 1] * turn[:, 0]).all()


@pytest.mark.parametrize("count", [0, 3, 9])
def test_points_in_a_line_and_few_points_have_no_outline(count):
    points = flat(np.stack([np.linspace(0, 1, count), np.linspace(0, 0.3, count)], axis=1))
    assert outlines(points, np.arange(count)) == []

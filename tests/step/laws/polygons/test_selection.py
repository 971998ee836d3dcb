"""Constraint selection: forces of states by plain matrices, rules one by one, and the search."""

import numpy as np
import pytest

from tabi.lab.validate import foot_states
from tabi.step.laws.polygons import polygons, selection, selection_search
from tabi.step.laws.polygons.polygon_states import (
    EDGE,
    FACE,
    NONE,
    VERTEX,
    corners,
    decode,
    encode,
    holds,
    places,
    state_count,
)
from tabi.step.laws.polygons.selection import FORCE, FRICTION, GEOMETRY, MOTION, PRESSURE

TOLERANCE = 1e-9


def plate(twist, gap=(0.0, 0.0, 0.0, 0.0), mu=0.5, mass=2.0):
    """A free plate of 2 kg, 0.2 m × 0.1 m, that would move with a twist (impulses are in N·s)."""
    P = polygons.allocate(4, 2)
    P.count[0], P.start[1], P.row[:] = 1, 4, np.arange(4)
    P.x[:], P.y[:] = (-0.1, 0.1, 0.1, -0.1), (-0.05, -0.05, 0.05, 0.05)
    inertia = mass * np.array([0.1**2, 0.2**2, 0.1**2 + 0.2**2]) / 12
    P.A[:6, :6] = np.diag([*(1 / inertia), *3 * [1 / mass]])
    P.gap[:], P.mu[0], P.span[0] = gap, mu, np.hypot(0.1, 0.05)
    P.b[:6] = twist
    P.free[:] = P.b[5] + P.b[0] * P.y - P.b[1] * P.x
    return P, selection.allocate(P, 1000)


def evaluated(P, s, kind, i=0, slides=False, pressure=True):
    s.state[0] = encode(kind, i, slides, 4)
    s.base[0] = state_count(4)
    return selection.evaluate(P, s, TOLERANCE, pressure)


def test_states_are_numbered_without_gaps():
    for n in (1, 2, 3, 8):
        seen = [decode(state, n) for state in range(state_count(n))]
        assert len(set(seen)) == len(seen)
        assert [encode(*state, n) for state in seen] == list(range(state_count(n)))
        assert seen[0] == (NONE, 0, False)
    # one corner: none and a vertex; two: an edge as well; more: as many edges, and a face
    assert [places(n) for n in (1, 2, 3, 8)] == [2, 4, 8, 18]
    assert [corners(kind, 8) for kind in (NONE, VERTEX, EDGE, FACE)] == [0, 1, 2, 8]
    assert [holds(EDGE, 7, j, 8) for j in range(8)] == [True, *6 * [False], True]


def test_a_plate_that_lands_flat_is_held_by_its_face_with_its_momentum():
    P, s = plate((0, 0, 0, 0.1, 0, -0.5))
    assert evaluated(P, s, FACE) == 0
    np.testing.assert_allclose(s.wrench[:6], (0, 0, 0, -0.2, 0, 1.0), atol=1e-9)
    np.testing.assert_allclose(s.twist[:6], 0, atol=1e-9)


def test_a_plate_that_slides_has_the_friction_of_its_load_against_its_motion():
    # 1.5 m/s along (3, 4)/5, closing with 0.5 m/s: friction takes μ 0.5 m/s off
    P, s = plate((0, 0, 0, 0.9, 1.2, -0.5), mu=0.4)
    assert evaluated(P, s, FACE) > 0
    assert evaluated(P, s, FACE, slides=True) == 0
    np.testing.assert_allclose(s.twist[3:5], np.array([0.6, 0.8]) * (1.5 - 0.4 * 0.5), atol=1e-9)
    np.testing.assert_allclose(s.wrench[:6], (0, 0, 0, -0.24, -0.32, 1.0), atol=1e-9)


def test_a_plate_that_comes_to_rest_sticks():
    P, s = plate((0, 0, 0, 0.1, 0.0, -0.5), mu=0.4)
    assert evaluated(P, s, FACE, slides=True) > 0
    assert s.count[0, FRICTION] == 1
    assert evaluated(P, s, FACE) == 0


def test_what_sticks_slides_where_it_needs_more_than_its_cone():
    for speed, violated in ((0.19, 0), (0.21, 1)):
        # μ v_n is 0.2 m/s
        P, s = plate((0, 0, 0, 0.6 * speed, 0.8 * speed, -0.5), mu=0.4)
        evaluated(P, s, FACE)
        assert s.count[0, FRICTION] == violated


def test_an_edge_that_lands_is_a_hinge():
    # plate tilted about y, its edge from corner 1 to 2 down: by angular momentum about the edge
    v, r, I = 0.3, 0.1, 2.0 * 0.2**2 / 12
    P, s = plate((0, 0, 0, 0, 0, -v), gap=(0.02, 0.0, 0.0, 0.02))
    assert evaluated(P, s, EDGE, 1) == 0
    turn = 2.0 * r * v / (I + 2.0 * r * r)
    np.testing.assert_allclose(s.twist[:6], (0, -turn, 0, 0, 0, -r * turn), atol=1e-9)
    assert s.wrench[5] == pytest.approx(2.0 * (v - r * turn))


def test_a_vertex_that_lands_is_a_ball_joint():
    P, s = plate((0, 0, 0, 0, 0, -0.3), gap=(0.05, 0.03, 0.0, 0.02))
    # far above the others: nothing else touches, and there is friction enough
    P.mu[0] = 10.0
    assert evaluated(P, s, VERTEX, 2) == 0
    at = s.twist[3:6] + np.cross(s.twist[:3], (P.x[2], P.y[2], 0.0))
    np.testing.assert_allclose(at, 0, atol=1e-12)
    assert s.wrench[5] > 0
    np.testing.assert_allclose(
        s.wrench[:3], np.cross((P.x[2], P.y[2], 0), s.wrench[3:6]), atol=1e-12
    )


RULES = [
    # twist, gaps, state, first rule that is violated
    ((0, 0, 0, 0, 0, 0.5), (0, 0, 0, 0), (FACE, 0), FORCE),
    ((0, 30.0, 0, 0, 0, -0.5), (0, 0, 0, 0), (FACE, 0), PRESSURE),
    ((0, 0, 0, 0, 0, -0.5), (2e-3, 2e-3, 0, 0), (FACE, 0), GEOMETRY),
    ((0, 0, 0, 0, 0, 0.5), (-2e-3, 0, 0, 0), (NONE, 0), GEOMETRY),
    ((0, 0, 0, 0, 0, -0.5), (0, 0, 0, 0), (NONE, 0), MOTION),
    ((0, 0, 0, 0, 0, -0.5), (0, 0, 0, 0), (EDGE, 1), MOTION),
    ((30.0, 0, 0, 0, 0, -0.5), (0, 0, 0, 0), (EDGE, 1), PRESSURE),
    ((0, 0, 0, 2.0, 0, -0.5), (0, 0, 0, 0), (FACE, 0), FRICTION),
]


@pytest.mark.parametrize(("twist", "gap", "state", "rule"), RULES)
def test_each_rule_is_violated_by_what_it_is_about(twist, gap, state, rule):
    P, s = plate(twist, gap)
    assert evaluated(P, s, *state) > 0
    assert s.count[0].nonzero()[0][0] == rule


@pytest.mark.parametrize(("twist", "gap", "state", "rule"), RULES)
def test_the_search_mends_it(twist, gap, state, rule):
    P, s = plate(twist, gap)
    evaluated(P, s, *state)
    left, tried = selection_search.exact(P, s, TOLERANCE, True, 1000)
    best, states = selection_search.every_state(P, s, TOLERANCE, True)
    assert left == best
    assert tried <= states == 19
    assert s.count[0, rule] == 0


def test_a_right_state_is_kept_without_trying_another():
    # no weight on a plate at rest: held or not, all is right, and the last state stays
    P, s = plate((0, 0, 0, 0, 0, 0))
    for state in ((FACE, 0), (EDGE, 2), (NONE, 0)):
        assert evaluated(P, s, *state) == 0
        before = s.state[0]
        assert selection_search.exact(P, s, TOLERANCE, True, 10) == (0, 1)
        assert s.state[0] == before


def test_without_the_rule_of_pressure_corners_pull_before_the_pressure_point_is_at_an_edge():
    # corners of a rectangle pull where |x|/a + |y|/b of the pressure point is more than 1
    P, s = plate((0, 0, 0, 0, 0, -0.5))
    for x, y, pulled in ((0.04, 0.02, 0), (0.06, 0.03, 1)):
        P.b[0], P.b[1] = -y * 1.0 / (2.0 * 0.1**2 / 12), x * 1.0 / (2.0 * 0.2**2 / 12)
        P.free[:] = P.b[5] + P.b[0] * P.y - P.b[1] * P.x
        assert evaluated(P, s, FACE) == 0
        pressure = (-s.wrench[1] / s.wrench[5], s.wrench[0] / s.wrench[5])
        assert pressure == pytest.approx((x, y))
        evaluated(P, s, FACE, pressure=False)
        assert s.count[0, FORCE] == pulled


def test_one_step_corrects_all_corners_at_once():
    P, s = plate((0, 0, 0, 0, 0, -0.5))
    evaluated(P, s, NONE)
    assert selection_search.one_step(P, s, TOLERANCE, True) == (0, 2)
    assert decode(s.state[0], 4) == (FACE, 0, False)
    P, s = plate((0, 0, 0, 2.0, 0, -0.5))
    evaluated(P, s, NONE)
    assert selection_search.one_step(P, s, TOLERANCE, True) == (0, 3)
    assert decode(s.state[0], 4) == (FACE, 0, True)


def test_weights_keep_the_order_of_the_rules():
    # one corner that is too low against three that are pulled: N lower ones never outweigh it
    P, s = plate((0, 0, 0, 0, 0, 0))
    s.state[0], s.count[:] = encode(FACE, 0, False, 4), 0
    s.count[0, GEOMETRY], s.count[0, FORCE] = 1, 3
    s.want[:], s.weight[:] = (1, 0, 0, 0), (GEOMETRY, FORCE, FORCE, FORCE)
    assert decode(selection_search.nearest(P, s, 0), 4) == (VERTEX, 0, False)


def test_a_sole_rolls_over_to_the_next_corner():
    # nothing is held, and corner 2 is the lowest at the end of the step
    P, s = plate((0.5, -0.2, 0, 0, 0, -0.5))
    P.b[0], P.b[1] = -1.0, 1.0
    P.free[:] = P.b[5] + P.b[0] * P.y - P.b[1] * P.x
    evaluated(P, s, NONE)
    assert decode(selection_search.next_corner_state(P, s, 0), 4) == (VERTEX, 2, False)
    # on corner 2 it comes down on 1 or 3, whichever is lower
    for turn, edge in (((5.0, 0.0), 1), ((0.0, -5.0), 2)):
        P, s = plate((*turn, 0, 0, 0, -0.5), mu=10.0)
        evaluated(P, s, VERTEX, 2, slides=True)
        assert s.count[0, MOTION] > 0
        assert decode(selection_search.next_corner_state(P, s, 0), 4) == (EDGE, edge, True)
    # what is right stays
    evaluated(P, s, FACE)
    assert selection_search.next_corner_state(P, s, 0) == s.state[0]


def test_the_state_of_the_last_step_is_known_from_its_impulses():
    P, s = plate((0, 0, 0, 0, 0, -0.5))
    for kind, i, slides in (
        (NONE, 0, False),
        (VERTEX, 3, False),
        (EDGE, 3, True),
        (EDGE, 1, False),
        (FACE, 0, False),
        (FACE, 0, True),
    ):
        impulse = np.zeros(12)
        for j in range(4):
            if holds(kind, i, j, 4):
                impulse[3 * j : 3 * j + 3] = (-0.5 if slides else -0.1, 0.0, 1.0)
        selection_search.begin(P, s, impulse)
        assert decode(s.state[0], 4) == (kind, i, slides)


def test_a_yaw_moment_of_what_sticks_is_no_sliding():
    # each corner pushes sideways with more than its friction, and all of them together not at all
    P, s = plate((0, 0, 0, 0, 0, -0.5))
    turning = np.column_stack([-20.0 * P.y, 20.0 * P.x, np.ones(4)])
    selection_search.begin(P, s, turning.ravel())
    assert decode(s.state[0], 4) == (FACE, 0, False)


@pytest.mark.slow
def test_the_search_is_as_good_as_all_states():
    # a part of what ``tabi validate selection`` does
    result = foot_states.FootStates(problems=300, large=1).run()
    assert result["within"]
    small = result["figures"]["4 to 8 corners"]
    assert small["problems"] == 300
    assert small["with_a_right_state"] > 150
    assert small["states_tried_share"] < 0.6
    assert "ended worse than all states in 0" in foot_states.FootStates().text(result)

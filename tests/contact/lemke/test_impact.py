"""Impacts without friction: known bounces, the law itself, and energy, which is never made."""

import numpy as np
import pytest

from tabi import contact
from tabi.contact import ProblemError
from tabi.contact.lemke import impact, lemke

# contacts of balls in a row: of each two neighbours how fast they part
ROW = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])


def hit(J, M, v, restitution):
    """The impact, and the velocities of the bodies after it."""
    inverse = np.linalg.inv(M)
    found = contact.solve_impact(J @ inverse @ J.T, J @ v, restitution)
    return found, v + inverse @ J.T @ found.impulse


def energy(M, v):
    return 0.5 * v @ M @ v


def random_impact(rng, closing=False):
    """Bodies with random mass, directions of contacts between them and velocities;
    rows may depend on each other.
    """
    size, count = int(rng.integers(1, 13)), int(rng.integers(1, 9))
    L = rng.normal(size=(size, size))
    J = rng.normal(size=(count, size)) * (rng.random((count, size)) < 0.7)
    J[:, 0] += 0.1
    if rng.random() < 0.3:
        # the corners of a foot
        J[-1] = J[: max(1, count - 1)].mean(axis=0)
    v = rng.normal(size=size)
    if closing:
        J[J @ v > 0] *= -1
    return J, L @ L.T / size + 0.1 * np.eye(size), v


@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
def test_a_ball_leaves_the_ground_at_epsilon_times_its_speed(restitution):
    m, speed = 0.4, 3.0
    found, v = hit(np.eye(1), m * np.eye(1), np.array([-speed]), restitution)
    assert v[0] == pytest.approx(restitution * speed)
    assert found.impulse[0] == pytest.approx((1 + restitution) * m * speed)
    assert found.energy == pytest.approx(-(1 - restitution**2) * 0.5 * m * speed**2)
    assert (found.solved, found.factor) == (True, 1.0)


def test_touching_balls_of_newtons_cradle_go_as_the_law_says():
    found, v = hit(ROW, np.eye(3), np.array([1.0, 0.0, 0.0]), 1.0)
    assert np.allclose(v, [-1 / 3, 2 / 3, 2 / 3], atol=1e-14)
    assert found.factor == 1.0
    assert abs(found.energy) < 1e-14


def test_balls_that_meet_one_after_the_other_pass_the_motion_on():
    first, v = hit(ROW[:1], np.eye(3), np.array([1.0, 0.0, 0.0]), 1.0)
    second, v = hit(ROW[1:], np.eye(3), v, 1.0)
    assert np.allclose(v, [0, 0, 1], atol=1e-14)
    assert first.solved
    assert second.solved


def test_a_contact_that_leaves_gets_no_impulse_and_keeps_its_speed():
    found, v = hit(np.eye(2), np.eye(2), np.array([-1.0, 2.0]), 0.5)
    assert np.allclose(v, [0.5, 2.0])
    assert found.impulse[1] == 0.0


@pytest.mark.parametrize("s", [0.1, 0.5, 0.9])
def test_catching_up_with_what_leaves_would_make_energy_and_does_not(s):
    # the first ball meets the second, the third leaves it at s; the law alone makes m s (1 − s)/3
    L, v = ROW @ ROW.T, ROW @ np.array([1.0, 0.0, s])
    impulse = np.zeros(2)
    end, gain, _ = impact._bounce(L, v, np.ones(2), 1.0, impulse, impact.allocate(2))
    assert end == lemke.SOLVED
    assert gain == pytest.approx(s * (1 - s) / 3)
    found, after = hit(ROW, np.eye(3), np.array([1.0, 0.0, s]), 1.0)
    assert found.solved
    # with ε lowered to θ: b − a = θ, c = b, and the energy of the start: one equation for θ
    theta = np.sqrt(1.5 * (1 + s**2 - (1 + s) ** 2 / 3))
    assert found.factor == pytest.approx(theta, abs=1e-8)
    assert energy(np.eye(3), after) == pytest.approx(
        energy(np.eye(3), np.array([1.0, 0.0, s])), abs=1e-8
    )
    assert after.sum() == pytest.approx(1 + s)


def test_a_ball_between_two_walls_has_nowhere_to_bounce_to():
    found, v = hit(np.array([[1.0], [-1.0]]), np.eye(1), np.array([-2.0]), 0.8)
    assert found.solved
    # ε = 0 is the only one: every part of a bounce would run into the other wall
    assert found.factor < 1e-8
    assert abs(v[0]) < 1e-8
    assert found.energy == pytest.approx(-0.5 * 2.0**2)


@pytest.mark.slow
def test_the_law_holds_and_no_energy_is_made_in_ten_thousand_random_impacts():
    rng, lowered, work = np.random.default_rng(0), 0, {n: impact.allocate(n) for n in range(1, 9)}
    for _ in range(10_000):
        J, M, v = random_impact(rng)
        inverse, before = np.linalg.inv(M), J @ v
        L, e, impulse = J @ inverse @ J.T, rng.uniform(0, 1, len(J)), np.zeros(len(J))
        end, factor = impact.solve(L, before, e, impulse, work[len(J)])
        assert end == lemke.SOLVED
        after = v + inverse @ J.T @ impulse
        w = J @ after + factor * e * np.minimum(before, 0)
        assert impulse.min() >= 0
        assert np.abs(np.minimum(impulse, w)).max() < 1e-7 * (1 + np.abs(impulse).max())
        assert energy(M, after) <= energy(M, v) * (1 + 1e-10)
        lowered += factor < 1
    # without the factor these would have made energy
    assert 100 < lowered < 5000


def test_where_no_contact_leaves_no_epsilon_is_ever_lowered_however_different_they_are():
    rng = np.random.default_rng(1)
    for _ in range(1000):
        J, M, v = random_impact(rng, closing=True)
        found, after = hit(J, M, v, rng.uniform(0, 1, len(J)))
        assert found.solved
        assert found.factor == 1.0
        assert energy(M, after) <= energy(M, v) * (1 + 1e-10)


def test_energy_is_the_change_that_the_bodies_see():
    rng = np.random.default_rng(2)
    for _ in range(50):
        J, M, v = random_impact(rng)
        found, after = hit(J, M, v, 0.7)
        assert found.energy == pytest.approx(energy(M, after) - energy(M, v), abs=1e-9)
        assert np.allclose(found.velocity, J @ after, atol=1e-9)


def test_memory_for_more_contacts_gives_the_same():
    L, v, e = ROW @ ROW.T, ROW @ np.array([1.0, 0.0, 0.3]), np.ones(2)
    one, two = np.zeros(2), np.zeros(2)
    assert impact.solve(L, v, e, one, impact.allocate(2)) == impact.solve(
        L, v, e, two, impact.allocate(5)
    )
    assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            (np.eye(2), [-1, -1], [0.5, 1.2]),
            r"restitution\[1\] is 1.2; expected a number from 0 \(plastic\) to 1 \(elastic\)",
        ),
        ((np.eye(2), [-1, -1], -0.1), r"restitution\[0\] is -0.1"),
        ((np.eye(2), [-1, -1], [0.5] * 3), "restitution has 3 numbers; expected 2"),
        ((np.eye(2), [-1, np.nan], 0.5), r"velocity\[1\] is nan; expected a finite number"),
        ((np.eye(3), [-1, -1], 0.5), r"delassus has shape \(3, 3\); expected \(2, 2\)"),
        ((np.ones((2, 3)), [-1, -1], 0.5), "delassus has shape .* expected a square matrix"),
    ],
)
def test_a_bad_impact_is_refused_with_what_was_expected(arguments, sentence):
    with pytest.raises(ProblemError, match=sentence):
        contact.solve_impact(*arguments)

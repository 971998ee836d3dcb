"""Lemke's algorithm against brute force over all complementary bases, known problems, ties,
and problems without a solution.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import nnls

from tabi.contact.lemke import lemke


def lcp(M, q, pivots=10_000, room=None):
    """End, z and w of a problem."""
    M, q = np.array(M, float), np.array(q, float)
    z = np.full(len(q), np.nan)
    end, _ = lemke.solve(M, q, z, pivots, lemke.allocate(len(q) if room is None else room))
    return lemke.ENDS[end], z, M @ z + q


def check_solved(M, q, tolerance=1e-9):
    """Solve, and see that 0 ≤ z ⊥ w ≥ 0 relative to the size of q."""
    end, z, w = lcp(M, q)
    assert end == "solved"
    assert np.abs(np.minimum(z, w)).max() <= tolerance * max(1.0, np.abs(q).max())
    return z, w


def brute_force(M, q):
    """z of every complementary cone that q lies in:
    w − M z = q with one of w_i, z_i for each row.
    """
    n, found = len(q), []
    for chosen in itertools.product((False, True), repeat=n):
        a = np.array(chosen)
        x, error = nnls(np.where(a, -M, np.eye(n)), q)
        if error < 1e-9 * np.linalg.norm(q):
            found.append(np.where(a, x, 0.0))
    return found


def p_matrix(rng, n):
    """Positive definite and far from symmetric:
    all principal minors are positive, so there is one solution for every q.
    """
    A, S = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    return A @ A.T + 0.1 * np.eye(n) + S - S.T


def test_problems_with_one_solution_agree_with_brute_force():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 5, 6):
        for _ in range(12):
            M, q = p_matrix(rng, n), rng.normal(size=n)
            z, _ = check_solved(M, q)
            solutions = brute_force(M, q)
            assert solutions
            # the condition of M_aa may cost six digits
            assert all(
                np.allclose(z, other, atol=1e-8 * (1 + np.abs(other).max())) for other in solutions
            )


def test_singular_problems_are_solved_exactly_where_brute_force_finds_a_solution():
    rng, ends = np.random.default_rng(1), {"solved": 0, "ray": 0}
    for _ in range(60):
        n = int(rng.integers(2, 7))
        J = rng.integers(-1, 2, size=(n, int(rng.integers(1, n)))).astype(float)
        M, q = J @ J.T, rng.integers(-2, 3, n).astype(float)
        end, z, w = lcp(M, q)
        solutions = brute_force(M, q)
        assert end == ("solved" if solutions else "ray")
        ends[end] += 1
        if solutions:
            assert np.abs(np.minimum(z, w)).max() < 1e-9
            # M is symmetric: z may vary, w is unique
            assert all(np.allclose(w, M @ other + q, atol=1e-8) for other in solutions)
    assert min(ends.values()) > 5


def test_strictly_copositive_problems_always_have_a_solution():
    rng = np.random.default_rng(2)
    for _ in range(40):
        n = int(rng.integers(2, 12))
        # no negative entry, a positive diagonal: copositive, mostly indefinite
        M = rng.uniform(0, 3, (n, n)) * (rng.random((n, n)) < 0.6) + np.diag(rng.uniform(0.1, 1, n))
        check_solved(M, rng.normal(size=n))


def test_nothing_to_do_where_q_is_not_negative():
    end, z, w = lcp(-np.eye(3), [0.0, 1.0, 2.0])
    assert end == "solved"
    assert np.array_equal(z, np.zeros(3))
    assert np.array_equal(w, [0.0, 1.0, 2.0])


def test_rows_that_tie_in_turns_do_not_cycle():
    # Kostreva (1979): principal pivoting cycles on it for ever
    z, _ = check_solved([[1, 2, 0], [0, 1, 2], [2, 0, 1]], [-1, -1, -1])
    assert np.allclose(z, 1 / 3)


def test_of_tied_rows_the_one_leaves_that_keeps_all_rows_positive_in_the_order_of_words():
    # (b, B⁻¹) with every row's first entry that is not zero positive:
    # what makes each basis come only once
    rng, pivots = np.random.default_rng(7), 0
    for _ in range(60):
        n = int(rng.integers(3, 8))
        J = rng.integers(-1, 2, size=(n, 2)).astype(float)
        M, q, w = J @ J.T, -np.ones(n), lemke.allocate(n)
        # whole numbers, so that ties are ties
        w.scale[:] = 1.0
        lemke._begin(M, q, 1.0, 0.0, w)
        row, entering = n - 1, n
        for _ in range(30):
            left = lemke._pivot(n, row, entering, w)
            pivots += 1
            columns = [
                w.tableau[c] if (c := w.place[j]) >= 0 else np.eye(n)[-1 - c] for j in range(n)
            ]
            for entries in np.array([w.tableau[n + 1], *columns]).T:
                assert entries[np.flatnonzero(np.abs(entries) > 1e-9)[0]] > 0
            if left == 2 * n:
                break
            entering = w.place[left + n if left < n else left - n]
            row = lemke._leaving(n, entering, 1e-9, 1e-12, w)
            if row < 0 or w.basic[row] == 2 * n:
                break
    assert pivots > 150


def test_murtys_exponential_problem_has_its_one_solution():
    n = 9
    M = np.eye(n) + 2 * np.tril(np.ones((n, n)), -1)
    z, _ = check_solved(M, -np.ones(n))
    # the first row says z₁ = 1, and then all others are met
    assert np.allclose(z, np.eye(n)[0], atol=1e-12)


def test_projection_onto_a_simplex_is_that_of_the_closed_form():
    rng = np.random.default_rng(3)
    for n in (3, 8, 20):
        y = rng.normal(size=n)
        # min ½‖x − y‖², x ≥ 0, Σx = 1, as 1 ≤ Σx ≤ 1 with two multipliers
        A = np.array([np.ones(n), -np.ones(n)])
        z, _ = check_solved(
            np.block([[np.eye(n), -A.T], [A, np.zeros((2, 2))]]), np.concatenate([-y, [-1.0, 1.0]])
        )
        ordered = np.sort(y)[::-1]
        over = (np.cumsum(ordered) - 1) / np.arange(1, n + 1)
        shift = over[np.flatnonzero(ordered > over)[-1]]
        assert np.allclose(z[:n], np.maximum(y - shift, 0), atol=1e-12)


@pytest.mark.parametrize("corners", [4, 7, 64])
def test_a_plate_on_more_corners_than_it_needs_is_borne(corners):
    # a plate on a ring: rank 3 in so many rows, every row tied with every other
    angle = 2 * np.pi * np.arange(corners) / corners
    J = np.column_stack([np.ones(corners), np.cos(angle), np.sin(angle)])
    z, w = check_solved(J @ J.T, np.full(corners, -1.0))
    assert np.allclose(J.T @ z, [1, 0, 0], atol=1e-10)
    assert np.abs(w).max() < 1e-10


def test_equal_rows_share_at_will():
    z, _ = check_solved(np.ones((6, 6)), np.full(6, -3.0))
    assert z.sum() == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("M", "q"),
    [
        ([[-1.0]], [-1.0]),
        ([[0.0]], [-1.0]),
        # two normals against each other on one body, both closing
        ([[1, -1], [-1, 1]], [-1, -1]),
        (np.zeros((3, 3)), [1, -1, 1]),
    ],
)
def test_without_a_solution_it_ends_on_a_ray(M, q):
    assert brute_force(np.array(M, float), np.array(q, float)) == []
    assert lcp(M, q)[0] == "ray"


def test_units_do_not_matter():
    rng = np.random.default_rng(4)
    for _ in range(20):
        M, q = p_matrix(rng, 6), rng.normal(size=6)
        D, size = np.diag(10.0 ** rng.uniform(-5, 5, 6)), 10.0 ** rng.uniform(-6, 6)
        z, scaled = np.zeros(6), np.zeros(6)
        one, two = (
            lemke.solve(A, b, x, 100, lemke.allocate(6))
            for A, b, x in ((M, q, z), (D @ M @ D, size * D @ q, scaled))
        )
        # the same bases one after the other
        assert one == two
        assert one[0] == lemke.SOLVED
        assert np.allclose(D @ scaled / size, z, atol=1e-9 * (1 + np.abs(z).max()))


def test_the_pivot_limit_is_kept_and_said():
    M, q = p_matrix(np.random.default_rng(5), 6), -np.ones(6)
    z = np.zeros(6)
    end, done = lemke.solve(M, q, z, 2, lemke.allocate(6))
    assert end == lemke.LIMIT
    assert done == 2 * len(lemke.ATTEMPTS)
    assert np.isfinite(z).all()


@pytest.mark.parametrize("place", ["M", "q"])
def test_what_is_no_number_is_never_solved(place):
    M, q = np.eye(3), -np.ones(3)
    (M if place == "M" else q)[1, ...] = np.nan
    assert lcp(M, q)[0] != "solved"


def test_larger_memory_gives_the_same_and_the_problem_is_left_alone():
    M, q = p_matrix(np.random.default_rng(6), 5), -np.arange(1.0, 6)
    kept = M.copy(), q.copy()
    one, two = lcp(M, q), lcp(M, q, room=9)
    assert np.array_equal(one[1], two[1])
    assert np.array_equal(M, kept[0])
    assert np.array_equal(q, kept[1])

"""The solver's budget: work is counted alike in every run, limits are kept, answers are honest."""

import numpy as np
import pytest

from tabi.contact import bodies, budget, gauss_seidel, judge, ladder, maps, twist_newton
from tabi.jit.callback import Callback
from tabi.lab.family import case, cases

# no point of two walls that close in on a ball from both sides is a solution
HOPELESS = {"a": [0, 0], "b": [-1, -1], "arm_b": np.zeros((2, 3)), "mu": 0.5}


def hopeless():
    frame = [[0, 1, 0, 0, 0, 1, 1, 0, 0], [0, 1, 0, 0, 0, -1, -1, 0, 0]]
    omega = np.diag([100.0, 100, 100, 1, 1, 1])[None]
    arms = [[-0.05, 0, 0], [0.05, 0, 0]]
    q = [0, 0, -1.0, 0, 0, -1.0]
    given = HOPELESS | {"frame": frame, "arm_a": arms, "mu": [0.5, 0.5], "q": q}
    return bodies.problem(**given, start=[0, 1], column=[0], omega=omega)


def memory_for(p):
    n, b = len(p.mu), len(p.start) - 1
    work = bodies.allocate(n, b)
    bodies.prepare(p, work)
    return work


def solved(p, most=budget.NO_LIMIT, every=budget.NO_LIMIT, ask=0):
    work, impulse = memory_for(p), np.zeros(3 * len(p.mu))
    budget.begin(work.budget, budget.limits(most, every, ask), len(p.mu))
    goal = 1e-8 * np.abs(p.q).max()
    iterations, rung, error = ladder.solve_bodies(p, goal, impulse, work, ladder.SETTINGS)
    return impulse, iterations, rung, error, work.budget


def largest_step(p):
    """The most that work may go beyond its limit: a step of Newton with its twelve trials."""
    trial, step = twist_newton.price(p, memory_for(p))
    return step + 12 * trial


@pytest.mark.parametrize("most", [1, 500, 5000, 50_000])
def test_work_ends_at_its_limit_within_one_step_but_for_the_first_ones(most):
    p = hopeless()
    *_, work = solved(p, most)
    assert work[budget.WORK] <= max(most, budget.FIRST_STEPS * largest_step(p)) + largest_step(p)
    # all of it is used, as nothing solves this, or all attempts are made: how soon those end where
    # their systems are singular is a matter of rounding
    *_, free = solved(p)
    assert work[budget.WORK] >= min(most, free[budget.WORK])


def test_without_an_answer_the_best_point_is_left_with_its_own_error():
    p = hopeless()
    impulse, _, rung, error, _ = solved(p, 2000)
    assert ladder.NAMES[rung] == "not solved"
    assert judge(p, impulse).residual == pytest.approx(error, rel=1e-6)
    # more work does not make it worse
    assert solved(p, 100_000)[3] <= error


@pytest.mark.slow
def test_a_limit_that_is_not_met_changes_nothing():
    found = list(cases("fall", 4, 3))
    assert len(found) == 4
    for one in found:
        free, *_, spent = solved(one.bodies)
        limited, *_, again = solved(one.bodies, int(spent[budget.WORK]) + 1)
        assert free.tobytes() == limited.tobytes()
        assert spent[budget.WORK] == again[budget.WORK] > 0


def test_growing_friction_that_is_cut_short_leaves_the_friction_as_it_was():
    p = hopeless()
    work, impulse = memory_for(p), np.zeros(6)
    growing = ladder.SETTINGS[[r for r, a in enumerate(ladder.ATTEMPTS) if a[3] == 20]]
    table = np.vstack([growing[:1], growing])
    for most in range(100, 20_000, 700):
        budget.begin(work.budget, budget.limits(most), 2)
        ladder.solve_bodies(p, 1e-8, impulse, work, table)
        assert p.mu.tolist() == [0.5, 0.5]


def test_sweeps_stop_at_the_limit_and_say_how_many_they_were():
    p = case("tower", 3, 3).bodies
    work, impulse = memory_for(p), np.zeros(3 * len(p.mu))
    budget.begin(work.budget, budget.limits(10_000), len(p.mu))
    done, error = gauss_seidel.accelerated_bodies(p, impulse, 1e-300, 100_000, work)
    assert 1 < done < 10_000
    assert work.budget[budget.WORK] / done * (done - 1) < 10_000 <= work.budget[budget.WORK]
    assert judge(p, impulse).residual == pytest.approx(error, rel=1e-6)


def test_beyond_many_contacts_the_limit_grows_with_their_square():
    most = 1000
    assert budget.most_of(most, 0) == budget.most_of(most, budget.FIXED_LIMIT_CONTACTS) == most
    assert budget.most_of(most, 2 * budget.FIXED_LIMIT_CONTACTS) == 4 * most
    assert budget.most_of(budget.NO_LIMIT, 10**6) == budget.NO_LIMIT


def test_who_is_asked_ends_the_work_or_drops_it():
    p, asked = hopeless(), []

    def after(count, answer):
        def ask():
            asked.append(1)
            return budget.GO_ON if len(asked) < count else answer

        asked.clear()
        return Callback(ask)

    end = after(3, budget.END)
    *_, work = solved(p, every=1000, ask=end.address)
    assert len(asked) == 3
    assert 3000 <= work[budget.WORK] <= 3000 + 4 * largest_step(p)
    assert not work[budget.DROPPED]
    drop = after(1, budget.DROP)
    impulse, iterations, _, error, work = solved(p, every=1, ask=drop.address)
    assert work[budget.DROPPED]
    assert iterations == 1
    # even then what there is and its error belong together
    assert judge(p, impulse).residual == pytest.approx(error, rel=1e-6)


def test_questions_go_on_from_problem_to_problem():
    p, asked = hopeless(), []
    callback = Callback(lambda: asked.append(1) or budget.GO_ON)
    work, impulse = memory_for(p), np.zeros(6)
    for _ in range(50):
        budget.begin(work.budget, budget.limits(50, 400, callback.address), 2)
        impulse[:] = 0.0
        twist_newton.solve(p, maps.ALART_CURNIER, 1.0, 1e-6, 1e-8, 12, impulse, work)
        assert work.budget[budget.WORK] < 400
    # each of them does less than is done between two questions
    assert 5 <= len(asked) <= 50

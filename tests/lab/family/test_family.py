"""The family as a whole: every kind, the same on every run, of all sizes,
and within what physics allows.
"""

import numpy as np
import pytest
from contact.plain import dense

from tabi import ModelError
from tabi.contact import judge, solve_problem
from tabi.lab import family
from tabi.lab.family.case import Case, as_problem

ASKED = {
    "stance",
    "rocking",
    "slide",
    "fall",
    "wall",
    "tower",
    "mass ratio",
    "pile",
    "plate",
    "chain",
    "single",
    "unsymmetric",
}
# kinds whose problems come out of steps that were solved before
RUNS = {"stance", "slide", "fall"}


def numbers(case: Case) -> list[np.ndarray]:
    """All numbers of a case."""
    blocks = case.problem().blocks
    return [
        blocks.start,
        blocks.column,
        blocks.value,
        blocks.q,
        blocks.mu,
        np.zeros(0) if case.warm is None else case.warm,
    ]


def same(a: Case, b: Case) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(numbers(a), numbers(b), strict=True))


def test_every_kind_that_was_asked_for_is_there():
    assert set(family.KINDS) == ASKED


@pytest.mark.slow
@pytest.mark.parametrize("kind", family.KINDS)
def test_a_case_is_the_same_on_every_run_and_whatever_is_made_before_it(kind):
    few = list(family.cases(kind, 2, seed=5))
    assert [one.name for one in few] == [f"{kind} 5:0", f"{kind} 5:1"]
    # the later one first
    assert same(family.case(kind, 1, seed=5), few[1])
    assert same(family.case(kind, 0, seed=5), few[0])
    assert not same(family.case(kind, 1, seed=6), few[1])


@pytest.mark.slow
@pytest.mark.parametrize("kind", family.KINDS)
def test_cases_are_problems_of_si_size(kind):
    found = list(family.cases(kind, 3, seed=1))
    assert len(found) == 3
    for case in found:
        p = case.problem()
        b = p.blocks
        assert case.kind == kind
        assert case.contact_count == p.contact_count == len(b.mu) >= 1
        assert p.order == "ttn"
        assert all(np.isfinite(x).all() for x in numbers(case))
        assert ((b.mu >= 0) & (b.mu <= 3)).all()
        # metres per second at contacts of a gramme to a ton;
        # a step of gravity, 9.81 mm/s, is the least there is
        assert 5e-3 < np.abs(b.q).max() < 100
        assert ((b.weight > 1e-4) & (b.weight < 1e3)).all()
        if case.warm is not None:
            assert kind in RUNS
            assert case.warm.shape == b.q.shape


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in family.KINDS if kind != "unsymmetric"])
def test_matrices_of_bodies_are_symmetric_and_never_negative(kind):
    found = list(family.cases(kind, 2, seed=2))
    assert len(found) == 2
    for case in found:
        assert case.bodies is not None
        if case.contact_count <= 200:
            W = dense(case.bodies)
            size = np.abs(W).max()
            # rounding of a product of three matrices
            assert np.abs(W - W.T).max() < 1e-12 * size
            assert np.linalg.eigvalsh(W).min() > -1e-11 * size


@pytest.mark.slow
def test_impulses_of_the_step_before_are_a_good_start():
    warm = [case for case in family.cases("stance", 16, seed=3) if case.warm is not None]
    assert len(warm) >= 8
    steps = [solve_problem(case.problem(), initial=case.warm).iterations for case in warm]
    # standing and squatting hardly change from step to step
    assert np.median(steps) <= 3
    for case in warm:
        # they lie in the cones
        blocks = case.problem().blocks
        assert judge(blocks, case.warm).cone_violation < 1e-8


@pytest.mark.slow
def test_a_thousand_cases_at_scale_one_and_all_kinds_at_the_smallest():
    assert sum(count for _, count in family._MAKERS.values()) == 1000
    small = [case.kind for case in family.everything(seed=4, scale=0.02)]
    assert list(dict.fromkeys(small)) == list(family.KINDS)
    assert 12 <= len(small) <= 30


def test_sizes_go_from_one_to_1024_contacts():
    assert family.case("single", 0, seed=0).contact_count == 1
    large = family.case("wall", 14, seed=0)
    assert large.bodies is not None
    assert (large.contact_count, len(large.bodies.start) - 1) == (976, 133)
    assert family.case("wall", 40, seed=0).contact_count == 1024
    assert 400 < family.case("pile", 29, seed=0).contact_count <= 1024


def test_an_unknown_kind_is_refused_with_the_nearest():
    with pytest.raises(ModelError, match=r"kind 'towr' not found in the family.*'tower'"):
        family.case("towr", 0, seed=0)


def test_a_case_of_bodies_and_its_matrix_are_one_problem():
    case = family.case("chain", 5, seed=0)
    assert case.bodies is not None
    W = dense(case.bodies)
    one, other = case.problem().blocks, as_problem(case.bodies).blocks
    assert np.array_equal(one.value, other.value)
    for k in range(case.contact_count):
        assert np.allclose(
            one.value[one.start[k]].reshape(3, 3),
            W[3 * k : 3 * k + 3, 3 * k : 3 * k + 3],
            rtol=1e-12,
            atol=1e-14,
        )

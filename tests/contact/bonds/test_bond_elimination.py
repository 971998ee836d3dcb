"""Bonds eliminated from a problem: against plain matrices, singular ones too."""

import numpy as np
import pytest
from contact.test_matrix_form import random_trees

from tabi.contact.bonds import bond_closing, bond_elimination, bond_work
from tabi.contact.bonds.bond_rows import LEVER
from tabi.contact.matrix_form import sparse
from tabi.contact.rows import BILATERAL, BILATERAL_TWO, CONTACT, IDLE
from tabi.spatial.transform import cross_matrix

# of a body [kg]
MASS = 1.0


def problem(seed, redundant):
    """Contacts and then bonds between bodies of random trees; the last bonds repeat the first ones,
    beside each other, so that their rows are combinations of those.
    """
    rng = np.random.default_rng(seed)
    contacts, bonds = 4, 3
    p, _ = random_trees(rng, 3, contacts + bonds + redundant)
    for k in range(contacts, contacts + bonds):
        p.kind[k] = BILATERAL if k % 2 else BILATERAL_TWO
        p.contact["angular"][k] = int(p.kind[k] == BILATERAL_TWO)
    for k in range(redundant):
        new, old = contacts + bonds + k, contacts + k
        for name in ("a", "b", "arm_a", "arm_b", "angular"):
            p.contact[name][new] = p.contact[name][old]
        p.kind[new] = p.kind[old]
        # other axes for the same three directions, or for the two of a hinge
        p.contact["frame"][new] = p.contact["frame"][old]
        if p.kind[old] == BILATERAL:
            p.contact["frame"][new] = np.roll(p.contact["frame"][old].reshape(3, 3), 1, 0).ravel()
    return p, contacts


def with_responses(p, contacts):
    """Memory with what ``bond_rows`` computes, here by plain matrices."""
    count, bodies = len(p.kind), len(p.start) - 1
    w = bond_work.allocate(count, bodies, max(400, bodies**2), count - contacts, 600)
    w.end[0], w.first[0], w.inner[0] = contacts, 0, bodies
    w.start[0] = 0
    n = 3 * (count - contacts)
    omega = dense_omega(p.start, p.column, p.omega, bodies)
    J = np.zeros((n, 6 * bodies))
    for r in range(n):
        row, f = (
            p.contact[contacts + r // 3],
            p.contact["frame"][contacts + r // 3, r % 3 * 3 :][:3],
        )
        own = 0.0
        for body, arm, sign in ((row["a"], row["arm_a"], 1), (row["b"], row["arm_b"], -1)):
            if body < 0:
                continue
            at = slice(6 * body, 6 * body + 6)
            wrench = [*f, 0, 0, 0] if row["angular"] else [*np.cross(arm, f), *f]
            J[r, at] += sign * np.array(wrench)
            turns, moves = np.eye(6)[:3], np.hstack([-cross_matrix(arm), np.eye(3)])
            parts = [(1.0, turns)] if row["angular"] else [(LEVER**2, turns), (1.0, moves)]
            own += sum(x * np.trace(A @ omega[at, at] @ A.T) for x, A in parts)
        idle = p.kind[contacts + r // 3] == BILATERAL_TWO and r % 3 == 2
        w.scale[r] = 0.0 if idle else np.sqrt(3.0 / own)
    w.T[:n] = J @ omega.T
    w.W[:n, :n] = J @ omega @ J.T * w.scale[:n, None] * w.scale[:n]
    return w


def eliminated(p, contacts):
    w, bodies = with_responses(p, contacts), len(p.start) - 1
    bond_elimination.eliminate(p, w, 0, 0, 0, bodies, MASS, 1e-3)
    return w


def dense_omega(start, column, blocks, bodies):
    out = np.zeros((6 * bodies, 6 * bodies))
    for i in range(bodies):
        for e in range(start[i], start[i + 1]):
            j = column[e]
            out[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] = blocks[e]
    return out


def scalar_rows(p, contacts):
    rows = np.arange(3 * contacts, 3 * len(p.kind))
    return rows[~((p.kind[rows // 3] == BILATERAL_TWO) & (rows % 3 == 2))]


@pytest.mark.parametrize("redundant", [0, 1, 3])
@pytest.mark.parametrize("seed", range(6))
def test_contacts_see_the_inverse_inertia_that_bonds_leave(seed, redundant):
    p, contacts = problem(seed, redundant)
    free = p.q.copy()
    w = eliminated(p, contacts)
    bodies = len(p.start) - 1
    W = sparse(p).toarray()
    c, b = np.arange(3 * contacts), scalar_rows(p, contacts)
    inverse = np.linalg.pinv(W[np.ix_(b, b)], rcond=1e-10, hermitian=True)
    # rows that repeat others say nothing new
    assert w.rank[0] == np.linalg.matrix_rank(W[np.ix_(b, b)], 1e-9 * W.max())
    # W of the contacts with what is left of Ω
    reduced = p._replace(
        contact=p.contact[:contacts], start=w.start[: bodies + 1], column=w.column, omega=w.omega,
        q=p.q[: 3 * contacts], kind=p.kind[:contacts], mu=p.mu[:contacts],
        bound=p.bound[:contacts], weight=p.weight[:contacts],
    )  # fmt: skip
    expected = W[np.ix_(c, c)] - W[np.ix_(c, b)] @ inverse @ W[np.ix_(b, c)]
    assert sparse(reduced).toarray() == pytest.approx(expected, abs=1e-9 * np.abs(W).max())
    # and what bonds do without contacts, where they can all be met
    if redundant == 0:
        assert w.added[: 3 * contacts] == pytest.approx(
            -W[np.ix_(c, b)] @ inverse @ free[b], abs=1e-9 * np.abs(free).max()
        )


@pytest.mark.parametrize("redundant", [0, 2])
@pytest.mark.parametrize("seed", range(6))
def test_impulses_of_bonds_follow_from_those_of_contacts(seed, redundant):
    p, contacts = problem(seed, redundant)
    W, free = sparse(p).toarray(), p.q.copy()
    w = eliminated(p, contacts)
    rng = np.random.default_rng(seed)
    l, u = np.zeros(len(p.q)), np.zeros(len(p.q))
    l[: 3 * contacts] = rng.normal(size=3 * contacts)
    shift, F = np.zeros(len(p.q)), np.zeros(6 * (len(p.start) - 1))
    error = bond_elimination.recover(p, w, 0, 0, 0, l, u, F, True, shift)
    b = scalar_rows(p, contacts)
    size = np.abs(W).max() * np.abs(l).max() + np.abs(free).max()
    assert error < 1e-9 * size
    # velocities of bonds are those that no impulse stops, taken out of q and kept beside it
    left = (W @ l + free)[b]
    assert left == pytest.approx(w.unmet[b], abs=1e-9 * size)
    assert p.q[b] == pytest.approx(free[b] - w.unmet[b])
    assert (np.abs(left).max() > 1e-3) == (w.rank[0] < len(b))
    assert redundant == 0 or w.rank[0] < len(b)
    # and no impulse could have stopped more of them, in the measure of their scales
    scale = w.scale[b - 3 * contacts]
    gradient = scale[:, None] * W[np.ix_(b, b)] @ (scale**2 * left)
    assert np.abs(gradient).max() < 1e-7 * size * np.abs(scale).max() ** 3 * np.abs(W).max()


def test_a_contact_that_bonds_leave_nothing_to_do_is_idle():
    p, contacts = problem(1, 0)
    # a weld of the first contact's bodies to each other and to the world
    p.kind[contacts:] = BILATERAL
    p.contact["angular"][contacts:] = 0
    p.contact["a"][:], p.contact["b"][:] = 0, -1
    p.contact["arm_a"][contacts:] = np.eye(3)
    assert (p.kind[:contacts] == CONTACT).all()
    eliminated(p, contacts)
    assert (p.kind[:contacts] == IDLE).all()


def with_offsets(p, contacts, offset):
    """The bonds of a problem, open by so much, after elimination."""
    w = with_responses(p, contacts)
    w.offset[3 * contacts :] = offset
    w.offset[2::3][p.kind == BILATERAL_TWO] = 0.0
    q = p._replace(q=p.q.copy())
    bond_elimination.eliminate(q, w, 0, 0, 0, w.inner[0], MASS, 1e-3)
    return w


@pytest.mark.parametrize(("size", "limited"), [(1e-6, False), (10.0, True)])
def test_offsets_are_closed_at_once_but_no_faster_than_is_stated(size, limited):
    p, contacts = problem(2, 0)
    w = with_offsets(p, contacts, size)
    b = scalar_rows(p, contacts)
    W = sparse(p).toarray()[np.ix_(b, b)]
    moved = W @ w.closing[b] * 1e-3
    energy = 0.5 * w.closing[b] @ W @ w.closing[b]
    mass = (w.scale[b - 3 * contacts] ** 2).sum() / 3
    assert energy <= 0.5 * mass * bond_closing.MAX_CLOSING_SPEED**2 * (1 + 1e-9)
    assert w.closes[0] == 1
    # rounding times the condition of W
    expected = pytest.approx(-w.offset[b], rel=1e-6)
    assert (moved == expected) != limited
    assert not limited or np.abs(moved).max() < 0.1 * size


@pytest.mark.parametrize(("apart", "closes"), [(0.3, True), (1e-4, False)])
def test_an_offset_that_needs_a_long_way_of_the_links_stays_open_and_is_a_mismatch(apart, closes):
    # two balls beside each other, open in opposite directions: the bodies have to turn by
    # 2 size / apart
    p, contacts = problem(3, 0)
    p.kind[contacts:] = BILATERAL
    p.contact["angular"][contacts:] = 0
    p.contact["frame"][contacts:] = np.eye(3).ravel()
    p.contact["a"][contacts:], p.contact["b"][contacts:] = 0, -1
    p.contact["arm_a"][contacts:] = [[0.1, 0, 0], [0.1, 0, 0], [0.1 + apart, 0, 0]]
    size = 1e-6
    offset = np.array([0, -size, 0, 0, -size, 0, 0, size, 0])
    w = with_offsets(p, contacts, offset)
    b = scalar_rows(p, contacts)
    W = sparse(p).toarray()[np.ix_(b, b)]
    moved = W @ w.closing[b] * 1e-3
    left = np.abs(moved + offset).max()
    assert (left < 1e-3 * size) == closes
    assert w.mismatch[b] == pytest.approx(np.zeros(9) if closes else offset, abs=1.01 * size / 3)
    # how far a body would move with the energy of v̄
    way = 1e-3 * np.sqrt(w.closing[b] @ W @ w.closing[b] / MASS)
    assert way <= bond_closing.MAX_LEVERAGE * size

"""The older laws: a pyramid of facets instead of the cone, or no friction, by Lemke's algorithm."""

from __future__ import annotations

from types import SimpleNamespace

from tabi._errors import ModelError
from tabi.contact import ladder
from tabi.contact.bodies import BodyWork
from tabi.contact.bodies import allocate as allocate_bodies
from tabi.contact.bodies import prepare as prepare_bodies
from tabi.contact.lemke import lemke, pyramid
from tabi.contact.rows import CONTACT, LIMITED
from tabi.jit import kernel
from tabi.jit.structure import Structure

MISSED = "Lemke's algorithm found no solution; take a shorter dt, or 'coulomb'"


class PyramidWork(Structure):
    """Scratch of bodies, for the weights of the rows, and of Lemke's algorithm."""

    bodies: BodyWork
    lemke: pyramid.PyramidArrays


@kernel(inline=True)
def prepare(p, work):
    """Compute weights of the rows; returns the number of blocks that elimination would fill."""
    return prepare_bodies(p, work.bodies)


@kernel(inline=True)
def has_friction(p):
    """Whether a problem has contacts with friction, or moments of friction."""
    rubbing = False
    for k in range(p.kind.shape[0]):
        rubbing = rubbing or p.kind[k] == CONTACT or p.kind[k] == LIMITED
    return rubbing


@kernel(inline=True)
def solve(p, t, tolerance, impulse, work):
    """Solve the impulses of a group; returns pivots, no attempt, and whether Lemke failed.

    Without friction there is no pyramid.
    """
    if not has_friction(p):
        done, attempt, error = ladder.solve_bodies(p, tolerance, impulse, work.bodies, t.attempts)
        return done, attempt, not error <= tolerance
    end, done = pyramid.solve_bodies(p, impulse, work.lemke)
    return done, 0, end != lemke.SOLVED


def law(facets: int, name: str) -> SimpleNamespace:
    """Return the law with a number of facets; with none, without friction."""

    def allocate(points: int, bodies: int, blocks: int) -> PyramidWork:
        rows = pyramid.rows_of(points, facets)
        if rows > pyramid.MOST_ROWS:
            raise ModelError(
                f"{points} contact points with contact={name!r} are {rows} rows, "
                f"at most {pyramid.MOST_ROWS}; take fewer facets, or 'coulomb'"
            )
        work = pyramid.allocate(points, facets, bodies)
        return PyramidWork(allocate_bodies(points, bodies, blocks), work)

    return SimpleNamespace(
        NAME=name, CERTIFIED=False, MISSED=MISSED, allocate=allocate, prepare=prepare, solve=solve
    )

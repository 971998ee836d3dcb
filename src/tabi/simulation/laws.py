"""Laws of contact that a simulator may follow: the exact cone, and the older ones beside it, for comparison.

Coulomb's cone is solved and certified; a pyramid of k sides, or no friction at all, is a linear complementarity problem for
Lemke (``contact.pyramid``), small and dense. Its steps count as missed where Lemke fails; the certificate says how far
their forces are from the exact law. Bonds, and surfaces that resist turning, the older laws do not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabi._errors import ModelError, unknown
from tabi.contact import pyramid

if TYPE_CHECKING:
    from tabi.model.compiled import Model

COULOMB, PYRAMID, FRICTIONLESS = "coulomb", "pyramid", "frictionless"
LAWS = (COULOMB, PYRAMID, FRICTIONLESS)


def check(contact: str, facets: int, model: Model) -> None:
    """Refuse a law that is not there, or a world that it does not know."""
    if contact not in LAWS:
        raise unknown("law of contact", str(contact), "tabi", LAWS)
    pyramid.check_facets(facets)
    if contact != COULOMB:
        for name in ("torsional_friction", "rolling_friction"):
            if model.pairs[name].any():
                raise ModelError(f"{name} of a surface is given, which contact={contact!r} does not know; leave it out, or take 'coulomb'")


def memory(contact: str, facets: int, points: int, bodies: int) -> pyramid.Work:
    """Memory of an older law for a number of contact points and bodies; the exact one needs none."""
    if contact == COULOMB:
        return pyramid.allocate(0, 0)
    sides = facets if contact == PYRAMID else 0
    rows = pyramid.rows_of(points, sides)
    if rows > pyramid.MOST_ROWS:
        raise ModelError(
            f"{points} contact points with contact={contact!r} are {rows} rows, at most {pyramid.MOST_ROWS}; take fewer facets, or 'coulomb'"
        )
    return pyramid.allocate(points, sides, bodies)

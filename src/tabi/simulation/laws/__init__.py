"""Laws of contact that a simulator may follow: the exact cone, and older ones for comparison.

Coulomb's cone is solved and certified; a pyramid of k sides, or no friction at all, is a linear
complementarity problem for Lemke, small and dense. Their steps count as missed where Lemke fails;
the certificate says how far their forces are from the exact law.

A law is a module, or any object, with ``allocate``, ``prepare``, ``solve`` and ``CERTIFIED`` (see
``parts``).
"""

from __future__ import annotations

from typing import Any

from tabi._errors import ModelError, unknown
from tabi.contact.pyramid import check_facets
from tabi.model.compiled import Model
from tabi.simulation.laws import coulomb, pyramid

COULOMB, PYRAMID, FRICTIONLESS = "coulomb", "pyramid", "frictionless"
LAWS = (COULOMB, PYRAMID, FRICTIONLESS)


def named(contact: Any, facets: int, model: Model) -> Any:
    """The law of a name, or the one that is given; refused for a world that it does not know."""
    check_facets(facets)
    if not isinstance(contact, str) and contact is not None:
        return contact
    if contact not in LAWS:
        raise unknown("contact law", str(contact), "tabi", LAWS)
    if contact == COULOMB:
        return coulomb
    for name in ("torsional_friction", "rolling_friction"):
        if model.pairs[name].any():
            raise ModelError(
                f"{name} of a surface is given, which contact={contact!r} does not know; "
                "leave it out, or take 'coulomb'"
            )
    return pyramid.law(facets if contact == PYRAMID else 0, contact)

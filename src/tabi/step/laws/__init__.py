"""Laws of contact that a simulator may follow: the exact cone, and older ones for comparison.

Coulomb's cone is solved and certified; a pyramid of k sides, or no friction at all, is a linear
complementarity problem for Lemke, small and dense. Their steps count as not converged where Lemke
fails; the certificate has the error of their forces by the exact law.

A law is a module, or any object, with ``allocate``, ``prepare``, ``solve`` and ``CERTIFIED`` (see
``parts``).
"""

from __future__ import annotations

from typing import Any

from tabi._errors import ModelError, unknown
from tabi.contact.lemke.pyramid import check_facets
from tabi.model.compiled import Model
from tabi.step.laws import coulomb, penalty, pyramid, selection, soft
from tabi.step.parts import name_of

COULOMB, PYRAMID, FRICTIONLESS = "coulomb", "pyramid", "frictionless"
LAWS = (COULOMB, PYRAMID, FRICTIONLESS, selection.NAME, penalty.NAME)


def named(contact: Any, facets: int, model: Model, dt: float = 1e-3) -> Any:
    """Return the law of a name, of its options, or a custom one, for steps of dt [s]; reject one
    that does not support the world.
    """
    check_facets(facets)
    options = selection.options_of(contact), penalty.options_of(contact)
    name = next(
        (law.NAME for law, c in zip((selection, penalty), options, strict=True) if c), contact
    )
    if not isinstance(name, str) and name is not None:
        soft.check(model, name_of(name))
        return name
    if name not in LAWS:
        raise unknown("contact law", str(name), "tabi", LAWS)
    if name == COULOMB:
        return soft.law(model, dt) if soft.has_pads(model) else coulomb
    soft.check(model, str(name))
    for what in ("torsional_friction", "rolling_friction"):
        if model.pairs[what].any():
            raise ModelError(
                f"{what} of a surface is given, which contact={name!r} does not know; "
                "leave it out, or take 'coulomb'"
            )
    if name in (PYRAMID, FRICTIONLESS):
        return pyramid.law(facets if name == PYRAMID else 0, name)
    selection.check_feet(model, name)
    if options[0]:
        return selection.law(options[0])
    return penalty.law(options[1] or penalty.Penalty(), len(model.feet))

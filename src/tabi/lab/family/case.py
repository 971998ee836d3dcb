"""One member of the family: a contact problem with a name that makes it again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi.contact import Problem
from tabi.contact.bodies import BodyProblem
from tabi.contact.matrix_form import sparse

Floats = NDArray[np.float64]

# the step that all problems of the family belong to [s], and what pulls on them [m/s²]
STEP = 1e-3
GRAVITY = np.array([0.0, 0.0, -9.81])


@dataclass(frozen=True, eq=False)
class Case:
    """A contact problem of the family.

    Attributes:
        name: kind, seed and index, for example "tower 3:17":
            ``case("tower", 17, seed=3)`` makes it again.
        kind: one of KINDS.
        bodies: the problem in the space of bodies; None where its matrix comes from no bodies.
        warm: impulses of the step before [N·s], in the order "ttn", shape (3n,);
            None where there is none.
        ready_problem: the problem itself where there are no bodies.
    """

    name: str
    kind: str
    bodies: BodyProblem | None
    warm: Floats | None = None
    ready_problem: Problem | None = None

    @property
    def contact_count(self) -> int:
        """Number of contacts in the problem."""
        return len(self.bodies.mu) if self.bodies is not None else self.problem().contact_count

    def problem(self) -> Problem:
        """The problem as a matrix over contacts, in the order "ttn"."""
        if self.bodies is not None:
            return as_problem(self.bodies)
        assert self.ready_problem is not None
        return self.ready_problem


def as_problem(p: BodyProblem) -> Problem:
    """A problem of bodies as a matrix over contacts, in the order "ttn"."""
    return Problem(sparse(p), p.q, p.mu, order="ttn")

"""A bare contact problem: what comes through the door, checked once and brought into our order."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from tabi._errors import TabiError, near
from tabi.contact.blocks import Blocks, from_sparse

# where the two tangents and the normal stand in a contact's three rows
ORDERS = {"ttn": (0, 1, 2), "ntt": (1, 2, 0)}


class ProblemError(TabiError, ValueError):
    """A contact problem is invalid."""


class Problem:
    """A contact problem u = W λ + q, with a friction cone for every contact, checked.

    Args:
        W: matrix, dense or sparse, shape (3n, 3n) [1/kg];
            used as it is, also where it is not symmetric.
        q: velocities without impulse [m/s], shape (3n,).
        mu: coefficients of friction, shape (n,), or one for all.
        order: "ttn" (tangents, then the normal) or "ntt" (FCLib).

    Examples:
        >>> problem = tabi.contact.Problem(np.eye(3), [0.0, 0.0, -1.0], 0.5, order="ttn")
        >>> tabi.contact.solve_problem(problem).converged
        True
    """

    def __init__(self, W: Any, q: ArrayLike, mu: ArrayLike, *, order: str) -> None:
        if order not in ORDERS:
            raise ProblemError(
                f"order is {order!r}; expected "
                f"{' or '.join(map(repr, ORDERS))}{near(str(order), ORDERS)}"
            )
        self.order = order
        velocity = numbers("q", q).ravel()
        if len(velocity) % 3:
            raise ProblemError(f"q has {len(velocity)} numbers; expected three for each contact")
        count = len(velocity) // 3
        matrix = scipy.sparse.csr_matrix(W if scipy.sparse.issparse(W) else square("W", W))
        if matrix.shape != (3 * count, 3 * count):
            raise ProblemError(
                f"W has shape {matrix.shape}; expected ({3 * count}, {3 * count}), "
                f"as q has {3 * count} numbers"
            )
        if not np.isfinite(matrix.data).all():
            raise ProblemError("W has an entry that is not finite")
        friction = numbers("mu", mu)
        friction = np.full(count, float(friction)) if friction.ndim == 0 else friction.ravel()
        if len(friction) != count:
            raise ProblemError(
                f"mu has {len(friction)} numbers; expected {count}, one for each contact"
            )
        if (friction < 0).any():
            k = int(np.flatnonzero(friction < 0)[0])
            raise ProblemError(
                f"mu[{k}] is {friction[k]:g}; expected a coefficient of friction ≥ 0"
            )
        self._to_ours = np.arange(3 * count).reshape(-1, 3)[:, ORDERS[order]].ravel()
        ours = matrix[self._to_ours][:, self._to_ours]
        diagonal = ours.diagonal().reshape(-1, 3)
        if (diagonal <= 0).any():
            k, axis = np.argwhere(diagonal <= 0)[0]
            part = ("first tangent", "second tangent", "normal")[axis]
            raise ProblemError(
                f"W of contact {k} has {diagonal[k, axis]:g} on its diagonal ({part}); "
                "expected a positive number: no impulse would move it"
            )
        self.blocks: Blocks = from_sparse(ours, velocity[self._to_ours], friction)

    @property
    def contact_count(self) -> int:
        """Number of contacts in the problem."""
        return len(self.blocks.mu)

    def to_ours(self, vector: ArrayLike) -> NDArray[np.float64]:
        """A vector of the caller's order with tangents first."""
        x = numbers("initial", vector).ravel()
        if len(x) != len(self._to_ours):
            raise ProblemError(f"initial has {len(x)} numbers; expected {len(self._to_ours)}")
        return x[self._to_ours]

    def to_theirs(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """A vector of ours in the caller's order."""
        out = np.empty_like(vector)
        out[self._to_ours] = vector
        return out


def numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """The values as numbers, all finite, or an error that names them."""
    try:
        x = np.array(values, float)
    except (TypeError, ValueError):
        raise ProblemError(f"{name} is {type(values).__name__}; expected numbers") from None
    bad = np.argwhere(~np.isfinite(np.atleast_1d(x)))
    if len(bad):
        raise ProblemError(
            f"{name}[{', '.join(map(str, bad[0]))}] is {np.atleast_1d(x)[tuple(bad[0])]}; "
            "expected a finite number"
        )
    return x


def square(name: str, values: Any) -> NDArray[np.float64]:
    """The values as a square matrix, or an error that names it."""
    x = numbers(name, values)
    if x.ndim != 2 or x.shape[0] != x.shape[1]:
        raise ProblemError(f"{name} has shape {x.shape}; expected a square matrix")
    return x

"""Linear least squares with 95 % intervals, for all that is identified from tables of measures.

    y = X b + e,   b̂ = (XᵀX)⁻¹ Xᵀ y,   cov = s² (XᵀX)⁻¹,   s² = ‖y − X b̂‖²/(n − p)              (1)
The noise e is that of y, independent from row to row and of one size; the columns of X are known.
Then b̂ ± t √cov holds the true value in 95 of 100 cases, t of Student's distribution with n − p
degrees of freedom. Columns are scaled to one length first, so that their units do not matter for
what counts as dependent.

Reference: Draper and Smith, Applied Regression Analysis (1998), chapters 1 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi.identification.damped_oscillation import IdentificationError

Array = NDArray[np.float64]
# probability of an interval
CONFIDENCE = 0.95
# columns, scaled to one length, whose smallest singular value is below this are dependent
MIN_SINGULAR_RATIO = 1e-6


@dataclass(frozen=True)
class Estimate:
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float

    def holds(self, x: float) -> bool:
        """Whether a number is in the interval."""
        return self.low <= x <= self.high

    @classmethod
    def about(cls, value: float, deviation: float, freedom: int) -> Estimate:
        """From a standard deviation that was found with so many degrees of freedom."""
        half = student(freedom) * deviation
        return cls(float(value), float(value - half), float(value + half))


@dataclass(frozen=True, eq=False)
class Fit:
    """Least-squares solution of (1).

    Attributes:
        names, values: b̂ by name and in order. covariance: of them.
        noise: s, in the unit of y. rows: n. explained: share of the variance of y.
    """

    names: tuple[str, ...]
    values: Array
    covariance: Array
    noise: float
    rows: int
    explained: float

    @property
    def freedom(self) -> int:
        """Degrees of freedom, n − p."""
        return self.rows - len(self.names)

    def estimate(self, name: str) -> Estimate:
        """One of the numbers, with its interval."""
        k = self.names.index(name)
        deviation = float(np.sqrt(max(self.covariance[k, k], 0.0)))
        return Estimate.about(self.values[k], deviation, self.freedom)


def student(freedom: int) -> float:
    """Return how many standard deviations a 95 % interval reaches to each side."""
    from scipy.stats import t

    return float(t.ppf(0.5 + 0.5 * CONFIDENCE, freedom))


def mean(values: ArrayLike, what: str) -> Estimate:
    """Return the mean of independent measurements, with its interval."""
    x = np.asarray(values, float)
    if len(x) < 2:
        raise IdentificationError(
            f"{what} was measured {len(x)} time{'s' * (len(x) != 1)}; "
            f"expected two or more, as an interval needs their scatter"
        )
    return Estimate.about(x.mean(), float(x.std(ddof=1)) / np.sqrt(len(x)), len(x) - 1)


def fit(columns: dict[str, Array], y: ArrayLike, owner: str) -> Fit:
    """Solve equation (1) by least squares.

    Args:
        columns: of X, by the names of what is looked for.
        owner: what the data are called in errors.
    """
    y, names = np.asarray(y, float), tuple(columns)
    X = np.stack([np.asarray(columns[name], float) for name in names], axis=1)
    n, p = X.shape
    if n < p + 2:
        raise IdentificationError(
            f"{owner} has {n} usable rows for {p} unknowns ({', '.join(names)}); "
            f"expected at least {p + 2}: measure longer, or more often"
        )
    size = np.linalg.norm(X, axis=0)
    _check_independent(X / np.where(size > 0, size, 1.0), size, names, owner)
    scaled = X / size
    inverse = np.linalg.inv(scaled.T @ scaled)
    b = np.linalg.lstsq(scaled, y, rcond=None)[0]
    left = y - scaled @ b
    square = float(left @ left) / (n - p)
    spread = float(((y - y.mean()) ** 2).sum())
    explained = 1.0 - float(left @ left) / spread if spread > 0 else 0.0
    covariance = square * inverse / np.outer(size, size)
    return Fit(names, b / size, covariance, float(np.sqrt(square)), n, explained)


def _check_independent(scaled: Array, size: Array, names: Sequence[str], owner: str) -> None:
    """Reject columns that are linearly dependent."""
    for name, length in zip(names, size, strict=True):
        if not length > 0:
            raise IdentificationError(
                f"{owner} says nothing about {name}: what it multiplies is zero in all rows; "
                f"expected a motion in which it is not"
            )
    _, values, rows = np.linalg.svd(scaled, full_matrices=False)
    if values[-1] < MIN_SINGULAR_RATIO * values[0]:
        alike = [name for name, share in zip(names, np.abs(rows[-1]), strict=True) if share > 0.1]
        raise IdentificationError(
            f"{owner} cannot separate {' from '.join(alike)}: what they multiply is proportional "
            f"in all rows; expected a motion in which it is not"
        )

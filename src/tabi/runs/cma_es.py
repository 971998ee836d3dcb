"""CMA-ES: the minimum of a function of which nothing but values is known.

The evolution strategy with covariance matrix adaptation samples λ candidates of a normal
distribution, and moves its mean m, step size σ and covariance C towards the better half of them:

    x_k = m + σ y_k,  y_k ~ N(0, C)                                                            (1)
    m ← m + σ y_w,    y_w = Σ_{i ≤ μ} w_i y_{i:λ}                                              (2)
    p_σ ← (1 − c_σ) p_σ + √(c_σ (2 − c_σ) μ_eff) C^{−1/2} y_w                                  (3)
    σ ← σ exp(c_σ/d_σ (‖p_σ‖/E‖N(0, I)‖ − 1))                                                  (4)
    p_c ← (1 − c_c) p_c + h_σ √(c_c (2 − c_c) μ_eff) y_w                                       (5)
    C ← (1 + c_1 δ_h − c_1 − c_μ Σ w_i) C + c_1 p_c p_cᵀ + c_μ Σ_{i ≤ λ} w_i° y_{i:λ} y_{i:λ}ᵀ (6)

y_{i:λ} belongs to the i-th best value. Only the order of the values counts: a function and any
growing function of it are searched alike, and infinities are simply the worst. The weights of the
worse half are negative in (6), of such a size that C stays positive definite.

Reference: Hansen (2016), The CMA evolution strategy: a tutorial, arXiv:1604.00772, appendix A
with the constants of table 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError
from tabi._renamed import RenamedAttribute

Array = NDArray[np.float64]
# state that is kept between generations, beside the generator of random numbers
STATE = ("mean", "step", "covariance", "path_step", "path_covariance", "generation")


class CmaEs:
    """A search: ``ask`` for candidates, ``update`` with their values, again and again.

    Attributes:
        mean: m. step: σ. covariance: C. generation: number of updates.

    Args:
        start: where to begin, n numbers of which each moves by about ``step`` at first.
        population: λ; default: 4 + 3 ln n. seed: the same one gives the same search.
    """

    def __init__(
        self, start: ArrayLike, step: float, population: int | None = None, seed: int = 0
    ) -> None:
        self.mean = np.array(start, dtype=np.float64)
        n = self.mean.size
        self.population = 4 + int(3 * np.log(n)) if population is None else population
        if self.mean.shape != (n,) or n == 0 or not np.isfinite(self.mean).all():
            raise ModelError("a search starts from one or more finite numbers")
        if not 0 < step < np.inf or self.population < 4:
            raise ModelError(
                f"step is {step} and population {self.population}; expected a positive step, and "
                "four candidates or more"
            )
        self.step, self.covariance = float(step), np.eye(n)
        self.path_step, self.path_covariance = np.zeros(n), np.zeros(n)
        self.generation = 0
        self._random = np.random.default_rng(seed)
        self._constants(n)
        self._steps: Array = np.zeros((0, n))

    def _constants(self, n: int) -> None:
        """Table 1 of the reference."""
        half = self.population / 2
        raw = np.log(half + 0.5) - np.log(np.arange(1, self.population + 1))
        good = raw > 0
        self.parents = int(good.sum())
        self.mass = float(raw[good].sum() ** 2 / (raw[good] ** 2).sum())
        mass_bad = float(raw[~good].sum() ** 2 / max((raw[~good] ** 2).sum(), 1e-300))
        self.c_path = (4 + self.mass / n) / (n + 4 + 2 * self.mass / n)
        self.c_step = (self.mass + 2) / (n + self.mass + 5)
        self.c_one = 2 / ((n + 1.3) ** 2 + self.mass)
        rank = 2 * (0.25 + self.mass + 1 / self.mass - 2) / ((n + 2) ** 2 + self.mass)
        self.c_many = min(1 - self.c_one, rank)
        root = np.sqrt((self.mass - 1) / (n + 1))
        self.damping = 1 + 2 * max(0.0, root - 1) + self.c_step
        self.usual = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
        # how negative weights may be
        alpha = min(
            1 + self.c_one / self.c_many,
            1 + 2 * mass_bad / (self.mass + 2),
            (1 - self.c_one - self.c_many) / (n * self.c_many),
        )
        bad = alpha / np.abs(raw[~good]).sum() if (~good).any() and raw[~good].any() else 0.0
        self.weights = np.where(good, raw / raw[good].sum(), bad * raw)

    def _axes(self) -> tuple[Array, Array]:
        """Principal axes of C, and lengths along them."""
        values, axes = np.linalg.eigh(self.covariance)
        return axes, np.sqrt(np.maximum(values, 1e-30))

    def ask(self) -> Array:
        """Candidates of this generation (1), shape (population, n)."""
        axes, lengths = self._axes()
        z = self._random.standard_normal((self.population, self.mean.size))
        self._steps = (z * lengths) @ axes.T
        return self.mean + self.step * self._steps

    def update(self, values: ArrayLike) -> None:
        """Update the search with the candidates' values, the smaller the better; NaN is as bad as
        infinity.
        """
        costs = np.asarray(values, dtype=np.float64)
        if costs.shape != (self.population,) or len(self._steps) != self.population:
            raise ModelError(
                f"{costs.size} values; expected one for each of the "
                f"{self.population} requested candidates"
            )
        n = self.mean.size
        order = np.argsort(np.where(np.isnan(costs), np.inf, costs), kind="stable")
        y, w = self._steps[order], self.weights
        axes, lengths = self._axes()
        mean_step = w[: self.parents] @ y[: self.parents]
        self.mean = self.mean + self.step * mean_step
        white = axes @ ((axes.T @ mean_step) / lengths)
        c = self.c_step
        self.path_step = (1 - c) * self.path_step + np.sqrt(c * (2 - c) * self.mass) * white
        self.generation += 1
        size = float(np.linalg.norm(self.path_step))
        fresh = np.sqrt(1 - (1 - c) ** (2 * self.generation))
        # a path that is too long for its age stalls p_c
        calm = size / fresh < (1.4 + 2 / (n + 1)) * self.usual
        c = self.c_path
        displacement = np.sqrt(c * (2 - c) * self.mass) * mean_step if calm else 0.0
        self.path_covariance = (1 - c) * self.path_covariance + displacement
        # w°: negative weights scaled by Mahalanobis' length
        long = np.sum(((y @ axes) / lengths) ** 2, axis=1)
        scaled = np.where(w >= 0, w, w * n / np.maximum(long, 1e-300))
        lost = 0.0 if calm else self.c_one * c * (2 - c)
        keep = 1 + lost - self.c_one - self.c_many * w.sum()
        grown = keep * self.covariance + self.c_many * (y.T * scaled) @ y
        grown += self.c_one * np.outer(self.path_covariance, self.path_covariance)
        self.covariance = 0.5 * (grown + grown.T)
        self.step *= float(np.exp(self.c_step / self.damping * (size / self.usual - 1)))
        self._steps = np.zeros((0, n))

    @property
    def spread(self) -> float:
        """Largest standard deviation of a candidate's numbers."""
        return self.step * float(np.sqrt(np.diag(self.covariance).max()))

    # ---- kept and gone on with ------------------------------------------------------------------

    tell = RenamedAttribute("update")

    def to_dict(self) -> dict[str, Any]:
        """Return all that the next generation depends on, as plain data; not between ask and
        update.
        """
        state = {name: getattr(self, name) for name in STATE}
        plain = {n: x.tolist() if isinstance(x, np.ndarray) else x for n, x in state.items()}
        random = self._random.bit_generator.state
        return {"population": self.population, **plain, "random": random}

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> CmaEs:
        """Restore a search from plain data; it continues identically to the last bit."""
        search = cls(state["mean"], state["step"], state["population"])
        for name in STATE:
            x = state[name]
            setattr(search, name, np.array(x, dtype=np.float64) if isinstance(x, list) else x)
        search._random.bit_generator.state = state["random"]
        return search


def reflected(x: Array) -> Array:
    """Numbers folded back into [0, 1], as a mirror at each end does: what is searched without
    bounds, of a function with some.
    """
    folded = np.mod(x, 2.0)
    return np.where(folded > 1.0, 2.0 - folded, folded)

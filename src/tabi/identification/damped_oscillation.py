"""Fit of a damped oscillation to a record, with its uncertainty.

    y(t) = c + e^(−σ t) (a cos ω_d t + b sin ω_d t) + d e^(−β t),     s = −σ ± i ω_d            (1)
    ω = √(σ² + ω_d²),   ζ = σ/ω
The last term is what creeps into place meanwhile, as servos do under a weight that was just put on
them; it is there where one knows of it, or where the record asks for it, by the Bayesian
information criterion. c, a, b, d are linear, so least squares look for σ, ω_d and β alone (variable
projection): first on a grid, then by ``scipy.optimize.least_squares``. With J the derivatives of
(1) by all p of them and r the residuals of n samples,

    cov = (JᵀJ)⁻¹ · rᵀr/(n − p) · (1 + ρ)/(1 − ρ)                                               (2)
Noise of a sensor that is filtered, and small motions that (1) does not have, are alike from sample
to sample: they are assumed to be a first-order autoregressive process, whose correlation ρ is that
of neighbouring residuals, and n samples of it count as much as n (1 − ρ)/(1 + ρ) independent ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi._errors import TabiError

Array = NDArray[np.float64]
# samples of the coarse search; its ratios of damping, and frequencies per factor of e
COARSE_SAMPLES, RATIOS, PER_E = 1000, (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7), 25
# minimum samples of a record, and of one oscillation
MIN_SAMPLES, PER_TURN = 12, 6
# creep rates that are tried first, as multiples of the oscillation's ω
CREEPS = (0.3, 1.0, 3.0)
# share of the record's variance that the fit has to explain
MIN_EXPLAINED = 0.5


class IdentificationError(TabiError):
    """A record from which the parameters cannot be identified."""


@dataclass(frozen=True, eq=False)
class Oscillation:
    """Fitted parameters of (1).

    Attributes:
        decay: σ [1/s]. frequency: ω_d [rad/s].
        covariance: of decay and frequency, shape (2, 2).
        offset, cosine, sine, creep: c, a, b, d of (1), in the unit of the record, with times from
            ``start`` on [s]. creep_rate: β [1/s].
        noise: of the residuals, in that unit. correlation: ρ of (2).
        explained: share of the variance of the record.
    """

    decay: float
    frequency: float
    covariance: Array
    offset: float
    cosine: float
    sine: float
    creep: float
    creep_rate: float
    start: float
    noise: float
    correlation: float
    explained: float

    @property
    def pole(self) -> complex:
        """S of (1) [1/s]."""
        return complex(-self.decay, self.frequency)

    @property
    def amplitude(self) -> float:
        """Amplitude at the start, in the unit of the record."""
        return float(np.hypot(self.cosine, self.sine))

    def at(self, time: Array) -> Array:
        """Evaluate equation (1) at times [s]."""
        t = np.asarray(time) - self.start
        swing = self.cosine * np.cos(self.frequency * t) + self.sine * np.sin(self.frequency * t)
        creep = self.creep * np.exp(-self.creep_rate * t)
        return self.offset + np.exp(-self.decay * t) * swing + creep


def fit(time: Array, values: Array, what: str = "the record", creeps: bool = False) -> Oscillation:
    """The oscillation in a record.

    Args:
        time: of the samples [s], growing, shape (n,).
        values: of anything that oscillates, shape (n,).
        what: the record, for errors.
        creeps: whether something is known to creep.
    """
    t, y = _checked(time, values, what)
    rates = _solved(_look(t, y), t, y)
    plain = _residual(rates, t, y)[0]
    _check_oscillation(rates, plain, t, y, what)
    omega = float(np.hypot(*rates))
    crept = min(
        (_solved(np.array([*rates, share * omega]), t, y) for share in CREEPS),
        key=lambda p: _power(p, t, y),
    )
    # two more parameters have to improve the fit enough, by the number of independent samples
    count = len(t) * _independent(_residual(crept, t, y)[0])
    gain = count * np.log(max(float(plain @ plain), 1e-300) / max(_power(crept, t, y), 1e-300))
    worth = gain > 2 * np.log(count) or (creeps and gain > 0)
    if worth and crept[2] > 0 and crept[1] * t[-1] > 2 * np.pi:
        rates = crept
    r, linear = _residual(rates, t, y)
    _check_oscillation(rates, r, t, y, what)
    covariance, rho = _covariance(rates, linear, t, r)
    offset, cosine, sine, creep = (float(x) for x in (*linear, 0.0)[:4])
    return Oscillation(
        decay=float(rates[0]),
        frequency=float(rates[1]),
        covariance=covariance,
        offset=offset,
        cosine=cosine,
        sine=sine,
        creep=creep,
        creep_rate=float(rates[2]) if len(rates) > 2 else 0.0,
        start=float(time[0]),
        noise=float(np.sqrt(r @ r / (len(t) - 7))),
        correlation=rho,
        explained=_explained(r, y),
    )


def _solved(guess: Array, t: Array, y: Array) -> Array:
    """Decay, frequency and creep rate, if there is one, of least squares."""
    from scipy.optimize import least_squares

    scale = np.maximum(np.abs(guess), 0.1)
    solution = least_squares(lambda p: _residual(p, t, y)[0], guess, x_scale=scale, xtol=1e-14).x
    solution[1] = abs(solution[1])
    return solution


def _power(p: Array, t: Array, y: Array) -> float:
    r = _residual(p, t, y)[0]
    return float(r @ r)


def _explained(r: Array, y: Array) -> float:
    return 1.0 - float(r @ r) / float(np.square(y - y.mean()).sum())


def _checked(time: Array, values: Array, what: str) -> tuple[Array, Array]:
    """Times from zero on, and values; or what is wrong with them."""
    t, y = np.asarray(time, float), np.asarray(values, float)
    if len(t) < MIN_SAMPLES:
        raise IdentificationError(
            f"{what} has {len(t)} samples; expected at least {MIN_SAMPLES}: record longer, "
            "or more often"
        )
    bad = np.flatnonzero(~(np.isfinite(t) & np.isfinite(y)))
    if len(bad):
        raise IdentificationError(
            f"{what} has no number in sample {bad[0] + 1} of {len(t)}; "
            f"expected finite times and values: leave that sample out"
        )
    if not (np.diff(t) > 0).all():
        k = int(np.flatnonzero(np.diff(t) <= 0)[0])
        raise IdentificationError(
            f"times of {what} go from {t[k]:g} s to {t[k + 1]:g} s; expected growing times"
        )
    if np.ptp(y) <= 1e-12 * max(1e-12, np.abs(y).max()):
        raise IdentificationError(
            f"{what} has the same value all the time, so there is no oscillation in it; "
            f"tilt the robot before it is released"
        )
    return t - t[0], y


def _check_oscillation(p: Array, r: Array, t: Array, y: Array, what: str) -> None:
    decay, frequency, length, explained = p[0], p[1], float(t[-1]), _explained(r, y)
    if explained < MIN_EXPLAINED:
        raise IdentificationError(
            f"{what} has no oscillation in it: the best one explains {100 * explained:.0f} % of "
            f"its variance, expected more than {100 * MIN_EXPLAINED:.0f} %; begin after the "
            f"release (--from), or tilt the robot more"
        )
    if frequency * length < 2 * np.pi:
        turns = frequency * length / (2 * np.pi)
        raise IdentificationError(
            f"{what} is {length:g} s long and holds {turns:.2f} of one oscillation; "
            f"expected at least one: record longer"
        )
    if decay < 0:
        raise IdentificationError(
            f"the oscillation in {what} grows, by a factor of e in {-1 / decay:.2g} s; "
            f"expected one that decays: the robot falls, so its bush is too soft to be measured so"
        )


def _basis(p: Array, t: Array) -> Array:
    """Columns of c, a, b of (1), and of d where there is a creep rate."""
    decayed = np.exp(-p[0] * t)
    columns = [np.ones_like(t), decayed * np.cos(p[1] * t), decayed * np.sin(p[1] * t)]
    return np.stack([*columns, *(np.exp(-rate * t) for rate in p[2:])], axis=1)


def _residual(p: Array, t: Array, y: Array) -> tuple[Array, Array]:
    """Return the residual of y after the best c, a, b, d, and these."""
    # a decay that is negative may grow out of all bounds on the way
    with np.errstate(over="ignore", invalid="ignore"):
        X = np.nan_to_num(_basis(p, t), nan=0.0, posinf=1e100, neginf=-1e100)
    linear = np.asarray(np.linalg.lstsq(X, y, rcond=None)[0], float)
    return y - X @ linear, linear


def _look(t: Array, y: Array) -> Array:
    """The best of a grid of decays and frequencies, on means of neighbouring samples."""
    block = -(-len(t) // COARSE_SAMPLES)
    n = len(t) // block * block
    t, y = (x[:n].reshape(-1, block).mean(axis=1) for x in (t, y))
    slowest = np.pi / t[-1]
    fastest = max(2 * np.pi / (PER_TURN * float(np.median(np.diff(t)))), 2 * slowest)
    omegas = np.geomspace(slowest, fastest, max(2, int(PER_E * np.log(fastest / slowest))))
    best, least = np.zeros(2), np.inf
    for omega in omegas:
        for ratio in RATIOS:
            p = np.array([ratio * omega, omega * np.sqrt(1 - ratio**2)])
            r = _residual(p, t, y)[0]
            if r @ r < least:
                best, least = p, float(r @ r)
    return best


def _covariance(p: Array, linear: Array, t: Array, r: Array) -> tuple[Array, float]:
    """Equation (2), of σ and ω_d; and ρ."""
    X = _basis(p, t)
    (cos, sin), (a, b) = X.T[1:3], linear[1:3]
    columns = [-t * (a * cos + b * sin), t * (b * cos - a * sin), *X.T]
    columns += [-t * linear[3] * creep for creep in X.T[3:]]
    J = np.stack(columns, axis=1)
    variance = float(r @ r) / (len(t) - J.shape[1]) / _independent(r)
    return (np.linalg.pinv(J.T @ J) * variance)[:2, :2], _correlation(r)


def _correlation(r: Array) -> float:
    """Return the correlation ρ of (2)."""
    power = float(r @ r)
    return float(np.clip(r[1:] @ r[:-1] / power, 0.0, 0.9999)) if power > 0 else 0.0


def _independent(r: Array) -> float:
    """Return the share of independent samples, (1 − ρ)/(1 + ρ)."""
    rho = _correlation(r)
    return (1 - rho) / (1 + rho)

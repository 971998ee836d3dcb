"""Coefficient of friction from pulls (Chardonnet et al. 2012, eq. 17; Moraud et al. 2008, V-C).

A thing that is pressed on the floor by f_n is pulled harder and harder until it slips, at f:

    μ_i = f_i / f_n,i,    μ = mean of all pulls, ± t s/√n                                       (1)
With several normal forces r² of the line f = μ f_n through all pulls shows whether friction is
proportional to what presses.

Of a pull that was recorded the moment of slipping is found first. What the displacement does before
it is noise; its size σ is that of the first tenth. The thing has slipped where the displacement
leaves the band of 6 σ for good, and it began to not later than where it was last within 2 σ before
that. Up to there the force is a ramp, of which the last part is taken (a quarter of the rise), and
behind it another line, level or lower. The last sample c of the ramp is the one with the smallest
sum of squares S of both lines, and all c with

    S(c) ≤ S_min (1 + χ²/(n − 5)),   χ² = 3.84                                                  (2)
are as good at 95 %. f is the ramp's line at c, rather than the largest sample, which noise makes
too large; its interval is that of the line at all such c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi.identification.damped_oscillation import IdentificationError
from tabi.identification.regression import Estimate, fit, mean

Array = NDArray[np.float64]
# share of a record that is surely at rest; bands of its noise; share of the ramp that is fitted
REST_SHARE, SLIP_BANDS, RAMP_BANDS, RAMP_SHARE = 0.1, 6.0, 2.0, 0.25
# samples that a record, and the part of the ramp that is fitted, need
MIN_SAMPLES, MIN_RAMP_SAMPLES = 30, 5
# samples behind the ramp; 95 % of χ² with one degree of freedom
SAMPLES_AFTER_RAMP, CHI = 10, 3.84


@dataclass(frozen=True, eq=False)
class Friction:
    """Identified coefficient of friction.

    Attributes:
        friction: μ with its interval. pulls: how many. deviation: of single pulls; NaN of one.
        ratios: μ of each pull.
        r_squared: of the line f = μ f_n; NaN where all normal forces are alike.
        at: of a recorded pull, when it slipped [s]; NaN for tables of pulls.
    """

    friction: Estimate
    pulls: int
    deviation: float
    ratios: Array
    r_squared: float = float("nan")
    at: float = float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        data = {
            "friction": self.friction.value,
            "friction_interval": [self.friction.low, self.friction.high],
            "pulls": self.pulls,
        }
        optional = {"deviation": self.deviation, "r_squared": self.r_squared, "at_s": self.at}
        return data | {name: x for name, x in optional.items() if np.isfinite(x)}


def from_pulls(force: ArrayLike, normal: ArrayLike, owner: str = "the table") -> Friction:
    """Estimate the friction from independent pulls by equation (1).

    Args:
        force: at which it slipped, of each pull [N]. normal: what pressed it on the floor [N].
    """
    f, n = np.broadcast_arrays(np.asarray(force, float), np.asarray(normal, float))
    _check_normal(n, owner)
    if (f < 0).any():
        raise IdentificationError(
            f"{owner}: the force of pull {int(np.argmax(f < 0)) + 1} is {f.min():g} N; "
            f"expected the size of the pull, ≥ 0"
        )
    ratios = f / n
    friction = mean(ratios, f"{owner}: friction")
    line = float("nan")
    if np.ptp(n) > 1e-3 * n.mean() and len(n) > 2:
        slope = float(f @ n / (n @ n))
        line = 1.0 - float(((f - slope * n) ** 2).sum() / ((f - f.mean()) ** 2).sum())
    return Friction(friction, len(f), float(ratios.std(ddof=1)), ratios, line)


def from_record(
    time: Array, force: Array, displacement: Array, normal: float, owner: str = "the record"
) -> Friction:
    """From one pull that was recorded.

    Args:
        time, force, displacement: [s, N, m], shape (n,). normal: what presses it down [N].
    """
    _check_normal(np.array([normal]), owner)
    time, force, displacement = (np.asarray(x, float) for x in (time, force, displacement))
    if len(time) < MIN_SAMPLES:
        raise IdentificationError(
            f"{owner} has {len(time)} samples; expected {MIN_SAMPLES} or more of one pull"
        )
    begun = breakaway(displacement, owner)
    start = force[: max(int(REST_SHARE * len(force)), 3)].mean()
    rise = force[begun] - start
    near = np.flatnonzero(force[: begun + 1] < force[begun] - RAMP_SHARE * rise)
    first = int(near[-1]) + 1 if len(near) else 0
    first = max(min(first, begun + 1 - 2 * MIN_RAMP_SAMPLES), 0)
    if begun + 1 - first < 2 * MIN_RAMP_SAMPLES:
        raise IdentificationError(
            f"{owner}: it slips after {begun} samples; expected a slow pull that begins at rest"
        )
    value, low, high, at = _end_of_ramp(time, force, first, begun, owner)
    friction = Estimate(value / normal, low / normal, high / normal)
    return Friction(friction, 1, float("nan"), np.array([friction.value]), at=at)


def _end_of_ramp(
    time: Array, force: Array, first: int, begun: int, owner: str
) -> tuple[float, float, float, float]:
    """Force where a ramp ends, by (2), the ends of its interval, and when."""
    after = max(SAMPLES_AFTER_RAMP, (begun - first) // 4)
    t, f = (x[first : begun + 1 + after] for x in (time, force))
    ends = np.arange(MIN_RAMP_SAMPLES - 1, begun - first + 1)
    squares = np.array(
        [_left(t[: c + 1], f[: c + 1]) + _left(t[c + 1 :], f[c + 1 :]) for c in ends]
    )
    best = int(ends[np.argmin(squares)])
    bound = squares.min() * (1 + CHI / max(len(t) - 5, 1))
    values = {}
    for c in {best, *ends[squares <= bound].tolist()}:
        # in the mean the ramp ends half a sample after its last one
        end = 0.5 * (t[c] + t[c + 1])
        columns = {"force": np.ones(c + 1), "slope": t[: c + 1] - end}
        line = fit(columns, f[: c + 1], owner)
        end_force, half = line.estimate("force"), 0.5 * float(t[c + 1] - t[c]) * abs(line.values[1])
        values[c] = (end_force.value, end_force.low - half, end_force.high + half)
    low, high = (pick(v[k] for v in values.values()) for pick, k in ((min, 1), (max, 2)))
    return values[best][0], low, high, float(t[best])


def _left(t: Array, f: Array) -> float:
    """Sum of squares that a line leaves."""
    if len(t) < 3:
        return 0.0
    t, f = t - t.mean(), f - f.mean()
    return float(f @ f - (t @ f) ** 2 / (t @ t))


def breakaway(displacement: Array, owner: str = "the record") -> int:
    """The last sample before a thing begins to slip."""
    x = np.asarray(displacement, float)
    rest = x[: max(int(REST_SHARE * len(x)), 3)]
    noise = max(float(rest.std(ddof=1)), 1e-9)
    away = np.abs(x - rest.mean())
    # outside of the band, and never back in it
    inside = np.flatnonzero(away <= SLIP_BANDS * noise)
    if not len(inside) or inside[-1] == len(x) - 1:
        raise IdentificationError(
            f"{owner}: the displacement ends within {1e3 * away[-1]:.2g} mm of where it began, "
            f"which is its noise; expected a pull that ends in slipping"
        )
    slipped = int(inside[-1]) + 1
    before = np.flatnonzero(away[:slipped] <= RAMP_BANDS * noise)
    return int(before[-1]) if len(before) else slipped - 1


def _check_normal(normal: Array, owner: str) -> None:
    if not (normal > 0).all() or not np.isfinite(normal).all():
        raise IdentificationError(
            f"{owner}: the normal force is {float(normal.min()):g} N; expected positive numbers"
        )

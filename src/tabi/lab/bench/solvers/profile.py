"""Dolan–Moré performance profiles: how often a solver is within a factor τ of the fastest.

For solver s on problem p, with time t_ps, infinite where it is not solved,

    r_ps = t_ps / min_s t_ps,
    ρ_s(τ) = (number of problems with r_ps ≤ τ) / (number of problems)                       (1)
ρ_s(1) is how often s is the fastest, ρ_s(∞) how often it solves at all.
A problem that no solver solves does not count.

Reference: Dolan and Moré (2002), Benchmarking optimization software with performance profiles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi.reporting.outputs import check_figure

# the same colour in every figure: tabi's in blue, by matrix dashed; others by turns
STYLES = {
    "tabi auto": ("tab:blue", "-"),
    "tabi auto, matrix": ("tab:blue", "--"),
    "Siconos NSGS": ("tab:orange", "-"),
    "Siconos NSN_AC": ("tab:green", "-"),
    "Siconos NSN_AC dense": ("tab:green", "--"),
}


def ratios(seconds: Mapping[str, ArrayLike]) -> dict[str, NDArray[np.float64]]:
    """r of (1), infinite where a problem is not solved.

    Args:
        seconds: solver → time on each problem [s], inf where not solved, in the same order for all.
    """
    if not seconds:
        return {}
    times = np.array([np.asarray(t, float) for t in seconds.values()])
    out = np.full(times.shape, np.inf)
    np.divide(times, times.min(axis=0), out=out, where=np.isfinite(times))
    return dict(zip(seconds, out, strict=True))


def fraction(ratio: ArrayLike, tau: float) -> float:
    """ρ(τ) of (1) for one solver."""
    r = np.asarray(ratio, float)
    return float((r <= tau).mean()) if len(r) else 0.0


def above(
    first: Sequence[float] | NDArray[np.float64], other: Sequence[float] | NDArray[np.float64]
) -> bool:
    """Whether a solver's profile is nowhere below another's:
    both are steps, so it is enough to look where the other's rises.
    """
    return all(
        fraction(first, tau) >= fraction(other, tau)
        for tau in np.unique(np.asarray(other)[np.isfinite(other)])
    )


def data(seconds: Mapping[str, ArrayLike]) -> dict[str, Any]:
    """Profiles for machines: sorted ratios of the solved problems, from which (1) is read off,
    and three of its values.
    """
    result = ratios(seconds)
    count = len(next(iter(result.values()), ()))
    return {
        "problems": count,
        "solvers": {
            name: {
                "ratios": [float(f"{x:.5g}") for x in np.sort(r[np.isfinite(r)])],
                "fastest": fraction(r, 1.0),
                "within_10": fraction(r, 10.0),
                "solved": float(np.isfinite(r).mean()) if count else 0.0,
            }
            for name, r in result.items()
        },
    }


def draw(path: Path, seconds: Mapping[str, ArrayLike], title: str) -> None:
    """The profiles as a file."""
    check_figure(path)
    picture(seconds, title).savefig(path, dpi=160)


def picture(seconds: Mapping[str, ArrayLike], title: str) -> Any:
    """The profiles as a figure of matplotlib, the first solver's in front."""
    # slow to import, and only needed here; a Figure by itself needs no screen
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    ratio = ratios(seconds)
    end = 1.5 * max([10.0, *(float(r[np.isfinite(r)].max(initial=1.0)) for r in ratio.values())])
    figure = Figure(figsize=(7.0, 4.4), layout="constrained")
    axes = figure.add_subplot()
    for k, (name, r) in enumerate(ratio.items()):
        # from the problems won, at τ = 1, to the right edge
        x = np.concatenate([[1.0], np.unique(r[np.isfinite(r)]), [end]])
        colour, line = STYLES.get(name, (f"C{k}", "-"))
        y = [fraction(r, tau) for tau in x]
        axes.step(
            x,
            y,
            where="post",
            label=name,
            color=colour,
            linestyle=line,
            linewidth=2.4 if k == 0 else 1.6,
            zorder=9 - k,
        )
    axes.set_xscale("log")
    axes.set_xlim(1.0, end)
    axes.set_ylim(0.0, 1.03)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("τ: time, as a multiple of the fastest solver's on the same problem")
    axes.set_ylabel("problems solved within τ")
    axes.set_title(title, fontsize=11)
    axes.grid(True, which="major", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(
        loc="outside lower center",
        ncols=3 if len(ratio) > 4 else max(len(ratio), 1),
        frameon=False,
        fontsize=9,
    )
    return figure

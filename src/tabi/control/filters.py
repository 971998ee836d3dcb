"""Butterworth low-pass: sample by sample for controllers, without delay for whole records.

Of order n, with the cut-off f_c [Hz], its gain at a frequency f is

    |H(f)|² = 1 / (1 + (f/f_c)²ⁿ)                                                               (1)
flat below f_c, 1/√2 there, falling by 20 n dB a decade above. At the rate f_s it is brought to
samples by the bilinear transform, with the cut-off where it was, so that f stands for

    f → tan(π f/f_s),   f_c → tan(π f_c/f_s)                                                    (2)
in (1): exact at zero and at f_c. It is computed as a chain of sections of the second order,

    y = b₀ x + s₁,   s₁ ← b₁ x − a₁ y + s₂,   s₂ ← b₂ x − a₂ y                                  (3)
which begin as if the first sample had always been there: no transient from zero.

A causal filter is late. Over a whole record it can be run forwards and then backwards: the two
delays cancel and the gain is |H|², 1/2 at the cut-off.

References: Butterworth (1930), On the theory of filter amplifiers; Oppenheim and Schafer,
Discrete-Time Signal Processing, for (2) and (3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, real
from tabi.model.controllers.controller import Rewindable

Array = NDArray[np.float64]


class Butterworth(Rewindable):
    """A low-pass of any number of channels: ``smooth = Butterworth(20.0, rate=1000.0)``, then
    ``smooth(x)`` for each new sample.

    Args:
        cutoff: f_c [Hz]. rate: of the samples, f_s [Hz].
        order: n; that of force-plate records of humanoids is 5 with 20 Hz (Moraud 2008).

    Examples:
        >>> smooth = tabi.control.Butterworth(cutoff=10.0, rate=200.0)
        >>> filtered = [float(smooth(x)) for x in (0.0, 1.0, 1.0)]
    """

    MEMORY = ("_state",)

    def __init__(self, cutoff: float, rate: float, order: int = 5) -> None:
        self.cutoff, self.rate, self.order = cutoff, rate, order
        self._sections = _sections(cutoff, rate, order)
        self._state: Array | None = None

    def __call__(self, sample: ArrayLike) -> Array:
        """The next sample, of any shape, filtered; the first one sets the shape."""
        x = np.asarray(sample, float)
        if self._state is None:
            self._state = _at_rest(self._sections, x)
        elif self._state.shape[2:] != x.shape:
            raise ModelError(
                f"a sample of this filter has shape {x.shape}; expected {self._state.shape[2:]}, "
                f"that of its first one: call reset() before filtering something else"
            )
        for (b0, b1, b2, _, a1, a2), s in zip(self._sections, self._state, strict=True):
            # (3)
            y = b0 * x + s[0]
            s[0], s[1] = b1 * x - a1 * y + s[1], b2 * x - a2 * y
            x = y
        return x

    def reset(self) -> None:
        """Restart with the next sample."""
        self._state = None


def zero_phase(record: ArrayLike, cutoff: float, rate: float, order: int = 5) -> Array:
    """Filter a whole record forwards and backwards, and so without delay; its gain is |H|².

    Args:
        record: samples along its first axis, shape (n, …). cutoff, rate [Hz], order: of
            ``Butterworth``.

    Examples:
        >>> record = np.sin(np.linspace(0.0, 6.0, 600))
        >>> smooth = tabi.control.zero_phase(record, cutoff=5.0, rate=100.0)
    """
    from scipy.signal import sosfiltfilt

    sections, x = _sections(cutoff, rate, order), np.asarray(record, float)
    # a few periods of the cut-off are mirrored at each end
    ends = 3 * int(np.ceil(rate / cutoff))
    if x.ndim == 0 or len(x) < 2:
        raise ModelError(
            f"the record has shape {x.shape}; expected two or more samples along its first axis"
        )
    return np.asarray(sosfiltfilt(sections, x, axis=0, padlen=min(ends, len(x) - 1)))


def _sections(cutoff: float, rate: float, order: int) -> Array:
    """Return b₀ b₁ b₂ 1 a₁ a₂ of each section."""
    from scipy.signal import butter

    cutoff, rate = real("cutoff of the filter", cutoff), real("rate of the filter", rate)
    if not 0 < rate < np.inf:
        raise ModelError(f"rate of the filter is {rate} Hz; expected a positive number of samples")
    if not 0 < cutoff < 0.5 * rate:
        raise ModelError(
            f"cutoff of the filter is {cutoff} Hz; expected a number above 0 and below half its "
            f"rate, {0.5 * rate:g} Hz"
        )
    if not (isinstance(order, int | np.integer) and order >= 1):
        raise ModelError(f"order of the filter is {order!r}; expected a whole number from 1 on")
    return np.asarray(butter(int(order), cutoff, fs=rate, output="sos"), float)


def _at_rest(sections: Array, x: Array) -> Array:
    """Return s₁ and s₂ of each section after constant x: each section passes a constant on by its
    gain at zero frequency.
    """
    state = np.empty((len(sections), 2, *x.shape))
    for (b0, b1, b2, _, a1, a2), s in zip(sections, state, strict=True):
        y = x * ((b0 + b1 + b2) / (1.0 + a1 + a2))
        s[1] = b2 * x - a2 * y
        s[0] = b1 * x - a1 * y + s[1]
        x = y
    return state

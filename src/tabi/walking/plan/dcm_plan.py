"""The divergent component of motion that leads over the footsteps to come.

A pendulum over a zero moment point that goes from p₀ to p₁ within T, evenly, has a divergent
component ξ (see ``pendulum``) of

    ξ(t) = p(t) + ṗ/ω + (ξ(T) − p₁ − ṗ/ω) e^(−ω (T − t))                                        (1)
so that its value at the start of a phase follows from that at its end, and errors of what is told
of the end die out on the way back: three steps ahead are enough. A walk is a chain of phases,

    single support on u₀ for what is left of it, double support u₀ → u₁, single support on u₁ …  (2)
u_k: point under footstep k; k = 0: the foot that stands. After the last step of a walk that stops
the zero moment point goes to the middle between the feet, and ξ with it.

Reference: Englsberger et al. (2015), Three-dimensional bipedal walking control based on divergent
component of motion.
"""

from math import exp

from tabi.jit import kernel


@kernel(inline=True)
def before(omega, time, p0, p1, end):
    """Equation (1) at t = 0: ξ at the start of a phase of so many seconds, from that at its end."""
    if not time > 0.0:
        return end
    lead = (p1 - p0) / (omega * time)
    return p0 + lead + (end - p1 - lead) * exp(-omega * time)


@kernel
def at_landing(under, count, stops, omega, single, double, last, axis):
    """ξ when footstep 1 lands, of a walk over footsteps as far as they are known.

    Args:
        under: u of (2), footstep by footstep [m], shape (·, 2); one more row, behind the last
            footstep, for where the zero moment point ends.
        count: of the footsteps, without that which stands.
        stops: whether the walk ends there.
        omega: of the pendulum [1/s]. single, double: times of supports [s]; last: of the last one.
    """
    end = under[count + 1, axis] if stops else under[count, axis]
    for k in range(count, 0, -1):
        here = under[k - 1, axis]
        if k == count and stops:
            end = before(omega, last, here, under[count + 1, axis], end)
        else:
            end = before(omega, double, here, under[k, axis], end)
        if k > 1:
            end = before(omega, single, here, here, end)
    return end

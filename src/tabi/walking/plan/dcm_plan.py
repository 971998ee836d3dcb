"""Divergent component of motion planned backwards over the next footsteps.

A pendulum over a zero moment point that moves from p₀ to p₁ within T at constant speed has a
divergent component ξ (see ``pendulum``) of

    ξ(t) = p(t) + ṗ/ω + (ξ(T) − p₁ − ṗ/ω) e^(−ω (T − t))                                        (1)
so that its value at the start of a phase follows from that at its end, and errors in the assumed
end decay backwards in time: three steps ahead are enough. A walk is a chain of phases,

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
    """Return ξ at the start of a phase of ``time`` seconds from ξ at its end, equation (1) at t =
    0.
    """
    if not time > 0.0:
        return end
    lead = (p1 - p0) / (omega * time)
    return p0 + lead + (end - p1 - lead) * exp(-omega * time)


@kernel
def at_landing(under, count, stops, omega, single, double, last, axis):
    """Return ξ when footstep 1 lands, of a walk over the known footsteps.

    Args:
        under: u of (2), footstep by footstep [m], shape (·, 2); one more row, behind the last
            footstep, for where the zero moment point ends.
        count: of footsteps, without the stance foot.
        stops: whether the walk ends there.
        omega: ω of the pendulum [1/s]. single, double: durations of the supports [s]; last: of the
            last double support.
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

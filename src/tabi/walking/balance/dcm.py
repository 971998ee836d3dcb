"""Feedback on the divergent component of motion: the zero moment point that keeps it on its plan.

The divergent component ξ = c + ċ/ω of a pendulum diverges from its zero moment point p, and the
feet realise a desired zero moment point p_d only with a lag T: along each horizontal axis, with a
push δ,

    ξ̇ = ω (ξ − p) + δ,   ṗ = (p_d − p)/T                                                        (1)
The measured deviations from the plan, of ξ from joints and inclination and of p from the foot
wrenches, are fed back, with an integral that leaks at the rate λ:

    p_d = p_planned + k_ξ e + k_z (p − p_planned) + k_i i,   e = ξ − ξ_planned,   i̇ = e − λ i
    (2)
(1) and (2) together have the characteristic polynomial

    (s − ω)(s − a)(s + λ) + ω/T (k_ξ (s + λ) + k_i),   a = (k_z − 1)/T                           (3)
which is that of the desired poles, s³ + σ₁ s² + σ₂ s + σ₃ = (s + α)(s + β)(s + γ), with

    a = λ − ω − σ₁                                                                              (4)
    k_z = 1 + T a,   k_ξ = T (σ₂ − ω a + λ (ω + a))/ω,   k_i = T (σ₃ − λ ω a)/ω − λ k_ξ
A constant push leaves

    e = −a λ δ/(αβγ)                                                                            (5)
which is 0 for λ = 0. Where the feet cannot realise p_d, i does not grow in that direction.
The stabiliser of Hirukawa et al. (2003) is (2) with k_z = k_i = 0.

References: Kajita et al. (2010), Biped walking stabilization based on linear inverted pendulum
tracking, for the lag and its feedback; Morisawa et al. (2012), Balance control based on capture
point error compensation for biped walking on uneven terrain, for the integral.
"""

from collections.abc import Sequence

from tabi.jit import kernel
from tabi.spatial.vector import add, cross, load3, load9, mul

# distance of the realised from the desired zero moment point: the feet are at their limits [m]
SATURATION_DISTANCE = 1e-3
# share of the weight below which the foot wrenches do not determine the zero moment point
MIN_LOAD_SHARE = 0.2


def feedback(
    omega: float, lag: float, poles: Sequence[float], leak: float
) -> tuple[float, float, float]:
    """Return k_ξ, k_z and k_i [1/s] of (4).

    Args:
        omega: ω of the pendulum [1/s]. lag: T [s]. poles: α, β and γ [1/s]. leak: λ [1/s].
    """
    x, y, z = poles
    first, second, third = x + y + z, x * y + y * z + z * x, x * y * z
    a = leak - omega - first
    error = lag * (second - omega * a + leak * (omega + a)) / omega
    return error, 1.0 + lag * a, lag * (third - leak * omega * a) / omega - leak * error


@kernel
def measured_zmp(loop, k):
    """Return the zero moment point from the foot wrenches about the pivots [m], at the planned
    height; the last desired one where the feet bear little load.
    """
    ref = loop.reference
    x, y, load = 0.0, 0.0, 0.0
    for side in range(2):
        R, w = load9(loop.course.rotation[side]), loop.smooth_wrench[side]
        f, n = mul(R, load3(w)), mul(R, load3(w[3:]))
        at = add(load3(loop.course.position[side]), mul(R, load3(loop.pivot[side])))
        M = add(n, cross((at[0], at[1], at[2] - ref.zmp[k, 2]), f))
        x, y, load = x - M[1], y + M[0], load + f[2]
    if not load > MIN_LOAD_SHARE * loop.settings[0].weight:
        return loop.zmp[0], loop.zmp[1]
    return x / load, y / load


@kernel
def compute_zmp(loop, k):
    """Compute ``loop.error`` and the desired zero moment point ``loop.zmp`` by equation (2)."""
    ref, s = loop.reference, loop.settings[0]
    measured = measured_zmp(loop, k)
    for i in range(2):
        e = loop.centre[i] - ref.centre[k, i]
        e += (loop.centre[3 + i] - ref.centre_velocity[k, i]) / s.omega
        loop.error[i] = e
        p = measured[0] if i == 0 else measured[1]
        back = s.inclination * e + s.zmp_feedback * (p - ref.zmp[k, i])
        loop.zmp[i] = ref.zmp[k, i] + back + s.integral * loop.error_integral[i]
    loop.zmp[2] = ref.zmp[k, 2]


@kernel
def integrate_error(loop, realised):
    """Integrate i of (2) over a tick; ``realised``: where the feet can press, x and y [m]."""
    s = loop.settings[0]
    for i in range(2):
        e, excess = loop.error[i], loop.zmp[i] - (realised[0] if i == 0 else realised[1])
        if abs(excess) > SATURATION_DISTANCE and excess * e > 0.0:
            e = 0.0
        loop.error_integral[i] += s.tick * (e - s.leak * loop.error_integral[i])

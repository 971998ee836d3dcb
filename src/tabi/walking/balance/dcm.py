"""The zero moment point that keeps the divergent component of motion with its plan.

The divergent component ξ = c + ċ/ω of a pendulum runs away from its zero moment point p, and feet
press where they should only after a lag T: along each horizontal axis, with p_d what is wanted and
δ a push,

    ξ̇ = ω (ξ − p) + δ,   ṗ = (p_d − p)/T                                                        (1)
What is measured of both, ξ from joints and inclination and p from the wrenches of the feet, is fed
back as it differs from the plan, with an integral that forgets at the rate λ:

    p_d = p_planned + k_ξ e + k_z (p − p_planned) + k_i i,   e = ξ − ξ_planned,   i̇ = e − λ i    (2)
(1) and (2) together have the characteristic polynomial

    (s − ω)(s − a)(s + λ) + ω/T (k_ξ (s + λ) + k_i),   a = (k_z − 1)/T                           (3)
which is that of the wanted poles, s³ + σ₁ s² + σ₂ s + σ₃ = (s + α)(s + β)(s + γ), with

    a = λ − ω − σ₁                                                                              (4)
    k_z = 1 + T a,   k_ξ = T (σ₂ − ω a + λ (ω + a))/ω,   k_i = T (σ₃ − λ ω a)/ω − λ k_ξ
A constant push leaves

    e = −a λ δ/(αβγ)                                                                            (5)
which is nothing where λ = 0. Where feet cannot press at p_d, i does not grow in that direction.
The stabiliser of Hirukawa et al. (2003) is (2) with k_z = k_i = 0.

References: Kajita et al. (2010), Biped walking stabilization based on linear inverted pendulum
tracking, for the lag and its feedback; Morisawa et al. (2012), Balance control based on capture
point error compensation for biped walking on uneven terrain, for the integral.
"""

from collections.abc import Sequence

from tabi.jit import kernel
from tabi.spatial.vector import add, cross, load3, load9, mul

# feet that press so far from where they should have reached their bounds [m]
CLIPPED = 1e-3
# of the weight: feet that bear less tell nothing of the zero moment point
UNLOADED = 0.2


def feedback(
    omega: float, lag: float, poles: Sequence[float], leak: float
) -> tuple[float, float, float]:
    """k_ξ, k_z and k_i [1/s] of (4).

    Args:
        omega: of the pendulum [1/s]. lag: T [s]. poles: α, β and γ [1/s]. leak: λ [1/s].
    """
    x, y, z = poles
    first, second, third = x + y + z, x * y + y * z + z * x, x * y * z
    a = leak - omega - first
    error = lag * (second - omega * a + leak * (omega + a)) / omega
    return error, 1.0 + lag * a, lag * (third - leak * omega * a) / omega - leak * error


@kernel
def measured_zmp(loop, k):
    """From the wrenches about the pivots of the feet [m], at the height of the planned one; that
    which was wanted last where the feet bear little.
    """
    ref = loop.reference
    x, y, load = 0.0, 0.0, 0.0
    for side in range(2):
        R, w = load9(loop.course.rotation[side]), loop.smooth[side]
        f, n = mul(R, load3(w)), mul(R, load3(w[3:]))
        at = add(load3(loop.course.position[side]), mul(R, load3(loop.pivot[side])))
        M = add(n, cross((at[0], at[1], at[2] - ref.zmp[k, 2]), f))
        x, y, load = x - M[1], y + M[0], load + f[2]
    if not load > UNLOADED * loop.settings[0].weight:
        return loop.zmp[0], loop.zmp[1]
    return x / load, y / load


@kernel
def find_zmp(loop, k):
    """Equation (2): ``loop.error`` and ``loop.zmp``."""
    ref, s = loop.reference, loop.settings[0]
    felt = measured_zmp(loop, k)
    for i in range(2):
        e = loop.centre[i] - ref.centre[k, i]
        e += (loop.centre[3 + i] - ref.centre_velocity[k, i]) / s.omega
        loop.error[i] = e
        pressed = felt[0] if i == 0 else felt[1]
        back = s.inclination * e + s.zmp_feedback * (pressed - ref.zmp[k, i])
        loop.zmp[i] = ref.zmp[k, i] + back + s.integral * loop.summed[i]
    loop.zmp[2] = ref.zmp[k, 2]


@kernel
def sum_error(loop, got):
    """i of (2) a tick on; ``got``: where the feet can press, x and y [m]."""
    s = loop.settings[0]
    for i in range(2):
        e, beyond = loop.error[i], loop.zmp[i] - (got[0] if i == 0 else got[1])
        if abs(beyond) > CLIPPED and beyond * e > 0.0:
            e = 0.0
        loop.summed[i] += s.tick * (e - s.leak * loop.summed[i])

"""Linearisation of a step: A and B of δx⁺ = A δx + B δu, with all modes fixed.

A step maps the state, the commands and the impulses to x⁺ = f(x, u, λ) and velocities
w = g(x, u, λ) of the contact rows; and the impulses obey the laws of the rows, with the slopes F_λ
and F_w of Newton's method (``contact.rows``). So

    (F_λ + F_w g_λ) dλ = −F_w (g_x δx + g_u δu) − F_λ δλ₀,   δx⁺ = f_x δx + f_u δu + f_λ dλ      (1)
δλ₀: change in the axes of the rows of an impulse that is constant in the world's axes. The slopes
are of the modes of the solved step: contacts that stick, slide or are open stay so, and so do
motors at their bounds and joints at their ends. f and g are steps with ``frozen_modes``; their
derivatives are central differences.

Where contacts can share a load in more than one way (1) has many solutions dλ and one motion: the
least of them is taken. Where rows cannot all keep their modes, as of feet that resist rolling and
are tilted, it has none: the nearest is taken, and the contacts are reported.

x = (δq, v): a small motion of the configuration in the axes of v, and the velocity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import hypot

import numpy as np
from numpy.typing import NDArray

from tabi.contact.maps import ALART_CURNIER
from tabi.contact.rows import CONTACT, LIMITED, newton_map
from tabi.dynamics import integration
from tabi.model.compiled import Model
from tabi.observation.contacts import Contact
from tabi.observation.frozen_modes import Change, FrozenModeStep
from tabi.step.tables import StepData

Array = NDArray[np.float64]
# sizes of differences [rad, m, and a second's; N·m or N]: too small for overlaps that would be
# separate (``depenetration``). Gaps count by 1/h, so a rounding of 1e-16 m is 1e-13 m/s in steps of
# a millisecond, and 1e-6 in a derivative of 1/h. Velocities are straight in the impulses: their
# differences may be larger [m/s]
NUDGE, PUSH, IMPULSE = 1e-7, 1e-3, 1e-4
# singular values of (1) below this share of the largest are directions that move nothing
RANK_TOLERANCE = 1e-11
# rows keep their modes if the residual of (1) is below this share of its right-hand side
MODE_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class ModeChange:
    """A contact near a change of mode.

    Attributes:
        contact: of the solved step. becomes: "slip", "stick", "open" or "closed".
        margin: distance from that mode, as a velocity [m/s].

    Example: ``linear.changes`` in docs/your_controller.md
    """

    contact: Contact
    becomes: str
    margin: float


@dataclass(frozen=True, eq=False)
class Linearisation:
    """The step from a state, for small changes: δx⁺ = A δx + B δu, x = (δq, v).

    Attributes:
        A: shape (2 n, 2 n), n = v_count; δq is a small motion in the axes of v.
        B: of the commanded efforts [N·m or N], shape (2 n, m), a column for each of ``inputs``.
            B_position, B_velocity: of commanded positions and velocities.
        inputs: joints, in the order of the columns; one with three degrees of freedom thrice.
        changes: contacts at a change of mode: A and B are valid on one side of it.
        joints: names of joints whose motors are at a change from their loops to their limits.
        q, v: after the step.

    Example: ``sim.linearise`` in docs/your_controller.md
    """

    A: Array
    B: Array
    B_position: Array
    B_velocity: Array
    inputs: tuple[str, ...]
    changes: tuple[ModeChange, ...]
    joints: tuple[str, ...]
    q: Array
    v: Array

    def __repr__(self) -> str:
        edge = [f"{c.contact.body_a.name} on {c.contact.body_b.name}" for c in self.changes]
        where = f"; at a change of mode: {', '.join(dict.fromkeys([*edge, *self.joints]))}"
        return (
            f"Linearisation({len(self.A)} states, {self.B.shape[1]} inputs"
            f"{where if edge or self.joints else ''})"
        )


def linearise(steps: FrozenModeStep, inputs: dict[str, range], margin: float) -> Linearisation:
    """Linearise the solved step by (1).

    Args:
        inputs: degrees of freedom of the joints that may be commanded.
        margin: contacts nearer to another mode [m/s] are reported.
    """
    model, n = steps.twin.model, steps.twin.model.v_count
    freedoms = [k for rows in inputs.values() for k in rows]
    F_l, F_w = _slopes(steps)
    by_impulse = [
        steps.change(partial(_change_impulse, steps, k), IMPULSE * rho)
        for k, rho in enumerate(np.repeat(steps.weight, 3))
    ]
    rows = len(by_impulse)
    f_l, g_l = _stack(by_impulse, "state", 2 * n), _stack(by_impulse, "velocity", rows)
    newton = F_l + F_w @ g_l
    solve = np.linalg.pinv(newton, rcond=RANK_TOLERANCE) if len(newton) else newton

    broken: set[int] = set()

    def answer(changes: list[Change]) -> Array:
        """Return columns of A or B."""
        f_x = _stack(changes, "state", 2 * n)
        g_x, l_x = (_stack(changes, name, rows) for name in ("velocity", "impulse"))
        target = F_w @ g_x + F_l @ l_x
        impulses = solve @ target
        left = np.abs(target - newton @ impulses) > MODE_TOLERANCE * np.abs(target).max(initial=0.0)
        broken.update((np.flatnonzero(left.any(axis=1)) // 3).tolist())
        return f_x - f_l @ impulses

    moves = [steps.change(partial(_change_configuration, model, k), NUDGE) for k in range(n)]
    speeds = [steps.change(partial(_change_velocity, k), NUDGE) for k in range(n)]
    by_command = {
        name: answer([steps.change(partial(_change_command, name, k), size) for k in freedoms])
        for name, size in (("effort", PUSH), ("position", NUDGE), ("velocity", NUDGE))
    }
    A = answer(moves + speeds)
    flipped = {model.dof_name(k): None for k in sorted(steps.flipped)}
    return Linearisation(
        A,
        by_command["effort"],
        by_command["position"],
        by_command["velocity"],
        tuple(name for name, rows in inputs.items() for _ in rows),
        tuple(_mode_changes(steps, margin, broken)),
        tuple(flipped),
        steps.q,
        steps.v,
    )


def _stack(changes: list[Change], name: str, height: int) -> Array:
    """Stack derivatives as columns of a matrix."""
    out = np.empty((height, len(changes)))
    for k, change in enumerate(changes):
        out[:, k] = getattr(change, name)
    return out


# ---- changes of the start of a step -------------------------------------------------------------


def _change_configuration(model: Model, k: int, data: StepData, size: float) -> None:
    direction = np.zeros(model.v_count)
    direction[k] = size
    integration.advance(model.arrays, data.q, direction, 1.0)


def _change_velocity(k: int, data: StepData, size: float) -> None:
    data.v[k] += size


def _change_command(name: str, k: int, data: StepData, size: float) -> None:
    data.command.motor[name][k] += size


def _change_impulse(steps: FrozenModeStep, k: int, data: StepData, size: float) -> None:
    """Change one of the three impulses of a point."""
    data.memory.contact["impulse"][k // 3] += size * steps.frame[k // 3, k % 3]


# ---- slopes of the laws -------------------------------------------------------------------------


def _slopes(steps: FrozenModeStep) -> tuple[Array, Array]:
    """Return F_λ and F_w of all rows, each of shape (3 n, 3 n)."""
    count = len(steps.rows.identity)
    F_l, F_w = np.zeros((2, 3 * count, 3 * count))
    for k in range(count):
        rows, rho = slice(3 * k, 3 * k + 3), float(steps.weight[k])
        kind, mu, partner = int(steps.kind[k]), float(steps.mu[k]), int(steps.partner[k])
        l, u = (tuple(map(float, x[k])) for x in (steps.rows.impulse, steps.rows.velocity))
        bound = float(steps.rows.impulse[partner, 2]) if partner >= 0 else float(steps.bound[k])
        _, A, B = newton_map(kind, ALART_CURNIER, mu, max(0.0, bound), rho, u, l)
        F_l[rows, rows], F_w[rows, rows] = np.reshape(A, (3, 3)), np.reshape(B, (3, 3))
        if partner >= 0 and kind == LIMITED and F_l[rows, rows].any():
            # the radius is the normal impulse of another contact
            away = np.array(l) - rho * np.array(u)
            F_l[rows, 3 * partner + 2] = -away / np.linalg.norm(away) / rho
        slip = hypot(u[0], u[1])
        if kind == CONTACT and steps.viscous[k] > 0 and A[0] != 0.0 and slip > 0.0:
            # the coefficient follows the speed: with e against it, −κ λ_n e (u/‖u‖)ᵀ/ρ
            e = np.array(u[:2]) / slip
            at = slice(3 * k, 3 * k + 2)
            F_w[at, at] += steps.viscous[k] * l[2] / rho * np.outer(e, e)
    return F_l, F_w


def _mode_changes(steps: FrozenModeStep, margin: float, broken: set[int]) -> list[ModeChange]:
    """Return contacts within a margin of another mode, and those of the rows ``broken``, which
    cannot all keep their modes.
    """
    mode_changes = []
    # moments are reported as their contacts
    loose = {int(steps.partner[k]) if steps.partner[k] >= 0 else k for k in broken}
    for k, contact in enumerate(steps.contacts):
        l, u, mu = steps.rows.impulse[k], steps.rows.velocity[k], steps.mu[k]
        if k in loose:
            mode_changes.append(ModeChange(contact, "slip", 0.0))
            continue
        if steps.kind[k] != CONTACT:
            continue
        i = 1.0 / steps.weight[k]
        if not l[2] > 0.0:
            distances = {"closed": float(u[2])}
        else:
            slip, slack = hypot(u[0], u[1]), i * (mu * l[2] - hypot(l[0], l[1]))
            slides = slip > i * abs(slack) or contact.status == "slip"
            distances = {"open": i * float(l[2])}
            distances |= {"stick": slip} if slides else {"slip": float(slack)}
        name = min(distances, key=lambda what: distances[what])
        if distances[name] < margin:
            mode_changes.append(ModeChange(contact, name, max(0.0, distances[name])))
    return mode_changes

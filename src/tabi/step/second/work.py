"""Scratch of the second stage of a step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.collision.workspace import point_table
from tabi.jit.structure import Structure
from tabi.model.arrays import INDEX
from tabi.model.compiled import Model

Floats = NDArray[np.float64]


class SecondWork(Structure):
    """Arrays that the second stage writes; those over points are in the order of ``s.points``.

    Attributes:
        share: of each degree of freedom, θ of ``middle``. after: share of v₁ in v_θ, which is
            larger after a step of first order.
        v_flight: velocities after the first stage. v_first: the predicted ones, v₁ of
            ``middle``. v_mean: v_θ of that. parting: velocity that resolves overlaps, besides.
        centre, centre_m, centre_end: centres of mass of the bodies from their trees' origins [m],
            when the step begins, in its middle, and in its end. lacking: κ of ``momentum``.
        change: largest change of velocities between two predictions, shape (1,).
        q: a configuration ahead of the state.
        start, end: points where the step begins, and those found where it ends.
        place: position [m], shape (3n,), and normal: unit normal of each point there.
        gap: of each point in the end, if its surfaces neither close nor part then [m].
        before: velocity of the surfaces against each other when the step begins [m/s], shape (3n,).
        drift: change of the velocity of a point from the middle to the end of the step [m/s],
            shape (3n,), world's axes.
        slid: 1 for points that slide all through the step. lasting: 1 for those that the step
            before left pressing, and not closing. pressing: 1 for those that press in the first
            stage. matched: 1 for those found in ``end``.
        open: how far bonds are open when the step begins, of each row, shape (3n,) [m, rad].
        mu: friction of the first stage. impulse: its impulses [N·s], shape (3n,), world's axes.
    """

    share: Floats
    after: Floats
    v_flight: Floats
    v_first: Floats
    v_mean: Floats
    parting: Floats
    centre: Floats
    centre_m: Floats
    centre_end: Floats
    lacking: Floats
    change: Floats
    q: Floats
    start: NDArray[np.void]
    end: NDArray[np.void]
    place: Floats
    normal: Floats
    gap: Floats
    before: Floats
    drift: Floats
    slid: NDArray[np.int64]
    lasting: NDArray[np.int64]
    pressing: NDArray[np.int64]
    matched: NDArray[np.int64]
    open: Floats
    mu: Floats
    impulse: Floats


def allocate(model: Model, points: int) -> SecondWork:
    """Allocate scratch for a number of points; 0 where steps are of first order."""
    dofs = {
        name: np.zeros(model.v_count)
        for name in ("share", "after", "v_flight", "v_first", "v_mean", "parting")
    }
    over_points = {name: np.zeros(points) for name in ("gap", "mu")}
    centres = ("centre", "centre_m", "centre_end", "lacking")
    vectors = ("place", "normal", "before", "drift", "open", "impulse")
    return SecondWork(
        **dofs,
        **over_points,
        **{name: np.zeros(3 * points) for name in vectors},
        **{name: np.zeros(3 * model.body_count + 3) for name in centres},
        change=np.zeros(1),
        q=np.zeros(model.q_count),
        start=point_table(points),
        end=point_table(points),
        slid=np.zeros(points, INDEX),
        lasting=np.zeros(points, INDEX),
        pressing=np.zeros(points, INDEX),
        matched=np.zeros(points, INDEX),
    )

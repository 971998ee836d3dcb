"""A kernel that cannot be compiled when it is first called: a status within, then an exception."""

import numpy as np
import pytest

import tabi
from tabi._errors import KernelError
from tabi.jit import decorator, kernel, units
from tabi.jit.callback import clear_failed, failed

pytestmark = pytest.mark.skipif(not decorator.own_compiler(), reason="of tabi's own compiler")
VALUES = np.array([1.0, 2.0, 5.0])


def failing(monkeypatch, marker):
    """A kernel whose rare part cannot be compiled, and how often that was tried."""

    @kernel(apart="float64", rare=True)
    def half(x):
        return 0.5 * x + 0.0 * marker

    @kernel(nogil=True)
    def outer(values):
        total = 0.0
        for i in range(values.shape[0]):
            if values[i] > 0.0:
                total += half(values[i])
        return total

    outer(-VALUES)
    (slot,) = outer.slots(next(iter(outer.overloads)))
    tries = []

    def fill():
        tries.append(1)
        raise NotImplementedError("no such instruction\nand more about it")

    monkeypatch.setattr(slot, "fill", fill)
    return outer, tries


def test_a_kernel_that_cannot_be_compiled_ends_as_an_exception(monkeypatch):
    outer, tries = failing(monkeypatch, 60.0)
    for _ in range(2):
        with pytest.raises(KernelError, match=r"half cannot be compiled .*no such instr") as raised:
            outer(VALUES)
        assert "\n" not in str(raised.value)
        assert isinstance(raised.value.__cause__, NotImplementedError)
    # it is not tried again, and what does not need it works
    assert len(tries) == 1
    assert outer(-VALUES) == 0.0


def test_kernels_around_one_that_cannot_be_compiled_see_a_status(monkeypatch):
    outer, _ = failing(monkeypatch, 61.0)

    @kernel
    def status(values, out):
        clear_failed()
        out[0] = outer(values)
        out[1] = 1.0 if failed() else 0.0

    out = np.full(2, np.nan)
    status(-VALUES, out)
    assert out.tolist() == [0.0, 0.0]
    with pytest.raises(KernelError):
        status(VALUES, out)
    assert out.tolist() == [0.0, 1.0]


def test_a_step_that_needs_it_is_not_done_and_the_next_one_is(monkeypatch):
    world = tabi.World()
    world.add_ground(friction=0.5)
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(0.0, 0.0, 0.05))
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(0.02, 0.01, 0.1501))
    sim = tabi.Simulator(world, dt=1e-2)
    sim.step()
    # as if two boxes met for the first time in this process
    slots = [one for one in units.known().values() if one.name.endswith(".convex_points")]
    assert len(slots) == 1
    (slot,) = slots
    kept = list(slot.memory)

    def fill():
        raise MemoryError("out of memory")

    monkeypatch.setattr(slot, "fill", fill)
    slot.memory[:] = None, None
    try:
        before, time = sim.q.copy(), sim.time
        with pytest.raises(KernelError, match=r"convex_points cannot be compiled \(MemoryError"):
            sim.run(1.0)
        assert sim.time == time
        assert np.array_equal(sim.q, before)
    finally:
        slot.memory[:] = kept
    sim.run(1.0)
    # a box on a box
    assert sim.q[7 + 2] == pytest.approx(0.15, abs=1e-6)

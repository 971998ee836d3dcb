"""Kernels behind slots: compiled apart, some of them only when they are called."""

import ctypes
import json
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from fresh import environment

from tabi.jit import cache_folder, decorator, kernel, units

pytestmark = pytest.mark.skipif(not decorator.own_compiler(), reason="of tabi's own compiler")


def made(marker, rare=False, result="float64"):
    """A kernel behind a slot, and one that calls it for positive numbers; kernels of one content
    would have one slot.
    """

    @kernel(apart=result, rare=rare)
    def half(x):
        return 0.5 * x + 0.0 * marker

    @kernel(nogil=True)
    def outer(values):
        total = 0.0
        for i in range(values.shape[0]):
            if values[i] > 0.0:
                total += half(values[i])
        return total

    return half, outer


VALUES = np.array([1.0, 2.0, 5.0])


def test_a_rare_kernel_is_compiled_when_it_is_first_called():
    half, outer = made(1.0, rare=True)
    assert outer(-VALUES) == 0.0
    assert half.overloads == {}
    assert outer(VALUES) == 4.0
    assert len(half.overloads) == 1
    # it was not taken into its caller either
    assert "inside" not in vars(half)


def test_other_kernels_apart_are_there_with_their_caller():
    half, outer = made(2.0)
    assert outer(-VALUES) == 0.0
    assert len(half.overloads) == 1
    assert outer(VALUES) == 4.0
    assert half(3.0) == 1.5


def test_several_results_and_structures_of_results_come_back():
    @kernel(apart="int64, boolean, float64", rare=True)
    def told(n, x):
        return n + 1, x > 0.0, x * n

    @kernel(apart="none", rare=True)
    def written(out, x):
        out[0] = x

    @kernel
    def outer(n, x, out):
        written(out, x)
        return told(n, x)

    out = np.zeros(1)
    assert outer(2, 1.5, out) == (3, True, 3.0)
    assert out[0] == 1.5


def test_a_kernel_that_counts_references_may_call_one():
    @kernel(apart="float64")
    def first(values):
        return values[0]

    @kernel(views=True)
    def outer(values):
        return first(values[1:]), values[2:]

    found, rest = outer(VALUES)
    assert (found, rest[0]) == (2.0, 5.0)


def test_another_result_than_was_declared_is_refused_by_name():
    _, outer = made(3.0, result="int64")
    with pytest.raises(TypeError, match=r"half returns float64, not int64 as its apart=… says"):
        outer(VALUES)
    (slot,) = outer.slots(next(iter(outer.overloads)))
    del units._known[slot.symbol]


def test_a_kernel_that_names_what_cannot_be_told_works_in_its_own_process():
    # as a force of a user's own that calls a C library, within a step
    root = ctypes.CDLL(None).sqrt
    root.argtypes, root.restype = [ctypes.c_double], ctypes.c_double

    @kernel(apart="float64")
    def rooted(x):
        return root(x)

    @kernel
    def outer(x):
        return rooted(x) + 1.0

    assert outer(9.0) == 4.0


def test_two_threads_that_meet_at_an_empty_slot_both_go_on():
    _, outer = made(4.0, rare=True)
    outer(-VALUES)
    found = []
    threads = [threading.Thread(target=lambda: found.append(outer(VALUES))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [4.0, 4.0]


CODE = """
import numpy as np
from tabi.jit import decorator
from tabi.jit import kernel

@kernel(apart="float64", rare=True)
def inner(x):
    return FACTOR * x

@kernel
def outer(x):
    return inner(x) + 1.0

print(outer(2.0), decorator.first_run.seconds > 0.0)
"""


@pytest.mark.process
def test_a_change_behind_a_slot_leaves_its_callers_as_they_are(tmp_path):
    # kernels of a module; a script that is read from a string has no file, but content
    (tmp_path / "work").mkdir()

    def compiled(factor):
        (tmp_path / "work" / "law.py").write_text(CODE.replace("FACTOR", factor))
        settings = environment(cache_folder.PACKAGE, TABI_CACHE_DIR=str(tmp_path), TABI_QUIET="1")
        settings["PYTHONPATH"] += f":{tmp_path / 'work'}"
        before = set(tmp_path.glob("kernels-*/*.nbc"))
        done = subprocess.run(
            [sys.executable, "-c", "import law"], env=settings, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        new = set(tmp_path.glob("kernels-*/*.nbc")) - before
        return done.stdout.split(), sorted(path.name.split("-")[0] for path in new)

    assert compiled("3.0") == (["7.0", "True"], ["law.inner", "law.outer"])
    assert compiled("3.0") == (["7.0", "False"], [])
    # kernels of users are named by their content, and so are the slots of their callers
    assert compiled("4.0") == (["9.0", "True"], ["law.inner", "law.outer"])


@pytest.mark.slow
def test_an_interrupt_waits_for_the_kernel_and_then_arrives(monkeypatch):
    _, outer = made(5.0, rare=True)
    outer(-VALUES)
    (slot,) = outer.slots(next(iter(outer.overloads)))
    fill, tries = slot.fill, []

    def interrupted():
        tries.append(1)
        if len(tries) == 1:
            raise KeyboardInterrupt
        fill()

    monkeypatch.setattr(slot, "fill", interrupted)
    # a process in the background may ignore interrupts
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            # it is raised as soon as Python goes on
            assert outer(VALUES) == 4.0
            time.sleep(5.0)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert len(tries) == 2
    assert outer(VALUES) == 4.0


def test_all_that_a_kernel_leads_to_can_be_compiled_and_nothing_else():
    inner, middle = made(30.0, rare=True)
    stranger, other = made(31.0, rare=True)
    other(-VALUES)

    @kernel(apart="float64", rare=True)
    def between(values):
        return middle(values)

    @kernel
    def outer(values):
        return between(values) if values[0] > 0.0 else 0.0

    assert outer(-VALUES) == 0.0
    decorator.complete(outer, VALUES)
    assert (len(between.overloads), len(inner.overloads)) == (1, 1)
    assert len(stranger.overloads) == 0


BEFOREHAND = """
import json, sys
from tabi.jit import units
from tabi.jit import decorator
from tabi.jit import kernel

def made(factor):
    @kernel(apart="float64", rare=True)
    def inner(x):
        return factor * x

    @kernel
    def outer(x):
        return inner(x) if x > 0.0 else 0.0

    outer(-1.0)
    return inner, outer

kept, outer = made(2.0)
new, other = made(float(sys.argv[1]))
before = decorator.first_run.seconds
if sys.argv[2] == "all":
    units.fill_below(list(units.known().values()))
else:
    units.fill_kept()
found = [len(kept.overloads), len(new.overloads), decorator.first_run.seconds == before]
print(json.dumps([*found, outer(1.0), other(1.0)]))
"""


@pytest.mark.process
def test_slots_can_be_filled_beforehand_all_or_those_that_the_cache_has(tmp_path):
    def filled(factor, how):
        settings = environment(cache_folder.PACKAGE, TABI_CACHE_DIR=str(tmp_path), TABI_QUIET="1")
        done = subprocess.run(
            [sys.executable, "-c", BEFOREHAND, factor, how],
            env=settings,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert filled("3.0", "all") == [1, 1, False, 2.0, 3.0]
    # of the second one nothing is kept yet, and nothing is compiled for it beforehand
    assert filled("4.0", "kept") == [1, 0, True, 2.0, 4.0]
    assert filled("4.0", "kept") == [1, 1, True, 2.0, 4.0]

"""Numba's front end as kernels need it: operators, flags, machine code without a look-up."""

import math

import numpy as np
import pytest
from numba.core import compiler

from tabi.jit import decorator, kernel
from tabi.jit.dispatcher import FixedFlags, KernelFlags


@kernel
def mixed(a, b, c):
    """Operators on reals, whole numbers and truth values, alone and mixed."""
    truth = a < b or c != b
    whole = (b // 2) % 3 + (b << 1) - (b & 1)
    return a * b - c / 4 + math.sqrt(abs(a)) ** 3, whole, truth, -a, max(a, c), min(b, 2)


@pytest.mark.parametrize("values", [(1.5, 7, 2.0), (-0.25, 3, 3.0), (4.0, 0, -1.0)])
def test_operators_have_the_types_and_values_of_python(values):
    plain = getattr(mixed, "py_func", mixed)
    for args in (values, (values[2], values[1], values[0])):
        found, expected = mixed(*args), plain(*args)
        assert found == pytest.approx(expected, rel=1e-15)
        assert [type(x) for x in found[1:3]] == [int, bool]
    # other types of the same operators are not mistaken for those seen before
    assert mixed(3, 4, 5)[3] == -3
    assert isinstance(mixed(3, 4, 5)[3], int)


def test_flags_of_one_content_are_one_object_while_compiling():
    flags = KernelFlags()
    flags.nrt = True
    first, second = flags.copy(), flags.copy()
    assert isinstance(first, FixedFlags)
    assert first is second
    flags.nrt = False
    other = flags.copy()
    assert other is not first
    assert other != first
    # what is taken from them may be changed, and does not change them
    loose = first.copy()
    assert type(loose) is compiler.Flags
    loose.nrt = False
    assert first.nrt


def test_the_entry_of_a_kernel_does_what_the_kernel_does():
    call = decorator.entry(mixed, 1.0, 2, 3.0)
    assert call(-2.0, 9, 0.5) == mixed(-2.0, 9, 0.5)
    assert decorator.entry(len, ()) is len


def test_a_kernel_that_cannot_be_typed_says_where():
    @kernel
    def wrong(x):
        return x + "text"

    if decorator.interpreted():
        pytest.skip("kernels are plain Python")
    with pytest.raises(Exception, match="No implementation of function") as error:
        wrong(np.zeros(1))
    assert "test_dispatcher.py" in str(error.value)

"""Kernels with two faces: what Python calls, and what other kernels take in."""

import numpy as np

from tabi.jit import kernel


@kernel(inline=True)
def _forced(x):
    return 2.0 * x + 1.0


@kernel
def _called(x):
    return _forced(x) * x


@kernel
def _outer(values):
    total = 0.0
    for i in range(values.shape[0]):
        total += _called(values[i])
    return total


def test_what_only_kernels_call_never_becomes_machine_code():
    values = np.array([1.0, 2.0, 3.0])
    assert _outer(values) == np.sum((2 * values + 1) * values)
    assert len(_outer.overloads) == 1
    # machine code that an earlier run has left is taken as it is, without the insides
    _outer.inside.compile(next(iter(_outer.overloads)))
    for face in (_called, _forced):
        assert face.overloads == {}
        (inside,) = face.inside.overloads.values()
        # no wrapper, and so no address, for Python
        assert inside.library.get_pointer_to_function(inside.fndesc.llvm_cpython_wrapper_name) == 0


def test_a_kernel_that_kernels_call_can_be_called_from_python_as_well():
    assert _outer(np.array([2.0])) == _called(2.0) == 10.0
    assert _forced(2.0) == 5.0
    assert len(_called.overloads) == 1

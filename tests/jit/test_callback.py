"""Kernels call Python by an address, and hear what it answers."""

from tabi.jit import kernel
from tabi.jit.callback import Callback, call


@kernel(nogil=True)
def asked(address, most):
    """How often the function was asked until it said 0."""
    for k in range(most):
        if call(address) == 0:
            return k
    return most


def test_a_kernel_without_the_lock_hears_every_answer_of_a_python_function():
    answers = iter([7, 1, -3, 0])
    heard = []

    def answer():
        heard.append(next(answers))
        return heard[-1]

    callback = Callback(answer)
    assert asked(callback.address, 10) == 3
    assert heard == [7, 1, -3, 0]


def test_what_is_compiled_knows_no_function_but_the_one_it_is_handed():
    one, other = Callback(lambda: 1), Callback(lambda: 0)
    assert asked(one.address, 5) == 5
    assert asked(other.address, 5) == 0

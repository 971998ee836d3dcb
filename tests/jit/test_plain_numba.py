"""Kernels by ``numba.njit`` alone: the same results, up to rounding, as by tabi's own compiler."""

import inspect
import json
import subprocess
import sys

import numpy as np
import pytest
from fresh import environment

from tabi.jit import cache_folder, decorator

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not decorator.own_compiler(), reason="compares with tabi's own compiler"),
]


def run(code):
    """Run a script with ``TABI_JIT=plain``; what it prints as JSON, and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(cache_folder.PACKAGE, TABI_JIT="plain"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


KERNELS = """
import json
import numpy as np
from tabi.jit import decorator
from tabi.jit.callback import call_with, clear_failed, failed
from tabi._errors import KernelError
from tabi.jit import kernel
from tabi.jit.structure import Structure

class Cloud(Structure):
    value: np.ndarray
    pair: tuple

@kernel(apart="float64", rare=True)
def half(x, cloud):
    return 0.5 * x * cloud.value[0]

@kernel(apart="int64, float64")
def two(x):
    return 3, x

@kernel(apart="none")
def write(values, x):
    values[0] = x

@kernel(exact=True, inline=True)
def times(x, y):
    return x * y

@kernel
def outer(cloud):
    count, y = two(cloud.value[1])
    write(cloud.value, 4.0)
    total = 0.0
    for i in range(3):
        total += half(times(cloud.value[0], 2.0), cloud) + cloud.pair[1][i]
    return total + count + y

@kernel
def asked(code, structure):
    call_with(code, structure)

@kernel
def answer(cloud):
    cloud.value[1] = 7.0

@kernel(apart="float64")
def untyped(x):
    return x + "no number"

@kernel
def fails(x, out):
    clear_failed()
    out[0] = untyped(x)
    out[1] = 1.0 if failed() else 0.0

cloud = Cloud(np.array([2.0, 3.0]), (np.zeros(1), np.arange(3.0)))
found = [outer(cloud), half(1.0, cloud), two(5.0)]
decorator.entry(asked, 0, 0)(decorator.address(answer, cloud), cloud._address)
found.append(cloud.value.tolist())
out = np.full(2, np.nan)
try:
    fails(1.0, out)
except KernelError as error:
    found += [str(error).partition(" (")[0], out.tolist()]
print(json.dumps(found))
"""


def test_kernels_call_each_other_directly_apart_and_by_address():
    found, said = run(KERNELS)
    # 3 × ½ · 4 · 2 · 4, 0 + 1 + 2, 3 and 3
    assert found[0] == 48.0 + 3.0 + 3.0 + 3.0
    assert found[1:4] == [2.0, [3, 5.0], [4.0, 7.0]]
    # a kernel that cannot be compiled is a status within, and an exception in Python
    assert found[4:] == ["__main__.untyped cannot be compiled", [0.0, 1.0]]
    assert "on every run" in said
    assert said.count("\n") == 1


def dynamics_of_a_robot():
    """Mass matrix and acceleration of HRP-2 in a random state."""
    import numpy as np

    import tabi
    from tabi.dynamics import forward_dynamics, mass_matrix

    world = tabi.World()
    world.add_robot(tabi.robots.hrp2())
    model, draw = world.compile(), np.random.default_rng(1)
    q = model.initial()
    q[7:] += draw.uniform(-0.1, 0.1, len(q) - 7)
    M = mass_matrix(model, q)
    v, tau = draw.standard_normal((2, len(M)))
    return [M.tolist(), forward_dynamics(model, q, v, tau).tolist()]


def sliding_box():
    """Where a box is after sliding and tipping for 0.1 s, and how many steps were missed."""
    import tabi

    world = tabi.World()
    world.add_ground(friction=0.5)
    box = world.add_box(size=(0.1, 0.2, 0.3), mass=1.0, position=(0.0, 0.0, 0.149))
    sim = tabi.Simulator(world, dt=1e-3)
    sim.apply_force(box, force=(30.0, 10.0, 0.0), duration=0.02)
    sim.run(0.1)
    return [sim.q.tolist(), sim.missed]


def by_njit(function):
    """What a function returns where ``numba.njit`` compiles."""
    code = inspect.getsource(function)
    return run(f"{code}\nimport json; print(json.dumps({function.__name__}()))")[0]


@pytest.mark.slow
def test_dynamics_are_the_same_up_to_rounding():
    (M, a), (ours, accelerations) = by_njit(dynamics_of_a_robot), dynamics_of_a_robot()
    # sums over some thirty bodies in another order
    np.testing.assert_allclose(M, ours, rtol=0, atol=1e-12 * np.max(np.abs(M)))
    np.testing.assert_allclose(a, accelerations, rtol=0, atol=1e-9 * np.max(np.abs(a)))


@pytest.mark.slow
def test_a_simulation_is_the_same_up_to_rounding():
    q, missed = by_njit(sliding_box)
    assert missed == []
    # it moved; errors of 1e-8 m/s in each of 100 steps may add up, over 0.1 s
    assert np.hypot(*q[:2]) > 0.01
    np.testing.assert_allclose(q, sliding_box()[0], rtol=0, atol=1e-7)

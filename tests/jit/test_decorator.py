"""The decorator of all kernels."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from fresh import environment

import tabi
from tabi.dynamics import workspace
from tabi.jit import cache_folder, decorator, kernel
from tabi.model import arrays


def test_kernels_are_kept_as_plain_functions_for_other_targets():
    from tabi.spatial import vector

    plain = next(
        function
        for function in decorator.KERNELS
        if function.__module__ == vector.__name__ and function.__name__ == "dot"
    )
    assert plain((1, 2, 3), (4, 5, 6)) == 32
    assert all(type(function) is type(environment) for function in decorator.KERNELS)


def test_nan_stays_nan_and_exact_keeps_the_order_of_additions():
    @kernel
    def is_nan(x):
        return x != x

    @kernel(exact=True)
    def lost(x, large):
        return (x + large) - large

    assert is_nan(math.nan)
    # 1 is below half the spacing of numbers near 1e17
    assert lost(1.0, 1e17) == 0.0


@pytest.mark.process
def test_plain_python_gives_the_same_dynamics_as_compiled_code():
    code = """
import json, numpy as np, tabi
from tabi import dynamics
world = tabi.World()
world.add_robot(tabi.robots.hrp2())
model = world.compile()
rng = np.random.default_rng(1)
q = dynamics.integrate(model, model.neutral(), rng.normal(size=model.v_count), 0.5)
v, tau = rng.normal(size=model.v_count), rng.normal(size=model.v_count)
a = dynamics.forward_dynamics(model, q, v, tau)
found = [q, a, dynamics.inverse_dynamics(model, q, v, a), dynamics.mass_matrix(model, q).ravel()]
found += dynamics.step(model, q, v, tau, 1e-3, order=2)
"""
    names: dict = {}
    exec(code, names)
    settings = environment(cache_folder.PACKAGE, NUMBA_DISABLE_JIT="1")
    plain = subprocess.run(
        [sys.executable, "-c", code + "print(json.dumps([x.tolist() for x in found]))"],
        env=settings,
        capture_output=True,
        text=True,
    )
    assert plain.returncode == 0, plain.stderr
    assert plain.stderr == ""
    for compiled, interpreted in zip(names["found"], json.loads(plain.stdout), strict=True):
        # another order of additions, through 30 joints:
        # rounding times the condition of M, about 1e4
        assert np.linalg.norm(compiled - interpreted) <= 1e-11 * np.linalg.norm(compiled)


def test_columns_of_tables_are_no_methods_of_numpy_records():
    # rows of tables answer to column names as attributes in plain Python,
    # unless a method has the name
    columns = {
        name
        for columns in (arrays.BODY, arrays.DOF, arrays.MIMIC, workspace.BODY, workspace.DOF)
        for name in columns.names or ()
    }
    assert not columns & set(dir(np.record))
    assert len(columns) > 30


@pytest.mark.process
def test_importing_tabi_does_not_import_the_compiler():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, tabi; print('numba' in sys.modules, tabi.__version__)"],
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["False", tabi.__version__]

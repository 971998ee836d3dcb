"""Kernels that come with the package: used where they fit, and else not looked at."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tabi
from tabi.jit import shipped_kernels

PACKAGE = Path(tabi.__file__).parent
# a mass matrix, and how many kernels were translated from Python for it
SCRIPT = """
from tabi.jit import dispatcher
core, count = dispatcher._Front._compile_core, []
def counted(self, *args):
    count.append(1)
    return core(self, *args)
dispatcher._Front._compile_core = counted
from tabi import World, dynamics
world = World()
world.add_box((0.1, 0.1, 0.1), 1.0)
model = world.compile()
M = dynamics.mass_matrix(model, model.neutral())
print(len(count), M.trace())
"""
SHIP = """
from tabi.jit import code_cache
from tabi.jit import cache_folder
from tabi.jit import decorator
from tabi.jit import shipped_kernels
import tabi.dynamics
names = {code_cache.begin_of(function) for function in decorator.KERNELS}
folder, package = cache_folder.cache_folder(), cache_folder.PACKAGE
print(shipped_kernels.ship(folder, package, cache_folder.digest(), names))
"""


def run(code, site, cache):
    settings = os.environ | {"PYTHONPATH": str(site), "TABI_CACHE_DIR": str(cache)}
    settings |= {"TABI_QUIET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A copy of the package with the kernels of a mass matrix in it, and how many these are."""
    folder = tmp_path_factory.mktemp("site")
    ignored = shutil.ignore_patterns("__pycache__", shipped_kernels.FOLDER)
    shutil.copytree(PACKAGE, folder / "tabi", ignore=ignored)
    compiled, trace = run(SCRIPT, folder, folder / "first")
    # a kernel of sources that are not there any more
    (cache,) = (folder / "first").glob("kernels-*")
    (cache / "tabi.spatial.vector.dot-0123456789abcdef-0123456789abcdef.nbc").write_bytes(b"old")
    (count,) = run(SHIP, folder, folder / "first")
    shipped = folder / "tabi" / shipped_kernels.FOLDER
    assert not list(shipped.glob("*0123456789abcdef*"))
    # the mass of 1 kg three times, and three moments of inertia of 1/600 kg·m²
    assert abs(float(trace) - (3 + 3 / 600)) < 1e-12
    # each has an inside but what Python calls
    assert 1 < int(count) < int(compiled)
    return folder, int(compiled)


@pytest.mark.process
def test_kernels_that_came_with_the_package_are_only_optimised(site, tmp_path):
    folder, compiled = site
    left, trace = run(SCRIPT, folder, tmp_path)
    assert int(left) < compiled
    assert abs(float(trace) - (3 + 3 / 600)) < 1e-12


@pytest.mark.process
def test_kernels_for_another_numba_are_ignored_and_the_difference_is_told(site, tmp_path):
    folder, compiled = site
    stamp = folder / "tabi" / shipped_kernels.FOLDER / shipped_kernels.STAMP
    made = stamp.read_text()
    try:
        stamp.write_text(json.dumps(json.loads(made) | {"numba": "0.1"}))
        left, _ = run(SCRIPT, folder, tmp_path)
        assert int(left) == compiled
        told = run(
            "from tabi.apps import doctor; print(doctor.text(doctor.examine()))", folder, tmp_path
        )
        assert "not used, made for: numba 0.1, here" in " ".join(told)
        stamp.write_text("{")
        assert int(run(SCRIPT, folder, tmp_path / "again")[0]) == compiled
    finally:
        stamp.write_text(made)


@pytest.mark.process
def test_a_broken_file_is_compiled_anew(site, tmp_path):
    folder, compiled = site
    files = sorted((folder / "tabi" / shipped_kernels.FOLDER).glob("*.nbc"))
    kept = [path.read_bytes() for path in files]
    try:
        for path in files:
            path.write_bytes(b"nonsense")
        assert int(run(SCRIPT, folder, tmp_path)[0]) == compiled
    finally:
        for path, content in zip(files, kept, strict=True):
            path.write_bytes(content)


def test_nothing_is_told_where_none_came(tmp_path):
    assert shipped_kernels.differences(tmp_path, "0") is None
    assert shipped_kernels.folder(tmp_path, "0") is None

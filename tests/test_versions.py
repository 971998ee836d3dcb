"""Releases of other packages: the bounds, what is said outside of them, and tabi's own version."""

import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from fresh import environment

from tabi import _versions
from tabi._errors import TabiError, VersionError
from tabi.jit import cache_folder

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def installed(monkeypatch):
    """Versions that seem to be installed, by name."""
    known, versions = _versions.installed, {}
    monkeypatch.setattr(_versions, "installed", lambda name: versions.get(name, known(name)))
    monkeypatch.delenv("TABI_JIT", raising=False)
    _versions.check.cache_clear()
    yield versions
    _versions.check.cache_clear()


def test_bounds_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {line.partition(">")[0]: line for line in project["dependencies"]}
    assert set(_versions.BOUNDS) <= set(needed)
    for name in _versions.BOUNDS:
        assert needed[name] == _versions.requirement(name)


@pytest.mark.parametrize("name", _versions.BOUNDS)
@pytest.mark.parametrize("above", [False, True])
def test_a_release_at_a_bound_fits_or_does_not(installed, name, above):
    low, high = _versions.BOUNDS[name]
    installed[name] = high if above else low
    assert (_versions.problem(name) == "") is not above
    # the release before the first one that works, and a candidate of the first one too new
    installed[name] = f"{high}.0rc1" if above else "0.0.9"
    assert f"pip install '{_versions.requirement(name)}'" in _versions.problem(name)
    # a patch of the last one that fits
    numbers = list(_versions.numbers(high))
    numbers[-1] -= 1
    installed[name] = ".".join(map(str, [*numbers, 99]))
    assert _versions.problem(name) == ""


def test_a_numba_that_does_not_fit_is_one_sentence_with_both_ways_out(installed):
    installed["numba"], installed["llvmlite"] = "0.61.2", "0.44.0"
    with pytest.raises(VersionError, match=r"^numba 0\.61\.2 is installed, and tabi works") as told:
        _versions.check_compiler()
    message = str(told.value)
    assert "TABI_JIT=plain" in message
    assert "pip install 'numba>=" in message
    assert "\n" not in message
    assert isinstance(told.value, TabiError)


def test_njit_alone_takes_any_numba(installed, monkeypatch):
    installed["numba"] = "9.0"
    monkeypatch.setenv("TABI_JIT", "plain")
    assert _versions.check_compiler() is None
    monkeypatch.setenv("TABI_JIT", "fast")
    with pytest.raises(VersionError, match="TABI_JIT is 'fast'; expected 'plain'"):
        _versions.check_compiler()


def test_a_missing_package_is_named_with_its_cure(installed):
    installed["viser"] = None
    with pytest.raises(VersionError, match=r"^viser is not installed: pip install 'viser>="):
        _versions.check("viser")


def test_a_numba_that_cannot_be_imported_is_one_sentence(installed, monkeypatch):
    def broken(name):
        raise ImportError("Numba needs NumPy 2.4 or less. Got NumPy 2.9.")

    monkeypatch.setattr(_versions.importlib, "import_module", broken)
    with pytest.raises(VersionError, match=r"cannot be imported \(Numba needs NumPy 2\.4"):
        _versions.check_compiler()


@pytest.mark.process
def test_the_command_line_says_so_without_a_traceback(tmp_path):
    code = (
        "import sys; from tabi import _versions; from tabi.apps import cli\n"
        "_versions.installed = lambda name: '0.61.2' if name == 'numba' else '2.1'\n"
        "sys.argv = ['tabi', 'run', 'standing', '--time', '0.01']; cli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(cache_folder.PACKAGE),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("tabi: numba 0.61.2 is installed")
    assert done.stderr.count("\n") == 1


# ---- tabi's own ----------------------------------------------------------------------------------


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "release" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path):
    """A tree that names its last release, 1.2.3."""
    source = tmp_path / "src" / "tabi" / "_versions.py"
    source.parent.mkdir(parents=True)
    source.write_text('LAST_RELEASE = "1.2.3"\n')
    return tmp_path


def git(tree, *words):
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *who, "-C", str(tree), *words], check=True, capture_output=True)


def test_a_tree_without_git_has_the_version_of_its_last_release(tree):
    assert load("version").version(tree) == "1.2.3"
    assert load("version").last_release() == _versions.LAST_RELEASE


def test_a_build_can_be_given_a_version(tree, monkeypatch):
    monkeypatch.setenv("TABI_BUILD_VERSION", "2.0.0")
    assert load("version").version(tree) == "2.0.0"


@pytest.mark.process
def test_a_repository_has_the_version_of_its_last_tag(tree):
    version = load("version").version
    git(tree, "init")
    git(tree, "add", ".")
    git(tree, "commit", "-m", "first")
    assert version(tree) == "1.2.3"
    git(tree, "tag", "v1.3.0")
    assert version(tree) == "1.3.0"
    git(tree, "commit", "--allow-empty", "-m", "second")
    found = version(tree)
    assert found.startswith("1.3.1.dev1+g")
    assert _versions.numbers("1.3.0") < _versions.numbers(found)

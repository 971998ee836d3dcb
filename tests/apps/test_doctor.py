"""The doctor tells what is installed, what is compiled and what is wrong,
for people and for machines.
"""

import json
import platform
import tomllib
from pathlib import Path

import numpy
import pytest
from typer.testing import CliRunner

import tabi
from tabi import _versions
from tabi.apps import cli, doctor
from tabi.jit import cache_folder

ROOT = Path(__file__).resolve().parents[2]
LOW = _versions.BOUNDS["numba"][0]


@pytest.fixture
def findings(tmp_path, monkeypatch):
    """Findings on a cache of two kernels of 0.5 MB."""
    monkeypatch.setattr(cache_folder, "cache_folder", lambda: tmp_path)
    for name in ("a.nbc", "b.nbc"):
        (tmp_path / name).write_bytes(bytes(500_000))
    return doctor.examine()


def test_doctor_as_json_is_json_with_versions_and_cache():
    done = CliRunner().invoke(cli.app, ["doctor", "--json"])
    assert done.exit_code == 0
    page = json.loads(done.stdout)
    assert (page["tabi"], page["python"]) == (tabi.__version__, platform.python_version())
    assert page["packages"]["numpy"] == numpy.__version__
    assert page["cache"]["digest"] == cache_folder.digest()
    assert set(page["extras"]) == set(doctor.EXTRAS)
    assert page["problems"] == []


def test_doctor_prints_a_line_for_every_part():
    done = CliRunner().invoke(cli.app, ["doctor"])
    assert done.exit_code == 0
    assert all(
        name in done.stdout
        for name in (*doctor.EXTRAS, "numba", "kernels", platform.python_version())
    )
    assert "GPU" not in done.stdout


def test_every_extra_of_the_package_has_a_word_about_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(doctor.EXTRAS) == set(project["optional-dependencies"])


def test_a_version_that_does_not_fit_is_a_problem_and_an_exit_code(monkeypatch):
    versions = {"numba": "0.61.2", "h5py": None}
    known = _versions.installed
    monkeypatch.setattr(_versions, "installed", lambda name: versions.get(name, known(name)))
    done = CliRunner().invoke(cli.app, ["doctor"])
    assert done.exit_code == 1
    problems = [line for line in done.stdout.splitlines() if line.startswith("PROBLEM")]
    assert len(problems) == 2
    assert "h5py is not installed: pip install 'h5py>=" in problems[0]
    assert f"numba 0.61.2 is installed, and tabi works with {LOW}" in problems[1]


def test_an_extra_that_is_half_installed_names_what_is_missing(monkeypatch):
    known = _versions.installed
    versions = {"pin": None, "mujoco": "3.0"}
    monkeypatch.setattr(_versions, "installed", lambda name: versions.get(name, known(name)))
    page = doctor.examine()
    lines = doctor.text(page).splitlines()
    (line,) = [line for line in lines if line.startswith("extra      referee")]
    assert "incomplete, without pin: pip install 'tabi[referee]'" in line
    assert (
        "mujoco 3.0 is installed, and tabi works with 4.0 or newer" in lines[lines.index(line) + 1]
    )
    # tabi works without
    assert page["problems"] == []


def test_a_numba_that_cannot_be_imported_is_a_problem(monkeypatch):
    def broken(name):
        raise ImportError("Numba needs NumPy 2.4 or less. Got NumPy 2.5.")

    monkeypatch.setattr(doctor.importlib, "import_module", broken)
    page = doctor.examine()
    assert page["problems"] == ["Numba cannot be imported: " + str(_error(broken))]
    assert page["cache"] is None
    assert "PROBLEM" in doctor.text(page)


def _error(function):
    with pytest.raises(ImportError) as raised:
        function("")
    return raised.value


def test_kernels_on_disk_are_counted(findings, tmp_path):
    assert (findings["cache"]["kernels"], findings["cache"]["megabytes"]) == (2, 1.0)
    assert f"2 compiled, 1.0 MB in {tmp_path}" in doctor.text(findings)


def test_empty_cache_names_the_cure(findings, tmp_path):
    for file in tmp_path.iterdir():
        file.unlink()
    assert "`tabi warmup` compiles all" in doctor.text(doctor.examine())


def test_cache_that_cannot_be_written_names_the_cure(findings, monkeypatch):
    monkeypatch.setattr(cache_folder, "cache_folder", lambda: None)
    page = doctor.examine()
    assert (page["cache"]["folder"], page["cache"]["kernels"]) == (None, 0)
    assert "set TABI_CACHE_DIR" in doctor.text(page)


@pytest.mark.parametrize("disabled", [False, True])
def test_disabled_compiler_is_told(findings, monkeypatch, disabled):
    from numba.core import config

    monkeypatch.setattr(config, "DISABLE_JIT", int(disabled))
    page = doctor.examine()
    assert page["cache"]["compiled"] is not disabled
    assert ("NUMBA_DISABLE_JIT is set" in doctor.text(page)) is disabled


def test_missing_packages_are_told(findings):
    assert doctor.version_of("no-such-package-as-this") is None
    findings["packages"]["scipy"] = None
    findings["extras"]["mjcf"]["packages"] = {"mujoco": None}
    text = doctor.text(findings)
    assert "scipy MISSING" in text
    assert any("mjcf" in line and "not installed" in line for line in text.splitlines())


def test_processor_has_a_name():
    assert doctor.processor().strip()

"""The doctor tells what is installed, what is compiled and what is wrong,
for people and for machines.
"""

import json
import platform

import numpy
import pytest
from typer.testing import CliRunner

import tabi
from tabi import _folder
from tabi.apps import cli, doctor


@pytest.fixture
def findings(tmp_path, monkeypatch):
    """Findings on a cache of two kernels of 0.5 MB."""
    monkeypatch.setattr(_folder, "cache_folder", lambda: tmp_path)
    for name in ("a.nbc", "b.nbc"):
        (tmp_path / name).write_bytes(bytes(500_000))
    return doctor.examine()


def test_doctor_as_json_is_json_with_versions_and_cache():
    done = CliRunner().invoke(cli.app, ["doctor", "--json"])
    assert done.exit_code == 0
    page = json.loads(done.stdout)
    assert (page["tabi"], page["python"]) == (tabi.__version__, platform.python_version())
    assert page["packages"]["numpy"] == numpy.__version__
    assert page["cache"]["digest"] == _folder.digest()
    assert set(page["optional"]) == set(doctor.PARTS)


def test_doctor_prints_a_line_for_every_part():
    done = CliRunner().invoke(cli.app, ["doctor"])
    assert done.exit_code == 0
    assert all(
        name in done.stdout
        for name in (*doctor.PARTS, "numba", "kernels", platform.python_version())
    )


def test_kernels_on_disk_are_counted(findings, tmp_path):
    assert (findings["cache"]["kernels"], findings["cache"]["megabytes"]) == (2, 1.0)
    assert f"2 compiled, 1.0 MB in {tmp_path}" in doctor.text(findings)


def test_empty_cache_names_the_cure(findings, tmp_path):
    for file in tmp_path.iterdir():
        file.unlink()
    assert "`tabi warmup` compiles all" in doctor.text(doctor.examine())


def test_cache_that_cannot_be_written_names_the_cure(findings, monkeypatch):
    monkeypatch.setattr(_folder, "cache_folder", lambda: None)
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
    findings["optional"]["mujoco"] = None
    text = doctor.text(findings)
    assert "scipy MISSING" in text
    assert any("mujoco" in line and "not installed" in line for line in text.splitlines())


def test_processor_has_a_name():
    assert doctor.processor().strip()

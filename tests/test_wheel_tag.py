"""A wheel's tag: what is in it decides where pip installs it."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from tabi.jit import shipped_kernels

pytest.importorskip("hatchling")
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def module():
    spec = importlib.util.spec_from_file_location("wheel_tag", ROOT / "release" / "wheel_tag.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def stamp(module, tmp_path):
    path = tmp_path / module.STAMP
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(shipped_kernels.here("0")))
    return path


def test_kernels_fit_one_python_and_one_platform(module, stamp, tmp_path):
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    tag = module.tag(tmp_path)
    assert tag.startswith(f"{python}-{python}-")
    # PyPI takes no wheel for "linux"
    assert not tag.endswith("-any")
    assert "-linux" not in tag


def test_a_wheel_without_kernels_is_pure(module, tmp_path):
    assert module.tag(tmp_path) == ""


@pytest.mark.parametrize("name", ["python", "platform"])
def test_kernels_of_another_machine_are_refused(module, stamp, tmp_path, name):
    stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {name: "other"}))
    with pytest.raises(ValueError, match=f"made for {name} other"):
        module.tag(tmp_path)


def test_the_stamp_is_where_kernels_are_put(module):
    assert module.STAMP.parts[-2:] == (shipped_kernels.FOLDER, shipped_kernels.STAMP)

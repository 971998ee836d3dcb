"""Robots of example-robot-data by the names of their files."""

import pytest

import tabi
from tabi.robots import examples


def test_a_file_is_found_by_its_name_and_by_its_path(example_robots):
    name = "g1_29dof_rev_1_0.urdf"
    found = tabi.robots.example_file(name)
    assert found == example_robots / "g1_description" / "urdf" / name
    assert tabi.robots.example_file(f"g1_description/urdf/{name}") == found


def test_a_name_that_is_not_there_is_told_with_those_near(example_robots):
    with pytest.raises(tabi.ModelError, match=r"'g1_29dof_rev_1\.urdf' is none of example-robot"):
        tabi.robots.example_file("g1_29dof_rev_1.urdf")


def test_without_the_package_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setattr(examples.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(tabi.ModelError, match=r'pip install "tabi\[robots\]"'):
        tabi.robots.example_file("g1.urdf")

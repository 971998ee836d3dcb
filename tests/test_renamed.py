"""Old names work, print the new one once, and are refused beside it."""

import dataclasses
import importlib
import inspect
import pkgutil
import sys
import types
import warnings

import pytest

import tabi
from tabi import _renamed
from tabi._renamed import RenamedAttribute, renamed_arguments, renamed_in_module, renamed_keys


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(_renamed, "_reported", set())


class Motor:
    def __init__(self):
        self.torque_limit = 3.0

    strength = RenamedAttribute("torque_limit")


def test_an_old_attribute_reads_and_assigns_the_new_one_and_warns_once():
    motor = Motor()
    with pytest.warns(FutureWarning, match="strength in Motor is now called torque_limit") as seen:
        motor.strength = motor.strength + 2.0
    assert motor.torque_limit == 5.0
    assert len(seen) == 1
    assert seen[0].filename == __file__


def test_an_old_argument_is_taken_under_its_new_name():
    @renamed_arguments(force="push")
    def act(push, seconds=1.0):
        return push, seconds

    with pytest.warns(FutureWarning, match="force in .*act.* is now called push") as seen:
        assert act(force=2.0) == (2.0, 1.0)
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert act(push=3.0, seconds=2.0) == (3.0, 2.0)
        assert act(4.0) == (4.0, 1.0)


def test_old_and_new_together_are_refused_with_both_names():
    @renamed_arguments(force="push")
    def act(push):
        return push

    with pytest.raises(tabi.ModelError, match="'force' and 'push'"):
        act(force=1.0, push=2.0)
    with pytest.raises(tabi.ModelError, match=r"scene\.yaml has 'a' and 'b'.*keep 'b' only"):
        renamed_keys("scene.yaml", {"a": 1, "b": 2}, {"a": "b"})


def test_keys_keep_their_order():
    with pytest.warns(FutureWarning):
        assert list(renamed_keys("f", {"x": 1, "old": 2, "y": 3}, {"old": "new"})) == [
            "x",
            "new",
            "y",
        ]


def test_an_old_name_of_a_module_leads_to_the_new_place(monkeypatch):
    home = types.ModuleType("renamed_home")
    home.new = 7
    monkeypatch.setitem(sys.modules, "renamed_home", home)
    get = renamed_in_module("package", {"old": "renamed_home.new"})
    with pytest.warns(FutureWarning, match=r"old in package is now called renamed_home\.new"):
        assert get("old") == 7
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        get("other")


@dataclasses.dataclass
class Gripper:
    width: float

    opening = RenamedAttribute("width")


def test_a_field_of_a_dataclass_is_taken_by_its_old_name():
    @_renamed.renamed_attributes(span="reach")
    @dataclasses.dataclass(frozen=True)
    class Arm:
        reach: float

    with pytest.warns(FutureWarning, match="span in .*Arm.* is now called reach"):
        arm = Arm(span=0.7)
    with pytest.warns(FutureWarning, match="span in Arm is now called reach"):
        assert arm.span == arm.reach == 0.7
    with pytest.raises(tabi.ModelError, match="'span' and 'reach'"):
        Arm(span=0.7, reach=0.6)


def has_attribute(owner, name):
    """Whether instances of a class have it: in the class, as a field, or set by its methods."""
    annotated = {field for base in owner.__mro__ for field in vars(base).get("__annotations__", {})}
    return hasattr(owner, name) or name in annotated or f"self.{name} =" in inspect.getsource(owner)


def test_every_old_name_of_an_attribute_leads_to_one_that_is_there():
    assert has_attribute(Gripper, "width")
    assert not has_attribute(Gripper, "opening_width")
    renamed = 0
    for module in pkgutil.walk_packages(tabi.__path__, "tabi."):
        if module.name.endswith("__main__"):
            continue
        owners = inspect.getmembers(importlib.import_module(module.name), inspect.isclass)
        for _, owner in owners:
            if owner.__module__ != module.name:
                continue
            for old, attribute in vars(owner).items():
                if isinstance(attribute, RenamedAttribute):
                    renamed += 1
                    assert attribute.old == old
                    assert has_attribute(owner, attribute.new), f"{owner}: {old}"
    # the changelog's table has more rows of attributes than this
    assert renamed > 10

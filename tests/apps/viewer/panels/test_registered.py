"""Panels register themselves; one that lacks a method, or has the name of another, is refused."""

import pytest

from tabi import ModelError
from tabi.apps.viewer.panels.panel import PagePanel
from tabi.apps.viewer.panels.registered import PANELS, registered


class Clock(PagePanel):
    @classmethod
    def create(cls, host):
        return cls()

    def show(self, view):
        pass


def test_the_panels_of_the_page():
    assert [kind.__name__ for kind in PANELS] == [
        "HandPanel",
        "RecordPanel",
        "SignalPanel",
        "WalkPanel",
    ]
    assert next(iter(registered([*PANELS, Clock]))) is Clock
    assert not Clock().follows


def test_a_panel_without_a_method_and_two_of_one_name_are_refused():
    class Bare(PagePanel):
        pass

    with pytest.raises(ModelError, match=r"panel Bare in .* has no method create; expected one"):
        registered([Bare])
    with pytest.raises(ModelError, match=r"panel 'Clock' is in .* give one of them another name"):
        registered([Clock, Clock])

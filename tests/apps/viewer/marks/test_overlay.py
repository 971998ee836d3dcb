"""Marks register themselves; one that lacks a method, or has a box of another, is refused."""

import pytest

from tabi import ModelError
from tabi.apps.viewer.marks.mark import Checkbox, Mark
from tabi.apps.viewer.marks.overlay import BOXES, MARKS, registered


class Flag(Mark):
    BOXES = (Checkbox("flags", 90),)

    @classmethod
    def create(cls, place):
        return cls()

    def draw_view(self, view, shown, ground):
        pass


def test_the_boxes_of_the_page_are_in_their_order():
    assert [box.name for box in BOXES] == [
        *("contact points", "friction cones", "contact forces", "states of feet"),
        *("centre of pressure", "support polygon", "centre of mass", "zero moment point"),
        *("plan of a walk", "trails", "see through bodies", "drag pulls"),
    ]
    assert {box.name for box in BOXES if not box.shown} == {
        *("trails", "see through bodies", "drag pulls"),
    }


def test_marks_of_ones_own_are_taken():
    assert registered([*MARKS, Flag])[3:] == sorted([*MARKS, Flag], key=lambda k: k.__name__)[3:]


def test_marks_without_a_method_and_two_with_one_box_are_refused():
    class Bare(Mark):
        BOXES = (Checkbox("bare", 91),)

    class Silent(Flag):
        draw_view = Mark.draw_view

    class Second(Flag):
        BOXES = (Checkbox("trails", 92),)

    with pytest.raises(ModelError, match=r"overlay Bare in .* has no method create; expected one"):
        registered([Bare])
    with pytest.raises(ModelError, match="has no method draw_view"):
        registered([Silent])
    with pytest.raises(ModelError, match=r"checkbox 'trails' is in .*balance_marks and in"):
        registered([*MARKS, Second])

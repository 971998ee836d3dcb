"""A steered robot in a page: footsteps to come, planned zero moment point, capture point."""

import numpy as np
import pytest
from apps.viewer.steered import simulator

from tabi.apps.viewer.gate import open_server
from tabi.apps.viewer.marks.steered_marks import SteeredMarks
from tabi.apps.viewer.steered_look import SteeredLook
from tabi.apps.viewer.view import Observer
from tabi.apps.viewer.walk_look import LIFT_M
from tabi.spatial.transform import about


@pytest.fixture(scope="module")
def sim():
    return simulator()


def test_footsteps_to_come_are_outlined_where_they_land(sim):
    walker = sim.drivers["hrp2"].controller
    (view,) = SteeredLook().look(sim)
    steps = {side: [s for s in walker.footsteps if s.foot == side] for side in ("left", "right")}
    for side, own in steps.items():
        corners = getattr(view, side)[:, 0].reshape(len(own), 4, 3)
        for step, ring in zip(own, corners, strict=True):
            local = step.pose.inverse() @ (ring - [0, 0, LIFT_M]).astype(float)
            assert local[:, :2] == pytest.approx(walker.biped.outline[side], abs=1e-6)
    assert view.zmp[:2] == pytest.approx(walker.planned_zmp)
    assert view.capture[:2] == pytest.approx(walker.capture_point)
    assert (view.margin, view.stands, view.support) == (0.05, True, "both feet stand")
    assert len(Observer(sim).look().steered) == 1


def test_marks_are_moved_with_a_robot_that_was_put_elsewhere(sim):
    server, _ = open_server("127.0.0.1", 0)
    try:
        look, marks = SteeredLook(), SteeredMarks(server)
        marks.draw(look.look(sim), True)
        assert marks.shown == [True]
        X = about((0, 0, 1), 0.3, (1.0, 2.0, 0.0))
        look.relocations["hrp2"] = X
        marks.draw(look.look(sim), True)
        assert marks._marks[0].relocation is X
        marks.draw(look.look(sim), False)
        assert marks.shown == [False]
        marks.draw((), True)
        assert marks.shown == [False]
    finally:
        server.stop()


def test_without_steps_or_numbers_nothing_is_drawn(sim):
    walker = sim.drivers["hrp2"].controller
    steps, point = walker.footsteps, walker.capture_point
    server, _ = open_server("127.0.0.1", 0)
    try:
        walker.footsteps, walker.capture_point = [], np.full(2, np.nan)
        marks = SteeredMarks(server)
        marks.draw(SteeredLook().look(sim), True)
        one = marks._marks[0]
        assert not one.lines["left"].handle.visible
        assert not one.coins["capture"].visible
        assert one.coins["zmp"].visible
    finally:
        walker.footsteps, walker.capture_point = steps, point
        server.stop()

"""``tabi validate robots``: what stands, what falls and what is refused is told apart."""

import numpy as np
import pytest
from robots.test_files import biped, quietly

from tabi.lab.validate import robot_check


def write(folder, name, text):
    file = folder / name
    file.write_text(text)
    return file


@pytest.mark.slow
def test_each_robot_has_its_outcome(tmp_path):
    files = [
        write(tmp_path, "stands.urdf", biped()),
        # motors too weak to bear it
        write(tmp_path, "falls.urdf", biped(effort=0.5)),
        write(tmp_path, "points.urdf", biped().replace('"0.2 0.1 0.02"', '"0.01 0.01 0.02"')),
        write(tmp_path, "broken.urdf", "<robot"),
    ]
    result = robot_check.RobotCheck(files=files, seconds=3.0).run()
    found = {row["file"]: row for row in result["robots"]}
    assert found["stands.urdf"]["outcome"] == robot_check.STANDS
    assert found["stands.urdf"]["missed"] == 0
    assert found["stands.urdf"]["weight_error"] == pytest.approx(0.0, abs=1e-4)
    assert found["falls.urdf"]["outcome"] == robot_check.FALLS
    assert found["points.urdf"]["outcome"] == robot_check.NO_SOLES
    assert "points, not soles" in found["points.urdf"]["reason"]
    assert found["broken.urdf"]["outcome"] == robot_check.REFUSED
    assert not result["within"]
    shown = robot_check.RobotCheck(files=[]).text(result)
    assert "1 of 4 stand" in shown
    assert "broken.urdf" in shown


def test_forwards_is_across_the_feet_to_where_the_left_one_is_on_the_left(tmp_path):
    robot = quietly(write(tmp_path, "stands.urdf", biped()))
    # left is y, so forwards is x; turned by a quarter it is y
    assert robot_check.forwards(robot) == pytest.approx([1.0, 0.0, 0.0])
    robot.place((0, 0, 1), (np.sqrt(0.5), 0, 0, np.sqrt(0.5)))
    assert robot_check.forwards(robot) == pytest.approx([0.0, 1.0, 0.0])


def test_an_interrupt_keeps_what_is_done(monkeypatch, tmp_path):
    monkeypatch.setattr(robot_check, "check", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    result = robot_check.RobotCheck(files=[tmp_path / "a.urdf"]).run()
    assert result["interrupted"]
    assert "interrupted" in robot_check.RobotCheck(files=[]).text(result)

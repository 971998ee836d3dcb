"""What part of its sole a foot stands on."""

import numpy as np
import pytest
from plates import LENGTH, WIDTH, on_plane

from tabi.recording.foot_words import FACE, NOT_RECORDED, STATES
from tabi.recording.recorded import read
from tabi.reporting import soles

SQUARE = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])


def lit(name, points, pressure):
    found = soles.lit(STATES.index(name), np.array(points, float), np.array(pressure), SQUARE)
    return {tuple(corner) for corner in found.tolist()}


@pytest.mark.parametrize("motion", ["stick", "slide"])
def test_a_face_is_the_hull_an_edge_its_nearest_side_and_a_vertex_its_nearest_corner(motion):
    points = [*SQUARE.tolist(), (0.5, 0.5)]
    assert lit(f"face, {motion}", points, (0.5, 0.5)) == set(map(tuple, SQUARE.tolist()))
    assert lit(f"edge, {motion}", points, (1.0, 0.3)) == {(1.0, 0.0), (1.0, 1.0)}
    assert lit(f"vertex, {motion}", points, (0.0, 1.0)) == {(0.0, 1.0)}


def test_of_points_on_a_line_an_edge_is_all_and_of_one_point_a_vertex_is_it():
    line = [(0.2, 0.1), (0.4, 0.1), (0.9, 0.1), (0.3, 0.1)]
    assert lit("edge, stick", line, (0.5, 0.1)) == {(0.2, 0.1), (0.9, 0.1)}
    assert lit("vertex, stick", line[:1], (0.2, 0.1)) == {(0.2, 0.1)}


def test_in_the_air_and_where_it_is_not_told_nothing_is_lit_and_a_soft_face_is_the_sole():
    assert lit("none", SQUARE, (np.nan, np.nan)) == set()
    assert len(soles.lit(NOT_RECORDED, SQUARE, np.zeros(2), SQUARE)) == 0
    assert lit("face, stick", [(0.5, 0.5)], (0.2, 0.2)) == set(map(tuple, SQUARE.tolist()))
    assert lit("face, stick", np.zeros((0, 2)), (0.2, 0.2)) == set(map(tuple, SQUARE.tolist()))


def test_a_recorded_plate_stands_on_all_of_its_sole(tmp_path):
    sim, _ = on_plane("coulomb")
    with sim.record(tmp_path / "run.hdf5"):
        sim.run(0.02)
    run = read(tmp_path / "run.hdf5")
    found = soles.of_row(run, 20, run.motion(slice(20, 21)))
    assert found.states.tolist() == [FACE]
    assert np.abs(found.lit[0]) == pytest.approx(
        np.tile([0.5 * LENGTH, 0.5 * WIDTH], (4, 1)), abs=1e-6
    )
    assert found.margins == pytest.approx([0.5 * WIDTH])
    assert found.positions == pytest.approx(np.zeros((1, 3)), abs=1e-6)
    # before the first step
    assert len(soles.of_row(run, 0, run.motion(slice(0, 1))).lit[0]) == 0

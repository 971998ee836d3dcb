"""Pads on faces of boxes and on outlines."""

import numpy as np
import pytest

import tabi
from tabi import ModelError
from tabi.soles import Layer

RUBBER = Layer(0.01, 1e6, 0.4, density=1000.0)


@pytest.mark.parametrize("face", ["+x", "-x", "+y", "-y", "+z", "-z"])
def test_a_pad_on_a_face_looks_outwards_and_brings_its_mass(face):
    world = tabi.World()
    box = world.add_box((0.1, 0.2, 0.3), 2.0)
    axis, sign = "xyz".index(face[1]), 1.0 if face[0] == "+" else -1.0
    sides = np.delete([0.1, 0.2, 0.3], axis)
    shape = box.add_pad(face, RUBBER, element_size=0.05)
    nodes = shape.placement @ shape.geometry.nodes
    half = 0.5 * np.array([0.1, 0.2, 0.3])[axis]
    assert nodes[:, axis] == pytest.approx(sign * (half + 0.01))
    assert np.ptp(np.delete(nodes, axis, axis=1), axis=0) == pytest.approx(sides)
    t = shape.geometry.triangles
    outwards = np.cross(nodes[t[:, 1]] - nodes[t[:, 0]], nodes[t[:, 2]] - nodes[t[:, 0]])
    assert (sign * outwards[:, axis] > 0).all()
    volume = 0.01 * np.prod(sides)
    assert box.inertia.mass == pytest.approx(2.0 + 1000.0 * volume, rel=1e-9)
    middle = sign * (half + 0.005) * 1000.0 * volume / box.inertia.mass
    assert box.inertia.centre[axis] == pytest.approx(middle, rel=1e-9)


def test_an_outline_stands_where_it_is_put_and_the_skin_is_closed():
    world = tabi.World()
    ball = world.add_sphere(0.05, 1.0)
    square = [[-0.01, -0.01], [0.01, -0.01], [0.01, 0.01], [-0.01, 0.01]]
    shape = ball.add_pad(square, RUBBER, position=(0, 0, -0.05), element_size=0.01)
    assert (shape.placement @ shape.geometry.nodes)[:, 2] == pytest.approx(-0.06)
    sides = shape.geometry.skin_triangles
    edges = np.sort(np.concatenate([sides[:, [0, 1]], sides[:, [1, 2]], sides[:, [2, 0]]]), axis=1)
    _, count = np.unique(edges, axis=0, return_counts=True)
    assert (count == 2).all()
    assert shape.geometry.skin[: len(shape.geometry.nodes)] == pytest.approx(shape.geometry.nodes)


def test_faces_that_are_none_are_refused():
    world = tabi.World()
    ball = world.add_sphere(0.05, 1.0)
    with pytest.raises(ModelError, match="no box whose face"):
        ball.add_pad("+x", RUBBER)
    box = world.add_box((0.1, 0.1, 0.1), 1.0)
    with pytest.raises(ModelError, match="face 'up'"):
        box.add_pad("up", RUBBER)

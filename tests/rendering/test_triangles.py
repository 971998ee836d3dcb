"""Triangles of worlds and of recordings: whose they are, and that they point outwards."""

import numpy as np

import tabi
from tabi.model.shape import Box
from tabi.recording import look
from tabi.rendering.triangles import of_look, of_world


def made():
    world = tabi.World()
    world.add_ground(friction=0.8)
    world.add_fixed(Box((0.2, 0.2, 0.2)), position=(1, 0, 0.1))
    world.add_box(size=(0.2, 0.3, 0.4), mass=1.0, position=(0, 0, 0.5), name="crate")
    world.add_robot(tabi.robots.hrp2()).stand_on_ground()
    return world, world.compile()


def test_every_body_has_its_triangles_under_its_name():
    world, model = made()
    found, names = of_world(world, model), list(model.links)
    drawn = {names[k] for k in found.link}
    assert {"world", "crate", "waist", "right_foot"} <= drawn
    assert names[found.plane_link[0]] == "world"
    assert np.allclose(found.planes, [[(0, 0, 0), (0, 0, 1)]])
    # a link lies on its moving body
    for k, body in {(int(k), int(b)) for k, b in zip(found.link, found.body, strict=True)}:
        assert model.links[names[k]].body == body
    assert np.array_equal(found.moving, found.body > 0)


def test_normals_point_out_of_a_box_and_its_triangles_enclose_its_volume():
    world, model = made()
    found = of_world(world, model)
    own = found.link == list(model.links).index("crate")
    corners = found.corners[own].astype(float)
    assert ((corners.mean(axis=1) * found.normals[own]).sum(axis=1) > 0).all()
    # divergence theorem; bevels of 4 mm take about 8 mm² × edge
    volume = np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    edges = 4 * (0.2 + 0.3 + 0.4)
    assert 0 < 0.2 * 0.3 * 0.4 - volume <= 0.5 * 0.004**2 * edges * 1.01


def test_recording_shows_the_same_triangles_as_its_world():
    world, model = made()
    whole, kept = of_world(world, model), of_look(look.of(world, model))

    def sorted_by_place(t):
        flat = np.column_stack([t.body, t.corners.reshape(-1, 9), t.colors]).round(6)
        return flat[np.lexsort(flat.T)]

    assert np.allclose(sorted_by_place(whole), sorted_by_place(kept), atol=2e-6)
    assert np.array_equal(kept.link, kept.body)
    assert np.array_equal(kept.planes, whole.planes)


def test_invisible_pieces_are_left_out():
    piece = look.Piece(
        1, np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.int32), (1, 1, 1, 0)
    )
    assert len(of_look(look.Look([piece], np.zeros((0, 2, 3)))).body) == 0

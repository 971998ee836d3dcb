"""Tables of shapes: faces of polytopes, who never touches whom, what is refused."""

import copy
import gc

import numpy as np
import pytest
from collision.scenes import UNIT, Scene

import tabi
from tabi import ModelError
from tabi.collision import arrays
from tabi.collision.arrays import BOX, ELLIPSOID, MOST_CORNERS, PLANE, compile_collision
from tabi.collision.polytope import faces_of
from tabi.collision.terrain_edges import ridges
from tabi.collision.workspace import allocate
from tabi.formats.mesh import convex_hull
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Box, Convex, HeightField, Shape, Sphere
from tabi.spatial.transform import from_quaternion, translation


def chain(base="floating"):
    """Four balls in a row, bodies linked by hinges; all of them overlap."""
    robot = Robot("chain")
    for k in range(4):
        joint = Joint(
            f"j{k}", "revolute" if k else base, translation((0.05 if k else 0.0, 0, 0)), (0, 1, 0)
        )
        robot.add_body(f"link{k}", joint, f"link{k - 1}" if k else None, UNIT).shapes.append(
            Shape(Sphere(0.1))
        )
    return robot


def touching(world):
    scene = Scene(world)
    links = [s.link for s in scene.model.shapes]
    return {frozenset((links[p["shape_a"]], links[p["shape_b"]])) for p in scene.detect()}


def test_a_cube_of_twelve_triangles_has_six_square_faces():
    hull = convex_hull(Box((0.2, 0.4, 0.6)).points())
    faces = faces_of(hull.vertices, hull.triangles, "a cube")
    assert len(faces) == 6
    assert sorted(round(f.area, 12) for f in faces) == [0.08, 0.08, 0.12, 0.12, 0.24, 0.24]
    for face in faces:
        assert len(face.loop) == 4
        corners = hull.vertices[face.loop]
        np.testing.assert_allclose(corners @ face.normal, face.offset, atol=1e-15)
        # counter-clockwise seen from outside
        turn = np.cross(corners[1] - corners[0], corners[2] - corners[1])
        assert turn @ face.normal > 0
        assert face.normal @ corners.mean(axis=0) > 0


def test_faces_of_a_random_hull_close_and_hold_every_vertex():
    rng = np.random.default_rng(0)
    hull = convex_hull(rng.normal(size=(60, 3)))
    faces = faces_of(hull.vertices, hull.triangles, "it")
    # the area vectors of a closed surface add up to nothing
    assert np.abs(sum(f.area * f.normal for f in faces)).max() < 1e-12
    for face in faces:
        assert (hull.vertices @ face.normal).max() <= face.offset + 1e-9


def test_points_inside_a_face_or_on_its_edges_are_no_corners():
    grid = np.linspace(-0.5, 0.5, 4)
    points = np.array([(x, y, z) for x in grid for y in grid for z in (0.0, 0.1)])
    hull = convex_hull(points)
    sizes = sorted(len(f.loop) for f in faces_of(hull.vertices, hull.triangles, "a plate"))
    assert sizes == [4] * 6


def test_single_precision_leaves_faces_whole():
    turned = (
        from_quaternion((0.8, 0.2, 0.4, 0.4), (1.0, 2.0, 3.0)) @ Box((0.24, 0.14, 0.02)).points()
    )
    hull = convex_hull(turned.astype(np.float32).astype(float))
    assert sorted(len(f.loop) for f in faces_of(hull.vertices, hull.triangles, "a sole")) == [4] * 6


def test_a_face_of_many_corners_keeps_at_most_as_many_as_there_is_room_for():
    angles = np.linspace(0, 2 * np.pi, 3 * MOST_CORNERS, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    world = tabi.World()
    world.add_object(convex_hull(np.concatenate([ring, ring + np.array([0, 0, 1.0])])), UNIT)
    tables = compile_collision(world.compile())
    assert (tables.face["loop_end"] - tables.face["loop"]).max() == MOST_CORNERS


def test_the_faces_of_a_hull_that_many_shapes_share_are_found_once(monkeypatch):
    calls = []

    def counted(vertices, triangles, owner):
        calls.append(owner)
        return faces_of(vertices, triangles, owner)

    monkeypatch.setattr(arrays, "faces_of", counted)
    hull, other = (convex_hull(np.random.default_rng(k).normal(size=(30, 3))) for k in range(2))
    world = tabi.World()
    for k, g in enumerate((hull, hull, other, copy.deepcopy(hull))):
        world.add_object(g, UNIT, (3.0 * k, 0, 0), name=f"thing {k}")
    model = world.compile()
    first, again = compile_collision(model), compile_collision(model)
    assert calls == ["'thing 0'", "'thing 2'"]
    for tables in (first, again):
        rows = [tables.face[s["face"] : s["face_end"]] for s in tables.shape]
        loops = [tables.loop[f["loop"][0] : f["loop_end"][-1]] for f in rows]
        for k in (1, 3):
            assert (rows[k]["normal"] == rows[0]["normal"]).all()
            assert (loops[k] == loops[0]).all()
        assert len(rows[2]) != len(rows[0]) or (rows[2]["normal"] != rows[0]["normal"]).any()
    # what has changed is another shape, and what nobody uses is forgotten
    hull.vertices[:] *= 2.0
    stretched = compile_collision(model)
    assert stretched.face["offset"][0] == pytest.approx(2 * first.face["offset"][0])
    assert len(calls) == 3
    known = len(arrays._KNOWN)
    del hull, other, world, model, g
    gc.collect()
    assert len(arrays._KNOWN) == known - 3


def test_an_ellipsoid_has_its_half_axes_and_is_bounded():
    world = tabi.World()
    world.add_ellipsoid((0.1, 0.3, 0.2), 1.0)
    row = compile_collision(world.compile()).shape[0]
    assert row["kind"] == ELLIPSOID < PLANE
    assert row["half"].tolist() == [0.1, 0.3, 0.2]
    assert (row["radius"], row["reach"]) == (0.0, 0.3)


def test_a_polytope_is_centred_and_its_placement_moves_with_it():
    world = tabi.World()
    world.add_object(
        convex_hull(Box((0.2, 0.2, 0.2)).points() + np.array([1.0, 2.0, 3.0])), UNIT, name="off"
    )
    row = compile_collision(world.compile()).shape[0]
    np.testing.assert_allclose(row["position"], (1, 2, 3))
    np.testing.assert_allclose(row["half"], 0.1)
    assert row["reach"] == pytest.approx(0.1 * np.sqrt(3))


@pytest.mark.parametrize(
    ("vertices", "triangles", "words"),
    [
        (np.zeros((3, 3)), [[0, 1, 2]] * 4, "at least four finite points"),
        (
            [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, np.nan]],
            [[0, 1, 2]] * 4,
            "at least four finite points",
        ),
        (
            [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]],
            [[0, 1, 2], [1, 3, 2], [0, 2, 1], [1, 2, 3]],
            "flat",
        ),
        (
            [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
            [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]],
            "inwards",
        ),
        (
            [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
            [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 4]],
            "three numbers of vertices",
        ),
    ],
)
def test_a_degenerate_or_inverted_polytope_is_refused_when_it_is_made(vertices, triangles, words):
    with pytest.raises(ModelError, match=words):
        Convex(np.asarray(vertices, float), np.asarray(triangles, np.int32))


def test_a_polytope_with_a_hole_or_a_dent_is_refused_with_the_name_of_its_link():
    hull = convex_hull(Box((1.0, 1.0, 1.0)).points())
    open_box = Convex(hull.vertices, hull.triangles[:-1])
    dented = Convex(
        np.concatenate([hull.vertices, [[0.0, 0.0, 0.2]]]),
        np.concatenate([hull.triangles, hull.triangles[:0]]),
    )
    top = max(
        range(len(hull.triangles)), key=lambda i: hull.vertices[hull.triangles[i]][:, 2].min()
    )
    a, b, c = hull.triangles[top]
    pulled = np.concatenate(
        [np.delete(hull.triangles, top, axis=0), [[a, b, 8], [b, c, 8], [c, a, 8]]]
    )
    for shape, words in ((open_box, "not closed"), (Convex(dented.vertices, pulled), "not convex")):
        world = tabi.World()
        world.add_object(shape, UNIT, name="shell")
        with pytest.raises(ModelError, match=f"'shell' is {words}"):
            compile_collision(world.compile())


def test_links_across_a_joint_never_touch_and_others_do():
    world = tabi.World()
    world.add_robot(chain())
    assert touching(world) == {
        frozenset(p) for p in (("link0", "link2"), ("link0", "link3"), ("link1", "link3"))
    }


def test_excluded_links_never_touch():
    world = tabi.World()
    robot = world.add_robot(chain())
    robot.excluded.add(frozenset(("link0", "link2")))
    assert touching(world) == {frozenset(p) for p in (("link0", "link3"), ("link1", "link3"))}


def test_the_first_link_on_a_bolted_base_never_touches_the_base_but_the_floor():
    world = tabi.World()
    world.add_ground()
    world.add_robot(chain(base="fixed"))
    assert frozenset(("link0", "link1")) not in touching(world)
    assert frozenset(("world", "link1")) in touching(world)
    assert frozenset(("link0", "link2")) in touching(world)


def test_two_robots_in_one_place_touch_everywhere():
    world = tabi.World()
    world.add_robot(chain())
    world.add_robot(chain())
    found = touching(world)
    assert all(
        frozenset((f"chain/link{i}", f"chain_2/link{k}")) in found
        for i in range(4)
        for k in range(4)
    )


def test_shapes_bolted_together_never_touch_each_other_nor_fixed_ones_fixed_ones():
    world = tabi.World()
    world.add_fixed(Box((1.0, 1.0, 1.0)))
    world.add_fixed(Box((1.0, 1.0, 1.0)))
    body = world.add_box((0.1, 0.1, 0.1), 1.0, position=(3, 0, 0))
    body.shapes.append(Shape(Sphere(0.1), material=body.shapes[0].material))
    assert touching(world) == set()


def test_materials_and_kinds_are_in_the_rows():
    world = tabi.World()
    world.add_ground(friction=0.3)
    world.add_box((0.1, 0.1, 0.1), 1.0, name="crate")
    model = world.compile()
    rows = compile_collision(model).shape
    assert [model.material_names[k] for k in rows["material"]] == ["ground", "crate"]
    assert rows["kind"][1] == BOX
    assert list(rows["body"]) == [0, 1]


def test_a_height_field_on_what_moves_is_refused():
    world = tabi.World()
    world.add_object(HeightField(np.zeros((3, 3)), (1.0, 1.0)), UNIT, name="raft")
    with pytest.raises(ModelError, match="'raft' moves and has a height field"):
        compile_collision(world.compile())


def test_only_folds_that_stick_out_are_ridges():
    flat = ridges(HeightField(np.zeros((5, 6)), (1.0, 1.0))).reshape(5, 6, 3)
    assert flat[1:-1, 1:-1].sum() == 0
    x, y = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 5))
    roof = ridges(HeightField(-np.abs(x), (2.0, 2.0))).reshape(5, 5, 3)
    assert (roof[:-1, 2, 1] == 1).all()
    assert roof[1:-1, 1:-1].sum() == 3
    gutter = ridges(HeightField(np.abs(x), (2.0, 2.0))).reshape(5, 5, 3)
    assert gutter[1:-1, 1:-1].sum() == 0
    # the diagonal of a saddle is a ridge or a gutter, by its sign
    assert (ridges(HeightField(x * y, (2.0, 2.0))).reshape(5, 5, 3)[:-1, :-1, 2] == 1).all()
    assert ridges(HeightField(-x * y, (2.0, 2.0))).reshape(5, 5, 3)[:-1, :-1, 2].sum() == 0


def test_memory_holds_what_stands_still_in_its_place():
    world = tabi.World()
    world.add_fixed(Box((1.0, 2.0, 3.0)), (5.0, 0.0, 0.0))
    world.add_sphere(0.1, 1.0)
    work = allocate(compile_collision(world.compile()), 8)
    np.testing.assert_allclose(work.pose["low"][0], (4.5, -1.0, -1.5))
    np.testing.assert_allclose(work.pose["high"][0], (5.5, 1.0, 1.5))

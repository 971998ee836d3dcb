"""Soles with fewer corners: what a robot stands on and tips over moves by the tolerance at most."""

import numpy as np
import pytest
from scipy.optimize import nnls

import tabi
from tabi.model.feet.sole_finding import sole_of
from tabi.model.hulls import solid
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Box, Capsule, Convex, Shape
from tabi.robots import files, shapes, sole_corners
from tabi.spatial import inertia
from tabi.spatial.transform import Transform

TOLERANCE = 1e-3
HEIGHT = 0.6


def outline(length, width, radius, steps=20):
    """Corners of a left sole: a rectangle with round corners, a rounder one at the small toe."""
    turn, corners = np.linspace(0, np.pi / 2, steps), []
    for k, r in enumerate((radius, radius, radius, 1.4 * radius)):
        start = k * np.pi / 2
        middle = np.array([length / 2 - r, width / 2 - r]) * [(1, -1)[k in (1, 2)], (1, -1)[k > 1]]
        corners.append(middle + r * np.stack([np.cos(start + turn), np.sin(start + turn)], axis=1))
    return np.concatenate(corners)


def at(points, z):
    return np.column_stack([points, np.broadcast_to(z, len(points))])


def bevelled(size=(0.2, 0.08)):
    """A sole with a bevel of 1 mm: corners in its plane, and outer ones 1 mm higher."""
    length, width = size
    r = 0.3 * width
    inner, outer = outline(length - 2e-3, width - 2e-3, r - 1e-3), outline(length, width, r)
    return np.concatenate([at(inner, 0.0), at(outer, 1e-3), at(outer, 0.03)])


def rocker():
    """A sole widest in the middle, whose lower face is bent along x with a radius of 2 m."""
    x = np.linspace(-0.08, 0.08, 41)
    low = [at(np.stack([x, y - x * x * y / 0.04], axis=1), x**2 / 4) for y in (-0.04, 0.04)]
    return np.concatenate([*low, at(outline(0.18, 0.1, 0.02), 0.03)])


def filleted():
    """A sole with a rim rounded by 3 mm, in rings of corners that lie in no row."""
    rings = []
    for k, a in enumerate(np.linspace(0, np.pi / 2, 6)):
        inwards = 3e-3 * (1 - np.sin(a))
        ring = outline(0.2 - 2 * inwards, 0.08 - 2 * inwards, 0.03 - inwards, 19 + k)
        rings.append(at(ring, 3e-3 * (1 - np.cos(a))))
    return np.concatenate([*rings, at(outline(0.2, 0.08, 0.03), 0.03)])


def robot_on(*geometries, X_BS=None, X_WB=None):
    """A block that stands on one foot of these shapes."""
    robot = Robot("stand")
    joint = Joint("root", "floating")
    body = robot.add_body("foot", joint, None, inertia.solid_box(5.0, (0.2, 0.1, 0.1)))
    body.shapes += [Shape(g, X_BS or Transform()) for g in geometries]
    foot = sole_of("left", body, (X_WB or Transform()).R)
    robot.feet["left"] = foot
    return robot, foot


def prepared(*geometries, tolerance=TOLERANCE, hull_tolerance=0.0, **placed):
    robot, foot = robot_on(*geometries, **placed)
    whole, _ = robot_on(*geometries, **placed)
    told = shapes.Settings(hull_tolerance=hull_tolerance, sole_tolerance=tolerance)
    assert shapes.prepare(robot, told) == []
    return robot, foot, whole.feet["left"]


def seen(foot):
    """All points of a foot in its frame."""
    X = foot.placement.inverse()
    return np.concatenate([(X @ s.placement) @ s.geometry.points() for s in foot.body.shapes])


def in_plane(foot):
    points = seen(foot)
    return points[np.abs(points[:, 2]) < 1e-7]


def reach(points, count=720):
    turn = np.arange(count) * 2 * np.pi / count
    return (points[:, :2] @ np.stack([np.cos(turn), np.sin(turn)])).max(axis=0)


def tipping_angles(points, count=36):
    """How far a body leans when its centre of mass, above the origin, is highest over the lowest
    point [rad].
    """
    lean, turn = np.linspace(0.0, 0.3, 6001), np.arange(count) * 2 * np.pi / count
    angles = []
    for d in turn:
        out, up = points[:, :2] @ [np.cos(d), np.sin(d)], points[:, 2] - HEIGHT
        over = (np.outer(out, np.sin(lean)) - np.outer(up, np.cos(lean))).max(axis=0)
        angles.append(lean[over.argmax()])
    return np.array(angles)


def distances(points, hull):
    """Of points to the hull of others, by their weights in it."""
    far = []
    for p in points:
        weights, _ = nnls(np.vstack([hull.T, 1e3 * np.ones(len(hull))]), np.array([*p, 1e3]))
        far.append(np.linalg.norm(hull.T @ weights - p))
    return np.array(far)


SOLES = {"bevelled": bevelled, "filleted": filleted}


@pytest.mark.parametrize("tolerance", [3e-4, 1e-3])
@pytest.mark.parametrize("sole", SOLES)
def test_the_support_polygon_ends_nowhere_later_and_little_earlier(sole, tolerance):
    _, foot, whole = prepared(solid(SOLES[sole](), None), tolerance=tolerance)
    assert len(in_plane(foot)) < 0.8 * len(in_plane(whole))
    for less in (
        reach(in_plane(whole)) - reach(in_plane(foot)),
        reach(whole.polygon) - reach(foot.polygon),
    ):
        assert -1e-12 < less.min() <= less.max() <= tolerance


@pytest.mark.parametrize("hull_tolerance", [0.0, 1e-3])
@pytest.mark.parametrize("sole", SOLES)
def test_it_tips_elsewhere_by_the_tolerance_over_the_height_of_its_mass(sole, hull_tolerance):
    _, foot, whole = prepared(solid(SOLES[sole](), None), hull_tolerance=hull_tolerance)
    less = tipping_angles(seen(whole)) - tipping_angles(seen(foot))
    # over a fillet it rolls before it tips, and that is a matter of the other tolerance too
    most = TOLERANCE + (hull_tolerance if sole == "filleted" else 0.0)
    # on a grid of 0.05 mrad
    assert np.abs(less).max() <= most / HEIGHT + 5.1e-5
    assert less.max() > 0.2 * TOLERANCE / HEIGHT


@pytest.mark.parametrize("sole", [bevelled, filleted, rocker])
def test_corners_that_stay_are_the_soles_own_and_the_lowest_are_among_them(sole):
    robot, foot, whole = prepared(solid(sole(), None))
    (hull,) = [shape.geometry for shape in foot.body.shapes]
    own = {tuple(v) for v in whole.body.shapes[0].geometry.vertices}
    assert {tuple(v) for v in hull.vertices} < own
    assert np.array_equal(foot.placement.p, whole.placement.p)
    assert seen(foot)[:, 2].min() == seen(whole)[:, 2].min()
    robot.stand_on_ground()
    assert robot.base.joint.position[2] == pytest.approx(0.0, abs=1e-12)


def test_a_bent_sole_leans_by_a_tenth_of_the_tolerance_over_its_width_at_most():
    _, foot, whole = prepared(solid(rocker(), None))
    after, before = (p[p[:, 2] < 2e-3] for p in (seen(foot), seen(whole)))
    assert len(after) < 0.5 * len(before)
    steep = [1.0, 1.0, 10.0]
    assert distances(before * steep, after * steep).max() < TOLERANCE + 1e-9
    # so that the ground it stands on, however it leans, comes that much nearer
    lean = np.stack([np.linspace(-0.05, 0.05, 201), 0 * np.ones(201), np.ones(201)])
    higher = (after @ lean).min(axis=0) - (before @ lean).min(axis=0)
    assert -1e-12 < higher.min() <= higher.max() <= 1.2 * TOLERANCE / 10


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("sole", [bevelled, filleted])
def test_turned_tilted_and_mirrored_feet_keep_the_same_corners(sole, mirrored):
    points = sole()
    _, foot, _ = prepared(solid(points, None))
    kept = seen(foot)
    # yaw of 37°, in a body that is tilted against the ground
    c, s = np.cos(np.radians(37)), np.sin(np.radians(37))
    yaw = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    tilt = Transform(np.linalg.qr(np.array([[0.3, 1, 0.2], [-1, 0.1, 0.4], [0.1, 0, 1]]))[0])
    tilt = tilt if np.linalg.det(tilt.R) > 0 else Transform(-tilt.R)
    mirror = np.diag([1.0, -1.0 if mirrored else 1.0, 1.0])
    there = Transform(tilt.R.T, np.array([0.1, -0.2, 0.05]))
    # numbered the other way round
    moved = (points @ mirror @ yaw.T)[::-1]
    _, again, _ = prepared(solid(moved, None), X_BS=there, X_WB=tilt)
    expected, found = kept @ mirror @ yaw.T, seen(again)
    found[:, :2] += (there.p @ tilt.R.T)[:2] * 0
    offset = (tilt.R @ (again.placement.p - there.p))[:2]
    found[:, :2] += offset
    assert len(found) == len(expected)
    away = np.linalg.norm(found[:, None] - expected[None], axis=2).min(axis=1)
    assert away.max() < 1e-9


def test_each_of_several_shapes_of_a_foot_keeps_its_own_outline():
    toes, heel = at(outline(0.1, 0.09, 0.03), -0.02), at(outline(0.08, 0.06, 0.02), -0.02)
    toes[:, 0] += 0.06
    heel[:, 0] -= 0.08
    up = np.array([0, 0, 0.02])
    box, capsule = Box((0.02, 0.02, 0.04)), Capsule(0.01, 0.02)
    geometries = [solid(np.concatenate([p, p + up]), None) for p in (toes, heel)]
    # both end in the plane of the meshes
    robot, foot = robot_on(*geometries, box, capsule)
    whole = [(s.placement @ s.geometry.points())[:, :3] for s in foot.body.shapes]
    polygon = foot.polygon
    shapes.prepare(robot, shapes.Settings(hull_tolerance=0))
    assert [s.geometry for s in foot.body.shapes[2:]] == [box, capsule]
    for shape, before in zip(foot.body.shapes[:2], whole, strict=False):
        after = shape.placement @ shape.geometry.points()
        flat, old = (p[np.abs(p[:, 2] + 0.02) < 1e-9] for p in (after, before))
        less = reach(old) - reach(flat)
        assert len(flat) < 0.7 * len(old)
        assert -1e-12 < less.min() <= less.max() <= TOLERANCE
    less = reach(polygon) - reach(foot.polygon)
    assert -1e-12 < less.min() <= less.max() <= TOLERANCE
    assert len(foot.polygon) < 0.7 * len(polygon)


def test_small_soles_keep_a_fiftieth_of_their_width():
    points = bevelled((0.03, 0.012))[40:]
    points[:, 2] -= 1e-3
    _, foot, whole = prepared(solid(points, None))
    less = reach(in_plane(whole)) - reach(in_plane(foot))
    assert len(in_plane(foot)) < len(in_plane(whole))
    assert less.max() <= 0.012 / 50


def test_the_corners_of_a_plane_are_chosen_without_those_above_it():
    # the bevel is only at the toes, and its corners are of different heights
    inner = outline(0.2, 0.08, 0.03)
    toes = np.flatnonzero(inner[:, 0] > 0)
    heights = 1e-3 + 3e-4 * (np.arange(len(toes)) % 2)
    rim = at(inner[toes] * [1.02, 1.02], heights)
    _, foot, whole = prepared(solid(np.concatenate([at(inner, 0.0), rim, at(inner, 0.03)]), None))
    _, plain, _ = prepared(solid(np.concatenate([at(inner, 0.0), at(inner, 0.03)]), None))
    chosen = in_plane(foot)[:, :2] - in_plane(plain)[:, :2].min(axis=0)
    expected = in_plane(plain)[:, :2] - in_plane(plain)[:, :2].min(axis=0)
    assert {tuple(p) for p in chosen} == {tuple(p) for p in expected}
    # it never rests on them: their heights count as all else
    low = [(seen(f)[:, 2] > 5e-4) & (seen(f)[:, 2] < 2e-3) for f in (foot, whole)]
    assert low[0].sum() < 0.4 * low[1].sum()


def test_the_upper_rim_of_a_thin_plate_stays_above_the_lower_one():
    ring = outline(0.2, 0.08, 0.03)
    hull = solid(np.concatenate([at(ring, 0.0), at(ring, 1.5e-3)]), None)
    _, foot, _ = prepared(hull)
    points = seen(foot)
    low, high = (points[points[:, 2] == z, :2] for z in (0.0, 1.5e-3))
    assert 4 < len(low) == len(high) < len(ring)
    assert {tuple(p) for p in low} == {tuple(p) for p in high}


def test_a_note_tells_how_many_corners_are_left_and_how_far_outlines_moved():
    robot, foot, whole = prepared(solid(bevelled(), None))
    (note,) = [note for note in robot.notes if "corners" in note]
    # of the plane and of the rim above it
    before, after = (int((seen(f)[:, 2] < 2e-3).sum()) for f in (whole, foot))
    assert f"left from {before} to {after}:" in note
    assert "sole_tolerance=0 keeps them" in note
    lost = 1e-3 * float(note.split("at most ")[1].split(" mm")[0])
    less = reach(in_plane(whole)) - reach(in_plane(foot))
    assert less.max() - 5e-6 <= lost <= TOLERANCE


def test_nothing_is_left_out_with_no_tolerance_or_of_soles_of_four_corners():
    hull = solid(bevelled(), None)
    robot, foot, _ = prepared(hull, tolerance=0.0)
    assert foot.body.shapes[0].geometry is hull
    assert not robot.notes
    block = solid(Box((0.2, 0.1, 0.05)).points(), None)
    robot, foot, _ = prepared(block)
    assert foot.body.shapes[0].geometry is block
    assert not robot.notes


def test_polygons_that_were_given_stay():
    robot, _ = robot_on(solid(bevelled(), None))
    given = robot.feet.pop("left").polygon[::3]
    foot = robot.add_foot("left", "foot", given)
    polygon = foot.polygon.copy()
    shapes.prepare(robot, shapes.Settings())
    assert np.array_equal(foot.polygon, polygon)
    assert any("corners" in note for note in robot.notes)


def test_feet_of_one_hull_go_on_sharing_it():
    robot, _ = robot_on(solid(bevelled(), None))
    (shape,) = robot.body("foot").shapes
    body = robot.add_body("other", Joint("j", "revolute"), "foot", inertia.solid_box(1, (1, 1, 1)))
    body.shapes.append(Shape(shape.geometry, shape.placement))
    robot.feet["right"] = sole_of("right", body, np.eye(3))
    assert [f.name for f in sole_corners.thin(robot, TOLERANCE)] == ["left", "right"]
    assert shape.geometry is body.shapes[0].geometry
    assert isinstance(shape.geometry, Convex)


def test_soles_of_fourier_n1_lose_most_of_their_corners_and_no_more_than_the_tolerance(shared):
    path = shared / "data/robots/menagerie/fourier_n1/n1.xml"
    pytest.importorskip("mujoco")
    if not path.is_file():
        pytest.skip("menagerie not found in ../shared/data")
    with files.quietly():
        robot, whole = tabi.load(path), tabi.load(path, sole_tolerance=0)
    for name, foot in robot.feet.items():
        before, after = in_plane_of_hulls(whole.feet[name]), in_plane_of_hulls(foot)
        assert len(after) <= 12 < 38 <= len(before)
        less = reach(before) - reach(after)
        assert -1e-12 < less.min() <= less.max() <= TOLERANCE
        # polygons have no corners that turn by less than rounding
        less = reach(whole.feet[name].polygon) - reach(foot.polygon)
        assert -1e-8 < less.min() <= less.max() <= TOLERANCE
    # the right foot is the left one's mirror image
    left, right = (in_plane_of_hulls(robot.feet[side])[:, :2] for side in ("left", "right"))
    away = np.linalg.norm(left[:, None] * [1.0, -1.0] - right[None], axis=2).min(axis=1)
    assert away.max() < 1e-6


def in_plane_of_hulls(foot):
    X = foot.placement.inverse()
    hulls = [s for s in foot.body.collision_shapes() if isinstance(s.geometry, Convex)]
    points = np.concatenate([(X @ s.placement) @ s.geometry.vertices for s in hulls])
    return points[np.abs(points[:, 2]) < 1e-6 * np.ptp(points, axis=0).max()]

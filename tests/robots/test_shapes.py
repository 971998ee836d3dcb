"""Colliding shapes of robots from files: fewer vertices, and soles that stay."""

import math
import warnings

import numpy as np
import pytest

import tabi
from tabi.formats.mesh import convex_hull
from tabi.model.feet.sole_finding import sole_of
from tabi.model.shape import Convex
from tabi.robots import files, shapes

# keeps hulls and soles as they are
ALL = {"hull_tolerance": 0, "sole_tolerance": 0}


def rounded(size, radius, steps=8):
    """Points of a box [m] with round edges and corners, on its lower face sharp."""
    half = 0.5 * np.asarray(size)
    polar, turn = np.meshgrid(np.linspace(0, np.pi / 2, steps), np.linspace(0, np.pi / 2, steps))
    eighth = radius * np.stack(
        [np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)], axis=-1
    ).reshape(-1, 3)
    signs = np.array([[x, y] for x in (-1, 1) for y in (-1, 1)])
    top = np.concatenate([(half - radius + eighth) * [x, y, 1] for x, y in signs])
    a = np.linspace(0, np.pi / 2, steps)
    quarter = half[:2] - radius + radius * np.stack([np.cos(a), np.sin(a)], axis=1)
    rim = np.concatenate([quarter * sign for sign in signs])
    return np.concatenate([top, np.column_stack([rim, np.full(len(rim), -half[2])])])


def write_obj(path, points):
    hull = convex_hull(points)
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in hull.vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in hull.triangles.tolist()]
    path.write_text("\n".join(lines) + "\n")


def link(name, mesh, mass, at):
    x, y, z = at
    return (
        f'<link name="{name}"><inertial><origin xyz="{x} {y} {z}"/><mass value="{mass}"/><inertia '
        f'ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin '
        f'xyz="{x} {y} {z}"/><geometry><mesh filename="{mesh}"/></geometry></collision></link>'
    )


def joint(name, parent, child, at):
    x, y, z = at
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{x} {y} {z}"/><axis xyz="0 1 0"/>'
        f'<limit lower="-2" upper="2" effort="100" velocity="10"/></joint>'
    )


@pytest.fixture
def biped(tmp_path):
    """A trunk on two legs, of three mesh files."""
    write_obj(tmp_path / "trunk.obj", rounded((0.15, 0.3, 0.3), 0.04))
    write_obj(tmp_path / "bone.obj", rounded((0.06, 0.06, 0.18), 0.02))
    write_obj(tmp_path / "sole.obj", rounded((0.2, 0.1, 0.03), 0.012))
    parts = [link("trunk", "trunk.obj", 5.0, (0, 0, 0.17))]
    for k, (side, y) in enumerate((("left", 0.1), ("right", -0.1))):
        parts += [
            link(f"thigh{k}", "bone.obj", 2.0, (0, 0, -0.1)),
            link(f"shank{k}", "bone.obj", 1.5, (0, 0, -0.1)),
            link(f"{side}_foot", "sole.obj", 0.3, (0.02, 0, -0.05)),
            joint(f"hip{k}", "trunk", f"thigh{k}", (0, y, 0)),
            joint(f"knee{k}", f"thigh{k}", f"shank{k}", (0, 0, -0.2)),
            joint(f"ankle{k}", f"shank{k}", f"{side}_foot", (0, 0, -0.2)),
        ]
    file = tmp_path / "biped.urdf"
    file.write_text(f'<robot name="biped">{"".join(parts)}</robot>')
    return file


def quietly(path, **settings):
    with files.quietly():
        return tabi.load(path, **settings)


def hulls_of(robot):
    return {body.name: body.collision_shapes()[0].geometry for body in robot.bodies}


def test_hulls_are_simplified_and_the_note_tells_by_how_much(biped):
    robot, whole = quietly(biped), quietly(biped, hull_tolerance=0)
    after, before = hulls_of(robot), hulls_of(whole)
    directions = np.random.default_rng(0).normal(size=(3, 500))
    directions /= np.linalg.norm(directions, axis=0)
    for name, hull in after.items():
        assert len(hull.vertices) < 0.7 * len(before[name].vertices)
        less = (before[name].vertices @ directions).max(axis=0)
        less -= (hull.vertices @ directions).max(axis=0)
        assert -1e-12 <= less.min() <= less.max() <= 1e-3
    counts = [sum(len(h.vertices) for h in some.values()) for some in (before, after)]
    (note,) = [note for note in robot.notes if "simplified" in note]
    assert f"7 convex hulls were simplified, from {counts[0]} to {counts[1]} vertices" in note
    assert "hull_tolerance=0" in note
    assert 0 < float(note.split("at most ")[1].split(" mm")[0]) <= 1.0
    assert not any("simplified" in note for note in whole.notes)


def test_links_of_one_mesh_share_one_hull(biped):
    after = hulls_of(quietly(biped))
    assert after["thigh0"] is after["shank1"]
    assert after["left_foot"] is after["right_foot"]
    assert after["thigh0"] is not after["trunk"]


def test_soles_stay_as_they_are_to_the_last_digit(biped):
    robot, whole = quietly(biped, hull_tolerance=5e-3, sole_tolerance=0), quietly(biped, **ALL)
    for side in ("left", "right"):
        body = robot.body(f"{side}_foot")
        again = sole_of(side, body, np.eye(3))
        assert len(again.polygon) == 32
        assert np.array_equal(again.polygon, whole.feet[side].polygon)
        assert np.array_equal(again.corners(), whole.feet[side].corners())
        assert len(hulls_of(robot)[body.name].vertices) < len(hulls_of(whole)[body.name].vertices)


def test_outlines_of_soles_stay_that_lie_above_their_planes(biped):
    # a sole with a bevel: what counts as its outline is 1.5 mm above the ground
    points = rounded((0.2, 0.1, 0.03), 0.012)
    flat = points[points[:, 2] < -0.0149]
    lower = flat * [0.97, 0.95, 1.0] - np.array([0.0, 0.0, 0.0015])
    write_obj(biped.with_name("sole.obj"), np.concatenate([points, lower]))
    robot, whole = quietly(biped, hull_tolerance=5e-3, sole_tolerance=0), quietly(biped, **ALL)
    again = sole_of("left", robot.body("left_foot"), np.eye(3))
    assert np.ptp(again.polygon, axis=0) == pytest.approx((0.2, 0.1))
    assert np.array_equal(again.polygon, whole.feet["left"].polygon)


@pytest.mark.slow
def test_soles_stay_that_hang_on_their_foot_by_a_fixed_joint(biped):
    # the mesh moves to a link of its own, and the foot is a polygon on the one that carries it
    text = biped.read_text()
    for side in ("left", "right"):
        old = link(f"{side}_foot", "sole.obj", 0.3, (0.02, 0, -0.05))
        assert old in text
        bare = old.replace(old[old.index("<collision>") : old.index("</link>")], "")
        plate = link(f"{side}_plate", "sole.obj", 0.1, (0.02, 0, -0.05))
        fixed = joint(f"{side}_fix", f"{side}_foot", f"{side}_plate", (0.1, 0.2, 0.3))
        text = text.replace(old, bare + plate + fixed.replace("revolute", "fixed"))
    biped.write_text(text)
    corner = {"polygon": [[0, 0], [0.1, 0], [0, 0.1]], "position": [0.12, 0.2, 0.235]}
    feet = {side: {"body": f"{side}_foot", **corner} for side in ("left", "right")}
    robot = quietly(biped, feet=feet, sole_tolerance=0)
    whole = quietly(biped, feet=feet, **ALL)
    low = [
        h.vertices[h.vertices[:, 2] < -0.0149]
        for r in (robot, whole)
        for h in [r.body("left_plate").collision_shapes()[0].geometry]
    ]
    assert len(low[0]) == 32
    assert {tuple(v) for v in low[0]} == {tuple(v) for v in low[1]}


def test_at_most_so_many_vertices_but_for_feet(biped):
    with pytest.warns(tabi.RobotFileWarning) as said:
        robot = tabi.load(biped, max_points=12, gains=False, self_collision=True)
    assert "more than hull_tolerance because of max_points" in str(said[0].message)
    for name, hull in hulls_of(robot).items():
        assert (len(hull.vertices) <= 12) == ("foot" not in name)
    # without a loss there is nothing to say
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tabi.load(biped, max_points=10000, gains=False, self_collision=True)
    # nor is a hull simplified further than asked for, where only the number counts
    robot = quietly(biped, hull_tolerance=0, max_points=30)
    assert {len(h.vertices) for n, h in hulls_of(robot).items() if "foot" not in n} == {30}
    whole = hulls_of(quietly(biped, hull_tolerance=0))
    assert len(hulls_of(robot)["left_foot"].vertices) == len(whole["left_foot"].vertices)


def test_thin_hulls_are_kept_finer_than_thick_ones(tmp_path):
    turn = np.arange(200) * np.pi / 100
    rim = np.stack([0.05 * np.cos(turn), 0.05 * np.sin(turn), 0 * turn], axis=1)
    counts = []
    for thickness in (0.1, 0.002):
        write_obj(tmp_path / "disc.obj", np.concatenate([rim, rim + np.array([0, 0, thickness])]))
        file = tmp_path / "disc.urdf"
        file.write_text(f'<robot name="disc">{link("disc", "disc.obj", 1.0, (0, 0, 0))}</robot>')
        robot = quietly(file)
        counts.append(len(hulls_of(robot)["disc"].vertices))
        (note,) = [note for note in robot.notes if "simplified" in note]
        lost = 1e-3 * float(note.split("at most ")[1].split(" mm")[0])
        assert lost <= min(1e-3, 0.1 * thickness) + 5e-6
    assert counts[1] > 1.3 * counts[0]


@pytest.mark.parametrize("wrong", [-1e-3, math.nan, math.inf, "fine", None, True])
@pytest.mark.parametrize("name", ["hull_tolerance", "sole_tolerance"])
def test_tolerances_that_are_none_are_refused(biped, name, wrong):
    with pytest.raises(tabi.ModelError, match=rf"{name} is .*; expected a length in metres"):
        quietly(biped, **{name: wrong})


@pytest.mark.parametrize("wrong", [3, 0, -1, 7.5, math.nan, "few", True])
def test_numbers_of_points_that_are_none_are_refused(biped, wrong):
    with pytest.raises(tabi.ModelError, match=r"max_points is .*; expected a whole number"):
        quietly(biped, max_points=wrong)


def test_misspelt_keywords_are_refused_with_the_right_one(biped):
    with pytest.raises(tabi.ModelError, match="did you mean 'hull_tolerance'"):
        tabi.load(biped, hull_tolerence=1e-3)


@pytest.mark.slow
def test_scene_files_say_it_with_units(biped):
    text = "title: t\nduration_s: 1\nground: {{}}\nrobots: [{{robot: {}{}}}]\n"
    counts, corners = {}, {}
    for more in (
        "",
        ", hull_tolerance_m: 0",
        ", hull_tolerance_m: 0.004",
        ", max_points: 9",
        ", sole_tolerance_m: 0",
    ):
        scene = tabi.scenes.loads(text.format(biped, more))
        (robot,) = scene.simulator().world.robots
        counts[more] = len(hulls_of(robot)["trunk"].vertices)
        corners[more] = len(robot.feet["left"].polygon)
    fine, whole, coarse, few, again = counts.values()
    assert fine == again
    assert [*corners.values()] == [16, 16, 16, 16, 32]
    assert whole > fine > coarse > few
    assert few <= 9
    assert fine == len(hulls_of(quietly(biped))["trunk"].vertices)


def test_a_robot_with_simplified_hulls_bears_its_weight(biped):
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(quietly(biped))
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    sim.run(1.0)
    assert not sim.fallen(robot)
    weight = sum(sim.foot_wrench(foot).force[2] for foot in robot.feet.values())
    assert weight == pytest.approx(robot.mass * 9.81, rel=1e-3)


def test_shapes_that_are_no_hulls_are_left_alone():
    robot = tabi.robots.hrp2()
    for body in robot.bodies:
        body.shapes = [s for s in body.shapes if not isinstance(s.geometry, Convex)]
    before = [s.geometry for b in robot.bodies for s in b.collision_shapes()]
    assert shapes.simplify(robot, shapes.Settings()) == []
    assert before == [s.geometry for b in robot.bodies for s in b.collision_shapes()]
    assert not any("simplified" in note for note in robot.notes)

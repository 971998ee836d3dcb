"""A foot as one sees it: words, support polygon, and the largest yaw moment."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground
from plates import LENGTH, MASS, THICK, WIDTH, G, on_plane, plate_world
from scipy.optimize import linprog

import tabi
from tabi import scenes
from tabi.model.shape import Box
from tabi.observation.foot_state import yaw_limit

SQUARE = 0.1 * np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])


def test_in_the_middle_of_a_square_without_a_tangential_force_it_is_mu_f_r():
    # every corner is as far away: however the load is shared
    r = 0.1 * np.sqrt(2)
    assert yaw_limit(SQUARE, (0, 0), (0, 0, 50.0), 0.6) == pytest.approx(0.6 * 50 * r, rel=1e-5)
    assert yaw_limit(SQUARE, (0, 0), (0, 0, 50.0), 0.6, -1.0) == pytest.approx(0.6 * 50 * r)


@pytest.mark.slow
def test_at_the_limit_of_sliding_nothing_is_left():
    limit = yaw_limit(SQUARE, (0.02, 0.03), (0.6 * 50.0, 0.0, 50.0), 0.6)
    assert limit == pytest.approx(0.0, abs=1e-3)
    assert yaw_limit(SQUARE, (0, 0), (0, 0, -1.0), 0.6) == 0.0
    assert yaw_limit(SQUARE, (0, 0), (0, 0, 1.0), 0.0) == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_a_linear_program_with_many_sided_cones_finds(seed):
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-0.1, 0.1, (6, 2))
    corners = corners[np.argsort(np.arctan2(*(corners - corners.mean(0)).T))]
    p = rng.dirichlet(np.ones(6)) @ corners
    mu, fz = 0.7, 30.0
    force = np.array([*(rng.uniform(-0.3, 0.3, 2) * mu * fz), fz])
    # unknowns: λ_i, then f_x, f_y of each corner; facets of each cone as inequalities
    facets = 64
    angle = np.linspace(0, 2 * np.pi, facets, endpoint=False)
    arms = corners - p
    cost = np.concatenate([np.zeros(6), *np.column_stack([arms[:, 1], -arms[:, 0]])])
    rows = []
    for i in range(6):
        for a in angle:
            row = np.zeros(18)
            row[i], row[6 + 2 * i], row[7 + 2 * i] = -mu, np.cos(a), np.sin(a)
            rows.append(row)
    equal = np.zeros((5, 18))
    equal[0, :6], equal[1, :6], equal[2, :6] = 1, arms[:, 0], arms[:, 1]
    equal[3, 6::2], equal[4, 7::2] = 1, 1
    bounds = [(0, None)] * 6 + [(None, None)] * 12
    found = linprog(
        cost, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=equal, b_eq=[fz, 0, 0, *force[:2]],
        bounds=bounds,
    )  # fmt: skip
    # cones around: more by 1/cos(π/64) at most
    ours = yaw_limit(corners, p, force, mu)
    assert ours <= -found.fun * (1 + 1e-6) + 1e-9
    assert ours >= -found.fun * np.cos(np.pi / facets) - 2e-3 * mu * fz * 0.1


def test_a_plate_that_is_turned_slides_at_its_yaw_limit():
    sim, robot = on_plane("coulomb", friction=0.5)
    most = 0.5 * MASS * G * 0.5 * np.hypot(LENGTH, WIDTH)
    # corners of a rectangle are all as far from its middle: the limit does not depend on sharing
    for share, turns in ((0.97, False), (1.03, True)):
        saved = sim.save()
        sim.apply_force(robot.body("plate"), torque=(0, 0, share * most), duration=0.05)
        sim.run(0.05)
        foot = sim.foot(robot.feet["sole"])
        assert foot.yaw_limit == pytest.approx(most, rel=1e-4)
        assert abs(foot.yaw_moment) == pytest.approx(min(share, 1.0) * most, rel=1e-3)
        assert (abs(sim.velocity(robot.body("plate")).angular[2]) > 1e-3) == turns
        sim.restore(saved)


def test_the_support_polygon_is_the_hull_of_what_touches():
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    assert sim.support_polygon(robot).shape == (0, 2)
    sim.run(0.05)
    outline = sim.support_polygon(robot)
    x, y = outline.T
    soles = np.concatenate(
        [(sim.pose(foot) @ np.column_stack([foot.polygon, 0 * foot.polygon[:, 0]]))[:, :2]
         for foot in robot.feet.values()]
    )  # fmt: skip
    low, high = soles.min(axis=0), soles.max(axis=0)
    assert 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1)) == pytest.approx(np.prod(high - low))
    # on one edge it is a line
    sim, robot = on_plane("coulomb", friction=2.0)
    sim.apply_force(robot.body("plate"), (0, 0, -MASS * G), 1.0, point=(1.2 * LENGTH, 0, 0))
    sim.run(0.05)
    line = sim.support_polygon(robot)
    assert line.shape == (2, 2)
    assert np.linalg.norm(line[1] - line[0]) == pytest.approx(WIDTH, rel=1e-6)


def test_in_words():
    sim, robot = on_plane("coulomb")
    assert str(sim.foot("sole")) == "foot sole: none"
    sim.run(0.1)
    words = str(sim.foot(robot.feet["sole"]))
    assert words == (
        "foot sole: face, stick, 29.4 N at (0.0, 0.0) mm, 70.0 mm inside of the sole's edge, "
        "0% of its friction used"
    ).replace("(0.0, 0.0)", words[words.index("(") : words.index(")") + 1])


def test_the_zero_moment_point_is_in_the_plane_of_the_ground_whatever_else_is_touched():
    world, robot = plate_world()
    robot.place((0, 0, 0.5 * THICK))
    sim = tabi.Simulator(world)
    sim.run(0.05)
    assert sim.zmp(robot) == pytest.approx((0, 0), abs=1e-6)
    world, robot = plate_world(slope=0.3, friction=0.9)
    sim = tabi.Simulator(world)
    q = sim.state.q
    q[:3] = 0.5 * THICK * np.array([np.sin(0.3), 0, np.cos(0.3)])
    q[3], q[5] = np.cos(0.15), np.sin(0.15)
    sim.set_state(q)
    sim.run(0.05)
    # on a slope: below the middle, in the plane of the slope
    assert sim.zmp(robot) == pytest.approx((sim.position(robot.base)[0], 0), abs=1e-6)
    # against a wall as well: its push counts, and is met at the edge towards it
    world, robot = plate_world(friction=0.9)
    world.add_fixed(Box((0.1, 1.0, 1.0)), (0.5 * LENGTH + 0.05, 0, 0.5), friction=0.5)
    robot.place((0, 0, 0.5 * THICK))
    sim = tabi.Simulator(world)
    sim.apply_force(robot.base, (60.0, 0, 0), 1.0)
    sim.run(0.05)
    wall = sum(c.force_on("plate/plate")[0] for c in sim.contacts if abs(c.normal[0]) > 0.5)
    assert wall < -20.0
    # what the contacts do together is held in balance by the weight and the push
    x, _, z = sim.position(robot.base)
    assert sim.zmp(robot) == pytest.approx((x + 60.0 * z / (MASS * G), 0.0), abs=1e-6)


def test_a_state_that_is_kept_does_not_change_with_later_steps():
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    sim.run(0.05)
    kept = sim.foot("left")
    before = kept.wrench.force.copy(), kept.local_wrench.torque.copy(), kept.normal_force
    sim.apply_force("chest", (100.0, 0.0, 0.0), duration=0.05)
    sim.run(0.05)
    assert np.array_equal(kept.wrench.force, before[0])
    assert np.array_equal(kept.local_wrench.torque, before[1])
    assert not np.array_equal(sim.foot("left").wrench.force, before[0])


@pytest.mark.slow
def test_laws_with_other_corner_forces_see_the_same_states_in_the_same_motion():
    # both feet tip over their toes: corners that bear nothing are told from those that leave by how
    # they move, and not by forces, which differ from law to law
    seen = {}
    for law in ("coulomb", "selection"):
        sim = scenes.load("toes", [f"simulation.contact={law}"]).simulator()
        sim.run(1.2)
        seen[law] = [(e.foot, e.before, e.after) for e in sim.foot_events]
    assert ("left", "face, stick", "edge, stick") in seen["coulomb"]
    assert seen["selection"] == seen["coulomb"]


def test_a_foot_that_turns_on_the_spot_slides_though_its_force_does_not_say_so():
    sim, plate = on_plane("coulomb")
    sim.run(0.01)
    sim.apply_force(plate.base, torque=(0.0, 0.0, 1.5 * MASS * G * LENGTH), duration=0.1)
    sim.run(0.05)
    foot = sim.foot(next(iter(plate.feet.values())))
    assert foot.friction_share < 0.5
    assert foot.motion == "slide"

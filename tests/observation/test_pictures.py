"""Pictures of a simulation: by its cameras, against MuJoCo's rays, and without a trace in it."""

import numpy as np
import pytest

import tabi

FORWARDS = (0.5, 0.5, -0.5, -0.5)  # looks along x of its body, z up


@pytest.fixture(scope="module")
def standing():
    """HRP-2 with an eye in its head and a crate before it."""
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.add_sensor("eye", "camera", "head", position=(0.15, 0.0, 0.05), quaternion=FORWARDS)
    robot.stand_on_ground()
    crate = world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, position=(1.2, 0.1, 1.3), name="crate")
    return tabi.Simulator(world), robot, crate


def test_camera_in_the_head_sees_the_crate_where_the_pinhole_formula_says(standing):
    sim, _, crate = standing
    seen = sim.render("eye", kind="segmentation", size=(320, 240), field_of_view=60.0)
    camera = tabi.Camera(pose=sim.pose("eye"), field_of_view=60.0, size=(320, 240))
    (column, row), depth = camera.project(sim.position(crate))
    names = list(sim.model.links)
    assert names[seen[int(row), int(column)]] == "crate"
    # upright: x of the head is the way it looks, z is up
    ahead = camera.pose.R @ (0.0, 0.0, -1.0)
    assert ahead[0] > 0.9
    assert camera.pose.R[2, 1] > 0.9
    # in the middle its face is half the crate's size before its centre, along x
    distance = sim.render("eye", kind="depth", size=(320, 240), field_of_view=60.0)
    assert distance[int(row), int(column)] == pytest.approx(float(depth) - 0.15, abs=2e-3)


def test_camera_of_a_pose_sees_what_the_sensor_there_sees(standing):
    sim, robot, _ = standing
    own = tabi.Camera(pose=sim.pose("eye"), field_of_view=70.0, size=(64, 48))
    for kind in ("colour", "depth", "segmentation"):
        by_name = sim.render("eye", kind, (64, 48), 70.0)
        assert np.array_equal(by_name, sim.render(own, kind))
        assert np.array_equal(by_name, sim.render(robot.sensors["eye"], kind, (64, 48), 70.0))


def test_camera_of_a_mujoco_file_has_its_own_field_of_view(tmp_path):
    pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body name="arm" pos="0 0 1"><joint name="j" axis="0 0 1"/>
        <geom type="box" size=".1 .1 .1"/><camera name="eye" pos=".2 0 0" xyaxes="0 -1 0 0 0 1"
        fovy="70"/></body></worldbody></mujoco>"""
    (tmp_path / "arm.xml").write_text(text)
    world = tabi.World()
    world.add_ground()
    world.add_robot(tmp_path / "arm.xml")
    sim = tabi.Simulator(world)
    by_name = sim.render("eye", "depth", (40, 30))
    # it looks along x, horizontally: the last row is half a pixel inside of 35° below
    f = 15.0 / np.tan(np.radians(35.0))
    assert by_name[-1, 20] == pytest.approx(1.0 * f / 14.5, rel=1e-6)
    wider = sim.render("eye", "depth", (40, 30), 90.0)
    assert wider[-1, 20] == pytest.approx(15.0 / 14.5, rel=1e-6)


def test_view_without_a_camera_shows_all_that_moves(standing):
    sim, _, _ = standing
    for size in ((200, 150), (60, 200)):
        seen = sim.render(kind="segmentation", size=size)
        assert seen.shape == size[::-1]
        moving = seen > 0
        # nothing is cut off, and it fills a good part of the picture
        border = np.concatenate([moving[0], moving[-1], moving[:, 0], moving[:, -1]])
        assert not border.any()
        assert np.ptp(np.argwhere(moving), axis=0).max() > 0.4 * min(size)


def test_crate_is_as_brown_as_it_is_in_the_page(standing):
    sim, _, crate = standing
    camera = tabi.Camera(
        sim.position(crate) + np.array([0.5, 0.0, 0.0]), sim.position(crate), size=(9, 9)
    )
    red, green, blue = sim.render(camera)[4, 4].astype(float)
    # one light for all colours; 255 levels
    assert green / red == pytest.approx(0.62 / 0.80, abs=0.01)
    assert blue / red == pytest.approx(0.38 / 0.80, abs=0.01)


def test_taking_pictures_changes_no_bit_of_the_run_and_the_same_state_gives_the_same_picture():
    def run(pictures: bool):
        world = tabi.World()
        world.add_ground(friction=0.8)
        world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, position=(0, 0, 0.3), name="crate")
        sim = tabi.Simulator(world)
        for _ in range(20):
            sim.run(0.01)
            if pictures:
                for kind in ("colour", "depth", "segmentation"):
                    assert np.array_equal(
                        sim.render(kind=kind, size=(32, 24)), sim.render(kind=kind, size=(32, 24))
                    )
        return sim

    seen, unseen = run(True), run(False)
    assert np.array_equal(seen.data.q, unseen.data.q)
    assert np.array_equal(seen.data.v, unseen.data.v)
    saved = seen.save()
    before = seen.render(size=(64, 48))
    seen.set_state([0.3, 0, 0.5, 1, 0, 0, 0])
    assert not np.array_equal(
        before, seen.render(size=(64, 48), camera=tabi.Camera((2, 2, 2), (0, 0, 0)))
    )
    seen.restore(saved)
    assert np.array_equal(before, seen.render(size=(64, 48)))


def test_picture_follows_the_state_that_was_set():
    world = tabi.World()
    world.add_sphere(radius=0.1, mass=1.0, position=(0, 0, 0), name="ball")
    sim = tabi.Simulator(world)
    camera = tabi.Camera((0, -3, 0), (0, 0, 0), size=(300, 300))
    for x, z in ((0.0, 0.0), (0.4, -0.3), (-0.5, 0.6)):
        sim.set_state([x, 0, z, 1, 0, 0, 0])
        rows, columns = np.nonzero(sim.render(camera, kind="segmentation") >= 0)
        (column, row), _ = camera.project((x, 0, z))
        # the middle of a small ball is that of its picture, but for a pixel
        assert abs(columns.mean() + 0.5 - column) < 1.0
        assert abs(rows.mean() + 0.5 - row) < 1.0


def test_depth_agrees_with_rays_of_mujoco():
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(5)
    world = tabi.World()
    world.add_ground()

    def where(k: int) -> dict:
        x, y, z = 0.7 * (k % 3) - 0.7, 0.9 * (k // 3) - 0.4, rng.uniform(0.3, 0.6)
        return {"position": (x, y, z), "quaternion": rng.normal(size=4)}

    world.add_box(size=(0.3, 0.2, 0.4), mass=1.0, **where(0))
    world.add_cylinder(radius=0.15, length=0.4, mass=1.0, **where(1))
    world.add_capsule(radius=0.1, length=0.3, mass=1.0, **where(2))
    world.add_ellipsoid(radii=(0.2, 0.1, 0.15), mass=1.0, **where(3))
    world.add_sphere(radius=0.17, mass=1.0, **where(4))
    world.add_box(size=(0.5, 0.1, 0.1), mass=1.0, **where(5))
    sim, other = tabi.Simulator(world), tabi.to_mujoco(world)
    data = mujoco.MjData(other)
    mujoco.mj_resetDataKeyframe(other, data, 0)
    mujoco.mj_forward(other, data)
    camera = tabi.Camera((1.6, -1.4, 1.3), (0.0, 0.0, 0.3), field_of_view=60.0, size=(96, 72))
    ours, seen = sim.render(camera, kind="depth"), sim.render(camera, kind="segmentation")
    names = list(sim.model.links)
    agree, far = 0, []
    for row in range(72):
        for column in range(96):
            x = np.array([column + 0.5 - 48, 36 - row - 0.5, -camera.focus]) / camera.focus
            length, geom = np.linalg.norm(x), np.zeros(1, np.int32)
            t = mujoco.mj_ray(
                other, data, camera.pose.p, camera.pose.R @ x / length, None, 1, -1, geom
            )
            body = other.body(other.geom_bodyid[geom[0]]).name if t >= 0 else ""
            if body == (names[seen[row, column]] if seen[row, column] >= 0 else ""):
                agree += 1
                far.append(ours[row, column] - t / length if t >= 0 else 0.0)
    # outlines differ by a pixel here and there: facets and bevels are inside of the true shapes
    assert agree > 0.97 * 96 * 72
    assert len(set(seen.ravel().tolist())) == 8 - (-1 not in seen)
    # facets lie up to one hundredth of a radius of 0.2 m inside, more along slanting rays
    assert np.median(np.abs(far)) < 1e-4
    assert np.quantile(np.abs(far), 0.99) < 0.01


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"camera": "ey"}, "camera 'ey' not found in the world; cameras near that name: 'eye'"),
        ({"camera": "imu"}, "sensor 'imu' is of kind 'imu'; expected a camera, as 'eye'"),
        ({"camera": 3}, "camera is int; expected a tabi.Camera, the name of a camera"),
        ({"kind": "color"}, "kind of a picture is 'color'; expected one of colour, depth"),
        ({"size": (0, 0)}, "picture is (0, 0); expected width and height"),
        ({"camera": "eye", "field_of_view": 200}, "field of view of a camera is 200"),
        ({"field_of_view": 0}, "field of view of a camera is 0"),
    ],
)
def test_picture_that_cannot_be_taken_is_refused_in_a_sentence(standing, arguments, sentence):
    with pytest.raises(tabi.ModelError) as told:
        standing[0].render(**arguments)
    assert sentence in str(told.value)


def test_world_without_cameras_says_so():
    world = tabi.World()
    world.add_sphere(radius=0.1, mass=1.0)
    with pytest.raises(tabi.ModelError, match="the world has no cameras"):
        tabi.Simulator(world).render("eye")


def test_reading_of_a_camera_points_at_its_picture(standing):
    with pytest.raises(tabi.ModelError, match=r"a picture, sim\.render\('eye'\)"):
        standing[0].sensor("eye")

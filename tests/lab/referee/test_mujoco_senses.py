"""A robot's controller in MuJoCo's copy of its world: readings as MuJoCo's own sensors have them,
and as tabi's have them where both engines are in the same state.
"""

import numpy as np
import pytest

import tabi
from tabi.analysis import pattern_playback
from tabi.formats.mjcf.writer import to_mjcf
from tabi.lab import referee
from tabi.lab.referee.engines import MuJoCo
from tabi.lab.referee.mujoco_senses import reading

mujoco = pytest.importorskip("mujoco")

G = 9.81
RNG = np.random.default_rng(3)


def on_ground(make=tabi.robots.hrp2, prepare=lambda robot: None, dt=1e-3):
    """A robot that stands, and its simulator."""
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(make())
    prepare(robot)
    robot.stand_on_ground()
    return tabi.Simulator(world, dt=dt), robot


# ---- readings -----------------------------------------------------------------------------------


def turned():
    q = RNG.normal(size=4)
    return q / np.linalg.norm(q)


def with_sensors(robot):
    """Sensors of all kinds, at odd places."""
    for foot in robot.feet.values():
        body = foot.body.name
        robot.add_sensor(f"{body} wrench", "force", body, RNG.normal(size=3) * 0.1, turned())
        robot.add_sensor(f"{body} touch", "touch", body)
        robot.add_sensor(f"{body} torque", "torque", body)
        robot.add_sensor(f"{body} encoder", "encoder", body)
        robot.add_sensor(f"{body} effort", "effort", body)
    for kind in ("imu", "gyro", "accelerometer", "orientation"):
        for body in (robot.base.name, robot.bodies[-1].name):
            robot.add_sensor(f"{body} {kind}", kind, body, RNG.normal(size=3) * 0.1, turned())


KINDS = {
    "force": ("mjSENS_FORCE", "mjSENS_TORQUE"),
    "imu": ("mjSENS_GYRO", "mjSENS_ACCELEROMETER"),
    "gyro": ("mjSENS_GYRO",),
    "accelerometer": ("mjSENS_ACCELEROMETER",),
    "orientation": ("mjSENS_FRAMEQUAT",),
}


def mujocos_own(sim, robot):
    """MuJoCo's model of the same world with sensors of its own at the same places."""
    spec = mujoco.MjSpec.from_string(to_mjcf(sim.world))
    for name, sensor in robot.sensors.items():
        body, X = spec.body(sensor.body.name), sensor.placement
        if sensor.kind in KINDS:
            body.add_site(name=name, pos=X.p, quat=X.quaternion)
            for kind in KINDS[sensor.kind]:
                spec.add_sensor(
                    name=f"{name}|{kind}",
                    type=getattr(mujoco.mjtSensor, kind),
                    objtype=mujoco.mjtObj.mjOBJ_SITE,
                    objname=name,
                )
        elif sensor.kind == "touch":
            # of all contacts within the site
            body.add_site(name=name, type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[2.0, 0, 0])
            spec.add_sensor(
                name=f"{name}|",
                type=mujoco.mjtSensor.mjSENS_TOUCH,
                objtype=mujoco.mjtObj.mjOBJ_SITE,
                objname=name,
            )
    return spec.compile()


def talos(example_robots):
    with tabi.robots.files.quietly():
        return tabi.load(example_robots / "talos_data/robots/talos_reduced.urdf", base="floating")


@pytest.mark.slow
@pytest.mark.parametrize("which", ["hrp2", "hrp2 on its bush", "talos"])
def test_readings_are_those_of_mujocos_own_sensors_at_the_same_moment(which, request):
    """With MuJoCo's own acceleration, at a moment with velocities, contacts and torques."""
    if which == "talos":
        folder = request.getfixturevalue("example_robots")
        sim, robot = on_ground(lambda: talos(folder), with_sensors)
    else:
        sim, robot = on_ground(lambda: tabi.robots.hrp2(bush="bush" in which), with_sensors)
    ours = MuJoCo(sim)
    v = 0.3 * RNG.normal(size=sim.model.v_count)
    q = sim.state.q.copy()
    q[2] -= 1e-3
    qpos, qvel = tabi.model.mujoco_state.mujoco_state(sim.model, ours.m, q, v)
    m = mujocos_own(sim, robot)
    m.opt.timestep = ours.m.opt.timestep
    d, control = mujoco.MjData(m), 20.0 * RNG.normal(size=m.nu)
    for data in (d, ours.d):
        data.qpos[:], data.qvel[:] = qpos, qvel
    # the same torques, in place of the loops
    ours.m.actuator_biasprm[:] = 0.0
    d.ctrl[:] = control
    mujoco.mj_forward(m, d)
    ours.d.ctrl[:] = d.actuator_force
    mujoco.mj_forward(ours.m, ours.d)
    assert ours.d.ncon > 3
    assert ours.d.qacc == pytest.approx(d.qacc, abs=1e-6 * np.abs(d.qacc).max())
    sim.set_state(q, v)
    found = ours.senses.read(ours.d, ours.d.qacc, np.zeros(sim.model.v_count), robot)
    for name, sensor in robot.sensors.items():
        if sensor.kind not in (*KINDS, "touch"):
            continue
        kinds = KINDS.get(sensor.kind, ("",))
        theirs = np.concatenate([d.sensor(f"{name}|{kind}").data for kind in kinds])
        if sensor.kind == "orientation":
            theirs *= np.sign(theirs @ found[name])
        if sensor.kind == "force":
            # MuJoCo's is what the near side exerts on the far one
            theirs = -theirs
        size = max(1.0, np.abs(theirs).max())
        assert found[name] == pytest.approx(theirs, abs=1e-6 * size), name
    for foot in robot.feet.values():
        body = foot.body
        k = sim.model.v_index(body.joint.name)
        place = sim.model.arrays.dof["q"][k]
        assert found[f"{body.name} encoder"] == pytest.approx([q[place], v[k]])


def test_a_joints_torque_is_the_moment_of_what_is_beyond_it_about_its_axis():
    sim, robot = on_ground(prepare=with_sensors)
    made = MuJoCo(sim)
    for _ in range(5):
        made.step()
    row, effort = made.row(), made._efforts()
    sim.set_state(row.q, row.v)
    found = made._read(robot, effort)
    assert set(robot.feet) == {"left", "right"}
    for foot in robot.feet.values():
        joint, body = foot.body.joint, foot.body.name
        k = sim.model.v_index(joint.name)
        a = (made.d.qvel - made._before[1])[made.states.v][k] / sim.dt
        # across the joint goes what the motor gives, less what its rotor takes
        given = effort[k] - joint.total_armature * a - joint.damping * row.v[k]
        # MuJoCo's own dry friction is another row of its problem
        dry = made.d.qfrc_constraint[made.states.v][k] if joint.friction else 0.0
        assert found[f"{body} effort"][0] == pytest.approx(effort[k])
        scale = max(1.0, abs(given))
        assert found[f"{body} torque"][0] == pytest.approx(given, abs=abs(dry) + 1e-2 * scale)


def test_what_a_sensor_makes_of_the_truth_is_what_tabi_makes_of_it():
    matrix = np.diag([2.0, 3.0, 4.0, 1.0, 1.0, 1.0])
    matrix[0, 4] = 0.3

    def prepare(robot):
        foot = robot.feet["left"].body.name
        options = {"matrix": matrix, "offset": np.arange(6.0), "bias": 0.5}
        robot.add_sensor("raw", "force", foot, **options)
        robot.add_sensor("coarse", "force", foot, resolution=0.7, limit=100.0)
        robot.add_sensor("moment", "force", foot, part="torque", resolution=0.01)
        robot.add_sensor("turning", "imu", robot.base.name, part="gyro", bias=(1.0, 2.0, 3.0))
        robot.add_sensor("felt", "imu", robot.base.name, part="accelerometer", resolution=0.1)

    sim, robot = on_ground(prepare=prepare)
    sim.run(0.05)
    for name in ("raw", "coarse", "moment", "turning", "felt"):
        sensor, told = robot.sensors[name], sim.sensor(name).values
        whole = {"force": "left_foot_force", "imu": "imu"}[sensor.kind]
        assert robot.sensors[whole].kind == sensor.kind
        plain = tabi.model.sensors.Sensor("x", sensor.body, sensor.placement, sensor.kind)
        truth = sim.sensor(name, truth=True).values
        if sensor.part:
            # the parts of a kind, of which one is told
            first = 0 if sensor.part in ("force", "gyro") else 3
            values = np.full(6, np.nan)
            values[first : first + 3] = truth
            truth = np.nan_to_num(values)
        assert plain.width == len(truth)
        assert reading(sensor, truth) == pytest.approx(told, abs=1e-12), name


# ---- driven by a controller ---------------------------------------------------------------------


class Balance:
    """Ankles against the tilt of the trunk and the pressure of the feet; it remembers and keeps
    what it sees.
    """

    def __init__(self, motion):
        self.motion, self.seen, self.lean, self.last = motion, [], 0.0, 0.0

    def __call__(self, time, measurement):
        self.seen.append((time, measurement))
        gyro, acceleration = np.split(measurement.sensors["imu"], 2)
        load = sum(measurement.sensors[f"{side}_foot_force"][2] for side in ("left", "right"))
        # a complementary filter, of half a second and more
        self.lean += (time - self.last) * gyro[1]
        self.lean += 0.005 * (np.arctan2(-acceleration[0], acceleration[2]) - self.lean)
        self.last = time
        told = self.motion(time, measurement)
        position = dict(told.position)
        for ankle in ("RLEG_ANKLE_P", "LLEG_ANKLE_P"):
            if load > 100.0:
                position[ankle] += 0.1 * self.lean + 0.01 * gyro[1]
        return tabi.Command(position=position, velocity=told.velocity)


@pytest.mark.slow
def test_a_controller_with_imu_forces_and_encoders_sees_the_same_robot_at_rest_in_both():
    kept = []

    def prepare(robot):
        for body in robot.bodies:
            if body.joint.motor is not None:
                robot.add_sensor(f"{body.joint.name} encoder", "encoder", body)

    def make():
        sim, robot = on_ground(prepare=prepare)
        kept.append(Balance(tabi.control.hold(robot.half_sitting)))
        sim.set_controller(robot, kept[-1], rate=200.0)
        return sim

    found = referee.measure_controllers(make, 1.0, "standing")
    assert found.result["fault"] is None
    assert not any(found.result["engines"][name]["fallen_at_s"] for name in ("tabi", "MuJoCo"))
    robot = tabi.robots.hrp2()
    below = sum(foot.body.inertia.mass for foot in robot.feet.values())
    last = []
    for controller in kept:
        # each at its own rate, from the start
        assert [t for t, _ in controller.seen[:3]] == pytest.approx([0.0, 0.005, 0.01])
        assert len(controller.seen) == 200
        seen = controller.seen[-1][1]
        loads = [seen.sensors[f"{side}_foot_force"][2] for side in ("left", "right")]
        # what the sensors bear is all but the feet below them; what still moves is below 0.1 %
        assert sum(loads) == pytest.approx((robot.mass - below) * G, rel=1e-3)
        assert seen.sensors["imu"][3:] == pytest.approx([0, 0, G], abs=0.05)
        assert seen.sensors["imu"][:3] == pytest.approx(np.zeros(3), abs=1e-3)
        knee = robot.joint_names.index("RLEG_KNEE_P")
        assert seen.position[knee] == seen.sensors["RLEG_KNEE_P encoder"][0]
        assert seen.velocity[knee] == seen.sensors["RLEG_KNEE_P encoder"][1]
        last.append(seen)
    # MuJoCo's feet sink by its soft contacts, and joints give way by a force shared otherwise
    assert last[0].position == pytest.approx(last[1].position, abs=2e-3)
    assert found.result["differences"]["bodies"]["hrp2"]["largest_mm"] < 2.0


@pytest.mark.slow
def test_a_squat_that_balances_stays_near_in_both():
    def make():
        sim, robot = on_ground()
        motion = tabi.control.squat(robot, depth=0.2, frequency=1.0)
        sim.set_controller(robot, Balance(motion), rate=500.0)
        return sim

    found = referee.measure_controllers(make, 1.0)
    bases = [found.columns[name]["position"][:, 0] for name in ("tabi", "MuJoCo")]
    assert np.ptp(bases[0][:, 2]) > 0.01
    # soft contacts give way by a millimetre, and the motors' loops are the same
    assert np.abs(bases[0] - bases[1]).max() < 3e-3
    weight = found.result["weight_n"]
    for name in ("tabi", "MuJoCo"):
        wrench = found.columns[name]["wrench"]
        # over a period of what is nearly periodic
        assert wrench[200:, :, 2].sum(axis=1).mean() == pytest.approx(weight, rel=0.03)


@pytest.mark.slow
def test_the_rubber_of_the_ankles_gives_way_by_load_over_stiffness_in_mujoco_too():
    seen = {}

    def make():
        sim, robot = on_ground(lambda: tabi.robots.hrp2(bush=True))

        def controller(time, measurement):
            seen[id(sim)] = (sim, robot, measurement)
            return tabi.Command(position=robot.half_sitting)

        sim.set_controller(robot, controller, rate=200.0)
        return sim

    ours, theirs = make(), MuJoCo(make())
    ours.run(1.5)
    for _ in range(1500):
        theirs.step()
    robot, row = ours.world.robots[0], theirs.row()
    feet = robot.bush.feet
    assert len(feet) == 2
    for foot, joints in feet.items():
        for joint, told in ((joints.z, 3e-5), (joints.roll, 1e-3), (joints.pitch, 1e-3)):
            k = ours.model.arrays.dof["q"][ours.model.v_index(joint)]
            assert row.q[k] == pytest.approx(ours.state.q[k], abs=told), joint
        # the load above the rubber, on its spring along z
        z = ours.model.arrays.dof[ours.model.v_index(joints.z)]
        side = f"{foot}_foot_force"
        load = seen[id(theirs.sim)][2].sensors[side][2]
        sunk = row.q[z["q"]] - z["rest"]
        below = sum(b.inertia.mass for b in robot.bodies if b.name == joints.sole) * G
        assert abs(sunk) * z["stiffness"] == pytest.approx(load, abs=below + 0.01 * load)


@pytest.mark.slow
def test_a_walk_of_openhrp_is_the_same_in_both(shared):
    walk = pattern_playback.WALKS[0]

    def make():
        world, robot, pattern = pattern_playback.stage(shared / "data", walk)
        pose = dict(zip(pattern.joints, pattern.position[0].tolist(), strict=True))
        robot.stand_on_ground(pose)
        sim = tabi.Simulator(world)
        sim.set_controller(robot, tabi.control.playback(robot, pattern, feed_forward=True))
        return sim

    # until the first foot has landed
    found = referee.measure_controllers(make, 2.0)
    assert found.columns["tabi"]["foot"][-1, :, 0].max() > 0.1
    # soft contacts sink by 0.7 mm, and it leans over a foot 0.7 m below
    assert found.result["differences"]["bodies"]["SampleRobot"]["largest_mm"] < 4.0


@pytest.mark.slow
def test_noise_delay_and_rates_are_told_to_be_tabis_alone():
    sim, robot = on_ground(lambda: tabi.robots.hrp2(sensor_noise=True))
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    made = MuJoCo(sim)
    told = [note for note in made.notes if "read exactly" in note]
    assert len(told) == 1
    assert "delay of imu" in told[0]
    assert "noise of" in told[0]
    exact, robot = on_ground()
    exact.set_controller(robot, tabi.control.hold(robot.half_sitting))
    assert not [note for note in MuJoCo(exact).notes if "read exactly" in note]


def test_worlds_that_mujoco_cannot_have_are_refused():
    def bouncing():
        world = tabi.World()
        world.add_ground(restitution=0.5)
        world.add_box(size=(0.2, 0.2, 0.2), mass=1.0, restitution=0.5, position=(0, 0, 1))
        return tabi.Simulator(world)

    with pytest.raises(tabi.ModelError, match="the world uses restitution, which is not carried"):
        referee.measure_controllers(bouncing, 0.1)

    def changed():
        sim, _ = on_ground()
        sim.model.set_joint("RLEG_KNEE_P", damping=3.0)
        return sim

    with pytest.raises(tabi.ModelError, match="damping in the simulator's model is not what its"):
        referee.measure_controllers(changed, 0.1)

"""States of a simulation: the first one again, joints put elsewhere, and what stays."""

import numpy as np
import pytest
from worlds import random_robot

import tabi


def standing(**options):
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(tabi.robots.hrp2(sensor_noise=True))
    world.add_box(size=(0.2, 0.2, 0.2), mass=2.0, position=(0.6, 0.0, 0.2))
    robot.stand_on_ground()
    sim = tabi.Simulator(world, **options)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    return sim, robot


def fingerprint(sim, robot):
    """All that a person could see of a moment."""
    told = [sim.sensor(name).values for name in robot.sensors if sim.model.sensors[name].measures]
    forces = [c.force for c in sim.contacts]
    return np.concatenate([sim.q, sim.v, [sim.time], *told, *forces])


@pytest.mark.parametrize("scheme", ["time-stepping", "event-driven"])
def test_after_a_reset_the_same_run_comes_again_to_the_last_bit(scheme):
    sim, robot = standing(scheme=scheme)
    seen = []
    for _ in range(2):
        sim.apply_force("chest", (60.0, 0.0, 0.0), duration=0.05)
        sim.run(0.1)
        seen.append(fingerprint(sim, robot))
        sim.reset()
        assert sim.time == 0.0
        assert np.array_equal(sim.q, sim.model.initial())
        assert not sim.v.any()
    assert np.array_equal(*seen)


def test_a_reset_forgets_pushes_misses_and_events_of_feet():
    sim, _ = standing()
    sim.apply_force("chest", (600.0, 0.0, 0.0), duration=0.1, at=0.2)
    sim.run(0.05)
    assert sim.foot_events
    sim.missed.append((0.0, 1.0))
    sim.reset()
    assert (sim.pushes, sim.missed, sim.missed_count, sim.foot_events) == ((), [], 0, ())
    assert sim.certificate.worst_residual == 0.0


def test_gains_and_prescribed_joints_stay_after_a_reset():
    sim, robot = standing()
    kp = 0.5 * sim.model.arrays.dof["kp"]
    sim.set_gains(kp, sim.model.arrays.dof["kd"])
    sim.prescribe("RLEG_KNEE_P")
    sim.run(0.01)
    sim.reset()
    assert np.array_equal(sim.data.command.motor["kp"], kp)
    sim.run(0.02)
    knee = sim.q[sim.q_slice("RLEG_KNEE_P")]
    assert abs(knee[0] - robot.half_sitting["RLEG_KNEE_P"]) < 1e-12


def test_a_controller_with_a_reset_is_told():
    sim, robot = standing()

    class Counting:
        def __init__(self):
            self.count = 0

        def reset(self):
            self.count = 0

        def __call__(self, time, measurement):
            self.count += 1
            return tabi.Command(position=robot.half_sitting)

    controller = Counting()
    sim.set_controller(robot, controller)
    sim.run(0.01)
    assert controller.count == 10
    sim.reset()
    assert controller.count == 0


def test_a_reset_within_a_step_is_refused():
    sim, robot = standing()

    def impatient(time, measurement):
        sim.reset()

    sim.set_controller(robot, impatient)
    with pytest.raises(tabi.SimulationError, match="a reset was asked for within a step"):
        sim.run(0.01)
    sim.every(1, lambda data: sim.reset())
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    with pytest.raises(tabi.SimulationError, match="a reset was asked for within a step"):
        sim.run(0.01)


def test_a_joint_is_put_elsewhere_and_nothing_else_moves():
    sim, robot = standing()
    sim.run(0.02)
    before, time, name = sim.q, sim.time, robot.joint_names[-1]
    sim.set_joint(robot.joint(name), -0.3, 0.25)
    others = np.arange(len(before)) != sim.q_slice(name).start
    assert sim.q[sim.q_slice(name)] == -0.3
    assert sim.v[sim.v_slice(name)] == 0.25
    assert sim.time == time
    assert np.array_equal(sim.q[others], before[others])


def test_an_object_is_put_elsewhere():
    sim, _ = standing()
    sim.set_joint("box", (1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    assert np.allclose(sim.position("box"), (1.0, 2.0, 3.0))
    assert np.allclose(sim.velocity("box").linear, (0.0, 0.0, 1.0))
    # what is thrown up by 1 m/s is back at that height after 2 v/g
    sim.run(0.2)
    assert abs(sim.position("box")[2] - (3.0 + 0.2 - 0.5 * 9.81 * 0.04)) < 9.81 * 0.2 * 1e-3


def test_joints_that_follow_go_along():
    robot = random_robot(3, base="fixed", kinds=("revolute",))
    robot.bodies[2].joint.mimic = tabi.Mimic("joint1", 2.0, 0.1)
    world = tabi.World()
    robot = world.add_robot(robot)
    sim = tabi.Simulator(world)
    sim.set_joint("joint1", 0.4, 0.3)
    assert np.isclose(sim.q[sim.q_slice("joint2")][0], 0.9)
    assert np.isclose(sim.v[sim.v_slice("joint2")][0], 0.6)


def test_q_and_v_are_kept_and_cannot_be_written():
    sim, _ = standing()
    first = sim.q
    sim.run(0.05)
    assert not np.array_equal(first, sim.q)
    with pytest.raises(ValueError, match="cannot be written"):
        sim.q[0] = 1.0
    with pytest.raises(ValueError, match="cannot be written"):
        sim.v[0] = 1.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s, r: s.set_joint("KNEE", 0.1), "robot, object or joint 'KNEE' not found"),
        (lambda s, r: s.set_joint("RLEG_KNEE_P", np.nan), "is nan; expected a finite number"),
        (lambda s, r: s.set_joint("RLEG_KNEE_P", (1, 2)), r"position of 'RLEG_KNEE_P' is \(1, 2\)"),
        (lambda s, r: s.set_joint("RLEG_KNEE_P", "far"), "expected 1 numbers"),
        (lambda s, r: s.set_joint("box", 1.0), "position of 'box' is 1.0; expected 7 numbers"),
        (lambda s, r: s.set_joint("box", np.zeros(7)), "the quaternion of 'box', has length 0"),
        (lambda s, r: s.set_joint(tabi.robots.hrp2(), 0.0), "is no robot of this world"),
        (lambda s, r: s.set_joint(7, 0.0), "7 is no robot, object or joint of this world"),
        (lambda s, r: s.set_joint(tabi.Joint("x", "revolute"), 0.0), "'x' is no robot, object"),
        (lambda s, r: s.mass_matrix(tabi.robots.hrp2()), "is no robot of this world"),
        (lambda s, r: s.centre_of_mass("no"), "robot or object 'no' not found"),
        (lambda s, r: s.jacobian("no"), "body 'no' not found"),
        (lambda s, r: s.contacts_of("no"), "body 'no' not found"),
        (lambda s, r: s.joint_torques("hrp3"), "robot 'hrp3' not found in the world"),
    ],
)
def test_faults_are_named_and_change_nothing(call, words):
    sim, robot = standing()
    before = sim.q
    with pytest.raises(tabi.ModelError, match=words):
        call(sim, robot)
    assert np.array_equal(sim.q, before)


def test_quantities_of_a_simulator_are_those_of_its_state():
    sim, robot = standing()
    for _ in range(3):
        sim.run(0.02)
        c = tabi.dynamics.Configuration(sim.model, sim.q, sim.v)
        assert np.array_equal(sim.mass_matrix(robot), c.mass_matrix("hrp2"))
        assert np.array_equal(sim.jacobian(robot.feet["left"]), c.jacobian("left"))
        assert np.array_equal(sim.centre_of_mass(robot), c.centre_of_mass("hrp2"))
        assert np.array_equal(sim.momentum_matrix(), c.momentum_matrix())
        # the same sums in another order
        assert np.allclose(sim.pose("chest").R, c.pose("chest").R, atol=1e-15)
    sim.set_joint("box", (1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0))
    assert np.allclose(sim.centre_of_mass("box"), (1.0, 2.0, 3.0))


def test_to_ask_changes_nothing_of_the_run():
    (quiet, _), (asked, robot) = standing(), standing()
    for _ in range(30):
        quiet.step()
        asked.step()
        asked.mass_matrix(robot)
        asked.momentum_bias(robot)
        asked.jacobian("left")
        asked.bias_forces()
    assert np.array_equal(quiet.q, asked.q)
    assert np.array_equal(quiet.v, asked.v)


def test_contacts_of_a_foot_carry_its_wrench():
    sim, robot = standing()
    sim.run(0.3)
    for foot in robot.feet.values():
        found = sim.contacts_of(foot)
        force = sum(c.force_on(foot.body) for c in found)
        assert np.allclose(force, sim.foot_wrench(foot).force, atol=1e-9)
    every = sim.contacts_of(robot)
    assert len(every) == sum(len(sim.contacts_of(foot)) for foot in robot.feet.values())
    assert len(sim.contacts) == len(every) + len(sim.contacts_of("box"))
    assert "N)" in repr(every[0])
    with pytest.raises(tabi.TabiError, match="body 'chest' not found in the contact"):
        every[0].force_on("chest")


def test_joint_torques_are_those_that_are_measured():
    sim, robot = standing()
    sim.run(0.1)
    assert np.array_equal(sim.joint_torques(robot), sim.measure(robot).effort)
    assert np.abs(sim.joint_torques(robot)).max() > 1.0


def test_a_restored_state_is_ready_for_kernels_before_a_step_asks():
    world = tabi.World()
    world.add_box((0.1, 0.1, 0.1), 1.0)
    sim = tabi.Simulator(world)
    saved = sim.save()
    sim.step()
    # what the compiled step would make itself cannot be interrupted there
    sim.restore(saved)
    assert "_address" in vars(sim._stepper.data)
    sim.reset()
    assert "_address" in vars(sim._stepper.data)

"""The compiled model: names, states at the door, parameters between steps."""

import numpy as np
import pytest
from worlds import random_robot

import tabi
from tabi import ModelError, dynamics
from tabi.spatial.inertia import Inertia


@pytest.fixture
def model():
    world = tabi.World()
    world.add_robot(tabi.robots.hrp2())
    world.add_box((0.1, 0.1, 0.1), 1.0, name="crate")
    return world.compile()


def test_indices_name_the_joints_coordinates(model):
    for name in model.joint_names:
        q = model.neutral()
        q[model.q_index(name)] += 0.1
        v = np.zeros(model.v_count)
        v[model.v_index(name)] = 0.1
        assert np.allclose(dynamics.integrate(model, model.neutral(), v, 1.0), q)
        assert model.dof_name(model.v_index(name)) == name
    assert len(model.joint_names) == 30


def test_neutral_is_zero_with_unit_quaternions(model):
    q = model.neutral()
    assert np.flatnonzero(q).tolist() == [model.q_index("hrp2") + 3, model.q_index("crate") + 3]
    assert set(q) == {0.0, 1.0}


@pytest.mark.parametrize(
    ("q", "words"),
    [
        (lambda m: m.neutral()[:-1], ["q has shape (43,)", "expected (44,)"]),
        (lambda m: np.zeros((2, 44)), ["q has shape (2, 44)"]),
        (lambda m: [], ["q has shape (0,)"]),
        (lambda m: "standing", ["q is str; expected 44 numbers"]),
        (
            lambda m: np.where(np.arange(44) == 9, np.nan, m.neutral()),
            ["q[9] (joint 'RLEG_HIP_P') is nan"],
        ),
        (
            lambda m: np.where(np.arange(44) == 0, np.inf, m.neutral()),
            ["q[0] (joint 'hrp2') is inf"],
        ),
        (
            lambda m: np.where(np.arange(44) == 43, np.nan, m.neutral()),
            ["q[43] (joint 'crate') is nan"],
        ),
        (lambda m: np.zeros(44), ["q[3:7], the quaternion of 'hrp2', has length 0", "normalise"]),
        (
            lambda m: np.where(np.arange(44) == 40, 0.0, m.neutral()),
            ["q[40:44], the quaternion of 'crate', has length 0"],
        ),
        (
            lambda m: np.where(np.arange(44) == 3, 2.0, m.neutral()),
            ["quaternion of 'hrp2', has length 2"],
        ),
    ],
)
def test_a_bad_configuration_is_refused_by_joint(model, q, words):
    with pytest.raises(ModelError) as caught:
        dynamics.mass_matrix(model, q(model))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda m, q, z: dynamics.forward_dynamics(m, q, z[:-1], z),
            ["v has shape (41,)", "expected (42,)"],
        ),
        (lambda m, q, z: dynamics.forward_dynamics(m, q, z, np.ones(3)), ["tau has shape (3,)"]),
        (
            lambda m, q, z: dynamics.inverse_dynamics(m, q, z, z + np.nan),
            ["a[0] (joint 'hrp2') is nan"],
        ),
        (
            lambda m, q, z: dynamics.inverse_dynamics(
                m, q, np.where(np.arange(42) == 6, np.inf, z), z
            ),
            ["v[6] (joint 'RLEG_HIP_Y') is inf"],
        ),
        (lambda m, q, z: dynamics.step(m, q, z, z, 0.0), ["the step is 0.0 s"]),
        (lambda m, q, z: dynamics.step(m, q, z, z, np.nan), ["the step is nan s"]),
        (lambda m, q, z: dynamics.step(m, q, z, z, -1e-3), ["the step is -0.001 s"]),
        (lambda m, q, z: dynamics.step(m, q, z, z, 1e-3, order=3), ["order is 3; expected 1 or 2"]),
        (
            lambda m, q, z: dynamics.pose(m, q, "chset"),
            ["body 'chset' not found in the model", "'chest'"],
        ),
        (
            lambda m, q, z: m.q_index("RLEG_KNEE"),
            ["joint 'RLEG_KNEE' not found in the model", "'RLEG_KNEE_P'"],
        ),
        (
            lambda m, q, z: m.set_joint("CHEST_Y", dampng=1.0),
            ["parameter 'dampng' not found in a joint", "'damping'"],
        ),
        (
            lambda m, q, z: m.set_joint("CHEST_Y", damping=-1.0),
            ["damping of joint 'CHEST_Y' was set to -1.0"],
        ),
        (
            lambda m, q, z: m.set_joint("CHEST_Y", armature=np.nan),
            ["armature of joint 'CHEST_Y' was set to nan"],
        ),
        (
            lambda m, q, z: m.set_joint("CHEST_Y", prescribed=0.5),
            ["prescribed of joint 'CHEST_Y' was set to 0.5; expected 0 or 1"],
        ),
        (
            lambda m, q, z: m.set_joint("crate", stiffness=5.0),
            ["stiffness of joint 'crate' was set to 5.0", "without quaternions"],
        ),
        (
            lambda m, q, z: m.set_inertia("chest", Inertia(np.inf, np.zeros(3), np.eye(3))),
            ["inertia of 'chest' was set to mass inf kg"],
        ),
        (
            lambda m, q, z: m.set_inertia("chest", Inertia(-1.0)),
            ["inertia of 'chest' was set to mass -1 kg"],
        ),
        (
            lambda m, q, z: m.set_pair("ice", "crate", 0.1),
            ["material 'ice' not found in the model"],
        ),
        (
            lambda m, q, z: m.set_pair("crate", "crate", friction=-0.1),
            ["the pair 'crate', 'crate' has friction -0.1"],
        ),
    ],
)
def test_bad_arguments_are_refused_by_name(model, call, words):
    with pytest.raises(ModelError) as caught:
        call(model, model.neutral(), np.zeros(model.v_count))
    for word in words:
        assert word in str(caught.value)


def test_parameters_set_between_steps_act_at_once():
    model = random_robot(2, 6, kinds=("revolute",)).compile()
    q, v, tau = model.neutral(), np.zeros(model.v_count), np.ones(model.v_count)
    before = dynamics.mass_matrix(model, q)
    model.set_joint("joint1", armature=5.0)
    k = model.v_index("joint1")
    change = dynamics.mass_matrix(model, q) - before
    assert change[k, k] == pytest.approx(5.0 - model_armature(2), rel=1e-12)
    assert np.count_nonzero(change) == 1
    model.set_inertia("body1", Inertia(3.0, np.array([0.1, 0, 0]), np.eye(3)))
    assert model.mass == pytest.approx(sum(model.arrays.body["mass"][1:]))
    _, v1 = dynamics.step(model, q, v, tau, 1e-3)
    model.set_joint("joint1", damping=1e9)
    _, v2 = dynamics.step(model, q, v, tau, 1e-3)
    assert abs(v2[k]) < 1e-6 < abs(v1[k])


def model_armature(seed):
    """The armature the random robot gave its first joint."""
    return random_robot(seed, 6, kinds=("revolute",)).joint("joint1").armature


def test_an_inertia_set_in_a_links_frame_is_that_of_a_world_built_with_it():
    robot = random_robot(5, 6)
    new = Inertia(3.0, np.array([0.1, -0.2, 0.3]), np.diag([1.0, 2.0, 2.5]))
    model = robot.compile()
    carriers = [
        b
        for b in robot.bodies
        if b.joint.kind != "fixed"
        and not any(c.parent is b and c.joint.kind == "fixed" for c in robot.bodies)
    ]
    model.set_inertia(carriers[-1].name, new)
    carriers[-1].inertia = new
    q = model.neutral()
    assert np.allclose(
        dynamics.mass_matrix(model, q), dynamics.mass_matrix(robot.compile(), q), rtol=1e-13
    )


def test_the_compiled_model_knows_limits_motors_soles_and_sensors(model):
    robot = tabi.robots.hrp2()
    for name in model.joint_names:
        joint, row = robot.joint(name), model.arrays.dof[model.v_index(name)]
        assert (row["lower"], row["upper"]) == (joint.lower, joint.upper)
        assert (row["velocity_limit"], row["effort_limit"]) == (
            joint.velocity_limit,
            joint.effort_limit,
        )
        assert (row["kp"], row["kd"], row["armature"]) == (
            joint.motor.kp,
            joint.motor.kd,
            joint.total_armature,
        )
    assert np.array_equal(model.feet["left"].polygon, robot.feet["left"].polygon)
    assert model.sensors["imu"].kind == "imu"
    base = model.arrays.dof[:6]
    assert np.isinf(base["upper"]).all()


def test_limits_may_be_taken_away_but_not_become_nan(model):
    model.set_joint("CHEST_Y", upper=np.inf, kp=100.0, friction=2.0)
    row = model.arrays.dof[model.v_index("CHEST_Y")]
    assert (row["upper"], row["kp"], row["friction"]) == (np.inf, 100.0, 2.0)
    for bad in ({"upper": np.nan}, {"kp": np.inf}, {"friction": -1.0}, {"q": 3}):
        with pytest.raises(ModelError, match=next(iter(bad))):
            model.set_joint("CHEST_Y", **bad)


@pytest.mark.parametrize("call", ["forward", "inverse", "step"])
def test_numbers_that_overflow_are_an_error_and_not_a_nan(model, call):
    q, v, zero = model.neutral(), np.full(model.v_count, 1e200), np.zeros(model.v_count)
    calls = {
        "forward": lambda: dynamics.forward_dynamics(model, q, v, zero),
        "inverse": lambda: dynamics.inverse_dynamics(model, q, v, zero),
        "step": lambda: dynamics.step(model, q, v, zero, 1e-3),
    }
    with pytest.raises(ModelError, match="numbers too large to compute with"):
        calls[call]()


def test_a_time_that_is_no_number_is_refused(model):
    with pytest.raises(ModelError, match="the time is nan s"):
        dynamics.integrate(model, model.neutral(), np.zeros(model.v_count), np.nan)

"""The same dynamics in MuJoCo: Talos from its own file, and worlds of ours written for MuJoCo.

The bound is 1e-10, normwise relative: float64 on both sides,
condition numbers of the mass matrix up to 1e5.
"""

import numpy as np
import pytest
from worlds import free_of_mimic, random_inertia, random_robot, random_state, relative

import tabi
from tabi import dynamics
from tabi.spatial.transform import from_quaternion

mujoco = pytest.importorskip("mujoco")
BOUND = 1e-10


def only_free_dynamics(mj):
    """Switch off what is not rigid-body dynamics: contacts, limits, springs, dampers, motors."""
    bits = mujoco.mjtDisableBit
    for name in ("CONTACT", "CONSTRAINT", "SPRING", "DAMPER", "ACTUATION"):
        mj.opt.disableflags |= getattr(bits, f"mjDSBL_{name}")
    return mj


def joint_columns(model, mj, base):
    """Of each tabi velocity, MuJoCo's; by joint name, the free joint by order."""
    q_columns, v_columns = np.zeros(model.q_count, int), np.zeros(model.v_count, int)
    for j in range(mj.njnt):
        name, free = mj.joint(j).name, mj.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE
        ours = base if free else name
        nq, nv = (7, 6) if free else (1, 1)
        q_columns[model.q_index(ours) + np.arange(nq)] = mj.jnt_qposadr[j] + np.arange(nq)
        v_columns[model.v_index(ours) + np.arange(nv)] = mj.jnt_dofadr[j] + np.arange(nv)
    return q_columns, v_columns


def test_talos_from_mjcf_agrees_with_mujoco_reading_the_same_file(shared):
    path = shared / "data" / "robots" / "menagerie" / "pal_talos" / "talos.xml"
    robot = free_of_mimic(tabi.load(path))
    model = robot.compile()
    mj = only_free_dynamics(mujoco.MjModel.from_xml_path(str(path)))
    data, rng = mujoco.MjData(mj), np.random.default_rng(0)
    assert mj.nv == model.v_count
    iq, iv = joint_columns(model, mj, robot.name)
    base = model.v_index(robot.name) + np.arange(3, 6)
    for _ in range(100):
        q, v = random_state(model, rng)
        tau, a = 10 * rng.normal(size=model.v_count), rng.normal(size=model.v_count)
        # MuJoCo turns angular velocities of the base into the body's axes;
        # linear ones are the world's in both
        T = np.eye(model.v_count)
        T[np.ix_(base, base)] = from_quaternion(q[model.q_index(robot.name) + np.arange(3, 7)]).R.T
        data.qpos[iq], data.qvel[iv], data.qfrc_applied[iv] = q, T @ v, T @ tau
        mujoco.mj_forward(mj, data)
        assert relative(T @ dynamics.forward_dynamics(model, q, v, tau), data.qacc[iv]) < BOUND
        M = np.zeros((mj.nv, mj.nv))
        mujoco.mj_fullM(mj, data, M)
        assert relative(T @ dynamics.mass_matrix(model, q) @ T.T, M[np.ix_(iv, iv)]) < BOUND
        data.qacc[iv] = T @ a
        mujoco.mj_inverse(mj, data)
        assert (
            relative(T @ dynamics.inverse_dynamics(model, q, v, a), data.qfrc_inverse[iv]) < BOUND
        )


def everything_world(seed):
    """Two random robots and objects; an armature on none, since MuJoCo has one per joint."""
    world, rng = tabi.World(), np.random.default_rng(seed)
    world.add_robot(random_robot(seed, 8, armature=False))
    world.add_robot(random_robot(seed + 1, 6, base="fixed"))
    world.add_box((0.2, 0.3, 0.4), mass=2.0, position=(1, 2, 3))
    world.add_object(tabi.model.shape.Sphere(0.1), random_inertia(rng), name="lopsided")
    return world


@pytest.mark.parametrize("seed", range(3))
def test_worlds_written_for_mujoco_move_as_they_do_here(seed):
    from tabi.model.mujoco_state import mujoco_state, velocity_to_mujoco

    world = everything_world(10 * seed)
    model, mj = world.compile(), only_free_dynamics(tabi.to_mujoco(world))
    data, rng = mujoco.MjData(mj), np.random.default_rng(seed)
    for _ in range(10):
        q, v = random_state(model, rng)
        tau = rng.normal(size=model.v_count)
        data.qpos[:], data.qvel[:] = mujoco_state(model, mj, q, v)
        data.qfrc_applied[:] = velocity_to_mujoco(model, mj, q, tau)
        mujoco.mj_forward(mj, data)
        a = dynamics.forward_dynamics(model, q, v, tau)
        assert relative(velocity_to_mujoco(model, mj, q, a), data.qacc) < BOUND
        assert dynamics.energy(model, q, v).kinetic == pytest.approx(kinetic(mj, data), rel=1e-12)


def kinetic(mj, data):
    """Half v M v with MuJoCo's own matrix."""
    M = np.zeros((mj.nv, mj.nv))
    mujoco.mj_fullM(mj, data, M)
    return 0.5 * data.qvel @ M @ data.qvel


def test_a_falling_swinging_hrp2_follows_mujoco_as_the_step_shrinks():
    from tabi.model.mujoco_state import configuration_to_mujoco, mujoco_state

    world = tabi.World()
    world.add_robot(tabi.robots.hrp2())
    model, mj = world.compile(), only_free_dynamics(tabi.to_mujoco(world))
    model.arrays.dof["damping"] = 0.0
    mj.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    v0 = np.random.default_rng(2).normal(size=model.v_count)
    ends = []
    for h in (2e-3, 1e-3):
        data = mujoco.MjData(mj)
        mj.opt.timestep = h / 2
        data.qpos[:], data.qvel[:] = mujoco_state(model, mj, model.neutral(), v0)
        q, v = model.neutral(), v0
        for _ in range(round(0.2 / h)):
            q, v = dynamics.step(model, q, v, np.zeros(model.v_count), h, order=2)
            mujoco.mj_step(mj, data, 2)
        ends.append(np.linalg.norm(configuration_to_mujoco(model, mj, q) - data.qpos))
    # RK4 at half the step is exact beside a second-order scheme
    assert ends[1] < 1e-5
    assert np.log2(ends[0] / ends[1]) == pytest.approx(2.0, abs=0.1)

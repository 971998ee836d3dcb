"""Sensors of MJCF files (``tabi.formats.mjcf.sensors``) tell what MuJoCo's own do, in the
same state, by name.
"""

import mujoco
import numpy as np
import pytest

import tabi
from tabi.model.mujoco_state import mujoco_state

TEXT = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint name="robot"/>
      <geom type="box" size="0.1 0.2 0.05" mass="3" contype="0" conaffinity="0"/>
      <site name="imu" pos="0.05 0.01 0.02" quat="0.9 0.1 0.3 0.2"/>
      <body name="thigh" pos="0 0.1 0">
        <joint name="hip" axis="0 1 0" damping="0.1"/>
        <joint name="roll" axis="1 0 0" pos="0 0 0.02"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="1" contype="0"
              conaffinity="0"/>
        <site name="hip_site" pos="0.01 0.02 -0.1" quat="0.7 0.2 -0.4 0.1"/>
        <body name="pad" pos="0 0 -0.3" quat="0.9 0 0.2 0">
          <geom type="sphere" size="0.05" mass="0.4" contype="0" conaffinity="0"/>
          <site name="pad_site" pos="0 0.01 0"/>
          <body name="toe" pos="0.05 0 0"><joint name="toe" axis="0 1 0"/>
            <geom type="sphere" size="0.02" mass="0.1" contype="0" conaffinity="0"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="drive" joint="hip"/></actuator>
  <sensor>
    <gyro name="gyro" site="imu"/><accelerometer name="acc" site="imu"/>
    <framequat name="turn" objtype="site" objname="imu"/>
    <force name="hip_force" site="hip_site"/><torque name="hip_torque" site="hip_site"/>
    <force name="pad_force" site="pad_site"/><torque name="pad_torque" site="pad_site"/>
    <jointpos name="hip_q" joint="hip"/><jointvel name="hip_v" joint="hip"/>
    <actuatorfrc name="hip_effort" actuator="drive"/>
  </sensor>
</mujoco>
"""


def test_sensors_tell_what_mujoco_says(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(TEXT)
    world = tabi.World()
    robot = world.add_robot(tabi.load(path))
    sim = tabi.Simulator(world, dt=1e-5)
    rng = np.random.default_rng(1)
    sim.set_state(sim.state.q, rng.normal(size=sim.model.v_count))
    sim.set_controller(robot, lambda t, m: tabi.Command(effort={"hip": 1.5}, kp=0.0, kd=0.0))
    sim.run(0.02)
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    # a step from the same state, by the velocities of the beginning as those of the end
    out = sim.data.outcome
    d.qpos[:], d.qvel[:] = mujoco_state(sim.model, m, out.q_before, out.v_before)
    d.ctrl[:] = 1.5
    mujoco.mj_forward(m, d)
    sizes = {"acc": 9.81, "gyro": 1.0, "hip_force": 10.0, "hip_torque": 3.0}
    for name in robot.sensors:
        theirs = d.sensor(name).data
        if robot.sensors[name].kind == "force":
            # MuJoCo tells what the near side exerts on the far one
            theirs = -theirs
        ours = sim.sensor(name).values
        if name == "turn":
            ours = ours * np.sign(ours @ theirs)
        size = max(np.abs(theirs).max(), sizes.get(name, 1.0))
        # states differ by one step of 10 µs
        assert np.abs(ours - theirs).max() < 1e-3 * size, name
    assert sim.sensor("hip_effort").effort == pytest.approx(1.5)

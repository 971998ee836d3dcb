"""Motors, exact joints and grips that a scene file gives a robot (``tabi.scenes.equipment``)."""

from math import radians

import numpy as np
import pytest
from tests.scenes.test_builder import URDF

from tabi import scenes
from tabi.scenes import SceneError


def test_rigid_joints_go_exactly_where_a_motion_tells_them():
    keys = "position_m: [0, 0, 1], rigid_joints: true, motion: {kind: squat}"
    text = f"robots:\n  - {{robot: hrp2, {keys}}}"
    sim = scenes.loads(f"title: t\n{text}").simulator()
    sim.run(0.3)
    robot, motor = sim.world.robots[0], sim.data.command.motor
    assert abs(sim.state.q[sim.model.q_index("RLEG_KNEE_P")] - radians(50)) > 0.01
    for name in robot.joint_names:
        told = motor["position"][sim.model.v_index(name)]
        assert sim.state.q[sim.model.q_index(name)] == pytest.approx(told, abs=1e-14)


def test_motors_of_a_scene_are_what_the_file_says():
    told = (
        "{RLEG_KNEE_P: {torque_limit_nm: 90, no_load_speed_rad_s: 3, gear_ratio: 50, "
        "rotor_inertia_kg_m2: 1e-5, motor_kp_nm_rad: 40, kd_nms_rad: 7, dry_friction_nm: 2, "
        "viscous_friction_nms_rad: 0.5}, HEAD_Y: {exact: true}}"
    )
    text = f"robots:\n  - {{robot: hrp2, position_m: [0, 0, 1], motors: {told}}}"
    sim = scenes.loads(f"title: t\n{text}").simulator()
    row = sim.model.arrays.dof[sim.model.v_index("RLEG_KNEE_P")]
    expected = {
        "effort_limit": 90.0,
        "stall_effort": 90.0,
        "no_load_speed": 3.0,
        "armature": 1e-5 * 50**2,
        "kp": 50 * 40.0,
        "kd": 7.0,
        "friction": 2.0,
        "damping": 0.5,
    }
    for name, value in expected.items():
        assert row[name] == pytest.approx(value, rel=1e-12), name
    exact = np.flatnonzero(sim.data.command.motor["exact"])
    assert exact.tolist() == [sim.model.v_index("HEAD_Y")]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("motors: {KNEE: {kp_nm_rad: 3}}", "joint 'KNEE' not found in hrp2"),
        ("motors: {HEAD_Y: {kp_nm_rad: 3, motor_kp_nm_rad: 3}}", "both kp_nm_rad and motor_kp_nm"),
        ("motors: {left_bush_z: {kp_nm_rad: 3}}, bush: {}", "passive and has no motor"),
        ("grip_nm: {HEAD_X: 3}", "joint 'HEAD_X' not found in hrp2"),
        ("grip_nm: {HEAD_Y: 0}", "effort of gripper 'HEAD_Y' is 0.0"),
    ],
)
def test_motors_and_grips_that_cannot_be_are_refused(keys, words):
    text = f"title: t\nrobots:\n  - {{robot: hrp2, position_m: [0, 0, 1], {keys}}}"
    with pytest.raises(SceneError, match=words):
        scenes.loads(text).simulator()


def test_grippers_are_for_hrp2(tmp_path):
    (tmp_path / "leg.urdf").write_text(URDF)
    with pytest.raises(SceneError, match="grippers are hrp2's; leg"):
        scenes.loads(
            "title: t\nrobots:\n  - {robot: leg.urdf, grippers: true}", tmp_path / "s.yaml"
        )

"""OpenHRP's sample robot against sums of its own file,
and against Pinocchio on the URDF of the same robot.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from tabi.formats.openhrp import reader as openhrp
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia


@pytest.fixture(scope="module")
def sample_file(shared) -> Path:
    return shared / "data" / "robots" / "sr1" / "sample1.wrl"


@pytest.fixture
def sample(sample_file) -> Robot:
    return openhrp.read(sample_file)


def test_sample_robot_weighs_the_sum_of_its_mass_fields(sample, sample_file):
    text = sample_file.read_text()
    text = re.sub(r"#.*", "", text[text.index("DEF SampleRobot Humanoid") :])
    masses = [float(m) for m in re.findall(r"\bmass\s+(\S+)", text)]
    assert len(masses) == 30
    assert sample.mass == pytest.approx(sum(masses), rel=1e-14)


def test_sample_robot_has_29_joints_numbered_without_gap(sample):
    names = {sample.joint(n).number: n for n in sample.joint_names}
    assert sorted(names, key=lambda n: n or 0) == list(range(29))
    # the order of OpenHRP's motion files: right leg, right arm, left leg, left arm, waist
    parts = [names[i] for i in (0, 5, 6, 12, 13, 18, 19, 25, 26, 28)]
    assert parts == [
        *("RLEG_HIP_R", "RLEG_ANKLE_R", "RARM_SHOULDER_P", "RARM_WRIST_R", "LLEG_HIP_R"),
        *("LLEG_ANKLE_R", "LARM_SHOULDER_P", "LARM_WRIST_R", "WAIST_P", "CHEST"),
    ]


def test_sample_robot_stands_with_its_ankles_where_the_translations_add_up(sample):
    X = sample.placements()
    for name, side in (("LLEG_ANKLE_R", 1), ("RLEG_ANKLE_R", -1)):
        # waist 0.7235 up, hip 0.09 aside, thigh 0.3535 and shank 0.3 down
        assert X[sample.body(name)].p == pytest.approx(
            [0, 0.09 * side, 0.7235 - 0.3535 - 0.3], abs=1e-12
        )
    assert X[sample.body("LARM_WRIST_R")].p == pytest.approx(
        [0, 0.21, 0.7235 + 0.176 + 0.35 - 0.263 - 0.247], abs=1e-12
    )


def test_sample_robot_feels_rotor_inertia_times_gear_squared(sample):
    assert [sample.joint(n).total_armature for n in sample.joint_names] == pytest.approx(
        [3.0e-4 * 200**2] * 29
    )


def test_sample_robot_has_the_centre_of_mass_and_inertia_of_its_segments(sample, sample_file):
    text = re.sub(r"#.*", "", sample_file.read_text())
    number = r"([-+.\deE]+)"
    segments = re.findall(
        rf"centerOfMass\s+{number}\s+{number}\s+{number}\s+mass\s+{number}\s+momentsOfInertia\s+\[([^\]]+)\]",
        text,
    )
    # Segments stand at the origin of their Joints, in the order of the file;
    # all joints are parallel at zero
    X = sample.placements()
    expected_centre, expected = np.zeros(3), np.zeros((3, 3))
    assert len(segments) == len(sample.bodies) == 30
    for (*c, m, moments), body in zip(segments, sample.bodies, strict=True):
        p = np.array(c, float) + X[body].p
        expected_centre += float(m) * p
        expected += np.array(moments.split(), float).reshape(3, 3) + float(m) * (
            p @ p * np.eye(3) - np.outer(p, p)
        )
    total = Inertia()
    for body in sample.bodies:
        total = total + body.inertia.transformed(X[body])
    c = total.centre
    assert c == pytest.approx(expected_centre / total.mass, abs=1e-12)
    about_origin = total.tensor + total.mass * (c @ c * np.eye(3) - np.outer(c, c))
    assert about_origin == pytest.approx(expected, abs=1e-10)


def test_sample_robot_has_sensors_on_ankles_wrists_and_chest(sample):
    assert {n: s.body.name for n, s in sample.sensors.items() if s.kind == "force"} == {
        "lfsensor": "LLEG_ANKLE_R",
        "rfsensor": "RLEG_ANKLE_R",
        "lhsensor": "LARM_WRIST_P",
        "rhsensor": "RARM_WRIST_P",
    }
    # a camera looks along −z, here forward and 30° down, to the four digits of the file
    assert -sample.sensors["VISION_SENSOR1"].placement.R[:, 2] == pytest.approx(
        [np.cos(np.pi / 6), 0, -0.5], abs=1e-4
    )


def test_sample_robot_moves_as_pinocchio_moves_the_urdf_of_the_same_robot(sample, sample_file):
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(sample_file.parent / "SR1.urdf"), pin.JointModelFreeFlyer())
    data = model.createData()
    assert set(model.names) - {"universe", "root_joint"} == set(sample.joint_names)
    random_numbers = np.random.default_rng(5)
    for _ in range(10):
        q, pose = pin.neutral(model), {}
        for name in sample.joint_names:
            pose[name] = random_numbers.uniform(-2, 2)
            q[model.joints[model.getJointId(name)].idx_q] = pose[name]
        pin.forwardKinematics(model, data, q)
        sample.set_pose(pose)
        X = sample.placements()
        X_base = X[sample.base].inverse()
        for name in sample.joint_names:
            X_BJ, oMi = X_base @ X[sample.body(name)], data.oMi[model.getJointId(name)]
            # the files state the same decimals: what is left is rounding over eleven joints
            assert X_BJ.p == pytest.approx(oMi.translation, abs=1e-12)
            assert pytest.approx(oMi.rotation, abs=1e-12) == X_BJ.R

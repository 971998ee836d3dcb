"""Jacobians, centroidal matrices and joint forces against Pinocchio, on robots nobody here wrote.

The bound is 1e-12 of the largest number of a matrix.
"""

import numpy as np
import pytest
from worlds import free_of_mimic, random_state, without_shapes

import tabi
from tabi.dynamics import Configuration

pin = pytest.importorskip("pinocchio")
from tabi.lab.pinocchio import Referee  # noqa: E402

BOUND = 1e-12
ROBOTS = (
    "talos_data/robots/talos_full_v2.urdf",
    "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "icub_description/robots/icub.urdf",
    "romeo_description/urdf/romeo_small.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf",
    "solo_description/robots/solo12.urdf",
    "tiago_description/robots/tiago.urdf",
    "panda_description/urdf/panda.urdf",
    "bolt_description/robots/bolt.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "baxter_description/urdf/baxter.urdf",
)


def error(ours, theirs):
    """Largest difference over the largest number."""
    return float(np.abs(np.asarray(ours) - theirs).max() / max(1e-300, np.abs(theirs).max()))


def differences(file, folder, states=10):
    """Largest errors of every quantity."""
    robot = free_of_mimic(tabi.load(without_shapes(file, folder), base="floating", gains=False))
    c, pm = Configuration(robot), pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
    referee, d, rng = Referee(c.model, pm, "root_joint"), pm.createData(), np.random.default_rng(0)
    names = [name for name, link in c.model.links.items() if link.body and pm.existBodyName(name)]
    worst: dict[str, float] = {}
    for _ in range(states):
        q, v = random_state(c.model, rng)
        c.update(q, v)
        qp, T = referee.configuration(q), referee.rates(q)
        rest = referee.acceleration(q, v, np.zeros(c.model.v_count))
        pin.computeAllTerms(pm, d, qp, T @ v)
        pin.updateFramePlacements(pm, d)
        forces = pin.rnea(pm, pm.createData(), qp, T @ v, rest)
        name, point = names[rng.integers(len(names))], rng.normal(size=3)
        frame = pm.getFrameId(name, pin.FrameType.BODY)
        J = pin.getFrameJacobian(pm, d, frame, pin.LOCAL_WORLD_ALIGNED) @ T
        # the point moves with the frame's origin, and turns about it
        arm = d.oMf[frame].rotation @ point
        J[:3] -= pin.skew(arm) @ J[3:]
        found = {
            "jacobian": (c.jacobian(name, point), J),
            "mass matrix": (c.mass_matrix(), T.T @ (np.triu(d.M) + np.triu(d.M, 1).T) @ T),
            "centre of mass": (c.centre_of_mass(), d.com[0].copy()),
            "its velocity": (c.centre_of_mass_velocity(), d.vcom[0].copy()),
            "its jacobian": (c.centre_of_mass_jacobian(), d.Jcom @ T),
            "bias forces": (c.bias_forces(), T.T @ forces),
            "momentum matrix": (c.momentum_matrix(), pin.ccrba(pm, d, qp, T @ v) @ T),
            "gravity forces": (
                c.gravity_forces(),
                T.T @ pin.computeGeneralizedGravity(pm, d, qp),
            ),
        }
        rate = pin.computeCentroidalMomentumTimeVariation(pm, d, qp, T @ v, rest)
        found["momentum bias"] = (np.concatenate(c.momentum_bias()), rate.vector)
        for key, pair in found.items():
            worst[key] = max(worst.get(key, 0.0), error(*pair))
    return worst


def test_quantities_of_ten_robots_agree_with_pinocchio(example_robots, tmp_path):
    rows = {}
    for name in ROBOTS:
        file = example_robots / name
        if file.is_file():
            rows[file.stem] = differences(file, tmp_path)
    for robot, worst in rows.items():
        print(f"{robot:28}", "  ".join(f"{key} {e:.0e}" for key, e in worst.items()))
    assert len(rows) >= 10
    assert max(e for worst in rows.values() for e in worst.values()) < BOUND

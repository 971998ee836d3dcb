"""``tabi validate kinematics``, a hundredth of it: every pose that was made is found."""

import numpy as np
import pytest
from typer.testing import CliRunner

from tabi import dynamics
from tabi.apps import cli
from tabi.control.inverse_kinematics import InverseKinematics
from tabi.lab.validate import kinematics

CASES = {case.name: (case, robot) for case, robot in kinematics.robots()}


@pytest.mark.parametrize("name", [case.name for case in kinematics.CASES])
def test_poses_made_by_forward_kinematics_are_found(name):
    if name not in CASES:
        pytest.skip("package example-robot-data is not installed")
    row = kinematics.check(*CASES[name], targets=100)
    assert row["failures"] == []
    assert row["solved"] == 100


def test_what_counts_as_solved_is_where_the_target_is():
    """By forward kinematics, and not by what the solver says of itself."""
    case, robot = CASES["hrp2"]
    ik = InverseKinematics(robot)
    tasks = [ik.pose(name) for name in case.sets[1]]
    rng = np.random.default_rng(5)
    for _ in range(20):
        q = kinematics.anywhere(ik.model, rng)
        for task in tasks:
            task.target = dynamics.pose(ik.model, q, task.name)
        found = ik.solve()
        assert found.reached
        for task in tasks:
            here, there = dynamics.pose(ik.model, found.q, task.name), task.target
            assert np.linalg.norm(here.p - there.p) <= 1.1e-8
            # an angle φ makes the matrices differ by √2 φ
            assert np.linalg.norm(here.R - there.R) <= 1.5e-8


def test_configurations_are_within_the_limits():
    model = CASES["hrp2"][1].compile()
    dof, rng = model.arrays.dof, np.random.default_rng(0)
    single = dof["q"] >= 0
    for _ in range(20):
        q = kinematics.anywhere(model, rng)[dof["q"][single]]
        assert (q >= dof["lower"][single]).all()
        assert (q <= dof["upper"][single]).all()


@pytest.mark.slow
def test_the_command_says_what_it_found(monkeypatch):
    row = {"robot": "hrp2", "joints": 30, "targets": 10, "solved": 9, "median_us": 80.0}
    row |= {"percentile_95_us": 200.0, "worst_us": 900.0, "median_iterations": 6.0}
    row |= {"first_start": 0.9, "most_starts": 3}
    row |= {"failures": [{"target": 4, "reason": "left: target is 0.1 m beyond reach"}]}
    monkeypatch.setattr(kinematics, "robots", lambda: iter([CASES["hrp2"]]))
    monkeypatch.setattr(kinematics, "check", lambda case, robot, targets: row)
    said = CliRunner().invoke(cli.app, ["validate", "kinematics", "--targets", "10"])
    assert said.exit_code == 1
    assert "9 of 10" in said.stdout
    assert "target 4: left: target is 0.1 m beyond reach" in said.stdout
    assert "not tried: g1, talos" in said.stdout
    said = CliRunner().invoke(cli.app, ["validate", "kinematics", "--targets", "10", "--json"])
    assert '"solved": 9' in said.stdout

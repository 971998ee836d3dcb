"""After a warm-up nothing is left to compile, whatever the robot and whatever is asked of it."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from tabi.apps import cli
from tabi.jit import cache_folder, decorator
from tabi.runs import warmup

# every function of the public dynamics, on trees with all kinds of joints,
# with joints that follow others, and on HRP-2
EVERYTHING = """
import sys
import numpy as np
import tabi
from tabi import dynamics
from tabi.jit import decorator
from tabi.model.joint import Mimic
sys.path.insert(0, sys.argv[1])
import worlds

follower = worlds.random_robot(3, kinds=("revolute",))
follower.joint("joint2").mimic = Mimic("joint1", 2.0, 0.1)
fixed, bushed = worlds.random_robot(2, base="fixed"), tabi.robots.hrp2(bush=True)
for robot in (worlds.random_robot(1), fixed, follower, bushed):
    world = tabi.World()
    world.add_robot(robot)
    model = world.compile()
    q, v, name = model.neutral(), np.zeros(model.v_count), robot.bodies[-1].name
    dynamics.forward_dynamics(model, q, v, v)
    dynamics.inverse_dynamics(model, q, v, v)
    dynamics.mass_matrix(model, q)
    dynamics.pose(model, q, name)
    dynamics.velocity(model, q, v, name)
    dynamics.acceleration(model, q, v, v, name)
    dynamics.point_jacobian(model, q, name)
    dynamics.jacobian_bias(model, q, v, name)
    for method in ("direct", "points", "branches", "wrenches", "chains"):
        dynamics.delassus(model, q, [(name, (0.1, 0.0, 0.0))], method)
    dynamics.centre_of_mass(model, q)
    dynamics.momentum(model, q, v)
    dynamics.energy(model, q, v)
    dynamics.integrate(model, q, v, 1e-3)
    ik = tabi.control.InverseKinematics(model)
    ik.centre_of_mass().target = (0.0, 0.0, 9.0)
    ik.velocity(model.initial(), 1e-3)
    str(ik.solve().reason)
    for order in (1, 2):
        dynamics.step(model, q, v, v, 1e-3, order)
print(decorator.first_run.seconds)
"""


@pytest.mark.process
def test_warmup_is_quiet_and_leaves_nothing_to_compile(request):
    done = CliRunner().invoke(cli.app, ["warmup", "--quiet"])
    assert done.exit_code == 0
    assert done.stdout.startswith("kernels ready after ")
    assert done.stdout.count("\n") == 1
    script = [sys.executable, "-c", EVERYTHING, str(request.config.rootpath / "tests")]
    after = subprocess.run(script, capture_output=True, text=True)
    assert after.returncode == 0, after.stderr
    assert (after.stdout.strip(), after.stderr) == ("0.0", "")


@pytest.mark.slow
def test_warmup_with_everything_cached_compiles_nothing():
    warmup.run(show=False)
    before = decorator.first_run.seconds
    assert warmup.run(show=False).startswith("kernels ready after ")
    assert decorator.first_run.seconds == before


def test_warmup_says_one_line_where_there_is_no_terminal():
    done = CliRunner().invoke(cli.app, ["warmup"])
    assert done.exit_code == 0
    assert done.stdout.startswith("kernels ready after ")
    assert done.stdout.count("\n") == 1


def test_warmup_tells_when_nothing_can_be_kept(monkeypatch):
    monkeypatch.setattr(cache_folder, "cache_folder", lambda: None)
    assert "nothing was compiled, as no folder can keep it" in warmup.run(show=False)

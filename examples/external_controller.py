"""A robot driven by a controller in C++, in a process of its own; in Python without a compiler.

Halfway through, the controller is killed: the robot keeps its last command, and stands.
"""

import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import tabi

SOURCE = Path(__file__).parent / "external_controller" / "controller.cpp"
# the same controller in Python
SERVE = """
import tabi

class Hold:
    def reset(self):
        self.pose = None

    def __call__(self, time, measurement):
        self.pose = measurement.position if self.pose is None else self.pose
        return tabi.Command(position=self.pose)

tabi.control.serve(Hold())
"""

world = tabi.World()
world.add_ground(friction=0.8)
robot = world.add_robot(tabi.robots.hrp2())
robot.stand_on_ground()
sim = tabi.Simulator(world)

with tempfile.TemporaryDirectory() as folder:
    program = [sys.executable, "-c", SERVE]
    if shutil.which("g++") and "--python" not in sys.argv:
        windows = sys.platform == "win32"
        program = [f"{folder}/controller{'.exe' if windows else ''}"]
        compiler = ["g++", "-O2", "-std=c++17", str(SOURCE), "-o", program[0]]
        compiler += ["-lws2_32"] if windows else []
        subprocess.run(compiler, check=True)
    with tabi.control.external(program, robot=robot, late="hold", timeout=1.0) as controller:
        sim.set_controller(robot, controller)
        sim.run(0.5)
        print(f"{Path(program[0]).name} drives {robot.name}: {controller.connected}")
        controller.process.kill()
        with warnings.catch_warnings(record=True) as messages:
            warnings.simplefilter("always")
            sim.run(0.5)
print(messages[0].message)
print(f"at {sim.time:g} s the robot has fallen: {sim.fallen(robot)}")

"""Soles and joint limits that the files of some well-known robots leave out.

**jvrc1**: its meshes are rarely there. Sole: 0.2 m × 0.1 m, 0.108 m below the ankle, as the box in
the MuJoCo models that people walk it with; the foot's inertia in the file is that of a box of
0.204 m × 0.090 m.

**simple_humanoid**: its author left the sole to be filled in; this is that of OpenHRP's sample
robot, whose skeleton it has. Limits of the legs stand at the wrong joints (its own half-sitting
pose is outside), and the waist's torque cannot hold the trunk: both are taken off. Its only shapes,
a drum of 2 m across and a cube of 1 m around the waist, are there to test readers and left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from tabi.model.robot import Robot


@dataclass(frozen=True)
class SoleRectangle:
    """A rectangle under a body: x from, to and y from, to in the body's frame,
    and its height there [m].
    """

    left: str
    right: str
    x: tuple[float, float]
    y: tuple[float, float]
    z: float


SOLES = {
    "jvrc1": SoleRectangle("L_ANKLE_P_S", "R_ANKLE_P_S", (-0.071, 0.129), (-0.05, 0.05), -0.10778),
    "simple_humanoid": SoleRectangle("l_ankle", "r_ankle", (-0.07, 0.18), (-0.07, 0.07), -0.07),
}


def complete(robot: Robot) -> Robot:
    """Give a robot from a file the soles that its file leaves out, if it is one that is known;
    every change is a note of the robot.
    """
    sole = SOLES.get(robot.name)
    names = {body.name for body in robot.bodies}
    if sole is None or robot.feet or not {sole.left, sole.right} <= names:
        return robot
    if robot.name == "simple_humanoid":
        _complete_simple_humanoid(robot)
    (back, front), (right, left) = sole.x, sole.y
    for side, body in (("left", sole.left), ("right", sole.right)):
        robot.add_foot(
            side,
            body,
            [(back, right), (front, right), (front, left), (back, left)],
            (0.0, 0.0, sole.z),
        )
    # they say that there are none
    robot.notes = [note for note in robot.notes if not note.startswith("no feet declared")]
    size = f"{1e3 * (front - back):.0f} × {1e3 * (left - right):.0f} mm"
    robot.notes.append(
        f"stand-in: soles of {size} are tabi's, not the file's; give feet={{…}} for others"
    )
    return robot


def _complete_simple_humanoid(robot: Robot) -> None:
    for body in robot.bodies:
        body.joint.effort_limit = inf
        if "LEG_" in body.joint.name:
            body.joint.lower, body.joint.upper, body.joint.velocity_limit = -inf, inf, inf
    robot.notes.append(
        "stand-in: limits of the legs contradict the file's own half-sitting pose, "
        "torques cannot hold its trunk: both taken off"
    )
    waist = robot.body("BODY")
    if waist.collision_shapes():
        waist.shapes = [shape for shape in waist.shapes if not shape.collides]
        robot.notes.append(
            "stand-in: the drum and the cube around the waist, there to test readers, are left out"
        )

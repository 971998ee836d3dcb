"""Equipment of a robot in a scene: rubber in its ankles, soft soles, motors, joints that move
exactly as commanded.
"""

from __future__ import annotations

from dataclasses import replace

from tabi._errors import ModelError
from tabi.model.body import Body
from tabi.model.joint import Joint, Motor
from tabi.model.lookup import qualified
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.scenes import soft
from tabi.scenes.keys import robots
from tabi.scenes.places import Places
from tabi.simulation.simulator import Simulator

# key of a file → attribute of a motor
MOTOR = {
    "torque_limit_nm": "torque_limit",
    "no_load_speed_rad_s": "no_load_speed",
    "gear_ratio": "gear_ratio",
    "rotor_inertia_kg_m2": "rotor_inertia",
    "kp_nm_rad": "kp",
    "kd_nms_rad": "kd",
}


def equip(builder: Places, robot: Robot, keys: robots.RobotKeys, i: int) -> None:
    """Add the rubber in a robot's ankles, its motors, and joints that do not give way."""
    if keys.bush is not None:
        with builder.at("robots", i, "bush"):
            robot.add_bush(
                keys.bush.stiffness_nm_rad,
                keys.bush.damping_nms_rad,
                keys.bush.vertical_stiffness_n_m,
                keys.bush.vertical_damping_ns_m,
                keys.bush.mass_below_kg,
                keys.bush.height_m,
            )
    soft.add_soles(builder.at, robot, keys.soles, i)
    soft.add_robot_pads(builder.at, robot, keys.pads, i)
    for name, motor in keys.motors.items():
        with builder.at("robots", i, "motors", name):
            joint = robot.joint(name)
            if joint.passive:
                raise ModelError(f"joint {name!r} is passive and has no motor; leave it out")
            _set_motor(joint, motor)
    exact = exact_joints(robot, keys)
    if not keys.motion.powered and exact:
        path = ("robots", i, "rigid_joints" if keys.rigid_joints else "motors")
        raise builder.reader.fault(
            path,
            f"{builder.reader.name(path)} is specified, but {robot.name} is limp: its joints "
            f"have no commands; expected another motion",
        )
    for name in exact:
        robot.joint(name).prescribed = True


def _set_motor(joint: Joint, keys: robots.MotorKeys) -> None:
    """Change what a file says about a motor and its gear."""
    motor = joint.motor or Motor()
    inputs = {key: getattr(keys, key) for key in MOTOR if getattr(keys, key) is not None}
    joint.motor = motor = replace(motor, **{MOTOR[key]: value for key, value in inputs.items()})
    for key, attribute in (("motor_kp_nm_rad", "kp"), ("motor_kd_nms_rad", "kd")):
        value = getattr(keys, key)
        if value is not None and key.removeprefix("motor_") in inputs:
            raise ModelError(
                f"both {key.removeprefix('motor_')} and {key} are given; "
                f"expected the gain on one side"
            )
        if value is not None:
            setattr(motor, attribute, motor.gear_ratio * value)
    if keys.torque_limit_nm is not None:
        joint.effort_limit = keys.torque_limit_nm
    if keys.dry_friction_nm is not None:
        joint.friction = keys.dry_friction_nm
    if keys.viscous_friction_nms_rad is not None:
        joint.damping = keys.viscous_friction_nms_rad


def exact_joints(robot: Robot, keys: robots.RobotKeys) -> list[str]:
    """Return the joints that move exactly as commanded; mimic joints follow these."""
    names = (
        robot.joint_names if keys.rigid_joints else [n for n, m in keys.motors.items() if m.exact]
    )
    if keys.rigid_joints and keys.motion.holds:
        return names
    return [name for name in names if robot.joint(name).mimic is None]


def switch(sim: Simulator, robot: Robot, keys: robots.RobotKeys) -> None:
    """Let the exact joints follow the commands of the robot's motion."""
    if not (keys.rigid_joints and keys.motion.holds):
        names = exact_joints(robot, keys)
        sim.prescribe([qualified(robot, name, sim.model.joint_names) for name in names])


def body_of(world: World, name: str) -> Body | str:
    """The base of a robot by the robot's name; anything else by its own."""
    return next((robot.base for robot in world.robots if robot.name == name), name)

"""Sensors of an MJCF file, each by the name it has there.

| MJCF                                  | here                                        |
|---------------------------------------|---------------------------------------------|
| force, torque                         | force: its part "force" or "torque", with   |
|                                       | the sign of all force sensors here: what    |
|                                       | the far side exerts, −1 times MuJoCo's      |
| gyro, accelerometer                   | the same                                    |
| framequat of a site or body           | orientation                                 |
| jointpos, jointvel                    | encoder: its part "position" or "velocity"  |
| actuatorfrc, jointactuatorfrc         | effort                                      |
| touch                                 | touch, of the whole body                    |

``noise`` is the standard deviation of each value, ``cutoff`` its limit. Others give what no sensor
of a robot knows, and are noted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tabi.formats.mjcf.source import Source
from tabi.model.body import Body
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.spatial.transform import Transform, from_quaternion

# MuJoCo's kind → kind and part here
AT_SITES = {
    "accelerometer": ("accelerometer", ""),
    "gyro": ("gyro", ""),
    "force": ("force", "force"),
    "torque": ("force", "torque"),
    "touch": ("touch", ""),
    "framequat": ("orientation", ""),
}
OF_JOINTS = {
    "jointpos": ("encoder", "position"),
    "jointvel": ("encoder", "velocity"),
    "actuatorfrc": ("effort", ""),
    "jointactuatorfrc": ("effort", ""),
}


def add_sensors(
    source: Source, robot: Robot, names: Mapping[int, str], joints: Mapping[int, Joint]
) -> None:
    """Give the robot the sensors of the file.

    Args:
        names: of MuJoCo's bodies. joints: by MuJoCo's numbers.
    """
    m, ignored = source.m, Counter()
    carried = {body.joint.name: body for body in robot.bodies}
    for k in range(m.nsensor):
        kind = source.kind("mjtSensor", m.sensor_type[k])
        sensor = _at_site(source, k, kind, names) or _of_joint(source, k, kind, joints)
        if sensor is None:
            ignored[kind] += 1
            continue
        tabi_kind, part, where, X, title = sensor
        body: Body = carried[where] if kind in OF_JOINTS else robot.body(where)
        name = m.sensor(k).name or f"{title}_{kind}"
        if name in robot.sensors:
            # a camera of that name
            robot.sensors[f"{name}_camera"] = robot.sensors.pop(name)
        noise, cutoff = float(m.sensor_noise[k]), float(m.sensor_cutoff[k])
        robot.sensors[name] = Sensor(
            name, body, X, tabi_kind, part=part, noise=noise, limit=cutoff or float("inf")
        )
    if ignored:
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(ignored.items()))
        robot.notes.append(
            f"sensors were ignored ({listed}): tabi has force, torque, gyro, accelerometer, "
            f"framequat, touch, jointpos, jointvel and actuator forces of single joints"
        )


def _at_site(source: Source, k: int, kind: str, names: Mapping[int, str]) -> Any:
    """Kind, part, body, place there and a name, of a sensor at a site or of a body."""
    m, number = source.m, int(source.m.sensor_objid[k])
    thing = source.kind("mjtObj", m.sensor_objtype[k])
    free = int(m.sensor_reftype[k]) == 0
    if kind not in AT_SITES or not free or thing not in ("site", "xbody"):
        return None
    if thing == "site":
        b, X = int(m.site_bodyid[number]), from_quaternion(m.site_quat[number], m.site_pos[number])
        title = m.site(number).name or f"site{number}"
    else:
        b, X, title = number, Transform(), names.get(number, "")
    return (*AT_SITES[kind], names[b], X, title) if b in names else None


def _of_joint(source: Source, k: int, kind: str, joints: Mapping[int, Joint]) -> Any:
    """The same of a joint, whose place is its body's origin."""
    m, number = source.m, int(source.m.sensor_objid[k])
    if kind not in OF_JOINTS:
        return None
    if kind == "actuatorfrc":
        on_joint = source.kind("mjtTrn", m.actuator_trntype[number]) == "joint"
        title, number = (
            m.actuator(number).name,
            int(m.actuator_trnid[number, 0]) if on_joint else -1,
        )
    else:
        title = ""
    joint = joints.get(number)
    if joint is None or joint.v_count != 1:
        return None
    return (*OF_JOINTS[kind], joint.name, Transform(), title or joint.name)

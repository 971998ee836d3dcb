"""Bodies of an MJCF file that make up the robot, with notes of what else is in the file."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabi._errors import ModelError
from tabi.formats.mjcf.source import Source


def roots(source: Source, notes: list[str]) -> list[int]:
    """The bodies under the world that are the robot's:
    the one tree with joints, or all that stand in the world by joints.
    """
    m, free = source.m, int(source.mj.mjtJoint.mjJNT_FREE)
    tops = [b for b in range(1, m.nbody) if m.body_parentid[b] == 0]
    if not tops:
        raise ModelError("the file has no body; expected a <body> in <worldbody>", source.path)
    joints = {
        t: [int(k) for b, k in zip(m.jnt_bodyid, m.jnt_type, strict=True) if _top(m, int(b)) == t]
        for t in tops
    }
    moving = [t for t in tops if joints[t]]
    articulated = [t for t in moving if joints[t] != [free]]
    robots = articulated or moving or tops
    if len(robots) > 1 and (not articulated or any(free in joints[t] for t in robots)):
        names = ", ".join(repr(m.body(t).name or f"body{t}") for t in robots)
        raise ModelError(
            f"the file holds several robots, with the bodies {names} in <worldbody>; "
            f"expected one: give each its own file",
            source.path,
        )
    for t in tops:
        if t not in robots:
            what = "free body" if joints[t] else "static body"
            notes.append(
                f"{what} {m.body(t).name or f'body{t}'!r} is not part of the robot and was left "
                f"out: add it to the world as an object"
            )
    for g in range(m.body_geomnum[0]):
        name = m.geom(g).name or f"geom {g + 1}"
        is_plane = source.kind("mjtGeom", m.geom_type[g]) == "plane"
        how = (
            f"world.add_ground(friction={m.geom_friction[g, 0]:g})"
            if is_plane
            else "world.add_fixed"
        )
        notes.append(
            f"{name!r} belongs to the world, not to the robot, and was left out: add it with {how}"
        )
    return robots


def _top(m: Any, b: int) -> int:
    while m.body_parentid[b] > 0:
        b = int(m.body_parentid[b])
    return b


def note_ignored(source: Source, notes: list[str]) -> None:
    """A line for everything else in the file that changes the motion in MuJoCo and not in tabi."""
    m, opt = source.m, source.m.opt
    default = source.mj.MjSpec().option
    if not np.allclose(opt.gravity, default.gravity):
        notes.append(
            f"gravity is {opt.gravity.tolist()} in the file: "
            f"it belongs to the world, tabi.World(gravity=…)"
        )
    if opt.timestep != default.timestep:
        notes.append(
            f"the time step of the file is {opt.timestep:g} s: it belongs to the simulator, "
            f"dt={opt.timestep:g}"
        )
    physics = (
        "constraint",
        "equality",
        "frictionloss",
        "limit",
        "contact",
        "spring",
        "damper",
        "gravity",
        "filterparent",
        "actuation",
    )
    flags = source.mj.mjtDisableBit
    off = [
        name for name in physics if opt.disableflags & int(getattr(flags, f"mjDSBL_{name.upper()}"))
    ]
    present = {
        f"disable flags ({', '.join(off)})": bool(off),
        "tendons": m.ntendon,
        "deformable bodies (flex)": m.nflex,
        "plugins": m.nplugin,
        "gravity compensation of bodies": m.ngravcomp,
        "fluid forces (density, viscosity, wind)": opt.density or opt.viscosity or np.any(opt.wind),
        "springs and dampers that are not linear": np.any(m.jnt_stiffnesspoly)
        or np.any(m.dof_dampingpoly)
        or np.any(m.actuator_dampingpoly),
        "springs that yield": np.any(m.jnt_springyield),
        "surface velocities of geoms": m.flg_surfacevel,
        "adhesion of geoms": m.flg_adhesion,
        "mocap bodies": m.nmocap,
    }
    notes += [
        f"{what} were ignored: tabi does not have them" for what, there in present.items() if there
    ]

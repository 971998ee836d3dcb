"""MJCF: the robot of a MuJoCo model file, read through MuJoCo's own compiler.

A MuJoCo body stands at X_PB in its parent and may have several joints, each with an anchor p and an
axis in the body's frame. The first joint is the outermost one:

    X_PB(q) = X_PB  Π_k  T(p_k) M_k(q_k − ref_k) T(−p_k)                                      (1)
tabi has one joint per body, with its origin on the axis. So every joint but the last gets a
massless body, and when the last anchor is not the body's origin, the body is bolted to the last
massless one at −p. A joint's zero is turned back by ref, so that tabi's q is MuJoCo's qpos. Frames
of bodies are exactly MuJoCo's.

The robot is the one tree that moves; lone free bodies, static bodies and the world's geoms are
noted and left out. What MuJoCo has and tabi has not is a line in ``robot.notes``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tabi._errors import ModelError
from tabi.formats import home_pose
from tabi.formats.mjcf.actuators import add_couplings, add_motors, mark_undriven
from tabi.formats.mjcf.bonds import add_bonds
from tabi.formats.mjcf.geoms import Geoms
from tabi.formats.mjcf.roots import note_ignored, roots
from tabi.formats.mjcf.sensors import add_sensors
from tabi.formats.mjcf.source import Source, compiled
from tabi.model.body import Body, Frame
from tabi.model.joint import Joint, Mimic
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, about, from_quaternion, translation

ANCHOR = "world_anchor"
MODEL_NAME = "MuJoCo Model"  # what MuJoCo calls a model without a name
UPRIGHT = 0.866  # cosine of the most, 30°, that a base leans in a pose to stand in


def read(path: str | Path, base: str | None = None) -> Robot:
    """The robot of an MJCF file.

    Args:
        path: an .xml file that starts with <mujoco>.
        base: "floating" or "fixed" in place of what the file says.
    """
    path = Path(path)
    if base not in (None, "floating", "fixed"):
        raise ModelError(
            f"base is {base!r}; expected 'floating', 'fixed' or None for what the file says", path
        )
    source = compiled(path)
    name = source.spec.modelname
    robot = Robot(path.stem if name in ("", MODEL_NAME) else name, path)
    _Tree(source, robot, roots(source, robot.notes), base).grow()
    robot.notes += [f"MuJoCo says: {warning}" for warning in source.warnings]
    note_ignored(source, robot.notes)
    return robot


class _Tree:
    """Builds the robot's bodies and all that is fixed to them."""

    def __init__(self, source: Source, robot: Robot, roots: list[int], base: str | None) -> None:
        self.source, self.m, self.robot, self.base = source, source.m, robot, base
        m = self.m
        inside = set(roots)
        # parents come before children in MuJoCo too
        for b in range(1, m.nbody):
            if int(m.body_parentid[b]) in inside:
                inside.add(b)
        taken = {m.body(b).name for b in range(m.nbody)}
        self.names = {b: m.body(b).name or _free(f"body{b}", taken) for b in sorted(inside)}
        self.joints: dict[int, Joint] = {}
        # a root with a joint of its own, or several roots, hang on an anchor in the world
        self.anchored = len(roots) > 1 or (
            m.body_jntnum[roots[0]] > 0 and not self._is_free(roots[0])
        )
        self.geoms = Geoms(source, self.names, robot.notes)

    def grow(self) -> None:
        """Bodies, joints, shapes, then what refers to them."""
        robot, m = self.robot, self.m
        if self.anchored:
            if self.base == "floating":
                raise ModelError(
                    f"{robot.name!r} is held in the world by joints of its own, so its base "
                    f"cannot float; leave base out",
                    robot.file,
                )
            robot.add_body(
                _free(ANCHOR, set(self.names.values())), Joint(f"{robot.name}_base", "fixed")
            )
        for b in self.names:
            self._add_body(b)
        self.geoms.exclude(robot)
        add_motors(self.source, self.joints, robot.notes)
        add_couplings(self.source, self.joints, robot.notes)
        mark_undriven(self.source, self.joints, robot.notes)
        add_bonds(self.source, robot, self.names)
        self._add_frames()
        add_sensors(self.source, robot, self.names, self.joints)
        upright = [self._add_pose(k) for k in range(m.nkey)]
        home_pose.adopt(robot, [name for name in upright if name])

    # ---- bodies and joints ------------------------------------------------------------------

    def _is_free(self, b: int) -> bool:
        return (
            bool(self.m.body_jntnum[b])
            and self.source.kind("mjtJoint", self.m.jnt_type[self.m.body_jntadr[b]]) == "free"
        )

    def _add_body(self, b: int) -> None:
        m, name, line = self.m, self.names[b], self.source.line("body", b)
        R = from_quaternion(m.body_iquat[b]).R
        inertia = Inertia(
            float(m.body_mass[b]), m.body_ipos[b].copy(), R @ np.diag(m.body_inertia[b]) @ R.T
        )
        shapes = self.geoms.shapes(b)
        X = from_quaternion(m.body_quat[b], m.body_pos[b])
        is_root = int(m.body_parentid[b]) not in self.names
        parent: Body | None = None
        if not is_root:
            parent = self.robot.body(self.names[int(m.body_parentid[b])])
        elif self.anchored:
            parent = self.robot.bodies[0]
        numbers = range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b])
        if is_root and not self.anchored:
            joint = self._base_joint(X, numbers, line)
        elif not numbers:
            joint = Joint(f"{name}_fixed", "fixed", X, line=line)
        else:
            parent, joint = self._chain(b, X, numbers, parent)
        self.robot.add_body(name, joint, parent, inertia, shapes, line)

    def _base_joint(self, X: Transform, numbers: range, line: int | None) -> Joint:
        m, free = self.m, len(numbers) > 0
        kind = self.base or ("floating" if free else "fixed")
        name = (free and m.joint(numbers[0]).name) or f"{self.robot.name}_base"
        if kind == "fixed":
            return Joint(name, "fixed", X, line=line)
        joint = Joint(name, "floating", position=np.concatenate([X.p, X.quaternion]), line=line)
        if free:
            self._set_parameters(joint, numbers[0])
        return joint

    def _chain(
        self, b: int, X: Transform, numbers: range, parent: Body | None
    ) -> tuple[Body | None, Joint]:
        """Equation (1): massless bodies for all joints but the one that carries the body;
        returns what carries it.
        """
        for j in numbers:
            joint, anchor = self._joint(b, j, X)
            if j == numbers[-1] and not anchor.any():
                return parent, joint
            parent = self.robot.add_body(
                f"{self.names[b]}/{joint.name}", joint, parent, line=joint.line
            )
            X = translation(-anchor)
        return parent, Joint(f"{self.names[b]}_fixed", "fixed", X, line=self.source.line("body", b))

    def _joint(self, b: int, j: int, X: Transform) -> tuple[Joint, np.ndarray]:
        """A joint in the frame X of what carries it, and its anchor there."""
        m, kind = self.m, self.source.kind("mjtJoint", self.m.jnt_type[j])
        count, first = m.body_jntnum[b], m.body_jntadr[b]
        name = m.joint(j).name or f"{self.names[b]}_joint" + (
            f"{j - first + 1}" if count > 1 else ""
        )
        line, axis = self.source.line("joint", j), m.jnt_axis[j].tolist()
        if kind == "ball":
            anchor = m.jnt_pos[j].copy()
            joint = Joint(name, "spherical", X @ translation(anchor), line=line)
        else:
            ref = float(m.qpos0[m.jnt_qposadr[j]])
            turns = kind == "hinge"
            # a slide moves alike wherever its anchor is
            anchor = m.jnt_pos[j].copy() if turns else np.zeros(3)
            back = about(axis, -ref) if turns else translation(-ref * m.jnt_axis[j])
            tabi_kind = (
                "prismatic" if not turns else "revolute" if m.jnt_limited[j] else "continuous"
            )
            joint = Joint(
                name,
                tabi_kind,
                X @ translation(anchor) @ back,
                axis,
                position=np.array([ref]),
                line=line,
            )
        self._set_parameters(joint, j)
        self.joints[j] = joint
        return joint, anchor

    def _set_parameters(self, joint: Joint, j: int) -> None:
        m, dof, notes = self.m, self.m.jnt_dofadr[j], self.robot.notes
        joint.armature, joint.damping, joint.friction = (
            float(a[dof]) for a in (m.dof_armature, m.dof_damping, m.dof_frictionloss)
        )
        for name in ("armature", "damping", "friction"):
            if not getattr(joint, name) >= 0:
                raise ModelError(
                    f"joint {joint.name!r} has {name} {getattr(joint, name):g}; "
                    f"expected a number ≥ 0",
                    self.robot.file,
                    joint.line,
                )
        if joint.q_count == 1:
            joint.stiffness = float(m.jnt_stiffness[j])
            joint.rest = float(m.qpos_spring[m.jnt_qposadr[j]])
            if m.jnt_limited[j]:
                joint.lower, joint.upper = m.jnt_range[j].tolist()
            if m.jnt_actfrclimited[j]:
                joint.effort_limit = float(np.abs(m.jnt_actfrcrange[j]).max())
            return
        if m.jnt_stiffness[j] or m.jnt_limited[j]:
            notes.append(
                f"the spring or limit of joint {joint.name!r} was ignored: "
                f"tabi has them on joints with one degree of freedom"
            )

    # ---- what is fixed to bodies ------------------------------------------------------------

    def _add_frames(self) -> None:
        m = self.m
        for s in range(m.nsite):
            name = m.site(s).name
            if name and int(m.site_bodyid[s]) in self.names:
                self.robot.frames[name] = Frame(
                    name,
                    self._body(m.site_bodyid[s]),
                    from_quaternion(m.site_quat[s], m.site_pos[s]),
                )
        for c in range(m.ncam):
            name = m.camera(c).name
            fixed = self.source.kind("mjtCamLight", m.cam_mode[c]) == "fixed"
            if fixed and name and int(m.cam_bodyid[c]) in self.names:
                X = from_quaternion(m.cam_quat[c], m.cam_pos[c])
                self.robot.sensors[name] = Sensor(
                    name,
                    self._body(m.cam_bodyid[c]),
                    X,
                    "camera",
                    field_of_view=float(m.cam_fovy[c]),
                )

    def _body(self, b: int) -> Body:
        return self.robot.body(self.names[int(b)])

    def _add_pose(self, k: int) -> str | None:
        """A keyframe's positions of joints with one degree of freedom; where it puts the base
        becomes a note. Returns its name, None where it lays the base down.
        """
        m, robot = self.m, self.robot
        name, q = m.key(k).name or f"keyframe{k + 1}", m.key_qpos[k]
        values = {
            j: float(q[m.jnt_qposadr[j]])
            for j, joint in self.joints.items()
            if joint.q_count == 1 and joint.mimic is None
        }
        robot.poses[name] = {self.joints[j].name: value for j, value in values.items()}
        lost = [
            joint.name
            for j, joint in self.joints.items()
            if joint.q_count == 4 and not _is_turn(q[m.jnt_qposadr[j] :][:4], [1, 0, 0, 0])
        ]
        if lost:
            robot.notes.append(
                f"keyframe {name!r} also turns the ball joints {', '.join(lost)}, "
                f"which a pose of tabi does not hold"
            )
        torn = [
            joint.name
            for j, joint in self.joints.items()
            if joint.mimic and abs(self._coupled(joint.mimic, q) - q[m.jnt_qposadr[j]]) > 1e-6
        ]
        if torn:
            robot.notes.append(
                f"keyframe {name!r} contradicts the coupling of joints {', '.join(torn)}: "
                f"their leaders count"
            )
        return name if self._note_base(name, q) else None

    def _note_base(self, keyframe: str, q: np.ndarray) -> bool:
        """Note where a keyframe puts the base; returns whether it stands upright there."""
        m, robot, root = self.m, self.robot, next(iter(self.names))
        if not (self._is_free(root) and robot.base.joint.kind == "floating"):
            return True
        start = m.jnt_qposadr[m.body_jntadr[root]]
        where, there = q[start : start + 7], m.qpos0[start : start + 7]
        quaternion = [1.0, 0.0, 0.0, 0.0] if not where[3:].any() else where[3:].tolist()
        if not np.allclose(where[:3], there[:3], atol=1e-9) or not _is_turn(where[3:], there[3:]):
            robot.notes.append(
                f"keyframe {keyframe!r} also moves the base, which a pose of tabi does not hold: "
                f"robot.place({where[:3].tolist()}, {quaternion}) does"
            )
        tilt = from_quaternion(quaternion).R @ from_quaternion(there[3:]).R.T
        return bool(tilt[2, 2] > UPRIGHT)

    def _coupled(self, mimic: Mimic, q: np.ndarray) -> float:
        leader = next(j for j, other in self.joints.items() if other.name == mimic.leader)
        return mimic.ratio * q[self.m.jnt_qposadr[leader]] + mimic.offset


def _is_turn(q: np.ndarray, wanted: Any) -> bool:
    """Whether a quaternion is a given rotation;
    MuJoCo takes a quaternion of length zero for no rotation.
    """
    length = float(np.linalg.norm(q))
    return (
        abs(
            abs(
                float(
                    (q / length if length > 1e-12 else np.array([1.0, 0, 0, 0]))
                    @ np.asarray(wanted, float)
                )
            )
            - 1
        )
        < 1e-12
    )


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name

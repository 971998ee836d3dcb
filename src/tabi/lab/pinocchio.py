"""Pinocchio as referee: the same robot, and the map between its coordinates and ours.

Pinocchio measures velocities of floating, spherical and planar joints in the child's axes, linear
first, and a floating base's acceleration as the derivative of that; tabi measures them in the axes
of the joint frame. With R the joint's rotation, for each such joint

    v_pin = Rᵀ v,   a_pin = Rᵀ (a − ω × v) (linear),  Rᵀ a (angular),   τ_pin = Rᵀ τ         (1)
Unbounded revolute joints have q_pin = (cos q, sin q); quaternions are x, y, z, w.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.model.body import Body
from tabi.model.compiled import Model
from tabi.model.robot import Robot
from tabi.spatial.transform import about, from_quaternion

Array = NDArray[np.float64]


def pinocchio() -> Any:
    """The module, or one sentence on how to get it."""
    try:
        import pinocchio as pin
    except ImportError:
        raise ModelError('Pinocchio is not installed; pip install "tabi[referee]"') from None
    return pin


def build(robot: Robot) -> Any:
    """The robot as a Pinocchio model, joints by the same names,
    the floating base by the robot's.
    """
    pin = pinocchio()
    model = pin.Model()
    model.name = robot.name
    at: dict[Any, tuple[int, Any]] = {}
    for body in _depth_first(robot):
        joint = body.joint
        parent, M_JP = at[body.parent] if body.parent else (0, pin.SE3.Identity())
        M = M_JP * pin.SE3(joint.placement.R, joint.placement.p)
        if joint.kind == "fixed":
            at[body] = (parent, M)
        else:
            name = robot.name if body is robot.base else joint.name
            index = model.addJoint(
                parent, _joint(pin, joint.kind, np.asarray(joint.axis, float)), M, name
            )
            at[body] = (index, pin.SE3.Identity())
            start = model.joints[index].idx_v
            model.armature[start : start + joint.v_count] = joint.total_armature
        inertia = body.inertia
        model.appendBodyToJoint(
            at[body][0], pin.Inertia(inertia.mass, inertia.centre, inertia.tensor), at[body][1]
        )
    return model


def _depth_first(robot: Robot) -> list[Body]:
    """Bodies with every subtree in one piece: Pinocchio's crba counts on it."""
    children: dict[Body | None, list[Body]] = {}
    for body in robot.bodies:
        children.setdefault(body.parent, []).append(body)
    order: list[Body] = []
    stack = [robot.base]
    while stack:
        order.append(stack.pop())
        stack += reversed(children.get(order[-1], []))
    return order


def _joint(pin: Any, kind: str, axis: Array) -> Any:
    axis = axis / np.linalg.norm(axis)
    if kind == "planar" and not np.allclose(axis, (0, 0, 1)):
        raise ModelError(
            "Pinocchio's planar joint moves in the xy-plane; "
            f"this one has the normal {axis.tolist()}"
        )
    makers = {
        "revolute": lambda: pin.JointModelRevoluteUnaligned(axis),
        "continuous": lambda: pin.JointModelRevoluteUnaligned(axis),
        "prismatic": lambda: pin.JointModelPrismaticUnaligned(axis),
        "spherical": pin.JointModelSpherical,
        "planar": pin.JointModelPlanar,
        "floating": pin.JointModelFreeFlyer,
    }
    return makers[kind]()


class Referee:
    """Maps states between a tabi model and a Pinocchio model of the same robot,
    joint by joint and by name.

    Args:
        model: tabi's.
        pin_model: Pinocchio's.
        base: Pinocchio's name of the floating base, when it is not the robot's.
    """

    def __init__(self, model: Model, pin_model: Any, base: str | None = None) -> None:
        self.model = model
        self.pin_model = pin_model
        self.joints = []
        bases = [name for name in model.root_names if name not in model.joint_names]
        for name in [*bases, *model.joint_names]:
            other = base if name in bases and base else name
            if not pin_model.existJointName(other):
                raise ModelError(
                    f"joint {name!r} is not in Pinocchio's model; "
                    f"it has {', '.join(list(pin_model.names)[1:9])} …"
                )
            j = pin_model.joints[pin_model.getJointId(other)]
            self.joints.append(
                (
                    model.joint_kind(name),
                    model.q_index(name),
                    model.v_index(name),
                    j.idx_q,
                    j.idx_v,
                    j.nq,
                )
            )

    def configuration(self, q: Array) -> Array:
        """Q in Pinocchio's coordinates."""
        out = np.zeros(self.pin_model.nq)
        for kind, iq, _, jq, _, nq in self.joints:
            if kind == "floating":
                out[jq : jq + 3] = q[iq : iq + 3]
                out[jq + 3 : jq + 7] = q[[iq + 4, iq + 5, iq + 6, iq + 3]]
            elif kind == "spherical":
                out[jq : jq + 4] = q[[iq + 1, iq + 2, iq + 3, iq]]
            elif kind == "planar":
                out[jq : jq + 4] = q[iq], q[iq + 1], np.cos(q[iq + 2]), np.sin(q[iq + 2])
            elif nq == 2:
                out[jq : jq + 2] = np.cos(q[iq]), np.sin(q[iq])
            else:
                out[jq] = q[iq]
        return out

    def rates(self, q: Array) -> Array:
        """T with v_pin = T v, so that τ = Tᵀ τ_pin and M = Tᵀ M_pin T."""
        T = np.zeros((self.pin_model.nv, self.model.v_count))
        for kind, iq, iv, _, jv, _ in self.joints:
            if kind == "floating":
                R = from_quaternion(q[iq + 3 : iq + 7]).R
                T[jv : jv + 3, iv : iv + 3] = T[jv + 3 : jv + 6, iv + 3 : iv + 6] = R.T
            elif kind == "spherical":
                T[jv : jv + 3, iv : iv + 3] = from_quaternion(q[iq : iq + 4]).R.T
            elif kind == "planar":
                T[jv : jv + 3, iv : iv + 3] = about((0, 0, 1), float(q[iq + 2])).R.T
            else:
                T[jv, iv] = 1.0
        return T

    def acceleration(self, q: Array, v: Array, a: Array) -> Array:
        """A in Pinocchio's coordinates, equation (1)."""
        a = a.copy()
        for kind, _, iv, _, _, _ in self.joints:
            if kind == "floating":
                a[iv : iv + 3] -= np.cross(v[iv + 3 : iv + 6], v[iv : iv + 3])
            elif kind == "planar":
                a[iv : iv + 2] -= v[iv + 2] * np.array([-v[iv + 1], v[iv]])
        return self.rates(q) @ a

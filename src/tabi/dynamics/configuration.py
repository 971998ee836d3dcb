"""A model in a configuration of its own: what controllers compute with, which see no simulator."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, unknown
from tabi.dynamics import evaluation
from tabi.dynamics.quantities import Quantities, Thing
from tabi.jit import entry
from tabi.model.compiled import Model
from tabi.model.links import Link
from tabi.model.lookup import freedoms, joint_rows
from tabi.model.robot import Robot
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist

Array = NDArray[np.float64]


class Configuration(Quantities):
    """A model at configuration q and velocity v, as a controller's own copy to compute with.

    Args:
        model: a compiled model, or a robot or world, which is compiled.
        q, v: where it begins; default: the initial configuration, at rest.

    Attributes:
        robot: that it was made from, else None.

    Examples:
        >>> c = tabi.dynamics.Configuration(robot)
        >>> print(c.pose("left_hand").p.shape, c.mass_matrix().shape)
        (3,) (36, 36)
    """

    def __init__(self, model: Any, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        compiled = model if isinstance(model, Model) else _compiled(model)
        super().__init__(compiled)
        self.robot = model if isinstance(model, Robot) else None
        self._names = freedoms(self.robot) if self.robot else ()
        self._v_at = joint_rows(compiled, self.robot) if self.robot else np.zeros(0, np.int64)
        self._q_at = compiled.arrays.dof["q"][self._v_at]
        self._single = self._q_at >= 0
        self._all_single = bool(self._single.all())
        self._q, self._v = compiled.initial(), np.zeros(compiled.v_count)
        self._seen = self._q.view(), self._v.view()
        for array in self._seen:
            array.flags.writeable = False
        self._links: dict[Any, Link] = {}
        self._inputs = self._q.copy(), self._v.copy()
        self._accept = entry(evaluation.accept, compiled.arrays, *self._inputs, self._q, self._v)
        if q is not None or v is not None:
            self.update(self._q if q is None else q, v)

    def update(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Set the configuration and the velocity; default: at rest."""
        place = self._q.shape, self._v.shape
        if isinstance(q, np.ndarray) and isinstance(v, np.ndarray) and (q.shape, v.shape) == place:
            # the short way, of arrays without a fault
            self._inputs[0][:], self._inputs[1][:] = q, v
            if self._accept(self.model.arrays, *self._inputs, self._q, self._v):
                return
        checked = self.model.check_configuration(q)
        self._v[:] = 0.0 if v is None else self.model.check_velocity("v", v)
        self._q[:] = checked

    def set_joints(
        self,
        position: ArrayLike | Mapping[str, float],
        velocity: ArrayLike | Mapping[str, float] = 0.0,
        base: Transform | None = None,
        base_velocity: Twist | None = None,
    ) -> None:
        """Set joints and base to measured values; for a configuration made from a robot.

        Args:
            position, velocity: of each degree of freedom of its joints [rad, rad/s or m, m/s], as
                in a ``Measurement``, or {joint: value}; joints that are not named stay. Ball joints
                have no single position and stay as they are.
            base: pose of a floating base in the world; default: as before.
            base_velocity: of its origin, and angular, in world axes; default: zero.
        """
        if self.robot is None:
            raise ModelError(
                "this configuration was made from a compiled model, which does not know a robot's "
                "joints in their order; make it from the robot, or use update(q, v)"
            )
        q, v = self._q.copy(), self._v.copy()
        positions = self._values("position", position, q[self._q_at])
        if self._all_single:
            q[self._q_at] = positions
        else:
            q[self._q_at[self._single]] = positions[self._single]
        v[self._v_at] = self._values("velocity", velocity, v[self._v_at])
        if base is not None or base_velocity is not None:
            if self.robot.base.joint.kind != "floating":
                raise ModelError(f"the base of {self.robot.name} is bolted down; it has no pose")
            # its robot is all there is, and the base comes first
            if base is not None:
                q[:3], q[3:7] = base.p, base.quaternion
            moves = base_velocity or Twist(np.zeros(3), np.zeros(3))
            v[:3], v[3:6] = moves.linear, moves.angular
        self.update(q, v)

    def _values(
        self, name: str, given_values: ArrayLike | Mapping[str, float], now: Array
    ) -> Array:
        """Values of each degree of freedom, from numbers or by joint."""
        if isinstance(given_values, np.ndarray) and given_values.shape == now.shape:
            return given_values
        if not isinstance(given_values, Mapping):
            values = np.asarray(given_values, float)
            if values.shape not in ((), now.shape):
                raise ModelError(
                    f"{name} has shape {values.shape}; expected {now.shape}, one number per joint "
                    "in the order of robot.joint_names"
                )
            return np.broadcast_to(values, now.shape)
        values = now.copy()
        for joint, value in given_values.items():
            if joint not in self._names:
                raise unknown("joint", joint, cast(Robot, self.robot).name, self._names)
            values[self._names.index(joint)] = value
        return values

    @property
    def q(self) -> Array:
        """Configuration, a copy, shape (q_count,)."""
        return self._q.copy()

    @property
    def v(self) -> Array:
        """Velocity, a copy, shape (v_count,)."""
        return self._v.copy()

    def pose(self, body: Thing | str) -> Transform:
        """Pose of a body, foot, frame or sensor in the world."""
        out = self._frame(self._link(body))
        return Transform(out[:9].reshape(3, 3), out[9:12])

    def position(self, body: Thing | str) -> Array:
        """Its origin in the world [m]."""
        return self.pose(body).p

    def velocity(self, body: Thing | str) -> Twist:
        """Velocity of its origin, and angular, in the world's axes."""
        out = self._frame(self._link(body))
        return Twist(out[12:15], out[15:])

    def _arrays(self) -> tuple[Array, Array]:
        return self._seen

    def _link(self, thing: Any) -> Link:
        link = self._links.get(thing) if isinstance(thing, Hashable) else None
        if link is None:
            link = self._links[thing] = self.model.link(self._name(thing))
        return link

    def __repr__(self) -> str:
        return f"Configuration of {self.model!r}"


def _compiled(thing: Any) -> Model:
    if not hasattr(thing, "compile"):
        raise ModelError(
            f"model is {type(thing).__name__}; expected a compiled model, a robot or a world"
        )
    return thing.compile()

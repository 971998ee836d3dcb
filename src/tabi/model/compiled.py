"""The compiled world: fixed structure, parameters that can be set between steps,
and names for both.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, unknown
from tabi.model.arrays import DOF, FLOATING, PAIR, SPHERICAL, ModelArrays, table
from tabi.model.links import Link, PlacedPad, PlacedShape, Site, Sole, pad_name
from tabi.model.pad import Pad
from tabi.model.shape import Material, check_coefficients, coefficient
from tabi.spatial.inertia import Inertia

Array = NDArray[np.float64]


class Model:
    """A world as the simulation sees it. Example: ``tabi.robots.hrp2().compile().v_count``.

    Attributes:
        arrays: what kernels read; parameters in it may be changed in place between steps.
        joint_names: the joints of robots that move, in the order of their velocities; a floating
            base is not among them and goes by its robot's name.
        things: of each robot and object, by name, its first moving body and the end of them.
        links, feet, frames, sensors: by name.
        excluded: pairs of links that never collide.
        pairs: coefficients of each pair of materials, a table of PAIR of shape (k, k) in the order
            of ``material_names``; set by ``set_pair``.
        surfaces: 1 where some pair has torsional or rolling friction, and where one has
            restitution, static or viscous friction, shape (2,).
    """

    def __init__(
        self,
        arrays: ModelArrays,
        names: list[str],
        kinds: list[str],
        links: dict[str, Link],
        initial: Array,
    ) -> None:
        self.arrays = arrays
        self.links = links
        self._names = names
        self._kinds = kinds
        self._body_of = {name: i for i, name in enumerate(names) if i and kinds[i] != "fixed"}
        self._initial = self.with_followers(initial)
        roots = {
            i
            for i in range(1, len(names))
            if arrays.body["parent"][i] == 0 and kinds[i] == "floating"
        }
        self.joint_names = [name for name, i in self._body_of.items() if i not in roots]
        self.things: dict[str, tuple[int, int]] = {}
        self.shapes: list[PlacedShape] = []
        self.feet: dict[str, Sole] = {}
        self.frames: dict[str, Link] = {}
        self.sensors: dict[str, Site] = {}
        self.excluded: set[frozenset[str]] = set()
        self.material_names: list[str] = []
        self.pairs = table((0, 0), PAIR)
        self.surfaces = np.zeros(2, np.int64)

    @property
    def friction(self) -> Array:
        """Coefficient of sliding friction of each pair of materials, a view of ``pairs``."""
        return self.pairs["friction"]

    @property
    def restitution(self) -> Array:
        """Coefficient of restitution of each pair of materials, a view of ``pairs``."""
        return self.pairs["restitution"]

    @cached_property
    def pads(self) -> list[PlacedPad]:
        """Soft soles and pads, in the order of their nodes."""
        foot_of = {foot.body: name for name, foot in self.feet.items()}
        placed_pads: list[PlacedPad] = []
        for i, shape in enumerate(self.shapes):
            pad = shape.geometry
            if isinstance(pad, Pad):
                taken = [other.name for other in placed_pads]
                name = pad_name(shape.name, shape.link, foot_of.get(shape.body), taken)
                first = placed_pads[-1].rows.stop if placed_pads else 0
                rows = slice(first, first + len(pad.nodes))
                place = (shape.link, shape.body, shape.placement)
                placed_pads.append(PlacedPad(name, pad, i, *place, rows))
        return placed_pads

    # ---- sizes and places -------------------------------------------------------------------

    @property
    def body_count(self) -> int:
        """Number of moving bodies."""
        return len(self._names) - 1

    @property
    def q_count(self) -> int:
        """Number of positions in q."""
        return len(self._initial)

    @property
    def v_count(self) -> int:
        """Number of velocities in v."""
        return int(self.arrays.body["v_end"][-1])

    @property
    def mass(self) -> float:
        """Mass of everything that moves [kg]."""
        return float(self.arrays.body["mass"][1:].sum())

    def _row(self, name: str) -> int:
        if name not in self._body_of:
            raise unknown("joint", name, "the model", self._body_of)
        return self._body_of[name]

    def q_index(self, name: str) -> int:
        """Index of a joint's first position in q;
        a robot's or object's own name stands for its base.
        """
        return int(self.arrays.body["q_start"][self._row(name)])

    def v_index(self, name: str) -> int:
        """Index of a joint's first velocity in v;
        a robot's or object's own name stands for its base.
        """
        return int(self.arrays.body["v_start"][self._row(name)])

    def q_slice(self, name: str) -> slice:
        """Places in q of a robot or object with all its joints, or of one joint."""
        return self._slice(name, "q_start", self.q_count)

    def v_slice(self, name: str) -> slice:
        """Places in v of a robot or object with all its joints, or of one joint."""
        return self._slice(name, "v_start", self.v_count)

    def _slice(self, name: str, column: str, count: int) -> slice:
        if name in self.things:
            first, end = self.things[name]
        elif name in self._body_of:
            first, end = self._body_of[name], self._body_of[name] + 1
        else:
            raise unknown("robot, object or joint", name, "the model", self.joint_names)
        starts = [*self.arrays.body[column].tolist(), count]
        return slice(starts[first], starts[end])

    @property
    def root_names(self) -> list[str]:
        """Names of the joints between the world and the roots of all trees: those of floating bases
        and of objects, and joints that carry a root.
        """
        return [
            name for i, name in enumerate(self._names) if i and self.arrays.body["parent"][i] == 0
        ]

    def dof_name(self, index: int) -> str:
        """Name of the joint that a velocity belongs to."""
        return self._owner(index, "v_start")

    def root_of(self, name: str) -> int:
        """Row of the root of the tree that a joint, robot or object belongs to."""
        return int(self.arrays.body["root"][self._row(name)])

    def joint_kind(self, name: str) -> str:
        """The kind of a joint, as in ``tabi.model.joint``."""
        return self._kinds[self._row(name)]

    def link(self, name: str) -> Link:
        """A body, foot, frame or sensor by name."""
        for places in (self.links, self.feet, self.frames, self.sensors):
            if name in places:
                return places[name]
        raise unknown(
            "body", name, "the model", [*self.links, *self.feet, *self.frames, *self.sensors]
        )

    # ---- configurations ---------------------------------------------------------------------

    def neutral(self) -> Array:
        """The configuration with every joint at its zero, followers where that puts them,
        shape (q_count,).
        """
        q = np.zeros(self.q_count)
        for i, kind in enumerate(self.arrays.body["kind"]):
            if i and kind in (SPHERICAL, FLOATING):
                q[self.arrays.body["q_start"][i] + (3 if kind == FLOATING else 0)] = 1.0
        return self.with_followers(q)

    def with_followers(self, q: Array) -> Array:
        """The same configuration with followers where their leaders put them;
        as many passes as a chain of them is long.
        """
        follower, leader = (
            self.arrays.dof["q"][self.arrays.mimic[end]] for end in ("follower", "leader")
        )
        for _ in follower:
            q[follower] = self.arrays.mimic["ratio"] * q[leader] + self.arrays.mimic["offset"]
        return q

    def with_follower_velocities(self, v: Array) -> Array:
        """The same velocities with followers as fast as their leaders make them."""
        mimic = self.arrays.mimic
        for _ in mimic:
            v[mimic["follower"]] = mimic["ratio"] * v[mimic["leader"]]
        return v

    def initial(self) -> Array:
        """The configuration the world was in when it was compiled, shape (q_count,)."""
        return self._initial.copy()

    def check_configuration(self, q: ArrayLike) -> Array:
        """Return q as float64, or raise an error that names the fault."""
        q = self._check_length("q", q, self.q_count)
        bad = np.flatnonzero(~np.isfinite(q))
        if bad.size:
            raise ModelError(
                f"q[{bad[0]}] (joint {self._owner(bad[0], 'q_start')!r}) is {q[bad[0]]}; "
                f"expected a finite number"
            )
        for i in np.flatnonzero(
            (self.arrays.body["kind"] == SPHERICAL) | (self.arrays.body["kind"] == FLOATING)
        ):
            if i == 0:
                continue
            start = self.arrays.body["q_start"][i] + (
                3 if self.arrays.body["kind"][i] == FLOATING else 0
            )
            length = np.linalg.norm(q[start : start + 4])
            if abs(length - 1) > 1e-6:
                raise ModelError(
                    f"q[{start}:{start + 4}], the quaternion of {self._names[i]!r}, has length "
                    f"{length:g}; expected 1 (w, x, y, z): normalise it"
                )
        return q

    def check_velocity(self, name: str, v: ArrayLike) -> Array:
        """Return a vector with one number per degree of freedom as float64, or raise an error that
        names the fault.
        """
        v = self._check_length(name, v, self.v_count)
        bad = np.flatnonzero(~np.isfinite(v))
        if bad.size:
            raise ModelError(
                f"{name}[{bad[0]}] (joint {self._owner(bad[0], 'v_start')!r}) is {v[bad[0]]}; "
                f"expected a finite number"
            )
        return v

    def _check_length(self, name: str, values: ArrayLike, count: int) -> Array:
        try:
            x = np.ascontiguousarray(values, float)
        except (TypeError, ValueError):
            raise ModelError(
                f"{name} is {type(values).__name__}; expected {count} numbers"
            ) from None
        if x.shape != (count,):
            raise ModelError(
                f"{name} has shape {x.shape}; expected ({count},), "
                f"see model.joint_names and model.q_index(name)"
            )
        return x

    def _owner(self, index: int, column: str) -> str:
        # the last body that starts at or before the index
        return self._names[int(np.searchsorted(self.arrays.body[column][1:], index, side="right"))]

    # ---- parameters that may change between steps -------------------------------------------

    def set_joint(self, name: str, **parameters: float) -> None:
        """Set parameters of a joint, named as the columns of ``tabi.model.arrays.DOF``:
        damping, stiffness, kp, upper, …
        """
        row = self._row(name)
        settable = [column for column in DOF.names or () if column != "q"]
        places = ("rest", "lower", "upper")
        limits = ("lower", "upper", "velocity_limit", "effort_limit")
        limits += ("stall_effort", "no_load_speed")
        for key, value in parameters.items():
            if key not in settable:
                raise unknown("parameter", key, "a joint", settable)
            if (
                np.isnan(value)
                or (np.isinf(value) and key not in limits)
                or (value < 0 and key not in places)
            ):
                number = "number" if key in limits else "finite number"
                raise ModelError(
                    f"{key} of joint {name!r} was set to {value}; expected a "
                    f"{number}{'' if key in places else ' ≥ 0'}"
                )
            if key == "no_load_speed" and value == 0:
                raise ModelError(f"no_load_speed of joint {name!r} was set to 0; expected > 0")
            if key == "prescribed" and value not in (0, 1):
                raise ModelError(
                    f"prescribed of joint {name!r} was set to {value}; expected 0 or 1"
                )
            if (
                key == "stiffness"
                and value > 0
                and self.arrays.body["kind"][row] in (SPHERICAL, FLOATING)
            ):
                raise ModelError(
                    f"stiffness of joint {name!r} was set to {value}; "
                    f"expected springs only on joints without quaternions"
                )
            start, end = self.arrays.body["v_start"][row], self.arrays.body["v_end"][row]
            self.arrays.dof[key][start:end] = value

    def set_inertia(self, name: str, inertia: Inertia) -> None:
        """Replace the inertia of the moving body that carries the link ``name``,
        given in that link's frame.
        """
        link = self.link(name)
        if (
            link.body == 0
            or not 0 < inertia.mass < np.inf
            or not np.isfinite([*inertia.centre, *inertia.tensor.ravel()]).all()
        ):
            raise ModelError(
                f"inertia of {name!r} was set to mass {inertia.mass:g} kg; "
                f"expected a moving body and finite numbers, mass > 0"
            )
        transformed = inertia.transformed(link.placement)
        self.arrays.body["mass"][link.body] = transformed.mass
        self.arrays.body["centre"][link.body] = transformed.centre
        self.arrays.body["inertia"][link.body] = transformed.tensor[np.triu_indices(3)]

    def set_pair(
        self,
        a: str,
        b: str,
        friction: float | None = None,
        restitution: float | None = None,
        **rest: float | None,
    ) -> None:
        """Set coefficients of two materials, by the names in ``Material``;
        a friction without a static one is both.
        """
        for name in (a, b):
            if name not in self.material_names:
                raise unknown("material", name, "the model", self.material_names)
        i, k = self.material_names.index(a), self.material_names.index(b)
        now = {name: float(self.pairs[name][i, k]) for name in PAIR.names or ()}
        specified = {"friction": friction, "restitution": restitution, **rest}
        now |= {coefficient(name): value for name, value in specified.items() if value is not None}
        if friction is not None and rest.get("static_friction") is None:
            now["static_friction"] = now["friction"]
        check_coefficients(f"the pair {a!r}, {b!r}", now)
        self.pairs[i, k] = self.pairs[k, i] = tuple(now[name] for name in PAIR.names or ())
        self._update_surfaces()

    def set_materials(
        self, materials: Iterable[Material], pairs: dict[frozenset[str], dict[str, float | None]]
    ) -> None:
        """Fill the table of pairs: the smaller friction, and the larger of all else,
        unless the pair is given.
        """
        materials = list(materials)
        self.material_names = [m.name for m in materials]
        self.pairs = table((len(materials), len(materials)), PAIR)
        for name in PAIR.names or ():
            of_each = np.array([m.coefficients[name] for m in materials])
            self.pairs[name] = (
                np.minimum if name in ("friction", "static_friction") else np.maximum
            ).outer(of_each, of_each)
        for pair, values in pairs.items():
            names = sorted(pair)
            for name in names:
                if name not in self.material_names:
                    raise unknown("material", name, "the world", self.material_names)
            self.set_pair(names[0], names[-1], **values)
        self._update_surfaces()

    def _update_surfaces(self) -> None:
        """Update which kinds of friction and restitution occur, for the step."""
        p = self.pairs
        self.surfaces[0] = (p["torsional_friction"] > 0).any() or (p["rolling_friction"] > 0).any()
        self.surfaces[1] = (
            (p["restitution"] > 0).any()
            or (p["viscous_friction"] > 0).any()
            or (p["static_friction"] != p["friction"]).any()
        )

    def __repr__(self) -> str:
        return (
            f"Model({self.body_count} bodies, {len(self.joint_names)} joints, q {self.q_count}, v "
            f"{self.v_count}, {self.mass:.2f} kg)"
        )

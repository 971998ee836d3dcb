"""Quantities that a controller needs in each step: Jacobians, masses, momenta, feet and sensors;
a part of ``tabi bench loop``.

A quantity of a simulator that has just stepped, its kinematics with it, against Pinocchio's whole
sequence of calls from the same q and v, which are others in every call; what it takes to check new
q and v of a ``Configuration``; then all that is known of both feet, and what a controller that
reads all sensors and returns an array adds to a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.dynamics import Configuration, integrate
from tabi.dynamics.quantities import Quantities
from tabi.lab.bench.step import SETTLE, stage
from tabi.lab.bench.timing import microseconds, repeat
from tabi.lab.columns import Column, table
from tabi.lab.pinocchio import Referee, build, pinocchio
from tabi.model.controllers.signals import Command, Measurement
from tabi.model.links import Link
from tabi.model.robot import Robot
from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
BLOCK = 0.005
# maximum time of each [µs], and its maximum ratio to Pinocchio's sequence
MAX_TIME_US, MAX_RATIO = 5.0, 1.5


def measure(robot: Robot, blocks: int = 31) -> dict[str, Any]:
    """All figures, as plain data."""
    ours, theirs = FreshQuantities(robot), PinocchioAsked(robot)
    runs: dict[str, Callable[[int], object]] = {}
    for name, ask in ours.quantities().items():
        runs[f"tabi, {name}"] = repeat(ask)
        runs[f"pinocchio, {name}"] = repeat(theirs.quantities()[name])
    runs["update"] = repeat(ours.update)
    times = {name: float(np.median(t)) for name, t in microseconds(runs, blocks, BLOCK).items()}
    table = {}
    for name in ours.quantities():
        a, b = times[f"tabi, {name}"], times[f"pinocchio, {name}"]
        table[name] = {
            "tabi": round(a, 2),
            "pinocchio": round(b, 2),
            "within": a <= max(MAX_TIME_US, MAX_RATIO * b),
        }
    update = {"configuration_update_us": round(times["update"], 2)}
    return {"quantities": table} | update | in_the_loop(robot, blocks)


class TwoStates:
    """Two states of a robot, by turns: nothing can be remembered from call to call."""

    def __init__(self, robot: Robot) -> None:
        self.model = robot.compile()
        rng = np.random.default_rng(0)
        v = 0.1 * rng.normal(size=self.model.v_count)
        q = integrate(self.model, self.model.initial(), v, 1.0)
        self.pairs = [(q, v), (integrate(self.model, q, v, 1e-3), 1.01 * v)]
        self._turn = 0

    def next(self) -> tuple[Array, Array]:
        """Return the other of two states."""
        self._turn = 1 - self._turn
        return self.pairs[self._turn]


class Solved(Quantities):
    """Quantities of a simulator between steps, each time in another state."""

    def __init__(self, states: TwoStates) -> None:
        super().__init__(states.model)
        self.states = states

    def _arrays(self) -> tuple[Array, Array]:
        return self.states.next()

    def _link(self, thing: Any) -> Link:
        return self.model.link(thing)


class FreshQuantities:
    """Quantities of tabi for a new state."""

    def __init__(self, robot: Robot) -> None:
        self.states = TwoStates(robot)
        self.solved, self.c = Solved(self.states), Configuration(self.states.model)
        self.foot = next(iter(robot.feet))

    def quantities(self) -> dict[str, Callable[[], Any]]:
        """Name → function of no arguments."""
        c, foot = self.solved, self.foot
        return {
            "Jacobian of a foot": lambda: c.jacobian(foot),
            "its bias": lambda: c.jacobian_bias(foot),
            "centre of mass": c.centre_of_mass,
            "its Jacobian": c.centre_of_mass_jacobian,
            "momentum matrix": c.momentum_matrix,
            "mass matrix": c.mass_matrix,
            "bias forces": c.bias_forces,
            "gravity forces": c.gravity_forces,
        }

    def update(self) -> None:
        """A configuration goes elsewhere."""
        self.c.update(*self.states.next())


class PinocchioAsked:
    """The same of Pinocchio, from its own q and v."""

    def __init__(self, robot: Robot) -> None:
        pin = self.pin = pinocchio()
        states = TwoStates(robot)
        self.m = build(robot)
        referee, foot = Referee(states.model, self.m), next(iter(robot.feet.values()))
        self.pairs = [(referee.configuration(q), referee.rates(q) @ v) for q, v in states.pairs]
        # a foot is a frame of the joint that carries its body
        joint, X = self._joint(robot, foot.body), foot.placement
        frame = pin.Frame("foot", joint, 0, pin.SE3(X.R, X.p), pin.FrameType.OP_FRAME)
        self.foot = self.m.addFrame(frame)
        self.d, self._turn = self.m.createData(), 0

    def _joint(self, robot: Robot, body: Any) -> int:
        name = robot.name if body is robot.base else body.joint.name
        return self.m.getJointId(name)

    def quantities(self) -> dict[str, Callable[[], Any]]:
        """Name → function of no arguments."""
        pin, m, d, foot = self.pin, self.m, self.d, self.foot
        world = pin.LOCAL_WORLD_ALIGNED

        def bias(q: Any, v: Any) -> Any:
            pin.forwardKinematics(m, d, q, v, 0.0 * v)
            pin.updateFramePlacement(m, d, foot)
            return pin.getFrameClassicalAcceleration(m, d, foot, world).vector

        def jacobian(q: Any, v: Any) -> Any:
            pin.computeJointJacobians(m, d, q)
            pin.updateFramePlacement(m, d, foot)
            return pin.getFrameJacobian(m, d, foot, world)

        asks: dict[str, Callable[[Any, Any], Any]] = {
            "Jacobian of a foot": jacobian,
            "its bias": bias,
            "centre of mass": lambda q, v: pin.centerOfMass(m, d, q, v),
            "its Jacobian": lambda q, v: pin.jacobianCenterOfMass(m, d, q),
            "momentum matrix": lambda q, v: pin.ccrba(m, d, q, v),
            "mass matrix": lambda q, v: pin.crba(m, d, q),
            "bias forces": lambda q, v: pin.nonLinearEffects(m, d, q, v),
            "gravity forces": lambda q, v: pin.computeGeneralizedGravity(m, d, q),
        }
        return {name: self._new(ask) for name, ask in asks.items()}

    def _new(self, ask: Callable[[Any, Any], Any]) -> Callable[[], Any]:
        def call() -> Any:
            self._turn = 1 - self._turn
            return ask(*self.pairs[self._turn])

        return call


def in_the_loop(robot: Robot, blocks: int) -> dict[str, Any]:
    """Return the time of foot states and sensor readings in a simulation that steps."""
    world, robot = stage(robot)
    silent, sensing = Simulator(world), Simulator(world)
    feet = list(robot.feet.values())
    goal = sensing.measure(robot).position

    def controller(time: float, seen: Measurement) -> Command:
        for name in seen.sensors:
            seen.sensors[name]
        return Command(position=goal + 1e-6 * seen.position)

    sensing.set_controller(robot, controller)
    for sim in (silent, sensing):
        sim.rollout(SETTLE)

    def all_of_the_feet() -> None:
        for foot in feet:
            silent.foot(foot)

    times = microseconds(
        {
            "step": repeat(lambda: silent.step(ask=False)),
            "controller": repeat(sensing.step),
            "feet": repeat(all_of_the_feet),
        },
        blocks,
        BLOCK,
    )
    least = {name: float(t.min()) for name, t in times.items()}
    return {
        "feet_us": round(float(np.median(times["feet"])), 2),
        "sensing_controller_above_step_us": round(least["controller"] - least["step"], 2),
    }


def lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures for a terminal."""
    rows = [{"name": name} | row for name, row in result["quantities"].items()]
    yield from table(COLUMNS, rows)
    yield f"  new q and v for a Configuration: {result['configuration_update_us']:.1f} µs"
    yield f"  all of both feet {result['feet_us']:.1f} µs; a controller that reads all sensors"
    yield f"  and returns an array: {result['sensing_controller_above_step_us']:.1f} µs more"


COLUMNS = (
    Column("from new q and v [µs]", "name"),
    Column("tabi", "tabi", ".2f"),
    Column("Pinocchio", "pinocchio", ".2f"),
    Column(
        "",
        lambda r: "" if r["within"] else f"more than {MAX_TIME_US:g} and {MAX_RATIO:g} × Pinocchio",
    ),
)

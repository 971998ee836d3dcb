"""Simulator: a world in motion, with the methods of its parts.

A simulator consists of its steps (``Running``), saved states (``Moments``), actions (``Acting``),
and of ``sim.robot(name)``, ``sim.feet``, ``sim.quantities`` and ``sim.names`` for reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi._errors import SimulationError
from tabi._renamed import RenamedAttribute
from tabi.model import lookup
from tabi.model.controllers import controller as controllers
from tabi.model.world import World
from tabi.observation import balance, certificate, pad_state
from tabi.observation.balance import Balance
from tabi.observation.certificate import StepCertificate
from tabi.observation.contacts import Contact
from tabi.observation.feet_view import FeetView
from tabi.observation.foot_state import FootEvent
from tabi.observation.frozen_modes import FrozenModeStep, twin_of
from tabi.observation.linearisation import Linearisation, linearise
from tabi.observation.names import Names
from tabi.observation.observation import Observation
from tabi.observation.pad_state import PadState
from tabi.observation.state_quantities import StateQuantities
from tabi.recording.writer import RecordingWriter
from tabi.simulation import background_compile
from tabi.simulation.acting import Acting
from tabi.simulation.moments import Moments
from tabi.simulation.pushes import Push
from tabi.simulation.running import Running
from tabi.simulation.shared import shared
from tabi.simulation.state import State, read_only, reject_assignment
from tabi.step import laws, settings
from tabi.step.budget import DEFAULT, Budget, budget_of
from tabi.step.commands.driver import Driver
from tabi.step.data import Data
from tabi.step.sensors.tables import checked_seed
from tabi.step.step import step_on
from tabi.step.stepper import Stepper

__all__ = ["SimulationError", "Simulator"]

Array = NDArray[np.float64]
# public attributes that are set at construction only
SET_ONCE = frozenset({"world", "model", "data", "order", "scheme", "names", "feet", "quantities"})


class Simulator:
    """Simulate a world in steps of dt, with exact Coulomb friction and a certificate of each step.

    Args:
        world: bodies and robots; later changes of it have no effect.
        dt: the step [s].
        contact: the law of contact: "coulomb", or for comparison "pyramid" and "frictionless";
            or a custom one (see ``tabi.step.parts``).
        tolerance: largest backward error of every contact [m/s].
        scheme: "time-stepping", or "event-driven": impacts with restitution happen where they do
            within a step.
        facets: sides of the pyramid.
        budget: limit of the solver's work in a step, looks at contacts; a step that needs more
            counts as not converged, with its true error. None for no limit; ``tabi.Budget`` also
            limits time.
        seed: of the sensors' noise; of one of many worlds: (seed, its number).
        order: 1, or 2: steps whose error goes with the square of dt, where nothing hits.
        custom: forces=…, rows=…: custom forces and kinds of rows, beside those of every step.

    Attributes:
        model: the compiled world; its parameters may be changed between steps.
        data: state, command, memory and outcome, read-only.
        feet: states of feet by name: ``sim.feet["left"]``.
        quantities: Jacobians, masses, momenta and joint forces at the present state.
        names: things by object or name.

    Examples:
        >>> sim = tabi.Simulator(world)
        >>> sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
        >>> sim.run(0.01)
        >>> sim.certificate.converged
        True
    """

    def __init__(
        self,
        world: World,
        dt: float = 1e-3,
        contact: Any = laws.COULOMB,
        tolerance: float = 1e-8,
        scheme: str = settings.TIME_STEPPING,
        facets: int = 8,
        budget: int | Budget | None = DEFAULT,
        seed: int | tuple[int, int] = 0,
        order: int = 1,
        **custom: Unpack[settings.OwnParts],
    ) -> None:
        self._custom_parts = settings.own_parts(custom)
        settings.check(world, dt, tolerance, scheme)
        allowed, drawn = budget_of(budget), checked_seed(seed)
        background_compile.start()
        self.world, self.model = world, world.compile()
        self.scheme, self._law = scheme, laws.named(contact, facets, self.model, float(dt))
        settings.check_soft(scheme, self._law)
        self.order = settings.checked_order(order, scheme, self._law, self._custom_parts)
        step = step_on(self._law, *self._custom_parts, self.order)
        self._stepper = Stepper(self.model, step, allowed, dt=float(dt), seed=drawn)
        self.data = Data(self._stepper, self._stepper.dt, float(tolerance))
        self.names = Names(world, self.model)
        self.feet = FeetView(self.data, self.names)
        self.quantities = StateQuantities(self.data, self.names)
        self._seen = Observation(world, self.data, self.names)
        self._running = Running(self._stepper, self.data, self.names, self._seen, scheme)
        self._twin: Stepper | None = None
        self._moments = Moments(world, self._running, self.names, self._seen)
        self._acting = Acting(world, self._running, self._moments, self.names, self._seen)
        # with its bonds
        self._moments.first = self.save()

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_" and (name not in SET_ONCE or name in self.__dict__):
            reject_assignment(type(self), name)
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        things = [robot.name for robot in self.world.robots] + [o.name for o in self.world.objects]
        shown = ", ".join(things[:4]) + (f" and {len(things) - 4} more" if things[4:] else "")
        return f"{type(self).__name__}({shown}: {self.time:g} s in steps of {self.dt:g} s)"

    # ---- time and states ----------------------------------------------------------------------

    step = shared("_running", Running.step)
    run = shared("_running", Running.run)
    rollout = shared("_running", Running.rollout)
    ask_controllers = shared("_running", Running.ask_controllers)

    save = shared("_moments", Moments.save)
    restore = shared("_moments", Moments.restore)
    reset = shared("_moments", Moments.reset)
    set_state = shared("_moments", Moments.set_state)
    set_joint = shared("_moments", Moments.set_joint)
    stand_up = shared("_moments", Moments.stand_up)

    @property
    def dt(self) -> float:
        """Length of a step [s]."""
        return self.data.dt

    @property
    def tolerance(self) -> float:
        """Largest backward error of every contact [m/s]."""
        return self.data.tolerance

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self.data.time

    @property
    def q(self) -> Array:
        """Configuration, a copy that cannot be written: see ``set_state`` and ``set_joint``."""
        return read_only(self.data.q)

    @property
    def v(self) -> Array:
        """Velocity, a copy that cannot be written."""
        return read_only(self.data.v)

    @property
    def state(self) -> State:
        """A copy of q, v and the time."""
        return State(self.data.q.copy(), self.data.v.copy(), self.time)

    @property
    def missed(self) -> list[tuple[float, float]]:
        """The first thousand steps that did not converge: (time [s], backward error [m/s])."""
        return self._running.missed

    @property
    def missed_count(self) -> int:
        """Number of steps of the run that did not converge."""
        return self.data.missed_count

    @property
    def unresolved_count(self) -> int:
        """Number of steps of the event-driven scheme with more impacts than the budget allows: the
        rest of such a step is solved by time stepping.
        """
        return self._stepper.unresolved_count

    @property
    def reproducible(self) -> bool:
        """Whether a rerun is the same to the last bit: not with a budget of time, nor with a
        controller that is not reproducible.
        """
        return self.data.reproducible and all(
            controllers.reproducible(driver.controller) for driver in self.drivers.values()
        )

    def paused(self) -> AbstractContextManager[bool]:
        """Pause the simulation while another thread reads it: within ``with sim.paused() as
        paused:`` no step begins, and no state is set. ``paused`` is False, at once, while a step
        runs; then the state must not be read.
        """
        return self._running.step_lock.reading()

    still = RenamedAttribute("paused")
    senses_of = RenamedAttribute("measurement_source")

    # ---- observation --------------------------------------------------------------------------

    robot = shared("_seen", Observation.robot)
    measure = shared("_seen", Observation.measure)
    measurement_source = shared("_seen", Observation.measurement_source)
    joint_torques = shared("_seen", Observation.joint_torques)
    zmp = shared("_seen", Observation.zmp)
    fallen = shared("_seen", Observation.fallen)
    fall_margin = shared("_seen", Observation.fall_margin)
    pose = shared("_seen", Observation.pose)
    position = shared("_seen", Observation.position)
    velocity = shared("_seen", Observation.velocity)
    sensor = shared("_seen", Observation.sensor)
    render = shared("_seen", Observation.render)
    contacts_of = shared("_seen", Observation.contacts_of)
    problem = shared("_seen", Observation.problem)
    export_problem = shared("_seen", Observation.export_problem)

    foot = shared("feet", FeetView.__getitem__)
    foot_wrench = shared("feet", FeetView.wrench)
    centre_of_pressure = shared("feet", FeetView.centre_of_pressure)
    support_polygon = shared("feet", FeetView.support_polygon)

    q_slice = shared("quantities", StateQuantities.q_slice)
    v_slice = shared("quantities", StateQuantities.v_slice)
    jacobian = shared("quantities", StateQuantities.jacobian)
    jacobian_bias = shared("quantities", StateQuantities.jacobian_bias)
    mass_matrix = shared("quantities", StateQuantities.mass_matrix)
    centre_of_mass = shared("quantities", StateQuantities.centre_of_mass)
    centre_of_mass_velocity = shared("quantities", StateQuantities.centre_of_mass_velocity)
    centre_of_mass_jacobian = shared("quantities", StateQuantities.centre_of_mass_jacobian)
    momentum = shared("quantities", StateQuantities.momentum)
    momentum_matrix = shared("quantities", StateQuantities.momentum_matrix)
    momentum_bias = shared("quantities", StateQuantities.momentum_bias)
    inverse_dynamics = shared("quantities", StateQuantities.inverse_dynamics)
    bias_forces = shared("quantities", StateQuantities.bias_forces)
    gravity_forces = shared("quantities", StateQuantities.gravity_forces)

    @property
    def contacts(self) -> list[Contact]:
        """The points within reach of each other after the last step, with their forces."""
        return self._seen.contacts

    @property
    def pads(self) -> dict[str, PadState]:
        """Deformation and pressure of soft soles, by the names of their feet, and of other pads."""
        return pad_state.states(self.data)

    @property
    def foot_events(self) -> tuple[FootEvent, ...]:
        """Every change of a foot's state since the start."""
        return self.feet.events

    @property
    def certificate(self) -> StepCertificate:
        """Recomputed errors of the last step's forces by the law of contact, and the worst of
        the run.
        """
        return certificate.of_last_step(self.data)

    @property
    def energy(self) -> dynamics.Energy:
        """Kinetic and potential energy [J]; what soft soles store is potential energy."""
        return self._seen.energy

    @property
    def balance(self) -> Balance:
        """Energy balance of the last step."""
        return balance.of_last_step(self.data)

    # ---- actions ------------------------------------------------------------------------------

    set_controller = shared("_acting", Acting.set_controller)
    set_gains = shared("_acting", Acting.set_gains)
    prescribe = shared("_acting", Acting.prescribe)
    apply_force = shared("_acting", Acting.apply_force)
    bond = shared("_acting", Acting.bond)
    every = shared("_acting", Acting.every)
    on_contact = shared("_acting", Acting.on_contact)

    @property
    def drivers(self) -> Mapping[str, Driver]:
        """Controllers by the names of their robots."""
        return self._running.drivers

    @property
    def pushes(self) -> tuple[Push, ...]:
        """Pushes that act now or later."""
        return tuple(self._running.pushes)

    def record(
        self,
        path: str | Path,
        rate: float | None = None,
        scene: str = "",
        meta: Mapping[str, Any] | None = None,
    ) -> RecordingWriter:
        """Write the run into an HDF5 file (.h5), until it is closed: see ``RecordingWriter``.

        Args:
            rate: rows per second of simulated time [Hz]; default: every step.
        """
        return RecordingWriter(path, self, rate, scene, meta)

    def linearise(self, margin: float = 1e-6) -> Linearisation:
        """Linearise the next step by the state and the commands of motors: δx⁺ = A δx + B δu, with
        fixed modes of contacts, motors and joints. The simulation does not advance.

        Controllers are not called: motors keep their last commands.

        Args:
            margin: contacts nearer to another mode than this [m/s] are reported.
        """
        settings.check_linear(self.order, self.scheme, self._law, margin)
        if self._running.pushes or self._stepper.data.command.pushed[0]:
            self._running.write_pushes(self._stepper)
        spans = lookup.joint_spans(self.world, self.model)
        if self._twin is None:
            self._twin = twin_of(self._stepper, self._custom_parts)
        push = self._running.write_pushes if self._running.pushes else None
        with self._running.step_lock.writing():
            steps = FrozenModeStep(self._stepper, self._twin, self.tolerance, push)
        return linearise(steps, spans, margin)

"""A simulator is made of parts, and has their methods by the same names."""

import inspect

import pytest

import tabi
from tabi.simulation.acting import Acting
from tabi.simulation.moments import Moments
from tabi.simulation.running import Running
from tabi.simulation.shared import shared


class Engine:
    def __init__(self, power):
        self.power = power

    def torque(self, speed: float = 1.0) -> float:
        """Power over speed."""
        return self.power / speed


class Car:
    torque = shared("engine", Engine.torque)

    def __init__(self, power):
        self.engine = Engine(power)


def test_a_shared_method_is_that_of_each_ones_own_part():
    cars = Car(10.0), Car(20.0)
    assert [car.torque(2.0) for car in cars] == [5.0, 10.0]
    assert cars[0].torque == cars[0].engine.torque
    # found without a detour from then on
    assert "torque" in vars(cars[0])


class Truck(Car):
    def torque(self, speed=1.0):
        return 2.0 * super().torque(speed)


def test_a_derived_class_may_have_its_own_and_ask_for_the_shared_one():
    truck = Truck(10.0)
    assert [truck.torque(), truck.torque()] == [20.0, 20.0]
    assert Car.torque(truck, 2.0) == 5.0
    assert truck.torque() == 20.0


def test_one_may_be_replaced_by_a_function_of_the_whole(monkeypatch):
    before = Car.torque
    monkeypatch.setattr(Car, "torque", lambda car, speed: 3.0 * before(car, speed))
    assert Car(10.0).torque(2.0) == 15.0


def test_a_simulator_of_ones_own_may_step_otherwise():
    class Counting(tabi.Simulator):
        _count = 0

        def step(self, ask=True):
            self._count += 1
            super().step(ask)

    world = tabi.World()
    world.add_sphere(0.1, 1.0)
    sim = Counting(world)
    for _ in range(3):
        sim.step()
    assert (sim._count, sim.data.steps) == (3, 3)


def test_help_and_signature_are_those_of_the_part():
    assert inspect.getdoc(Car.torque) == "Power over speed."
    assert inspect.signature(Car(1.0).torque) == inspect.signature(Engine(1.0).torque)


def test_a_simulator_has_parts_and_no_base_classes():
    assert tabi.Simulator.__mro__ == (tabi.Simulator, object)
    # and all that they can do
    for part in (Running, Moments, Acting):
        public = [name for name in vars(part) if name[0] != "_" and callable(getattr(part, name))]
        inner = {"clear_counts", "write_pushes"}
        assert all(getattr(tabi.Simulator, name) for name in public if name not in inner)


@pytest.mark.parametrize("name", [one for one in dir(tabi.Simulator) if one[0] != "_"])
def test_every_public_name_of_a_simulator_says_what_it_is(name):
    assert inspect.getdoc(getattr(tabi.Simulator, name))

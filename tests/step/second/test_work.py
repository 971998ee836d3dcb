"""Memory of the second stage: none over points where steps are of first order."""

import rollers

from tabi.step.second import work


def test_there_is_room_for_as_many_points_as_the_step_has_and_for_none_of_first_order():
    sim = rollers.rattleback()
    room = len(sim._stepper.workspace.points)
    assert len(sim._stepper.workspace.second.mu) == room
    assert len(work.allocate(sim.model, 7).drift) == 21
    assert len(rollers.rattleback(order=1)._stepper.workspace.second.drift) == 0


def test_memory_grows_with_the_points():
    sim = rollers.rattleback()
    sim._stepper.grow(200, 10)
    sim.run(0.01)
    assert len(sim._stepper.workspace.second.gap) >= 200
    assert sim.certificate.order == 2

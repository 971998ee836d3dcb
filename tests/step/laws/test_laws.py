"""Older laws of contact in the simulator: where they agree with the exact one,
and where they are known to differ.
"""

from math import cos, pi, radians, sin, tan

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.contact.bodies import BodyWork
from tabi.contact.lemke import pyramid

G = 9.81


def sliding_box(direction, contact, facets=8, mu=0.3, speed=2.0, **scene):
    """A box thrown over the ground in a direction [rad], after 0.2 s."""
    world = tabi.World()
    world.add_ground(friction=mu)
    box = world.add_box((0.3, 0.3, 0.02), 1.0, friction=mu, position=(0, 0, 0.01))
    sim = tabi.Simulator(world, contact=contact, facets=facets, **scene)
    v = np.zeros(6)
    v[:2] = speed * cos(direction), speed * sin(direction)
    sim.set_state(sim.model.initial(), v)
    sim.run(0.2)
    return sim, sim.velocity(box).linear


def test_along_its_edges_a_pyramid_brakes_as_the_cone_does():
    sim, v = sliding_box(0.0, "pyramid")
    assert v[0] == pytest.approx(2.0 - 0.3 * G * 0.2, abs=1e-6)
    assert sim.missed_count == 0
    # and there the exact law has nothing to say against it
    assert sim.certificate.residual < 1e-7


@pytest.mark.parametrize("facets", [4, 8, 16])
def test_between_its_edges_a_pyramid_brakes_less_by_the_cosine_of_half_their_angle(facets):
    sim, v = sliding_box(pi / facets, "pyramid", facets)
    # between two directions both push: μ N cos(π/k), still against the motion
    assert np.linalg.norm(v) == pytest.approx(2.0 - 0.3 * G * cos(pi / facets) * 0.2, abs=1e-6)
    assert sim.missed_count == 0
    assert sim.certificate.residual > 1e-5


@pytest.mark.parametrize("facets", [4, 8])
def test_a_pyramid_pushes_a_sliding_box_off_its_course_and_the_cone_does_not(facets):
    course = 0.7 * pi / facets
    _, exact = sliding_box(course, "coulomb")
    _, flat = sliding_box(course, "pyramid", facets)
    assert np.arctan2(exact[1], exact[0]) == pytest.approx(course, abs=1e-7)
    # it is pushed against the nearest direction, so it turns away from it
    assert np.arctan2(flat[1], flat[0]) > course + 0.01


def test_without_friction_a_box_on_a_slope_slides_with_g_sin():
    angle = radians(20)
    world = tabi.World(gravity=(G * sin(angle), 0, -G * cos(angle)))
    world.add_ground(friction=tan(angle) * 2)
    box = world.add_box((0.2, 0.2, 0.1), 1.0, position=(0, 0, 0.05))
    sim = tabi.Simulator(world, contact="frictionless")
    sim.run(0.3)
    assert sim.velocity(box).linear[0] == pytest.approx(0.3 * G * sin(angle), abs=1e-6)
    assert sim.missed_count == 0


def test_a_humanoid_stands_on_pyramids_with_the_same_forces_on_its_feet():
    loads = []
    for contact in ("coulomb", "pyramid"):
        world, robot = hrp2_on_ground()
        sim = tabi.Simulator(world, contact=contact)
        sim.run(0.2)
        loads.append([sim.foot_wrench(foot).force[2] for foot in robot.feet.values()])
        assert sim.missed_count == 0
    # what each foot bears is decided by the bodies alone
    np.testing.assert_allclose(loads[0], loads[1], rtol=1e-4)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda w: tabi.Simulator(w, contact="piramid"), ["'piramid'", "'pyramid'"]),
        (lambda w: tabi.Simulator(w, contact="pyramid", facets=5), ["facets is 5", "even"]),
        (lambda w: tabi.Simulator(w, contact="pyramid", facets=2), ["facets is 2", "from 4 on"]),
        (
            lambda w: tabi.Simulator(w, contact="pyramid", facets=8.0),
            ["facets is 8.0", "whole number"],
        ),
        (
            lambda w: tabi.Simulator(w, contact="pyramid", facets=400),
            ["64 contact points", "fewer facets"],
        ),
    ],
)
def test_laws_that_cannot_be_followed_are_refused(act, words):
    world = tabi.World()
    world.add_ground()
    world.add_box((0.1, 0.1, 0.1), 1.0)
    with pytest.raises(tabi.TabiError) as error:
        act(world)
    assert all(word in str(error.value) for word in words)


def test_a_pyramid_does_not_take_surfaces_that_resist_turning():
    world = tabi.World()
    world.add_ground(rolling_friction=0.01)
    world.add_sphere(0.1, 1.0, position=(0, 0, 0.1))
    with pytest.raises(tabi.ModelError, match="rolling_friction"):
        tabi.Simulator(world, contact="pyramid")


def test_moments_told_later_are_missed_steps_under_a_pyramid():
    world = tabi.World()
    world.add_ground()
    world.add_sphere(0.1, 1.0, position=(0, 0, 0.1))
    sim = tabi.Simulator(world, contact="pyramid")
    sim.step()
    assert sim.missed_count == 0
    sim.model.set_pair("ground", "sphere", torsional_friction=0.1)
    sim.step()
    assert sim.missed_count == 1


def test_the_exact_law_needs_no_memory_for_the_others():
    world = tabi.World()
    world.add_box((0.1, 0.1, 0.1), 1.0)
    assert isinstance(tabi.Simulator(world)._stepper.workspace.law, BodyWork)
    older = tabi.Simulator(world, contact="pyramid")._stepper.workspace.law
    assert len(older.lemke.z) == pyramid.rows_of(64, 8)

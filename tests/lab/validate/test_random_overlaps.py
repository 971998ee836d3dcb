"""Worlds whose bodies start inside each other: as deep as said, of every kind, the same again."""

import warnings

import numpy as np

import tabi
from tabi.lab.validate.random_overlaps import (
    KINDS,
    LOOP,
    MAX_DEPTH,
    PAD,
    PRESCRIBED,
    random_overlap,
)


def test_each_kind_is_what_it_says_and_overlaps():
    assert len(KINDS) == 6
    for seed, kind in enumerate(KINDS):
        world, named = random_overlap(seed)
        assert named == kind
        assert bool(world.compile().pads) == (kind == PAD)
        joints = [body.joint for robot in world.robots for body in robot.bodies]
        assert any(robot.bonds for robot in world.robots) == (kind == LOOP)
        assert kind == PRESCRIBED or not any(joint.prescribed for joint in joints)
        sim = tabi.Simulator(world)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sim.step()
        assert 2e-4 < sim.certificate.penetration < 1.5 * MAX_DEPTH


def test_a_seed_is_always_the_same_world():
    for seed in range(6):
        first, again = (random_overlap(seed)[0].compile() for _ in range(2))
        np.testing.assert_array_equal(first.initial(), again.initial())
        np.testing.assert_array_equal(first.arrays.body["mass"], again.arrays.body["mass"])

"""A controller with the face of a steered walker, which holds its robot and keeps what it hears."""

from typing import NamedTuple

import numpy as np
from bipeds import hrp2_on_ground

import tabi
from tabi.control import hold
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import walk


class Steering(NamedTuple):
    forward: float
    sideways: float
    turn: float


REST = Steering(0.0, 0.0, 0.0)


class FakeSteeredWalker:
    """Stands still, and says that it would walk."""

    def __init__(self, robot) -> None:
        self.biped = Biped(robot)
        self._hold = hold(robot.half_sitting)
        self.fastest = Steering(0.3, 0.15, 0.5)
        self.told, self.stopped, self.resets, self.steering = [], 0, 0, REST
        self.stands, self.support, self.landed, self.reason = True, 0, 0, ""
        self.footsteps = walk(self.biped.stance, 3, 0.2)
        self.centre_of_mass = self.biped.centre
        self.zmp = self.planned_zmp = self.biped.centre[:2]
        self.capture_point = self.biped.centre[:2] + np.array([0.01, 0.0])
        self.margin = 0.05

    def steer(self, forward=0.0, sideways=0.0, turn=0.0):
        most = np.array(self.fastest)
        limited = Steering(*np.clip((forward, sideways, turn), -most, most).tolist())
        self.told.append(limited)
        self.steering, self.stands = limited, False
        return limited

    def stop(self):
        self.stopped += 1
        self.steering, self.stands = REST, True

    def reset(self):
        self.resets += 1
        self.steering = REST

    def __call__(self, time, measurement):
        return self._hold(time, measurement)


def world_of_one():
    """HRP-2 on the ground."""
    world, robot = hrp2_on_ground()
    return world, robot


def simulator():
    """With a robot that can be steered."""
    world, robot = world_of_one()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, FakeSteeredWalker(robot), rate=200)
    return sim

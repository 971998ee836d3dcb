"""A robot kicks in free fall: its centre of mass flies a parabola,
and its spin stays what it was.
"""

import numpy as np

import tabi

world = tabi.World()
robot = world.add_robot(tabi.robots.hrp2())
robot.place((0, 0, 5))
model = world.compile()

q, v, tau = model.initial(), np.zeros(model.v_count), np.zeros(model.v_count)
v[:3] = (1.0, 0.0, 3.0)
start, spin = tabi.dynamics.centre_of_mass(model, q), tabi.dynamics.momentum(model, q, v).angular
h, steps = 1e-3, 500
for k in range(steps):
    tau[model.v_index("RLEG_KNEE_P")] = 40.0 * np.sin(20 * k * h)
    q, v = tabi.dynamics.step(model, q, v, tau, h, order=2)

t = h * steps
parabola = start + t * np.array([1.0, 0.0, 3.0]) + 0.5 * t**2 * world.gravity
print(
    "centre of mass off its parabola by",
    np.abs(tabi.dynamics.centre_of_mass(model, q) - parabola).max(),
    "m",
)
print(
    "spin changed by",
    np.abs(tabi.dynamics.momentum(model, q, v).angular - spin).max(),
    "N·m·s; the knee is at",
    q[model.q_index("RLEG_KNEE_P")],
    "rad",
)

"""Body state from sensor readings as kernels: limbs in the base frame, foot loads, rubber.

Equations (1) to (3) are those of ``body_sense``, which allocates the tables.
"""

import numpy as np
from numpy.typing import NDArray

from tabi.dynamics import centroidal, kinematics
from tabi.dynamics.workspace import Workspace
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.spatial.vector import (
    add,
    angular,
    cross,
    linear,
    load3,
    load6,
    load9,
    matmul,
    mul,
    scale,
    store3,
    store9,
)

# kinds of foot sensors
WRENCH, FORCE, TOUCH = 0, 1, 2
# offsets in ``pressure``: load of a foot [N], its point at rest in its frame [m], whether it is
# flat
LOAD, POINT, FLAT = 0, 1, 4
# offsets in ``frame``: rotation row by row, position [m], angular velocity, velocity, in the base
# frame
POSITION, ANGULAR_VELOCITY, LINEAR_VELOCITY = 9, 12, 15


class BodyState(Structure):
    """Sensor readings and body state of a robot with f feet.

    Attributes:
        position, velocity: measured, of its joints. q_at, v_at: their indices in q and v; −1 where
            a joint has no single position.
        gyro, acceleration: measured, shape (3,). to_imu: rotation from the gyro's axes to those
            of the accelerometer, row by row.
        reading: of each foot's sensor, calibrated, shape (f, 6). kind: of the sensor.
        sensor: pose of the sensor in the foot's frame, shape (f, 12).
        body: of the IMU and of the feet. placement: of their frames in it, shape (1 + f, 12).
        edge: inward normals of each sole and their minimum distance for a flat sole, shape
            (f, ·, 3); edge_count: of each sole. box: bounds of x and y, shape (f, 4).
        middle: of each sole, shape (f, 2).
        spring: rubber: foot, index in q and in v. along, stiffness: component of a wrench on the
            foot along it; stiffness and damping.
        q, v: of the robot with its base at rest in the origin.
        wrench: on each foot, at its frame in its axes, shape (f, 6).
        pressed: LOAD, POINT, FLAT of each foot, shape (f, 5).
        frame: of the IMU and the feet in the base frame, shape (1 + f, 18).
        centre: of mass in the base frame, and its velocity there, shape (6,).
    """

    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    q_at: NDArray[np.int64]
    v_at: NDArray[np.int64]
    gyro: NDArray[np.float64]
    acceleration: NDArray[np.float64]
    to_imu: NDArray[np.float64]
    reading: NDArray[np.float64]
    kind: NDArray[np.int64]
    sensor: NDArray[np.float64]
    body: NDArray[np.int64]
    placement: NDArray[np.float64]
    edge: NDArray[np.float64]
    edge_count: NDArray[np.int64]
    box: NDArray[np.float64]
    middle: NDArray[np.float64]
    spring: NDArray[np.int64]
    along: NDArray[np.float64]
    stiffness: NDArray[np.float64]
    q: NDArray[np.float64]
    v: NDArray[np.float64]
    wrench: NDArray[np.float64]
    pressure: NDArray[np.float64]
    frame: NDArray[np.float64]
    centre: NDArray[np.float64]
    work: Workspace


@kernel
def update_body_state(m, body_state, dt):
    """Update the body state, dt [s] after the last update; 0 the first time, with rubber at
    rest.
    """
    for side in range(body_state.kind.shape[0]):
        compute_foot_wrench(body_state, side)
        compute_foot_pressure(body_state, side)
    deflect_rubber(body_state, dt)
    compute_limbs(m, body_state)


@kernel
def compute_foot_wrench(body_state, side):
    """Compute force and torque at a foot's frame; torque 0 where none is measured."""
    out, read, X = body_state.wrench[side], body_state.reading[side], body_state.sensor[side]
    if body_state.kind[side] == TOUCH:
        f, n = (0.0, 0.0, read[0]), (0.0, 0.0, 0.0)
    else:
        f, n = mul(load9(X), load3(read)), (0.0, 0.0, 0.0)
        if body_state.kind[side] == WRENCH:
            n = add(mul(load9(X), load3(read[3:])), cross(load3(X[9:]), f))
    store3(out, f)
    store3(out[3:], n)


@kernel
def compute_foot_pressure(body_state, side):
    """Compute load and centre of pressure of a foot, equation (2)."""
    out, w, box = body_state.pressure[side], body_state.wrench[side], body_state.box[side]
    out[LOAD], out[FLAT] = w[2], 1.0
    out[POINT], out[POINT + 1], out[POINT + 2] = (
        body_state.middle[side, 0],
        body_state.middle[side, 1],
        0.0,
    )
    if body_state.kind[side] != WRENCH:
        # without torque: the middle, and assumed flat
        return
    if not w[2] > 0.0:
        out[FLAT] = 0.0
        return
    x, y = -w[4] / w[2], w[3] / w[2]
    for k in range(body_state.edge_count[side]):
        edge = body_state.edge[side, k]
        if edge[0] * x + edge[1] * y < edge[2]:
            out[FLAT] = 0.0
    out[POINT] = min(max(x, box[0]), box[1])
    out[POINT + 1] = min(max(y, box[2]), box[3])


@kernel
def deflect_rubber(body_state, dt):
    """Compute the deflection of the rubber at the end of dt, equation (3)."""
    for k in range(body_state.spring.shape[0]):
        side, i, j = body_state.spring[k, 0], body_state.spring[k, 1], body_state.spring[k, 2]
        load = 0.0
        for c in range(6):
            load += body_state.along[k, c] * body_state.wrench[side, c]
        before, rate = body_state.q[i], body_state.stiffness[k, 1] / dt if dt > 0.0 else 0.0
        body_state.q[i] = (load + rate * before) / (body_state.stiffness[k, 0] + rate)
        body_state.v[j] = (body_state.q[i] - before) / dt if dt > 0.0 else 0.0


@kernel
def compute_limbs(m, body_state):
    """Compute the limbs in the base frame, equation (1)."""
    w = body_state.work
    for k in range(body_state.q_at.shape[0]):
        if body_state.q_at[k] >= 0:
            body_state.q[body_state.q_at[k]] = body_state.position[k]
        body_state.v[body_state.v_at[k]] = body_state.velocity[k]
    kinematics.positions(m, body_state.q, w)
    kinematics.velocities(m, body_state.v, w)
    mass, c, P, _ = centroidal.tree_momentum(m, w, m.body[body_state.body[0]].root)
    store3(body_state.centre, c)
    store3(body_state.centre[3:], scale(1.0 / mass, P))
    for k in range(body_state.body.shape[0]):
        body, X, out = w.body[body_state.body[k]], body_state.placement[k], body_state.frame[k]
        R, V = load9(body.rotation), load6(body.velocity)
        p = add(load3(body.position), mul(R, load3(X[9:])))
        store9(out, matmul(R, load9(X)))
        store3(out[POSITION:], p)
        store3(out[ANGULAR_VELOCITY:], angular(V))
        store3(out[LINEAR_VELOCITY:], add(linear(V), cross(angular(V), p)))

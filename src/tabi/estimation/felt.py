"""What a robot feels of itself, as kernels: limbs from its base, loads of its feet, rubber.

Equations (1) to (3) are those of ``body_sense``, which makes the tables.
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

# what the sensor of a foot measures
WRENCH, FORCE, TOUCH = 0, 1, 2
# of each foot: its load [N], the point of it that is at rest in its frame [m], whether it is flat
LOAD, POINT, FLAT = 0, 1, 4
# of a frame from the base: rotation row by row, place [m], angular velocity, velocity
PLACE, TURNS, MOVES = 9, 12, 15


class Felt(Structure):
    """Readings and tables of a robot with f feet.

    Attributes:
        position, velocity: of its joints, as measured. q_at, v_at: their places in q and v; −1
            where a joint has no single position.
        gyro, acceleration: as measured, shape (3,). to_imu: rotation from the gyro's axes to those
            of the accelerometer, row by row.
        reading: of each foot's sensor, calibrated, shape (f, 6). kind: what it measures.
        sensor: pose of the sensor in the foot's frame, shape (f, 12).
        body: of the IMU and of the feet. placement: of their frames in it, shape (1 + f, 12).
        edge: inward normals of each sole and their least distance where it is flat, shape
            (f, ·, 3); edge_count: of each sole. box: least and largest x and y, shape (f, 4).
        middle: of each sole, shape (f, 2).
        spring: rubber: foot, place in q and in v. along, stiffness: what of a wrench on the foot
            acts along it; stiffness and damping.
        q, v: of the robot with its base at rest in the origin.
        wrench: on each foot, at its frame in its axes, shape (f, 6).
        pressed: LOAD, POINT, FLAT of each foot, shape (f, 5).
        frame: of the IMU and the feet from the base, shape (1 + f, 18).
        centre: of mass from the base, and its velocity there, shape (6,).
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
    pressed: NDArray[np.float64]
    frame: NDArray[np.float64]
    centre: NDArray[np.float64]
    work: Workspace


@kernel
def feel(m, felt, dt):
    """All of it, dt [s] after the last time; 0 the first time, with rubber at rest."""
    for side in range(felt.kind.shape[0]):
        take_wrench(felt, side)
        press(felt, side)
    bend_rubber(felt, dt)
    find_limbs(m, felt)


@kernel
def take_wrench(felt, side):
    """Force and torque at a foot's frame; torque 0 where none is measured."""
    out, read, X = felt.wrench[side], felt.reading[side], felt.sensor[side]
    if felt.kind[side] == TOUCH:
        f, n = (0.0, 0.0, read[0]), (0.0, 0.0, 0.0)
    else:
        f, n = mul(load9(X), load3(read)), (0.0, 0.0, 0.0)
        if felt.kind[side] == WRENCH:
            n = add(mul(load9(X), load3(read[3:])), cross(load3(X[9:]), f))
    store3(out, f)
    store3(out[3:], n)


@kernel
def press(felt, side):
    """Equation (2): load and centre of pressure of a foot."""
    out, w, box = felt.pressed[side], felt.wrench[side], felt.box[side]
    out[LOAD], out[FLAT] = w[2], 1.0
    out[POINT], out[POINT + 1], out[POINT + 2] = felt.middle[side, 0], felt.middle[side, 1], 0.0
    if felt.kind[side] != WRENCH:
        # no torque: the middle, and nothing against flat
        return
    if not w[2] > 0.0:
        out[FLAT] = 0.0
        return
    x, y = -w[4] / w[2], w[3] / w[2]
    for k in range(felt.edge_count[side]):
        edge = felt.edge[side, k]
        if edge[0] * x + edge[1] * y < edge[2]:
            out[FLAT] = 0.0
    out[POINT] = min(max(x, box[0]), box[1])
    out[POINT + 1] = min(max(y, box[2]), box[3])


@kernel
def bend_rubber(felt, dt):
    """Equation (3), at the end of dt."""
    for k in range(felt.spring.shape[0]):
        side, i, j = felt.spring[k, 0], felt.spring[k, 1], felt.spring[k, 2]
        load = 0.0
        for c in range(6):
            load += felt.along[k, c] * felt.wrench[side, c]
        before, rate = felt.q[i], felt.stiffness[k, 1] / dt if dt > 0.0 else 0.0
        felt.q[i] = (load + rate * before) / (felt.stiffness[k, 0] + rate)
        felt.v[j] = (felt.q[i] - before) / dt if dt > 0.0 else 0.0


@kernel
def find_limbs(m, felt):
    """Equation (1)."""
    w = felt.work
    for k in range(felt.q_at.shape[0]):
        if felt.q_at[k] >= 0:
            felt.q[felt.q_at[k]] = felt.position[k]
        felt.v[felt.v_at[k]] = felt.velocity[k]
    kinematics.positions(m, felt.q, w)
    kinematics.velocities(m, felt.v, w)
    mass, c, P, _ = centroidal.tree_momentum(m, w, m.body[felt.body[0]].root)
    store3(felt.centre, c)
    store3(felt.centre[3:], scale(1.0 / mass, P))
    for k in range(felt.body.shape[0]):
        body, X, out = w.body[felt.body[k]], felt.placement[k], felt.frame[k]
        R, V = load9(body.rotation), load6(body.velocity)
        p = add(load3(body.position), mul(R, load3(X[9:])))
        store9(out, matmul(R, load9(X)))
        store3(out[PLACE:], p)
        store3(out[TURNS:], angular(V))
        store3(out[MOVES:], add(linear(V), cross(angular(V), p)))

"""Memory of the dynamics kernels: allocated once per world, written by every call.

6-D vectors are angular first, then linear, in the world's axes about the origin of the body's tree.
"""

import numpy as np
from numpy.typing import NDArray

from tabi.jit.structure import Structure
from tabi.model.arrays import INDEX, REAL, table
from tabi.model.compiled import Model

BODY = np.dtype(
    [
        # by kinematics.positions: R_WB row by row; the body's origin from its tree's [m];
        # a root's origin in the world [m]
        ("rotation", REAL, 9),
        ("position", REAL, 3),
        ("origin", REAL, 3),
        # its centre of mass from the tree's origin [m], and its tensor about that [kg·m²]
        ("centre", REAL, 3),
        ("tensor", REAL, 6),
        # by kinematics.velocities: twist V; velocity product c = Ṡ v
        ("velocity", REAL, 6),
        ("product", REAL, 6),
        # by rnea.forces: acceleration and force under given joint accelerations;
        # aba and rnea gather in force
        ("acceleration", REAL, 6),
        ("force", REAL, 6),
        # by aba.factor: articulated inertia; by composite: mass, first moment and tensor
        ("inertia", REAL, 21),
        # by aba.spread: acceleration on top of the one above
        ("delta", REAL, 6),
        # by free.step, in the rows of floating bases: centre of mass in the world [m] and momentum
        # [N·s] before the step; momentum and spin about the centre of mass [N·m·s] after it
        ("flight_centre", REAL, 3),
        ("flight_momentum", REAL, 3),
        ("flight_momentum_end", REAL, 3),
        ("flight_spin_end", REAL, 3),
        # set from outside: not 0 where contacts or external forces act on the tree of this root, so
        # that its momentum is not the free one
        ("acted_on", INDEX),
    ],
    align=True,
)
DOF = np.dtype(
    [
        # by kinematics.positions: motion column S
        ("motion", REAL, 6),
        # set with what is added to the diagonal:
        # 1 where the acceleration is given and the force comes out
        ("fixed", INDEX),
        # by aba.factor, from the diagonal added to the mass matrix: U = I S and 1/D
        ("added", REAL),
        ("gain", REAL, 6),
        ("pivot", REAL),
        # by aba.gather: joint force left over; accelerations that were given
        ("residual", REAL),
        ("known", REAL),
        # by free.step: force of damper and spring
        ("passive", REAL),
        # by body_response.respond: impulse that holds it, where it is fixed
        ("reaction", REAL),
    ],
    align=True,
)


class Workspace(Structure):
    """Arrays the kernels write.

    Attributes:
        body, dof: tables of the columns above; row 0 of body is the world.
        load, middle: joint forces and velocities inside a step.
        unit, response: joint forces of couplings and the accelerations they cause.
        coupling: the small system of joints that follow others.
        left: H of ``coupling``, a row to each of them.
    """

    body: NDArray[np.void]
    dof: NDArray[np.void]
    load: NDArray[np.float64]
    middle: NDArray[np.float64]
    unit: NDArray[np.float64]
    response: NDArray[np.float64]
    coupling: NDArray[np.float64]
    left: NDArray[np.float64]


def allocate(model: Model) -> Workspace:
    """A workspace for a model."""
    couplings = len(model.arrays.mimic)
    work = Workspace(
        body=table(model.body_count + 1, BODY),
        dof=table(model.v_count, DOF),
        load=np.zeros(model.v_count),
        middle=np.zeros(model.v_count),
        unit=np.zeros(model.v_count),
        response=np.zeros(model.v_count),
        coupling=np.zeros((couplings, couplings + 1)),
        left=np.zeros((couplings, model.v_count)),
    )
    work.body["rotation"][0, [0, 4, 8]] = 1.0
    work.dof["fixed"] = model.arrays.dof["prescribed"]
    return work

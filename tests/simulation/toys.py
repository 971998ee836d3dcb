"""A force, a kind of rows and a law of one's part_memory, as a user would write them:
no_action of tabi is edited.
"""

from types import SimpleNamespace

import numpy as np

from tabi.contact import ladder
from tabi.contact.bodies import allocate, prepare
from tabi.contact.rows import BILATERAL
from tabi.jit import kernel
from tabi.model.arrays import table
from tabi.spatial.vector import add, cross, load3, load6, load9, mul, scale, store3, store9, sub
from tabi.step.parts import no_action, no_judge, no_revision, withhold_none
from tabi.step.rows.bonds import warm_start

# ---- a force: the air's drag on every degree of freedom, taken at the end of the step -----------


@kernel(inline=True)
def drag(part_memory, t, d, s, h):
    """τ = −c v⁺."""
    for k in range(d.v.shape[0]):
        s.applied[k] -= part_memory[0] * d.v[k]
        s.added[k] += h * part_memory[0]


air = SimpleNamespace(
    NAME="air", load=drag, judge=no_judge, finish=no_action, memory=lambda model: np.array([0.0])
)

# ---- a kind of rows: points of bodies nailed to places of the world -----------------------------

NAIL = np.dtype([("body", np.int64), ("point", float, 3), ("place", float, 3)], align=True)


@kernel(inline=True)
def add_nails(part_memory, t, d, count, s, h):
    """A point for each nail."""
    for k in range(part_memory.shape[0]):
        if count + k < s.points.shape[0]:
            p = s.points[count + k]
            p.a, p.b, p.gap, p.shape_a, p.shape_b, p.feature = part_memory[k].body, 0, 0.0, k, 0, 0
            s.source[count + k] = k
    return count + part_memory.shape[0]


@kernel(inline=True)
def fill_nail(part_memory, t, d, e, s, x, group, h):
    """u = ẋ + (x − place)/h = 0."""
    nail, p, w, i = part_memory[s.source[e]], s.problem, s.dynamics, 3 * x
    row, body = p.contact[x], w.body[nail.body]
    r = add(load3(body.position), mul(load9(body.rotation), load3(nail.point)))
    store3(row.arm_a, r)
    store9(row.frame, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    row.a, row.b = s.number[nail.body] - s.first[group], -1
    row.angular, row.partner = 0, -1
    p.kind[x], p.mu[x], p.bound[x] = BILATERAL, 0.0, 0.0
    V, origin = load6(body.velocity), load3(w.body[t.model.body[nail.body].root].origin)
    u = add((V[3], V[4], V[5]), cross((V[0], V[1], V[2]), r))
    apart = scale(1.0 / h, sub(add(r, origin), load3(nail.place)))
    for c in range(3):
        s.shift[i + c] = apart[c]
        p.q[i + c] = u[c] + apart[c]


nails = SimpleNamespace(
    NAME="nails",
    withhold=withhold_none,
    add=add_nails,
    fill=fill_nail,
    warm_start=warm_start,
    revise=no_revision,
    memory=lambda model: table(0, NAIL),
)

# ---- a law: friction that is a part of what it should be ----------------------------------------


@kernel(inline=True)
def solve_slippery(p, t, tolerance, impulse, work):
    """Coulomb's law with a tenth of the friction."""
    for k in range(p.mu.shape[0]):
        p.mu[k] *= 0.1
    done, attempt, error = ladder.solve_bodies(p, tolerance, impulse, work, t.attempts)
    for k in range(p.mu.shape[0]):
        p.mu[k] *= 10.0
    return done, attempt, not error <= tolerance


slippery = SimpleNamespace(
    NAME="slippery", CERTIFIED=False, allocate=allocate, prepare=prepare, solve=solve_slippery
)

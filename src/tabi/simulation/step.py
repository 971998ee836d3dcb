"""One step of Moreau's scheme: free motion, contacts, impulses, configuration.

    M̂ a = τ₀ − b(q, v),   v_free = v + h a                                  (actuation, forward dynamics)       (1)
    u = J v⁺ + (0, 0, gap/h),   v⁺ = v_free + M̂⁻¹ Jᵀ λ,   K ∋ λ ⟂ u + Φ(u) ∈ K*      (contact)               (2)
    q⁺ = q ⊕ h v⁺                                                                                           (3)
Contact points are found where the step starts; those within a band, as wide as anything may move in a step, take part
before they touch. Overlaps deeper than DEEP are left by (3) alone: the velocity keeps what (2) gives without them, so
nothing gains energy from having been put inside of something.

The workspace holds the kinematics of the state it is handed, and in the end that of the state it returns.

References: Moreau (1988); Chardonnet (2006), sec. III; (2012), sec. 3.
"""

from math import sqrt

from tabi._jit import kernel
from tabi.collision.detect import detect
from tabi.contact import bodies, ladder, lemke, pyramid
from tabi.contact.bodies import BodyProblem
from tabi.contact.certificate import residual
from tabi.dynamics import aba, body_inertia, forward, free, gyroscopic, integration, kinematics
from tabi.simulation import actuation, assembly, bond_rows, joint_laws, moments
from tabi.spatial.vector import accumulate6, angular, cross, dot, dot6, load3, load6, load9, mul_t, store3

# what a step may say: all is well; a joint without inertia; more memory is wanted; velocities are no numbers or absurd
FINE, SINGULAR, ROOM, BROKEN = 0, 1, 2, 3
# overlap [m] that is left without speed; the speed [m/s] of leaving
DEEP, PARTING = 1e-6, 0.5
# how often a step is done at most, to find the motors at their limits and the joints that are held
GUESSES = 200
# beyond this [m/s or rad/s] something is broken, and configurations would soon not be numbers any more
FASTEST = 1e9
# of the band, beside what moves [m]
MARGIN = 1e-3


# inlined, as all that is handed the whole of the memory: passing it on would cost more than the work
@kernel(inline=True)
def step(scene, q, v, target, h, tolerance, memory, s):
    """Advance q and v by h [s].

    Args:
        target: what the motors are told, rows of TARGET.
        tolerance: backward error of every contact [m/s].
        memory: contacts of the last step; ends as those of this one.

    Returns:
        a status; unless it is FINE nothing has moved.
    """
    m, w, report = scene.model, s.dynamics, s.report[0]
    speed, turning = fastest(m, scene.reach, w)
    count = detect(m, scene.shapes, w, MARGIN + h * speed, s.collision, s.points)
    report.points = count
    if count > s.points.shape[0]:
        return ROOM
    # moments of the contacts, and what is held together, stand behind them
    report.contacts = bond_rows.leave_out(memory.bond, s, count)
    count = bond_rows.add_points(memory.bond, s, moments.add_points(scene, s, report.contacts))
    report.points = count
    if count > s.points.shape[0]:
        return ROOM
    mark_held(m, s, count, False)
    # again where motors turn out to be held by their limits, or not any more; who leaves them is asked twice; the same for joints
    for guess in range(GUESSES):
        # who cannot make up their minds may have been misled by what contacts leave within their tolerance
        status = move(scene, q, v, target, h, tolerance if guess < joint_laws.BOLD else 0.1 * tolerance, memory, s, turning, guess)
        if status != FINE:
            return status
        wrong, report.joint_residual = joint_laws.judge(m, q, v, s.free, s.reaction, target, h, tolerance, w, guess)
        wrong += actuation.judge(m, q, s.free, target, h, guess < 2)
        if wrong == 0:
            break
        if guess < GUESSES - 1:
            kinematics.velocities(m, v, w)
    if not sane(s.free):
        return BROKEN
    if not report.joint_residual <= tolerance:
        report.missed += 1
    for e in range(count):
        memory.touch[e] = s.touch[e]
    memory.count[0] = count
    if mark_held(m, s, count, report.gap >= -DEEP):
        # near something, and not touched by it
        kinematics.velocities(m, v, w)
        free.measure(m, w.load, h, w)
    # configuration
    actuation.settle(m, v, s.free, target, h, w)
    deep = report.gap < -DEEP
    if not deep:
        for k in range(v.shape[0]):
            s.change[k] = s.free[k]
    if deep or scene.loose[0] > 0:
        gyroscopic.turn(m, v, s.free, w, h, deep, s.change)
    for k in range(v.shape[0]):
        v[k] = s.free[k]
    integration.advance(m, q, s.change, h)
    for c in range(m.mimic.shape[0]):
        row = m.mimic[c]
        if m.dof[row.follower].prescribed == 0:
            v[row.follower] = row.ratio * v[row.leader]
    kinematics.positions(m, q, w)
    kinematics.velocities(m, v, w)
    # what flies by itself follows its parabola
    free.conserve(m, q, v, h, free.SECOND, w)
    return FINE


@kernel(inline=True)
def move(scene, q, v, target, h, tolerance, memory, s, turning, guess):
    """Equations (1) and (2) with the points found: v⁺ in s.free; turning: fastest turn of a body [rad/s]; guess: done so often before."""
    m, w, report = scene.model, s.dynamics, s.report[0]
    actuation.load(m, q, v, target, h, w)
    joint_laws.load(m, q, v, target, h, w, s.acceleration)
    push_bodies(m, s)
    free.measure(m, w.load, h, w)
    if aba.factor(m, w) != 0:
        return SINGULAR
    fast = h * turning > gyroscopic.SLOW and gyroscopic.fast(m, h, w)
    if fast:
        for k in range(v.shape[0]):
            s.change[k] = w.load[k]
    forward.accelerations(m, w.load, w, s.acceleration)
    for k in range(v.shape[0]):
        # without rounding where a joint is held
        s.free[k] = v[k] + h * s.acceleration[k] if target[k].doing <= joint_laws.MOVES else target[k].pace
        s.reaction[k] = 0.0
    if scene.loose[0] > 0 and h * turning > gyroscopic.STILL:
        gyroscopic.keep_energy(m, h, w, s.free)
    if fast:
        gyroscopic.settle(m, v, h, s.change, w, s.acceleration, guess >= joint_laws.SURE, s.free)
    if report.points > 0:
        return touch(scene, report.points, h, tolerance, memory, s)
    report.groups, report.iterations, report.attempt, report.missed, report.residual, report.gap = 0, 0, 0, 0, 0.0, 0.0
    report.bounced, report.lowered = 0, 0
    return FINE


@kernel
def march(scene, q, v, target, program, h, tolerance, memory, s, count):
    """Up to ``count`` steps; stops where something has to be said.

    Args:
        program: position, velocity and effort of every motor for each of the steps; those beyond its end keep the last ones.

    Returns:
        steps done, and the status of the last one; it is done only if that is FINE.
    """
    report = s.report[0]
    report.worst_residual, report.worst_gap, report.worst_joint_residual = 0.0, 0.0, 0.0
    done, status = 0, FINE
    while done < count:
        if done < program.shape[0]:
            for k in range(v.shape[0]):
                target[k].position, target[k].velocity, target[k].effort = program[done, k, 0], program[done, k, 1], program[done, k, 2]
        status = step(scene, q, v, target, h, tolerance, memory, s)
        if status != FINE:
            break
        done += 1
        report.worst_residual = max(report.worst_residual, report.residual)
        report.worst_gap = min(report.worst_gap, report.gap)
        report.worst_joint_residual = max(report.worst_joint_residual, report.joint_residual)
        if report.missed > 0:
            break
    return done, status


@kernel(inline=True)
def touch(scene, count, h, tolerance, memory, s):
    """Equation (2): v⁺ in s.free; where overlaps are deep, the velocity of (3) in s.change."""
    m, w, report = scene.model, s.dynamics, s.report[0]
    groups, number = assembly.number_bodies(s, count)
    blocks = body_inertia.omega(m, w, s.chains, s.body, number, s.problem.start, s.problem.column, s.problem.omega)
    report.groups, report.blocks, report.gap = groups, blocks, 0.0
    if blocks > s.problem.omega.shape[0]:
        return ROOM
    for g in range(groups):
        # columns count from the first body of their group
        for e in range(s.problem.start[s.first[g]], s.problem.start[s.first[g + 1]]):
            s.problem.column[e] -= s.first[g]
    for e in range(count):
        report.gap = min(report.gap, s.points[e].gap)
    assembly.remember_approach(scene, s, report.contacts, h)
    for e in range(report.contacts, count):
        s.bounce[e] = 0.0
    kinematics.twists(m, s.free, w)
    assembly.fill_problem(scene, memory.bond, s, groups, h)
    deep = report.gap < -DEEP
    if deep:
        # once for the velocity, without the overlaps
        for x in range(count):
            gap = s.points[s.groups.order[x]].gap
            if gap < 0.0 and s.bounce[s.groups.order[x]] == 0.0:
                s.problem.q[3 * x + 2] -= gap / h
                s.shift[3 * x + 2] = 0.0
    assembly.recall(scene, s, memory.touch, memory.count[0], count)
    report.lowered, report.bounced = 0, 0
    if not solve_groups(scene, s, groups, tolerance, True):
        return ROOM
    keep(s, groups, tolerance)
    for k in range(s.free.shape[0]):
        s.change[k] = s.free[k]
    apply_impulses(m, s, groups, s.free)
    for k in range(s.free.shape[0]):
        s.reaction[k] = w.dof[k].reaction
    if deep:
        # and once for the configuration
        for x in range(count):
            gap = s.points[s.groups.order[x]].gap
            if gap < 0.0 and s.bounce[s.groups.order[x]] == 0.0:
                s.problem.q[3 * x + 2] += gap / h
        assembly.slow_parting(s, count, h, PARTING)
        missed, error = report.missed, report.residual
        if not solve_groups(scene, s, groups, tolerance, False):
            return ROOM
        report.missed, report.residual = max(report.missed, missed), max(report.residual, error)
        apply_impulses(m, s, groups, s.change)
    return FINE


@kernel(inline=True)
def solve_groups(scene, s, groups, tolerance, revised):
    """Every group by itself, from the impulses at hand, and again where its friction or restitution has to be revised; False if memory is short."""
    p, report, older, failed = s.problem, s.report[0], s.pyramid.z.shape[0] > 0, False
    report.iterations, report.attempt, report.missed, report.residual = 0, 0, 0, 0.0
    for g in range(groups):
        b, c, d, e = s.first[g], s.groups.start[g], s.first[g + 1], s.groups.start[g + 1]
        part = BodyProblem(p.contact[c:e], p.start[b : d + 1], p.column, p.omega, p.q[3 * c : 3 * e], p.mu[c:e], p.weight[c:e])
        blocks = bodies.prepare(part, s.solver)
        if blocks > s.solver.stiffness.shape[0]:
            report.blocks = blocks
            return False
        impulse, u, error = s.impulse[3 * c : 3 * e], s.u[3 * c : 3 * e], 0.0
        for turn in range(assembly.REVISIONS):
            if older:
                end, done = pyramid.solve_bodies(part, impulse, s.pyramid)
                attempt, failed = 0, end != lemke.SOLVED
            else:
                done, attempt, _ = ladder.solve_bodies(part, tolerance, impulse, s.solver)
            # no solver judges itself
            bodies.velocities(part, impulse, u, s.solver.wrench, s.solver.twist)
            error = residual(part, impulse, u)
            report.iterations += done
            report.attempt = max(report.attempt, attempt)
            if not revised or scene.surfaces[1] == 0:
                break
            changed, off = assembly.revise(scene, s, c, e, tolerance, turn)
            if off > error:
                error = off
            if changed == 0:
                break
        # of an older law that it is solved, and how far it is from the exact one
        if failed or not (older or error <= tolerance):
            report.missed += 1
        if not error <= report.residual:
            report.residual = error
    return True


@kernel(inline=True)
def keep(s, groups, tolerance):
    """Impulses and velocities of the contacts in the world's axes, for the next step and for whoever looks."""
    for g in range(groups):
        for x in range(s.groups.start[g], s.groups.start[g + 1]):
            e, i = s.groups.order[x], 3 * x
            point, row, E = s.points[e], s.touch[e], load9(s.problem.contact[x].frame)
            row.shape_a, row.shape_b, row.feature, row.group = point.shape_a, point.shape_b, point.feature, g
            store3(row.impulse, mul_t(E, (s.impulse[i], s.impulse[i + 1], s.impulse[i + 2])))
            if s.problem.mu[x] >= 0.0 and s.u[i + 2] > assembly.SLIPS * tolerance:
                # open; what the solver left is within its tolerance
                store3(row.impulse, (0.0, 0.0, 0.0))
            store3(row.velocity, mul_t(E, (s.u[i] - s.shift[i], s.u[i + 1] - s.shift[i + 1], s.u[i + 2] - s.shift[i + 2])))
            s.report[0].bounced += s.bounce[e] < 0.0
            slip = s.u[i] * s.u[i] + s.u[i + 1] * s.u[i + 1]
            row.sticks = 1 if s.impulse[i + 2] > 0.0 and slip <= assembly.SLIPS * assembly.SLIPS * tolerance * tolerance else 0


@kernel(inline=True)
def apply_impulses(m, s, groups, v):
    """v ← v + M̂⁻¹ Jᵀ λ."""
    count = s.first[groups]
    for i in range(6 * count):
        s.wrench[i] = 0.0
    for g in range(groups):
        base = s.first[g]
        for x in range(s.groups.start[g], s.groups.start[g + 1]):
            row, i = s.problem.contact[x], 3 * x
            bodies.push_both(s.wrench, row, base, mul_t(load9(row.frame), (s.impulse[i], s.impulse[i + 1], s.impulse[i + 2])), 1.0)
    body_inertia.respond(m, s.dynamics, s.chains, s.body, count, s.wrench, s.acceleration)
    for k in range(v.shape[0]):
        v[k] += s.acceleration[k]


@kernel(inline=True)
def fastest(m, reach, w):
    """How fast two points may approach at most, from the twists of all bodies and the sizes of their shapes [m/s], and a body turn [rad/s]."""
    most, turning = 0.0, 0.0
    for i in range(1, m.body.shape[0]):
        V = load6(w.body[i].velocity)
        u = cross(angular(V), load3(w.body[i].position))
        u = (V[3] + u[0], V[4] + u[1], V[5] + u[2])
        turn = sqrt(dot(angular(V), angular(V)))
        most, turning = max(most, sqrt(dot(u, u)) + reach[i] * turn), max(turning, turn)
    return 2.0 * most, turning


@kernel(inline=True)
def push_bodies(m, s):
    """Forces from outside, on each body about its tree's origin, added to the joints' in w.load; s.force[0, 0] says whether there are any."""
    if s.force[0, 0] == 0.0:
        return
    w = s.dynamics
    for i in range(1, m.body.shape[0]):
        for c in range(6):
            s.carried[i, c] = s.force[i, c]
    for i in range(m.body.shape[0] - 1, 0, -1):
        F = load6(s.carried[i])
        for j in range(m.body[i].v_start, m.body[i].v_end):
            w.load[j] += dot6(load6(w.dof[j].motion), F)
        if m.body[i].parent != 0:
            accumulate6(s.carried[m.body[i].parent], F)


@kernel(inline=True)
def mark_held(m, s, count, pressed):
    """Trees that something may touch, or that something presses on where ``pressed``, or pushes, do not keep their momentum.

    Returns:
        whether one has points near it, and none of them presses.
    """
    body, near = s.dynamics.body, 0
    for i in range(1, m.body.shape[0]):
        near += body[i].held
        body[i].held = 0
    for e in range(count):
        p, f = s.points[e], load3(s.touch[e].impulse)
        if not pressed or dot(f, f) > 0.0:
            near -= _hold(body[m.body[p.a].root])
            if p.b > 0:
                near -= _hold(body[m.body[p.b].root])
    if s.force[0, 0] != 0.0:
        for i in range(1, m.body.shape[0]):
            for c in range(6):
                if s.force[i, c] != 0.0:
                    near -= _hold(body[m.body[i].root])
    return near > 0


@kernel(inline=True)
def _hold(row):
    """Mark a root as held; 1 where it was not before."""
    new = 1 - row.held
    row.held = 1
    return new


@kernel(inline=True)
def sane(v):
    """Whether all velocities are numbers below FASTEST; by comparisons, as sums of x − x are folded away where sums may be reordered."""
    for i in range(v.shape[0]):  # noqa: SIM110 - kernels have no generators
        if not abs(v[i]) < FASTEST:
            return False
    return True

"""Deep overlaps are left without speed.

What was put inside of something has to come out, and must not gain energy by it. So where points
overlap deeper than DEEP the contact problem is solved twice: first without these overlaps, for the
velocity, and then with them, for the configuration alone:

    v⁺ from q_n = u_n,      q⁺ = q ⊕ h v̄,   v̄ from q_n = u_n + β gap/h                           (1)
β ≤ 1 is one number for all points of two bodies, so that the fastest of them parts with PARTING.
"""

from tabi._jit import kernel

# overlap [m] that is left without speed; the speed [m/s] of leaving
DEEP, PARTING = 1e-6, 0.5


@kernel(inline=True)
def leave_out(s, count, h):
    """The first problem: without the overlaps, but for those of impacts."""
    for x in range(count):
        e = s.groups.order[x]
        if s.points[e].gap < 0.0 and s.approach[e] == 0.0:
            s.problem.q[3 * x + 2] -= s.points[e].gap / h
            s.shift[3 * x + 2] = 0.0


@kernel(inline=True)
def put_back(s, count, h):
    """The second problem, in s.parting_q, from the impulses of the first."""
    q = s.problem.q
    for x in range(count):
        e, i = s.groups.order[x], 3 * x
        s.parting_q[i], s.parting_q[i + 1], s.parting_q[i + 2] = q[i], q[i + 1], q[i + 2]
        if s.points[e].gap < 0.0 and s.approach[e] == 0.0:
            s.parting_q[i + 2] += s.points[e].gap / h
        for c in range(3):
            s.parting_impulse[i + c] = s.impulse[i + c]
    _slow_down(s, count, h)


@kernel(inline=True)
def _slow_down(s, count, h):
    """β of (1): where overlaps would be left too fast, all points of the two bodies use a part."""
    x = 0
    while x < count:
        first, a, b = x, s.points[s.groups.order[x]].a, s.points[s.groups.order[x]].b
        least = 0.0
        while x < count and _between(s.points[s.groups.order[x]], a, b):
            least = min(least, s.points[s.groups.order[x]].gap)
            x += 1
        if -least > PARTING * h:
            part = 1.0 - PARTING * h / -least
            for y in range(first, x):
                s.parting_q[3 * y + 2] -= part * s.points[s.groups.order[y]].gap / h


@kernel(inline=True)
def _between(point, a, b):
    return point.a == a and point.b == b

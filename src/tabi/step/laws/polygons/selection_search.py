"""The search for the state of polygonal feet: exact, in one step, and over all states.

See ``selection`` for states and rules. States of several polygons together are one number, in mixed
radix; those that were tried are in a hash table, and wait in a queue, the least violated first. The
corrections of a state are computed when it is tried, while its forces are known: for each polygon
by its first violated rule, for all together, and for each alone the step over to the next corner.

References: Moraud (2008), secs. II-D and IV.
"""

from tabi.jit import kernel
from tabi.step.laws.polygons.polygon_states import (
    EDGE,
    FACE,
    NONE,
    VERTEX,
    decode,
    encode,
    places,
    state_count,
)
from tabi.step.laws.polygons.selection import (
    FORCE,
    FRICTION,
    MOTION,
    PRESSURE,
    RULES,
    corner_velocity,
    evaluate,
    worst_edge,
)


@kernel
def begin(P, s, impulse):
    """Set the state of the last step, from the initial impulses of the rows."""
    for f in range(P.count[0]):
        first, n = P.start[f], P.start[f + 1] - P.start[f]
        s.base[f] = state_count(n)
        held_count, a, tx, ty, normal = 0, 0, 0.0, 0.0, 0.0
        for j in range(n):
            k = 3 * P.row[first + j]
            if impulse[k + 2] > 0.0:
                # of two corners the one that the other follows
                if held_count == 0 or (a + 1) % n != j:
                    a = j if held_count == 0 or (j + 1) % n == a else a
                held_count += 1
                normal += impulse[k + 2]
                tx, ty = tx + impulse[k], ty + impulse[k + 1]
        # their sum: a yaw moment of what sticks has no limit
        tangent = (tx * tx + ty * ty) ** 0.5
        slides = held_count > 0 and tangent > (1.0 - 1e-6) * P.mu[f] * normal
        kind = FACE if held_count > 2 or (held_count == n and n > 2) else held_count
        if kind == EDGE and n > 2 and not impulse[3 * P.row[first + (a + 1) % n] + 2] > 0.0:
            # two corners across
            kind = FACE
        if kind == EDGE and n == 2:
            a = 0
        s.state[f] = encode(kind, 0 if kind in (NONE, FACE) else a, slides, n)


@kernel
def every_state(P, s, tolerance, pressure):
    """Find the least violated of all states; returns its violations and the number of states."""
    total, best, least = 1, 0, -1
    for f in range(P.count[0]):
        total *= s.base[f]
    for number in range(total):
        unpack(P, s, number)
        key = evaluate(P, s, tolerance, pressure)
        if least < 0 or key < least:
            best, least = number, key
    unpack(P, s, best)
    return evaluate(P, s, tolerance, pressure), total


@kernel
def exact(P, s, tolerance, pressure, most):
    """Find the right state, or the least violated of up to ``most`` that were tried.

    Returns:
        its violations, 0 for none; the number of states tried.
    """
    key = evaluate(P, s, tolerance, pressure)
    if key == 0:
        return 0, 1
    for x in range(s.tried.shape[0]):
        s.tried[x] = -1
    most = min(most, s.heap.shape[0])
    best, least, tried, number = pack(P, s), key, 1, pack(P, s)
    _add_state(s, number)
    _store_corrections(P, s, 0)
    waiting = _push(s, 0, (number, key, 0, 0))
    while waiting > 0 and least > 0 and tried < most:
        number, key, stage, slot = s.heap[0], s.key[0], s.stage[0], s.slot[0]
        waiting = _pop(s, waiting)
        if stage == 0:
            waiting = _push(s, waiting, (number, key, 1, slot))
        changes = 2 * P.count[0] + 1 if stage == 0 else _neighbour_count(P, s)
        for change in range(changes):
            candidate = (
                s.corrections[slot, change] if stage == 0 else _changed(P, s, number, change)
            )
            if candidate < 0 or not _add_state(s, candidate):
                continue
            unpack(P, s, candidate)
            key = evaluate(P, s, tolerance, pressure)
            if key < least:
                best, least = candidate, key
            _store_corrections(P, s, tried)
            waiting = _push(s, waiting, (candidate, key, 0, tried))
            tried += 1
            if key == 0 or tried >= most:
                break
    unpack(P, s, best)
    return evaluate(P, s, tolerance, pressure), tried


@kernel
def one_step(P, s, tolerance, pressure):
    """Find the state nearest to what each corner should be, sticking or sliding by its forces;
    returns its violations, and the number of states tried.
    """
    if evaluate(P, s, tolerance, pressure) == 0:
        return 0, 1
    for f in range(P.count[0]):
        s.state[f] = nearest(P, s, f)
    left = evaluate(P, s, tolerance, pressure)
    # feet that were free may slide now
    has_switched = False
    for f in range(P.count[0]):
        if s.count[f, FRICTION] > 0:
            kind, i, slides = decode(s.state[f], P.start[f + 1] - P.start[f])
            s.state[f] = encode(kind, i, not slides, P.start[f + 1] - P.start[f])
            has_switched = True
    return (evaluate(P, s, tolerance, pressure), 3) if has_switched else (left, 2)


@kernel
def nearest(P, s, f):
    """Return the state of a polygon with the least weighted distance from what corners should
    be.
    """
    first, n = P.start[f], P.start[f + 1] - P.start[f]
    slides = decode(s.state[f], n)[2]
    if s.count[f, FRICTION] > 0:
        slides = not slides
    # the weight of each corner, with the sign of what holding it changes
    wrong = 0
    for rule in range(FRICTION):
        wrong += s.count[f, rule]
    if wrong == 0:
        kind, i, _ = decode(s.state[f], n)
        return encode(kind, i, slides, n)
    total = 0.0
    for c in range(first, first + n):
        weight = 1.0
        for _ in range(int(s.weight[c])):
            weight /= n + 1
        s.weight[c] = weight if s.want[c] == 0 else -weight
        total += s.weight[c]
    best, cost = 0, 0.0
    for j in range(n):
        if s.weight[first + j] < cost:
            best, cost = encode(VERTEX, j, slides, n), s.weight[first + j]
    for j in range(places(n) - 1 - n - (n > 2)):
        both = s.weight[first + j] + s.weight[first + (j + 1) % n]
        if both < cost:
            best, cost = encode(EDGE, j, slides, n), both
    if n > 2 and total < cost:
        best = encode(FACE, 0, slides, n)
    return best


# ---- corrections --------------------------------------------------------------------------------


@kernel
def _neighbour_count(P, s):
    """Return the number of states that differ in one polygon."""
    total = 0
    for f in range(P.count[0]):
        total += s.base[f]
    return total


@kernel
def _changed(P, s, number, change):
    """Return the state ``number`` with one polygon changed, by the number of the change."""
    unpack(P, s, number)
    f = 0
    while change >= s.base[f]:
        change -= s.base[f]
        f += 1
    s.state[f] = change
    return pack(P, s)


@kernel
def _store_corrections(P, s, slot):
    """Store corrections of the state in s: for each polygon alone, for all together, and for each
    alone to the next corner; −1 where there is none.
    """
    unit, here, together = 1, pack(P, s), 0
    for x in range(P.count[0]):
        # the last polygon counts ones
        f = P.count[0] - 1 - x
        step = unit * (correction(P, s, f) - s.state[f])
        s.corrections[slot, f] = here + step if step != 0 else -1
        near = unit * (next_corner_state(P, s, f) - s.state[f])
        s.corrections[slot, P.count[0] + 1 + f] = here + near if near != 0 else -1
        together, unit = together + step, unit * s.base[f]
    s.corrections[slot, P.count[0]] = here + together if together != 0 else -1


@kernel
def correction(P, s, f):
    """Return the corrected state of a polygon by its first violated rule."""
    first, n, w = P.start[f], P.start[f + 1] - P.start[f], s.wrench
    kind, i, slides = decode(s.state[f], n)
    rule = 0
    while rule < RULES and s.count[f, rule] == 0:
        rule += 1
    if rule == RULES:
        return s.state[f]
    if rule == FRICTION:
        return encode(kind, i, not slides, n)
    if kind == FACE and rule == PRESSURE:
        return encode(EDGE, worst_edge(P, s, f, 0.0), slides, n)
    if kind == FACE and rule == FORCE and w[6 * f + 5] <= 0.0:
        return 0
    # the state in which its corners are as they should be
    held_count, a, across = 0, 0, False
    for j in range(n):
        if s.want[first + j] == 1:
            if held_count == 0 or (j + 1) % n == a:
                a = j
            held_count += 1
    if held_count == 2 and n > 2:
        across = s.want[first + (a + 1) % n] != 1
    if held_count == 0:
        return 0
    if held_count == 1:
        return encode(VERTEX, a, slides, n)
    if held_count == 2 and not across:
        return encode(EDGE, a if n > 2 else 0, slides, n)
    return encode(FACE, 0, slides, n)


@kernel
def next_corner_state(P, s, f):
    """Return the state that holds the lowest free corner below the plane, next to the held ones.

    A sole of many corners rolls over them, one after the other.
    """
    first, n = P.start[f], P.start[f + 1] - P.start[f]
    kind, i, slides = decode(s.state[f], n)
    if s.count[f, MOTION] == 0 or kind > VERTEX or n < 2:
        return s.state[f]
    if kind == VERTEX:
        before, after = (i + n - 1) % n, (i + 1) % n
        back = corner_velocity(P, s, f, first + before) < corner_velocity(P, s, f, first + after)
        return encode(EDGE, before if back and n > 2 else i if n > 2 else 0, slides, n)
    low = 0
    for j in range(1, n):
        if corner_velocity(P, s, f, first + j) < corner_velocity(P, s, f, first + low):
            low = j
    return encode(VERTEX, low, slides, n)


# ---- numbers, hash table and queue --------------------------------------------------------------


@kernel(inline=True)
def pack(P, s):
    """Return the number of the states of all polygons."""
    number = 0
    for f in range(P.count[0]):
        number = number * s.base[f] + s.state[f]
    return number


@kernel(inline=True)
def unpack(P, s, number):
    """Set the states of all polygons from their number."""
    for x in range(P.count[0]):
        f = P.count[0] - 1 - x
        s.state[f] = number % s.base[f]
        number //= s.base[f]


@kernel
def _add_state(s, number):
    """Add a state to the table; False if it is there already."""
    size = s.tried.shape[0]
    x = (number * 2654435761 + (number >> 17)) & (size - 1)
    while s.tried[x] >= 0:
        if s.tried[x] == number:
            return False
        x = (x + 1) & (size - 1)
    s.tried[x] = number
    return True


@kernel
def _push(s, count, entry):
    """Push a state to the queue, with number, violations, stage and slot; returns its length."""
    if count >= s.heap.shape[0]:
        return count
    x = count
    # corrections before neighbours
    while x > 0 and _is_before(entry[1], entry[2], s.key[(x - 1) // 2], s.stage[(x - 1) // 2]):
        _put(s, x, _entry(s, (x - 1) // 2))
        x = (x - 1) // 2
    _put(s, x, entry)
    return count + 1


@kernel
def _pop(s, count):
    """Remove the first state from the queue; returns its length."""
    count -= 1
    entry, x = _entry(s, count), 0
    while True:
        y = 2 * x + 1
        if y >= count:
            break
        if y + 1 < count and _is_before(s.key[y + 1], s.stage[y + 1], s.key[y], s.stage[y]):
            y += 1
        if not _is_before(s.key[y], s.stage[y], entry[1], entry[2]):
            break
        _put(s, x, _entry(s, y))
        x = y
    _put(s, x, entry)
    return count


@kernel(inline=True)
def _entry(s, x):
    return s.heap[x], s.key[x], s.stage[x], s.slot[x]


@kernel(inline=True)
def _put(s, x, entry):
    s.heap[x], s.key[x], s.stage[x], s.slot[x] = entry


@kernel(inline=True)
def _is_before(key, stage, other, other_stage):
    """Whether a state is corrected before another one."""
    return stage < other_stage if stage != other_stage else key < other

"""Actuators and joint equalities of an MJCF file → motors and mimic joints.

An actuator pulls with f = gain·u + b₀ + b₁ l + b₂ l̇ at the length l = gear·q, so at the joint

    τ = gear·f,   kp = −b₁ gear²,   kd = −b₂ gear²                                            (1)
and its own armature and damping count gear² times. An equality q₁ − ref₁ = c₀ + c₁ (q₂ − ref₂)
couples two joints; several of them form a tree, which hangs on the joint that has a motor:
q_follower = ratio · q_leader + offset  (2)
"""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from tabi.formats.mjcf.source import Source
from tabi.model.joint import INFINITY, Joint, Mimic, Motor

_SERVOS = "expected a position, velocity or motor actuator on a hinge or slide"


def add_motors(source: Source, joints: dict[int, Joint], notes: list[str]) -> None:
    """Give the joints (by MuJoCo's number) the motors of the file."""
    m = source.m
    for k in range(m.nactuator):
        name = m.actuator(k).name or f"actuator {k + 1}"
        on_joint = _acts_on_joint(source, k)
        joint = joints.get(int(m.actuator_trnid[k, 0])) if on_joint else None
        if joint is None or joint.q_count != 1:
            target = (
                "of another transmission than a joint"
                if not on_joint
                else "on a joint that is a ball, free or not of this robot"
            )
            notes.append(f"actuator {name!r} was ignored: it is {target}; {_SERVOS}")
            continue
        gear, motor = float(m.actuator_gear[k, 0]), _motor(source, k)
        joint.damping += float(m.actuator_damping[k]) * gear**2
        if motor is None or joint.motor is not None:
            joint.armature += float(m.actuator_armature[k]) * gear**2
            another = f"{joint.name!r} has a motor already"
            why = another if motor else f"its law is another; {_SERVOS}"
            notes.append(f"actuator {name!r} was ignored: {why}")
            continue
        motor.torque_limit = min(motor.torque_limit, joint.effort_limit)
        joint.motor = motor
        if _lopsided(source, k):
            notes.append(
                f"actuator {name!r} is stronger in one direction: its motor got the larger limit, "
                f"{motor.torque_limit:g}, in both"
            )


def mark_undriven(source: Source, joints: dict[int, Joint], notes: list[str]) -> None:
    """In a file whose actuators act on joints, joints without one are springs, rods and the like,
    which nothing drives; followers of couplings go with their leaders, and what a tendon drives
    would have lost its drive here.
    """
    m = source.m
    driven = {
        int(m.actuator_trnid[k, 0]) for k in range(m.nactuator) if _acts_on_joint(source, k)
    } & joints.keys()
    pulled = {
        int(m.wrap_objid[w])
        for w in range(m.nwrap)
        if source.kind("mjtWrap", m.wrap_type[w]) == "joint"
    }
    loose = [
        joint
        for j, joint in joints.items()
        if driven and j not in driven | pulled and joint.q_count == 1 and joint.mimic is None
    ]
    for joint in loose:
        joint.driven = False
    if loose:
        rest = f" and {len(loose) - 6} more" if len(loose) > 6 else ""
        notes.append(
            f"joints without an actuator, passive (no motor, no gains) as the file lists actuators "
            f"for others ({len(loose)}): "
            f"{', '.join(repr(joint.name) for joint in loose[:6])}{rest}"
        )


def _acts_on_joint(source: Source, k: int) -> bool:
    return source.kind("mjtTrn", source.m.actuator_trntype[k]) in ("joint", "jointinparent")


def _motor(source: Source, k: int) -> Motor | None:
    """Equation (1); None if the actuator follows another law."""
    m, bias = source.m, source.kind("mjtBias", source.m.actuator_biastype[k])
    gain, gear = float(m.actuator_gainprm[k, 0]), float(m.actuator_gear[k, 0])
    b0, b1, b2 = m.actuator_biasprm[k, :3].tolist()
    if bias == "none":
        b0 = b1 = b2 = 0.0
    laws = (
        source.kind("mjtGain", m.actuator_gaintype[k]),
        source.kind("mjtDyn", m.actuator_dyntype[k]),
        float(m.actuator_delay[k]),
    )
    if (
        bias not in ("none", "affine")
        or laws != ("fixed", "none", 0.0)
        or b0 != 0
        or b1 > 0
        or b2 > 0
        or gear == 0
    ):
        return None
    limit = INFINITY
    if m.actuator_forcelimited[k]:
        limit = float(np.abs(m.actuator_forcerange[k]).max())
    u = m.actuator_ctrladr[k]
    if b1 == b2 == 0 and m.actuator_ctrllimited[u]:
        limit = min(limit, abs(gain) * float(np.abs(m.actuator_ctrlrange[u]).max()))
    return Motor(
        float(m.actuator_armature[k]), abs(gear), limit * abs(gear), -b1 * gear**2, -b2 * gear**2
    )


def _lopsided(source: Source, k: int) -> bool:
    m, u = source.m, source.m.actuator_ctrladr[k]
    ranges = [m.actuator_forcerange[k]] if m.actuator_forcelimited[k] else []
    if m.actuator_ctrllimited[u] and not np.any(m.actuator_biasprm[k, :3]):
        ranges.append(m.actuator_ctrlrange[u])
    return any(abs(low + high) > 1e-9 * abs(high - low) for low, high in ranges)


def add_couplings(source: Source, joints: dict[int, Joint], notes: list[str]) -> None:
    """Turn linear joint equalities into mimic joints; the rest become notes."""
    m = source.m
    edges: dict[int, list[tuple[int, float, float]]] = defaultdict(list)
    followers, ignored = set(), Counter()
    for k in range(m.neq):
        a = int(m.eq_obj1id[k])
        b = int(m.eq_obj2id[k])
        (c0, c1, *higher) = m.eq_data[k, :5].tolist()
        kind = source.kind("mjtEq", m.eq_type[k])
        single = kind == "joint" and all(j in joints and joints[j].q_count == 1 for j in (a, b))
        if kind in ("connect", "weld"):
            # these hold bodies, see mjcf_bonds
            continue
        if not m.eq_active0[k]:
            ignored["inactive equality constraints"] += 1
        elif not single or any(higher) or c1 == 0:
            ignored[
                f"equality constraints of type {kind}"
                + (" that are not linear between two joints" if kind == "joint" else "")
            ] += 1
        else:
            offset = _ref(m, a) + c0 - c1 * _ref(m, b)
            edges[b].append((a, c1, offset))
            edges[a].append((b, 1 / c1, -offset / c1))
            followers.add(a)
    notes += [
        f"{count} {kind} were ignored: tabi couples joints linearly or not at all"
        for kind, count in ignored.items()
    ]
    # leaders: joints with a motor, then joints that follow none
    order = sorted(edges, key=lambda j: (joints[j].motor is None, j in followers, j))
    done: set[int] = set()
    for leader in order:
        if leader not in done:
            done |= _follow(leader, edges, joints, notes)


def _follow(
    leader: int,
    edges: dict[int, list[tuple[int, float, float]]],
    joints: dict[int, Joint],
    notes: list[str],
) -> set[int]:
    """Equation (2) for everything that hangs on a leader."""
    followers, todo = {leader: (1.0, 0.0)}, [leader]
    while todo:
        j = todo.pop(0)
        ratio, offset = followers[j]
        for k, r, o in edges[j]:
            through = (r * ratio, r * offset + o)
            if k not in followers:
                followers[k] = through
                todo.append(k)
            elif not np.allclose(followers[k], through, rtol=1e-9, atol=1e-12):
                pair = " and ".join(sorted((repr(joints[j].name), repr(joints[k].name))))
                note = f"an equality between joints {pair} contradicts the others and was ignored"
                notes += [note] if note not in notes else []
    start = joints[leader].position
    for k, (ratio, offset) in followers.items():
        if k != leader:
            joints[k].mimic = Mimic(joints[leader].name, ratio, offset)
            joints[k].position = ratio * start + offset
    return set(followers)


def _ref(m, joint: int) -> float:
    return float(m.qpos0[m.jnt_qposadr[joint]])

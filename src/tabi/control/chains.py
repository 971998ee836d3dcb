"""Kinematic chains: the joints that move an arm from its hand, a neck from its head."""

from __future__ import annotations

from tabi._errors import ModelError
from tabi.model.body import Body
from tabi.model.robot import Robot


def limb(robot: Robot, body: Body) -> tuple[str, ...]:
    """Return the joints from a body inwards to the branch of another limb, or the base."""
    heads = {b.parent for b in robot.bodies if b.parent is not None}
    names: list[str] = []
    while body is not robot.base and body.parent is not None:
        if body.joint.kind != "fixed" and not body.joint.passive:
            names.append(body.joint.name)
        body = body.parent
        # another child with a moving joint is another limb
        if sum(_moves(robot, child, heads) for child in robot.bodies if child.parent is body) > 1:
            break
    if not names:
        raise ModelError(
            f"no joint moves body {body.name!r} of {robot.name} alone; name the joints"
        )
    return tuple(reversed(names))


def _moves(robot: Robot, body: Body, heads: set[Body]) -> bool:
    """Check whether a body, or a body that it carries, moves relative to its parent."""
    if body.joint.kind != "fixed" and not body.joint.passive:
        return True
    if body not in heads:
        return False
    return any(_moves(robot, child, heads) for child in robot.bodies if child.parent is body)


def below(robot: Robot, body: Body) -> list[Body]:
    """Return a body and all its descendants."""
    bodies = [body]
    for other in robot.bodies:
        if other.parent is not None and any(other.parent is b for b in bodies):
            bodies.append(other)
    return bodies

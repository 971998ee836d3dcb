"""The joints that move a body alone: an arm from its hand, a neck from its head."""

from __future__ import annotations

from tabi._errors import ModelError
from tabi.model.body import Body
from tabi.model.robot import Robot


def limb(robot: Robot, body: Body) -> tuple[str, ...]:
    """Joints from a body inwards to where another limb branches off, or the base."""
    heads = {b.parent for b in robot.bodies if b.parent is not None}
    names: list[str] = []
    while body is not robot.base and body.parent is not None:
        if body.joint.kind != "fixed" and not body.joint.passive:
            names.append(body.joint.name)
        body = body.parent
        # another child that leads to a moving joint is another limb
        if sum(_moves(robot, child, heads) for child in robot.bodies if child.parent is body) > 1:
            break
    if not names:
        raise ModelError(
            f"no joint moves body {body.name!r} of {robot.name} alone; name joints that should"
        )
    return tuple(reversed(names))


def _moves(robot: Robot, body: Body, heads: set[Body]) -> bool:
    """Whether a body, or something that it carries, moves against what carries it."""
    if body.joint.kind != "fixed" and not body.joint.passive:
        return True
    if body not in heads:
        return False
    return any(_moves(robot, child, heads) for child in robot.bodies if child.parent is body)


def below(robot: Robot, body: Body) -> list[Body]:
    """A body and all that hangs on it."""
    found = [body]
    for other in robot.bodies:
        if other.parent is not None and any(other.parent is b for b in found):
            found.append(other)
    return found

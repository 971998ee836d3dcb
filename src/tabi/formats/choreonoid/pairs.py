"""Which links of a Choreonoid body file never collide: ``collision_detection_rules``, and the older
``collision_detection``.

Rules act in the order of the file. A chain level of n takes out links that are up to n joints from
each other; those next to each other never collide here anyway.
"""

from __future__ import annotations

from itertools import combinations

from tabi.formats.choreonoid.node import Item
from tabi.model.body import Body
from tabi.model.robot import Robot

Pairs = set[frozenset[str]]
OLDER = {
    "exclude_tree_depth": "disabled_link_chain_level",
    "exclude_links": "disabled_links",
}


def exclude(robot: Robot, top: Item) -> None:
    """Give a robot the pairs that its file takes out of collisions."""
    names = [body.name for body in robot.bodies]
    pairs: Pairs = set()
    rules = [
        (rule, item, key)
        for item in top.items("collision_detection_rules", "collision rule")
        for rule, key in ((key, key) for key in item.entries)
    ]
    older = top.inside("collision_detection", "collision_detection")
    if older is not None:
        rules += [(OLDER.get(key, key), older, key) for key in older.entries]
    for rule, item, key in rules:
        if rule == "disabled_link_chain_level":
            pairs |= _near(robot, int(item.number(key)))
        elif rule == "exclude_link_groups":
            for group in item.items(key, "exclude_link_groups"):
                pairs |= _among(group.names("links"))
        elif rule in ("disabled_link_group", "enabled_link_group"):
            pairs_given = _among(item.names(key))
            pairs = pairs | pairs_given if rule[0] == "d" else pairs - pairs_given
        elif rule in ("disabled_links", "enabled_links"):
            pairs_given = names if item.names(key) == ["all"] else item.names(key)
            around = {frozenset((a, b)) for a in pairs_given for b in names if a != b}
            pairs = pairs | around if rule[0] == "d" else pairs - around
        else:
            robot.notes.append(f"{item.title}: the rule {key!r} is not read")
    known = {pair for pair in pairs if pair <= set(names)}
    lost = sorted({name for pair in pairs - known for name in pair} - set(names))
    if lost:
        robot.notes.append(f"collision rules name links that are not there: {', '.join(lost)}")
    for pair in known:
        robot.exclude(*sorted(pair))


def _among(names: list[str]) -> Pairs:
    return {frozenset(pair) for pair in combinations(sorted(set(names)), 2)}


def _near(robot: Robot, level: int) -> Pairs:
    """Pairs of bodies with at most so many joints between."""

    def path_to_root(body: Body | None) -> list[Body]:
        path = []
        while body is not None:
            path.append(body)
            body = body.parent
        return path

    pairs: Pairs = set()
    ways = {body: path_to_root(body) for body in robot.bodies}
    for a, b in combinations(robot.bodies, 2):
        shared = len(set(ways[a]) & set(ways[b]))
        if len(ways[a]) + len(ways[b]) - 2 * shared <= level:
            pairs.add(frozenset((a.name, b.name)))
    return pairs

"""Scene files with one thing wrong: single keys, and single bytes.
Seeded, so that a failure comes again.
"""

from __future__ import annotations

import json
import random
from typing import Any

WRONG = [None, True, -1, 0, 1e12, -1e12, 3.5, float("nan"), float("inf"), "", "sideways", "12"]
WRONG += [[], [1], [1, 2, 3, 4, 5], ["x", "y", "z"], {}, {"a": 1}]
LETTERS = "abcdefghijklmnopqrstuvwxyz_"


def paths(tree: Any, path: tuple = ()) -> list[tuple]:
    """Paths to everything inside of a tree."""
    inside = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    found = []
    for key, value in inside:
        found += [(*path, key), *paths(value, (*path, key))]
    return found


def at(tree: Any, path: tuple) -> Any:
    for part in path:
        tree = tree[part]
    return tree


def misspelt(word: str, rng: random.Random) -> str:
    k = rng.randrange(len(word))
    swapped = word[:k] + word[k + 1 : k + 2] + word[k : k + 1] + word[k + 2 :]
    return rng.choice(
        [word[:k] + word[k + 1 :], word[:k] + rng.choice(LETTERS) + word[k:], swapped]
    )


def one_key(scene: str, rng: random.Random) -> tuple[str, set[str]]:
    """A file with one key misspelt, gone or with a wrong value;
    and the words of which an error should say one.

    Args:
        scene: the scene as JSON.
    """
    tree = json.loads(scene)
    path = rng.choice(paths(tree))
    holder, last = at(tree, path[:-1]), path[-1]
    # of a number in a list, the list's key
    key = next(part for part in reversed(path) if isinstance(part, str))
    how = (
        rng.choice(["rename", "value", "value", "remove"]) if isinstance(holder, dict) else "value"
    )
    names = {key}
    if how == "rename":
        new = misspelt(last, rng)
        names.add(new)
        at(tree, path[:-1])[new] = holder.pop(last)
    elif how == "remove":
        del holder[last]
    else:
        holder[last] = rng.choice(WRONG)
    # JSON is YAML, and quickly written
    return json.dumps(tree, indent=1), names


def some_bytes(data: bytes, rng: random.Random) -> bytes:
    """A file with a few bytes changed, put in, taken out, or a piece of it twice."""
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        k = rng.randrange(len(data) + 1)
        n = rng.choice([1, 1, 2, 8])
        new = bytes(
            rng.choice([rng.randrange(256), *b"{}[]:,-&*!|>%@`'\"# \n\t0"]) for _ in range(n)
        )
        piece = data[(j := rng.randrange(len(data) + 1)) : j + rng.randrange(60)]
        before, after = data[:k], data[k:]
        data = rng.choice(
            [
                before + new + after[n:],
                before + new + after,
                before + after[n:],
                before + piece + after,
                before,
            ]
        )
        data = data or b"-"
    return data

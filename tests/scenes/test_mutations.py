"""A thousand scene files with something wrong:
no crash, no hang, the key named, and what is accepted comes back the same.
"""

import json
import random
import time

import pytest
import yaml
from scenes import mutations

from tabi import TabiError, scenes

COUNT, BUILT = 500, 12


@pytest.fixture(scope="module")
def texts():
    """The built-in scenes, each in one file."""
    return [scenes.load(name).to_yaml() for name in scenes.names()]


def check_again(scene: scenes.Scene) -> None:
    """Assert that a scene comes back from its own file."""
    assert scenes.loads(scene.to_yaml()) == scene


@pytest.mark.slow
def test_a_single_wrong_key_is_named_with_its_file(texts):
    rng = random.Random(6)
    plain = [json.dumps(yaml.safe_load(text)) for text in texts]
    named = refused = slowest = 0
    accepted = []
    for _ in range(COUNT):
        text, words = mutations.one_key(rng.choice(plain), rng)
        start = time.perf_counter()
        try:
            scene = scenes.loads(text, "mine.yaml")
        except TabiError as fault:
            refused += 1
            named += "mine.yaml" in str(fault) and any(word in str(fault) for word in words)
        else:
            check_again(scene)
            accepted.append(scene)
        slowest = max(slowest, time.perf_counter() - start)
    # most mutations have to be found at all, else the number says nothing
    assert refused > 0.7 * COUNT
    assert named >= 0.95 * refused
    assert slowest < 5.0
    check_worlds(rng.sample(accepted, BUILT))


def check_worlds(found: list) -> None:
    """Assert that accepted scenes make a world, or say in which file they cannot."""
    made, faults = 0, []
    for scene in found:
        try:
            scene.simulator()
            made += 1
        except TabiError as fault:
            faults.append(str(fault))
    assert [fault for fault in faults if "mine.yaml" not in fault] == []
    assert made > 0.5 * len(found)


@pytest.mark.slow
def test_wrong_bytes_end_in_a_sentence_or_in_a_scene(texts):
    rng = random.Random(7)
    refused = slowest = 0
    accepted = []
    for _ in range(COUNT):
        data = mutations.some_bytes(rng.choice(texts).encode(), rng)
        start = time.perf_counter()
        try:
            scene = scenes.loads(data, "mine.yaml")
        except TabiError as fault:
            refused += "mine.yaml" in str(fault)
        else:
            check_again(scene)
            accepted.append(scene)
        slowest = max(slowest, time.perf_counter() - start)
    assert refused + len(accepted) == COUNT
    assert refused > 0.5 * COUNT
    assert slowest < 5.0
    check_worlds(rng.sample(accepted, BUILT))

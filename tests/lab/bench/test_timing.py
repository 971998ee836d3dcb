"""The stopwatch of the benchmarks, and loops that cannot be optimised away."""

import numpy as np
from worlds import random_robot

from tabi.dynamics import workspace
from tabi.lab.bench import loops
from tabi.lab.bench.timing import microseconds, repeat


def test_every_engine_gets_as_many_blocks_and_calls_are_counted():
    calls = {"a": 0, "b": 0}

    def count(name):
        calls[name] += 1

    times = microseconds(
        {name: repeat(lambda name=name: count(name)) for name in calls},
        blocks=4,
        block_seconds=1e-4,
    )
    assert {name: len(t) for name, t in times.items()} == {"a": 4, "b": 4}
    assert all((t > 0).all() for t in times.values())
    # one call to warm up, twenty to calibrate, four blocks
    assert all(n >= 1 + 20 + 4 for n in calls.values())


def test_a_timed_loop_computes_what_it_times():
    model = random_robot(1, 4).compile()
    q, v, tau = model.neutral(), np.ones(model.v_count), np.ones(model.v_count)
    a, work = np.zeros(model.v_count), workspace.allocate(model)
    loops.forward_dynamics(3, model.arrays, q, v, tau, work, a)
    from tabi import dynamics

    assert np.allclose(a, dynamics.forward_dynamics(model, q, v, tau))


def test_turns_begin_with_another_run_where_asked():
    order: list[str] = []
    runs = {name: lambda count, name=name: order.append(name) for name in "abc"}
    ticks = iter(range(1000))
    microseconds(runs, blocks=3, block_seconds=1.0, clock=lambda: float(next(ticks)), rotate=True)
    # two calls of each come before, to choose the counts
    assert "".join(order[6:]) == "abcbcacab"

"""The bench of the first step: a process of its own, timed from outside."""

import pytest

from tabi.lab.bench import start


@pytest.mark.process
def test_a_warm_start_is_timed_in_a_process_of_its_own():
    found = start.StartBench(warm=True).run()
    assert "cold" not in found
    assert found["warm"]["cpu_s"] > 0.1
    assert found["warm"]["wall_s"] > 0.1
    assert "warm: first step of HRP-2 after" in start.StartBench().text(found)

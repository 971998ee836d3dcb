"""A process that hurries says whether it may, and what it starts does not."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

TOLD = """
import os
from tabi.interaction.devices.priority import raise_priority
before = os.sched_getscheduler(0)
may = raise_priority()
after = os.sched_getscheduler(0)
pid = os.fork()
if pid == 0:
    os._exit(os.sched_getscheduler(0))
child = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(int(may), int(after & os.SCHED_FIFO == os.SCHED_FIFO), int(after == before), child)
"""


def test_it_goes_before_others_or_says_that_it_may_not():
    done = subprocess.run([sys.executable, "-c", TOLD], capture_output=True, text=True, check=True)
    may, fifo, same, child = map(int, done.stdout.split())
    assert (may, fifo) in ((1, 1), (0, 0))
    assert may or same
    # what it starts is as others are
    assert child == 0

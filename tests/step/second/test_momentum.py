"""Bodies whose origin is not their centre of mass gain the momentum that forces give them."""

import numpy as np
import pytest
import rollers

from tabi.step.second import momentum


@pytest.mark.parametrize(("dt", "spin"), [(1e-3, 40.0), (5e-3, 60.0)])
def test_momentum_grows_by_weight_and_contact_forces(dt, spin):
    assert momentum.add_predicted is not None
    sim = rollers.tippe(dt=dt, spin=spin)
    weight = np.array([0.0, 0.0, -0.981])
    for _ in range(40):
        before = sim.momentum("object").linear
        sim.step()
        gained = sim.momentum("object").linear - before
        force = sum((c["impulse"] for c in sim.data.contact), np.zeros(3))
        assert gained == pytest.approx(weight * dt + force, abs=1e-12)
        assert sim.certificate.order == 2

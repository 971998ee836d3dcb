"""The memory of solvers between bodies has the size that was asked for."""

import pytest

from tabi.contact import body_work


@pytest.mark.parametrize(("contacts", "count", "blocks"), [(7, 3, None), (60, 40, 500)])
def test_arrays_have_the_sizes_of_their_rows_and_bodies(contacts, count, blocks):
    w = body_work.allocate(contacts, count, blocks)
    assert w.u.shape == w.delta.shape == (3 * contacts,)
    assert w.twist.shape == (6 * count,)
    assert w.stiffness.shape == ((blocks or count**2), 6, 6)
    assert len(w.matrix) == len(w.right) <= len(w.interior.order)
    assert len(w.rows.W) <= 3 * contacts

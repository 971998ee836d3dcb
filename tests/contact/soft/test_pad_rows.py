"""Compliance between two contacts, wherever they lie."""

import numpy as np
from contact.soft_problems import compliance_matrix, prepared, soft

from tabi.contact.soft import pad_frames, pad_rows


def test_compliance_between_contacts_is_that_of_the_matrix():
    rng = np.random.default_rng(4)
    p, work, _ = soft(rng, contacts=12, rigid=0.0)
    prepared(p, work)
    C = compliance_matrix(p, work)
    for k in range(12):
        for j in range(12):
            M = np.reshape(pad_rows.compliance_between(work, k, j), (3, 3))
            Q, P = (np.reshape(pad_frames.frame(p, i, work), (3, 3)) for i in (k, j))
            assert np.allclose(Q @ M @ P.T, C[3 * k : 3 * k + 3, 3 * j : 3 * j + 3], atol=1e-12)

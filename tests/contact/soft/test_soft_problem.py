"""A problem with a compliance between its contacts, for the judge."""

import numpy as np
import scipy.sparse
from contact.test_bodies import random_bodies

from tabi.contact import certificate
from tabi.contact.matrix_form import sparse
from tabi.contact.soft.soft_problem import soften


def test_velocities_and_matrix_have_the_compliance():
    rng = np.random.default_rng(0)
    p, W = random_bodies(rng)
    C = np.diag(rng.random(21))
    # as if every row were a node
    one = scipy.sparse.csr_matrix(np.eye(21))
    soft, impulse = soften(p, one, scipy.sparse.csr_matrix(C)), rng.normal(size=21)
    assert np.allclose(soft.velocities(impulse), (W + C) @ impulse + p.q)
    assert np.allclose(sparse(soft).toarray(), W + C)
    assert not np.allclose(
        certificate.judge(soft, impulse).contacts, certificate.judge(p, impulse).contacts
    )

"""Contact problems for tests: rigid bodies with points, and random ones."""

import numpy as np

from tabi.contact.problem import Problem


def contact_rows(point, normal=(0.0, 0.0, 1.0)):
    """J of a point on a free body, rows tangent, tangent, normal;
    columns force, torque (about the centre).
    """
    n = np.asarray(normal, float) / np.linalg.norm(normal)
    t = np.cross(n, (1.0, 0.0, 0.0) if abs(n[0]) < 0.9 else (0.0, 1.0, 0.0))
    t /= np.linalg.norm(t)
    frame = np.array([t, np.cross(n, t), n])
    x, y, z = point
    return np.hstack([frame, -frame @ np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])])


def box_on_plane(
    velocity, mu, mass=2.0, size=(0.4, 0.3, 0.2), gravity=9.81, h=1e-3, turn=0.0, tilt=(0.0, 0.0)
):
    """The four lower corners of a box with a free velocity: rank 6 in 12 rows.
    ``turn`` rotates the tangents about the normal.
    """
    x, y, z = np.array(size) / 2
    J = np.vstack([contact_rows((sx * x, sy * y, -z)) for sx in (-1, 1) for sy in (-1, 1)])
    c, s = np.cos(turn), np.sin(turn)
    Q = np.kron(np.eye(4), np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]))
    J = Q @ J
    a, b, d = np.square(size)
    M = np.diag([mass, mass, mass, mass * (b + d) / 12, mass * (a + d) / 12, mass * (a + b) / 12])
    v = np.concatenate([velocity, np.zeros(3)]) + np.array(
        [tilt[0], tilt[1], -gravity * h, 0, 0, 0]
    )
    return J @ np.linalg.solve(M, J.T), J @ v, np.full(4, mu), J


def random_problem(rng, bodies=3, contacts=6, mu=(0.1, 1.2), speed=1.0):
    """Random points between random free bodies and the ground: well posed, often rank-deficient."""
    rows, M = [], []
    for _ in range(bodies):
        L = rng.normal(size=(3, 3))
        M.append(
            np.block(
                [
                    [rng.uniform(0.5, 5) * np.eye(3), np.zeros((3, 3))],
                    [np.zeros((3, 3)), 0.05 * (L @ L.T + np.eye(3))],
                ]
            )
        )
    for _ in range(contacts):
        row = np.zeros((3, 6 * bodies))
        a, b = rng.integers(bodies), rng.integers(-1, bodies)
        normal = rng.normal(size=3) + np.array([0, 0, 2])
        row[:, 6 * a : 6 * a + 6] = contact_rows(0.3 * rng.normal(size=3), normal)
        if b >= 0 and b != a:
            row[:, 6 * b : 6 * b + 6] = -contact_rows(0.3 * rng.normal(size=3), normal)
        rows.append(row)
    J = np.vstack(rows)
    inverse = np.linalg.inv(
        np.block(
            [[M[i] if i == j else np.zeros((6, 6)) for j in range(bodies)] for i in range(bodies)]
        )
    )
    v = speed * rng.normal(size=6 * bodies) - np.tile([0, 0, speed, 0, 0, 0], bodies)
    return J @ inverse @ J.T, J @ v, rng.uniform(*mu, contacts)


def problem(W, q, mu):
    return Problem(W, q, mu, order="ttn")


def coulomb_violation(W, q, mu, impulse):
    """How far impulses are from the law, written as the law is spoken and apart from the
    certificate [largest of m/s and N·s].
    """
    u, l = (W @ impulse + q).reshape(-1, 3), impulse.reshape(-1, 3)
    worst = 0.0
    for k in range(len(mu)):
        slip, push = np.hypot(*u[k, :2]), np.hypot(*l[k, :2])
        # no pulling, no sinking, no force at a distance, no more friction than μ allows
        worst = max(worst, -l[k, 2], -u[k, 2], min(l[k, 2], u[k, 2]), push - mu[k] * l[k, 2])
        # a contact that slips, beyond what the tolerance leaves to sticking ones,
        # has all its friction straight against the slip
        if slip > 1e-6:
            worst = max(worst, np.hypot(*(l[k, :2] + mu[k] * l[k, 2] * u[k, :2] / slip)))
    return worst

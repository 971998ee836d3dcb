"""Wrenches across joints, from accelerations that Pinocchio computes: Newton and Euler, body by
body.
"""

import numpy as np

from tabi.lab.pinocchio import Referee, build, pinocchio


def beyond(robot, body):
    """A body and all that hang on it."""
    found = [body]
    for other in robot.bodies:
        if other.parent in found and other not in found:
            found.append(other)
    return found


def wrench_across(sim, robot, body, place, pushed=None):
    """Force and torque of what hangs on a body, and the body, on its parent, at a place of the body
    X_BS in its axes; and the acceleration of the place less gravity.

    Args:
        pushed: of bodies, forces at their origins in the world [N].
    """
    pin = pinocchio()
    model, out = build(robot), sim.data.outcome
    maps, data = Referee(sim.model, model), model.createData()
    q, v, a = out.q_before, out.v_before, (sim.data.v - out.v_before) / sim.dt
    pin.forwardKinematics(
        model, data, maps.configuration(q), maps.rates(q) @ v, maps.acceleration(q, v, a)
    )
    gravity = np.asarray(sim.world.gravity)

    def motion(b, X):
        """Pose, velocity, acceleration at a place X_BS of a body."""
        M = pin.SE3(X.R, X.p)
        while b.joint.kind == "fixed" and b.parent is not None:
            M = pin.SE3(b.joint.placement.R, b.joint.placement.p) * M
            b = b.parent
        name = robot.name if b is robot.base else b.joint.name
        joint = model.getJointId(name)
        pose = data.oMi[joint] * M
        speed, rate = M.actInv(data.v[joint]), M.actInv(data.a[joint])
        R = pose.rotation
        linear = rate.linear + np.cross(speed.angular, speed.linear)
        return R, pose.translation, R @ speed.angular, R @ rate.angular, R @ linear

    R, p, _, _, felt = motion(body, place)
    force, torque = np.zeros(3), np.zeros(3)
    names = set()
    for b in beyond(robot, body):
        names.add(b.name)
        I = b.inertia
        X = type(place)(np.eye(3), np.asarray(I.centre, float))
        E, c, omega, alpha, a_c = motion(b, X)
        f, J = I.mass * (a_c - gravity), E @ I.tensor @ E.T
        if pushed and b.name in pushed:
            origin = motion(b, type(place)())[1]
            f_push = np.asarray(pushed[b.name], float)
            force -= f_push
            torque -= np.cross(origin - p, f_push)
        force += f
        torque += np.cross(c - p, f) + J @ alpha + np.cross(omega, J @ omega)
    for contact in sim.contacts:
        for link, sign in ((contact.body_a, 1.0), (contact.body_b, -1.0)):
            if link.name.split("/")[-1] in names:
                force -= sign * contact.force
                torque -= np.cross(contact.point - p, sign * contact.force) + sign * contact.moment
    return np.concatenate([-R.T @ force, -R.T @ torque]), R.T @ (felt - gravity)

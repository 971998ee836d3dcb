"""Passivity control of a haptic device: energy at its port, and the force that bounds it.

A force f_k that is held between two readings at t_k and t_{k+1} has done exactly

    E ← E + f_k·(x_{k+1} − x_k)                                                              (1)
on the hand, whatever the hand did meanwhile (Hannaford and Ryu 2002). A sampled spring returns
more than it received: it pushes too little on the way in and too much on the way out. A later
correction is too late, so the next force is bounded by its possible work until the following one
acts, t ≤ H. A handle of mass m, which a hand pulls along the force with F at most, moves by

    s(φ) = max(0, u·v H + (φ + F) H² / 2m),    f = φ u                                       (2)
along the force, and the largest φ that is passive in any case satisfies

    φ s(φ) ≤ B,    B = E_max − E                                                             (3)
a quadratic in φ; with B ≤ 0 only a force against the motion, s(φ) = 0, may still act. So E ≤ E_max
always. Dissipated energy is discarded, E ← max(E, −V) with V the energy of the spring: otherwise
the energy of long friction could be returned at once. In (1) to (3) E includes the energy that the
simulation gave to the coupling at its other end, as in Kim and Ryu 2010.

A spring at rest in x = d keeps φ = k d where k d (k d + F) H² / 2m ≤ k d² / 2 + E_max: for all
depths where k H²/m is small against one.

If a force begins to act within a delay D after its reading, (1) assumes the worst case, on the
cubic p(t) through both readings and their velocities:

    E ← E + f_k·(x_{k+1} − x_k) + max_{t ≤ D} (f_{k−1} − f_k)·(p(t) − x_k)                    (4)
References: Hannaford and Ryu, Time-domain passivity control of haptic interfaces, IEEE Trans.
Robotics and Automation 18 (2002); Kim and Ryu, Robustly stable haptic interaction control using an
energy-bounding algorithm, Int. J. Robotics Research 29 (2010).
"""

from __future__ import annotations

from math import inf, isfinite, sqrt

from tabi._errors import ModelError

Vector = tuple[float, float, float]
ZERO: Vector = (0.0, 0.0, 0.0)
MAX_ENERGY_J = 9e-4  # a tenth below the documented millijoule


class EnergyMonitor:
    """Monitor of the work of the force on the hand, by (1) or (4).

    Attributes:
        energy: E [J]. worst: its largest value.
    """

    def __init__(self, delay: float = 0.0) -> None:
        self.delay, self.energy, self.worst = delay, 0.0, 0.0
        # last reading and velocity, the force since then, and the previous one
        self.place: Vector | None = None
        self.velocity, self.force, self.before = ZERO, ZERO, ZERO
        self._lost = False

    def see(self, x: Vector, v: Vector, dt: float) -> None:
        """Add the next reading, dt [s] later."""
        if self.place is not None:
            f, a = self.force, self.place
            step = (x[0] - a[0], x[1] - a[1], x[2] - a[2])
            done = dot(f, step)
            if self.delay > 0.0 and self.before != f:
                done += self._delay_work(step, v, dt)
            # after an invalid reading the end of the force is unknown
            self.energy += max(done, 0.0) if self._lost else done
            self.worst = max(self.worst, self.energy)
        self.place, self.velocity, self._lost = x, v, False

    def hold(self, force: Vector) -> None:
        """Set the force from the last reading to the next."""
        self.before, self.force = self.force, force

    def lose(self) -> None:
        """Handle an invalid reading: no force from now on."""
        self._lost = True

    def _delay_work(self, step: Vector, v: Vector, dt: float) -> float:
        """Return the maximum in (4)."""
        b, f = self.before, self.force
        g = (b[0] - f[0], b[1] - f[1], b[2] - f[2])
        end, first, last = dot(g, step), dot(g, self.velocity) * dt, dot(g, v) * dt
        # p(s) = first s + c s² + d s³, s = t / dt
        c, d = 3.0 * end - 2.0 * first - last, first + last - 2.0 * end
        end_share = min(self.delay / dt, 1.0) if dt > 0.0 else 1.0
        candidates, root = [end_share], c * c - 3.0 * first * d
        if root > 0.0 and abs(d) > 1e-12 * abs(c):
            r = sqrt(root)
            candidates += [(-c + r) / (3.0 * d), (-c - r) / (3.0 * d)]
        elif c != 0.0:
            candidates.append(-first / (2.0 * c))
        inside = [s for s in candidates if 0.0 < s <= end_share]
        return max(0.0, *(s * (first + s * (c + s * d)) for s in inside))


class PassivityController:
    """Controller that bounds each force by (3).

    Args:
        mass: minimum mass of the handle [kg]. pull: maximum force of a hand along the force [N].
        longest: maximum time between readings [s]. delay: maximum time from a reading until its
            force acts [s].
        allowed: E_max [J].
    """

    def __init__(
        self,
        mass: float = 0.05,
        pull: float = 5.0,
        longest: float = 6e-3,
        delay: float = 0.0,
        allowed: float = MAX_ENERGY_J,
    ) -> None:
        inputs = {"mass": mass, "longest": longest, "allowed": allowed}
        for name, value in inputs.items():
            if not 0.0 < value < inf:
                raise ModelError(f"{name} of the passivity controller is {value}; expected > 0")
        if not 0.0 <= pull < inf or not 0.0 <= delay < inf:
            raise ModelError(
                f"pull {pull} N and delay {delay} s of the passivity controller; expected both ≥ 0"
            )
        self.monitor = EnergyMonitor(delay)
        self.allowed, self._pull = allowed, pull / mass
        self._horizon, self._mass = longest + delay, mass

    def limited(
        self,
        reading: tuple[Vector, Vector, float],
        force: Vector,
        stored: float,
        work_done: float,
    ) -> Vector:
        """Return the passive part of the force.

        Args:
            reading: position, velocity, and the time since the last one [m, m/s, s].
            force: desired [N]. stored: energy of its spring [J].
            work_done: by the coupling at its other end since the last reading [J].
        """
        x, v, dt = reading
        e, last = self.monitor, self.monitor.place
        e.see(x, v, dt)
        # bodies may use the energy from the hand; more than that is not charged to it
        energy = (
            e.energy + work_done
            if work_done < 0.0
            else max(e.energy, min(e.energy + work_done, 0.0))
        )
        e.energy = max(energy, -stored)
        size = sqrt(dot(force, force))
        if size > 0.0:
            u = (force[0] / size, force[1] / size, force[2] / size)
            speed = dot(u, v)
            if last is not None and dt > 0.0:
                # a filtered velocity of a driver lags behind
                mean = (x[0] - last[0], x[1] - last[1], x[2] - last[2])
                speed = max(speed, dot(u, mean) / dt)
            passive_size = min(size, self._max_force(speed, size, dot(u, e.force)))
            force = (passive_size * u[0], passive_size * u[1], passive_size * u[2])
        e.hold(force)
        return force

    def _max_force(self, speed: float, wanted: float, acting: float) -> float:
        """Return the largest φ of (3) at a speed along the force; ``acting``: the force until the
        new one acts.
        """
        H, m, budget = self._horizon, self._mass, self.allowed - self.monitor.energy
        a, b = 0.5 * H * H / m, speed * H + 0.5 * self._pull * H * H
        delay, limit = self.monitor.delay, wanted
        distance = 0.0
        if delay > 0.0:
            distance = max(
                0.0, speed * delay + 0.5 * (max(acting, 0.0) / m + self._pull) * delay * delay
            )
        for _ in range(2 if distance > 0.0 else 1):
            left = budget - max(0.0, acting - limit) * distance
            if left > 0.0:
                limit = min(limit, (sqrt(b * b + 4.0 * a * left) - b) / (2.0 * a))
            else:
                limit = min(limit, max(0.0, -b / a))
        return limit

    def lose(self) -> None:
        """Handle an invalid reading: no force from now on."""
        self.monitor.lose()


def dot(a: Vector, b: Vector) -> float:
    """Return a·b of vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def finite(values: Vector) -> bool:
    """Check whether all numbers are finite."""
    return isfinite(values[0]) and isfinite(values[1]) and isfinite(values[2])

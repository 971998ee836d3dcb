"""Energy at the port of a haptic device, and the force that keeps it passive.

A force f_k that is held between two readings at t_k and t_{k+1} has done exactly

    E ← E + f_k·(x_{k+1} − x_k)                                                              (1)
on the hand, whatever the hand did meanwhile (Hannaford and Ryu 2002). A sampled spring gives more
than it got: it pushes too little on the way in and too much on the way out. To take this back
afterwards is too late, so the next force is bounded by what it may do until the one after it acts,
t ≤ H. A handle of mass m, which a hand pulls along the force with F at most, goes

    s(φ) = max(0, u·v H + (φ + F) H² / 2m),    f = φ u                                       (2)
along the force, and the largest φ that is passive whatever comes has

    φ s(φ) ≤ B,    B = E_max − E                                                             (3)
a quadratic in φ; with B ≤ 0 only what the motion runs against, s(φ) = 0, may still push. So
E ≤ E_max always. What was dissipated is forgotten, E ← max(E, −V) with V the energy of the spring:
else a long friction could be paid back at once. In (1) to (3) energy that the simulation gave to
the coupling at its other end is E's as well, as Kim and Ryu 2010 bound energy by what flows in.

A spring at rest in x = d keeps φ = k d where k d (k d + F) H² / 2m ≤ k d² / 2 + E_max: for all
depths where k H²/m is small against one.

Where a force begins to act with a delay D of its reading, somewhere in that time, (1) takes
the worst, on the cubic p(t) through both readings and their velocities:

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
ALLOWED = 9e-4  # J, a tenth below the millijoule that is promised


class EnergyMonitor:
    """What the force has done on the hand, by (1) or (4).

    Attributes:
        energy: E [J]. worst: its largest value.
    """

    def __init__(self, delay: float = 0.0) -> None:
        self.delay, self.energy, self.worst = delay, 0.0, 0.0
        # reading and velocity at its time, the force from there on, and the one before
        self.place: Vector | None = None
        self.velocity, self.force, self.before = ZERO, ZERO, ZERO
        self._lost = False

    def see(self, x: Vector, v: Vector, dt: float) -> None:
        """The next reading, so much later [s]."""
        if self.place is not None:
            f, a = self.force, self.place
            step = (x[0] - a[0], x[1] - a[1], x[2] - a[2])
            done = dot(f, step)
            if self.delay > 0.0 and self.before != f:
                done += self._late(step, v, dt)
            # nobody knows where the force ended that a bad reading cut off
            self.energy += max(done, 0.0) if self._lost else done
            self.worst = max(self.worst, self.energy)
        self.place, self.velocity, self._lost = x, v, False

    def hold(self, force: Vector) -> None:
        """The force from the last reading to the next."""
        self.before, self.force = self.force, force

    def lose(self) -> None:
        """A reading that says nothing: no force from now on."""
        self._lost = True

    def _late(self, step: Vector, v: Vector, dt: float) -> float:
        """The maximum in (4)."""
        b, f = self.before, self.force
        g = (b[0] - f[0], b[1] - f[1], b[2] - f[2])
        end, first, last = dot(g, step), dot(g, self.velocity) * dt, dot(g, v) * dt
        # p(s) = first s + c s² + d s³, s = t / dt
        c, d = 3.0 * end - 2.0 * first - last, first + last - 2.0 * end
        until = min(self.delay / dt, 1.0) if dt > 0.0 else 1.0
        found, root = [until], c * c - 3.0 * first * d
        if root > 0.0 and abs(d) > 1e-12 * abs(c):
            r = sqrt(root)
            found += [(-c + r) / (3.0 * d), (-c - r) / (3.0 * d)]
        elif c != 0.0:
            found.append(-first / (2.0 * c))
        inside = [s for s in found if 0.0 < s <= until]
        return max(0.0, *(s * (first + s * (c + s * d)) for s in inside))


class PassivityController:
    """Bounds each force by (3).

    Args:
        mass: least mass of the handle [kg]. pull: most that a hand pulls along the force [N].
        longest: from a reading to the next at most [s]. delay: from a reading until its force acts
            at most [s].
        allowed: E_max [J].
    """

    def __init__(
        self,
        mass: float = 0.05,
        pull: float = 5.0,
        longest: float = 6e-3,
        delay: float = 0.0,
        allowed: float = ALLOWED,
    ) -> None:
        given = {"mass": mass, "longest": longest, "allowed": allowed}
        for name, value in given.items():
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
        given: float,
    ) -> Vector:
        """The force, as much of it as is passive.

        Args:
            reading: place, velocity, and the time since the last one [m, m/s, s].
            force: wanted [N]. stored: energy of the spring that wants it [J].
            given: what the coupling did at its other end since the last reading [J].
        """
        x, v, dt = reading
        e, last = self.monitor, self.monitor.place
        e.see(x, v, dt)
        # bodies may use up what the hand gave; what they got beyond that it does not owe
        taken = e.energy + given if given < 0.0 else max(e.energy, min(e.energy + given, 0.0))
        e.energy = max(taken, -stored)
        size = sqrt(dot(force, force))
        if size > 0.0:
            u = (force[0] / size, force[1] / size, force[2] / size)
            speed = dot(u, v)
            if last is not None and dt > 0.0:
                # a velocity that a driver has smoothed lags behind
                mean = (x[0] - last[0], x[1] - last[1], x[2] - last[2])
                speed = max(speed, dot(u, mean) / dt)
            kept = min(size, self._most(speed, size, dot(u, e.force)))
            force = (kept * u[0], kept * u[1], kept * u[2])
        e.hold(force)
        return force

    def _most(self, speed: float, wanted: float, acting: float) -> float:
        """The largest φ of (3) at a speed along the force; ``acting``: the force that acts until
        the new one does.
        """
        H, m, budget = self._horizon, self._mass, self.allowed - self.monitor.energy
        a, b = 0.5 * H * H / m, speed * H + 0.5 * self._pull * H * H
        late, most = self.monitor.delay, wanted
        way = 0.0
        if late > 0.0:
            way = max(0.0, speed * late + 0.5 * (max(acting, 0.0) / m + self._pull) * late * late)
        for _ in range(2 if way > 0.0 else 1):
            left = budget - max(0.0, acting - most) * way
            if left > 0.0:
                most = min(most, (sqrt(b * b + 4.0 * a * left) - b) / (2.0 * a))
            else:
                most = min(most, max(0.0, -b / a))
        return most

    def lose(self) -> None:
        """A reading that says nothing: no force from now on."""
        self.monitor.lose()


def dot(a: Vector, b: Vector) -> float:
    """a·b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def finite(values: Vector) -> bool:
    """Whether all are numbers."""
    return isfinite(values[0]) and isfinite(values[1]) and isfinite(values[2])

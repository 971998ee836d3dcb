"""Summary of a run of ``tabi run``, as text and as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Summary:
    """Summary of a run.

    Attributes:
        time, wall: seconds of the simulation, and of the clock after its first step.
            steps: how many.
        residual [m/s], joint_residual [rad/s or m/s], penetration [m]: worst of all steps.
        force_residual: worst [N] of the steps looked at, one in every 0.25 s.
        missed: steps that did not reach the tolerance [m/s]. unresolved: those with more impacts
            than the budget lets be found one by one.
            fallen: when a base was at half the height it stands at [s], to some ms.
        walks: of robots that walk, how their feet landed, see ``WalkMeasures``, how hard, and how
            far their waists leant, see ``ImpactMeasures``; of those that are steered, their steps,
            margins and speeds, see ``SteeredMeasures``.
        hand: of a person, with its device: force, work and energy.
        places: where bodies ended [m]. notes: what was put in place of what robot files lack.
        reproducible: whether a rerun is the same; not with a budget of time.
        recording: the file. interrupted: whether the user did. stopped: the sentence that ended it.
    """

    # a robot did not finish its walk
    UNFINISHED_WALK = 3

    scene: str
    title: str
    settings: tuple[str, ...] = ()
    time: float = 0.0
    steps: int = 0
    wall: float = 0.0
    factor: float = 0.0
    tolerance: float = 0.0
    residual: float = 0.0
    force_residual: float = 0.0
    joint_residual: float = 0.0
    penetration: float = 0.0
    missed: int = 0
    unresolved: int = 0
    reproducible: bool = True
    contacts: int = 0
    robots: tuple[str, ...] = ()
    fallen: dict[str, float] = field(default_factory=dict)
    walks: dict[str, dict[str, Any]] = field(default_factory=dict)
    hand: dict[str, Any] | None = None
    places: dict[str, list[float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    recording: str | None = None
    interrupted: bool = False
    stopped: str | None = None

    @property
    def walks_stopped(self) -> list[str]:
        """Why walks ended without all of their steps; empty where none did."""
        return [walk["stopped"] for walk in self.walks.values() if walk.get("stopped")]

    @property
    def finished(self) -> bool:
        """Whether the run came to its end, and each walk in it landed all of its steps."""
        unfinished = [walk for walk in self.walks.values() if not walk.get("finished", True)]
        return not (self.interrupted or self.stopped or unfinished or self.walks_stopped)

    def code(self, expect_standing: bool = False) -> int:
        """Return the exit code of the command."""
        if self.interrupted:
            return 130
        if self.missed or self.stopped or (expect_standing and self.fallen):
            return 1
        return self.UNFINISHED_WALK if self.walks_stopped else 0

    def to_dict(self) -> dict[str, Any]:
        """All of it, with units in the names."""
        units = dict.fromkeys(("time", "wall", "fallen"), "s") | dict.fromkeys(
            ("tolerance", "residual"), "m_s"
        )
        units |= {"force_residual": "n", "penetration": "m", "places": "m"}
        worst = ("residual", "force_residual", "joint_residual", "penetration")
        renamed = {"factor": "real_time_factor", "fallen": "fallen_at", "missed": "missed_steps"}
        renamed["unresolved"] = "unresolved_steps"
        outcome = {}
        for name, value in vars(self).items():
            shown = renamed.get(name, f"worst_{name}" if name in worst else name)
            outcome[f"{shown}_{units[name]}" if name in units else shown] = (
                list(value) if isinstance(value, tuple) else value
            )
            if name == "fallen":
                outcome["fallen"] = bool(value)
        why = [self.stopped] if self.stopped else self.walks_stopped
        return outcome | {"stopped": "; ".join(why) or None, "finished": self.finished}

    def text(self) -> str:
        """A few lines for people."""
        lines = [f"{self.scene}: {self.title}"]
        if self.stopped:
            lines.append(f"  STOPPED: {self.stopped}")
        ended = "interrupted after" if self.interrupted else "ran"
        lines.append(
            f"  {ended} {self.time:g} s in {self.wall:.2f} s, {self.factor:.1f} × real time, "
            f"{self.steps} steps"
        )
        lines.append(
            f"  worst error {self.residual:.1e} m/s, {self.force_residual:.1e} N; "
            f"deepest overlap {length(self.penetration)}"
        )
        missed = (
            "every step certified" if not self.missed else f"{self.missed} STEPS DID NOT CONVERGE"
        )
        lines.append(
            f"  {missed} to {self.tolerance:g} m/s; {self.contacts} "
            f"contact{'' if self.contacts == 1 else 's'} at the end"
        )
        if self.unresolved:
            lines.append(f"  {self.unresolved} steps with more impacts than the budget resolves")
        if not self.reproducible:
            lines.append("  with a budget of time: a rerun may differ")
        for name in self.robots:
            lines.append(
                f"  {name} fell at {self.fallen[name]:g} s"
                if name in self.fallen
                else f"  {name} did not fall"
            )
        lines += [f"  {walked(name, walk)}" for name, walk in self.walks.items()]
        if self.hand is not None:
            lines.append(f"  {handled(self.hand)}")
        for name, place in self.places.items():
            # without the sign of a zero
            x, y, z = (round(value, 4) + 0.0 for value in place)
            lines.append(f"  {name} is at {x:.4f}, {y:.4f}, {z:.4f} m")
        lines += [f"  note: {note}" for note in self.notes]
        if self.recording:
            lines.append(f"  recorded in {self.recording}")
        return "\n".join(lines)


def walked(name: str, walk: dict[str, Any]) -> str:
    """A line about a walk."""
    if "planned" not in walk:
        return steered(name, walk)
    x, y, _ = walk["end_m"]
    hard = walk.get("impact_m_s2")
    if walk.get("stopped"):
        return (
            f"{name} landed {walk['landed']} of {walk['planned']} steps and did NOT finish its "
            f"walk: {walk['stopped']}"
        )
    return (
        f"{name} landed {walk['landed']} of {walk['planned']} steps to "
        f"{length(walk['landing_m'])} and {walk['landing_deg']:.2g}° of the other foot, slipped by "
        f"{length(walk['slip_m'])}, and is {1e3 * (x * x + y * y) ** 0.5:.1f} mm from its plan"
        + ("" if hard is None else f"; hardest impact {hard:.3g} m/s²")
        + (f"; leant by {walk['inclination_deg']:.2g}°" if "inclination_deg" in walk else "")
    )


def handled(hand: dict[str, Any]) -> str:
    """A line about a person's hand."""
    wrong = f"; {hand['words']}" if hand["words"] else ""
    return (
        f"hand on {hand['device']} ({hand['state']}): up to {hand['strongest_n']:.3g} N, "
        f"work on bodies {hand['work_j']:.3g} J, energy to the hand "
        f"{1e3 * hand['energy_j']:.3g} mJ{wrong}"
    )


def steered(name: str, walk: dict[str, Any]) -> str:
    """Format a line about a walk that was steered."""
    commanded, speed = (
        f"{_signed(ahead, 2)} m/s ahead, {_signed(left, 2)} m/s to the left, {_signed(turn, 0)}°/s"
        for (ahead, left), turn in (
            (walk["told_m_s"], walk["told_deg_s"]),
            (walk["speed_m_s"], walk["speed_deg_s"]),
        )
    )
    went = f", commanded {commanded}, went {speed}" if walk["walked_s"] > 0 else ""
    if walk.get("stopped"):
        return f"{name} landed {walk['landed']} steps{went}; it STOPPED: {walk['stopped']}"
    return (
        f"{name} landed {walk['landed']} steps{went}; margin to falling "
        f"{length(walk['margin_m'])}, least {length(walk['least_margin_m'])}"
    )


def _signed(value: float, digits: int) -> str:
    """A number without the sign of a zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def length(x: float) -> str:
    """A small length [m] with a unit that suits it."""
    return f"{1e3 * x:.3g} mm" if x >= 1e-3 else f"{1e6 * x:.3g} µm"

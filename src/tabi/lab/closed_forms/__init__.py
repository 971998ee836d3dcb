"""Closed forms of frictional contact, each a function that runs the simulator and says what was
expected and what came out.

Where motion is uniformly accelerated the scheme's velocities are exact but for the solver's
tolerance, and positions are early or late by half a step, x = a t²/2 + a h t/2, so their errors
halve with the step. Tests hold every check to its tolerance; the page "Is it right?" prints them.
"""

from tabi.lab.closed_forms import articulated, resting, rolling, sliding, turning
from tabi.lab.closed_forms.case import Check, ClosedForm

FAMILIES: dict[str, list[ClosedForm]] = {
    "sliding": sliding.CASES,
    "rolling and spinning": rolling.CASES,
    "stacks and hyperstatic rests": resting.CASES,
    "articulated": articulated.CASES,
    "torsion, rolling resistance, viscous friction": turning.CASES,
}

__all__ = ["FAMILIES", "Check", "ClosedForm"]

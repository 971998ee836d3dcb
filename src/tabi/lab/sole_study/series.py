"""The series of a study of soles, and the places of its runs."""

from __future__ import annotations

from tabi.apps import sweep_command as command

# feet come down with this speed: one that is set down at rest has no impact to soften
LANDING = "robots.0.motion.gait.landing_speed_m_s=0.1"
# the step, unless one is asked for [s]: soles stop a foot within some milliseconds
STUDY_STEP = 5e-4
# settings of each series; keys of a run's place beside those of the grid
SERIES = {
    "pattern": ("robots.0.motion.stabiliser=false", "robots.0.bush=null", LANDING),
    "stabiliser": ("robots.0.motion.stabiliser=true", "robots.0.bush={}", LANDING),
}
STEP, SERIES_KEY = "simulation.step_s", "series"
Grid = dict[str, list[str]]
Selection = dict[str, str]


def places(grid: Grid, steps: tuple[str, str]) -> list[Selection]:
    """All runs: every combination in every series, with both steps."""
    return [
        {SERIES_KEY: series, STEP: h, **values}
        for values in command.combinations(grid)
        for series in SERIES
        for h in steps
    ]

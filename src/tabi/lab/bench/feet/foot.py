"""``tabi bench foot``: laws of feet, constraint selection and springs, against the exact law and
against closed forms; exact selection against one step of it, along a jump.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np

from tabi.lab.bench.feet import foot_jump, foot_laws
from tabi.lab.bench.timing import Blocks
from tabi.lab.study import Benchmark, BenchPart, Column, Option, constant_settings, head, table


class FootBench(Benchmark, name="foot"):
    """Laws of feet, constraint selection and springs, against the exact law."""

    blocks: Blocks = 31
    passes: Annotated[int, Option(min=1, help="How often each jump is timed.")] = foot_jump.PASSES
    corners: tuple[int, ...] = foot_jump.CORNERS
    feet: tuple[int, ...] = foot_jump.FEET

    constants = constant_settings(
        dt=1e-3,
        block_steps=foot_jump.BLOCK,
        statistic="thread time; medians over passes of interleaved blocks, then their mean",
    )

    def parts(self) -> Iterator[BenchPart]:
        """Motion by motion, and jumps on more and more feet and corners."""
        against = ("against_coulomb", "")
        yield BenchPart("toes", "over the toes", foot_laws.toes)
        yield BenchPart(against, "standing, squat, sway", foot_laws.agreement)
        yield BenchPart((against[0], "step down"), "a step down", foot_laws.step_down)
        yield BenchPart((against[0], "slide"), "a slide", foot_laws.slide)
        yield BenchPart("lifted", "a lifted plate", foot_laws.lifted)
        yield BenchPart("springs", "springs", foot_laws.springs)
        yield BenchPart("", "", self._jumps)
        yield BenchPart("standing", "a standing robot", foot_jump.standing, (self.blocks,))

    def _jumps(self) -> dict[str, Any]:
        rows = foot_jump.measure(self.corners, self.feet, self.passes)
        return {"jump": rows, "jump_summary": summary(rows)}

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Motion by motion as sentences, jumps as a table."""
        yield head(result)
        yield "fall over the toes: face to edge, and the pressure point the step before"
        for name, x in result["toes"].items():
            tips, all_of = (sum(x[key].values()) for key in ("face_to_edge", "transitions"))
            yield (
                f"  {name:<14} {tips} of {all_of} transitions of both feet, at {x['tips_s']:.3f} s "
                f"({x['ms_after_coulomb']:+.0f} ms to coulomb), {x['margin_before_mm']:.3f} mm "
                f"inside, {x['steps_before_the_edge']:.2f} steps from the edge; "
                f"{x['missed']} missed"
            )
        yield "selection against coulomb"
        for name, x in result["against_coulomb"].items():
            wrench = (
                f"force {x['force_percent_of_weight']:.2g} % of the weight, "
                f"torque {x['torque_percent']:.2g} %, "
                if "torque_percent" in x
                else f"{x['distance_m']:.4f} m ({x['closed_form_m']:.4f} m by the formula), "
            )
            apart = x["events_ms"]
            events = "not the same ones" if apart is None else f"{apart:g} ms apart"
            yield f"  {name:<14} {wrench}{x['moved_mm']:.2g} mm, events {events}"
        yield "a plate lifted at a corner: its least normal force"
        for name, x in result["lifted"].items():
            yield f"  {name:<14} {x['least_normal_force_N']:.2g} N, {x['missed']} missed"
        s = result["springs"]
        yield (
            f"springs: HRP-2 sinks {s['depth_mm']:.4f} mm, m g/2K is {s['weight_over_2K_mm']:.4f} "
            f"mm; a plate creeps {s['creep_mm_s']:.4f} mm/s, F/C is "
            f"{s['force_over_damping_mm_s']:.4f} mm/s (coulomb: {s['coulomb_creep_mm_s']:.1g})"
        )
        yield "bend and jump, µs a step"
        yield from table(COLUMNS, result["jump"])
        s = result["jump_summary"]
        ratio, growth, alone = (
            ", ".join(f"{x:.2f} on {feet} feet" for feet, x in s[key].items())
            for key in ("ratio", "one_step_growth", "one_step_search_growth")
        )
        yield f"  exact over one-step, mean over corners: {ratio}"
        yield f"  one-step, most corners over fewest: {growth}; its selection alone: {alone}"
        standing = result["standing"]
        us = ", ".join(f"{name} {x:.1f} µs" for name, x in standing["microseconds"].items())
        ratios = ", ".join(f"{name} {x:.2f} ×" for name, x in standing["ratio_to_coulomb"].items())
        yield f"standing HRP-2: {us} a step; to coulomb: {ratios}"


COLUMNS = (
    Column("feet", "feet", "d"),
    Column("corners", "corners", "d"),
    Column("exact", "microseconds.exact", ".1f"),
    Column("one-step", "microseconds.one-step", ".1f"),
    Column("ratio", "ratio", ".2f"),
    Column("alone: exact", "search_microseconds.exact", ".1f"),
    Column("one-step", "search_microseconds.one-step", ".1f"),
    Column("tried", "states_tried.mean", ".1f"),
    Column("missed: exact", "missed.exact", "d"),
    Column("one-step", "missed.one-step", "d"),
    Column("one step wrong", "one_step.wrong_states", "d"),
)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """By the number of feet: exact over one-step on average, and how one step, and its selection
    alone, grow from the fewest corners to the most.
    """
    result: dict[str, Any] = {"ratio": {}, "one_step_growth": {}, "one_step_search_growth": {}}
    for feet in sorted({row["feet"] for row in rows}):
        of_feet = [row for row in rows if row["feet"] == feet]
        result["ratio"][str(feet)] = round(float(np.mean([row["ratio"] for row in of_feet])), 3)
        for key, times in (
            ("one_step_growth", "microseconds"),
            ("one_step_search_growth", "search_microseconds"),
        ):
            first, last = (row[times]["one-step"] for row in (of_feet[0], of_feet[-1]))
            result[key][str(feet)] = round(last / max(first, 1e-9), 3)
    return result

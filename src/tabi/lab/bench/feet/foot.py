"""``tabi bench foot``: laws of feet, constraint selection and springs, against the exact law and
against closed forms; exact selection against one step of it, along a jump.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

import tabi
from tabi.apps.doctor import processor, version_of
from tabi.lab.bench.feet import foot_jump, foot_laws


def measure(
    corners: tuple[int, ...] = foot_jump.CORNERS,
    feet: tuple[int, ...] = foot_jump.FEET,
    passes: int = foot_jump.PASSES,
    blocks: int = 31,
    show: bool = True,
) -> dict[str, Any]:
    """All figures, as plain data."""
    say = (lambda text: print(text, file=sys.stderr, flush=True)) if show else (lambda text: None)
    say("over the toes …")
    toes = foot_laws.toes()
    say("standing, squat, sway, a step down, a slide …")
    exact = foot_laws.agreement() | {"step down": foot_laws.step_down(), "slide": foot_laws.slide()}
    say("a lifted plate, springs …")
    lifted, springs = foot_laws.lifted(), foot_laws.springs()
    rows = foot_jump.measure(corners, feet, passes, say)
    say("a standing robot …")
    return {
        "hardware": {"processor": processor(), "cores": os.cpu_count(), "threads_used": 1},
        "versions": {"tabi": tabi.__version__, "numba": version_of("numba")},
        "settings": {
            "dt": 1e-3,
            "block_steps": foot_jump.BLOCK,
            "passes": passes,
            "statistic": "thread time; medians over passes of interleaved blocks, then their mean",
        },
        "toes": toes,
        "against_coulomb": exact,
        "lifted": lifted,
        "springs": springs,
        "jump": rows,
        "jump_summary": summary(rows),
        "standing": foot_jump.standing(blocks),
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """By the number of feet: exact over one-step on average, and how one step, and its selection
    alone, grow from the fewest corners to the most.
    """
    found: dict[str, Any] = {"ratio": {}, "one_step_growth": {}, "one_step_search_growth": {}}
    for feet in sorted({row["feet"] for row in rows}):
        own = [row for row in rows if row["feet"] == feet]
        found["ratio"][str(feet)] = round(float(np.mean([row["ratio"] for row in own])), 3)
        for key, times in (
            ("one_step_growth", "microseconds"),
            ("one_step_search_growth", "search_microseconds"),
        ):
            first, last = (row[times]["one-step"] for row in (own[0], own[-1]))
            found[key][str(feet)] = round(last / max(first, 1e-9), 3)
    return found


# ---- for a terminal -----------------------------------------------------------------------------


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    hardware = result["hardware"]
    lines = [
        f"{hardware['processor']}, one core of {hardware['cores']}; "
        f"tabi {result['versions']['tabi']}",
        "fall over the toes: face to edge, and the pressure point the step before",
    ]
    for name, x in result["toes"].items():
        tips, all_of = (sum(x[key].values()) for key in ("face_to_edge", "transitions"))
        lines.append(
            f"  {name:<14} {tips} of {all_of} transitions of both feet, at {x['tips_s']:.3f} s "
            f"({x['ms_after_coulomb']:+.0f} ms to coulomb), {x['margin_before_mm']:.3f} mm inside, "
            f"{x['steps_before_the_edge']:.2f} steps from the edge; {x['missed']} missed"
        )
    lines += ["selection against coulomb"]
    for name, x in result["against_coulomb"].items():
        wrench = (
            f"force {x['force_percent_of_weight']:.2g} % of the weight, "
            f"torque {x['torque_percent']:.2g} %, "
            if "torque_percent" in x
            else f"{x['distance_m']:.4f} m ({x['closed_form_m']:.4f} m by the formula), "
        )
        events = "not the same ones" if x["events_ms"] is None else f"{x['events_ms']:g} ms apart"
        lines.append(f"  {name:<14} {wrench}{x['moved_mm']:.2g} mm, events {events}")
    lines.append("a plate lifted at a corner: its least normal force")
    for name, x in result["lifted"].items():
        lines.append(f"  {name:<14} {x['least_normal_force_N']:.2g} N, {x['missed']} missed")
    s = result["springs"]
    lines += [
        f"springs: HRP-2 sinks {s['depth_mm']:.4f} mm, m g/2K is {s['weight_over_2K_mm']:.4f} mm; "
        f"a plate creeps {s['creep_mm_s']:.4f} mm/s, F/C is {s['force_over_damping_mm_s']:.4f} "
        f"mm/s (coulomb: {s['coulomb_creep_mm_s']:.1g})",
        *_jump_lines(result),
    ]
    return "\n".join(lines)


def _jump_lines(result: dict[str, Any]) -> list[str]:
    lines = [
        "bend and jump, µs a step",
        "  feet corners   exact one-step  ratio   alone: exact one-step   tried"
        "   missed: exact one-step   one step wrong",
    ]
    for row in result["jump"]:
        us, alone = row["microseconds"], row["search_microseconds"]
        lines.append(
            f"  {row['feet']:>4} {row['corners']:>7} {us['exact']:7.1f} {us['one-step']:8.1f} "
            f"{row['ratio']:6.2f} {alone['exact']:14.1f} {alone['one-step']:8.1f} "
            f"{row['states_tried']['mean']:7.1f} {row['missed']['exact']:15d} "
            f"{row['missed']['one-step']:8d} {row['one_step']['wrong_states']:16d}"
        )
    s, standing = result["jump_summary"], result["standing"]
    ratio, growth, alone = (
        ", ".join(f"{x:.2f} on {feet} feet" for feet, x in s[key].items())
        for key in ("ratio", "one_step_growth", "one_step_search_growth")
    )
    us = ", ".join(f"{name} {x:.1f} µs" for name, x in standing["microseconds"].items())
    ratios = ", ".join(f"{name} {x:.2f} ×" for name, x in standing["ratio_to_coulomb"].items())
    return [
        *lines,
        f"  exact over one-step, mean over corners: {ratio}",
        f"  one-step, most corners over fewest: {growth}; its selection alone: {alone}",
        f"standing HRP-2: {us} a step; to coulomb: {ratios}",
    ]

"""Page of ``tabi report``: one HTML page about a recording, for reading and printing; page.html
with everything inside, and no script.

All data of the file are escaped; pictures are embedded as data, and its policy forbids loading
anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from tabi.recording.episodes import EXCEPTION
from tabi.recording.recorded import Recorded
from tabi.reporting.report import pictures
from tabi.reporting.report.contacts import Touches
from tabi.reporting.report.findings import MAX_CHANGES, shortened
from tabi.reporting.report.markup import plot, section, short, table, whole
from tabi.reporting.report.walks import RecordedWalk

# lines of the table of bodies, and letters of a scene file and of a value of the meta data
MAX_BODIES, MAX_SCENE_LENGTH, MAX_VALUE_LENGTH = 30, 200_000, 200
# lines of the table of episodes
MAX_EPISODES = 40
# changes of feet in a line
MAX_EVENTS = 10
# number of listed warnings, and distance that counts as a ride on a conveyor [m]
MAX_WARNINGS, MIN_CARRIED_DISTANCE = 20, 1e-3
TITLES = {
    "forces": "Forces of the feet",
    "cop": "Centre of pressure in the soles",
    "feet": "What the feet touch with",
    "soles": "Pressure under the soles",
    "zmp": "Balance: zero moment point and centre of mass",
    "joints": "Joints that move most, and all their motors give",
    "energy": "Energy",
    "certificate": "Certificate: error of every step, and overlap",
}


def page(
    run: Recorded,
    touching: Touches,
    numbers: dict[str, Any],
    file: Path,
    walks: Sequence[RecordedWalk] = (),
) -> str:
    """Return the whole page as text; with numbers["walks"] of the walks."""
    title = numbers["scene"] or ", ".join(run.world.robot_names) or file.stem
    parts = [
        _head(title, numbers, file),
        _facts(numbers),
        _episodes(numbers),
        _strip(run),
        _warnings(numbers),
        _certificate(numbers),
        _loads(numbers),
    ]
    parts += [_walk(run, walk, numbers["walks"][walk.name]) for walk in walks]
    parts += [_contacts(run, touching, numbers), _plots(run), _about(run, numbers), _scene(run)]
    return whole(title, parts)


def _head(title: str, numbers: dict[str, Any], file: Path) -> str:
    kind = "verdict" if numbers["certified"] else "verdict bad"
    if numbers["certified"] and numbers["how_ended"] in ("", EXCEPTION):
        kind = "verdict warn"
    which = f", episode {numbers['episode']}" if len(numbers["episodes"]) > 1 else ""
    small = (
        f"{file.name}{which} · recorded {numbers['created'].replace('T', ' ')} · "
        f"tabi {numbers['tabi']}"
    )
    head = (
        f"<header><small>{escape(small)}</small>"
        f"<h1>{escape(title)}</h1>{escape(numbers['title'])}</header>"
    )
    return f'{head}\n<p class="{kind}">{escape(numbers["verdict"])}</p>'


def _facts(numbers: dict[str, Any]) -> str:
    c = numbers["certificate"]
    facts = [
        (f"{numbers['to_s'] - numbers['from_s']:.4g} s", "of simulated time"),
        (f"{c['steps']}", f"steps of {1e3 * numbers['step_s']:g} ms"),
        (short(c["worst_residual_m_s"], "m/s"), "worst error of a step"),
        (short(c["worst_penetration_m"], "m"), "deepest overlap"),
    ]
    return (
        '<div class="facts">'
        + "".join(f"<div><b>{escape(a)}</b><span>{escape(b)}</span></div>" for a, b in facts)
        + "</div>"
    )


def _episodes(numbers: dict[str, Any]) -> str:
    """Return all episodes of the recording, if there are several."""
    episodes = numbers["episodes"]
    if len(episodes) < 2:
        return ""
    rows = [
        [
            f"{episode['number']}" + " (this page)" * (episode["number"] == numbers["episode"]),
            f"{episode['from_s']:g} to {episode['to_s']:g} s",
            str(episode["steps"]),
            episode["ended"],
        ]
        for episode in episodes
    ]
    rows = shortened(rows, MAX_EPISODES, ["…", "", "", "--json lists all of them"])
    head = ["Episode", "=Time", "=Steps", "Ended"]
    return section(f"{len(episodes)} episodes", table(head, rows, len(rows) > 12))


def _strip(run: Recorded) -> str:
    shown = "".join(
        (
            f'<figure><img src="{source}" alt="the world at {time:.3f} s">'
            f"<figcaption>{time:.3f} s</figcaption></figure>"
        )
        for time, source in pictures.moments(run)
    )
    return f'<div class="strip">{shown}</div>'


def _warnings(numbers: dict[str, Any]) -> str:
    warnings = numbers["warnings"]
    rest = (
        [f"And {len(warnings) - MAX_WARNINGS} more, which --json lists."]
        if len(warnings) > MAX_WARNINGS
        else []
    )
    items = "".join(f"<li>{escape(words)}</li>" for words in [*warnings[:MAX_WARNINGS], *rest])
    return section("To look at", f'<ul class="warnings">{items}</ul>') if items else ""


def _certificate(numbers: dict[str, Any]) -> str:
    c = numbers["certificate"]
    rows: list[list[str]] = [
        [
            "Backward error of contacts and bonds, worst step",
            short(c["worst_residual_m_s"], "m/s"),
            f"tolerance {c['tolerance_m_s']:g} m/s",
        ],
        [
            "Error of a contact's force",
            short(c["worst_force_residual_n"], "N"),
            f"worst of {c['judged_steps']} checked steps, one a second",
        ],
        ["Shift of a foot's centre of pressure by it", short(c["worst_pressure_shift_m"], "m"), ""],
        [
            "Error of joint friction, ends of travel and top speeds, worst step",
            short(c["worst_joint_residual"], "rad/s or m/s"),
            "",
        ],
        ["Deepest overlap of two bodies", short(c["worst_penetration_m"], "m"), ""],
        [
            "Steps that did not converge",
            f"{c['missed_steps']} of {c['steps']}",
            _not_converged(c["missed"]),
        ],
        [
            "Iterations of the solver in a step",
            f"{c['mean_iterations']:.2g}",
            f"on average; at most {c['most_iterations']}",
        ],
        ["Contact points at once", str(c["most_contacts"]), "at most"],
        [
            "Energy lost from beginning to end",
            short(numbers["energy"]["lost_j"], "J"),
            "kinetic and potential; motors and pushes may bring some",
        ],
    ]
    note = (
        '<p class="note">The error of a step is the largest change of a relative velocity that '
        "would make its forces obey Coulomb and Signorini.</p>"
    )
    return section("Certificate", table(["", "=", ""], rows) + note)


def _not_converged(times: list[dict[str, Any]]) -> str:
    intervals = [
        f"{m['steps']} at {m['from_s']:g}"
        + (f" to {m['to_s']:g} s" if m["to_s"] > m["from_s"] else " s")
        for m in times[:8]
    ]
    return ", ".join(intervals) + (f", and {len(times) - 8} more times" if len(times) > 8 else "")


def _loads(numbers: dict[str, Any]) -> str:
    out, several = "", len(numbers["robots"]) > 1
    for title, things in (
        ("Feet", numbers["feet"]),
        ("Other bodies that touched something", numbers["bodies"]),
    ):
        if not things:
            continue
        foot = title == "Feet"
        carried = any(thing.get("carried_m", 0.0) > MIN_CARRIED_DISTANCE for thing in things)
        head = [
            "Foot" if foot else "Body",
            *(["Robot"] if several else []),
            "=Peak load",
            "=Mean load",
            "=Touching",
            "=Slip",
            "=Creep",
        ]
        head += [
            *(["=Carried"] if carried else []),
            "=Friction used",
            *(["=CoP to edge"] if foot else []),
        ]
        rows = [_load(thing, several, carried, foot) for thing in things[:MAX_BODIES]]
        rest = (
            f'<p class="note">and {len(things) - MAX_BODIES} more bodies</p>'
            if len(things) > MAX_BODIES
            else ""
        )
        out += section(
            title if numbers["feet"] else "Bodies that touched something",
            table(head, rows, len(rows) > 12) + rest,
        )
    note = (
        "Load: the sum of normal forces, its mean while it touches. "
        "Slip and creep: ways along what it touches, while points slip "
    )
    return out + (
        (
            f'<p class="note">{note}and while all stick. '
            "Friction used: force along the surface over normal force, at most.</p>"
        )
        if out
        else ""
    )


def _load(thing: dict[str, Any], several: bool, carried: bool, foot: bool) -> list[str]:
    names = [thing["name"], *([thing["robot"] or "–"] if several else [])]
    if "peak_load_n" not in thing:
        return [*names, "never touched", *["–"] * (5 + carried + foot)]
    figures = [
        short(thing[name], unit)
        for name, unit in (
            ("peak_load_n", "N"),
            ("mean_load_n", "N"),
            ("touching_s", "s"),
            ("slip_m", "m"),
            ("creep_m", "m"),
        )
    ]
    figures += [short(thing["carried_m"], "m")] if carried else []
    edge = (
        ["–" if thing.get("edge_m") is None else f"{max(0.0, 1e3 * thing['edge_m']):.1f} mm"]
        if foot
        else []
    )
    return [*names, *figures, f"{thing['friction_used']:.2f}", *edge]


def _walk(run: Recorded, walk: RecordedWalk, numbers: dict[str, Any]) -> str:
    above, curves = pictures.walk(run, walk)
    x, y, _ = numbers["end_m"]
    rows = [
        [
            "Steps that landed",
            f"{numbers['landed']} of {numbers['planned']}",
            "finished" if numbers["finished"] else f"not finished: {numbers['stopped'] or ''}",
        ],
        [
            "Landing, worst",
            short(numbers["landing_m"], "m"),
            f"and {numbers['landing_deg']:.2g}°, from where it should be beside the other foot",
        ],
        ["Slip of a foot that stands alone, worst", short(numbers["slip_m"], "m"), ""],
        [
            "End of the walk",
            short((x * x + y * y) ** 0.5, "m"),
            f"and {abs(numbers['end_deg']):.2g}° from its plan",
        ],
    ]
    for key, name in (("zmp_rms_m", "Zero moment point"), ("centre_rms_m", "Centre of mass")):
        ahead, aside = numbers[key]
        words = f"along x, {short(aside, 'm')} along y, from its plan (root mean square)"
        rows.append([name, short(ahead, "m"), words])
    what = "footsteps from above: planned in grey, landed in blue (left) and orange (right)"
    note = f'<p class="note">{escape(what)}; dashed: planned</p>'
    return section(
        f"Walk of {walk.name}",
        table(["", "=", ""], rows) + plot(above, what) + note + plot(curves, "walk over time"),
    )


def _contacts(run: Recorded, touching: Touches, numbers: dict[str, Any]) -> str:
    drawn = pictures.timeline(run, touching)
    if drawn is None:
        return section("Contacts", "<p>Nothing touched anything.</p>")
    out = plot(drawn, "bodies in contact, and when they slip")
    changes = numbers["changes"]
    if changes:
        rows = [
            [f"{change['time_s']:.4g} s", change["name"], change["change"]]
            for change in changes[:MAX_CHANGES]
        ]
        rest = (
            f'<p class="note">and {len(changes) - MAX_CHANGES} more changes</p>'
            if len(changes) > MAX_CHANGES
            else ""
        )
        out += table(["=Time", "Body", "Change"], rows, len(rows) > 12) + rest
    else:
        out += '<p class="note">No foot or body touched down or lifted off.</p>'
    return section("Contacts", out + _foot_events(numbers["foot_events"]))


def _foot_events(events: list[dict[str, Any]]) -> str:
    """Return a line with the state changes of feet."""
    if not events:
        return ""
    changes = [
        f"{event['name']} {event['before']} → {event['after']} at {event['time_s']:.4g} s"
        for event in events[:MAX_EVENTS]
    ]
    rest = (
        f"; and {len(events) - MAX_EVENTS} more, which --json lists"
        if len(events) > MAX_EVENTS
        else ""
    )
    count = f"{len(events)} changes" if len(events) > 1 else "1 change"
    line = f"States of feet, {count}: {'; '.join(changes)}{rest}."
    return f'<p class="note">{escape(line)}</p>'


def _plots(run: Recorded) -> str:
    return "".join(
        section(TITLES[name], plot(source, TITLES[name]))
        for name, source in pictures.plots(run).items()
    )


def _about(run: Recorded, numbers: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in numbers["versions"].items())
    robots = ", ".join(
        f"{robot['name']} ({robot['mass_kg']:.4g} kg)" for robot in numbers["robots"]
    )
    facts = {
        "Scene": numbers["scene"],
        "Settings": ", ".join(numbers["settings"]),
        "Robots": robots,
        "Seed": "" if numbers["seed"] is None else str(numbers["seed"]),
        "Time": (
            f"{numbers['from_s']:g} to {numbers['to_s']:g} s, in {numbers['rows']} rows, "
            f"one for {_steps(numbers['steps_a_row'])}"
        ),
        "Ended": numbers["ended"],
        "Recorded": numbers["created"].replace("T", " "),
        "Versions": versions or f"tabi {numbers['tabi']}",
        "Machine": ", ".join(
            str(numbers[name]) for name in ("platform", "processor") if numbers[name]
        ),
    } | {key: str(value)[:MAX_VALUE_LENGTH] for key, value in numbers["told"].items()}
    return section(
        "What was run", table(["", ""], [[key, value] for key, value in facts.items() if value])
    )


def _steps(count: int) -> str:
    return "every step" if count == 1 else f"{count} steps"


def _scene(run: Recorded) -> str:
    if not run.scene.strip():
        return ""
    cut = "" if len(run.scene) <= MAX_SCENE_LENGTH else "\n…"
    return section("The scene file", f"<pre>{escape(run.scene[:MAX_SCENE_LENGTH])}{cut}</pre>")

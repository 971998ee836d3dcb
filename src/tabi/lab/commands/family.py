"""``tabi family``: problems of humanoids for other people's solvers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from tabi.apps.showing import Json
from tabi.reporting.terminal import bar, interrupt, print_now

app = typer.Typer(
    help="Contact problems of humanoids, as files.", no_args_is_help=True, rich_markup_mode=None
)
ENDING = "tabi: ending after this problem; Ctrl-C once more ends at once\n"


@app.callback()
def family() -> None:
    """Contact problems of humanoids, as files."""


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write into.")],
    count: Annotated[int, typer.Option(help="Problems to make.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the problems.")] = 0,
    hardest: Annotated[
        int | None, typer.Option(help="Keep only so many, the hardest of them.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write contact problems in FCLib's form, with solutions and certificates;
    repeat it to go on after an interrupt.
    """
    from tabi.lab.family import export as family_export

    with bar("problems", count) as move, interrupt(ENDING) as interrupted:

        def look(done: int, name: str) -> bool:
            move(done, name)
            return bool(interrupted)

        summary = family_export.export(folder, count, seed, hardest, look)
    print_now(json.dumps(summary, indent=2) if as_json else text(folder, summary))
    if summary["interrupted"]:
        raise typer.Exit(130)


def text(folder: Path, summary: dict[str, Any]) -> str:
    """Return a summary for a terminal: the count of each family, and the hardest."""
    problems = summary["problems"]
    lines = [
        f"{folder}: {len(problems)} of {summary['count']} problems, {summary['reused']} were there"
    ]
    if summary["interrupted"]:
        lines.append("  interrupted; the same command goes on")
    for kind in dict.fromkeys(record["family"] for record in problems):
        members = [record for record in problems if record["family"] == kind]
        contacts = [record["contacts"] for record in members]
        worst = max(record["certificate"]["residual"] for record in members)
        hard = max(members, key=lambda record: (record["attempt"], record["iterations"]))
        lines.append(
            f"  {kind}: {len(members)}, {min(contacts)} to {max(contacts)} contacts, reference to "
            f"{worst:.1e} m/s; hardest {hard['file']}: {hard['attempt_name']}, "
            f"{hard['iterations']} iterations"
        )
    unsolved = [record["file"] for record in problems if not record["solved"]]
    lines += [f"  NOT SOLVED to {summary['tolerance']:g}: {name}" for name in unsolved]
    return "\n".join(lines)

"""Commands of ``tabi.lab``, which no other package imports: each is loaded by its name when it is
asked for, or listed.
"""

from __future__ import annotations

import importlib
from typing import Any

import typer
from typer.core import TyperGroup

# name of a command: its module in ``tabi.lab``, and what there is its typer app or function
LAB = {
    "compare": ("commands.compare", "compare"),
    "bench": ("commands.studies", "bench"),
    "validate": ("commands.studies", "validate"),
    "study": ("sole_study.soles", "app"),
    "family": ("commands.family", "app"),
}


class CommandGroup(TyperGroup):
    """The commands of this package, and behind them those of the lab."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands."""
        return [*super().list_commands(ctx), *LAB]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name, None where there is none."""
        return load(cmd_name) if cmd_name in LAB else super().get_command(ctx, cmd_name)


def load(name: str) -> Any:
    """Load the lab's command of this name."""
    module, attribute = LAB[name]
    target = getattr(importlib.import_module(f"tabi.lab.{module}"), attribute)
    if not isinstance(target, typer.Typer):
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name)(target)
        target = app
    command = typer.main.get_command(target)
    command.name = name
    return command

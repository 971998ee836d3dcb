"""``tabi validate`` and ``tabi bench``: a command for each study of the package, made from its
docstring and its fields.

Exit codes: 0; 1, a criterion is not met; 2, a mistake of the user; 130, interrupted, with what was
found until then.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from typing import Any, ClassVar, cast, get_type_hints

import typer
from typer.core import TyperGroup

from tabi.apps.showing import Json, progress_bar, show
from tabi.lab.registry import studies


class StudyGroup(TyperGroup):
    """The commands of studies."""

    group: ClassVar[str] = ""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all studies."""
        return sorted(studies(self.group))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a study, None where there is none."""
        result = studies(self.group).get(cmd_name)
        return typer.main.get_command(app_of(result.load())) if result else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of all commands, for which no study is imported."""
        summaries = {name: study.summary for name, study in sorted(studies(self.group).items())}
        room = formatter.width - 6 - max(map(len, summaries))
        rows = [
            (name, textwrap.shorten(words, room, placeholder="..."))
            for name, words in summaries.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class ValidateGroup(StudyGroup):
    """``tabi validate``."""

    group = "validate"


class BenchGroup(StudyGroup):
    """``tabi bench``."""

    group = "bench"


validate = typer.Typer(
    cls=ValidateGroup,
    help="Run the experiments that show whether it is right.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
bench = typer.Typer(
    cls=BenchGroup,
    help="Measure speed against other engines in one process.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@validate.callback()
@bench.callback()
def group() -> None:
    """Studies are its commands."""


def app_of(study: Any) -> typer.Typer:
    """The command of a study: fields with a note are its options."""
    hints = get_type_hints(study, include_extras=True)
    options = [field for field in fields(study) if hasattr(hints[field.name], "__metadata__")]
    kind = inspect.Parameter
    parameters = [
        kind(
            field.name,
            kind.KEYWORD_ONLY,
            default=kind.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in options
    ]
    parameters.append(kind("as_json", kind.KEYWORD_ONLY, default=False, annotation=Json))

    def run(as_json: bool, **options: Any) -> None:
        show_study(study(**options), as_json)

    run.__doc__ = inspect.cleandoc(study.__doc__).split("\n\n")[0]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    cast(Any, run).__signature__ = inspect.Signature(parameters)
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(study.name)(run)
    return app


def show_study(study: Any, as_json: bool) -> None:
    """Run a study, print what was found and draw it."""
    from tabi.lab.study import reported
    from tabi.reporting.outputs import check_figure

    figure = getattr(study, "figure", None)
    if figure is not None:
        check_figure(figure)
    watching = spoken(not as_json) if study.group == "bench" else progress_bar()
    with watching as report, reported(report):
        result = study.run()
    if figure is not None:
        study.draw(result, figure)
    show(result, study.text, as_json, passed=result.get("within", True))


@contextmanager
def spoken(aloud: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Words on the error stream: a bar that redraws itself would be timed too."""
    yield lambda what, done, count: print(what, "…", file=sys.stderr, flush=True) if aloud else None

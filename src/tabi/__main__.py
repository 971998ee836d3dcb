"""``python -m tabi`` is ``tabi``."""

from tabi.apps.cli import app

app(prog_name="tabi")

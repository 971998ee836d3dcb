"""``python -m tabi`` is ``tabi``."""

from tabi.apps.cli import main

main()

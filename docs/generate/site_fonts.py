"""Hook of mkdocs: the site brings a font for every symbol that its pages use.

Letters come from the reader's own system; symbols that a system may lack (λ̇, ⊥, subscripts) come
from DejaVu Sans, a file of Matplotlib, so that nothing is fetched from the network.
"""

import shutil
from pathlib import Path
from typing import Any

import matplotlib

NAME = "DejaVuSans.ttf"


def font() -> Path:
    """Return the font file."""
    return Path(matplotlib.get_data_path()) / "fonts" / "ttf" / NAME


def on_post_build(config: Any) -> None:
    """Copy the font to where site.css looks for it."""
    folder = Path(config["site_dir"]) / "fonts"
    folder.mkdir(exist_ok=True)
    shutil.copyfile(font(), folder / NAME)

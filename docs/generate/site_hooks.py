"""Hooks of mkdocs: fonts for every symbol, and links from the reference to the pages it names.

Letters come from the reader's own system; symbols that a system may lack (λ̇, ⊥, subscripts) come
from DejaVu Sans, a file of Matplotlib, so that nothing is fetched from the network.
"""

import re
import shutil
from pathlib import Path
from typing import Any

import matplotlib

NAME = "DejaVuSans.ttf"
# a page as docstrings name it
PAGE = re.compile(r"\bdocs/([a-z_0-9]+)\.md")


def font() -> Path:
    """Return the font file."""
    return Path(matplotlib.get_data_path()) / "fonts" / "ttf" / NAME


def on_post_build(config: Any) -> None:
    """Copy the font to where site.css looks for it."""
    folder = Path(config["site_dir"]) / "fonts"
    folder.mkdir(exist_ok=True)
    shutil.copyfile(font(), folder / NAME)


def linked(html: str) -> str:
    """Make links of the pages that docstrings name."""
    return PAGE.sub(r'<a href="../\1.html">\1</a>', html)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Link the pages of the reference."""
    return linked(html) if page.file.src_uri.startswith("api/") else html

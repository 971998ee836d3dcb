"""Makes the pictures of the documentation: a headless browser draws the page,
the page sends its picture back.

python docs/generate/pictures.py            needs chromium on the path, and Pillow
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from filling import PICTURES
from PIL import Image
from saving import save_image

from tabi.apps.viewer.page import Page
from tabi.model.world import World
from tabi.robots import hrp2

# WebGL by software, and nothing that phones home
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
]


def picture(page: Page, file: Path, width: int, height: int, seconds: float = 120.0) -> None:
    """Draw a page in a headless browser and save what it shows."""
    browser = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if browser is None:
        raise SystemExit("no chromium on the path; install one to make pictures")
    with tempfile.TemporaryDirectory() as profile:
        process = subprocess.Popen(
            [browser, *FLAGS, f"--user-data-dir={profile}", page.address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            end = time.monotonic() + seconds
            while not page.server.get_clients():
                if time.monotonic() > end:
                    raise SystemExit("the browser did not open the page")
                time.sleep(0.2)
            client = next(iter(page.server.get_clients().values()))
            time.sleep(4.0)  # meshes and shadows arrive after the connection
            # twice the size, then halved: smooth edges
            pixels = client.get_render(
                2 * height, 2 * width, transport_format="png", timeout=seconds
            )
        finally:
            process.terminate()
            process.wait(10)
    pixels = np.asarray(pixels)
    alpha = pixels[..., 3:] / 255.0 if pixels.shape[2] == 4 else 1.0
    flat = (pixels[..., :3] * alpha + 255 * (1 - alpha)).astype(np.uint8)
    image = Image.fromarray(flat).resize((width, height), Image.Resampling.LANCZOS)
    save_image(image, file)


def main() -> None:
    """All pictures."""
    world = World()
    world.add_ground()
    world.add_robot(hrp2())
    page = Page(world)
    try:
        picture(page, PICTURES / "hrp2.webp", 720, 900)
    finally:
        page.close()


if __name__ == "__main__":
    main()

"""The page that plays by itself: small, closed to the network, and drawn by a real browser."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from tabi.reporting import html
from tabi.reporting.frames import frames, rows

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)


def test_packed_numbers_are_within_half_a_step():
    values = np.random.default_rng(1).normal(size=(500, 3)) * (1.0, 10.0, 0.0) + (0, 0, 5.0)
    data = html.packed(values)
    assert html.unpacked(data) == pytest.approx(values, abs=0.51 * max(data["step"]))
    assert html.unpacked(html.packed(np.zeros((0, 3)))).shape == (0, 3)


def test_contents_are_the_frames_of_the_run(run):
    selected = rows(run, 60)
    data = html.contents(run, selected)
    found = frames(run, selected)
    assert data["frames"]["count"] == len(selected)
    # the crate and the robot are within two metres: 16 bits are 0.03 mm
    assert html.unpacked(data["frames"]["position"]) == pytest.approx(
        found.position.reshape(-1, 3), abs=3e-5
    )
    assert html.unpacked(data["frames"]["force"]) == pytest.approx(found.force, abs=0.05)
    assert sum(data["frames"]["arrows"]) == len(found.force)
    assert data["about"]["robots"] == ["hrp2"]


def test_page_is_small_and_names_no_other_place(run, tmp_path):
    (path,) = html.write(run, tmp_path / "run.html", rows(run, 60))
    text = path.read_text(encoding="utf-8")
    # meshes of HRP-2 half a megabyte, frames 0.6 kB each: ten seconds are a megabyte
    per_frame = len(json.dumps(html.contents(run, rows(run, 60))["frames"])) / len(rows(run, 60))
    assert len(text) < 1.5e6
    assert per_frame < 1500
    assert "default-src 'none'" in text
    assert not re.search(r"https?://|src=|@import|url\(", text)


def test_the_page_is_called_as_its_scene_is(run):
    told = replace(run, scene="title: A <robot> is pushed\n", meta={"name": "push"})
    assert "<title>A &lt;robot&gt; is pushed · tabi</title>" in html.page(told, rows(run, 10))
    assert html.contents(told, rows(run, 10))["about"]["title"] == "A <robot> is pushed"
    named = html.contents(replace(told, scene=""), rows(run, 10))
    assert named["about"]["title"] == "push"
    plain = replace(run, scene="", meta={})
    assert "<title>hrp2 · tabi</title>" in html.page(plain, rows(run, 10))


def test_names_of_a_hostile_recording_cannot_leave_their_script(run):
    world = replace(run.world, robot_names=["</script><script>alert(1)</script>"])
    page = html.page(replace(run, world=world), rows(run, 10))
    # its own two scripts end, and nothing else does
    assert page.count("</script>") == 2
    assert "<script>alert" not in page


def until(page, condition):
    """Wait for something in the page; asked for from outside,
    as the page itself lets nobody make code of words.
    """
    for _ in range(300):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"{condition} did not become true")


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
def test_browser_plays_the_page_without_a_network(run, tmp_path):
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="package playwright is not installed"
    )
    (path,) = html.write(run, tmp_path / "run.html", rows(run, 60))
    faults, asked = [], []
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(
            executable_path=BROWSER,
            args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
        )
        page = browser.new_context(viewport={"width": 480, "height": 360}, offline=True).new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console",
            lambda message: faults.append(message.text) if message.type == "error" else None,
        )
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        until(page, "Boolean(window.tabi)")
        assert page.evaluate("window.tabi.count") == len(rows(run, 60))
        # it plays at once
        until(page, "window.tabi.frame() > 0")
        assert page.locator("#play").inner_text() in ("▮▮", "▶")
        page.locator("#seek").fill("0")
        assert page.locator("#play").inner_text() == "▶"
        page.locator("#forth").click()
        page.locator("#forth").click()
        page.locator("#back").click()
        assert page.evaluate("window.tabi.frame()") == 1
        page.locator("#seek").fill("20")
        assert "0.320 / 0.400 s" in page.locator("#clock").inner_text()
        page.locator("#play").click()
        until(page, "window.tabi.frame() == window.tabi.count - 1")
        page.wait_for_timeout(300)
        # what is on the canvas: not only the floor
        colours = page.evaluate("""() => {
            const c = document.getElementById("view"), g = c.getContext("webgl");
            const p = new Uint8Array(4 * c.width * c.height);
            g.readPixels(0, 0, c.width, c.height, g.RGBA, g.UNSIGNED_BYTE, p);
            let dark = 0, red = 0;
            for (let i = 0; i < p.length; i += 4) {
                if (p[i] < 90 && p[i + 1] < 90) dark++;
                if (p[i] > 150 && p[i + 1] < 90 && p[i + 2] < 80) red++;
            }
            return [dark / (p.length / 4), red];
        }""")
        browser.close()
    assert faults == []
    assert all(url.startswith("file:") for url in asked)
    # black and blue parts of the robot; arrows
    assert 0.01 < colours[0] < 0.5
    assert colours[1] > 20

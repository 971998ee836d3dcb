"""Links to what a page shows: scene and settings, and the camera of the browser that copies one.

    http://127.0.0.1:8080/?scene=walk&speed=0.5&show=trails&camera=4.4,-2.4,1.5,1.9,0.5,0.6

A script of the page (``scripts/link.js``) requests ``/link``: without a query it gets the scene and
the settings that are not as they began; with one, that of the address it was opened by, they are
set. The camera is the browser's own, and stays with the script. A link can do what controls can,
and nothing else: a scene is one of the list, a number lies within its slider. Only the page's own
script can ask, as for ``/steer``; a page that another site's link has opened asks its user first.
"""

from __future__ import annotations

import http
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import viser
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

PATH, HEADER = "/link", ("X-Tabi", "link")
# letters of a query, and of a name in a message
MAX_QUERY_LENGTH, MAX_NAME_LENGTH = 2000, 60
# what the browser keeps to itself
OWN_KEYS = {"camera", "token", "elsewhere"}


class Links:
    """Settings of a scene's controls as links have them.

    Args:
        scene: name of the scene that is there. scenes: of all that can be opened.
        sliders, boxes: controls by their words in a link, as they begin.
    """

    def __init__(
        self,
        scene: str,
        scenes: Sequence[str],
        sliders: Mapping[str, viser.GuiSliderHandle],
        boxes: Mapping[str, viser.GuiCheckboxHandle],
    ) -> None:
        self.scene, self.scenes, self.sliders, self.boxes = scene, list(scenes), sliders, boxes
        self._start = {name: c.value for name, c in (*sliders.items(), *boxes.items())}

    def query(self) -> str:
        """Return scene and settings as the query of an address."""
        parts: dict[str, str] = {"scene": self.scene}
        for name, slider in self.sliders.items():
            if slider.value != self._start[name]:
                parts[name] = f"{slider.value:g}"
        for word, on in (("show", True), ("hide", False)):
            names = [n for n, b in self.boxes.items() if b.value is on is not self._start[n]]
            if names:
                parts[word] = ",".join(names)
        return urlencode(parts)

    def refusal(self, query: Mapping[str, str]) -> str:
        """Return why a link cannot be opened, in one sentence; empty where it can."""
        scene = query.get("scene", self.scene)
        if scene not in self.scenes:
            return (
                f"There is no scene {scene[:MAX_NAME_LENGTH]!r} in this session; the page shows "
                f"{self.scene!r}, and its list names the others."
            )
        for word in ("show", "hide"):
            for name in filter(None, query.get(word, "").split(",")):
                if name not in self.boxes:
                    return f"There is nothing named {name[:MAX_NAME_LENGTH]!r} to {word}."
        for name in query.keys() - {"scene", "show", "hide"} - OWN_KEYS:
            slider = self.sliders.get(name)
            if slider is None:
                return f"This page has no setting {name[:MAX_NAME_LENGTH]!r}."
            value = _number(query[name])
            if not slider.min <= value <= slider.max:
                return (
                    f"{name} is {query[name][:MAX_NAME_LENGTH]}; expected a number from "
                    f"{slider.min:g} to {slider.max:g}."
                )
        return ""

    def apply(self, query: Mapping[str, str]) -> None:
        """Set the controls as a link says; what it does not name is as it began."""
        shown, hidden = (query.get(word, "").split(",") for word in ("show", "hide"))
        for name, slider in self.sliders.items():
            value = _number(query[name]) if name in query else self._start[name]
            if slider.value != value:
                slider.value = value
        for name, box in self.boxes.items():
            on = name in shown or (self._start[name] and name not in hidden)
            if box.value != on:
                box.value = on


def hear(request: Request, links: Links, open_link: Callable[[dict[str, str]], None]) -> Response:
    """Answer a request of the page's script: with the query of what is there; to a link with
    nothing, or with the sentence that refuses it.

    Args:
        open_link: called with the query of a link that can be opened.
    """
    if request.headers.get_all(HEADER[0]) != [HEADER[1]]:
        return answer(http.HTTPStatus.FORBIDDEN, "")
    text = urlsplit(request.path).query
    if not text:
        return answer(http.HTTPStatus.OK, links.query())
    if len(text) > MAX_QUERY_LENGTH:
        return answer(http.HTTPStatus.OK, "This link is too long.")
    query = {name: values[0] for name, values in parse_qs(text).items()}
    refusal = links.refusal(query)
    if refusal:
        return answer(http.HTTPStatus.OK, refusal)
    open_link(query)
    return answer(http.HTTPStatus.OK, "")


def elsewhere(request: Request) -> Response | None:
    """Send a browser that follows another site's link to the same address, marked as such."""
    url = urlsplit(request.path)
    query = parse_qs(url.query)
    site = request.headers.get_all("Sec-Fetch-Site")
    linked = url.path == "/" and query.keys() - {"token"}
    if not linked or "elsewhere" in query or site not in (["cross-site"], ["same-site"]):
        return None
    response = answer(http.HTTPStatus.SEE_OTHER, "")
    response.headers["Location"] = f"/?{url.query}&elsewhere=1"
    return response


def answer(status: http.HTTPStatus, text: str) -> Response:
    """Return an answer of a few words."""
    body = text.encode()
    headers = Headers(
        {
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": str(len(body)),
            "Connection": "close",
            "Cache-Control": "no-store",
        }
    )
    return Response(status.value, status.phrase, headers, body)


def settings(controls: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return sliders and boxes of a page's controls by their words in a link."""
    names = ("speed", "friction", "restitution", "stiffness", "damping")
    sliders = {name: getattr(controls, name) for name in (*names, "bush_stiffness", "bush_damping")}
    sliders = {name: slider for name, slider in sliders.items() if slider.visible}
    return sliders, {**controls.shown, "follow": controls.follow_it}


def _number(text: str) -> float:
    try:
        return float(text[:32])
    except ValueError:
        return math.nan

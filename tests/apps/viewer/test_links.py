"""Links open a scene with its settings, can do nothing else, and are refused in a sentence."""

from types import SimpleNamespace

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request

from tabi.apps.viewer import links
from tabi.apps.viewer.links import Links

OURS = {"X-Tabi": "link"}


@pytest.fixture
def known():
    """Two scenes, a slider, and two boxes."""
    speed = SimpleNamespace(value=1.0, min=0.1, max=4.0)
    boxes = {"trails": SimpleNamespace(value=False), "follow": SimpleNamespace(value=True)}
    return Links("walk", ["walk", "bounce"], {"speed": speed}, boxes)


def asked(query, headers=None):
    path = f"/link?{query}" if query else "/link"
    return Request(path, Headers(OURS if headers is None else headers))


def test_a_link_says_what_is_not_as_it_began_and_sets_it_again(known):
    assert known.query() == "scene=walk"
    known.apply({"speed": "0.5", "show": "trails", "hide": "follow"})
    assert known.query() == "scene=walk&speed=0.5&show=trails&hide=follow"
    # what a link does not name is as it began
    known.apply({"speed": "2"})
    assert known.query() == "scene=walk&speed=2"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("scene=nowhere", "There is no scene 'nowhere'"),
        ("speed=9", "speed is 9; expected a number from 0.1 to 4."),
        ("speed=nan", "speed is nan; expected a number"),
        ("speed=fast", "speed is fast; expected a number"),
        ("gravity=0", "This page has no setting 'gravity'."),
        ("show=ghosts", "There is nothing named 'ghosts' to show."),
        ("scene=" + "x" * 3000, "This link is too long."),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence_and_nothing_is_done(known, query, said):
    opened = []
    response = links.hear(asked(query), known, opened.append)
    text = response.body.decode()
    assert text.startswith(said)
    assert text.endswith(".")
    assert text.count("\n") == 0
    assert opened == []


def test_a_link_is_opened_for_the_pages_own_script_only(known):
    opened = []
    assert links.hear(asked("scene=bounce", {}), known, opened.append).status_code == 403
    assert opened == []
    response = links.hear(asked("scene=bounce&camera=1,2,3,0,0,0"), known, opened.append)
    assert (response.status_code, response.body) == (200, b"")
    assert opened == [{"scene": "bounce", "camera": "1,2,3,0,0,0"}]
    assert links.hear(asked(""), known, opened.append).body == b"scene=walk"


# another port of this machine is the same site, and another server
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_of_another_site_is_marked_before_the_page_opens(site):
    away = {"Sec-Fetch-Site": site}
    response = links.elsewhere(Request("/?scene=walk", Headers(away)))
    assert response.status_code == 303
    assert response.headers["Location"] == "/?scene=walk&elsewhere=1"
    # marked already; typed by hand; nothing asked for; no page
    for path, headers in (
        ("/?scene=walk&elsewhere=1", away),
        ("/?scene=walk", {"Sec-Fetch-Site": "none"}),
        ("/?token=abc", away),
        ("/other?scene=walk", away),
    ):
        assert links.elsewhere(Request(path, Headers(headers))) is None

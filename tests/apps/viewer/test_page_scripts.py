"""Scripts come along with the page, and with nothing else."""

import gzip

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Response

from tabi.apps.viewer.page_scripts import FOLDER, tags, with_scripts


@pytest.mark.parametrize("packed", [False, True])
def test_a_page_brings_the_scripts_along_and_other_files_do_not(packed):
    page = b"<html><head><title>x</title></head><body></body></html>"
    body = gzip.compress(page) if packed else page
    kind = {"Content-Encoding": "gzip" if packed else "identity", "Content-Length": str(len(body))}
    made = with_scripts(Response(200, "OK", Headers({"Content-Type": "text/html"} | kind), body))
    assert made.headers["Content-Length"] == str(len(made.body))
    text = gzip.decompress(made.body) if packed else made.body
    assert text.count(b"<script>") == len(list(FOLDER.glob("*.js"))) > 1
    assert text.endswith(b"</script></head><body></body></html>")
    other = Response(200, "OK", Headers({"Content-Type": "image/png"} | kind), body)
    assert with_scripts(other) is other


def test_no_script_ends_early_and_all_keep_to_themselves():
    texts = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.js")}
    assert "steering.js" in texts
    # the browser would take the rest for the text of the page
    assert [name for name, text in texts.items() if "</script" in text.lower()] == []
    # no name of theirs is seen by viser, nor by the others
    assert [name for name, text in texts.items() if '(() => {\n  "use strict";' not in text] == []
    assert tags().count(b"</script>") == len(texts)

"""The playground of the site: its Python part, and its page in a browser with a stub of Pyodide.

Pyodide itself and its NumPy are no package of an index: what the page asks is answered by CPython.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from pipes.browser import BROWSER, BrowserPage
from typing import Any

import pytest

from account.files import ROOT
from account.site.playground import FILES, WHEEL, examples, playground_page

TEXTS = examples()
ASKED: list[dict[str, str]] = [
    *({"do": "check", **{k: t[k] for k in ("text", "language")}} for t in TEXTS.values()),
    {**TEXTS["softmax"], "do": "run", "target": "a5"},
    {**TEXTS["overrun"], "do": "run", "target": "a5"},
    {"do": "layout", "dtype": "f16", "shape": "32x64", "layout": "nz"},
    {"do": "layout", "dtype": "f16", "shape": "32x65", "layout": "nz"},
]
GLUE = """
import json, sys
sys.modules |= {"llvmlite": None, "greenlet": None}  # an import of them fails
from account.site.playground.inbrowser import answer
print(json.dumps([json.loads(answer(json.dumps(one))) for one in json.load(sys.stdin)]))
"""
STUB = """
const answers = %s;
export const loadPyodide = async () => ({
  loadPackage: async () => {},
  unpackArchive: () => {},
  FS: { writeFile: () => {} },
  runPython: () => (request) => JSON.stringify(answers[JSON.parse(request).do]),
});
"""


@pytest.fixture(scope="module")
def answers() -> list[dict[str, Any]]:  # Any: JSON
    """What the Python part answers, where neither LLVM nor greenlet is."""
    command = [sys.executable, "-c", GLUE]
    given = json.dumps(ASKED)
    done = subprocess.run(
        command, cwd=ROOT, input=given, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_the_python_part_checks_runs_and_draws(answers: list[dict[str, Any]]) -> None:
    softmax, overrun, stream, ran, failed, drawn, refused = answers
    said = {v["target"]: v["verdict"] for v in softmax["verdicts"]}
    assert said == {"cpu": "undecided", "a2a3": "refused", "a5": "undecided"}, softmax
    (wrong,) = overrun["diagnostics"]
    assert (wrong["slug"], wrong["line"]) == ("window-out-of-bounds", 9)
    assert {v["verdict"] for v in stream["verdicts"]} == {"legal"}
    assert ran["text"].startswith("y: float32 8x6\n[["), ran
    assert (failed["status"], failed["diagnostics"][0]["line"]) == (1, 9)
    assert drawn["svg"].startswith("<svg ")
    assert refused["svg"] == ""
    assert refused["diagnostics"] or refused["text"]


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that keeps no log on the terminal."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def address(tmp_path: Path, answers: list[dict[str, Any]]) -> Iterator[str]:
    """A folder with the page, as a site has it, on a port of this machine."""
    folder = tmp_path / "site"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}/"
    body = playground_page(base)
    block = body[body.index("<div id=") : body.index("</script>", body.index("<script src")) + 9]
    styles = f"<style>body {{ margin: 8px }} {FILES[1].read_text(encoding='utf-8')}</style>"
    meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head = f'{meta}<link rel="icon" href="data:,">{styles}'
    page = f"<!doctype html><html><head>{head}</head><body>{block}</body></html>"
    (folder / "page.html").write_text(page, encoding="utf-8")
    (folder / "playground.js").write_bytes(FILES[0].read_bytes())
    (folder / WHEEL).write_text('window.ptokitPlayground = { wheel: "", glue: "" };')
    canned = {"check": answers[1], "run": answers[3], "layout": answers[5]}
    (folder / "pyodide.mjs").write_text(STUB % json.dumps(canned))
    yield base
    server.shutdown()
    server.server_close()


@pytest.mark.skipif(BROWSER is None, reason="no browser on this machine")
def test_the_page_shows_what_it_is_told(address: str, tmp_path: Path) -> None:
    """On a telephone and on a desk: nothing is wider than the window, and a press marks a line."""
    page = BrowserPage(tmp_path / "profile")
    part = "document.querySelector('[data-part=\"{}\"]')".format
    idle = "!document.getElementById('kernel-playground').classList.contains('busy')"
    try:
        for width in (390, 1280):
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
            page.ask("Emulation.setDeviceMetricsOverride", **size)
            page.ask("Page.navigate", url=f"{address}page.html?{width}")
            page.until(f"location.search === '?{width}' && {part('example')}?.options.length === 3")
            page.value(f"{part('example')}.value = 'overrun', {part('example')}.onchange()")
            assert page.value(f"{part('text')}.value") == TEXTS["overrun"]["text"]
            for press, shown in (
                ("check", f"{part('result')}.querySelectorAll('.verdicts .refused').length === 3"),
                ("layout", f"{part('picture')}.querySelector('svg') !== null"),
            ):
                page.value(f"document.querySelector('button[data-do={press}]').click()")
                page.until(f"{idle} && {shown}")
            page.value(f"{part('result')}.querySelector('.place').click()")
            marked = page.value(
                "getSelection().toString() || document.activeElement.value.slice("
                "document.activeElement.selectionStart, document.activeElement.selectionEnd)"
            )
            assert re.match(r"  pto\.textract ins\(", marked)
            page.value("document.querySelector('button[data-do=run]').click()")
            page.until(f"{idle} && {part('result')}.textContent.startsWith('y: float32 8x6')")
            assert page.value("document.documentElement.scrollWidth") <= width
            assert page.problems == []
    finally:
        page.close()

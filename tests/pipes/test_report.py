"""The HTML report: what is in the file, and what a browser makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from pipes.browser import BROWSER, BrowserPage
from pipes.stream import ADD, DRAIN, LOAD, PRIME, RIGHT, STORE, flag, stream

import numpy as np
import pytest
from click.testing import CliRunner

import ptokit as pto
from examples.kernels.matrix import gemm
from ptokit.api.profiling import Profile
from ptokit.isa.model.words import MTE2, V
from ptokit.tools import reportcharts
from ptokit.tools.cli import main
from ptokit.tools.report import report, write_report

EVIL = "<img src=x onerror=alert(1)>\"'&.pto"
ITERATIONS = 4
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")


def profiled(text: str, name: str = "stream.pto", iterations: int = ITERATIONS) -> Profile:
    return pto.loads(text, name).profile(n=iterations, target="a2a3")


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text that people see."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, word: str) -> list[dict[str, str | None]]:
        """The elements of a class."""
        return [a for _, a in self.found if word in (a.get("class") or "").split()]


@pytest.fixture(scope="module")
def page() -> str:
    return report(profiled(stream(*RIGHT)))


def test_a_bar_for_each_instruction_at_its_cycles() -> None:
    found = profiled(stream(*RIGHT))
    bars = Elements(report(found)).of("bar")
    drawn = [(int(b["x"] or 0), int(b["width"] or 0)) for b in bars]
    assert sorted(drawn) == sorted((b.start, b.cycles) for b in found.timeline.bars)
    assert len(drawn) == 3 * ITERATIONS


def test_every_bar_names_a_line_of_the_source(page: str) -> None:
    elements = Elements(page)
    lines = {a["data-p"] for a in elements.of("has")}
    rows = {a["data-p"] for tag, a in elements.found if tag == "tr" and "data-p" in a}
    assert {a["data-p"] for a in elements.of("bar")} < lines
    assert rows == lines


def test_the_table_is_that_of_the_profile(page: str) -> None:
    found = profiled(stream(*RIGHT))
    rows = re.findall(r"<tr data-p.*?</tr>", page)
    told = [re.sub(r"<[^>]+>", " ", row).replace(",", "").split() for row in rows]
    assert [(int(c[0]), int(c[2]), int(c[3])) for c in told] == [
        (row.place[1], row.times, row.busy) for row in found.by_line() if row.place
    ]


def test_memory_by_time(page: str) -> None:
    """Two buffers in, two out: each load is in use until its addition is complete."""
    bars = profiled(stream(*RIGHT)).timeline.bars
    loads, adds = ([b for b in bars if b.queue.pipe is pipe] for pipe in (MTE2, V))
    tiles = [tile for tile in Elements(page).of("tile") if "tload" in (tile["data-tip"] or "")]
    assert [(int(t["x"] or 0), int(t["width"] or 0)) for t in tiles] == [
        (load.start, add.complete - load.start) for load, add in zip(loads, adds, strict=True)
    ]
    assert [tile["y"] for tile in tiles] == ["72", "48", "72", "48"]  # of 96, address 0 below
    assert "writes %in: bytes 0 to 4,095 of UB" in (tiles[0]["data-tip"] or "")


def test_nothing_is_fetched(page: str) -> None:
    assert not re.search(r"(?i)(src|href|url|import)\s*[=(]|https?:", page.replace(SVG, ""))
    (policy,) = (a["content"] for _, a in Elements(page).found if "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


SVG = "http://www.w3.org/2000/svg"


def test_what_users_wrote_is_text() -> None:
    text = stream(*RIGHT).replace("  return", "  // </script><script>alert(1)</script>\n  return")
    page = report(profiled(text, EVIL))
    elements = Elements(page)
    assert {tag for tag, _ in elements.found}.isdisjoint({"img", "iframe", "object"})
    assert [tag for tag, _ in elements.found].count("script") == 1
    assert EVIL in elements.text
    assert "// </script><script>alert(1)</script>" in elements.text


HAZARD = [
    line
    for line in (*LOAD, *ADD, *STORE)
    if line not in (flag("wait", "2v", "b"), flag("set", "2v", "b"))
]


def test_hazards_of_the_launch(page: str) -> None:
    assert "None in this launch." in page
    text = Elements(report(profiled(stream(PRIME, HAZARD, DRAIN)))).text
    assert "error[hazard]: pto.tadd: data hazard between two instructions" in text
    assert "a flag MTE2 -> V: set after line 26" in text


def test_without_flags_nothing_is_said_of_hazards() -> None:
    text = Elements(report(profiled(stream([], [LOAD[1], ADD[2], STORE[1]], [])))).text
    assert "Not looked for: no synchronisation found" in text


def test_many_bars_are_joined_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reportcharts, "MOST_DRAWN", 20)
    elements = Elements(report(profiled(stream(*RIGHT), iterations=16)))
    assert len(elements.of("bar")) == 3 * 6
    assert "48 instructions: up to 3 neighbours of a queue are drawn as one bar" in elements.text
    assert "The first 20 of 32 writes." in elements.text


def test_a_program_that_issues_nothing() -> None:
    elements = Elements(report(profiled(stream(*RIGHT), iterations=0)))
    assert elements.of("bar") == []
    assert "Nothing is written to the memories of a core." in elements.text


def test_a_kernel_in_python_of_several_blocks() -> None:
    a, b, c = (np.zeros((100, 100), kind) for kind in (np.float16, np.float16, np.float32))
    found = gemm.profile(a, b, c, target="a2a3", blocks=2, bm=64)
    elements = Elements(report(found))
    assert len(elements.of("bar")) == len(found.timeline.bars)
    assert [a["value"] for tag, a in elements.found if tag == "option"] == ["0", "1"]
    assert [title for a in elements.of("core-name") if (title := a["title"])] == [
        "block 0",
        "block 1",
    ]
    assert "pto.matmul(left, right, acc=acc" in elements.text


def test_the_command(tmp_path: Path) -> None:
    kernel, html = tmp_path / "stream.pto", tmp_path / "stream.html"
    kernel.write_text(stream(*RIGHT))
    words = ["profile", str(kernel), "n=4", "--target", "a2a3", "--html"]
    assert CliRunner().invoke(main, [*words, str(html)]).exit_code == 0
    assert len(Elements(html.read_text(encoding="utf-8")).of("bar")) == 3 * ITERATIONS
    refused = CliRunner().invoke(main, [*words, str(kernel)])
    assert (refused.exit_code, "that is the kernel itself" in refused.output) == (2, True)
    lost = CliRunner().invoke(main, [*words, str(tmp_path / "nix" / "a.html")])
    assert (lost.exit_code, "cannot write" in lost.output) == (2, True)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserPage]:
    folder = tmp_path_factory.mktemp("report")
    write_report(profiled(stream(PRIME, HAZARD, DRAIN), EVIL), folder / "report.html")
    made = BrowserPage(folder / "profile")
    try:
        made.open(folder / "report.html")
        yield made
    finally:
        made.close()


CHOSEN = "[...document.querySelectorAll('.lines .chosen span')].map(e => +e.textContent)"
BARS = "document.querySelectorAll('.pipes .bar')"
VIEW = "document.querySelector('svg.time').viewBox.baseVal"


@needs_browser
def test_a_browser_opens_it_without_errors_and_fetches_nothing(browser: BrowserPage) -> None:
    assert browser.value(f"{BARS}.length") == 3 * ITERATIONS
    assert browser.value("document.querySelectorAll('#axis text').length") > 2
    assert browser.value("document.querySelector('.words text').textContent") == "tload"
    assert browser.problems == []
    assert [url for url in browser.requests if not url.startswith("file:")] == []


@needs_browser
def test_a_click_on_a_bar_selects_its_line_and_the_other_way_round(browser: BrowserPage) -> None:
    browser.click(f"[...{BARS}].find(e => e.dataset.tip.startsWith('tload'))")
    assert browser.value(CHOSEN) == [26]
    assert browser.value("document.querySelectorAll('.pipes .bar.chosen').length") == ITERATIONS
    add = "[...document.querySelectorAll('.lines .has')].find(e => /pto.tadd/.test(e.textContent))"
    add += ".querySelector('span')"  # the line itself is wider than what is seen of it
    browser.click(add)
    assert browser.value(CHOSEN) == [28]
    tips = "[...document.querySelectorAll('.bar.chosen')].map(e => e.dataset.tip.split(' ')[0])"
    assert browser.value(tips) == ["tadd"] * ITERATIONS
    browser.click("document.querySelector('pre.error')")
    assert browser.value(CHOSEN) == []  # it comes from the same line: a second click
    assert browser.problems == []


@needs_browser
def test_hover_wheel_and_drag(browser: BrowserPage) -> None:
    x, y = browser.middle(f"{BARS}[0]")
    browser.mouse("mouseMoved", x, y)
    assert browser.value("document.getElementById('tip').textContent").startswith("tadd")
    whole = browser.value(f"{VIEW}.width")
    x, y = browser.middle("document.querySelector('.pipes .view')")
    browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400)
    browser.until(f"{VIEW}.width < {whole} * 0.5")
    start = browser.value(f"{VIEW}.x")
    assert start == pytest.approx(whole * 0.5 * (1 - 2.718281828**-1), rel=0.02)
    browser.mouse("mousePressed", x, y, button="left", clickCount=1)
    browser.mouse("mouseMoved", x + 60, y, button="left")
    browser.mouse("mouseReleased", x + 60, y, button="left", clickCount=1)
    browser.until(f"{VIEW}.x < {start}")
    assert browser.value(CHOSEN) == []  # to move is no click
    browser.click("document.getElementById('whole')")
    browser.until(f"{VIEW}.width === {whole}")
    assert browser.problems == []


@needs_browser
def test_a_click_on_a_head_sorts_the_lines(browser: BrowserPage) -> None:
    browser.click("document.querySelectorAll('th')[3]")
    cycles = browser.value(
        "[...document.querySelectorAll('tbody tr')]"
        ".map(row => Number(row.cells[3].textContent.replace(/,/g, '')))"
    )
    assert cycles == sorted(cycles, reverse=True)
    assert cycles[0] > 0


@needs_browser
def test_the_policy_refuses_scripts_that_are_not_its_own(
    browser: BrowserPage, page: str, tmp_path: Path
) -> None:
    evil = '<script>document.title = "evil"</script><p onclick="alert(1)" id=evil>x</p>'
    (tmp_path / "evil.html").write_text(page.replace("<main>", f"<main>{evil}"), "utf-8")
    browser.open(tmp_path / "evil.html")
    browser.click("document.getElementById('evil')")
    assert browser.value("document.title") == "@stream on a2a3"
    assert len(browser.problems) == 2

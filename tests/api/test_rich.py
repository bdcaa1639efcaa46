"""What notebooks show of each object: its facts are those of the text, and a browser draws it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from pipes.browser import BROWSER, BrowserPage

import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from every import every
from examples.kernels.attention import flash
from ptokit.diagnostics.rich import Rich
from ptokit.values.dtypes import DTYPES

EVIL = "<img src=x onerror=alert(1)>"
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")


def drawn(shown: object) -> str:
    """What a notebook shows."""
    assert isinstance(shown, Rich)
    return shown._repr_html_()  # pyright: ignore[reportPrivateUsage]


def words(html: str) -> str:
    """The text of a fragment, without its style."""
    return unescape(re.sub(r"<style>.*?</style>|<[^>]+>", "", html, flags=re.S))


class Balanced(HTMLParser):
    """Elements that are open; none may be left, and none closed that is not the last one."""

    EMPTY = ("img", "meta")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open += [] if tag in self.EMPTY else [tag]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def refused() -> pto.PtoError:
    text = (ROOT / "examples" / "overrun.pto").read_text(encoding="utf-8")
    with pytest.raises(pto.PtoError) as caught:
        pto.loads(text, f"{EVIL}.pto").run(target="a5")
    return caught.value


@pytest.fixture(scope="module")
def objects() -> dict[str, object]:
    """One of each kind."""
    half = np.linspace(0, 1, 64 * 64).reshape(64, 64).astype(np.float16)
    out = np.zeros((64, 64), np.float32)
    flash.on(engine="reference")(half, half, half, out)
    program = flash.program(half, half, half, out)
    partly = pto.tile_vec(pto.f32, 16, 32, valid=(12, 20))
    partly[2:9, 3:14] = np.nan
    partly[2, 3] = 7
    race = pto.load(ROOT / "examples" / "race.pto")
    return {
        "tile": pto.tile("mat", pto.f16, 64, 64, layout="nz", data=half),
        "partly written": partly,
        "layout": pto.tile("mat", pto.f16, 64, 64, layout="nz").type,
        "tensor": pto.tensor(out),
        "convolution tile": pto.conv_tile(pto.f16, (1, 2, 4, 4, 16), layout="nc1hwc0"),
        "kernel": flash,
        "program": program,
        "problem": refused(),
        "findings": race.races("a2a3"),
        "nothing": race.check("a2a3"),
        "verdicts": race.verdicts("all"),
        "memory": program.memory("a5"),
        "run": race.execute({"x": out[:16], "y": out[16:32]}, engine="reference"),
        "profile": flash.profile(half, half, half, out, target="a5"),
        "comparison": pto.compare(out, out + 1),
        "tuning": pto.autotune(flash, half, half, half, out, space={"bn": [32, 64, 7]}),
    }


def test_every_view_is_a_closed_fragment_that_keeps_its_style_to_itself(
    objects: dict[str, object],
) -> None:
    for name, shown in objects.items():
        html = drawn(shown)
        assert Balanced(html).open == [], name
        assert "<script" not in html
        assert not re.search(r"(?i)(href|url|import)\s*[=(]", html), name
        (style,) = re.findall(r"<style>(.*?)</style>", html, re.S)
        rules = re.findall(r"([^{}]+)\{[^{}]*\}", style)
        assert all(".ptokit" in each for rule in rules for each in rule.split(",")), name


def test_a_diagnostic_has_the_characters_of_its_text() -> None:
    problem = refused()
    html = drawn(problem)
    assert words(html) == str(problem)
    assert words(drawn(problem.diagnostics[0])) == problem.diagnostics[0].render()
    assert "<span class=carets>^^^^</span>" in html
    assert "<img" not in html


def test_nobody_catches_it_in_a_notebook() -> None:
    problem = refused()
    lines = problem._render_traceback_()  # pyright: ignore[reportPrivateUsage] - IPython calls it
    assert "\n".join(lines) == str(problem)


@every("layout", ["nz", "zn", "zz", "nn"])
def test_a_layout_shows_the_offsets_of_its_index_map(layout: str) -> None:
    kind = pto.tile("mat", pto.f16, 64, 32, layout=layout).type
    boxes, inside = (
        [int(n) for n in re.findall(r"<text[^>]*>(\d+)<", figure)]
        for figure in drawn(kind).split("<figure>")[1:]
    )
    high, wide = kind.box.rows or 1, kind.box.cols or 1
    every = [kind.map.offset(r, c) for r in range(0, 64, high) for c in range(0, 32, wide)]
    assert boxes == [offset // (high * wide) for offset in every]
    rows, cols = ([*range(6), 15] if n == 16 else [*range(n)] for n in (high, wide))
    assert inside == [kind.map.offset(r, c) for r in rows for c in cols]


def test_a_tile_shows_its_text_and_the_range_of_its_values() -> None:
    tile = pto.tile_vec(pto.f32, 8, 8)
    tile[2:4, 1:5] = [[1, 2, 3, 4], [5, 6, 7, 8.5]]
    said = words(drawn(tile))
    assert said.startswith("Tile vec f32 8x8 nd at 0x0 of its own memory")
    assert "18.5" in said, "lowest and highest, the ramp between them"
    assert all(line in said for line in repr(tile).removesuffix(">").splitlines()[1:])


@every("dtype", DTYPES, ids=str)
def test_tiles_of_every_element_type_are_drawn(dtype: pto.DType) -> None:
    tile = pto.tile("vec", dtype, 32, 64)
    assert "no value" in words(drawn(tile))
    tile[2:5, 2:6] = 1
    assert "11values" in words(drawn(tile)), "lowest and highest"
    assert f"vec {dtype} 32x64 nd" in words(drawn(tile.type))


@every("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_has_a_colour(value: float) -> None:
    data = np.zeros((4, 8), np.float32)
    others = drawn(pto.tile_vec(pto.f32, 4, 8, data=data))
    data[1, 2] = value
    assert drawn(pto.tile_vec(pto.f32, 4, 8, data=data)) != others


def test_what_has_no_element() -> None:
    assert words(drawn(pto.tensor(np.zeros((3, 0), np.float32)))) == "Tensor global f32 3x0"
    assert "valid 0x8" in words(drawn(pto.tile_vec(pto.f32, 8, 8, valid=(0, 8))))


def test_a_tile_that_is_recorded_has_no_values() -> None:
    seen: list[str] = []

    @pto.kernel
    def looked_at(x: pto.In, y: pto.Out) -> None:
        tile = pto.load(pto.block(x, 0, 0, 8, 8))
        seen.extend(words(drawn(shown)) for shown in (x, tile))
        pto.store(pto.block(y, 0, 0, 8, 8), tile)

    array = pto.spec("f32", (8, 8))
    looked_at.program(array, array)
    assert "<tile %tile vec f32 8x8 nd, recording>" in seen[1]
    assert len(seen) == 2


def test_a_list_of_findings_is_a_list() -> None:
    found = pto.load(ROOT / "examples" / "overrun.pto").check("all")
    assert found == [*found]
    assert words(drawn(found)) == found[0].render()


def test_the_text_of_a_program_is_folded() -> None:
    program = pto.load(ROOT / "examples" / "overrun.pto")
    html = drawn(program)
    assert program.text() in words(html)
    assert html.count("<details>") == 1
    assert "a5: refused" in words(html)


@pytest.fixture(scope="module")
def pages(objects: dict[str, object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of all views in the theme of each notebook, and without one."""
    folder = tmp_path_factory.mktemp("rich")
    inside = "".join(f"<section class=o>{drawn(shown)}</section>" for shown in objects.values())
    inside += "<p id=outside>outside</p><table id=other><tr><td>1</td></tr></table>"
    # what JupyterLab says of lists and tables in an output
    host = "<style>tbody tr:nth-child(odd) { background: red } .o dt { float: left; width: 20% }"
    inside += f"{host} .o dd {{ margin-left: 20% }} .o pre {{ background: red }}</style>"
    themes = {"jupyter-light": 'data-jp-theme-light="true"', "code-light": "class=vscode-light"}
    themes |= {"jupyter-dark": 'data-jp-theme-light="false"', "code-dark": "class=vscode-dark"}
    for name, theme in {**themes, "none": ""}.items():
        page = f"<!DOCTYPE html><meta charset=utf-8><title>x</title><body {theme}>{inside}"
        (folder / f"{name}.html").write_text(page.replace("<details", "<details open"), "utf-8")
    return folder


@pytest.fixture(scope="module")
def browser(pages: Path) -> Iterator[BrowserPage]:
    made = BrowserPage(pages / "profile")
    try:
        yield made
    finally:
        made.close()


COLOURS = """(of => [getComputedStyle(of).backgroundColor, getComputedStyle(of).color,
  getComputedStyle(document.querySelector('.cell')).fill])(document.querySelector('.ptokit'))"""
SIZES = """[...document.querySelectorAll('.ptokit, .ptokit svg, .ptokit img, .ptokit pre')]
  .filter(e => e.getBoundingClientRect().width < 10 || e.getBoundingClientRect().height < 10
    || (e.tagName === 'IMG' && !e.naturalWidth)).map(e => e.outerHTML.slice(0, 80))"""
RED = """[...document.querySelectorAll('.ptokit *')]
  .filter(e => getComputedStyle(e).backgroundColor === 'rgb(255, 0, 0)').length"""
FIGURES = """new Set([...document.querySelectorAll('.ptokit dt')]
  .map(e => e.getBoundingClientRect().top)).size"""
WIDE = "[...document.querySelectorAll('.ptokit')].filter(e => e.scrollWidth > e.clientWidth).length"


def colours(browser: BrowserPage, page: Path, dark: bool) -> list[str]:
    """Paper, ink and a cell of a picture, for people who prefer dark or light pages."""
    wanted = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.ask("Emulation.setEmulatedMedia", features=[wanted])
    browser.open(page)
    found: list[str] = browser.value(COLOURS)
    return found


def theme_decides(browser: BrowserPage, pages: Path) -> None:
    """The theme of a notebook decides, else what the reader prefers."""
    light = colours(browser, pages / "none.html", dark=False)
    dark = colours(browser, pages / "none.html", dark=True)
    assert all(a != b for a, b in zip(light, dark, strict=True))
    assert colours(browser, pages / "jupyter-light.html", dark=True) == light
    assert colours(browser, pages / "code-light.html", dark=True) == light
    assert colours(browser, pages / "jupyter-dark.html", dark=False) == dark
    assert colours(browser, pages / "code-dark.html", dark=False) == dark


@needs_browser
def test_a_browser_draws_everything_without_errors_light_and_dark(
    browser: BrowserPage, pages: Path, objects: dict[str, object]
) -> None:
    browser.open(pages / "none.html")
    assert browser.value("document.querySelectorAll('.ptokit').length") == len(objects)
    assert browser.value(SIZES) == []
    assert browser.value(WIDE) == 0, "long lines scroll inside their view"
    assert browser.problems == []
    kinds = {url.partition(":")[0] for url in browser.requests}
    assert kinds == {"file", "data"}
    assert browser.value(RED) == 0
    assert browser.value(FIGURES) == 1, "each name in one line, all figures in one row"
    plain = "getComputedStyle(document.getElementById('{}')).{}"
    assert browser.value(plain.format("outside", "color")) == "rgb(0, 0, 0)"
    assert browser.value(plain.format("other", "borderCollapse")) == "separate"
    theme_decides(browser, pages)

"""The site has a page for every instruction and diagnostic, and no link that leads nowhere."""

from __future__ import annotations

import json
import os
import posixpath
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from account.site.build import NAV, build, site_pages
from account.site.guides import DOCS, assets
from fuzz.scale import sampled
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.isa.index import pages

LINK = re.compile(r"\]\((?!https?:)([^)\s#]+)(?:#[^)]*)?\)")
CODE = re.compile(r"^(```+).*?^\1$|`[^`\n]+`", re.M | re.S)
BLOCK = re.compile(r"^```.*?^```$", re.M | re.S)
PAGES = site_pages()


@cache
def text(place: str) -> str:
    return PAGES[place]()


def test_every_page_of_the_instruction_set_has_a_reference() -> None:
    for page in pages():
        assert f"reference/{page.mnemonic()}.md" in PAGES
    assert {f"reference/diagnostics/{slug}.md" for slug in CATALOGUE} <= set(PAGES)


def test_the_navigation_has_every_guide_and_nothing_that_is_not_there() -> None:
    named = set(re.findall(r'"([^"]+\.md)"', json.dumps(NAV, ensure_ascii=False)))
    assert named <= set(PAGES)
    guides = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")} - {
        "isa.md"
    }  # the reference is instead
    assert guides <= named, "give it a title in NAV"


def test_links_lead_to_pages_of_the_site() -> None:
    """Of a sample of the reference; `make site` looks at all, headings too."""
    there = {*PAGES, *(path.name for path in assets())}
    reference = [place for place in PAGES if place.startswith("reference")]
    listed = [*(set(PAGES) - set(reference)), *sampled(reference, 40)]
    lost = [
        f"{place}: {link}"
        for place in listed
        for link in LINK.findall(CODE.sub("", text(place)))
        if posixpath.normpath(posixpath.join(posixpath.dirname(place), link)) not in there
    ]
    assert lost == []


def test_a_guide_in_chinese_shows_code_of_the_english_one() -> None:
    for path in sorted(DOCS.glob("zh/*.md")):
        english = BLOCK.findall((DOCS / path.name).read_text(encoding="utf-8"))
        shown = BLOCK.findall(path.read_text(encoding="utf-8"))
        assert shown
        assert set(shown) <= set(english), f"{path.name} shows other code than the guide in English"


def test_an_instruction_has_its_rules_and_an_example_with_a_verdict() -> None:
    for page in sampled(pages(), 40):
        shown = text(f"reference/{page.mnemonic()}.md")
        assert page.summary().split("`")[0].split("[")[0] in shown.replace("\\", "")
        assert "Element types" in shown
        if "## Example" in shown:
            assert "`ptokit check` says: cpu: " in shown


def test_a_diagnostic_has_a_program_and_what_is_printed() -> None:
    without = {
        slug for slug in CATALOGUE if "that gets it" not in text(f"reference/diagnostics/{slug}.md")
    }
    assert without <= {
        *("not-utf8", "nesting-too-deep", "time-limit"),  # shown by no program text
        *("no-compiler", "cxx-compile-error", "cxx-launch"),  # of kernels in C++
        *("unwatched", "debug-differs", "argument-shape"),  # shown by tests of their own
    }


@pytest.mark.skipif(
    "PTOKIT_FUZZ" not in os.environ or find_spec("zensical") is None,
    reason="`make test-all` and `make site` build it",
)
def test_the_whole_site(tmp_path: Path) -> None:
    build(tmp_path / "site")
    found = {path.name for path in (tmp_path / "site").rglob("*.html")}
    assert {f"{page.mnemonic()}.html" for page in pages()} <= found

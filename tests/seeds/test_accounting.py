"""The laws of the account: every statement is answered, by tests that exist, in order."""

from __future__ import annotations

import ast
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from account.files import ROOT, generated
from account.seeds import seeds_page
from account.statements import DOCUMENTS, KINDS, Document, statements
from every import every
from ptokit.isa.disputes import DISPUTES

SEEDS = ROOT.parent / "shared" / "seeds"
FILES = {
    "textract": "000_683eb50e03c84764.txt",
    "textract_zh": "001_014f37fc5347754c.txt",
    "layout": "002_ec52354468a8422e.txt",
    "tgather": "003_257f58404f13b86f.txt",
    "subview": "004_b764f3d4968e19d1.txt",
}
EACH = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
READ = pytest.mark.skipif(not SEEDS.is_dir(), reason="the documents are not beside this checkout")


@cache
def functions_of(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(n.name for n in tree.body if isinstance(n, ast.FunctionDef))


@cache
def text_of(document: str) -> list[str]:
    return (SEEDS / FILES[document]).read_text(encoding="utf-8").splitlines()


def test_every_named_test_exists() -> None:
    for statement in statements():
        for node in statement.shown_by:
            path, _, name = node.partition("::")
            assert name.startswith("test_")
            assert name in functions_of(path), f"{node} does not exist"


def test_every_dispute_exists() -> None:
    missing = {s.dispute for s in statements() if s.dispute is not None} - set(DISPUTES)
    assert not missing


def test_every_statement_is_answered() -> None:
    """By a test; a disputed one too, because a choice is shown like anything else."""
    for statement in statements():
        assert statement.shown_by, statement.says
        assert statement.kind in KINDS
        assert statement.says.strip() == statement.says != ""


def test_every_test_of_a_page_answers_something() -> None:
    cited = {node for s in statements() for node in s.shown_by}
    here = Path("tests/seeds")
    for path in sorted((ROOT / here).glob("test_*.py")):
        if path.name != Path(__file__).name:
            names = {n for n in functions_of(str(here / path.name)) if n.startswith("test_")}
            idle = {n for n in names if f"{here / path.name}::{n}" not in cited}
            assert not idle, f"{path.name}: {idle}"


# disputed between the documents themselves: both readings must be in the account
BETWEEN = {
    "C1": {"tgather"},
    "C2": {"textract", "layout"},
    "C3": {"textract", "layout"},
    "C5": {"layout"},
    "C8": {"textract", "textract_zh", "layout"},
    "C9": {"textract", "textract_zh"},
    "C10": {"textract", "textract_zh"},
    "C34": {"textract", "layout", "subview"},
}


@every("name", BETWEEN)
def test_both_readings_appear(name: str) -> None:
    readings = [s for s in statements() if s.dispute == name]
    assert {s.document for s in readings} >= BETWEEN[name]
    assert len({s.says for s in readings}) >= 2
    page = seeds_page()
    assert name not in DISPUTES or f"### {name}: {DISPUTES[name].question}" in page


@EACH
def test_statements_stand_in_order(document: Document) -> None:
    starts = [s.lines[0] for s in document.statements]
    loose = [b for a, b in pairwise(starts) if b < a - 3]
    assert not loose
    sections = [s.section for s in document.statements]
    changes = [b for a, b in pairwise(["", *sections]) if a != b]
    assert len(changes) == len(set(changes)) == len(document.sections)


@READ
@EACH
def test_every_line_is_accounted_for(document: Document) -> None:
    """No line of the document is left out, none is invented, and headings state nothing."""
    stated = {n for s in document.statements for n in range(s.lines[0], s.lines[1] + 1)}
    assert not stated & document.rest
    lines = dict(enumerate(text_of(document.name), 1))
    filled = {n for n, line in lines.items() if line.strip()}
    missing = {n: lines[n] for n in sorted(filled - stated - document.rest)}
    assert not missing
    assert document.rest <= filled
    assert max(stated) <= len(lines)


@READ
@EACH
def test_sections_are_the_headings_in_order(document: Document) -> None:
    at = 0
    headings = [
        (n, line.strip().rstrip("¶"))
        for n, line in enumerate(text_of(document.name), 1)
        if n in document.rest
    ]
    for section in document.sections:
        own = [s.lines[0] for s in document.statements if s.section == section]
        found = [n for n, text in headings if text.startswith(section) and at < n < own[0]]
        assert found, f"{section} is no heading before line {own[0]}"
        at = found[0]


@READ
@EACH
def test_lines_of_syntax_are_given_as_they_are(document: Document) -> None:
    """Every line of assembly of the document is a statement, letter for letter."""
    said = [re.sub(r"\s+", "", s.says) for s in document.statements]
    for line in text_of(document.name):
        code = line.strip()
        if "!pto.tile" in code and not code.startswith(("#", "//")):
            assert any(re.sub(r"\s+", "", code) in text for text in said), code


@READ
def test_no_sentence_is_copied() -> None:
    """Names, formulas and syntax apart, nothing stands here as it stands there."""
    words = re.compile(r"[a-z]+")
    for document in DOCUMENTS:
        source = " ".join(words.findall("\n".join(text_of(document.name)).lower()))
        for statement in document.statements:
            if statement.kind in ("syntax", "signature") or "!pto" in statement.says:
                continue
            prose = words.findall(re.sub(r"\S*[A-Z_.:\[\]<=>+]\S*", " ", statement.says))
            for start in range(len(prose) - 5):
                run = " ".join(prose[start : start + 6])
                assert run not in source, run


def test_the_page_is_fresh() -> None:
    path = ROOT / "docs" / "seeds.md"
    assert path in generated()
    assert path.read_text(encoding="utf-8") == seeds_page(), "run `make docs`"

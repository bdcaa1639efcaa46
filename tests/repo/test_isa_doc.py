"""docs/isa.md: the names of the manual, and the record of what was replayed."""

from __future__ import annotations

import csv
import json
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from account.isa import MANUAL, RECORDED, element_types, is_there, isa_page, manual, types_on
from ptokit.isa.index import lookup, pages, replayed
from ptokit.isa.model.targets import TARGETS

SHARED = Path(__file__).parents[3] / "shared"
NAMES, VECTORS = SHARED / "spec" / "ops.tsv", SHARED / "conformance"
PAGES = {page.__name__: page for page in pages()}


@pytest.mark.skipif(not NAMES.is_file(), reason="the list of names is not beside this checkout")
def test_the_names_are_those_of_the_manual() -> None:
    with NAMES.open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    printed = {r["op"] for r in rows if r["manual"] == "yes" and r["kind"] != "host"}
    assert manual() == sorted(printed), f"list them in {MANUAL.name}"


def test_a_name_is_a_row_or_missing() -> None:
    text = isa_page()
    for name in manual():
        for page in lookup(name):
            assert f"| `{page.mnemonic()}` | [{page.__name__}](" in text
        assert lookup(name) or f"`{name}`" in text.partition("Not yet: ")[2].partition("\n")[0]


def test_element_types_are_those_of_the_rules() -> None:
    assert element_types(PAGES["TRowSum"]) == (
        "cpu: f32 f16 bf16 i16 i32; a2a3: f32 f16 i16 i32; a5: f32 f16 i16 i32 i64 u64"
    )
    assert element_types(PAGES["TAddC"]).endswith("a2a3, a5: not there")


def test_only_an_instruction_that_a_target_lacks_is_not_there() -> None:
    """A required attribute or scratch tile refuses no element type."""
    for page, target in product(PAGES.values(), TARGETS.values()):
        absent = types_on(page, target) == "not there"
        assert absent is not is_there(page, target), f"{page.__name__} on {target}"


@pytest.mark.skipif(
    not VECTORS.is_dir(), reason="the recorded vectors are not beside this checkout"
)
def test_the_record_counts_the_cases_that_there_are() -> None:
    cases = Counter[str]()
    for listing in VECTORS.glob("*.json"):
        for case in json.loads(listing.read_text(encoding="utf-8")):
            page = replayed(case["op"], case["form"])
            cases[page.__name__ if page else ""] += 1
    record = json.loads(RECORDED.read_text(encoding="utf-8"))
    counted = {page: every for page, (_, every) in record.items()}
    assert counted == {page: cases[page] for page in counted}, "python -m account.recorded DIR"

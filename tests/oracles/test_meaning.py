"""The law of meaning: every page does in both engines what its oracle says, byte for byte."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import cast

import numpy as np
import pytest

from oracles import cases, harness, registry
from oracles.cases import check
from oracles.registry import MEANINGS, binary
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.vectors import VEC_A2A3, VEC_A5
from ptokit.isa.pages.elementwise.families import TILES, Binary, pointwise
from ptokit.values.arrays import Array

EXECUTED = [p for p in pages() if not p.unexecuted]


@pytest.mark.parametrize("page", EXECUTED, ids=lambda p: p.__name__)
def test_the_page_means_what_its_oracle_says(page: type[Instr]) -> None:
    check(page)


def declared(f: Callable[[Array, Array], Array]) -> type[Instr]:
    """TLeast as one line of its family, in this process only."""
    from ptokit.isa.lang import instr as lang

    rules = pointwise(*TILES, a2a3=VEC_A2A3, a5=VEC_A5)
    try:
        return cast("type[Instr]", type("TLeast", (Binary,), {"__doc__": "a"}, f=f, rules=rules))
    finally:
        lang.PAGES.pop()


@pytest.fixture
def no_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {n: m for n, m in MEANINGS.items() if n != "TLeast"}
    monkeypatch.setattr(cases, "MEANINGS", known)


@pytest.fixture
def an_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line of `binary`, in a table of this test."""
    known = {n: m for n, m in MEANINGS.items() if n != "TLeast"}
    for user in (registry, cases, harness):
        monkeypatch.setattr(user, "MEANINGS", known)
    binary(TLeast=lambda a, b: np.where(b < a, b, a))


@pytest.mark.usefixtures("an_oracle")
def test_a_new_member_of_a_family_is_one_line_and_its_meaning() -> None:
    check(declared(Array.minimum))


def test_its_example_follows_from_the_family() -> None:
    """So the manual, and the document of the native engine, have a program without another line."""
    assert example_program(declared(Array.minimum)).startswith("%dst = tleast %src0, %src1 : ")


@pytest.mark.usefixtures("an_oracle")
def test_a_body_that_does_something_else_fails() -> None:
    with pytest.raises(AssertionError, match=r"dst\[\d+, \d+\] \(\w+\) is 0x\w+, the oracle says"):
        check(declared(operator.sub))


@pytest.mark.usefixtures("no_oracle")
def test_a_page_without_meaning_is_told_what_to_write_and_where() -> None:
    with pytest.raises(pytest.fail.Exception) as failure:
        check(declared(Array.minimum))
    assert "`TLeast=lambda a, b: ...` in `binary` of vectors.py" in str(failure.value)


def test_a_page_with_data_is_not_without_meaning() -> None:
    with pytest.raises(AssertionError, match=r"has data \(dst, src0, src1"):
        cases.check_no_data(declared(Array.minimum))

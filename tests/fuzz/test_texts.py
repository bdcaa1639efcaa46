"""The law of text: what prints reads back, and converting or formatting twice changes nothing.

Programs are made from the pages (`texts.py`), each page in turn. The failing seed is printed:
`PYTHONPATH=src:tests/laws:tests/fuzz python tests/fuzz/test_texts.py SEED COUNT` tries COUNT.
"""

from __future__ import annotations

import sys
from collections import Counter

import pytest
from forms import differences
from scale import scaled
from texts import MAKERS, module

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.forms.dps import to_dps
from ptokit.ir.module import Module
from ptokit.ir.same import same
from ptokit.isa.index import pages
from ptokit.isa.lang.traits import TERMINATOR
from ptokit.passes.ssa import to_ssa
from ptokit.text.read.reader import read
from ptokit.text.write.printer import print_module

FORMS = ("as", "ssa", "dps")
PAGES = [p for p in pages() if TERMINATOR not in p.traits and not p.below]
PROGRAMS = scaled(len(PAGES)) // 6


def test_every_shape_of_a_page_can_be_made() -> None:
    """A page of a new shape in text joins the law with a function in MAKERS of texts.py."""
    assert {page.asm.shape for page in pages()} - MAKERS.keys() == set()


def reads_back(made: Module, form: str) -> str:
    """The text of `made`, which reads back as the same program and prints the same again."""
    text = print_module(made, form)
    try:
        again = read(text)
    except PtoError as problem:
        raise AssertionError(f"{problem}\n{text}") from None
    assert same(again, made), text
    assert print_module(again, form) == text, text
    return text


def obeys(seed: int) -> None:
    """The law, for the program of a seed in each form and for what it converts to."""
    for form in FORMS:
        made = module(seed, form, [PAGES[seed % len(PAGES)]])
        reads_back(made, form)
        convert, forms = (to_ssa, ("as", "ssa")) if form == "dps" else (to_dps, ("dps",))
        try:
            converted = convert(made)
        except PtoError as problem:
            if problem.diagnostics[0].slug != "conversion":
                raise
            continue
        for other in forms:
            text = reads_back(converted, other)
            assert print_module(convert(read(text)), other) == text


def search(first: int, count: int) -> None:
    for seed in range(first, first + count):
        try:
            obeys(seed)
        except Exception as problem:  # whatever goes wrong is a fault of that program
            raise AssertionError(f"seed {seed}: {problem}") from problem


@pytest.mark.parametrize("part", range(2))
def test_programs_read_back_in_every_form(part: int) -> None:
    search(part * PROGRAMS, PROGRAMS)


def test_kernels_give_the_same_bytes_in_every_form(engine: str) -> None:
    kernels = scaled(1)
    count: Counter[str] = Counter()
    found = [n for seed in range(1, 1 + kernels) for n in differences(seed, engine, count)]
    assert found == []
    assert count["dps"] > 0
    assert engine == "native" or count["ssa"] > 0


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
        try:
            search(number, 1)
        except AssertionError as failed:
            print(failed, flush=True)
    print(sys.argv[2], "programs in each form")

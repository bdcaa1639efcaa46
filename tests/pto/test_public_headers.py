"""`make cpp` says what it needs, and explains programs of the tree by disputes of pages."""

from __future__ import annotations

import re

import pytest
from public_differences import ENDLESS, EXPLAINED, NOT_COMPILED, PAGES_NOT_COMPILED
from public_headers import main
from public_programs import FOLDERS

from account.files import ROOT
from ptokit.isa.disputes import DISPUTES
from ptokit.isa.index import pages


def test_without_a_clone_it_says_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert main(["/nowhere"]) == 2
    assert "PTO_ISA=" in capsys.readouterr().err


def test_what_is_explained_is_in_the_tree() -> None:
    explained = ENDLESS | EXPLAINED | NOT_COMPILED
    programs = {path.stem for folder in FOLDERS for path in (ROOT / folder).glob("*.pto")}
    assert set(explained) <= programs
    assert set(PAGES_NOT_COMPILED) <= {page.__name__ for page in pages()}
    named = {one for why in explained.values() for one in re.findall(r"\b[CDEX]\d+\b", why)}
    assert named <= set(DISPUTES)
    assert named

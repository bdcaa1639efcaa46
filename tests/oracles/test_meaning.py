"""The law of meaning: every page does in both engines what its oracle says, byte for byte."""

from __future__ import annotations

import pytest

from fuzz.scale import tried
from oracles.cases import check
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr

EXECUTED = [p for p in pages() if not (p.unexecuted or p.below)]


@pytest.mark.parametrize("page", tried(EXECUTED, 0), ids=lambda p: p.__name__)
def test_the_page_means_what_its_oracle_says(page: type[Instr]) -> None:
    check(page)

"""The law of NaN: a page whose results can be floats says what NaN and infinities become."""

from __future__ import annotations

import numpy as np
import pytest

from account.isa import takes
from every import every
from ptokit import tcvt, tile
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.types import Kind
from ptokit.isa.pages.conversion import A2A3_PAIRS, A5_PAIRS, TCvt
from ptokit.tools.manual.instruction import instruction_page
from ptokit.values.dtypes import DTYPES, SPELLINGS, DType, f16

DATA = (Kind.TILE, Kind.GLOBAL, Kind.CONV)


def gives_floats(page: type[Instr]) -> bool:
    """Whether some target takes a float as the element type of the first output."""
    out = next((o.name for o in page.outs() if o.kind in DATA), None)
    floats = [d for d in DTYPES if d.is_float]
    return out is not None and any(
        takes(page, target, {out: d}) for target in TARGETS.values() for d in floats
    )


def test_a_page_says_what_becomes_of_nan() -> None:
    """Of sums, products, extremes, moves and conversions among others."""
    floats = [page for page in pages() if page.on_tiles and gives_floats(page)]
    silent = [p.__name__ for p in floats if "NaN" not in (p.__doc__ or "") and not p.specials]
    assert not silent, "say in their text, or as `specials` of the family, what NaN becomes"
    names = {page.__name__ for page in floats}
    assert {"TRowSum", "TMatMul", "TMaxS", "TRowExpandAdd", "TMov", "TCvt", "TLoad"} <= names


def test_a_page_prints_what_its_family_says() -> None:
    assert "positive quiet NaN" in instruction_page(next(p for p in pages() if p.name == "tadd"))


@pytest.mark.parametrize(("target", "pairs"), [("a2a3", A2A3_PAIRS), ("a5", A5_PAIRS)])
def test_the_table_of_conversions_has_every_pair(
    target: str, pairs: tuple[tuple[DType, tuple[DType, ...]], ...]
) -> None:
    lines = [line.split() for line in TCvt.specials.splitlines()]
    told = {words[1]: {w.strip(";:") for w in words[2:]} for words in lines if words[0] == target}
    assert [*told] == [source.name for source, _ in pairs]
    for source, types in pairs:
        assert {dtype.name for dtype in types} <= told[source.name]


@every("target", ["f32", "hif8", "i32", "i16", "i8", "u8"])
def test_a_nan_becomes_what_the_table_says(target: str) -> None:
    """On the CPU simulator, which has every pair."""
    line = next(line for line in TCvt.specials.splitlines() if line.split()[:2] == ["a5", "f16"])
    said = {name: part for part in line.split("; ") for name in part.partition(": ")[2].split()}
    src = tile("vec", f16, 1, 32, data=np.full((1, 32), np.nan))
    dst = tile("vec", SPELLINGS[target], 1, 32)
    tcvt(dst, src)
    found = np.asarray(dst.numpy(), np.float32)[0, 0]
    assert np.isnan(found) if "NaN stays" in said[target] else found == 0

"""Eager calls that repeat: what was decided for one is right for the next, and holds no data."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import ptokit as pto


def tiles(rows: int = 32) -> tuple[pto.Tile, pto.Tile]:
    wide = pto.tile("mat", "f16", rows, 64, layout="nz", data=np.ones((rows, 64), np.float16))
    return pto.tile("left", "f16", 16, 16, layout="zz"), wide


def said(dst: pto.Tile, src: pto.Tile, row: int, col: int) -> str:
    with pytest.raises(pto.PtoError) as raised:
        pto.textract(dst, src, row, col)
    return str(raised.value.diagnostics[0].seen)


def test_a_message_has_the_numbers_of_its_own_call() -> None:
    dst, src = tiles()
    for _ in range(2):
        pto.textract(dst, src, 16, 16)
        assert "is 48 (32 + 16)" in said(dst, src, 32, 0)
        assert "is 64 (48 + 16)" in said(dst, src, 48, 0)
    larger = tiles(64)
    assert "is 80 (64 + 16) and src.valid.rows is 64" in said(*larger, 64, 0)


def test_each_target_decides_for_itself() -> None:
    dst, src = tiles()
    for _ in range(2):
        pto.textract(dst, src, 0, 0)
        with pto.target("a5"), pytest.raises(pto.PtoError):
            pto.textract(dst, src, 0, 0)  # its Left tiles have another layout


def test_words_that_compare_equal_are_told_apart() -> None:
    dst, src = tiles()
    for _ in range(2):
        pto.textract(dst, src, 0, 0, relu="none")
        for word in (0, False, ["none"]):
            with pytest.raises(ValueError, match="choose one of"):
                pto.textract(dst, src, 0, 0, relu=word)  # type: ignore[arg-type]


def test_a_wrong_operand_is_refused_after_a_right_one() -> None:
    dst, src = tiles()
    pto.textract(dst, src, 0, 0)
    with pytest.raises(TypeError, match="src must be a tile"):
        pto.textract(dst, 3, 0, 0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="row must be an integer"):
        pto.textract(dst, src, 1.5, 0)  # type: ignore[arg-type]
    blank = pto.tile("mat", "f16", 32, 64, layout="nz")
    pto.textract(dst, blank, 0, 0)
    assert not dst.written().any()


def test_no_tile_and_no_data_is_kept() -> None:
    dst, src = tiles()
    pto.textract(dst, src, 0, 0)
    watched = [weakref.ref(tile.handle.memory) for tile in (dst, src)]
    del dst, src
    gc.collect()
    assert [ref() for ref in watched] == [None, None]

"""The page of the layout set: which element types each target moves, and by which instruction."""

from __future__ import annotations

import pytest
from seed_pages import ALL, accepts, refused

import ptokit as pto
from every import every
from tiles import bits, made

COMMON = ("f32", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32")
YES = {
    **dict.fromkeys((*COMMON, "i64", "u64"), ALL),
    **dict.fromkeys(("f8e4m3", "f8e5m2"), ("a5",)),
}


EVERY = {"treshape", "tmov", "ttrans", "tconcat", "textract", "tinsert", "tfillpad"}


def movers(dtype: str) -> set[str]:
    """The instructions that take tiles of this element type on the current target."""
    src, same, big = (bits(f"vec {dtype} 32x32", n) for n in (1, 2, 3))
    wide = made(f"vec {dtype} 32x64")
    pads = made(f"vec {dtype} 32x32", pad="zero")
    calls = {
        "treshape": lambda: pto.treshape(made(f"vec {dtype} 16x64"), src),
        "tmov": lambda: pto.tmov(same, src),
        "ttrans": lambda: pto.ttrans(same, src, tmp=big),
        "tconcat": lambda: pto.tconcat(wide, src, src),
        "textract": lambda: pto.textract(same, src),
        "tinsert": lambda: pto.tinsert(same, src),
        "tfillpad": lambda: pto.tfillpad(pads, src),
    }
    return {name for name, call in calls.items() if accepts(call)}


@every("dtype", YES)
@every("target", ALL)
def test_types(dtype: str, target: str) -> None:
    """A type the table grants is moved by some instruction of the set on that target."""
    with pto.target(target):
        found = movers(dtype)
    if target in YES[dtype]:
        assert found
    if dtype in ("f32", "f16", "bf16", "i8", "i32"):
        assert found == EVERY


MOVES = {
    ("i64", "cpu"): "treshape tmov ttrans textract tinsert",
    ("i64", "a2a3"): "treshape tmov",
    ("i64", "a5"): "treshape",
    ("i16", "a2a3"): "treshape tmov ttrans tconcat textract tinsert tfillpad",
    ("i16", "a5"): "treshape ttrans tconcat tfillpad",
    ("f8e4m3", "cpu"): "treshape tmov ttrans textract tinsert tfillpad",
    ("f8e4m3", "a2a3"): "",
    ("f8e4m3", "a5"): "treshape tmov ttrans textract tinsert tfillpad",
}


@every(("dtype", "target"), MOVES)
def test_types_by_instruction(dtype: str, target: str) -> None:
    """The table is a summary: each instruction has its own list."""
    with pto.target(target):
        assert movers(dtype) == set(MOVES[dtype, target].split())


@pytest.mark.parametrize("dtype", ["f8e4m3", "f8e5m2"])
def test_fp8_is_not_of_a2a3(dtype: str) -> None:
    """No instruction that computes addresses from the type's table takes it there."""
    with pto.target("a2a3"):
        src = bits(f"mat {dtype} 64x64 nz")
        refused("element-type", pto.textract, pto.tile_left(dtype, 32, 32), src)
        refused("element-type", pto.tmov, pto.tile_left(dtype, 64, 64), src)
        refused(
            "element-type", pto.textract, made(f"vec {dtype} 32x32"), bits(f"vec {dtype} 64x64")
        )

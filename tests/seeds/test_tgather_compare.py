"""The gather page: the comparing form and the scratch tiles of A2/A3."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from seed_pages import ALL, TYPES, Array, accepts, ramp, refused, rules

import ptokit as pto
from every import every
from tiles import bits, made

K_TYPE = {"cpu": "i32", "a2a3": "i32", "a5": "u32"}


def matches(src: Array, k: Array, cmp: str, offset: int) -> list[list[int]]:
    """For each row the flat indices of the elements that compare true, from `offset` on."""
    found: list[list[int]] = []
    for i, row in enumerate(src):
        hit = [x > k[i] if cmp == "gt" else x == k[i] for x in row]
        found.append([offset + i * src.shape[1] + j for j, yes in enumerate(hit) if yes])
    return found


def scratch() -> pto.Tile:
    """More than enough for the sources of this file."""
    return made("vec i32 64x64")


def how(target: str, cmp: str, offset: int = 0) -> dict[str, Any]:
    """The arguments after the counts, with the scratch tile where the target needs one."""
    given: dict[str, Any] = {"cmp": cmp, "offset": offset}
    return given | ({"tmp": scratch()} if target == "a2a3" else {})


@every("target", ALL)
@every("cmp", ["gt", "eq"])
@every("offset", [0, 1000])
def test_compare(target: str, cmp: str, offset: int) -> None:
    x = (np.random.default_rng(3).integers(0, 8, (8, 16))).astype(np.float32)
    k = np.arange(8).reshape(1, 8)
    with pto.target(target):
        dst = made("vec i32 8x16", np.full((8, 16), -7))
        cdst = made("vec i32 1x8")
        thresholds = made(f"vec {K_TYPE[target]} 1x8", k)
        pto.tgather(dst, made("vec f32 8x16", x), thresholds, cdst, **how(target, cmp, offset))
    wanted = matches(x, k[0], cmp, offset)
    assert cdst.numpy()[0].tolist() == [len(row) for row in wanted]
    for got, row in zip(dst.numpy().tolist(), wanted, strict=True):
        assert got == row + [-7] * (16 - len(row))


def test_thresholds_and_counts_by_row() -> None:
    """One threshold and one count for each row of the source: fewer are refused."""
    src, dst = bits("vec i32 8x16"), made("vec i32 8x16")
    few, enough = made("vec i32 1x8 valid 1x4", ramp(1, 4)), made("vec i32 1x8", ramp(1, 8))
    options: dict[str, Any] = {"cmp": "eq"}
    refused("shape", pto.tgather, dst, src, few, made("vec i32 1x8"), **options)
    refused("shape", pto.tgather, dst, src, enough, made("vec i32 1x8 valid 1x4"), **options)
    pto.tgather(dst, src, enough, made("vec i32 1x8"), **options)


@every("target", ["a2a3", "a5"])
@every("dtype", TYPES)
def test_result_types(target: str, dtype: str) -> None:
    with pto.target(target):
        dst, src = made(f"vec {dtype} 8x32"), bits("vec f32 8x16")
        k = made(f"vec {K_TYPE[target]} 1x8", ramp(1, 8))
        legal = accepts(pto.tgather, dst, src, k, made("vec i32 1x8"), **how(target, "gt"))
        assert legal == (dtype in ("i32", "u32"))


SOURCES = {
    "a2a3": {"f32": ("gt", "eq"), "f16": ("gt", "eq"), "i32": ("eq",)},
    "a5": {t: ("gt", "eq") for t in ("i16", "u16", "i32", "u32", "f16", "f32", "i8", "u8")},  # C64
}


@every("target", ["a2a3", "a5"])
@every("dtype", TYPES)
def test_source_types(target: str, dtype: str) -> None:
    with pto.target(target):
        for cmp in ("gt", "eq"):
            src = made(f"vec {dtype} 8x32", ramp(8, 32) % 4)
            k = made(f"vec {K_TYPE[target]} 1x8", ramp(1, 8))
            given = (made("vec i32 8x32"), src, k, made("vec i32 1x8"))
            legal = cmp in SOURCES[target].get(dtype, ())
            assert accepts(pto.tgather, *given, **how(target, cmp)) == legal


@every("dtype", TYPES)
def test_threshold_types(dtype: str) -> None:
    k = made(f"vec {dtype} 1x32", ramp(1, 32) % 4)
    for target, types in (("a2a3", ("i32", "u32")), ("a5", ("u16", "u32"))):
        with pto.target(target):
            given = (made("vec i32 8x16"), bits("vec f32 8x16"), k, made("vec i32 1x8"))
            assert accepts(pto.tgather, *given, **how(target, "gt")) == (dtype in types)


@every("target", ALL)
@every("cmp", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons(target: str, cmp: str) -> None:
    with pto.target(target):
        k = made(f"vec {K_TYPE[target]} 1x8", ramp(1, 8))
        given = (made("vec i32 8x16"), made("vec f32 8x16", ramp(8, 16)), k, made("vec i32 1x8"))
        assert accepts(pto.tgather, *given, **how(target, cmp)) == (cmp in ("gt", "eq"))


# Scratch -----------------------------------------------------------------------------------------


def index_call(tmp: str | None, target: str) -> tuple[tuple[pto.Tile, ...], dict[str, Any]]:
    tiles = made("vec f16 2x16"), bits("vec f16 4x16"), made("vec i32 2x16", ramp(2, 16))
    return tiles, {} if tmp is None else {"tmp": made(tmp)}


def test_index_scratch_of_a2a3() -> None:
    """Required; the type of the indices, and exactly their extents."""
    legal = {"vec i32 2x16": None, "vec u32 2x16": "element-type", "vec i32 2x24": "shape"}
    legal |= {"vec i32 4x16": "shape", "vec f32 2x16": "element-type"}
    with pto.target("a2a3"):
        for tmp, slug in legal.items():
            tiles, given = index_call(tmp, "a2a3")
            if slug is None:
                pto.tgather(*tiles, **given)
            else:
                found = refused(slug, pto.tgather, *tiles, **given)
                assert "tmp." in rules(found)
        refused("operand-count", pto.tgather, *index_call(None, "a2a3")[0])


@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_index_scratch_for_both_sizes(dtype: str) -> None:
    """A2/A3 wants it also where the elements have four bytes and need none."""
    x = ramp(4, 16).astype({"f16": np.float16, "f32": np.float32}[dtype])
    index = made("vec i32 2x16", ramp(2, 16))
    with pto.target("a2a3"):
        dst, src = made(f"vec {dtype} 2x16"), made(f"vec {dtype} 4x16", x)
        refused("operand-count", pto.tgather, dst, src, index)
        pto.tgather(dst, src, index, tmp=made("vec i32 2x16"))
    assert np.array_equal(dst.numpy(), x[:2])


@every("tmp", [None, "vec i32 2x16", "vec u8 1x32", "vec f32 64x64"])
@every("target", ["cpu", "a5"])
def test_index_scratch_is_ignored_elsewhere(tmp: str | None, target: str) -> None:
    with pto.target(target):
        tiles, given = index_call(tmp, target)
        pto.tgather(*tiles, **given)
        assert np.array_equal(tiles[0].storage(), tiles[1].storage()[: tiles[0].storage().size])
        if "tmp" in given:
            assert not given["tmp"].handle.memory.shadow.any()


def needed(rows: int, cols: int, src: tuple[int, int], dst_size: int, src_size: int) -> int:
    """Bitmap, index table, converted thresholds: the sum of the page's three regions."""
    bitmap = rows * cols
    table = src[0] * src[1] * dst_size
    thresholds = src[0] * src_size
    return bitmap + table + thresholds


@pytest.mark.parametrize(("dtype", "size"), [("f32", 4), ("f16", 2)])
def test_compare_scratch_of_a2a3(dtype: str, size: int) -> None:
    """Any tile whose bytes hold the three regions, and none that is one byte too small."""
    src = made(f"vec {dtype} 8x16", ramp(8, 16))
    k = made("vec i32 1x8", ramp(1, 8))
    seen: set[bool] = set()
    with pto.target("a2a3"):
        for kind, width in (("u8", 1), ("i32", 4), ("f16", 2)):
            for rows in range(1, 24):
                cols, tmp = 32, made(f"vec {kind} {rows}x32")
                room = rows * cols * width
                fits = room >= needed(rows, cols, (8, 16), 4, size)
                given = (made("vec i32 8x16"), src, k, made("vec i32 1x8"))
                assert accepts(pto.tgather, *given, tmp=tmp, cmp="gt") == fits
                seen.add(fits)
        assert seen == {True, False}
        given = (made("vec i32 8x16"), src, k, made("vec i32 1x8"))
        refused("operand-count", pto.tgather, *given, cmp="gt")


@every("tmp", [None, "vec u8 1x32", "vec f32 64x64"])
def test_compare_scratch_is_ignored_on_a5(tmp: str | None) -> None:
    x = ramp(8, 16)
    with pto.target("a5"):
        dst, cdst = made("vec i32 8x16"), made("vec i32 1x8")
        given: dict[str, Any] = {"cmp": "gt"} | ({} if tmp is None else {"tmp": made(tmp)})
        pto.tgather(dst, made("vec f32 8x16", x), made("vec u32 1x8", ramp(1, 8)), cdst, **given)
    assert cdst.numpy()[0].tolist() == [len(r) for r in matches(x, ramp(1, 8)[0], "gt", 0)]

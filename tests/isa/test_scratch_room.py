"""The scratch of reductions on A2/A3: what they write to it must fit, row beside row.

The oracle writes down the bytes that published code touches for each row; ptokit has rules.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import pytest

import ptokit as pto

SIZES = {"f16": 2, "f32": 4, "i16": 2, "i32": 4, "u16": 2, "u32": 4}
REGISTER, BLOCK = 256, 32
FOLDED = {(64, 128), (32, 256), (16, 512), (8, 1024)}

Shape = tuple[int, int]
Bytes = Iterator[tuple[int, int, int]]  # which row, the first byte and the one behind the last


def ceil(count: int, of: int) -> int:
    return -(-count // of)


def of_rows(name: str, dtype: str, src: Shape, valid: Shape, tmp: Shape, column: bool) -> Bytes:
    """A register of each row, pairs of registers for sums; integers and products use a block."""
    size, (rows, cols) = SIZES[dtype], valid
    if name == "trowprod" or dtype[0] != "f":
        yield 0, 0, BLOCK
        return
    registers = cols * size // REGISTER
    if cols * size <= REGISTER:
        return
    if column and dtype == "f32" and src == valid and src in FOLDED:
        yield 0, 0, 4096
        return
    count = max(registers // 2, 1) if name == "trowsum" else 1
    for row in range(rows):
        start = row * tmp[1] * size
        yield row, start, start + count * REGISTER


def of_places_in_rows(dtype: str, valid: Shape, tmp: Shape) -> Bytes:
    """Two elements of each row; of longer rows one for each register, and then their pairs."""
    size, (rows, cols) = SIZES[dtype], valid
    if cols * size <= REGISTER:
        yield 0, 0, 2 * rows * size
        return
    registers, line = ceil(cols * size, REGISTER), BLOCK // size
    width = (ceil(2 * registers, line) + ceil(registers, line)) * line
    for row in range(rows):
        yield row, row * tmp[1] * size, (row * tmp[1] + width) * size


def of_columns(dtype: str, valid: Shape, values: bool) -> Bytes:
    """A line of numbers and one of elements; of 2 bytes, without values, one of indices."""
    size, cols = SIZES[dtype], valid[1]
    line = min(REGISTER, ceil(cols * size, BLOCK) * BLOCK)
    yield 0, 0, line * (3 if size == 2 and not values else 2)


def fits(written: Iterable[tuple[int, int, int]], room: int) -> bool:
    """Whether what belongs to one row is not where another row's is, and all of it is inside."""
    ranges = sorted(written, key=lambda one: one[1])
    apart = all(a[2] <= b[1] for a, b in itertools.pairwise(ranges))
    return apart and all(end <= room for _, _, end in ranges)


def tile(shape: Shape, dtype: str, valid: Shape | None = None) -> str:
    some = "" if valid is None else f", valid={valid[0]}x{valid[1]}"
    return f"!pto.tile_buf<vec, {shape[0]}x{shape[1]}x{dtype.replace('u', 'ui')}{some}>"


def column(rows: int, dtype: str) -> str:
    return f"!pto.tile_buf<vec, {rows}x1x{dtype.replace('u', 'ui')}, blayout=col_major>"


def legal(name: str, src: str, tmp: str, *outs: str) -> bool:
    """Whether A2/A3 takes the instruction."""
    named = ", ".join(f"%o{n}" for n in range(len(outs)))
    given = ", ".join(f"%o{n}: {kind}" for n, kind in enumerate(outs))
    text = f"""\
func.func @f(%x: {src}, %t: {tmp}, {given}) {{
  pto.{name} ins(%x, %t : {src}, {tmp}) outs({named} : {", ".join(outs)})
  return
}}
"""
    return not [d for d in pto.loads(text).check("a2a3") if d.severity.value == "error"]


FOLDS = ("trowsum", "trowmax", "trowmin", "trowprod")
SHAPES = [
    *(((16, 256), (16, 256)), ((16, 512), (16, 512)), ((8, 320), (5, 200)), ((8, 64), (8, 64))),
    *(((8, 128), (8, 100)), ((32, 256), (32, 256)), ((8, 1024), (8, 1000))),
]


@pytest.mark.parametrize("dtype", ["f16", "f32", "i32"])
@pytest.mark.parametrize("name", FOLDS)
def test_folds_of_rows(name: str, dtype: str) -> None:
    found = set[bool]()
    for (src, valid), columns in itertools.product(SHAPES, (16, 64, 128, 256, 512)):
        for rows, by_column in ((1, True), (src[0], False), (src[0], True)):
            tmp = rows, columns
            dst = column(src[0], dtype) if by_column else tile((src[0], 16), dtype, (valid[0], 1))
            if by_column and (src != valid or src[0] * SIZES[dtype] % BLOCK):
                continue
            room = rows * columns * SIZES[dtype]
            wanted = fits(of_rows(name, dtype, src, valid, tmp, by_column), room)
            source = tile(src, dtype, valid)
            assert legal(name, source, tile(tmp, dtype), dst) is wanted, (src, valid, tmp)
            found.add(wanted)
    assert found == ({True} if name == "trowprod" or dtype == "i32" else {True, False})


@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_places_and_values_in_rows(dtype: str) -> None:
    found, index = set[bool](), {"f16": "i16", "f32": "i32"}[dtype]
    for (src, valid), columns in itertools.product(SHAPES, (16, 32, 64)):
        for rows in (1, src[0]):
            room = rows * columns * SIZES[dtype]
            wanted = fits(of_places_in_rows(dtype, valid, (rows, columns)), room)
            outs = (tile((src[0], 16), t, (valid[0], 1)) for t in (dtype, index))
            given = tile((rows, columns), dtype)
            assert legal("trowargmax", tile(src, dtype, valid), given, *outs) is wanted
            found.add(wanted)
    assert found == {True, False}


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("dtype", ["f16", "f32", "u16"])
def test_places_in_columns(dtype: str, values: bool) -> None:
    found = set[bool]()
    index = {2: "u16", 4: "u32"}[SIZES[dtype]] if values else "u32"
    for cols, columns in itertools.product((32, 64, 128, 256), (32, 64, 96, 128, 192, 256, 384)):
        wanted = fits(of_columns(dtype, (4, cols), values), columns * SIZES[dtype])
        outs = [tile((1, cols), t) for t in ((dtype, index) if values else (index,))]
        got = legal("tcolargmin", tile((4, cols), dtype), tile((1, columns), dtype), *outs)
        assert got is wanted, (cols, columns)
        found.add(wanted)
    assert found == {True, False}

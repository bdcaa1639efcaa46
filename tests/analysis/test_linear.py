"""Checking takes as long as a program has lines, with as many tiles as it likes."""

from __future__ import annotations

import gc

import pytest

import ptokit as pto
from account.files import ROOT
from growth import growth
from longprograms import chain, decisions
from ptokit.analysis import known
from ptokit.ir.garbage import gc_disabled

SMALL, LARGE = "!pto.tile_buf<vec, 1x32xf32>", "!pto.tile_buf<vec, 64x128xf32>"


def sums(count: int) -> pto.Program:
    """Sums of rows, each with scratch of its own, which hardware leaves undefined."""
    kind, column = SMALL.replace("1x32", "8x32"), SMALL.replace("1x32", "8x1")
    column = column.replace("f32>", "f32, blayout=col_major>")
    lines = [f"%t = pto.alloc_tile : {kind}", "%x = arith.constant 1.0 : f32"]
    lines.append(f"pto.texpands ins(%x : f32) outs(%t : {kind})")
    for n in range(count):
        lines += [f"%s{n} = pto.alloc_tile : {kind}", f"%c{n} = pto.alloc_tile : {column}"]
        lines.append(f"pto.trowsum ins(%t, %s{n} : {kind}, {kind}) outs(%c{n} : {column})")
    return pto.loads("\n".join(["func.func @f() {", *lines, "return", "}"]))


def stream(count: int) -> pto.Program:
    """An array by way of two tiles, every block written out."""
    tile = "!pto.tile_buf<vec, 16x64xf32>"
    view, part = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<16x64xf32>"
    lines = [f"%c{n} = arith.constant {n} : index" for n in (0, 1, 16, 64)]
    lines += [f"%x = pto.alloc_tile : {tile}", f"%y = pto.alloc_tile : {tile}"]
    for name in "ab":
        extents = f"shape = [%rows, %c64], strides = [%c64, %c1] : {view}"
        lines.append(f"%{name} = pto.make_tensor_view %{name}0, {extents}")
    for n in range(count):
        lines.append(f"%o{n} = arith.constant {16 * n} : index")
        for name in "ab":
            where = f"offsets = [%o{n}, %c0], sizes = [%c16, %c64] : {view} -> {part}"
            lines.append(f"%{name}{n + 1} = pto.partition_view %{name}, {where}")
        lines.append(f"pto.tload ins(%a{n + 1} : {part}) outs(%x : {tile})")
        lines.append(f"pto.tadd ins(%x, %x : {tile}, {tile}) outs(%y : {tile})")
        lines.append(f"pto.tstore ins(%y : {tile}) outs(%b{n + 1} : {part})")
    head = "func.func @f(%a0: !pto.ptr<f32>, %b0: !pto.ptr<f32>, %rows: index) {"
    return pto.loads("\n".join([head, *lines, "return", "}"]))


def test_instructions_of_one_case_are_judged_like_each_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No case is found again where none may be kept."""
    files = sorted((ROOT / "tests" / "pto").glob("*.pto"))[::4]
    files += sorted((ROOT / "tests" / "errors").glob("*.pto"))[::4]
    texts = [path.read_text(encoding="utf-8") for path in files]
    assert len(texts) > 30

    def verdicts() -> list[str]:
        found: list[str] = []
        for text in texts:
            try:
                every = pto.loads(text).verdicts("a5")
            except pto.PtoError:
                continue
            found += [f"{v.to_json()} {v.diagnostics!r}" for v in every]
        return found

    together = verdicts()
    monkeypatch.setattr(known, "MOST_CASES", 0)
    assert verdicts() == together


def test_many_stores_of_one_tile_are_checked_in_linear_time() -> None:
    programs = {count: stream(count) for count in (40, 400)}
    assert programs[40].check("a5") == []
    assert growth(lambda count: programs[count].check("a5"), 40, 400) < 30


def test_many_scratch_tiles_are_checked_in_linear_time() -> None:
    programs = {count: sums(count) for count in (40, 400)}
    assert not any(found.is_error for found in programs[40].check("a2a3"))
    assert growth(lambda count: programs[count].check("a2a3"), 40, 400) < 30


@pytest.mark.parametrize("kind", [SMALL, LARGE])
def test_many_tiles_are_checked_in_linear_time(kind: str) -> None:
    """Ten times the tiles take about ten times as long; 100 times if it were squared.

    All of the small tiles fit beside one another, the large ones share their bytes.
    """
    programs = {count: pto.loads(chain(count, kind)) for count in (100, 1000)}
    assert growth(lambda count: programs[count].check("a5"), 100, 1000) < 30


def test_many_branches_with_scalar_stores_are_checked_in_linear_time() -> None:
    programs = {count: pto.loads(decisions(count)) for count in (20, 200)}
    assert not any(found.is_error for found in programs[20].check("a5"))
    assert growth(lambda count: programs[count].check("a5"), 20, 200) < 30


def test_what_is_made_without_collection_is_not_walked_behind() -> None:
    collected: list[object] = []
    gc.collect()
    gc.callbacks.append(lambda phase, info: collected.append(phase))
    try:
        with gc_disabled():
            kept = [[n] for n in range(100_000)]
        kept += [[n] for n in range(100)]
    finally:
        gc.callbacks.pop()
    assert collected == []

"""What runs again gives what a cold run gives, and works nothing out twice.

Executables, and eager calls that repeat: what was decided for one holds no data.
"""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from every import every
from ptokit.launch import executable as executables
from ptokit.launch import launchedfunction
from ptokit.machine import cache

AnyArray: TypeAlias = NDArray[Any]  # Any: f32 or i32
ENGINES = ("reference", "native")
TILE = "!pto.tile_buf<vec, 16x16xf32>"
VIEW = "!pto.tensor_view<16x16xf32>"
SUM = f"""
func.func @sum(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %c: !pto.ptr<f32>) {{
  %va = pto.make_tensor_view %a, shape = [16, 16], strides = [16, 1] : {VIEW}
  %vb = pto.make_tensor_view %b, shape = [16, 16], strides = [16, 1] : {VIEW}
  %vc = pto.make_tensor_view %c, shape = [16, 16], strides = [16, 1] : {VIEW}
  %x = pto.alloc_tile : {TILE}
  %y = pto.alloc_tile : {TILE}
  pto.tload ins(%va : {VIEW}) outs(%x : {TILE})
  pto.tload ins(%vb : {VIEW}) outs(%y : {TILE})
  pto.tadd ins(%x, %y : {TILE}, {TILE}) outs(%x : {TILE})
  pto.tstore ins(%x : {TILE}) outs(%vc : {VIEW})
  return
}}
"""
# of an index n below 16: rows n to n + 15 of the output are filled, so it grows with n
FILLED = f"""
func.func @filled(%n: index, %x: {TILE}, %c: !pto.ptr<f32>) {{
  %rows = arith.addi %n, 16 : index
  %all = pto.make_tensor_view %c, shape = [%rows, 16], strides = [16, 1]
    : !pto.tensor_view<?x16xf32>
  %part = pto.partition_view %all, offsets = [%n, 0], sizes = [16, 16]
    : !pto.tensor_view<?x16xf32> -> !pto.partition_tensor_view<16x16xf32>
  pto.tstore ins(%x : {TILE}) outs(%part : !pto.partition_tensor_view<16x16xf32>)
  return
}}
"""
# reads the tile before it is written unless %n is 1
READ_FIRST = f"""
func.func @first(%n: index, %x: {TILE}, %y: {TILE}) {{
  %t = pto.alloc_tile : {TILE}
  scf.for %i = 0 to %n step 1 {{
    pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%t : {TILE})
  }}
  pto.tadd ins(%t, %x : {TILE}, {TILE}) outs(%y : {TILE})
  %first = pto.tgetval ins(%y, 0 : {TILE}, index) outs : f32
  return
}}
"""


def square(start: float) -> AnyArray:
    return (np.arange(256, dtype=np.float32) + np.float32(start)).reshape(16, 16)


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[object]:
    """What is bound, checked and compiled while the test runs, in an empty folder of code."""
    monkeypatch.setenv("PTOKIT_CACHE", str(tmp_path))
    found: list[object] = []
    original: Any = launchedfunction.bind

    def counting(*given: Any) -> object:
        found.append(given)
        return original(*given)

    monkeypatch.setattr(launchedfunction, "bind", counting)
    return found


def test_further_runs_only_run(engine: str, prepared: list[object]) -> None:
    program = pto.loads(SUM).compile(engine=engine)
    for start in range(4):
        found = program.run(a=square(start), b=square(1), c=square(9))["c"]
        assert np.array_equal(found, square(start) + square(1))
    assert len(prepared) == 1


def test_run_keeps_the_last_few(prepared: list[object]) -> None:
    program = pto.loads(SUM)
    for _ in range(3):
        for target in ("cpu", "a5"):
            for engine in ENGINES:
                program.run(target=target, engine=engine, a=square(0), b=square(1))
    assert len(prepared) == 4
    for blocks in range(1, 2 + executables.KEPT):
        program.run(engine="reference", blocks=blocks, a=square(0), b=square(1))
    before = len(prepared)
    program.run(target="a5", engine="reference", a=square(0), b=square(1))
    assert len(prepared) == before + 1  # it was the oldest


OTHERS: dict[str, Mapping[str, Any]] = {
    "an array more": {"a": square(0), "b": square(1), "c": square(0)},
    "other extents": {"a": square(0).reshape(256), "b": square(1)},
    "the bits": {"a": square(0).view(np.uint32), "b": square(1)},
}


@pytest.mark.parametrize("others", OTHERS)
def test_other_kinds_of_arguments_are_bound_anew(others: str, prepared: list[object]) -> None:
    program = pto.loads(SUM).compile()
    plain = program.run(a=square(0), b=square(1))["c"]
    other = program.run(**OTHERS[others])["c"]
    assert len(prepared) == 2
    assert np.array_equal(np.ravel(plain), np.ravel(other))


def test_a_number_is_part_of_what_is_compiled(engine: str) -> None:
    program = pto.loads(FILLED).compile(engine=engine)
    for n in (0, 3, 15, 3, 0):
        expected = np.zeros((n + 16, 16), np.float32)
        expected[n:] = square(n)
        found = program.run(n=n, x=square(n))["c"]
        assert found.shape == expected.shape
        assert np.array_equal(found, expected)


@every("blocks", [1, 5])
def test_an_output_grows_again_in_each_run(engine: str, blocks: int) -> None:
    program = pto.loads(SUM).compile(engine=engine, blocks=blocks)
    runs = [program.run(a=square(n), b=square(n))["c"] for n in range(4)]
    for n, found in enumerate(runs):  # none shares memory with a later one
        assert found.shape == (16, 16)
        assert np.array_equal(found, square(n) * 2)


def test_each_run_begins_with_memory_that_nobody_wrote(engine: str) -> None:
    program = pto.loads(READ_FIRST).compile(engine=engine)
    assert np.array_equal(program.run(n=1, x=square(0))["y"], square(0) * 3)
    messages: set[str] = set()
    for _ in range(3):
        with pytest.raises(pto.PtoError) as raised:
            program.run(n=0, x=square(0))
        messages.add(raised.value.diagnostics[0].render())
        assert np.array_equal(program.run(n=1, x=square(1))["y"], square(1) * 3)
    with pytest.raises(pto.PtoError) as raised:
        pto.loads(READ_FIRST).run(engine=engine, n=0, x=square(0))
    assert messages == {raised.value.diagnostics[0].render()}


def test_a_wrong_call_says_the_same_at_any_time(engine: str) -> None:
    wrong: list[dict[str, Any]] = [
        {"a": square(0)},
        {"a": square(0).astype(np.float64), "b": square(1)},
        {"a": [[1.0], [2.0, 3.0]], "b": square(1)},
        {"a": square(0), "b": square(1), "d": square(1)},
        {"a": 3, "b": square(1)},
    ]
    program = pto.loads(SUM).compile(engine=engine)
    program.run(a=square(0), b=square(1))
    for given in wrong:
        said: list[str] = []
        for run in (program.run, program.run, pto.loads(SUM).compile(engine=engine).run):
            with pytest.raises(pto.PtoError) as raised:
                run(**given)
            said.append(raised.value.diagnostics[0].render())
        assert len(set(said)) == 1


def test_limits_are_those_of_each_run(engine: str) -> None:
    program = pto.loads(SUM).compile(engine=engine)
    given: dict[str, Any] = {"a": square(0), "b": square(1)}
    for _ in range(2):
        assert program.execute(given).instructions["pto.tadd"] == 1
        with pytest.raises(pto.PtoError, match="limit of 2"):
            program.run(**given, max_instructions=2)
        program.run(**given, max_instructions=9, timeout=60.0)
    with pytest.raises(ValueError, match="at least 1"):
        program.run(**given, max_instructions=0)


def test_threads_may_share_one(engine: str) -> None:
    program = pto.loads(SUM).compile(engine=engine)

    def right(start: int) -> bool:
        found = program.run(a=square(start), b=square(1))["c"]
        return np.array_equal(found, square(start) + square(1))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(right, range(64 if engine == "native" else 16)))


def pickled(thing: object) -> object:
    return pickle.loads(pickle.dumps(thing))


AGAIN: dict[str, Any] = {"copied": copy.copy, "copied whole": copy.deepcopy, "pickled": pickled}


@every("how", AGAIN)
def test_one_can_be_copied_and_pickled(how: str) -> None:
    again = AGAIN[how]
    program = pto.loads(SUM)
    made = program.compile(target="a5", blocks=2)
    made.run(a=square(0), b=square(1))
    other = again(made)
    assert repr(other) == repr(made) == "<Executable @sum for a5>"
    assert (other.options.blocks, other.options.target) == (2, made.options.target)
    assert np.array_equal(other.run(a=square(3), b=square(1))["c"], square(3) + square(1))
    assert again(program).text() == program.text()


def test_no_array_is_kept(engine: str) -> None:
    program = pto.loads(SUM).compile(engine=engine)
    given: dict[str, Any] = {"a": square(0), "b": square(1), "c": square(2)}
    program.run(**given)
    watched = [weakref.ref(array) for array in given.values()]
    del given
    gc.collect()
    assert [ref() for ref in watched] == [None] * 3


def test_code_is_made_for_the_processor_that_is_chosen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PTOKIT_CACHE", str(tmp_path))
    asked: list[cache.Processor] = []
    original = cache.compiled

    def compiled(key: str, make: Any, processor: cache.Processor) -> Any:
        asked.append(processor)
        return original(key, make, processor)

    monkeypatch.setattr(cache, "compiled", compiled)
    program, plain = pto.loads(SUM).compile(engine="native"), cache.this_processor()
    other = cache.Processor(plain.cpu, "")
    for _ in range(2):
        program.run(a=square(0), b=square(1))
        with cache.generating_for(other):
            assert np.array_equal(program.run(a=square(0), b=square(1))["c"], square(1) + square(0))
    assert asked == [plain, other]


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

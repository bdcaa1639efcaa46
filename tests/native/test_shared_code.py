"""Instructions on tiles of several sizes share code: what they compute stays the reference's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit.engines.native.sharedcode import merged
from ptokit.machine import cache
from ptokit.machine.objectcode import ParsedModule

BOXES = "blayout=col_major, slayout=row_major"
TYPES = {
    "x": "vec, {n}x{n}xf32",
    "y": "vec, {n}x{n}xf32",
    "s": "vec, {n}x8xf32, valid={n}x1",
    "h": "vec, {n}x{n}xf16",
    "m": "mat, {n}x{n}xf16, " + BOXES,
    "l": "left, {n}x{n}xf16, " + BOXES,
    "r": "right, {n}x{n}xf16, slayout=col_major",
    "c": "acc, {n}x{n}xf32, " + BOXES + ", fractal=1024",
}
OPS = (  # loops, blocks that are transposed, folds of one and of several blocks, products
    ("ttrans", "x y", "y"),
    ("tadd", "x y", "x"),
    ("trowmax", "x y", "s"),
    ("tcvt", "y", "h"),
    ("textract", "m", "l"),
    ("textract", "m", "r"),
    ("tmatmul", "l r", "c"),
    ("tmatmul.acc", "c l r", "c"),
)
EXTRA = {"textract": ", %zero, %zero", "tcvt": " {rmode = #pto<round_mode RINT>}"}


def program(sizes: list[int]) -> str:
    kinds = {f"{v}{n}": f"!pto.tile_buf<{k.format(n=n)}>" for n in sizes for v, k in TYPES.items()}
    lines = ["%zero = arith.constant 0 : index"]
    for n in sizes:
        for op, ins, out in OPS:
            names, extra = [f"{name}{n}" for name in ins.split()], EXTRA.get(op, "")
            types = ", ".join(kinds[name] for name in names) + ", index" * extra.count("%")
            read = ", ".join(f"%{name}" for name in names)
            to = f"%{out}{n} : {kinds[f'{out}{n}']}"
            lines.append(f"pto.{op} ins({read}{extra} : {types}) outs({to})")
    given = ", ".join(f"%{name}: {kind}" for name, kind in kinds.items())
    return f"func.func @f({given}) {{\n  " + "\n  ".join([*lines, "return"]) + "\n}\n"


def arrays(sizes: list[int]) -> dict[str, Any]:
    random = np.random.default_rng(3)
    given: dict[str, Any] = {}
    for n in sizes:
        given |= {f"{v}{n}": random.standard_normal((n, n)).astype(np.float32) for v in "xyc"}
        given |= {f"{v}{n}": random.standard_normal((n, n)).astype(np.float16) for v in "hmlr"}
        given[f"s{n}"] = np.zeros((n, 1), np.float32)
    return given


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What is compiled, as nothing is kept yet."""
    monkeypatch.setenv("PTOKIT_CACHE", str(tmp_path))
    found: list[str] = []
    original = cache.parsed

    def generate(text: str, processor: cache.Processor) -> ParsedModule:
        found.append(text)
        return original(text, processor)

    monkeypatch.setattr(cache, "parsed", generate)
    return found


@pytest.mark.parametrize("sizes", [[16, 32, 48, 64, 80], [32], [48, 16]])
def test_both_engines_agree_on_several_sizes(sizes: list[int], texts: list[str]) -> None:
    kernel, given = pto.loads(program(sizes)), arrays(sizes)
    expected = kernel.run(**given, target="cpu", engine="reference")
    found = kernel.run(**given, target="cpu", engine="native")
    assert {n: a.tobytes() for n, a in found.items()} == {
        n: a.tobytes() for n, a in expected.items()
    }
    functions = len(re.findall(r"define (?:internal )?i32 @op\d", "\n".join(texts)))
    assert functions <= len(OPS) * min(len(sizes), 2.5)  # with one box, loops are others


def test_blocks_that_are_converted_on_their_way_share_a_function(texts: list[str]) -> None:
    sizes = [16, 32, 48]
    pto.loads(program(sizes)).run(**arrays(sizes), target="cpu", engine="native")
    movers = re.findall(r"define internal void @(moved_i16_\w+)", "\n".join(texts))
    for name in movers:  # on machines whose vectors hold a row of a block
        assert "\n".join(texts).count(f"@{name}(") > 2
    assert len(movers) == ("<16 x float>" in "\n".join(texts))


@pytest.mark.parametrize("iterations", [0, 3])
def test_only_what_runs_once_is_compiled_without_pains(iterations: int, texts: list[str]) -> None:
    tile = "!pto.tile_buf<vec, 16x16xf32>"
    line = f"pto.tadd ins(%x, %x : {tile}, {tile}) outs(%x : {tile})"
    if iterations:
        line = f"""%n = arith.constant {iterations} : index
  %a = arith.constant 0 : index
  scf.for %i = %a to %n step 1 {{
  {line}
  }}"""
    kernel = pto.loads(f"func.func @f(%x: {tile}) {{\n  {line}\n  return\n}}\n")
    given = np.ones((16, 16), np.float32)
    found = kernel.run(x=given, target="cpu", engine="native")
    assert (found["x"] == 2 ** max(iterations, 1)).all()
    [head] = re.findall(r"define internal i32 @block.*", "\n".join(texts))
    assert ("optnone" in head) == (iterations == 0)


@every("columns", [32, 48, 96, 160])
def test_a_long_body_stands_once_in_a_loop_over_vectors(columns: int, texts: list[str]) -> None:
    tile = f"!pto.tile_buf<vec, 4x{columns + 8}xf32, valid=3x{columns}>"
    line = f"pto.texp ins(%x : {tile}) outs(%x : {tile})"
    kernel = pto.loads(f"func.func @f(%x: {tile}) {{\n  {line}\n  return\n}}\n")
    given = np.random.default_rng(3).standard_normal((3, columns)).astype(np.float32)
    found, expected = (kernel.run(x=given, engine=e)["x"] for e in ("native", "reference"))
    assert found.tobytes() == expected.tobytes()
    computed = re.findall(r"ashr <(\d+) x i32>", texts[-1])  # half of the exponent
    assert 0 < len(computed) <= 2
    assert len(set(computed)) == 1


def test_places_of_memories_are_loaded_once_in_a_block(texts: list[str]) -> None:
    sizes = [16, 32]
    pto.loads(program(sizes)).run(**arrays(sizes), target="cpu", engine="native")
    [main] = re.findall(r"define internal i32 @block.*?^}", "\n".join(texts), re.S | re.M)
    for block in re.split(r"^\w+:$", main, flags=re.M):
        loads = re.findall(r"= (load ptr, ptr %v\d+)$", block, re.M)
        assert len(loads) == len(set(loads))


ALONE = (
    "(ptr %p0) {\nentry:\n  %v1 = mul i64 %n0, 3\n  ; three\n  %v2 = add i64 %v1, 7\n  ret i32 0\n}"
)


def test_numbers_of_a_function_that_is_alone_stay_constants() -> None:
    found = merged({ALONE: "op0"})
    assert found.definitions == [f"define internal i32 @op0{ALONE}".replace("  ; three\n", "")]
    assert found.called("  %v1 = call i32 @op0(ptr %a)") == "  %v1 = call i32 @op0(ptr %a)"


def test_numbers_that_differ_become_one_argument_where_one_gives_the_other() -> None:
    other = ALONE.replace("n0, 3", "n0, 5").replace("7", "13")
    found = merged({ALONE: "op0", other: "op1"})
    [body] = found.definitions
    assert body.splitlines()[0] == "define internal i32 @op0(ptr %p0, i64 %c0) {"
    assert "mul i64 %n0, %c0" in body
    assert "mul i64 %c0, 3" in body
    assert found.called("  %v1 = call i32 @op1(ptr %a)") == "  %v1 = call i32 @op0(ptr %a, i64 5)"


def test_functions_that_differ_in_many_numbers_stay_apart() -> None:
    def body(start: int) -> str:
        numbers = (f"  %v{n} = add i64 %n0, {start ** (n + 2)}" for n in range(9))
        return "\n".join(["(ptr %p0) {", "entry:", *numbers, "}"])

    found = merged({body(n): f"op{n}" for n in (2, 3, 5, 7)})
    assert len(found.definitions) == 4
    assert found.called("call i32 @op5(ptr %a)") == "call i32 @op5(ptr %a)"

"""Long code without loops: equal instructions at other addresses, and modules of their own."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from outcomes import ENGINES, outcome, refused

import ptokit as pto
from ptokit.engines.kernels.opfunction import OpFunction
from ptokit.engines.native import calllines
from ptokit.machine import cache
from ptokit.machine.objectcode import ParsedModule
from ptokit.machine.record.expressions import Recording

TILE, VIEW = "!pto.tile_buf<vec, 8x16xf32>", "!pto.tensor_view<8x16xf32>"
ADDRESSES = [512 * n for n in range(8)] + [64, 576, 1056]  # the last ones are inside others
BINARY, UNARY = ("tadd", "tsub", "tmax"), ("tneg", "tabs")


def program(count: int) -> str:
    """`count` random instructions on tiles that overlap, which are all written before."""
    random, lines = Random(count), ["func.func @line(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {"]
    lines += [f"  %c{n} = arith.constant {n} : index" for n in (1, 8, 16)]
    shape = "shape = [%c8, %c16], strides = [%c16, %c1]"
    for n, address in enumerate(ADDRESSES):
        lines += [f"  %o{n} = arith.constant {128 * n} : index"]
        for name in "xy":
            pointer = f"%p{name}{n}"
            lines += [f"  {pointer} = pto.addptr %{name}, %o{n} : !pto.ptr<f32> -> !pto.ptr<f32>"]
            lines += [f"  %v{name}{n} = pto.make_tensor_view {pointer}, {shape} : {VIEW}"]
        lines += [f"  %a{n} = arith.constant {address} : i64"]
        lines += [f"  %t{n} = pto.alloc_tile addr = %a{n} : {TILE}"]
        lines += [f"  pto.tload ins(%vx{n} : {VIEW}) outs(%t{n} : {TILE})"]
    for _ in range(count):
        a, b, c = (random.randrange(len(ADDRESSES)) for _ in range(3))
        if random.random() < 0.7:
            op = random.choice(BINARY)
            lines += [f"  pto.{op} ins(%t{a}, %t{b} : {TILE}, {TILE}) outs(%t{c} : {TILE})"]
        else:
            lines += [f"  pto.{random.choice(UNARY)} ins(%t{a} : {TILE}) outs(%t{c} : {TILE})"]
    stores = (f"  pto.tstore ins(%t{n} : {TILE}) outs(%vy{n} : {VIEW})" for n in range(11))
    return "\n".join([*lines, *stores, "  return", "}"])


def arrays(less: int = 0) -> dict[str, Any]:
    """Arguments of a program; the output has some elements `less`."""
    x = np.random.default_rng(0).integers(-9, 9, 128 * 11).astype(np.float32)
    return {"x": x, "y": np.zeros(128 * 11 - less, np.float32)}


def test_equal_instructions_are_emitted_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PTOKIT_CACHE", str(tmp_path))
    emitted, modules = list[Recording](), list[str]()
    body, parsed = OpFunction.body, cache.parsed

    def emit(function: OpFunction, recording: Recording) -> None:
        emitted.append(recording)
        body(function, recording)

    def compiled(text: str, processor: cache.Processor) -> ParsedModule:
        modules.append(text)
        return parsed(text, processor)

    monkeypatch.setattr(OpFunction, "body", emit)
    monkeypatch.setattr(cache, "parsed", compiled)
    kernel = pto.loads(program(400))
    expected = outcome(kernel, arrays(), target="cpu", engine="reference")
    assert outcome(kernel, arrays(), target="cpu", engine="native") == expected
    assert len(emitted) < 120  # of 422 instructions
    assert "\n".join(modules).count("call i32 @op") < 120  # the others are rows of a table
    modules.clear()
    monkeypatch.setattr(calllines, "FEW", 10_000)
    monkeypatch.setenv("PTOKIT_CACHE", str(tmp_path / "lines"))
    kernel = pto.loads(program(400))
    assert outcome(kernel, arrays(), target="cpu", engine="native") == expected
    quick = [text.startswith(cache.QUICK) for text in modules]
    assert quick[0] and not any(quick[1:]) if cache.LINKS else quick == [False]


def test_a_table_ends_where_an_instruction_is_wrong() -> None:
    found = refused(program(100), arrays(less=5), target="cpu")
    assert (found.slug, found.seen) == (
        "global-out-of-bounds",
        "element 1407 is accessed, %y has 1403",
    )


def test_a_table_keeps_track_of_what_is_undefined() -> None:
    """A tile that overlaps others is not loaded, and some elements of the output depend on it."""
    text = "\n".join(x for x in program(100).split("\n") if "%vx3 " not in x or "tload" not in x)
    told: list[list[str]] = []
    for engine in ENGINES:
        with pytest.warns(pto.UnwrittenWarning) as caught:
            outcome(text, arrays(), target="cpu", engine=engine)
        told.append([str(warning.message) for warning in caught])
    assert told[0] == told[1]


def test_equal_instructions_in_loops_tell_their_own_iteration() -> None:
    """Instructions may fail in two loops after each other: requests keep the number of a loop."""
    lines = program(100).split("\n")
    ops = [x for x in lines if any(f"pto.{op} " in x for op in (*BINARY, *UNARY))]
    loops = [
        line
        for n in range(2)
        for line in (f"  scf.for %i{n} = %c1 to %c8 step %c1 {{", *ops, "  }")
    ]
    first, last = lines.index(ops[0]), lines.index(ops[-1])
    text = "\n".join([*lines[:first], *loops, *lines[last + 1 :]])
    text = "\n".join(x for x in text.split("\n") if "%vx3 " not in x or "tload" not in x)
    told: list[list[str]] = []
    for engine in ENGINES:
        with pytest.warns(pto.UnwrittenWarning) as caught:
            outcome(text, arrays(), target="cpu", engine=engine)
        told.append([str(warning.message) for warning in caught])
    assert told[0] == told[1]

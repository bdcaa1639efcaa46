"""Effects that no random operand shows: registers, pipes, scratch, unknown ops, dynamic extents."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping
from typing import TypeAlias

from ptokit.analysis.effects import ANYWHERE, ByteRanges, Effects, effects
from ptokit.analysis.facts import facts_of
from ptokit.forms.structure import structured
from ptokit.ir.module import Value
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import Role
from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.words import FIX, MTE2, MTE3, Pipe, V
from ptokit.text.read.reader import read

HEAD = """
!a = !pto.tile_buf<vec, 16x32xf32>
!part = !pto.tile_buf<vec, 16x32xf32, valid=16x8>
!open = !pto.tile_buf<vec, 16x32xf32, valid=?x?>
func.func @f(%p: !pto.ptr<f32>, %n: index) {
"""
Seen: TypeAlias = "dict[str, ByteRanges]"


def last(body: str, target: str = "a5") -> Effects:
    """The effects of the last op of a function."""
    (func,) = read(f"{HEAD}{body}\n}}\n", "t.pto").funcs
    return effects(func.body.ops[-1], facts_of(func).on(TARGETS[target]).known)


def names(part: Mapping[Value, ByteRanges]) -> Seen:
    return {value.name: some for value, some in part.items()}


def test_a_valid_region_is_a_range_for_each_row() -> None:
    found = last("""
      %s = pto.alloc_tile : !part
      %d = pto.alloc_tile : !part
      pto.tadd ins(%s, %s : !part, !part) outs(%d : !part)""")
    rows = ByteRanges(tuple((128 * row, 128 * row + 32) for row in range(16)))
    assert names(found.reads) == {"s": rows}
    assert names(found.writes) == names(found.fills) == {"d": rows}
    assert found.pipe is V


def test_an_open_valid_region_may_be_all_and_fills_nothing() -> None:
    found = last("""
      %s = pto.alloc_tile valid_row = %n valid_col = %n : !open
      %d = pto.alloc_tile valid_row = %n valid_col = %n : !open
      pto.tadd ins(%s, %s : !open, !open) outs(%d : !open)""")
    assert names(found.writes) == {"d": ByteRanges(((0, 2048),))}
    assert names(found.fills) == {}


def test_what_an_unknown_op_does_may_be_anything() -> None:
    found = last("""
      %s = pto.alloc_tile : !a
      pto.trinity ins(%s : !a)""")
    assert names(found.reads) == names(found.writes) == {"s": ANYWHERE}


def test_scratch_is_neither_read_nor_written_but_said() -> None:
    body = """
      %s = pto.alloc_tile : !a
      %t = pto.alloc_tile : !a
      %d = pto.alloc_tile : !pto.tile_buf<vec, 16x8xf32, valid=16x1>
      pto.trowsum ins(%s, %t : !a, !a) outs(%d : !pto.tile_buf<vec, 16x8xf32, valid=16x1>)"""
    for target, scratch in {"a2a3": ["t"], "a5": []}.items():  # a5 does without it
        found = last(body, target)
        assert [value.name for value in found.scratch] == scratch
        assert "t" not in names(found.reads) | names(found.writes)


def test_a_view_of_known_strides_is_read_where_it_lies() -> None:
    body = """
      %c16 = arith.constant 16 : index
      %v = pto.make_tensor_view %p, shape = [%c16, 8], strides = [%STEP, 1]
        : !pto.tensor_view<?x?xf32>
      %w = pto.partition_view %v, offsets = [0, 0], sizes = [%c16, 8]
        : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x8xf32>
      %d = pto.alloc_tile : !part
      pto.tload ins(%w : !pto.partition_tensor_view<16x8xf32>) outs(%d : !part)"""
    known = last(body.replace("%STEP", "%c16"))
    assert names(known.reads) == {"w": ByteRanges(tuple((64 * r, 64 * r + 32) for r in range(16)))}
    assert known.pipe is MTE2
    assert names(last(body.replace("%STEP", "%n")).reads) == {"w": ANYWHERE}


def every(text: str) -> list[Effects]:
    """The effects of all ops of a program."""
    funcs = [structured(func) for func in read(text, "t.pto").funcs]
    facts = [(func, facts_of(func).on(TARGETS["a5"]).known) for func in funcs]
    return [effects(op, known) for func, known in facts for op in func.body.walk()]


def test_registers_are_said() -> None:
    written = {n for p in pages() for e in every(example_program(p)) for n in e.registers_written}
    unrolls = {"FMATRIX_A", "PADDING_A", "RPT_A"}
    assert written == {"QUANT_PRE", "FPC", "HF32", "TF32"} | unrolls
    unroll = next(example_program(p) for p in pages() if p.__name__ == "TImg2Col")
    assert [e.registers_read for e in every(unroll)] == [frozenset()]
    (manual,) = every(unroll.replace("a_auto", "b_manual"))
    assert manual.registers_read == {"FMATRIX_B", "PADDING_B", "RPT_B"}


def test_a_body_uses_no_scratch() -> None:
    scratch = [(p, o.name) for p in pages() for o in p.operands if o.role is Role.SCRATCH]
    assert scratch
    used = [p for p, name in scratch if name in p.body_names]
    # a pipe keeps where its slots are, a meeting of cores where these count
    assert [p.name for p in used if p.fifo_role is None] == ["syncall"]


def test_each_path_has_its_pipe() -> None:
    store = """
      %c16 = arith.constant 16 : index
      %v = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c16, 1]
        : !pto.tensor_view<?x?xf32>
      %s = pto.alloc_tile : SOURCE
      pto.tstore ins(%s : SOURCE) outs(%v : !pto.tensor_view<?x?xf32>)"""
    found: dict[str, Pipe | None] = {}
    for loc in ("vec", "acc"):
        kind = f"!pto.tile_buf<{loc}, 16x16xf32>"
        found[loc] = last(store.replace("SOURCE", kind)).pipe
    assert found == {"vec": MTE3, "acc": FIX}


def test_a_valid_region_of_billions_takes_no_memory() -> None:
    """It is illegal, and `check` says so; whoever asks for effects before must get an answer."""
    tile = f"!pto.tile_buf<vec, 2x256xu32, valid=2x{2**32 - 1}>"
    tracemalloc.start()
    last(f"""
      %one = arith.constant 1 : i32
      %d = pto.alloc_tile : {tile}
      pto.trandom ins({", ".join(["%one"] * 6)} : {", ".join(["i32"] * 6)}) outs(%d : {tile})""")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 28


def test_a_body_whose_rules_are_broken_may_do_anything() -> None:
    """It is illegal, and `check` says so: a sum of f16 is no sum of the cube unit."""
    left, right = "!pto.tile_buf<left, 16x16xf16>", "!pto.tile_buf<right, 16x16xf16>"
    halves = "!pto.tile_buf<acc, 16x16xf16>"
    made = last(f"""
      %l = pto.alloc_tile : {left}
      %r = pto.alloc_tile : {right}
      %c = pto.alloc_tile : {halves}
      pto.tmatmul.acc ins(%c, %l, %r : {halves}, {left}, {right}) outs(%c : {halves})""")
    assert {value.name for value in made.reads} == {"c", "l", "r"}
    assert [value.name for value in made.writes] == ["c"]
    assert not made.fills

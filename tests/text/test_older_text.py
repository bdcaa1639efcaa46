"""Text from before types of views had extents: it is read, and printed as today's."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Op
from ptokit.ir.same import same
from ptokit.text.read.reader import read
from ptokit.text.write.printer import print_module


def tile(rows: int, loc: str = "ub") -> str:
    return (
        f"!pto.tile_buf<loc={loc}, dtype=f32, rows={rows}, cols=16, v_row={rows}, v_col=16, "
        "blayout=row_major, slayout=none_box, fractal=512, pad=0>"
    )


OLDER = f"""module {{
  func.func @column_sums(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %first: index) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %vx = pto.make_tensor_view %x, shape = [%c64, %c16] strides = [%c16, %c1] : !pto.tensor_view<2xf32>
    %vy = pto.make_tensor_view %y, shape = [%c1, %c16] strides = [%c16, %c1] : !pto.tensor_view<2xf32>
    %px = pto.subview %vx, offsets = [%first, %c0], sizes = [16, 16] : !pto.tensor_view<2xf32> -> !pto.tile_view<16x16xf32>
    %py = pto.subview %vy, offsets = [%c0, %c0], sizes = [%c1, %c16] : !pto.tensor_view<2xf32> -> !pto.tile_view<1x16xf32>
    %t = pto.alloc_tile : {tile(16).removeprefix("!pto.tile_buf")}
    %w = pto.alloc_tile : {tile(16).removeprefix("!pto.tile_buf")}
    %s = pto.alloc_tile : {tile(1).removeprefix("!pto.tile_buf")}
    pto.tload ins(%px : !pto.tile_view<16x16xf32>) outs(%t : {tile(16)})
    pto.tcolsum ins(%t, %w : {tile(16)}, {tile(16)}) outs(%s : {tile(1)}) isBinary = true
    pto.tstore ins(%s : {tile(1)}) outs(%py : !pto.tile_view<1x16xf32>)
    return
  }}
}}
"""  # noqa: E501


def test_older_text_is_read_and_printed_as_today() -> None:
    module = read(OLDER)
    text = print_module(module)
    assert "tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>" in text
    assert tile(16, "vec") in text
    assert same(read(text), module)


def test_older_text_runs(engine: str) -> None:
    x = np.arange(1024, dtype=np.float32).reshape(64, 16)
    given = {"x": x, "y": np.zeros((1, 16), np.float32), "first": 32}
    ran = pto.loads(OLDER).execute(given, target="a5", engine=engine)
    assert np.array_equal(ran.outputs["y"][0], x[32:48].sum(0))


@pytest.mark.parametrize("extents", ["3", "2x2"])
def test_a_type_of_other_extents_is_wrong(extents: str) -> None:
    """Only the count of the numbers that describe a view is its rank."""
    text = OLDER.replace("strides = [%c16, %c1] : !pto.tensor_view<2xf32>", "strides = [%c16, %c1]"
                         f" : !pto.tensor_view<{extents}xf32>")  # fmt: skip
    with pytest.raises(PtoError, match="used as"):
        read(text)


ROW, STAGE = "!pto.partition_tensor_view<64xf32>", "!pto.tile_buf<vec, 1x64xf32>"
BETWEEN_RANKS = {
    "tput": ("abt", ""),
    "tget": ("abtu", ""),
    "tbroadcast": ("atbb", "1, 1, 0, 2>, root = 0 : i32"),
    "comm_tgather": ("atbc", "1, 1, 0, 2>, root = 0 : i32"),
    "treduce": ("atubc", "1, 1, 1, 0, 2>, reduceOp = #pto<reduce_op max>, root = 1 : i32"),
}


@every("name", BETWEEN_RANKS)
def test_ops_between_ranks_have_names_without_their_chapter(name: str) -> None:
    """In generic form the destination comes first, as in the order of the assembler's operands."""
    given, attrs = BETWEEN_RANKS[name]
    args = f"%a: {ROW}, %b: {ROW}, %c: {ROW}, %t: {STAGE}, %u: {STAGE}"
    types = ", ".join(ROW if letter in "abc" else STAGE for letter in given)
    attrs = attrs and f"<{{operandSegmentSizes = array<i32: {attrs}}}>"
    called = f'"pto.{name}"({", ".join(f"%{n}" for n in given)}) {attrs} : ({types}) -> ()'
    op = read(f"func.func @f({args}) {{\n{called}\nreturn\n}}\n").funcs[0].body.ops[0]
    assert isinstance(op, Op)
    assert op.name == f"pto.comm.{name.removeprefix('comm_')}"
    first = op.bound("src" if name == "tbroadcast" else "dst")
    assert [v.name for v in first] == ["a"]
    if "group" in op.operands:
        assert "".join(v.name for v in op.bound("group")) == given[-2:]

"""An example program for each page of the manual, by the page's name; a test runs them all.

Tiles that a program reads without defining them are its inputs.
"""

from __future__ import annotations

from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr
from ptokit.isa.pages.broadcast import RowExpand
from ptokit.isa.pages.elementwise import Binary, Unary, WithScalar
from ptokit.isa.pages.reduction import RowReduce

ND = "!pto.tile_buf<vec, 16x32xf32>"
INDEX = "!pto.tile_buf<vec, 16x32xi32>"
COUNT = "!pto.tile_buf<vec, 16x8xi32, valid=16x1>"
WIDE = "!pto.tile_buf<vec, 16x64xf32>"
NZ = "!pto.tile_buf<vec, 16x32xf32, blayout=col_major, slayout=row_major>"
MAT = "!pto.tile_buf<mat, 64x256xf16, blayout=col_major, slayout=row_major>"
BLOCK = "!pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>"
BYTES = "!pto.tile_buf<mat, 32x32xi8, blayout=col_major, slayout=row_major>"
LEFT = "!pto.tile_buf<left, 64x64xf16, blayout=col_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 64x64xf16, slayout=col_major>"
ACC = "!pto.tile_buf<acc, 64x64xf32, blayout=col_major, slayout=row_major, fractal=1024>"
ACC32 = "!pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
FP = "!pto.tile_buf<scaling, 1x64xu64>"
BIAS = "!pto.tile_buf<bias, 1x64xf32>"
SCRATCH = "!pto.tile_buf<vec, 16x64xu32>"
PADDED = "!pto.tile_buf<vec, 16x32xf32, pad=1>"
ROWS = "!pto.tile_buf<vec, 16x8xf32, valid=16x1>"
COLUMN = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
PARTLY = "!pto.tile_buf<vec, 16x32xf32, valid=13x29>"

VIEW = """\
func.func @example(%x: !pto.ptr<f32>) {
  %one = arith.constant 1 : index
  %rows = arith.constant 16 : index
  %cols = arith.constant 32 : index
  %view = pto.make_tensor_view %x, shape = [%rows, %cols], strides = [%cols, %one] \
: !pto.tensor_view<16x32xf32>
"""

FLAGS = """\
pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]"""
EVENTS = """\
pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TSTORE_VEC>, <EVENT_ID0>]
pto.wait_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TSTORE_VEC>, <EVENT_ID0>]"""

DYNAMIC = """\
%id = arith.constant 2 : index
pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_MTE3>, %id]
pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_MTE3>, %id]"""
MAP = "!pto.conv_tile<nc1hwc0, 1x1x4x4x16xf16>"

SEVEN_AND_TWO = "%a = arith.constant 7 : index\n%b = arith.constant 2 : index\n"


def scalar(operation: str) -> str:
    """A valid extent computed by `operation` from %a and %b."""
    tile = "!pto.tile_buf<vec, 16x32xf32, valid=?x32>"
    return f"{SEVEN_AND_TWO}%n = {operation}\n%t = pto.alloc_tile valid_row = %n : {tile}"


LOOP = f"""\
func.func @example(%x: {ND}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %turns = arith.constant 3 : index
  scf.for %i = %zero to %turns step %one {{
    pto.tadd ins(%x, %x : {ND}, {ND}) outs(%x : {ND})
  }}
  return
}}"""
BRANCH = f"""\
func.func @example(%x: {ND}, %y: {ND}, %n: index) {{
  %limit = arith.constant 4 : index
  %small = arith.cmpi slt, %n, %limit : index
  scf.if %small {{
    pto.tadd ins(%x, %x : {ND}, {ND}) outs(%y : {ND})
  }} else {{
    pto.tmul ins(%x, %x : {ND}, {ND}) outs(%y : {ND})
  }}
  return
}}"""
CARRIED = f"""\
func.func @example(%x: {ND}, %y: {ND}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %turns = arith.constant 4 : index
  %rows = scf.for %i = %zero to %turns step %one iter_args(%n = %one) -> (index) {{
    %twice = arith.addi %n, %n : index
    scf.yield %twice : index
  }}
  pto.tadd ins(%x, %x : {ND}, {ND}) outs(%y : {ND})
  return
}}"""

DOUBLE = f"""\
func.func @double(%x: {ND}, %y: {ND}) {{
  pto.tadd ins(%x, %x : {ND}, {ND}) outs(%y : {ND})
  return
}}"""

EXAMPLES: dict[str, str] = {
    "func.func": DOUBLE,
    "module": "module {\n" + "".join(f"  {line}\n" for line in DOUBLE.splitlines()) + "}",
    "Constant": "%a = arith.constant 7 : index",
    **{
        name: scalar(f"arith.{name.lower()} %a, %b : index")
        for name in (
            *("AddI", "SubI", "MulI", "DivSI", "RemSI", "CeilDivSI"),
            *("MinSI", "MaxSI", "AndI", "OrI"),
        )
    },
    "CmpI": scalar("arith.select %less, %a, %b : index").replace(
        "%n =", "%less = arith.cmpi slt, %b, %a : index\n%n ="
    ),
    "Select": scalar("arith.select %less, %a, %b : index").replace(
        "%n =", "%less = arith.cmpi slt, %b, %a : index\n%n ="
    ),
    "IndexCast": "%a = arith.constant 7 : i32\n%n = arith.index_cast %a : i32 to index",
    "ExtSI": "%a = arith.constant 7 : i32\n%n = arith.extsi %a : i32 to i64",
    "TruncI": "%a = arith.constant 7 : i64\n%n = arith.trunci %a : i64 to i32",
    "For": LOOP,
    "If": BRANCH,
    "Yield": CARRIED,
    "Return": LOOP,
    "SetQuantScalar": "%half = arith.constant 0.5 : f32\npto.set_quant_scalar %half : f32",
    "TExtract": f"%dst = textract %src[0, 64] : {MAT} -> {LEFT}",
    "TExtractFp": f"%dst = textract.fp %src, %fp[0, 16] : {ACC}, {FP} -> {BYTES}",
    "TExtractPair": (
        f"pto.textract ins(%src, 0, 0, 0, 32 : {WIDE}, index, index, index, index)"
        f" outs(%dst0, %dst1 : {NZ}, {NZ})"
    ),
    "TExtractConv": (
        "%dst = textract %src[16, 0] : !pto.conv_tile<fractal_z, 4x3x16x16xf16>"
        " -> !pto.tile_buf<right, 32x32xf16, slayout=col_major>"
    ),
    "TInsert": f"pto.tinsert ins(%src, 0, 32 : {ND}, index, index) outs(%dst : {WIDE})",
    "TInsertFp": (
        f"pto.tinsert_fp ins(%src, %fp, 0, 0 : {ACC32}, {FP}, index, index) outs(%dst : {BYTES})"
    ),
    "TMov": f"%dst = tmov %src : {BLOCK} -> {LEFT}",
    "TMovFp": f"%dst = tmov.fp %src, %fp : {ACC32}, {FP} -> {BYTES}",
    "TMovScale": (
        "pto.tmov ins(%src, %tmp : !pto.tile_buf<vec, 32x32xf8E8M0FNU, valid=32x4>,"
        " !pto.tile_buf<vec, 1x256xf8E8M0FNU>)"
        " outs(%dst : !pto.tile_buf<vec, 32x4xf8E8M0FNU, slayout=row_major, fractal=32>)"
    ),
    "TFillPad": f"%dst = tfillpad %src : {PARTLY} -> {PADDED}",
    "TFillPadInplace": f"%dst = tfillpad_inplace %src : {PARTLY} -> {PADDED}",
    "TFillPadExpand": (
        f"%dst = tfillpad_expand %src : {PARTLY} -> !pto.tile_buf<vec, 32x64xf32, pad=3>"
    ),
    "TTrans": f"%dst = ttrans %src : {ND} -> !pto.tile_buf<vec, 32x16xf32>",
    "TTransConv": (
        "pto.ttrans ins(%src : !pto.conv_tile<nchw, 1x8x2x4xf32, loc=vec>)"
        " outs(%dst : !pto.conv_tile<nc1hwc0, 1x1x2x4x8xf32, loc=vec>)"
    ),
    "TConcat": f"%dst = tconcat %src0, %src1 : {ND}, {ND} -> {WIDE}",
    "TConcatIndex": (
        f"pto.tconcat ins(%src0, %src1, %n0, %n1 : {ND}, {ND}, {COUNT}, {COUNT})"
        f" outs(%dst : {WIDE})"
    ),
    "TConcatDstIndex": (
        f"pto.tconcat ins(%src0, %src1, %n0, %n1 : {ND}, {ND}, {COUNT}, {COUNT})"
        f" outs(%dst, %total : {WIDE}, {COUNT})"
    ),
    "TPack": f"%dst = tpack %src : {INDEX} -> !pto.tile_buf<vec, 16x32xi16>",
    "TImg2Col": (
        "%dst = timg2col %src {fmatrixMode = #pto.fmatrix_mode<fmatrix_a_auto>}"
        " : !pto.conv_tile<nc1hwc0, 1x1x4x4x16xf16>"
        " -> !pto.tile_buf<left, 16x16xf16, blayout=col_major, slayout=row_major>"
    ),
    "TGather": f"%dst = tgather %src0, %indices, %tmp : {ND}, {INDEX}, {INDEX} -> {ND}",
    "TGatherMask": (
        f"%dst = tgather %src {{maskPattern = #pto.mask_pattern<P0101>}} : {WIDE} -> {ND}"
    ),
    "TGatherCompare": (
        f"pto.tgather ins(%src0, %k, %tmp : {ND}, {COUNT.replace('xi32', 'xu32')}, {SCRATCH})"
        f" outs(%dst, %count : {INDEX}, {COUNT}) {{cmpMode = #pto<cmp gt>}}"
    ),
    "TGatherB": (
        f"%dst = tgatherb %src, %offsets : {ND}, !pto.tile_buf<vec, 16x8xu32, valid=16x4> -> {ND}"
    ),
    "SubView": f"%dst = subview %src, 4, 8 : {ND} -> {ND.replace('>', ', valid=8x16>')}",
    "SubSet": f"%dst = pto.subset %src[4, 8] sizes [8, 16] : {ND}",
    "TReshape": f"%dst = treshape %src : {ND} -> !pto.tile_buf<vec, 8x64xf32>",
    "TMatMul": f"%c = tmatmul %a, %b : {LEFT}, {RIGHT} -> {ACC}",
    "TMatMulAcc": (
        f"%acc = tmatmul %a, %b : {LEFT}, {RIGHT} -> {ACC}\n"
        f"pto.tmatmul.acc ins(%acc, %a, %b : {ACC}, {LEFT}, {RIGHT}) outs(%acc : {ACC})"
    ),
    "TMatMulBias": f"%c = tmatmul.bias %a, %b, %bias : {LEFT}, {RIGHT}, {BIAS} -> {ACC}",
    "TLoad": (
        f"{VIEW}  %t = pto.alloc_tile : {ND}\n"
        f"  pto.tload ins(%view : !pto.tensor_view<16x32xf32>) outs(%t : {ND})\n  return\n}}"
    ),
    "TStore": (
        f"{VIEW}  %t = pto.alloc_tile : {ND}\n"
        f"  pto.tload ins(%view : !pto.tensor_view<16x32xf32>) outs(%t : {ND})\n"
        f"  pto.tstore ins(%t : {ND}) outs(%view : !pto.tensor_view<16x32xf32>)\n  return\n}}"
    ),
    "TStoreFp": (
        f"func.func @example(%acc: {ACC32}, %fp: {FP}, %out: !pto.ptr<i8>) {{\n"
        "  %rows = arith.constant 32 : index\n  %one = arith.constant 1 : index\n"
        "  %view = pto.make_tensor_view %out, shape = [%rows, %rows], strides = [%rows, %one]"
        " : !pto.tensor_view<32x32xi8>\n"
        f"  pto.tstore_fp ins(%acc, %fp : {ACC32}, {FP})"
        " outs(%view : !pto.tensor_view<32x32xi8>)\n  return\n}"
    ),
    "TColSum": f"%dst = tcolsum %src : {ND} -> !pto.tile_buf<vec, 1x32xf32>",
    "TCvt": (f"pto.tcvt ins(%src {{rmode = #pto<round_mode FLOOR>}} : {ND}) outs(%dst : {INDEX})"),
    "GetBlockIdx": "%block = pto.get_block_idx",
    "GetBlockNum": "%blocks = pto.get_block_num",
    "GetSubblockIdx": "%lane = pto.get_subblock_idx",
    "GetSubblockNum": "%lanes = pto.get_subblock_num",
    "AllocTile": f"%t = pto.alloc_tile : {ND}",
    "TAssign": (
        f"%addr = arith.constant 4096 : i64\n%t = pto.alloc_tile : {ND}\n"
        f"%u = pto.tassign %t, %addr : {ND} -> {ND}"
    ),
    "MakeTensorView": f"{VIEW}  return\n}}",
    "PartitionView": (
        f"{VIEW}  %zero = arith.constant 0 : index\n"
        "  %part = pto.partition_view %view, offsets = [%zero, %zero], sizes = [%rows, %cols]"
        " : !pto.tensor_view<16x32xf32> -> !pto.partition_tensor_view<16x32xf32>\n  return\n}"
    ),
    "SetFlag": FLAGS,
    "WaitFlag": FLAGS,
    "RecordEvent": EVENTS,
    "WaitEvent": EVENTS,
    "Barrier": "pto.barrier <PIPE_MTE2>",
    "SetQuantVector": f"pto.set_quant_vector ins(%fp : {FP}) outs()",
    "TSync": f"{EVENTS}\ntsync.op #pto.op<TLOAD>",
    "TSyncOp": "tsync.op #pto.op<TLOAD>",
    "BarrierSync": "pto.barrier_sync[<TVEC>]",
    "SetFmatrix": f"pto.setfmatrix ins(%map : {MAP}) outs()",
    "SetPadding": f"pto.set_img2col_padding ins(%map : {MAP}) outs()",
    "SetRepeat": f"pto.set_img2col_rpt ins(%map : {MAP}) outs()",
    "SetFlagDyn": DYNAMIC,
    "WaitFlagDyn": DYNAMIC,
}

# what a member of a family is written like; a page with an example of its own keeps that
FAMILIES: dict[type[Instr], str] = {
    Binary: f"%dst = NAME %src0, %src1 : {ND}, {ND} -> {ND}",
    Unary: f"%dst = NAME %src : {ND} -> {ND}",
    WithScalar: f"%dst = NAME %src, 1.5 : {ND}, f32 -> {ND}",
    RowReduce: f"pto.NAME ins(%src, %tmp : {ND}, {ND}) outs(%dst : {ROWS})",
    RowExpand: f"%dst = NAME %src0, %src1 : {ND}, {COLUMN} -> {ND}",
}


def derived(page: type[Instr]) -> str | None:
    """The example of a member of a family."""
    found = (text for family, text in FAMILIES.items() if issubclass(page, family))
    return next((text.replace("NAME", page.name) for text in found), None)


for _page in pages():
    if _page.__name__ not in EXAMPLES and (_text := derived(_page)) is not None:
        EXAMPLES[_page.__name__] = _text

"""Pointers, elements of memory and valid regions that change: programs and what comes out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oracles.registry import Program, say

NUMBERS = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 3, 4, 5, 8))
COUNT = np.arange(32, dtype=np.int32)
P, V = "!pto.ptr<i32>", "!pto.tensor_view<?x?xi32>"
OPEN, FULL = (f"!pto.tile_buf<vec, 4x8xi32{v}>" for v in (", valid=?x?", ""))
VIEW = f"%v = pto.make_tensor_view %g, shape = [%c4, %c8], strides = [%c8, %c1] : {V}"
PART = "!pto.partition_tensor_view<?x?xi32>"
INNER = f"%p = pto.partition_view %v, offsets = [%c1, %c3], sizes = [%c2, %c5] : {V} -> {PART}"


def program(lines: str, arguments: str = f"%g: {P}") -> str:
    return f"func.func @f({arguments}) {{\n{NUMBERS}{lines}\n  return\n}}\n"


def changed(**elements: int) -> list[int]:
    """0, 1, 2, ... but for these: `at5=7`."""
    found = COUNT.tolist()
    for name, value in elements.items():
        found[int(name[2:])] = value
    return found


MOVES = Program(
    program(
        f"""
  %q = pto.addptr %g, %c5 : <i32> -> <i32>
  scf.for %i = %c0 to %c3 step %c1 {{
    %r = pto.addptr %q, %i : {P} -> {P}
    %x = pto.load_scalar %r[%c2] : {P} -> i32
    %y = arith.addi %x, %x : i32
    pto.store_scalar %y, %r[%c8] : {P}, i32
  }}"""
    ),
    {"g": changed(at13=14, at14=16, at15=18)},
    {"g": COUNT},
)
for page in ("AddPtr", "LoadScalar", "StoreScalar"):
    say(page, MOVES)
say(
    "CastPtr",
    Program(
        program(
            f"""
  %q = pto.castptr %g : {P} -> !pto.ptr<f32>
  %x = pto.load_scalar %q[%c3] : !pto.ptr<f32> -> f32
  %y = arith.addf %x, %x : f32
  pto.store_scalar %y, %q[%c4] : !pto.ptr<f32>, f32
  %h = pto.castptr %g : {P} -> !pto.ptr<i16>
  %n = pto.load_scalar %h[%c4] : !pto.ptr<i16> -> i16
  pto.store_scalar %n, %h[%c1] : !pto.ptr<i16>, i16"""
        ),
        {"g": [2 << 16, 1, 2, 0x3F800000, 0x40000000]},
        {"g": np.array([0, 1, 2, 0x3F800000, 4], np.int32)},
    ),
)
ASKED = Program(
    program(
        f"""
  {VIEW}
  {INNER}
  %d = pto.get_tensor_view_dim %p, %c1 : {PART} -> index
  %s = pto.get_tensor_view_stride %p, %c0 : {PART} -> index
  %q = pto.tensor_view_addr %p : {PART} -> {P}
  %i = arith.index_cast %d : index to i32
  %j = arith.index_cast %s : index to i32
  pto.store_scalar %i, %q[%c0] : {P}, i32
  pto.store_scalar %j, %q[%c1] : {P}, i32"""
    ),
    {"g": changed(at11=5, at12=8)},
    {"g": COUNT},
)
for page in ("GetTensorViewDim", "GetTensorViewStride", "TensorViewAddr"):
    say(page, ASKED)
RESIZED = Program(
    program(
        f"""
  {VIEW}
  %one = arith.constant 1 : i32
  %ten = arith.constant 10 : i32
  %t = pto.alloc_tile valid_row = %c4 valid_col = %c8 : {OPEN}
  pto.texpands ins(%one : i32) outs(%t : {OPEN})
  scf.for %i = %c0 to %c3 step %c1 {{
    pto.tadds ins(%t, %ten : {OPEN}, i32) outs(%t : {OPEN})
    pto.set_validshape %t, %i, %c5 : {OPEN}
  }}
  %r, %c = pto.get_validshape %t : {OPEN}
  %rows = pto.tile_valid_rows %t : {OPEN}
  %cols = pto.tile_valid_cols %t : {OPEN}
  pto.set_validshape %t, %c4, %c8 : {OPEN}
  pto.tstore ins(%t : {OPEN}) outs(%v : {V})
  %a = arith.addi %r, %rows : index
  %b = arith.addi %c, %cols : index
  %i = arith.index_cast %a : index to i32
  %j = arith.index_cast %b : index to i32
  %o = pto.addptr %g, %c8 : {P} -> {P}
  pto.store_scalar %i, %o[%c8] : {P}, i32
  pto.store_scalar %j, %o[%c5] : {P}, i32"""
    ),
    {"g": [21] * 5 + [11] * 8 + [10] + [11] * 2 + [4] + [11] * 15},
    {"g": COUNT},
)
for page in ("SetValidShape", "GetValidShape", "TileValidRows", "TileValidCols"):
    say(page, RESIZED)
KEPT = Program(
    program(
        f"""
  %a = pto.declare_local_array -> !pto.local_array<5xi32>
  %e = pto.declare_eventid_array -> !pto.eventid_array<4>
  scf.for %i = %c0 to %c4 step %c1 {{
    %x = pto.load_scalar %g[%i] : {P} -> i32
    %r = arith.subi %c4, %i : index
    pto.local_array_set %a[%r], %x : !pto.local_array<5xi32>, i32
    %j = arith.subi %c3, %i : index
    pto.eventid_array_set %e[%j], %i : !pto.eventid_array<4>
  }}
  scf.for %i = %c0 to %c5 step %c1 {{
    %x = pto.local_array_get %a[%i] : !pto.local_array<5xi32> -> i32
    pto.store_scalar %x, %g[%i] : {P}, i32
  }}
  %id = pto.eventid_array_get %e[%c1] : !pto.eventid_array<4>
  %n = arith.index_cast %id : index to i32
  pto.store_scalar %n, %g[%c8] : {P}, i32"""
    ),
    {"g": [0, 8, 7, 6, 5, 10, 11, 12, 2]},
    {"g": np.arange(5, 14, dtype=np.int32)},
)
for page in ("DeclareLocalArray", "LocalArrayGet", "LocalArraySet"):
    say(page, KEPT)
for page in ("DeclareEventIdArray", "EventIdArrayGet", "EventIdArraySet"):
    say(page, KEPT)

TWO = "!pto.tile_buf<vec, 4x8xi32, valid=?x?>"
BUFFERS = f"!pto.multi_tile_buf<{TWO}, count=3>"
IN_TURN = Program(
    program(
        f"""
  {VIEW}
  %ten = arith.constant 10 : i32
  %mb = pto.alloc_multi_tile valid_row = %c4 valid_col = %c5 : {BUFFERS}
  %first = pto.multi_tile_get %mb[%c0] : {BUFFERS} -> {TWO}
  pto.texpands ins(%ten : i32) outs(%first : {TWO})
  scf.for %i = %c0 to %c2 step %c1 {{
    %j = arith.addi %i, %c1 : index
    %a = pto.multi_tile_get %mb[%i] : {BUFFERS} -> {TWO}
    %b = pto.multi_tile_get %mb[%j] : !pto.multi_tile_buf<vec, 4x8xi32, valid=?x?, count=3> -> {TWO}
    pto.tadd ins(%a, %first : {TWO}, {TWO}) outs(%b : {TWO})
  }}
  %last = pto.multi_tile_get %mb[%c2] : {BUFFERS} -> {TWO}
  %p = pto.tile_buf_addr %last : {TWO} -> !pto.ptr<i32, ub>
  %x = pto.load_scalar %p[%c8] : !pto.ptr<i32, ub> -> i32
  %q = pto.addptr %p, %c3 : <i32, vec> -> <i32, vec>
  %y = arith.addi %x, %ten : i32
  pto.store_scalar %y, %q[%c8] : !pto.ptr<i32, vec>, i32
  %w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c4, %c5] : {V} -> {PART}
  pto.tstore ins(%last : {TWO}) outs(%w : {PART})"""
    ),
    {"g": changed(**{f"at{8 * r + c}": 30 for r in range(4) for c in range(5)} | {"at11": 40})},
    {"g": COUNT},
)
for page in ("AllocMultiTile", "MultiTileGet", "TileBufAddr"):
    say(page, IN_TURN)
ROWS, TRANSPOSED = (f"memref<{n}xi32, #pto.address_space<vec>>" for n in ("4x8", "8x4"))
DOWN = "#pto.tile_buf_config<blayout=1 : i32, slayout=#pto.slayout<none_box>, s_fractal_size=512>"
say(
    "BindTile",
    Program(
        program(
            f"""
  {VIEW}
  %a = pto.alloc_tile : {ROWS}
  %b = pto.bind_tile %a, %c2, %c4 {{config = {DOWN}}} : {ROWS} -> {TRANSPOSED}
  %d = pto.make_tensor_view %g, shape = [%c2, %c4], strides = [%c1, %c8] : {V}
  pto.tload ins(%d : {V}) outs(%b : {TRANSPOSED})
  %u = pto.bind_tile %a {{config = #pto.tile_buf_config<>}} : {ROWS} -> {ROWS}
  pto.tstore ins(%u : {ROWS}) outs(%v : {V})"""
        ),
        {"g": [n if n % 8 < 2 else 0 for n in range(32)]},
        {"g": COUNT},
    ),
)
for kind in ("Cube", "Vector"):
    say(
        f"Section{kind}",
        Program(
            program(
                f"""
  pto.section.{kind.lower()} {{
    scf.for %i = %c0 to %c2 step %c1 {{
      %x = pto.load_scalar %g[%i] : {P} -> i32
      pto.store_scalar %x, %g[%c5] : {P}, i32
    }}
  }}
  %y = pto.load_scalar %g[%c5] : {P} -> i32
  pto.section.{kind.lower()} {{
    pto.store_scalar %y, %g[%c8] : {P}, i32
  }}"""
            ),
            {"g": changed(at5=1, at8=1)},
            {"g": COUNT},
        ),
    )

PLANNED = f"{{config = #pto.tile_buf_config<pad=#pto.pad_value<null>>}} : {ROWS}"
say(
    "PointerCast",
    Program(
        program(
            f"""
  {VIEW}
  %far = arith.constant 4096 : i64
  %one = arith.constant 1 : i32
  %t = pto.alloc_tile addr = %far : {FULL}
  pto.texpands ins(%one : i32) outs(%t : {FULL})
  %a = pto.pointer_cast(%far) %c2, %c5 {PLANNED}
  %w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c2, %c5] : {V} -> {PART}
  pto.tstore ins(%a : {ROWS}) outs(%w : {PART})"""
        ),
        {"g": changed(**{f"at{8 * r + c}": 1 for r in range(2) for c in range(5)})},
        {"g": COUNT},
    ),
)
SHORT = "!pto.ptr<i16>"
NUMBERED = Program(
    program(
        f"""
  %q = pto.addptr %g, %c3 : {P} -> {P}
  %a = pto.ptrtoint %q : {P} -> i64
  %b = pto.ptrtoint %g : {P} -> i64
  %d = arith.subi %a, %b : i64
  pto.store_scalar %d, %far[%c0] : !pto.ptr<i64>, i64
  pto.store_scalar %a, %far[%c1] : !pto.ptr<i64>, i64
  %back = pto.load_scalar %far[%c1] : !pto.ptr<i64> -> i64
  %two = arith.constant 2 : i64
  %high = arith.addi %back, %two : i64
  %h = pto.inttoptr %high : i64 -> {SHORT}
  %n = arith.constant 1 : i16
  scf.for %i = %c0 to %c3 step %c2 {{
    pto.store_scalar %n, %h[%i] : {SHORT}, i16
  }}
  pto.store_scalar %d, %far[%c1] : !pto.ptr<i64>, i64""",
        f"%g: {P}, %far: !pto.ptr<i64>",
    ),
    {"g": changed(at3=3 + (1 << 16), at4=4 + (1 << 16)), "far": [12, 12]},
    {"g": COUNT, "far": np.zeros(2, np.int64)},
)
for page in ("PtrToInt", "IntToPtr"):
    say(page, NUMBERED)
CAST = NUMBERED.text.replace("ptrtoint", "castptr").replace("inttoptr", "castptr")
for page in ("CastToInt", "CastFromInt"):
    say(page, replace(NUMBERED, text=CAST))
PAIR = "!pto.struct<!pto.struct<f32, i8>, !pto.local_array<3xi16>, i32>"
GROUPED = Program(
    f"""func.func private @put(%s: {PAIR}, %n: i16) {{
  pto.struct_set %s[1, 2], %n : {PAIR}, i16
  return
}}
"""
    + program(
        f"""
  %s = pto.declare_struct -> {PAIR}
  %b = arith.constant -3 : i8
  %h = arith.constant 300 : i16
  pto.struct_set %s[0, 1], %b : {PAIR}, i8
  func.call @put(%s, %h) : ({PAIR}, i16) -> ()
  scf.for %i = %c0 to %c4 step %c1 {{
    %x = pto.load_scalar %g[%i] : {P} -> i32
    %y = pto.struct_get %s[2] : {PAIR} -> i32
    %z = arith.addi %x, %y : i32
    pto.struct_set %s[2], %z : {PAIR}, i32
  }}
  %b2 = pto.struct_get %s[0, 1] : {PAIR} -> i8
  %h2 = pto.struct_get %s[1, 2] : {PAIR} -> i16
  %none = pto.struct_get %s[1, 1] : {PAIR} -> i16
  %sum = pto.struct_get %s[2] : {PAIR} -> i32
  %b3 = arith.extsi %b2 : i8 to i32
  %h3 = arith.extsi %h2 : i16 to i32
  %none3 = arith.extsi %none : i16 to i32
  pto.store_scalar %b3, %g[%c0] : {P}, i32
  pto.store_scalar %h3, %g[%c1] : {P}, i32
  pto.store_scalar %none3, %g[%c2] : {P}, i32
  pto.store_scalar %sum, %g[%c3] : {P}, i32"""
    ),
    {"g": [-3, 300, 0, 10, 5]},
    {"g": np.arange(1, 6, dtype=np.int32)},
)
for page in ("DeclareStruct", "StructGet", "StructSet"):
    say(page, GROUPED)

COHERENT = Program(
    program(
        f"""
  {VIEW}
  {INNER}
  pto.cmo.cacheinvalid all #pto.address_space<gm>
  pto.fence.barrier_all #pto.fence_scope<gm>
  %x = pto.load_scalar %g[%c3] : {P} -> i32
  pto.store_scalar %x, %g[%c4] : {P}, i32
  pto.cmo.cacheinvalid %g single_cache_line : {P}
  pto.cmo.cacheinvalid %p single_cache_line : {PART}
  pto.fence.barrier_all <all>
  %bad = arith.cmpi ne, %x, %x : i32
  scf.if %bad {{
    pto.trap
  }}
  pto.print ins("x = %d", %x : i32)"""
    ),
    {"g": changed(at4=3)},
    {"g": COUNT},
)
for page in ("CacheInvalidAll", "CacheInvalidLine", "CacheInvalidView"):
    say(page, COHERENT)
for page in ("FenceBarrierAll", "Trap", "Print"):
    say(page, COHERENT)

CUBE = "memref<2x2x8xi32, #pto.address_space<vec>>"
GLOBAL = "memref<2x2x8xi32, #pto.address_space<gm>>"
say(
    "MemrefAlloc",
    Program(
        program(
            f"""
  %two = arith.constant 2 : i32
  %a = memref.alloc() : {CUBE}
  pto.tload ins(%m : {GLOBAL}) outs(%a : {CUBE})
  %b = memref.alloc() : {CUBE}
  pto.tadds ins(%a, %two : {CUBE}, i32) outs(%b : {CUBE})
  pto.tadd ins(%a, %b : {CUBE}, {CUBE}) outs(%a : {CUBE})
  pto.tstore ins(%a : {CUBE}) outs(%m : {GLOBAL})""",
            f"%m: {GLOBAL}",
        ),
        {
            "m": [
                [[2 * n + 2 for n in range(16 * i + 8 * j, 16 * i + 8 * j + 8)] for j in (0, 1)]
                for i in (0, 1)
            ]
        },
        {"m": COUNT.reshape(2, 2, 8)},
    ),
)

COUNTS, FOUR = "vector<4xi16>", "memref<1x4xi16, #pto.address_space<gm>>"
say(
    "ConstantCounts",
    Program(
        program(
            f"""
  %e = arith.constant dense<0> : {COUNTS}
  pto.tload ins(%m : {FOUR}) outs(%e : {COUNTS})
  pto.tadd ins(%e, %e : {COUNTS}, {COUNTS}) outs(%e : {COUNTS})
  pto.tstore ins(%e : {COUNTS}) outs(%m : {FOUR})""",
            f"%m: {FOUR}",
        ),
        {"m": [[2, 4, 6, 8]]},
        {"m": np.array([[1, 2, 3, 4]], np.int16)},
    ),
)

FLAT, LINES = "memref<32xi32, #pto.address_space<gm>>", "memref<2x8xi32, #pto.address_space<vec>>"
RECAST = "memref<2x8xi32, strided<[12, 1], offset: ?>, #pto.address_space<gm>>"
LOWERED = Program(
    program(
        f"""
  %v = memref.reinterpret_cast %m to offset: [4], sizes: [2, 8], strides: [12, 1]\
 : {FLAT} to {RECAST}
  %two = arith.constant 2 : i32
  %a = memref.alloc() : {LINES}
  pto.tload ins(%v : {RECAST}) outs(%a : {LINES})
  %b = memref.alloc() : {LINES}
  pto.tadds ins(%a, %two : {LINES}, i32) outs(%b : {LINES})
  memref.dealloc %a : {LINES}
  %x = memref.load %b[%c1, %c3] : {LINES}
  memref.store %x, %m[%c0] : {FLAT}
  %y = memref.load %m[%c1] : {FLAT}
  memref.store %y, %b[%c1, %c0] : {LINES}
  pto.tstore ins(%b : {LINES}) outs(%v : {RECAST})
  memref.dealloc %b : {LINES}""",
        f"%m: {FLAT}",
    ),
    {"m": [{0: 21, 16: 1}.get(n, n + 2 if 4 <= n < 12 or 16 <= n < 24 else n) for n in range(32)]},
    {"m": COUNT},
)
for page in ("ReinterpretCast", "Dealloc", "MemrefLoad", "MemrefStore"):
    say(page, LOWERED)

TWO_ROWS = "!pto.tile_buf<vec, 2x8xi32>"
IN_ROWS = Program(
    program(
        f"""
  %v = memref.reinterpret_cast %m to offset: [4], sizes: [2, 8], strides: [12, 1]\
 : {FLAT} to {RECAST}
  %a = pto.alloc_tile : {TWO_ROWS}
  pto.tload ins(%v : {RECAST}) outs(%a : {TWO_ROWS})
  %b = pto.tile_buf_addr %a : {TWO_ROWS} -> {LINES}
  %x = pto.load_scalar %b[11] : {LINES} -> i32
  pto.store_scalar %x, %b[%c8] : {LINES}, i32
  pto.tstore ins(%a : {TWO_ROWS}) outs(%v : {RECAST})""",
        f"%m: {FLAT}",
    ),
    {"m": [19 if n == 16 else n for n in range(32)]},
    {"m": COUNT},
)
for page in ("TileBufBuffer", "LoadOfRows", "StoreOfRows"):
    say(page, IN_ROWS)

FOUR_ROWS, EACH_OTHER = (
    f"memref<{n}x8xi32, strided<[{step}, 1], offset: ?>, #pto.address_space<gm>>"
    for n, step in ((4, 8), (2, 16))
)
OPENED = "memref<?x8xi32, strided<[?, 1], offset: ?>, #pto.address_space<gm>>"
STATED, LAST = (
    f"memref<{n}x8xi32, strided<[8, 1], offset: ?>, #pto.address_space<vec>>" for n in (2, 1)
)
PARTS = Program(
    program(
        f"""
  %v = memref.reinterpret_cast %m to offset: [0], sizes: [4, 8], strides: [8, 1]\
 : {FLAT} to {FOUR_ROWS}
  %s = memref.subview %v[1, 0] [2, 8] [2, 1] : {FOUR_ROWS} to {EACH_OTHER}
  %o = memref.cast %s : {EACH_OTHER} to {OPENED}
  %two = arith.constant 2 : i32
  %a = memref.alloc() : {LINES}
  pto.tload ins(%o : {OPENED}) outs(%a : {LINES})
  %b = memref.cast %a : {LINES} to {STATED}
  %p = memref.subview %b[%c1, 0] [1, 8] [1, 1] : {STATED} to {LAST}
  pto.tadds ins(%p, %two : {LAST}, i32) outs(%p : {LAST})
  pto.tstore ins(%a : {LINES}) outs(%o : {OPENED})""",
        f"%m: {FLAT}",
    ),
    {"m": [n + 2 if n >= 24 else n for n in range(32)]},
    {"m": COUNT},
)
for page in ("MemrefCast", "MemrefTileCast", "MemrefPart", "MemrefStepped"):
    say(page, PARTS)

BITS = Program(
    """\
func.func @f(%g: !pto.ptr<i64>, %n: i64, %bit: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %last = arith.constant 63 : i64
  %yes = pto.sbitset1 %n, %bit : i64, i64 -> i64
  %two = arith.constant 2 : i64
  %no = pto.sbitset0 %yes, %two : i64, i64 -> i64
  %sign = pto.sbitset1 %n, %last : i64, i64 -> i64
  %none = pto.sbitset0 %sign, %last : i64, i64 -> i64
  pto.st_dev %yes, %g[%c0] : !pto.ptr<i64>, i64
  pto.store_scalar %no, %g[%c1] : !pto.ptr<i64>, i64
  pto.st_dev %sign, %g[%c2] : !pto.ptr<i64>, i64
  %again = pto.ld_dev %g[%c0] : !pto.ptr<i64> -> i64
  pto.st_dev %again, %g[%c3] : !pto.ptr<i64>, i64
  pto.store_scalar %none, %g[%c0] : !pto.ptr<i64>, i64
  return
}
""",
    {"g": [5, 3, 5 - 2**63, 7]},
    {"g": np.zeros(4, np.int64), "n": 5, "bit": 1},
)
for page in ("SetBit", "ClearBit", "StorePastCache", "LoadPastCache"):
    say(page, BITS)

"""Example kernels with FIFOs, for the pages of FIFOs."""

M, T, V = (
    "!pto.tile_buf<mat, 16x16xf32>",
    "!pto.tile_buf<vec, 8x16xf32>",
    "!pto.tensor_view<16x16xf32>",
)
PART = "!pto.partition_tensor_view<8x16xf32>"
# %part is the view of a vector core's eight rows of %y.
PARTED = f"""\
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %whole = pto.make_tensor_view %y, shape = [%c16, %c16], strides = [%c16, %c1] : {V}
  %number = pto.get_subblock_idx
  %lane = arith.index_cast %number : i64 to index
  %row = arith.muli %lane, %c8 : index
  %part = pto.partition_view %whole, offsets = [%row, %c0], sizes = [%c8, %c16] : {V} -> {PART}"""
BOTH_WAYS = f"""\
func.func @cube(%room: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.entry, \
pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  %down = pto.import_reserved_buffer {{name = "down", peer_func = @vector}} -> i32
  %up = pto.reserve_buffer {{name = "up", size = 4096, location = #pto.address_space<mat>, \
auto = true}} -> i32
  pto.aic_initialize_pipe {{dir_mask = 3, slot_size = 1024}} \
(gm_slot_buffer = %room : !pto.ptr<f32>, c2v_consumer_buf = %down : i32, \
v2c_consumer_buf = %up : i32)
  %t = pto.tpop_from_aiv {{split = 1}} -> {M}
  pto.tpush_to_aiv(%t : {M}) {{split = 1}}
  pto.tfree_from_aiv {{split = 1}}
  return
}}
func.func @vector(%room: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes \
{{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
{PARTED}
  %down = pto.reserve_buffer {{name = "down", size = 4096, location = #pto.address_space<vec>, \
auto = true}} -> i32
  %up = pto.import_reserved_buffer {{name = "up", peer_func = @cube}} -> i32
  pto.aiv_initialize_pipe {{dir_mask = 3, slot_size = 1024}} \
(gm_slot_buffer = %room : !pto.ptr<f32>, c2v_consumer_buf = %down : i32, \
v2c_consumer_buf = %up : i32)
  %three = arith.constant 3.0 : f32
  %t = pto.alloc_tile : {T}
  pto.texpands ins(%three : f32) outs(%t : {T})
  pto.tpush_to_aic(%t : {T}) {{split = 1}}
  %u = pto.tpop_from_aic {{split = 1}} -> {T}
  pto.tstore ins(%u : {T}) outs(%part : {PART})
  pto.tfree_from_aic {{split = 1}}
  return
}}"""
HANDLED = f"""\
func.func @example(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
{PARTED}
  %all = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : {V}
  %address = arith.constant 0 : i32
  %pipe = pto.initialize_l2l_pipe {{dir_mask = 1, slot_size = 1024, slot_num = 8, \
flag_base = 0}} (%address : i32) -> !pto.pipe
  pto.section.cube {{
    %m = pto.alloc_tile : {M}
    pto.tload ins(%all : {V}) outs(%m : {M})
    pto.tpush(%m, %pipe : {M}, !pto.pipe) {{split = 1}}
  }}
  pto.section.vector {{
    %t = pto.declare_tile -> {T}
    pto.tpop(%t, %pipe : {T}, !pto.pipe) {{split = 1}}
    pto.tstore ins(%t : {T}) outs(%part : {PART})
    pto.tfree(%pipe : !pto.pipe) {{split = 1}}
  }}
  return
}}"""
S = "!pto.tile_buf<vec, 16x16xf32>"


def through_memory(to_cube: str, written: str, read: str, handle: str = "") -> str:
    """Return a kernel in which the vector core writes a slot in global memory, the cube reads it.

    `to_cube` opens the FIFO.
    """
    return f"""\
func.func @example(%x: !pto.ptr<f32>, %memory: !pto.ptr<f32>) {{
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %all = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : {V}
  %slots = pto.make_tensor_view %memory, shape = [%c16, %c16], strides = [%c16, %c1] : {V}
  {to_cube}
  pto.section.vector {{
    %t = pto.alloc_tile : {S}
    pto.tload ins(%all : {V}) outs(%t : {S})
    {written}
  }}
  pto.section.cube {{
    {read}
  }}
  return
}}"""


OUT_OF_MEMORY = through_memory(
    "%pipe = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 8} "
    f"(%slots : {V}) -> !pto.pipe",
    f"""%entry = pto.declare_global -> {V}
    pto.talloc(%entry, %pipe : {V}, !pto.pipe) {{split = 0}}
    pto.tstore ins(%t : {S}) outs(%entry : {V})
    pto.tpush(%entry, %pipe : {V}, !pto.pipe) {{split = 0}}""",
    f"""%entry = pto.declare_global -> {V}
    pto.tpop(%entry, %pipe : {V}, !pto.pipe) {{split = 0}}
    %m = pto.alloc_tile : {M}
    pto.tload ins(%entry : {V}) outs(%m : {M})
    pto.tfree(%pipe : !pto.pipe) {{split = 0}}""",
)


def allocated(mask: int, kind: str, other: str, name: str, pop: str) -> str:
    """Return a kernel in which one end allocates and pushes a slot, and the other pops it."""
    ends = {"cube": "aic", "vector": "aiv"}

    def function(own: str, attributes: str, statements: str) -> str:
        return f"""\
func.func @{own}(%memory: !pto.ptr<f32>) attributes \
{{{attributes}pto.kernel_kind = #pto.kernel_kind<{own}>}} {{
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %slots = pto.make_tensor_view %memory, shape = [%c16, %c16], strides = [%c16, %c1] : {V}
  pto.{ends[own]}_initialize_pipe {{dir_mask = {mask}, slot_size = 1024}} \
(gm_slot_tensor = %slots : {V})
  {statements}
  return
}}"""

    pushes = f"""\
%entry = pto.talloc_{name} {{split = 0}} -> {V}
  pto.tpush_{name}(%entry : {V}) {{split = 0}}"""
    pops = f"""\
%entry = pto.tpop_{pop} {{split = 0}} -> {V}
  pto.tfree_{pop}(%entry : {V}) {{split = 0}}"""
    return function(kind, "pto.entry, ", pushes) + "\n" + function(other, "", pops)


TO_AIV = allocated(1, "cube", "vector", "to_aiv", "from_aic")
TO_AIC = allocated(2, "vector", "cube", "to_aic", "from_aiv")
MEMREF = "memref<8x16xf32, #pto.address_space<vec>>"
OLDER = (
    HANDLED.replace(f"pto.declare_tile -> {T}", f"pto.declare_tile_memref -> {MEMREF}")
    .replace(f"%t : {T}", f"%t : {MEMREF}")
    .replace(f"%t, %pipe : {T}", f"%t, %pipe : {MEMREF}")
)

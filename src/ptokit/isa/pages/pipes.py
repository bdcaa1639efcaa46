"""Pipes between cores: what one kind of core pushes, the other kind pops (spec 4.7, C3.4).

A pipe is a bounded queue of slots in each of its directions. The older spellings name a pipe by a
number and say the peer in the mnemonic; the newer ones have a handle. What must agree between both
ends is checked over all functions (`analysis.peers`): pages say what an operation is to a pipe.
"""

from ptokit.isa.formula.formulas import ABSENT, UNKNOWN, Env, Evaluate
from ptokit.isa.lang.page import *
from ptokit.isa.model.epilogues import A5_MODES, CONVERSIONS, LAYOUTS, said

PEER = "its other end is a core of the other kind, and a launch here is of one kind"
CUBE, VECTOR = KernelKind.CUBE, KernelKind.VECTOR
FIFO = """\
%buffer = pto.reserve_buffer {name = "fifo", size = 8192, location = #pto.address_space<vec>, \
auto = true} -> i32
%zero = arith.constant 0 : i32
pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} \
(c2v_consumer_buf = %buffer : i32, v2c_consumer_buf = %zero : i32)
%t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
pto.tfree_from_aic {split = 0}"""
OTHER_END = """\
func.func @cube() attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<cube>} {
  %zero = arith.constant 0 : i32
  %buffer = pto.import_reserved_buffer {name = "fifo", peer_func = @vector} -> i32
  pto.aic_initialize_pipe {dir_mask = 3, slot_size = 1024} \
(c2v_consumer_buf = %buffer : i32, v2c_consumer_buf = %zero : i32)
  %t = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 16x16xf32>
  pto.tfree_from_aiv {split = 0}
  pto.tpush_to_aiv(%t : !pto.tile_buf<mat, 16x16xf32>) {split = 0}
  return
}
func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0 : i32
  %buffer = pto.reserve_buffer {name = "fifo", size = 4096, location = #pto.address_space<vec>, \
auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 1024} \
(c2v_consumer_buf = %buffer : i32, v2c_consumer_buf = %zero : i32)
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tpush_to_aic(%t : !pto.tile_buf<vec, 16x16xf32>) {split = 0}
  %u = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
  pto.tfree_from_aic {split = 0}
  return
}"""
SLOT = "!pto.tensor_view<16x16xf32>"


def through_memory(mask: int, kind: str, statements: str) -> str:
    """A kernel of that kind with a pipe whose slots lie in global memory."""
    core = "aic" if kind == "cube" else "aiv"
    return f"""\
func.func @example(%memory: !pto.ptr<f32>) attributes \
{{pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{
  %one = arith.constant 1 : index
  %n = arith.constant 16 : index
  %slots = pto.make_tensor_view %memory, shape = [%n, %n], strides = [%n, %one] : {SLOT}
  pto.{core}_initialize_pipe {{dir_mask = {mask}, slot_size = 1024}} (gm_slot_tensor = %slots : \
{SLOT})
  {statements}
  return
}}"""


HANDLED = """\
%address = arith.constant 0 : i32
%pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0} \
(%address : i32) -> !pto.pipe
pto.section.vector {
  %t = pto.declare_tile -> !pto.tile_buf<vec, 16x16xf32>
  pto.tpop(%t, %pipe : !pto.tile_buf<vec, 16x16xf32>, !pto.pipe) {split = 0}
  pto.tfree(%pipe : !pto.pipe) {split = 0}
}"""
OUT_OF_MEMORY = f"""\
func.func @example(%memory: !pto.ptr<f32>) {{
  %one = arith.constant 1 : index
  %n = arith.constant 16 : index
  %slots = pto.make_tensor_view %memory, shape = [%n, %n], strides = [%n, %one] : {SLOT}
  %pipe = pto.initialize_l2g2l_pipe {{dir_mask = 1, slot_size = 1024, slot_num = 8}} \
(%slots : {SLOT}) -> !pto.pipe
  pto.section.cube {{
    %entry = pto.declare_global -> {SLOT}
    pto.talloc(%entry, %pipe : {SLOT}, !pto.pipe) {{split = 0}}
    pto.tpush(%entry, %pipe : {SLOT}, !pto.pipe) {{split = 0}}
  }}
  return
}}"""


class Epilogue(Expr):
    """What an epilogue says of its conversion, a word: `quant = no_convert`."""

    def __init__(self, of: Field, key: str) -> None:
        self.of, self.key = of, key

    def children(self) -> tuple[Expr, ...]:
        return (self.of,)

    def compile(self) -> Evaluate:
        def word(env: Env) -> Any:
            text = self.of.eval(env)
            if not isinstance(text, str):
                return text
            return said(text, self.key) or ABSENT

        return word

    def __str__(self) -> str:
        return f"{self.key} of {self.of}"


class DefaultSlots(Expr):
    """How many slots each direction of a pipe has where the program does not say it."""

    def __init__(self, given: Field, mask: Field) -> None:
        self.given, self.mask = given, mask

    def children(self) -> tuple[Expr, ...]:
        return self.given, self.mask

    def compile(self) -> Evaluate:
        def slots(env: Env) -> Any:
            given = self.given.eval(env)
            return slots_of(self.mask.eval(env)) if given is ABSENT else given

        return slots

    def __str__(self) -> str:
        return f"{self.given} (8 by default, 4 in each direction of a pipe with two)"


def slots_of(mask: object) -> Any:  # Any: a number, or UNKNOWN
    """The slots in each direction of a pipe that does not say how many."""
    return UNKNOWN if mask is UNKNOWN else 4 if mask == 3 else 8


PLACED = "give it an address: auto = false, base = 0"


class ReserveBuffer(Instr, name="reserve_buffer", pipe=S, exchange=Exchange.RESERVES):
    """Room for the slots of a pipe in the memory of the core that pops; its address."""

    unexecuted = PEER
    asm = Asm(
        shape="configured", cpp_text="const uint32_t {addr}{{[{base}]}};  // {size} bytes, {label}"
    )
    example = FIFO
    disputes = ("X60",)
    addr = Result(Scalar, scalar="i32")
    label = Attr(str, key="name")
    size = Attr(int)
    location = Attr(Loc)
    auto = Attr(bool, True, key="auto")
    base = Attr(int, None)
    rules = (
        named("attribute", size > 0, help="its size is slot_size times the number of slots"),
        named("attribute", location.isin(VEC, MAT), help="slots lie in vec or mat"),
        named("attribute", either(auto, base.given), help="give base where auto is false"),
        named("attribute", base >= 0),
        at(LEVEL3, HARDWARE, named("level", both(~auto, base.given), help=PLACED)),
        at(LEVEL12, HARDWARE, named("level", ~base.given, help="the compiler places it")),
    )


class ImportReservedBuffer(Instr, name="import_reserved_buffer", pipe=S, exchange=Exchange.IMPORTS):
    """The address of a buffer that a function for the other kind of core reserves."""

    unexecuted = PEER
    asm = Asm(shape="configured", cpp_text="const uint32_t {addr}{{}};  // {label} of {peer}")
    example = OTHER_END
    addr = Result(Scalar, scalar="i32")
    label = Attr(str, key="name")
    peer = Attr(str, key="peer_func")


class PipeShape(Instr, abstract=True, pipe=S, exchange=Exchange.OPENS):
    """A pipe: its directions, and how many slots of how many bytes each has."""

    unexecuted = PEER
    dir_mask = Attr(int)
    slot_size = Attr(int)
    nosplit = Attr(bool, False)
    epilogue = Attr(str, None, key="acc_push_epilogue")
    quant = Epilogue(epilogue, "quant")
    directions = "1 is from cube to vector, 2 from vector to cube, 3 both"
    fixed = "an epilogue converts what the cube pushes, as one whole tile"
    rules = (
        named("attribute", dir_mask.isin(1, 2, 3), help=directions),
        named("attribute", slot_size > 0),
        when(epilogue.given, named("attribute", dir_mask == 1, nosplit, help=fixed)),
        named("attribute", quant.isin(*CONVERSIONS), help="no pipe has another conversion"),
        on(A2A3, named("attribute", ~quant.isin(*A5_MODES), help="A5 has these conversions")),
        named("attribute", Epilogue(epilogue, "relu").isin("no_relu", "normal_relu")),
        named("attribute", Epilogue(epilogue, "layout").isin(*LAYOUTS)),
    )


WHERE = "say where the slots of each direction are"


class InitializePipe(PipeShape, abstract=True):
    """Set up one end of a pipe, which `id` names in its function."""

    asm = Asm(
        shape="configured",
        cpp_text="TPipe<2 * {id}, Direction({dir_mask}), {slot_size}[, {slot_num}]"
        "[, {local_slot_num}]> pipe{id}({gm_slot_buffer}{gm_slot_tensor}"
        "[, {c2v_consumer_buf}][, {v2c_consumer_buf}]);",
    )
    id = Attr(int, 0)
    slot_num = Attr(int, None)
    local_slot_num = Attr(int, None)
    gm_slot_buffer = Scratch(Any_, None, key="gm_slot_buffer", doc="the slots in global memory")
    gm_slot_tensor = Scratch(Global, None, key="gm_slot_tensor", doc="one slot in global memory")
    c2v_consumer_buf = In(Scalar, None, scalar="i32", key="c2v_consumer_buf")
    v2c_consumer_buf = In(Scalar, None, scalar="i32", key="v2c_consumer_buf")
    slots = DefaultSlots(slot_num, PipeShape.dir_mask)
    once = "the slots have one place in global memory"
    rules = (
        *PipeShape.rules,
        named("attribute", id >= 0, slot_num > 0),
        on((CPU, A2A3), named("attribute", local_slot_num > 0, local_slot_num <= slots)),
        on(A5, named("attribute", ~local_slot_num.given, help="A5 has no local slots")),
        when(gm_slot_tensor.given, named("attribute", ~gm_slot_buffer.given, help=once)),
        when(
            ~gm_slot_tensor.given,
            named("attribute", either(PipeShape.dir_mask == 2, c2v_consumer_buf.given), help=WHERE),
            named("attribute", either(PipeShape.dir_mask == 1, v2c_consumer_buf.given), help=WHERE),
        ),
    )


class AicInitializePipe(InitializePipe, name="aic_initialize_pipe", core=CUBE, example=OTHER_END):
    """Set up the cube's end of a pipe, which `id` names in its function."""


class AivInitializePipe(InitializePipe, name="aiv_initialize_pipe", core=VECTOR, example=FIFO):
    """Set up the vector core's end of a pipe, which `id` names in its function."""


class PipeOfHandle(PipeShape, abstract=True):
    """Set up one end of a pipe, which its handle names."""

    pipe_result = Result(Handle, handle=PIPE)
    slot_num = Attr(int)
    flag_base = Attr(int, None)
    rules = (
        *PipeShape.rules,
        named("attribute", slot_num > 0),
        named("attribute", both(flag_base >= 0, flag_base < 16), help="flags are 0 to 15"),
    )


def made(arguments: str) -> Asm:
    return Asm(
        shape="configured",
        cpp_text="TPipe<0[ + {flag_base}], Direction({dir_mask}), {slot_size}, {slot_num}> "
        f"{{pipe_result}}({arguments});",
    )


TWO = "a pipe in both directions has slots at both ends, another one at one"


class InitializeL2LPipe(PipeOfHandle, name="initialize_l2l_pipe", example=HANDLED):
    """A pipe whose slots lie in the memory of the core that pops."""

    asm = made("{local_addr}[, {peer_local_addr}]")
    local_addr = In(Any_, doc="where the slots are")
    peer_local_addr = In(Any_, None, doc="where those of the other direction are")
    rules = (
        *PipeOfHandle.rules,
        named("attribute", (PipeShape.dir_mask == 3) == peer_local_addr.given, help=TWO),
    )


class InitializeL2G2LPipe(PipeOfHandle, name="initialize_l2g2l_pipe", example=OUT_OF_MEMORY):
    """A pipe whose slots lie in global memory, with copies of some at the core that pops."""

    asm = made("{gm_addr}[, {local_addr}][, {peer_local_addr}]")
    gm_addr = Scratch(Any_, doc="the slots in global memory")
    local_addr = In(Any_, None, doc="where the copies are")
    peer_local_addr = In(Any_, None, doc="where those of the other direction are")
    local_slot_num = Attr(int, None)
    rules = (
        *PipeOfHandle.rules,
        when(
            local_addr.given,
            named("attribute", (PipeShape.dir_mask == 3) == peer_local_addr.given, help=TWO),
        ),
        when(~local_addr.given, named("attribute", ~local_slot_num.given)),
        named("attribute", local_slot_num > 0, local_slot_num <= PipeOfHandle.slot_num),
    )


class AtPipe(Instr, abstract=True, asm=Asm(shape="called")):
    """Something that one end of a pipe does with a slot.

    `split` says how the two vector cores share an entry: 0 one has it whole, 1 by rows, 2 by
    columns, 3 and 4 the same with a remainder.
    """

    unexecuted = PEER
    split = Attr(int)
    rules = named("attribute", both(split >= 0, split <= 4), help="split is 0 to 4")


class ById(AtPipe, abstract=True):
    """At the pipe that a number names."""

    id = Attr(int, 0)
    rules = (AtPipe.rules, named("attribute", id >= 0))


class ByHandle(AtPipe, abstract=True, example=HANDLED):
    """At the pipe that a handle names."""

    queue = In(Handle, handle=PIPE)


def cpp(function: str, queue: str = "pipe{id}", before: str = "", entry: bool = True) -> Asm:
    """The call of C++ on a pipe."""
    types, last = (", decltype({entry})", ", {entry}") if entry else ("", "")
    split = "TileSplitAxis({split})"
    call = f"{function}<decltype({queue}){types}, {split}>({queue}{last});"
    return Asm(cpp_text=before + call)


HANDLE = "{queue}"
ONLY_SHARED = "the number of a vector core matters where an entry is shared, of a tile in vec"


def shared(subblock: Operand, split: Attr, entry: Operand) -> tuple[Ruled, ...]:
    """A number of a vector core only where its part of a tile in vec is meant."""
    shares = named("attribute", split != 0, entry.loc == VEC, help=ONLY_SHARED)
    return when(subblock.given, shares)


OF_CORE = Asm(clauses=(("aiv_subblockid", ("subblock",)),))


class PushById(ById, abstract=True, exchange=Exchange.PUSHES):
    """Hand an entry to the other kind of core; waits where all slots are in use."""

    asm = cpp("TPUSH")
    entry = In(Entry, doc="the tile, or the slot that was allocated and written")


class PushToAiv(PushById, name="tpush_to_aiv", core=CUBE, pipe=FIX, example=OTHER_END):
    """Hand an entry to the vector cores; waits where all slots are in use."""


class PushToAic(PushById, name="tpush_to_aic", core=VECTOR, pipe=MTE3, example=OTHER_END):
    """Hand an entry to the cube; waits where all slots are in use."""

    asm = OF_CORE
    subblock = In(Scalar, None, scalar="i64", key="aiv_subblockid", doc="which vector core")
    rules = (PushById.rules, shared(subblock, AtPipe.split, PushById.entry))


class PopById(ById, abstract=True, traits=(RECEIVES,), exchange=Exchange.POPS):
    """The next entry of the other kind of core; waits where there is none."""

    asm = cpp("TPOP", before="{type} {entry}[({valid_row}, {valid_col})]; ")
    entry = Result(Entry)
    valid_row = In(Index, None, doc="rows of the valid region, where the type says `?`")
    valid_col = In(Index, None, doc="columns of the valid region, where the type says `?`")
    together = named(
        *("dynamic-valid", valid_row.given == valid_col.given),
        help="give valid_row and valid_col, or none of them",
    )
    rules = (
        *(ById.rules, together),
        when(
            valid_row.given,
            named("dynamic-valid", both(entry.dynamic_rows, entry.dynamic_cols)),
        ),
    )


class PopFromAic(PopById, name="tpop_from_aic", core=VECTOR, pipe=MTE2, example=FIFO):
    """The next entry that the cube pushed; waits where there is none."""

    asm = OF_CORE
    subblock = In(Scalar, None, scalar="i64", key="aiv_subblockid", doc="which vector core")
    rules = (PopById.rules, shared(subblock, AtPipe.split, PopById.entry))


class PopFromAiv(PopById, name="tpop_from_aiv", core=CUBE, pipe=MTE2, example=OTHER_END):
    """The next entry that the vector cores pushed; waits where there is none."""


class FreeById(ById, abstract=True, exchange=Exchange.FREES):
    """Give the slot of the entry that was popped first back to the other kind of core."""

    asm = cpp("TFREE", entry=False)
    entry = In(Entry, None, doc="the entry, where it lies in global memory")


class FreeFromAic(FreeById, name="tfree_from_aic", core=VECTOR, pipe=MTE2, example=FIFO):
    """Give the slot of the entry that was popped first back to the cube."""


class FreeFromAiv(FreeById, name="tfree_from_aiv", core=CUBE, pipe=MTE2, example=OTHER_END):
    """Give the slot of the entry that was popped first back to the vector cores."""


class AllocById(ById, abstract=True, pipe=S, exchange=Exchange.ALLOCATES):
    """The next free slot of a pipe in global memory, to be written and then pushed."""

    asm = cpp("TALLOC", before="{type} {entry}; ")
    entry = Result(Global)


TO_AIV = through_memory(1, "cube", f"%entry = pto.talloc_to_aiv {{split = 0}} -> {SLOT}")
TO_AIC = through_memory(2, "vector", f"%entry = pto.talloc_to_aic {{split = 0}} -> {SLOT}")


class AllocToAiv(AllocById, name="talloc_to_aiv", core=CUBE, example=TO_AIV):
    """The next free slot in global memory, to be written and then pushed to the vector cores."""


class AllocToAic(AllocById, name="talloc_to_aic", core=VECTOR, example=TO_AIC):
    """The next free slot in global memory, to be written and then pushed to the cube."""


class TPush(ByHandle, pipe=S, exchange=Exchange.PUSHES, example=OUT_OF_MEMORY):
    """Hand an entry to the other end of a pipe; waits where all slots are in use."""

    asm = Asm(order=("entry", "queue")).over(cpp("TPUSH", HANDLE)).over(OF_CORE)
    queue = ByHandle.queue
    entry = In(Entry, doc="the tile, or the slot that was allocated and written")
    subblock = In(Scalar, None, scalar="i64", key="aiv_subblockid", doc="which vector core")
    rules = (AtPipe.rules, shared(subblock, AtPipe.split, entry))


class TPop(ByHandle, pipe=S, exchange=Exchange.POPS):
    """The next entry of the other end of a pipe, in a declared tile; waits where there is none."""

    asm = Asm(order=("entry", "queue")).over(cpp("TPOP", HANDLE)).over(OF_CORE)
    queue = ByHandle.queue
    entry = Out(Entry, doc="receives the entry")
    subblock = In(Scalar, None, scalar="i64", key="aiv_subblockid", doc="which vector core")
    rules = (AtPipe.rules, shared(subblock, AtPipe.split, entry))


class TFree(ByHandle, pipe=S, exchange=Exchange.FREES):
    """Give the slot of the entry that was popped first back to the other end of a pipe."""

    asm = Asm(order=("entry", "queue")).over(cpp("TFREE", HANDLE, entry=False))
    queue = ByHandle.queue
    entry = In(Entry, None, doc="the entry, where it lies in global memory")


class TAlloc(ByHandle, pipe=S, exchange=Exchange.ALLOCATES, example=OUT_OF_MEMORY):
    """The next free slot of a pipe in global memory, to be written and then pushed."""

    asm = Asm(order=("entry", "queue")).over(cpp("TALLOC", HANDLE))
    queue = ByHandle.queue
    entry = Out(Global, doc="becomes the slot")


class DeclaredEntry(Instr, abstract=True, pipe=S):
    """A handle without storage of its own, until a pipe gives it a slot."""

    unexecuted = PEER
    asm = Asm(shape="declared", cpp_text="{type} {entry};")


class DeclareTile(DeclaredEntry, name="declare_tile", traits=(RECEIVES,), example=HANDLED):
    """A tile without storage of its own, until it is popped from a pipe."""

    entry = Result(Tile)


class DeclareGlobal(DeclaredEntry, name="declare_global", example=OUT_OF_MEMORY):
    """A view of global memory without a place, until a pipe gives it a slot."""

    entry = Result(Global)


class DeclareTileMemref(DeclaredEntry, name="declare_tile_memref", traits=(RECEIVES,)):
    """A buffer without storage of its own, until it is popped from a pipe: older text."""

    example = "%t = NAME -> memref<16x16xf32, #pto.address_space<vec>>"
    entry = Result(Entry)

"""Set-up of FIFOs between cores: buffers for their slots, and both ends.

The older spellings name a FIFO by a number and the peer in the mnemonic; the newer ones have a
handle of type `!pto.pipe`. `analysis.fifochecks` compares both ends over all functions; pages
declare the role of an operation for a FIFO.
"""

from ptokit.isa.formula.formulas import Computed
from ptokit.isa.lang.asm import Texts
from ptokit.isa.lang.page import *
from ptokit.isa.model.epilogues import A5_MODES, CONVERSIONS, LAYOUTS, clause_value
from ptokit.isa.pages.fifoexamples import BOTH_WAYS, HANDLED, OUT_OF_MEMORY
from ptokit.isa.pages.slots import (
    BOTH,
    MOST_FLAGS,
    TO_CUBE,
    TO_VECTOR,
    default_slots,
    direction_in_cpp,
)


def of_epilogue(key: str, epilogue: Field) -> Expr:
    """Return the formula for one key of an epilogue: `quant = no_convert`."""

    def word(text: Value) -> Value:
        return (clause_value(text, key) or ABSENT) if isinstance(text, str) else text

    return Computed(f"{key} of {{0}}", word, epilogue)


ONE_WAY, TWO_WAYS = default_slots(TO_VECTOR), default_slots(BOTH)


@formula(f"{{0}} ({ONE_WAY} by default, {TWO_WAYS} in each direction of a FIFO with two)")
def slots_of(given: Value, mask: Value) -> Value:
    """Return the slots in each direction of a FIFO, if none are given the default number."""
    if given is not ABSENT:
        return given
    return UNKNOWN if mask is UNKNOWN else default_slots(mask)


PLACED = "give the buffer an address: auto = false, base = 0"


class ReserveBuffer(Instr, name="reserve_buffer", pipe=S, fifo_role=FifoRole.RESERVES):
    """A buffer for the slots of a FIFO in the memory of the consumer; its address.

    ptokit keeps slots outside of the cores' memories: without `base` the address is 0.
    """

    asm = Asm(
        shape="configured",
        always=("auto",),
        cpp_text="constexpr uint32_t {addr} = {base|0};  // {size} bytes of FIFO {label}",
    )
    example = BOTH_WAYS
    disputes = ("X60",)
    addr = Result(Scalar, scalar="i32")
    label = Attr(str, key="name")
    size = Attr(int)
    location = Attr(Loc)
    auto = Attr(bool, True, key="auto")
    base = Attr(int, None)
    rules = (
        named("attribute", size > 0, help="set size to slot_size times the number of slots"),
        named("attribute", location.isin(VEC, MAT), help="slots lie in vec or mat"),
        named("attribute", either(auto, base.given), help="give base where auto is false"),
        named("attribute", base >= 0),
        at(LEVEL3, HARDWARE, named("level", both(~auto, base.given), help=PLACED)),
        at(LEVEL12, HARDWARE, named("level", ~base.given, help="the compiler assigns it")),
    )

    def run(base):
        return base or 0


class ImportReservedBuffer(
    Instr, name="import_reserved_buffer", pipe=S, fifo_role=FifoRole.IMPORTS
):
    """The address of a buffer that a function for the other kind of core reserves.

    It is an operand of the FIFO's set-up; ptokit keeps slots elsewhere and gives 0.
    """

    asm = Asm(
        shape="configured",
        cpp_text="constexpr uint32_t {addr} = {base|0};  // FIFO {label} of {peer}",
    )
    example = BOTH_WAYS
    addr = Result(Scalar, scalar="i32")
    label = Attr(str, key="name")
    peer = Attr(str, key="peer_func")

    def run():
        return 0


class FifoShape(Instr, abstract=True, pipe=S, fifo_role=FifoRole.OPENS, uses=(FIFO,)):
    """A FIFO: its directions, and the number and size of slots in each."""

    dir_mask = Attr(int)
    slot_size = Attr(int)
    nosplit = Attr(bool, None)
    epilogue = Attr(str, None, key="acc_push_epilogue")
    quant = of_epilogue("quant", epilogue)
    directions = "1 is from cube to vector, 2 from vector to cube, 3 both"
    fixed = "an epilogue converts what the cube pushes, as one whole tile"
    rules = (
        named("attribute", dir_mask.isin(TO_VECTOR, TO_CUBE, BOTH), help=directions),
        named("attribute", slot_size > 0),
        when(epilogue.given, named("attribute", dir_mask == TO_VECTOR, help=fixed)),
        when(epilogue.given, named("attribute", nosplit.given, nosplit, help=fixed)),
        named("attribute", quant.isin(*CONVERSIONS), help="use a conversion that FIFOs support"),
        on(A2A3, named("attribute", ~quant.isin(*A5_MODES), help="A5 has these conversions")),
        named("attribute", of_epilogue("relu", epilogue).isin("no_relu", "normal_relu")),
        named("attribute", of_epilogue("layout", epilogue).isin(*LAYOUTS)),
    )


OF_A5 = "on A5 only cube pushes go through global memory to a buffer"
OF_A2A3 = "A2/A3 cores cannot write to each other's buffers: put the slots into global memory"
WHERE = "give the address of the slots of each direction"


def shape_in_cpp(given: Texts) -> dict[str, object]:
    """Return the C++ direction of a FIFO, and its template arguments after the number of slots."""
    local, whole = given.get("local_slot_num"), given.get("nosplit") in (True, "true")
    more = f", {local or 2}, true" if whole else f", {local}" if local else ""
    mask = given["dir_mask"]
    assert isinstance(mask, int)
    return {"direction": direction_in_cpp(mask), "more": more}


def numbered_in_cpp(given: Texts) -> Texts:
    """Return the placeholders for a FIFO with a number: its two flags, and its slots."""
    number, slots = given.get("id") or 0, given.get("slot_num") or default_slots(given["dir_mask"])
    assert isinstance(number, int)
    return shape_in_cpp(given) | {"flag": 2 * number, "slots": slots}


def of_handle_in_cpp(given: Texts) -> Texts:
    """Return the placeholders for a FIFO with a handle: the addresses of its slots."""
    mask, place, other = (given.get(n) for n in ("dir_mask", "local_addr", "peer_local_addr"))
    down, up = mask in (TO_VECTOR, BOTH), mask in (TO_CUBE, BOTH)
    places = {"c2v": place if down else 0, "v2c": other if down and up else place if up else 0}
    return shape_in_cpp(given) | places


class InitializePipe(FifoShape, abstract=True):
    """Set up one end of a FIFO, which `id` names in its function."""

    asm = Asm(
        shape="configured",
        cpp_more=numbered_in_cpp,
        cpp_text="TPipe<{flag}, {direction}, {slot_size}, {slots}{more}> pipe{id}("
        "{gm_slot_buffer_ptr|gm_slot_tensor_ptr|nullptr}, "
        "{c2v_consumer_buf|0}, {v2c_consumer_buf|0});",
    )
    id = Attr(int, 0)  # the order of these attributes is fixed in text
    dir_mask, slot_size = FifoShape.dir_mask, FifoShape.slot_size
    slot_num = Attr(int, None)
    local_slot_num = Attr(int, None)
    nosplit, epilogue = FifoShape.nosplit, FifoShape.epilogue
    gm_slot_buffer = Scratch(Any_, None, key="gm_slot_buffer", doc="the slots in global memory")
    gm_slot_tensor = Scratch(Global, None, key="gm_slot_tensor", doc="one slot in global memory")
    c2v_consumer_buf = In(Scalar, None, scalar="i32", key="c2v_consumer_buf")
    v2c_consumer_buf = In(Scalar, None, scalar="i32", key="v2c_consumer_buf")
    slots = slots_of(slot_num, FifoShape.dir_mask)
    once = "the slots have one place in global memory"
    c2v, v2c = (FifoShape.dir_mask.isin(way, BOTH) for way in (TO_VECTOR, TO_CUBE))

    def run(fifo, gm_slot_buffer, gm_slot_tensor):
        fifo.open(gm_slot_buffer if gm_slot_tensor is None else gm_slot_tensor)

    rules = (
        *FifoShape.rules,
        named("attribute", id >= 0, slot_num > 0),
        on((CPU, A2A3), named("attribute", local_slot_num > 0, local_slot_num <= slots)),
        on(A5, named("attribute", ~local_slot_num.given, help="A5 has no local slots")),
        when(gm_slot_tensor.given, named("attribute", ~gm_slot_buffer.given, help=once)),
        when(
            both(gm_slot_tensor.given, either(c2v_consumer_buf.given, v2c_consumer_buf.given)),
            on((CPU, A2A3), named("attribute", c2v == c2v_consumer_buf.given, help=WHERE)),
            named("attribute", v2c == v2c_consumer_buf.given, help=WHERE),
            on(A5, named("attribute", FifoShape.dir_mask == TO_VECTOR, help=OF_A5)),
        ),
        when(
            ~gm_slot_tensor.given,
            named(
                "attribute",
                either(FifoShape.dir_mask == TO_CUBE, c2v_consumer_buf.given),
                either(FifoShape.dir_mask == TO_VECTOR, v2c_consumer_buf.given),
                help=WHERE,
            ),
            on(A2A3, named("attribute", gm_slot_buffer.given, help=OF_A2A3)),
        ),
    )


class AicInitializePipe(InitializePipe, name="aic_initialize_pipe", core=CUBE, example=BOTH_WAYS):
    """Set up the cube's end of a FIFO, which `id` names in its function."""


class AivInitializePipe(InitializePipe, name="aiv_initialize_pipe", core=VECTOR, example=BOTH_WAYS):
    """Set up the vector core's end of a FIFO, which `id` names in its function."""


NUMBERED = f"flags are 0 to {MOST_FLAGS - 1}"


class FifoOfHandle(FifoShape, abstract=True):
    """Set up one end of a FIFO, which its handle names."""

    pipe_result = Result(Handle, handle=PIPE)
    dir_mask, slot_size = FifoShape.dir_mask, FifoShape.slot_size
    slot_num = Attr(int)
    flag_base = Attr(int, None)
    nosplit, epilogue = FifoShape.nosplit, FifoShape.epilogue
    rules = (
        *FifoShape.rules,
        named("attribute", slot_num > 0),
        named("attribute", both(flag_base >= 0, flag_base < MOST_FLAGS), help=NUMBERED),
    )


def made(memory: str) -> Asm:
    return Asm(
        shape="configured",
        each_typed=True,
        order=("dir_mask", "slot_size", "slot_num", "local_slot_num", "flag_base", "nosplit"),
        cpp_more=of_handle_in_cpp,
        cpp_text="TPipe<{flag_base|0}, {direction}, {slot_size}, {slot_num}{more}> "
        f"{{pipe_result}}({memory}, {{c2v|0}}, {{v2c|0}});",
    )


LARGEST = 512 << 10  # bytes of the L1 memory; a vector core has less
IN_CORE = "the slots are in one memory of the consumer: 512 KiB at most"
TWO = "give slots at both ends of a FIFO in both directions, else at one end"


class InitializeL2LPipe(FifoOfHandle, name="initialize_l2l_pipe", example=HANDLED):
    """A FIFO whose slots lie in the memory of the consumer."""

    asm = made("nullptr")
    local_addr = In(Any_, doc="where the slots are")
    peer_local_addr = In(Any_, None, doc="where those of the other direction are")
    room = FifoShape.slot_size * FifoOfHandle.slot_num
    rules = (
        *FifoOfHandle.rules,
        named("attribute", (FifoShape.dir_mask == BOTH) == peer_local_addr.given, help=TWO),
        named("out-of-memory", room <= LARGEST, help=IN_CORE),
    )

    def run(fifo):
        fifo.open(None)
        return 0


class InitializeL2G2LPipe(FifoOfHandle, name="initialize_l2g2l_pipe", example=OUT_OF_MEMORY):
    """A FIFO whose slots lie in global memory, with copies of some at the consumer."""

    asm = made("{gm_addr_ptr}")
    gm_addr = Scratch(Any_, doc="the slots in global memory")
    local_addr = In(Any_, None, doc="where the copies are")
    peer_local_addr = In(Any_, None, doc="where those of the other direction are")
    dir_mask, slot_size = FifoOfHandle.dir_mask, FifoOfHandle.slot_size
    slot_num, local_slot_num = FifoOfHandle.slot_num, Attr(int, None)
    flag_base, nosplit = FifoOfHandle.flag_base, FifoOfHandle.nosplit
    epilogue = FifoOfHandle.epilogue
    rules = (
        *FifoOfHandle.rules,
        when(
            local_addr.given,
            named("attribute", (FifoShape.dir_mask == BOTH) == peer_local_addr.given, help=TWO),
        ),
        when(~local_addr.given, named("attribute", ~local_slot_num.given)),
        named("attribute", local_slot_num > 0, local_slot_num <= FifoOfHandle.slot_num),
    )

    def run(fifo, gm_addr):
        fifo.open(gm_addr)
        return 0

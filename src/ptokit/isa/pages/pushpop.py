"""FIFOs between cores: one kind of core pushes, the other kind pops."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.fifoexamples import BOTH_WAYS, HANDLED, OLDER, OUT_OF_MEMORY, TO_AIC, TO_AIV
from ptokit.isa.pages.slots import (
    BY_COLUMNS,
    BY_ROWS,
    ODD_COLUMNS,
    ODD_ROWS,
    FifoEnd,
    allocate,
    commit,
    pop,
    push,
    receive,
    release,
    split_in_cpp,
)

SHARES = "parts of the vector cores: 0 the whole for one, 1 rows, 2 columns; 3, 4 with a remainder"


class AtFifo(
    Instr,
    abstract=True,
    asm=Asm(shape="called"),
    uses=(FIFO,),
    disputes=("X63", "X64", "X71", "X72"),
):
    """An operation of one end of a FIFO on a slot."""

    split = Attr(int, in_cpp=split_in_cpp, doc=SHARES)
    rules = named("attribute", both(split >= 0, split <= 4), help="split is 0 to 4")

    @classmethod
    def pipe_of(cls, env: Env) -> Pipe | None:
        """Return FIX for accumulators and for slots that the cube wrote.

        A pop that moves no data runs on the pipe of its user.
        """
        loc = getattr(env.get("entry"), "loc", None)
        if cls.fifo_role is FifoRole.PUSHES and cls.pipe is S:
            return FIX if loc is ACC or (loc is None and env.get("core") is CUBE) else MTE3
        if cls.fifo_role not in (FifoRole.POPS, FifoRole.FREES):
            return super().pipe_of(env)
        if not getattr(env.get("machine"), "separate", False):
            return MTE2
        return V if loc is VEC else MTE1 if loc is MAT else MTE2


class ById(AtFifo, abstract=True):
    """An operation on the FIFO that a number names."""

    id, split = Attr(int, 0), AtFifo.split  # their order in text is fixed
    rules = (AtFifo.rules, named("attribute", id >= 0))


class ByHandle(AtFifo, abstract=True, example=HANDLED):
    """An operation on the FIFO that a handle names."""

    handle = In(Handle, handle=PIPE)


def cpp(function: str, fifo: str = "pipe{id}", before: str = "", optional: bool = False) -> Asm:
    """Return the C++ call on a FIFO, `TPipe` there; the entry may be left out if `optional`."""
    types, last = ", decltype({entry})", ", {entry}"
    types, last = (f"[{types}]", f"[{last}]") if optional else (types, last)
    call = f"{function}<decltype({fifo}){types}, {{split}}>({fifo}{last});"
    return Asm(cpp_of_views=CHIPS, cpp_text=before + call)


BY_HANDLE = "{handle}"
ONLY_SHARED = "give the vector core only for a split entry in vec"


def shared(subblock: Operand, split: Attr, entry: Operand) -> Rules:
    """Require that a vector core is named only for its part of a tile in vec."""
    shares = named("attribute", split != 0, entry.loc == VEC, help=ONLY_SHARED)
    return when(subblock.given, shares)


EVEN = "split an odd number of lines with split = 3 (rows) or 4 (columns)"
ODD = "split an even number of lines with split = 1 (rows) or 2 (columns)"
OWN_PART = "say how many rows and columns this vector core has: (%rows, %cols)"
ONE_WAY = "on A5 only cube pushes can split an odd number of lines"


def whole_lines(split: Attr, entry: Operand, odd: tuple[str, ...] = HARDWARE) -> Rules:
    """Require an entry of the cube whose lines can be split in halves, or with a remainder.

    On the targets `odd` there may be a remainder.
    """
    rows, cols = entry.valid.rows % 2, entry.valid.cols % 2
    fits = (
        on(HARDWARE, when(split == BY_ROWS, named("shape", rows == 0, help=EVEN))),
        on(odd, when(split == ODD_ROWS, named("shape", rows == 1, help=ODD))),
    )
    across = (
        on(HARDWARE, when(split == BY_COLUMNS, named("shape", cols == 0, help=EVEN))),
        on(odd, when(split == ODD_COLUMNS, named("shape", cols == 1, help=ODD))),
    )
    counted = when(~entry.dynamic_rows, *fits), when(~entry.dynamic_cols, *across)
    return when(entry.is_tile, when(entry.loc.isin(ACC, MAT), *counted))


def to_vector_cores(split: Attr) -> Rules:
    """Require an even split on A5 but for entries from the cube to its vector cores."""
    return on(A5, named("attribute", split <= BY_COLUMNS, help=ONE_WAY))


def by_handle(split: Attr, entry: Operand, subblock: Operand, to_cube: Loc) -> Rules:
    """Return the rules of a handle's entries; `to_cube` ones go from a vector core to the cube."""
    return (
        shared(subblock, split, entry),
        whole_lines(split, entry),
        when(entry.is_tile, when(entry.loc == to_cube, to_vector_cores(split))),
    )


OF_CORE = Asm(clauses=(("aiv_subblockid", ("subblock",)),))


EntryType: TypeAlias = "GlobalType | TileType"  # the types that are pushed and popped


def pushed(fifo: FifoEnd, entry: Cells, kind: object, split: int, subblock: int | None) -> None:
    """Push the content of a tile, or the slot that a view has written."""
    if isinstance(kind, TileType):
        push(fifo, entry, split, fifo.lane if subblock is None else subblock)
    else:
        commit(fifo, split)


def popped(
    fifo: FifoEnd, machine: Machine, kind: EntryType, split: int, subblock: int | None
) -> Cells:
    """Return a new tile with the entry, or a view of its slot."""
    lane = fifo.lane if subblock is None else subblock
    if not isinstance(kind, TileType):
        return receive(fifo, kind, split, lane)
    tile = machine.new(kind.closed)
    pop(fifo, tile, split, lane)
    return tile


class PushById(ById, abstract=True, fifo_role=FifoRole.PUSHES):
    """Push an entry for the other kind of core; waits while all slots are in use."""

    asm = cpp("TPUSH")
    entry = In(Entry, doc="the tile, or the slot that was allocated and written")
    kind = TypeOf(entry)


class PushToAiv(PushById, name="tpush_to_aiv", core=CUBE, pipe=FIX, example=BOTH_WAYS):
    """Push an entry for the vector cores; waits while all slots are in use."""

    rules = (PushById.rules, whole_lines(AtFifo.split, PushById.entry))

    def run(fifo, entry, kind, split):
        pushed(fifo, entry, kind, split, None)


class PushToAic(PushById, name="tpush_to_aic", core=VECTOR, pipe=MTE3, example=BOTH_WAYS):
    """Push an entry for the cube; waits while all slots are in use."""

    asm = OF_CORE
    subblock = In(Scalar, None, scalar="i64", key="aiv_subblockid", doc="which vector core")
    rules = (
        PushById.rules,
        shared(subblock, AtFifo.split, PushById.entry),
        to_vector_cores(AtFifo.split),
    )

    def run(fifo, entry, kind, split, subblock):
        pushed(fifo, entry, kind, split, subblock)


class PopById(
    ById, abstract=True, traits=(RECEIVES,), fifo_role=FifoRole.POPS, uses=(FIFO, MACHINE)
):
    """Pop the next entry of the other kind of core; waits while there is none."""

    asm = Asm(typed=()).over(cpp("TPOP", before="{type} {entry}[({valid_row}, {valid_col})]; @ "))
    entry = Result(Entry)
    valid_row = In(
        Index, None, counts="rows", doc="rows of the valid region, where a `?` is not all of them"
    )
    valid_col = In(Index, None, counts="cols", doc="columns of it, where a `?` is not all of them")
    together = named(
        *("dynamic-valid", valid_row.given == valid_col.given),
        help="give both valid_row and valid_col, or neither",
    )
    rules = (
        *(ById.rules, together),
        when(
            valid_row.given,
            named("dynamic-valid", both(entry.dynamic_rows, entry.dynamic_cols)),
        ),
    )

    def type_of(entry, valid_row, valid_col):
        if valid_row is None or not isinstance(entry, TileType):
            return entry
        return replace(entry, valid=Shape(valid_row, valid_col))


class PopFromAic(PopById, name="tpop_from_aic", core=VECTOR, pipe=MTE2, example=BOTH_WAYS):
    """Pop the next entry that the cube pushed; waits while there is none."""

    asm = OF_CORE
    subblock = In(Scalar, None, scalar="i64", key="aiv_subblockid", doc="which vector core")
    both_parts = named("dynamic-valid", PopById.valid_row.given, help=OWN_PART)
    rules = (
        PopById.rules,
        shared(subblock, AtFifo.split, PopById.entry),
        on(HARDWARE, when(PopById.entry.is_tile, when(AtFifo.split >= ODD_ROWS, both_parts))),
    )

    def run(fifo, machine, entry, split, subblock):
        return popped(fifo, machine, entry, split, subblock)


class PopFromAiv(PopById, name="tpop_from_aiv", core=CUBE, pipe=MTE2, example=BOTH_WAYS):
    """Pop the next entry that the vector cores pushed; waits while there is none."""

    rules = (
        PopById.rules,
        whole_lines(AtFifo.split, PopById.entry, odd=(A2A3,)),
        to_vector_cores(AtFifo.split),
    )

    def run(fifo, machine, entry, split):
        return popped(fifo, machine, entry, split, None)


class FreeById(ById, abstract=True, fifo_role=FifoRole.FREES):
    """Give the slot of the oldest popped entry back to the other kind of core."""

    asm = cpp("TFREE", optional=True)
    entry = In(Entry, None, doc="the entry, where it lies in global memory")

    def run(fifo, entry, split):
        release(fifo, split, unnamed=entry is None)


class FreeFromAic(FreeById, name="tfree_from_aic", core=VECTOR, pipe=MTE2, example=BOTH_WAYS):
    """Give the slot of the oldest popped entry back to the cube."""


class FreeFromAiv(FreeById, name="tfree_from_aiv", core=CUBE, pipe=MTE2, example=BOTH_WAYS):
    """Give the slot of the oldest popped entry back to the vector cores."""


class AllocById(ById, abstract=True, pipe=S, fifo_role=FifoRole.ALLOCATES):
    """The next free slot of a FIFO in global memory, to be written and then pushed."""

    asm = cpp("TALLOC", before="{type} {entry}; @ ")
    entry = Result(Global)

    def run(fifo, entry, split):
        return allocate(fifo, entry, split, fifo.lane)


class AllocToAiv(AllocById, name="talloc_to_aiv", core=CUBE, example=TO_AIV):
    """The next free slot in global memory, to be written and then pushed to the vector cores."""


class AllocToAic(AllocById, name="talloc_to_aic", core=VECTOR, example=TO_AIC):
    """The next free slot in global memory, to be written and then pushed to the cube."""


class TPush(ByHandle, pipe=S, fifo_role=FifoRole.PUSHES, example=OUT_OF_MEMORY):
    """Push an entry into a FIFO; waits while all slots are in use.

    A tile is copied into the next slot. A slot that `talloc` gave is handed over as it was written.
    """

    asm = Asm(order=("entry", "handle"), also=("TPUSH(handle, entry, subblock)",))
    asm = asm.over(cpp("TPUSH", BY_HANDLE)).over(OF_CORE)
    handle = ByHandle.handle
    entry = In(Entry, doc="the tile, or the slot that was allocated and written")
    subblock = In(Scalar, None, scalar="i64", key="aiv_subblockid", doc="which vector core")
    kind = TypeOf(entry)
    rules = (AtFifo.rules, by_handle(AtFifo.split, entry, subblock, VEC))

    def run(fifo, entry, kind, split, subblock):
        pushed(fifo, entry, kind, split, subblock)


class TPop(ByHandle, pipe=S, fifo_role=FifoRole.POPS):
    """Pop the next entry of a FIFO into a declared tile; waits while there is none."""

    asm = Asm(order=("entry", "handle"), also=("TPOP(handle, entry, subblock)",))
    asm = asm.over(cpp("TPOP", BY_HANDLE)).over(OF_CORE)
    handle = ByHandle.handle
    entry = Out(Entry, doc="receives the entry")
    subblock = In(Scalar, None, scalar="i64", key="aiv_subblockid", doc="which vector core")
    kind = TypeOf(entry)
    rules = (AtFifo.rules, by_handle(AtFifo.split, entry, subblock, MAT))

    def run(fifo, entry, kind, split, subblock):
        lane = fifo.lane if subblock is None else subblock
        if isinstance(kind, TileType):
            pop(fifo, entry, split, lane)
        else:
            entry.become(receive(fifo, kind, split, lane))


class TFree(ByHandle, pipe=S, fifo_role=FifoRole.FREES):
    """Give the slot of the oldest popped entry back to the other end of a FIFO."""

    asm = Asm(order=("entry", "handle")).over(cpp("TFREE", BY_HANDLE, optional=True))
    handle = ByHandle.handle
    entry = In(Entry, None, doc="the entry, where it lies in global memory")

    def run(fifo, entry, split):
        release(fifo, split, unnamed=entry is None)


class TAlloc(ByHandle, pipe=S, fifo_role=FifoRole.ALLOCATES, example=OUT_OF_MEMORY):
    """The next free slot of a FIFO in global memory, to be written and then pushed."""

    asm = Asm(order=("entry", "handle")).over(cpp("TALLOC", BY_HANDLE))
    handle = ByHandle.handle
    entry = Out(Global, doc="becomes the slot")
    kind = TypeOf(entry)

    def run(fifo, entry, kind, split):
        entry.become(allocate(fifo, kind, split, fifo.lane))


class DeclaredEntry(Instr, abstract=True, pipe=S, uses=(MACHINE,)):
    """A handle without storage, until a FIFO gives it a slot."""

    asm = Asm(shape="declared", cpp_text="{type} {entry};")


class DeclareTile(DeclaredEntry, name="declare_tile", traits=(RECEIVES,), example=HANDLED):
    """A tile without storage, until it is popped from a FIFO."""

    entry = Result(Tile)

    def run(machine, entry):
        return machine.new(entry.closed)


class DeclareGlobal(DeclaredEntry, name="declare_global", example=OUT_OF_MEMORY):
    """A view of global memory without a place, until a FIFO gives it a slot."""

    entry = Result(Global)

    def run(machine, entry):
        return machine.nowhere(entry)


class DeclareTileMemref(DeclaredEntry, name="declare_tile_memref", traits=(RECEIVES,)):
    """A buffer without storage, until it is popped from a FIFO: older text."""

    example = OLDER
    entry = Result(Entry)

    def run(machine, entry):
        return machine.new(entry)

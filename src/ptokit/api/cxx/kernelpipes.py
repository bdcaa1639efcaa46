"""FIFOs of compiled kernels: what `TPipe` says, and where entries lie that are popped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ptokit.analysis.fifos import Fifo
from ptokit.api.cxx.callbinding import CxxCall
from ptokit.api.cxx.calloperands import Chosen, Given, PlacedTile, put
from ptokit.api.cxx.kernelcores import CxxCore, CxxFifoEnd, ReadyCall, SharedFifo
from ptokit.api.cxx.launching import CxxLaunch
from ptokit.diagnostics.diagnostic import error
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.epilogues import mode_in_cpp
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.words import CUBE, VECTOR
from ptokit.isa.pages.slots import BOTH, TO_CUBE, TO_VECTOR
from ptokit.machine.memory import address_of
from ptokit.machine.tile import GlobalView, Pointer
from ptokit.values.dtypes import u8


class OpenedPipe(NamedTuple):
    """A FIFO as C++ declares it; `memory` is the array and byte of its slots, if it has any.

    `to_vector` and `to_cube` are the addresses of entries at the cores that pop; `epilogue` says
    what the fix-pipe makes of what the cube pushes.
    """

    flag: int
    directions: int
    slot_size: int
    slots: int
    local: int
    shares: bool
    memory: tuple[int, int] | None
    to_vector: int
    to_cube: int
    epilogue: str = ""
    slot: GlobalType | None = None  # a whole entry, where kernels write it as a view

    @property
    def reaches_both(self) -> bool:
        """True where both vector cores of a block take whole entries: A2/A3 signals to both."""
        return self.shares or self.memory is not None

    @property
    def entry_size(self) -> int:
        """The most bytes of a whole entry: a slot in a vector core may have a half."""
        return self.slot_size if self.memory is not None else 2 * self.slot_size


# The words by which a push says what the fix-pipe does; the last two have one value that runs.
PLAIN_WORDS = ("AtomicType", "ClipReluMode_t")
FIXPIPE_WORDS = ("LayoutMode_t", "QuantMode_t", "ReluPreMode", "STPhase", *PLAIN_WORDS)
NO_SUCH = "push without, and compute on the vector core"
# The directions of C++: the last four are through global memory, or for control alone.
DIRECTIONS = {1: TO_VECTOR, 2: TO_CUBE, 3: BOTH, 4: TO_CUBE, 5: TO_VECTOR, 6: TO_CUBE, 7: BOTH}


def direction(role: FifoRole | None, core: CxxCore) -> int:
    """Return the direction that a use of a FIFO on this core is about."""
    sends = role in (FifoRole.PUSHES, FifoRole.ALLOCATES)
    return TO_VECTOR if sends is (core.place.kind is CUBE) else TO_CUBE


def shared_fifo(launch: CxxLaunch, core: CxxCore, pipe: OpenedPipe, way: int) -> SharedFifo:
    """Return the FIFO of the block that an end belongs to, made when the first end is used."""
    key = core.block_idx, (pipe.flag, way)
    if key not in launch.fifos:
        second = way == TO_CUBE and pipe.directions == BOTH
        fifo = Fifo(
            f"FIFO {pipe.flag}",
            way == TO_VECTOR,
            pipe.slots,
            pipe.entry_size,
            pipe.reaches_both and way == TO_VECTOR,
            "",
            cell=0,
            place=0,
            offset=pipe.slots * pipe.slot_size if second else 0,
            extents=None,
            flags=(pipe.flag + 2 * second, pipe.flag + 2 * second + 1),
        )
        launch.fifos[key] = SharedFifo(fifo)
    return launch.fifos[key]


def end_of(launch: CxxLaunch, core: CxxCore, call: CxxCall, pipe: OpenedPipe) -> CxxFifoEnd:
    """Return the end of a FIFO that a call on this core is about."""
    way = direction(call.page.fifo_role, core)
    end = CxxFifoEnd(shared_fifo(launch, core, pipe, way), core)
    if pipe.memory is not None:
        array, byte = pipe.memory
        core.opened[end.fifo.name] = Pointer(u8, core.arrays[array], byte)
    return end


def epilogue_of(values: Sequence[Given]) -> tuple[list[Given], str]:
    """Return the values of a push without the words of the fix-pipe, and what these say."""
    words = {v.enumeration: v for v in values if isinstance(v, Chosen)}
    quant = words.get("QuantMode_t")
    if quant is None:
        return [*values], ""
    mode = mode_in_cpp(quant.label)
    odd = [w for w in words.values() if w.enumeration in PLAIN_WORDS and w.number]
    if mode is None or odd:
        what = " and ".join(f"{w.enumeration}::{w.label}" for w in odd or [quant])
        raise error("not-executed", f"ptokit cannot execute a push with {what}", help=NO_SUCH)
    layout, relu = words["LayoutMode_t"].label.lower(), words["ReluPreMode"].number == 1
    rest = [v for v in values if not (isinstance(v, Chosen) and v.enumeration in FIXPIPE_WORDS)]
    relus = "normal_relu" if relu else "no_relu"
    return rest, f"layout = {layout}, quant = {mode}, relu = {relus}"


def entry_address(pipe: OpenedPipe, core: CxxCore, number: int) -> int:
    """Return where the entry of this number lies at the core that pops it.

    Slots lie in the memory of that core; of a FIFO in global memory it has copies of some entries.
    """
    base = pipe.to_vector if core.place.kind is VECTOR else pipe.to_cube
    places = pipe.slots if pipe.memory is None else max(pipe.local, 1)
    return base + number % places * pipe.slot_size


def moved(call: CxxCall, pipe: OpenedPipe, core: CxxCore, number: int) -> CxxCall:
    """Return a pop with its tile where the entry of this number comes to lie."""
    entry = call.operands.get("entry")
    if call.page.fifo_role is not FifoRole.POPS or not isinstance(entry, PlacedTile):
        return call
    address = entry_address(pipe, core, number)
    return CxxCall(
        call.page, {**call.operands, "entry": entry._replace(address=address)}, call.attrs
    )


def told_where(made: ReadyCall) -> None:
    """Write where an entry lies to the C++ object that stands for it."""
    role, entry = made.call.page.fifo_role, made.call.operands.get("entry")
    if role is FifoRole.POPS and isinstance(entry, PlacedTile):
        put(made.entry, entry.address)
    view = made.values.get("entry")
    if role in (FifoRole.POPS, FifoRole.ALLOCATES) and isinstance(view, GlobalView):
        put(made.entry, address_of(view.memory.data) + view.origin * view.dtype.bits // 8)

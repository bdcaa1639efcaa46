"""Views of memrefs in lowered text: parts and casts."""

from __future__ import annotations

from collections.abc import Sequence

from ptokit.ir.module import Op
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import WINDOW
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import Elided
from ptokit.text.read.attributes import dictionary
from ptokit.text.read.binding import UnknownOperandType
from ptokit.text.read.build import build
from ptokit.text.read.callreader import Call, in_brackets, read_item
from ptokit.text.read.names import Named
from ptokit.text.read.parser import Parser
from ptokit.text.types.typereader import buffer_rank

ROWS_AND_COLUMNS = 2


def read_memref_part(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op %a[%i, 0] [16, 16] [1, 1] : T to U`."""
    call = Call(at, [read_item(p)])
    offsets, sizes, steps = (in_brackets(p) for _ in range(3))
    call.keyed = {"offsets": offsets, "sizes": sizes, "steps": steps}
    if p.texts[p.i] == "{":
        call.attrs = dictionary(p)
    kind = _read_types(p, call)
    whole = call.items[0].value
    if isinstance(kind, TileType):
        if whole is not None and isinstance(whole.type, TileType):
            _require_rank(p, call, whole.type)
    elif kind.rank != len(sizes):
        raise UnknownOperandType
    if isinstance(kind, GlobalType) and all(step.number == 1 for step in steps):
        del call.keyed["steps"]
    keys = {page: {o.key for o in page.operands} for page in forms}
    forms = [page for page in forms if ("steps" in call.keyed) == ("steps" in keys[page])]
    return build(p, forms, call, results)


def _require_rank(p: Parser, call: Call, whole: TileType) -> None:
    """Raise UnknownOperandType for a buffer of rank 3 or more, PtoError for a wrong rank."""
    rank = buffer_rank(whole)
    if rank > ROWS_AND_COLUMNS:
        raise UnknownOperandType
    offsets = call.keyed["offsets"]
    if len(offsets) != rank:
        message = f"part of a rank-{rank} buffer: expected {rank} offsets, got {len(offsets)}"
        raise p.wrong("operand-count", message, call.at)


def _read_types(p: Parser, call: Call) -> GlobalType | TileType:
    """Read `: T to U`; return U, which is a view or a tile."""
    p.expect(":")
    call.types = [(p.type(), p.i - 1)]
    p.expect("to")
    call.results = [(kind := p.type(), p.i - 1)]
    if not isinstance(kind, GlobalType | TileType):
        raise UnknownOperandType
    return kind


def read_memref_cast(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op %a : T to U`."""
    call = Call(at, [read_item(p)])
    kind = _read_types(p, call)
    of_tiles = [page for page in forms if WINDOW in page.traits]
    others = [page for page in forms if page not in of_tiles]
    return build(p, of_tiles if isinstance(kind, TileType) else others, call, results)


def read_recast(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op %a to offset: [%o], sizes: [16, %n], strides: [%s, 1] : T to U`.

    The op on a buffer whose memory the text does not state is kept as an opaque op.
    """
    call = Call(at, [read_item(p)])
    p.expect("to")
    for number, name in enumerate(("offset", "sizes", "strides")):
        p.expect(",") if number else None
        p.expect(name)
        p.expect(":")
        call.keyed[name] = in_brackets(p)
    if p.texts[p.i] == "{":
        call.attrs = dictionary(p)
    p.expect(":")
    call.types = [(p.type(), p.i - 1)]
    of = p.texts[p.i - 1]
    if of.startswith("memref<") and "address_space" not in of:
        raise UnknownOperandType
    p.expect("to")
    call.results = [(kind := p.type(), p.i - 1)]
    if not isinstance(kind, GlobalType | Elided):
        raise UnknownOperandType
    return build(p, forms, call, results)

"""Views of memrefs as lowered text writes them: parts and casts."""

from __future__ import annotations

from collections.abc import Sequence

from ptokit.ir.module import Op
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.types import Elided
from ptokit.text.read.attributes import dictionary
from ptokit.text.read.binding import UnknownOperandType
from ptokit.text.read.build import Named, build
from ptokit.text.read.call import Call, in_brackets, read_item
from ptokit.text.read.parser import Parser


def read_memref_part(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """`op %a[%i, 0] [16, 16] [1, 1] : T to U`."""
    call = Call(at, [read_item(p, p.names)])
    offsets, sizes, steps = (in_brackets(p, p.names) for _ in range(3))
    call.keyed = {"offsets": offsets, "sizes": sizes}
    if p.texts[p.i] == "{":
        call.attrs = dictionary(p)
    p.expect(":")
    call.types = [(p.type(), p.i - 1)]
    p.expect("to")
    call.results = [(kind := p.type(), p.i - 1)]
    dense = all(step.number == 1 for step in steps)
    if not (dense and isinstance(kind, GlobalType) and kind.rank == len(sizes)):
        raise UnknownOperandType
    return build(p, p.names, forms, call, results)


def read_recast(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """`op %a to offset: [%o], sizes: [16, %n], strides: [%s, 1] : T to U`.

    It begins where the buffer does: of one that begins elsewhere, or in a memory that the text
    does not say, it is kept as written.
    """
    call = Call(at, [read_item(p, p.names)])
    p.expect("to")
    for number, name in enumerate(("offset", "sizes", "strides")):
        p.expect(",") if number else None
        p.expect(name)
        p.expect(":")
        call.keyed[name] = in_brackets(p, p.names)
    if p.texts[p.i] == "{":
        call.attrs = dictionary(p)
    p.expect(":")
    call.types = [(p.type(), p.i - 1)]
    of = p.texts[p.i - 1]
    if of.startswith("memref<") and ("offset:" in of or "address_space" not in of):
        raise UnknownOperandType
    p.expect("to")
    call.results = [(kind := p.type(), p.i - 1)]
    if not isinstance(kind, GlobalType | Elided):
        raise UnknownOperandType
    return build(p, p.names, forms, call, results)

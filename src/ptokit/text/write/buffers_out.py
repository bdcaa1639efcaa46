"""Printers of lowered text's buffers, which are memrefs: casts and parts."""

from __future__ import annotations

from ptokit.ir.module import Op
from ptokit.text.read.signature import signature
from ptokit.text.write.attributes_out import attributes
from ptokit.text.write.writer import Writer


def write_recast(w: Writer, op: Op) -> None:
    """Write `%v = op %a to offset: [0], sizes: [16, %n], strides: [%s, 1] : T to U`."""
    source, *lists = signature(op.page).ins
    known = {v: str(n) for v, n in w.numbers.items()}
    uses = {s.key: [known.get(v) or w.use(v) for v in op.bound(s.name)] for s in lists}
    text = ", ".join(f"{key}: [{', '.join(listed)}]" for key, listed in uses.items())
    of = op.bound(source.name)[0]
    types = f"{w.type(of.type)} to {w.type(op.results[0].type)}"
    more = f"{text}{attributes(op, w)} : {types}"
    w.line(op, f"{w.results(op)}{w.mnemonic(op)} {w.use(of)} to {more}")


def write_memref_part(w: Writer, op: Op) -> None:
    """Write `%p = op %a[%i, 0] [16, 16] [1, 1] : T to U`."""
    source, *lists = signature(op.page).ins
    known = {v: str(n) for v, n in w.numbers.items()}
    groups = [[known.get(v) or w.use(v) for v in op.bound(s.name)] for s in lists]
    of = op.bound(source.name)[0]
    text = " ".join(f"[{', '.join(group)}]" for group in groups)
    types = f"{w.type(of.type)} to {w.type(op.results[0].type)}"
    more = f"{w.use(of)}{text}{attributes(op, w)} : {types}"
    w.line(op, f"{w.results(op)}{w.mnemonic(op)} {more}")

"""Ops that are all words, `op[<A>, <B>, %x]` and `op <A>`, as text."""

from __future__ import annotations

from ptokit.ir.module import Op
from ptokit.isa.lang.instr import Attr
from ptokit.isa.model.words import Word
from ptokit.text.read.brackets import bracket_parts, bracket_rest
from ptokit.text.write.attributes_out import attributes
from ptokit.text.write.writer import Writer


def _texts(w: Writer, op: Op, family: str = "") -> str:
    """The words, numbers and operands; `family` stands before a word of no enumeration."""
    texts: list[str] = []
    for part in (*bracket_parts(op.page), *bracket_rest(op.page)):
        if not isinstance(part, Attr):
            texts += [w.use(v) for v in op.bound(part.name)]
        elif part.name in op.attrs:
            value = op.attrs[part.name]
            word = f"<{value.text}>" if isinstance(value, Word) else f"{family}<{value}>"
            texts.append(str(value) if part.kind is int else word)
    return ", ".join(texts)


def write_bracketed(w: Writer, op: Op) -> None:
    """`op[<A>, <B>, %x] {attributes}`."""
    w.line(op, f"{w.mnemonic(op)}[{_texts(w, op)}]{attributes(op)}")


def write_angled(w: Writer, op: Op) -> None:
    """`op <A>, 5 {attributes}`."""
    w.line(op, f"{w.mnemonic(op)} {_texts(w, op, '#pto.op')}{attributes(op)}")

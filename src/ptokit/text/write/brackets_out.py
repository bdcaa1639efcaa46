"""Ops that are all words, `op[<A>, <B>, %x]` and `op <A>`, as text."""

from __future__ import annotations

from ptokit.ir.module import Op
from ptokit.isa.lang.instr import Attr
from ptokit.isa.model.words import Word
from ptokit.text.read.brackets import bracket_parts
from ptokit.text.write.writer import Writer


def _texts(w: Writer, op: Op, family: str = "") -> str:
    """The words and operands; `family` stands before a word of no enumeration."""
    texts: list[str] = []
    for part in bracket_parts(op.page):
        if isinstance(part, Attr):
            value = op.attrs[part.name]
            texts.append(f"<{value.text}>" if isinstance(value, Word) else f"{family}<{value}>")
        else:
            texts += [w.use(v) for v in op.bound(part.name)]
    return ", ".join(texts)


def write_bracketed(w: Writer, op: Op) -> None:
    """`op[<A>, <B>, %x]`."""
    w.line(op, f"{w.mnemonic(op)}[{_texts(w, op)}]")


def write_angled(w: Writer, op: Op) -> None:
    """`op <A>`."""
    w.line(op, f"{w.mnemonic(op)} {_texts(w, op, '#pto.op')}")

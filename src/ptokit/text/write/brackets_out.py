"""Ops that are all words, `op[<A>, <B>, %x]` and `op <A>`, as text."""

from __future__ import annotations

from ptokit.ir.module import Op
from ptokit.isa.lang.instr import Attr
from ptokit.text.read.brackets import bracket_parts, bracket_rest
from ptokit.text.write.attributes_out import attribute, attributes
from ptokit.text.write.writer import Writer
from ptokit.values.enumerations import Word

PIPE = "PIPE_"


def _texts(w: Writer, op: Op) -> str:
    """The words, numbers and operands."""
    texts: list[str] = []
    for part in (*bracket_parts(op.page), *bracket_rest(op.page)):
        if not isinstance(part, Attr):
            texts += [w.use(v) for v in op.bound(part.name)]
        elif part.name in op.attrs:
            value = op.attrs[part.name]
            word = f"<{value.text}>" if isinstance(value, Word) else _word(part, str(value))
            texts.append(str(value) if part.kind is int else word)
    return ", ".join(texts)


def _word(attr: Attr, word: str) -> str:
    """A word of no enumeration: of a family it is spelled in full, and a pipe as a string."""
    if attr.family and word.startswith(PIPE):
        return f'"{word}"'
    return f"#pto.{attr.family}<{word}>" if attr.family else f"<{word}>"


def write_bracketed(w: Writer, op: Op) -> None:
    """`op[<A>, <B>, %x] {attributes}`; `op "PIPE_V", %x {attributes}`."""
    texts = _texts(w, op)
    texts = f" {texts}" if texts[:1] == '"' else f"[{texts}]"
    w.line(op, f"{w.mnemonic(op)}{texts}{attributes(op)}")


def write_angled(w: Writer, op: Op) -> None:
    """`op <A>, 5 {attributes}`."""
    w.line(op, f"{w.mnemonic(op)} {_texts(w, op)}{attributes(op)}")


def write_maintained(w: Writer, op: Op) -> None:
    """`op all #pto.address_space<A>`, `op %x single_cache_line : T`."""
    if op.page.attrs:
        w.line(op, f"{w.mnemonic(op)} all {attribute(op.attrs[op.page.attrs[0].name])}")
        return
    value = op.bound(op.page.ins()[0].name)[0]
    w.line(op, f"{w.mnemonic(op)} {w.use(value)} single_cache_line : {w.type(value.type)}")

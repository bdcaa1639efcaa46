"""Printers of ops without operand lists: `op[<A>, <B>, %x]` and `op <A>`."""

from __future__ import annotations

from ptokit.ir.module import Op
from ptokit.isa.lang.instr import Attr
from ptokit.text.read.brackets import bracket_parts, bracket_rest
from ptokit.text.write.attributes_out import attributes
from ptokit.text.write.writer import Writer
from ptokit.values.enumerations import Word

PIPE = "PIPE_"


def _texts(w: Writer, op: Op) -> str:
    """Return the enumeration members, numbers and operands as text."""
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
    """Return a word of no enumeration: with its family spelled in full, a pipe as a string."""
    if attr.family and word.startswith(PIPE):
        return f'"{word}"'
    return f"#pto.{attr.family}<{word}>" if attr.family else f"<{word}>"


def write_bracketed(w: Writer, op: Op) -> None:
    """Write `op[<A>, <B>, %x] {attributes}` or `op "PIPE_V", %x {attributes}`."""
    texts = _texts(w, op)
    texts = f" {texts}" if texts[:1] == '"' else f"[{texts}]"
    w.line(op, f"{w.mnemonic(op)}{texts}{attributes(op)}")


def write_angled(w: Writer, op: Op) -> None:
    """Write `op <A>, 5 {attributes}`."""
    w.line(op, f"{w.mnemonic(op)} {_texts(w, op)}{attributes(op)}")

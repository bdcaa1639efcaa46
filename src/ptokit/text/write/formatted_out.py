"""The printer of statements whose syntax a format of `text/read/formatted` describes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ptokit.ir.module import Op, Value
from ptokit.text.read.formatted import FORMATS, FormatPart, pieces
from ptokit.text.write.attributes_out import attribute, attributes
from ptokit.text.write.writer import Writer
from ptokit.values.enumerations import Word


def write_formatted(w: Writer, op: Op) -> None:
    """Write a statement by the format of its shape."""
    text = _text(w, op, pieces(FORMATS[op.page.asm.shape]))
    w.line(op, f"{w.results(op)}{w.mnemonic(op)} {text}")


def _text(w: Writer, op: Op, format: Sequence[FormatPart]) -> str:
    text, rest = "", op
    for piece in format:
        if piece.group:
            text += _text(w, op, piece.group) if _given(op, piece.group) else ""
        elif piece.sign == "%":
            values = [v for _, v in op.values()] if piece.name == "*" else op.bound(piece.name)
            text += ", ".join(map(w.operand, values))
        elif piece.sign == "$":
            text += w.type(_typed(op, piece.name).type)
        elif piece.name and piece.sign:
            attr = next(a for a in op.page.attrs if a.name == piece.name)
            value = op.attrs.get(attr.name, attr.default)
            bare = piece.sign == "<"
            text += value.text if bare and isinstance(value, Word) else attribute(value)
            if attr.name in rest.attrs:
                rest = replace(rest, attrs={k: v for k, v in rest.attrs.items() if k != attr.name})
        elif piece.sign == "<":
            words, rest = standing_alone(rest)
            text += "".join(f" {word.text}" for word in words)
        else:
            text += attributes(rest, w) if piece.sign else piece.text
    return text


def _typed(op: Op, name: str) -> Value:
    """Return the value whose type a format names."""
    if name in ("result", "last"):
        return op.results[0 if name == "result" else -1]
    return op.bound(name)[0]


def _given(op: Op, group: Sequence[FormatPart]) -> bool:
    """Return whether an op has what an optional group names; a last result may have no type."""
    named = [piece for piece in group if piece.sign]
    if any(piece.name == "last" for piece in named):
        return op.results[0].type != op.results[-1].type
    known = {name for name, _ in op.values()} | {a.name for a in op.page.attrs}
    known |= {"result"} if op.results else set()
    return bool(named) and all(piece.name in known for piece in named)


def standing_alone(op: Op) -> tuple[list[Word], Op]:
    """Return the enumeration members of a conversion, and the op without them."""
    names = [a.name for a in op.page.attrs if isinstance(op.attrs.get(a.name), Word)]
    words = [word for n in names if isinstance(word := op.attrs[n], Word)]
    return words, replace(op, attrs={k: v for k, v in op.attrs.items() if k not in names})

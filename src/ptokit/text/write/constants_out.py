"""Constants in text: a number, a truth value, or the parts of a packed number."""

from __future__ import annotations

from typing import cast

from ptokit.ir.module import Op
from ptokit.isa.model.types import I1, PackedType, ScalarType, Type
from ptokit.text.write.attributes_out import float_text
from ptokit.text.write.writer import Writer


def write_constant(w: Writer, op: Op) -> None:
    """Write `%c = op 5 : index` or `%c = op dense<0> : vector<4xi16>`."""
    kind = op.results[0].type
    if not op.page.attrs:
        w.line(op, f"{w.results(op)}{w.mnemonic(op)} dense<0> : {w.type(kind)}")
        return
    value = op.choice
    if kind == I1:
        w.line(op, f"{w.results(op)}{w.mnemonic(op)} {'true' if value else 'false'}")
        return
    if isinstance(kind, PackedType):
        numbers = [_number(part, kind.of) for part in cast("tuple[float, ...]", value)]
        text = numbers[0] if len({*numbers}) == 1 else f"[{', '.join(numbers)}]"
        text = f"dense<{text}>"
    else:
        text = _number(value, kind)
    w.line(op, f"{w.results(op)}{w.mnemonic(op)} {text} : {w.type(kind)}")


def _number(value: object, kind: Type) -> str:
    """Return the text of a constant's number."""
    if isinstance(kind, ScalarType) and kind.is_float:
        return float_text(float(str(value)), kind)
    return str(value)

"""Attributes as text: the dictionary after an op, and the values in it."""

from __future__ import annotations

import math
import struct

from ptokit.ir.module import Op, Raw
from ptokit.ir.strings import key_token, quoted
from ptokit.isa.lang.asm import CLAUSES_SINCE
from ptokit.isa.model.types import ScalarType
from ptokit.text.read.attributes import UNIT
from ptokit.text.write.writer import Writer
from ptokit.values.enumerations import Word

# shapes with a position for required attributes, and for attributes in the page's order
PLACED = ("section", "worded", "bracketed", "angled")


def attributes(op: Op, w: Writer | None = None) -> str:
    """Return ` {key = value}` without defaults; in DPS without attributes printed elsewhere."""
    asm, parts = op.page.asm, list[str]()
    dps = w is not None and w.form == "dps"
    inside = {name.rpartition("=")[2] for _, names in asm.clauses for name in names}
    if w is not None and dps and asm.selected and w.mnemonic(op) != op.page.mnemonic():
        parts.append(f'{asm.selected[0]} = "{asm.selected[1]}"')
    for attr in op.page.attrs:
        value = op.attrs.get(attr.name, attr.default)
        placed = asm.shape in PLACED and (attr.required or attr.name in asm.order)
        flag = attr.key == asm.flag and value is True
        elsewhere = attr.quoted or flag or attr.key in asm.behind
        placed |= asm.shape == "lanes" and (attr.quoted or attr.name in inside)
        kept = value != attr.default or (dps and attr.key in asm.always)
        if kept and not placed and not (dps and elsewhere):
            bits = f" : i{attr.bits}" if attr.kind is int and attr.bits != 64 else ""
            newer = w is not None and dps and w.version(op) >= CLAUSES_SINCE
            key = (newer and attr.newer) or attr.key
            parts.append(f"{key} = {attribute(value)}{bits}")
    known = {a.name for a in op.page.attrs}
    parts += [entry(k, v) for k, v in op.attrs.items() if k not in known]
    return f" {{{', '.join(parts)}}}" if parts else ""


def entry(name: str, value: object) -> str:
    """Return `key = value`, or `key` alone for a flag."""
    name = key_token(name)
    return name if value is UNIT or value == UNIT else f"{name} = {attribute(value)}"


def attribute(value: object) -> str:
    """Return the text of an attribute value."""
    match value:
        case Word():
            return value.spelled
        case bool():
            return "true" if value else "false"
        case tuple():
            return f"[{', '.join(map(str, value))}]"  # type: ignore[reportUnknownArgumentType]  # of ints
        case Raw():
            return str(value)
        case str():
            return quoted(value)
        case float():
            return float_text(value, None)
        case _:
            return str(value)


def float_text(value: float, kind: ScalarType | None) -> str:
    """Return a float as text that reads back as the same number; its bits if no numeral does."""
    if math.isfinite(value):
        text = repr(value)
        if "e" in text and "." not in text:
            text = text.replace("e", ".0e")
        return text
    name = kind.name if kind else "f32"
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if name == "f16":
        return f"0x{struct.unpack('<H', struct.pack('<e', value))[0]:04X}"
    return f"0x{bits >> 16:04X}" if name == "bf16" else f"0x{bits:08X}"

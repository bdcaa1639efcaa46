"""Printers of statements: one for each `shape`; `text/read/shapes` has the readers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

from ptokit.ir.module import Op, Value
from ptokit.isa.lang.asm import CLAUSES_SINCE, LISTED_LAST, TYPED_LAST, Asm, OwnName, own_names
from ptokit.isa.lang.instr import Attr, Operand, Role
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import I1, INDEX, Elided, PackedType, ScalarType, Type
from ptokit.text.read.brackets import bracket_parts, bracket_rest, element_type, with_types
from ptokit.text.read.callreader import FLAGS
from ptokit.text.read.formatted import FORMATS
from ptokit.text.read.signature import Signature, signature
from ptokit.text.write.attributes_out import attribute, attributes, float_text
from ptokit.text.write.control_out import (
    write_branch,
    write_call,
    write_cases,
    write_condition,
    write_executed,
    write_for,
    write_if,
    write_section,
    write_switch,
    write_while,
    write_yield,
)
from ptokit.text.write.formatted_out import standing_alone, write_formatted
from ptokit.text.write.registerops_out import write_lanes
from ptokit.text.write.writer import Writer
from ptokit.values.enumerations import Word
from ptokit.values.layouts import Shape

Write: TypeAlias = "Callable[[Writer, Op], None]"
PIPE = "PIPE_"
RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge")


def write_op(w: Writer, op: Op) -> None:
    """Write an instruction in the writer's form."""
    sig = signature(op.page)
    if not op.operands and not op.results:
        w.line(op, f"{w.mnemonic(op)}{attributes(op, w)}")
        return
    if op.into is not None and w.form == "dps":
        _write_over(w, op, sig, op.into)
        return
    if op.dps:
        w.line(op, f"{w.mnemonic(op)} {_into(w, op, sig)}")
        return
    if w.form == "dps" and not sig.outs and not sig.results and op.page.executes:
        w.line(op, f"{w.mnemonic(op)} ins({_group(w, op, sig.ins)}){attributes(op, w)}")
        return
    if w.form == "dps" and sig.outs and not op.ssa:  # an op that writes memory
        w.line(op, f"{w.mnemonic(op)} {_into(w, op, sig)}")
        return
    if any(s.name in op.operands for s in sig.fresh if s.role is Role.OUT):
        types = ", ".join(w.type(v.type) for v in op.results)
        arrow = types if len(op.results) == 1 else f"({types})"
        w.line(op, f"{w.results(op)}{w.mnemonic(op)} {_into(w, op, sig)} -> {arrow}")
        return
    operands, typed = _operands(w, op, sig.ssa)
    text = f"{w.mnemonic(op)}{operands}{attributes(op, w)}"
    w.line(op, w.results(op) + text + _signature(w, op, typed))


def _write_over(w: Writer, op: Op, sig: Signature, handle: Value) -> None:
    """Write an op whose result takes the name of a handle: `op ins(%a : T) outs(%s : U)`."""
    kind = w.type(handle.type)
    w.line(op, f"{w.mnemonic(op)} ins({_group(w, op, sig.ins)}) outs({w.use(handle)} : {kind})")
    w.renamed[op.results[0]] = w.use(handle)[1:]


def _into(w: Writer, op: Op, sig: Signature) -> str:
    """Return `ins(...) outs(...)`, with attributes at the page's position."""
    asm, attrs = op.page.asm, attributes(op, w)
    inside, after = "", attrs
    if attrs and _attrs_inside(w, op):
        inside, after = asm.attrs_inside + attrs[1:], ""
    if asm.flag and op.attrs.get(asm.flag) is True and w.form == "dps":
        inside = f" {asm.flag}{inside}"
    newer = w.version(op) >= CLAUSES_SINCE
    words = {name: word for name, word in asm.words if op.bound(name)}
    places: dict[str, list[Operand]] = defaultdict(list)
    for slot in sig.ins:
        places[_place(slot, asm, words.get(slot.name), newer)].append(slot)
    ins = _group(w, op, [*places["first"], *places["last"]], inside)
    ins += "".join(f" {words[s.name]} {_group(w, op, [s])}" for s in places["apart"])
    ins += "".join(f", {_group(w, op, [s])}" for s in places["alone"]) + (
        quoted_words(op, w) if w.form == "dps" else ""
    )
    return f"ins({ins}) outs({_group(w, op, [*sig.outs, *places['late']])}){after}{_behind(w, op)}"


def _place(slot: Operand, asm: Asm, word: str | None, newer: bool) -> str:
    """Return where an input stands: first, or by its word last, apart, alone, behind or late."""
    if word == LISTED_LAST:
        return "last"
    if word is not None and newer and word != TYPED_LAST:
        return "apart"
    if word is not None and (newer or not slot.required):
        return "alone"
    return "behind" if slot.key in asm.behind else "late" if slot.name in asm.outs else "first"


def _attrs_inside(w: Writer, op: Op) -> bool:
    """Return whether attributes stand in `ins(...)`, after the operands."""
    asm = op.page.asm
    here = not asm.inside_with or bool(op.bound(asm.inside_with))
    old = not asm.inside_until or w.version(op) < asm.inside_until
    return bool(asm.attrs_inside) and here and old


def _behind(w: Writer, op: Op) -> str:
    """Return ` key = word key = %a : T`, in the page's order."""
    text = ""
    attrs = {a.key: op.attrs[a.name] for a in op.page.attrs if a.name in op.attrs}
    for key in op.page.asm.behind:
        values = op.bound(key)
        if values:
            text += f" {key} = {w.use(values[0])} : {w.type(values[0].type)}"
        elif key in attrs and w.form == "dps":
            text += f" {key} = {attribute(attrs[key])}"
    return text


def quoted_words(op: Op, w: Writer) -> str:
    """Return attributes written as words after the types: `, "col"`; all in newer text."""
    all_of_them = w.version(op) >= CLAUSES_SINCE
    given = ((a, op.attrs.get(a.name, a.default)) for a in op.page.attrs if a.quoted)
    words = (v for a, v in given if isinstance(v, Word) and (all_of_them or v != a.default))
    return "".join(f', "{word.text}"' for word in words)


def _group(w: Writer, op: Op, slots: Sequence[Operand], inside: str = "") -> str:
    """Return `%a, %b : T, U`."""
    values = [v for s in slots for v in op.bound(s.name)]
    if not values:
        return ""
    names, types = ", ".join(map(w.use, values)), ", ".join(w.type(v.type) for v in values)
    return f"{names}{inside} : {types}"


def _operands(w: Writer, op: Op, slots: Sequence[Operand]) -> tuple[str, list[Value]]:
    """Return the operands with brackets and keywords, and the values whose types are listed."""
    brackets = w.form == "as" and not op.page.results()
    plain: list[str] = []
    inside: list[str] = []
    keyed = ""
    typed: list[Value] = []
    for slot in slots:
        values = op.bound(slot.name)
        if slot.key and values:
            if slot.many:
                between = ", {} = [{}]" if slot.equals else " {} [{}]"
                keyed += between.format(slot.key, ", ".join(w.operand(v) for v in values))
            else:
                keyed += f" {slot.key} = {w.operand(values[0])}"
        elif brackets and slot.name in op.page.asm.brackets:
            inside += [w.operand(v) for v in values]
        else:
            plain += [w.operand(v) for v in values]
            if op.page.asm.typed is None or slot.name in op.page.asm.typed:
                typed += values
    text = f" {', '.join(plain)}" if plain else ""
    if inside:
        text += f"[{', '.join(inside)}]"
    return text + (
        keyed if plain else keyed.replace(",", "", 1) if keyed[:1] == "," else keyed
    ), typed


def _signature(w: Writer, op: Op, typed: Sequence[Value]) -> str:
    """Return `: (T, U) -> V`; a handle op lists only the types that its page declares."""
    results = ", ".join(w.type(v.type) for v in op.results)
    operands = ", ".join(w.type(v.type) for v in typed)
    if op.page.results():
        if op.page.asm.untyped and w.form == "dps":
            return f" : {operands}"
        given = [(s.scalar, s.also) for s in op.page.results()]
        if not operands and all(str(v.type) in g for v, g in zip(op.results, given, strict=True)):
            return ""  # the reader infers the types from the page or the first use
        if not operands:
            return f" : {results}"
        return f" : {operands} -> {results}"
    if w.form == "as":
        one = op.results[0].type if op.results else None
        if op.page.asm.uniform and all(v.type == one for v in (*typed, *op.results)):
            return f" : {w.type(one)}" if one else ""
        if not op.results:
            return f" : {operands}" if operands else ""
        return f" : {operands} -> {results}" if operands else f" : {results}"
    if w.form == "dps":
        arrow = f" -> {results}" if results else ""
        return f" : {operands}{arrow}" if operands else arrow
    count = len(op.results)
    return f" : ({operands}) -> {results if count == 1 else f'({results})'}"


def _of_results(w: Writer, op: Op) -> str:
    """Return the types of the results, each once."""
    return ", ".join(dict.fromkeys(w.type(v.type) for v in op.results))


def write_own(w: Writer, op: Op) -> None:
    """Write `%r = op lt %a, %b signed overflow<nsw> {key = value} : T -> U`."""
    page, own = op.page, own_names(op.page.own)[0]
    values = [v for s in signature(page).ins for v in op.bound(s.name)]
    sign, word, shape = own.signs[0] if own.signs else "", "", page.asm.shape
    if shape == "compare":
        attr = page.attrs[0]
        chosen = op.attrs.get(attr.name, attr.default)
        assert isinstance(chosen, Word)
        word, sign = _apart(chosen.text, own)
        op = replace(op, attrs={k: v for k, v in op.attrs.items() if k != attr.name})
    promised = {k: str(v) for k, v in op.attrs.items() if k in FLAGS.values() and "<" in str(v)}
    rest = replace(op, attrs={k: v for k, v in op.attrs.items() if k not in promised})
    alone, rest = standing_alone(rest) if shape == "cast" else ([], rest)
    flags = [f"{k}<{promised[a].partition('<')[2]}" for k, a in FLAGS.items() if a in promised]
    words = "".join(f" {text}" for text in (sign, *(word.cpp for word in alone), *flags) if text)
    source, result = w.type(values[-1].type), w.type(op.results[0].type)
    types = ", ".join([source] * len(values)) if own.listed else source
    types = _of_results(w, op) if shape == "in_full" else types
    arrow = f" -> {result}" if own.listed or shape == "cast" else ""
    head = f"{w.results(op)}{w.mnemonic(op)} {f'{word} ' if word else ''}"
    names = ", ".join(map(w.use, values))
    w.line(op, f"{head}{names}{words}{attributes(rest, w)} : {types}{arrow}")


def _apart(text: str, own: OwnName) -> tuple[str, str]:
    """Split a predicate into the relation and the word of its signedness."""
    if text in RELATIONS:
        return text, own.signs[0] if own.signs else ""
    short = text[1:] if text[1:] in RELATIONS and text[0] in "osu" else text
    if not own.signs:
        return (short if text[0] == "o" else text), ""
    return short, next(sign for sign in own.signs if sign[0] == text[0])


def _list(w: Writer, op: Op) -> tuple[str, str]:
    """Return `(%a, word(%b, %c) : T, U, V)` or `(key = %a : T)`, and clauses for the end."""
    page, parts, types, behind = op.page, list[str](), list[str](), ""
    clauses = {name: word for word, names in page.asm.clauses for name in names}
    opened = ""
    for slot in signature(page).ssa:
        values = op.bound(slot.name)
        word = clauses.get(slot.name, "")
        names = ", ".join(map(w.use, values))
        if not values:
            continue
        if slot.key and word:
            behind += f" {word}({names})"
            continue
        if slot.key:
            parts.append(f"{slot.key} = {names} : {w.type(values[0].type)}")
            continue
        if page.asm.each_typed:
            parts += [f"{w.use(v)} : {w.type(v.type)}" for v in values]
            continue
        if page.asm.typed is None or slot.name in page.asm.typed:
            types += [w.type(v.type) for v in values]
        if word and word == opened:
            parts[-1] = f"{parts[-1][:-1]}, {names})"
        else:
            parts.append(f"{word}({names})" if word else names)
        opened = word
    text = ", ".join(parts) + (f" : {', '.join(types)}" if types else "")
    return (f"({text})" if text else ""), behind


def _arrow(w: Writer, op: Op) -> str:
    return f" -> {', '.join(w.type(v.type) for v in op.results)}" if op.results else ""


def write_called(w: Writer, op: Op) -> None:
    """Write `%r = op(%a, %b : T, U) {attributes} -> V`."""
    operands, behind = _list(w, op)
    text = f"{w.results(op)}{w.mnemonic(op)}{operands}"
    w.line(op, f"{text}{attributes(op, w)}{behind}{_arrow(w, op)}")


def write_configured(w: Writer, op: Op) -> None:
    """Write `%r = op {attributes} (key = %a : T) -> V`."""
    operands, _ = _list(w, op)
    names, last = op.page.asm.order, ""
    if op.page.asm.each_typed:
        rest = {k: v for k, v in op.attrs.items() if k not in names}
        op = replace(op, attrs={k: v for k, v in op.attrs.items() if k in names})
        last = attributes(replace(op, attrs=rest)) if rest else ""
    text = f"{w.results(op)}{w.mnemonic(op)}{attributes(op, w)}"
    w.line(op, f"{text}{operands and f' {operands}'}{last}{_arrow(w, op)}")


def write_worded(w: Writer, op: Op) -> None:
    """Write `op(%a : T) key = word, key = word {attributes}`."""
    operands, _ = _list(w, op)
    words = (f"{a.key} = {attribute(op.attrs[a.name])}" for a in op.page.attrs if a.required)
    text = f"{w.mnemonic(op)}{operands or '()'}"
    w.line(op, f"{text} {', '.join(words)}{attributes(op)}")


def write_element(w: Writer, op: Op) -> None:
    """Write `%x = op %a[%i] : T -> U`, or values and their types in the page's order."""
    text = ""
    for name in op.page.asm.order:
        use = ", ".join(map(w.use, op.bound(name)))
        text += f"[{use}]" if name in op.page.asm.brackets else f"{', ' if text else ''}{use}"
    others = [op.bound(name)[0].type for name in with_types(op.page)[1:]]
    follows = {element_type(op.bound(with_types(op.page)[0])[0].type)}
    untyped = op.page.asm.untyped and {*others, *(r.type for r in op.results)} <= follows
    names = with_types(op.page)[: 1 if untyped else None]
    types = ", ".join(w.type(op.bound(name)[0].type) for name in names)
    arrow = f" -> {w.type(op.results[0].type)}" if op.results and not untyped else ""
    w.line(op, f"{w.results(op)}{w.mnemonic(op)} {text}{attributes(op, w)} : {types}{arrow}")


def write_addressed(w: Writer, op: Op) -> None:
    """Write `%t = op(%a) %rows, %cols : T` or `%t = op() : T`."""
    first, *others = [w.use(v) for _, v in op.values()] or [""]
    kind = w.type(op.results[0].type)
    valid = f" {', '.join(others)}" if others else ""
    w.line(op, f"{w.results(op)}{w.mnemonic(op)}({first}){valid}{attributes(op)} : {kind}")


def write_window(w: Writer, op: Op) -> None:
    """Write `%s = op %t[%r, %c] sizes [16, 64] valid [%v, %w] : T -> U`; older text omits U."""
    if w.form != "dps":
        write_op(w, op)
        return
    ins = {s.name: s for s in signature(op.page).ins}
    source, *starts = (n for n, s in ins.items() if not s.key)
    text = f"{w.use(op.bound(source)[0])}[{', '.join(w.use(op.bound(n)[0]) for n in starts)}]"
    for name, slot in ins.items():
        if slot.key and op.bound(name):
            numbers = w.constants if slot.required else {}  # numbers in text have type index
            known = {v: str(n) for v, n in numbers.items() if v.type == INDEX}
            uses = (known.get(v) or w.use(v) for v in op.bound(name))
            text += f" {slot.key} [{', '.join(uses)}]"
    types = w.type(op.bound(source)[0].type)
    if w.version(op) >= op.page.asm.since[0][0]:
        types += f" -> {w.type(_whole(w, op))}"
    w.line(op, f"{w.results(op)}{w.mnemonic(op)} {text} : {types}")


def _whole(w: Writer, op: Op) -> Type:
    """Return the type of a window; if text omits it, that of the tile with the window's size."""
    kind, source = op.results[0].type, op.bound(op.page.ins()[0].name)[0].type
    sizes = next(op.bound(s.name) for s in signature(op.page).ins if s.key and s.required)
    known = [n for v in sizes if isinstance(n := w.constants.get(v), int)]
    if isinstance(kind, Elided) and isinstance(source, TileType) and len(known) == len(sizes) == 2:
        return replace(source, rows=known[0], cols=known[1], valid=Shape(*known))
    return kind


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


def write_parts(w: Writer, op: Op) -> None:
    """Write `op[<A>, <B>, %x] {attributes}`, `op "PIPE_V", %x {attributes}` or `op <A>, 5`."""
    texts = _texts(w, op)
    bare = op.page.asm.shape == "angled" or texts[:1] == '"'
    w.line(op, f"{w.mnemonic(op)}{f' {texts}' if bare else f'[{texts}]'}{attributes(op)}")


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


WRITERS: dict[str, Write] = {
    **dict.fromkeys(("op", "bound", "part"), write_op),
    **dict.fromkeys(FORMATS, write_formatted),
    "lanes": write_lanes,
    "called": write_called,
    "configured": write_configured,
    "worded": write_worded,
    "window": write_window,
    "addressed": write_addressed,
    "constant": write_constant,
    "own": write_own,
    "yield": write_yield,
    "for": write_for,
    "if": write_if,
    "cases": write_cases,
    "element": write_element,
    "call": write_call,
    "branch": write_branch,
    "switch": write_switch,
    "executed": write_executed,
    "while": write_while,
    "condition": write_condition,
    "section": write_section,
    **dict.fromkeys(("bracketed", "angled"), write_parts),
}

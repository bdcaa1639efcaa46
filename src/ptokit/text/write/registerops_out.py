"""The printer of statements of the level below tiles; `text/read/registerops` has the reader."""

from __future__ import annotations

from collections.abc import Iterator

from ptokit.ir.module import Op, Value
from ptokit.ir.strings import quoted
from ptokit.isa.lang.instr import Instr
from ptokit.text.read.registerops import inside, outcome, plain, words_of
from ptokit.text.write.attributes_out import attributes
from ptokit.text.write.writer import Writer


def write_lanes(w: Writer, op: Op) -> None:
    """Write `%r = op %a, %p[%i], "WORD" group(%n) {key = value} : T, group U -> V`."""
    page = op.page
    names, types = list[str](), list[str]()
    order = list[int]()  # of types, by the page
    words = [op.attrs.get(a.name, a.default) for a in words_of(page)]
    texts = [quoted(str(word)) for word in words if word is not None]
    place = page.asm.flag  # the operand before which words stand, if not at the end
    for operand in plain(page):
        for value in op.bound(operand.name):
            if operand.name == place:
                names += texts
                texts = []
            if operand.name in page.asm.brackets:
                names[-1] += f"[{w.use(value)}]"
            else:
                names.append(w.use(value))
            if page.asm.typed is None or operand.name in page.asm.typed:
                types.append(w.type(value.type))
                order.append(page.asm.typed.index(operand.name) if page.asm.typed else 0)
    types = [types[n] for n in sorted(range(len(types)), key=order.__getitem__)]
    text = (page.asm.attrs_inside or ", ").join(filter(None, map(", ".join, (names, texts))))
    for word, group, values in _groups(w, op):
        text += f"{page.asm.clause_break}{group}"
        types += _types(page, word, [w.type(v.type) for v in values])
    kinds = dict(
        zip(
            (s.name for s in (*page.results(), *(o for o in page.outs() if o.fresh))),
            op.results,
            strict=False,
        )
    )
    made = [kinds[o.name] for o in outcome(page)] if op.results else []
    left = ", ".join(f"%{v.name}" for v in made)
    right = ", ".join(w.type(v.type) for v in made)
    line = f"{f'{left} = ' if left else ''}{w.mnemonic(op)}{f' {text}' if text else ''}"
    line += attributes(op, w)
    if types:
        line += f" : {', '.join(types)}"
        line += f" -> {right}" if right else ""
    elif right:
        line += f" : {right}"
    w.line(op, line)


def _types(page: type[Instr], word: str, types: list[str]) -> list[str]:
    """Return the types of a group, perhaps after its word."""
    listed = page.asm.clause_types
    if listed is None:
        listed = tuple(word for word, _ in page.asm.clauses[1:])
    if f"{word}(" in listed:
        return [f"{word}({', '.join(types)})"]
    if not types:
        return [word] if word in listed else []
    return [f"{word} {types[0]}", *types[1:]] if word in listed else types


def _groups(w: Writer, op: Op) -> Iterator[tuple[str, str, list[Value]]]:
    """Yield words of groups, their text, and the operands inside; a list has groups of three."""
    page, bare = op.page, ""
    for word, names in page.asm.clauses:
        if not word:
            attr = names[0]
            bare = str(op.attrs.get(attr) or "")
            if bare and not any(_inside(w, op, bare)):
                yield bare, bare, []
            continue
        parts = [*_inside(w, op, word)]
        values = [v for _, v in parts if v is not None]
        operands = {o.name: o for o in page.operands}
        last = operands.get(names[-1])
        size = 3 if last is not None and last.many else max(len(parts), 1)
        for i in range(0, len(parts), size):
            inner = ", ".join(text for text, _ in parts[i : i + size])
            yield word, f"{word}({inner})", values[i : i + size] if size == 3 else values


def _inside(w: Writer, op: Op, word: str) -> Iterator[tuple[str, Value | None]]:
    """Yield the text of each operand and attribute of a group, with its value."""
    attrs = {a.name: a for a in op.page.attrs}
    for key, name in inside(op.page, word):
        before = f"{key} = " if key else ""
        if name in attrs:
            found = op.attrs.get(name, attrs[name].default)
            if found is not None:
                yield f"{before}{found}", None
            continue
        for value in op.bound(name):
            yield f"{before}{w.use(value)}", value

"""The printer of statements of the level below tiles; `text/read/registerops` has the reader."""

from __future__ import annotations

from ptokit.ir.module import Op, Value
from ptokit.ir.strings import quoted
from ptokit.isa.lang.instr import Instr
from ptokit.text.read.registerops import defined, plain, words_of
from ptokit.text.write.attributes_out import attributes
from ptokit.text.write.writer import Writer


def write_lanes(w: Writer, op: Op) -> None:
    """Write `%r = op %a, %p[%i], "WORD" group(%n) {key = value} : T, group U -> V`."""
    page = op.page
    names, types = list[str](), list[str]()
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
    text = ", ".join((*names, *texts))
    for word, inner in _groups(page, op):
        text += f" {word}({', '.join(map(w.use, inner))})"
        types += [
            f"{word} {w.type(v.type)}"
            if v is inner[0] and word != page.asm.clauses[0][0]
            else w.type(v.type)
            for v in inner
        ]
    kinds = dict(
        zip(
            (s.name for s in (*page.results(), *(o for o in page.outs() if o.fresh))),
            op.results,
            strict=False,
        )
    )
    made = [kinds[o.name] for o in defined(page)] if op.results else []
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


def _groups(page: type[Instr], op: Op) -> list[tuple[str, list[Value]]]:
    """Return the groups of operands with their words; a list is cut into groups of three."""
    found = list[tuple[str, list[Value]]]()
    for word, names in page.asm.clauses:
        values = [v for name in names for v in op.bound(name)]
        size = 3 if page.operand(names[-1]).many else max(len(values), 1)
        found += [(word, values[i : i + size]) for i in range(0, len(values), size)]
    return found

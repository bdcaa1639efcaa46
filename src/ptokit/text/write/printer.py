"""Printing programs in one of the three forms, canonically: "as", "ssa" or "dps".

Names, comments and single blank lines stay; ops must already be in the form (`convert` puts them).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptokit.ir.module import AnyOp, Block, Comments, Func, Module, Op, OpaqueOp, Value
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import Elided, Type
from ptokit.text.read.opaque import REGION
from ptokit.text.read.signature import Slot, signature
from ptokit.text.types.spelling import spell
from ptokit.text.write.statements import WRITERS, entry, is_default_literal

FORMS = ("as", "ssa", "dps")


def print_module(module: Module, form: str = "dps") -> str:
    """The program as text."""
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, not {form!r}")
    w = Writer(form)
    for alias in module.aliases:
        w.around(alias.comments, f"{alias.name} = {w.type(alias.type)}")
        w.aliases.setdefault(alias.type, alias.name)
    if module.wrapped:
        attrs = _attributes(module.attrs)
        w.around(module.comments, f"module{attrs} {{")
        w.indent += 1
    for func in module.funcs:
        w.func(func)
    if module.wrapped:
        w.remarks(module.inner)
        w.close("}")
    w.remarks(module.trailing)
    return "\n".join(w.lines) + "\n" if w.lines else ""


def _attributes(attrs: dict[str, object]) -> str:
    if not attrs:
        return ""
    return f" attributes {{{', '.join(entry(k, v) for k, v in attrs.items())}}}"


class Writer:
    """Lines written so far, in one form."""

    def __init__(self, form: str) -> None:
        self.form = form
        self.lines: list[str] = []
        self.indent = 0
        self.aliases: dict[Type, str] = {}
        self.numbers: dict[Value, int | float] = {}  # constants that stand as numbers in their uses

    # pieces

    def type(self, kind: Type) -> str:
        """The spelling of a type, its alias if it has one."""
        return self.aliases.get(kind) or spell(kind, self.form)

    def use(self, value: Value) -> str:
        return f"%{value.name}"

    def operand(self, value: Value, slot: Slot) -> str:
        """A use where PTO-AS may have a number instead."""
        number = self.numbers.get(value)
        return f"%{value.name}" if number is None else str(number)

    def mnemonic(self, op: Op) -> str:
        """The name of the op in this form."""
        page = op.page
        if page.asm.dialect != "pto":
            return page.asm.name or page.mnemonic()
        return (page.asm.name or page.name) if self.form == "as" else page.mnemonic()

    def results(self, op: AnyOp) -> str:
        """`%a = `, `%a:2 = `, or nothing."""
        names = [v.name for v in op.results]
        if not names:
            return ""
        base = names[0].removesuffix("#0")
        if names[0].endswith("#0") and names == [f"{base}#{i}" for i in range(len(names))]:
            return f"%{base}:{len(names)} = "
        return ", ".join(f"%{n}" for n in names) + " = "

    # lines

    def put(self, text: str) -> None:
        self.lines.append("  " * self.indent + text if text else "")

    def remarks(self, comments: tuple[str, ...]) -> None:
        for comment in comments:
            self.put(comment)

    def around(self, comments: Comments, text: str) -> None:
        """A line with the comments before it and on it."""
        self.remarks(comments.before)
        self.put(f"{text} {comments.after}" if comments.after else text)

    def line(self, op: AnyOp, text: str) -> None:
        self.around(op.comments, text)

    def open(self, op: AnyOp, text: str) -> None:
        self.around(op.comments, text)
        self.indent += 1

    def close(self, text: str) -> None:
        self.indent -= 1
        self.put(text)

    # structure

    def block(self, block: Block) -> None:
        """The ops of a region."""
        for op in block.ops:
            self.op(op)
        self.remarks(block.trailing)

    def op(self, op: AnyOp) -> None:
        if isinstance(op, OpaqueOp):
            self.opaque(op)
        elif not all(r in self.numbers for r in op.results) or not op.results:
            self._check_form(op)
            WRITERS[op.page.asm.shape](self, op)

    def _check_form(self, op: Op) -> None:
        if (op.ssa and self.form == "dps") or (op.dps and self.form != "dps"):
            where = f" at {op.span}" if op.span else ""
            wrong = "SSA" if op.ssa else "destination-passing"
            raise ValueError(f"{op.name}{where} is in {wrong} form: convert first")

    def opaque(self, op: OpaqueOp) -> None:
        """The text as it was, with its regions."""
        first, *rest = op.text.split(REGION)
        self.remarks(op.comments.before)
        text = self.results(op) + first
        for region, piece in zip(op.regions, rest, strict=True):
            self.put(f"{text}{{")
            self.indent += 1
            if region.args:
                args = ", ".join(f"%{v.name}: {self.type(v.type)}" for v in region.args)
                self.put(f"^bb0({args}):")
            self.block(region)
            self.indent -= 1
            text = "}" + piece
        self.put(f"{text} {op.comments.after}" if op.comments.after else text)

    def func(self, func: Func) -> None:
        """A function, or the ops of a flat program."""
        self.numbers = _numbers(func) if self.form == "as" else {}
        if func.flat:
            self._arguments(func)
            self.block(func.body)
            return
        private = f" {func.visibility}" if func.visibility else ""
        results = ", ".join(self.type(t) for t in func.results)
        arrow = f" -> {results if len(func.results) == 1 else f'({results})'}" if results else ""
        args = ", ".join(self._argument(func, i) for i in range(len(func.args)))
        head = f"func.func{private} @{func.name}({args}){arrow}{_attributes(func.attrs)}"
        if func.declared:
            self.around(func.comments, head)
            return
        self.around(func.comments, f"{head} {{")
        self.indent += 1
        self.block(func.body)
        self.close("}")

    def _argument(self, func: Func, index: int) -> str:
        value = func.args[index]
        attrs = func.arg_attrs.get(index)
        extra = _attributes(attrs).removeprefix(" attributes") if attrs else ""
        name = "" if func.declared else f"%{value.name}: "
        return f"{name}{self.type(value.type)}{extra}"

    def _arguments(self, func: Func) -> None:
        """Arguments of a flat program whose types no use tells."""
        for value in func.args:
            if not isinstance(value.type, Elided) and not self._told(func, value):
                self.put(f".arg %{value.name} : {self.type(value.type)}")

    def _told(self, func: Func, value: Value) -> bool:
        """Whether some use in this form gives the type of `value`, or implies it."""
        ops = [op for op in func.body.walk() if isinstance(op, Op)]
        return any(
            used is value and self._tells(op.page, name, value)
            for op in ops
            for name, used in op.values()
        )

    def _tells(self, page: type[Instr], name: str, value: Value) -> bool:
        operand = page.operand(name)
        if operand.key or (self.form == "as" and name in page.asm.brackets):
            return str(value.type) == (operand.scalar or "index")
        return page.asm.typed is None or name in page.asm.typed


def _numbers(func: Func) -> dict[Value, int | float]:
    """Constants that PTO-AS writes as numbers: given so, and used only where that says it all."""
    found: dict[Value, int | float] = {}
    for op in func.body.ops:
        if isinstance(op, Op) and op.results and op.results[0].literal:
            number = op.attrs.get(op.page.attrs[0].name, op.page.attrs[0].default)
            if isinstance(number, int | float):
                found[op.results[0]] = number
    for op in func.body.walk():
        for name, value in _named_uses(op):
            number = found.get(value)
            if number is not None and not _says_all(op, name, value, number):
                del found[value]
    return found


def _named_uses(op: AnyOp) -> Iterator[tuple[str, Value]]:
    return (("", v) for v in op.uses) if isinstance(op, OpaqueOp) else op.values()


def _says_all(op: AnyOp, name: str, value: Value, number: float) -> bool:
    """Whether the number alone, in the place of operand `name`, reads back as the same value."""
    if isinstance(op, OpaqueOp) or op.page.asm.shape not in ("op", "for"):
        return False
    slot = next((s for s in signature(op.page).ins if s.name == name), None)
    return slot is not None and is_default_literal(value, slot, number)


__all__ = ["FORMS", "Writer", "print_module"]

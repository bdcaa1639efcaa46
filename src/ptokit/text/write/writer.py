"""The lines of a program in one form: spellings of types and names, blocks, comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ptokit.ir.module import AnyOp, Block, Comments, Op, OpaqueOp, Value
from ptokit.isa.lang.asm import DIALECTS, OWN_SINCE, own_names
from ptokit.isa.lang.traits import ALIASES
from ptokit.isa.model.types import Type
from ptokit.text.read.opaque import REGION
from ptokit.text.types.spelling import spell
from ptokit.text.types.typereader import in_global_memory, type_named

INTEGER = re.compile(r"(?<![us])i(?=\d+\b)")


class Writer:
    """The lines written so far in one form; `shapes` has the printer of each shape."""

    def __init__(self, form: str, shapes: Mapping[str, Callable[[Writer, Op], None]]) -> None:
        self.form, self.shapes = form, shapes
        self.lines: list[str] = []
        self.indent = 0
        self.aliases: dict[Type, str] = {}
        self.arity: dict[str, int] = {}  # the number of arguments of each labelled block
        self.numbers: dict[Value, int | float] = {}  # constants printed as numbers in their uses
        self.constants: dict[Value, int | float] = {}  # all constants of the function
        self.renamed: dict[Value, str] = {}  # results that take the name of a handle
        self.dialect, self.forced = DIALECTS[-1], False
        self.signed: frozenset[Type] = frozenset()  # types with si8 for i8
        self.opaque_ops = False  # an opaque op is printed as it was, with the types in it

    # pieces

    def type(self, kind: Type) -> str:
        """Return the spelling of a type: its alias, or for a memref its original text."""
        kept = self.form == "dps" or self.opaque_ops
        written = getattr(kind, "written", "")  # a memref, whose strides no other spelling has
        if (
            written
            and (kept or written.startswith("memref<"))
            and in_global_memory(type_named(written)) == kind
        ):
            return written
        if (alias := self.aliases.get(kind)) is not None:
            return alias
        spelled = spell(kind, self.form)
        return INTEGER.sub("si", spelled) if kept and kind in self.signed else spelled

    def use(self, value: Value) -> str:
        return f"%{self.renamed.get(value, value.name)}"

    def version(self, op: Op) -> str:
        """Return the version of the dialect for the op: the chosen one, or that of its text."""
        return self.dialect if self.forced else op.dialect or self.dialect

    def own(self, op: Op) -> bool:
        """Return whether to print the op with its name in the newest dialect, as in its text."""
        kept = not self.forced or self.dialect >= OWN_SINCE
        return kept and bool(op.page.own) and op.dialect >= OWN_SINCE

    def operand(self, value: Value) -> str:
        """Return a use, or the number instead, which PTO-AS allows."""
        number = self.numbers.get(value)
        return self.use(value) if number is None else str(number)

    def mnemonic(self, op: Op) -> str:
        """Return the name of the op in this form."""
        page = op.page
        if self.own(op):
            return f"pto.{own_names(page.own)[0].name}"
        if page.asm.dialect != "pto":
            return page.asm.name or page.mnemonic()
        if self.form == "dps":
            return f"pto.{page.asm.name_in(self.version(op), page.name)}"
        return (page.asm.name or page.name) if self.form == "as" else page.mnemonic()

    def results(self, op: AnyOp) -> str:
        """Return `%a = `, `%a:2 = `, or nothing."""
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
        """Add a line with the comments before it and on it."""
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

    def label(self, block: Block) -> None:
        """Add the line with which a labelled block starts."""
        args = ", ".join(f"%{v.name}: {self.type(v.type)}" for v in block.args)
        self.indent -= 1
        self.around(block.comments, f"{block.label}({args}):" if args else f"{block.label}:")
        self.indent += 1

    def block(self, block: Block) -> None:
        """Add the ops of a region, with its further blocks."""
        around = self.arity
        if block.following:
            self.arity = {other.label: len(other.args) for other in block.following}
        for op in block.ops:
            self.op(op)
        self.remarks(block.trailing)
        for other in block.following:
            self.label(other)
            self.block(other)
        self.arity = around

    def op(self, op: AnyOp) -> None:
        if isinstance(op, OpaqueOp):
            self.opaque(op)
        elif not all(r in self.numbers for r in op.results) or not op.results:
            self._check_form(op)
            shape = op.page.asm.shape
            self.shapes["own" if shape != "constant" and self.own(op) else shape](self, op)

    def _check_form(self, op: Op) -> None:
        handle = ALIASES in op.page.traits or op.of_registers
        if (op.ssa and not handle and self.form == "dps") or (op.dps and self.form != "dps"):
            where = f" at {op.span}" if op.span else ""
            wrong = "SSA" if op.ssa else "destination-passing"
            raise ValueError(f"{op.name}{where} is in {wrong} form: convert first")

    def opaque(self, op: OpaqueOp) -> None:
        """Add the text of an opaque op with its regions."""
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

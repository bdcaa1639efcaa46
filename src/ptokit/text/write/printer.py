"""Printers of programs in one of the three forms, canonically: "as", "ssa" or "dps".

Names, comments and single blank lines stay; ops must already be in the form (`convert` does that).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ptokit.ir.editing import number_of, type_of
from ptokit.ir.module import AnyOp, Func, Module, Op, OpaqueOp, Value
from ptokit.ir.strings import symbol
from ptokit.isa.lang.asm import CLAUSES_SINCE
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import Elided, Kind
from ptokit.text.read.signature import signature
from ptokit.text.write.attributes_out import entry
from ptokit.text.write.pairs_out import counting_pairs
from ptokit.text.write.statements import WRITERS
from ptokit.text.write.writer import Writer

FORMS = ("as", "ssa", "dps")


def print_module(module: Module, form: str = "dps", dialect: str | None = None) -> str:
    """Return the program as text in a form.

    DPS text is in the given version of the dialect, or in the version in which it was read.
    ValueError for an unknown form, or ops in another form.
    """
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, not {form!r}")
    module = counting_pairs(module)
    w = Writer(form, WRITERS)
    ops = [op for func in module.funcs for op in func.walk()]
    spelled = (op.dialect for op in ops if isinstance(op, Op) and op.dialect)
    w.dialect = dialect or next(spelled, CLAUSES_SINCE)
    w.opaque_ops = any(isinstance(op, OpaqueOp) for op in ops)
    w.forced, w.signed = dialect is not None, module.signed
    if not module.wrapped and not module.aliases:  # sections, each with its own names
        for part in module.parts:
            w.aliases.clear()
            _aliased(w, part) if isinstance(part, Module) else _function(w, part)
        w.remarks(module.trailing)
    else:
        _aliased(w, module)
    return "\n".join(w.lines) + "\n" if w.lines else ""


def _aliased(w: Writer, module: Module) -> None:
    """Write the module after its type aliases and those of inner modules."""
    for alias in (a for inner in module.modules() for a in inner.aliases):
        w.around(alias.comments, f"{alias.name} = {w.type(alias.type)}")
        w.aliases.setdefault(alias.type, alias.name)
    _module(w, module)


def _module(w: Writer, module: Module) -> None:
    if module.wrapped:
        name = f" {symbol(module.name)}" if module.name else ""
        w.around(module.comments, f"module{name}{_attributes(module.attrs)} {{")
        w.indent += 1
    for part in module.parts:
        _module(w, part) if isinstance(part, Module) else _function(w, part)
    if module.wrapped:
        w.remarks(module.inner)
        w.close("}")
    w.remarks(module.trailing)


def _attributes(attrs: dict[str, object]) -> str:
    if not attrs:
        return ""
    return f" attributes {{{', '.join(entry(k, v) for k, v in attrs.items())}}}"


def _function(w: Writer, func: Func) -> None:
    """Write a function, or the ops of a flat program."""
    w.constants = dict(_constants(func))
    w.numbers = _numbers(w, func)
    w.renamed.clear()
    if func.flat:
        _arguments(w, func)
        w.block(func.body)
        return
    private = f" {func.visibility}" if func.visibility else ""
    results = ", ".join(_result(w, func, i) for i in range(len(func.results)))
    bare = len(func.results) == 1 and not func.res_attrs
    arrow = f" -> {results if bare else f'({results})'}" if results else ""
    args = ", ".join(_argument(w, func, i) for i in range(len(func.args)))
    head = f"func.func{private} {symbol(func.name)}({args}){arrow}{_attributes(func.attrs)}"
    if func.declared:
        w.around(func.comments, head)
        return
    w.around(func.comments, f"{head} {{")
    w.indent += 1
    w.arity = {block.label: len(block.args) for block in func.blocks}
    if func.body.label:
        w.label(replace(func.body, args=[]))
    w.block(func.body)
    for block in func.blocks:
        w.label(block)
        w.block(block)
    w.close("}")


def _argument(w: Writer, func: Func, index: int) -> str:
    value = func.args[index]
    name = "" if func.declared else f"%{value.name}: "
    return f"{name}{w.type(value.type)}{_dictionary(func.arg_attrs.get(index))}"


def _result(w: Writer, func: Func, index: int) -> str:
    return f"{w.type(func.results[index])}{_dictionary(func.res_attrs.get(index))}"


def _dictionary(attrs: dict[str, object] | None) -> str:
    return _attributes(attrs).removeprefix(" attributes") if attrs else ""


def _arguments(w: Writer, func: Func) -> None:
    """Write the arguments of a flat program whose types do not follow from a use."""
    for value in func.args:
        if not isinstance(value.type, Elided) and not _implied(w, func, value):
            w.put(f".arg %{value.name} : {w.type(value.type)}")


def _implied(w: Writer, func: Func, value: Value) -> bool:
    """Return whether some use in this form gives the type of `value`, and none contradicts it."""
    places = [
        (op.page, name)
        for op in func.walk()
        if isinstance(op, Op)
        for name, used in op.values()
        if used is value
    ]
    untyped = [p.operand(n) for p, n in places if _untyped(w, p, n)]
    implied = {o.scalar or "index" for o in untyped if o.kind in (Kind.INDEX, Kind.SCALAR)}
    listed = any(
        not _untyped(w, p, n) and (p.asm.typed is None or n in p.asm.typed) for p, n in places
    )
    return implied <= {str(value.type)} and bool(implied or listed)


def _untyped(w: Writer, page: type[Instr], name: str) -> bool:
    """Return whether the operand has a position for which text lists no type."""
    return bool(page.operand(name).key) or (w.form == "as" and name in page.asm.brackets)


def _constants(func: Func) -> Iterator[tuple[Value, int | float]]:
    """Yield the values and numbers of constants."""
    for op in func.walk():
        if (number := number_of(op)) is not None:
            yield op.results[0], number


def _numbers(w: Writer, func: Func) -> dict[Value, int | float]:
    """Return the constants to print as numbers: literals in the text, legal in every use."""
    found = {value: number for value, number in w.constants.items() if value.literal}
    if w.form == "ssa" or not found:
        return {}
    for op in func.walk():
        for name, value in _named_uses(op):
            number = found.get(value)
            if number is not None and not _says_all(w.form, op, name, value, number):
                del found[value]
    return found


def _named_uses(op: AnyOp) -> Iterator[tuple[str, Value]]:
    return (("", v) for v in op.uses) if isinstance(op, OpaqueOp) else op.values()


def _says_all(form: str, op: AnyOp, name: str, value: Value, number: float) -> bool:
    """Return whether the number alone, as operand `name`, reads back as the same value."""
    if isinstance(op, OpaqueOp):
        return False
    if form == "dps":  # the size of a window is a number in text
        return (
            op.page.asm.shape in ("window", "recast")
            and op.page.operand(name).required
            and (bool(op.page.operand(name).key))
        )
    if op.page.asm.shape not in ("op", "part", "for", "window", "recast"):
        return False
    slot = next((s for s in signature(op.page).ins if s.name == name), None)
    return slot is not None and type_of(slot, number) == value.type

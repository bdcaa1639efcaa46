"""Printers of control flow: loops and branches with regions, terminators, calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ptokit.ir.module import Op, Value
from ptokit.ir.strings import symbol
from ptokit.text.read.signature import signature
from ptokit.text.write.attributes_out import attributes, entry
from ptokit.text.write.writer import Writer


def write_yield(w: Writer, op: Op) -> None:
    """Write `op %a, %b : T, U`, or with parentheses."""
    values = [v for _, v in op.values()]
    if op.page.asm.brackets:
        names, types = ", ".join(map(w.use, values)), ", ".join(w.type(v.type) for v in values)
        w.line(op, f"{w.mnemonic(op)}({names}) : ({types}) -> ()")
        return
    text = f" {_listed(w, values)}" if values else ""
    w.line(op, f"{w.mnemonic(op)}{text}")


def _listed(w: Writer, values: Sequence[Value]) -> str:
    return f"{', '.join(map(w.use, values))} : {', '.join(w.type(v.type) for v in values)}"


def _others(op: Op) -> str:
    """Return ` {key = value}` after the last region: attributes that the page does not declare."""
    known = {attr.name for attr in op.page.attrs}
    parts = [entry(k, v) for k, v in op.attrs.items() if k not in known]
    return f" {{{', '.join(parts)}}}" if parts else ""


def write_for(w: Writer, op: Op) -> None:
    """Write a loop with its region."""
    *bounds, carried = signature(op.page).ins
    body = op.regions[0]
    induction, *args = body.args
    low, high, step = (w.operand(op.bound(s.name)[0]) for s in bounds)
    text = f"{w.results(op)}{w.mnemonic(op)} %{induction.name} = {low} to {high} step {step}"
    inits = op.bound(carried.name)
    if inits:
        pairs = (f"%{a.name} = {w.use(v)}" for a, v in zip(args, inits, strict=True))
        types = ", ".join(w.type(v.type) for v in op.results)
        text += f" iter_args({', '.join(pairs)}) -> ({types})"
    if w.type(induction.type) != "index":
        text += f" : {w.type(induction.type)}"
    w.open(op, f"{text} {{")
    w.block(body)
    w.close(f"}}{_others(op)}")


def write_if(w: Writer, op: Op) -> None:
    """Write a branch with its regions."""
    condition = op.bound(signature(op.page).ins[0].name)[0]
    types = ", ".join(w.type(v.type) for v in op.results)
    arrow = f" -> ({types})" if types else ""
    w.open(op, f"{w.results(op)}{w.mnemonic(op)} {w.use(condition)}{arrow} {{")
    w.block(op.regions[0])
    for region in op.regions[1:]:
        w.close("} else {")
        w.indent += 1
        w.block(region)
    w.close(f"}}{_others(op)}")


def write_cases(w: Writer, op: Op) -> None:
    """Write `%r = op %n -> T`, and the cases, each with its region."""
    types = ", ".join(w.type(v.type) for v in op.results)
    arrow = f" -> {types if len(op.results) == 1 else f'({types})'}" if types else ""
    flag = w.use(op.bound(op.page.ins()[0].name)[0])
    w.line(op, f"{w.results(op)}{w.mnemonic(op)} {flag}{_others(op)}{arrow}")
    cases = cast("tuple[int, ...]", op.choice)
    heads = (*(f"case {number}" for number in cases), "default")
    for head, region in zip(heads, op.regions, strict=True):
        w.put(f"{head} {{")
        w.indent += 1
        w.block(region)
        w.close("}")


def write_section(w: Writer, op: Op) -> None:
    """Write an op with one region: numbers before it, attributes and result types after it."""
    numbers = ", ".join(str(op.attrs[a.name]) for a in op.page.attrs if a.required)
    types = ", ".join(w.type(v.type) for v in op.results)
    w.open(op, f"{w.results(op)}{w.mnemonic(op)}{f'<<<{numbers}>>>' if numbers else ''} {{")
    w.block(op.regions[0])
    w.close(f"}}{attributes(op)}{f' : {types}' if types else ''}")


def write_while(w: Writer, op: Op) -> None:
    """Write a loop with its two regions."""
    before, after = op.regions
    inits = op.bound(signature(op.page).ins[0].name)
    pairs = ", ".join(f"%{a.name} = {w.use(v)}" for a, v in zip(before.args, inits, strict=True))
    taken = ", ".join(w.type(a.type) for a in before.args)
    given = ", ".join(w.type(r.type) for r in op.results)
    head = f"{w.results(op)}{w.mnemonic(op)}{f' ({pairs})' if pairs else ''}"
    w.open(op, f"{head} : ({taken}) -> ({given}) {{")
    w.block(before)
    w.close("} do {")
    if after.args:
        w.put(f"^bb0({', '.join(f'%{a.name}: {w.type(a.type)}' for a in after.args)}):")
    w.indent += 1
    w.block(after)
    w.close(f"}}{_others(op)}")


def write_condition(w: Writer, op: Op) -> None:
    """Write `op(%more) %a, %b : T, U`."""
    first, rest = signature(op.page).ins
    values = op.bound(rest.name)
    text = f" {_listed(w, values)}" if values else ""
    w.line(op, f"{w.mnemonic(op)}({w.use(op.bound(first.name)[0])}){text}")


def write_call(w: Writer, op: Op) -> None:
    """Write `%r = op @name(%a, %b) : (T, U) -> V`; for threads with `<<<%x, %y, %z>>>`."""
    *numbers, passed = op.page.operands
    values, extents = op.bound(passed.name), [w.use(op.bound(n.name)[0]) for n in numbers]
    names, types = ", ".join(map(w.use, values)), ", ".join(w.type(v.type) for v in values)
    given = ", ".join(w.type(r.type) for r in op.results)
    arrow = given if len(op.results) == 1 else f"({given})"
    callee = symbol(str(op.choice))
    callee = f"{callee}<<<{', '.join(extents)}>>>" if extents else callee
    w.line(op, f"{w.results(op)}{w.mnemonic(op)} {callee}({names}) : ({types}) -> {arrow}")


def write_branch(w: Writer, op: Op) -> None:
    """Write `op %c, ^bb1(%a : T), ^bb2`."""
    *chosen, passed = op.page.operands
    parts = [w.use(op.bound(operand.name)[0]) for operand in chosen]
    values = op.bound(passed.name)
    for label in op.successors:
        given, values = values[: w.arity[label]], values[w.arity[label] :]
        parts.append(f"{label}({_listed(w, given)})" if given else label)
    w.line(op, f"{w.mnemonic(op)} {', '.join(parts)}")


def write_switch(w: Writer, op: Op) -> None:
    """Write `op %flag : i32, [default: ^bb1, 1: ^bb2(%a : T)]`."""
    *_, passed = op.page.operands
    flag = next(v for name, v in op.values() if name != passed.name)
    values = op.bound(passed.name)
    cases = cast("tuple[int, ...]", op.choice)
    words = ("default", *map(str, cases))
    ways: list[str] = []
    for word, label in zip(words, op.successors, strict=True):
        given, values = values[: w.arity[label]], values[w.arity[label] :]
        ways.append(f"{word}: {label}({_listed(w, given)})" if given else f"{word}: {label}")
    w.line(op, f"{w.mnemonic(op)} {w.use(flag)} : {w.type(flag.type)}, [{', '.join(ways)}]")


def write_executed(w: Writer, op: Op) -> None:
    """Write `%r = op -> (T) no_inline {`, and the region."""
    types = ", ".join(w.type(v.type) for v in op.results)
    words = "".join(f" {attr.key}" for attr in op.page.attrs if op.attrs.get(attr.name))
    arrow = f" -> ({types})" if types else ""
    w.open(op, f"{w.results(op)}{w.mnemonic(op)}{arrow}{words} {{")
    w.block(op.regions[0])
    w.close(f"}}{_others(op)}")

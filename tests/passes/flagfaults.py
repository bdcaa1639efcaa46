"""Faults in the order of pipes: a flag or barrier that is missing, misplaced, or of other pipes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from stripped import orders

from ptokit.ir.module import AnyOp, Block, Func, Op
from ptokit.isa.lang.traits import TERMINATOR
from ptokit.isa.model.words import Pipe
from ptokit.values.enumerations import Word

Change = Callable[[list[AnyOp]], list[AnyOp]]


def mutant(func: Func, random: Random) -> tuple[Func, str]:
    """The function with one fault, and what it is."""
    ops = [op for op in func.body.walk() if orders(op)]
    chosen = random.choice(ops)
    assert isinstance(chosen, Op)
    kind = random.choice(["without its pair", "moved", "of other pipes", "with another id"])
    alike = {id(op) for op in ops if isinstance(op, Op) and op.attrs == chosen.attrs}
    gone = alike if len(chosen.attrs) > 1 else {id(chosen)}

    def change(ops: list[AnyOp]) -> list[AnyOp]:
        if kind == "without its pair":
            return [op for op in ops if id(op) not in gone]
        return [other(chosen) if op is chosen else op for op in moved(ops)]

    def moved(ops: list[AnyOp]) -> list[AnyOp]:
        at = next((n for n, op in enumerate(ops) if op is chosen), None)
        if kind != "moved" or at is None:
            return ops
        rest = [op for op in ops if op is not chosen]
        last = len(rest) - sum(isinstance(op, Op) and TERMINATOR in op.page.traits for op in rest)
        to = min(max(at + random.choice([-1, 1]), 0), last)
        return [*rest[:to], chosen, *rest[to:]]

    def other(op: Op) -> Op:
        if kind == "moved":
            return op
        key, word = random.choice(
            [*op.attrs.items()] if kind == "of other pipes" else [*op.attrs.items()][-1:]
        )
        assert isinstance(word, Word)
        others = [w for w in type(word) if w is not word and w is not Pipe.ALL]
        return replace(op, attrs={**op.attrs, key: random.choice(others)})

    return replace(func, body=_changed(func.body, change)), f"{chosen.name} {kind}"


def _changed(block: Block, change: Change) -> Block:
    ops = change([*block.ops])
    inner = [[_changed(region, change) for region in op.regions] for op in ops]
    pairs = zip(ops, inner, strict=True)
    return replace(block, ops=[replace(o, regions=r) if r else o for o, r in pairs])

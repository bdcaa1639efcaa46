"""A toy machine: every instruction computes an unknown function of what it reads.

A tile's content is the expression that made it. Two programs that store the same expressions in the
same order compute the same, whatever the instructions do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ptokit.ir.module import Block, Func, Op, Value
from ptokit.isa.lang.instr import Role
from ptokit.isa.lang.traits import ALLOCATES, TERMINATOR

UNDEFINED = "?"


@dataclass(eq=False)
class Cell:
    """A tile's storage."""

    content: object = UNDEFINED


@dataclass
class Toy:
    """Runs one function; `decisions` answers its conditions and its trip counts."""

    decisions: Iterator[int]
    stored: list[object] = field(default_factory=list[object])

    def run(self, func: Func) -> list[object]:
        self.block(func.body, {arg: arg.name for arg in func.args})
        return self.stored

    def block(self, block: Block, env: dict[Value, object]) -> tuple[object, ...]:
        for op in block.ops:
            assert isinstance(op, Op)
            if TERMINATOR in op.page.traits:
                return tuple(env[v] for _, v in op.values())
            self.op(op, env)
        return ()

    def op(self, op: Op, env: dict[Value, object]) -> None:
        if op.page.asm.shape == "for":
            self.loop(op, env)
        elif op.page.asm.shape == "if":
            side = next(self.decisions) % 2
            passed: tuple[object, ...] = ()
            if side < len(op.regions):
                passed = self.block(op.regions[side], env)
            env |= dict(zip(op.results, passed, strict=bool(op.results)))
        elif ALLOCATES in op.page.traits:
            env[op.results[0]] = Cell()
        elif not op.page.executes:
            env[op.results[0]] = (op.page.name, tuple(op.attrs.values()))
        else:
            self.compute(op, env)

    def loop(self, op: Op, env: dict[Value, object]) -> None:
        carried = tuple(env[v] for v in op.bound("carried"))
        body = op.regions[0]
        for iteration in range(next(self.decisions) % 4):
            inner = env | {body.args[0]: iteration} | dict(zip(body.args[1:], carried, strict=True))
            carried = self.block(body, inner)
        env |= dict(zip(op.results, carried, strict=True))

    def compute(self, op: Op, env: dict[Value, object]) -> None:
        kept = {o.name for o in op.page.outs() if o.role is Role.INOUT}
        targets = {o.name for o in op.page.outs() if o.fresh}
        reads = [
            (name, _content(env[value]))
            for name, value in sorted(op.values(), key=lambda pair: pair[0])
            if name not in targets or name in kept
        ]
        made = {name: hash((op.page.name, name, tuple(reads))) for name in sorted(targets)}
        if not targets:
            self.stored.append((op.page.name, tuple(reads)))
        if op.ssa:
            env |= {value: Cell(made[name]) for name, value in op.named_results()}
            return
        for name, content in made.items():
            cell = env[op.bound(name)[0]]
            assert isinstance(cell, Cell)
            cell.content = content


def _content(value: object) -> object:
    if not isinstance(value, Cell):
        return value
    assert value.content != UNDEFINED, "the program reads a tile that nothing has written"
    return value.content

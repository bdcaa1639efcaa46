"""Laws of execution: every row of every pair table runs, writes what it says, and nothing else.

The operands are generated (`rows`); their bytes are random. A second run on outputs that held
other bytes before tells what an instruction wrote: both runs agree there, elsewhere each keeps its
own. A third run finds other bytes, never written, wherever `analysis.effects` says that nothing is
read: it must see none of them. What is written lies in what `effects` says may be, and holds all
that it says surely is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from operands import sample
from programs import handles, randomise, typed, wrapped
from rows import rows, witness_of
from space import Space, State
from witness import HARDEST, refusals, search

from fuzz.scale import sampled, scaled, tried
from ptokit.analysis.effects import ByteRanges, effects
from ptokit.analysis.known import Facts
from ptokit.api.eager import execute
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Op, Value
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr, Role
from ptokit.launch import settings
from ptokit.machine.memory import Memory
from ptokit.machine.tile import Matrix, Tile

SAMPLE = 4
DATA = [p for p in pages() if p.outs() and p.on_tiles]
CASES = [(page, target) for page in tried(DATA, 2, 9) for target in HARDEST]


def title(page: type[Instr]) -> str:
    return f"{page.name} {page.form}".strip()


def lacks(page: type[Instr], target: str) -> bool:
    return bool(refusals(page, target))


class Run:
    """One execution on random bytes: what the memories held before and after."""

    def __init__(
        self,
        space: Space,
        state: State,
        inputs: int,
        outputs: int,
        largest: int,
        unread: int | None = None,
    ) -> None:
        self.given = handles(space, state)
        for operand in space.page.operands:  # any number is legal, but not in every type
            if operand.scalar == "u32" and isinstance(number := self.given[operand.name], int):
                self.given[operand.name] = number % (1 << 32)
        self.effects = effects(*as_op(space, self.given))
        self.memories: dict[str, Memory] = {}
        for operand in space.page.operands:
            made = self.given[operand.name]
            if isinstance(made, Matrix):
                seed = [inputs if operand.role is Role.IN else outputs, len(self.memories)]
                randomise(made, np.random.default_rng(seed), largest)
                self.memories[operand.name] = made.memory
                if operand.role is Role.OUT:
                    made.memory.shadow[:] = 0
        for made in self.given.values():  # an output that is also an input was written
            if isinstance(made, Matrix) and any(
                made.memory is self.given[o.name].memory
                for o in space.page.operands
                if o.role is not Role.OUT and isinstance(self.given[o.name], Matrix)
            ):
                made.memory.shadow[:] = 0xFF
        if unread is not None:
            self.hide(np.random.default_rng(unread))
        self.before = {n: m.data.copy() for n, m in self.memories.items()}
        self.shadow = {n: m.shadow.copy() for n, m in self.memories.items()}
        with settings.target(space.target.name):
            execute(space.page, wrapped(self.given))

    def hide(self, random: np.random.Generator) -> None:
        """Other bytes, never written, where nothing is read."""
        for name, memory in self.memories.items():
            hidden = ~self.said(name, self.effects.reads)
            memory.data[hidden] = random.integers(0, 256, hidden.sum(), np.uint8)
            memory.shadow[hidden] = 0

    def said(self, name: str, bytes_of: Mapping[Value, ByteRanges]) -> NDArray[np.bool_]:
        """The bytes of an operand's memory that `effects` names, of any operand that lies there."""
        memory = self.memories[name]
        found = np.zeros(memory.size, np.bool_)
        for value, some in bytes_of.items():
            made = self.given[value.name]
            if made.memory is memory:
                address = made.address if isinstance(made, Tile) else 0
                for start, stop in some.ranges or ():
                    found[address + start : address + stop] = True
                if some.ranges is None:
                    found[:] = True
        return found

    def changed(self, name: str) -> NDArray[np.bool_]:
        return self.memories[name].data != self.before[name]


# What a body may refuse that no rule can tell: then smaller numbers, or another mode, are tried.
OF_DATA = {"gather-out-of-bounds"}, {"scatter-out-of-bounds"}
OF_MODE = "register-not-set"


def run(space: Space, state: State, outputs: int, unread: int | None = None) -> Run:
    """On random bytes; if these make an index that is out of range, on small ones."""
    try:
        return Run(space, state, 1, outputs, 255, unread)
    except PtoError as problem:
        if {d.slug for d in problem.diagnostics} not in OF_DATA:
            raise
    return Run(space, state, 1, outputs, 0, unread)


def as_op(space: Space, given: Mapping[str, Any]) -> tuple[Op, Facts]:  # Any: handles, numbers
    """The instruction on values of the types of its handles, and the numbers among them."""
    op, facts = Op(space.page), Facts(space.target)
    for operand in space.page.operands:
        many = given[operand.name] if operand.many else (given[operand.name],)
        values: list[Value] = []
        for made in many if given[operand.name] is not None else ():
            kind = made.type if isinstance(made, Matrix) else typed(operand, made)
            values.append(Value(operand.name, kind))
            facts.numbers |= {values[-1]: made} if isinstance(made, int) else {}
        if values:
            op.operands[operand.name] = tuple(values) if operand.many else values[0]
    words = {a.name: given[a.name] for a in space.page.attrs}
    op.attrs = {name: word for name, word in words.items() if word is not None}
    return op, facts


def modes(space: Space, state: State) -> Iterator[State]:
    """The same operands, in this mode and in the others."""
    yield state
    for attr in space.page.attrs:
        for word in space.domains[attr.name, "value"]:
            yield {**state, (attr.name, "value"): word}


def faults(space: Space, state: State) -> Iterator[str]:
    """What a run does that the page does not say."""
    first, second = run(space, state, 2), run(space, state, 3)
    outs = {o.name: first.given[o.name] for o in space.page.outs()}
    memories = [made.memory for made in outs.values()]
    for operand in space.page.operands:
        memory = first.memories.get(operand.name)
        if memory is None or any(memory is m for m in memories):
            continue
        if first.changed(operand.name).any():
            yield f"{operand.name} is changed"
    for name, made in outs.items():
        if not isinstance(made, Tile) or made.memory is not first.memories[name]:
            continue  # an array, or a handle that aliases its source from now on
        role = space.page.operand(name).role
        yield from _output(name, made, first, second, role)
    yield from _unread(space, state, first)


def _output(name: str, made: Tile, first: Run, second: Run, role: Role) -> Iterator[str]:
    after = second.memories[name]
    may = first.said(name, first.effects.writes)
    written = may
    if role is Role.OUT and not first.shadow[name].any():
        written = made.memory.shadow != 0
        if not np.array_equal(written, after.shadow != 0):
            yield f"{name}: what is written depends on what was there"
        if (written & ~may).any():
            yield f"{name}: more is written than `effects` says"
        if (first.said(name, first.effects.fills) & ~written).any():
            yield f"{name}: less is written than `effects` says"
        if not np.array_equal(made.memory.data[written], after.data[written]):
            yield f"{name}: its result depends on what was there"
    if (first.changed(name) & ~written).any() or (second.changed(name) & ~written).any():
        yield f"{name}: bytes outside what is written change"


def _unread(space: Space, state: State, first: Run) -> Iterator[str]:
    """What comes out does not depend on the bytes that `effects` says are not read."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Memory, "refuses", True)
            third = run(space, state, 2, unread=7)
    except PtoError as problem:
        if {d.slug for d in problem.diagnostics} != {"uninitialised-read"}:
            raise
        yield f"more is read than `effects` says: {problem}"
        return
    for name, memory in first.memories.items():
        written = memory.shadow != 0 if not first.shadow[name].any() else first.changed(name)
        other = third.memories[name]
        if not np.array_equal(memory.data[written], other.data[written]):
            yield f"{name}: its result depends on what `effects` says is not read"


@pytest.mark.parametrize(("page", "target"), CASES, ids=lambda v: v if v in HARDEST else title(v))
def test_every_row_has_a_witness_that_runs(page: type[Instr], target: str) -> None:
    if lacks(page, target):
        return
    if scaled(1) == 1 and target != next(t for t in HARDEST if not lacks(page, t)):
        return  # a sample: the strictest target that has the instruction
    space, problems, tried = search(page, target).space, list[str](), 0
    for name, state in chosen(page, target):
        tried += 1
        if state is None:
            problems.append(f"{name}: the rules about types take it, but together they do not")
            continue
        problems += [f"{name}: {fault}" for fault in _tried(space, state)]
    assert tried
    assert problems == []


def chosen(page: type[Instr], target: str) -> Iterator[tuple[str, State | None]]:
    """Operands of every row; in `make test` of a few, for the search for all rows is slow."""
    if scaled(1) == 1:
        yield from ((f"sample {n}", sample(page, target, n)) for n in range(SAMPLE))
        return
    for row in sampled(rows(page, target), 5):
        yield str(row), witness_of(page, target, row)


def _tried(space: Space, state: State) -> list[str]:
    """The faults of a run; a mode that needs something to be set before is not the one to try."""
    said: list[str] = []
    for how in modes(space, state):
        try:
            return list(faults(space, how))
        except PtoError as problem:
            said = [str(problem)]
            if {d.slug for d in problem.diagnostics} != {OF_MODE}:
                break
        except Exception as problem:  # whatever a body raises is a fault of that row
            return [f"{type(problem).__name__}: {problem}"]
    return said

"""Laws of execution: every row of every pair table runs, writes what it says, and nothing else.

The operands are generated (`rows`); their bytes are random. A second run on outputs that held
other bytes before tells what an instruction wrote: both runs agree there, elsewhere each keeps its
own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from programs import handles, randomise, wrapped
from rows import rows, witness_of
from space import Space, State
from witness import HARDEST, refusals, search

from fuzz.scale import sampled, scaled
from ptokit.api import settings
from ptokit.api.eager import execute
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr, Role
from ptokit.sim.memory import Memory
from ptokit.sim.tile import Matrix, Tile

# Pages that say in words that they write more, or less, than the valid region of their output.
ALL_OF_IT = "the whole storage takes part"
BEYOND = {
    "tload": "what lies outside takes the pad value",
    "tfillpad": ALL_OF_IT,
    "tfillpad_inplace": ALL_OF_IT,
    "tfillpad_expand": ALL_OF_IT,
    "tmov scale reorder": "rows up to a multiple of 16 are zeros",
    "tgather mask": "the elements follow one another in the storage",
    "textract convolution weights": "whole blocks move",
}
PARTLY = {
    "tconcat": "columns that neither source has stay",
    "tconcat counts by row": "columns after the counted ones stay",
    "tconcat counts by row, and the sum": "columns after the counted ones stay",
    "tgather mask": "dst may be larger than what is selected",
    "tgather compare": "elements after the matches stay",
    "tgatherb": "only whole blocks inside the source are written",
}
DATA = [p for p in pages() if p.outs() and not p.handle]
CASES = [(page, target) for page in DATA for target in HARDEST]


def title(page: type[Instr]) -> str:
    return f"{page.name} {page.form}".strip()


def lacks(page: type[Instr], target: str) -> bool:
    return bool(refusals(page, target))


Bytes = NDArray[np.uint8]


class Run:
    """One execution on random bytes: what the memories held before and after."""

    def __init__(self, space: Space, state: State, inputs: int, outputs: int, largest: int) -> None:
        self.given = handles(space, state)
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
        self.before = {n: m.data.copy() for n, m in self.memories.items()}
        self.shadow = {n: m.shadow.copy() for n, m in self.memories.items()}
        with settings.target(space.target.name):
            execute(space.page, wrapped(self.given))

    def changed(self, name: str) -> NDArray[np.bool_]:
        return self.memories[name].data != self.before[name]


# What a body may refuse that no rule can tell: then smaller numbers, or another mode, are tried.
OF_DATA, OF_MODE = "gather-out-of-bounds", "register-not-set"


def run(space: Space, state: State, outputs: int) -> Run:
    """On random bytes; if these make an index that is out of range, on small ones."""
    try:
        return Run(space, state, 1, outputs, 255)
    except PtoError as problem:
        if {d.slug for d in problem.diagnostics} != {OF_DATA}:
            raise
    return Run(space, state, 1, outputs, 0)


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
        yield from _output(title(space.page), name, made, first, second, role)


def _output(page: str, name: str, made: Tile, first: Run, second: Run, role: Role) -> Iterator[str]:
    after = second.memories[name]
    inside = region(made)
    written = inside
    if role is Role.OUT and not first.shadow[name].any():
        written = made.memory.shadow != 0
        if not np.array_equal(written, after.shadow != 0):
            yield f"{name}: what is written depends on what was there"
        if page not in BEYOND and (written & ~inside).any():
            yield f"{name}: bytes outside the valid region are written"
        if page not in PARTLY and (inside & ~written).any():
            yield f"{name}: the valid region is not written fully"
        if not np.array_equal(made.memory.data[written], after.data[written]):
            yield f"{name}: its result depends on what was there"
    if (first.changed(name) & ~written).any() or (second.changed(name) & ~written).any():
        yield f"{name}: bytes outside what is written change"


def region(tile: Tile) -> NDArray[np.bool_]:
    """The bytes of the valid region."""
    blank = Tile(tile.type, Memory.blank("mask", tile.memory.size), tile.address)
    ones = np.full(tuple(tile.valid), -1).astype(tile.dtype.storage)
    blank.assign(ones & (0xF if tile.dtype.packed else -1 & ((1 << tile.dtype.bits) - 1)))
    return blank.memory.shadow != 0


@pytest.mark.parametrize(("page", "target"), CASES, ids=lambda v: v if v in HARDEST else title(v))
def test_every_row_has_a_witness_that_runs(page: type[Instr], target: str) -> None:
    if lacks(page, target):
        return
    if scaled(1) == 1 and target != next(t for t in HARDEST if not lacks(page, t)):
        return  # a sample: the strictest target that has the instruction
    every, space = rows(page, target), search(page, target).space
    problems: list[str] = []
    for row in sampled(every, 3):
        state = witness_of(page, target, row)
        if state is None:
            problems.append(f"{row}: the rules about types take it, but all rules together do not")
            continue
        problems += [f"{row}: {fault}" for fault in _tried(space, state)]
    assert every
    assert problems == []


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

"""Random kernels: instructions of any page chained in loops and branches, legal as far as text
tells; what goes wrong goes wrong while they run.

As a program: `python kernels.py FIRST COUNT` runs that many under both engines and prints a line
for each seed before it starts, and what differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from traceback import format_exc
from typing import Any

from engines import Case
from loops import STEPS, Told, Writer, run
from operands import STYLES, family, sample
from space import Placed
from witness import refusals

from ptokit.analysis.facts import facts_of
from ptokit.analysis.known import Facts
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import AnyOp, Binding, Block, Func, Module, Op, Value
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr, Operand, Role
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import SPACES, TARGETS
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import I1, I64, INDEX, Kind, Type
from ptokit.isa.model.words import GlobalLayout
from ptokit.isa.pages.allocation import AllocTile, SubSet, SubView, TAssign
from ptokit.isa.pages.arith import AddI, CmpI, IndexCast, MinSI, MulI, Predicate, SubI
from ptokit.isa.pages.control import For, If, Return, Yield
from ptokit.isa.pages.grid import GetBlockIdx
from ptokit.isa.pages.transfers import TLoad, TStore
from ptokit.text.write.printer import print_module
from ptokit.values.layouts import Shape

DATA = [p for p in pages() if p.outs() and p.on_tiles]
MOST_BYTES = 8192  # of one tile
SHARED = 200  # seeds in a row whose instructions begin from the same operands


@dataclass
class Kernel(Writer):
    """A function as it grows: `tiles` and `numbers` are what instructions may use here."""

    facts: Facts = field(default_factory=lambda: Facts(TARGETS["cpu"]))
    tiles: list[Value] = field(default_factory=list[Value])
    ready: set[Value] = field(default_factory=set[Value])  # tiles with data
    numbers: list[Value] = field(default_factory=list[Value])
    used: dict[str, int] = field(default_factory=dict[str, int])
    grid: bool = False  # several blocks: tiles are no arguments
    values: bool = False  # tiles have one name each, as SSA form wants

    # what is in reach

    def add(self, op: Op) -> bool:
        """The op at the end of the open block, unless a rule that is decided now refuses it."""
        env = self.facts.environment(op)
        rules = op.page.rules_on(self.facts.target)
        if any(rule.holds(env) is False and rule.required for rule in rules):
            return False
        self.put(op, self.here)
        return True

    def put(self, op: Op, block: list[AnyOp]) -> None:
        super().put(op, block)
        self.facts.learn(op, self.facts.environment(op))

    def room(self, kind: TileType | ConvTileType, times: int) -> bool:
        """Whether some more tiles of this type fit into their memory."""
        space = SPACES[kind.loc]
        need = self.used.get(space, 0) + times * -(-kind.nbytes // 32) * 32
        if kind.nbytes > MOST_BYTES or need > self.facts.target.capacity[space]:
            return False
        self.used[space] = need
        return True

    def chance(self, percent: int) -> bool:
        return self.random.random() * 100 < percent

    # operands

    def pick(self, operand: Operand, wanted: Any) -> Value | None:  # Any: a type or a number
        if operand.kind is Kind.TILE and self.tiles:
            some = self.tiles if operand.role is Role.OUT else self.with_data()
            alike = [v for v in some if _alike(v.type, wanted)]
            if alike and self.chance(65):
                return self.random.choice(alike)
            if some and self.chance(10):
                return self.random.choice(some)
        if operand.kind is Kind.INDEX and self.numbers and self.chance(5):
            return self.random.choice(self.numbers)
        if isinstance(wanted, TileType):
            return self.new_tile(operand, wanted)
        if isinstance(wanted, ConvTileType) and (self.grid or not self.room(wanted, 1)):
            return None
        return self.operand(renamed(operand, self.names), wanted)

    def new_tile(self, operand: Operand, kind: TileType) -> Value | None:
        """Fresh storage: blank where it is written anyway, else with data."""
        if not self.room(kind, 2):
            return None
        if self.grid:
            handle = self.loaded(kind)
        elif operand.role is Role.OUT and self.chance(40):
            handle = self.blank(kind)
            self.tiles.append(handle)
            return handle
        else:
            handle = self.tile(f"{operand.name}_{self.names}", kind)
        self.tiles.append(handle)
        self.ready.add(handle)
        return handle

    def with_data(self) -> list[Value]:
        """The tiles that were written, as it seems; now and then any."""
        return self.tiles if self.chance(3) else [v for v in self.tiles if v in self.ready]

    def moving(self, n: int, steps: tuple[int, ...] = STEPS) -> Value:
        """Mostly a constant: what moves leaves its tile sooner or later."""
        return super().moving(n, steps) if self.chance(35) else self.number(n)

    def blank(self, kind: TileType) -> Value:
        handle = self.value(kind)
        self.put(Op(AllocTile, results=[handle]), self.here)
        return handle

    def loaded(self, kind: TileType) -> Value:
        """A tile with a part of an array."""
        handle = self.blank(kind)
        shape = (kind.valid.rows or 1, kind.valid.cols or 1)
        stride = (shape[1], 1)
        part = self.view(f"g_{self.names}", GlobalType(kind.dtype, shape, stride, GlobalLayout.ND))
        self.add(Op(TLoad, {"dst": handle, "src": part}))
        return handle

    # statements

    def statements(self, count: int, depth: int) -> None:
        for _ in range(count):
            kind = self.random.choices(("op", "loop", "branch", "handle"), (70, 10, 8, 12))[0]
            if kind == "loop" and depth < 2:
                self.loop(depth)
            elif kind == "branch" and depth < 2:
                self.branch(depth)
            elif kind == "handle" and self.tiles and not self.values:
                self.handle(self.random.choice(self.tiles))
            else:
                self.instruction()

    def instruction(self) -> None:
        """An instruction of any page, on operands near legal ones."""
        page = self.random.choice(DATA)
        target = self.facts.target.name
        if refusals(page, target):
            return
        state = sample(page, target, 2 * (self.case.seed // SHARED) + self.random.randint(0, 1))
        op = self.bound(page, family(page, target).space.built(state))
        if op is not None and self.add(op):
            self.ready.update(v for o in page.outs() for v in op.bound(o.name))

    def bound(self, page: type[Instr], given: Mapping[str, Any]) -> Op | None:  # Any: see Case
        op, placed = Op(page), dict[int, Value]()
        for operand in page.operands:
            wanted = given.get(operand.name)
            if wanted is None:
                continue
            place = wanted.address if isinstance(wanted, Placed) else -1
            wanted = wanted.kind if isinstance(wanted, Placed) else wanted
            value = placed.get(place) or self.pick(operand, wanted)
            if value is None:
                return None
            if place >= 0:
                placed[place] = value
            op.operands[operand.name] = value
        names = {a.name for a in page.attrs}
        op.attrs = {n: v for n, v in given.items() if n in names and v is not None}
        return op

    def region(self, args: list[Value], depth: int, gives: list[Type]) -> Block:
        """A block of some statements; what it defines stays inside, but for what it yields."""
        outer = self.here, self.tiles, self.numbers, self.moved, self.iteration
        self.here, self.tiles, self.numbers, self.moved = [], [*self.tiles], [*self.numbers], {}
        self.known_now(args)
        if args:
            self.iteration = args[0]
        self.statements(self.random.randint(1, 4), depth + 1)
        if gives:
            self.put(Op(Yield, {"values": tuple(map(self.yielded, gives))}), self.here)
        block = Block(args, self.here)
        self.here, self.tiles, self.numbers, self.moved, self.iteration = outer
        return block

    def known_now(self, values: list[Value]) -> None:
        """Arguments of a region, or results of one: instructions may use them."""
        self.numbers += [v for v in values if v.type == INDEX]
        self.tiles += [v for v in values if v.type != INDEX]
        self.ready |= {v for v in values if v.type != INDEX}

    def yielded(self, kind: Type) -> Value:
        """Something of that type; there is at least what came into the region."""
        if kind != INDEX:
            return self.random.choice([v for v in self.tiles if v.type == kind])
        some = [self.iteration, *self.numbers, self.number(self.random.choice((0, 1, 8, 16)))]
        page = self.random.choice((AddI, AddI, SubI, MinSI))
        return self.compute(page, self.random.choice(some), self.random.choice(some))

    def passed(self) -> list[Value]:
        """What goes round a loop or may come out of a branch."""
        some = [v for v in self.tiles if v in self.ready]
        passes = not self.values and some and self.chance(40)
        tiles = [self.random.choice(some)] if passes else []
        numbers = [self.number(0), self.iteration] if self.chance(30) else []
        return [*tiles, *numbers] if self.chance(60) else []

    def loop(self, depth: int) -> None:
        given: dict[str, Binding] = {
            "lower": self.number(self.random.choice((0, 0, 1))),
            "upper": self.number(self.random.choice((0, 1, 2, 3, 4))),
            "step": self.number(self.random.choice((1, 1, 2))),
        }
        first = self.passed()
        kinds = [v.type for v in first]
        region = self.region([self.value(k) for k in (INDEX, *kinds)], depth, kinds)
        results = [self.value(k) for k in kinds]
        if first:
            given["carried"] = tuple(first)
        self.put(Op(For, given, regions=[region], results=results), self.here)
        self.known_now(results)

    def branch(self, depth: int) -> None:
        condition = self.value(I1)
        word = self.random.choice(list(Predicate))
        sides = {"lhs": self.iteration, "rhs": self.number(self.random.randint(0, 2))}
        self.put(Op(CmpI, dict(sides), {"predicate": word}, results=[condition]), self.here)
        kinds = [v.type for v in self.passed()]
        ways = 2 if kinds else self.random.randint(1, 2)
        regions = [self.region([], depth, kinds) for _ in range(ways)]
        results = [self.value(k) for k in kinds]
        self.put(Op(If, {"condition": condition}, regions=regions, results=results), self.here)
        self.known_now(results)

    def handle(self, tile: Value) -> None:
        """Another handle on the bytes of a tile, or on those at a computed address."""
        kind = tile.type
        assert isinstance(kind, TileType)
        if self.chance(40):
            self.readdressed(tile, kind)
            return
        rows, cols = max(1, kind.rows // self.random.choice((1, 2))), kind.cols
        offsets = {"row": self.moving(0), "col": self.moving(0)}
        if self.chance(50):
            part = self.value(replace(kind, rows=rows, cols=cols, valid=Shape(rows, cols)))
            sizes = (self.number(rows), self.number(cols))
            op = Op(SubSet, {"src": tile, **offsets, "sizes": sizes}, results=[part])
            done = self.add(op)
        else:
            if not self.room(kind, 1):
                return
            part = self.blank(replace(kind, valid=Shape(rows, cols)))
            done = self.add(Op(SubView, {"dst": part, "src": tile, **offsets}))
        if done:
            self.tiles.append(part)
            self.ready |= {part} if tile in self.ready else set()

    def readdressed(self, tile: Value, kind: TileType) -> None:
        lines = self.compute(MulI, self.moving(self.random.randint(0, 8)), self.number(32))
        if self.chance(10):
            lines = self.moving(self.random.randint(0, 300))
        address, moved = self.value(I64), self.value(kind)
        self.put(Op(IndexCast, {"value": lines}, results=[address]), self.here)
        if self.add(Op(TAssign, {"src": tile, "addr": address}, results=[moved])):
            self.tiles.append(moved)
            self.ready |= {moved} if self.chance(50) else set()

    def stored(self) -> None:
        """In a grid what tiles hold goes to arrays; otherwise they are outputs themselves."""
        for tile in [t for t in self.tiles if self.grid][-4:]:
            kind = self.facts.type_of(tile)
            if isinstance(kind, TileType) and None not in (kind.valid.rows, kind.valid.cols):
                shape = (kind.valid.rows or 1, kind.valid.cols or 1)
                view = GlobalType(kind.dtype, shape, (shape[1], 1), GlobalLayout.ND)
                part = self.view(f"out_{self.names}", view)
                self.add(Op(TStore, {"dst": part, "src": tile}))


def _alike(have: Any, wanted: Any) -> bool:  # Any: types
    """Whether a tile's type is the wanted one but for the valid region."""
    if not (isinstance(have, TileType) and isinstance(wanted, TileType)):
        return False
    return replace(have, valid=wanted.valid, pad=wanted.pad) == wanted


def renamed(operand: Operand, number: int) -> Operand:
    """The operand under a name of its own, for an argument."""
    twin = Operand(operand.role, operand.kind, scalar=operand.scalar)
    twin.__set_name__(Instr, f"{operand.name}_{number}")
    return twin


# --- programs ---


@dataclass(frozen=True)
class Program:
    """A kernel as text with its arguments."""

    text: str
    arrays: Mapping[str, Any]  # Any: arrays and numbers
    case: Case
    blocks: int


def kernel(seed: int, *, values: bool = False) -> Program | None:
    """The kernel of a seed; None where the checker refuses what came out, or text cannot say it.

    `values`: it loads its tiles from arrays, computes and stores, so that it has an SSA form.
    """
    random = Random(seed)
    target = random.choice(list(TARGETS))
    blocks = random.choice((1, 1, 1, 2, 5)) if target == "cpu" else 1
    styles = tuple(random.choice(STYLES) for _ in range(3))
    case = Case(Return, target, {}, styles=styles, seed=seed, hardware=random.random() < 0.3)
    grid = values or blocks > 1
    k = Kernel(case, random, facts=Facts(TARGETS[target]), grid=grid, values=values)
    block = k.value(I64, "block")
    k.put(Op(GetBlockIdx, results=[block]), k.top)
    k.put(Op(IndexCast, {"value": block}, results=[k.iteration]), k.top)
    k.numbers.append(k.iteration)
    k.here = []
    k.statements(random.randint(3, 12), 0)
    k.stored()
    func = Func("f", Block(k.args, [*k.top, *k.here, Op(Return)]))
    if any(problem.is_error for problem in facts_of(func).on(TARGETS[target]).faults()):
        return None
    try:
        text = print_module(Module([func], wrapped=False))
    except PtoError:  # text counts pairs of elements of four bits, and some number is odd
        return None
    return Program(text, k.arrays, case, blocks)


def differences(program: Program) -> Iterator[str]:
    expected, got = (
        run(program.text, program.arrays, program.case, e, program.blocks)
        for e in ("reference", "native")
    )
    if expected.error != got.error:
        yield f"the reference says:\n{expected.error}\nthe native engine says:\n{got.error}"
    elif expected != got:
        yield from _unequal(expected, got)


def _unequal(expected: Told, got: Told) -> Iterator[str]:
    if expected.instructions != got.instructions:
        yield f"counts: {expected.instructions}, natively {got.instructions}"
    for name in expected.outputs.keys() | got.outputs.keys():
        if expected.outputs.get(name) != got.outputs.get(name):
            yield f"%{name} differs"


def main(first: int, count: int) -> None:
    """Print 'seed N', then what differs, for each."""
    for seed in range(first, first + count):
        print(f"seed {seed}", flush=True)
        program = kernel(seed)
        if program is None:
            print("refused")
            continue
        try:
            found = list(differences(program))
        except Exception:  # whatever an engine raises is a fault of that kernel
            found = [format_exc()]
        for difference in found:
            print(f"DIFFERENT {seed}: {difference}\n{program.text}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

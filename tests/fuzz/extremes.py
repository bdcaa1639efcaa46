"""Random tiny programs whose numbers are extreme: near 0, powers of two and the ends of 64 bits.

As a program: `python extremes.py FIRST COUNT` runs that many under both engines and prints a line
for each seed before it starts, what both said, and what differs.
"""

from __future__ import annotations

import resource
import signal
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from traceback import format_exc
from typing import Any

import numpy as np

import ptokit as pto
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import AnyOp, Binding, Block, Func, Module, Op, Value
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType, tile_type
from ptokit.isa.model.types import I1, I32, I64, INDEX, PtrType, ScalarType
from ptokit.isa.model.words import GlobalLayout
from ptokit.isa.pages import arith
from ptokit.isa.pages.allocation import AllocTile, SubSet, SubView, TAssign
from ptokit.isa.pages.control import For, If, Return
from ptokit.isa.pages.elementwise.withscalar import TAddS
from ptokit.isa.pages.layout.textract import TExtract
from ptokit.isa.pages.layout.tinsert import TInsert
from ptokit.isa.pages.transfers import TLoad, TStore
from ptokit.isa.pages.views import MakeTensorView, PartitionView
from ptokit.text.write.printer import print_module
from ptokit.values.dtypes import f32
from ptokit.values.enumerations import VEC
from ptokit.values.layouts import Shape

LEAST, MOST = -(1 << 63), (1 << 63) - 1
SECONDS = 60  # that one program may take on a busy machine
SANE = (0, 0, 1, 1, 2, 3, 4, 8, 16, 16, 24, 32, 64, 128)
POWERS = (31, 32, 33, 47, 48, 59, 60, 61, 62, 63)
BINARY = (
    *(arith.AddI, arith.SubI, arith.MulI, arith.DivSI, arith.RemSI, arith.CeilDivSI),
    *(arith.MinSI, arith.MaxSI, arith.AndI, arith.OrI),
)
TILE = tile_type(VEC, f32, 8, 16)
LENGTH = 256  # elements of an array


def signed(n: int) -> int:
    """The low 64 bits, as the numbers of a program have them."""
    return (n - LEAST) % (1 << 64) + LEAST


@dataclass
class Extreme:
    """A function as it grows; `iteration` counts the iterations of the loop it is in."""

    random: Random
    args: list[Value] = field(default_factory=list[Value])
    top: list[AnyOp] = field(default_factory=list[AnyOp])
    here: list[AnyOp] = field(default_factory=list[AnyOp])
    arrays: dict[str, Any] = field(default_factory=dict[str, Any])  # Any: arrays and numbers
    iteration: tuple[Value, int] | None = None  # a counter, and what it begins with
    tiles: list[Value] = field(default_factory=list[Value])
    views: list[Value] = field(default_factory=list[Value])
    pointers: list[Value] = field(default_factory=list[Value])
    extremity: float = 0.3
    known: dict[tuple[int, ScalarType], Value] = field(default_factory=dict[Any, Value])
    names: int = 0

    def chance(self, percent: int) -> bool:
        return self.random.random() * 100 < percent

    def value(self, kind: Any, name: str = "") -> Value:  # Any: a type
        self.names += 1
        return Value(name or f"v{self.names}", kind)

    def put(
        self, page: type[Instr], given: Mapping[str, Binding], *results: Value, **how: Any
    ) -> Op:
        op = Op(page, dict(given), dict(how), results=list(results))
        self.here.append(op)
        return op

    # numbers

    def pick(self) -> int:
        """A number: mostly small, else near a power of two or an end."""
        if self.random.random() > self.extremity:
            return self.random.choice(SANE)
        power = self.random.choice((0, *POWERS))
        near = (1 << power) + self.random.choice((-2, -1, -1, 0, 0, 0, 1, 2, 16))
        odd = near // self.random.choice((1, 1, 1, 3, 5, 15, 16))
        return max(LEAST, min(MOST, self.random.choice((1, 1, 1, -1)) * odd))

    def number(self, kind: ScalarType = INDEX, n: int | None = None) -> Value:
        """A number of some origin, `n` in the first iteration if given."""
        if n is None and self.chance(8):
            return self.cast(self.computed(), kind)
        wanted = self.pick() if n is None else n
        way = self.random.choice(("constant", "constant", "argument", "sum"))
        if self.iteration is not None and self.chance(25 if wanted in SANE else 60):
            return self.cast(self.moving(wanted), kind)
        if way == "sum":
            part = self.pick()
            rest = self.constant(signed(wanted - part), INDEX)
            return self.cast(self.binary(arith.AddI, self.constant(part, INDEX), rest), kind)
        return self.argument(wanted, kind) if way == "argument" else self.constant(wanted, kind)

    def constant(self, n: int, kind: ScalarType) -> Value:
        """A number at the function's start."""
        key = n, kind
        if key not in self.known:
            self.known[key] = self.value(kind)
            self.top.append(Op(arith.Constant, attrs={"value": n}, results=[self.known[key]]))
        return self.known[key]

    def argument(self, n: int, kind: ScalarType) -> Value:
        arg = self.value(kind)
        self.args.append(arg)
        self.arrays[arg.name] = n
        return arg

    def moving(self, n: int) -> Value:
        """A multiple of the counter and a constant: `n` in the first iteration."""
        assert self.iteration is not None
        counter, first = self.iteration
        if self.chance(50):  # the same in every iteration
            return self.binary(arith.AddI, counter, self.constant(signed(n - first), INDEX))
        step = self.pick()
        way = self.binary(arith.MulI, counter, self.constant(step, INDEX))
        rest = self.constant(signed(n - first * step), INDEX)
        return self.binary(arith.AddI, way, rest)

    def binary(self, page: type[Instr], left: Value, right: Value) -> Value:
        result = self.value(left.type)
        self.put(page, {"lhs": left, "rhs": right}, result)
        return result

    def cast(self, value: Value, kind: ScalarType) -> Value:
        if value.type == kind:
            return value
        result = self.value(kind)
        self.put(arith.IndexCast, {"value": value}, result)
        return result

    def computed(self) -> Value:
        """Some arithmetic on numbers."""
        page = self.random.choice(BINARY)
        divides = page in (arith.DivSI, arith.RemSI, arith.CeilDivSI)
        right = self.constant(self.pick() or 1, INDEX) if divides else self.number()
        result = self.binary(page, self.number(), right)
        if self.chance(25):
            narrow = self.value(I32)
            self.put(arith.TruncI, {"value": self.cast(result, I64)}, narrow)
            result = self.value(INDEX)
            self.put(arith.IndexCast, {"value": narrow}, result)
        return self.chosen(result) if self.chance(25) else result

    def chosen(self, value: Value) -> Value:
        """It or another, as a comparison says."""
        result = self.value(INDEX)
        self.put(
            arith.Select,
            {"condition": self.condition(), "yes": value, "no": self.number()},
            result,
        )
        return result

    def condition(self) -> Value:
        found = self.value(I1)
        word = self.random.choice(list(arith.Predicate))
        left, right = self.number(), self.number()
        self.put(arith.CmpI, {"lhs": left, "rhs": right}, found, predicate=word)
        return found

    # handles

    def pointer(self, *, given: bool = True) -> Value:
        if self.pointers and self.chance(60):
            return self.random.choice(self.pointers)
        arg = self.value(PtrType(f32))
        self.args.append(arg)
        self.pointers.append(arg)
        if given or self.chance(70):
            self.arrays[arg.name] = np.arange(LENGTH, dtype=np.float32)
        return arg

    def view(self, kind: TileType, *, given: bool = True) -> Value:
        """A tensor, and mostly a part of it the size of a tile."""
        rank = self.random.choice((2, 2, 2, 3, 4, 5))
        shape = [self.pick() if self.chance(15) else n for n in _padded(kind, rank)]
        stride = [self.pick() if self.chance(20) else n for n in _padded(kind, rank, strides=True)]
        layout = self.random.choice((None, GlobalLayout.ND, GlobalLayout.ND))
        unknown = GlobalType(f32, (None,) * rank, stated=layout)
        whole = self.value(unknown)
        binding: dict[str, Binding] = {
            "ptr": self.pointer(given=given),
            "shape": tuple(self.number(n=n) for n in shape),
            "strides": tuple(self.number(n=n) for n in stride),
        }
        self.put(MakeTensorView, binding, whole, **({"layout": layout} if layout else {}))
        if self.chance(30):
            return whole
        offsets = [self.pick() if self.chance(15) else 0 for _ in shape]
        sizes = [self.pick() if self.chance(8) else n for n in _padded(kind, rank)]
        part = self.value(replace(unknown, partition=True))
        binding = {
            "view": whole,
            "offsets": tuple(self.number(n=n) for n in offsets),
            "sizes": tuple(self.number(n=n) for n in sizes),
        }
        self.put(PartitionView, binding, part)
        return part

    def tile(self) -> Value:
        """A tile with data, another handle on one, or a new one somewhere."""
        way = self.random.choice(("old", "old", "old", "old", "new", "moved", "part", "window"))
        source = self.random.choice(self.tiles)
        kind = source.type
        assert isinstance(kind, TileType)
        if way == "old":
            return source
        if way == "new":
            return self.allocated()
        if way == "moved":
            result = self.value(kind)
            address = self.number(I64, signed(32 * self.pick()) if self.chance(20) else 512)
            self.put(TAssign, {"src": source, "addr": address}, result)
        elif way == "part":
            result = self.value(replace(kind, rows=4, cols=8, valid=Shape(4, 8)))
            sizes = tuple(self.number(n=self.pick() if self.chance(10) else n) for n in (4, 8))
            offsets: dict[str, Binding] = self.place()
            self.put(SubSet, {"src": source, **offsets, "sizes": sizes}, result)
        else:
            result = self.value(replace(kind, valid=Shape(2, 8)))
            self.put(AllocTile, {}, result)
            offsets = self.place()
            self.put(SubView, {"dst": result, "src": source, **offsets})
        self.tiles.append(result)
        return result

    def place(self) -> dict[str, Binding]:
        """Where a window begins: mostly at 0."""
        first, second = (self.number(n=self.pick() if self.chance(20) else 0) for _ in "rc")
        return {"row": first, "col": second}

    def allocated(self) -> Value:
        kind, given = TILE, dict[str, Binding]()
        if self.chance(40):
            rows = self.number(n=None if self.chance(20) else 4)
            cols = self.number(n=None if self.chance(20) else 8)
            kind = replace(kind, valid=Shape(None, None))
            given = {"valid_row": rows, "valid_col": cols}
        if self.chance(40):
            given["addr"] = self.number(I64, signed(32 * self.pick()) if self.chance(20) else 512)
        result = self.value(kind)
        self.put(AllocTile, given, result)
        self.tiles.append(result)
        return result

    # statements

    def statement(self) -> None:
        way = self.random.choice(
            ("load", "load", "store", "store", "move", "insert", "scalar", "branch")
        )
        tile = self.tile()
        kind = tile.type
        assert isinstance(kind, TileType)
        where: dict[str, Binding] = self.place()
        if way == "load":
            self.put(TLoad, {"dst": tile, "src": self.view(kind)})
        elif way == "store":
            self.put(TStore, {"dst": self.view(kind, given=False), "src": tile})
        elif way == "move":
            small, large = sorted((tile, self.tile()), key=_area)
            self.put(TExtract, {"dst": small, "src": large, **where})
        elif way == "insert":
            small, large = sorted((tile, self.tile()), key=_area)
            self.put(TInsert, {"dst": large, "src": small, **where})
        elif way == "scalar":
            self.put(TAddS, {"dst": tile, "src": tile, "scalar": self.scalar()})
        else:
            condition, outer = self.condition(), (self.here, [*self.tiles])
            self.here = []
            self.put(TLoad, {"dst": tile, "src": self.view(kind)})
            region = Block([], self.here)
            self.here, self.tiles = outer
            op = self.put(If, {"condition": condition})
            op.regions = [region]

    def scalar(self) -> Value:
        """A number as f32 or as an integer."""
        result = self.value(ScalarType("f32"))
        self.put(arith.Constant, {}, result, value=float(self.pick()))
        return result

    def loop(self) -> None:
        """At most three iterations from anywhere, any step; the counter may end beyond 64 bits."""
        first, step = self.pick(), max(1, abs(self.pick()))
        iterations = self.random.randint(1, 3)
        last = min(first + iterations * step, MOST)
        given: dict[str, Binding] = {
            "lower": self.number(n=first),
            "upper": self.constant(max(last, LEAST), INDEX),
            "step": self.number(n=step) if self.chance(20) else self.constant(step, INDEX),
        }
        counter, outer, tiles = self.value(INDEX), self.here, [*self.tiles]
        self.here, self.iteration = [], (counter, first)
        for _ in range(self.random.choice((1, 1, 2))):
            self.statement()
        region = Block([counter], self.here)
        self.here, self.iteration, self.tiles = outer, None, tiles
        self.put(For, given).regions = [region]


def _area(tile: Value) -> int:
    """Elements of a tile as far as its type tells."""
    kind = tile.type
    assert isinstance(kind, TileType)
    return (kind.valid.rows or 4) * (kind.valid.cols or 8)


def _padded(kind: TileType, rank: int, *, strides: bool = False) -> list[int]:
    """Extents or strides of that many dimensions for the elements of a tile."""
    rows, cols = kind.valid.rows or 4, kind.valid.cols or 8
    full = [1, 1, 1, rows, cols]
    if strides:
        full = [rows * cols, rows * cols, rows * cols, cols, 1]
    return full[5 - rank :]


@dataclass(frozen=True)
class Program:
    """A program as text with its arguments."""

    text: str
    arrays: dict[str, Any]  # Any: arrays and numbers
    target: str


def program(seed: int) -> Program:
    """The program of a seed."""
    random = Random(seed)
    e = Extreme(random, extremity=random.choice((0.05, 0.15, 0.4)))
    source = e.value(TILE, "t")
    e.args.append(source)
    e.arrays["t"] = np.arange(128, dtype=np.float32).reshape(8, 16)
    e.tiles.append(source)
    for _ in range(random.choice((1, 1, 1, 2))):
        if e.chance(85):
            e.loop()
        else:
            e.statement()
    func = Func("f", Block(e.args, [*e.top, *e.here, Op(Return)]))
    target = random.choice(("cpu", "cpu", "a5"))
    return Program(print_module(Module([func], wrapped=False)), e.arrays, target)


def told(read: pto.Program, given: Program, engine: str) -> tuple[str, dict[str, bytes]]:
    """What was wrong, or what came out."""
    try:
        found = read.run(target=given.target, engine=engine, **given.arrays)
    except PtoError as problem:
        return str(problem), {}
    return "", {name: array.tobytes() for name, array in found.items()}


def main(first: int, count: int) -> None:
    """Print 'seed N' for each, what differs, and how often what was said."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # a hang ends the process
    said = Counter[str]()
    for seed in range(first, first + count):
        print(f"seed {seed}", flush=True)
        signal.alarm(SECONDS)
        given = program(seed)
        try:
            read = pto.loads(given.text)
            expected, got = (told(read, given, engine) for engine in ("reference", "native"))
            said[expected[0].partition("]")[0].partition("[")[2] or "runs"] += 1
            difference = "" if expected == got else f"{expected[0]}\nnatively: {got[0]}"
            if expected != got and expected[0] == got[0]:
                difference = "other bytes"
        except Exception:  # whatever an engine raises is a fault
            difference = format_exc()
        if difference:
            print(f"DIFFERENT {seed}: {difference}\n{given.text}\n{given.target}", flush=True)
    signal.alarm(0)
    for slug, times in said.most_common():
        print(f"said {slug} {times}")
    kilobytes = 1 if sys.platform == "darwin" else 1024
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kilobytes}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

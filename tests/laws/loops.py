"""A case as a whole program: its instruction in a loop whose variable moves windows and extents.

The data comes in tiles that are arguments; what the instruction gets are new handles on their
bytes, with extents that only the running program knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeAlias

import numpy as np
from engines import Case
from numpy.typing import NDArray
from operands import content
from space import REGISTERS, Placed

from ptokit.api.kernel.loading import loads
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import AnyOp, Block, Func, Module, Op, Value
from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import INDEX, Kind, PtrType, ScalarType, Type
from ptokit.isa.pages.allocation import AllocTile, SubView
from ptokit.isa.pages.arith import AddI, Constant, MinSI, MulI, SubI
from ptokit.isa.pages.control import For, Return
from ptokit.isa.pages.views import MakeTensorView, PartitionView
from ptokit.values.dtypes import DType
from ptokit.values.fixpipe import CPU_READING, HARDWARE_READING
from ptokit.values.formats import unpack
from ptokit.values.host import values_of
from ptokit.values.layouts import Shape

AnyArray: TypeAlias = NDArray[Any]  # Any: elements of every format
STEPS = (0, 0, 1, -1, 8, 16, 32)


@dataclass
class Writer:
    """A function as it grows."""

    case: Case
    random: Random
    args: list[Value] = field(default_factory=list[Value])
    top: list[AnyOp] = field(default_factory=list[AnyOp])
    here: list[AnyOp] = field(default_factory=list[AnyOp])  # where instructions go
    arrays: dict[str, Any] = field(default_factory=dict[str, Any])  # Any: arrays and numbers
    known: dict[int, Value] = field(default_factory=dict[int, Value])
    moved: dict[int, Value] = field(default_factory=dict[int, Value])
    iteration: Value = field(default_factory=lambda: Value("k", INDEX))
    names: int = 0

    def value(self, kind: Type, name: str = "") -> Value:
        self.names += 1
        return Value(name or f"v{self.names}", kind)

    def put(self, op: Op, block: list[AnyOp]) -> None:
        """The op at the end of a block."""
        block.append(op)

    def number(self, n: int) -> Value:
        """A constant at the function's start."""
        if n not in self.known:
            self.known[n] = self.value(INDEX, f"c{n}".replace("-", "m"))
            self.put(Op(Constant, attrs={"value": n}, results=[self.known[n]]), self.top)
        return self.known[n]

    def compute(self, page: type[Instr], left: Value, right: Value) -> Value:
        result = self.value(INDEX)
        self.put(Op(page, {"lhs": left, "rhs": right}, results=[result]), self.here)
        return result

    def moving(self, n: int, steps: tuple[int, ...] = STEPS) -> Value:
        """`n` in the first iteration; later more, or what is left of a larger number."""
        step = self.random.choice(steps)
        if not step:
            return self.number(n)
        way = self.compute(MulI, self.iteration, self.number(abs(step)))
        if step > 0:
            return self.compute(AddI, way, self.number(n))
        left = self.compute(SubI, self.number(n + self.random.choice((0, 1, 8))), way)
        return self.compute(MinSI, left, self.number(n))

    def extent(self, n: int) -> Value:
        """An extent; equal ones stay equal."""
        if n not in self.moved:
            self.moved[n] = self.moving(n, (0, 0, -1, -1, -3, 1, -16))
        return self.moved[n]

    # operands

    def tile(self, name: str, kind: TileType) -> Value:
        """An argument whose bytes are all given, and in the loop a handle on them."""
        rows, cols = kind.valid.rows, kind.valid.cols
        full = replace(kind, valid=Shape(kind.rows, kind.cols))
        arg = self.argument(name, full, (kind.rows, kind.cols), kind.dtype)
        dynamic = self.random.choice(((True, True), (True, False), (False, True), (False, False)))
        given = {
            word: self.extent(n or 0)
            for word, n, use in zip(("valid_row", "valid_col"), (rows, cols), dynamic, strict=True)
            if use
        }
        valid = Shape(*(None if use else n for n, use in zip((rows, cols), dynamic, strict=True)))
        handle = self.value(replace(kind, valid=valid))
        place = self.here if given or self.random.random() < 0.5 else self.top
        self.put(Op(AllocTile, dict(given), results=[handle]), place)
        self.put(Op(SubView, {"dst": handle, "src": arg}), place)
        return handle

    def argument(self, name: str, kind: Type, shape: tuple[int, ...], dtype: DType) -> Value:
        arg = self.value(kind, name)
        self.args.append(arg)
        self.arrays[name] = array(self.case, len(self.arrays), shape, dtype)
        return arg

    def view(self, name: str, kind: GlobalType) -> Value:
        """A part of a tensor at the start of which the first iteration is."""
        assert kind.stride is not None
        shape = tuple(n or 1 for n in kind.shape)
        stride = tuple(s or 1 for s in kind.stride)
        room = tuple(n + self.random.choice((0, 0, 1, 16)) for n in shape)
        if kind.dtype.packed:  # text counts whole bytes
            room, stride = (tuple(n + (n > 1) * n % 2 for n in ns) for ns in (room, stride))
        count = 1 + sum((n - 1) * s for n, s in zip(room, stride, strict=True))
        if self.case.array == "short":
            count = max(1, count - self.random.choice((1, count // 2)))
        count += count % 2
        arg = self.argument(name, PtrType(kind.dtype), (count,), kind.dtype)
        unknown = GlobalType(kind.dtype, (None,) * len(shape), stated=kind.layout)
        whole = self.value(unknown)
        given = {
            "ptr": arg,
            "shape": tuple(map(self.number, room)),
            "strides": tuple(map(self.number, stride)),
        }
        attrs = {"layout": kind.layout} if kind.layout else {}
        self.put(Op(MakeTensorView, dict(given), dict(attrs), results=[whole]), self.top)
        part = self.value(replace(unknown, partition=True))
        offsets = tuple(self.moving(0, (0, 0, 0, 1, 16)) for _ in shape)
        sizes = tuple(self.extent(n) if n > 1 else self.number(n) for n in shape)
        self.put(
            Op(PartitionView, {"view": whole, "offsets": offsets, "sizes": sizes}, results=[part]),
            self.here,
        )
        return part

    def scalar(self, operand: Operand, given: float) -> Value:
        if operand.kind is Kind.INDEX:
            return self.moving(int(given))
        name = operand.scalar or ("f32" if isinstance(given, float) else "i64")
        arg = self.value(ScalarType(name), operand.name)
        self.args.append(arg)
        self.arrays[operand.name] = given
        return arg

    def operand(self, operand: Operand, given: Any) -> Value:  # Any: a type or a number
        if isinstance(given, TileType):
            return self.tile(operand.name, given)
        if isinstance(given, ConvTileType):
            kind = writable(given)
            return self.argument(operand.name, kind, kind.shape, kind.dtype)
        if isinstance(given, GlobalType):
            return self.view(operand.name, given)
        return self.scalar(operand, given)


def writable(kind: ConvTileType) -> ConvTileType:
    """The same tile with settings that text can say: from 0 or, like their defaults, from 1."""
    plain = ConvTileType(kind.dtype, kind.shape, kind.layout)
    odd = [n for n in REGISTERS if min(getattr(kind, n)) < min(1, *getattr(plain, n))]
    return replace(kind, **{n: getattr(plain, n) for n in odd})


def array(case: Case, number: int, shape: tuple[int, ...], dtype: DType) -> AnyArray:
    """Random elements, as a user gives them."""
    random = np.random.default_rng([case.seed, number])
    style = case.styles[number % len(case.styles)]
    count = int(np.prod(shape))
    raw = content(style, dtype, count + count % 2, max(1, count), random)
    codes = unpack(raw, count) if dtype.packed else raw.view(dtype.storage)[:count]
    codes = codes.reshape(shape)
    return codes if dtype.is_float else values_of(codes, dtype)


def program(
    case: Case, iterations: int
) -> tuple[Module, Mapping[str, Any]]:  # Any: arrays, numbers
    """The instruction of a case in a loop, and the arguments of the function."""
    w = Writer(case, Random(case.seed))
    op, placed = Op(case.page), dict[object, Value]()
    for operand in case.page.operands:
        given = case.given.get(operand.name)
        if given is None:
            continue
        key = (given.address, given.kind) if isinstance(given, Placed) else operand.name
        if key not in placed:
            kind = given.kind if isinstance(given, Placed) else given
            placed[key] = w.operand(operand, kind)
        op.operands[operand.name] = placed[key]
    names = {a.name for a in case.page.attrs}
    op.attrs = {n: v for n, v in case.given.items() if n in names and v is not None}
    bounds = {"lower": w.number(0), "upper": w.number(iterations), "step": w.number(1)}
    loop = Op(For, dict(bounds), regions=[Block([w.iteration], [*w.here, op])])
    body = Block(w.args, [*w.top, loop, Op(Return)])
    return Module([Func("f", body)], wrapped=False), w.arrays


# --- the law ---


@dataclass(frozen=True)
class Told:
    """What a program gave under one engine: outputs and counts, or what was wrong with it."""

    outputs: Mapping[str, bytes]
    instructions: Mapping[str, int]
    error: str = ""


def run(
    text: str, arrays: Mapping[str, Any], case: Case, engine: str, blocks: int = 1
) -> Told:  # Any: arrays and numbers
    """The text read anew and run."""
    fixpipe = HARDWARE_READING if case.hardware else CPU_READING
    source = loads(text)
    try:
        done = source.execute(
            arrays, target=case.target, engine=engine, fixpipe=fixpipe, blocks=blocks
        )
    except PtoError as problem:
        return Told({}, {}, str(problem))
    return Told({n: a.tobytes() for n, a in done.outputs.items()}, done.instructions)

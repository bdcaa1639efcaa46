"""Law: a value form on operands that its page takes gives a result, or names what it lacks.

In eager calls, in kernels that are debugged and in recorded ones alike: the same type and the same
elements in both engines. The operands are those of the page's example, or of other legal types.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from random import Random
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from fuzz.scale import FACTOR, sampled
from ptokit.analysis.checker import type_errors
from ptokit.analysis.placement import memory_errors
from ptokit.api.kernel.choices import in_place, output, sources, value_names
from ptokit.api.kernel.kernelarrays import KernelArray
from ptokit.api.kernel.loading import loads
from ptokit.api.kernel.valueforms import ValueForm, new_tile
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.editing import allocation
from ptokit.ir.module import Module, Op, Value
from ptokit.isa.formula.rules import doubtful
from ptokit.isa.lang.environment import environment
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import TARGETS, Target
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import Kind
from ptokit.isa.model.usual import flipped
from ptokit.launch.settings import ENGINES, recording
from ptokit.values.dtypes import DTYPES, DType
from ptokit.values.host import bits_of, numpy_dtype, rounded_codes, values_of
from ptokit.values.layouts import Shape

Given: TypeAlias = "Mapping[str, Any]"  # Any: types of tiles, numbers, words
Seen: TypeAlias = "tuple[TileType, NDArray[Any]] | Exception"
TILES = (TileType, ConvTileType)
ALLOCATIONS = (allocation(), allocation(Kind.CONV))
FORMS = [  # global memory is a kernel's own argument
    page
    for page in dict.fromkeys(page for several in value_names().values() for page in several)
    if all(o.kind is not Kind.GLOBAL for o in page.operands)
]
OTHERS = max(1, FACTOR // 10)  # sets of operands beside the example's own


# --- operands ---


@cache
def example(page: type[Instr]) -> Given:
    """What the operands of the page's example are; nothing if another form stands for it there."""
    funcs = loads(example_program(page)).module.funcs
    ops = [op for func in funcs for op in func.body.walk() if isinstance(op, Op)]
    numbers = {op.results[0]: op.attrs["value"] for op in ops if "value" in op.attrs}
    for op in (op for op in ops if op.page is page):
        bound = dict(op.values())
        new = (o.name for o in page.operands if o.written and o.name not in bound)
        bound |= zip(new, op.results, strict=False)
        given = {n: v.type if isinstance(v.type, TILES) else numbers[v] for n, v in bound.items()}
        return {**given, **op.attrs}
    return {}


def breaks(page: type[Instr], target: Target, given: Given) -> bool:
    """Whether the types and words break a rule of the page."""
    attrs = {a.name: given.get(a.name, a.default) for a in page.attrs}
    operands = {o.name: given[o.name] for o in page.operands if o.name in given}
    found = doubtful(page.rules_on(target), environment(page, operands, attrs, target))
    return any(outcome is False and rule.required for rule, outcome in found)


def legal(page: type[Instr], target: Target, given: Given) -> bool:
    """Whether the target has such tiles, and the page takes them."""
    for kind in (k for k in given.values() if isinstance(k, TILES)):
        maker = ALLOCATIONS[isinstance(kind, ConvTileType)]
        if breaks(maker, target, {maker.results()[0].name: kind}):
            return False
        if [*type_errors(kind, target, "", None), *memory_errors(kind, target, "", None)]:
            return False
    return not breaks(page, target, given)


def operands(page: type[Instr], target: Target, number: int) -> Given:
    """The example's, or the first legal ones of some in other types, layouts and regions."""
    random = Random(f"{page.__name__} {target.name} {number}")
    kinds = example(page)
    first = {n: target.resolve(k) if isinstance(k, TileType) else k for n, k in kinds.items()}
    for _ in range(40 if number else 0):
        dtypes = {d: random.choice((d, *DTYPES)) for d in DTYPES}
        turns, less = random.random() < 0.3, random.randint(0, 3)
        given = {n: changed(k, dtypes, turns, less) for n, k in first.items()}
        if legal(page, target, given):
            return given
    return first


def changed(kind: Any, dtypes: Mapping[DType, DType], turns: bool, less: int) -> Any:
    """A type with other elements, fewer valid rows, columns for rows. Any: as in Given."""
    if not isinstance(kind, TileType):
        return kind
    rows, cols = kind.valid
    assert rows is not None
    made = replace(kind, dtype=dtypes[kind.dtype], valid=Shape(max(1, rows - less), cols))
    return flipped(made) if turns and not made.boxed else made


def content(name: str, kind: Any) -> NDArray[Any]:  # Any: types of tiles, whole numbers
    """Numbers that all element types have and indices may be."""
    shape = kind.shape if isinstance(kind, ConvTileType) else tuple(kind.valid)
    return np.random.default_rng([*name.encode()]).integers(0, 2, shape)


# --- calls ---


@dataclass
class Call:
    """A call of a value form; what its tiles are where it was recorded."""

    page: type[Instr]
    target: str
    given: Given
    out: bool  # into the page's own output
    size: bool = False  # with the extents of a window
    inputs: dict[str, Value] = field(default_factory=dict[str, Value])
    result: Any = None  # Any: a recorded tile

    def __str__(self) -> str:
        words = ", ".join(f"{n}={k}" for n, k in self.given.items())
        return f"{self.page.__name__} on {self.target}, {self.out=}, {self.size=}: {words}"

    def perform(self) -> Any:  # Any: a tile
        """The result; tiles have content where they are not recorded."""
        made, written = {n: self._made(n, k) for n, k in self.given.items()}, output(self.page)
        assert written is not None
        into = made.pop(written.name)
        into = made.get(in_place(self.page, written.name) or "", into) if self.out else None
        args: list[Any] = []
        for source in sources(self.page):
            if source.name not in made:
                break
            args.append(made.pop(source.name))
        args += [tuple(self.given[written.name].valid)] if self.size else []
        self.result = ValueForm(self.page.value_name(), [self.page])(*args, out=into, **made)
        assert into is None or self.result is into
        return self.result

    def _made(self, name: str, kind: Any) -> Any:  # Any: a tile, a number, a word
        if isinstance(kind, float) and not self.given[_first(self.given)].dtype.is_float:
            return 3
        if not isinstance(kind, TILES):
            return kind
        tile = new_tile(kind, () if isinstance(kind, ConvTileType) else tuple(kind.valid))
        if recording.get() is None:
            tile[...] = content(name, kind)
        else:
            self.inputs[name] = tile.value
        return tile


def _first(given: Given) -> str:
    """A tile whose elements are of the type that numbers have: not a mask."""
    tiles = [n for n, k in given.items() if isinstance(k, TileType)]
    return next((n for n in ("src", "src0", "dst") if n in tiles), tiles[0])


def eager(call: Call) -> Seen:
    tile = call.perform()
    return tile.type, np.where(tile.written(), tile.handle.codes(), 0)


def debugged(call: Call) -> Seen:
    found: list[Seen] = []

    @pto.kernel
    def kernel() -> None:
        found.append(eager(call))

    kernel.debug()
    return found[0]


def recorded(call: Call, engine: str) -> Seen:
    """What the program of a kernel gives, whose tiles become its arguments."""
    call.inputs.clear()

    @pto.kernel
    def kernel() -> None:
        call.perform()

    func = kernel.program().module.funcs[0]
    tiles = {v.name: n for n, v in call.inputs.items()}
    makers = {op.results[0].name: op for op in func.body.ops if op.name.startswith("pto.alloc")}
    func.body.args[:] = [makers[name].results[0] for name in tiles if name in makers]
    gone = [id(makers[v.name]) for v in func.args]
    func.body.ops[:] = [op for op in func.body.ops if id(op) not in gone]
    func.flat = True  # what it makes is among the outputs
    arrays = {v.name: array(content(tiles[v.name], v.type), v.type) for v in func.args}
    done = Program(Module([func])).run(target=call.target, engine=engine, **arrays)
    kind, name = call.result.value.type, call.result.value.name
    if name in done:
        return TARGETS[call.target].resolve(kind), bits_of(done[name], kind.dtype)
    ops = (op for op in func.body.ops if isinstance(op, Op))
    op = next(op for op in ops if op.page is call.page)  # the result is a view of its output
    written = output(call.page)
    assert written is not None
    return kind, bits_of(done[op.bound(written.name)[0].name], kind.dtype).T


def array(numbers: NDArray[Any], kind: Any) -> Any:  # Any: an argument, a type
    codes = rounded_codes(numbers, kind.dtype)
    return codes if numpy_dtype(kind.dtype) is None else values_of(codes, kind.dtype)


WAYS: dict[str, Callable[[Call], Seen]] = {
    "eager": eager,
    "debugged": debugged,
    **{engine: partial(recorded, engine=engine) for engine in ENGINES},
}


def seen(call: Call, way: str) -> Seen:
    """What one way gives, or how it refuses; other errors are faults."""
    with pto.target(call.target), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return WAYS[way](call)
        except (TypeError, PtoError) as problem:
            return problem


def cases() -> Iterator[tuple[type[Instr], str, int]]:
    for number in range(1 + OTHERS):
        for page in FORMS:
            yield from ((page, t, number) for t in page.homes() if example(page))


@pytest.mark.parametrize(("page", "target", "number"), sampled(cases(), 40))
def test_it_gives_a_result_or_names_what_it_lacks(
    page: type[Instr], target: str, number: int
) -> None:
    given = operands(page, TARGETS[target], number)
    assert agree(Call(page, target, given, out=True)) is None
    lacks = agree(Call(page, target, given, out=False))
    if lacks is not None and "(rows, cols)" in lacks:
        lacks = agree(Call(page, target, given, out=False, size=True))
    assert lacks is None or "out=" in lacks


def agree(call: Call) -> str | None:
    """None if all ways give the same, else what the call lacks. A recorded one may lack it later.

    A kernel is recorded for all targets: one of them may take the result that another refuses.
    """
    found = {way: seen(call, way) for way in WAYS}
    first = found["eager"]
    if isinstance(first, Exception):
        assert isinstance(first, TypeError), f"{call}: {first}"
        assert all(isinstance(other, Exception) for other in found.values()), f"{call}: {found}"
        assert isinstance(found["debugged"], TypeError)
        return str(first)
    for way, other in found.items():
        assert not isinstance(other, Exception), f"{call}: {way}: {other}"
        assert other[0] == first[0], f"{call}: {way}: {other[0]}, eager: {first[0]}"
        assert np.array_equal(other[1], first[1]), f"{call}: {way}"
    return None


@pytest.mark.parametrize("dtype", ["i32", "u8"])
def test_a_fraction_with_whole_numbers(dtype: str) -> None:
    """Recorded it has the type that a call gives it, not that of the tile."""

    def kernel(x: KernelArray, y: KernelArray) -> None:
        t = pto.load(x)
        pto.store(y, pto.adds(t, 1.5))

    x = np.arange(512).reshape(16, 32).astype({"i32": "i4", "u8": "u1"}[dtype])
    pto.kernel(kernel).verify(x, x.copy())


def test_the_number_of_a_selection_is_one_of_its_elements() -> None:
    """Not of its mask, which is read first."""

    def kernel(x: KernelArray, y: KernelArray) -> None:
        t = pto.load(x)
        more: Any = {"tmp": pto.tile("vec", "i32", 16, 32)}
        pto.store(y, pto.sels(pto.cmps(t, 7, cmp="gt"), t, 300, **more))

    x, y = np.arange(512, dtype=np.int32).reshape(16, 32), np.zeros((16, 32), np.int32)
    ready: Any = pto.kernel(kernel)
    ready(x, y)
    assert (y == np.where(x > 7, x, 300)).all()

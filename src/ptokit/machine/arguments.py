"""Arguments: a function with complete types, and the arrays and numbers of one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import numpy as np

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import PtoError, call_error
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.model.globaltypes import GlobalType, widened
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import ArrayType, PtrType, StructType
from ptokit.isa.model.words import VECTOR, KernelKind
from ptokit.machine.memory import Memory, blank_copies, copied
from ptokit.machine.slotnumber import SlotNumber
from ptokit.machine.tile import ConvTile, GlobalView, Matrix, Pointer, Tile, local_array
from ptokit.values.dtypes import DType
from ptokit.values.formats import pack, unpack
from ptokit.values.host import AnyArray, bits_of, values_of
from ptokit.values.layouts import Shape

OUTPUTS = (PtrType, GlobalType, TileType, ConvTileType)
Env: TypeAlias = "dict[Value, Any]"  # Any: handles and numbers
Given: TypeAlias = "Mapping[str, Any]"  # by argument; Any: an array of any library, or a number
Envs: TypeAlias = "Sequence[Mapping[KernelKind, Env]]"  # by rank and kind of core
Outcome: TypeAlias = "tuple[dict[str, AnyArray], Counter[str]]"  # outputs, instructions by mnemonic
T = TypeVar("T")
Typed: TypeAlias = PtrType | GlobalType | TileType | ConvTileType


class Local(Protocol):
    """The memories of one core."""

    target: Target

    def fresh(self, kind: TileType | ConvTileType, address: int) -> Matrix:
        """Return a new tile at a planned address, with undefined content."""
        ...


@dataclass(eq=False)  # not frozen: each call makes one
class Bound:
    """A function with complete types, and the values of its arguments."""

    func: Func
    arrays: Given
    numbers: Env
    written: tuple[Value, ...]  # the arguments that some instruction may write
    slots: tuple[Value, ...] = ()  # numbers that the compiled code reads from the frame

    def on(self, arrays: Given) -> Bound:
        """Return the function on other arrays of the same types."""
        other = Bound(self.func, arrays, self.numbers, self.written, self.slots)
        same = other.__dict__
        same["tiles"], same["dtypes"], same["computed"] = self.tiles, self.dtypes, self.computed
        same["candidate_outputs"] = self.candidate_outputs
        return other

    def with_numbers(self, numbers: Given) -> Bound:
        """Return the function with other numbers for these arguments."""
        own = {value: numbers.get(value.name, n) for value, n in self.numbers.items()}
        return replace(self, arrays={**self.arrays, **numbers}, numbers=own)

    @property
    def every_number(self) -> Env:
        """All arguments that are numbers, with their values."""
        return {**self.numbers, **self._slots()}

    def _slots(self) -> Env:
        return {value: SlotNumber(self.arrays[value.name]) for value in self.slots}

    def shared(self, others: Mapping[str, object] | None = None) -> Env:
        """Return numbers, and new handles on copies of the arrays, which all blocks share.

        `others` has handles by name: their arguments get handles on the same memories.
        """
        env: Env = {}
        for arg in self.func.args:
            memory, kind = getattr((others or {}).get(arg.name), "memory", None), arg.type
            if isinstance(memory, Memory) and isinstance(kind, PtrType):
                env[arg] = Pointer(kind.dtype, memory)
            elif isinstance(memory, Memory) and isinstance(kind, GlobalType):
                own = _tensor(arg, self.arrays.get(arg.name), kind)
                env[arg] = GlobalView(own.type, memory, 0)
            elif arg not in self.tiles:
                env[arg] = self._global(arg)
        return env

    def targets(self, env: Env) -> dict[str, Memory]:
        """Return the memories of arguments that may be written, by name."""
        return {arg.name: env[arg].memory for arg in self.written if arg not in self.tiles}

    def _global(self, arg: Value) -> object:
        given, kind = self.arrays.get(arg.name), arg.type
        if isinstance(kind, PtrType):
            return Pointer(kind.dtype, _memory(arg, given, kind.dtype))
        if isinstance(kind, GlobalType):
            return _tensor(arg, given, kind)
        if isinstance(kind, ArrayType | StructType):  # in dry runs alone
            return local_array(kind)
        return self.every_number.get(arg)  # None for a type that no page takes

    def renew(
        self,
        env: Env,
        written: frozenset[str] = frozenset(),
        done: set[Memory] | None = None,
        direct: Mapping[str, bool] | None = None,
    ) -> None:
        """Put these arrays behind handles that `shared` made for other arrays of the same types.

        `written`: names of arrays that other cores write. `direct`: see `Launch`; True if the array
        is read, so that a copy is kept. `done`: memories that have their array; gets those of this.
        """
        env |= self._slots()
        done = set() if done is None else done
        for arg, handle in env.items():
            memory = getattr(handle, "memory", None)
            if memory is None or arg in self.tiles or memory in done:
                continue
            done.add(memory)
            given = self.arrays.get(arg.name)
            if given is None:
                memory.forget(0 if isinstance(handle, Pointer) else memory.size)
            else:
                kind = cast("PtrType | GlobalType", arg.type)
                as_it_is = np.asarray(given).itemsize == kind.dtype.size and not kind.dtype.packed
                content = given if as_it_is else _content(arg, given, kind)
                read = direct.get(arg.name) if direct and as_it_is else None
                ours = arg in self.written or arg.name in written
                memory.hold(content, written=ours and read is not False, direct=read is not None)

    def local(self, machine: Local, addresses: Mapping[Value, int]) -> Env:
        """Return handles on the arguments that are tiles, in the memories of one core."""
        return {arg: self._tile(arg, machine, addresses[arg]) for arg in self.tiles}

    @cached_property
    def tiles(self) -> tuple[Value, ...]:
        """The arguments that are tiles."""
        return tuple(a for a in self.func.args if isinstance(a.type, TileType | ConvTileType))

    def _tile(self, arg: Value, machine: Local, address: int) -> Matrix:
        given, kind = self.arrays.get(arg.name), arg.type
        if isinstance(kind, ConvTileType):
            return _conv(arg, given, kind, machine.fresh(kind, address))
        assert isinstance(kind, TileType)
        if given is None:  # a dry run has no array whose extents are the valid region
            pairs = zip(kind.matrix, kind.valid, strict=True)
            kind = replace(kind, valid=Shape(*(n if v is None else v for n, v in pairs)))
        handle = machine.fresh(machine.target.resolve(kind), address)
        handle.label = f"%{arg.name}"
        if given is not None:
            assert isinstance(handle, Tile)
            handle.assign(_codes(arg, given, kind, tuple(handle.valid)))
        return handle

    @cached_property
    def candidate_outputs(self) -> tuple[Value, ...]:
        """Values that may be outputs: arguments that are written, a flat program's results."""
        return (*self.written, *(_results(self.func) if self.func.flat else ()))

    @cached_property
    def dtypes(self) -> dict[str, DType]:
        """The element types of possible outputs, by name."""
        kinds = [(v.name, v.type) for v in self.candidate_outputs]
        return {name: kind.dtype for name, kind in kinds if isinstance(kind, OUTPUTS)}

    @cached_property
    def computed(self) -> frozenset[Value]:
        """The possible outputs that are tiles which instructions write under that name."""
        ops = (op for op in self.func.ops if isinstance(op, Op) and op.page.executes)
        written = {v for op in ops for o in op.page.outs() for v in op.bound(o.name)}
        return frozenset(written.intersection(self.candidate_outputs))

    def outputs(self, env: Env) -> dict[str, AnyArray]:
        """Return arrays by name: written pointers and tiles, and a flat program's results."""
        found: dict[str, AnyArray] = {}
        for value in self.candidate_outputs:
            handle = env.get(value)
            if isinstance(handle, Tile | ConvTile) and (value in self.computed or handle.written()):
                found[value.name] = values_of(handle.codes(), handle.dtype)
            elif isinstance(handle, Pointer | GlobalView):
                found[value.name] = _array(handle, self.arrays.get(value.name))
        return found


def _elsewhere(handle: object, memories: Mapping[Memory, Memory]) -> object:
    """Return the handle with its memory replaced by the entry in `memories`, if there is one."""
    if isinstance(handle, Pointer | GlobalView) and (memory := memories.get(handle.memory)):
        if isinstance(handle, Pointer):
            return replace(handle, memory=memory)
        return GlobalView(handle.type, memory, handle.origin)
    return handle


@dataclass(eq=False)  # not frozen: each call makes one
class Launch:
    """The functions of all cores of each rank, by kind of core, with their arguments.

    `names` has, for each rank, the array of each argument: ranks share an array of one name. It is
    empty for a launch of one rank without a number. `starts` are the elements at which pointers
    start, if not the first one. `waits`: cores run concurrently and wait for each other; else the
    blocks of the `sole` core run one after another. Compiled code writes `direct` arrays in place.
    """

    ranks: Sequence[Mapping[KernelKind, Bound]]
    names: Sequence[Mapping[str, str]] = ()
    starts: Sequence[Mapping[str, int]] = ()
    waits: bool = True
    direct: frozenset[str] = frozenset()

    @classmethod
    def of(cls, bound: Bound) -> Launch:
        """Return the launch of one core that waits for no other core."""
        return cls(({VECTOR: bound},), waits=False)

    @property
    def sole(self) -> Bound:
        """The function of the only core."""
        [cores] = self.ranks
        [bound] = cores.values()
        return bound

    @property
    def every(self) -> list[Bound]:
        """The functions of all cores, bound to their arguments."""
        return [bound for cores in self.ranks for bound in cores.values()]

    @property
    def funcs(self) -> list[Func]:
        """The functions of all cores, as in the program."""
        return [one.func for one in self.every]

    @property
    def arrays(self) -> Given:
        """The given arrays and numbers, by name."""
        return {name: given for one in self.every for name, given in one.arrays.items()}

    def on(self, arrays: Given) -> Launch:
        """Return the launch on other arrays of the same types."""
        ranks: list[dict[KernelKind, Bound]] = []
        for rank, cores in enumerate(self.ranks):
            own = arrays
            if self.names:
                own = {n: arrays[m] for n, m in self.names[rank].items() if m in arrays}
            ranks.append({kind: cores[kind].on(own) for kind in cores})
        other = Launch(ranks, self.names, self.starts, self.waits)
        other.__dict__.update(dtypes=self.dtypes, labels=self.labels, written=self.written)
        return other

    def with_numbers(self, numbers: Given) -> Launch:
        """Return the launch with other numbers for these arguments."""
        every = [{k: b.with_numbers(numbers) for k, b in cores.items()} for cores in self.ranks]
        return replace(self, ranks=every)

    @cached_property
    def labels(self) -> Sequence[Mapping[str, str]]:
        """`names`, or for a rank without a number the names of the arguments."""
        return self.names or ({arg.name: arg.name for one in self.every for arg in one.func.args},)

    def shared(self) -> Envs:
        """Return handles for the cores of each rank, on one copy of each array."""
        made: list[dict[KernelKind, Env]] = []
        memories: dict[str, object] = {}
        for cores, names in zip(self.ranks, self.labels, strict=True):
            own = {n: memories[name] for n, name in names.items() if name in memories}
            made.append({})
            for kind, bound in cores.items():
                made[-1][kind] = env = bound.shared(own)
                own |= {arg.name: handle for arg, handle in env.items()}
            memories |= {names[n]: handle for n, handle in own.items()}
        for envs, starts in zip(made, self.starts, strict=False):
            for env in envs.values():
                env |= {a: h.moved(starts[a.name]) for a, h in env.items() if a.name in starts}
        return made

    @cached_property
    def inputs(self) -> Envs:
        """`shared`, computed once."""
        return self.shared()

    @cached_property
    def written(self) -> tuple[Value, ...]:
        """The arguments that some core may write, one for each array."""
        return tuple({arg.name: arg for bound in self.every for arg in bound.written}.values())

    def apart(self, kept: frozenset[str] = frozenset()) -> Envs:
        """Return `shared` for blocks that run separately from the others.

        Arrays that may be written are blank and of the same size, or copies if their name is in
        `kept`; all other arrays are the same at each call.
        """
        blank = blank_copies(self.targets(self.inputs), kept)
        return [
            {kind: {a: _elsewhere(h, blank) for a, h in env.items()} for kind, env in envs.items()}
            for envs in self.inputs
        ]

    def targets(self, envs: Envs) -> dict[str, Memory]:
        """Return the memories of arguments that some core may write, by name."""
        found: dict[str, Memory] = {}
        for _, bound, env in self._beside(envs):
            found |= bound.targets(env)
        return found

    def renew(self, envs: Envs) -> None:
        """Put these arrays behind handles that `shared` made for other arrays of the same types."""
        written, done = frozenset(arg.name for arg in self.written), set[Memory]()
        for _, bound, env in self._beside(envs):  # cores share arrays
            bound.renew(env, written, done)

    @cached_property
    def dtypes(self) -> dict[str, DType]:
        """The element types of possible outputs, by the names of arrays."""
        every = [(names, bound.dtypes) for names, bound, _ in self._beside(self.ranks)]
        return {names.get(n, n): dtype for names, found in every for n, dtype in found.items()}

    def outputs(self, envs: Envs) -> dict[str, AnyArray]:
        """Return the arrays that some core may write, by name."""
        found: dict[str, AnyArray] = {}
        for names, bound, env in self._beside(envs):
            found |= {names.get(n, n): array for n, array in bound.outputs(env).items()}
        arguments = dict.fromkeys(name for names in self.names for name in names)
        ranks = range(len(self.ranks))
        order = [label for n in arguments for label in (n, *(of_rank(n, rank) for rank in ranks))]
        return {label: found[label] for label in order if label in found} if order else found

    def _beside(
        self, things: Sequence[Mapping[KernelKind, T]]
    ) -> Iterator[tuple[Mapping[str, str], Bound, T]]:
        """Yield for each core the names of its arrays, its function, and its item of `things`."""
        for cores, names, own in zip(self.ranks, self.labels, things, strict=True):
            yield from ((names, bound, own[kind]) for kind, bound in cores.items())


ONE = 15  # the largest code of an element of four bits


def of_rank(name: str, rank: int) -> str:
    """Return the name of one rank's array."""
    return f"{name}@{rank}"


def _memory(arg: Value, given: object, dtype: DType) -> Memory:
    """Return the memory behind a pointer: a copy of the array, or for an output one that grows."""
    name = f"%{arg.name}"
    if given is None:
        memory = Memory.blank(name, 0, host=True)
        memory.forget()
        return memory
    content = _content(arg, given, PtrType(dtype))
    return Memory(name, copied(content), written=True, host=True)


def _content(arg: Value, given: object, kind: Typed) -> AnyArray:
    """Return the bytes of an array as memory holds them: two four-bit elements in each byte."""
    codes = _codes(arg, given, kind, None)
    return pack(codes) if kind.dtype.packed else codes


def _conv(arg: Value, given: object, kind: ConvTileType, handle: Matrix) -> Matrix:
    handle.label = f"%{arg.name}"
    if given is not None:
        assert isinstance(handle, ConvTile)
        handle.assign(_codes(arg, given, kind, kind.shape))
    return handle


def _tensor(arg: Value, given: object, kind: GlobalType) -> GlobalView:
    """Return the view for an argument: on an array of its extents, or on a flat one by strides.

    Without an array, the view gets a new memory, which grows if an extent is unknown.
    """
    name, flat = f"%{arg.name}", with_strides(kind)
    if given is None:
        if flat is None:
            return GlobalView(widened(kind), _memory(arg, None, kind.dtype), 0)
        memory = Memory.blank(name, kind.dtype.nbytes(_span(kind)), host=True)
        return GlobalView(flat, memory, 0)
    codes = _codes(arg, given, kind, None)
    bytes = copied(pack(codes) if kind.dtype.packed else codes)
    memory = Memory(name, bytes, written=True, host=True)
    own = replace(kind, shape=codes.shape, stride=_steps(codes.shape))
    alike = len(codes.shape) == len(kind.shape) and all(
        n in (None, m) for n, m in zip(kind.shape, codes.shape, strict=True)
    )
    if alike and (all_known(kind.stride or ()) in (None, ()) or flat == own):
        return GlobalView(own, memory, 0)
    if flat is not None and codes.ndim == 1 and codes.size >= _span(flat):
        return GlobalView(flat, memory, 0)
    extents = "x".join("?" if n is None else str(n) for n in kind.shape)
    least = "" if flat is None else f", {_span(flat)} contiguous elements"
    seen = f"the array has shape {'x'.join(map(str, codes.shape))}"
    help = AS_IT_LIES if flat and _span(flat) > prod(all_known(flat.shape) or ()) else CONVERTED
    raise mismatch(arg, f"{name} has the extents {extents}{least}", seen, help)


def with_strides(kind: GlobalType) -> GlobalType | None:
    """Return the view type with strides, by default those of C order; None if they are unknown."""
    shape, stride = all_known(kind.shape), all_known(kind.stride or ())
    if shape is None or stride is None:
        return None
    return replace(kind, stride=stride or _steps(shape))


def array_extents(kind: GlobalType) -> tuple[int, ...] | None:
    """Return the extents of an array that holds such a view: one extent if strides leave gaps."""
    flat, shape = with_strides(kind), all_known(kind.shape)
    dense = flat is None or shape is None or prod(shape) == _span(flat)
    return shape if dense else (_span(kind),)


def all_known(numbers: tuple[int | None, ...]) -> tuple[int, ...] | None:
    """Return the extents or strides, or None if one is unknown."""
    found = tuple(n for n in numbers if n is not None)
    return found if len(found) == len(numbers) else None


def _steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of an array in C order."""
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))


def _span(kind: GlobalType) -> int:
    """Return the number of elements over which a view of known extents and strides reaches."""
    flat = with_strides(kind)
    assert flat is not None
    shape, stride = all_known(flat.shape) or (), all_known(flat.stride or ()) or ()
    return 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) if all(shape) else 0


def _codes(arg: Value, given: object, kind: Typed, shape: tuple[int, ...] | None) -> AnyArray:
    """Return the array's element codes; PtoError if element type or shape differ from the type."""
    array = np.asarray(given)
    try:
        codes = bits_of(array, kind.dtype)
    except ValueError:
        number = isinstance(given, int | float)
        one = str(given).lower() if isinstance(given, bool) else f"the number {given}"
        seen = f"given {one}" if number else f"the array has {array.dtype}"
        help = "give an array" if number else CONVERTED
        raise mismatch(arg, f"%{arg.name} has elements of {kind.dtype}", seen, help) from None
    if kind.dtype.pairs and array.dtype == np.uint8 and array.max(initial=0) > ONE:
        one = "an item of 8 bits is one element of 4 bits"
        raise mismatch(arg, f"%{arg.name}: {one}", f"the largest item is {array.max()}")
    if shape is not None and array.shape != shape:
        wanted = "x".join(map(str, shape))
        raise mismatch(
            arg,
            f"%{arg.name} has the valid region {wanted}",
            f"the array has shape {'x'.join(map(str, array.shape))}",
        )
    return codes


CONVERTED = "convert the array first, for example with numpy's astype or reshape"
AS_IT_LIES = "give the memory with the gaps between rows, as an array of one dimension"


def mismatch(arg: Value, rule: str, seen: str, help: str = CONVERTED) -> PtoError:
    """Return the error for an array or number that does not match the type of its argument."""
    return call_error(
        "argument-type",
        f"%{arg.name}: {CATALOGUE['argument-type'].title}",
        arg.span,
        rule=rule,
        seen=seen,
        help=help,
    )


def _array(handle: Pointer | GlobalView, given: object) -> AnyArray:
    """Return the whole memory as an array, in the extents of the given array or of the view."""
    data, dtype = handle.memory.data, handle.dtype
    count = data.size * 8 // dtype.bits if given is None else np.asarray(given).size
    values = values_of(unpack(data, count) if dtype.packed else data.view(dtype.storage), dtype)
    if given is not None:
        return values.reshape(np.asarray(given).shape)
    shape = handle.memory.shape if isinstance(handle, Pointer) else all_known(handle.type.shape)
    return values.reshape(shape) if shape and prod(shape) == values.size else values


def _results(func: Func) -> list[Value]:
    return [v for op in func.body.ops for v in op.results if isinstance(v.type, TileType)]

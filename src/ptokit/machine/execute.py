"""One core, and the execution of one body, for the interpreter, eager calls and the replay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, error
from ptokit.diagnostics.source import Span
from ptokit.ir.module import Op, Value
from ptokit.isa.formula.formulas import UNKNOWN, Env, Missing
from ptokit.isa.formula.rules import Rule
from ptokit.isa.lang.environment import ByName, Offer, call, none_if_unknown
from ptokit.isa.lang.hooks import Hook
from ptokit.isa.lang.instr import Operand, Role
from ptokit.isa.lang.traits import ALIASES, CORE, FIFO, FIXPIPE, PRINTS, TARGET, Resource
from ptokit.isa.model.targets import SPACES, Target
from ptokit.isa.model.types import Kind, OpaqueType, PtrType, ScalarType, Type
from ptokit.isa.model.words import CUBE, KernelKind
from ptokit.machine.evaluation import NumpyArray, scalar
from ptokit.machine.memory import Memory
from ptokit.machine.printing import StandardOutput
from ptokit.machine.state import FLAG_MEMORY, State, require_registers
from ptokit.machine.tile import Matrix, Pointer
from ptokit.machine.undefinedstore import UndefinedStore, lost_in
from ptokit.values.dtypes import DType
from ptokit.values.enumerations import Loc
from ptokit.values.fixpipe import FixPipe

LOG, LOG_WORDS = "log", 1 << 22  # the log's name in compiled programs, and its size
FIRST_RECORD = 2  # words of the log before its records
QUEUES, QUEUE_WORDS = "queues", 1 << 21  # entries that wait in the pipes of a core
NO_RECORD = FIRST_RECORD, 0  # words in use, and 1 if a record did not fit
NO_THREAD = "only the threads of a launch execute it"
NO_ADDRESS = "the address of its pointer into local memory is not known as a number"
REACH = 1 << 39  # bytes before and after the start of an array that have addresses


class Core:
    """One core: its memories by location, the readings in force, registers and flags.

    It runs block `block_idx` of the `block_num` blocks of a launch. A kernel of both kinds has
    cores of each `kind`: of the `lanes` vector cores of a block it is number `subblock_idx`.
    `shared` are memories that it shares with other cores. With `whole` it stands for the cores of
    both kinds, and moves tiles from the memories of one to those of the other.
    """

    kind: KernelKind | None = None
    subblock_idx = 0
    lanes = 1
    whole = False
    strict = False  # in eager calls: storing undefined elements is an error

    def __init__(
        self, target: Target, fixpipe: FixPipe, block_idx: int = 0, block_num: int = 1
    ) -> None:
        self.shared: dict[str, Memory] = {}
        self.target = target
        every_pair = fixpipe.every_pair or target.every_pair
        own = replace(fixpipe, every_pair=every_pair, scaled_i16=target.f16_sums)
        self.fixpipe = fixpipe if own == fixpipe else own
        self.block_idx, self.block_num = block_idx, block_num
        self.exposed: list[Memory] = []  # arrays whose addresses the program computed
        self.spaces: dict[str, Memory] = {}  # memories in use
        self.behind: Mapping[str, int] = {}  # sizes beyond the capacity: see `Planned`
        self.warned: dict[tuple[Op, Rule], Diagnostic] = {}  # violations that only warn
        self.lost: dict[tuple[Op, str], UndefinedStore] = {}  # stores of undefined elements

    @cached_property
    def state(self) -> State:
        """Registers and flags."""
        return State()

    def taken_warnings(self) -> list[Diagnostic]:
        """Return the warnings since the last call."""
        found = [*self.warned.values(), *self.lost.values()]
        self.warned.clear()
        self.lost.clear()
        return found

    def note_lost(self, op: Op, operands: Iterable[object], span: Span | None = None) -> None:
        """Note the undefined elements that an instruction stored in arrays of the host."""
        for view in (v for v in operands if isinstance(v, Matrix)):
            for one in lost_in(view):
                place = self.block_idx, self.subblock_idx
                found = UndefinedStore.of(op.name, span or op.span, view, one, place)
                key = op, view.memory.name
                self.lost[key] = self.lost[key].merged(found) if key in self.lost else found

    @property
    def subblock_num(self) -> int:
        """The number of vector cores of a block, or 1 for a cube core."""
        return 1 if self.kind is CUBE else self.lanes

    def address_of(self, pointer: Pointer) -> int:
        """Return the byte address of a pointer into an array."""
        if not any(memory is pointer.memory for memory in self.exposed):
            self.exposed.append(pointer.memory)
        number = next(n for n, memory in enumerate(self.exposed) if memory is pointer.memory)
        start = (2 * number + 3) * REACH
        return start + pointer.offset * pointer.dtype.bits // 8

    def pointer_to(self, address: int, kind: PtrType) -> Pointer:
        """Return the pointer with this byte address; PtoError if no array has it."""
        number, offset = divmod(address - 2 * REACH, 2 * REACH)
        if not 0 <= number < len(self.exposed):
            problem = f"no array at address {address:#x}"
            helped = "compute addresses from pointers of the same launch"
            raise error("address-unknown", problem, help=helped)
        memory = self.exposed[number]
        elements, rest = divmod((offset - REACH) * 8, kind.dtype.bits)
        if elements < 0:
            problem = f"{address:#x} lies before the start of {memory.name}"
            raise error("global-out-of-bounds", problem, help="elements of an array count from 0")
        if rest:
            problem = f"{address:#x} is not aligned to elements of {kind.dtype}"
            helped = "addresses of elements are multiples of their size"
            raise error("offset-misaligned", problem, help=helped)
        return Pointer(kind.dtype, memory, elements, by_number=kind.by_number)

    def clear(self) -> None:
        """Reset the core: memories unwritten, registers unset, flags down."""
        self.state.clear()
        self.block_idx = 0
        for memory in self.spaces.values():
            memory.clear()
        if "log" in self.__dict__:
            self.log.data.view(np.int64)[:FIRST_RECORD] = NO_RECORD

    @cached_property
    def log(self) -> Memory:
        """The log of compiled code, see `machine.executionlog`."""
        memory = Memory(LOG, np.zeros(8 * LOG_WORDS, np.uint8), written=True)
        memory.data.view(np.int64)[:FIRST_RECORD] = NO_RECORD
        return memory

    @cached_property
    def queues(self) -> Memory:
        """The entries of the pipes, see `native.queuecode`."""
        return Memory(QUEUES, np.zeros(8 * QUEUE_WORDS, np.uint8), written=True)

    def space(self, loc: Loc) -> Memory:
        """Return the memory of a location, which is blank at first."""
        return self.space_named(SPACES[loc])

    def space_named(self, name: str) -> Memory:
        """Return the memory with this hardware name."""
        if name in self.shared:
            return self.shared[name]
        if name == FLAG_MEMORY:
            return self.state.flags.memory
        if name == LOG:
            return self.log
        if name == QUEUES:
            return self.queues
        if name not in self.spaces:
            size = max(self.target.capacity[name], self.behind.get(name, 0))
            self.spaces[name] = Memory.blank(name, size)
        return self.spaces[name]

    def owns(self, memory: Memory) -> bool:
        """Return whether a memory belongs to the core, not to an argument."""
        return memory in (self.spaces.get(memory.name), self.shared.get(memory.name))

    def readings(self) -> dict[Resource, object]:
        """Return the target and the reading of the fix-pipe, on which bodies depend."""
        return {FIXPIPE: self.fixpipe, TARGET: self.target}

    @staticmethod
    def trap() -> None:
        """Raise the error of a program that executes a trap."""
        raise error("trapped", f"{CATALOGUE['trapped'].title}")

    def offer(self) -> Offer:
        """Return the object for each resource that a body may use."""
        return {**self.readings(), **self.state.offer(), CORE: self, PRINTS: StandardOutput}


def moves(op: Op) -> bool:
    """Return whether an op itself reads or writes memory, or orders such ops."""
    return bool(op.page.executes or op.page.declared) and not op.regions


def whole_number(value: Value) -> bool:
    """Return whether the value is an integer or an index."""
    return isinstance(value.type, ScalarType) and not value.type.is_float


def given(op: Op) -> ByName:
    """Return the body's arguments that text gives: attributes, defaults, types of results."""
    page = op.page
    values: ByName = {a.name: op.attrs.get(a.name, a.default) for a in page.attrs}
    values |= {o.name: o.default for o in page.operands if not o.required}
    for name, o in page.types.items():
        bound = op.results if o.role is Role.RESULT else op.bound(o.name)
        values[name] = bound[0].type if bound else None
    return values | {r.name: v.type for r, v in zip(page.results(), op.results, strict=False)}


def not_executed(op: Op) -> Diagnostic:
    """Return the diagnostic of an instruction without a body, with the reason on its page."""
    message = f"{op.name}: accepted by the assembler; ptokit cannot execute it"
    reason = NO_ADDRESS if op.page.in_thread is None else NO_THREAD
    return Diagnostic("not-executed", message, op.span, seen=op.page.unexecuted or reason)


def stated(result: Value, target: Target) -> Type | Missing:
    """Return the type of a result in the text, for rules; UNKNOWN for an opaque type."""
    kind = result.type
    return UNKNOWN if isinstance(kind, OpaqueType) else target.resolve_any(kind)


def refined(hook: Hook, seen: Env, target: Target) -> Type:
    """Return the type of a result, inferred by the page's hook from the rule environment."""
    types = {k: v.type if isinstance(v, Matrix) else v for k, v in seen.items()}
    return target.resolve_any(call(hook, {k: none_if_unknown(v) for k, v in types.items()}))


def element_of(op: Op, operand: Operand) -> DType | None:
    """Return the element type if a body gets a number as an array, else None."""
    bound = op.bound(operand.name)
    if operand.element and isinstance(kind := bound[0].type, ScalarType):
        return kind.element
    return ScalarType(operand.scalar or "").dtype if op.page.executes else None


class ReadyOp:
    """An op prepared for repeated execution: sources of operands, rules deferred to run time.

    Programs, eager calls and replays execute instructions this way.
    """

    def __init__(self, op: Op, rules: Iterable[Rule] = ()) -> None:
        """Prepare `op` with the `rules` that depend on values."""
        page = op.page
        self.op, self.page = op, page
        self.open = tuple(rule for rule in rules if not rule.early)
        self.fixed = given(op)
        self.inputs = [
            (o.name, bound if o.many else bound[0], element_of(op, o))
            for o in page.operands
            if (bound := op.bound(o.name))
        ]
        # a body that computes gets a scalar as a 1x1 array
        self.scalars = [(n, dtype) for n, _, dtype in self.inputs if dtype is not None]
        arrays = {n for n, _ in self.scalars}
        kinds = {o.name: o.kind for o in page.operands}
        self.numbers = [n for n, _, _ in self.inputs if kinds[n] is Kind.SCALAR and n not in arrays]
        used = {resource.value for resource in page.uses}
        self.standalone = not used and page.needs is None  # it takes no resource of the machine
        self.names = tuple(name for name in page.body_names if name not in used)
        named = {*self.fixed, *(name for name, _, _ in self.inputs)}
        self.takes_all = self.standalone and named == {*self.names}
        whole = all(whole_number(value) for value in (*op.results, *(v for _, v in op.values())))
        # an integer computed from integers alone, as in most of a program's scalar part
        self.folds = page.folds and whole and self.takes_all and len(op.results) == 1
        self.folds &= not (self.open or self.scalars or op.regions)
        self.result = next((r.name for r in page.results()), None)
        # a handle op moves no data
        handles = ALIASES in page.traits or FIFO in page.uses  # an empty entry is one
        self.outs = [o.name for o in page.operands if o.role is Role.OUT and not handles]
        moved = (o for o in page.operands if o.kind is Kind.TILE and o.role is not Role.SCRATCH)
        tiles = [o.name for o in moved]
        moves = any(o.written for o in page.operands) and not (handles or self.outs)
        self.idle_with = tiles if moves else []  # if all are empty, valid regions have no rules

    def values(self, env: Mapping[Value, object]) -> ByName:
        """Return the operands by name, as the body takes them."""
        found: ByName = {}
        for name, bound, _ in self.inputs:
            several = isinstance(bound, tuple)
            found[name] = tuple(env[v] for v in bound) if several else env[bound]
        for name in self.numbers:
            if isinstance(found[name], NumpyArray):
                found[name] = float(found[name])
        return self.converted(found)

    def converted(self, operands: ByName) -> ByName:
        """Return the operands with numbers converted to the types that the body takes."""
        for name, dtype in self.scalars:
            operands[name] = scalar(operands[name], dtype)
        return operands

    def broken(self, seen: Env) -> Iterator[Rule]:
        """Yield the deferred rules that are violated."""
        return (rule for rule in self.open if rule.holds(seen) is False)

    def does_nothing(self, values: Env) -> bool:
        """Return whether the op's output is empty, or all of its tiles are."""
        if any(_empty(values.get(name)) for name in self.outs):
            return True
        tiles = [tile for n in self.idle_with if (tile := values.get(n)) is not None]
        return bool(tiles) and all(map(_empty, tiles))

    def run(self, values: Env, offer: Offer) -> Any:  # Any: the result of the body
        """Run the body on the operands, unless the output, or all tiles, are empty."""
        every = {**self.fixed, **values}
        if self.does_nothing(values):
            return None
        if self.takes_all:
            return self.page.run(**every)
        if self.page.needs is not None:
            core = cast(Core, offer[CORE])
            require_registers(self.page, core.target, core.state, every)
        return self.page.run(
            **{resource.value: offer[resource] for resource in self.page.uses},
            **{name: every[name] for name in self.names},
        )


def _empty(handle: object) -> bool:
    """Return whether the handle is a tile with an empty valid region."""
    valid = getattr(handle, "valid", None)
    return valid is not None and not (valid.rows and valid.cols)


def run_op(op: Op, env: Mapping[Value, object], core: Core) -> None:
    """Run one instruction on handles and numbers, without rules and results."""
    ready = ReadyOp(op)
    values = ready.values(env)
    ready.run(values, core.offer())
    core.note_lost(op, values.values())

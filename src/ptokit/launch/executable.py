"""Functions that run repeatedly; work that depends on the types of arguments is done once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from ptokit.analysis.facts import facts_of
from ptokit.diagnostics.callsite import door
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.dataclass import dataclass
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError, call_error
from ptokit.diagnostics.rich import Rich
from ptokit.forms.percore import arguments_of_all, core_alone
from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import Func, Value
from ptokit.isa.model.types import PtrType
from ptokit.isa.model.words import KernelKind
from ptokit.launch import ranks
from ptokit.launch.bind import bind, named_arguments, whole_range
from ptokit.launch.fills import Completed, filled
from ptokit.launch.hostmemory import host_array
from ptokit.launch.ranks import Names
from ptokit.launch.settings import PreparedFunction, engine_named
from ptokit.machine.arguments import Bound, Launch
from ptokit.machine.launchoptions import NO_LIMITS, Options, RunLimits
from ptokit.machine.observer import Observer, RunNotes
from ptokit.machine.slotnumber import SlotNumber
from ptokit.machine.undefinedstore import require_defined, told
from ptokit.values.dtypes import DType
from ptokit.values.host import AnyArray

NOTHING = 1, 0  # the least and largest number of an empty range
NO_ARRAYS = (int, float, str, np.generic, Completed, type(None))
KEPT = 8  # entries of a cache
T = TypeVar("T")


@dataclass(frozen=True)
class Run(Rich):
    """The result of a run: output arrays and element types by name, and counts of instructions.

    `warnings`: leftovers in FIFOs between cores, and stores of undefined elements. `whole`: one
    worker of a cluster ran all blocks, since they run in order or concurrently. `interpreted`: the
    instructions that the reference executed although the engine is native, with the reasons; ""
    stands for all instructions.
    """

    outputs: dict[str, AnyArray]
    instructions: dict[str, int]
    dtypes: Mapping[str, DType]
    warnings: Sequence[Diagnostic] = ()
    whole: bool = False
    interpreted: tuple[tuple[str, str], ...] = ()


class Recent(Generic[T]):
    """A cache of the last few objects by key."""

    def __init__(self) -> None:
        self._made: dict[object, T] = {}
        self._lock = Lock()

    def get(self, key: object, make: Callable[[], T]) -> T:
        """Return the object of this key, making it if needed; two threads may both make it."""
        with self._lock:
            if key in self._made:
                self._made[key] = found = self._made.pop(key)  # move to the end: most recently used
                return found
        made = make()
        with self._lock:
            self._made[key] = made
            while len(self._made) > KEPT:
                del self._made[next(iter(self._made))]
        return made


class _Prepared(NamedTuple):
    """A function prepared for one kind of arguments; it keeps no array of the caller."""

    bound: Launch
    function: PreparedFunction


class Executable:
    """A function for one target and engine, as `Program.compile` makes it.

    The first run with arguments of some types and extents, or with other numbers, binds them,
    checks the function, places its tiles and compiles it; later runs only execute. Several threads
    may use an executable concurrently. Pickling keeps the function and the options.
    """

    def __init__(
        self, func: Func, options: Options, cores: Mapping[KernelKind, Func] | None = None
    ) -> None:
        """Prepare the function; `cores` has the functions of a kernel with several cores."""
        self.func = func
        self.cores = cores or {}
        self.options = options
        self._engine = engine_named(options.engine)
        self._prepared = Recent[_Prepared]()
        self._pointers = {a.name for a in func.args if isinstance(a.type, PtrType)}
        ranges = {a.name: whole_range(a.type) for a in func.args} if options.slots else {}
        # numbers in these ranges are no part of the code
        self._ranges = {name: holds for name, holds in ranges.items() if holds is not None}

    def __repr__(self) -> str:
        return f"<Executable @{self.func.name} for {self.options.target}>"

    def __reduce__(self) -> tuple[object, ...]:
        return Executable, (self.func, self.options, self.cores)

    @door
    def run(
        self,
        *given: object,
        max_instructions: int | None = None,
        timeout: float | None = None,
        **arrays: object,
    ) -> dict[str, AnyArray]:
        """Run on arrays and numbers, given by position or by name; return the outputs.

        Arguments are those of `Program.run`; the options were chosen at compile time.
        """
        every = named_arguments(self.func, given, arrays)
        done = self.execute(every, max_instructions=max_instructions, timeout=timeout)
        told(done.warnings)
        return done.outputs

    @door
    def execute(
        self,
        arrays: Mapping[str, object],
        *,
        max_instructions: int | None = None,
        timeout: float | None = None,
        observers: Sequence[Observer] = (),
        direct: frozenset[str] = frozenset(),
    ) -> Run:
        """Run and return outputs with counts; `observers` are informed of the run.

        Outputs named in `direct` may be written in place: contiguous arrays that share no byte with
        another argument.
        """
        limits = RunLimits(max_instructions, timeout)
        bound, function = self.prepared(arrays, limits)
        bound.direct = frozenset() if self.options.strict else direct
        watching = (*observers, notes := RunNotes())
        if self.options.schedule is not None:
            from ptokit.order.races import detector  # imports pages that few runs need

            watching = (*watching, *filter(None, [detector(self.options.schedule)]))
        outputs, count = function.run(bound, limits, watching)
        if self.options.strict:
            require_defined(notes.found)
        reasons = tuple(sorted(notes.reasons))
        return Run(outputs, dict(count), bound.dtypes, notes.found, interpreted=reasons)

    def prepared(
        self, arrays: Mapping[str, object], limits: RunLimits = NO_LIMITS
    ) -> tuple[Launch, PreparedFunction]:
        """Return the bound and the prepared function; PtoError if it is not legal.

        The time of `limits` also bounds the generation of random arguments.
        """
        given = self.given(arrays, limits)
        bound, function = self._ready(given)
        return bound.on(given), function

    def code(self, instruction: str, arrays: Mapping[str, object]) -> str:
        """Return the LLVM text that the native engine generates for one instruction."""
        from ptokit.engines.native.listing import code_of

        bound = self.bound(arrays)
        if bound.waits:
            message = "--show-code needs a function of one core; this kernel has several"
            raise call_error("no-such-instruction", message, help="choose a function without FIFOs")
        return code_of(bound, self.options, instruction)

    def bound(self, arrays: Mapping[str, object]) -> Launch:
        """The function with these arguments, legal on the target; PtoError if it is not."""
        return self._bound(self.given(arrays))

    def given(
        self, arrays: Mapping[str, object], limits: RunLimits = NO_LIMITS
    ) -> dict[str, object]:
        """Return the arguments of a launch: arrays of NumPy's, in the place of files too."""
        kinds = {*map(type, arrays.values())}
        if any(issubclass(kind, str) for kind in kinds):
            arrays = ranks.for_each(arrays, self.options.ranks)
        if any(issubclass(kind, Completed) for kind in kinds):
            arrays = self._filled(arrays, limits)
        return {n: self._array(n, a) for n, a in arrays.items()}

    def _array(self, name: str, given: object) -> object:
        """Return a user's array as a NumPy array in native byte order; numbers unchanged."""
        native = type(given) is np.ndarray and given.dtype.isnative
        if native or issubclass(given.__class__, NO_ARRAYS):
            return given
        try:
            return host_array(given)
        except ValueError as problem:
            arg = next((a for a in self.every_argument() if a.name == name.partition("@")[0]), None)
            message = f"%{name}: {CATALOGUE['argument-type'].title}"
            span = None if arg is None else arg.span
            raise call_error("argument-type", message, span, seen=str(problem)) from None

    def _names(self, arrays: Mapping[str, object]) -> Names:
        """Return the array of each rank for each argument; empty if there are no ranks."""
        if self.options.ranks == 1 and not any("@" in name for name in arrays):
            return ()
        return ranks.named((arg.name for arg in self.every_argument()), arrays, self.options.ranks)

    def every_argument(self) -> Sequence[Value]:
        return arguments_of_all(self.cores.values()) if self.cores else self.func.args

    def _filled(self, arrays: Mapping[str, object], limits: RunLimits) -> dict[str, object]:
        """Return the arrays of all ranks; an array that ranks share is made for the first."""
        made = dict(arrays)
        alone = (({name: name for name in made}, made),)
        names = self._names(arrays)
        for labels, mine in ranks.of_each(names, made) if names else alone:
            found = filled(self.func, mine, self._viewed, limits)
            made |= {labels[name]: value for name, value in found.items()}
        return made

    def _viewed(self, arrays: Mapping[str, object]) -> Mapping[str, int]:
        """Return how many elements the function views of each pointer that is None."""
        from ptokit.engines.reference.viewed import viewed

        options = self.options
        unsized = [a for a in self.func.args if a.name in arrays and arrays[a.name] is None]
        one = {
            a.name: np.zeros(1, f"V{a.type.dtype.size}")
            for a in unsized
            if isinstance(a.type, PtrType)
        }
        given = {**arrays, **one}
        if self.cores:
            bound = bind(self.func, given, options.target, dict(options.types))
        else:
            bound = self._legal(self.func, given, options.blocks > 1)
        return viewed(bound, one, options)

    def _ready(self, given: Mapping[str, object]) -> _Prepared:
        if self.options.slots:
            kinds = [
                (n, _open_kind(v) if n in self._pointers else _kind(v, self._is_slot(n, v)))
                for n, v in given.items()
            ]
        else:
            kinds = [(name, _kind(value, False)) for name, value in given.items()]
        if any(kind is None for _, kind in kinds):
            return self._prepare(given)
        return self._prepared.get(tuple(kinds), lambda: self._prepare(given))

    def _is_slot(self, name: str, given: object) -> bool:
        """Return whether code does not depend on a number; a number out of range is no slot."""
        low, high = self._ranges.get(name, NOTHING)
        return isinstance(given, int) and low <= given <= high

    @gc_disabled()
    def _prepare(self, given: Mapping[str, object]) -> _Prepared:
        bound = self._bound(given)
        return _Prepared(bound.on({}), self._engine.prepare(bound, self.options))

    def _bound(self, given: Mapping[str, object]) -> Launch:
        names = self._names(given)
        if not (names or self.cores):
            return Launch.of(self._legal(self.func, given, self.options.blocks > 1))
        if not names:
            return Launch((self._cores(given),))
        found: list[Mapping[KernelKind, Bound]] = []
        for rank, (_, mine) in enumerate(ranks.of_each(names, given)):
            try:
                found.append(self._cores(mine))
            except PtoError as problem:
                raise problem.noted(f"of rank {rank}") from None
        return Launch(found, names, ranks.starts(self.every_argument(), given, len(names)))

    def _cores(self, given: Mapping[str, object]) -> Mapping[KernelKind, Bound]:
        """Return the bound functions of the cores of a rank."""
        if not self.cores:  # a rank without waits for other ranks
            alone = self._legal(self.func, given, self.options.blocks > 1)
            return {core_alone(alone.func): alone}
        names = {arg.name for arg in arguments_of_all(self.cores.values())}
        every = {n: a for n, a in given.items() if n not in names}  # `bind` reports the fault
        cores: dict[KernelKind, Bound] = {}
        for kind, func in self.cores.items():
            own = {arg.name for arg in func.args}
            mine = {n: a for n, a in given.items() if n in own}
            cores[kind] = self._legal(func, mine | every, shared=True)
        return cores

    def _legal(self, func: Func, given: Mapping[str, object], shared: bool) -> Bound:
        options = self.options
        bound = bind(func, given, options.target, dict(options.types), options.slots)
        _require_global(bound, shared, options.blocks)
        if options.judged:
            return bound
        facts = facts_of(bound.func).on(options.target, bound.numbers)
        if problems := facts.faults_of_run():
            raise PtoError(problems)
        return bound


def _open_kind(given: object) -> tuple[object, ...] | None:
    """Return the key of an array behind a pointer for code that serves all extents."""
    return (given.dtype,) if type(given) is np.ndarray else _kind(given, False)


def _kind(given: object, slots: bool) -> tuple[object, ...] | None:
    """Return the key of an argument: what decides how the function runs; None if only binding can.

    For an array these are type and extents; for a number in a slot its limits; for other numbers,
    which become part of the code, the value.
    """
    kind: object = given.__class__
    if type(given) is np.ndarray and given.shape and not given.dtype.hasobject:
        return kind, given.dtype, given.shape, b""
    if slots and isinstance(given, int):
        return kind, SlotNumber(given).limits
    if given is None or isinstance(given, int):
        return kind, given
    if isinstance(given, float):
        return kind, given.hex()  # tells 0.0 from -0.0
    array: AnyArray = np.asarray(given)
    if array.dtype.hasobject:
        return None
    return kind, array.dtype, array.shape, b"" if array.shape else array.tobytes()


def _require_global(bound: Bound, shared: bool, blocks: int) -> None:
    """Raise an error if several blocks or cores would share a tile argument."""
    tiles = bound.tiles
    if shared and tiles:
        raise call_error(
            "local-argument",
            f"%{tiles[0].name}: {CATALOGUE['local-argument'].title}",
            tiles[0].span,
            seen=f"{f'{blocks} blocks' if blocks > 1 else 'several cores'}, and "
            f"%{tiles[0].name} is a tile",
            help="pass !pto.ptr arguments and load tiles from them, or run one block",
        )

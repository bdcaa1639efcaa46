"""Functions that run repeatedly; work that depends on the types of arguments is done once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from ptokit.diagnostics.callsite import door
from ptokit.diagnostics.diagnostic import Diagnostic, call_error
from ptokit.diagnostics.rich import Rich
from ptokit.ir.garbage import gc_disabled
from ptokit.isa.model.types import PtrType
from ptokit.launch.settings import ENGINES, engine_named
from ptokit.launch.storedruns import KEPT, StoredRuns
from ptokit.machine.launchoptions import NO_LIMITS, Options, RunLimits
from ptokit.machine.slotnumber import SlotNumber, whole_range
from ptokit.values.dtypes import DType
from ptokit.values.host import AnyArray

if TYPE_CHECKING:  # a stored run needs neither the program nor its analyses
    from ptokit.ir.module import Func, Value
    from ptokit.isa.model.words import KernelKind
    from ptokit.launch.launchedfunction import LaunchedFunction
    from ptokit.launch.settings import PreparedFunction
    from ptokit.machine.arguments import Launch
    from ptokit.machine.observer import Observer

NOTHING = 1, 0  # the least and largest number of an empty range
T = TypeVar("T")
Kinds = tuple[object, ...]  # of all arguments


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

    def told(self) -> dict[str, AnyArray]:
        """Return the outputs; stores of undefined elements become Python warnings."""
        if self.warnings:
            from ptokit.machine.undefinedstore import told

            told(self.warnings)
        return self.outputs


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
    checks the function, places its tiles and compiles it; later runs only execute. What a run on
    the native engine found out is stored on disk: the first run of a later process only executes.
    Several threads may use an executable concurrently. Pickling keeps the function and the options.
    """

    def __init__(
        self, func: Func, options: Options, cores: Mapping[KernelKind, Func] | None = None
    ) -> None:
        """Prepare the function; `cores` has the functions of a kernel with several cores."""
        self._start(lambda: (func, cores or {}), options, None)

    @classmethod
    def of_key(
        cls,
        make: Callable[[], tuple[Func, Mapping[KernelKind, Func]]],
        options: Options,
        key: str,
        args: Sequence[Value] | None = None,
    ) -> Executable:
        """Return the executable of a program with this key; `make` prepares it when it is needed.

        `args` are arguments of the function, if they are known before.
        """
        made = object.__new__(cls)
        made._start(make, options, key)
        made._args = args
        return made

    def _start(
        self,
        make: Callable[[], tuple[Func, Mapping[KernelKind, Func]]],
        options: Options,
        key: str | None,
    ) -> None:
        self._make, self.options, self._key = make, options, key
        self._args: Sequence[Value] | None = None
        self._engine = engine_named(options.engine)
        self._native = self._engine.__name__ == ENGINES["native"]
        self._prepared = Recent[_Prepared]()

    @cached_property
    def _launched(self) -> LaunchedFunction:
        from ptokit.launch.launchedfunction import LaunchedFunction

        return LaunchedFunction(*self._make(), self.options)

    @property
    def func(self) -> Func:
        return self._launched.func

    @property
    def cores(self) -> Mapping[KernelKind, Func]:
        return self._launched.cores

    @cached_property
    def _pointers(self) -> frozenset[str]:
        args = self.func.args if self._args is None else self._args
        return frozenset(a.name for a in args if isinstance(a.type, PtrType))

    @cached_property
    def _ranges(self) -> dict[str, tuple[int, int]]:
        """The ranges of numbers that are no part of the code."""
        args = self.func.args if self._args is None else self._args
        ranges = {a.name: whole_range(a.type) for a in args}
        return {name: holds for name, holds in ranges.items() if holds is not None}

    @cached_property
    def _stored(self) -> StoredRuns:
        def described() -> str | None:
            from ptokit.ir.description import described_funcs

            return described_funcs((self.func, *self.cores.values()))

        return StoredRuns(self.options, described() if self._key is None else self._key)

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
        every = self.named(given, arrays)
        return self.execute(every, max_instructions=max_instructions, timeout=timeout).told()

    def named(self, given: Sequence[object], arrays: Mapping[str, object]) -> Mapping[str, object]:
        """Return all arguments by name, given some by position."""
        if not given:
            return arrays
        from ptokit.launch.bind import named_arguments

        return named_arguments(self.func, given, arrays)

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
        given = self.given(arrays, limits)
        kinds = self._kinds(given)
        direct = frozenset() if self.options.strict else direct
        alone = not observers and max_instructions is None and timeout is None
        stored = self._stored if alone and self._native else None
        if stored is not None and kinds is not None:
            again = stored.repeated(kinds, given, direct)
            if again is not None:
                return Run(*again)
        bound, function = self._ready(given, kinds)
        launch = bound.on(given)
        launch.direct = direct
        found = self._observed(launch, function, limits, observers)
        if stored is not None and kinds is not None and stored.wants(kinds):
            plain = not (found.warnings or found.interpreted)
            stored.keep(kinds, function if plain else None, launch, found.outputs)
        return found

    def _observed(
        self,
        launch: Launch,
        function: PreparedFunction,
        limits: RunLimits,
        observers: Sequence[Observer],
    ) -> Run:
        """Run and return what observers of a run are told, too."""
        from ptokit.machine.observer import RunNotes

        watching = (*observers, notes := RunNotes())
        if self.options.schedule is not None:
            from ptokit.order.races import detector  # imports pages that few runs need

            watching = (*watching, *filter(None, [detector(self.options.schedule)]))
        outputs, count = function.run(launch, limits, watching)
        if self.options.strict:
            from ptokit.machine.undefinedstore import require_defined

            require_defined(notes.found)
        reasons = tuple(sorted(notes.reasons))
        return Run(outputs, dict(count), launch.dtypes, notes.found, interpreted=reasons)

    def prepared(
        self, arrays: Mapping[str, object], limits: RunLimits = NO_LIMITS
    ) -> tuple[Launch, PreparedFunction]:
        """Return the bound and the prepared function; PtoError if it is not legal.

        The time of `limits` also bounds the generation of random arguments.
        """
        given = self.given(arrays, limits)
        bound, function = self._ready(given, self._kinds(given))
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
        return self._launched.bound(self.given(arrays))

    def given(
        self, arrays: Mapping[str, object], limits: RunLimits = NO_LIMITS
    ) -> dict[str, object]:
        """Return the arguments of a launch: arrays of NumPy's, in the place of files too."""
        plain = all(type(a) in PLAIN and _is_native(a) for a in arrays.values())
        return {**arrays} if plain else self._launched.given(arrays, limits)

    def every_argument(self) -> Sequence[Value]:
        return self._launched.every_argument()

    def _ready(self, given: Mapping[str, object], kinds: Kinds | None) -> _Prepared:
        if kinds is None:
            return self._prepare(given)
        return self._prepared.get(kinds, lambda: self._prepare(given))

    def _kinds(self, given: Mapping[str, object]) -> Kinds | None:
        """Return what decides how the function runs; None if only binding can."""
        if self.options.slots:
            kinds = [
                (n, _open_kind(v) if n in self._pointers else _kind(v, self._is_slot(n, v)))
                for n, v in given.items()
            ]
        else:
            kinds = [(name, _kind(value, False)) for name, value in given.items()]
        return None if any(kind is None for _, kind in kinds) else tuple(kinds)

    def _is_slot(self, name: str, given: object) -> bool:
        """Return whether code does not depend on a number; a number out of range is no slot."""
        low, high = self._ranges.get(name, NOTHING)
        return isinstance(given, int) and low <= given <= high

    @gc_disabled()
    def _prepare(self, given: Mapping[str, object]) -> _Prepared:
        bound = self._launched.bound(given)
        return _Prepared(bound.on({}), self._engine.prepare(bound, self.options))


PLAIN = (np.ndarray, int, float, type(None))


def _is_native(given: Any) -> bool:  # Any: an array or a number
    """Return whether the elements of an array have the byte order of the host."""
    return type(given) is not np.ndarray or given.dtype.isnative


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

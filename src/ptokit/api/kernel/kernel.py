"""`@pto.kernel`: record once for each kind of arguments, then run, print, check or debug."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial, update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, Unpack, overload

from ptokit.api.eager import shown
from ptokit.api.hostarrays import Tile
from ptokit.api.kernel import hostside
from ptokit.api.kernel.controlflow import finish
from ptokit.api.kernel.hostside import LaunchArguments
from ptokit.api.kernel.kernelarrays import ArrayBase, KernelArray
from ptokit.api.kernel.leaving import unbound
from ptokit.api.kernel.pythonstate import PythonState
from ptokit.api.kernel.recorder import Recorder
from ptokit.api.kernel.rewriting import Rewritten, rewritten
from ptokit.api.kernel.runtimenumbers import RunTimeNumber
from ptokit.api.kernel.shapenames import Extent, Shapes, extents, parsed
from ptokit.api.kernel.verification import Outputs, require_agreement
from ptokit.api.program import ENTRY, Program
from ptokit.diagnostics.callsite import door
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.diagnostics.rich import Rich
from ptokit.ir.description import described_funcs
from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import Block, Func, Module, Value
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import INDEX, PtrType, ScalarType, Type
from ptokit.launch.executable import Executable
from ptokit.launch.settings import (
    ENGINES,
    KernelWords,
    current_target,
    options_of,
    recording,
    takes,
)
from ptokit.launch.settings import target as target_context
from ptokit.machine.launchoptions import Options
from ptokit.machine.undefinedstore import told

if TYPE_CHECKING:
    from ptokit.api.profiling import Profile

P = ParamSpec("P")
F = TypeVar("F", bound="Callable[..., object]")
KEPT = 128  # maximum number of recordings of one kernel
FLOAT = ScalarType("f32")


class RecordedProgram(Program):
    """A recorded kernel, split into two functions on targets with two kinds of cores."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self._divided: dict[bool, Program] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return RecordedProgram, (self.module,)

    @property
    def known(self) -> tuple[str, Sequence[Value]] | None:
        """The ops that were recorded, whatever a target makes of them."""
        key, (func,) = described_funcs(self.module.funcs), self.module.funcs
        return None if key is None else (key, func.args)

    @cached_property
    def mixed(self) -> bool:
        from ptokit.passes.split import is_mixed  # targets with one kind of core do without

        return any(map(is_mixed, self.module.funcs))

    def on(self, target: Target) -> Program:
        """Return the program for the cores of a target; PtoError if it cannot be split."""
        if not target.kinds or not self.mixed:
            return self
        if target.releases not in self._divided:
            from ptokit.passes.split import split

            self._divided[target.releases] = Program(split(self.module, target))
        return self._divided[target.releases]


class Capture:
    """A kernel recorded for one kind of arguments."""

    def __init__(
        self,
        program: Program,
        warnings: tuple[Diagnostic, ...],
        read: PythonState,
        stored: frozenset[str],
    ) -> None:
        self.program, self.warnings, self.read = program, warnings, read
        self.stored = stored  # arrays with a store
        self.executables: dict[object, Executable] = {}

    def executable(self, options: Options) -> Executable:
        """Return the executable, in whose code run-time numbers are no constants."""
        found = self.executables.get(options.key)
        if found is None:
            made = self.program.executable(replace(options, slots=True))
            found = self.executables[options.key] = made
        return found


class Kernel(Rich, Generic[P]):
    """A function that describes a kernel; calling it runs the kernel on arrays, in place.

    Positional parameters are data: arrays, and numbers for which one program serves all values.
    Keyword-only parameters are Python values during recording.
    """

    def __init__(self, function: Callable[P, None], shapes: str | None = None) -> None:
        self.function = function
        update_wrapper(self, function)
        self.target: str | None = None  # target of launches; None: the current one
        self.options = options_of()
        every = self.signature.parameters.values()
        hostside.require_plain(function, every)
        self.data = tuple(p.name for p in every if p.kind is not p.KEYWORD_ONLY)
        self.static = tuple(p.name for p in every if p.kind is p.KEYWORD_ONLY)
        self.shapes: Shapes | None = None if shapes is None else parsed(shapes, self.data)
        self.kept: dict[tuple[object, ...], Capture] = {}
        self.recent: dict[object, tuple[Capture, Mapping[str, Extent]]] = {}  # that are run-time
        defaults = {p.name: p.default for p in self.signature.parameters.values()}
        given = {n: defaults[n] for n in self.static}
        whole = inspect.Parameter.empty not in given.values()
        self.defaults = given if whole else {}

    def __repr__(self) -> str:
        return f"<kernel {self.function.__name__}{self.signature}>"

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    @property
    def _rewritten(self) -> Rewritten:
        return rewritten(self.function)

    @takes(KernelWords)
    def on(self, target: str | None = None, **options: Unpack[KernelWords]) -> Kernel[P]:
        """Return the same kernel with options for its launches, such as a target or blocks.

        Options are those of `Program.run`. `debug` uses the target, the fix-pipe reading and
        `strict`.
        """
        new = copy(self)
        new.target, new.options = target, options_of(target=target, **options)
        return new

    def _chosen(self) -> Options:
        """Return the options of a launch that starts now."""
        here, options = current_target(), self.options
        known = self.target is not None or options.target is here
        return options if known else replace(options, target=here)

    @door
    def __call__(self, *args: P.args, **names: P.kwargs) -> None:
        """Run the kernel on arrays and numbers; outputs are written in place."""
        if recording.get() is not None:
            self._done(self._rewritten.function(*args, **names))
            return
        given = self._given(args, names)
        capture = self._capture(given)
        if capture.warnings:
            hostside.warn(capture.warnings)
        self._launch(capture, given)

    def _launch(self, capture: Capture, given: LaunchArguments) -> None:
        given.require_outputs(capture.stored)
        options = self._chosen()
        if not all(a.size for a in given.views.values()):  # a view must have elements
            left = self._debugged(given, range(options.blocks), options.blocks)
            given.put_back({n: left[n] for n in capture.stored & left.keys()})
            return
        run = capture.executable(options).execute(
            given.arrays,
            max_instructions=options.max_instructions,
            timeout=options.timeout,
            direct=given.direct & capture.stored,
        )
        if run.warnings:
            told(run.warnings)
        given.put_back(run.outputs)

    @door
    def prepare(self, *args: P.args, **names: P.kwargs) -> Callable[[], None]:
        """Return a function that launches the kernel; recording and compiling are done first."""
        given = self._given(args, names)
        capture = self._capture(given)
        return lambda: self._launch(capture, given)

    @door
    def program(self, *args: object, **names: object) -> Program:
        """Return the program for arrays, or for `pto.spec(dtype, shape)` instead of arrays."""
        return self._capture(self._given(args, names)).program

    @door
    def text(
        self, *args: object, form: str = "dps", level: int | None = None, **names: object
    ) -> str:
        """Return the program as text, see `Program.text`; without arguments the last program."""
        program = self._program(args, names)
        return program.text(form, level=level, target=self.target)

    def _program(self, args: tuple[object, ...], names: Mapping[str, object]) -> Program:
        """Return the program for these arguments; without any, the last one recorded."""
        last = not args and not names and self.kept
        return [*self.kept.values()][-1].program if last else self.program(*args, **names)

    @property
    def captures(self) -> list[object]:
        """Return the key of each recording: element types, extents and values."""
        return [key[:3] for key in self.kept]

    @door
    def debug(
        self, *args: object, block: int | None = None, blocks: int = 1, **names: object
    ) -> None:
        """Run the function itself, instruction by instruction: breakpoints and prints work.

        `block` runs one of `blocks` only; None runs all of them in order.
        """
        given = self._given(args, names)
        every = range(blocks) if block is None else (block,)
        before = given.contiguous()
        left = self._debugged(given, every, blocks).items()
        given.put_back({n: a for n, a in left if a.tobytes() != before[n][1].tobytes()})

    def _debugged(self, given: LaunchArguments, every: Iterable[int], blocks: int) -> Outputs:
        """Return copies of the arrays after a debug run."""
        given.extents = self._extents(given)
        arguments = {
            name: self._array(name, dtype, given.shapes[name], array=a)
            for name, (dtype, a) in given.contiguous().items()
        }
        for index in every:
            options = self.options
            name, strict = self.target or current_target().name, options.strict
            with target_context(name, fixpipe=options.fixpipe, strict=strict):
                hostside.place_block(index, blocks)
                values = {n: arguments.get(n, given.numbers.get(n)) for n in self.data}
                self._done(self.function(**values, **given.static))  # type: ignore[call-arg]  # arguments are known at run time only
        held = ((name, array.base.array) for name, array in arguments.items())
        return {name: array for name, array in held if array is not None}

    @door
    def verify(self, *args: object, blocks: int = 1, **names: object) -> None:
        """Compare debug, reference and native bit by bit; PtoError names the first difference.

        Its place is the store that wrote the element. The arrays stay unchanged.
        """
        given = self._given(args, names)
        capture = self._capture(given)
        options = replace(self._chosen(), blocks=blocks)

        def engine(name: str) -> Outputs:
            how = replace(options, engine=name)
            return capture.executable(how).execute(given.arrays).outputs

        ways = {name: partial(engine, name) for name in ENGINES}
        require_agreement(lambda: self._debugged(given, range(blocks), blocks), ways)

    @door
    def check(
        self,
        *args: object,
        target: str = "all",
        targets: str | Sequence[str] | None = None,
        **names: object,
    ) -> list[Diagnostic]:
        """Return the diagnostics of the program on a target, or on all; see `Program.check`.

        `targets` are several, or another spelling of one. Without arguments the program of the last
        capture.
        """
        chosen = target if targets is None else targets
        every = (chosen,) if isinstance(chosen, str) else tuple(chosen)
        return self._program(args, names).check(*every)

    @door
    def races(
        self, *args: object, target: str | None = None, blocks: int | None = None, **names: object
    ) -> list[Diagnostic]:
        """Return the order faults of this launch between pipes and blocks, see `Program.races`.

        `target` and `blocks` default to those of `on`. With `pto.spec` instead of arrays, sample
        launches are checked.
        """
        program, arguments = self.bound(*args, **names)
        target, blocks = target or self.target, blocks or self.options.blocks
        return program.races(*filter(None, [target]), blocks=blocks, **arguments)

    @door
    def bound(self, *args: object, **names: object) -> tuple[Program, dict[str, Any]]:  # Any: given
        """Return the program for these arguments, and its arguments; none for a `pto.spec`."""
        given = self._given(args, names)
        program = self._capture(given).program
        return program, given.arrays if given.dtypes.keys() == given.views.keys() else {}

    @door
    def profile(
        self, *args: object, target: str | None = None, blocks: int | None = None, **names: object
    ) -> Profile:
        """Predict how long a call would take on hardware, see `Program.profile`.

        `target` and `blocks` default to those of `on`.
        """
        from ptokit.api.profiling import profile

        given = self._given(args, names)
        program, options = self._capture(given).program, self.options
        target, blocks = target or self.target, blocks or options.blocks
        known = {n: value for n, value in given.arrays.items() if not isinstance(value, str)}
        return profile(program, known, target, blocks=blocks)

    # capture

    def _given(self, args: tuple[object, ...], names: Mapping[str, object]) -> LaunchArguments:
        whole = len(self.defaults) == len(self.static)
        if whole and len(args) == len(self.data) and names.keys() <= self.defaults.keys():
            static = {**self.defaults, **names} if names else self.defaults
            return LaunchArguments(dict(zip(self.data, args, strict=True)), static)
        try:
            bound = self.signature.bind(*args, **names)
        except TypeError as problem:
            raise TypeError(f"{self.function.__name__}{self.parameters()}: {problem}") from None
        bound.apply_defaults()
        given = bound.arguments
        return LaunchArguments({n: given[n] for n in self.data}, {n: given[n] for n in self.static})

    def parameters(self) -> str:
        """Return the parameters without annotations, as text."""
        every = self.signature.parameters.values()
        return str(inspect.Signature([p.replace(annotation=p.empty) for p in every]))

    def _capture(self, given: LaunchArguments) -> Capture:
        """Return the recording for these arguments, made now if there is none."""
        try:
            found = self.recent.get(given.kind)
        except TypeError:  # `_key` reports the unhashable value
            found = None
        if found is not None and found[0].read.same():
            given.extents = found[1]
            return found[0]
        given.extents = self._extents(given)
        key = self._key(given)
        capture = self.kept.get(key)
        if capture is None or not capture.read.same():
            capture = self.kept[key] = self._record(given)
            while len(self.kept) > KEPT:
                del self.kept[next(iter(self.kept))]
        if len(self.recent) >= KEPT:
            self.recent.clear()
        self.recent[given.kind] = capture, given.extents
        return capture

    def _extents(self, given: LaunchArguments) -> dict[str, Extent]:
        """Return the extents that are run-time numbers; CallError if arrays disagree."""
        given.require_arrays(self.shapes or ())
        known = extents(self.shapes, given.shapes) if self.shapes is not None else {}
        return {name: extent for name, extent in known.items() if not _fixed(name)}

    def _done(self, result: object) -> None:
        """Raise TypeError if the function returned a value."""
        if result is not None:
            seen = "a tile" if isinstance(result, Tile) else shown(result)
            what = f"{self.function.__name__} returns {seen}"
            raise TypeError(f"{what}: a kernel returns nothing, pto.store writes an output")

    def _key(self, given: LaunchArguments) -> tuple[object, ...]:
        """Return the key of a recording: element types, static extents, Python values."""
        arrays: list[object] = []
        for name, dtype in given.dtypes.items():
            shape = given.shapes[name]
            stated = self.shapes.get(name, shape) if self.shapes is not None else shape
            known = (n if _fixed(s) else None for s, n in zip(stated, shape, strict=False))
            arrays.append((name, dtype.name, tuple(known)))
        numbers: tuple[object, ...] = tuple((n, v.__class__) for n, v in given.numbers.items())
        statics: tuple[object, ...] = tuple((n, v.__class__, v) for n, v in given.static.items())
        key = tuple(arrays), numbers, statics, given.exactly
        try:
            hash(key)
        except TypeError:
            bad = next(n for n, v in given.static.items() if not _hashable(v))
            raise TypeError(
                f"{bad} is a Python value while recording: it must be hashable"
            ) from None
        return key

    @gc_disabled()
    def _record(self, given: LaunchArguments) -> Capture:
        read = PythonState({self.function.__name__: self.function, **given.static})
        read.require_visible(self.function.__code__)  # type: ignore[attr-defined]  # a Python function
        made = self._rewritten
        record = Recorder(made.names, self.function)
        values = self._arguments(record, given)
        token = recording.set(record)
        try:
            self._done(made.function(**values, **given.static))
            if record.refused is not None:
                raise record.refused
            finish(record)
        except UnboundLocalError as problem:
            raise unbound(record, problem) from None
        finally:
            recording.reset(token)
        body = Block([*record.body.args], [*record.head.ops, *record.body.ops])
        func = Func(self.function.__name__, body, attrs={ENTRY: True})
        program = RecordedProgram(Module([func]))
        warnings = (*record.unused_values(), *self._unwritten(record, given))
        return Capture(program, warnings, read, frozenset(record.stored))

    def _array(self, name: str, *what: Any, **how: Any) -> KernelArray:  # Any: as ArrayBase has it
        """Return an argument during a run of the function: the whole array."""
        stored = not hostside.is_input(self.signature.parameters[name])
        return KernelArray.whole(ArrayBase(name, *what, stored=stored, **how))

    def _unwritten(self, record: Recorder, given: LaunchArguments) -> tuple[Diagnostic, ...]:
        """Return warnings for outputs without a store."""
        outs = [n for n in given.dtypes if hostside.is_output(self.signature.parameters[n])]
        code = self.function.__code__  # type: ignore[attr-defined]  # a Python function
        return tuple(hostside.not_written(n, code) for n in outs if n not in record.stored)

    def _arguments(self, record: Recorder, given: LaunchArguments) -> dict[str, object]:
        """Return the function's arguments during recording; add the program's arguments."""
        named: dict[str, RunTimeNumber] = {}
        made: dict[str, object] = {}

        def argument(name: str, kind: Type) -> Value:
            value = record.value(name, kind, record.head)
            record.body.args.append(value)
            return value

        for name in self.data:
            if name in given.numbers:
                kind = FLOAT if isinstance(given.numbers[name], float) else INDEX
                made[name] = RunTimeNumber.of(argument(name, kind), kind)
                continue
            dtype, shape = given.dtypes[name], given.shapes[name]
            stated = self.shapes.get(name, shape) if self.shapes is not None else shape
            pointer = argument(name, PtrType(dtype))
            for extent in stated:
                if not _fixed(extent) and extent not in named:
                    named[str(extent)] = RunTimeNumber.of(argument(str(extent), INDEX))
            extents_ = tuple(
                n if _fixed(s) else named[str(s)] for s, n in zip(stated, shape, strict=True)
            )
            made[name] = self._array(name, dtype, extents_, pointer)
        return made


def _fixed(extent: object) -> bool:
    """Return whether an extent is static: a number, or a name that is not in lower case."""
    return not (isinstance(extent, str) and extent[:1].islower())


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


@overload
def kernel(function: Callable[P, None]) -> Kernel[P]: ...
@overload
def kernel(*, shapes: str | None = None) -> Callable[[Callable[P, None]], Kernel[P]]: ...
def kernel(function: Callable[P, None] | None = None, *, shapes: str | None = None) -> object:
    """Make a kernel of a function; `shapes` names the extents of its arrays."""
    if function is None:
        return lambda f: Kernel(f, shapes)  # type: ignore[misc]  # see the overloads
    return Kernel(function, shapes)


def inline(function: F) -> F:
    """Record a helper's own branches on run-time numbers, and rebound names in its loops."""

    def call(*args: object, **names: object) -> object:
        made = function if recording.get() is None else rewritten(function).function
        return made(*args, **names)

    return update_wrapper(call, function)  # type: ignore[return-value]  # the same signature

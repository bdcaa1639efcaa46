"""A program: check it, run it on arrays, print it in any form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, Unpack

from ptokit.diagnostics.callsite import door
from ptokit.diagnostics.diagnostic import Diagnostic, Judge, PtoError, call_error
from ptokit.diagnostics.rich import Rich, RichList
from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import Func, Module, Op, Value
from ptokit.isa.lang.asm import DIALECTS
from ptokit.isa.model.targets import MACHINES, TARGETS, Target
from ptokit.isa.model.types import Type
from ptokit.launch.settings import (
    GridWords,
    ProgramWords,
    RunWords,
    current_target,
    options_of,
    takes,
    target_named,
)
from ptokit.values.fixpipe import FixPipe

if TYPE_CHECKING:
    from ptokit.analysis.known import Facts
    from ptokit.analysis.legality import Verdict
    from ptokit.analysis.memorymap import MemoryMap
    from ptokit.api.profiling import Profile
    from ptokit.isa.model.words import KernelKind
    from ptokit.launch.executable import Executable, Recent, Run
    from ptokit.machine.launchoptions import Options
    from ptokit.machine.observer import Observer
    from ptokit.values.host import AnyArray


ENTRY = "pto.entry"  # the attribute of the function that a launch starts
FORMS = ("as", "ssa", "dps", "cpp")
LEVEL3_FORMS = ("dps", "cpp")


class Program(Rich):
    """A module and the operations on it, made by `load` and `loads`; the module does not change."""

    _read: Callable[[], Module]
    _text: str | None = None

    def __init__(self, module: Module) -> None:
        self._read = lambda: module

    @classmethod
    def of_text(cls, read: Callable[[], Module], key: str) -> Program:
        """Return the program of a text with this key, which is read when it is needed."""
        made = object.__new__(cls)
        made._read, made._text = read, key
        return made

    @property
    def known(self) -> tuple[str, Sequence[Value] | None] | None:
        """The key of its stored runs, and perhaps arguments, if no work is needed to know them."""
        return None if self._text is None else (self._text, None)

    @property
    def module(self) -> Module:
        return self._module

    @cached_property
    def _module(self) -> Module:
        return self._read()

    @cached_property
    def _executables(self) -> Recent[Executable]:
        from ptokit.launch.executable import Recent  # imported here: checks do not need the engines

        return Recent()

    def __reduce__(self) -> tuple[object, ...]:
        return Program, (self.module,)

    def __repr__(self) -> str:
        return f"<Program {', '.join('@' + f.name for f in self.module.funcs)}>"

    def on(self, target: Target) -> Program:
        """Return the program for the cores of a target; a program from text is unchanged."""
        return self

    @door
    def check(
        self,
        *targets: str,
        allow_unknown: bool = False,
        level: int | None = None,
        judge: str | None = None,
    ) -> list[Diagnostic]:
        """Return what is wrong on each of `targets` (default: the current one), in text order.

        "all" means every target. Loops with constant bounds are checked over all iterations. An
        unknown op or type is an error, or a warning with `allow_unknown`. `level` (1, 2 or 3) says
        who assigns addresses to tiles; by default a program with any address has level 3. `judge`
        is the source whose verdict decides: "assembler", "headers" (of C++) or "hardware"; by
        default everything that one of them certainly refuses is an error. An empty list does not
        mean that the program is legal: `verdicts` lists rules deferred to run time.
        """
        from ptokit.analysis.legality import merged

        found = self.verdicts(*targets, allow_unknown=allow_unknown, level=level, judge=judge)
        return RichList(merged(found))

    @door
    def verdicts(
        self,
        *targets: str,
        allow_unknown: bool = False,
        level: int | None = None,
        judge: str | None = None,
        races: bool = False,
    ) -> list[Verdict]:
        """Return a verdict (legal, refused or undecided) with reasons for each target.

        Arguments are those of `check`. With `races`, a legal program is also checked for races.
        """
        if level not in (None, 1, 2, 3):
            raise ValueError(f"unknown level {level!r}: choose 1, 2 or 3")
        if judge not in (None, *(j.value for j in Judge)):
            raise ValueError(f"unknown judge {judge!r}: choose one of {', '.join(map(str, Judge))}")
        decides = None if judge is None else Judge(judge)
        names = tuple(TARGETS) if "all" in targets else targets
        chosen = [target_named(name) for name in names] or [current_target()]
        found: list[Verdict] = []
        for target, again in groupby(chosen, self._runnable):
            (program, known), every = target, [*again]
            some = program._verdicts(every, known, allow_unknown, level, decides)
            found += program._with_races(some) if races else some
        return RichList(found)

    @gc_disabled()
    def _verdicts(
        self,
        targets: Sequence[Target],
        known: Sequence[Diagnostic],
        allow_unknown: bool,
        level: int | None,
        judge: Judge | None,
    ) -> list[Verdict]:
        """Return verdicts on targets that run the program unchanged; `known` are further errors."""
        from ptokit.analysis.cores import level_of, misplaced, misused, unfit_entries
        from ptokit.analysis.legality import verdicts, without_instructions
        from ptokit.forms.dps import executed_forms
        from ptokit.forms.inline import checked

        level = level or level_of(self.module)
        every = [t.at(level) for t in targets]
        module, wrong = checked(self.module)
        wrong += [*without_instructions(self.module), *unfit_entries(self.module)]
        wrong += misused(self.module)
        if any(page.fifo_role for func in self.module.funcs for page in func.pages):
            from ptokit.analysis.fifochecks import check_fifos

            wrong += check_fifos(self.module)
        chips = any(t.kinds for t in every)
        of_cores = [*misplaced(self.module)] if chips else []
        executed, refused = executed_forms(module)
        found = verdicts(
            module,
            every,
            _trial,
            allow_unknown=allow_unknown,
            judge=judge,
            known=[*known, *wrong],
            of_cores=[] if known else of_cores,
            executed=executed,
        )
        for n, verdict in enumerate(found):
            told = {d.span for d in verdict.diagnostics}
            more = (d for d in refused if d.span not in told)
            found[n] = replace(verdict, diagnostics=(*verdict.diagnostics, *more))
        return found

    def _with_races(self, found: list[Verdict]) -> list[Verdict]:
        """Add races to verdicts."""
        from ptokit.explore.exploration import kernels, races_of

        launched = kernels(self)
        return [
            v.also(d for f in launched for d in races_of(self, MACHINES[v.target], f, None, 1))
            for v in found
        ]

    def _runnable(self, target: Target) -> tuple[Program, Sequence[Diagnostic]]:
        """Return the program for a target's cores, or this program and the errors."""
        try:
            return self.on(target), ()
        except PtoError as problem:
            return self, problem.diagnostics

    @door
    def races(
        self, *targets: str, func: str | None = None, blocks: int = 1, **arrays: object
    ) -> list[Diagnostic]:
        """Return the order faults between pipes on each of `targets` (default: the current one).

        These are hazards (two instructions on the same bytes without an order), deadlocks, flags
        left or set twice, unpaired acquires and releases of buffers, and with several `blocks` also
        hazards between blocks. With `arrays`, as for `run`, that run is checked. Otherwise sample
        runs are, in which loops of unknown extent have 0, 1, 2, 3 and 5 iterations. For a program
        that the target refuses, the errors are returned. The CPU simulator executes in order and
        has no such faults.
        """
        from ptokit.explore.exploration import races_of
        from ptokit.launch.bind import require_named

        require_named((arg.name for one in self.module.funcs for arg in one.args), arrays)
        names = tuple(TARGETS) if "all" in targets else targets
        found: list[Diagnostic] = []
        for target in [*map(target_named, names)] or [current_target()]:
            program = self.on(target)
            entry = program.entry_named(func)
            illegal = [] if arrays else [d for d in program.check(target.name) if d.is_error]
            found += illegal or races_of(program, target, entry, arrays or None, blocks)
        return RichList(found)

    def func(self, name: str | None = None) -> Func:
        """Return the function of that name, the only entry, or the only function not called.

        Private functions count only if there are no others. Calls are inlined. An entry has the
        attribute `pto.entry`.
        """
        from ptokit.forms.percore import whole_kernel

        return whole_kernel(self.module, self.entry_named(name))

    def entry_named(self, name: str | None) -> Func:
        """Return the function for a name, with its calls."""
        from ptokit.forms.inline import entries
        from ptokit.forms.percore import peer_of

        every = [f for f in self.module.funcs if not f.declared]
        if name is not None:
            chosen = [f for f in every if f.name == name]
        else:
            marked = [f for f in every if f.attrs.get(ENTRY, False) is not False]
            open = [f for f in entries(self.module) if not f.declared]
            chosen = marked or [f for f in open if f.visibility != "private"] or open
        pair = len(chosen) == 2 and peer_of(self.module, chosen[0]) is chosen[1]
        if len(chosen) == 1 or pair:  # or both ends of a kernel's FIFOs
            return chosen[0]
        found = ", ".join(f"@{f.name}" for f in chosen or every) or "none"
        message = "choose a function" if name is None else f"no function @{name}"
        advice = "--entry NAME, in Python func=, chooses one" if every else None
        raise call_error("no-such-function", message, seen=f"the program has {found}", help=advice)

    @door
    def run(
        self,
        *given: object,
        target: str | None = None,
        func: str | None = None,
        fixpipe: str | FixPipe = "cpu",
        blocks: int = 1,
        ranks: int = 1,
        engine: str | None = None,
        max_instructions: int | None = None,
        timeout: float | None = None,
        cluster: object = None,
        schedule: str | None = None,
        strict: bool = False,
        **arrays: object,
    ) -> dict[str, AnyArray]:
        """Run a function on arrays and numbers, by position or by name; return its outputs.

        Arrays are not changed: an output that was also given starts from a copy. `blocks` runs the
        function that many times on one global memory, each on its own core. `ranks` runs all of
        that that many times concurrently: argument `x` is for every rank, `x@0` for one rank, and a
        name instead of an array, as in `{"theirs@0": "mine@1"}`, is the array of another rank.
        `engine`: "reference", which defines the result, or "native", compiled.

        `max_instructions` and `timeout` (seconds) limit the run; `machine.limits.RunLimits` says
        what counts. `cluster` is a `dask.distributed.Client` whose workers run the blocks.
        `schedule="random:SEED"` runs the cores in a random order, on the reference engine, and
        raises at a race. Undefined elements are stored as 0 with an UnwrittenWarning that gives
        place and number; with `strict` that is a PtoError.

        PtoError if the program is illegal on the target, fails while it runs, or exceeds a limit.
        """
        which: RunWords = {"target": target, "func": func, "blocks": blocks, "ranks": ranks}
        how: RunWords = {"engine": engine, "max_instructions": max_instructions, "timeout": timeout}
        more: RunWords = {"fixpipe": fixpipe, "schedule": schedule, "strict": strict}
        options = options_of(**which | how | more)
        return self.launch(options, given, arrays, cluster=cluster).told()

    @door
    @takes(RunWords)
    def execute(
        self,
        arrays: Mapping[str, object],
        *,
        observers: Sequence[Observer] = (),
        cluster: object = None,
        **options: Unpack[RunWords],
    ) -> Run:
        """Run and return outputs with counts; `types` gives omitted types of arguments by name.

        `observers` are informed while the program runs, see `machine.observer`.
        """
        return self.launch(options_of(**options), (), arrays, observers, cluster)

    def launch(
        self,
        options: Options,
        given: Sequence[object],
        arrays: Mapping[str, object],
        observers: Sequence[Observer] = (),
        cluster: object = None,
    ) -> Run:
        """Run a function in this process, or on the workers of a cluster."""
        made = self.executable(options)
        if cluster is None:
            every = made.named(given, arrays)
            most, late = options.max_instructions, options.timeout
            return made.execute(every, max_instructions=most, timeout=late, observers=observers)
        from ptokit.api.cluster import launched

        return launched(cluster, made, given, arrays, options, observers)

    @door
    @takes(ProgramWords)
    def compile(self, *, slots: bool = False, **options: Unpack[ProgramWords]) -> Executable:
        """Return the function for a target and an engine as an executable that runs repeatedly.

        With `slots`, numbers are no part of the code: one compilation serves all their values.
        Options are those of `run`, which itself caches the last few executables. A program does not
        change once it has run.
        """
        which = options_of(**options)
        made = self.executable(replace(which, slots=True) if slots else which)
        _ = made.func  # a program that has none is refused here
        return made

    def executable(self, options: Options) -> Executable:
        """Return the executable for these options, as `compile` does."""

        def make() -> Executable:
            from ptokit.launch.executable import Executable

            if (known := self.known) is not None:
                return Executable.of_key(partial(self._launched, options), options, *known)
            func, cores = self._launched(options)
            return Executable(func, options, cores)

        return self._executables.get(options.key, make)

    def _launched(self, options: Options) -> tuple[Func, Mapping[KernelKind, Func]]:
        """Return the function to launch, and those of several cores."""
        from ptokit.analysis.fifochecks import check_fifos
        from ptokit.forms.percore import launched_cores, whole_kernel

        program = self.on(options.target)
        module, entry = program.module, program.entry_named(options.func)
        always = options.schedule is not None or options.ranks > 1
        cores = launched_cores(module, entry, always=always)
        if cores and (wrong := [d for d in check_fifos(module) if d.is_error]):
            raise PtoError(wrong)
        return whole_kernel(module, entry), cores

    @door
    def profile(
        self,
        *given: object,
        target: str | None = None,
        func: str | None = None,
        blocks: int = 1,
        **arrays: object,
    ) -> Profile:
        """Predict how long `run` would take on hardware, and where the time is spent.

        Arguments are those of `run`; arrays that are not given are zeros. `target`: by default the
        current one, or "a2a3" if that has no times. Nothing is executed unless control flow depends
        on data. PtoError as for `run`, and for a deadlock of pipes.
        """
        from ptokit.api.profiling import profile
        from ptokit.launch.bind import named_arguments

        every = named_arguments(self.func(func), given, arrays)
        return profile(self, every, target, func, blocks)

    @door
    @takes(GridWords)
    def code(
        self,
        instruction: str,
        arrays: Mapping[str, object],
        *,
        target: str | None = None,
        func: str | None = None,
        types: Mapping[str, Type] | None = None,
        **options: Unpack[GridWords],
    ) -> str:
        """Return the LLVM text that the native engine generates for one instruction.

        Nothing runs. Arguments are those of `execute`: numbers and shapes become part of the code.
        """
        which = options_of(target=target, func=func, types=types, engine="native", **options)
        return self.executable(which).code(instruction, arrays)

    def form(self) -> str:
        """Return the form of the program: "ssa" if some output is a result, else "dps"."""
        from ptokit.forms.tilehandles import names_handles

        return "dps" if all(map(names_handles, self.module.funcs)) else "ssa"

    @door
    def memory(self, target: str | None = None, func: str | None = None) -> list[MemoryMap]:
        """Return a map of each memory that a function uses, with its peak.

        By default for every function that no other calls, in text order. Tiles without an address
        in the program have their run-time address, which exceeds the capacity if not all fit.
        """
        from ptokit.analysis.memorymap import memory_maps
        from ptokit.forms.inline import entries
        from ptokit.passes.pipeline import ready_for

        chosen = current_target() if target is None else target_named(target)
        program = self.on(chosen)
        asked = entries(program.module) if func is None else [program.entry_named(func)]
        ready = [ready_for(program.module, f, "place", chosen) for f in asked if not f.declared]
        return RichList(found for each in ready for found in memory_maps(each, chosen))

    def after(self, passes: Sequence[str], target: Target) -> Program:
        """Return the program after passes by name, each preceded by those that it requires.

        PtoError with the errors of `check` if a pass needs a legal program, and if the program has
        no such form.
        """
        from ptokit.passes.pipeline import run_passes

        return Program(run_passes(self.module, passes, target, _require_legal))

    @door
    def text(
        self,
        form: str = "dps",
        *,
        dialect: str | None = None,
        level: int | None = None,
        target: str | None = None,
    ) -> str:
        """Return the program in the form "as" (PTO-AS), "ssa" (Level 1), "dps" (Level 2) or "cpp".

        `dialect`: the version of the assembler for the DPS form, "v0.26", "v0.57" or "v0.64"; by
        default each statement keeps its spelling. With `target`, the program for its cores, see
        `on`. `level=3`, for "dps" and "cpp": with every address, scratch tile, flag and barrier,
        for `target`, by default the current one.
        """
        if form not in FORMS:
            raise ValueError(f"unknown form {form!r}: choose one of {', '.join(FORMS)}")
        if dialect not in (None, *DIALECTS):
            raise ValueError(f"unknown dialect {dialect!r}: choose one of {', '.join(DIALECTS)}")
        if dialect is not None and form != "dps":
            raise ValueError(f"only the form dps has dialects, not {form}")
        if level not in (None, 3) or (level and form not in LEVEL3_FORMS):
            raise ValueError(f"level={level} of the form {form}: 3 is one of {LEVEL3_FORMS}")
        from ptokit.forms.dps import to_dps
        from ptokit.passes.pipeline import LEVEL3
        from ptokit.passes.ssa import to_ssa
        from ptokit.text.write.cppmodule import print_cpp
        from ptokit.text.write.printer import print_module

        chosen = current_target() if target is None else target_named(target)
        module = self.module if target is None and not level else self.on(chosen).module
        if level:
            module = Program(module).after(LEVEL3, chosen).module
        if form == "cpp":
            return print_cpp(Program(module).after(["to_dps"], chosen).module)
        converted = to_dps(module) if form == "dps" else to_ssa(module)
        return print_module(converted, form, dialect)


def _trial(op: Op, unwritten: set[Value], facts: Facts) -> Diagnostic | None:
    from ptokit.analysis.readtrial import first_uninitialised_read  # rarely needed

    return first_uninitialised_read(op, unwritten, facts)


def _require_legal(module: Module, target: Target) -> None:
    """Raise PtoError with the errors that `check` finds.

    Rules about levels do not count, since a pass may have allocated tiles without addresses.
    """
    found = Program(module).check(target.name)
    if wrong := [d for d in found if d.is_error and d.slug != "level"]:
        raise PtoError(wrong)

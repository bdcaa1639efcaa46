"""A program that was read: check it, run it on arrays, print it in any form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Unpack

from ptokit.analysis.cores import level_of, misplaced, misused, unfit_entries
from ptokit.analysis.fifochecks import check_fifos
from ptokit.analysis.legality import Verdict, merged, verdicts, without_instructions
from ptokit.diagnostics.callsite import door
from ptokit.diagnostics.diagnostic import Diagnostic, Judge, PtoError, call_error
from ptokit.diagnostics.rich import Rich, RichList
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
    from ptokit.analysis.memorymap import MemoryMap
    from ptokit.api.profiling import Profile
    from ptokit.launch.executable import Executable, Recent, Run
    from ptokit.machine.launchoptions import Options
    from ptokit.machine.observer import Observer
    from ptokit.values.host import AnyArray


ENTRY = "pto.entry"  # the attribute of the function that a launch runs
FORMS = ("as", "ssa", "dps", "cpp")
LEVEL3_FORMS = ("dps", "cpp")


class Program(Rich):
    """A module and what can be done with it. Made by `load` and `loads`."""

    def __init__(self, module: Module) -> None:
        self.module = module

    @cached_property
    def _executables(self) -> Recent[Executable]:
        from ptokit.launch.executable import Recent  # what runs is not needed to check

        return Recent()

    def __reduce__(self) -> tuple[object, ...]:
        return Program, (self.module,)

    def __repr__(self) -> str:
        return f"<Program {', '.join('@' + f.name for f in self.module.funcs)}>"

    def on(self, target: Target) -> Program:
        """The program that the cores of a target run: a text is that as it stands."""
        return self

    @door
    def check(
        self,
        *targets: str,
        allow_unknown: bool = False,
        level: int | None = None,
        judge: str | None = None,
    ) -> list[Diagnostic]:
        """What is wrong on each of `targets` (default: the current one), in text order.

        "all" stands for every target. Loops with constant bounds are judged over all iterations. An
        unknown op or type is an error, or with `allow_unknown` a warning. `level` (1, 2 or 3) says
        who places tiles; without it a program with any address is of level 3. `judge`: whose
        verdict decides, "assembler", "headers" (of C++) or "hardware"; without one what any of them
        refuses for certain is an error. An empty list does not say that the program is legal:
        `verdicts` tells what is deferred to run time.
        """
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
        """Legal, refused or undecided, with the reasons, for each of `targets` as in `check`.

        With `races` also what `races` says of a program that is legal.
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
            found += program._verdicts(every, known, allow_unknown, level, decides, races)
        return RichList(found)

    def _verdicts(
        self,
        targets: Sequence[Target],
        known: Sequence[Diagnostic],
        allow_unknown: bool,
        level: int | None,
        judge: Judge | None,
        races: bool,
    ) -> list[Verdict]:
        """`verdicts` on targets that run the program as it is; `known` are further errors."""
        level = level or level_of(self.module)
        every = [t.at(level) for t in targets]
        from ptokit.forms.dps import executed_forms
        from ptokit.forms.inline import checked

        module, wrong = checked(self.module)
        wrong += [*without_instructions(self.module), *unfit_entries(self.module)]
        wrong += [*misused(self.module), *check_fifos(self.module)]
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
        found = [replace(v, diagnostics=(*v.diagnostics, *refused)) for v in found]
        if not races:
            return found
        from ptokit.explore.pipechecks import kernels, races_of

        launched = kernels(self)
        return [
            v.also(d for f in launched for d in races_of(self, MACHINES[v.target], f, None, 1))
            for v in found
        ]

    def _runnable(self, target: Target) -> tuple[Program, Sequence[Diagnostic]]:
        """What its cores run, or, where there is no such program, this one and why."""
        try:
            return self.on(target), ()
        except PtoError as problem:
            return self, problem.diagnostics

    @door
    def races(
        self, *targets: str, func: str | None = None, blocks: int = 1, **arrays: object
    ) -> list[Diagnostic]:
        """What the order of the pipes leaves open on each of `targets` (default: the current one).

        Two instructions on the same bytes that no flag separates, deadlocks, flags left or set
        twice, acquires and releases of buffers that do not pair; of several `blocks` also those
        between blocks. With `arrays`, as `run` takes them, of that run; without, of runs on
        samples, in which loops of unknown extent have 0, 1, 2, 3 and 5 iterations. Of a program
        that the target refuses, its errors. On the CPU simulator instructions take place in order:
        nothing is wrong there.
        """
        from ptokit.explore.pipechecks import races_of
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
        """The function of that name, the only entry, or the only one that no other calls.

        Private ones are left out where others are. Calls are replaced by what they call. An entry
        has the attribute `pto.entry`.
        """
        from ptokit.forms.percore import whole_kernel

        return whole_kernel(self.module, self.entry_named(name))

    def entry_named(self, name: str | None) -> Func:
        """The function that is meant, with its calls."""
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
        if len(chosen) == 1 or pair:  # both ends of a kernel's FIFOs
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
        """Run a function on arrays and numbers, by position or by name; returns its outputs.

        Arrays are not changed: an output that was also given starts from a copy. `blocks` runs the
        function that many times, on one global memory and a core for each. `ranks` runs all of that
        that many times at once: an argument `x` is every rank's, `x@0` one's own, and a name in the
        place of an array, as in `{"theirs@0": "mine@1"}`, another rank's. `engine`: "reference",
        which defines what comes out, or "native", compiled. PtoError if the program is illegal on
        the target, goes wrong while it runs, or has not ended after `max_instructions` (see
        `machine.limits.RunLimits` for what counts) or about `timeout` seconds. `cluster`: a
        `dask.distributed.Client`, whose workers run the blocks. `schedule`: "random:SEED" lets the
        cores go on in another order than the fixed one, by the reference, and raises where two
        touch the same bytes in no order. Elements that nothing computed are stored as 0, and an
        UnwrittenWarning says where and how many; with `strict` that is a PtoError.
        """
        which: RunWords = {"target": target, "func": func, "blocks": blocks, "ranks": ranks}
        how: RunWords = {"engine": engine, "max_instructions": max_instructions, "timeout": timeout}
        more: RunWords = {"fixpipe": fixpipe, "schedule": schedule, "strict": strict}
        options = options_of(**which | how | more)
        from ptokit.machine.undefinedstore import told

        done = self.launch(options, given, arrays, cluster=cluster)
        told(done.warnings, strict=False)
        return done.outputs

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
        """`run`, with counts; `types` completes elided types of arguments by name.

        `observers` look on while it runs, see `machine.observer`.
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
        from ptokit.launch.bind import named_arguments

        if cluster is None:
            every = named_arguments(made.func, given, arrays)
            most, late = options.max_instructions, options.timeout
            return made.execute(every, max_instructions=most, timeout=late, observers=observers)
        from ptokit.api.cluster import launched

        return launched(cluster, made, given, arrays, options, observers)

    @door
    @takes(ProgramWords)
    def compile(self, *, slots: bool = False, **options: Unpack[ProgramWords]) -> Executable:
        """The function for a target and an engine, as something that runs again and again.

        With `slots` numbers are no part of its code: one compilation serves all their values.

        Options are as for `run`, which itself keeps the last few of these. A program is not changed
        once it has run.
        """
        which = options_of(**options)
        return self.executable(replace(which, slots=True) if slots else which)

    def executable(self, options: Options) -> Executable:
        """The function that options choose, as `compile` gives it."""

        def make() -> Executable:
            from ptokit.forms.percore import launched_cores, whole_kernel
            from ptokit.launch.executable import Executable

            program = self.on(options.target)
            module, entry = program.module, program.entry_named(options.func)
            always = options.schedule is not None or options.ranks > 1
            cores = launched_cores(module, entry, always=always)
            if wrong := [d for d in check_fifos(module) if cores and d.is_error]:
                raise PtoError(wrong)
            return Executable(whole_kernel(module, entry), options, cores)

        return self._executables.get(options.key, make)

    @door
    def profile(
        self,
        *given: object,
        target: str | None = None,
        func: str | None = None,
        blocks: int = 1,
        **arrays: object,
    ) -> Profile:
        """Predict how long `run` would take on hardware, and where the time goes.

        Arguments are as for `run`; arrays that are not given are zeros. `target`: by default the
        current one, or "a2a3" where that has no times. Nothing is executed unless data decides
        what is. PtoError as for `run`, and where pipes wait for one another for ever.
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
        """The LLVM text that the native engine generates for one instruction; nothing runs.

        Arguments are as for `execute`: numbers and shapes become part of the code.
        """
        which = options_of(target=target, func=func, types=types, engine="native", **options)
        return self.executable(which).code(instruction, arrays)

    def form(self) -> str:
        """The form the program is written in: "ssa" if some output is a result, else "dps"."""
        from ptokit.forms.tilehandles import names_handles

        return "dps" if all(map(names_handles, self.module.funcs)) else "ssa"

    @door
    def memory(self, target: str | None = None, func: str | None = None) -> list[MemoryMap]:
        """What lies where in each memory that a function uses, and the moment with the most bytes.

        Of every function that no other calls, or of that name, in text order. Tiles without an
        address of the program's own have the one that they run at, beyond the capacity where they
        do not all fit.
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
        """The program after passes by name, each after those that it requires.

        PtoError with what `check` says where a pass needs a legal program and this is none, and
        where the program has no such form.
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
        """The program in the form "as" (PTO-AS), "ssa" (Level 1), "dps" (Level 2) or "cpp".

        `dialect`: the version of the assembler that takes the DPS form, "v0.26", "v0.57" or
        "v0.64". Without one each statement keeps the spelling that it was read in. With `target`
        what its cores run, see `on`. `level` 3, of "dps" and "cpp": with every address, scratch
        tile, flag and barrier, for `target`, by default the current one.
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
    from ptokit.analysis.readtrial import first_uninitialised_read  # few programs need it

    return first_uninitialised_read(op, unwritten, facts)


def _require_legal(module: Module, target: Target) -> None:
    """Raise PtoError with the errors that `check` finds.

    A pass may have allocated tiles that have no address yet: what a level asks for does not count.
    """
    found = Program(module).check(target.name)
    if wrong := [d for d in found if d.is_error and d.slug != "level"]:
        raise PtoError(wrong)

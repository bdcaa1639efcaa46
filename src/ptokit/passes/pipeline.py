"""Passes by name, and their execution over a module for `ptokit opt`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

from ptokit.analysis.cores import KIND
from ptokit.diagnostics.nearest import did_you_mean
from ptokit.forms.complete import complete
from ptokit.forms.dps import func_to_dps, is_dps
from ptokit.forms.inline import calls, entries, inlined
from ptokit.forms.structure import structured
from ptokit.ir.module import Func, Module
from ptokit.ir.verify import verify
from ptokit.isa.model.targets import Target
from ptokit.passes.expand import expand
from ptokit.passes.lowerlogical import lower_logical
from ptokit.passes.ownflags import desynchronise
from ptokit.passes.place import place, placed
from ptokit.passes.scratch import name_scratch
from ptokit.passes.split import is_mixed, split
from ptokit.passes.ssa import func_to_ssa, is_ssa
from ptokit.passes.synchronise import synchronise


@dataclass(frozen=True)
class Pass:
    """One transformation of a module for a target.

    `run` makes a new module, or raises PtoError if the program has no such form. The passes that it
    `requires` run before it. A pass that runs the program `needs_legal` programs. Afterwards
    `ensures` holds of each function: if not, the pass is at fault.
    """

    name: str
    summary: str
    run: Callable[[Module, Target], Module]
    requires: tuple[str, ...] = ()
    ensures: Callable[[Func], bool] = lambda func: True
    whole: bool = False  # calls are inlined before
    needs_legal: bool = False


Judge = Callable[[Module, Target], None]  # raises PtoError for a program that is not legal


def _takes_any(module: Module, target: Target) -> None:
    """Accept any program: the caller knows that it is legal."""


def each(made: Callable[[Func, Target], Func]) -> Callable[[Module, Target], Module]:
    """Return the pass that applies `made` to each function."""
    return lambda module, target: module.mapped(lambda func: made(func, target))


def _completed(func: Func, target: Target) -> Func:
    func = deepcopy(func)
    complete(func, target, {}, {}, {})
    return func


# the passes that make text of level 3, which a vendor's compiler accepts unchanged
LEVEL3 = ("scratch", "place", "synchronise")

PASSES = {
    p.name: p
    for p in (
        Pass(
            "structure",
            "turn blocks of a function into loops and branches with regions",
            each(lambda func, _: structured(func)),
            ensures=lambda func: not func.blocks,
        ),
        Pass(
            "complete",
            "infer omitted types from each instruction",
            each(_completed),
            ("structure",),
        ),
        Pass(
            "to_dps",
            "turn outputs into operands: a tile for each value, shared where the value flows",
            each(lambda func, _: func_to_dps(func)),
            ("complete",),
            is_dps,
        ),
        Pass(
            "split",
            "split a kernel for both kinds of cores into two functions and FIFOs",
            split,
            ("to_dps",),
            lambda func: not is_mixed(func) or KIND in func.attrs,
            whole=True,
        ),
        Pass(
            "scratch",
            "add the scratch operands that level 3 requires",
            each(name_scratch),
            ("to_dps",),
        ),
        Pass(
            "place",
            "assign an address to each tile that has none",
            each(place),
            ("scratch",),
            placed,
            whole=True,
            needs_legal=True,
        ),
        Pass(
            "expand",
            "turn tile instructions into vector functions on registers",
            each(expand),
            ("place",),
            whole=True,
        ),
        Pass(
            "lower-vmi",
            "turn logical vectors into registers",
            each(lower_logical),
            ("complete",),
            whole=True,
        ),
        Pass(
            "desynchronise",
            "remove flags, and barriers that no other core depends on",
            desynchronise,
            ("structure",),
        ),
        Pass(
            "synchronise",
            "insert sets and waits of flags between the pipes",
            synchronise,
            ("place",),
            whole=True,
            needs_legal=True,
        ),
        Pass(
            "to_ssa",
            "turn outputs into results: a new value for each write of a tile",
            each(lambda func, _: func_to_ssa(func)),
            ("to_dps",),
            is_ssa,
        ),
    )
}


def pass_named(name: str) -> Pass:
    """Return the pass of that name; ValueError, with a list, for an unknown name."""
    if name in PASSES:
        return PASSES[name]
    hint = did_you_mean(name, PASSES)
    advice = f"{hint} " if hint else ""
    raise ValueError(f"unknown pass {name!r}: {advice}choose one of {', '.join(PASSES)}")


def ready_for(module: Module, func: Func, name: str, target: Target) -> Func:
    """Return a function of the module after the passes that a pass requires."""
    wanted = pass_named(name)
    before = _ordered([PASSES[n] for n in wanted.requires], set())
    alone = replace(module.owner(func), parts=[_whole(module, func) if wanted.whole else func])
    return _run(alone, list(before), target, _takes_any).funcs[0]


def run_passes(
    module: Module, names: Sequence[str], target: Target, judge: Judge = _takes_any
) -> Module:
    """Return the module after these passes, in order, each after the passes that it requires.

    `judge` sees the program before the first pass that needs a legal one. ValueError if a name is
    no pass; PtoError if the program has no such form.
    """
    order = list(_ordered([pass_named(name) for name in names], set()))
    if any(one.whole for one in order):
        module = _with_bodies(module)
    return _run(module, order, target, judge)


def _with_bodies(module: Module) -> Module:
    """Return the module with calls inlined, without functions that only inlined calls need."""
    whole = {func: _whole(module, func) for func in entries(module)}
    kept = {name for func in whole.values() for _, name in calls(func)}
    whole |= {func: _whole(module, func) for func in module.funcs if func.name in kept}
    return module.mapped(whole.get)


def _whole(module: Module, func: Func) -> Func:
    """Return the function with callees inlined, which other cores may run."""
    return inlined(module, func, sections=True)


def _ordered(passes: Sequence[Pass], done: set[str]) -> Iterator[Pass]:
    for one in passes:
        yield from _ordered([PASSES[n] for n in one.requires if n not in done], done)
        done.add(one.name)
        yield one


def _run(module: Module, order: Sequence[Pass], target: Target, judge: Judge) -> Module:
    first = next((one for one in order if one.needs_legal), None)
    for one in order:
        if one is first:
            judge(module, target)
        module = one.run(module, target)
        for func in module.funcs:
            verify(func)
            assert one.ensures(func), f"after {one.name} {func.name} is not in the expected form"
    return module

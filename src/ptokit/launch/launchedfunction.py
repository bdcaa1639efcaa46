"""A function to launch, with its arguments: bound to arrays, and checked for the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ptokit.analysis.facts import facts_of
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import PtoError, call_error
from ptokit.forms.percore import arguments_of_all, core_alone
from ptokit.ir.module import Func, Value
from ptokit.isa.model.types import PtrType
from ptokit.isa.model.words import KernelKind
from ptokit.launch import ranks
from ptokit.launch.bind import bind
from ptokit.launch.fills import Completed, filled
from ptokit.launch.hostmemory import host_array
from ptokit.launch.ranks import Names
from ptokit.machine.arguments import Bound, Launch
from ptokit.machine.launchoptions import NO_LIMITS, Options, RunLimits

NO_ARRAYS = (int, float, str, np.generic, Completed, type(None))


@dataclass(frozen=True, eq=False)
class LaunchedFunction:
    """A function and its options; `cores` has the functions of a kernel with several cores."""

    func: Func
    cores: Mapping[KernelKind, Func]
    options: Options

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

    def bound(self, given: Mapping[str, object]) -> Launch:
        """Return the function with these arguments, legal on the target; PtoError if it is not."""
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

"""The modules of a program: its main function, and the functions of its instructions."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field

from ptokit.engines.kernels.opfunction import OpFunction
from ptokit.engines.native import calls
from ptokit.engines.native.calllines import tabled
from ptokit.engines.native.calls import FirstUse
from ptokit.engines.native.compiledwaits import lowered
from ptokit.engines.native.coroutines import coroutine
from ptokit.engines.native.entry import ONCE, block, cleared, constant, launch
from ptokit.engines.native.frame import TOO_LARGE
from ptokit.engines.native.mainfunction import OVERFLOW, MainFunction
from ptokit.engines.native.partition import partition
from ptokit.engines.native.sharedcode import merged
from ptokit.ir.module import Op
from ptokit.machine.arguments import Env
from ptokit.machine.record.trace import Recorded, Space


@dataclass
class ModuleWriter(MainFunction):
    """The main function so far, and the functions that it calls."""

    functions: dict[str, str] = field(default_factory=dict[str, str])
    kernels: dict[str, str] = field(default_factory=dict[str, str])
    shown: dict[str, dict[str, FirstUse]] = field(default_factory=dict[str, "dict[str, FirstUse]"])
    results: tuple[object, ...] = ()
    repeats: bool = True  # the function has regions, which may be loops

    def shared(self, function: OpFunction, op: Op, env: Env) -> str:
        """Return the name of the function with this text, which several instructions may share."""
        if function.name:
            return function.name
        body = calls.definition(function)
        if body not in self.functions:
            self.functions[body] = f"op{len(self.functions)}"
            self.kernels |= function.code.kernels
        function.name = self.functions[body]
        uses = self.shown.setdefault(op.name, {})
        if body not in uses:
            operands = {n: copy(env[v]) for n, v in op.values()}
            uses[body] = FirstUse(self.functions[body], function, op, operands)
        return self.functions[body]

    def modules(self, shown: Iterable[object] = ()) -> list[str]:
        """Return the modules after the last instruction; handles in `shown` are kept."""
        self.results = tuple(self.kept_value(h) if isinstance(h, Recorded) else None for h in shown)
        local = [s for s in self.spaces if s.memory is None and s.name in self.tracked]
        if self.registers is not None:
            local = [s for s in local if not self.is_registers(s.number)]
        rows = "" if self.suspends else self._rows()
        functions = merged(self.functions)
        self.code.lines = functions.called("\n".join(self.code.lines)).split("\n")
        tables = [constant(n, table) for n, table in enumerate(self.tables)]
        beside = map(functions.called, (*self.beside(), rows))
        main = [*tables, *beside, *self._functions(local)]
        once = not (self.repeats or self.suspends)
        return partition(self.kernels, functions.definitions, main, once=once)

    def _rows(self) -> str:
        """Let tables replace many calls; return the function that reads the tables, if any."""
        how = "noinline" if self.repeats else ONCE
        self.code.lines, rows = tabled(self.code.lines, self.tables, how)
        return rows

    def _functions(self, local: Iterable[Space]) -> tuple[str, ...]:
        """Return the coroutine of a core, or the function of a block and its entry."""
        if self.suspends:
            return (coroutine(self._body("br label %good", *cleared(local))),)
        return block(self._body("ret i32 0"), self.repeats), launch(local)

    def _body(self, good: str, *begin: str) -> str:
        """Return the lines of the main function, up to the label `failed`."""
        large = f"call i32 %callback(i64 {TOO_LARGE})"
        end = f"  {good}\n{OVERFLOW}:\n  {large}\n  br label %failed"
        return "\n".join([*begin, lowered(self), *self.variables, *self.code.lines, end])

"""A program that was read: check it, run it on arrays, print it in any form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from numpy.typing import NDArray

from ptokit import check as checker
from ptokit.bind import Bound, bind
from ptokit.convert import to_dps, to_ssa
from ptokit.diagnostics import Diagnostic, PtoError, call_error, error
from ptokit.emit.cpp import print_cpp
from ptokit.facts import Facts
from ptokit.ir import Func, Module, Op
from ptokit.isa.targets import TARGETS
from ptokit.isa.types import Type
from ptokit.numerics.fixpipe import FixPipe
from ptokit.place import plan
from ptokit.settings import current_target, reading, target_named
from ptokit.sim.interpreter import Interpreter, Machine
from ptokit.text.printer import print_module
from ptokit.text.reader import read

AnyArray: TypeAlias = "NDArray[Any]"  # Any: a user's array

FORMS = ("as", "ssa", "dps", "cpp")


@dataclass(frozen=True)
class Run:
    """What a run produced: output arrays by argument name, and how many instructions ran."""

    outputs: dict[str, AnyArray]
    instructions: dict[str, int]


class Program:
    """A module and what can be done with it. Make one with `load` or `loads`."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def __repr__(self) -> str:
        return f"<Program {', '.join('@' + f.name for f in self.module.funcs)}>"

    def check(self, *targets: str) -> list[Diagnostic]:
        """What is wrong on each of `targets` (default: the current one), in text order.

        "all" stands for every target.
        """
        names = targets or (current_target().name,)
        every = tuple(TARGETS) if "all" in names else names
        for name in every:
            target_named(name)
        return checker.check(self.module, every)

    def func(self, name: str | None = None) -> Func:
        """The function of that name, or the only one."""
        bodies = [f for f in self.module.funcs if name in (None, f.name)]
        if len(bodies) == 1:
            return bodies[0]
        found = ", ".join(f"@{f.name}" for f in self.module.funcs) or "none"
        message = f"no function @{name}" if name else "choose a function"
        raise call_error("no-such-function", message, seen=f"the program has {found}")

    def run(
        self,
        *,
        target: str | None = None,
        func: str | None = None,
        fixpipe: str | FixPipe = "cpu",
        **arrays: Any,  # Any: arrays and numbers
    ) -> dict[str, AnyArray]:
        """Run a function on arrays and numbers given by argument name; returns its outputs.

        Arrays are not changed: an output that was also given starts from a copy. PtoError if the
        program is illegal on the target or goes wrong while it runs.
        """
        return self.execute(arrays, target=target, func=func, fixpipe=fixpipe).outputs

    def execute(
        self,
        arrays: Mapping[str, Any],  # Any: arrays and numbers
        *,
        target: str | None = None,
        func: str | None = None,
        fixpipe: str | FixPipe = "cpu",
        types: Mapping[str, Type] | None = None,
    ) -> Run:
        """`run`, with counts; `types` completes elided types of arguments by name."""
        machine = Machine(
            current_target() if target is None else target_named(target), reading(fixpipe)
        )
        chosen = self.func(func)
        bound = bind(chosen, arrays, machine.target, types or {})
        problems = checker.check_func(bound.func, machine.target, bound.numbers)
        if any(p.is_error for p in problems):
            raise PtoError([p for p in problems if p.is_error])
        return _execute(bound, machine)

    def form(self) -> str:
        """The form the program is written in: "ssa" if some output is a result, else "dps"."""
        ops = (op for func in self.module.funcs for op in func.body.walk())
        return "ssa" if any(isinstance(op, Op) and op.ssa for op in ops) else "dps"

    def text(self, form: str = "dps") -> str:
        """The program in the form "as" (PTO-AS), "ssa" (Level 1), "dps" (Level 2) or "cpp"."""
        if form not in FORMS:
            raise ValueError(f"no form {form!r}: choose one of {', '.join(FORMS)}")
        if form == "cpp":
            return print_cpp(to_dps(self.module))
        converted = to_dps(self.module) if form == "dps" else to_ssa(self.module)
        return print_module(converted, form)


def _execute(bound: Bound, machine: Machine) -> Run:
    facts = Facts(machine.target, dict(bound.numbers))
    addresses, _ = plan(bound.func, checker.learned(bound.func, machine.target, bound.numbers))
    interpreter = Interpreter(machine, facts, addresses)
    block = interpreter.block(bound.func.body)
    env = bound.environment(machine, addresses)
    block(env)
    return Run(bound.outputs(env), dict(interpreter.count))


def loads(text: str, name: str = "<text>") -> Program:
    """Read a program from text; PtoError if it cannot be read."""
    return Program(read(text, name))


def load(path: str | Path) -> Program:
    """Read a program from a file; PtoError if the file or its text cannot be read."""
    try:
        raw = Path(path).read_bytes()
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise call_error("unreadable-file", f"{path}: {reason}") from None
    return loads(decoded(raw, str(path)), str(path))


def decoded(raw: bytes, name: str) -> str:
    """Bytes as UTF-8 text; PtoError names the first byte that is not."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(
            "not-utf8",
            f"{name}: the file is not UTF-8 text",
            seen=f"byte 0x{raw[problem.start]:02x} at offset {problem.start}",
            help="save it as UTF-8",
        ) from None

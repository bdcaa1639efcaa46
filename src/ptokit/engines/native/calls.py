"""The functions of single instructions, as the main function defines and calls them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ptokit.engines.kernels.functionbase import numbered
from ptokit.engines.kernels.opfunction import OpFunction
from ptokit.engines.native.mainfunction import MainFunction
from ptokit.ir.module import Op
from ptokit.isa.lang.environment import ByName
from ptokit.isa.lang.instr import Role
from ptokit.machine.arguments import Env
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import Condition, every, text
from ptokit.machine.record.trace import FRAME, space_of


@dataclass
class FirstUse:
    """A function and the first instruction of a mnemonic that calls it, for `emit.code`."""

    name: str
    function: OpFunction
    op: Op
    operands: ByName  # as they are at the call


def definition(function: OpFunction) -> str:
    """Return parameters and body: the text that instructions sharing a function have in common."""
    apart = "noalias " if not function.crossing else ""
    parameters = [f"ptr {apart}{name}" for name, _ in function.pointers.values()]
    parameters += [f"i64 {mine.text}" for _, mine in function.numbers.values()]
    parameters += [f"ptr {apart}%t{n}" for n in range(len(function.tables))]
    slots = [*function.slots]
    if function.whole:
        slots.append(f"  %scratch = alloca [{max(64, function.scratch.size)} x i8], align 64")
    else:
        parameters.append(f"ptr {apart}%scratch")
    how = "alwaysinline" if function.whole else "noinline"
    left = ["failed:", "  ret i32 1"] if function.checks else []
    lines = ["entry:", *slots, *function.code.lines, "  ret i32 0", *left, "}"]
    return "\n".join([f"({', '.join(parameters)}) {how} nounwind {{", *lines])


def passed(main: MainFunction, function: OpFunction) -> str:
    """Return the arguments of a call, in the order of the parameters."""
    found: list[str] = []
    for (number, _, shadow), (_, cells) in function.pointers.items():
        found.append(f"ptr {main.pointer(number, int(shadow), cells.address)}")
    found += [f"i64 {text(value)}" for value, _ in function.numbers.values()]
    found += [f"ptr @table{numbered(main.tables, t)}" for t in function.tables]
    return ", ".join(found if function.whole else [*found, "ptr %scratch"])


def size_of_output(op: Op, values: ByName) -> Condition:
    """Return whether every output has elements; otherwise the instruction does nothing."""
    outs = (values.get(o.name) for o in op.page.operands if o.role is Role.OUT)
    return every(count != 0 for out in outs for count in getattr(out, "valid", ()))


def counts_of_output(main: MainFunction, op: Op, env: Env) -> tuple[str, ...]:
    """Return the extents of the valid region of a single output, as text.

    Empty if the instruction has several outputs.
    """
    roles = (o for o in op.page.operands if o.role is Role.OUT)
    outs = [main.now(env[v]) for o in roles for v in op.bound(o.name)]
    return tuple(map(text, getattr(outs[0], "valid", ()))) if len(outs) == 1 else ()


def arrays_of(cells: Iterable[Elements]) -> set[int]:
    """Return the numbers of the arrays among the memories of these operands."""
    spaces = [s for s in map(space_of, cells) if s.number != FRAME.number]
    return {space.number for space in spaces if space.memory is not None}

"""Generated code for readers: the LLVM functions of one instruction of a program.

The text can be assembled. Comments describe the parameters and the loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptokit.diagnostics.diagnostic import call_error
from ptokit.engines.native.calls import FirstUse
from ptokit.engines.native.compile import CompiledFunction
from ptokit.engines.native.generator import Compiler
from ptokit.ir.module import Func, Op
from ptokit.isa.index import lookup
from ptokit.machine.arguments import Launch
from ptokit.machine.launchoptions import Options
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import Int, NotNative, text


def code_of(launch: Launch, how: Options, name: str) -> str:
    """Return the functions generated for an instruction, spelt as in any text form.

    CallError if the program has no such instruction.
    """
    mnemonics = _mnemonics(launch.sole.func, name)
    try:
        compiler, _ = CompiledFunction(launch, how).job(launch).settled()
    except NotNative as reason:
        return f"; the reference runs this program: {reason}\n"
    parts = [part for m in mnemonics for part in _parts(compiler, m)]
    return "\n\n".join([*parts, *_called(compiler, parts)]) + "\n"


def _called(compiler: Compiler, parts: Sequence[str]) -> list[str]:
    """Return the kernels that these functions call, directly or indirectly."""
    found: dict[str, str] = {}
    new = [*parts]
    while new:
        called = {
            n: k.rstrip()
            for n, k in compiler.kernels.items()
            if n not in found and any(f"@{n}(" in text for text in new)
        }
        found |= called
        new = [*called.values()]
    return [*found.values()]


def _mnemonics(func: Func, name: str) -> list[str]:
    """Return the mnemonics of the function's instructions that `name` may denote."""
    ops = [op for op in func.ops if isinstance(op, Op)]
    present = dict.fromkeys(op.name for op in ops)
    found = {page.mnemonic() for page in lookup(name)}
    wanted = [m for m in present if m in found]
    if not wanted:
        counted = dict.fromkeys(op.name for op in ops if op.page.executes)
        listed = ", ".join(counted) or "none that move data"
        message = f"@{func.name} has no instruction {name!r}; it has {listed}"
        raise call_error("no-such-instruction", message)
    return wanted


def _parts(compiler: Compiler, mnemonic: str) -> Iterator[str]:
    """Yield notes on instructions that the reference runs, then the functions of a mnemonic."""
    notes = sorted(reason for name, reason in compiler.by_reference if name == mnemonic)
    yield from (f"; {mnemonic}: by the reference, {reason}" for reason in notes)
    uses = compiler.shown.get(mnemonic, {})
    for number, (body, use) in enumerate(uses.items(), 1):
        head = [f"{mnemonic}, function {number} of {len(uses)}", *_described(use)]
        yield "\n".join([*(f"; {line}" for line in head), f"define internal i32 @{use.name}{body}"])
    if not uses and not notes:
        left_out = any(op.name == mnemonic for op in compiler.forwarding.moves)
        why = "products read its source where it lies" if left_out else "it moves no data"
        yield f"; {mnemonic} has no function: {why}"


def _described(use: FirstUse) -> Iterator[str]:
    """Yield the first use, the operands with their types, the parameters and the result."""
    op, function = use.op, use.function
    if op.span is not None:
        yield f"first used at {op.span}"
    for name, value in op.values():
        known = use.operands[name]
        number = f" = {known}" if isinstance(known, int | float) else ""
        yield f"  {name:<9} %{value.name} : {value.type}{number}"
    yield from (f"  {name:<9} {word}" for name, word in op.attrs.items())
    yield "parameters"
    for (_, _, shadow), (name, cells) in function.pointers.items():
        what = "which of its bits were written" if shadow else "its bytes"
        yield f"  {name:<9} {_owner(use, cells)}: {what}"
    for key, (_, mine) in function.numbers.items():
        yield f"  {mine.text:<9} {_number(use, key)}"
    for number, values in enumerate(function.tables):
        yield f"  %t{number:<7} {values.size} numbers that were known before the run"
    yield "  %scratch  room for temporaries"
    if function.checks:
        yield "result: 0; 1, before anything is written: the reference must execute it"
    else:
        yield "result: 0"


def _owner(use: FirstUse, cells: Elements) -> str:
    """Return the operands that lie in this memory."""
    names = [
        name
        for name, handle in use.operands.items()
        if getattr(handle, "memory", None) is cells.memory
        and text(handle.elements.address) == text(cells.address)
    ]
    return " and ".join(names) or str(cells.memory.name)


def _number(use: FirstUse, key: str) -> str:
    """Return the role of a program number among the operands."""
    numbers = ((what, n) for what, n in _numbers(use) if isinstance(n, Int))
    found = [what for what, number in numbers if number.text == key]
    return " and ".join(dict.fromkeys(found)) or "computed from the operands before the call"


def _numbers(use: FirstUse) -> Iterator[tuple[str, object]]:
    for name, handle in use.operands.items():
        yield name, handle
        if hasattr(handle, "elements"):
            yield f"the first element of {name}", handle.elements.origin
        valid = getattr(handle, "valid", None)
        if valid is not None:
            yield from zip((f"{name}.valid.rows", f"{name}.valid.cols"), valid, strict=True)
        for fact in ("shape", "stride"):
            numbers = getattr(getattr(handle, "type", None), fact, None) or ()
            yield from ((f"{name}.{fact}[{n}]", number) for n, number in enumerate(numbers))

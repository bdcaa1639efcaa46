"""Calls that the public C++ headers, or their CPU simulator, lack: comments and guards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ptokit.diagnostics.diagnostic import Diagnostic, Note, Severity
from ptokit.ir.module import Op, Value
from ptokit.isa.lang.asm import CHIPS, NOWHERE, CppOn
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.values.enumerations import SLayout

SLUG = "cpp-lacks"
SIMULATOR = "the CPU simulator of the public headers does not have this call"
HEADERS = "the public headers do not have this call"
HELP = "the printed C++ has a comment in its place: compute it in another way"
GUARDED = "the printed C++ has it for chips alone, behind #ifndef __CPU_SIM"
SCRATCH = "`ptokit opt --passes scratch --target a2a3` adds it"


class CppWarning(UserWarning):
    """A program has ops that C++ cannot call, on the headers' CPU simulator or at all."""


@dataclass(frozen=True)
class Lack:
    """An op that some headers lack, and the reason."""

    op: Op
    on: CppOn
    why: str

    def guarded(self, lines: Sequence[str]) -> Iterator[str]:
        """Yield the lines of the op: a comment, or a call that only a chip's compilation sees."""
        first, last = lines[0], lines[-1]
        if self.on is NOWHERE:
            declared, _, call = first.rpartition("@ ") if "@ " in first else ("", "", first)
            yield from [declared.strip()] if declared.strip() else []
            yield f"// {call}  // {self.why}"
            yield from (f"// {line}" for line in lines[1:])
            return
        declared, _, call = last.rpartition("@ ") if "@ " in last else ("", "", last)
        yield from lines[:-1]
        yield from [declared.strip()] if declared.strip() else []
        yield f"#ifndef __CPU_SIM  // {self.why}"
        yield call
        yield "#endif"


def lack(op: Op, type_of: Callable[[Value], str]) -> Lack | None:
    """Return the Lack of an op, or None; `type_of` gives the C++ type of a value."""
    asm = op.page.asm
    missing = [name for name in asm.cpp_needs if not op.bound(name)]
    views = any(isinstance(v.type, GlobalType) for v in (*(v for _, v in op.values()), *op.results))
    kinds = {type_of(v) for name in asm.one_type for v in op.bound(name)}
    if asm.cpp_on is NOWHERE:
        return Lack(op, NOWHERE, HEADERS)
    if missing:
        return Lack(
            op, NOWHERE, f"the call in the public headers takes a tile {', '.join(missing)}"
        )
    if asm.cpp_on is CHIPS or (views and asm.cpp_of_views is CHIPS):
        return Lack(op, CHIPS, SIMULATOR)
    if any(op.bound(name) for name in asm.chips_with):
        return Lack(op, CHIPS, f"{SIMULATOR} with {', '.join(asm.chips_with)}")
    if "_element}" in (asm.cpp_text or "") and any(_boxed(v) for _, v in op.values()):
        return Lack(op, NOWHERE, "an element of a tile of boxes has no C++")
    if len(kinds) > 1:
        return Lack(
            op,
            CHIPS,
            f"the CPU simulator of the public headers wants one type for {', '.join(asm.one_type)}",
        )
    return None


def _boxed(value: Value) -> bool:
    return isinstance(value.type, TileType) and value.type.slayout is not SLayout.NONE_BOX


def diagnostics(lacks: Sequence[Lack]) -> list[Diagnostic]:
    """Return a warning for each reason that an instruction is missing, at its first place."""
    found: dict[tuple[str, str], list[Lack]] = {}
    for one in lacks:
        found.setdefault((one.op.name, one.why), []).append(one)
    return [_diagnostic(some) for some in found.values()]


def _diagnostic(some: Sequence[Lack]) -> Diagnostic:
    first, more = some[0], len(some) - 1
    help = GUARDED if first.on is not NOWHERE else HELP
    if first.op.page.asm.cpp_needs:
        help = f"{HELP}; {SCRATCH}"
    notes = (Note(f"{more} more of them in this program"),) if more else ()
    message = f"{first.op.name}: {first.why}"
    return Diagnostic(SLUG, message, first.op.span, Severity.WARNING, help=help, notes=notes)

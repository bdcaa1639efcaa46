"""The registers of vector functions as variables of the main function.

LLVM keeps these variables in registers of the processor, since the functions of instructions on
registers are expanded where they are called. The reference, which carries out what compiled code
cannot, works on the memory of the registers: they are copied there and back around a call back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ptokit.ir.module import Func, Op
from ptokit.isa.model.targets import SPACES
from ptokit.isa.model.tiles import REGISTER_BYTES, RegisterType
from ptokit.isa.model.types import REGISTER_KINDS
from ptokit.machine.record.code import Code, Num
from ptokit.machine.record.trace import TracedTile
from ptokit.values.enumerations import Loc

REGISTERS = SPACES[Loc.REGISTER]  # the name of their memory


def on_registers(op: Op) -> bool:
    """Return whether the instruction reads or writes registers."""
    return any(o.kind in REGISTER_KINDS and op.bound(o.name) for o in op.page.operands)


def largest_register(func: Func) -> int:
    """Return the bytes of the largest register of a function."""
    kinds = (value.type for op in func.ops if isinstance(op, Op) for value in op.results)
    sizes = (kind.nbytes for kind in kinds if isinstance(kind, RegisterType))
    return max(sizes, default=REGISTER_BYTES)


@dataclass
class LocalRegisters:
    """The variables of registers, by their address in the memory of registers.

    Each register has two: its bytes (part 0), and which of them are defined (part 1). A logical
    vector is one variable, too.
    """

    variables: list[str]  # lines at the start of the main function
    size: int  # bytes of the largest register of the function
    made: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])

    def pointer(self, part: int, address: Num) -> str:
        """Return the variable of the register at an address."""
        assert isinstance(address, int)
        if (address, part) not in self.made:
            name = self.made[address, part] = f"%r{address}{'ds'[part]}"
            self.variables.append(f"  {name} = alloca [{self.size} x i8], align 64")
        return self.made[address, part]

    def of(self, handles: Iterable[object]) -> list[Content]:
        """Return the content of each register among some handles."""
        tiles = (h for h in handles if isinstance(h, TracedTile) and h.memory.name == REGISTERS)
        sizes = {t.elements.address: t.type.nbytes for t in tiles}
        for address in sizes:
            self.pointer(0, address)  # what is called may be the first to write it
        return [Content(a, p, n, sizes[a]) for (a, p), n in self.made.items() if a in sizes]


class Content(NamedTuple):
    """The bytes of a register (part 0), or which of them are defined: memory and variable."""

    address: int
    part: int
    variable: str
    size: int


def moved(code: Code, source: str, target: str, size: int) -> None:
    """Copy the content of a register."""
    content = code.let(f"load <{size} x i8>, ptr {source}, align 1")
    code.do(f"store <{size} x i8> {content}, ptr {target}, align 1")

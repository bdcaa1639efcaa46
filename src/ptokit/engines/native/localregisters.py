"""The registers of vector functions as variables of the main function.

LLVM keeps these variables in registers of the processor, since the functions of instructions on
registers are expanded where they are called. The reference, which carries out what compiled code
cannot, works on the memory of the registers: they are copied there and back around a call back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ptokit.ir.module import Op
from ptokit.isa.model.targets import SPACES
from ptokit.isa.model.tiles import REGISTER_BYTES
from ptokit.isa.model.types import Kind
from ptokit.machine.record.code import Code, Num
from ptokit.machine.record.trace import TracedTile
from ptokit.values.enumerations import Loc

REGISTERS = SPACES[Loc.REGISTER]  # the name of their memory
WHOLE = f"<{REGISTER_BYTES} x i8>"


def on_registers(op: Op) -> bool:
    """Return whether the instruction reads or writes registers."""
    return any(o.kind is Kind.REGISTER and op.bound(o.name) for o in op.page.operands)


@dataclass
class LocalRegisters:
    """The variables of registers, by their address in the memory of registers.

    Each register has two: its bytes (part 0), and which of them are defined (part 1).
    """

    variables: list[str]  # lines at the start of the main function
    made: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])

    def pointer(self, part: int, address: Num) -> str:
        """Return the variable of the register at an address."""
        assert isinstance(address, int)
        if (address, part) not in self.made:
            name = self.made[address, part] = f"%r{address}{'ds'[part]}"
            self.variables.append(f"  {name} = alloca [{REGISTER_BYTES} x i8], align 64")
        return self.made[address, part]

    def of(self, handles: Iterable[object]) -> list[tuple[int, int, str]]:
        """Return address, part and variable of each register among some handles."""
        tiles = (h for h in handles if isinstance(h, TracedTile) and h.memory.name == REGISTERS)
        addresses = {t.elements.address for t in tiles}
        return [(a, p, name) for (a, p), name in self.made.items() if a in addresses]


def moved(code: Code, source: str, target: str) -> None:
    """Copy the content of a register."""
    content = code.let(f"load {WHOLE}, ptr {source}, align 1")
    code.do(f"store {WHOLE} {content}, ptr {target}, align 1")

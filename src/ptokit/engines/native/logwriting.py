"""The execution log of compiled code: a record for each executed instruction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptokit.engines.native.frame import BLOCK
from ptokit.engines.native.mainfunction import MainFunction
from ptokit.ir.module import Op, Value
from ptokit.machine.arguments import Env
from ptokit.machine.execute import LOG_WORDS
from ptokit.machine.executionlog import OF_BLOCK, LogPoint
from ptokit.machine.record.code import Coded, Int, Num, text
from ptokit.machine.record.handles import FrameSlot, MemoryNumber, mapped
from ptokit.machine.record.trace import FRAME, NOWHERE, Recorded
from ptokit.machine.tile import Pointer


def block_begins(main: MainFunction) -> None:
    """Write the start of a block to the log."""
    _write(main, OF_BLOCK, [main.load(main.place(BLOCK))])


def executed(main: MainFunction, op: Op, env: Env) -> None:
    """Write a record of an instruction before it executes."""
    fields = _RecordFields()
    values = tuple(
        (number, fields.template(main.now(env[value])))
        for number, (_, value) in enumerate(op.values())
        if value in env
    )
    deciding = tuple(n for n in range(len(fields.found)) if n not in fields.places)
    iteration = tuple((value.name, fields.template(main.now(n))) for value, n in _counters(main))
    point = LogPoint(main.places[id(op)], values, iteration, len(fields.found), deciding)
    _write(main, len(main.points), fields.found)
    main.points.append(point)


def _counters(main: MainFunction) -> Iterator[tuple[Value, Num]]:
    """Yield the induction variables of the enclosing loops."""
    for block, args in main.inside:
        if block.args and isinstance(args[0], int | Int):
            yield block.args[0], args[0]


class _RecordFields:
    """The numbers of a record; `places` are those that are addresses of operands."""

    def __init__(self) -> None:
        self.found: list[Int] = []
        self.places: set[int] = set()

    def template(self, value: object) -> object:
        if isinstance(value, Coded) or not isinstance(value, Recorded | Pointer | int | Int):
            return None  # accesses do not depend on it
        space: Any = getattr(value, "memory", None)  # Any: a Space, where it is a handle
        if space is not None and space.number in (FRAME.number, NOWHERE):
            return None  # a scalar array, which no pipe reaches, or a null view
        return mapped(value, self._number, lambda s: MemoryNumber(s.number), self._place)

    def _number(self, number: Num) -> Any:  # Any: a number, or a slot of the record
        if isinstance(number, int):
            return number
        self.found.append(number)
        return FrameSlot(len(self.found) - 1)

    def _place(self, number: Num) -> Any:  # Any: as above
        kept = self._number(number)
        if isinstance(kept, FrameSlot):
            self.places.add(kept.number)
        return kept


def _write(main: MainFunction, point: int, numbers: list[Int]) -> None:
    """Write a record if there is room."""
    code, size = main.code, 1 + len(numbers)
    base = main.memory(main.log_space().number, 0)
    used = code.let(f"load i64, ptr {base}")
    fits = code.let(f"icmp ule i64 {used}, {LOG_WORDS - size}")
    with code.when(fits):
        for offset, number in enumerate((point, *numbers)):
            index = code.let(f"add i64 {used}, {offset}")
            place = code.let(f"getelementptr i64, ptr {base}, i64 {index}")
            code.do(f"store i64 {text(number)}, ptr {place}")
        code.do(f"store i64 {code.let(f'add i64 {used}, {size}')}, ptr {base}")
    with code.when(code.let(f"xor i1 {fits}, true")):
        code.do(f"store i64 1, ptr {code.let(f'getelementptr i64, ptr {base}, i64 1')}")

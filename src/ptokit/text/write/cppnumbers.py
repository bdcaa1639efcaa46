"""Constants in C++: a constant whose name only repeats its value is written as a literal."""

from __future__ import annotations

import re
from collections import defaultdict

from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.traits import ALLOCATES, TERMINATOR
from ptokit.isa.model.types import Kind, ScalarType
from ptokit.text.write.cpptypes import identifier

INT = 1 << 31  # literals from here on are not of type int
VALUE = re.compile(r"[A-Za-z]*_?(\d+)(?:_\w+)?")  # a name that spells a number: c8, at_64, c1_i32
EXPRESSION = "const {type} {result} = "
SENSITIVE = ("decltype", "sizeof", "__int128")  # operators that depend on an operand's type
Use = tuple[Op, str]  # an op, and the name of one of its operands


def uses_of(func: Func) -> dict[Value, list[Use]]:
    """Return the uses of each value of a function."""
    found: dict[Value, list[Use]] = defaultdict(list)
    for op in func.body.walk():
        if isinstance(op, Op):
            for name, value in op.values():
                found[value].append((op, name))
    return found


class Numbers:
    """The integer constants of a function, and those that are written as literals."""

    def __init__(self, func: Func, uses: dict[Value, list[Use]]) -> None:
        self.known: dict[Value, int] = {}
        for op in func.body.walk():
            if isinstance(op, Op) and op.page.asm.shape == "constant":
                self.known.update((r, v) for r in op.results if (v := _integer(op, r)) is not None)
        self.literals = {v for v in self.known if self._spells(v) and self._fits(uses[v])}

    def _spells(self, value: Value) -> bool:
        """Return whether the name repeats the number, like `c8`, or the text gives the number."""
        found = VALUE.fullmatch(identifier(value.name))
        return value.literal or (found is not None and int(found[1]) == self.known[value])

    def _fits(self, uses: list[Use]) -> bool:
        return all(self._literal_fits(op, name) for op, name in uses)

    def _literal_fits(self, op: Op, name: str) -> bool:
        """Return whether a literal means the same in C++ as a constant with a type."""
        traits = op.page.traits
        typed = ALLOCATES in traits or TERMINATOR in traits or op.calls or op.regions
        if op.page.operand(name).kind is Kind.INDEX or typed:
            return True
        text = op.page.asm.cpp_text or ""
        if not text.startswith(EXPRESSION) or any(word in text for word in SENSITIVE):
            return False
        shifted = name == "lhs" and ("<<" in text or ">>" in text)
        others = [v for n, v in op.values() if n != name]
        return not shifted and all(v not in self.known for v in others)


def _integer(op: Op, result: Value) -> int | None:
    """Return the value of an integer constant that is an `int` in C++; None for one bit."""
    kind, value = result.type, next(iter(op.attrs.values()), None)
    whole = isinstance(kind, ScalarType) and not kind.is_float and kind.bits != 1
    if not whole or not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if -INT < value < INT else None

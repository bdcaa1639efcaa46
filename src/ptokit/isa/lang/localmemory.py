"""Protocol of the form in which instructions with pointers into local memory are executed.

A page with such an operand has a hook `lowered`, which says by which other instructions the
instruction is carried out. Its parameters are operands, attributes and types of results by name,
and `make`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import ScalarType, Type
from ptokit.values.dtypes import DType

Quantity: TypeAlias = "object"  # a number of the program, or one that is known
COMBINING, COMBINED = "combining", "combined"  # the operation, and the type of the elements
PADDING = "padding"  # the number that follows bursts
INTO_UB, OUT_OF_UB = "into ub", "out of ub"  # directions of transfers with loops of registers
COUNTS, STEPS = "counts", ("inner steps", "outer steps")  # of these loops, with the direction
# registers whose contents are known at the start of a function: stores combine nothing
AT_START: Mapping[str, Quantity] = {
    COMBINING: "",
    COMBINED: None,
    **{f"{COUNTS} {way}": (1, 1) for way in (INTO_UB, OUT_OF_UB)},
}


class Inside(NamedTuple):
    """An address that is known as a number of bytes from the start of a tile."""

    tile: Quantity
    offset: Quantity


class LocalPointer(NamedTuple):
    """A pointer into the vector buffer: a byte address, and the type of its elements."""

    address: Quantity
    dtype: DType

    def moved(self, make: Emitting, offset: Quantity) -> LocalPointer:
        """Return the pointer `offset` elements further on; without an offset, this one."""
        if offset is None:
            return self
        bits = self.dtype.bits
        step = make.times(offset, bits // 8) if bits >= 8 else make.over(offset, 8 // bits)
        return LocalPointer(make.sum(self.address, step), self.dtype)


class Emitting(Protocol):
    """The instructions that take the place of one."""

    def sum(self, one: Quantity, other: Quantity) -> Quantity: ...
    def times(self, one: Quantity, other: Quantity) -> Quantity: ...
    def less(self, one: Quantity, other: Quantity) -> Quantity: ...
    def over(self, one: Quantity, number: int) -> Quantity: ...  # the quotient, rounded down
    def left_after(self, one: Quantity, number: int) -> Quantity: ...  # at least 0
    def known(self, term: Quantity) -> int | None: ...
    def op(
        self,
        page: Any,  # Any: a page, whose module imports this one
        operands: Mapping[str, Quantity],  # for a list a list
        attrs: Mapping[str, object] | None = None,
        results: Sequence[Type] = (),
    ) -> list[Quantity]:
        """Add an instruction; return its results."""
        ...

    def repeat(self, count: Quantity, body: Callable[[Quantity], None]) -> None:
        """Add what `body` adds, for each number below `count`."""
        ...

    def fold(
        self,
        count: Quantity,
        starts: Sequence[Quantity],
        body: Callable[[Quantity, Sequence[Quantity]], Sequence[Quantity]],
    ) -> Sequence[Quantity]:
        """Add a loop whose iterations pass values on; return the last ones."""
        ...


class Lowering(Emitting, Protocol):
    """The instructions that take the place of one with pointers into local memory."""

    def window(self, kind: TileType, address: Quantity, cols: Quantity = None) -> Quantity:
        """Return the bytes at an address as a tile; `cols` are valid if the type says `?`."""
        ...

    @property
    def registers(self) -> dict[str, Quantity]:
        """Return the contents of registers that are known at this place, by name."""
        ...

    @property
    def alone(self) -> bool: ...  # whether no instruction of the function works on tiles

    def address(self, tile: Quantity) -> Quantity:
        """Return the address that the program gives a tile, else its start."""
        ...


class Thread(Emitting, Protocol):
    """The instructions that take the place of one that a thread of a launch executes.

    Axes are 0 for x, 1 for y and 2 for z; all these numbers are of type index.
    """

    def constant(self, number: float, kind: Type) -> Quantity: ...

    def place(self, axis: int) -> Quantity:
        """Return the number of the thread along an axis."""
        ...

    def extent(self, axis: int) -> Quantity:
        """Return the number of threads along an axis."""
        ...

    def number(self) -> Quantity:
        """Return the number of the thread among all threads of the launch."""
        ...

    def lane(self) -> Quantity:
        """Return the number of the thread among those whose values it may use."""
        ...

    def takes_part(self, thread: Quantity) -> Quantity:
        """Return, as i1, whether the thread of a number executes this instruction."""
        ...

    def of(self, operand: str, thread: Quantity) -> Quantity:
        """Return the value that another thread, by its number, has for an operand."""
        ...

    def over_lanes(
        self,
        operand: str,
        start: Quantity,
        step: Callable[[Quantity, Quantity, Quantity], Quantity],
    ) -> Quantity:
        """Return the last of the results of `step(result, value, lane)` over all lanes, in order.

        `value` is what the thread of the lane has for the operand; the first result is `start`.
        """
        ...

    def kind_of(self, operand: str) -> ScalarType:
        """Return the type of an operand that is a number."""
        ...

    def kept(self, number: int, kind: ScalarType) -> Quantity:
        """Return the array of a slot that threads keep values in from launch to launch."""
        ...

"""Types of operands that answer more than those of programs do, for searches of witnesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptokit.isa.model.tiles import LogicalType
from ptokit.isa.model.types import PtrType
from ptokit.values.dtypes import DType
from ptokit.values.enumerations import Loc
from ptokit.values.layouts import Shape


@dataclass(frozen=True)
class Moved(PtrType):
    """A pointer of which a rule knows where it points."""

    offset: int = 0  # type: ignore[assignment]


@dataclass(frozen=True)
class Grained(LogicalType):
    """A logical vector that answers as a mask does, too."""

    grain: int = 0  # type: ignore[assignment]


@dataclass(frozen=True)
class Placed:
    """A tile whose address matters to a rule: what a handle on it answers."""

    kind: Any  # Any: a tile or convolution tile type
    address: int

    @property
    def place(self) -> tuple[int, int]:
        return 0, self.address

    def __getattr__(self, name: str) -> Any:  # Any: whatever the type says of itself
        return getattr(self.kind, name)


def vector(
    dtype: DType, cols: int, sign: bool, pair: bool, grain: int, word: str, **_: Any
) -> LogicalType:  # Any: what else is said of it
    text = f"{'s' if sign else ''}{dtype}{'x2' if pair else ''}"
    whole = Shape(1, cols)
    return Grained(Loc.REGISTER, dtype, 1, cols, whole, word=word, spelled=text, grain=grain)

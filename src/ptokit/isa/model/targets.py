"""The targets as data: capacities, alignment, aliases and what each leaves undefined."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from ptokit.isa.model.layouts import NZ, ZZ, Layout
from ptokit.isa.model.tiles import ALIASES, TileType
from ptokit.isa.model.words import (
    ACC,
    BIAS,
    LEFT,
    MAT,
    RIGHT,
    SCALE_LEFT,
    SCALE_RIGHT,
    SCALING,
    VEC,
    GatherOOB,
    Loc,
)

T = TypeVar("T")
KIB = 1024

# The memory behind each location, by the hardware's name.
SPACES: dict[Loc, str] = {
    VEC: "UB",
    MAT: "L1",
    LEFT: "L0A",
    RIGHT: "L0B",
    ACC: "L0C",
    BIAS: "BT",
    SCALING: "FB",
    SCALE_LEFT: "L0A_MX",
    SCALE_RIGHT: "L0B_MX",
}


@dataclass(frozen=True)
class Target:
    """One machine a program can be checked for and run on.

    `capacity` in bytes per memory space; 0: the target has no such space. Every tile address must
    be a multiple of `alignment`. `left` is the layout the alias TileLeft has there (C29).
    """

    name: str
    title: str
    capacity: dict[str, int]
    left: Layout
    wide4: bool
    alignment: int = 32
    gathers: GatherOOB = GatherOOB.ERROR  # an index outside: undefined on hardware, so reported
    pinned_left: bool = True  # a boxed Left tile has the alias's layout, whatever the text says

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> str | tuple[object, ...]:
        """A copy of a target of the table is that target itself."""
        known = TARGETS.get(self.name) is self
        return (_of_table, (self.name,)) if known else super().__reduce__()

    def capacity_of(self, loc: Loc) -> int:
        return self.capacity[SPACES[loc]]

    def alias(self, loc: Loc) -> tuple[Layout, int]:
        """Layout and fractal of the alias of an L0 location."""
        layout, fractal = ALIASES[loc]
        return (self.left if loc is LEFT else layout), fractal

    def resolve_any(self, kind: T) -> T | TileType:
        """`resolve` for tile types; other types as they are."""
        return self.resolve(kind) if isinstance(kind, TileType) else kind

    def resolve(self, tile: TileType) -> TileType:
        """`tile` as this target lays it out: the Left alias, 64-element 4-bit boxes."""
        if self.wide4 and tile.dtype.packed:
            tile = replace(tile, wide4=True)
        if self.pinned_left and tile.loc is LEFT and tile.layout in (NZ, ZZ):
            tile = replace(tile, layout=self.left)
        return tile


def _sizes(ub: int, l0c: int, bt: int, fb: int, mx: int) -> dict[str, int]:
    l1, l0 = 512, 64
    sizes = {"UB": ub, "L1": l1, "L0A": l0, "L0B": l0, "L0C": l0c, "BT": bt, "FB": fb}
    return {name: n * KIB for name, n in (sizes | {"L0A_MX": mx, "L0B_MX": mx}).items()}


# The CPU simulator keeps Bias and Scaling tiles in UB; here they have spaces of their own, of A5's
# size, so that equal addresses in different locations never alias.
CPU_TARGET = Target(
    "cpu",
    "CPU simulator",
    _sizes(512, 128, 4, 4, 4),
    left=NZ,
    wide4=False,
    gathers=GatherOOB.WRAP,
    pinned_left=False,
)
A2A3_TARGET = Target("a2a3", "Ascend A2/A3", _sizes(192, 128, 1, 2, 0), left=ZZ, wide4=False)
A5_TARGET = Target("a5", "Ascend A5", _sizes(256, 256, 4, 4, 4), left=NZ, wide4=True)


def _of_table(name: str) -> Target:
    return TARGETS[name]


TARGETS: dict[str, Target] = {t.name: t for t in (CPU_TARGET, A2A3_TARGET, A5_TARGET)}

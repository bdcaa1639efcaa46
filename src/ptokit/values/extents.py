"""Extents: of tiles, and of convolution tiles by name, as each layout lists them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from ptokit.values.enumerations import ConvLayout

# The axes of each layout, outermost first: group, image, channel, depth, height, width. Blocks are
# c1 of c0 channels and n1 of n0 images; k counts the rows of a weight matrix (WEIGHTS).
AXES: dict[ConvLayout, str] = {
    ConvLayout.NCHW: "n c h w",
    ConvLayout.GNCHW: "g n c h w",
    ConvLayout.NCDHW: "n c d h w",
    ConvLayout.NC1HWC0: "n c1 h w c0",
    ConvLayout.GNC1HWC0: "g n c1 h w c0",
    ConvLayout.NDC1HWC0: "n d c1 h w c0",
    ConvLayout.FRACTAL_Z: "k n1 n0 c0",
    ConvLayout.FRACTAL_Z_3D: "k n1 n0 c0",
}
FRACTALS = (ConvLayout.FRACTAL_Z, ConvLayout.FRACTAL_Z_3D)
LISTED_WEIGHTS = "c1 h w n c0"  # of weights whose blocks are not counted
WEIGHTS = ("g", "d", "c1", "h", "w")
N0 = 16


def times(*extents: int | None) -> int | None:
    """The product of extents; None where one of them is not known."""
    known = [n for n in extents if n is not None]
    return prod(known) if len(known) == len(extents) else None


class Extents:
    """`extents.h` is an extent by its name: as listed, as the others imply it, or 1.

    `lanes`: the channels that 32 bytes hold.
    """

    def __init__(self, layout: ConvLayout, shape: tuple[int, ...], lanes: int) -> None:
        wide = layout is ConvLayout.FRACTAL_Z and len(shape) == len(LISTED_WEIGHTS.split())
        self.axes = tuple((LISTED_WEIGHTS if wide else AXES[layout]).split())
        self.lanes = lanes
        self.listed = dict(zip(self.axes, shape, strict=False))

    @property
    def rank(self) -> int:
        """How many extents the layout lists."""
        return len(self.axes)

    def __getattr__(self, name: str) -> int:
        if name.startswith("_") or name == "listed":
            raise AttributeError(name)
        return self.of(name)

    def of(self, axis: str) -> int:
        """The extent of an axis."""
        if axis in self.listed:
            return self.listed[axis]
        match axis:
            case "c":
                return self.of("c1") * self.of("c0")
            case "c1":
                return -(-self.listed["c"] // self.lanes) if "c" in self.listed else 1
            case "c0":
                return self.lanes
            case "n1":
                return -(-self.of("n") // N0)
            case "k":
                return prod(self.of(a) for a in WEIGHTS)
            case _:
                return 1


@dataclass(frozen=True)
class Shape:
    """Rows and columns; None where they are known only when the program runs."""

    rows: int | None
    cols: int | None

    def __str__(self) -> str:
        return "x".join("?" if n is None else str(n) for n in (self.rows, self.cols))

    @property
    def static(self) -> bool:
        return self.rows is not None and self.cols is not None

    def __iter__(self) -> Iterator[int | None]:
        return iter((self.rows, self.cols))

"""The cost of moves between memories, and of products in the cube unit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import ceil, prod

from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.globaltypes import DataType, GlobalType
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.words import GlobalLayout
from ptokit.machine.costs.cost import Cost, Origin
from ptokit.machine.costs.figures import figures, is_table, origin
from ptokit.machine.costs.sizes import Operands, elements, ends, shape_of
from ptokit.values.enumerations import LEFT, RIGHT

GIB = 1 << 30
GM = "gm"  # the location of views, in names of paths
CARRIES = {None, FifoRole.PUSHES, FifoRole.POPS}  # instructions of other roles only signal


@dataclass(frozen=True)
class Bandwidth:
    """The figures of one path, explained in the data file. `hill` is None where `flat` predicts."""

    flat: float
    origin: Origin
    hill: tuple[float, float] | None
    line: int
    boxes: bool
    counted: int | None

    @property
    def peak(self) -> float:
        """The rate in GiB per second that no transfer exceeds."""
        return self.flat if self.hill is None else self.hill[0]

    def cycles(self, nbytes: int, mhz: float, copies: int = 1) -> int:
        """Return whole cycles at `mhz` for `nbytes` bytes in `copies` copies, at least one."""
        if not nbytes:
            return 1
        whole = ceil(nbytes / self.line) * self.line
        half = 0 if self.hill is None else self.hill[1] * copies
        return max(1, int((half + whole) / GIB / self.peak * mhz * 1e6))


@cache
def bandwidth(file: str, path: str) -> Bandwidth | None:
    """Return the figures of a path, "gm>vec" or similar; None if there are none."""
    table = figures(file)["paths"]
    row = table.get(path)
    if not is_table(row):
        return None
    peak, half = row.get("hill", (0, 0))
    hill = (peak, half) if row.get("use") == "hill" else None
    line, boxes, counted = row.get("line", 1), row.get("boxes", False), row.get("counted")
    return Bandwidth(row["flat"], origin(table, row), hill, line, boxes, counted)


def moved(page: type[Instr], operands: Operands, file: str) -> Cost | None:
    """Return the cost of an instruction that moves data; None without figures of its path.

    An entry of a FIFO has one end at this instruction, and lies in global memory between the ends.
    """
    source, target = ends(page, operands)
    if page.fifo_role not in CARRIES:
        return Cost(figures(file)["core"]["issue"], origin(figures(file)["core"]))
    path = f"{_place(source)}>{_place(target)}"
    figure = bandwidth(file, path)
    known = [k for k in (source, target) if k is not None]
    if figure is None or not known:
        return None
    least = min((k for k in known if not isinstance(k, ConvTileType)), key=elements, default=None)
    count = elements(known[-1] if least is None else least)
    unit = next((k for k in known if isinstance(k, GlobalType)), known[-1])
    nbytes = unit.dtype.nbytes(count)
    timed = count * figure.counted if figure.counted else nbytes
    if figure.boxes and isinstance(target, TileType):
        timed = _boxes(target) * target.fractal
    cycles = figure.cycles(timed, figures(file)["core"]["frequency"], min(_copies(unit), count))
    return Cost(cycles, figure.origin, bytes=nbytes, path=path)


def _copies(kind: DataType) -> int:
    """Return the number of instructions for a view: each moves evenly spaced rows, or boxes."""
    if not isinstance(kind, GlobalType):
        return 1
    shape = [1 if n is None else n for n in kind.shape]
    return prod(shape[:-4] if kind.layout is GlobalLayout.NZ else shape[:-2])


def _place(kind: DataType | None) -> str:
    """Return the location of one end, for the name of a path."""
    return GM if kind is None or isinstance(kind, GlobalType) else kind.loc.text


def _boxes(tile: TileType) -> int:
    """Return the number of boxes that the valid region of a tile touches."""
    rows, cols = shape_of(tile)
    return ceil(rows / (tile.box.rows or 1)) * ceil(cols / (tile.box.cols or 1))


def product(operands: Operands, file: str) -> Cost | None:
    """Return the cost of the product of a left and a right tile; None if there are none."""
    tiles = {k.loc: k for k in operands.values() if isinstance(k, TileType)}
    if LEFT not in tiles or RIGHT not in tiles:
        return None
    table = figures(file)["cube"]
    dtype = tiles[LEFT].dtype
    (m, k), n = shape_of(tiles[LEFT]), shape_of(tiles[RIGHT])[1]
    steps = ceil(m / table["rows"]) * ceil(dtype.nbytes(k) / table["depth"])
    steps *= ceil(n / table["cols"]) * table["slow"].get(dtype.name, table["step"])
    return Cost(max(1, steps), origin(table), head=table["head"], flop=2 * m * k * n)

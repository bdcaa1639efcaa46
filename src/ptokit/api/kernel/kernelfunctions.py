"""Functions for kernels besides instructions: blocks, loads, stores, products, numbers."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from ptokit.api import tensors
from ptokit.api.hostarrays import Tile, stated
from ptokit.api.kernel.callplaces import refused
from ptokit.api.kernel.controlflow import ProgramRange, branch, grid
from ptokit.api.kernel.kernelarrays import KernelArray
from ptokit.api.kernel.pagesearch import page_called
from ptokit.api.kernel.recorder import recorder
from ptokit.api.kernel.runtimenumbers import RunTimeNumber, cdiv, chosen
from ptokit.api.kernel.valueforms import new_tile, perform, value_form
from ptokit.isa.model.tiles import ALIASES, ConvTileType
from ptokit.isa.model.types import I64, Kind, ScalarType
from ptokit.isa.model.usual import rounded_up, usual_type
from ptokit.isa.model.words import GlobalLayout
from ptokit.launch.settings import current_target, recording
from ptokit.values.dtypes import f8e8m0
from ptokit.values.enumerations import (
    ACC,
    MAT,
    SCALE_LEFT,
    SCALE_RIGHT,
    VEC,
    ConvLayout,
    Loc,
    PadValue,
    Word,
)
from ptokit.values.layouts import Layout
from ptokit.values.pads import CustomPad

range = ProgramRange


def block(array: object, row: int, col: int, rows: int, cols: int) -> KernelArray:
    """Return the rows x cols block at (row, col) of an argument's last two axes.

    The block is clipped at the edge. An argument with one axis is a row.
    """
    return _argument(array).block(row, col, rows, cols)


def _argument(array: object) -> KernelArray:
    if isinstance(array, Tile):
        raise TypeError(f"{array!r} is a tile; expected an argument of the kernel: check the order")
    if not isinstance(array, KernelArray):
        what = f"an argument of a kernel, not {type(array).__name__}"
        raise TypeError(f"pto.block, pto.load and pto.store take {what}: @pto.kernel makes one")
    return array


def _do(
    verb: str, *things: object, names: tuple[str, ...], writes: Kind | None = None, **how: object
) -> None:
    """Perform the instruction with this verb on its first operands."""
    page = page_called(verb, writes=writes)
    if page is None:
        raise TypeError(f"no instruction is called {verb}")
    given = {o.name: t for o, t in zip(page.operands, things, strict=False)}
    perform(page, {**given, **how}, names)


def loaded(
    part: object,
    loc: Loc | str = VEC,
    *,
    layout: Layout | str | None = None,
    pad: PadValue | CustomPad | str | None = None,
    conv: tensors.Unrolling | None = None,
) -> Tile:
    """Load a part of an argument into a new tile, or a feature map with `conv`."""
    part = _argument(part)
    where = tensors.word(Loc, loc, "location")
    scales = where is MAT and part.dtype is f8e8m0 and layout is None
    if (conv is not None or scales) and not (layout is None and pad is None):
        raise TypeError("pto.load of a feature map, or of scales, takes no layout and no pad")
    if conv is not None:
        return _map(part.stated(GlobalLayout.NC1HWC0), where, conv)
    if scales:
        return _scales(part)
    rows, cols = part.box or part.matrix
    if isinstance(rows, RunTimeNumber) or isinstance(cols, RunTimeNumber):
        help = (
            f"load a block of it, pto.block(array, row, col, rows, cols), not {rows!r} x {cols!r}"
        )
        what = "the shape of a tile is fixed while the kernel is recorded"
        raise refused("tile-shape", what, help)
    kind = usual_type(where, part.dtype, rows, cols)
    if layout is None and part.layout is GlobalLayout.DN:
        layout = Layout.ZN if where is MAT else Layout.DN
    if layout is not None or kind.layout is Layout.DN:
        chosen = tensors.word(Layout, layout or Layout.ND, "layout")
        kind = rounded_up(replace(kind, rows=rows, cols=cols, layout=chosen))
    if pad is not None:
        value = pad if isinstance(pad, CustomPad) else tensors.word(PadValue, pad, "pad")
        kind = replace(kind, pad=value)
    tile = new_tile(kind, part.matrix)
    _do("load", tile, part, names=("part",))
    return tile


def _map(part: KernelArray, where: Loc, conv: tensors.Unrolling) -> Tile:
    """Load a feature map (image, channel block, height, width, 32 bytes of channels) into L1."""
    kind = ConvTileType(part.dtype, part.sizes, ConvLayout.NC1HWC0, where, **vars(conv))  # type: ignore[arg-type]  # extents of a feature map are ints
    tile = new_tile(kind)
    _do("load", tile, part, names=("part",), writes=Kind.CONV)
    return tile


def _scales(part: KernelArray) -> Tile:
    """Load group scales of a left matrix, row by row; with `.T`, those of the right matrix."""
    transposed = part.layout is GlobalLayout.DN
    kind = SCALE_RIGHT if transposed else SCALE_LEFT
    tile = new_tile(
        usual_type(MAT, part.dtype, *(part.box or part.shape[-2:]), ALIASES[kind]), part.shape[-2:]
    )
    layout = GlobalLayout.MX_B_DN if transposed else GlobalLayout.MX_A_ND
    _do("load", tile, (part.T if transposed else part).stated(layout), names=("part",))
    return tile


def store(
    part: object,
    tile: Tile,
    *,
    quant: Tile | float | None = None,
    phase: Word | str | None = None,
    atomic: Word | str | None = None,
    relu: Word | str | None = None,
    layout: GlobalLayout | str | None = None,
) -> None:
    """Write the valid region of a tile to a part of an argument."""
    how = stated(quant=quant, phase=phase, atomic=atomic, relu=relu, layout=layout)
    part = _argument(part)
    _require_values(part, tile)
    _do("store", part, tile, names=("dst", "src"), **how)


def _require_values(part: KernelArray, tile: object) -> None:
    """Raise an error for a store that would reinterpret bits; only accumulators convert.

    An array of unsigned numbers may hold the bits of any type.
    """
    if not isinstance(tile, Tile):
        return
    kinds = tile.type.dtype, part.dtype
    real = [kind.is_float for kind in kinds]
    alike = kinds[0] is kinds[1] or not any(real) or not kinds[1].signed
    if alike or tile.type.loc is ACC or kinds[0].bits != kinds[1].bits:
        return
    what = f"a store of {kinds[0]} into {part.name}, an array of {kinds[1]}, keeps the bits"
    help = f"convert the values, tile.cast({kinds[1]}); use a bit cast to keep the bits"
    raise refused("element-type", what, help)


def full(
    dtype: tensors.ElementType, rows: int, cols: int, value: float, *, valid: object = None
) -> Tile:  # two numbers
    """Return a vector tile whose elements all are `value`."""
    kind = usual_type(VEC, tensors.dtype_of(dtype), rows, cols)
    form, tile = value_form("full"), new_tile(kind, valid or (rows, cols))
    assert form is not None
    return form(value, out=tile)


def copy(tile: Tile, *, out: Tile | None = None) -> Tile:
    """Copy a tile into another tile, or into a new one."""
    form = value_form("to")
    assert form is not None
    return form(tile, out=out)


def matmul(
    a: Tile,
    b: Tile,
    *,
    acc: Tile | None = None,
    first: object = None,
    phase: Word | str | None = None,
    short: Word | str | None = None,
) -> Tile:
    """Return a x b in a new accumulator, or added to `acc`, which a true `first` overwrites."""
    how = stated(phase=phase, short=short)
    product, onto = value_form("matmul"), value_form("accumulate")
    assert product is not None
    assert onto is not None
    if acc is None or first is True:
        return product(a, b, out=acc, **how)
    if isinstance(first, RunTimeNumber):
        for begins in branch(first, (), ()):
            product(a, b, out=acc, **how) if begins else onto(acc, a, b, out=acc, **how)
        return acc
    return onto(acc, a, b, out=acc, **how)


def print(*things: object) -> None:
    """Print text, numbers and tiles when the program runs, and in `debug`.

    Each number is a line, after the text before it. Python's own print runs during recording.
    """
    label = ""
    for thing in (*things, None):
        if isinstance(thing, str):
            label = f"{label} {thing}".strip()
        elif isinstance(thing, Tile):
            _print_number(label, None)
            _do("print_tile", thing, names=("things",))
            label = ""
        elif thing is not None or label:
            _print_number(label, thing)
            label = ""


def _print_number(label: str, number: Any) -> None:  # Any: a number, or None
    """Print a line with a text and a number, or with one of them."""
    if number is None and not label:
        return
    real = isinstance(number, float) or (isinstance(number, RunTimeNumber) and number.kind.is_float)
    text = label.replace("%", "%%")
    form = text if number is None else f"{text} {'%f' if real else '%d'}".strip()
    given = 0 if number is None else number
    if recording.get() is None:
        sys.stdout.write(f"{form % (() if number is None else given)}\n")
        return
    record, page = recorder(), page_called("print_number", executes=False)
    if page is None:
        raise TypeError("no instruction prints numbers")
    kind = ScalarType("f32") if real else I64
    value = record.number(given, kind)
    record.emit(page, {page.ins()[0].name: (value,)}, {page.attrs[0].name: form})


def where(condition: object, yes: Any, no: Any) -> Any:  # Any: numbers, for checkers ints
    """Return `yes` if a condition on numbers holds, else `no`."""
    return chosen(condition, yes, no)


def target_name() -> str:
    """Return the name of the target on which a kernel is debugged."""
    return current_target().name


__all__ = [
    "block",
    "cdiv",
    "copy",
    "full",
    "grid",
    "loaded",
    "matmul",
    "print",
    "range",
    "store",
    "target_name",
    "where",
]

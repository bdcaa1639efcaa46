"""Manual pages of topics: types, locations, layouts, enums, targets, functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from textwrap import wrap
from typing import TypeAlias

from ptokit.diagnostics.diagnostic import Judge
from ptokit.isa.index import pages
from ptokit.isa.lang.samples import DOUBLE
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import MACHINES, READINGS, SPACES, TARGETS, TRAITS, Target
from ptokit.isa.model.tiles import (
    ALIASES,
    TILE_RULES,
    ConvTileType,
    MultiTileType,
    TileType,
    tile_type,
)
from ptokit.isa.model.types import PtrType, ScalarType
from ptokit.isa.model.words import Order
from ptokit.passes.pipeline import PASSES
from ptokit.tools.draw import layout_picture
from ptokit.tools.manual.instruction import example_section
from ptokit.values.dtypes import DTYPES, DType, f16
from ptokit.values.enumerations import Loc, Word
from ptokit.values.layouts import Layout

Page: TypeAlias = "Callable[[], str]"

# Pages of constructs around instructions: a line for the contents, the text, an example.
FUNCTIONS = {
    "module": (
        "the functions of a file",
        "A module holds functions. A file may leave it out, and the function too: then its ops are "
        "one function, whose arguments are the names that nothing defines and whose outputs are "
        "the tiles it defines.",
        "module {\n" + "".join(f"  {line}\n" for line in DOUBLE.splitlines()) + "}",
    ),
    "func.func": (
        "a kernel: its arguments and what it does",
        "A function is what `run` starts. An argument of type !pto.ptr takes an array of any "
        "shape, a tile an array of its valid region's shape, a scalar a number; the pointers and "
        "tiles that the function writes are its outputs. A launch runs it once for each block.",
        DOUBLE,
    ),
}
JUDGES = {
    Judge.ASSEMBLER: "what the newest public assembler verifies",
    Judge.HEADERS: "what the public C++ headers assert",
    Judge.HARDWARE: "what is undefined on hardware",
}
TYPES = {
    "tile_buf": (
        TileType,
        "!pto.tile_buf<vec, 16x32xf32>",
        "!pto.tile_buf<loc=mat, dtype=f16, rows=64, cols=64, v_row=64, v_col=?,"
        " blayout=col_major, slayout=row_major, fractal=512, pad=0>",
    ),
    "tile": (TileType, "!pto.tile<loc=vec, f32, 16, 32, RowMajor, NoneBox, None, Null>"),
    "tensor_view": (GlobalType, "!pto.tensor_view<?x?xf16>"),
    "partition_tensor_view": (GlobalType, "!pto.partition_tensor_view<16x32xf16>"),
    "conv_tile": (ConvTileType, "!pto.conv_tile<nc1hwc0, 1x1x4x4x16xf16>"),
    "multi_tile_buf": (MultiTileType, "!pto.multi_tile_buf<vec, 16x16xf16, count=2>"),
    "ptr": (PtrType, "!pto.ptr<f32>", "!pto.ptr<f32, vec>"),
    "index": (ScalarType, "index"),
}


@cache
def topics() -> dict[str, Page]:
    """Return every page by its name; pages with one name are joined.

    A memory is also found by its hardware name (UB), a pass by its own name.
    """
    found: dict[str, list[Page]] = {}
    for _, rows in _topics():
        for name, _, page in rows:
            found.setdefault(name, []).append(page)
    for loc, memory in SPACES.items():
        found.setdefault(memory.lower(), []).append(partial(_location, loc))
    for name in PASSES:
        found.setdefault(name, []).append(_passes)
    return {name: partial(_together, pages) for name, pages in found.items()}


def _together(pages: Iterable[Page]) -> str:
    return "\n\n".join(page() for page in pages)


def chapters() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield titles, and the names below each with a line about them."""
    for title, rows in _topics():
        yield title, [(name, line) for name, line, _ in rows]


def _topics() -> Iterator[tuple[str, list[tuple[str, str, Page]]]]:
    yield (
        "Functions",
        [(n, line, partial(_function, n)) for n, (line, *_) in FUNCTIONS.items()],
    )
    yield "Passes", [("passes", "transformations that `ptokit opt` runs", _passes)]
    yield (
        "Types",
        [(n, _doc(k[0]).split("\n")[0], partial(_type, n)) for n, k in TYPES.items()],
    )
    yield "Element types", [(d.name, _summary(d), partial(_element, d)) for d in DTYPES]
    yield (
        "Locations",
        [(str(m), f"the memory {SPACES[m]}", partial(_location, m)) for m in Loc],
    )
    yield (
        "Layouts",
        [(str(m), _letters(m), partial(layout_page, m)) for m in Layout],
    )
    yield (
        "Values of attributes",
        [(w.mlir, _doc(w).split("\n")[0], partial(_word, w)) for w in _words()],
    )
    yield "Whose verdict", [(j.value, JUDGES[j], partial(_judge, j)) for j in Judge]
    yield "Targets", [(t.name, t.title, partial(target_page, t)) for t in MACHINES.values()]


def _judge(judge: Judge) -> str:
    """Return the page of a source of verdicts, with the rules that are not in all sources."""
    lines = [f"{judge}: {JUDGES[judge]}", "", _doc(Judge), "", f"Refused by {judge}, not by all"]
    for page in pages():
        rules = dict.fromkeys(str(rule.formula) for rule in page.all_rules if judge in rule.by)
        lines += [f"  {page.mnemonic()}: {rule}" for rule in rules]
    return "\n".join(lines)


def _doc(thing: object) -> str:
    return inspect.cleandoc(thing.__doc__ or "")


def _function(name: str) -> str:
    _, text, example = FUNCTIONS[name]
    return "\n".join([name, "", *wrap(text, 80), *example_section(example)])


def _passes() -> str:
    lines = [
        "passes",
        "",
        "`ptokit opt --passes NAME,... KERNEL` prints the program after them.",
        "",
    ]
    width = max(map(len, PASSES))
    for p in PASSES.values():
        lines.append(f"{p.name:<{width}}  {p.summary}")
        lines += [f"{'':<{width}}  after {' and '.join(p.requires)}"] if p.requires else []
    return "\n".join(lines)


def _type(name: str) -> str:
    kind, *spellings = TYPES[name]
    lines = [spellings[0].partition("<")[0], "", _doc(kind), "", "Spelled"]
    lines += [f"  {spelling}" for spelling in spellings]
    if kind is TileType:
        lines += ["", "Rules", *(f"  {rule}   [{rule.slug}]" for rule in TILE_RULES)]
    return "\n".join(lines)


def _summary(dtype: DType) -> str:
    if dtype.is_int or not dtype.exponent:
        return f"{dtype.bits} bits, {dtype.cpp}"
    return f"{dtype.bits} bits, {dtype.exponent} of the exponent, {dtype.mantissa} of the mantissa"


def _element(dtype: DType) -> str:
    lines = [f"{dtype.name}: {_summary(dtype)}", "", f"In C++ {dtype.cpp}."]
    if dtype.aliases:
        lines.append(f"Also spelled {', '.join(dtype.aliases)}.")
    if dtype.is_float:
        holds = [w for w, has in (("infinity", dtype.inf), ("NaN", dtype.nan)) if has]
        lines.append(f"Holds {' and '.join(holds) or 'neither infinity nor NaN'}.")
    if dtype.packed:
        lines.append("Two elements share a byte, the even one in the low bits.")
    if dtype.pairs:
        lines.append(f"In text {dtype.mlir} is such a byte: extents, strides and offsets count it.")
    return "\n".join(lines)


def _location(loc: Loc) -> str:
    """Return the page of a location: its memory on each target, and the moves in and out."""
    lines = [f"{loc}: the memory {SPACES[loc]}", "", f"In C++ TileType::{loc.cpp}.", "", "Capacity"]
    for target in TARGETS.values():
        size = target.capacity_of(loc)
        lines.append(f"  {target.name:<6} {f'{size // 1024} KiB' if size else 'none'}")
    if loc in ALIASES:
        layouts = (f"{t.name}: {t.alias(loc)[0]}" for t in TARGETS.values())
        lines += ["", f"Layout of the alias tile_{loc}", f"  {', '.join(layouts)}"]
    moves = [(p.mnemonic(), path) for p in pages() for path in p.paths]
    into = dict.fromkeys(f"{name} from {m.source}" for name, m in moves if m.target is loc)
    out = dict.fromkeys(f"{name} to {m.target}" for name, m in moves if m.source is loc)
    fixed = dict.fromkeys(p.mnemonic() for p in pages() for o in p.operands if o.fixed_loc is loc)
    for title, names in (("Filled by", into), ("Moved on by", out), ("Operand of", fixed)):
        if names:
            lines += ["", title, f"  {', '.join(names)}"]
    return "\n".join(lines)


def _words() -> list[type[Word]]:
    """Return the enums of instruction attributes, each once."""
    kinds = (a.kind for p in pages() for a in p.attrs)
    return [k for k in dict.fromkeys(kinds) if issubclass(k, Word) and k.mlir]


def _word(kind: type[Word]) -> str:
    lines = [f"#pto.{kind.mlir}<...>, in C++ {kind.cpp_type or 'a type argument'}", "", _doc(kind)]
    lines += ["", "Words", *(f"  {m.text:<24} C++ {m.cpp}" for m in kind)]
    users = dict.fromkeys(p.mnemonic() for p in pages() for a in p.attrs if a.kind is kind)
    return "\n".join([*lines, "", f"Attribute of {', '.join(users)}"])


NARROW = "vector instructions compute with at most 32 bits"
ONE_CORE = "a core has the cube unit and the vector unit"


def target_page(target: Target) -> str:
    """Return the page of a target: its memories and aliases."""
    lines = [f"{target.name}: {target.title}", ""]
    base = target.like
    while base is not None and base.name not in MACHINES:
        base = base.like
    if base is not None:
        lines += [f"It is like {base}, whose rules hold here too.", ""]
        own = [TRAITS[word] for word in target.readings if word in TRAITS]
        own += [] if target.kinds is base.kinds else [ONE_CORE]
        own += [NARROW] if target.narrow_vectors else []
        lines += ["Unlike there", *(f"  {one}" for one in own), ""] if own else []
    if target.lacks:
        lines += [*wrap(f"It lacks {', '.join(map(str, target.lacks))}.", 96), ""]
    lines.append("Memories")
    for loc in Loc:
        capacity = target.capacity_of(loc)
        size = f"{capacity // 1024} KiB" if capacity else "none"
        usable = target.usable.get(SPACES[loc])
        size += f", of which front ends leave {usable // 1024} KiB" if usable else ""
        lines.append(f"  {loc!s:<12} {SPACES[loc]:<8} {size}")
    lines += ["", f"Addresses are multiples of {target.alignment} bytes.", "", "Aliases"]
    for loc in ALIASES:
        layout, fractal = target.alias(loc)
        lines.append(f"  {f'tile_{loc}':<17} {layout} fractal {fractal}")
    if target.pinned_left:
        lines += ["", f"In text a left tile is {target.left}, whichever of nz and zz is written."]
        lines += ["In Python and C++ it is as written, and another layout is refused."]
    orders = ", ".join(o.value for o in Order if o is not target.order)
    lines += ["", f'Readings, as in "{target}:left,larger-views"', f"  {orders}: the order of sums"]
    lines += [f"  {name}: {what}" for name, what in READINGS.items()]
    return "\n".join(lines)


def _letters(layout: Layout) -> str:
    return f"blayout={layout.blayout.text}, slayout={layout.slayout.text}"


def layout_page(layout: Layout) -> str:
    """Return the page of a layout: its two letters and a picture."""
    kind = tile_type(Loc.MAT, f16, 64, 64, layout=layout)
    return "\n".join([f"{layout}: {_letters(layout)}", "", _doc(Layout), "", layout_picture(kind)])

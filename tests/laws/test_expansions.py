"""The law of expansions: a tile instruction of A5 does what its vector instructions do.

One program executes all cases. Each has tiles of its own in the vector buffer: the program copies
an image of the buffer into it, executes the cases of that image, and copies the buffer back. The
program and the same one after the pass `expand` give the same bytes, those around results too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from expansioncases import Case, cases_of, expanding, one_of
from numpy.typing import NDArray
from operands import content

from fuzz.scale import FACTOR
from ptokit.api.kernel.loading import loads
from ptokit.api.program import Program
from ptokit.ir.module import Block, Func, Module, Op, Value
from ptokit.isa.expansions.expansiontable import EXPANSIONS
from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.tiles import TileType
from ptokit.passes.pipeline import run_passes
from ptokit.text.write.printer import print_module

Bytes: TypeAlias = "NDArray[np.uint8]"
A5 = TARGETS["a5"]
Placed: TypeAlias = "tuple[Case, dict[str, int]]"
ROOM = 64 * 1024  # bytes of an image of the vector buffer
NUMBERS = (3, 1, 0, 7)


@dataclass
class Image:
    """The cases that share an image of the buffer, and where the tiles of each begin."""

    cases: list[tuple[Case, dict[str, int]]] = field(
        default_factory=list["tuple[Case, dict[str, int]]"]
    )
    used: int = 0

    def takes(self, case: Case) -> bool:
        tiles = {n: t for n, t in case.types.items() if isinstance(t, TileType)}
        places, at = dict[str, int](), self.used
        for name, kind in tiles.items():
            places[name] = at
            at += -(-kind.nbytes // 32) * 32 + 32
        if at + 1024 > ROOM:
            return False
        self.cases.append((case, places))
        self.used = at
        return True


def images(cases: Sequence[Case]) -> list[Image]:
    found = [Image()]
    for case in cases:
        if not found[-1].takes(case):
            found.append(Image())
            assert found[-1].takes(case), case
    return found


def filled(number: int, image: Image) -> Bytes:
    """The bytes of an image; of pages that differ for NaN from their expansions without NaN."""
    random = np.random.default_rng(number)
    found = random.integers(0, 256, ROOM, np.uint8)
    for case, places in image.cases:
        style = ("edges", "ordinary")[int(random.integers(2))]
        style = "ordinary" if "V9" in case.page.disputes else style  # they differ for NaN
        for name, at in places.items():
            kind = case.types[name]
            assert isinstance(kind, TileType)
            data = content(style, kind.dtype, kind.numel, 40, random)
            found[at : at + data.size] = data
    return found


def transfer(to_buffer: bool) -> str:
    """Return the statement that copies an image to the buffer, or the buffer to an image."""
    ends, cache = ("%in, %ub", "%zero, ") if to_buffer else ("%ub, %out", "")
    types = ("!pto.ptr<ui8>", "!pto.ptr<ui8, ub>")[:: 1 if to_buffer else -1]
    name = "mte_gm_ub" if to_buffer else "mte_ub_gm"
    numbers = ", i64" * (5 if to_buffer else 4)
    return (
        f"pto.{name} {ends}, {cache}%room nburst(%one, %room, %room) : {', '.join(types)}{numbers}"
    )


def statements(label: str, case: Case, places: dict[str, int], number: int) -> Iterator[str]:
    """Yield the statements of a case."""
    values = {name: Value(f"{label}_{name}", kind) for name, kind in case.types.items()}
    for name, kind in case.types.items():
        if isinstance(kind, TileType):
            yield f"%{label}_{name}_at = arith.constant {places[name]} : i64"
        else:
            floating = str(kind).startswith(("f", "bf"))
            yield f"%{label}_{name} = arith.constant {number}{'.0' if floating else ''} : {kind}"
    op = Op(case.page, {**values}, dict(case.attrs))
    text = print_module(Module([Func("f", Block([*values.values()], [op]))]))
    (line,) = (one for one in text.splitlines() if op.name in one)
    for name, kind in case.types.items():
        if isinstance(kind, TileType):
            spelled = spelling(kind)
            yield f"%{label}_{name} = pto.alloc_tile addr = %{label}_{name}_at : {spelled}"
    yield line.strip()


def spelling(kind: TileType) -> str:
    valid = kind.valid
    layout = f", blayout={kind.blayout.text}" if kind.blayout.text != "row_major" else ""
    name = kind.dtype.mlir or kind.dtype.name
    shape = f"{kind.rows}x{kind.cols}x{name}"
    return f"!pto.tile_buf<vec, {shape}, valid={valid.rows}x{valid.cols}{layout}>"


def written(image: Image) -> str:
    """Return the program of an image."""
    lines = [
        "%zero = arith.constant 0 : i64",
        "%one = arith.constant 1 : i64",
        f"%room = arith.constant {ROOM} : i64",
        "%ub = pto.castptr %zero : i64 -> !pto.ptr<ui8, ub>",
        transfer(to_buffer=True),
    ]
    for number, (case, places) in enumerate(image.cases):
        lines += statements(f"t{number}", case, places, NUMBERS[number % len(NUMBERS)])
    lines.append(transfer(to_buffer=False))
    body = "".join(f"  {line}\n" for line in lines)
    return f"func.func @law(%in: !pto.ptr<ui8>, %out: !pto.ptr<ui8>) {{\n{body}  return\n}}\n"


def executed(program: Program, given: Bytes) -> Bytes:
    out = np.zeros_like(given)
    arrays: dict[str, Any] = {"in": given, "out": out}  # Any: options have other types
    found = program.run(**arrays, target="a5", engine="reference")
    return found["out"]


def complaints(cases: Sequence[Case]) -> Iterator[str]:
    """Yield the cases whose tile instruction and expansion differ, and wrongly expanded ones."""
    for number, image in enumerate(images(cases)):
        tiles = loads(written(image))
        vectors = Program(run_passes(tiles.module, ["expand"], A5))
        ops = [op for f in vectors.module.funcs for op in f.ops if isinstance(op, Op)]
        kept = {v.name.split("_")[0] for op in ops if op.page in EXPANSIONS for _, v in op.values()}
        given = filled(number, image)
        wanted, got = executed(tiles, given), executed(vectors, given)
        for place, (case, places) in enumerate(image.cases):
            if f"t{place}" in kept and expanding(case):
                yield f"{case}: not expanded"
            last = max(places, key=lambda name: places[name])
            kind = case.types[last]
            assert isinstance(kind, TileType)
            at, end = min(places.values()), places[last] + kind.nbytes + 32
            for first in np.flatnonzero(wanted[at:end] != got[at:end])[:1]:
                found = wanted[at + first], got[at + first]
                yield f"{case}: byte {at + first} of {places}: tile, vectors {found}"


def test_a_tile_instruction_does_what_its_expansion_does() -> None:
    if FACTOR < 10:
        found = [one_of(page, 37 * number + 3) for number, page in enumerate(EXPANSIONS)]
    else:
        found = [case for page in EXPANSIONS for case in cases_of(page)]
    assert list(complaints(found)) == []

"""Kernels that the vendor measured on chips, as text with their tilings: products and a top-k.

Only what takes time is here: cores, windows, buffers and flags are as published, the rest is ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

FIRST_L0, SECOND_L0 = 0, 32 * 1024
BARRIER = "pto.barrier <PIPE_V>"
L1_FREE = (("MTE1", "MTE2", 0), ("MTE1", "MTE2", 1))
L0_FREE = (("M", "MTE1", 0), ("M", "MTE1", 1))


def flag(what: str, first: str, second: str, number: int) -> str:
    return f"pto.{what}_flag[<PIPE_{first}>, <PIPE_{second}>, <EVENT_ID{number}>]"


def flags(what: str, some: Iterable[tuple[str, str, int]]) -> list[str]:
    return [flag(what, *one) for one in some]


def constants(numbers: Iterable[int]) -> list[str]:
    return [f"%c{n} = arith.constant {n} : index" for n in sorted({*numbers})]


@dataclass(frozen=True)
class Product:
    """A product of square matrices: a core has `rows` x `cols` of it, in blocks of `block_k`."""

    size: int
    rows: int
    cols: int
    dtype: str = "f16"
    out: str = "f32"
    bytes: int = 2  # of an element
    block_k: int = 64
    left: str = "row_major"
    block_m, block_n, steps = 128, 256, 4

    def text(self) -> str:
        m, n, k, deep = self.block_m, self.block_n, self.block_k, self.block_k * self.steps
        a, b = m * deep * self.bytes, deep * n * self.bytes
        places = {"a0": 0, "a1": a, "b0": 2 * a, "b1": 2 * a + b, "acc": 0}
        places |= {"l0": FIRST_L0, "l1": SECOND_L0, "r0": FIRST_L0, "r1": SECOND_L0}
        tiles = [
            line
            for name, place in places.items()
            for line in (
                f"%at_{name} = arith.constant {place} : i64",
                f"%{name} = pto.alloc_tile addr = %at_{name} : !{name.rstrip('01')}",
            )
        ]
        down, whole = self.size // self.rows, f"{self.size}x{self.size}x"
        of = [0, 1, self.size, self.rows, self.cols, m, n, deep, 2 * deep, down]
        lines = [
            *constants([*of, *(step * k for step in range(self.steps))]),
            *tiles,
            "%block = pto.get_block_idx",
            "%number = arith.index_cast %block : i64 to index",
            f"%down = arith.remui %number, %c{down} : index",
            f"%across = arith.divui %number, %c{down} : index",
            f"%row0 = arith.muli %down, %c{self.rows} : index",
            f"%col0 = arith.muli %across, %c{self.cols} : index",
            self._view("x", "va", f"%c{self.size}, %c1"),
            self._view("w", "vb", f"%c1, %c{self.size}", "dn"),
            self._view("y", "vc", f"%c{self.size}, %c1"),
            *flags("set", (*L1_FREE, *L0_FREE)),
            f"scf.for %i = %c0 to %c{self.rows} step %c{m} {{",
            "%row = arith.addi %row0, %i : index",
            f"scf.for %j = %c0 to %c{self.cols} step %c{n} {{",
            "%col = arith.addi %col0, %j : index",
            f"scf.for %k = %c0 to %c{self.size} step %c{2 * deep} {{",
            f"%k1 = arith.addi %k, %c{deep} : index",
            *self._panel(0, "%k"),
            *self._panel(1, "%k1"),
            "}",
            *(flag("set", "M", "FIX", 0), flag("wait", "M", "FIX", 0)),
            f"%part = pto.partition_view %yv, offsets = [%row, %col], sizes = [%c{m}, %c{n}] "
            ": !vc -> !pc",
            "pto.tstore ins(%acc : !acc) outs(%part : !pc)",
            *(flag("set", "FIX", "M", 0), flag("wait", "FIX", "M", 0)),
            *("}", "}"),
            *flags("wait", (*L1_FREE, *L0_FREE)),
            "return",
        ]
        types = f"""\
!a = !pto.tile_buf<mat, {m}x{deep}x{self.dtype}, blayout=col_major, slayout=row_major>
!b = !pto.tile_buf<mat, {deep}x{n}x{self.dtype}, blayout=row_major, slayout=col_major>
!l = !pto.tile_buf<left, {m}x{k}x{self.dtype}, blayout={self.left}, slayout=row_major>
!r = !pto.tile_buf<right, {k}x{n}x{self.dtype}, slayout=col_major>
!acc = !pto.tile_buf<acc, {m}x{n}xf32, blayout=col_major, slayout=row_major, fractal=1024>
!va = !pto.tensor_view<{whole}{self.dtype}>
!vb = !pto.tensor_view<{whole}{self.dtype}>
!vc = !pto.tensor_view<{whole}{self.out}>
!pa = !pto.partition_tensor_view<{m}x{deep}x{self.dtype}>
!pb = !pto.partition_tensor_view<{deep}x{n}x{self.dtype}>
!pc = !pto.partition_tensor_view<{m}x{n}x{self.out}>"""
        args = f"%x: !pto.ptr<{self.dtype}>, %w: !pto.ptr<{self.dtype}>, %y: !pto.ptr<{self.out}>"
        kind = "attributes {pto.kernel_kind = #pto.kernel_kind<cube>}"
        return "\n".join([types, f"func.func @product({args}) {kind} {{", *lines, "}"])

    def _view(self, name: str, kind: str, strides: str, layout: str = "nd") -> str:
        return (
            f"%{name}v = pto.make_tensor_view %{name}, shape = [%c{self.size}, %c{self.size}], "
            f"strides = [{strides}] {{layout = #pto.layout<{layout}>}} : !{kind}"
        )

    def _panel(self, p: int, at: str) -> list[str]:
        """Load a panel of either matrix, and multiply block after block of it."""
        m, n, deep = self.block_m, self.block_n, self.block_k * self.steps
        lines = [
            f"%xp{p} = pto.partition_view %xv, offsets = [%row, {at}], sizes = [%c{m}, %c{deep}] "
            ": !va -> !pa",
            f"%wp{p} = pto.partition_view %wv, offsets = [{at}, %col], sizes = [%c{deep}, %c{n}] "
            ": !vb -> !pb",
            flag("wait", "MTE1", "MTE2", p),
            f"pto.tload ins(%xp{p} : !pa) outs(%a{p} : !a)",
            flag("set", "MTE2", "MTE1", 0),
            f"pto.tload ins(%wp{p} : !pb) outs(%b{p} : !b)",
            flag("set", "MTE2", "MTE1", 1),
        ]
        for step in range(self.steps):
            q, into = step % 2, f"%c{step * self.block_k}"
            first, last = step == 0, step == self.steps - 1
            lines += [
                flag("wait", "M", "MTE1", q),
                *flags("wait", [("MTE2", "MTE1", 0)] * first),
                f"pto.textract ins(%a{p}, %c0, {into} : !a, index, index) outs(%l{q} : !l)",
                *flags("wait", [("MTE2", "MTE1", 1)] * first),
                f"pto.textract ins(%b{p}, {into}, %c0 : !b, index, index) outs(%r{q} : !r)",
                *flags("set", [("MTE1", "MTE2", p)] * last),
                *(flag("set", "MTE1", "M", q), flag("wait", "MTE1", "M", q)),
                *_multiplied(q, begins=first and p == 0),
                flag("set", "M", "MTE1", q),
            ]
        return lines


def _multiplied(q: int, *, begins: bool) -> list[str]:
    """Add a product to the sum; where the sum `begins`, only the first iteration starts it."""
    more = f"pto.tmatmul.acc ins(%acc, %l{q}, %r{q} : !acc, !l, !r) outs(%acc : !acc)"
    start = f"pto.tmatmul ins(%l{q}, %r{q} : !l, !r) outs(%acc : !acc)"
    if not begins:
        return [more]
    first = "%first = arith.cmpi eq, %k, %c0 : index"
    return [first, "scf.if %first {", start, "} else {", more, "}"]


@dataclass(frozen=True)
class TopK:
    """The `best` of each row of 1024 with their indices; each core has `rows` rows."""

    rows: int
    cores: int = 48
    best: int = 1000
    wide: int = 1280
    cols = 1024

    def text(self) -> str:
        n, k, rows = self.cols, self.best, self.rows * self.cores
        types = f"""\
!s = !pto.tile_buf<vec, 1x{n}xf32>
!i = !pto.tile_buf<vec, 1x{n}xui32>
!rec = !pto.tile_buf<vec, 1x{2 * n}xf32>
!list = !pto.tile_buf<vec, 1x{2 * n}xf32, valid=1x{n}>
!m = !pto.tile_buf<vec, 1x{2 * n}xf32, valid=1x{2 * k}>
!mi = !pto.tile_buf<vec, 1x{2 * n}xi32, valid=1x{2 * k}>
!d = !pto.tile_buf<vec, 1x{k}xf32>
!e = !pto.tile_buf<vec, 1x{k}xi32>
!note = !pto.tile_buf<vec, 1x16xi16, valid=1x4>
!vs = !pto.tensor_view<{rows}x{n}xf32>
!vi = !pto.tensor_view<1x{n}xui32>
!vd = !pto.tensor_view<{rows}x{k}xf32>
!ve = !pto.tensor_view<{rows}x{k}xi32>
!ps = !pto.partition_tensor_view<1x{n}xf32>
!pi = !pto.partition_tensor_view<1x{n}xui32>
!pd = !pto.partition_tensor_view<1x{k}xf32>
!pe = !pto.partition_tensor_view<1x{k}xi32>"""
        tiles = {f"{name}{b}": name for b in (0, 1) for name in ("s", "rec", "m", "d", "e")}
        tiles |= {"tmp0": "rec", "tmp1": "rec", "idx": "i", "note": "note"}
        held = [("V", "MTE2", 0), ("V", "MTE2", 1), ("MTE3", "V", 0), ("MTE3", "V", 1)]
        lines = [
            *constants([0, 1, 2, n, k, self.wide, self.rows, rows]),
            *(f"%l{length} = arith.constant {length} : i32" for length in (64, 256)),
            *(f"%{name} = pto.alloc_tile : !{kind}" for name, kind in tiles.items()),
            "%block = pto.get_block_idx",
            "%number = arith.index_cast %block : i64 to index",
            f"%start = arith.muli %number, %c{self.rows} : index",
            _rows("x", "vs", rows, n, self.wide),
            _rows("at", "vi", 1, n, n),
            _rows("y", "vd", rows, k, k),
            _rows("z", "ve", rows, k, k),
            f"%ip = pto.partition_view %atv, offsets = [%c0, %c0], sizes = [%c1, %c{n}] "
            ": !vi -> !pi",
            "pto.tload ins(%ip : !pi) outs(%idx : !i)",
            *flags("set", held),
            f"scf.for %r = %c0 to %c{self.rows} step %c2 {{",
            *(line for b in (0, 1) for line in self._row(b)),
            "}",
            *flags("wait", held),
            "return",
        ]
        args = "%x: !pto.ptr<f32>, %at: !pto.ptr<ui32>, %y: !pto.ptr<f32>, %z: !pto.ptr<i32>"
        return "\n".join([types, f"func.func @topk({args}) {{", *lines, "}"])

    def _row(self, b: int) -> list[str]:
        """Sort a row, merge lists of 32 to one, and store the best with their indices."""
        n, k = self.cols, self.best
        merges = [
            line
            for length in (64, 256)
            for line in (
                f"pto.tmrgsort ins(%rec{b}, %l{length} : !rec, i32) outs(%tmp{b} : !rec)",
                BARRIER,
                f"pto.tmov ins(%tmp{b} : !rec) outs(%rec{b} : !rec)",
                BARRIER,
            )
        ]
        parts = [
            f"%{name}p{b} = pto.partition_view %{name}v, offsets = [%row{b}, %c0], "
            f"sizes = [%c1, %c{length}] : !v{kind} -> !p{kind}"
            for name, kind, length in (("x", "s", n), ("y", "d", k), ("z", "e", k))
        ]
        return [
            f"%r{b} = arith.addi %r, %c{b} : index",
            f"%row{b} = arith.addi %start, %r{b} : index",
            *parts,
            flag("wait", "V", "MTE2", b),
            f"pto.tload ins(%xp{b} : !ps) outs(%s{b} : !s)",
            *(flag("set", "MTE2", "V", b), flag("wait", "MTE2", "V", b)),
            f"pto.tsort32 ins(%s{b}, %idx : !s, !i) outs(%rec{b} : !rec)",
            *(BARRIER, flag("set", "V", "MTE2", b)),
            *merges,
            f"%one{b} = pto.subview %rec{b}[%c0, %c0] sizes [1, {n}] : !rec -> !list",
            f"%two{b} = pto.subview %rec{b}[%c0, %c{n}] sizes [1, {n}] : !rec -> !list",
            f"pto.tmrgsort ins(%one{b}, %two{b}, %tmp{b} {{exhausted = false}} "
            f": !list, !list, !rec) outs(%m{b}, %note : !m, !note)",
            *(BARRIER, flag("wait", "MTE3", "V", b)),
            f"pto.tgather ins(%m{b}, {{maskPattern = #pto.mask_pattern<P0101>}} : !m) "
            f"outs(%d{b} : !d)",
            BARRIER,
            f"%mi{b} = pto.treshape %m{b} : !m -> !mi",
            f"pto.tgather ins(%mi{b}, {{maskPattern = #pto.mask_pattern<P1010>}} : !mi) "
            f"outs(%e{b} : !e)",
            *(flag("set", "V", "MTE3", b), flag("wait", "V", "MTE3", b)),
            f"pto.tstore ins(%d{b} : !d) outs(%yp{b} : !pd)",
            f"pto.tstore ins(%e{b} : !e) outs(%zp{b} : !pe)",
            flag("set", "MTE3", "V", b),
        ]


def _rows(name: str, kind: str, rows: int, cols: int, pitch: int) -> str:
    return (
        f"%{name}v = pto.make_tensor_view %{name}, shape = [%c{rows}, %c{cols}], "
        f"strides = [%c{pitch}, %c1] : !{kind}"
    )

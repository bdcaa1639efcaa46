"""Costs worked out by hand from the published tables."""

from __future__ import annotations

from collections.abc import Mapping

from every import every
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.globaltypes import DataType, GlobalType
from ptokit.isa.model.precisions import RECIP
from ptokit.isa.model.targets import A2A3_TARGET, A5_TARGET, Target
from ptokit.isa.model.tiles import TileType, tile_type
from ptokit.isa.model.words import FIX, MTE1, MTE2, MTE3, GlobalLayout, Pipe, S, V
from ptokit.machine.costs.cost import Cost
from ptokit.machine.costs.estimate import cost
from ptokit.values.dtypes import DType, bf16, f16, f32, i8, i16, i32
from ptokit.values.enumerations import ACC, BIAS, LEFT, MAT, VEC
from ptokit.values.layouts import DN, ND, NZ, ZZ

GM = GlobalType(f32, (64, 64))
A5_VEC = {
    # joined rows: a * ceil(elements / L) + b
    ("tadd", f32, 64, 64, 64): 1.247 * 64 + 55.07,
    ("tadd", f16, 64, 64, 64): 1.247 * 32 + 55.07,
    ("tmins", f32, 1, 33, 64): 1.059 * 1 + 53.14,  # one row is joined
    ("texp", f16, 16, 128, 128): 3.762 * 16 + 65.93,
    ("tsel", f32, 2, 64, 64): 1.934 * 2 + 58.85,
    ("tsel", f32, 3, 64, 64): 3.914 * 3 + 63.89,  # an odd number of repeats
    # blocks: (p * ceil(columns / L) + q) * rows + t
    ("tadd", f32, 64, 65, 128): (1.875 * 2 + 2.876) * 64 + 44.34,
    ("texp", f16, 16, 100, 128): (3.998 * 1 - 0.121) * 16 + 64.16,
}


def page(name: str) -> type[Instr]:
    return next(p for p in pages() if name in (p.name, p.__name__))


def vec(dtype: DType, rows: int, cols: int, of: int | None = None) -> TileType:
    return tile_type(VEC, dtype, rows, of or cols, valid=(rows, cols))


def vector(name: str, tile: TileType, target: Target) -> Cost:
    """The cost of an instruction all of whose tiles are alike."""
    kinds = {o.name: tile for o in page(name).operands if o.kind.name == "TILE"}
    return cost(page(name), {}, kinds, V, target)


@every("case", A5_VEC, ids=str)
def test_formulas_of_a5(case: tuple[str, DType, int, int, int]) -> None:
    name, dtype, rows, cols, of = case
    found = vector(name, vec(dtype, rows, cols, of), A5_TARGET)
    assert (found.cycles, found.source) == (round(A5_VEC[case]), "fitted")


def test_a_type_without_a_formula_is_estimated_by_one_of_its_size() -> None:
    known, other = (vector("texp", vec(d, 16, 128), A5_TARGET) for d in (f16, bf16))
    assert (other.cycles, other.source) == (known.cycles, "estimated")


def test_conversions_of_a5_have_formulas_by_both_types() -> None:
    def convert(source: DType, target: DType) -> Cost:
        kinds = {"dst": vec(target, 64, 64), "src": vec(source, 64, 64)}
        return cost(page("tcvt"), {}, kinds, V, A5_TARGET)

    assert convert(f32, f16).cycles == round(1.320 * 64 + 52.30)
    # the published slope of joined rows is negative: the formula of blocks is taken
    assert convert(f16, f32).cycles == round((1.270 * 1 + 1.930) * 64 + 51.66)
    assert convert(f32, i8).source == "estimated"


def test_an_attribute_chooses_the_formula() -> None:
    tile, recip = vec(f32, 64, 64), page("trecip")
    kinds = {"dst": tile, "src": tile}
    high = {"precision": RECIP.named("high")}
    assert cost(recip, {}, kinds, V, A5_TARGET).cycles == round(1.908 * 64 + 64.52)
    assert cost(recip, high, kinds, V, A5_TARGET).cycles == round(345.2 * 64 + 48.72)


@every(
    ("name", "tile", "latency", "source"),
    [
        ("tadd", vec(f32, 64, 64), 10 + 2 * 64 + 14, "published"),
        ("tadd", vec(f32, 64, 40, 64), 10 + 2 * 64 + 14 + 16, "published"),  # masked, by rows
        ("tadd", vec(i16, 64, 64), 10 + 2 * 32 + 14 + 16, "published"),  # masked, joined
        ("tmuls", vec(f32, 1, 40, 64), 11 + 1 + 15, "published"),  # no mask
        ("tadds", vec(f32, 16, 256), round(0.0156 * 4096 + 42), "fitted"),
        ("tdivs", vec(f16, 16, 256), round(0.0703 * 4096 + 62), "fitted"),
        ("texp", vec(f16, 64, 64), round(0.0314 * 4096 + 25.5), "fitted"),
        ("tand", vec(i16, 16, 128), 8 + 2 * 16 + 12, "published"),
        ("tsubrelu", vec(f32, 16, 64), 10 + 2 * 16 + 14 + 1 + 10 + 16 + 13, "estimated"),
        ("trowsum", vec(f32, 64, 32), round(0.2187 * 2048 + 59), "fitted"),
        ("trowsum", vec(f32, 64, 16), round(0.2187 * 32 * 64 + 59), "estimated"),
        (
            "trowmax",
            vec(f32, 64, 96),
            round((0.1094 * 64 + 0.0625 * 128) / 2 * 64 + 40),
            "estimated",
        ),
        ("trowmin", vec(f32, 64, 64), round(0.1094 * 4096 + 32), "estimated"),
        ("tcolmax", vec(f32, 8, 256), round(0.1571 * 8 * 256 + 10), "estimated"),
        ("trem", vec(f32, 64, 64), round(2 + 2 * 4096 / 32), "estimated"),
    ],
)
def test_vector_instructions_of_a2a3(name: str, tile: TileType, latency: int, source: str) -> None:
    found = vector(name, tile, A2A3_TARGET)
    assert (found.latency, found.source) == (latency, source)


def test_columns_that_lie_one_after_another_are_joined() -> None:
    by_rows = vector("tadd", tile_type(VEC, f32, 64, 64, layout=ND, valid=(64, 8)), A2A3_TARGET)
    by_cols = vector("tadd", tile_type(VEC, f32, 64, 64, layout=DN, valid=(64, 8)), A2A3_TARGET)
    assert (by_rows.cycles, by_cols.cycles) == (2 * 64 + 16, 2 * 8)


def test_head_and_tail_are_those_of_the_intrinsic() -> None:
    for name in ("tadds", "tmins"):
        few, many = (vector(name, vec(f32, 16, c), A2A3_TARGET) for c in (64, 256))
        assert (few.head, few.tail) == (many.head, many.tail)
        assert few.head > 0


MOVES: list[tuple[str, Mapping[str, DataType], Pipe, float, int, str]] = [
    # name, operands, pipe, cycles, bytes, path
    ("tstore", {"dst": GM, "src": vec(f32, 64, 64)}, MTE3, 16384 / 109.38, 16384, "vec>gm"),
    (
        "tload",
        {"dst": tile_type(MAT, f32, 64, 64), "src": GM},
        MTE2,
        16384 / 89.96,
        16384,
        "gm>mat",
    ),
    (
        "tmov",  # 3x4 boxes of 512 bytes
        {
            "dst": tile_type(LEFT, f16, 64, 64, layout=ZZ, valid=(40, 50)),
            "src": tile_type(MAT, f16, 64, 64),
        },
        *(MTE1, 12 * 512 / 255.96, 4000, "mat>left"),
    ),
    (
        "tstore",  # two bytes are counted for each element
        {"dst": GM, "src": tile_type(ACC, f32, 64, 64, layout=NZ, fractal=1024)},
        *(FIX, 2 * 4096 / 40.63, 16384, "acc>gm"),
    ),
    (
        "tmov",  # a whole line of 64 bytes
        {"dst": tile_type(BIAS, i32, 1, 8), "src": tile_type(MAT, i32, 1, 8)},
        *(MTE1, 64 / 18.57, 32, "mat>bias"),
    ),
    (
        "textract",  # the window
        {"dst": vec(f32, 8, 64), "src": vec(f32, 64, 64)},
        *(V, 2048 / 594.3, 2048, "vec>vec"),
    ),
]


@every("case", MOVES, ids=lambda c: c[5])
def test_transfers(case: tuple[str, Mapping[str, DataType], Pipe, float, int, str]) -> None:
    """Cycles by bytes and bytes a cycle, rounded down."""
    name, kinds, pipe, cycles, nbytes, path = case
    found = cost(page(name), {}, kinds, pipe, A2A3_TARGET)
    assert (found.cycles, found.bytes, found.path) == (int(cycles), nbytes, path)
    assert found.source == ("measured" if path == "gm>mat" else "published")
    assert cost(page(name), {}, kinds, pipe, A5_TARGET).source == "estimated"


@every(
    ("view", "copies"),
    [
        (GlobalType(f32, (128, 64)), 1),
        (GlobalType(f32, (1, 1, 1, 128, 64)), 1),
        (GlobalType(f32, (1, 2, 4, 16, 64)), 8),
        (GlobalType(f32, (2, 8, 4, 16, 8), stated=GlobalLayout.NZ), 2),
        (GlobalType(f32, (1, 1, 1, 128, 64), (0, 0, 0, 4096, 1)), 1),  # rows far apart
        (GlobalType(f32, (8192,)), 1),
    ],
    ids=str,
)
def test_a_load_starts_once_for_each_copy(view: GlobalType, copies: int) -> None:
    """One instruction moves rows that are evenly spaced, or a column of boxes."""
    cycles = (copies * 30643 + 8192 * 4) / 2**30 / 247.16 * 1850e6
    kinds = {"dst": vec(f32, 128, 64), "src": view}
    assert cost(page("tload"), {}, kinds, MTE2, A2A3_TARGET).cycles == int(cycles)


def test_a_path_without_figures_costs_what_its_pipe_costs() -> None:
    """Out of the accumulator into UB, which only A5 has: 3 + 2 * elements / 64."""
    kinds = {"dst": vec(f32, 64, 64), "src": tile_type(ACC, f32, 64, 64, layout=NZ, fractal=1024)}
    found = cost(page("tmov"), {}, kinds, FIX, A5_TARGET)
    assert (found.cycles, found.source, found.path) == (3 + 2 * 4096 // 64, "estimated", "")


def test_entries_of_pipes_between_cores_lie_in_global_memory() -> None:
    """A push stores and a pop loads; to free a slot is a signal."""
    entry = {"entry": vec(f32, 8, 16)}
    push = cost(page("tpush_to_aic"), {}, entry, MTE3, A2A3_TARGET)
    pop = cost(page("tpop_from_aic"), {}, entry, MTE2, A2A3_TARGET)
    free = cost(page("tfree_from_aic"), {}, entry, MTE2, A2A3_TARGET)
    assert (push.path, push.bytes, pop.path, pop.bytes) == ("vec>gm", 512, "gm>vec", 512)
    assert (free.path, free.bytes, free.cycles) == ("", 0, 1)


def test_a_gather_works_on_what_it_writes() -> None:
    kinds = {"src0": vec(f32, 64, 64), "dst": vec(f32, 8, 64), "indices": vec(i32, 8, 64)}
    assert cost(page("TGather"), {}, kinds, V, A2A3_TARGET).cycles == 2 * 8


def test_scratch_is_not_worked_on() -> None:
    tile = vec(f32, 8, 64)
    kinds = {"dst": tile, "src": tile, "tmp": vec(f32, 64, 64)}
    assert cost(page("trsqrt"), {}, kinds, V, A2A3_TARGET).cycles == 8


def test_the_scalar_unit_and_unknown_extents() -> None:
    open_tile = tile_type(VEC, f32, 16, 64, valid=(None, 64))
    assert vector("tadd", open_tile, A2A3_TARGET).cycles == 2 * 16
    assert cost(page("tci"), {}, {"dst": vec(i32, 1, 64)}, S, A2A3_TARGET).cycles == 1

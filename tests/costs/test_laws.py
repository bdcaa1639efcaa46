"""Every page of a core's units has a cost, and every row of the data files is about something."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import pytest

import ptokit as pto
from every import every
from ptokit.ir.module import Op, Value
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import A2A3_TARGET, A5_TARGET, CPU_TARGET, TARGETS, Target
from ptokit.isa.model.tiles import TileType, tile_type
from ptokit.isa.model.types import Kind
from ptokit.isa.model.words import Pipe, S, V
from ptokit.machine.costs.cost import Origin
from ptokit.machine.costs.estimate import (
    barrier_cycles,
    cost,
    cube_peak,
    issue_cycles,
    microseconds,
    path_peak,
    vector_peak,
)
from ptokit.machine.costs.figures import Table, figures, has_figures, is_table, row_of
from ptokit.machine.costs.sizes import amount
from ptokit.machine.costs.vectorfunctions import estimated
from ptokit.values.dtypes import DTYPES, DType, f16, f32, i8
from ptokit.values.enumerations import LEFT, VEC

CHIPS = {"a2a3": A2A3_TARGET, "a5": A5_TARGET}
UNITS = [p for p in pages() if p.pipe is not S and (p.pipe or p.paths) and not p.below]
ADD = next(p for p in pages() if p.name == "tadd")
OF_PAGES = ("pages", "over", "fitted", "rows", "alike", "formulas")


class Case(NamedTuple):
    """One instruction of the example of a page."""

    page: type[Instr]
    operands: dict[str, object]
    attrs: dict[str, object]
    pipe: Pipe


@cache
def case(page: type[Instr]) -> Case:
    """The instruction of the page in its example, its operands as they are declared there."""
    module = pto.loads(example_program(page)).module
    ops = (o for f in module.funcs for o in f.walk())
    op = next(o for o in ops if isinstance(o, Op) and o.page.name == page.name)
    values: list[tuple[str, Value]] = [*op.named_results(), *op.values()]
    kinds: dict[str, object] = {name: value.type for name, value in values}
    pipe = op.page.pipe_of({"machine": A2A3_TARGET, **kinds})
    assert pipe is not None
    return Case(op.page, kinds, op.attrs, pipe)


@pytest.mark.parametrize("chip", CHIPS)
def test_every_instruction_has_a_cost_where_it_exists(chip: str) -> None:
    for page in (p for p in UNITS if p.exists_on(CHIPS[chip])):
        page, operands, attrs, pipe = case(page)
        found = cost(page, attrs, operands, pipe, CHIPS[chip])
        assert found.cycles > 0, page
        assert min(found.head, found.tail, found.bytes, found.flop) >= 0, page
        assert (found.bytes > 0) == (found.path != ""), page


@pytest.mark.parametrize("chip", CHIPS)
def test_rows_are_of_pages_that_the_target_has(chip: str) -> None:
    there = [p for p in pages() if p.exists_on(CHIPS[chip]) and not p.below]
    names = {name for p in there for name in (p.name, p.__name__)}
    tables = figures(chip)
    for table in OF_PAGES:
        assert tables.get(table, {}).keys() - {"source"} <= names
    assert {*tables["unknown"]["pages"]} <= names
    assert {*tables.get("alike", {}).values()} <= tables.get("rows", {}).keys()
    for name, operand in tables["over"].items():
        assert [
            p
            for p in there
            if name in (p.name, p.__name__) and operand in {o.name for o in p.operands}
        ]


@pytest.mark.parametrize("chip", CHIPS)
def test_every_vector_page_has_a_row_or_is_listed_as_unknown(chip: str) -> None:
    """Of what moves between memories the path has the figures."""
    tables = figures(chip)
    vector = [
        p for p in UNITS if p.pipe is V or (isinstance(p.pipe, dict) and V in p.pipe.values())
    ]
    outside = {p for p in vector if p.paths or any(o.kind is Kind.GLOBAL for o in p.operands)}
    for page in (p for p in vector if p.exists_on(CHIPS[chip]) and p not in outside):
        rows = [t for t in OF_PAGES if t != "over" and row_of(tables.get(t, {}), page) is not None]
        unknown = {page.name, page.__name__} & {*tables["unknown"]["pages"]}
        assert bool(rows) != bool(unknown), f"{page.__name__}: give it figures, or list it"


@pytest.mark.parametrize("chip", CHIPS)
def test_operations_are_in_the_table(chip: str) -> None:
    tables = figures(chip)
    known = tables["function" if "function" in tables else "intrinsics"]["table"].keys()
    assert {name for row in tables["pages"].values() for name in row} <= known
    assert tables.get("intrinsics", tables.get("function", {})).get("f16", {}).keys() <= {
        *known,
        "source",
    }
    assert {*tables["moving"]["operations"]} <= known


@pytest.mark.parametrize("chip", CHIPS)
def test_every_figure_has_a_source(chip: str) -> None:
    """Lists of names are no figures: all other tables say where theirs are from."""
    names = {"pages", "over", "alike", "moving", "unknown", "like"}
    for name, table in figures(chip).items():
        if name not in names:
            assert Origin(table["source"])
            assert all(Origin(row["source"]) for row in rows_with_source(table))
    dtypes = {d.name for d in DTYPES}
    for row in (
        r for rows in figures(chip).get("formulas", {}).values() for r in rows if is_table(r)
    ):
        assert {*row.get("dtypes", ()), *row.get("from", ())} <= dtypes


def rows_with_source(table: Table) -> list[Table]:
    return [row for row in table.values() if is_table(row) and "source" in row]


@every("dtype", [f32, f16, i8], ids=str)
@every("chip", CHIPS)
@every("name", ["tadd", "texp", "tsqrt", "tdivs", "trowsum", "trowmax", "tcvt"])
def test_more_rows_never_cost_less(name: str, chip: str, dtype: DType) -> None:
    """Also across the places where another formula begins to hold."""
    page = next(p for p in pages() if p.name == name)
    for cols in (32, 64, 128, 160, 512):
        kinds = (
            {
                o.name: tile_type(VEC, dtype, rows, cols)
                for o in page.operands
                if o.kind.name == "TILE"
            }
            for rows in (1, 2, 3, 8, 9, 64, 65)
        )
        times = [cost(page, {}, k, V, CHIPS[chip]).latency for k in kinds]
        assert times == sorted(times), cols


def test_a_target_like_another_one_has_its_figures() -> None:
    mine = Target("mine", "a board", like=A5_TARGET)
    assert has_figures(mine)
    assert cost(*case(ADD)[:1], {}, case(ADD).operands, V, mine).source == "fitted"
    assert not has_figures(CPU_TARGET)
    with pytest.raises(ValueError, match="no times published for cpu: choose one of a2a3, a5"):
        cost(ADD, {}, case(ADD).operands, V, TARGETS["cpu"])


def test_what_a5_takes_from_another_chip_is_estimated() -> None:
    for path in ("gm>vec", "vec>gm", "mat>left"):
        ours, theirs = path_peak(A5_TARGET, path), path_peak(A2A3_TARGET, path)
        assert ours is not None
        assert theirs is not None
        assert ours.per_cycle * 1650 == pytest.approx(theirs.per_cycle * 1850)  # by their clocks
        assert ours.source == "estimated" != theirs.source
    assert cube_peak(A5_TARGET, f16).source == "estimated"


def test_peaks() -> None:
    """By hand: 16x16x16 multiply-adds a cycle of f16, half the depth and half the rate of f32."""
    assert cube_peak(A2A3_TARGET, f16).per_cycle == 2 * 16**3
    assert cube_peak(A2A3_TARGET, f32).per_cycle == 2 * 16**3 / 4
    assert cube_peak(A2A3_TARGET, i8).per_cycle == 2 * 16**3 * 2
    assert vector_peak(A2A3_TARGET, f32).per_cycle == vector_peak(A5_TARGET, f32).per_cycle == 64
    store = path_peak(A2A3_TARGET, "vec>gm")
    assert store is not None
    assert round(store.per_cycle, 1) == 109.4
    assert path_peak(A2A3_TARGET, "gm>left") is None
    assert microseconds(1850, A2A3_TARGET) == 1
    assert issue_cycles(A5_TARGET) == 1
    assert (barrier_cycles(A2A3_TARGET), barrier_cycles(A5_TARGET)) == (1, 20)


def test_no_product_exceeds_the_peak() -> None:
    page = next(p for p in pages() if p.name == "tmatmul")
    found = cost(page, {}, case(page).operands, case(page).pipe, A2A3_TARGET)
    left = next(
        k for k in case(page).operands.values() if isinstance(k, TileType) and k.loc is LEFT
    )
    assert 0 < found.flop / found.cycles <= cube_peak(A2A3_TARGET, left.dtype).per_cycle


# Pages of A5 that have a formula: the operation they would be estimated by if they had none.
OPERATIONS = {
    "tadd": "add",
    "tsub": "sub",
    "tmul": "mul",
    "tmins": "mins",
    "tneg": "neg",
    "texp": "exp",
    "tsqrt": "exp",
    "tdivs": "div",
}


@every("dtype", [f32, f16], ids=str)
@every("name", OPERATIONS)
def test_operations_of_a5_agree_with_its_formulas(name: str, dtype: DType) -> None:
    """The estimate of pages without a formula, tried on those that have one, within 20 %."""
    page = next(p for p in pages() if p.name == name)
    for rows in (8, 64, 256):
        tile = tile_type(VEC, dtype, rows, 64)
        kinds = {o.name: tile for o in page.operands if o.kind.name == "TILE"}
        fitted = cost(page, {}, kinds, V, A5_TARGET)
        work = amount(tile, dtype.size)
        guess = estimated(figures("a5"), page, [OPERATIONS[name]], work, dtype)
        assert fitted.source == "fitted"
        assert abs(guess / fitted.cycles - 1) < 0.20

"""The contracts of `place`, over the programs of the tree.

How long tiles live is worked out anew in `lives.py`. Each program is placed on a chip as it is,
where nothing may be shared, and on one whose memories are cut to what lives at one time and a tenth
more, where everything must still fit.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from pathlib import Path
from typing import cast

import pytest
from lives import LINE, Life, allocates, by_memory, lives, most_live, pairs

import ptokit as pto
from account.files import ROOT
from every import every
from fuzz.scale import FACTOR, sampled
from ptokit.api.program import Program
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.index import lookup, pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.model.targets import SPACES, TARGETS, Target
from ptokit.passes.pipeline import run_passes
from ptokit.values.enumerations import Loc

FOLDERS = (ROOT / "examples", ROOT / "examples" / "pto", ROOT / "tests" / "pto")
PATHS = sorted(chain.from_iterable(folder.glob("*.pto") for folder in FOLDERS))
CHIPS = ("a2a3", "a5")
# every program on both chips; a sample has some of them on the one, some on the other
CASES = [(p, c) for n, p in enumerate(PATHS) for c in (CHIPS * 2)[n // 2 % 2 :][:2]]
REFUSED = {"memory-missing", "conversion"}  # not for this chip, or addresses that only the run has


def over(step: int) -> pytest.MarkDecorator:
    """Every so manyth case in `make test`."""
    cases = sampled(CASES, step)
    return pytest.mark.parametrize(
        ("path", "chip"), cases, ids=lambda each: getattr(each, "stem", each)
    )


def addresses(func: Func) -> dict[Value, int]:
    """The addresses that a program gives to its tiles."""
    ops = [op for op in func.body.walk() if isinstance(op, Op)]
    numbers = {
        op.results[0]: number
        for op in ops
        if op.name == "arith.constant"
        for number in op.attrs.values()
        if isinstance(number, int)
    }
    made = [op for op in ops if allocates(op) and op.bound("addr")]
    return {op.results[0]: numbers[v] for op in made for v in op.bound("addr") if v in numbers}


@cache
def source(path: Path) -> Program:
    return pto.load(path)


@cache
def placed(path: Path, target: Target) -> Program | None:
    """The program after `place`; None where the chip does not take it."""
    try:
        return Program(run_passes(source(path).module, ["place"], target))
    except pto.PtoError as problem:
        if not {d.slug for d in problem.diagnostics} <= REFUSED:
            raise
        return None


def found(path: Path, target: Target) -> list[list[Life]]:
    """The tiles of each function that `place` gave an address, and where they live."""
    program = placed(path, target)
    if program is None:
        pytest.skip("the chip has not its memories, or only the run knows its addresses")
    own = {v.name for func in source(path).module.funcs for v in addresses(func)}
    every = [lives(func, target, addresses(func)) for func in program.module.funcs]
    return [[life for life in tiles if life.name not in own] for tiles in every]


def buffers(func: Func) -> list[Op]:
    """What reserves the buffers of FIFOs."""
    every = (op for op in func.body.walk() if isinstance(op, Op))
    return [op for op in every if op.name == "pto.reserve_buffer"]


def fixed(path: Path, chip: str) -> set[str]:
    """The memories in which the program places tiles itself."""
    funcs = source(path).module.funcs
    every = [o for func in funcs for o in lives(func, TARGETS[chip], addresses(func))]
    return {life.space for life in every if life.start is not None}


def cut(path: Path, chip: str) -> Target:
    """The chip, each memory as large as what lives in it at one time, and a tenth more.

    And as the buffers of FIFOs there, which live all the time.
    """
    need: dict[str, int] = {}
    for tiles in found(path, TARGETS[chip]):
        for space, there in by_memory(tiles).items():
            need[space] = max(need.get(space, 0), most_live(there))
    for op in (op for func in source(path).module.funcs for op in buffers(func)):
        space = SPACES[cast("Loc", op.attrs["location"])]
        need[space] = need.get(space, 0) + cast("int", op.attrs["size"])
    kept = fixed(path, chip)
    capacity = {s: (n + n // 10) // LINE * LINE for s, n in need.items() if s not in kept}
    return Target(f"a part of {chip}", "", like=TARGETS[chip], capacity=capacity, usable={})


@pytest.mark.parametrize("roomy", [True, False])
@over(8)
def test_tiles_that_live_at_one_time_share_no_byte(path: Path, chip: str, roomy: bool) -> None:
    """Each is aligned and inside; where all fit, no two tiles share a byte at all."""
    target = TARGETS[chip] if roomy else cut(path, chip)
    for tiles in found(path, target):
        for life in tiles:
            assert life.start is not None or not life.allocated, f"{life} has no address"
            if life.start is not None:
                assert life.start % LINE == 0
                assert 0 <= life.start <= life.start + life.nbytes <= target.capacity[life.space]
        for one, other in pairs(tiles):
            assert not (one.shares(other) and (roomy or one.lives_with(other))), (one, other)


@over(16)
def test_the_peak_is_known(path: Path, chip: str) -> None:
    """As many bytes as by the lives that are worked out here, and not a tenth more."""
    tiles, program = found(path, TARGETS[chip]), placed(path, TARGETS[chip])
    assert program is not None
    most: dict[tuple[str, str], int] = {}
    for func, there in zip(program.module.funcs, tiles, strict=True):
        most |= {(func.name, space): most_live(some) for space, some in by_memory(there).items()}
    for each in source(path).memory(chip):
        if any(tile.explicit for tile in each.tiles):
            continue
        least = most[each.function, each.space]
        aligned = sum(-(-tile.nbytes // LINE) * LINE for tile in each.live)
        assert least <= aligned <= least + least // 10
        assert each.peak == sum(tile.nbytes for tile in each.live)
        assert all(t.first <= each.peak_at.first <= t.last for t in each.live)
        assert each.end <= each.capacity == TARGETS[chip].capacity[each.space]


@over(8)
def test_text_of_level_3_is_a_program_of_level_3(path: Path, chip: str) -> None:
    program = source(path)
    if placed(path, TARGETS[chip]) is None or any(d.is_error for d in program.check(chip)):
        pytest.skip("the chip does not take it, or only the run knows its addresses")
    try:
        text = program.text(level=3, target=chip)
    except pto.PtoError as problem:  # no run on samples is legal
        assert problem.diagnostics[0].slug == "conversion"  # noqa: PT017
        return
    slugs = {d.slug for d in pto.loads(text).check(chip, level=3) if d.is_error}
    assert not slugs


@pytest.mark.parametrize("chip", CHIPS)
def test_a_page_that_is_placed_is_a_program_of_level_3(chip: str) -> None:
    sample = [page for n, page in enumerate(sampled(pages(), 8)) if n % 2 == CHIPS.index(chip)]
    for page in {*sample, *lookup("tquant"), *lookup("tmrgsort"), *lookup("tprelu")}:
        program = pto.loads(example_program(page))
        if any(d.is_error for d in program.check(chip)):
            continue
        after = Program(run_passes(program.module, ["place"], TARGETS[chip]))
        wrong = [d for d in pto.loads(after.text()).check(chip) if d.is_error]
        assert not wrong, page.__name__


@every("name", ["both_kinds", "feed_forward"])
@every("chip", CHIPS)
def test_the_buffers_of_pipes_lie_beside_all_tiles(chip: str, name: str) -> None:
    path = next(path for path in PATHS if path.stem == name)
    program, target = placed(path, TARGETS[chip]), TARGETS[chip]
    assert program is not None
    assert any(map(buffers, program.module.funcs))
    for func in program.module.funcs:
        tiles = [life for life in lives(func, target, addresses(func)) if life.start is not None]
        for op in buffers(func):
            base, size = cast("int", op.attrs["base"]), cast("int", op.attrs["size"])
            space = SPACES[cast("Loc", op.attrs["location"])]
            slots = Life("slots", space, base, size, 0, 0)
            assert base % LINE == 0
            assert base + size <= target.capacity[space]
            assert not any(slots.shares(tile) for tile in tiles if tile.space == space)


@pytest.mark.parametrize("number", range(0, len(PATHS), max(1, 12 // FACTOR)))
def test_what_is_placed_stays(number: int) -> None:
    path, target = PATHS[number], TARGETS[CHIPS[number % 2]]
    program = placed(path, target)
    if program is None:
        pytest.skip("the chip has not its memories, or only the run knows its addresses")
    text = program.text()
    assert Program(run_passes(pto.loads(text).module, ["place"], target)).text() == text
    before = {v.name: n for f in source(path).module.funcs for v, n in addresses(f).items()}
    after = {v.name: n for f in program.module.funcs for v, n in addresses(f).items()}
    assert before.items() <= after.items()


AFTER = """!all = !pto.tensor_view<?x?xf32>
!t = !pto.tile_buf<vec, 16x32xf32>
!v = !pto.partition_tensor_view<16x32xf32>
func.func @after(%x: !pto.ptr<f32>) {
  %all = pto.make_tensor_view %x, shape = [16, 32], strides = [32, 1] : !all
  %view = pto.partition_view %all, offsets = [0, 0], sizes = [16, 32] : !all -> !v
  %stored = pto.alloc_tile : !t
  pto.tload ins(%view : !v) outs(%stored : !t)
  %summed = pto.alloc_tile : !t
  pto.tload ins(%view : !v) outs(%summed : !t)
  pto.tstore ins(%stored : !t) outs(%view : !v)
  pto.tadds ins(%summed, 1.0 : !t, f32) outs(%summed : !t)
  %first = pto.alloc_tile : !t
  pto.FIRST
  pto.tstore ins(%first : !t) outs(%view : !v)
  return
}
"""


@every(
    ("first", "after"),
    [
        ("texpands ins(1.0 : f32) outs(%first : !t)", "summed"),  # on pipe V, as the sum before
        ("tload ins(%view : !v) outs(%first : !t)", "stored"),  # no pipe is the same: the first fit
    ],
)
@every("chip", CHIPS)
def test_a_tile_follows_one_that_its_own_pipe_used_last(chip: str, first: str, after: str) -> None:
    small = Target("two tiles", "", like=TARGETS[chip], capacity={"UB": 2 * 2048}, usable={})
    program = pto.loads(AFTER.replace("FIRST", first))
    (func,) = run_passes(program.module, ["place"], small).funcs
    at = {value.name: n for value, n in addresses(func).items()}
    assert at["first"] == at[after]
    assert at["stored"] != at["summed"]


def test_copies_of_a_double_buffered_body_lie_apart() -> None:
    """However little room there is: the second loads while the first computes."""

    @pto.kernel
    def twice(x: pto.In, y: pto.Out) -> None:
        for i in pto.range(0, 8, buffers=2):
            tile = pto.load(pto.block(x, i * 16, 0, 16, 32))
            pto.store(pto.block(y, i * 16, 0, 16, 32), pto.exp(tile))

    shapes = pto.spec("f32", (128, 32)), pto.spec("f32", (128, 32))
    for rows in (4, 3):
        small = Target("few tiles", "", like=TARGETS["a5"], capacity={"UB": rows * 2048}, usable={})
        module = twice.program(*shapes).module
        if rows == 4:
            (func,) = run_passes(module, ["place"], small).funcs
            assert sorted(addresses(func).values()) == [0, 2048, 4096, 6144]
        else:
            with pytest.raises(pto.PtoError, match="4 tiles need 8192 bytes"):
                run_passes(module, ["place"], small)


def test_a_tile_of_no_known_type_has_no_address() -> None:
    program = pto.loads("%t = pto.alloc_tile : !pto.tile<...>")
    with pytest.raises(pto.PtoError, match="its type is not known"):
        run_passes(program.module, ["place"], TARGETS["a5"])

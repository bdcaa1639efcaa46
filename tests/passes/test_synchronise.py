"""The contracts of `synchronise`, over the programs of the tree without flags of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from anyorder import differs
from flagfaults import mutant
from stripped import CHIPS, PATHS, findings, orders, synchronised, without

import ptokit as pto
from fuzz.scale import sampled, scaled
from ptokit.api.program import Program
from ptokit.explore.exploration import launch_issues
from ptokit.ir.module import Func, Op
from ptokit.isa.model.targets import TARGETS
from ptokit.order.hazards import find
from ptokit.order.issue import Issue
from ptokit.passes.pipeline import run_passes

# every third program on one of the chips, but the large ones; from PTOKIT_FUZZ = 6 on, all on both
EVERY = [(p, c) for n, p in enumerate(PATHS) for c in (CHIPS * 2)[n // 3 % 2 :][:2]]
CASES = sampled([(p, c) for p, c in EVERY if scaled(1) > 1 or p.parent.name == "pto"], 18)
REFUSED = {"illegal", "no run", "conversion"}  # not for this chip; other ranks are needed
PIPED = ("both_kinds", "global_slots", "pipes_by_function", "flash_attention")
HANDED_ON = [(p, c) for p in PATHS if p.stem in PIPED for c in CHIPS]
FEW = 14  # flags and barriers of a program that is tried without each of them


def named(case: object) -> str:
    return case.stem if isinstance(case, Path) else str(case)


@pytest.mark.parametrize(("path", "chip"), CASES, ids=named)
def test_nothing_is_found_in_what_the_pass_made(path: Path, chip: str) -> None:
    """S1, of the program that was printed and read again."""
    program = synchronised(path, chip)
    if isinstance(program, str):
        assert program in REFUSED
        return
    assert not any(findings(pto.loads(program.text()), chip))


def test_most_programs_are_synchronised() -> None:
    made = [synchronised(path, chip) for path, chip in CASES]
    programs = [p for p in made if isinstance(p, Program)]
    assert 2 * len(programs) > len(made)
    ordered = sum(any(orders(op) for f in p.module.funcs for op in f.walk()) for p in programs)
    assert 3 * ordered > len(programs)


def edges(func: Func) -> dict[tuple[object, ...], set[int]]:
    """The flags and barriers of a function by number: those of one id of two pipes together.

    A barrier is alone.
    """
    found: dict[tuple[object, ...], set[int]] = {}
    for number, op in enumerate(op for op in func.body.walk() if orders(op)):
        assert isinstance(op, Op)
        words = tuple(op.attrs.values())
        found.setdefault(words if len(words) > 1 else (number,), set()).add(number)
    return found


@pytest.mark.parametrize(("path", "chip"), CASES[::2], ids=named)
def test_none_is_superfluous(path: Path, chip: str) -> None:
    """S2, for the flags of one id together."""
    program = synchronised(path, chip)
    if isinstance(program, str):
        return
    for func in program.module.funcs:
        for gone in [*edges(func).values()][:FEW]:
            fewer = replace(func, body=without(func.body, gone))
            module = program.module.mapped(lambda f, old=func, new=fewer: new if f is old else f)
            assert any(findings(Program(module), chip)), f"{func.name} without {gone}"
    hints = [d for d in program.races(chip) if d.slug == "redundant-synchronisation"]
    assert not hints, "and `check --races` says so of none"


@pytest.mark.filterwarnings("ignore::ptokit.text.write.cpplacking.CppWarning")
@pytest.mark.parametrize(("path", "chip"), CASES[::3], ids=named)
def test_it_does_nothing_a_second_time(path: Path, chip: str) -> None:
    """S4; other forms print what it made."""
    program = synchronised(path, chip)
    if isinstance(program, str):
        return
    again = Program(run_passes(program.module, ["synchronise"], TARGETS[chip]))
    assert again.text() == program.text()
    assert program.text("cpp").count("_flag(") == program.text().count("_flag[")


class Case(NamedTuple):
    """A function with flags."""

    chip: str
    program: Program
    func: Func

    def runs(self) -> Iterator[Issue]:
        """What it issues: loops that are not known iterate thrice first."""
        return launch_issues(self.program, TARGETS[self.chip], self.func.name)

    def with_fault(self, random: Random) -> tuple[Case, str]:
        faulty, fault = mutant(self.func, random)
        module = self.program.module.mapped(lambda f: faulty if f is self.func else f)
        return Case(self.chip, Program(module), faulty), fault


def functions(most: int) -> list[Case]:
    """Functions with flags that issue at most so many entries."""
    made = [(chip, synchronised(path, chip)) for path, chip in CASES]
    every = [Case(c, p, f) for c, p in made if isinstance(p, Program) for f in p.module.funcs]
    flagged = [case for case in every if any(orders(op) for op in case.func.walk())]
    return [case for case in flagged if sum(map(len, next(case.runs()).cores)) <= most]


def test_any_legal_order_gives_what_program_order_does() -> None:
    """S3."""
    for case in functions(400):
        cores = next(case.runs()).cores
        for seed in range(min(200, scaled(2))):
            assert not differs(cores, TARGETS[case.chip], seed), f"{case}, order {seed}"


def test_each_fault_that_some_order_shows_is_found() -> None:
    """A pair that is missing, or a flag that is moved or of other pipes or of another id."""
    cases, random, shown, found = functions(60), Random(5), 0, 0
    for _ in range(scaled(30)):
        case, fault = random.choice(cases).with_fault(random)
        target, runs, wrong = TARGETS[case.chip], list[Issue](), False
        try:
            for run in case.runs():
                runs.append(run)
                if wrong := bool(find(run.cores, target, run.footprints.regions)):
                    break
        except pto.PtoError:
            continue  # the chip does not take such a flag
        found += wrong
        tries = ((run.cores, seed) for run in runs for seed in range(scaled(3)))
        differing = any(differs(run, target, seed) for run, seed in tries)
        shown += differing
        assert wrong or not differing, f"{case}: {fault}"
    assert found > scaled(15), "most faults are such"
    assert shown > scaled(15), "and random orders show most of them"


def test_sections_of_both_kinds_have_flags_of_their_own() -> None:
    """S1, with the signals between them, of a run on an array."""
    text = (Path(__file__).parent / "synchronise-sections.pto").read_text(encoding="utf-8")
    made = run_passes(pto.loads(text).module, ["synchronise"], TARGETS["a2a3"])
    arrays = {"g": np.zeros(256, np.float32), "n": 3}
    (run,) = launch_issues(Program(made), TARGETS["a2a3"], None, arrays)
    assert len(run.cores) > 1
    assert not find(run.cores, TARGETS["a2a3"], run.footprints.regions)


def stages(count: int) -> str:
    """All loads of so many tiles, then all additions, then all stores."""
    tile, view = "!pto.tile_buf<vec, 1x64xf32>", "!pto.tensor_view<1x64xf32>"
    names = [f"%x{n}: {view}" for n in range(count)]
    lines = [
        *(f"%t{n} = pto.alloc_tile : {tile}" for n in range(count)),
        *(f"pto.tload ins(%x{n} : {view}) outs(%t{n} : {tile})" for n in range(count)),
        *(
            f"pto.tadd ins(%t{n}, %t{n} : {tile}, {tile}) outs(%t{n} : {tile})"
            for n in range(count)
        ),
        *(f"pto.tstore ins(%t{n} : {tile}) outs(%x{n} : {view})" for n in range(count)),
    ]
    return "\n  ".join([f"func.func @stages({', '.join(names)}) {{", *lines, "return\n}\n"])


@pytest.mark.parametrize("count", [8, 9, 30])
@pytest.mark.parametrize("chip", CHIPS)
def test_where_no_id_is_left_a_flag_stands_for_two(chip: str, count: int) -> None:
    made = run_passes(pto.loads(stages(count)).module, ["synchronise"], TARGETS[chip])
    program = Program(made)
    assert program.text().count("pto.barrier") == 0
    assert program.text().count("pto.set_flag") == 16, "eight of each of two pairs of pipes"
    assert not any(findings(program, chip))


@pytest.mark.parametrize(("path", "chip"), sampled([*HANDED_ON[2:], *HANDED_ON[:2]], 4), ids=named)
def test_cores_that_hand_data_on_are_synchronised(path: Path, chip: str) -> None:
    """S1 and S3: nothing is found, and a legal order gives the bytes of program order."""
    program = synchronised(path, chip)
    assert isinstance(program, Program)
    assert not program.races(chip)
    for run in launch_issues(program, TARGETS[chip]):
        assert len(run.cores) > 1
        assert not any(differs(run.cores, TARGETS[chip], seed) for seed in range(scaled(1)))


@pto.kernel(shapes="x[rows, D] y[rows, D]")
def doubled(x: pto.In, y: pto.Out, *, buffers: int) -> None:
    rows, width = x.shape
    for i in pto.range(0, rows, 32, buffers=buffers):
        t = pto.load(pto.block(x, i, 0, 32, width))
        pto.store(pto.block(y, i, 0, 32, width), t + t)


@pytest.mark.parametrize("chip", CHIPS)
def test_two_buffers_hide_the_stores_and_additions_behind_the_loads(chip: str) -> None:
    wide, array = pto.spec("f32", (640, 256)), np.zeros((640, 256), np.float32)
    cycles: list[float] = []
    for buffers in (1, 2):
        text = doubled.program(wide, wide, buffers=buffers).text(level=3, target=chip)
        # four in each iteration, two before the loop
        assert text.count("pto.set_flag") == 6 * buffers
        program = pto.loads(text)
        cycles.append(program.profile(x=array, y=array, rows=640, target=chip).cycles)
    assert cycles[1] < 0.7 * cycles[0]


def test_a_tile_of_the_caller_may_have_an_open_valid_region() -> None:
    """A dry run takes all of it."""
    tile = "!pto.tile_buf<vec, 32x32xf32, valid=?x?>"
    text = f"""
func.func @doubled(%t: {tile}, %x: memref<32x32xf32>) {{
  pto.tadd ins(%t, %t : {tile}, {tile}) outs(%t : {tile})
  pto.tstore ins(%t : {tile}) outs(%x : memref<32x32xf32>)
  return
}}
"""
    made = run_passes(pto.loads(text).module, ["synchronise"], TARGETS["a2a3"])
    assert sum(map(len, edges(made.funcs[0]).values())) == 2

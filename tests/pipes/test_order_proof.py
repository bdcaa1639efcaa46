"""What compiled code proves of a run: nothing is proven in which the detector finds anything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from pipes.stream import ADD, DRAIN, LOAD, PRIME, RIGHT, STORE, stream
from pipes.test_faulty_flags import mutants
from random import Random

import numpy as np
import pytest

import ptokit as pto
from fuzz.scale import sampled, scaled
from ptokit.explore.exploration import launch_issues, races_of_run
from ptokit.isa.model.targets import TARGETS
from ptokit.order import orderproof
from ptokit.order.issue import Issue
from ptokit.order.loggedissue import LoggedIssue
from ptokit.order.racereports import races

F32 = np.float32
# of the random runs: tiles lie at so many places, 32 bytes apart
ITERATIONS, TILES, PLACES = 5, 4, 9
PAIRS = ("MTE2, V", "V, MTE3", "MTE3, MTE2", "V, MTE2", "MTE3, V")
COUNT = TILES + 2 + len(PAIRS) + 2  # numbers for each iteration


def maybe(bit: int, *lines: str) -> str:
    inside = "\n        ".join(lines)
    return f"""
      %on{bit} = arith.cmpi ne, %n{bit}, %zero : i64
      scf.if %on{bit} {{
        {inside}
      }}"""


def pair(number: int) -> str:
    """A set and its wait, where a number of the iteration is not 0."""
    source, target = PAIRS[number].split(", ")
    what = f"[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{number}>]"
    return maybe(TILES + 2 + number, f"pto.set_flag{what}", f"pto.wait_flag{what}")


def by_numbers(barrier: str) -> str:
    """A kernel whose addresses and flags are numbers in memory: compiled once, many runs."""
    tile, view = "!pto.tile_buf<vec, 2x8xf32>", "!pto.tensor_view<2x8xf32>"
    numbers = "\n".join(
        f"""      %i{n} = arith.constant {n} : index
      %j{n} = arith.addi %row, %i{n} : index
      %n{n} = pto.load_scalar %at[%j{n}] : !pto.ptr<i64> -> i64"""
        for n in range(COUNT)
    )
    tiles = "\n".join(f"      %t{n} = pto.alloc_tile addr = %n{n} : {tile}" for n in range(TILES))
    views = "\n".join(
        f"""      %f{n} = arith.index_cast %n{n} : i64 to index
      %p{n} = pto.addptr %{name}, %f{n} : !pto.ptr<f32> -> !pto.ptr<f32>
      %v{n} = pto.make_tensor_view %p{n}, shape = [%c2, %c8], strides = [%c16, %c1] : {view}"""
        for n, name in ((TILES, "x"), (TILES + 1, "y"))
    )
    return f"""\
func.func @by_numbers(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %at: !pto.ptr<i64>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %iterations = arith.constant {ITERATIONS} : index
  %width = arith.constant {COUNT} : index
  %zero = arith.constant 0 : i64
  %b64 = pto.get_block_idx
  %b = arith.index_cast %b64 : i64 to index
  %before = arith.muli %b, %iterations : index
  %all = pto.alloc_tile addr = %zero : !pto.tile_buf<vec, 1x128xf32>
  %none = arith.constant 0.0 : f32
  pto.texpands ins(%none : f32) outs(%all : !pto.tile_buf<vec, 1x128xf32>)
  pto.barrier <PIPE_ALL>
  scf.for %i = %c0 to %iterations step %c1 {{
      %iteration = arith.addi %before, %i : index
      %row = arith.muli %iteration, %width : index
{numbers}
{tiles}
{views}
      pto.tload ins(%v{TILES} : {view}) outs(%t0 : {tile}){pair(0)}{maybe(COUNT - 2, barrier)}
      pto.tadd ins(%t0, %t1 : {tile}, {tile}) outs(%t2 : {tile}){pair(1)}{pair(3)}
      pto.tstore ins(%t3 : {tile}) outs(%v{TILES + 1} : {view}){pair(2)}{pair(4)}\
{maybe(COUNT - 1, "pto.barrier <PIPE_ALL>")}
  }}
  return
}}
"""


def numbers(random: Random, blocks: int) -> np.ndarray:
    """Of each iteration: addresses in UB, elements of arrays, flags, barriers."""
    often, apart = random.choice((0.5, 0.9, 1.0)), random.random() < 0.5
    rows: list[list[int]] = []
    for iteration in range(blocks * ITERATIONS):
        tiles = [32 * random.randrange(PLACES) for _ in range(TILES)]
        store = 32 * iteration if apart else 8 * random.randrange(PLACES)
        flags = [int(random.random() < often) for _ in PAIRS]
        barriers = [int(random.random() < p) for p in (often, often / 2)]
        rows.append([*tiles, 8 * random.randrange(PLACES), store, *flags, *barriers])
    return np.array(rows, np.int64)


@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize(("target", "barrier"), [("a2a3", "pto.barrier <PIPE_V>"), ("a5", "")])
def test_what_is_proven_is_what_the_detector_finds_nothing_in(
    target: str, barrier: str, blocks: int
) -> None:
    """And the other way round, where everything lies on granules of its own."""
    random, program = Random(5), pto.loads(by_numbers(barrier))
    seen: set[tuple[bool, bool]] = set()
    for _ in range(scaled(12)):
        arrays = {"x": np.ones(512, F32), "y": np.zeros(512, F32), "at": numbers(random, blocks)}
        issue = ran(program, arrays, target, blocks)
        for only, proven in [(only, issue.proven(blocks_only=only)) for only in (False, True)]:
            assert proven == (not found(issue, only)), (arrays["at"], only)
            seen.add((only, proven))
    assert len(seen) == (4 if blocks > 1 else 3)  # one block has no other one


def ran(
    program: pto.Program, arrays: Mapping[str, object], target: str, blocks: int = 1
) -> LoggedIssue:
    issue = LoggedIssue(TARGETS[target])
    program.execute(arrays, target=target, blocks=blocks, engine="native", observers=[issue])
    assert issue.unread, "the program was compiled"
    return issue


def found(issue: LoggedIssue, only: bool = False) -> bool:
    """Whether the detector finds anything: it looks at the entries of a log that was read."""
    assert issue.cores
    assert not issue.unread
    return bool(races([issue], issue.target, blocks_only=only))


STREAM = stream(*RIGHT, iterations="%c4")
ARRAYS = {"x": np.ones(4096, F32), "y": np.zeros(4096, F32), "n": 4}


# the sum waits for its input when it is done
LATE = stream(PRIME, [*LOAD, ADD[1], ADD[2], ADD[0], *ADD[3:], *STORE], DRAIN, iterations="%c4")


def test_no_mutant_that_races_is_proven() -> None:
    some = Random(3).sample([text for _, text in mutants(STREAM)], scaled(1))
    for text in [STREAM, LATE, *some]:
        try:
            issue = ran(pto.loads(text), ARRAYS, "a2a3")
        except pto.PtoError:
            continue  # it stops: a wait without its set
        proven, finding = issue.proven(blocks_only=False), found(issue)
        assert proven == (not finding), text
        assert finding or text is not LATE


def test_runs_that_differ_in_content_only_are_proven_anew() -> None:
    program = pto.loads(by_numbers(""))
    right = np.ones((ITERATIONS, COUNT), np.int64)
    right[:, :TILES] = 64 * np.arange(TILES)
    right[:, TILES:-7] = 32 * np.arange(ITERATIONS)[:, None]
    wrong = right.copy()
    wrong[2, TILES + 3] = wrong[2, -1] = 0  # the store does not wait for the sum
    wrong[2, 3] = wrong[2, 2]
    for at, expected in ((right, True), (wrong, False), (right, True)):
        arrays = {"x": np.ones(512, F32), "y": np.zeros(512, F32), "at": at}
        assert ran(program, arrays, "a5").proven(blocks_only=False) == expected


def test_a_run_of_too_many_kinds_is_left_to_the_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, few in (("MOST_WORDS", 100), ("MOST_SPACES", 1), ("MOST_CHANNELS", 2)):
        with monkeypatch.context() as patched:
            patched.setattr(orderproof, name, few)
            assert not ran(pto.loads(STREAM), ARRAYS, "a2a3").proven(blocks_only=False), name
    assert ran(pto.loads(STREAM), ARRAYS, "a2a3").proven(blocks_only=False)


def test_blocks_that_let_an_output_grow_are_logged() -> None:
    """They run once more on one thread when it grows: that run is looked at."""
    text = (Path(__file__).parents[2] / "examples" / "stream.pto").read_text(encoding="utf-8")
    issue = ran(pto.loads(text), {"x": np.ones(8192, F32)}, "a2a3", 3)
    assert [len(core) for core in issue.cores]
    assert len(issue.cores) == 3


def test_a_long_run_is_executed_and_no_entry_is_looked_at() -> None:
    """A short one is followed by the reference, as far as it decides what is executed."""
    for iterations, kind in ((3, Issue), (300, LoggedIssue)):
        n = 1024 * iterations
        arrays = {"x": np.ones(n, F32), "y": np.zeros(n, F32), "n": iterations}
        (issue,) = launch_issues(pto.loads(stream(*RIGHT)), TARGETS["a2a3"], None, arrays)
        assert type(issue) is kind
        assert issue.proven(blocks_only=False) == (kind is LoggedIssue)


def test_a_kernel_that_the_reference_runs_again_prints_once(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Two blocks write the same rows: what compiled code ran so far is thrown away."""
    path = Path(__file__).parents[1] / "pto" / "pipes_by_function.pto"
    text, load = path.read_text(encoding="utf-8"), "    pto.tload"
    said = '    %n = arith.constant 7 : i32\n    pto.print ins("row %d", %n : i32)\n'
    program = pto.loads(text.replace(load, said + load))
    arrays = {name: np.ones((16, 16), F32) for name in "xy"}
    issue = LoggedIssue(TARGETS["a5"], between_blocks=True)
    program.execute(arrays, target="a5", blocks=2, engine="native", observers=[issue])
    assert capfd.readouterr().out == "row 7\nrow 7\n"


BY_BLOCK = """%n = pto.get_block_idx
    %b = arith.index_cast %n : i64 to index
    %at = arith.muli %b, %c8 : index
    %upper = pto.partition_view %yv, offsets = [%at, %c0]"""


@pytest.mark.parametrize("apart", [True, False])
def test_blocks_of_several_cores_are_compared_in_compiled_code(apart: bool) -> None:
    """Where two blocks write the same rows, the reference tells all that cores tell."""
    path = Path(__file__).parents[1] / "pto" / "pipes_by_function.pto"
    text, alike = path.read_text(encoding="utf-8"), BY_BLOCK.splitlines()[-1].strip()
    alike = alike.replace("%at", "%c0")
    assert text.count(alike) == 1
    program = pto.loads(text.replace(alike, BY_BLOCK) if apart else text)
    arrays = {name: np.ones((16, 16), F32) for name in "xy"}
    issue = LoggedIssue(TARGETS["a5"], between_blocks=True)
    program.execute(arrays, target="a5", blocks=2, engine="native", observers=[issue])
    assert issue.proven(blocks_only=True) == apart
    assert bool(issue.issues) == (not apart)
    found = races_of_run(program, program.entry_named(None), issue)
    assert [d.slug for d in found if d.is_error] == ([] if apart else ["hazard"])


RANGES = {
    ((0, 64),): [(0, 64, 0, 1)],
    ((0, 8), (32, 40), (64, 72)): [(0, 8, 32, 3)],
    ((0, 8), (32, 40), (64, 80)): [(0, 8, 32, 2), (64, 16, 0, 1)],
    ((0, 8), (32, 40), (80, 88)): [(0, 8, 32, 2), (80, 8, 0, 1)],
    tuple((n * n, n * n + 1) for n in range(2, 300)): [(4, 299 * 299 + 1 - 4, 0, 1)],
}


@pytest.mark.parametrize("ranges", sampled([*RANGES], len(RANGES)))
def test_ranges_are_lines(ranges: tuple[tuple[int, int], ...]) -> None:
    assert orderproof.lines_of(ranges) == RANGES[ranges]

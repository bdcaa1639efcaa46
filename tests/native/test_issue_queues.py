"""Functions that await flags above the lines which raise them run as machine code."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from fuzz.scale import scaled
from native.outcomes import refused
from native.textorder import Line, flag, line, reordered
from ptokit.engines.native import queuecode
from ptokit.engines.reference.engine import InterpretedFunction

TILE = "!pto.tile_buf<vec, 8x32xf32>"
PART = "!pto.partition_tensor_view<8x32xf32>"
VIEW = "!pto.tensor_view<?x32xf32>"
SHAPE = "shape = [%rows, %c32], strides = [%c32, %c1]"
ALL = "pto.barrier <PIPE_ALL>"
TILES = range(4)
BLOCKS = 3


@pytest.fixture
def _natively(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference is not asked to run a function."""

    def refused(*_: object) -> None:
        raise AssertionError("the reference ran it")

    monkeypatch.setattr(InterpretedFunction, "run", refused)


def program(lines: Sequence[str], numbers: str = "", more: str = "") -> pto.Program:
    """Tiles %t0 to %t3; %p and %q are 8 rows of x and y from the row %at on; `more` arguments."""
    makes = "\n  ".join(
        f"%a{n} = arith.constant {1024 * n} : i64\n  %t{n} = pto.alloc_tile addr = %a{n} : {TILE}"
        for n in TILES
    )
    body = "\n  ".join(lines)
    return pto.loads(f"""
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index{more}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %all = arith.muli %n, %c8 : index
  %block = pto.get_block_idx
  %blocks = pto.get_block_num
  %number = arith.index_cast %block : i64 to index
  %many = arith.index_cast %blocks : i64 to index
  %rows = arith.muli %all, %many : index
  %start = arith.muli %number, %all : index
  %from = pto.make_tensor_view %x, {SHAPE} : {VIEW}
  %to = pto.make_tensor_view %y, {SHAPE} : {VIEW}
  {numbers}
  {makes}
  {body}
  {ALL}
  return
}}
""")


def views(number: str) -> str:
    """The rows of x and y that belong to an iteration."""
    parts = f"sizes = [%c8, %c32] : {VIEW} -> {PART}"
    return f"""%i8{number} = arith.muli %{number}, %c8 : index
  %at{number} = arith.addi %start, %i8{number} : index
  %p{number} = pto.partition_view %from, offsets = [%at{number}, %c0], {parts}
  %q{number} = pto.partition_view %to, offsets = [%at{number}, %c0], {parts}"""


def load(tile: int, number: str = "i") -> str:
    return f"pto.tload ins(%p{number} : {PART}) outs(%t{tile} : {TILE})"


def store(tile: int, number: str = "i") -> str:
    return f"pto.tstore ins(%t{tile} : {TILE}) outs(%q{number} : {PART})"


def adds(source: int, target: int, number: str = "one") -> str:
    return f"pto.tadds ins(%t{source}, %{number} : {TILE}, f32) outs(%t{target} : {TILE})"


def muls(source: int, target: int) -> str:
    return adds(source, target, "two").replace("tadds", "tmuls")


def given(iterations: int, blocks: int = BLOCKS) -> dict[str, Any]:
    x = np.arange(blocks * iterations * 256, dtype=np.float32).reshape(-1, 32) % 509
    return {"x": x, "y": np.zeros_like(x), "n": iterations}


def chain(random: Random) -> tuple[list[Line], list[str]]:
    """A load, sums and products that hand a tile on, a store; how to compute the same."""
    tiles = random.sample(TILES, random.randint(2, 4))
    lines, meaning = [line("MTE2", load(tiles[0]))], list[str]()
    for source, target in pairwise(tiles):
        word = random.choice(("add", "mul"))
        made = adds(source, target) if word == "add" else muls(source, target)
        lines.append(line("V", made))
        meaning.append(word)
    lines.append(line("MTE3", store(tiles[-1])))
    return lines, meaning


def flagged(lines: Sequence[Line]) -> list[Line]:
    """With a flag where one pipe goes on with what another one did."""
    found, before = list[Line](), lines[0].queue
    for one in lines:
        if one.queue != before:
            found.append(line(before, flag("set", before, one.queue)))
            found.append(line(one.queue, flag("wait", before, one.queue)))
            before = one.queue
        found.append(one)
    return found


@pytest.mark.usefixtures("_natively")
@pytest.mark.parametrize("seed", range(scaled(3)))
@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
def test_lines_of_a_loop_may_stand_in_any_order_of_queues(target: str, seed: int) -> None:
    random = Random(f"{target} {seed}")
    lines, meaning = chain(random)
    body = [one.text for one in reordered(flagged(lines), random)]
    fences = random.choice(((ALL,), (flag("set", "MTE3", "MTE2"), flag("wait", "MTE3", "MTE2"))))
    loop = ["scf.for %i = %c0 to %n step %c1 {", views("i"), *body, *fences, "}"]
    data = given(random.randint(1, 4))
    want = data["x"].copy()
    for word in meaning:
        want = want + 1 if word == "add" else want * 2
    made = program(loop)
    found = made.run(target=target, engine="native", blocks=BLOCKS, **data)["y"]
    np.testing.assert_array_equal(found, want)


OPERATIONS = {"MTE2": "TLOAD", "V": "TVEC", "MTE3": "TSTORE_VEC"}
HELD = flag("wait", "M", "V", 7), flag("set", "M", "V", 7)


def buffer(word: str, queue: str, number: str) -> Line:
    """An acquire or a release; acquires keep their order, whatever queues they are of."""
    dynamic, operation = "_dyn" * number.startswith("%"), OPERATIONS[queue]
    text = f"pto.{word}_buf{dynamic}[#pto.pipe_event_type<{operation}>, {number}]"
    return line(queue, text, "acquires" if word == "get" else "")


def acquiring(lines: Sequence[Line], number: str) -> list[Line]:
    """Each pipe acquires the buffer for what it does before it hands the tile on."""
    found = list[Line]()
    for queue, some in groupby(lines, lambda one: one.queue):
        found += buffer("get", queue, number), *some, buffer("rls", queue, number)
    return found


@pytest.mark.usefixtures("_natively")
@pytest.mark.parametrize("seed", range(scaled(6)))
@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
def test_buffers_order_lines_as_flags_do(target: str, seed: int) -> None:
    """V begins when the loop has ended: what waits for a buffer waits with it."""
    random = Random(f"{target} {seed}")
    lines, meaning = chain(random)
    number = random.choice(("5", "%i"))
    body = [one.text for one in reordered(acquiring(lines, number), random)]
    fences = [one.text for one in acquiring([line("MTE3", ""), line("MTE2", "")], "6")]
    loop = ["scf.for %i = %c0 to %n step %c1 {", views("i"), *fences[3:], *body, *fences[:3], "}"]
    data = given(random.randint(1, 4))
    want = data["x"].copy()
    for word in meaning:
        want = want + 1 if word == "add" else want * 2
    made = program([HELD[0], *loop, HELD[1]])
    found = made.run(target=target, engine="native", blocks=BLOCKS, **data)["y"]
    np.testing.assert_array_equal(found, want)


AHEAD = (  # V works on what MTE2 loads an iteration later, and stops after the last one
    "%last = arith.addi %n, %c1 : index",
    "scf.for %i = %c0 to %last step %c1 {",
    "%works = arith.cmpi slt, %i, %n : index",
    "scf.if %works {",
    views("i"),
    *(flag("wait", "MTE2", "V"), flag("wait", "MTE3", "V", 1), adds(0, 1)),
    *(flag("set", "V", "MTE2", 2), flag("set", "V", "MTE3", 3)),
    *(flag("wait", "V", "MTE3", 3), store(1), flag("set", "MTE3", "V", 1)),
    "}",
    "%loads = arith.cmpi sgt, %i, %c0 : index",
    "scf.if %loads {",
    "%j = arith.subi %i, %c1 : index",
    views("j"),
    *(flag("wait", "V", "MTE2", 2), load(0, "j"), flag("set", "MTE2", "V")),
    "}",
    "}",
)
PRIMES = flag("set", "MTE3", "V", 1), flag("set", "V", "MTE2", 2)
DRAINS = flag("wait", "MTE3", "V", 1), flag("wait", "V", "MTE2", 2)


@pytest.mark.usefixtures("_natively")
@pytest.mark.parametrize("iterations", [1, 2, 5])
@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_a_pipe_is_an_iteration_behind_in_the_text(target: str, iterations: int) -> None:
    """The guards and the ends of the loop are known to the run alone."""
    made = program([*PRIMES, *AHEAD, *DRAINS])
    data = given(iterations)
    found = made.run(target=target, engine="native", blocks=BLOCKS, **data)["y"]
    np.testing.assert_array_equal(found, data["x"] + 1)


def behind(iterations: int) -> pto.Program:
    """All that V does waits for a flag that is raised behind the loop."""
    loop = ("scf.for %i = %c0 to %c step %c1 {", adds(0, 0), "}")
    ends = (flag("set", "V", "MTE3"), flag("wait", "V", "MTE3"), store(0, "c0"))
    begin = (f"%c = arith.constant {iterations} : index", views("c0"), flag("wait", "MTE2", "V"))
    return program([*begin, *loop, load(0, "c0"), flag("set", "MTE2", "V"), *ends])


@pytest.mark.usefixtures("_natively")
def test_a_queue_holds_what_a_loop_issues() -> None:
    data = given(1, 1)
    found = behind(1000).run(target="a5", engine="native", **data)["y"]
    np.testing.assert_array_equal(found, data["x"] + 1000)


def test_longer_queues_are_the_reference_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PTOKIT_CACHE", str(tmp_path))  # code with other queues is of no use
    monkeypatch.setattr(queuecode, "MOST", 1000)
    data, asked = given(1, 1), list[bool]()
    run = InterpretedFunction.run

    def counted(function: Any, *how: Any) -> Any:
        asked.append(True)
        return run(function, *how)

    monkeypatch.setattr(InterpretedFunction, "run", counted)
    found = behind(2000).run(target="a5", engine="native", **data)["y"]
    np.testing.assert_array_equal(found, data["x"] + 2000)
    assert asked == [True]


LATE = (views("c0"), flag("wait", "MTE2", "V"), adds(0, 1), flag("set", "V", "MTE3"))
STORED = (flag("wait", "V", "MTE3"), store(1, "c0"))
NUMBERS = TILE.replace("f32", "i32")
GATHERED = (
    *("%i = pto.alloc_tile addr = %a2 : " + NUMBERS, *LATE[:2]),
    *(f"pto.tgather ins(%t0, %i : {TILE}, {NUMBERS}) outs(%t1 : {TILE})", LATE[-1]),
)
WRONG = {
    "what nobody wrote decides": [*GATHERED, flag("set", "MTE2", "V"), *STORED],
    "what nobody computed is stored": [*LATE, flag("set", "MTE2", "V"), *STORED],
    "a flag is up already": [*LATE, *STORED, *2 * (load(0, "c0"), flag("set", "MTE3", "MTE2"))],
    "nobody raises a flag": [*LATE, *STORED, load(0, "c0")],
    "a buffer is not released": [
        *(one.text for one in (buffer("get", "V", "5"), buffer("get", "MTE2", "5"))),
        *(*LATE, *STORED, load(0, "c0"), flag("set", "MTE2", "V")),
    ],
    "no buffer has this number": [
        *("%no = arith.muli %n, %c32 : index", *LATE, load(0, "c0"), flag("set", "MTE2", "V")),
        *(*STORED, buffer("get", "V", "%no").text),
    ],
    "an array ends": [*LATE, load(0, "c0"), flag("set", "MTE2", "V"), *STORED],
}


@pytest.mark.parametrize("what", WRONG)
def test_errors_are_those_of_the_reference(what: str) -> None:
    made, data = program(WRONG[what]), given(1, 1)
    if what == "an array ends":
        data["y"] = data["y"][:4]
    strict = what == "what nobody computed is stored"
    slug = refused(made, data, target="a5", strict=strict).slug
    assert "nobody wrote" not in what or slug == "uninitialised-read"
    assert not strict or slug == "undefined-store"

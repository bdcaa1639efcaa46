"""What is tried of a page by the kind of its meaning; a page without one is told what to write."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from random import Random

import numpy as np
import pytest
from engines import drawn

import ptokit as pto
from fuzz.scale import scaled
from oracles import (
    elementwise,
    feature_maps,
    gathering,
    movement,
    products,
    quantisation,
    scalars_and_control,
    transfers,
    vectors,
)
from oracles.harness import complaints
from oracles.registry import MEANINGS, NoData, Numbers, Program
from ptokit.isa.lang.instr import Instr, Role
from ptokit.isa.model.types import Kind
from ptokit.isa.pages.arith import Predicate

# imported for what they say
SAID = (
    elementwise,
    feature_maps,
    gathering,
    movement,
    products,
    quantisation,
    scalars_and_control,
    transfers,
    vectors,
)

# oracles are asked about every case; native code is made for the first few
CASES, COMPILED = scaled(4), scaled(1)
HERE = Path("tests") / "oracles"


def check(page: type[Instr]) -> None:
    """Fails where an engine does otherwise than the oracle, and where there is none."""
    what = MEANINGS.get(page.__name__)
    if what is None:
        pytest.fail(missing(page))
    elif isinstance(what, NoData):
        check_no_data(page)
    elif isinstance(what, Numbers):
        check_numbers(page, what)
    elif isinstance(what, Program):
        check_program(what)
    else:
        check_cases(page)


def missing(page: type[Instr]) -> str:
    """What to write, and where."""
    name, tiles = page.__name__, [o.name for o in page.operands]
    if not page.executes:
        return (
            f"{name} has no meaning. Say in {HERE / 'scalars_and_control.py'} what a program with "
            f"it gives: say({name!r}, Program(text, outputs, arguments)), or for numbers "
            f"{name}=lambda a, b: ... in its table."
        )
    return (
        f"{name} has no meaning: a body that does something else would pass every other law. Say "
        f"in {HERE}, from the documents and not from the body, what the output holds: a line "
        f"`{name}=lambda a, b: ...` in `binary` of vectors.py, or a function "
        f"`@meaning({name!r}) def ...({', '.join(tiles)})` beside its kin (registry.py says how)."
    )


def check_no_data(page: type[Instr]) -> None:
    """What orders others takes no tile and no array, writes none, and defines nothing."""
    data = [o.name for o in page.operands if o.kind not in (Kind.INDEX, Kind.ANY)]
    data += [o.name for o in page.operands if o.written or o.role is Role.RESULT]
    assert not data, f"{page.__name__} has data ({', '.join(data)}): NoData is not its meaning"


def check_cases(page: type[Instr]) -> None:
    """Random legal operands: both engines and the oracle."""
    compared = 0
    for number in range(CASES):
        case = drawn(page, number)
        found = complaints(case, compiled=number < COMPILED)
        assert not found, "\n".join([*found, str(case)])
        compared += found is not None
    assert compared, f"{page.__name__}: no case was compared"


def check_program(what: Program) -> None:
    """The outputs of a program in both engines."""
    for engine in ("reference", "native"):
        done = pto.loads(what.text).execute(
            deepcopy(what.arguments), engine=engine, blocks=what.blocks
        )
        outputs = {n: np.asarray(done.outputs[n]).tolist() for n in what.outputs}
        assert outputs == dict(what.outputs), f"{engine}\n{what.text}"


NUMBERS = (0, 1, 2, 3, 7, -1, -2, -7, 63, 64, 127, 128, -128, -129, 255, 256, 32767, -32768, 65536)
LARGE = (2**31 - 1, -(2**31), 2**32, 2**63 - 1, -(2**63), 10**15, -(10**15) - 1)
WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
TILE = "!pto.tile_buf<vec, 1x4xi64>"


def in_width(n: int, kind: str) -> int:
    """A number in a type: its low bits, signed but for i1."""
    width = WIDTHS[kind]
    low = n % (1 << width)
    return low - (1 << width) if width > 1 and low >> (width - 1) else low


# by the text shape of a page: its operands, and the line; {a} to {c} are numbers, {t} their type
LINES = {
    "same": ("{m} {a}, {b} : {t}", 2),
    "compare": ("{m} {p}, {a}, {b} : {t}", 2),
    "select": ("{m} {c}, {a}, {b} : {t}", 2),
    "cast": ("{m} {a} : {t} to {u}", 1),
    "constant": ("{m} {n} : {t}", 1),
}
CASTS = {
    "IndexCast": (("index", "i64"), ("i64", "index"), ("i32", "index"), ("index", "i32")),
    "ExtSI": (("i32", "i64"), ("i8", "i32"), ("i16", "i64")),
    "TruncI": (("i64", "i32"), ("i64", "i8"), ("i32", "i16")),
}


def check_numbers(page: type[Instr], what: Numbers) -> None:
    """Every result of one program, by type, in both engines."""
    random = Random(page.__name__)
    program = Scalars(page, what)
    for _ in range(scaled(24)):
        program.line(random)
    for engine in ("reference", "native"):
        done = pto.loads(program.text()).execute(program.arguments(), engine=engine)
        found = [int(done.outputs[f"o{n}"][0, 0]) for n in range(len(program.wanted))]
        assert found == program.wanted, f"{engine}\n{program.text()}"


class Scalars:
    """A program that computes numbers; each is added to a tile of zeros."""

    def __init__(self, page: type[Instr], what: Numbers) -> None:
        self.page, self.f = page, what.f
        self.wanted: list[int] = []
        self.numbers: list[tuple[str, int]] = []  # arguments: type and value
        self.lines: list[str] = []

    def argument(self, kind: str, value: int) -> str:
        self.numbers.append((kind, value))
        return f"%a{len(self.numbers) - 1}"

    def line(self, random: Random) -> None:
        """One more result."""
        kind, to = random.choice(CASTS.get(self.page.__name__, (("i32", "i32"), ("i64", "i64"))))
        shape = self.page.asm.shape
        assert shape in LINES, f"{self.page.__name__}: Program(...) is its meaning, not Numbers"
        text, count = LINES[shape]
        values = [in_width(random.choice(NUMBERS + LARGE), kind) for _ in range(count)]
        if "Div" in self.page.__name__ or "Rem" in self.page.__name__:
            values[1] = values[1] or 1
        given, word = list(values), random.choice(list(Predicate))
        names = [self.argument(kind, v) for v in values]
        yes = random.choice(values) < 0
        if "{c}" in text:
            given.insert(0, int(yes))
        if "{p}" in text:
            given.append(word.name)  # type: ignore[arg-type]
        holes = dict(zip("ab", names, strict=False))
        holes |= {"m": self.page.mnemonic(), "t": kind, "u": to, "p": word.text, "n": values[0]}
        number = len(self.wanted)
        holes["c"] = f"%yes{number}"
        if "{c}" in text:
            self.lines.append(f"  %yes{number} = arith.constant {str(yes).lower()}")
        self.lines.append(f"  %r{number} = {text.format(**holes)}")
        self.store(number, "i1" if "{p}" in text else to)
        self.wanted.append(in_width(self.f(*given), "i1" if "{p}" in text else to))

    def store(self, number: int, kind: str) -> None:
        """The result as an i64 in a tile."""
        widened = {
            "i64": None,
            "index": f"arith.index_cast %r{number} : index to i64",
            "i1": f"arith.select %r{number}, %one, %zero : i64",
        }.get(kind, f"arith.extsi %r{number} : {kind} to i64")
        name = f"%r{number}"
        if widened is not None:
            name = f"%w{number}"
            self.lines.append(f"  {name} = {widened}")
        self.lines.append(f"  pto.tadds ins(%z, {name} : {TILE}, i64) outs(%o{number} : {TILE})")

    def text(self) -> str:
        scalars = [f"%a{i}: {kind}" for i, (kind, _) in enumerate(self.numbers)]
        outputs = [f"%o{i}: {TILE}" for i in range(len(self.wanted))]
        head = ", ".join([f"%z: {TILE}", *scalars, *outputs])
        ends = "  %zero = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n"
        return "\n".join([f"func.func @f({head}) {{\n{ends}", *self.lines, "  return\n}\n"])

    def arguments(self) -> dict[str, object]:
        names = ("z", *(f"o{i}" for i in range(len(self.wanted))))
        zeros = {n: np.zeros((1, 4), np.int64) for n in names}
        return {**zeros, **{f"a{i}": v for i, (_, v) in enumerate(self.numbers)}}

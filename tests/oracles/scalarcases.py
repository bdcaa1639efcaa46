"""Programs that compute numbers, and what they should come to, for pages of scalars."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from random import Random
from typing import Any

import numpy as np

import ptokit as pto
from fuzz.scale import scaled
from oracles.formats import FORMATS, quieted
from oracles.registry import Numbers
from ptokit.isa.lang.instr import Instr

NUMBERS = (0, 1, 2, 3, 7, -1, -2, -7, 63, 64, 127, 128, -128, -129, 255, 256, 32767, -32768, 65536)
LARGE = (2**31 - 1, -(2**31), 2**32, 2**63 - 1, -(2**63), 10**15, -(10**15) - 1)
REALS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 3.0, inf, -inf, nan, 1e-40, -1e-6, 3e38, 60000)
WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64, "ui32": 32}
LINES = scaled(24)
TILE = f"!pto.tile_buf<vec, 1x{LINES}xi64>"
INTEGERS = (("i32", "i32"), ("i64", "i64"))
FLOATS = (("f32", "f32"), ("f16", "f16"), ("bf16", "bf16"))


def in_width(n: int, kind: str) -> int:
    """A number in a type: its low bits, signed but for i1."""
    width = WIDTHS[kind]
    low = n % (1 << width)
    return low - (1 << width) if width > 1 and low >> (width - 1) else low


def real(value: Any, kind: str) -> Any:  # Any: NumPy's floats
    """A float of a type; NaN is the quiet one."""
    with np.errstate(all="ignore"):
        return quieted(np.asarray([value]).astype(FORMATS[kind][1]), kind)[0]


def code(value: Any, kind: str) -> int:  # Any: as above
    """What is compared: integers as they are, of floats the bits."""
    if kind in WIDTHS:
        return in_width(int(value), kind)
    bits = np.asarray([value], FORMATS[kind][1]).view(f"i{FORMATS[kind][0] // 8}")
    return int(bits[0])


def check_numbers(page: type[Instr], what: Numbers, engines: Sequence[str]) -> None:
    """Every result of one program, by type, in these engines."""
    random = Random(page.__name__)
    program = Scalars(page, what)
    for _ in range(LINES):
        program.line(random)
    for engine in engines:
        done = pto.loads(program.text()).execute(program.arguments(), engine=engine)
        found = [int(n) for n in done.outputs["o"][0]]
        apart = [abs(a - b) > what.ulp for a, b in zip(found, program.wanted, strict=True)]
        assert not any(apart), f"{engine}: {found}, not {program.wanted}\n{program.text()}"


class Scalars:
    """A program that computes numbers, the elements of its output."""

    def __init__(self, page: type[Instr], what: Numbers) -> None:
        self.page, self.what = page, what
        self.wanted: list[int] = []
        self.numbers: list[tuple[str, Any]] = []  # arguments: type and value
        self.lines: list[str] = []

    def argument(self, kind: str, value: Any) -> str:  # Any: a number
        self.numbers.append((kind, value))
        return f"%v{len(self.numbers) - 1}"

    def drawn(self, kind: str, random: Random) -> Any:  # Any: a number
        if kind in WIDTHS:
            return in_width(random.choice(NUMBERS + LARGE), kind)
        return real(random.choice([*REALS, random.uniform(-90, 90)]), kind)

    def line(self, random: Random) -> None:
        """One more result."""
        plain = FLOATS if any(o.real for o in self.page.ins()) else INTEGERS
        kind, to = random.choice(self.what.types or plain)
        shape, number = self.page.asm.shape, len(self.wanted)
        values = [self.drawn(kind, random) for o in self.page.ins() if o.name != "condition"]
        values = self.what.legal(values, kind)
        given, types = list(values), f"{kind} to {to}" if shape == "cast" else kind
        results = [r.scalar or kind for r in self.page.results()]
        names, chosen = [f"%r{number}"], random.randrange(len(results))
        if len(results) > 1:  # one of them is looked at
            types, to = ", ".join(dict.fromkeys(results)), results[chosen]
            names = [f"%{'r' if n == chosen else 's'}{number}" for n in range(len(results))]
        words = [self.argument(kind, v) for v in values]
        if shape == "constant":
            given = [self.drawn(kind, random)]
            words = [str(given[0])]
        if shape == "select":
            yes = random.random() < 0.5
            given.insert(0, int(yes))
            words.insert(0, self.argument("i1", int(yes)))
        if shape == "compare":
            predicate = random.choice(list(self.page.attrs[0].kind))  # type: ignore[arg-type]
            given.append(predicate.name)
            words[0], to = f"{predicate.text}, {words[0]}", "i1"
        known: dict[str, Any] = {"kind": kind, "to": to} if self.what.by_type else {}
        if shape == "cast" and self.page.attrs:
            ways, ends = self.what.ways, self.what.ends
            known |= {"way": random.choice(ways), "end": random.choice(ends)}
            words[0] += "".join(f" {word}" for word in (known["way"], known["end"]) if word)
        with np.errstate(all="ignore"):
            found = self.what.f(*given, **known)
        found = found[chosen] if len(results) > 1 else found
        head = ", ".join(names)
        self.lines.append(f"  {head} = {self.page.mnemonic()} {', '.join(words)} : {types}")
        self.wanted.append(code(found, to))
        self.store(number, to)

    def store(self, number: int, kind: str) -> None:
        """The result as an i64 into the output."""
        name = f"%r{number}"
        if kind in FORMATS and kind not in WIDTHS:
            bits = f"i{FORMATS[kind][0]}"
            self.lines.append(f"  %b{number} = arith.bitcast {name} : {kind} to {bits}")
            name, kind = f"%b{number}", bits
        widened = {
            "i64": None,
            "index": f"arith.index_cast {name} : index to i64",
            "i1": f"arith.select {name}, %one, %zero : i64",
        }.get(kind, f"arith.extsi {name} : {kind} to i64")
        if widened is not None:
            self.lines.append(f"  %w{number} = {widened}")
            name = f"%w{number}"
        self.lines.append(f"  %i{number} = arith.constant {number} : index")
        self.lines.append(f"  pto.tsetval ins(%i{number}, {name} : index, i64) outs(%o : {TILE})")

    def text(self) -> str:
        scalars = [f"%a{i}: {kind}" for i, (kind, _) in enumerate(self.numbers)]
        head = ", ".join([*scalars, f"%o: {TILE}"])
        ends = "  %zero = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n"
        body = [f"func.func @f({head}) {{\n{ends}{self.unknown()}", *self.lines, "  return\n}\n"]
        return "\n".join(body)

    def unknown(self) -> str:
        """A loop hands the arguments on: what comes out only the running program knows."""
        if not self.numbers:
            return ""
        count, kinds = len(self.numbers), ", ".join(kind for kind, _ in self.numbers)
        carried = ", ".join(f"%u{i} = %a{i}" for i in range(count))
        results, passed = (", ".join(f"%{n}{i}" for i in range(count)) for n in "vu")
        head = "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
        loop = f"scf.for %k = %c0 to %c1 step %c1 iter_args({carried}) -> ({kinds})"
        return f"{head}  {results} = {loop} {{\n    scf.yield {passed} : {kinds}\n  }}\n"

    def arguments(self) -> dict[str, object]:
        plain = {f"a{i}": _of_python(v) for i, (_, v) in enumerate(self.numbers)}
        return {"o": np.zeros((1, LINES), np.int64), **plain}


def _of_python(value: Any) -> float:  # Any: a number
    return value if isinstance(value, int) else float(value)


def positive_divisor(values: Sequence[Any], kind: str) -> list[Any]:  # Any: numbers
    return [values[0], values[1] or 1]


def within_width(values: Sequence[Any], kind: str) -> list[Any]:  # Any: numbers
    return [values[0], values[1] % WIDTHS[kind]]

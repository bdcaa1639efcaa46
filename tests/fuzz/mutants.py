"""Mutants: programs of the tree with bytes, tokens, numbers, types and lines changed.

Whatever the text, each tool must end with success or a PtoError, soon and in little memory.

As a program: `python mutants.py TOOLS FIRST COUNT` tries that many seeds, where TOOLS is `check`
(check for every target, fmt, convert to each form, and passes and races for one chip) or `run`
(both engines, which must do the same, on inferred arguments). It prints a line for each seed before
it starts, and a line for each fault.
"""

from __future__ import annotations

import ast
import faulthandler
import re
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from math import prod
from pathlib import Path
from random import Random
from traceback import extract_tb
from types import FrameType
from typing import Any

import numpy as np
from kernels import kernel
from scale import scaled

from ptokit.api.kernel.loading import decoded, loads
from ptokit.api.program import FORMS, Program
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Func, OpaqueOp
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import Elided, PtrType, ScalarType, Type
from ptokit.tools.annotations import github, sarif
from ptokit.tools.verdicts import KernelVerdicts, report, report_json
from ptokit.values.dtypes import DType
from ptokit.values.host import values_of

ROOT = Path(__file__).parents[2]
SLOWEST = 5  # seconds of processor time for one tool and one mutant: others load the machine too
STUCK = 180  # seconds after which something waits for ever
DRY_RUNS = 10  # times SLOWEST for what follows all iterations of a loop
LIMIT = 1.0  # seconds for a run
LARGEST = 1 << 32  # bytes of memory: dry runs keep what all iterations issue
MOST_ELEMENTS = 1 << 20  # of an argument
KERNELS = 2  # random programs, of instructions of all pages: the seeds of mutants name them
LONGEST = 20_000  # characters of a program that is mutated: larger ones only cost time


class Hang(BaseException):
    """A tool took longer than SLOWEST; no `except Exception` may keep it."""


# the programs


@cache
def programs() -> tuple[str, ...]:
    """Every program of the tree, of pages and tests too, and random kernels; in a sample fewer."""
    return tuple(dict.fromkeys(text for text in _texts() if len(text) < LONGEST))


def chosen(random: Random) -> str:
    """A program in some form."""
    text, form = random.choice(programs()), random.choice(("", *FORMS))
    found = _converted(text, form) if form else text
    return found if len(found) < LONGEST else text


def _texts() -> Iterator[str]:
    yield from (example_program(page) for page in pages())
    whole = scaled(1) > 1
    if whole:
        yield from (k.text for k in map(kernel, range(KERNELS)) if k is not None)
    for folder in ("examples", "tests"):
        for path in sorted((ROOT / folder).rglob("*.pto")):
            yield path.read_text(encoding="utf-8")
    for folder in ("examples", "tests" if whole else "tests/text"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield from filter(_is_program, _strings(path.read_text(encoding="utf-8")))


def _strings(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _is_program(text: str) -> bool:
    """Whether a string of a test reads as a program with known instructions only."""
    if not re.search(r"[%!.][\w$]", text):
        return False
    try:
        ops = [op for f in loads(text).module.funcs for op in f.body.walk()]
    except (PtoError, Exception):  # what is no program may do anything here: it is not tried
        return False
    return bool(ops) and not any(isinstance(op, OpaqueOp) for op in ops)


@cache
def _converted(text: str, form: str) -> str:
    """The same program in a form; as it is where it has none."""
    try:
        return printed(loads(text), form)
    except PtoError:
        return text


def printed(program: Program, form: str) -> str:
    """The program in a form; nobody asks here what C++ lacks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return program.text(form)


# the mutations

PIECE = re.compile(r'\s+|"[^"\n]*"|[%!#@]?[\w$.]+|.', re.DOTALL)
TYPE = re.compile(r"![\w.]+(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>)?")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?|(?<=x)\d+(?=x)")
EDGES = [0, 1, 7, 15, 16, 31, 32, 33, 64, 4096, 65536, 10**9, *(1 << n for n in (31, 32, 59, 63))]
NUMBERS = [
    *(str(n) for edge in EDGES for n in (edge, edge - 1, -edge)),
    *("1.5", "-0.0", "1e400", "nan", "inf", "0x", "0xffffffffffffffff", "?", "1_0", str(10**30)),
    *("\u00b2", "\u0663", "\u00bd", "\u2168", "9" * 5000, "?x?", "1000000000x1000000000"),
]
WORDS = """
    vec mat left right acc bias scaling scale_left scale_right nd dn nz zn zz nn none row_major
    f32 f16 bf16 i8 u8 i16 u16 i32 u32 i64 u64 i1 index hif8 f8e4m3 f4e2m1x2 i4 f64 col_major
    ins outs iter_args to step sizes true false unit loc @f %0
""".split()  # noqa: SIM905 - thirty pairs of quotes hide the words
BYTES = [b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\r", b"\t", b"\x1b", b"\xe2\x80\xae", b"\\"]
BRACKETS = [*"()[]{}<>\"'%!#@^,:;=.-?*/", "->", "//", "...", "<<", "{}", "[]", "loc("]

Mutation = Callable[[Random, str], str]


@cache
def pieces() -> tuple[str, ...]:
    """The tokens of all programs."""
    return tuple(sorted({t for text in programs() for t in PIECE.findall(text) if t.strip()}))


@cache
def types() -> tuple[str, ...]:
    return tuple(sorted({t for text in programs() for t in TYPE.findall(text)}))


def tokens(random: Random, text: str) -> str:
    """A token deleted, doubled, swapped with another, or replaced or followed by a foreign one."""
    parts = PIECE.findall(text)
    solid = [i for i, part in enumerate(parts) if part.strip()]
    if not solid:
        return text
    i, j = random.choice(solid), random.choice(solid)
    kind = random.randrange(6)
    other = random.choice(random.choice((pieces(), WORDS, BRACKETS, NUMBERS)))
    if kind == 0:
        parts[i] = ""
    elif kind == 1:
        parts[i] += " " + parts[i]
    elif kind == 2:
        parts[i], parts[j] = parts[j], parts[i]
    elif kind == 3:
        parts[i] = other
    elif kind == 4:
        parts[i] += " " + other
    else:
        parts[i] = parts[j]
    return "".join(parts)


def numbers(random: Random, text: str) -> str:
    """A number replaced by one at some edge, or by what only looks like a number."""
    return _replaced(random, text, NUMBER, random.choice(NUMBERS))


def swapped_types(random: Random, text: str) -> str:
    """A type replaced by another of any program."""
    return _replaced(random, text, TYPE, random.choice(types()))


def _replaced(random: Random, text: str, pattern: re.Pattern[str], by: str) -> str:
    places = list(pattern.finditer(text))
    if not places:
        return text
    place = random.choice(places)
    return text[: place.start()] + by + text[place.end() :]


def lines(random: Random, text: str) -> str:
    """A line deleted, doubled, moved, or one of another program put in."""
    rows = text.split("\n")
    i, j = random.randrange(len(rows)), random.randrange(len(rows))
    kind = random.randrange(4)
    if kind == 0:
        del rows[i]
    elif kind == 1:
        rows.insert(j, rows[i])
    elif kind == 2:
        rows[i], rows[j] = rows[j], rows[i]
    else:
        rows.insert(i, random.choice(chosen(random).split("\n")))
    return "\n".join(rows)


def cut(random: Random, text: str) -> str:
    """A stretch left out, most often the end: brackets and strings stay open."""
    start = random.randrange(len(text) + 1)
    end = len(text) if random.random() < 0.5 else random.randint(start, min(len(text), start + 80))
    return text[:start] + text[end:]


def grown(random: Random, text: str) -> str:
    """Something far too deep or too long."""
    piece = random.choice(("(", "[", "{", "<", "!pto.tile<", '"a"(', "scf.if %b {", "x", "-", "1x"))
    at = random.randrange(len(text) + 1)
    return text[:at] + piece * random.choice((120, 2000, 50_000)) + text[at:]


MUTATIONS: list[Mutation] = [tokens, numbers, swapped_types, lines, cut, grown]
WEIGHTS = (40, 25, 12, 15, 3, 1)


def mutant(seed: int) -> bytes:
    """The program of this seed."""
    random = Random(seed)
    text = chosen(random)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5))):
        (change,) = random.choices(MUTATIONS, WEIGHTS)
        text = change(random, text)
    raw = text.encode()
    for _ in range(random.choice((0,) * 12 + (1, 3))):
        at = random.randrange(len(raw) + 1)
        piece = random.choice((random.choice(BYTES), bytes([random.randrange(256)])))
        raw = raw[:at] + piece + raw[at + random.randrange(2) :]
    return raw


# the tools

Tool = Callable[[Program], None]


def read(raw: bytes) -> Program:
    return loads(decoded(raw, "mutant"), "mutant")


def check(program: Program) -> None:
    """What `check --target all` does, in every format."""
    found = KernelVerdicts("mutant", program.module, program.verdicts("all"))
    void([*report(found, verbose=True)])
    report_json([found])
    sarif(found.diagnostics)
    void([*github(found.diagnostics)])


def fmt(program: Program) -> None:
    program.text(program.form())


def convert(form: str) -> Tool:
    return lambda program: void(printed(program, form))


def opt(program: Program) -> None:
    """Print the program after the passes that run it, for a chip of the seed."""
    chip = TARGETS[drawn_chip(program)]
    with warnings.catch_warnings(action="ignore"):  # of flags that are kept as they are
        program.after(["place", "synchronise"], chip).text()


def races(program: Program) -> None:
    """Look for races on the chip that `opt` takes."""
    program.races(drawn_chip(program))


def drawn_chip(program: Program) -> str:
    """Draw a chip: the same one for each tool of a mutant."""
    return Random(repr(program.module.funcs)).choice([t.name for t in TARGETS.values() if t.chip])


def void(_: object) -> None:
    """Drop a result."""


class Different(Exception):
    """The engines do not do the same."""


def run(program: Program) -> None:
    """Functions on zeros, numbers of the seed and inferred arrays, each for one of the targets."""
    random = Random(repr(program.module.funcs))
    for func in program.module.funcs[:2]:
        target, some = random.choice(list(TARGETS)), random.getrandbits(30)
        ends = [ended(program, func, target, some, engine) for engine in ("reference", "native")]
        if ends[0] != ends[1] and "time-limit" not in (end[0] for end in ends):
            raise Different(f"{func.name} on {target}: {ends[0]}, natively {ends[1]}")


def ended(program: Program, func: Func, target: str, some: int, engine: str) -> tuple[str, object]:
    """What came out, or what was said and where: of a run that took too long, nothing."""
    how: dict[str, Any] = {"target": target, "func": func.name, "engine": engine, "timeout": LIMIT}
    try:
        outputs = program.execute(given(Random(some), func), **how).outputs
    except PtoError as problem:
        str(problem)
        first = problem.diagnostics[0]
        return first.slug, (first.message, first.seen, str(first.span))
    return "", {name: array.tobytes() for name, array in outputs.items()}


def given(random: Random, func: Func) -> dict[str, Any]:  # Any: arrays and numbers
    """An argument for each parameter; now and then one is missing."""
    found = {arg.name: argument(random, arg.type) for arg in func.args}
    return {name: value for name, value in found.items() if value is not None}


def argument(random: Random, kind: Type) -> Any:  # Any: an array or a number
    if isinstance(kind, PtrType):
        return zeros((random.choice((64, 4096, 65536)),), kind.dtype)
    if isinstance(kind, TileType):
        return zeros(
            tuple(16 if n is None else n for n in (kind.valid.rows, kind.valid.cols)), kind.dtype
        )
    if isinstance(kind, GlobalType | ConvTileType):
        return zeros(kind.shape, kind.dtype)
    if isinstance(kind, ScalarType):
        return random.choice((0, 0, 1, 2, 16, 64, -1))
    if isinstance(kind, Elided):
        return random.choice((0, 1, 16, np.zeros((16, 16), np.float16), np.zeros(4, np.float32)))
    return None


def zeros(extents: tuple[int | None, ...], dtype: DType) -> Any:  # Any: an array
    """Zeros, 16 along what is known only at run time; None where they would be too many."""
    shape = tuple(16 if n is None else n for n in extents)
    if prod(shape) > MOST_ELEMENTS:
        return None
    return values_of(np.zeros(shape, dtype.storage), dtype)


TOOLS: dict[str, dict[str, Tool]] = {
    "check": {
        "check": check,
        "fmt": fmt,
        **{f"convert --to {form}": convert(form) for form in FORMS},
        "opt --passes place,synchronise": opt,
        "races": races,
    },
    "run": {"run in both engines": run},
}


def faults(group: str, raw: bytes) -> Iterator[str]:
    """What went wrong that must not, in each tool of a group."""
    program: list[Program] = []
    yield from watched("read", lambda: program.append(read(raw)))
    for name, tool in TOOLS[group].items() if program else ():
        yield from watched(name, lambda tool=tool: tool(program[0]))


def watched(name: str, action: Callable[[], None]) -> Iterator[str]:
    """What is wrong with how an action ends, and where that arose."""
    dry = name == "races" or name.startswith("opt")
    signal.setitimer(signal.ITIMER_PROF, SLOWEST * DRY_RUNS if dry else SLOWEST)
    faulthandler.dump_traceback_later(STUCK, exit=True)  # ends what no signal ends
    try:
        action()
    except PtoError as problem:
        str(problem)
    except (Exception, Hang) as problem:
        frames = [f for f in extract_tb(problem.__traceback__) if "ptokit" in f.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "mutants.py"
        yield f"{name}: {type(problem).__name__} in {place}: {str(problem)[:80]!r}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()


def limit() -> None:
    """Little memory, and an alarm that ends whatever runs."""

    def alarm(signum: int, frame: FrameType | None) -> None:
        raise Hang(f"more than {SLOWEST} s")

    signal.signal(signal.SIGPROF, alarm)
    resource.setrlimit(resource.RLIMIT_DATA, (LARGEST, LARGEST))


def main(group: str, first: int, count: int) -> None:
    limit()
    pieces()  # read and cut once, outside of what is timed
    types()
    for seed in range(first, first + count):
        print("seed", seed, flush=True)
        for found in faults(group, mutant(seed)):
            print("FAULT", found, flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print("peak", peak >> (10 if sys.platform == "linux" else 20), "MB")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

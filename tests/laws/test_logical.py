"""The law of logical vectors: each instruction does what NumPy says, in both engines.

One program executes all cases: it loads two vectors of each type, and a mask of random bits, and
stores each result in bytes of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from logicalcases import CASES, NUMBER, ROOM, TYPES, Case, Given, Lanes

import ptokit as pto
from fuzz.scale import sampled
from ptokit.isa.index import pages

HALF, GIVEN = 1024, 2048  # bytes of a vector, and of what a type is given
BITS = GIVEN * len(TYPES)  # where the bytes of masks are
TURNS = BITS + 8192  # where numbers up to 24 are, again and again
INPUTS = TURNS + 1024
RESULTS = 32768
BYTE = "!pto.ptr<ui8, ub>"


def words(kind: str) -> dict[str, str]:
    """Return what the words of statements stand for."""
    lanes = TYPES[kind][1]
    return {
        "V": f"!pto.vmi.vreg<{lanes}x{kind}>",
        "M": f"!pto.vmi.mask<{lanes}xpred>",
        "T": kind.replace("s", "").replace("u", ""),
        "P": f"!pto.ptr<{kind}, ub>",
        "B": "!pto.vmi.vreg<256xui16>",
        "J": f"!pto.vmi.vreg<{lanes}xsi32>",
        "Q": BYTE,
        "8*": f"!pto.vmi.vreg<8x{kind}>",
    }


def spelled(text: str, kind: str) -> str:
    """Return the statement with types and names of a kind."""
    known = words(kind)
    text = re.sub(r"(?<![\w%!.\"])([VMTPBJQ]|8\*)(?![\w\"])", lambda m: known[m[1]], text)
    names = "x|y|m|k|s|p|g|few|j|lines|bins|odd"
    return re.sub(rf"%({names})(?!\w)", rf"%\1_{kind}", text)


def result_type(text: str, kind: str) -> tuple[str, int, str]:
    """Return the type of a result, its number of lanes, and the name of its elements."""
    if text in "VM":
        return words(kind)[text], TYPES[kind][1], kind if text == "V" else "ui8"
    count, _, name = text.partition("*")
    name = name or kind
    if name == "wide":
        name = {"f16": "i32", "ui8": "ui16"}[kind]
    lanes = TYPES[kind][1] if count == "L" else int(count)
    return f"!pto.vmi.vreg<{lanes}x{name}>", lanes, name


def prelude(kinds: set[str]) -> Iterator[str]:
    """Yield the statements before all cases, for vectors of some kinds."""
    yield "%c0 = arith.constant 0 : index"
    for name, value in (("two", 2), ("lanes", 20), ("twenty", 20), ("stride", 9)):
        yield f"%{name} = arith.constant {value} : index"
    yield "%three = arith.constant 3 : i16"
    yield "%blocks = arith.constant 2 : i16"
    yield f"%at_turns = arith.constant {TURNS} : i64"
    yield "%turns = pto.castptr %at_turns : i64 -> !pto.ptr<si32, ub>"
    for number, (kind, (dtype, lanes)) in enumerate(TYPES.items()):
        if kind not in kinds:
            continue
        w, at = words(kind), number * GIVEN
        text = str(NUMBER) if dtype.kind in "iu" else f"{NUMBER}.0"
        mask = f"!pto.vmi.vreg<{lanes}xui8>"
        yield f"%at_{kind} = arith.constant {at} : i64"
        yield f"%half_{kind} = arith.constant {HALF // dtype.itemsize} : index"
        yield f"%bits_{kind} = arith.constant {BITS + number * 256} : i64"
        yield f"%s_{kind} = arith.constant {text} : {w['T']}"
        yield f"%p_{kind} = pto.castptr %at_{kind} : i64 -> {w['P']}"
        yield f"%q_{kind} = pto.castptr %bits_{kind} : i64 -> {BYTE}"
        yield f"%x_{kind} = pto.vmi.vload %p_{kind}[%c0] : {w['P']} -> {w['V']}"
        yield f"%y_{kind} = pto.vmi.vload %p_{kind}[%half_{kind}] : {w['P']} -> {w['V']}"
        yield f"%g_{kind} = pto.vmi.vload %p_{kind}[%c0] : {w['P']} -> {w['8*']}"
        yield f"%b_{kind} = pto.vmi.vload %q_{kind}[%c0] : {BYTE} -> {mask}"
        yield f"%zero_{kind} = arith.constant 0 : i8"
        yield f"%none_{kind} = pto.vmi.vbrc %zero_{kind} : i8 -> {mask}"
        yield f"%all_{kind} = pto.vmi.create_mask %half_{kind} : index -> {w['M']}"
        yield (
            f'%m_{kind} = pto.vmi.vcmp %b_{kind}, %none_{kind}, %all_{kind} {{cmp = "ne"}} : '
            f"{mask}, {mask}, {w['M']} -> {w['M']}"
        )
        yield f"%k_{kind} = pto.vmi.create_mask %lanes : index -> {w['M']}"
        yield f"%j0_{kind} = arith.constant 0 : i32"
        yield f"%j_{kind} = pto.vmi.vload %turns[%c0] : !pto.ptr<si32, ub> -> {w['J']}"
        yield f"%five_{kind} = arith.constant 5 : i16"
        yield f"%l0_{kind} = pto.vmi.vci %j0_{kind} : i32 -> {w['J']}"
        yield (
            f"%lines_{kind} = pto.vmi.vshls %l0_{kind}, %five_{kind}, %all_{kind} : {w['J']}, i16, "
            f"{w['M']} -> {w['J']}"
        )
        if dtype.kind in "iu":
            yield f"%f0_{kind} = arith.constant {BITS + 4096 + number * 512} : i64"
            yield f"%fp_{kind} = pto.castptr %f0_{kind} : i64 -> {w['P']}"
            yield f"%few_{kind} = pto.vmi.vload %fp_{kind}[%c0] : {w['P']} -> {w['V']}"
    if "ui8" in kinds:
        yield "%zero_bins = arith.constant 0 : i16"
        yield "%bins_ui8 = pto.vmi.vci %zero_bins : i16 -> !pto.vmi.vreg<256xui16>"
    if "f32" in kinds:
        yield "%first_odd = arith.constant 2049.0 : f32"
        yield "%odd_f32 = pto.vmi.vci %first_odd : f32 -> !pto.vmi.vreg<96xf32>"


def written(number: int, one: Case) -> Iterator[str]:
    """Yield the statements of a case, which leave its results in ROOM bytes for each."""
    at = RESULTS + 2 * number * ROOM
    statement = spelled(one.statement, one.kind)
    if one.results == "room":
        yield f"%o{number} = arith.constant {at} : i64"
        for name, kind in (("to", words(one.kind)["P"]), ("bytes", BYTE)):
            if f"%{name}" in statement:
                yield f"%{name}{number} = pto.castptr %o{number} : i64 -> {kind}"
                statement = re.sub(rf"%{name}(?!\w)", f"%{name}{number}", statement)
        yield f"pto.vmi.{statement}"
        return
    kinds = [result_type(text, one.kind) for text in one.results.split()]
    made = [f"%r{number}_{n}" for n in range(len(kinds))]
    arrow = "->" if " : " in statement else ":"
    yield f"{', '.join(made)} = pto.vmi.{statement} {arrow} {', '.join(k for k, _, _ in kinds)}"
    for n, (value, (kind, lanes, name)) in enumerate(zip(made, kinds, strict=True)):
        yield f"%o{number}_{n} = arith.constant {at + n * ROOM} : i64"
        yield f"%p{number}_{n} = pto.castptr %o{number}_{n} : i64 -> !pto.ptr<{name}, ub>"
        stored = value
        if "mask" in kind:
            yield f"%e{number}_{n} = arith.constant 1 : i8"
            kind = f"!pto.vmi.vreg<{lanes}xui8>"
            for word, source in (("t", f"%e{number}_{n}"), ("f", f"%zero_{one.kind}")):
                yield f"%{word}{number}_{n} = pto.vmi.vbrc {source} : i8 -> {kind}"
            stored = f"%b{number}_{n}"
            yield (
                f"{stored} = pto.vmi.vsel {value}, %t{number}_{n}, %f{number}_{n} : "
                f"!pto.vmi.mask<{lanes}xpred>, {kind}, {kind} -> {kind}"
            )
        yield f"pto.vmi.vstore {stored}, %p{number}_{n}[%c0] : {kind}, !pto.ptr<{name}, ub>"


def program(cases: list[Case]) -> str:
    """Return the program of some cases."""
    size, room = INPUTS, 2 * ROOM * len(cases)
    lines = [
        "%none = arith.constant 0 : i64",
        "%uno = arith.constant 1 : i64",
        f"%size = arith.constant {size} : i64",
        f"%room = arith.constant {room} : i64",
        f"%behind = arith.constant {RESULTS} : i64",
        f"%in = pto.castptr %none : i64 -> {BYTE}",
        f"%out = pto.castptr %behind : i64 -> {BYTE}",
        "pto.mte_gm_ub %a, %in, %none, %size nburst(%uno, %size, %size) : !pto.ptr<ui8>, "
        f"{BYTE}, i64, i64, i64, i64, i64",
        "pto.mte_gm_ub %b, %out, %none, %room nburst(%uno, %room, %room) : !pto.ptr<ui8>, "
        f"{BYTE}, i64, i64, i64, i64, i64",
        "pto.vecscope {",
        *prelude({one.kind for one in cases}),
    ]
    for number, one in enumerate(cases):
        lines += written(number, one)
    lines += [
        "}",
        "pto.mte_ub_gm %out, %c, %room nburst(%uno, %room, %room) : "
        f"{BYTE}, !pto.ptr<ui8>, i64, i64, i64, i64",
    ]
    arguments = ", ".join(f"%{n}: !pto.ptr<ui8>" for n in "abc")
    return f"func.func @law({arguments}) {{\n" + "\n".join(lines) + "\nreturn\n}"


@cache
def given() -> tuple[Lanes, dict[str, Given]]:
    """Return the bytes of the input, and what they mean in each type."""
    rng = np.random.default_rng(35)
    room, found = np.zeros(INPUTS, np.uint8), dict[str, Given]()
    room[TURNS:] = (np.arange(256) % 24).astype(np.int32).view(np.uint8)
    for number, (kind, (dtype, lanes)) in enumerate(TYPES.items()):
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            x, y = (rng.integers(info.min, info.max, lanes, dtype, endpoint=True) for _ in "xy")
            x[::3] = rng.integers(0, 9, x[::3].size)
        else:
            x, y = (rng.normal(0, 4, lanes).astype(dtype) for _ in "xy")
        y[::5] = x[::5]
        m = rng.integers(0, 2, lanes).astype(np.uint8)
        at, bits, few = number * GIVEN, BITS + number * 256, BITS + 4096 + number * 512
        for place, part in (
            *((at, x), (at + HALF, y), (bits, m)),
            (few, (np.arange(lanes) % 7).astype(dtype)),
        ):
            room[place : place + part.nbytes] = part.view(np.uint8)
        found[kind] = Given(x, y, m > 0)
    return room, found


STEP = 90  # cases of one program: what the buffer has room for


def chosen(engine: str) -> list[Case]:
    """Return all cases; for compiled code, which is slow to make, every sixth form."""
    first = {re.sub(r"{.*}", "{}", one.statement): one for one in reversed(CASES)}
    return CASES if engine == "reference" else sampled([*reversed(first.values())], 6)


@cache
def outcome(engine: str) -> list[Lanes]:
    """Return the bytes that each case leaves."""
    found = list[Lanes]()
    every = chosen(engine)
    for first in range(0, len(every), STEP):
        cases = every[first : first + STEP]
        room = np.zeros(2 * ROOM * len(cases), np.uint8)
        made = pto.loads(program(cases))
        after = made.run(target="a5", engine=engine, a=given()[0], b=room, c=room)["c"]
        found += [*after.reshape(len(cases), 2 * ROOM)]
    return found


def wrong(one: Case, found: Lanes) -> bool:
    """Return whether the bytes are not those of the meaning; NaN is NaN."""
    with np.errstate(all="ignore"):
        meant = one.meaning(given()[1][one.kind])
    for n, value in enumerate(meant if isinstance(meant, tuple) else (meant,)):
        text = one.results.split()[n]
        name = one.kind if text == "room" else result_type(text, one.kind)[2]
        dtype = {"ui16": np.dtype(np.uint16)}.get(name) or TYPES[name][0]
        here = found[n * ROOM :][: value.size * dtype.itemsize].view(dtype).astype(np.float64)
        with np.errstate(all="ignore"):
            value = value.astype(dtype)
            x = value.astype(np.float64)
            unit = np.spacing(np.abs(value)).astype(np.float64) if one.close else 0
            if not np.all((np.abs(here - x) <= unit) | (here == x) | ((x != x) & (here != here))):
                return True
    return False


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_each_instruction_does_what_numpy_says(engine: str) -> None:
    cases = zip(chosen(engine), outcome(engine), strict=True)
    assert not [f"{one.kind}: {one.statement}" for one, part in cases if wrong(one, part)]


def test_both_engines_agree_on_each_byte() -> None:
    native = dict(zip(map(id, chosen("native")), outcome("native"), strict=True))
    both = zip(CASES, outcome("reference"), strict=True)
    compared = ((one, a, native[id(one)]) for one, a in both if id(one) in native)
    assert not [one.statement for one, a, b in compared if not np.array_equal(a, b)]


def test_each_instruction_has_a_case() -> None:
    text = program(CASES)
    named = set(re.findall(r"pto\.(vmi\.\w+)[^<\w]", text))
    assert {p.name for p in pages() if p.name.startswith("vmi.")} == named

"""The law of the level below tiles: each of its instructions does what NumPy says, in both engines.

One program executes all cases: it loads two registers of each type and masks of random bits, and
stores each result in 512 bytes of its own. A case is a statement, in which %x and %y are registers
of the type T, %m is its mask, and %s a number; V, M and T stand for their types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

import belowconversions
import belowmemory
import belowregisters
import numpy as np
import pytest
from belowtiles import (
    BYTE,
    BYTES,
    CASES,
    NUMBER,
    ROOM,
    TYPES,
    Case,
    Given,
    Lanes,
    image,
    mask_type,
    register,
)

import ptokit as pto
from fuzz.scale import sampled
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.words import CUBE

ASKED = (belowregisters, belowmemory, belowconversions)  # they fill the list of cases


# the program of all cases, and its run


def written(number: int, one: Case) -> Iterator[str]:
    """Yield the statements of a case, which store its results at %o + number * ROOM bytes."""
    size, at = TYPES[one.kind].itemsize, number * ROOM
    words = {
        "V": register(one.kind),
        "M": mask_type(one.kind),
        "W": str(min(8 * size, 32)),
        "T": one.kind.replace("ui", "i"),
        "P": f"!pto.ptr<{one.kind}, ub>",
    }

    def spelled(text: str) -> str:
        text = re.sub(r"(?<![\w%!.])[VMTP](?!\w)", lambda m: words[m[0]], text)
        names = ("x", "y", "w", "i", "b", "m", "k", "s", "p", "q", "o", "j", "lines")
        return re.sub(rf"%({'|'.join(names)})(?!\w)", rf"%\1_{one.kind}", text)

    yield f"%at{number} = arith.constant {at // size} : index"
    statement = spelled(one.statement.replace("%at", f"%at{number}").replace("%to", f"%to{number}"))
    if "%to" in statement:
        yield f"%to{number} = pto.addptr %o_{one.kind}, %at{number} : {words['P']} -> {words['P']}"
    kinds = [k for k in one.results if k != "bytes"]
    spellings = [register(k) if k in TYPES else spelled(k) for k in kinds]
    spellings = ["i32" if k == "count" else k for k in spellings]
    made = [f"%r{number}_{n}" for n in range(len(kinds))]
    arrow = " :" if " : " not in statement else " ->"
    left = f"{', '.join(made)} = " if made else ""
    yield f"{left}pto.{statement}{arrow + ' ' + ', '.join(spellings) if made else ''}"
    for n, (value, kind, spelling) in enumerate(zip(made, kinds, spellings, strict=True)):
        if "vreg" in spelling:
            of = one.kind if kind == "V" else kind
            step = (at + n * BYTES) // TYPES[of].itemsize
            yield f"%s{number}_{n} = arith.constant {step} : index"
            types = f"{spelling}, !pto.ptr<{of}, ub>, {mask_type(of)}"
            yield f"pto.vsts {value}, %o_{of}[%s{number}_{n}], %all_{of} : {types}"
        elif "mask" in spelling:
            yield f"%s{number}_{n} = arith.constant {at + n * BYTES} : index"
            types = f"{spelling}, {BYTE}, index"
            yield f'pto.psts {value}, %o_ui8[%s{number}_{n}], "NORM" : {types}'


def transfer(name: str, first: str, second: str, length: str, cache: str) -> str:
    """Return the statement that copies bytes."""
    types = f"!pto.ptr<ui8>, {BYTE}" if cache else f"{BYTE}, !pto.ptr<ui8>"
    return (
        f"pto.{name} {first}, {second}, {cache}{length} nburst(%uno64, {length}, {length})"
        f" : {types}"
        f"{', i64' * (5 if cache else 4)}"
    )


def chosen(engine: str) -> list[Case]:
    """Return all cases, or for compiled code, which is slow to make, one type of each statement."""
    first = {one.statement: one for one in reversed(CASES)}
    return CASES if engine == "reference" else sampled(reversed(first.values()), 6)


def program(cases: Sequence[Case]) -> str:
    """Return the program of some cases."""
    inputs = 2 * BYTES * len(TYPES) + BYTES
    lines = [
        f"%size = arith.constant {inputs} : i64",
        f"%room = arith.constant {ROOM * len(cases)} : i64",
    ]
    for name, value, kind in (
        *(("zero", 0, "i64"), ("uno64", 1, "i64"), ("uno", 1, "i16"), ("two", 2, "i16")),
        *(("three", NUMBER, "i16"), ("seven", 7, "i32"), ("c0", 0, "index"), ("c1", 1, "index")),
        *(("zero16", 0, "i16"), ("far", 130, "i32")),
    ):
        lines.append(f"%{name} = arith.constant {value} : {kind}")
    lines += ["%in = pto.castptr %zero : i64 -> !pto.ptr<ui8, ub>"]
    lines += ["%behind = arith.constant 8192 : i64"]
    lines += [transfer("mte_gm_ub", "%a", "%in", "%size", "%zero, ")]
    lines += ["%begin = pto.castptr %behind : i64 -> !pto.ptr<ui8, ub>"]
    lines += [transfer("mte_gm_ub", "%b", "%begin", "%room", "%zero, ")]
    lines.append("pto.vecscope {")
    for number, kind in enumerate(TYPES):
        size = TYPES[kind].itemsize
        plain_ = kind.replace("ui", "i")
        value = f"{NUMBER}.0" if kind[0] in "fb" else str(NUMBER)
        pointer, wide = f"!pto.ptr<{kind}, ub>", min(8 * size, 32)
        first, masks = number * 2 * BYTES, mask_type(kind)
        lines += [
            f"%base_{kind} = arith.constant {first} : i64",
            f"%p_{kind} = pto.castptr %base_{kind} : i64 -> {pointer}",
            f"%second_{kind} = arith.constant {first + BYTES} : i64",
            f"%q_{kind} = pto.castptr %second_{kind} : i64 -> !pto.ptr<ui32, ub>",
            f"%o_{kind} = pto.castptr %behind : i64 -> {pointer}",
            f"%half_{kind} = arith.constant {BYTES // size} : index",
            f"%x_{kind} = pto.vlds %p_{kind}[%c0] : {pointer} -> {register(kind)}",
            f"%y_{kind} = pto.vlds %p_{kind}[%half_{kind}] : {pointer} -> {register(kind)}",
            f"%s_{kind} = arith.constant {value} : {plain_}",
            f'%all_{kind} = pto.pset_b{wide} "PAT_ALL" : {mask_type(kind)}',
            f"%n_{kind} = arith.constant {2 * BYTES * len(TYPES)} : index",
            f'%bits_{kind} = pto.plds %in[%n_{kind}], "NORM" : {BYTE}, index -> {masks}',
            f"%m_{kind} = pto.pand %bits_{kind}, %bits_{kind}, %all_{kind} : "
            f"{masks}, {masks}, {masks} -> {masks}",
            f'%k_{kind} = pto.pset_b{wide} "PAT_M3" : {mask_type(kind)}',
        ]
        if kind in ("i8", "i16", "i32"):
            lines.append(f"%j_{kind} = pto.vci %s_{kind} : {plain_} -> {register(kind)}")
    lines.append(f"%i_ui8 = pto.vci %zero16 : i16 -> {register('i16')}")
    lines.append('%b_ui8 = pto.pset_b16 "PAT_ALL" : !pto.mask<b16>')
    lines.append(f"%w_ui8 = pto.vbitcast %y_ui8 : {register('ui8')} -> {register('ui16')}")
    lines.append("%state = pto.init_align : !pto.align")
    lines.append("%line = arith.constant 32 : i32")
    lines.append(f"%lines_i32 = pto.vbr %line : i32 -> {register('i32')}")
    for number, one in enumerate(cases):
        lines += written(number, one)
    lines += ["}", transfer("mte_ub_gm", "%begin", "%c", "%room", "")]
    body = "".join(f"  {text}\n" for text in lines)
    arguments = ", ".join(f"%{n}: !pto.ptr<ui8>" for n in "abc")
    return f"func.func @law({arguments}) {{\n{body}  return\n}}"


@cache
def given() -> tuple[Lanes, dict[str, Given]]:
    """Return the bytes of the input, and what they mean in each type."""
    rng = np.random.default_rng(35)
    parts, found = list[Lanes](), dict[str, Given]()
    bits = rng.integers(0, 2, BYTES).astype(np.uint8)
    for name, kind in TYPES.items():
        count = 2 * BYTES // kind.itemsize
        if kind.kind in "iu":
            info = np.iinfo(kind)
            both = rng.integers(info.min, info.max, count, dtype=kind, endpoint=True)
            both[::3] = rng.integers(0, 9, both[::3].size)
        else:
            both = rng.normal(0, 4, count).astype(kind)
            both[::5] = both[count // 2 :][: both[::5].size]
        x, y = np.split(both, 2)
        lanes = image(bits[:: kind.itemsize])
        found[name] = Given(x, y, lanes[:: kind.itemsize] > 0, lanes)
        parts.append(both.view(np.uint8))
    packed_ = np.packbits(bits, bitorder="little")
    return np.concatenate((*parts, packed_, np.zeros(BYTES - packed_.size, np.uint8))), found


@cache
def outcome(engine: str) -> dict[int, Lanes]:
    """Return the bytes that each case leaves, by its number."""
    cases = chosen(engine)
    room = np.zeros(ROOM * len(cases), np.uint8)
    made = pto.loads(program(cases))
    found = made.run(target="a5", engine=engine, a=given()[0], b=room, c=room)["c"]
    numbers = {id(one): number for number, one in enumerate(CASES)}
    rows = found.reshape(len(cases), ROOM)
    return {numbers[id(one)]: row for one, row in zip(cases, rows, strict=True)}


def wanted(one: Case) -> list[tuple[int, Lanes, str]]:
    """Return the first byte, the value and the kind of each result."""
    with np.errstate(all="ignore"):
        meant = one.meaning(given()[1][one.kind])
    several = meant if isinstance(meant, tuple) else (meant,)
    kinds = [k for k in one.results if k == "bytes" or not k.startswith(("!pto.align", "P"))]
    found = list[tuple[int, Lanes, str]]()
    for n, (kind, value) in enumerate(zip(kinds, several, strict=False)):
        masked = kind == "M" or "mask" in kind
        lanes = np.packbits(value.astype(np.uint8), bitorder="little") if masked else value
        found.append((n * BYTES, lanes, kind))
    return found


def differs(found: Lanes, value: Lanes, close: bool) -> bool:
    """Return whether the bytes are not those of the value; NaN is NaN."""
    here = found[: value.nbytes].view(value.dtype)
    if value.dtype.kind in "iu":
        return not np.array_equal(here, value)
    with np.errstate(all="ignore"):
        x, y = here.astype(np.float64), value.astype(np.float64)
    if close:
        with np.errstate(all="ignore"):
            unit = np.spacing(np.abs(value)).astype(np.float64)
        return not np.all((np.abs(x - y) <= unit) | (x == y) | ((x != x) & (y != y)))
    return not np.array_equal(x, y, equal_nan=True)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_each_instruction_does_what_numpy_says(engine: str) -> None:
    wrong = list[str]()
    for number, found in outcome(engine).items():
        one = CASES[number]
        for first, value, _ in wanted(one):
            if differs(found[first:], value, one.close):
                wrong.append(f"{one.kind}: {one.statement}")
    assert not wrong, "\n".join(wrong)


def test_both_engines_agree_on_each_byte() -> None:
    reference = outcome("reference")
    native = outcome("native").items()
    differing = [
        CASES[n].statement for n, found in native if not np.array_equal(found, reference[n])
    ]
    assert not differing


def of_threads(page: type[Instr]) -> bool:
    """Whether `test_threads.py` has the instruction."""
    return page.__module__.rpartition(".")[2].startswith(("thread", "atomics"))


def test_each_instruction_has_a_case() -> None:
    """The names that the program does not have are those of transfers, scopes and no effects."""
    named = set(re.findall(r"pto\.(\w+)", program(CASES)))
    registers = [p for p in pages() if p.below and p.core is not CUBE and not of_threads(p)]
    here = {p.name for p in registers}
    lacking = {name for name in here - named if not name.startswith("vmi.")}  # see test_logical
    assert lacking == {
        *("mte_ub_ub", "copy_gm_to_ubuf", "copy_ubuf_to_gm", "local_bytes"),
        *("vldas", "vstas", "vstar", "mem_bar", "mte_ub_l1", "copy_ubuf_to_cbuf"),
        "tile_bytes",
        # test_shared_registers.py has these
        *("sprclr", "sprsti", "sprsts", "vstur", "vmrgsort4", "get_vms4_sr"),
        *("dcci", "dsb"),
        "copy_ubuf_to_ubuf",  # test_older_names.py has it
    }


TRANSFERS = """\
func.func @moved(%a: !pto.ptr<i16>, %b: !pto.ptr<i16>, %c: !pto.ptr<i16>, %n: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %b40 = arith.constant 40 : i64
  %b64 = arith.constant 64 : i64
  %b96 = arith.constant 96 : i64
  %b120 = arith.constant 120 : i64
  %b192 = arith.constant 192 : i64
  %b2048 = arith.constant 2048 : i64
  %seven = arith.constant 7 : i16
  %no = arith.constant false
  %yes = arith.constant true
  %p = pto.castptr %zero : i64 -> !pto.ptr<i16, ub>
  %q = pto.castptr %b2048 : i64 -> !pto.ptr<i16, ub>
  pto.mte_gm_ub %a, %p, %zero, %n nburst(%three, %b40, %b64) loop(%two, %b120, %b192)\
 pad(%seven) : !pto.ptr<i16>, !pto.ptr<i16, ub>, i64, i64, i64, i64, i64,\
 loop i64, i64, i64, pad i16
  pto.mte_ub_ub %p, %q, %one nburst(%three, %one, %zero) : !pto.ptr<i16, ub>,\
 !pto.ptr<i16, ub>, i64, i64, i64, i64
  pto.mte_ub_gm %p, %b, %n nburst(%three, %b64, %b96) loop(%two, %b192, %b40) :\
 !pto.ptr<i16, ub>, !pto.ptr<i16>, i64, i64, i64, i64, loop i64, i64, i64
  pto.copy_ubuf_to_gm %q, %c, %zero, %one, %b96, %zero, %b96, %b96 : !pto.ptr<i16, ub>,\
 !pto.ptr<i16>, i64, i64, i64, i64, i64, i64
  pto.copy_gm_to_ubuf %c, %q, %zero, %two, %b40, %zero, %zero, %no, %zero, %b40, %b64 :\
 !pto.ptr<i16>, !pto.ptr<i16, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64
  return
}
"""


BY_REGISTERS = {  # transfers that state their loops -> those whose loops registers have
    r"pto.mte_gm_ub .*": """pto.set_mov_pad_val %seven : i16
  pto.set_loop_size_outtoub COUNTS : i64, i64
  pto.set_loopLEVEL_stride_outtoub %b120, %b192 : i64, i64
  pto.copy_gm_to_ubuf %a, %p, %zero, %three, %n, %zero, %zero, %yes, %zero, %b40, %b64 :\
 !pto.ptr<i16>, !pto.ptr<i16, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64
  pto.set_loop_size_outtoub %one, %one : i64, i64""",
    r"pto.mte_ub_gm .*": """pto.set_loop_size_ubtoout COUNTS : i64, i64
  pto.set_loopLEVEL_stride_ubtoout %b192, %b40 : i64, i64
  pto.copy_ubuf_to_gm %p, %b, %zero, %three, %n, %zero, %b96, %b64 : !pto.ptr<i16, ub>,\
 !pto.ptr<i16>, i64, i64, i64, i64, i64, i64
  pto.set_loop_size_ubtoout %one, %one : i64, i64""",
}


def by_registers(level: int) -> str:
    text = TRANSFERS
    for old, new in BY_REGISTERS.items():
        text = re.sub(old, lambda _, new=new: new, text)
    counts = "%two, %one" if level == 1 else "%one, %two"
    return text.replace("COUNTS", counts).replace("LEVEL", str(level))


@pytest.mark.parametrize("text", [TRANSFERS, by_registers(1), by_registers(2)])
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_transfers_move_bursts(engine: str, text: str) -> None:
    """Of 34 bytes each, in two loops, with seven behind them up to the next one in the buffer."""
    a = np.arange(1, 121, dtype=np.int16)
    room, zeros = np.zeros((6, 32), np.int16), np.zeros(200, np.int16)
    made = pto.loads(text)
    found = made.run(target="a5", engine=engine, a=a, b=zeros, c=zeros[:48], n=34)
    for burst in range(6):
        room[burst] = [*a[20 * burst : 20 * burst + 17], *[7] * 15]
    stored = zeros.copy()
    for outer, inner in np.ndindex(2, 3):
        at = 20 * outer + 48 * inner
        stored[at : at + 17] = room[3 * outer + inner, :17]
    assert np.array_equal(found["b"], stored)
    assert np.array_equal(found["c"], room[:3, :16].ravel())

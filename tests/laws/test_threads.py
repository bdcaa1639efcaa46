"""The law of threads: each of their instructions does what NumPy says, in both engines.

One program executes all cases: 36 threads, 3 along x, 4 along y and 3 along z, so that the second
group of lanes is not full. A case is a list of statements that end with %r, and its formula. They
use what each thread loads: %x and %y are i32, %u and %v f32, %p is an i1; %t is the number of the
thread and %c1 is 1, both i32.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from ptokit.isa.index import pages

(DX, DY, DZ), GROUP = (3, 4, 3), 32
N = DX * DY * DZ
T = np.arange(N, dtype=np.int32)
RNG = np.random.default_rng(7)
X = RNG.integers(-(2**31), 2**31, N).astype(np.int32)
Y = RNG.integers(-20, 40, N).astype(np.int32)
U = RNG.normal(0, 300, N).astype(np.float32)
V = np.where(T % 7 == 0, np.nan, RNG.normal(0, 3, N)).astype(np.float32)
P = X % 2 == 1
Lanes = NDArray[Any]  # Any: of some type


class Case(NamedTuple):
    statements: tuple[str, ...]
    wanted: Callable[[], Any]  # Any: an array
    kind: str = "i32"


def one(text: str, wanted: Any, kind: str = "i32", *before: str) -> Case:
    """Return the case of a statement whose result is %r."""
    return Case((*before, f"%r = {text}"), lambda: wanted() if callable(wanted) else wanted, kind)


def groups() -> list[NDArray[np.int32]]:
    return [T[:GROUP], T[GROUP:]]


def by_group(of: Callable[[Lanes], object]) -> Callable[[Lanes], Lanes]:
    """Return a function that gives each thread the result of its group."""

    def found(values: Lanes) -> Lanes:
        return np.concatenate([np.full(len(g), of(values[g])) for g in groups()])

    return found


def in_order(step: Callable[[Any, Any], Any]) -> Callable[[Lanes], object]:
    def found(values: Lanes) -> object:
        total = values[0]
        for value in values[1:]:
            total = step(total, value)
        return total

    return found


def shuffled(source: Callable[[int, int], int], width: int = GROUP) -> Callable[[], Lanes]:
    """Return the values of X at lane `source(own lane, y)`, where that is in the group."""

    def found() -> Lanes:
        result = X.copy()
        for t in range(N):
            own = t % GROUP % width
            lane = source(own, int(Y[t]))
            at = t - own + lane
            if 0 <= lane < width and at < N:
                result[t] = X[at]
        return result

    return found


def word(bits: Any) -> int:  # Any: a number of NumPy's, too
    """Return the lower 32 bits as a signed number."""
    return (int(bits) + 2**31) % 2**32 - 2**31


def ballot(values: Lanes) -> int:
    return word(sum(1 << n for n, value in enumerate(values) if value))


def upper(a: Lanes, b: Lanes, bits: int) -> Lanes:
    return np.array([int(i) * int(j) >> bits for i, j in zip(a, b, strict=True)])


def prmt(a: int, b: int, selector: int) -> int:
    bytes_ = [(w >> 8 * n) & 255 for w in (b & 0xFFFFFFFF, a & 0xFFFFFFFF) for n in range(4)]
    return sum(bytes_[(selector >> 4 * n) & 7] << 8 * n for n in range(4))


def rounded(values: Lanes, how: Callable[[Lanes], Lanes]) -> Lanes:
    return np.clip(how(values.astype(np.float64)), -(2.0**31), 2.0**31 - 1).astype(np.int32)


def least(a: Lanes, b: Lanes) -> Lanes:
    return np.fmin(a, b)


SHIFTED = U.view(np.int32) >> 3
WIDE = X.astype(np.int64) * 0x123456789
LOW = ("%l = arith.trunci %w : i64 to i32",)
AS_I64 = ("%w0 = arith.extsi %x : i32 to i64", "%w1 = arith.constant 4886718345 : i64")
PLAIN = [
    *(
        one(f"pto.get_tid_{a} : i32", v)
        for a, v in zip("xyz", (T % DX, T // DX % DY, T // (DX * DY)), strict=True)
    ),
    *(
        one(f"pto.get_block_dim_{a} : i32", np.full(N, n))
        for a, n in zip("xyz", (DX, DY, DZ), strict=True)
    ),
    *(one(f"pto.get_grid_dim_{a} : i32", T * 0) for a in "xyz"),
    *(one(f"pto.get_block_idx_{a} : i32", T * 0) for a in "xyz"),
    one("pto.get_veccoreid : i32", T * 0),
    one("pto.get_laneid : i32", T % GROUP),
    one("pto.get_lanemask_eq : i32", lambda: np.array([word(1 << t % GROUP) for t in T])),
    one("pto.get_lanemask_lt : i32", lambda: np.array([word((1 << t % 32) - 1) for t in T])),
    one("pto.get_lanemask_le : i32", lambda: np.array([word((2 << t % 32) - 1) for t in T])),
    one("pto.get_lanemask_ge : i32", lambda: np.array([word(-(1 << t % 32)) for t in T])),
    one("pto.get_lanemask_gt : i32", lambda: np.array([word(-(2 << t % 32)) for t in T])),
    one("pto.vote_all %p : i1 -> i1", lambda: by_group(all)(P), "i1"),
    one("pto.vote_any %p : i1 -> i1", lambda: by_group(any)(P), "i1"),
    one("pto.vote_uni %p : i1 -> i1", lambda: by_group(lambda v: len({*v}) == 1)(P), "i1"),
    one("pto.vote_ballot %p : i1 -> i32", lambda: by_group(ballot)(P)),
    one("pto.shuffle_idx %x, %y : i32, i32 -> i32", shuffled(lambda own, y: y)),
    one("pto.shuffle_up %x, %y : i32, i32 -> i32", shuffled(lambda own, y: own - y)),
    one("pto.shuffle_down %x, %y : i32, i32 -> i32", shuffled(lambda own, y: own + y)),
    one("pto.shuffle_bfly %x, %y : i32, i32 -> i32", shuffled(lambda own, y: own ^ y)),
    one(
        "pto.shuffle_down %x, %y {width = 16 : i32} : i32, i32 -> i32",
        shuffled(lambda own, y: own + y, 16),
    ),
    one(
        "pto.redux_add %x signed : i32 -> i32",
        lambda: by_group(lambda v: word(v.astype(np.int64).sum()))(X),
    ),
    one("pto.redux_max %x signed : i32 -> i32", lambda: by_group(np.max)(X)),
    one("pto.redux_min %x signed : i32 -> i32", lambda: by_group(np.min)(X)),
    one("pto.redux_max %x unsigned : i32 -> i32", lambda: by_group(np.max)(X.view(np.uint32))),
    one("pto.redux_min %x unsigned : i32 -> i32", lambda: by_group(np.min)(X.view(np.uint32))),
    one("pto.redux_add %u : f32 -> f32", lambda: by_group(in_order(np.add))(U), "f32"),
    one("pto.redux_max %v : f32 -> f32", lambda: by_group(np.nanmax)(V), "f32"),
    one("pto.redux_min %v : f32 -> f32", lambda: by_group(np.nanmin)(V), "f32"),
    one("pto.fmin %u, %v : f32, f32 -> f32", lambda: np.fmin(U, V), "f32"),
    one("pto.fmax %u, %v : f32, f32 -> f32", lambda: np.fmax(U, V), "f32"),
    one("pto.sin %u : f32 -> f32", lambda: np.sin(U.astype(np.float64)).astype(np.float32), "f32"),
    one("pto.cos %u : f32 -> f32", lambda: np.cos(U.astype(np.float64)).astype(np.float32), "f32"),
    one("pto.absf %u : f32 -> f32", lambda: np.abs(U), "f32"),
    one("pto.ceil %u : f32 -> f32", lambda: np.ceil(U), "f32"),
    one("pto.floor %u : f32 -> f32", lambda: np.floor(U), "f32"),
    one("pto.rint %u : f32 -> f32", lambda: np.rint(U), "f32"),
    one(
        "pto.prmt %x, %y, %x : i32, i32, i32 -> i32",
        lambda: np.array([word(prmt(int(a), int(b), int(a))) for a, b in zip(X, Y, strict=True)]),
    ),
    one("pto.mulhi %x, %y signed : i32, i32 -> i32", lambda: upper(X, Y, 32)),
    one(
        "pto.mulhi %x, %y unsigned : i32, i32 -> i32",
        lambda: upper(X.view(np.uint32), Y.view(np.uint32), 32),
    ),
    Case(
        (
            *AS_I64,
            "%w = pto.mulhi %w0, %w1 signed : i64, i64 -> i64",
            "%r = arith.trunci %w : i64 to i32",
        ),
        lambda: upper(X, X * 0 + np.int64(4886718345), 64),
    ),
    Case(
        (
            "%w = pto.mul_i32toi64 %x, %y signed : i32, i32 -> i64",
            "%r = arith.trunci %w : i64 to i32",
        ),
        lambda: X.astype(np.int64) * Y,
    ),
    Case(
        (
            "%w = pto.mul_i32toi64 %x, %y unsigned : i32, i32 -> i64",
            "%k = arith.constant 32 : i64",
            "%h = arith.shrui %w, %k : i64",
            "%r = arith.trunci %h : i64 to i32",
        ),
        lambda: upper(X.view(np.uint32), Y.view(np.uint32), 32),
    ),
    one("pto.convert %u round(z) sat signed : f32 -> i32", lambda: rounded(U, np.trunc)),
    one("pto.convert %u round(r) sat signed : f32 -> i32", lambda: rounded(U, np.rint)),
    one("pto.convert %u round(f) sat signed : f32 -> i32", lambda: rounded(U, np.floor)),
    one("pto.convert %u round(c) sat signed : f32 -> i32", lambda: rounded(U, np.ceil)),
    one("pto.convert %x round(r) nosat signed : i32 -> f32", lambda: X.astype(np.float32), "f32"),
    one(
        "pto.convert %x round(r) nosat unsigned : i32 -> f32",
        lambda: X.view(np.uint32).astype(np.float32),
        "f32",
    ),
    # values of other threads where threads have diverged
    Case(
        (
            "%r = scf.if %p -> (i32) {",
            "  %s = pto.redux_add %t signed : i32 -> i32",
            "  scf.yield %s : i32",
            "} else {",
            "  scf.yield %c1 : i32",
            "}",
        ),
        lambda: np.where(P, by_group(np.sum)(np.where(P, T, 0)), 1),
    ),
    Case(
        (
            "%n = arith.andi %t, %c3 : i32",
            "%ends = arith.index_castui %n : i32 to index",
            "%r = scf.for %i = %i0 to %ends step %i1 iter_args(%a = %c0) -> (i32) {",
            "  %b = pto.vote_ballot %true : i1 -> i32",
            "  %s = arith.addi %a, %b : i32",
            "  scf.yield %s : i32",
            "}",
        ),
        lambda: sum((np.where(n < T % 4, by_group(ballot)(n < T % 4), 0) for n in range(3)), T * 0),
    ),
    Case(
        (
            "%r = scf.for %i = %i0 to %i3 step %i1 iter_args(%a = %t) -> (i32) {",
            "  %o = pto.shuffle_bfly %a, %c1 : i32, i32 -> i32",
            "  %s = arith.addi %a, %o : i32",
            "  scf.yield %s : i32",
            "}",
        ),
        lambda: 4 * (T + (T ^ 1)),
    ),
    Case(
        (
            "%h0 = arith.constant 16 : i32",
            "%r, %d = scf.while (%a = %t, %h = %h0) : (i32, i32) -> (i32, i32) {",
            "  %more = arith.cmpi sgt, %h, %c0 : i32",
            "  scf.condition(%more) %a, %h : i32, i32",
            "} do {",
            "^bb0(%a1: i32, %h1: i32):",
            "  %o = pto.shuffle_bfly %a1, %h1 : i32, i32 -> i32",
            "  %s = arith.maxsi %a1, %o : i32",
            "  %g = arith.shrui %h1, %c1 : i32",
            "  scf.yield %s, %g : i32, i32",
            "}",
        ),
        lambda: by_group(np.max)(T),
    ),
    # what other threads have stored before a barrier
    Case(
        (
            "%at = arith.index_castui %t : i32 to index",
            "pto.store_scalar %x, %ub[%at] : !pto.ptr<i32, ub>, i32",
            "pto.threadfence",
            "pto.syncthreads",
            f"%last = arith.constant {N - 1} : i32",
            "%other = arith.subi %last, %t : i32",
            "%from = arith.index_castui %other : i32 to index",
            "%r = pto.load_scalar %ub[%from] : !pto.ptr<i32, ub> -> i32",
            "pto.threadfence_block",
            "pto.syncthreads",
        ),
        lambda: X[::-1],
    ),
    Case(
        (
            "%q = arith.constant dense<[1.0, -2.0]> : vector<2xf16>",
            "%z = llvm.bitcast %x : i32 to vector<2xf16>",
            "%a = arith.addf %q, %z : vector<2xf16>",
            "%r = llvm.bitcast %a : vector<2xf16> to i32",
        ),
        lambda: (X.view(np.float16) + np.tile(np.array([1, -2], np.float16), N)).view(np.int32),
        "halves",
    ),
]
ATOMICS: dict[str, Callable[[Any, Any], Any]] = {
    "exch": lambda old, new: new,
    "add": lambda old, new: old + new,
    "sub": lambda old, new: old - new,
    "min": min,
    "max": max,
    "and": lambda old, new: old & new,
    "or": lambda old, new: old | new,
    "xor": lambda old, new: old ^ new,
    "cas": lambda old, new: new if old == 1 else old,
}


def atomic(name: str, space: str, given: str = "", value: str = "%x", kind: str = "i32") -> Case:
    """Return the case in which all threads change one element, which is 1 before."""
    sign = "signed" if kind == "i32" else ""
    text = f"!pto.ptr<{kind}{space}>, {kind} -> {kind}"
    place = f"%place_{kind}_{space.strip(', ') or 'gm'}"
    first = f"%first_{kind} = arith.constant {'1' if kind == 'i32' else '1.0'} : {kind}"

    def wanted() -> Lanes:
        values = X if value == "%x" else U
        element, found = values.dtype.type(1), list[object]()
        with np.errstate(over="ignore"):
            for one in values:
                found.append(element)
                element = ATOMICS[name](element, one)
        return np.array(found)

    return Case(
        (
            "pto.syncthreads",
            first,
            f"pto.store_scalar %first_{kind}, {place}[%i0] : !pto.ptr<{kind}{space}>, {kind}",
            "pto.syncthreads",
            f"%r = pto.atomic_{name} {place}, {given}{value} {sign} : {text}",
        ),
        wanted,
        kind,
    )


CASES = [
    *PLAIN,
    *[atomic(name, space, "%c1, " * (name == "cas")) for name in ATOMICS for space in ("", ", ub")],
    *[atomic(name, "", value="%u", kind="f32") for name in ("add", "min", "max", "exch")],
]
HEAD = f"""\
func.func @threads(%a: !pto.ptr<i32>, %f: !pto.ptr<f32>, %o: !pto.ptr<i32>, %ub: !pto.ptr<i32, ub>)
    attributes {{pto.simt_entry}} {{
  %t = pto.resume {{slot = 2 : i64}} : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %true = arith.constant true
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i3 = arith.constant 3 : index
  %n = arith.constant {N} : index
  %it = arith.index_castui %t : i32 to index
  %jt = arith.addi %it, %n : index
  %x = pto.ldg %a[%it] l1cache(uncache) l2cache(nmpref) : !pto.ptr<i32> -> i32
  %y = pto.load %a[%jt] : !pto.ptr<i32> -> i32
  %u = pto.ldg %f[%it] : !pto.ptr<f32> -> f32
  %v = pto.load %f[%jt] : !pto.ptr<f32> -> f32
  %low = arith.andi %x, %c1 : i32
  %p = arith.cmpi ne, %low, %c0 : i32
  %far = arith.constant {len(CASES) * N} : index
  %place_i32_gm = pto.addptr %o, %far : !pto.ptr<i32> -> !pto.ptr<i32>
  %place_f32_gm = pto.castptr %place_i32_gm : !pto.ptr<i32> -> !pto.ptr<f32>
  %place_i32_ub = pto.addptr %ub, %n : !pto.ptr<i32, ub> -> !pto.ptr<i32, ub>
"""
TAIL = f"""\
  return
}}
func.func @number() attributes {{pto.simt_entry}} {{
  %x = pto.get_tid_x : i32
  %y = pto.get_tid_y : i32
  %z = pto.get_tid_z : i32
  %three = arith.constant {DX} : i32
  %four = arith.constant {DY} : i32
  %a = arith.muli %z, %four : i32
  %b = arith.addi %a, %y : i32
  %c = arith.muli %b, %three : i32
  %t = arith.addi %c, %x : i32
  pto.keep %t {{slot = 2 : i64}} : i32
  pto.syncthreads
  return
}}
func.func @law(%a: !pto.ptr<i32>, %f: !pto.ptr<f32>, %o: !pto.ptr<i32>) attributes {{pto.kernel}} {{
  %zero = arith.constant 0 : i64
  %ub = pto.castptr %zero : i64 -> !pto.ptr<i32, ub>
  %dx = arith.constant {DX} : i32
  %dy = arith.constant {DY} : i32
  %dz = arith.constant {DZ} : i32
  pto.store_vfsimt_info %dz, %dy, %dx : i32, i32, i32
  func.call @number() : () -> ()
  pto.simt_launch @threads<<<%dx, %dy, %dz>>>(%a, %f, %o, %ub)
    : (!pto.ptr<i32>, !pto.ptr<f32>, !pto.ptr<i32>, !pto.ptr<i32, ub>) -> ()
  return
}}
"""
WORD = {"i1": "%word = arith.extui %r : i1 to i32", "f32": "%word = arith.bitcast %r : f32 to i32"}


def program(cases: Sequence[Case]) -> str:
    """Return the program; the names that a case defines get its number."""
    lines = list[str]()
    for number, case in enumerate(cases):
        to_word = WORD.get(case.kind, "%word = arith.addi %r, %c0 : i32")
        text = "\n".join((*case.statements, to_word))
        made = {*re.findall(r"%\w+(?= =)", text), *re.findall(r"(?<=, )%\w+(?= = scf)", text)}
        made |= {*re.findall(r"[(,] ?(%\w+)(?=: )", text)}
        for name in sorted(made, key=len, reverse=True):
            text = re.sub(rf"{name}\b", f"{name}_{number}", text)
        lines += text.splitlines()
        lines += [
            f"%k{number} = arith.constant {number * N} : index",
            f"%at{number} = arith.addi %it, %k{number} : index",
            f"pto.stg %word_{number}, %o[%at{number}] l2cache(wtsred) : !pto.ptr<i32>, i32",
        ]
    return HEAD + "".join(f"  {line}\n" for line in lines) + TAIL


@cache
def outcome(engine: str, step: int = 1) -> NDArray[np.int32]:
    """Return a row for each case; with `step`, of some cases."""
    given: dict[str, Any] = {"a": np.concatenate((X, Y)), "f": np.concatenate((U, V))}
    out = np.zeros((len(CASES) + 1) * N, np.int32)
    program_ = pto.loads(program(CASES[::step]))
    found = program_.run(**given, o=out, target="a5", engine=engine, func="law")
    return found["o"].reshape(-1, N)[: len(CASES[::step])]


def test_the_threads_do_what_numpy_says() -> None:
    wrong = list[str]()
    for case, found in zip(CASES, outcome("reference"), strict=False):
        with np.errstate(all="ignore"):
            wanted = case.wanted()
        if case.kind == "f32":
            same = np.array_equal(found.view(np.float32), wanted, equal_nan=True)
        elif case.kind == "halves":
            same = np.array_equal(found.view(np.float16), wanted.view(np.float16), equal_nan=True)
        else:
            same = np.array_equal(found, wanted.astype(np.int64).astype(np.int32))
        if not same:
            wrong.append(f"{case.statements[-1]}: {found} instead of {wanted}")
    assert wrong == []


def test_both_engines_agree() -> None:
    """Compiled code of all cases takes long to make."""
    assert np.array_equal(outcome("reference")[::3], outcome("native", 3))


def test_the_text_is_read_back() -> None:
    text = pto.loads(program(CASES)).text()
    assert pto.loads(text).text() == text


def test_each_instruction_has_a_case() -> None:
    files = {"threadqueries", "threadwaits", "threadaccesses", "atomics", "threadmath"}
    names = {p.name for p in pages() if p.__module__.rpartition(".")[2] in files}
    named = {*re.findall(r"(?:pto|llvm)\.(\w+)", program(CASES))}
    assert names - named == {"get_clock32", "get_clock64"}


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_launch_of_no_threads_does_nothing(engine: str) -> None:
    text = program(CASES[:3]).replace(f"%dz = arith.constant {DZ}", "%dz = arith.constant 0")
    given: dict[str, Any] = {"a": np.concatenate((X, Y)), "f": np.concatenate((U, V))}
    found = pto.loads(text).run(**given, o=T, target="a5", engine=engine, func="law")
    assert np.array_equal(found["o"], T)

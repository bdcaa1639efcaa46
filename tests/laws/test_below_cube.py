"""The law of the cube below tiles: loads, products and stores do what NumPy says.

Matrices hold small whole numbers, so that every sum is exact in any order.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from belowtiles import Lanes

import ptokit as pto

M, N, K = 24, 40, 48
TYPES = {"f16": "f16", "f32": "f32", "f8": "f8E4M3FN", "i8": "i8", "u64": "ui64"}


class Text:
    """The text of a function: its statements, with a constant for each number."""

    def __init__(self, *arguments: str) -> None:
        self.arguments = [argument.split(":") for argument in arguments]
        self.lines: list[str] = []
        self.known: dict[str, str] = {}

    def number(self, value: float | str, kind: str = "i64") -> str:
        """Return a constant."""
        text = f"{value} : {kind}"
        if text not in self.known:
            self.known[text] = f"%k{len(self.known)}"
        return self.known[text]

    def at(self, address: int, kind: str, space: str) -> str:
        """Return a pointer."""
        name = f"%p{len(self.lines)}"
        self.add(f"{name} = pto.castptr {self.number(address)} : i64 -> {pointer(kind, space)}")
        return name

    def add(self, line: str) -> None:
        self.lines.append(line)

    def wait(self, one: str, other: str) -> None:
        for word in ("set_flag", "wait_flag"):
            self.add(f'pto.{word}["PIPE_{one}", "PIPE_{other}", "EVENT_ID0"]')

    def text(self) -> str:
        arguments = ", ".join(f"%{n}: {pointer(k, 'gm')}" for n, k in self.arguments)
        constants = [f"{name} = arith.constant {text}" for text, name in self.known.items()]
        body = "".join(f"  {line}\n" for line in (*constants, *self.lines))
        return f"func.func @law({arguments}) {{\n{body}  return\n}}"


def pointer(kind: str, space: str) -> str:
    return f"!pto.ptr<{TYPES.get(kind, kind)}, {space}>"


def typed(*kinds: tuple[str, str], numbers: int) -> str:
    return ", ".join((*(pointer(*kind) for kind in kinds), *["i64"] * numbers))


def fractions(
    t: Text, gm: str, l1: str, kind: str, rows: int, cols: int, how: str = "nd2nz"
) -> None:
    """Load a matrix of global memory into L1, in boxes."""
    size = {"f16": 2, "f32": 4, "f8": 1}[kind]
    inner = (cols if how == "nd2nz" else rows) * size
    n = t.number
    high = -(-rows // 16) * 16
    t.add(
        f"pto.mte_gm_l1_frac %{gm}, {l1}, {how}, shape({n(rows)}, {n(cols)}), "
        f"src_layout({n(inner)}), dst_group({n(1)}, {n(1)}, {n(high)}, {n(0)}), "
        f"ctrl({n(0)}, {n('false', 'i1')}) : {typed((kind, 'gm'), (kind, 'l1'), numbers=0)}, "
        f"{how}, shape i64, i64, src_layout(i64), dst_group i64, i64, i64, i64, ctrl i64, i1"
    )


def operand(
    t: Text, name: str, l1: str, kind: str, rows: int, cols: int, turned: bool, *boxes: int
) -> str:
    """Load a matrix of L1 into L0A or L0B, by its extents or by boxes."""
    into = t.at(0, kind, name)
    turn = " {transpose = true}" if turned else ""
    numbers = (0, 0, *boxes) if boxes else (rows, cols) if kind == "f32" else (rows, cols, 0, 0)
    t.add(
        f"pto.mte_l1_{name} {l1}, {into}, {', '.join(map(t.number, numbers))}{turn} : "
        f"{typed((kind, 'l1'), (kind, name), numbers=len(numbers))}"
    )
    return into


def product(t: Text, name: str, *ends: str, kind: str = "f16", words: str = "", m: int = M) -> None:
    n = t.number
    kinds = [(kind, "l0a"), (kind, "l0b"), ("f32", "l0c"), ("f32", "bt")][: len(ends)]
    k = 64 if kind == "f8" else K
    t.add(
        f"pto.{name} {', '.join(ends)}, {n(m)}, {n(N)}, {n(k)} {words} : {typed(*kinds, numbers=3)}"
    )


def store(t: Text, l0c: str, gm: str, kind: str, clauses: str, types: str = "", m: int = M) -> None:
    n = t.number
    high = -(-m // 16) * 16
    pitch = m if "nz2dn" in clauses else N
    t.add(
        f"pto.mte_l0c_gm {l0c}, %{gm}, {n(m)}, {n(N)}, {n(high)}, {n(pitch)}, {n(0)}, {n(0)}, "
        f"{clauses} : {typed(('f32', 'l0c'), (kind, 'gm'), numbers=6)}{types}"
    )


def whole(rng: np.random.Generator, *shape: int) -> Lanes:
    return rng.integers(-4, 5, shape).astype(np.float32)


def run(t: Text, engine: str, **arrays: Any) -> dict[str, Lanes]:  # Any: arrays
    found = pto.loads(t.text()).run(target="a5", engine=engine, **arrays)
    return {name: np.asarray(array) for name, array in found.items()}


ENGINES = pytest.mark.parametrize("engine", ["reference", "native"])


@ENGINES
def test_products_and_their_stores(engine: str) -> None:
    rng = np.random.default_rng(7)
    a, b, bias = whole(rng, M, K), whole(rng, K, N), whole(rng, N)
    alphas = np.resize(np.array([0.5, 0.25], np.float32), N)
    scales = np.resize(np.array([2.0, 1.0, 4.0], np.float32), N)
    outs = {
        **{name: "f32" for name in ("sum", "twice", "biased", "down", "added", "most", "turned")},
        **{name: "f16" for name in ("scalar", "vector", "clipped")},
        "small": "i8",
    }
    t = Text(
        *("a:f16", "b:f16", "at:f16", "bt:f16", "bias:f16", "scales:u64", "alphas:f32"),
        *(f"{name}:{kind}" for name, kind in outs.items()),
    )
    n = t.number
    la, lb, lat, lbt = (t.at(k * 8192, "f16", "l1") for k in range(4))
    fractions(t, "a", la, "f16", M, K)
    fractions(t, "bt", lb, "f16", K, N, "dn2nz")  # its rows are columns of b
    fractions(t, "at", lat, "f16", K, M)
    fractions(t, "bt", lbt, "f16", N, K)
    tables = [t.at(32768 + k * 4096, kind, "l1") for k, kind in enumerate(("f16", "u64", "f32"))]
    for name, kind, table, size in (
        *(("bias", "f16", tables[0], 96), ("scales", "u64", tables[1], 384)),
        ("alphas", "f32", tables[2], 192),
    ):
        t.add(
            f"pto.mte_gm_l1 %{name}, {table}, {n(size)} nburst({n(1)}, {n(0)}, {n(0)}) : "
            f"{typed((kind, 'gm'), (kind, 'l1'), numbers=4)}"
        )
    t.wait("MTE2", "MTE1")
    t.wait("MTE2", "FIX")
    biases, quant, slope = t.at(0, "f32", "bt"), t.at(0, "f32", "fb"), t.at(2048, "f32", "fb")
    for word, source, into, kind, to, units in (
        ("bt", tables[0], biases, "f16", "bt", 3),
        ("fb", tables[1], quant, "u64", "fb", 6),
        ("fb", tables[2], slope, "f32", "fb", 3),
    ):
        t.add(
            f"pto.mte_l1_{word} {source}, {into}, {n(units)} nburst({n(1)}, {n(0)}, {n(0)}) : "
            f"{typed((kind, 'l1'), ('f32', to), numbers=4)}"
        )
    left, right = (
        operand(t, "l0a", la, "f16", M, K, False),
        operand(t, "l0b", lb, "f16", K, N, True),
    )
    acc = t.at(0, "f32", "l0c")
    t.wait("MTE1", "M")

    def multiplied(name: str, *more: str) -> None:
        product(t, name, left, right, acc, *more)
        t.wait("M", "FIX")

    multiplied("mad")
    store(t, acc, "sum", "f32", "nz2nd")
    store(t, acc, "down", "f32", f"nz2dn({n(1)})", ", i64")
    store(t, acc, "added", "f32", "nz2nd, atomic(type = f32, op = add)")
    store(t, acc, "most", "f32", "nz2nd, atomic(type = f32, op = max)")
    half, quarter, ten = n(0.5, "f32"), n(0.25, "f32"), n(10.0, "f16")
    scaled = f"pre_quant({half}, mode = qf322f16_pre_scalar)"
    store(
        *(t, acc, "scalar", "f16"),
        f"{scaled}, pre_relu({quarter}, mode = scalar_relu), nz2nd",
        ", f32, f32",
    )
    store(
        *(t, acc, "vector", "f16"),
        f"pre_quant({quant}, mode = qf322f16_pre_vec), "
        f"pre_relu({slope}, mode = vector_relu), nz2nd, sat",
        f", {pointer('f32', 'fb')}, {pointer('f32', 'fb')}",
    )
    store(
        *(t, acc, "clipped", "f16"),
        f"unit_flag(check_only), {scaled}, pre_relu(mode = normal_relu, clip = {ten}), nz2nd",
        ", f32, f16",
    )
    store(
        *(t, acc, "small", "i8"),
        f"pre_quant({half}, mode = qf322b8_pre_scalar), nz2nd",
        ", f32",
    )
    t.wait("FIX", "M")
    multiplied("mad_acc")
    store(t, acc, "twice", "f32", "nz2nd")
    t.wait("FIX", "M")
    multiplied("mad_bias", biases)
    store(t, acc, "biased", "f32", "nz2nd")
    t.wait("M", "MTE1")
    operand(t, "l0a", lat, "f16", M, K, True, 3, 2, 3, 2)
    operand(t, "l0b", lbt, "f16", K, N, False, 3, 3, 3, 3)
    t.wait("MTE1", "M")
    t.wait("FIX", "M")
    multiplied("mad")
    store(t, acc, "turned", "f32", "nz2nd")
    kinds = {"f32": np.float32, "f16": np.float16, "i8": np.int8}
    room = {name: np.zeros((M, N), kinds[kind]) for name, kind in outs.items()}
    room["most"][:] = room["added"][:] = np.arange(N)
    room["down"] = np.zeros((N, M), np.float32)
    halves = {"a": a, "b": b, "at": a.T, "bt": b.T, "bias": np.append(bias, np.zeros(8))}
    given: dict[str, Lanes] = {
        name: np.ascontiguousarray(x, np.float16) for name, x in halves.items()
    }
    given["scales"] = np.append(scales.view(np.uint32), np.zeros(8)).astype(np.uint64)
    given["alphas"] = np.append(alphas, np.zeros(8)).astype(np.float32)
    found = run(t, engine, **given, **room)
    x = a @ b
    y = x * scales
    meant = {
        **{"sum": x, "twice": 2 * x, "biased": x + bias, "down": x.T, "turned": x},
        **{"added": x + np.arange(N), "most": np.maximum(x, np.arange(N))},
        "scalar": np.where(x < 0, x * 0.125, x * 0.5),
        "vector": np.where(y < 0, y * alphas, y),
        "clipped": np.minimum(np.maximum(x * 0.5, 0), 10),
        "small": np.clip(np.rint(x * 0.5), -128, 127),
    }
    wrong = [
        name
        for name, value in meant.items()
        if not np.array_equal(found[name], value.astype(room[name].dtype))
    ]
    assert not wrong


@ENGINES
def test_products_with_scales_and_saturated_ones(engine: str) -> None:
    """One scale for each 32 elements along k, at a 16th of the address of its matrix."""
    rng = np.random.default_rng(8)
    m, k, f8 = 16, 64, ml_dtypes.float8_e4m3fn
    a, b = whole(rng, m, k), whole(rng, k, N)
    exponents = [rng.integers(126, 129, shape).astype(np.uint8) for shape in ((m, 2), (2, 48))]
    bias = whole(rng, N)
    outs = ("scaled", "twice", "biased", "limited")
    t = Text(
        *("a:f8", "b:f8", "sa:f8", "sb:f8", "bias:f32", "x:f32", "y:f32"),
        *(f"{name}:f32" for name in outs),
    )
    n = t.number
    la, lb, sa, sb = (t.at(address, "f8", "l1") for address in (0, 4096, 16384, 16640))
    lbias, lx, ly = (t.at(address, "f32", "l1") for address in (20480, 24576, 32768))
    fractions(t, "a", la, "f8", m, k)
    fractions(t, "b", lb, "f8", k, N)
    fractions(t, "x", lx, "f32", 1, K)
    fractions(t, "y", ly, "f32", K, N)
    for name, kind, into, size in (
        *(("sa", "f8", sa, 32), ("sb", "f8", sb, 96), ("bias", "f32", lbias, 192)),
    ):
        t.add(
            f"pto.mte_gm_l1 %{name}, {into}, {n(size)} nburst({n(1)}, {n(0)}, {n(0)}) : "
            f"{typed((kind, 'gm'), (kind, 'l1'), numbers=4)}"
        )
    t.wait("MTE2", "MTE1")
    left, right = operand(t, "l0a", la, "f8", m, k, False), operand(t, "l0b", lb, "f8", k, N, True)
    for name, source, into, *numbers in (
        *(("l0a", sa, left, m, k, 0, 0), ("l0b", sb, right, 0, 0, 3, 1, 1, 1)),
    ):
        t.add(
            f"pto.mte_l1_{name}_mx {source}, {into}, {', '.join(map(n, numbers))} : "
            f"{typed(('f8', 'l1'), ('f8', name), numbers=len(numbers))}"
        )
    biases, acc = t.at(0, "f32", "bt"), t.at(0, "f32", "l0c")
    t.add(
        f"pto.mte_l1_bt {lbias}, {biases}, {n(3)} nburst({n(1)}, {n(0)}, {n(0)}) : "
        f"{typed(('f32', 'l1'), ('f32', 'bt'), numbers=4)}"
    )
    t.wait("MTE1", "M")
    for name, out, more in (
        *(("mad_mx", "scaled", ()), ("mad_mx_acc", "twice", ())),
        ("mad_mx_bias", "biased", (biases,)),
    ):
        product(t, name, left, right, acc, *more, kind="f8", m=m)
        t.wait("M", "FIX")
        store(t, acc, out, "f32", "nz2nd", m=m)
        t.wait("FIX", "M")
    t.wait("M", "MTE1")
    row, matrix = (
        operand(t, "l0a", lx, "f32", 1, K, False),
        operand(t, "l0b", ly, "f32", K, N, True),
    )
    t.wait("MTE1", "M")
    product(t, "mad", row, matrix, acc, kind="f32", words="disable_gemv sat", m=1)
    t.wait("M", "FIX")
    store(t, acc, "limited", "f32", "nz2nd", m=1)
    x, y = whole(rng, 1, K), whole(rng, K, N)
    x[0, 0], y[0] = np.inf, np.arange(N) - 20
    room = {name: np.zeros((1 if name == "limited" else m, N), np.float32) for name in outs}
    found = run(
        *(t, engine),
        a=a.astype(f8),
        b=b.astype(f8),
        sa=exponents[0].view(f8),
        sb=np.ascontiguousarray(exponents[1].T).view(f8),
        bias=np.append(bias, np.zeros(8)).astype(np.float32),
        x=x,
        y=y,
        **room,
    )
    scales = [np.exp2(part.astype(np.float32) - 127) for part in exponents]
    c = (a * np.repeat(scales[0], 32, 1)) @ (b * np.repeat(scales[1][:, :N], 32, 0))
    most = np.finfo(np.float32).max
    limited = np.where(y[0] == 0, (x[:, 1:] @ y[1:]), np.sign(y[0]) * most)
    meant = {"scaled": c, "twice": 2 * c, "biased": c + bias, "limited": limited}
    found["limited"] = np.where(np.abs(y[0]) == 1, limited, found["limited"])  # not beyond it
    assert not [name for name in outs if not np.array_equal(found[name], meant[name])]


HANDED = """\
func.func @law(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f32>, %d: !pto.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %n = arith.constant 16 : i64
  %half = arith.constant 32 : i64
  %row = arith.constant 64 : i64
  %size = arith.constant 512 : i64
  %all = arith.constant 1024 : i64
  %twice = arith.constant 2048 : i64
  %far = arith.constant 4096 : i64
  %no = arith.constant false
  %left = pto.castptr %zero : i64 -> !pto.ptr<f16, l1>
  %right = pto.castptr %size : i64 -> !pto.ptr<f16, l1>
  %sums = pto.castptr %far : i64 -> !pto.ptr<f32, l1>
  %l0a = pto.castptr %zero : i64 -> !pto.ptr<f16, l0a>
  %l0b = pto.castptr %zero : i64 -> !pto.ptr<f16, l0b>
  %l0c = pto.castptr %zero : i64 -> !pto.ptr<f32, l0c>
  %in = pto.castptr %zero : i64 -> !pto.ptr<f16, ub>
  %out = pto.castptr %all : i64 -> !pto.ptr<f32, ub>
  %copy = pto.castptr %far : i64 -> !pto.ptr<f32, ub>
  pto.section.vector {
    pto.mte_gm_ub %a, %in, %zero, %size nburst(%one, %size, %size) : !pto.ptr<f16>,\
 !pto.ptr<f16, ub>, i64, i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
    pto.STATEMENT : !pto.ptr<f16, ub>, !pto.ptr<f16, l1>, i64, i64, i64, i64, i64
    pto.sync.set <PIPE_MTE3>, 0
    pto.sync.wait <PIPE_MTE3>, 1
    %core = pto.get_subblock_idx
    %first = arith.cmpi eq, %core, %zero : i64
    scf.if %first {
      pto.mte_ub_gm %out, %c, %all nburst(%one, %all, %all) : !pto.ptr<f32, ub>, !pto.ptr<f32>,\
 i64, i64, i64, i64
      pto.mte_ub_gm %copy, %d, %all nburst(%one, %all, %all) : !pto.ptr<f32, ub>, !pto.ptr<f32>,\
 i64, i64, i64, i64
    }
  }
  pto.section.cube {
    pto.mte_gm_l1 %b, %right, %half nburst(%n, %half, %half) : !pto.ptr<f16>, !pto.ptr<f16, l1>,\
 i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
    pto.sync.wait <PIPE_MTE1>, 0
    pto.sync.wait <PIPE_MTE1>, 16
    pto.LOAD %left, %l0a, LEFT
    pto.mte_l1_l0b %right, %l0b, %n, %n {transpose = true} : !pto.ptr<f16, l1>,\
 !pto.ptr<f16, l0b>, i64, i64
    pto.set_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
    pto.mad %l0a, %l0b, %l0c, %n, %n, %n : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>,\
 !pto.ptr<f32, l0c>, i64, i64, i64
    pto.set_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]
    pto.wait_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]
    pto.mte_l0c_ub %l0c, %out, %n, %n, %n, %n, dst_mode(%zero), nz2nd : !pto.ptr<f32, l0c>,\
 !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.mte_l0c_l1 %l0c, %sums, %n, %n, %n, %n, nz2nd : !pto.ptr<f32, l0c>, !pto.ptr<f32, l1>,\
 i64, i64, i64, i64
    pto.set_flag["PIPE_FIX", "PIPE_MTE1", "EVENT_ID0"]
    pto.wait_flag["PIPE_FIX", "PIPE_MTE1", "EVENT_ID0"]
    pto.BACK
    pto.sync.set <PIPE_MTE1>, 1
    pto.sync.set <PIPE_MTE1>, 17
  }
  return
}
"""
BACK = "mte_l1_ub %sums, %copy, %row nburst(%n, %row, %row) : "
OLDER = "copy_cbuf_to_ubuf %sums, %copy, %zero, %n, %two, %zero, %zero : "
PAIR = "!pto.ptr<f32, l1>, !pto.ptr<f32, ub>, i64, i64, i64, i64"
BOXES = "%zero, %zero, %one, %one, %one, %one : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>"
HANDOVERS = {
    "the names of the manual": {
        "STATEMENT : !pto.ptr<f16, ub>, !pto.ptr<f16, l1>, i64": "mte_ub_l1 %in, %left, %n "
        "nburst(%one, %zero, %zero) : !pto.ptr<f16, ub>, !pto.ptr<f16, l1>",
        "LOAD": "mte_l1_l0a",
        "LEFT": "%n, %n : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>, i64, i64",
        "BACK": BACK + PAIR,
    },
    "the older ones": {
        "STATEMENT": "copy_ubuf_to_cbuf %in, %left, %zero, %one, %n, %zero, %zero",
        "LOAD": "load_cbuf_to_ca",
        "LEFT": BOXES + ", i64" * 6,
        "BACK": OLDER + PAIR + ", i64",
    },
}


@pytest.mark.parametrize("names", HANDOVERS)
def test_a_matrix_goes_from_vector_to_cube_and_back(names: str) -> None:
    """The cube writes the buffer of its first vector core, which writes L1."""
    text = HANDED
    for old, new in HANDOVERS[names].items():
        text = text.replace(old, new)
    rng = np.random.default_rng(9)
    a, b = (whole(rng, 16, 16).astype(np.float16) for _ in range(2))
    room = np.zeros((16, 16), np.float32)
    found = pto.loads(text).run(target="a5", a=a, b=b, c=room, d=room)
    meant = a.astype(np.float32) @ b.astype(np.float32)
    assert np.array_equal(found["c"], meant)
    assert np.array_equal(found["d"], meant)


FILLED = """\
func.func @law(%x: !pto.ptr<ui16>, %y: !pto.ptr<ui16>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %bytes = arith.constant 32 : i64
  %all = arith.constant 256 : i64
  %word = arith.constant 70000 : i32
  %p = pto.castptr %zero : i64 -> !pto.ptr<ui16, l1>
  %q = pto.castptr %zero : i64 -> !pto.ptr<ui16, ub>
  pto.copy_gm_to_cbuf %x, %p, %one, %all, %all, %all : !pto.ptr<ui16>, !pto.ptr<ui16, l1>, i64,\
 i64, i64, i64
  pto.raw_fill_l1 %p, %bytes, %word, %two, %one, %two {fill_word_bits = 16 : i64} :\
 !pto.ptr<ui16, l1>, i64, i32, i64, i64, i64
  pto.set_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
  pto.mte_l1_ub %p, %q, %all nburst(%one, %all, %all) : !pto.ptr<ui16, l1>, !pto.ptr<ui16, ub>,\
 i64, i64, i64, i64
  pto.set_flag["PIPE_MTE1", "PIPE_MTE3", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE1", "PIPE_MTE3", "EVENT_ID0"]
  pto.mte_ub_gm %q, %y, %all nburst(%one, %all, %all) l2_cache_ctl(%zero) :\
 !pto.ptr<ui16, ub>, !pto.ptr<ui16>, i64, i64, i64, i64, i64
  return
}
"""


FILLS = {
    "the name of the manual": {},
    "the one of the assembler": {
        "raw_fill_l1 %p, %bytes": "create_cbuf_matrix %moved",
        "ui16, l1>, i64, i32,": "ui16, l1>, i32,",
        "  %q =": "  %moved = pto.castptr %bytes : i64 -> !pto.ptr<ui16, l1>\n  %q =",
    },
}


@pytest.mark.parametrize("names", FILLS)
def test_words_fill_blocks_of_l1(names: str) -> None:
    x, text = np.arange(128, dtype=np.uint16), FILLED
    for old, new in FILLS[names].items():
        text = text.replace(old, new)
    program = pto.loads(text)
    assert pto.loads(program.text()).text() == program.text()
    found = program.run(target="a5", x=x, y=np.zeros(128, np.uint16))["y"]
    meant = x.copy()
    meant[16:32] = meant[64:80] = 70000 & 0xFFFF
    assert np.array_equal(found, meant)

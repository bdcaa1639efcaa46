"""The native matrix product, alone, against one fused multiply-add per step of the depth."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ptokit.engines.kernels import boxedproduct
from ptokit.engines.kernels.ahead import QUEUE
from ptokit.engines.kernels.boxedproduct import BOX
from ptokit.engines.kernels.matmul import PANEL, ROWS, kernel

llvm = pytest.importorskip("llvmlite.binding", reason="llvmlite is not installed")

Values = NDArray[Any]  # Any: float32 or int32
Kernel = Callable[..., None]  # three addresses, sizes


@dataclass(frozen=True)
class Machine:
    """What the kernel is compiled for; cpu None is the host itself."""

    cpu: str | None
    lanes: int
    fma: bool

    @property
    def missing(self) -> str:
        """Why the host cannot run this; empty where it can."""
        if self.cpu and "x86_64" not in llvm.get_default_triple():
            return "the host is no x86-64"
        needed = {16: ["avx512f"], 8: ["avx2", "fma"], 4: ["fma"] if self.fma else []}[self.lanes]
        features = host() if "x86_64" in llvm.get_default_triple() else {"fma": True}
        lacking = [feature for feature in needed if not features.get(feature)]
        return f"the host has no {', '.join(lacking)}" if lacking else ""


MACHINES = {
    "host-16": Machine(None, 16, True),
    "host-4": Machine(None, 4, True),
    "x86-64-v3": Machine("x86-64-v3", 8, True),
    "x86-64": Machine("x86-64", 4, False),
}
SIZES = [(1, 1, 1), (8, 32, 3), (9, 33, 2), (7, 48, 5), (33, 17, 65), (16, 16, 16), (2, 100, 1)]
WRAPPER = """
define void @run(ptr %a, ptr %b, ptr %c, i64 %m, i64 %n, i64 %k, i64 %lda, i64 %pb, i64 %pc) {
  %ahead = alloca [{queue} x i8], align 8
  call void @llvm.memset.p0.i64(ptr %ahead, i8 0, i64 {queue}, i1 false)
  call void @product(ptr %a, ptr %b, ptr %c,
      i64 %m, i64 %n, i64 %k, i64 %lda, i64 %pb, i64 %pc, i1 {onto}, ptr %ahead)
  ret void
}
"""
BOXED_WRAPPER = """
define void @run(ptr %a, ptr %b, ptr %c, i64 %n, i64 %k, i64 %lda, i64 %pb, i64 %pc, i64 %pk) {
  call void @product(ptr %a, ptr %b, ptr %c,
      i64 %n, i64 %k, i64 %lda, i64 %pb, i64 %pc, i64 %pk, i1 {onto})
  ret void
}
"""


@cache
def host() -> dict[str, bool]:
    return llvm.get_host_cpu_features()


@cache
def compiled(machine: Machine, kind: str, onto: bool, few: int, boxed: bool = False) -> Kernel:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    if boxed:
        code = boxedproduct.kernel("product", machine.lanes, machine.fma, few) + BOXED_WRAPPER
    else:
        code = kernel("product", kind, machine.lanes, machine.fma, few) + WRAPPER
    code = code.replace("{onto}", str(onto).lower()).replace("{queue}", str(QUEUE))
    module = llvm.parse_assembly(code)
    module.verify()
    cpu = machine.cpu or llvm.get_host_cpu_name()
    features = "" if machine.cpu else llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()
    target_machine = target.create_target_machine(cpu=cpu, features=features, opt=2, jit=True)
    engine = llvm.create_mcjit_compiler(module, target_machine)
    engine.finalize_object()
    parameters = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 6
    run = ctypes.CFUNCTYPE(None, *parameters)(engine.get_function_address("run"))

    def call(*arguments: int, engine: Any = engine) -> None:  # Any: keeps the code alive
        run(*arguments)

    return call


def aligned(values: Values) -> Values:
    """A copy at a multiple of 64 bytes."""
    room = np.empty(values.size + 16, values.dtype)
    start = -room.ctypes.data % 64 // values.itemsize
    copy = room[start : start + values.size].reshape(values.shape)
    copy[:] = values
    return copy


def put(panels: Values, matrix: Values) -> None:
    """Write a matrix into panels."""
    rows, cols = matrix.shape
    for col in range(0, cols, PANEL):
        part = matrix[:, col : col + PANEL]
        panels[col // PANEL, :rows, : part.shape[1]] = part


def product(machine: Machine, a: Values, b: Values, start: Values | None = None) -> Values:
    """A x B, on top of `start`, by the kernel.

    What surrounds the matrices is noise, and C's is left alone.
    """
    kind = {"i": "i32", "f": f"f{a.itemsize * 8}"}[a.dtype.kind]
    sums = np.int32 if kind == "i32" else np.float32
    (m, k), n = a.shape, b.shape[1]
    panels = -(-n // PANEL)
    noise = np.random.default_rng(1).integers(
        0, 1 << 32, (panels + 1, k + m + ROWS, PANEL), np.uint32
    )
    lda = k + 3
    left = aligned(
        noise[0, : -(-m // ROWS) * ROWS, :1].repeat(lda, 1).astype(f"u{a.itemsize}").view(a.dtype)
    )
    right = aligned(noise[:, : k + 2].astype(f"u{b.itemsize}").view(b.dtype))
    out = aligned(noise[:, : m + 2].view(sums))
    around = out.copy()
    left[:m, :k] = a
    put(right, b)
    if start is not None:
        put(out, start)
    places = (each.ctypes.data for each in (left, right, out))
    few = m if m < 4 else 0
    steps = lda, right[0].size, out[0].size
    compiled(machine, kind, start is not None, few)(*places, m, n, k, *steps)
    assert np.array_equal(out[:, m:].view(np.uint32), around[:, m:].view(np.uint32))
    assert np.array_equal(out[panels:].view(np.uint32), around[panels:].view(np.uint32))
    return np.hstack([*out[:, :m]])[:, :n].copy()


def fused(a: Values, b: Values, c: Values) -> Values:
    """a * b + c rounded once: the f64 sum moves to the odd neighbour the exact sum is nearer to."""
    product = a.astype(np.float64) * b
    total = product + c
    of_c = total - product
    lost = (product - (total - of_c)) + (c - of_c)
    neighbour = np.nextafter(total, np.where(lost > 0, np.inf, -np.inf))
    even = total.view(np.int64) % 2 == 0
    inexact = np.isfinite(total) & (lost != 0)
    return np.where(inexact & even, neighbour, total).astype(np.float32)


@np.errstate(all="ignore")
def expected(a: Values, b: Values, start: Values | None = None) -> Values:
    zeros: Values = np.zeros((a.shape[0], b.shape[1]), np.float32)
    total = zeros if start is None else start
    for k in range(a.shape[1]):
        total = fused(a[:, k, None], b[None, k], total)
    return np.where(np.isnan(total), np.uint32(0x7FC00000), total.view(np.uint32))


def floats(rng: np.random.Generator, shape: tuple[int, int], style: str) -> Values:
    """Ordinary values; any finite code; sums beside a tie; values with rare special ones."""
    codes = rng.integers(0, 1 << 32, shape, np.uint32)
    ordinary = rng.standard_normal(shape).astype(np.float32)
    if style == "finite":
        return (codes & np.uint32(0xFEFFFFFF)).view(np.float32)
    if style == "denormal":
        return (ordinary * np.float32(2) ** rng.integers(-80, -60, shape)).astype(np.float32)
    if style == "ties":
        choices = [0, 2**-60, -(2**-60), 1.5, -3, 1 + 2**-23, 1 + 3 * 2**-23]
        return rng.choice(np.asarray(choices, np.float32), shape)
    if style == "special":
        choices = [0, 1 << 31, 1, 0x807FFFFF, 0x7F7FFFFF, 0x7F800000, 0xFF800000]
        nans = [0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF]
        special = rng.choice(np.asarray(choices + nans, np.uint32), shape).view(np.float32)
        return np.where(rng.random(shape) < 0.02, special, ordinary)
    return ordinary


def sizes(seed: int) -> list[tuple[int, int, int]]:
    random = np.random.default_rng(seed).integers(1, 71, (8, 3))
    return [*SIZES, *((int(m), int(n), int(k)) for m, n, k in random)]


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> Machine:
    machine = MACHINES[request.param]
    if machine.missing:
        pytest.skip(machine.missing)
    return machine


@pytest.mark.parametrize("style", ["ordinary", "finite", "denormal", "ties", "special"])
def test_f32_is_one_fused_multiply_add_per_step(machine: Machine, style: str) -> None:
    rng = np.random.default_rng(7)
    for m, n, k in sizes(len(style)):
        a, b = floats(rng, (m, k), style), floats(rng, (k, n), style)
        got = product(machine, a, b).view(np.uint32)
        assert np.array_equal(got, expected(a, b)), (m, n, k)
        start = floats(rng, (m, n), style)
        got = product(machine, a, b, start).view(np.uint32)
        assert np.array_equal(got, expected(a, b, start)), (m, n, k)


@np.errstate(all="ignore")
def test_the_sum_of_f64_products_rounds_to_f32_at_each_step(machine: Machine) -> None:
    rng = np.random.default_rng(9)
    for m, n, k in sizes(1):
        a, b = (rng.standard_normal(s) * 2.0 ** rng.integers(-90, 90) for s in ((m, k), (k, n)))
        total = start = rng.standard_normal((m, n)).astype(np.float32)
        for step in range(k):
            total = (total + a[:, step, None] * b[None, step]).astype(np.float32)
        assert np.array_equal(product(machine, a, b, start), total), (m, n, k)


@np.errstate(all="ignore")
def test_short_f64_factors_may_be_multiplied_as_f32(machine: Machine) -> None:
    """12 bits, from denormals of f32 up to its largest: sums overflow, vanish and cancel."""
    rng = np.random.default_rng(10)
    for m, n, k in sizes(2):
        a, b = (
            rng.integers(-4095, 4096, s) * 2.0 ** rng.integers(-128, 117, s)
            for s in ((m, k), (k, n))
        )
        start = (rng.standard_normal((m, n)) * 2.0 ** rng.integers(-149, 128, (m, n))).astype("f4")
        total = start
        for step in range(k):
            total = (total + a[:, step, None] * b[None, step]).astype(np.float32)
        codes = np.where(np.isnan(total), np.uint32(0x7FC00000), total.view(np.uint32))
        found = product(machine, a.astype("f4"), b.astype("f4"), start)
        assert np.array_equal(found.view(np.uint32), codes), (m, n, k)


def test_i32_wraps(machine: Machine) -> None:
    rng = np.random.default_rng(8)
    for m, n, k in sizes(0):
        a, b = (rng.integers(-(1 << 31), 1 << 31, s, np.int32) for s in ((m, k), (k, n)))
        assert np.array_equal(product(machine, a, b), a @ b), (m, n, k)


def boxed(machine: Machine, a: Values, b: Values, start: Values) -> Values:
    """A x B on top of `start`, of few rows and with B in boxes whose columns are contiguous."""
    (m, k), n = a.shape, b.shape[1]
    panels, far = -(-n // PANEL), np.float32("nan")
    padded = np.full((k, panels * PANEL), far)
    padded[:, :n] = b
    boxes = padded.reshape(k // BOX, BOX, panels, PANEL).transpose(0, 2, 3, 1)
    right = aligned(np.pad(boxes, ((0, 0), (0, 1), (0, 0), (0, 0)), constant_values=far))
    left = aligned(np.pad(a, ((0, 0), (0, 3)), constant_values=far))
    out = aligned(np.full((panels + 1, m + 1, PANEL), far))
    put(out, start)
    places = (each.ctypes.data for each in (left, right, out))
    steps = left.shape[1], PANEL * BOX, out[0].size, right[0].size
    compiled(machine, "f32", True, m, boxed=True)(*places, n, k, *steps)
    assert np.isnan(out[:, m:]).all()
    assert np.isnan(out[panels:]).all()
    return np.hstack([*out[:, :m]])[:, :n].copy()


@pytest.mark.parametrize("style", ["ordinary", "finite", "special"])
def test_boxes_are_turned_and_sums_keep_their_order(machine: Machine, style: str) -> None:
    rng = np.random.default_rng(8)
    for m, n, k in ((1, 16, 8), (1, 300, 16), (3, 33, 24), (2, 128, 40)):
        shapes = (m, k), (k, n), (m, n)
        a, b, start = (floats(rng, shape, style) for shape in shapes)
        got = boxed(machine, a, b, start).view(np.uint32)
        assert np.array_equal(got, expected(a, b, start)), (m, n, k)

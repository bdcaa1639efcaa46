"""The fix-pipe: every mode under every reading, and worked examples."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from naming import named
from oracles.fix_pipe import A5_ONLY, FLOATS, MODES, scaled
from oracles.formats import FORMATS, Array, codes_in, codes_of
from ptokit.values.fixpipe import CPU_READING, HARDWARE_READING, FixPipe
from tiles import made, parameter, result

NPU_GOLDEN = replace(HARDWARE_READING, relu_first=False, signed_offset=False, clip_half=True)


def same(got: Array, wanted: Array, dtype: str) -> bool:
    """Equal codes, any NaN being like any other."""
    kind = FORMATS[dtype][1]
    both = np.isnan(got.view(kind).astype(np.float32)) & np.isnan(
        wanted.view(kind).astype(np.float32)
    )
    return bool(np.all(both | (got == wanted)))


# Running -----------------------------------------------------------------------------------------


def through(acc: pto.Tile, text: str, params: int | list[int], relu: bool) -> Array:
    """The codes in a new tile of this text after the accumulator went through the fix-pipe."""
    out = made(text)
    mode = "normal" if relu else "none"
    if isinstance(params, int):
        pto.textract(out, acc, quant=params, relu=mode)
    else:
        row = params + [0] * (-len(params) % 16)
        pto.textract_fp(
            out, acc, made(f"scaling u64 1x{len(row)}", np.array([row], np.uint64)), relu=mode
        )
    return result(out, text)


def quantised(
    values: Array,
    src: str,
    dst: str,
    params: int | list[int],
    *,
    relu: bool = False,
    to: str = "vec nd",
) -> Array:
    """The codes that an accumulator of these values gives, row by row."""
    rows, cols = values.shape
    wide = -(-cols // 32) * 32
    acc = made(f"acc {src} 16x{wide} nz valid {rows}x{cols}", values)
    loc, layout = to.split()
    return through(acc, f"{loc} {dst} 16x{wide} {layout} valid {rows}x{cols}", params, relu)


def one(x: float, src: str, dst: str, param: int, how: Any = "cpu", *, relu: bool = False) -> Any:
    """One value through the scalar form, as a Python number."""
    with pto.target("cpu", fixpipe=how):
        values = np.array([[x]], FORMATS[src][1])
        codes = quantised(values, src, dst, param, relu=relu)
    return codes.view(FORMATS[dst][1]).astype(np.float64)[0, 0]


@every(("kind", "dst"), [("f32", "i8"), ("f16", "i8"), ("f32", "u8")])
def test_a_float_is_the_factor_of_its_column(kind: str, dst: str) -> None:
    """C49: the word of the same factor, whose sign is that of the destination."""
    values, factors = np.linspace(-300, 300, 64).reshape(2, 32), (np.arange(32) + 1) / 16
    words = [parameter(scale, signed=dst == "i8") for scale in factors]
    acc, out = made("acc f32 16x32 nz valid 2x32", values), f"mat {dst} 16x32 nz valid 2x32"
    mine = made(out)
    pto.textract_fp(mine, acc, made(f"scaling {kind} 1x32", factors[None, :]))
    assert np.array_equal(result(mine, out), through(acc, out, words, relu=False))


SPECIAL = [
    *(0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 127.5, 1e-40, -1e-45, 65504.0, 65519.0, 65520.0, 1e6),
    *(-1e6, 3.4e38, -3.4e38, math.inf, -math.inf, math.nan, 448.0, 464.0, 465.0, 40000.0),
]
SCALES = [0.0, 1.0, -1.0, 0.5, 1.1, 0.3, 1e-3, 1e-39, 1e-45, 1e10, 3.4e38, 2.0**-126]

READINGS = [
    *(CPU_READING, HARDWARE_READING, NPU_GOLDEN),
    replace(CPU_READING, fp19="always", s9=True, relu_first=True, clip_half=False),
    replace(HARDWARE_READING, saturating_shift=False, saturate=True, s9=False),
]

# what a2a3 refuses cannot be run there
LEGAL_A2A3 = {("f32", "i8"), ("i32", "i8"), ("i32", "u8"), ("i32", "f16"), ("i32", "i16")}
CASES = [
    *(
        (target, form, pair)
        for (target, form), modes in MODES.items()
        for pair in modes
        if target != "a2a3" or pair in LEGAL_A2A3
    ),
    # pairs without a mode on the CPU, where the parameter has no effect
    *(("cpu", "vector", pair) for pair in (*FLOATS, *A5_ONLY)),
    *(("cpu", "scalar", pair) for pair in A5_ONLY),
]


@every(("target", "form", "pair"), CASES, ids=str)
def test_every_mode_is_its_formula(target: str, form: str, pair: tuple[str, str]) -> None:
    """Under every reading, with and without relu; the formulas are those of the oracle."""
    src, dst = pair
    rng = np.random.default_rng([*f"{target} {form} {pair}".encode()])
    for reading, relu in itertools.product(READINGS, (False, True)):
        values = np.concatenate((SPECIAL, rng.uniform(-600, 600, 9)))
        if src == "i32":
            values = rng.integers(-600, 600, values.size) << rng.integers(0, 22, values.size)
        values = values[None, :].astype(FORMATS[src][1])
        signs = rng.integers(0, 2, values.size)
        params = [
            parameter(
                float(rng.choice([*SCALES, rng.uniform(0, 4)])),
                int(rng.integers(0, 512)) >> int(rng.integers(0, 7)),
                signed=bool(sign),
                shift=int(rng.integers(0, 16)),
                saturate=int(rng.integers(0, 2)),
            )
            for sign in signs
        ]
        given = params[0] if form == "scalar" else params
        with pto.target(target, fixpipe=reading):
            got = quantised(values, src, dst, given, relu=relu, to="mat nz")
        words = np.array([params if form == "vector" else params[:1]], np.uint64)
        vector = form == "vector"
        wanted = scaled(values, src, dst, words, target, reading, vector=vector, relu=relu)
        assert same(got, codes_in(wanted, dst), dst), (values, params, relu, reading)


# Conversions without a parameter -----------------------------------------------------------------


def converted(values: Array, src: str, dst: str, relu: bool) -> Array:
    rows, cols = values.shape
    acc = made(f"acc {src} 16x{-(-cols // 16) * 16} nz valid {rows}x{cols}", values)
    text = f"vec {dst} {rows}x{-(-cols // 32) * 32} valid {rows}x{cols}"
    out = made(text)
    pto.textract(out, acc, relu="normal" if relu else "none")
    return result(out, text)


@pytest.mark.parametrize("relu", [False, True])
def test_a_cast_to_an_integer_truncates(relu: bool) -> None:
    values = np.array([[1.5, -1.5, 2.999, -0.5, 126.999, -127.5, math.nan, -0.0]], np.float32)
    got = converted(values, "f32", "i8", relu).view(np.int8).tolist()
    assert got == [[1, 0 if relu else -1, 2, 0, 126, 0 if relu else -127, 0, 0]]


def test_plain_relu_clears_nan_and_minus_zero() -> None:
    values = np.array([[math.nan, -0.0, -1.0, 2.0]], np.float32)
    assert converted(values, "f32", "f32", True).view(np.uint32).tolist() == [[0, 0, 0, 0x40000000]]


def test_a_plain_move_keeps_nan_payloads() -> None:
    codes = np.array([[0x7F800001, 0xFFC12345, 0x80000000]], np.uint32)
    assert np.array_equal(converted(codes.view(np.float32), "f32", "f32", False), codes)


# The worked examples -----------------------------------------------------------------------------

Example = tuple[float, str, str, int, bool, float]
ONE, OFF509, SHIFT3 = parameter(1), parameter(1, 0x1FD), parameter(0, shift=3)
INF, NAN = math.inf, math.nan
SATURATING = replace(HARDWARE_READING, saturate=True)
WRAPPING = FixPipe(saturating_shift=False)
# an accumulator, its type, that of the result, the parameter, relu; what comes out by reading
WORKED: list[tuple[float, str, str, int, bool, dict[str | FixPipe, float]]] = [
    (2.5, "f32", "i8", parameter(1), False, {"cpu": 2, "hardware": 2}),
    (3.5, "f32", "i8", parameter(1), False, {"cpu": 4, "hardware": 4}),
    (10, "f32", "i8", OFF509, False, {"cpu": 127, "hardware": 7}),
    (-300, "f32", "i8", parameter(1, 200), False, {"cpu": -100, "hardware": -56}),
    (-7, "f32", "i8", parameter(1, 5), True, {"cpu": 0, "hardware": 5, NPU_GOLDEN: 0}),
    (-3, "f32", "i8", parameter(1, 5), True, {"cpu": 2, "hardware": 5, NPU_GOLDEN: 2}),
    (-3, "f32", "u8", parameter(1, signed=False), False, {"cpu": 0, "hardware": 0}),
    # the clip follows bit 46, not the type
    (200, "f32", "i8", parameter(1, signed=False), False, {"cpu": -56}),
    (-3, "f32", "u8", parameter(1, signed=True), False, {"cpu": 253}),
    (100, "f32", "i8", parameter(1.1), False, {"cpu": 110, "hardware": 110}),
    (100000, "i32", "f16", parameter(0.5), False, {"cpu": 49984, "hardware": 49984}),
    (200000, "i32", "f16", parameter(0.5), False, {"cpu": 65504, "hardware": 65504}),
    (INF, "f32", "f16", ONE, False, {"cpu": INF, "hardware": INF, SATURATING: 65504}),
    (1e6, "f32", "f16", ONE, False, {"cpu": 65504, "hardware": INF, SATURATING: 65504}),
    (NAN, "f32", "f16", ONE, False, {"cpu": NAN, "hardware": NAN, SATURATING: 0}),
    # shifts saturate by default, as the design decides; the simulator's wrapping is an option
    (70000, "i32", "i16", parameter(0), False, {"cpu": 32767, "hardware": 32767, WRAPPING: -30536}),
    (10**6, "i32", "i16", SHIFT3, False, {"cpu": 32767, "hardware": 32767, WRAPPING: -3036}),
    (7, "i32", "i8", parameter(0.5), False, {"cpu": 4, "hardware": 4}),
]


def test_worked_examples() -> None:
    for x, src, dst, param, relu, wanted in WORKED:
        for how, answer in wanted.items():
            with named(x, src, dst, hex(param), relu, how):
                got = one(x, src, dst, param, how, relu=relu)
                assert got == answer or (math.isnan(got) and math.isnan(answer))


# Each option by itself changes an answer ---------------------------------------------------------

DIFFERENCES: list[tuple[str, Any, Example, float]] = [
    # option, its other value, (x, src, dst, parameter, relu, default answer), other answer
    ("fp19", "always", (1000, "f32", "f16", parameter(1.1), False, 1100), 1099.609375),
    ("fp19", "always", (1, "f32", "bf16", parameter(1.1), False, 1.1015625), 1.1015625),
    ("fp19", "always", (4096, "f32", "f16", parameter(1.1), False, 4506), 4504),
    ("fp19", "always", (90, "f32", "i8", parameter(1 + 2.0**-11 + 2.0**-7), False, 91), 91),
    ("signed_offset", True, (10, "f32", "i8", OFF509, False, 127), 7),
    ("s9", True, (-300, "f32", "i8", parameter(1, 200), False, -100), -56),
    ("s9", True, (2.5, "f32", "i8", parameter(1, 1), False, 4), 3),
    ("relu_first", True, (-3, "f32", "i8", parameter(1, 5), True, 2), 5),
    ("saturating_shift", False, (70000, "i32", "i16", parameter(0), False, 32767), -30536),
    ("saturate", True, (math.inf, "f32", "f16", parameter(1), False, math.inf), 65504),
    ("saturate", True, (-math.inf, "f32", "bf16", parameter(1), False, -math.inf), -3.3895314e38),
    ("clip_half", False, (1e6, "f32", "f16", parameter(1), False, 65504), math.inf),
]


@every(("option", "other", "example", "answer"), DIFFERENCES, ids=str)
def test_each_option_does_its_own_thing(
    option: str, other: Any, example: Example, answer: float
) -> None:
    x, src, dst, param, relu, default = example

    def close(got: float, wanted: float) -> bool:
        exact = float(codes_of(np.array([wanted]), dst).view(FORMATS[dst][1]).astype(np.float64)[0])
        return got == exact

    assert close(one(x, src, dst, param, CPU_READING, relu=relu), default)
    assert close(
        one(x, src, dst, param, replace(CPU_READING, **{option: other}), relu=relu), answer
    )


def test_a_scale_below_the_normal_range() -> None:
    """FP19 takes a zero exponent with a mantissa as 2^-127 (1 + m/1024), zero as zero."""
    denormal = parameter(float(np.uint32(0x00400000).view(np.float32)))  # m = 512: 1.5 * 2^-127
    big = 2.0**127
    assert one(big, "f32", "f16", denormal) == 1
    assert one(big, "f32", "f16", denormal, FixPipe(fp19="always")) == 1.5
    assert one(big, "f32", "f16", parameter(0), FixPipe(fp19="always")) == 0
    lost = parameter(float(np.uint32(0x00001FFF).view(np.float32)))  # below bit 13
    assert one(big, "f32", "f16", lost, FixPipe(fp19="always")) == 0


def test_the_saturation_bit_of_the_parameter_has_no_effect() -> None:
    """Bit 48 belongs to a control register: `saturate` is its option."""
    assert one(math.inf, "f32", "f16", parameter(1, saturate=1)) == math.inf


def test_the_relu_of_a_move_keeps_nan_and_minus_zero() -> None:
    values = np.array([[math.nan, -0.0, -1.0, 2.0, -math.inf, 1.0, 0.0, -3e-9]], np.float32)
    dst = made("vec f32 16x16 valid 1x8")
    pto.tmov(dst, made("acc f32 16x16 nz valid 1x8", values), relu="normal")
    wanted = np.array([[math.nan, -0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0]], np.float32)
    assert dst.numpy().view(np.uint32).tolist() == wanted.view(np.uint32).tolist()

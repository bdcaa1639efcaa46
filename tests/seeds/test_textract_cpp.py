"""The extract pages: C++ functions, the calls that are printed, and the Python functions."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from seed_pages import B, T, cpp_names, page_of, ramp

import ptokit as pto
from ptokit.values.enumerations import ReluPreMode
from tiles import made

STANDARD = f"%dst = textract %src[%r0, %r1] : {T} -> {T}"
FIX_PIPE = f"%dst = textract.fp %src, %fp[%r0, %r1] : {T}, {T} -> {T}"


def test_cpp_header() -> None:
    text = pto.loads(STANDARD).text("cpp")
    assert "#include <pto/pto-inst.hpp>\nusing namespace pto;\n" in text


def test_cpp_plain() -> None:
    page = page_of(STANDARD)
    assert [n for n in cpp_names(page) if n != "preQuantScalar"] == [
        "dst",
        "src",
        "indexRow",
        "indexCol",
    ]
    parameters = inspect.signature(pto.textract).parameters
    assert list(parameters)[:4] == ["dst", "src", "row", "col"]
    assert (parameters["row"].default, parameters["col"].default) == (0, 0)
    assert "TEXTRACT(dst, src, r0, r1);" in pto.loads(STANDARD).text("cpp")
    src, dst = made("vec f32 8x8", ramp(8, 8)), made("vec f32 8x8")
    pto.textract(dst, src)  # both indices default to 0
    assert np.array_equal(dst.numpy(), ramp(8, 8))


RELU = "{reluPreMode = #pto.relu_pre_mode<normal_relu>}"


def test_cpp_events() -> None:
    """Every form ends with events, all of which it waits for before anything else."""
    for function in (pto.textract, pto.textract_fp):
        events = inspect.signature(function).parameters["events"]
        assert (events.kind, events.default) == (events.KEYWORD_ONLY, ())
    src, dst = made("vec f32 8x8", ramp(8, 8)), made("vec f32 8x8")
    how: dict[str, Any] = {"events": ()}
    pto.textract(dst, src, **how)
    assert np.array_equal(dst.numpy(), ramp(8, 8))


def test_cpp_relu() -> None:
    relu = inspect.signature(pto.textract).parameters["relu"]
    assert (relu.kind, relu.default) == (relu.KEYWORD_ONLY, ReluPreMode.NO_RELU)
    text = pto.loads(STANDARD.replace(" :", f" {RELU} :")).text("cpp")
    call = "TEXTRACT<decltype(dst), decltype(src), ReluPreMode::NormalRelu>(dst, src, r0, r1);"
    assert call in text


def test_cpp_scalar() -> None:
    """The parameter, a 64-bit number, stands between the source and the indices."""
    page = page_of(STANDARD)
    assert cpp_names(page) == ["dst", "src", "preQuantScalar", "indexRow", "indexCol"]
    assert page.operand("quant").scalar == "u64"
    text = f"pto.textract ins(%src, %q, %r, %c : {B}, i64, i16, i16) outs(%dst : {B})"
    assert "TEXTRACT(dst, src, (uint64_t)q, r, c);" in pto.loads(text).text("cpp")
    assert inspect.signature(pto.textract).parameters["quant"].default is None


def test_cpp_fix_pipe() -> None:
    page = page_of(FIX_PIPE)
    assert cpp_names(page) == ["dst", "src", "fp", "indexRow", "indexCol"]
    assert list(inspect.signature(pto.textract_fp).parameters)[:5] == [
        "dst",
        "src",
        "fp",
        "row",
        "col",
    ]
    assert "TEXTRACT_FP(dst, src, fp, r0, r1);" in pto.loads(FIX_PIPE).text("cpp")
    text = pto.loads(FIX_PIPE.replace(" :", f" {RELU} :")).text("cpp")
    types = "decltype(dst), decltype(src), decltype(fp), ReluPreMode::NormalRelu"
    assert f"TEXTRACT_FP<{types}>(dst, src, fp, r0, r1);" in text

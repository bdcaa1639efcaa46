"""Epilogues: the conversions of the fix-pipe for an accumulator that the cube core pushes."""

from __future__ import annotations

import re
from typing import NamedTuple

from ptokit.values.dtypes import DType, bf16, f8e4m3, f16, f32, hif8, i8, i32, u8
from ptokit.values.layouts import DN, ND, NZ


class EpilogueMode(NamedTuple):
    """The source and result element types of a mode, and the parameters that it needs.

    `scale`: "scalar" for one for all columns, "vector" for one per column, "" for none.
    """

    taken: tuple[DType, ...]
    made: tuple[DType, ...]
    scale: str = ""


ONE, EACH = "scalar", "vector"
NO_CONVERT = "no_convert"
CONVERSIONS = {
    NO_CONVERT: EpilogueMode((f32, i32), (f32, i32)),
    **dict.fromkeys(("f32f16", "f32_f16"), EpilogueMode((f32,), (f16,))),
    **dict.fromkeys(("f32bf16", "f32_bf16"), EpilogueMode((f32,), (bf16,))),
    "deqf16_scalar": EpilogueMode((i32,), (f16,), ONE),
    "deqf16_vec": EpilogueMode((i32,), (f16,), EACH),
    "req8_scalar": EpilogueMode((i32,), (i8, u8), ONE),
    "req8_vec": EpilogueMode((i32,), (i8,), EACH),
    "qf322b8_pre_scalar": EpilogueMode((f32,), (i8, u8), ONE),
    "qf322b8_pre_vec": EpilogueMode((f32,), (i8,), EACH),
    "qf322f16_pre_scalar": EpilogueMode((f32,), (f16,), ONE),
    "qf322bf16_pre_scalar": EpilogueMode((f32,), (bf16,), ONE),
    "qs322bf16_pre_scalar": EpilogueMode((i32,), (bf16,), ONE),
    "qs322bf16_pre_vec": EpilogueMode((i32,), (bf16,), EACH),
    "qf322hif8_pre_scalar": EpilogueMode((f32,), (hif8,), ONE),
    "qf322fp8_pre_scalar": EpilogueMode((f32,), (f8e4m3,), ONE),
}
LAYOUTS = {"nz2nd": ND, "nz2dn": DN, "nz2nz": NZ}  # of the popped tile
A5_MODES = (
    *("qs322bf16_pre_scalar", "qs322bf16_pre_vec"),
    *("qf322hif8_pre_scalar", "qf322fp8_pre_scalar"),
)


def clause_value(epilogue: str, key: str) -> str | None:
    """Return the value of a key in the text of an epilogue: `quant = no_convert`."""
    found = re.search(rf"\b{key}\s*=\s*(\w+)", epilogue)
    return found[1] if found else None


def mode_in_cpp(quant: str) -> str | None:
    """Return the mode with this C++ name, or None: VREQ8 is `req8_vec`."""
    if quant == "NoQuant":
        return NO_CONVERT
    plain = quant.lower()
    each = plain.replace("f322", "f32"), f"{plain}_scalar", f"{plain.removeprefix('v')}_vec"
    return next((mode for mode in each if mode in CONVERSIONS), None)

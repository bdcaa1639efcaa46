"""The precision attributes: one enumeration per function with a fast and a precise algorithm.

Text spells them `precisionType = #pto<div_precision high_precision>`, C++ as the first template
argument, `TDIV<DivAlgorithm::HIGH_PRECISION>`.
"""

from __future__ import annotations

from enum import EnumMeta
from typing import cast

from ptokit.values.enumerations import Word


def _precision(name: str) -> type[Word]:
    """Return the enumeration of one function: DEFAULT and HIGH."""
    members = {
        "DEFAULT": ("default", "DEFAULT"),
        "HIGH": ("high_precision", "HIGH_PRECISION", "high"),
    }
    made = EnumMeta.__call__(Word, f"{name}Precision", members, module=__name__)
    kind = globals()[f"{name}Precision"] = cast("type[Word]", made)  # pickles look it up by name
    kind.__doc__ = "Whether a slower, more precise algorithm computes the function."
    kind.mlir, kind.cpp_type, kind.bare = f"{name.lower()}_precision", f"{name}Algorithm", True
    return kind


EXP, LOG, DIV, POW, SQRT = map(_precision, ("Exp", "Log", "Div", "Pow", "Sqrt"))
RSQRT, RECIP, REM, FMOD = map(_precision, ("Rsqrt", "Recip", "Rem", "Fmod"))

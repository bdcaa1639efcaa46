"""Names that older texts of logical vectors have, and those between a compiler's passes."""

import re

from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.lanes.logicalaccesses import logical
from ptokit.isa.pages.lanes.logicalvectors import VectorConversion
from ptokit.isa.pages.lanes.masks import Pattern

REAL, SIGN, WHOLE, PLAIN = "a float", "an integer with a sign", "an integer", "one without a sign"
KINDS = {
    REAL: (f32, f16, bf16, f8e4m3, f8e5m2, hif8),
    SIGN: (i8, i16, i32),
    WHOLE: (i8, i16, i32, u8, u16, u32),
    PLAIN: (u8, u16, u32),
}
# a name that says what it converts: the elements of its source and of its result
CONVERSIONS = {
    "extf": (REAL, REAL),
    "truncf": (REAL, REAL),
    "extsi": (SIGN, SIGN),
    "extui": (PLAIN, WHOLE),
    "trunci": (WHOLE, WHOLE),
    "fptosi": (REAL, SIGN),
    "fptoui": (REAL, PLAIN),
    "sitofp": (SIGN, REAL),
}


def converting(name: str, source: str, result: str) -> None:
    """Add the page of a conversion whose name says from what to what."""
    page_of(
        VectorConversion,
        f"VectorConversion{name.title()}",
        {},
        name=f"vmi.{name}",
        rules=(
            VectorConversion.rules,
            of(VectorConversion.src, *KINDS[source]),
            of(VectorConversion.dst, *KINDS[result]),
        ),
        example=logical(
            f"%w = pto.vmi.vcvt %x : V -> {SAMPLES[source]}",
            f"%y = NAME %w : {SAMPLES[source]} -> {SAMPLES[result]}",
        ),
    )


SAMPLES = {
    kind: f"!pto.vmi.vreg<64x{element}>"
    for kind, element in ((REAL, "f16"), (SIGN, "si16"), (WHOLE, "si16"), (PLAIN, "ui16"))
}
for word, (one, other) in CONVERSIONS.items():
    converting(word, one, other)


class LogicalPattern(Below, name="vmi.pset", disputes=("V4",)):
    """A mask of a pattern, as `pset_b8` gives one for registers."""

    mask = Out(Vector)
    pattern = Attr(str, quoted=True)
    rules = Pattern.rules
    example = logical('%k = NAME "PAT_ALL" : M')
    run = staticmethod(Pattern.run)


class ConstantMask(Below, name="vmi.constant_mask"):
    """A mask of constant bits: `dense<true>`, or one for each lane, `dense<[true, false]>`."""

    mask = Out(Vector)
    value = Attr(str)
    example = logical("%k = NAME {value = dense<true> : tensor<64xi1>} : M")

    def run(mask, value):
        bits = [word == "true" for word in re.findall("true|false", value)]
        bits = bits * mask.cols if len(bits) == 1 else bits
        mask[:1, : mask.cols] = mask.constant(0)
        begun = 0
        for lane in range(1, mask.cols + 1):
            if lane == mask.cols or bits[lane] != bits[begun]:
                if bits[begun]:
                    mask[:1, begun:lane] = mask.constant(1)
                begun = lane

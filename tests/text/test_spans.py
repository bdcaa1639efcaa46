"""Every operand and every attribute of an op knows where it stands in the text."""

from __future__ import annotations

import pytest
from corpus import corpus

from ptokit.api.kernel.loading import loads
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Op
from ptokit.text.read.reader import read


def test_every_operand_and_attribute_has_a_place() -> None:
    for text in corpus():
        for func in read(text).funcs:
            for op in func.body.walk():
                if isinstance(op, Op):
                    assert {*op.operands, *op.attrs} <= op.spans.keys(), f"{op}\n{text}"


def below(text: str) -> str:
    """The text below the carets of the only diagnostic."""
    try:
        (found,) = [d for d in loads(text).check("a5") if d.is_error]
    except PtoError as problem:
        (found,) = problem.diagnostics
    assert found.span is not None
    return text[found.span.start : found.span.end]


TILE = "!pto.tile_buf<vec, 16x16xf32>"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("set_flag[<PIPE_V>, <PIPE_V>, <EVENT_ID0>]", "<PIPE_V>"),
        ("pto.barrier <PIPE_Q>", "<PIPE_Q>"),
        ("pto.barrier <PIPE_V>", "<PIPE_V>"),
        (f"%d = pto.tmov %x {{reluPreMod = [1, 2]}} : {TILE} -> {TILE}", "reluPreMod"),
        (
            f"%d = pto.tmov %x {{accToVecMode = dual_mode_split_m}} : {TILE} -> {TILE}",
            "accToVecMode = dual_mode_split_m",
        ),
        (f"%d = pto.tmov %x {{reluPreMode = <no>}} : {TILE} -> {TILE}", "<no>"),
        ("%a = arith.cmpi slt, %b, %c : !pto.ptr<f32>", "%b"),
    ],
)
def test_carets_point_at_what_is_wrong(text: str, place: str) -> None:
    assert below(text) == place

"""The generated headers: every call of a page is in them, with the numbers that are public."""

from __future__ import annotations

import re
from typing import Any

import pytest

import ptokit as pto
from every import every
from ptokit.api.cxx import callwords
from ptokit.api.cxx.callbinding import bind
from ptokit.api.cxx.callforms import forms
from ptokit.api.cxx.calloperands import PlacedTile, Types
from ptokit.api.cxx.headers import (
    GENERATED,
    INCLUDE,
    builtins,
    enumerations,
    generated_headers,
    names,
    operations,
)
from ptokit.ir.module import Op
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.model.targets import MACHINES, TARGETS, Target
from ptokit.isa.model.words import Pipe
from ptokit.values.dtypes import DTYPES
from ptokit.values.enumerations import LEFT, Loc

# Numbers of the public interface, which kernels also write as numbers.
PUBLIC = {
    "TileType": {"Vec": 0, "Mat": 1, "Acc": 4, "ScaleRight": 8, "Ctrl": 9},
    "Layout": {"ND": 0, "DN": 1, "NZ": 2, "MX_A_ND": 4, "MX_A_ZZ": 6, "MX_B_NN": 9, "NC1HWC0": 12},
    "AccPhase": {"Unspecified": 0, "Unknown": 0, "Partial": 2, "Final": 3},
    "STPhase": {"Unspecified": 0, "Partial": 2, "Final": 3},
    "QuantType": {"MXFP8": 0, "MXFP4_E2M1": 1, "INT8_SYM": 2, "INT8_ASYM": 3},
    "Coalesce": {"Row": 0, "Elem": 1},
    "ScatterConflict": {"Last": 0, "Default": 1},
    "GatherOOB": {"Undefined": 0, "Clamp": 1, "Wrap": 2, "Zero": 3},
    "MaskPattern": {"P0101": 1, "P1111": 7},
    "RoundMode": {"CAST_NONE": 0, "CAST_ODD": 6},
    "PadValue": {"Null": 0, "Min": 3, "CustomBase": 1 << 32},
    "event_t": {"EVENT_ID7": 7},
    "pipe_t": {"PIPE_S": 0, "PIPE_V": 1, "PIPE_ALL": 7},
}
# The pipes of operations that events name.
OPERATIONS = {
    **{"TLOAD": Pipe.MTE2, "TSTORE_VEC": Pipe.MTE3, "TSTORE_ACC": Pipe.FIX, "SCALAR": Pipe.S},
    **{"TMOV_M2L": Pipe.MTE1, "TMOV_A2V": Pipe.FIX, "TMATMUL": Pipe.M, "VECTOR": Pipe.V},
    **{"TEXTRACT_M2LR": Pipe.MTE1, "TINSERT_A2M": Pipe.FIX, "TFILLPAD_MAT": Pipe.MTE2},
}


def test_each_page_is_callable_from_cpp() -> None:
    declared = "\n".join(p.read_text("utf-8") for p in GENERATED.glob("*.hpp"))
    for page in pages():
        if page.asm.dialect == "pto" and page.on_tiles and page.asm.cpp_text is None:
            generated = f"PTOKIT_INTRINSIC({page.cpp}, {page.cpp})" in declared
            assert generated is (page.cpp in names()), page
            assert generated or f"PTOKIT_BY_HAND({page.cpp})" in declared, page


def test_numbers_are_of_one_name_each_and_no_special_call() -> None:
    assert [*names().values()] == [
        *range(callwords.FIRST_INTRINSIC, callwords.FIRST_INTRINSIC + len(names()))
    ]
    assert max(callwords.SpecialCall) < callwords.FIRST_INTRINSIC
    assert {*callwords.LENGTHS} == {*callwords.Tag}
    assert not {*names()} & {*builtins()}


@every("name", PUBLIC)
def test_enumerations_have_the_public_numbers(name: str) -> None:
    assert PUBLIC[name].items() <= enumerations()[name].items()


def test_operations_of_events_have_pipes() -> None:
    assert OPERATIONS.items() <= operations().items()


@every("target", TARGETS.values(), ids=str)
def test_aliases_have_the_layouts_of_the_target(target: Target) -> None:
    """The alias of a left tile is the only one that targets differ in."""
    text = generated_headers()[GENERATED / "aliases.hpp"]
    _, _, part = text.partition(f"PTOKIT_TARGET_{target.name.upper()})")
    layout = target.alias(LEFT)[0]
    (found,) = re.findall(r"using TileLeft = (.*);", part)[:1]
    assert f"BLayout::{layout.blayout.cpp}" in found
    assert f"SLayout::{layout.slayout.cpp}" in found
    assert f"TileType::{Loc.LEFT.cpp}" in found


def test_headers_are_our_own_words() -> None:
    """Each says in its first line what is in it; none that a kernel includes is missing."""
    for path in GENERATED.glob("*.hpp"):
        assert path.read_text("utf-8").startswith("// ")
    for name in ("pto-inst.hpp", "common/constants.hpp", "common/pto_tile.hpp", "common/fifo.hpp"):
        assert (INCLUDE / "pto" / name).is_file()


def test_attributes_follow_the_template() -> None:
    form = next(f for f in forms()["TQUANT"] if f.page.__name__ == "TQuantMx")
    assert [a.name for a in form.attrs][:2] == ["axis", "interleave"]  # TQUANT<0, alg, true>


def test_lines_of_four_bit_integers_have_a_byte_for_each_on_chips() -> None:
    number = [d.name for d in DTYPES].index("i4")
    types = Types(TARGETS["a2a3"])
    tile = types.tile(types.add_tile((0, number, 2, 128, 0, 0, 512, 0, 0, 2, 128)), 2, 128)
    assert (tile.nbytes, tuple(tile.valid)) == (256, (2, 128))


@pytest.mark.parametrize("name", ["TMATMUL_MX", "TGEMV_MX"])
def test_a_form_is_chosen_by_the_types_of_its_operands(name: str) -> None:
    """Products of scaled numbers have one name, whether the scales are f8e8m0 or groups of four."""
    for form in forms()[name]:
        module = pto.loads(example_program(form.page)).module
        ops = (op for func in module.funcs for op in func.walk() if isinstance(op, Op))
        op = next(op for op in ops if op.page is form.page)
        types: dict[str, Any] = {n: v.type for n, v in (*op.values(), *op.named_results())}
        given = [PlacedTile(types[o.name], 0) for o in form.operands if o.name in types]
        assert bind(name, given, MACHINES["cpu"]).page is form.page

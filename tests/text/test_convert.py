"""Conversion between the forms: the same computation, readable names, clear refusals."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from machine import Toy

from every import every
from fuzz.scale import scaled
from ptokit.api.kernel.loading import loads
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.forms.dps import func_to_dps, to_dps
from ptokit.ir.module import Func, Module
from ptokit.ir.same import same
from ptokit.passes.ssa import func_to_ssa, to_ssa
from ptokit.text.read.reader import read
from ptokit.text.write.printer import print_module

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
T, P = "!pto.tile_buf<vec, 16x16xf16>", "!pto.partition_tensor_view<16x16xf16>"
HEAD = f"!t = {T}\nfunc.func @f(%g: {P}, %b: i1, %n: index) {{\n"


@st.composite
def values(draw: st.DrawFn) -> str:
    """An SSA function: values computed, stored, and passed on by loops and branches at will."""
    lines: list[str] = []
    count = [0]

    def name() -> str:
        count[0] += 1
        return f"%v{count[0]}"

    def pick(pool: list[str]) -> str:
        return draw(st.sampled_from(pool[-2:] if draw(st.integers(0, 3)) else pool))

    def region(pool: list[str], depth: int, results: int) -> None:
        block(pool, depth + 1)
        passed = ", ".join(pick(pool) for _ in range(results))
        lines.append(f"scf.yield {passed} : {', '.join(['!t'] * results)}")

    def block(pool: list[str], depth: int) -> None:
        for _ in range(draw(st.integers(1, 4))):
            kind = draw(st.integers(0, 7))
            count_of = draw(st.integers(1, 2))
            types = f"({', '.join(['!t'] * count_of)})"
            names = [name() for _ in range(count_of)]
            if kind == 0 and depth < 3:
                args = [name() for _ in range(count_of)]
                inits = ", ".join(f"{a} = {pick(pool)}" for a in args)
                head = f"{', '.join(names)} = scf.for {name()} = %n to %n step %n"
                lines.append(f"{head} iter_args({inits}) -> {types} {{")
                region([*pool, *args], depth, count_of)
                lines.append("}")
                pool += names
            elif kind == 1 and depth < 3:
                lines.append(f"{', '.join(names)} = scf.if %b -> {types} {{")
                region([*pool], depth, count_of)
                lines.append("} else {")
                region([*pool], depth, count_of)
                lines.append("}")
                pool += names
            elif kind == 2:
                lines.append(f"pto.tstore {pick(pool)}, %g : (!t, {P}) -> ()")
            elif kind == 3:
                lines.append(f"{names[0]} = pto.tload %g : ({P}) -> !t")
                pool.append(names[0])
            elif kind == 4:
                lines.append(f"{names[0]} = pto.tinsert {pick(pool)}, {pool[-1]} : (!t, !t) -> !t")
                pool.append(names[0])
            else:
                lines.append(f"{names[0]} = pto.tmov {pick(pool)} : (!t) -> !t")
                pool.append(names[0])

    lines.append(f"%v0 = pto.tload %g : ({P}) -> !t")
    pool = ["%v0"]
    block(pool, 0)
    lines.append(f"pto.tstore {pick(pool)}, %g : (!t, {P}) -> ()")
    return HEAD + "\n".join(lines) + "\nreturn\n}\n"


@given(values(), st.lists(st.integers(0, 11), min_size=1, max_size=8))
@settings(max_examples=scaled(37), suppress_health_check=SLOW)
def test_values_share_a_tile_only_where_that_changes_nothing(
    text: str, decisions: list[int]
) -> None:
    module = read(text)
    dps = attempt(module)
    if dps is None:
        return
    expected = run(module.funcs[0], decisions)
    printed = print_module(dps, "dps")
    assert run(dps.funcs[0], decisions) == expected, printed
    assert same(read(printed), dps)


def attempt(module: Module) -> Module | None:
    """The module in destination-passing form, None where it is refused."""
    try:
        return to_dps(module)
    except PtoError as problem:
        slugs = [found.slug for found in problem.diagnostics]
    assert slugs == ["conversion"]
    return None


def run(func: Func, decisions: list[int]) -> list[object]:
    return Toy(cycle(decisions)).run(func)


def converted(body: str, form: str = "ssa") -> str:
    """The lines of the converted function."""
    module = read(f"!t = {T}\nfunc.func @f(%g: {P}, %b: i1, %n: index) {{\n{body}\n  return\n}}\n")
    text = print_module(to_ssa(module) if form == "ssa" else to_dps(module), form)
    return "\n".join(line.strip() for line in text.splitlines()[2:-2])


def refusal(body: str, form: str = "ssa", head: str = "") -> str:
    with pytest.raises(PtoError) as caught:
        converted(head + body, form)
    (found,) = caught.value.diagnostics
    assert found.slug == "conversion"
    assert found.span is not None
    return found.message


LOAD = f"pto.tload ins(%g : {P}) outs(%t : !t)"
STORE = f"pto.tstore ins(%t : !t) outs(%g : {P})"


def test_straight_line() -> None:
    move = "pto.tmov ins(%t : !t) outs(%t : !t)"
    body = f"// the tile\n%t = pto.alloc_tile : !t\n{LOAD}\n{move}\n{STORE}"
    assert converted(body) == (
        f"// the tile\n%t = pto.tload %g : ({P}) -> !t\n%t_1 = pto.tmov %t : (!t) -> !t\n"
        f"pto.tstore %t_1, %g : (!t, {P}) -> ()"
    )


def test_accumulation_is_carried() -> None:
    step = "pto.tmatmul.acc ins(%t, %t, %t : !t, !t, !t) outs(%t : !t)"
    body = (
        f"%t = pto.alloc_tile : !t\n{LOAD}\nscf.for %i = %n to %n step %n {{\n{step}\n}}\n{STORE}"
    )
    assert converted(body) == (
        f"%t = pto.tload %g : ({P}) -> !t\n"
        "%t_3 = scf.for %i = %n to %n step %n iter_args(%t_1 = %t) -> (!t) {\n"
        "%t_2 = pto.tmatmul.acc %t_1, %t_1, %t_1 : (!t, !t, !t) -> !t\n"
        "scf.yield %t_2 : !t\n}\n"
        f"pto.tstore %t_3, %g : (!t, {P}) -> ()"
    )


def test_what_each_iteration_overwrites_is_not_carried() -> None:
    body = f"%t = pto.alloc_tile : !t\nscf.for %i = %n to %n step %n {{\n{LOAD}\n{STORE}\n}}"
    assert "iter_args" not in converted(body)


def test_a_branch_gives_what_is_needed_after_it() -> None:
    body = f"%t = pto.alloc_tile : !t\n{LOAD}\nscf.if %b {{\n{LOAD}\n}}\n{STORE}"
    assert converted(body) == (
        f"%t = pto.tload %g : ({P}) -> !t\n"
        "%t_2 = scf.if %b -> (!t) {\n"
        f"%t_1 = pto.tload %g : ({P}) -> !t\n"
        "scf.yield %t_1 : !t\n} else {\nscf.yield %t : !t\n}\n"
        f"pto.tstore %t_2, %g : (!t, {P}) -> ()"
    )


def test_the_page_example_in_both_directions() -> None:
    buffer = "!pto.tile_buf<...>"
    dps = f"pto.textract ins(%s, %r, %c : {buffer}, index, index) outs(%d : {buffer})\n"
    ssa = "%d = pto.textract %s, %r, %c : (!pto.tile<...>, index, index) -> !pto.tile<...>\n"
    assert print_module(to_ssa(read(dps)), "ssa") == ssa
    assert print_module(to_dps(read(ssa)), "dps") == f"%d = pto.alloc_tile : {buffer}\n{dps}"


def test_dynamic_tiles_keep_their_extents() -> None:
    kind = "!pto.tile_buf<vec, 16x16xf16, valid=?x16>"
    body = (
        f"%t = pto.alloc_tile valid_row = %n : {kind}\n"
        f"pto.tload ins(%g : {P}) outs(%t : {kind})\npto.tstore ins(%t : {kind}) outs(%g : {P})"
    )
    module = read(f"func.func @f(%g: {P}, %n: index) {{\n{body}\n  return\n}}\n")
    ssa = to_ssa(module)
    printed = print_module(ssa, "ssa")
    assert "%t_1 = pto.tload ins(%g : " in printed
    assert same(to_dps(read(printed)), module)


def test_converting_twice_changes_nothing() -> None:
    func = read(f"{HEAD}%t = pto.alloc_tile : !t\n{LOAD}\n{STORE}\nreturn\n}}").funcs[0]
    ssa = func_to_ssa(func)
    assert func_to_ssa(ssa) is ssa
    assert func_to_dps(func) is func


@every(
    ("body", "message"),
    [
        (
            f"%a = arith.constant 0 : i64\n%t = pto.alloc_tile addr = %a : !t\n{LOAD}",
            "%t has an address: memory, not a value",
        ),
        (
            "%a = arith.constant 0 : i64\n%s = pto.alloc_tile : !t\n"
            f"%t = pto.tassign %s, %a : !t -> !t\n{LOAD}",
            "%t is written, but it is a handle on other memory, not a value",
        ),
        (
            f"%a = arith.constant 0 : i64\n%t = pto.alloc_tile : !t\n{LOAD}\n"
            f"%s = pto.tassign %t, %a : !t -> !t",
            "pto.tassign refers to bytes of %t that are written",
        ),
        (
            f"%t = pto.alloc_tile : !t\n{LOAD}\nfoo.bar %t",
            "foo.bar refers to bytes of %t that are written",
        ),
        (
            f"%t = pto.alloc_tile : !t\nfoo.bar {{\n  {LOAD}\n}}",
            "%t is written inside foo.bar, an unknown operation",
        ),
        (
            f"%t = pto.alloc_tile : !t\n%v = pto.alloc_tile : !t\n{LOAD}\n"
            f"pto.subview ins(%t : !t) outs(%v : !t)\n{LOAD}\n"
            f"pto.tstore ins(%v : !t) outs(%g : {P})",
            "writing %t changes %v, which is a view of its bytes",
        ),
    ],
)
def test_no_ssa_form(body: str, message: str) -> None:
    assert refusal(body) == message


def test_an_argument_is_not_a_value() -> None:
    with pytest.raises(PtoError) as caught:
        to_ssa(read(f"!t = {T}\nfunc.func @f(%g: {P}, %t: !t) {{\n{LOAD}\nreturn\n}}"))
    assert (
        caught.value.diagnostics[0].message == "%t is written, but it is an argument, not a value"
    )


SWAP = (
    f"%a = pto.tload %g : ({P}) -> !t\n%b1 = pto.tload %g : ({P}) -> !t\n"
    "%x, %y = scf.for %i = %n to %n step %n iter_args(%p = %a, %q = %b1) -> (!t, !t) {\n"
    "scf.yield %q, %p : !t, !t\n}\n"
)
OLD = (
    f"%a = pto.tload %g : ({P}) -> !t\n"
    "%x = scf.for %i = %n to %n step %n iter_args(%p = %a) -> (!t) {\n"
    f"%m = pto.tload %g : ({P}) -> !t\n"
    f"pto.tstore %p, %g : (!t, {P}) -> ()\nscf.yield %m : !t\n}}\n"
)


@every(
    ("body", "message"),
    [
        (SWAP, "%b1 and %a need one tile, but its old content is still needed"),
        (OLD, "%m and %p need one tile, but its old content is still needed"),
        (
            f"%a = pto.tload %g : ({P}) -> !pto.tile_buf<vec, 16x16xf16, valid=?x16>",
            "%a: unknown dynamic valid region",
        ),
    ],
)
def test_no_shared_tile(body: str, message: str) -> None:
    assert refusal(body, "dps") == message


def test_new_tiles_stand_before_the_first_write() -> None:
    body = (
        "%x = scf.if %b -> (!t) {\n"
        f"%a = pto.tload %g : ({P}) -> !t\nscf.yield %a : !t\n}} else {{\n"
        f"// other\n%c = pto.tload %g : ({P}) -> !t\nscf.yield %c : !t\n}}\n"
        f"pto.tstore %x, %g : (!t, {P}) -> ()"
    )
    assert converted(body, "dps") == (
        "%a = pto.alloc_tile : !t\nscf.if %b {\n"
        f"pto.tload ins(%g : {P}) outs(%a : !t)\n}} else {{\n"
        f"// other\npto.tload ins(%g : {P}) outs(%a : !t)\n}}\n"
        f"pto.tstore ins(%a : !t) outs(%g : {P})"
    )


def test_modules_keep_everything_else() -> None:
    module = read(f"!t = {T}\nmodule attributes {{x = 1}} {{\n  func.func private @g()\n}}\n")
    assert isinstance(to_ssa(module), Module)
    assert same(to_dps(to_ssa(module)), module)


def test_a_dynamic_view_comes_back_from_ssa() -> None:
    kind = "!pto.tile_buf<vec, 16x16xf16, valid=?x16>"
    text = (
        f"func.func @f(%g: {P}, %s: {T}, %n: index) {{\n"
        f"%t = pto.alloc_tile valid_row = %n : {kind}\n"
        f"pto.subview ins(%s : {T}) outs(%t : {kind})\n"
        f"pto.tstore ins(%t : {kind}) outs(%g : {P})\nreturn\n}}\n"
    )
    module = read(text)
    assert same(to_dps(read(print_module(to_ssa(module), "ssa"))), module)


def test_writing_a_view_of_an_argument_is_no_value() -> None:
    text = (
        f"func.func @f(%g: {P}, %s: {T}) {{\n%t = pto.alloc_tile : {T}\n"
        f"pto.subview ins(%s : {T}) outs(%t : {T})\npto.tload ins(%g : {P}) outs(%t : {T})\n"
        "return\n}\n"
    )
    with pytest.raises(PtoError, match="writing %t changes %s, which is a view of its bytes"):
        to_ssa(read(text))


def test_outputs_of_which_one_is_dynamic_are_all_named() -> None:
    kind = "!pto.tile_buf<vec, 16x16xf16, valid=?x16>"
    text = (
        f"func.func @f(%s: {T}, %n: index) {{\n%t = pto.alloc_tile valid_row = %n : {kind}\n"
        f"%u = pto.alloc_tile : {T}\n"
        f"pto.tconcat ins(%s, %s, %s, %s : {T}, {T}, {T}, {T}) outs(%t, %u : {kind}, {T})\n"
        "return\n}\n"
    )
    module = read(text)
    assert same(to_dps(read(print_module(to_ssa(module), "ssa"))), module)


KEPT = """
!t = !pto.tile_buf<vec, 8x32xf32>
!v = !pto.tensor_view<?x?xf32>
func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %o: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %va = pto.make_tensor_view %a, shape = [%c8, %c32], strides = [%c32, %c1] : !v
  %vb = pto.make_tensor_view %b, shape = [%c8, %c32], strides = [%c32, %c1] : !v
  %vo = pto.make_tensor_view %o, shape = [%c8, %c32], strides = [%c32, %c1] : !v
  %s = pto.alloc_tile : !t
  %t = pto.alloc_tile : !t
  pto.tload ins(%va : !v) outs(%s : !t)
  pto.tload ins(%vb : !v) outs(%t : !t)
  pto.tgather ins(%s : !t) outs(%t : !t) {maskPattern = #pto.mask_pattern<P0101>}
  pto.tstore ins(%t : !t) outs(%vo : !v)
  return
}
"""
SWAPPED = """
!t = !pto.tile_buf<vec, 8x32xf32>
!v = !pto.tensor_view<?x?xf32>
func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %o: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %va = pto.make_tensor_view %a, shape = [%c8, %c32], strides = [%c32, %c1] : !v
  %vb = pto.make_tensor_view %b, shape = [%c8, %c32], strides = [%c32, %c1] : !v
  %vo = pto.make_tensor_view %o, shape = [%c8, %c32], strides = [%c32, %c1] : !v
  %s = pto.alloc_tile : !t
  %t = pto.alloc_tile : !t
  pto.tload ins(%va : !v) outs(%s : !t)
  pto.tload ins(%vb : !v) outs(%t : !t)
  %x, %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %s, %q = %t) -> (!t, !t) {
    pto.tadd ins(%p, %q : !t, !t) outs(%p : !t)
    scf.yield %q, %p : !t, !t
  }
  pto.tstore ins(%x : !t) outs(%vo : !v)
  return
}
"""


def arrays() -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
    a = np.arange(256, dtype=np.float32).reshape(8, 32)
    return {"a": a, "b": -a - 1, "o": np.zeros_like(a)}


def test_what_a_partial_write_leaves_is_still_there_in_ssa_form() -> None:
    given = arrays()
    expected = given["b"].reshape(-1).copy()
    expected[:128] = given["a"][:, ::2].reshape(-1)
    text = loads(KEPT).text("ssa")
    assert "outs(%t :" in text
    for form in (KEPT, text, loads(text).text("dps")):
        assert (loads(form).execute(given).outputs["o"].reshape(-1) == expected).all()


def test_tiles_written_and_swapped_round_a_loop_are_handles(engine: str) -> None:
    given = arrays()
    p, q = given["a"].copy(), given["b"].copy()
    for _ in range(3):
        p, q = q, p + q
    program = loads(SWAPPED)
    assert program.check() == []
    assert (program.execute(given, engine=engine).outputs["o"] == p).all()
    assert program.text("dps").count("iter_args") == 1
    with pytest.raises(PtoError):
        program.text("ssa")

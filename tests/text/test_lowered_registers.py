"""Registers, modes and scopes of the level below tiles: read, printed, judged, and not run."""

from __future__ import annotations

import numpy as np
import pytest
from readback import reads_back

import ptokit as pto
from every import every

MODES = ("ub.set_mask_count", "ub.set_mask_norm")
NUMBERS = ("set_mte2_nz_para", "set_quant_pre", "set_fpc", "set_ctrl", "set_loop_size_outtol1")
PAIRS = ("set_loop3_para", "set_channel_para", "ub.set_mask")
LOOPS = ("set_loop_size_outtoub", "set_loop_size_ubtoout")
STEPS = tuple(f"set_loop{n}_stride_{way}" for n in (1, 2) for way in ("outtoub", "ubtoout"))
LINES = [
    *(f"pto.{name}" for name in MODES),
    *(f"pto.{name} %n : i64" for name in NUMBERS),
    *(f"pto.{name} %n, %m : i64, i64" for name in PAIRS),
    "%c = pto.get_ctrl : i64",
]


def function(line: str) -> str:
    return f"func.func @f(%n: i64, %m: i64, %x: f32) {{\n  {line}\n  return\n}}\n"


@every("line", LINES)
def test_text_stays_and_does_not_run(line: str) -> None:
    program = pto.loads(function(line))
    assert program.text("dps") == function(line)
    assert reads_back(function(line))
    assert not any(d.is_error for d in program.check("a5"))
    with pytest.raises(pto.PtoError, match=r"not-executed(.|\n)*below the level of tiles"):
        program.run(n=1, m=1, x=1.5, target="a5")


@every("name", (*LOOPS, *STEPS))
def test_loops_of_transfers_run(name: str, engine: str) -> None:
    """Writing the registers has no effect but on transfers."""
    text = function(f"pto.{name} %n, %m : i64, i64\n  pto.set_mov_pad_val %x : f32")
    program = pto.loads(text)
    assert program.text("dps") == text
    program.run(n=2, m=1, x=1.5, target="a5", engine=engine)


def test_a_scope_of_vectors_runs_once(engine: str) -> None:
    text = """\
func.func @f(%p: !pto.ptr<i32>) {
  %c0 = arith.constant 0 : index
  %seven = arith.constant 7 : i32
  pto.vecscope {
    pto.store_scalar %seven, %p[%c0] : !pto.ptr<i32>, i32
  }
  return
}
"""
    found = pto.loads(text).run(p=np.zeros(2, np.int32), target="a5", engine=engine)
    assert found["p"].tolist() == [7, 0]


@every(
    ("name", "widths"),
    [
        ("set_loop_size_outtoub", (21, 22)),
        ("set_loop_size_ubtoout", (21, 22)),
        ("set_loop1_stride_outtoub", (40, 21)),
        ("set_loop2_stride_ubtoout", (21, 40)),
    ],
)
def test_numbers_fit_their_fields(name: str, widths: tuple[int, int]) -> None:
    def wrong(first: int, second: int) -> list[str]:
        numbers = f"%a = arith.constant {first} : i64\n  %b = arith.constant {second} : i64"
        text = function(f"{numbers}\n  pto.{name} %a, %b : i64, i64")
        return [d.slug for d in pto.loads(text).check("a5")]

    low, high = ((1 << width) - 1 for width in widths)
    assert wrong(low, high) == wrong(0, 0) == []
    assert wrong(low + 1, high) == wrong(low, high + 1) == wrong(-1, 0) == ["operand-value"]


@pytest.mark.filterwarnings("ignore::ptokit.text.write.cpplacking.CppWarning")
def test_cpp_packs_the_fields() -> None:
    text = function("pto.set_loop1_stride_outtoub %n, %m : i64, i64\n  pto.set_ctrl %n : i64")
    found = pto.loads(text).text("cpp")
    assert "  set_loop1_stride_outtoub(m << 40 | n);\n#endif\n  set_ctrl(n);\n" in found


def test_other_names_of_that_level_are_not_judged() -> None:
    (found,) = pto.loads(function("pto.set_cross_core %n, %m : i64, i64")).check("a5")
    assert (found.slug, found.is_error) == ("foreign-op", False)


def test_elements_past_the_cache(engine: str) -> None:
    ptr = "!pto.ptr<i32>"
    text = f"""\
func.func @f(%g: {ptr}, %i: index) {{
  %n = pto.ld_dev %g[%i] : {ptr} -> i32
  %c0 = arith.constant 0 : index
  pto.st_dev %n, %g[%c0] : {ptr}, i32
  return
}}
"""
    program = pto.loads(text)
    assert program.text("dps") == text
    found = program.run(g=np.arange(5, dtype=np.int32), i=3, engine=engine, target="a5")
    assert found["g"].tolist() == [3, 1, 2, 3, 4]
    floats = pto.loads(text.replace("i32", "f32")).check("a5")
    assert {d.slug for d in floats} == {"element-type"}
    assert any(d.is_error for d in program.check("a2a3"))


STRICT = """\
func.func @f(%p: !pto.ptr<i32>) {
  %k = arith.constant 3 : i32
  %n = arith.constant 2 : i32
  %c0 = arith.constant 0 : index
  pto.strict_vecscope(%p, %k, %c0) {
  ^bb0(%q: !pto.ptr<i32>, %n: i32, %i: index):
    %k = arith.addi %n, %n : i32
    pto.store_scalar %k, %q[%i] {volatile} : !pto.ptr<i32>, i32
  } : (!pto.ptr<i32>, i32, index) -> ()
  pto.pipe_barrier "PIPE_MTE2"
  pto.store_scalar %n, %p[%n] : !pto.ptr<i32>, i32
  return
}
"""


def test_a_strict_scope_sees_its_arguments_alone(engine: str) -> None:
    """Names of its own may be those around it, which it does not see."""
    text = STRICT.replace("%p[%n]", "%p[%one]").replace(
        "%c0 =", "%one = arith.constant 1 : index\n  %c0 ="
    )
    program = pto.loads(text)
    assert program.text("dps") == pto.loads(program.text("dps")).text("dps")
    assert reads_back(program.text("dps"))
    found = program.run(p=np.zeros(2, np.int32), target="a5", engine=engine)["p"]
    assert list(found) == [6, 2]
    with pytest.raises(pto.PtoError, match=r"%p is not visible(.|\n)*pass %p as an operand"):
        pto.loads(text.replace("%q[%i]", "%p[%i]"))
    with pytest.raises(pto.PtoError, match="3 operands, but the region takes 2"):
        pto.loads(text.replace("%i: index)", ")").replace(", )", ")").replace("%q[%i]", "%q[%n]"))


def test_a_pointer_to_no_type_is_reported() -> None:
    """As manuals write it, `T`: the level below tiles has to know the elements."""
    text = function("pto.psts %k, %p[%i], NORM : !pto.mask<b32>, !pto.ptr<T, ub>, index")
    head = "func.func @f(%k: !pto.mask<b32>, %p: !pto.ptr<T, ub>, %i: index, "
    text = text.replace("func.func @f(", head).replace("NORM", '"NORM"')
    (found,) = pto.loads(text).check("a5")
    assert (found.slug, found.is_error) == ("type-omitted", False)

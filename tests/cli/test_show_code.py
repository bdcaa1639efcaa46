"""`run --show-code NAME`: what the native engine generates for one instruction, as text."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from account.files import ROOT
from cli.commands import ptokit
from every import every

llvm = pytest.importorskip("llvmlite.binding", reason="llvmlite is not installed")
GEMM = str(ROOT / "examples" / "gemm.pto")
NZ = "blayout=col_major, slayout=row_major"
MIXED = f"""\
pto.sethf32mode {{enable = true}}
pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
%dst = textract %src[0, 64] : !pto.tile_buf<mat, 64x256xf16, {NZ}> \
-> !pto.tile_buf<left, 64x64xf16, {NZ}>
%copy = tmov %dst : !pto.tile_buf<left, 64x64xf16, {NZ}> -> !pto.tile_buf<left, 64x64xf16, {NZ}>
"""
UNKNOWN = """\
func.func @unknown() {
  %block = pto.get_block_idx
  %share = foo.bar %block : i64 -> i64
  return
}
"""


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    np.save(tmp_path / "a.npy", np.ones((512, 384), np.float16))
    np.save(tmp_path / "b.npy", np.ones((384, 320), np.float16))
    return [f"a={tmp_path / 'a.npy'}", f"b={tmp_path / 'b.npy'}"]


def show(name: str, kernel: str, *words: str, text: str | None = None) -> Result:
    return ptokit("run", kernel, *words, "--show-code", name, stdin=text)


def mixed(name: str, folder: Path) -> str:
    np.save(folder / "src.npy", np.ones((64, 256), np.float16))
    result = show(name, "-", f"src={folder / 'src.npy'}", text=MIXED)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("name", ["tload", "pto.tload", "TLOAD"])
def test_every_spelling_shows_the_same(given: list[str], name: str) -> None:
    shown = show(name, GEMM, *given).output
    assert shown == show("pto.tload", GEMM, *given).output
    assert shown.count("\ndefine internal i32 @op") == 2  # of all of b, of rows of a
    assert "c: f32" not in shown  # nothing ran


@pytest.mark.parametrize("name", ["tload", "tmatmul.acc", "tstore"])
@pytest.mark.parametrize("target", ["cpu", "a5"])
def test_the_code_assembles_and_every_loop_has_a_comment(
    given: list[str], name: str, target: str
) -> None:
    shown = show(name, GEMM, *given, "--target", target).output
    module = llvm.parse_assembly(shown)
    module.verify()
    assert len(list(module.functions)) >= 1
    lines = shown.splitlines()
    loops = [n for n, line in enumerate(lines) if re.match(r"(loop|depth)\d+:", line)]
    assert loops
    for start in loops:
        body = lines[start + 1 :]
        first = next(line for line in body if " phi " not in line)
        assert first.startswith("  ; for %"), "\n".join(lines[start : start + 4])


def test_the_head_says_operands_and_parameters(given: list[str]) -> None:
    shown = show("tload", GEMM, *given).output
    last = shown[shown.index("; pto.tload, function 2 of 2") :]
    assert "; first used at" in last
    assert "gemm.pto:36:7" in last
    for line in (
        ";   src       %part_a : global f16 64x384",
        ";   dst       %wide_a : mat f16 64x384 nz",
        ";   %p0       dst: its bytes",
        ";   %n0       the first element of src",
        ";   %scratch  room for temporaries",
    ):
        assert line in last.splitlines(), last
    head = last.partition("define")[2].partition("\n")[0]
    parameters = re.findall(r"[(,] ?(?:ptr|i64)(?: noalias)? (%\w+)", head)
    described = re.findall(r"^;   (%\w+) ", last.partition("; parameters")[2], re.M)
    assert described == parameters


def test_numbers_known_before_the_run_are_shown(tmp_path: Path) -> None:
    shown = mixed("textract", tmp_path).splitlines()
    assert any(re.fullmatch(r";   col       %\w+ : index = 64", line) for line in shown)


def test_a_copy_that_products_do_without_has_no_function(given: list[str]) -> None:
    shown = show("textract", GEMM, *given).output
    assert shown == "; pto.textract has no function: products read its source where it lies\n"


def test_a_product_comes_with_its_kernel(given: list[str]) -> None:
    assert "define internal void @product_f32(" in show("tmatmul", GEMM, *given).output
    assert "@product_f32" not in show("tload", GEMM, *given).output


def test_an_instruction_that_shares_anothers_function_is_shown(tmp_path: Path) -> None:
    assert "; pto.tmov, function 1 of 1" in mixed("tmov", tmp_path)


def test_what_the_reference_runs_says_why(tmp_path: Path) -> None:
    assert mixed("sethf32mode", tmp_path).startswith(
        "; pto.sethf32mode: by the reference, it works on"
    )
    assert mixed("set_flag", tmp_path) == "; pto.set_flag has no function: it moves no data\n"


def test_what_moves_no_data_has_no_function(given: list[str]) -> None:
    shown = show("alloc_tile", GEMM, *given).output
    assert shown == "; pto.alloc_tile has no function: it moves no data\n"


def test_a_program_the_engine_does_not_take_says_why() -> None:
    result = show("get_block_idx", "-", text=UNKNOWN)
    assert result.exit_code == 0
    assert re.fullmatch(r"; the reference runs this program: [^\n]+\n", result.output)


@every("name", ["nosuch", "tmov", "arith.divsi"])
def test_another_name_lists_the_instructions(given: list[str], name: str) -> None:
    result = show(name, GEMM, *given)
    assert result.exit_code == 2
    assert f"@gemm has no instruction {name!r}; it has " in result.output
    assert "pto.tload, pto.textract, pto.tmatmul, pto.tmatmul.acc, pto.tstore" in result.output


@every(
    ("words", "message"),
    [
        (["--engine", "reference"], "reference generates nothing"),
        (["--engine", "fast"], "unknown engine 'fast'"),
        (["-o", "c=c.npy"], "runs nothing: remove -o, --report, --expect"),
        (["--report"], "runs nothing: remove -o, --report, --expect"),
    ],
)
def test_what_does_not_go_with_it(given: list[str], words: list[str], message: str) -> None:
    result = show("textract", GEMM, *given, *words)
    assert result.exit_code == 2
    assert message in result.output


def test_wrong_arguments_are_reported_as_for_a_run() -> None:
    result = show("textract", GEMM)
    assert result.exit_code == 2
    assert "missing-argument" in result.output

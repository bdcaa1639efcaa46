"""Traces, breakpoints and progress: what `run` shows while a program runs."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

import ptokit as pto
from cli.commands import ptokit
from every import every
from forking import python
from native.test_kernels_again import LEFT_OVER
from ptokit.machine.observer import Observer
from ptokit.tools.cli import main

TILE = "!pto.tile_buf<vec, 1x16xf32>"
PART = "!pto.partition_tensor_view<1x16xf32>"
VIEW = "!pto.tensor_view<?x?xf32>"
KERNEL = f"""\
func.func @rows(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index, %block_idx: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %vx = pto.make_tensor_view %x, shape = [%n, %c16], strides = [%c16, %c1] : {VIEW}
  %vy = pto.make_tensor_view %y, shape = [%n, %c16], strides = [%c16, %c1] : {VIEW}
  %t.0 = pto.alloc_tile : {TILE}
  %u = pto.alloc_tile : {TILE}
  scf.for %i = %c0 to %n step %c1 {{
    %p = pto.partition_view %vx, offsets = [%i, %c0], sizes = [%c1, %c16] : {VIEW} -> {PART}
    %q = pto.partition_view %vy, offsets = [%i, %c0], sizes = [%c1, %c16] : {VIEW} -> {PART}
    pto.tload ins(%p : {PART}) outs(%t.0 : {TILE})
    pto.tadd ins(%t.0, %t.0 : {TILE}, {TILE}) outs(%u : {TILE})
    pto.tstore ins(%u : {TILE}) outs(%q : {PART})
  }}
  return
}}
"""
X = np.arange(32, dtype=np.float32).reshape(2, 16)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("k.pto").write_text(KERNEL)
    np.save("x.npy", X)
    return tmp_path


def run(*words: object, stdin: str | None = None) -> Result:
    return ptokit("run", "k.pto", "x.npy", "n=2", "-o", "y=y.npy", *words, stdin=stdin)


# traces


def test_a_trace_has_a_line_for_each_executed_instruction() -> None:
    assert run("--trace", "t.txt").exit_code == 0
    lines = Path("t.txt").read_text().splitlines()
    load, add, store = lines[:3]
    tile, doubled, stored = (line.rpartition("#")[2] for line in lines[:3])
    assert load == f"   12  MTE2    pto.tload       %p f32[1x16] -> %t.0 f32[1x16] #{tile}"
    twice = "%t.0 f32[1x16], %t.0 f32[1x16]"
    assert add == f"   13  V       pto.tadd        {twice} -> %u f32[1x16] #{doubled}"
    both = "%u f32[1x16], %q f32[1x16]"
    assert store == f"   14  MTE3    pto.tstore      {both} -> %q f32[1x16] #{stored}"
    assert tile != doubled == stored
    assert len(lines) == 6


def test_traces_of_equal_runs_are_equal_and_a_changed_element_changes_digests() -> None:
    def trace() -> list[str]:
        assert run("--trace", "t.txt").exit_code == 0
        return Path("t.txt").read_text().splitlines()

    one = trace()
    assert trace() == one
    other = X.copy()
    other[1, 3] += 1
    np.save("x.npy", other)
    assert [a == b for a, b in zip(one, trace(), strict=True)] == [True] * 3 + [False] * 3


def test_a_digest_is_of_bytes_whatever_the_layout() -> None:
    """The same codes in a tile of the layout NZ and in one of ND."""
    kinds = ("mat, 16x32xf16, blayout=col_major, slayout=row_major", "vec, 16x32xf16")
    found = list[str]()
    for kind in kinds:
        tile = f"!pto.tile_buf<{kind}>"
        view = "!pto.tensor_view<16x32xf16>"
        Path("k.pto").write_text(f"""\
func.func @f(%x: !pto.ptr<f16>, %n: index) {{
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %v = pto.make_tensor_view %x, shape = [%c16, %c32], strides = [%c32, %c1] : {view}
  %t = pto.alloc_tile : {tile}
  pto.tload ins(%v : {view}) outs(%t : {tile})
  return
}}
""")
        result = ptokit("run", "k.pto", "x=random", "n=2", "--trace", "-")
        assert result.exit_code == 0, result.output
        found.append(result.stderr.rpartition("#")[2])
    assert found[0] == found[1]


def test_a_trace_of_a_run_that_fails_ends_where_it_fails() -> None:
    stored = f"pto.tstore ins(%u : {TILE}) outs(%q : {PART})"
    read = f"%x0 = pto.tgetval ins(%u, %c0 : {TILE}, index) outs : f32"
    Path("k.pto").write_text(KERNEL.replace("outs(%u", "outs(%t.0").replace(stored, read))
    result = run("--trace", "t.txt")
    assert result.exit_code == 1
    assert "uninitialised-read" in result.output
    assert [line.split()[2] for line in Path("t.txt").read_text().splitlines()] == [
        "pto.tload",
        "pto.tadd",
    ]
    assert not Path("y.npy").exists()


def test_blocks_are_told_apart() -> None:
    result = run("--trace", "-", "--blocks", 2)
    starts = [line.split()[0] for line in result.stderr.splitlines() if "tload" in line]
    assert starts == ["[0]", "[0]", "[1]", "[1]"]


@pytest.mark.parametrize("blocks", [1, 2])
def test_cores_are_told_apart(blocks: int) -> None:
    """The cube and a vector core of a block run at once: each line says whose it is."""
    Path("k.pto").write_text(LEFT_OVER)
    call = ["run", "k.pto", "x=random:64x16", "y=random:64x16", "--target", "a5", "--trace", "-"]
    result = ptokit(*call, "--blocks", blocks, "--trace-values", "row")
    lines = result.stderr.splitlines()
    cores = [f"{n} {core}" for n in range(blocks) for core in ("cube", "vector 0")]
    starts = {line.partition("]")[0] for line in lines if line[:1] == "["}
    assert starts == {f"[{core}" for core in cores}
    for core in cores:
        does = [line for line in lines if line.startswith(f"[{core}]")]
        assert any("%row = " in line for line in does)
        assert any("tload" in line for line in does) == ("cube" in core)
        assert any("tstore" in line for line in does) == ("vector" in core)


def test_values_are_shown_each_time_they_are_written() -> None:
    result = run("--trace-values", "%u", "--trace-values", "i")
    lines = [line for line in result.stderr.splitlines() if "=" in line]
    assert lines == [
        "    9  %i = 0",
        "   13  %u f32[1x16] =",
        "    9  %i = 1",
        "   13  %u f32[1x16] =",
    ]
    assert str(2 * X[:1]) in result.stderr
    assert "tload" not in result.stderr


def test_a_name_without_values_is_told() -> None:
    for name in ("x", "n"):
        result = run("--trace-values", name, "--trace-values", "i")
        (line,) = [line for line in result.stderr.splitlines() if "--trace-values" in line]
        assert line.startswith(f"--trace-values {name}: %{name} was never written")
        assert "instructions write %t.0, %u" in line


OWN = """\
func.func @own(%x: !pto.tile_buf<vec, 1x8xf32>) {
  %c1 = arith.constant 1 : index
  %n = arith.constant 7 : i32
  %f = arith.constant 2.5 : bf16
  %s = pto.declare_struct -> !pto.struct<i32, bf16, !pto.local_array<2xi16>>
  pto.struct_set %s[0], %n : !pto.struct<i32, bf16, !pto.local_array<2xi16>>, i32
  pto.struct_set %s[1], %f : !pto.struct<i32, bf16, !pto.local_array<2xi16>>, bf16
  %a = pto.declare_local_array -> !pto.local_array<2x2xi32>
  pto.local_array_set %a[%c1, %c1], %n : !pto.local_array<2x2xi32>, i32
  pto.tneg ins(%x : !pto.tile_buf<vec, 1x8xf32>) outs(%x : !pto.tile_buf<vec, 1x8xf32>)
  return
}
"""


def test_own_numbers_have_the_form_of_their_type() -> None:
    Path("own.pto").write_text(OWN)
    words = ("x=zeros", "--trace-values", "s", "--trace-values", "a")
    result = ptokit("run", "own.pto", *words)
    assert result.exit_code == 0, result.output
    assert "%s+0 = (7, 2.5, [0, 0])\n" in result.stderr
    assert "%a+0 =\n[[0 0]\n [0 7]]\n" in result.stderr


# breakpoints


@pytest.fixture
def debug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """`run` with commands for the debugger: status, standard output and error.

    Not by click's runner, which lets no debugger have its streams.
    """

    def call(commands: str, *words: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(commands))
        call = ["run", "k.pto", "x.npy", "n=2", "-o", "y=y.npy", *map(str, words)]
        status: int | None = main(call, standalone_mode=False)
        out, told = capsys.readouterr()
        return status or 0, out, told

    return call


Debug = Callable[..., tuple[int, str, str]]


def test_a_breakpoint_stops_before_its_line_with_arrays(debug: Debug) -> None:
    commands = (
        "p float(t_0[0, 3]), i\np u.mask.all()\nn\np float(u[0, 3])\nc\np float(t_0[0, 3])\nc\n"
    )
    status, out, _ = debug(commands, "--break", 13)
    assert status == 0
    assert "-> pto.tadd ins(%t.0, %t.0" in out
    answers = [line.partition(") ")[2] for line in out.splitlines()]
    assert "(3.0, 0)" in answers
    assert any("True" in answer for answer in answers)
    assert [a for a in answers if a in ("6.0", "19.0")] == ["6.0", "19.0"]
    assert np.array_equal(np.load("y.npy"), 2 * X)


def test_the_stack_is_the_kernel_alone(debug: Debug) -> None:
    _, out, _ = debug("w\nup\nq\n", "--break", 13)
    assert "bdb" not in out
    assert "*** Oldest frame" in out


def test_a_breakpoint_by_name_and_those_of_pdb(debug: Debug) -> None:
    status, out, _ = debug("c\nb 14\nc\np int(i)\nclear k.pto:14\nc\nc\n", "--break", "%u")
    assert status == 0
    places = [line.rpartition("k.pto")[2] for line in out.splitlines() if "<module>" in line]
    # where %u is made, where it is written, the one that was cleared, where it is written again
    assert places == [f"({line})<module>()" for line in (8, 13, 14, 13)]


@every("commands", ["q\n", "exit\n", ""])
def test_quitting_writes_nothing(commands: str, debug: Debug) -> None:
    status, _, told = debug(commands, "--break", 13)
    assert status == 1
    assert told == "stopped in the debugger: nothing was written\n"
    assert not Path("y.npy").exists()


def test_the_prompt_says_which_core(debug: Debug) -> None:
    np.save("x.npy", np.ones((64, 16), np.float32))
    Path("k.pto").write_text(LEFT_OVER.replace("%y: !pto.ptr<f32>", "%y: !pto.ptr<f32>, %n: index"))
    line = LEFT_OVER[: LEFT_OVER.index("pto.tstore")].count("\n") + 1
    _, out, _ = debug("q\n", "--break", line, "--target", "a5")
    assert "(ptokit block 0 vector 0) " in out


def test_the_prompt_says_which_block(debug: Debug) -> None:
    _, out, _ = debug("c\nc\nq\n", "--break", 13, "--blocks", 2)
    assert out.count("(ptokit block 0) ") == 2
    assert out.count("(ptokit block 1) ") == 1


# wrong words


@every(
    ("words", "message"),
    [
        (("--break", "99"), "--break 99: no instruction starts on this line; near: 14, 13, 12"),
        (("--break", "1"), "--break 1: no instruction starts on this line"),
        (("--break", "zz"), "--break zz: no instruction defines or writes %zz"),
        (("--break", "13", "--engine", "native"), "need the engine reference, not native"),
        (("--trace", "-", "--engine", "native"), "need the engine reference, not native"),
        (("--trace", "k.pto"), "--trace k.pto: that is the kernel itself"),
        (("--trace", "none/t.txt"), "cannot write none/t.txt"),
        (("--trace-values", "zz"), "--trace-values zz: no %zz in the function"),
        (("--show-code", "tadd", "--trace", "-"), "--show-code runs nothing"),
    ],
)
def test_one_message_with_status_2(words: tuple[str, ...], message: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert message in result.output
    assert result.output.lower().count("error") == 1
    assert not Path("y.npy").exists()
    assert Path("k.pto").read_text() == KERNEL


def test_the_debugger_does_not_share_standard_input_with_the_kernel() -> None:
    result = ptokit("run", "-", "--break", "3", stdin=KERNEL)
    assert result.exit_code == 2
    assert "give the kernel as a file" in result.output


# progress


class Counted(Observer):
    """What a run tells of its blocks."""

    done: Callable[[], int]

    def begins(self, done: Callable[[], int]) -> None:
        self.done = done


def test_a_run_tells_how_many_blocks_have_ended(engine: str) -> None:
    counted = Counted()
    program = pto.loads(KERNEL)
    program.execute({"x": X, "n": 2}, engine=engine, blocks=50, observers=[counted])
    assert 50 - 2 * (os.cpu_count() or 1) <= counted.done() <= 50


def test_progress_without_a_terminal_is_lines() -> None:
    assert run("--blocks", 3, "--progress").stderr.endswith("3 of 3 blocks\n")
    assert run("--blocks", 3).stderr == ""
    assert run("--progress").stderr == ""  # of one block there is none


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_bar_on_a_terminal() -> None:
    ours, theirs = os.openpty()
    command = [*python(), "-m", "ptokit", "run", "k.pto", "x.npy", "n=2"]
    command += ["--blocks", "9", "--progress", "-o", "y=y.npy"]
    subprocess.run(command, stderr=theirs, stdin=theirs, check=True)
    os.close(theirs)
    assert b"9/9" in os.read(ours, 4096)
    os.close(ours)

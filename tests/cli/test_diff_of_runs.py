"""`ptokit diff` of programs, targets, engines, passes and traces: where results differ first."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from commands import ptokit

from account.files import ROOT
from ptokit.tools.cli import program_diff
from ptokit.tools.rundiff import compared_traces, read_trace

KERNEL = """\
import ptokit as pto

@pto.kernel
def scaled(x: pto.In, y: pto.Out) -> None:
    for i in pto.grid(4):
        t = pto.load(pto.block(x, i * 8, 0, 8, 64))
        t = pto.{op}(t, {other})
        pto.store(pto.block(y, i * 8, 0, 8, 64), t / pto.rowsum(t))

scaled.program(pto.spec(pto.f32, (32, 64)), pto.spec(pto.f32, (32, 64)))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(KERNEL.format(op="add", other="t"))
    Path("b.py").write_text(KERNEL.format(op="mul", other="t"))


def diff(*words: str, status: int) -> str:
    result = ptokit("diff", *words)
    assert result.exit_code == status, result.output
    return result.output


def test_two_programs_differ_where_their_instructions_do() -> None:
    head, one, two, *rest = diff("a.py", "b.py", status=1).splitlines()
    assert head == "1 result agrees, then the first that differs:"
    pattern = r"  (.\.py)  line 7     (\S+) +%\S+ f32\[8x64\] #[0-9a-f]{8}"
    found = [m.groups() for line in (one, two) if (m := re.fullmatch(pattern, line))]
    assert found == [("a.py", "pto.tadd"), ("b.py", "pto.tmul")]
    assert "512 of 512 elements differ   (exact)" in "\n".join(rest)
    assert any(line.startswith("y: ") for line in rest)
    assert "none differs" in diff("a.py", "a.py", status=0)


def test_two_targets_two_engines_and_passes() -> None:
    """Sums of a row in two orders differ in the sum, not before."""
    sums = diff("a.py", "--target", "a5", "--target", "a5:left", status=1)
    assert re.search(r"^  a5 +line 8 .*\n  a5:left +line 8 ", sums, re.M)
    assert diff("a.py", "--engine", "reference", "--engine", "native", status=0) == (
        "all outputs are the same\n"
    )
    assert "none differs" in diff("a.py", "--passes", "place,synchronise", status=0)
    stream = str(ROOT / "examples" / "stream.pto")
    assert "none differs" in diff(
        stream, "--passes", "structure,complete", "--blocks", "2", status=0
    )


def test_of_engines_the_first_store_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is wrong in the third block of rows."""
    right = program_diff.Side.run

    def wrong(side: program_diff.Side) -> object:
        done = right(side)
        if side.options.engine == "native":
            done.outputs["y"][17:, 3] += 1
        return done

    monkeypatch.setattr(program_diff.Side, "run", wrong)
    found = diff("a.py", "--engine", "reference", "--engine", "native", status=1).splitlines()
    assert found[0] == "first where pto.tstore in line 8 stores, execution 3"
    assert found[1].startswith("y: 15 of 2048 elements differ")


def test_a_pass_that_changes_results_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three passes the second one is wrong: the program after it is another one."""
    program = program_diff.read_program(Path("b.py"))
    after = type(program).after

    def wrong(self: object, names: list[str], target: object) -> object:
        return after(program if len(names) > 1 else self, names, target)  # type: ignore[arg-type]

    monkeypatch.setattr(type(program), "after", wrong)
    found = diff("a.py", "--passes", "structure,complete,place", status=1)
    assert re.search(r"^  a.py +line 7 .*\n  after structure,complete +line 7 ", found, re.M)


def test_traces(tmp_path: Path) -> None:
    x = np.arange(32 * 64, dtype=np.float32).reshape(32, 64)
    np.save("x.npy", x)
    for name in ("a", "b"):
        words = ("x=x.npy", "y=zeros:f32:32x64", "--trace", f"{name}.txt")
        assert ptokit("run", f"{name}.py", *words).exit_code == 0
    found = diff("a.txt", "b.txt", status=1).splitlines()
    assert found[0] == "1 result agrees, then the first that differs:"
    assert "none differs" in diff("a.txt", "a.txt", status=0)
    lines = Path("a.txt").read_text().splitlines(keepends=True)
    Path("c.txt").write_text("".join([lines[0], lines[0], *lines[1:]]))
    more = diff("a.txt", "c.txt", status=1)  # a load twice: everything else agrees
    assert more.startswith("c.txt alone has 1 instruction, the first is line 6 ")
    assert "none differs" in more


def line(number: int, name: str, digest: int, place: str = "") -> str:
    return f"{place}{number:>5}  {'V':<8}{name:<15} %a f32[1x8] -> %b f32[1x8] #{digest:08x}"


def test_what_one_run_has_alone_is_passed_over() -> None:
    """On each core: instructions that are moved, added and removed are no results that differ."""
    one = [line(n, "pto.x", n) for n in range(9)]
    two = [*one[:3], line(40, "pto.y", 7), *one[3:5], *one[6:]]
    found = compared_traces(read_trace(one), read_trace(two))
    assert (found.same, found.first) == (8, None)
    assert [[event.line for event in alone] for alone in found.alone] == [[5], [40]]
    cores = [line(n, "pto.x", n, f"[{n % 2}]") for n in range(8)]
    wrong = [*cores[:5], line(5, "pto.x", 99, "[1]"), *cores[6:]]
    first = compared_traces(read_trace(cores), read_trace(wrong)).first
    assert first is not None
    assert (first.place, first.numbers) == ("1", (2, 2))
    assert read_trace(["no trace", "   12  V       pto.x  %a f32[1x8]"]) == {}


def test_wrong_calls_are_one_message() -> None:
    Path("t.txt").write_text(line(1, "pto.x", 1) + "\n")
    for words, said in {
        ("a.py",): "choose one thing that differs; there is one alone",
        ("a.py", "b.py", "--passes", "place"): "these are two kernels and --passes",
        ("a.py", "b.py", "a.py:scaled"): "diff compares two",
        ("a.py", "--engine", "native", "b.py"): "give --engine twice, or never",
        ("a.py", "--target", "a5", "--target", "a7"): "unknown target 'a7'",
        ("a.py", "--passes", "frob"): "unknown pass 'frob'",
        ("a.py", "b.py", "--ulp", "1"): "runs are compared bit for bit",
        ("t.txt", "t.txt", "--blocks", "2"): "are about kernels",
        ("t.txt", "x.npy"): "t.txt: it is not a .npy file",
        ("t.txt",): "expected two arrays, two traces, or a kernel first; got t.txt",
        ("a.py", "nix.pto"): "nix.pto: No such file",
        ("a.py", "b.py", "x=nix.npy", "y=zeros"): "nix.npy: No such file",
    }.items():
        assert said in diff(*words, status=2), words

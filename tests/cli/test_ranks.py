"""`run --ranks`: arrays of each rank by name, outputs of each, and what a call may get wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ptokit as pto
from every import every
from ptokit.tools.cli import main

PROGRAM = Path(__file__).parents[1] / "pto" / "all_gather.pto"
OTHERS = ["there@0=here@1", "there@1=here@0", "sent@0=arrived@1", "sent@1=arrived@0"]
EMPTY = [f"{name}@{rank}=zeros:{n}" for name, n in (("here", 128), ("y", 128)) for rank in (0, 1)]
LEFT = ["arrived@0=zeros:1", "arrived@1=zeros:1", "rank@0=0", "rank@1=1"]


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["run", str(PROGRAM), *words])
    return result.exit_code, result.output


@pytest.fixture
def rows(tmp_path: Path) -> list[str]:
    """Four rows for each rank."""
    for rank in range(2):
        np.save(tmp_path / f"{rank}.npy", np.full((4, 16), rank + 1, np.float32))
    return [f"rows@{rank}={tmp_path / f'{rank}.npy'}" for rank in range(2)]


def test_each_rank_has_arrays_of_its_own(rows: list[str], tmp_path: Path) -> None:
    saved = tmp_path / "y.npy"
    status, said = run("--ranks", "2", *rows, *OTHERS, *EMPTY, *LEFT, "-o", f"y@1={saved}")
    assert status == 0, said
    assert np.load(saved).tolist() == [2.0] * 64 + [4.0] * 64
    assert "y@0: float32" in said


def test_random_arrays_differ_between_ranks(tmp_path: Path) -> None:
    saved = tmp_path / "y.npy"
    words = ["rows@0=random:64", "rows@1=random:64", *OTHERS, *EMPTY, *LEFT, "-o", f"y@0={saved}"]
    status, said = run("--ranks", "2", *words)
    assert status == 0, said
    first, second = np.load(saved).reshape(2, 64)
    assert not np.array_equal(first, second)


def test_an_array_of_one_rank_for_all(rows: list[str], tmp_path: Path) -> None:
    """Rank 0 collects: `there` is its array in every rank, itself too."""
    alike = ["there=here@0", "sent@0=arrived@1", "sent@1=arrived@0"]
    saved = tmp_path / "here.npy"
    status, said = run("--ranks", "2", *rows, *alike, *EMPTY, *LEFT, "-o", f"here@0={saved}")
    assert status == 0, said
    assert np.load(saved).tolist() == [1.0] * 64 + [2.0] * 64
    wrong = ["there=nobody@0", *alike[1:]]
    said = run("--ranks", "2", *rows, *wrong, *EMPTY, *LEFT)[1]
    assert "there@0=nobody@0: unknown array nobody@0" in said


@every(
    ("words", "problem"),
    [
        (["x@2=zeros"], "x@2: no rank 2"),
        (["x@me=zeros"], "x@me: 'me' is not a rank"),
        (["rows=zeros", "rows@0=zeros"], "%rows: given twice"),
        (["rows@0=zeros", "there@0=here@1"], "there@0=here@1: unknown array here@1"),
        (["table@0=zeros"], "unknown argument 'table'"),
    ],
)
def test_what_is_wrong_is_said(words: list[str], problem: str) -> None:
    status, said = run("--ranks", "2", *words)
    assert (status, problem in said) == (2, True), said


def test_the_only_rank_may_be_named(engine: str, tmp_path: Path) -> None:
    """Of a kernel that knows of no ranks, too: a script that says --ranks N may say 1."""
    kernel, saved = tmp_path / "one.pto", tmp_path / "x.npy"
    kernel.write_text(
        "func.func @one(%x: !pto.ptr<f32>) {\n  %c1 = arith.constant 1 : index\n"
        "  %two = arith.constant 2.0 : f32\n"
        "  pto.store_scalar %two, %x[%c1] : !pto.ptr<f32>, f32\n  return\n}\n"
    )
    words = ["run", str(kernel), "--ranks", "1", "--blocks", "2", "--engine", engine]
    result = CliRunner().invoke(main, [*words, "x@0=zeros:3", "-o", f"x@0={saved}"])
    assert result.exit_code == 0, result.output
    assert np.load(saved).tolist() == [0, 2, 0]


def test_one_rank_has_no_others() -> None:
    assert "no rank 1" in run("rows@1=zeros")[1]


@pytest.mark.parametrize("ranks", ["0", "257"])
def test_a_job_has_so_many_ranks(ranks: str) -> None:
    assert f"ranks is {ranks}: expected 1 to 256" in run("--ranks", ranks)[1]


def arguments() -> dict[str, Any]:  # Any: arrays, numbers, names
    """Of both ranks: zeros."""
    given: dict[str, Any] = dict(word.split("=") for word in OTHERS)
    for rank in range(2):
        many, flag = np.zeros(128, np.float32), np.zeros(1, np.int32)
        own: dict[str, Any] = {"rows": many, "here": many, "y": many, "arrived": flag}
        own["rank"] = rank
        given |= {f"{name}@{rank}": value for name, value in own.items()}
    return given


def test_other_orders_of_ranks_find_what_no_signal_orders() -> None:
    text = PROGRAM.read_text(encoding="utf-8")
    for seed in range(3):
        pto.loads(text).run(ranks=2, schedule=f"random:{seed}", **arguments())
    unordered = "\n".join(line for line in text.splitlines() if "comm.twait" not in line)
    with pytest.raises(pto.PtoError, match=r"\[race\]"):
        pto.loads(unordered).run(ranks=2, schedule="random:1", **arguments())


def test_ranks_out_of_step_name_every_line(engine: str) -> None:
    """Both wait for a second signal that nobody sends."""
    text = PROGRAM.read_text(encoding="utf-8")
    program = pto.loads(text.replace("#pto<wait_cmp ge>", "#pto<wait_cmp gt>"))
    with pytest.raises(pto.PtoError) as problem:
        program.run(ranks=2, engine=engine, **arguments())
    (found,) = problem.value.diagnostics
    assert found.slug == "deadlock"
    said = found.render()
    assert said.count("wait_cmp gt") == 2
    assert "rank 0 waits forever" in said
    assert "it waits for %flag gt 1, and it is 1" in said
    assert "of rank 1 waits here" in said

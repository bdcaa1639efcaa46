"""A run that is stored on disk repeats without its program, with the results of the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from ptokit.launch.storedruns import StoredRuns
from ptokit.machine import codefolder
from ptokit.values.host import AnyArray

VEC = "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16>"
VIEW, PART = "!pto.tensor_view<16x16xf32>", "!pto.partition_tensor_view<16x16xf32>"


def views(*names: str) -> str:
    """Views of whole arrays of 16x16."""
    return "\n".join(
        f"""  %{n}v = pto.make_tensor_view %{n}, shape = [%n, %n], strides = [%n, %one] : {VIEW}
  %{n}p = pto.partition_view %{n}v, offsets = [%zero, %zero], sizes = [%n, %n] : {VIEW} -> {PART}"""
        for n in names
    )


CONSTANTS = "\n".join(
    f"  %{name} = arith.constant {number} : index"
    for name, number in (("zero", 0), ("one", 1), ("n", 16))
)
SUM = f"""func.func @sum(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %c: !pto.ptr<f32>) {{
{CONSTANTS}
{views(*"abc")}
  %x = pto.alloc_tile : {VEC}
  %y = pto.alloc_tile : {VEC}
  %z = pto.alloc_tile : {VEC}
  pto.tload ins(%ap : {PART}) outs(%x : {VEC})
  pto.tload ins(%bp : {PART}) outs(%y : {VEC})
  pto.tadd ins(%x, %y : {VEC}, {VEC}) outs(%z : {VEC})
  pto.tstore ins(%z : {VEC}) outs(%cp : {PART})
  return
}}
"""


def squares(number: int) -> list[AnyArray]:
    return [np.random.default_rng(number + n).random((16, 16), np.float32) for n in range(2)]


@pytest.fixture
def repeated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[bool]:
    """Whether each run on the native engine was a stored one; the folder of code is empty."""
    monkeypatch.setenv("PTOKIT_CACHE", str(tmp_path))
    found: list[bool] = []
    original = StoredRuns.repeated

    def noting(self: StoredRuns, *given: Any) -> object:
        result = original(self, *given)
        found.append(result is not None)
        return result

    monkeypatch.setattr(StoredRuns, "repeated", noting)
    return found


def test_a_stored_run_does_not_read_its_text(
    repeated: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = squares(0)
    first = pto.loads(SUM).execute({"a": a, "b": b, "c": np.zeros_like(a)})
    monkeypatch.setattr("ptokit.text.read.reader.read", None)
    a, b = squares(7)
    program, again = pto.loads(SUM), first
    for _ in range(3):
        again = program.execute({"a": a, "b": b, "c": np.zeros_like(a)})
        assert np.array_equal(again.outputs["c"], a + b)
    assert repeated == [False, True, True, True]
    assert (again.instructions, again.dtypes) == (first.instructions, first.dtypes)


def test_without_an_array_an_output_has_the_extents_of_its_view(repeated: list[bool]) -> None:
    for number in range(2):
        a, b = squares(number)
        assert np.array_equal(pto.loads(SUM).run(a=a, b=b)["c"], a + b)
    assert repeated == [False, True]


def test_other_arguments_and_options_are_other_runs(repeated: list[bool]) -> None:
    a, b = squares(0)
    pto.loads(SUM).run(a=a, b=b)
    flat = pto.loads(SUM).run(a=a.reshape(-1), b=b)
    assert np.array_equal(flat["c"], a + b)
    pto.loads(SUM).run(a=a, b=b, target="a5")
    with pytest.raises(pto.PtoError, match="argument-type"):
        pto.loads(SUM).run(a=a.astype(np.float64), b=b)
    with pytest.raises(pto.PtoError, match="unknown-argument"):
        pto.loads(SUM).run(a=a, b=b, d=b)
    assert not any(repeated)


def test_a_run_that_asks_something_is_given_up(
    repeated: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program then runs, and its arrays are what they were."""
    a, b = squares(0)
    pto.loads(SUM).run(a=a, b=b)
    from ptokit.engines.native import storedrun

    def refuse(*_: object) -> None:
        raise storedrun.GivenUp

    monkeypatch.setattr(storedrun.RunningCore, "run", refuse)
    assert np.array_equal(pto.loads(SUM).run(a=a, b=b)["c"], a + b)
    assert repeated == [False, False]


def test_a_folder_without_the_code_has_no_stored_runs(
    repeated: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = squares(0)
    pto.loads(SUM).run(a=a, b=b)
    place = codefolder.folder()
    assert place is not None
    for file in place.iterdir():
        if b'"c"' not in file.read_bytes():
            file.unlink()
    assert np.array_equal(pto.loads(SUM).run(a=a, b=b)["c"], a + b)
    assert repeated == [False, False]


@pto.kernel(shapes="x[rows, D] y[rows, D]")
def doubled(x: pto.In, y: pto.Out) -> None:
    rows, width = x.shape
    for i in pto.grid(pto.cdiv(rows, 16)):
        part = pto.load(pto.block(x, i * 16, 0, 16, width))
        pto.store(pto.block(y, i * 16, 0, 16, width), part + part)


def test_kernels_of_any_extent_write_in_place(repeated: list[bool]) -> None:
    for rows in (64, 40, 96):
        x = np.random.default_rng(rows).random((rows, 32), np.float32)
        y = np.zeros_like(x)
        kernel = pto.kernel(shapes="x[rows, D] y[rows, D]")(doubled.function)
        kernel.on(blocks=4)(x, y)
        assert np.array_equal(y, x + x)
    assert repeated == [False, True, True]


def test_cores_that_wait_for_one_another(repeated: list[bool]) -> None:
    """A program with FIFOs, blocks, and a number that is part of the code."""
    text = (ROOT / "examples" / "pto" / "flash_attention.pto").read_text()
    for number in range(2):
        random = np.random.default_rng(number)
        q, k, v = (random.standard_normal((256, 64)).astype(np.float16) for _ in "qkv")
        given: dict[str, Any] = {"q": q, "k": k, "v": v, "o": np.zeros_like(q), "tokens": 128}
        runs = [
            pto.loads(text).run(target="a5", blocks=4, engine=engine, **given)["o"]
            for engine in ("native", "reference")
        ]
        assert runs[0].tobytes() == runs[1].tobytes()
    assert repeated == [False, True]


def test_a_function_remembers_few_runs(
    repeated: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run has memories of its own; those of other kinds of arguments are given back."""
    monkeypatch.setattr("ptokit.launch.storedruns.KEPT", 2)
    for again in (False, True):
        program = pto.loads(SUM).compile()
        for extents in ((16, 16), (256,), (4, 64), (16, 16)):
            a = np.ones(extents, np.float32)
            assert np.array_equal(program.run(a=a, b=a, c=np.zeros_like(a))["c"], a + a)
        assert len(program._stored.known) == 2  # pyright: ignore[reportPrivateUsage]  # its cache
        assert all(repeated[-4:]) == again

"""What a launch takes, keeps and costs: arrays of other libraries, captures, numbers as slots."""

from __future__ import annotations

import io
import pdb
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit import f32
from ptokit.engines.native import compile as compiling

SCALE = 2.0


@pto.kernel(shapes="x[rows, D] y[rows, D]")
def scaled_rows(x: pto.In, y: pto.Out, n: int = 1, *, high: int = 8) -> None:
    rows, width = x.shape
    for i in pto.grid(pto.cdiv(rows, high)):
        t = pto.load(pto.block(x, i * high, 0, high, width))
        pto.store(pto.block(y, i * high, 0, high, width), t * SCALE + n)


@pto.kernel
def shown(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.load(pto.block(x, 0, 0, 2, 8))
    for i in pto.range(n):
        pto.print("iteration", i)
        pto.print("tile", t)
    pto.store(pto.block(y, 0, 0, 2, 8), t)


def arrays(rows: int = 20, width: int = 16) -> tuple[Any, Any]:
    x = np.random.default_rng(1).random((rows, width)).astype(np.float32)
    return x, np.zeros_like(x)


def test_tensors_of_torch_are_written_in_place() -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is not installed here")
    x, y = arrays()
    result: Any = torch.zeros(y.shape)
    scaled_rows(torch.from_numpy(x), result, 3)
    assert (result.numpy() == x * 2 + 3).all()


def test_run_time_numbers_are_captured_and_compiled_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PTOKIT_CACHE", str(tmp_path))
    found: list[object] = []
    original: Any = compiling.CompiledFunction.__init__

    def counting(self: Any, *given: Any) -> None:
        found.append(self)
        original(self, *given)

    monkeypatch.setattr(compiling.CompiledFunction, "__init__", counting)
    kernel = pto.kernel(shapes="x[rows, D] y[rows, D]")(scaled_rows.function)
    for number in range(100):
        x, y = arrays(1 + number % 37)
        kernel(x, y, number)
        assert (y == x * np.float32(2) + np.float32(number)).all()
    assert len(kernel.captures) == 1
    assert len(found) == 1


def test_other_element_types_extents_and_values_are_captured_anew() -> None:
    kernel = pto.kernel(shapes="x[rows, D] y[rows, D]")(scaled_rows.function)
    x, y = arrays()
    kernel(x, y)
    kernel(x, y, high=16)
    kernel(*(a.astype(np.float16) for a in (x, y)))
    kernel(*arrays(20, 24))
    assert len(kernel.captures) == 4


def test_the_engines_and_debug_print_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    x, y = arrays(2, 8)
    printed: list[str] = []
    for run in (shown.debug, shown.on(engine="reference"), shown.on(engine="native")):
        run(x, y, 2)
        printed.append(capfd.readouterr().out)
    assert printed[0].startswith("iteration 0\ntile\n")
    assert printed[0] == printed[1] == printed[2]


def test_pdb_steps_through_a_kernel() -> None:
    x, y = arrays(8)
    commands = io.StringIO("b scaled_rows\nc\nn\nn\nn\np t.numpy().shape\nc\n")
    seen = io.StringIO()
    debugger = pdb.Pdb(stdin=commands, stdout=seen, nosigint=True)  # Ctrl-C stays Python's
    debugger.use_rawinput = False
    function = scaled_rows.function
    assert isinstance(function, types.FunctionType)
    debugger.set_break(function.__code__.co_filename, function.__code__.co_firstlineno + 2)
    debugger.runcall(scaled_rows.debug, x, y, 2)
    text = seen.getvalue()
    assert "rows, width = x.shape" in text
    assert "for i in pto.grid" in text
    assert (y == x * 2 + 2).all()


@pto.kernel
def drifting(x: pto.In, y: pto.Out, z: pto.Out) -> None:
    t = pto.load(pto.block(x, 0, 0, 8, 16))
    for i in pto.range(3):
        more = 3 if isinstance(i, int) else 1  # as nobody should
        pto.store(pto.block(z, 0, 0, 8, 16), t + more)
        pto.store(pto.block(y, 0, 0, 8, 16), t + more)
    pto.store(pto.block(z, 0, 0, 8, 16), t)
    pto.store(pto.block(y, 2, 0, 2, 16), pto.full(pto.f32, 2, 16, 7.0))


def test_verify_names_the_first_store_whose_elements_differ() -> None:
    """All of z is stored again, and two rows of y are: the store of y in the loop is left."""
    x, y = arrays(8)
    with pytest.raises(pto.PtoError) as caught:
        drifting.verify(x, y, np.zeros_like(x))
    (found,) = caught.value.diagnostics
    assert found.span is not None
    text = found.span.source.text
    assert "block(y, 0, 0" in text[found.span.start : found.span.end]
    assert (found.seen or "").startswith(f"y[0, 0] is {x[0, 0] + 3} and {x[0, 0] + 1}; 96 of 128")


def test_functions_without_source_are_captured() -> None:
    loaded = "pto.load(pto.block(x, 0, 0, 8, 16))"
    text = f"def plain(x, y):\n    pto.store(pto.block(y, 0, 0, 8, 16), {loaded} + 1)"
    space: dict[str, Any] = {"pto": pto}
    exec(text, space)
    x, y = arrays(8)
    pto.kernel(space["plain"])(x, y)
    assert (y == x + 1).all()


def test_a_file_that_changed_is_not_the_source(tmp_path: Path) -> None:
    file = tmp_path / "edited.py"
    text = """import ptokit as pto
@pto.kernel
def edited(x, y, n):
    t = pto.load(pto.block(x, 0, 0, 8, 16))
    for i in pto.range(n):
        pto.adds(t, 1, out=t)
    pto.store(pto.block(y, 0, 0, 8, 16), t)
"""
    file.write_text(text, encoding="utf-8")
    space: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), space)
    file.write_text(text.replace("adds(t, 1", "muls(t, 5"), encoding="utf-8")
    x, y = arrays(8)
    space["edited"](x, y, 3)
    assert (y == x + np.float32(1) + np.float32(1) + np.float32(1)).all()


def test_two_threads_record_at_the_same_time() -> None:
    failed: list[BaseException] = []

    def work(high: int) -> None:
        try:
            x, y = arrays(30)
            scaled_rows(x, y, high, high=high)
            assert (y == x * np.float32(2) + np.float32(high)).all()
        except BaseException as problem:
            failed.append(problem)

    threads = [threading.Thread(target=work, args=(high,)) for high in (24, 40, 48, 56)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_a_kernel_inside_of_a_kernel_is_recorded_in_place() -> None:
    @pto.kernel
    def outer(x: pto.In, y: pto.Out) -> None:
        scaled_rows(x, y, 1)

    x, y = arrays()
    outer(x, y)
    assert (y == x * 2 + 1).all()


def test_a_program_needs_no_arrays() -> None:
    program = scaled_rows.program(pto.spec(f32, ("rows", 16)), pto.spec(f32, ("rows", 16)), 1)
    assert program.check("all") == []
    assert "%rows: index" in program.text()


@every("kind", ["unaligned", "read-only", "the output", "every other row"])
def test_inputs_are_read_where_they_are_in_later_calls(kind: str) -> None:
    """Whatever memory they have; and the caller's arrays change at the end alone."""
    for number in range(3):
        x = np.full((64, 64), number, np.float32)
        y = np.zeros_like(x)
        if kind == "unaligned":
            x = np.frombuffer(b"-" + x.tobytes(), np.float32, offset=1).reshape(x.shape)
            assert not x.flags.aligned
        elif kind == "read-only":
            x.flags.writeable = False
        elif kind == "the output":
            y = x
        else:
            x = np.repeat(x, 2, axis=0)[::2]
        scaled_rows(x, y)
        assert (y == SCALE * number + 1).all()
        assert y is x or (x == number).all()

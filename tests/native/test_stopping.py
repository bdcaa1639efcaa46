"""Every run can be ended: by a signal, after so many instructions, or a time; nothing is written.

A process gets its signal once its main thread is inside an engine: it says so itself. The loops
below would run for centuries, so what ends was ended; bounds on the seconds suit busy machines.
"""

from __future__ import annotations

import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from forking import python
from fuzz.scale import sampled
from native.pipekernel import FREE, POP, PUSH, kernel, repeated

pytest.importorskip("llvmlite", reason="llvmlite is not installed")
ENGINES = ("reference", "native")
KIND = "!pto.tile_buf<vec, 16x32xf32>"
HEAD = """\
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %rows = arith.constant 16 : index
  %cols = arith.constant 32 : index
  %ever = arith.constant 9223372036854775807 : index
  %view = pto.make_tensor_view %a, shape = [%rows, %cols], strides = [%cols, %c1] \
: !pto.tensor_view<16x32xf32>
  %out = pto.make_tensor_view %b, shape = [%rows, %cols], strides = [%cols, %c1] \
: !pto.tensor_view<16x32xf32>
  %x = pto.alloc_tile : KIND
  pto.tload ins(%view : !pto.tensor_view<16x32xf32>) outs(%x : KIND)
""".replace("KIND", KIND)
ADD = f"pto.tadd ins(%x, %x : {KIND}, {KIND}) outs(%x : {KIND})\n"
STORE = f"  pto.tstore ins(%x : {KIND}) outs(%out : !pto.tensor_view<16x32xf32>)\n"
LOOPS = {
    "flat": f"scf.for %i = %c0 to %ever step %c1 {{\n{ADD}}}\n",
    "nested": "scf.for %i = %c0 to %ever step %c1 {\nscf.for %j = %c0 to %c3 step %c1 {\n"
    f"{ADD}}}\n}}\n",
    "empty": "scf.for %i = %c0 to %ever step %c1 {\n}\n",
    "empty inside": "scf.for %i = %c0 to %ever step %c1 {\n"
    "scf.for %j = %c0 to %ever step %c1 {\n}\n}\n",
    "numbers": "%n = scf.for %i = %c0 to %ever step %c1 iter_args(%s = %c0) -> (index) {\n"
    "%t = arith.addi %s, %c1 : index\nscf.yield %t : index\n}\n",
}
A = np.ones((16, 32), np.float32)


def text(body: str) -> str:
    head = f"func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) {{\n{HEAD}"
    return f"{head}{body}{STORE}  return\n}}\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stopping")
    np.save(path / "a.npy", A)
    for name, loop in LOOPS.items():
        (path / f"{name}.pto").write_text(text(loop), encoding="utf-8")
    return path


# signals

WATCHED = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests may run in the background
main, inside = threading.main_thread().ident, sys.argv.pop(1).split(",")
def watch():
    for _ in range(3000):
        time.sleep(0.02)
        frame, files = sys._current_frames()[main], []
        while frame is not None:
            files.append(os.path.basename(frame.f_code.co_filename))
            frame = frame.f_back
        # Python wraps what is raised while an import makes classes
        if {*inside} & {*files} and not any("importlib" in name for name in files):
            time.sleep(0.1)
            os.write(1, b"runs")
            return
    os.write(1, b"not there")
threading.Thread(target=watch, daemon=True).start()
"""
COMMAND = "from ptokit.__main__ import start\nstart()\n"
PYTHON = """
import numpy as np, ptokit as pto
a = np.ones((16, 32), np.float32)
try:
    pto.load(sys.argv[1]).run(a=a, b=a, engine=sys.argv[2], blocks=int(sys.argv[3]))
except KeyboardInterrupt:
    assert (a == 1).all()
    print("interrupted")
"""
EAGER = """
import numpy as np, ptokit as pto
x = pto.tile("vec", pto.f32, 16, 32, data=np.ones((16, 32)))
try:
    while True:
        pto.tadd(x, x, x)
except KeyboardInterrupt:
    print("interrupted")
"""


def ended(script: str, *arguments: str, by: int, inside: str) -> tuple[int, str, str]:
    """Status, output and errors of a process that gets a signal inside one of these modules."""
    command = [*python(), "-c", WATCHED + script, inside, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert process.stdout.read(4) == b"runs"
        start = time.monotonic()
        process.send_signal(by)
        out, errors = process.communicate(timeout=60)
        assert time.monotonic() - start < 10  # a second where the processors are free
        return process.returncode, out.decode(), errors.decode()
    finally:
        process.kill()


ENGINE_MODULES = {"reference": "interpreter.py", "native": "session.py"}


@pytest.mark.parametrize(
    ("engine", "by", "loop", "blocks"),
    sampled(
        [
            ("native", "SIGINT", "empty inside", 8),
            ("native", "SIGINT", "nested", 1),
            ("native", "SIGTERM", "flat", 1),
            ("reference", "SIGINT", "flat", 1),
            ("reference", "SIGTERM", "empty inside", 2),
            ("native", "SIGTERM", "empty", 1),
        ],
        2,
    ),
)
def test_a_signal_ends_a_command(
    engine: str, by: str, loop: str, blocks: int, folder: Path, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.npy", tmp_path / "new.npy"
    old.write_bytes(b"old")
    number = signal.Signals[by]
    outputs = ["-o", f"a={old}", "-o", f"b={new}"]
    given = [f"a={folder / 'a.npy'}", f"b={folder / 'a.npy'}", "--engine", engine]
    options = [str(folder / f"{loop}.pto"), *given, "--blocks", str(blocks), *outputs]
    inside = ENGINE_MODULES[engine]
    got = ended(COMMAND, "run", *options, by=number, inside=inside)
    assert got == (128 + number, "", f"ended by {by}: nothing was written\n")
    assert [p.name for p in tmp_path.iterdir()] == ["old.npy"]
    assert old.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("engine", "loop", "blocks"),
    [("reference", "nested", 1), ("native", "numbers", 1), ("native", "flat", 5)],
)
def test_an_interrupt_comes_out_of_a_run(engine: str, loop: str, blocks: int, folder: Path) -> None:
    given = [str(folder / f"{loop}.pto"), engine, str(blocks)]
    got = ended(PYTHON, *given, by=signal.SIGINT, inside=ENGINE_MODULES[engine])
    assert got == (0, "interrupted\n", "")


def test_an_interrupt_comes_out_of_eager_calls() -> None:
    got = ended(EAGER, by=signal.SIGINT, inside="execute.py")  # all modules are imported by then
    assert got == (0, "interrupted\n", "")


# limits


def problem(body: str, engine: str, blocks: int = 1, **limits: Any) -> pto.Diagnostic:
    """What ends the run."""
    program = pto.loads(text(body), "f.pto")
    with pytest.raises(pto.PtoError) as raised:
        program.run(a=A, b=np.zeros_like(A), engine=engine, blocks=blocks, **limits)
    (diagnostic,) = raised.value.diagnostics
    return diagnostic


@pytest.mark.parametrize("blocks", [1, 6])
@pytest.mark.parametrize("loop", LOOPS)
def test_a_timeout_ends_every_loop(loop: str, blocks: int, engine: str) -> None:
    begin = time.monotonic()
    found = problem(LOOPS[loop], engine, blocks, timeout=0.05)
    assert time.monotonic() - begin < 10  # as above
    assert found.slug == "time-limit"
    if "scf.for" in found.message:  # else it did not come to the loop in time
        assert any(n.message.startswith("with %i = ") for n in found.notes)
    assert any(n.message.startswith("in block ") for n in found.notes) == (blocks > 1)


@every("blocks", [1, 6])
@every("limit", [1, 2, 7, 100])
@every("loop", LOOPS)
def test_a_limit_of_instructions_is_the_same_in_both_engines(
    loop: str, limit: int, blocks: int
) -> None:
    one, other = (problem(LOOPS[loop], e, blocks, max_instructions=limit) for e in ENGINES)
    assert one.slug == "instruction-limit"
    assert one.render() == other.render()


BRANCHES = """\
scf.for %i = %c0 to %c3 step %c1 {
  scf.for %j = %c0 to %i step %c1 {
    %first = arith.cmpi eq, %j, %c0 : index
    scf.if %first {
      ADD
    } else {
    }
  }
  scf.for %k = %c0 to %i step %c1 {
  }
}
ADD""".replace("ADD", ADD)
# line and column, instructions and idle iterations before the end: counted by hand
PLACES = {
    1: ((12, 1), 1, 0),  # nothing ran in the outermost iteration with %i = 0
    2: ((16, 7), 1, 1),  # %i = 1, %j = 0
    3: ((21, 3), 2, 1),  # %k = 0
    4: ((16, 7), 2, 2),  # %i = 2, %j = 0
    5: ((13, 3), 3, 2),  # %j = 1: the branch without instructions
    6: ((21, 3), 3, 3),  # %k = 0
    7: ((21, 3), 3, 4),  # %k = 1
    8: ((24, 1), 3, 5),  # after the loops
    9: ((25, 3), 4, 5),  # the store
}


@every("limit", PLACES)
def test_a_limit_says_where_the_run_was(limit: int, engine: str) -> None:
    found = problem(BRANCHES, engine, max_instructions=limit)
    place, ran, idle = PLACES[limit]
    assert found.span is not None
    assert found.span.source.position(found.span.start) == place
    without = f" and {idle} iterations without any" if idle else ""
    assert found.seen == f"{ran} instructions ran{without}"


SIGNALLED = "pto.sync.set <PIPE_MTE3>, 1", "pto.sync.wait <PIPE_MTE2>, 1"
TALKING = {
    "a FIFO": (kernel(repeated(PUSH), repeated(POP, FREE)), 1 + 3 * 3),
    "signals": (kernel(*map(repeated, SIGNALLED)), 1 + 2 * 3),
}


@pytest.mark.parametrize("name", TALKING)
def test_what_cores_tell_one_another_counts(name: str) -> None:
    """A load of the vector core, and what it and the cube do three times."""
    text, total = TALKING[name]
    given, program = {"x": np.ones((16, 16), np.float32)}, pto.loads(text)
    done = [program.execute(given, engine=engine, target="a2a3") for engine in ENGINES]
    assert sum(done[0].instructions.values()) == total
    assert done[0].instructions == done[1].instructions
    for limit in range(1, total):
        found: list[str] = []
        for engine in ENGINES:
            with pytest.raises(pto.PtoError, match="instruction-limit") as raised:
                program.execute(given, engine=engine, target="a2a3", max_instructions=limit)
            found.append(raised.value.diagnostics[0].render())
        assert found[0] == found[1]
        assert f"{limit} instructions ran" in found[0]
    program.execute(given, target="a2a3", max_instructions=total)


@every("blocks", [1, 3])
def test_a_run_of_exactly_the_limit_ends_by_itself(blocks: int, engine: str) -> None:
    loop = LOOPS["flat"].replace("%ever", "%rows")
    given = {"a": A, "b": np.zeros_like(A)}
    program, total = pto.loads(text(loop)), 18 * blocks
    done = program.execute(given, engine=engine, blocks=blocks, max_instructions=total, timeout=60)
    assert sum(done.instructions.values()) == total
    assert (done.outputs["b"] == 2**16).all()
    assert problem(loop, engine, blocks, max_instructions=total - 1).slug == "instruction-limit"


WRONG: dict[str, tuple[dict[str, Any], type[Exception]]] = {
    "none at all": ({"max_instructions": 0}, ValueError),
    "negative": ({"max_instructions": -1}, ValueError),
    "a fraction": ({"max_instructions": 1.5}, TypeError),
    "no time": ({"timeout": 0}, ValueError),
    "not a number": ({"timeout": float("nan")}, ValueError),
    "for ever": ({"timeout": float("inf")}, ValueError),
    "words": ({"timeout": "soon"}, TypeError),
}


@every("limits", WRONG)
def test_a_wrong_limit_is_said(limits: str) -> None:
    given, kind = WRONG[limits]
    with pytest.raises(kind, match=next(iter(given))):
        pto.loads(text("")).run(a=A, b=A, **given)


def test_runs_end_in_other_threads_too() -> None:
    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(problem, LOOPS["flat"], e, timeout=0.1) for e in ENGINES]
        assert {run.result().slug for run in runs} == {"time-limit"}


# what a loop's counter may not do: begin again at -2^63


@every(
    ("lower", "upper", "step"),
    [
        (0, 2**63 - 1, 2**62),
        (2**63 - 3, 2**63 - 1, 1),
        (2**63 - 2, 2**63 - 1, 7),
        (-(2**63), 2**63 - 1, 2**63 - 1),
        (-(2**63), -(2**63) + 2, 2**63 - 1),
        (5, -5, 2**63 - 1),
    ],
)
def test_no_counter_passes_the_largest_number(
    engine: str, lower: int, upper: int, step: int
) -> None:
    values = {"lo": lower, "hi": upper, "st": step}
    constants = "".join(f"%{n} = arith.constant {v} : index\n" for n, v in values.items())
    body = f"{constants}scf.for %i = %lo to %hi step %st {{\n{ADD}}}\n"
    given = {"a": A, "b": np.zeros_like(A)}
    done = pto.loads(text(body)).execute(given, engine=engine, timeout=30)
    assert done.instructions.get("pto.tadd", 0) == len(range(lower, upper, step))


def test_an_error_in_an_early_block_ends_the_others() -> None:
    """Where the reference reports, the others might run for ever."""
    body = """\
    %block = pto.get_block_idx
    %row = arith.index_cast %block : i64 to index
    %later = arith.cmpi sgt, %row, %c0 : index
    scf.if %later {
      LOOP
    }
    %part = pto.partition_view %view, offsets = [%rows, %c0], sizes = [%rows, %cols] \
: !pto.tensor_view<16x32xf32> -> !pto.partition_tensor_view<16x32xf32>
    pto.tload ins(%part : !pto.partition_tensor_view<16x32xf32>) outs(%x : KIND)
""".replace("KIND", KIND).replace("LOOP", LOOPS["empty"])
    found = {problem(body, e, 2, timeout=30).slug for e in ENGINES}
    assert found == {"window-out-of-bounds"}


def test_the_time_may_end_at_an_op_that_nobody_knows(engine: str) -> None:
    with pytest.raises(pto.PtoError) as caught:
        pto.loads("pto.tunheard\n").run(engine=engine, timeout=1e-9)
    assert caught.value.diagnostics[0].slug in ("time-limit", "unknown-op")

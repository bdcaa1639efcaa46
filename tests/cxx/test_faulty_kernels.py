"""What goes wrong in C++ is one message with the line; the process survives, arrays stay."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from launched import HERE, kernels, needs_compiler

import ptokit as pto
from forking import python
from fuzz.scale import sampled
from ptokit.api.cxx import door
from ptokit.api.cxx.foundcompiler import found_compiler
from ptokit.api.cxx.kernelcores import ReadyCall

A = np.arange(1024, dtype=np.float32).reshape(16, 64)
pytestmark = needs_compiler


def launched(which: int, *given: Any, timeout: float = 60) -> pto.Diagnostic:  # Any: arguments
    """The one thing that is wrong with a launch, which changes nothing."""
    a, c = A.copy(), np.zeros_like(A)
    with pytest.raises(pto.PtoError) as problem:
        kernels("faults", "a5").launch("faults", which, a, c, *(given or (0,)), timeout=timeout)
    assert np.array_equal(a, A)
    assert not c.any()
    (found,) = problem.value.diagnostics
    return found


CRASHES = {1: "SIGSEGV", 2: "SIGFPE", 3: "SIGABRT", 8: "status 3"}


@pytest.mark.parametrize("which", CRASHES)
def test_crashes(which: int) -> None:
    found = launched(which)
    assert (found.slug, CRASHES[which] in found.message) == ("crash", True)
    assert found.span is not None
    assert "TSTORE(gc, x)" in found.span.source.line(found.span.line)


def test_a_loop_that_does_not_end() -> None:
    assert launched(4, timeout=0.6).slug == "time-limit"


def test_a_loop_that_issues_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MOST_CALLS", 500)
    assert launched(13).slug == "instruction-limit"


# By kernel: the slug, a part of its line, and what the message and its facts say.
PLACED: dict[int, tuple[str, str, tuple[str, ...]]] = {
    0: ("uninitialised-read", "x.GetValue(3)", ("4 bytes at 0xc",)),
    5: ("trapped", "TSTORE(gc, x)", ("no std::exception",)),
    6: ("global-out-of-bounds", "TSTORE(outside, x)", ()),
    7: ("element-type", "TADD(x, x, n)", ()),
    14: ("address-out-of-range", "x.GetValue(1 << 18)", ()),
    15: ("address-out-of-range", "x.SetValue(-1, 1.0f)", ()),
    16: ("element-type", "TADD(wide, wide, wide)", ("double", "a tile in vec", "float, half")),
    17: ("element-type", "TLOAD(x, ld)", ("long double", "view of global memory", "int32_t")),
    18: ("operand-value", "TADDS(x, x, own)", ("argument type Own", "16 bytes", "numbers")),
    19: ("layout", "TLOAD(images, ga)", ("Layout::NHWC", "FRACTAL_Z_3D")),
    20: ("element-type", "owns.data()", ("element type Own",)),
    21: ("attribute", "static_cast<event_t>(9 + zero)", ("9", "0 to 7")),
    22: ("trapped", "Vec other(63 + zero)", ("64 static columns is given 63",)),
    23: ("offset-misaligned", "TSTORE(odd, x)", ("byte 2 of c", "f32")),
    25: ("operand-kind", "get_buf(PIPE_MTE2, c)", ("pipe_t::PIPE_MTE2, a pointer to f32",)),
    26: ("trapped", "TMovToVecNd2Nz<float, Vec, Vec>(x.data())", ("does not execute",)),
    24: ("scope", "Vec().SetValue(0, 1.0f)", ("no launch runs",)),
}


def test_errors_name_the_line_and_what_was_seen() -> None:
    wrong: list[str] = []
    for which, (slug, line, facts) in PLACED.items():
        found = launched(which)
        text = "" if found.span is None else found.span.source.line(found.span.line)
        said = f"{found.message} {found.rule} {found.seen} {found.help}"
        if found.slug != slug or line not in text or not found.help:
            wrong.append(f"{which}: {found.render()}")
        wrong += [f"{which}: {fact}: {said}" for fact in facts if fact not in said]
    assert wrong == []


def test_a_missing_flag_is_found() -> None:
    a, c = A.copy(), np.zeros_like(A)
    ran = kernels("faults", "a5").launch("faults", 9, a, c, 0)
    found = [d for d in ran.races() if d.is_error]
    assert {d.slug for d in found} == {"hazard"}
    assert all(d.span and d.span.source.name.endswith("faults.cpp") for d in found)


@pytest.mark.parametrize(("which", "hazards"), [(11, 0), (12, 1)])
def test_races_of_what_a_launch_only_warns_of(which: int, hazards: int) -> None:
    a, c = A.copy(), np.zeros_like(A)
    ran = kernels("faults", "a5").launch("faults", which, a, c, 0)
    assert {d.slug for d in ran.warnings} == {"address-out-of-range"}
    assert [d.slug for d in ran.races()] == ["hazard"] * hazards


def test_a_mode_without_effect_is_said() -> None:
    a, c = A.copy(), np.zeros_like(A)
    ran = kernels("faults", "a5").launch("faults", 10, a, c, 0)
    (found,) = [d for d in ran.warnings if d.slug == "not-executed"]
    assert "set_atomic_add has no effect here" in found.message
    assert found.span is not None
    assert "set_atomic_add()" in found.span.source.line(found.span.line)


def test_wrong_arguments() -> None:
    kernel, c = kernels("faults", "a5"), np.zeros_like(A)
    with pytest.raises(pto.CallError, match="takes 4, and 2 arguments are given"):
        kernel.launch("faults", 0, A)
    with pytest.raises(pto.CallError, match="c is an array of f32"):
        kernel.launch("faults", 0, A, 1, 0)
    with pytest.raises(pto.CallError, match="which is an integer"):
        kernel.launch("faults", A, A, c, 0)
    with pytest.raises(pto.CallError, match="a points to f32, but the array holds f16"):
        kernel.launch("faults", 0, A.astype(np.float16), c, 0)
    with pytest.raises(pto.CallError, match="a: float64 is not supported"):
        kernel.launch("faults", 0, A.astype(np.float64), c, 0)
    wrong: dict[str, tuple[Any, type[Exception]]] = {
        "blocks is 0": ({"blocks": 0}, ValueError),
        "blocks": ({"blocks": 2.5}, TypeError),
        "blocks is 1000000000000": ({"blocks": 10**12}, ValueError),
        "timeout is -1": ({"timeout": -1}, ValueError),
        "timeout is 'x'": ({"timeout": "x"}, TypeError),
    }
    for said, (how, kind) in wrong.items():
        with pytest.raises(kind, match=said):
            kernel.launch("faults", 0, A, c, 0, **how)


def test_wrong_ways_to_compile() -> None:
    with pytest.raises(pto.CallError, match="no file is given"):
        pto.cxx()
    with pytest.raises(TypeError, match="a macro is a str"):
        pto.cxx("a.cpp", define=[3]).build()  # pyright: ignore[reportArgumentType]
    alone = pto.cxx("a.cpp", include="some/folder", define="NAME=1").build()
    listed = pto.cxx("a.cpp", include=["some/folder"], define=["NAME=1"]).build()
    assert alone == listed
    with pytest.raises(pto.CallError, match="it is C\\+\\+, not the text of a program"):
        pto.load(HERE / "faults.cpp")


def ptokit(*words: str) -> subprocess.CompletedProcess[str]:
    command = [*python(), "-m", "ptokit", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_launch_begins_with_a_name() -> None:
    with pytest.raises(pto.PtoError, match="the first argument of a launch is the kernel name"):
        kernels("faults", "a5").launch(A, 0)  # pyright: ignore[reportArgumentType]


def test_host_programs() -> None:
    file = str(HERE / "host.cpp")
    done = ptokit("cxx", "test", file, "--target", "a5", "--", "word")
    assert (done.returncode, done.stdout) == (5, "word right\n"), done.stderr
    done = ptokit("cxx", "test", file, "--target", "a5", "--", "word", "again")
    assert "global-out-of-bounds" in done.stderr
    assert "TSTORE(gc, x)" in done.stderr
    done = ptokit("cxx", "test", file, "--target", "a5", "--", *["once", "more", "it", "runs"])
    assert (done.returncode, done.stdout) == (5, "1 0 once right\n")  # until a reset it fails


@pytest.mark.parametrize(("target", "answer"), [("a2a3", "0 24"), ("kirin9030", "207000 7")])
def test_hosts_ask_how_many_cores_there_are(target: str, answer: str, tmp_path: Path) -> None:
    """The A2 has 24 cube cores; a target that declares none lacks the feature."""
    (tmp_path / "cores.cpp").write_text("""\
#include <cstdio>
#include <runtime/rt.h>
int main()
{
  uint32_t count = 7;
  const int status = rtGetAiCoreCount(&count);
  std::printf("%d %u", status, count);
}
""")
    done = ptokit("cxx", "test", str(tmp_path / "cores.cpp"), "--target", target)
    assert (done.returncode, done.stdout) == (0, answer), done.stderr


def test_host_programs_of_the_simulator_call_kernels() -> None:
    words = ["cxx", "test", str(HERE / "direct.cpp"), "--target", "cpu", "-D", "__CPU_SIM"]
    done = ptokit(*words)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
    assert "warning[shape]" in done.stderr  # of moves of larger views
    assert "TLOAD(y, from)" in done.stderr
    assert "TSTORE(to, y)" in done.stderr
    done = ptokit(*words, "--", "outside")  # an error ends that call alone
    assert (done.returncode, done.stdout) == (1, "stopped\nright\n"), done.stderr
    assert "global-out-of-bounds" in done.stderr
    assert "TLOAD(x, from)" in done.stderr
    done = ptokit(*words, "--", "waits", "forever")
    assert (done.returncode, done.stdout) == (1, "stopped\nright\n"), done.stderr
    assert "deadlock" in done.stderr
    assert "comm::TWAIT(never" in done.stderr


@pytest.mark.parametrize("words", sampled([("cpu", "-D", "__CPU_SIM"), ("a2a3",), ("a5",)], 3))
def test_threads_of_a_host_take_turns(words: tuple[str, ...]) -> None:
    done = ptokit("cxx", "test", str(HERE / "threads.cpp"), "--target", *words, "--timeout", "60")
    assert (done.returncode, done.stdout) == (0, "0 0 0 0 wrong\n"), done.stderr


def test_races_of_host_programs() -> None:
    words = ("cxx", "test", str(HERE / "host.cpp"), "--target", "a5", "--races")
    done = ptokit(*words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done right\n", "")
    done = ptokit(*words, "-D", "FORGOTTEN")
    (line,) = done.stderr.splitlines()
    text = (HERE / "host.cpp").read_text().splitlines()
    store = next(n for n, line in enumerate(text, 1) if "TSTORE(gc, x)" in line)
    assert done.returncode == 1
    assert f"host.cpp:{store}: error[hazard]" in line
    done = ptokit(*words, "-D", "FORGOTTEN", "--", "word", "again")  # ends with an error first
    assert "global-out-of-bounds" in done.stderr
    assert "hazard" not in done.stderr


def test_the_command_line(tmp_path: Any) -> None:  # Any: a path of pytest's
    np.save(tmp_path / "a.npy", A)
    words = ["cxx", "run", str(HERE / "vector.cpp"), "--launch", "vector", "which=0", "n=1"]
    words += [f"a={tmp_path / 'a.npy'}", f"b={tmp_path / 'a.npy'}", "c=zeros:f32:16x64"]
    words += ["-o", f"c={tmp_path / 'c.npy'}", "--target", "a5", "--report", "--races"]
    done = ptokit(*words, "--profile", "--convert", str(tmp_path / "c.pto"))
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(tmp_path / "c.npy"), 2 * A)
    assert "8 instructions on a5" in done.stdout
    assert "pto.tadd" in (tmp_path / "c.pto").read_text()
    done = ptokit(*words[:6])
    assert (done.returncode, "missing argument a" in done.stderr) == (2, True)


INCOMPLETE = {
    "no file of the program defines `main`": "#include <pto/pto-inst.hpp>\nvoid nothing() {}\n",
    "no file of the program includes a header of PTO": "int main() { return 0; }\n",
    "undefined symbol kernel(float*)": "#include <acl/acl.h>\nvoid kernel(float *);\n"
    "int main() { kernel(nullptr); }\n",
    "help: link GoogleTest: -l gtest -l gtest_main": "#include <acl/acl.h>\n"
    "namespace testing { void run(); }\nint main() { testing::run(); }\n",
}


@pytest.mark.parametrize("said", sampled(INCOMPLETE, 4))
def test_incomplete_host_programs(said: str, tmp_path: Path) -> None:
    file = tmp_path / "host alone.cpp"
    file.write_text(INCOMPLETE[said])
    done = ptokit("cxx", "test", str(file))
    assert done.returncode == 1
    assert said in done.stderr
    assert "internal error in ptokit" not in done.stderr + done.stdout


@pytest.mark.parametrize("number", sampled([signal.SIGTERM, signal.SIGINT], 2))
def test_a_signal_ends_a_host_program(number: int, tmp_path: Path) -> None:
    """Neither goes on: a status of its own, one line, and no child that is left."""
    file = tmp_path / "waits.cpp"
    file.write_text("""\
#include <acl/acl.h>
#include <unistd.h>
int main()
{
  std::printf("%d\\n", getpid());
  std::fflush(stdout);
  for (;;) usleep(1000);
}
""")
    command = [*python(), "-m", "ptokit", "cxx", "test", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        child = int(running.stdout.readline())
        running.send_signal(number)
        _, told = running.communicate(timeout=60)
    name = signal.Signals(number).name
    assert (running.returncode, told.decode()) == (
        128 + number,
        f"ended by {name}: nothing was written\n",
    )
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_fault_of_ptokit_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReadyCall, "run", Mock(side_effect=AssertionError("a fault of ours")))
    a, c = A.copy(), np.zeros_like(A)
    with pytest.raises(AssertionError, match=r"please report(?s:.*)a fault of ours"):
        kernels("faults", "a5").launch("faults", 9, a, c, 0)
    assert not c.any()


def test_main_in_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GoogleTest has its `main` in a library of its own, which nothing else asks for."""
    compiler = found_compiler().path
    library, tests = tmp_path / "main.cpp", tmp_path / "tests.cpp"
    library.write_text("int tests(); int main() { return tests(); }\n")
    tests.write_text("#include <acl/acl.h>\nint tests() { return 7; }\n")
    made, archive = tmp_path / "main.o", tmp_path / "libmain.a"
    subprocess.run([compiler, "-fPIC", "-c", str(library), "-o", str(made)], check=True)
    subprocess.run(["ar", "rc", str(archive), str(made)], check=True)
    monkeypatch.setenv("LIBRARY_PATH", str(tmp_path))
    done = ptokit("cxx", "test", str(tests), "-l", "main")
    assert (done.returncode, done.stderr) == (7, "")

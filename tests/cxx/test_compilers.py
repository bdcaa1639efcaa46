"""Compilers of C++ kernels: what is said where something is wrong, and what is kept."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest

from ptokit.api.cxx import compiler, foundcompiler, precompiled
from ptokit.api.cxx.compiler import Build, library
from ptokit.api.cxx.foundcompiler import found_compiler
from ptokit.api.cxx.keptbinaries import KeptBinary
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.targets import TARGETS
from ptokit.machine import codefolder
from ptokit.tools.cli import main

SOURCE = """\
#include <pto/pto-inst.hpp>
#include "beside.hpp"
using namespace pto;
__global__ AICORE void kernel(__gm__ float *p) {
  Tile<TileType::Vec, float, 16, 16> t;
  TABS(t, t);
}
extern "C" int extent() { return EXTENT; }
"""
A5 = Build(TARGETS["a5"])


def has_compiler() -> bool:
    try:
        found_compiler()
    except PtoError:
        return False
    return True


needs_compiler = pytest.mark.skipif(not has_compiler(), reason="no C++ compiler on this machine")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The commands that are run; warm of nothing that other tests keep."""
    commands: list[Sequence[str]] = []
    original = foundcompiler.run

    def run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return original(command)

    for module in (compiler, foundcompiler, precompiled):
        monkeypatch.setattr(module, "run", run)
    return commands


def compiled(runs: Sequence[Sequence[str]], *, headers: bool = False) -> int:
    """How many files were compiled, or how often our headers were."""
    return sum(("-c" in c) and ("c++-header" in c) == headers for c in runs)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file in a folder whose name compilers and shells could stumble over."""
    folder = tmp_path / 'it\'s "quoted" $(a) #1'
    folder.mkdir()
    (folder / "beside.hpp").write_text("#define EXTENT 16\n")
    path = folder / "a  kernel.cpp"
    path.write_text(SOURCE)
    return path


@needs_compiler
def test_a_library_is_kept_until_something_that_it_is_made_of_changes(
    source: Path, runs: list[Sequence[str]]
) -> None:
    first = library([source], A5, "kernel")
    assert ctypes.CDLL(str(first)).extent() == 16
    assert oct(first.parent.stat().st_mode & 0o777) == "0o700"
    assert compiled(runs) == 1
    assert library([source], A5, "kernel") == first
    assert compiled(runs) == 1
    (source.parent / "beside.hpp").write_text("#define EXTENT 17\n")
    second = library([source], A5, "kernel")
    assert ctypes.CDLL(str(second)).extent() == 17
    assert compiled(runs) == 2


@needs_compiler
def test_nothing_is_taken_from_a_folder_that_others_can_write(
    source: Path, tmp_path: Path, runs: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("PTOKIT_CACHE", str(folder))
    monkeypatch.setattr(codefolder, "_warned", set[Path]())
    build = Build(TARGETS["a5"], define={"OTHER": 1})
    with pytest.warns(codefolder.CacheWarning, match="may be written by other users"):
        library([source], build)
    library([source], build)
    assert compiled(runs) == 2
    assert [*folder.iterdir()] == []


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "own cache"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("PTOKIT_CACHE", str(folder))
    return folder


SMALL = """\
#if ASKED  // the names of our headers make a file one of those that read them
#include <pto/pto-inst.hpp>
#endif
extern "C" int one() { return ONE; }
"""


@needs_compiler
def test_our_headers_are_compiled_once(
    source: Path, own_cache: Path, runs: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the second file, until one changes; macros that they ask for make others of them."""
    header = own_cache / "ours.hpp"
    header.write_text("#pragma once\nconstexpr int ONE = 1;\n")
    source.write_text(f'#include "{header}"\n{SMALL}')
    monkeypatch.setattr(precompiled, "TEXT", f'#include "{header}"\n')
    for number, macro in enumerate(["N", "M", "K", "__PTO_AUTO__"]):
        library([source], Build(TARGETS["a5"], define={macro: number}))
    assert (compiled(runs), compiled(runs, headers=True)) == (4, 1)
    header.write_text("#pragma once\nconstexpr int ONE = 20;\n")
    found = library([source], Build(TARGETS["a5"], define={"N": 0}))
    assert ctypes.CDLL(str(found)).one() == 20
    assert (compiled(runs), compiled(runs, headers=True)) == (5, 2)


@needs_compiler
def test_headers_are_compiled_with_a_file_that_could_change_them(
    source: Path, own_cache: Path, runs: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precompiled, "_is_first", Mock(return_value=False))
    for text in ("#define __PTO_AUTO__\n", "#define _GNU_SOURCE 1\n", '#include "pto/own.hpp"\n'):
        (source.parent / "pto").mkdir(exist_ok=True)
        (source.parent / "pto" / "own.hpp").write_text("int own;\n")
        source.write_text(text + SMALL.replace("return ONE", "return 1"))
        library([source], A5)
    assert (compiled(runs), compiled(runs, headers=True)) == (3, 0)


@needs_compiler
@pytest.mark.parametrize("name", ["g++", "clang++", "clang++-19"])
def test_a_compiler_that_does_not_take_its_headers_reads_the_files(
    name: str, source: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"no {name} on this machine")
    source.write_text(SMALL.replace("ONE", "16"))
    broken = KeptBinary({}, b"none of the compiler's")
    monkeypatch.setattr(precompiled, "_compiled", Mock(return_value=broken))
    monkeypatch.setattr(precompiled, "_is_first", Mock(return_value=False))
    found = library([source], Build(TARGETS["a5"], compiler=name))
    assert ctypes.CDLL(str(found)).one() == 16


ERRORS = {  # a change of the source -> the line that is told, and a word of the message
    ("TABS(t, t)", "TABSENT(t, t)"): (6, "TABSENT"),
    ("float *p", "flaot *p"): (4, "flaot"),
    ('"beside.hpp"', '"elsewhere.hpp"'): (2, "elsewhere.hpp"),
}


@needs_compiler
@pytest.mark.parametrize("change", ERRORS)
def test_errors_of_the_compiler_are_one_message(source: Path, change: tuple[str, str]) -> None:
    source.write_text(SOURCE.replace(*change))
    with pytest.raises(PtoError) as caught:
        library([source], A5)
    (found,) = caught.value.diagnostics
    line, word = ERRORS[change]
    assert found.slug == "cxx-compile-error"
    assert word in str(caught.value)
    assert found.span is not None
    assert found.span.line == line
    assert "ptokit-" not in str(caught.value)  # no folder of ours


@needs_compiler
def test_a_launch_of_no_kernel_is_an_error_of_the_launch(source: Path) -> None:
    with pytest.raises(PtoError) as caught:
        library([source], A5, "kernal<float>")
    (found,) = caught.value.diagnostics
    assert (found.slug, "kernal" in found.message) == ("cxx-launch", True)


@needs_compiler
@pytest.mark.parametrize("name", ["g++", "clang++", "clang++-19"])
def test_a_launch_of_a_file_without_headers_is_one_message(name: str, source: Path) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"no {name} on this machine")
    source.write_text("void kernel(float *) {}\n")
    with pytest.raises(PtoError) as caught:
        library([source], Build(TARGETS["a5"], compiler=name), "kernel")
    (found,) = caught.value.diagnostics
    assert found.slug == "cxx-launch"
    assert found.message.endswith(": the file includes no header of PTO")
    assert not found.notes


def test_a_file_that_is_missing_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["cxx", "run", str(tmp_path / "no.cpp"), "--launch", "k", "a=1"])
    assert "cannot read the file: No such file" in capsys.readouterr().err


@needs_compiler
def test_headers_say_which_standard_and_which_target_they_need(source: Path) -> None:
    base = [found_compiler().path, "-fsyntax-only", f"-I{compiler.INCLUDE}", str(source)]
    old = subprocess.run([*base, "-std=c++17"], capture_output=True, text=True)
    none = subprocess.run([*base, "-std=c++20"], capture_output=True, text=True)
    assert "ptokit's headers need C++20" in old.stderr
    assert "define the target that the kernel is for" in none.stderr


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are found."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("PTOKIT_CXX", raising=False)
    return folder


def program(path: Path, says: str, status: int = 0) -> None:
    path.write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
    path.chmod(0o755)


def test_a_machine_without_a_compiler_gets_one_message(path: Path) -> None:
    with pytest.raises(PtoError, match="neither g\\+\\+ nor clang\\+\\+ is in PATH") as caught:
        found_compiler()
    (found,) = caught.value.diagnostics
    assert found.slug == "no-compiler"
    with pytest.raises(PtoError, match="nothing: not found"):
        found_compiler("nothing")


def test_the_first_compiler_that_is_new_enough_is_taken(path: Path) -> None:
    program(path / "g++", "g++ (Debian 9.3.0) 9.3.0")
    program(path / "g++-11", "g++ (Debian 11.2.0) 11.2.0")
    program(path / "clang++-14", "Debian clang version 14.0.6")
    program(path / "clang++", "broken", 1)
    with pytest.raises(PtoError) as caught:
        found_compiler()
    seen = caught.value.diagnostics[0].seen or ""
    assert "g++: version 9 is older than 12" in seen
    assert "clang++: no version printed" in seen
    program(path / "clang++-17", "Debian clang version 17.0.6")
    found = found_compiler()
    assert (found.clang, os.path.basename(found.path)) == (True, "clang++-17")
    program(path / "g++-13", "g++ (Debian 13.2.0) 13.2.0")
    assert os.path.basename(found_compiler().path) == "clang++-17"
    assert os.path.basename(found_compiler("g++-13").path) == "g++-13"


MIXED = """\
#include <pto/pto-inst.hpp>
#include "shared.hpp"
using namespace pto;
AICORE inline int doubled(bfloat16_t *, pipe_t, int n) { return 2 * n; }
namespace inner {
extern "C" __global__ AICORE void both(__gm__ float *p, int n) {
#if defined(__DAV_CUBE__)
  TABS(scaled(1), doubled((bfloat16_t *)p, PIPE_V, n));
#elif defined(__DAV_VEC__)
  TABS(scaled(2), doubled((bfloat16_t *)p, PIPE_V, n));
#endif
}
}
"""
SHARED = """\
#ifndef SHARED_HPP
#define SHARED_HPP
#include <cstdint>
namespace pto {
AICORE inline int scaled(int n) {
#ifdef __DAV_CUBE__
  return 10 * n;
#else
  return 100 * n;
#endif
}
}
#endif
"""


@needs_compiler
@pytest.mark.parametrize("name", ["g++", "clang++", "clang++-19"])
def test_a_mixed_kernel_has_a_body_for_each_kind_of_core(name: str, tmp_path: Path) -> None:
    from issued import Listener

    if shutil.which(name) is None:
        pytest.skip(f"no {name} on this machine")
    (tmp_path / "shared.hpp").write_text(SHARED)
    file = tmp_path / "mixed.cpp"
    file.write_text(MIXED)
    heard = Listener(library([file], Build(TARGETS["a5"], compiler=name), "inner::both"))
    found = [[v[2] for v in call.values] for call in heard.all(4096, 7)]
    assert found == [[200, 14], [10, 14]]
    assert heard.texts == ["inner::both"]
    assert heard.left == [0, 0]


COUNTING = """\
#include <acl/acl.h>
using namespace pto;
__global__ void count(int n) { TABS(n); }
void run(int n) { count<<<n, nullptr, nullptr>>>(n); }
"""
HOST = """\
void run(int n);
static int total = 5;
int main() { run(total); return total; }
"""


@needs_compiler
def test_files_of_a_program_are_one_library(tmp_path: Path) -> None:
    for name, text in {"kernel.cpp": COUNTING, "main.cpp": HOST}.items():
        (tmp_path / name).write_text(text)
    from issued import Listener

    heard = Listener(library([tmp_path / "kernel.cpp", tmp_path / "main.cpp"], A5, "run"))
    assert heard.library.main() == 5
    assert [c.name for c in heard.calls].count("TABS") == 5


def test_the_command_prints_the_folder_of_the_headers(capsys: pytest.CaptureFixture[str]) -> None:
    main(["cxx", "include"], standalone_mode=False)
    assert (Path(capsys.readouterr().out.strip()) / "pto" / "pto-inst.hpp").is_file()


@needs_compiler
def test_macros_of_kernels_are_no_names_of_the_headers(tmp_path: Path) -> None:
    """Kernels take extents as macros, and name them as they like."""
    words = {
        "TILE",
        "VALUE",
        "TYPE",
        "DOUBLE",
        "LAUNCH",
        "HEAD",
        "STOP",
        "KIND",
        "PIPE",
        "VR",
        "VC",
    }
    define = dict.fromkeys((*words, *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 3)
    file = tmp_path / "macros.cpp"
    file.write_text(SOURCE.replace('#include "beside.hpp"', "#define EXTENT N"))
    assert library([file], Build(TARGETS["a5"], define=define), "kernel").is_file()


@needs_compiler
def test_the_command_writes_a_library(source: Path, tmp_path: Path) -> None:
    made = tmp_path / "made.so"
    words = ["cxx", "build", str(source), "--target", "a5", "-D", "N=1", "-o", str(made)]
    main(words, standalone_mode=False)
    assert ctypes.CDLL(str(made)).extent() == 16

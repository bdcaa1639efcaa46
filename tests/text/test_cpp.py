"""Programs in C++: what is used is defined before, and compilers take them with our headers.

`make cpp` compiles the same programs against the public ones, and runs them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest

from account.files import ROOT
from fuzz.scale import sampled
from ptokit.api.kernel.loading import load, loads
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Op
from ptokit.isa.index import pages
from ptokit.isa.lang.asm import CHIPS, EVERYWHERE, NOWHERE
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import ALLOCATES
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import TARGETS
from ptokit.text.write.cpplacking import CppWarning
from ptokit.text.write.cppmodule import cpp_of
from ptokit.text.write.cpptypes import identifier

COMPILER = shutil.which("g++") or shutil.which("clang++")
DECLARED = re.compile(r"(?<!return)(?:[\w>] [*&]?|[>*&\]] ?|auto \[(?:\w+, )*|, )$")
CARRIED = """\
func.func @pair(%a: i32, %b: i32) -> (i32, i32) {
  return %b, %a : i32, i32
}
func.func @f(%x: i32, %n: index, %c: i1) -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %bit = arith.extsi %c : i1 to i32
  %last = arith.trunci %x : i32 to i1
  %inf = arith.constant 0x7F800000 : f32
  %p, %q = func.call @pair(%x, %bit) : (i32, i32) -> (i32, i32)
  %u, %v = scf.for %i = %zero to %n step %one iter_args(%s = %p, %t = %q) -> (i32, i32) {
    scf.yield %t, %s : i32, i32
  }
  %w = scf.if %c -> (i32) {
    scf.yield %u : i32
  } else {
    scf.yield %v : i32
  }
  return %w : i32
}
"""


INCLUDE = files("ptokit.api.cxx") / "include"


def printed(program: Program) -> str:
    """The program in C++; what headers lack of it is another test's."""
    with catch_warnings():
        simplefilter("ignore", CppWarning)
        return program.text("cpp")


def cpp(page: type[Instr]) -> str:
    return printed(loads(example_program(page)))


def what_cpp_uses_is_defined_before(page: type[Instr]) -> None:
    """All but constants that are numbers there, and views of which only windows are used."""
    funcs, text = loads(example_program(page)).module.funcs, cpp(page)
    names = {identifier(v.name) for func in funcs for v in func.named()}
    for name in names:
        first = re.search(rf"(?<![\w:.]){name}\b(?!\()|(?<= ){name}\(", text)
        assert first is None or DECLARED.search(text[: first.start()]), (name, text)
    ops = (op for func in funcs for op in func.body.walk() if isinstance(op, Op))
    results = [
        v for op in ops if not op.regions and op.page.asm.shape != "constant" for v in op.results
    ]
    for result in (v for v in results if not isinstance(v.type, GlobalType)):
        assert re.search(rf"\b{identifier(result.name)}\b", text), (result, text)


def what_headers_lack_is_a_comment_or_guarded_and_reported(page: type[Instr]) -> None:
    """Each page says whose headers have its call: no other compilation sees the call."""
    program = loads(example_program(page))
    text, lacks = cpp_of(program.after(["to_dps"], TARGETS["cpu"]).module)
    lines = [line.strip() for line in text.splitlines()]
    guards = [n for n, line in enumerate(lines) if line.startswith("#ifndef __CPU_SIM")]
    comments = [line for line in lines if line.startswith("// ") and "  // the" in line]
    of_chips = [lack for lack in lacks if lack.on is CHIPS]
    assert len(guards) == len(of_chips)
    assert all(lines[n + 2] == "#endif" for n in guards)
    used = any(
        op.page is page for f in program.module.funcs for op in f.walk() if isinstance(op, Op)
    )
    if used and page.asm.cpp_on is not EVERYWHERE:
        assert page.asm.cpp_on in {lack.on for lack in lacks}
    assert not used or page.asm.cpp_on is not NOWHERE or comments
    with catch_warnings(record=True) as found:
        simplefilter("always")
        program.text("cpp")
    assert {one.category for one in found} <= {CppWarning}
    told = {str(one.message).partition("]: ")[2].partition(":")[0] for one in found}
    assert told == {lack.op.name for lack in lacks}


@pytest.mark.parametrize(
    "obeys",
    [what_cpp_uses_is_defined_before, what_headers_lack_is_a_comment_or_guarded_and_reported],
)
def test_the_cpp_of_each_page(obeys: Callable[[type[Instr]], None]) -> None:
    faults = list[str]()
    for page in (p for p in pages() if not p.below):
        try:
            obeys(page)
        except AssertionError as fault:
            faults.append(f"{page.__name__}: {fault}")
    assert not faults, "\n".join(faults)


def programs() -> Iterator[tuple[str, str]]:
    """Every program of the repository in C++, but for those that show what is wrong with them."""
    yield "carried", printed(loads(CARRIED))
    yield "windows", printed(loads(WINDOWS.replace("LAST", "")))
    yield from ((p.__name__, cpp(p)) for p in pages() if not p.below)
    for path in sorted([*ROOT.glob("examples/**/*.pto"), *ROOT.glob("tests/**/*.pto")]):
        text = path.read_text(encoding="utf-8")
        if path.parent.name != "errors" and "pto.vmi." not in text:  # no header has that level
            yield str(path.relative_to(ROOT)), printed(loads(text))


def compiled(bodies: dict[str, str], folder: Path) -> dict[str, str]:
    """What the compiler says against each body, all in one file; none where it takes it."""
    lines = [f"#include <{name}>" for name in ("array", "bit", "cmath", "tuple")]
    lines += ["#include <pto/pto-inst.hpp>", "#define __DAV_CUBE__", "#define __DAV_VEC__"]
    lines += ["using namespace pto;"]
    first: dict[int, str] = {}
    for number, (name, body) in enumerate(bodies.items()):
        first[len(lines) + 1] = name
        lines += f"namespace n{number} {{\n{body}\n}}".splitlines()
    file = folder / "all.cpp"
    file.write_text("\n".join(lines))
    command = [str(COMPILER), "-std=c++20", "-fsyntax-only", "-DPTOKIT_TARGET_CPU", f"-I{INCLUDE}"]
    done = subprocess.run([*command, str(file)], capture_output=True, text=True)
    found: dict[str, str] = {}
    for match in re.finditer(r"all\.cpp:(\d+):\d+: error: (.*)", done.stderr):
        start = max((n for n in first if n <= int(match[1])), default=0)
        found.setdefault(first.get(start, "the header"), match[2])
    assert (done.returncode != 0) == bool(found), done.stderr[:2000]
    return found


def body(text: str) -> str:
    return text.partition("using namespace pto;\n")[2]


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler on this machine")
def test_a_compiler_takes_every_program(tmp_path: Path) -> None:
    lacking = ("a tile whose type the program leaves out", "which C++ does not pass as")
    bodies = {n: body(t) for n, t in programs() if not any(why in t for why in lacking)}
    assert len(bodies) > 300
    assert compiled(bodies, tmp_path) == {}


WINDOWS = """\
func.func private @h(%w: PART) -> PART {
  return %w : PART
}
func.func private @g(%w: WHOLE) -> WHOLE {
  return %w : WHOLE
}
func.func @k(%t: WHOLE) {
  %c = arith.constant 0 : index
  %u = func.call @g(%t) : (WHOLE) -> WHOLE
  %all = pto.subview %u[%c, %c] sizes [16, 64] : WHOLE -> WHOLE
  %v = func.call @g(%all) : (WHOLE) -> WHOLE
  %s = pto.subview %v[%c, %c] sizes [8, 32] : WHOLE -> PART
  pto.texp ins(%s : PART) outs(%s : PART)
  LAST
  return
}
""".replace("WHOLE", "!pto.tile_buf<vec, 16x64xf32>").replace(
    "PART", "!pto.tile_buf<vec, 8x32xf32>"
)
GIVEN = "func.call @h(%s) : (!pto.tile_buf<vec, 8x32xf32>) -> !pto.tile_buf<vec, 8x32xf32>"


def test_a_part_that_goes_where_its_extents_count_is_said_to_have_no_type() -> None:
    told = printed(loads(WINDOWS.replace("LAST", f"%x = {GIVEN}")))
    (line,) = [line for line in told.splitlines() if "does not pass" in line]
    part = "Tile<TileType::Vec, float, 8, 32>"
    window = "Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, 8, 32>"
    assert line == f"  // s: it is a {window}, which C++ does not pass as {part}"
    assert f"  {window} s; TSUBVIEW(s, v, c, c);\n" in told
    assert "does not pass" not in loads(WINDOWS.replace("LAST", "")).text("cpp")
    assert "  auto u = g(t);\n" in told  # tiles that a function gives may be written


PATHS = sorted([*ROOT.glob("examples/**/*.pto"), *ROOT.glob("tests/pto/*.pto")])
LEVEL3 = sampled([(path, chip) for path in PATHS for chip in ("a2a3", "a5")], 31)
WRITTEN = {"set_flag": "set_flag(", "wait_flag": "wait_flag(", "barrier <": "pipe_barrier("}


def level3(path: Path, chip: str) -> Program | None:
    """The program with every address, flag and barrier, read back; None: it has no such form."""
    program = load(path)
    if any(problem.is_error for problem in program.check(chip)):
        return None
    try:
        text = program.text(level=3, target=chip)
    except PtoError:
        return None
    again = loads(text)
    assert again.text() == text
    return again


def test_a_part_of_a_tile_of_elided_type_has_text() -> None:
    part = "%w = pto.subset %t, %n, %n sizes [%n, %n] : !pto.tile<...> -> !pto.tile<...>"
    assert "w" in loads(f".arg %n : index\n{part}").text("cpp")


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler on this machine")
def test_a_compiler_takes_programs_with_all_addresses_and_flags(tmp_path: Path) -> None:
    bodies: dict[str, str] = {}
    for path, chip in LEVEL3:
        if (program := level3(path, chip)) is None:
            continue
        ops = [op for func in program.module.funcs for op in func.body.walk()]
        tiles = [o for o in ops if isinstance(o, Op) and ALLOCATES in o.page.traits]
        assert all(op.bound("addr") for op in tiles), path
        text, cpp = program.text(), printed(program)
        for word, called in WRITTEN.items():
            assert text.count(f"pto.{word}") == cpp.count(called), (path, chip, word)
        bodies[f"{path.stem} {chip}"] = body(cpp)
    assert bodies
    assert compiled(bodies, tmp_path) == {}


@pytest.mark.parametrize("kind", ["cube", "vector"])
def test_sections_are_compiled_for_their_cores_alone(kind: str) -> None:
    text = f"func.func @f(%a: i32) {{\n  pto.section.{kind} {{\n"
    text += "    %b = arith.addi %a, %a : i32\n  }\n  return\n}\n"
    macro = "__DAV_CUBE__" if kind == "cube" else "__DAV_VEC__"
    lines = [f"#if defined({macro})", "{", "const int32_t b = a + a;", "}", "#endif"]
    assert "\n".join(lines) in loads(text).text("cpp").replace("  ", "")


def test_names_that_c_plus_plus_reserves() -> None:
    text = """func.func private @main(%new: i32) -> i32 {
  %half = arith.addi %new, %new : i32
  return %half : i32
}
func.func @f(%int: i32) attributes {pto.entry} {
  %r = func.call @main(%int) : (i32) -> i32
  return
}
"""
    printed = loads(text).text("cpp")
    assert "AICORE int32_t main_(int32_t new_)" in printed
    assert "const int32_t half_ = new_ + new_;" in printed
    assert 'extern "C" __global__ AICORE void f(int32_t int_)' in printed
    assert "auto r = main_(int_);" in printed


SEVERAL = """\
module {
  func.func @run(%n: i32) attributes {pto.entry} {
    %m = func.call @more(%n) : (i32) -> i32
    func.call @far(%m) : (i32) -> ()
    return
  }
  func.func private @more(%n: i32) -> i32 {
    return %n : i32
  }
  func.func private @far(i32)
}
// -----
module @second {
  func.func private @far(i32)
  func.func @run(%n: i32) attributes {pto.entry} {
    %m = func.call @more(%n) : (i32) -> i32
    func.call @far(%m) : (i32) -> ()
    return
  }
  func.func private @more(%n: i32) -> i32 {
    %m = arith.addi %n, %n : i32
    return %m : i32
  }
  func.func private @run_2(%n: i32) {
    return
  }
}
"""


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler on this machine")
def test_functions_of_one_name_in_several_modules(tmp_path: Path) -> None:
    printed = loads(SEVERAL).text("cpp")
    assert compiled({"several": body(printed)}, tmp_path) == {}
    assert re.findall(r"(\w+)\(int32_t n\)\n", printed) == [
        "run",
        "more",
        "run_2",
        "more_2",
        "run_2_2",
    ]
    assert re.findall(r"= (\w+)\(", printed) == ["more", "more_2"]
    assert printed.count("void far(int32_t arg0);") == 1


BUFFER, ROWS, EACH_OTHER, OPEN = (
    f"memref<{extents}, #pto.address_space<gm>>"
    for extents in (
        "1024xf32",
        "16x32xf32, strided<[32, 1], offset: ?>",
        "4x8xf32, strided<[64, 1], offset: ?>",
        "?x8xf32, strided<[?, 1], offset: ?>",
    )
)
CASTS = f"""\
func.func @casts(%x: {BUFFER}, %n: index) {{
  %v = memref.reinterpret_cast %x to offset: [%n], sizes: [16, 32], strides: [32, 1]\
 : {BUFFER} to {ROWS}
  %s = memref.subview %v[3, 5] [4, 8] [2, 1] : {ROWS} to {EACH_OTHER}
  %q = memref.cast %s : {EACH_OTHER} to {OPEN}
  %z = memref.reinterpret_cast %q to offset: [7], sizes: [16, 32], strides: [32, 1]\
 : {OPEN} to {ROWS}
  %p = memref.subview %z[2, 0] [4, 8] [2, 1] : {ROWS} to {EACH_OTHER}
  %y = memref.reinterpret_cast %z to offset: [%n], sizes: [16, 32], strides: [32, 1]\
 : {ROWS} to {ROWS}
  return
}}
"""
VIEWS = """\
#include <cstdint>
#include <cstdio>
#define AICORE
#define __global__
#define __gm__
constexpr int DYNAMIC = -1;
template <int... N> struct Numbers {  // five, of which those that are DYNAMIC are given
  int64_t of[5] = {N...};
  Numbers(auto... n) {
    int64_t given[] = {n..., 0}, *next = given;
    for (auto &each : of)
      if (each == DYNAMIC) each = *next++;
  }
};
template <int... N> struct Shape : Numbers<N...> { using Numbers<N...>::Numbers; };
template <int... N> struct Stride : Numbers<N...> { using Numbers<N...>::Numbers; };
template <class T, class S, class D> struct GlobalTensor {
  T *first;
  D steps;
  GlobalTensor(T *p, const S & = {}, const D &d = {}) : first(p), steps(d) {}
  int64_t GetStride(int n) const { return steps.of[n]; }
  T *data() const { return first; }
};
"""


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler on this machine")
def test_casts_of_casts_begin_where_the_simulator_has_them(tmp_path: Path) -> None:
    names, n = "vsqzpy", 11
    body = (
        loads(CASTS).text("cpp").partition("using namespace pto;\n")[2].partition("}\n// launch")[0]
    )
    shown = "".join(f'std::printf("%d ", int({name}.data() - x));' for name in names)
    started = f"static float x[1024]; casts(x, {n});"
    file, program = tmp_path / "casts.cpp", tmp_path / "casts"
    file.write_text(f"{VIEWS}{body}{shown}}}\nint main() {{ {started} }}\n")
    subprocess.run([str(COMPILER), "-std=c++20", "-o", program, file], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    first = {"v": ROWS, "s": EACH_OTHER, "q": OPEN, "z": ROWS, "p": EACH_OTHER, "y": ROWS}
    for place, name in enumerate(names):
        lines = f"%e = memref.load %{name}[%o, %o] : {first[name]}\n"
        lines = f"%o = arith.constant 0 : index\n{lines}memref.store %e, %x[%o] : {BUFFER}\nreturn"
        found = loads(CASTS.replace("return", lines)).run(x=np.arange(1024.0, dtype="f4"), n=n)["x"]
        assert int(found[0]) == int(done.stdout.split()[place]), name


def test_where_an_argument_begins_is_left_open() -> None:
    """Its type says that it begins somewhere in its buffer."""
    text = CASTS.replace(f"%x: {BUFFER}", f"%x: {ROWS}").replace(f" : {BUFFER} to", f" : {ROWS} to")
    found = loads(text).text("cpp")
    assert "v(x_view.data() /* from where its array begins */ + n" in found
    assert "z(v" not in found

"""Programs in C++: what is used is defined before, and a compiler takes what is no intrinsic."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ptokit.api.program import loads
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import Instr

COMPILER = shutil.which("g++") or shutil.which("clang++")
DECLARED = re.compile(r"(?<!return)(?:[\w>] [*&]?|[>*&\]] ?|auto \[(?:\w+, )*|, )$")
SCALAR = [p for p in pages() if not (p.executes or p.unexecuted)]
# a stand-in for the vendor's header: any tile and any call of an intrinsic
HEADER = """\
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>
#define AICORE
#define __gm__
#define __ubuf__
using half = float;
using bfloat16_t = float;
struct float8_e4m3_t {};
struct float8_e8m0_t {};
enum { DYNAMIC };
enum class TileType { Vec, Left, ScaleLeft, Scaling, Mat, Acc, Right };
enum class BLayout { RowMajor, ColMajor };
enum class SLayout { NoneBox, RowMajor, ColMajor };
enum class cache_line_t { ENTIRE_DATA_CACHE, SINGLE_CACHE_LINE };
enum { DSB_DDR, DSB_ALL, DSB_UB };
inline void dcci(const void *, cache_line_t) {}
inline void dsb(int) {}
inline void trap() {}
namespace cce {
template <class... N> void printf(const char *, N...) {}
}
template <int I, int... J, class S> auto &field(S &s) {
  if constexpr (sizeof...(J) > 0) return field<J...>(std::get<I>(s));
  else return std::get<I>(s);
}
template <int...> struct Shape {};
template <int...> struct Stride {};
template <TileType L, class T, auto...> struct Tile {
  template <class... N> Tile(N...) {}
  T *data() const { return 0; }
  template <class N> T GetValue(N) const { return T(); }
  template <class... N> void SetValidShape(N...) {}
  int64_t GetValidRow() const { return 0; }
  int64_t GetValidCol() const { return 0; }
};
template <class T, class... S> struct GlobalTensor {
  template <class P> GlobalTensor(P, std::array<int64_t, 2>, std::array<int64_t, 2>) {}
  T *data() const { return 0; }
  int64_t GetShape(int64_t) const { return 0; }
  int64_t GetStride(int64_t) const { return 0; }
  using I = std::array<int64_t, 2>;
  GlobalTensor partition(I, I) const { return *this; }
};
struct PrefetchAsyncContext { PrefetchAsyncContext(void *) {} int session; };
template <class... S> struct Asked {
  bool Wait(auto) { return true; }
  bool Test(auto) { return true; }
};
template <class V> Asked<> TPREFETCH_ASYNC(V, PrefetchAsyncContext) { return {}; }
enum pipe_t { PIPE_MTE2, PIPE_V };
void get_buf(pipe_t, int64_t, int), rls_buf(pipe_t, int64_t, int), set_ffts_base_addr(uint64_t);
constexpr bool DAV_CUBE = true, DAV_VEC = true;
int64_t get_block_idx(), get_block_num(), get_subblockid(), get_subblockdim();
"""
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


def cpp(page: type[Instr]) -> str:
    return loads(example_program(page)).text("cpp")


@pytest.mark.parametrize("page", pages(), ids=lambda p: p.__name__)
def test_what_cpp_uses_is_defined_before(page: type[Instr]) -> None:
    funcs, text = loads(example_program(page)).module.funcs, cpp(page)
    names = {v.name for func in funcs for v in func.named()}
    for name in (f"v{n}" if n[:1].isdigit() else n for n in names):
        first = re.search(rf"(?<![\w:.]){name}\b(?!\()|(?<= ){name}\(", text)
        assert first is None or DECLARED.search(text[: first.start()]), (name, text)
    ops = (op for func in funcs for op in func.body.walk())
    for result in (v for op in ops if not op.regions for v in op.results):
        assert re.search(rf"\b{result.name}\b", text), (result, text)


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler on this machine")
def test_a_compiler_takes_scalars_control_and_handles(tmp_path: Path) -> None:
    programs = [*map(cpp, SCALAR), loads(CARRIED).text("cpp")]
    calls = {c for text in programs for c in re.findall(r"\b([A-Z][A-Z_]+)\(", text)} - {"AICORE"}
    calls -= {"INFINITY", "NAN"}
    lines = [HEADER, *(f"template <class... T> void {c}(T &&...) {{}}" for c in sorted(calls))]
    for i, text in enumerate(programs):
        _, _, body = text.partition("using namespace pto;\n")
        lines.append(f"namespace n{i} {{{body.replace('void main(', 'void example(')}}}")
    file = tmp_path / "all.cpp"
    file.write_text("\n".join(lines))
    command = [str(COMPILER), "-std=c++20", "-fsyntax-only", str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]

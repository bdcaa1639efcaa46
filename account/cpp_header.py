"""A stand-in for the vendor's C++ header, from the pages: programs in C++ compile against it.

It declares types, enumerations, and every intrinsic with the kinds of its parameters in order and
the types of its template arguments. Nothing in it has a body, and nothing is meant to run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Attr, Instr, Operand
from ptokit.isa.model.dtypes import DTYPES
from ptokit.isa.model.types import Kind
from ptokit.isa.model.words import Word
from ptokit.isa.pages.synchronisation import ANY_VECTOR, ENDS

PRELUDE = """\
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>
#define AICORE
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __DAV_CUBE__  // a section of either kind is compiled
#define __DAV_VEC__
using bfloat16_t = float;
constexpr int DYNAMIC = -1;
struct Asked {  // what an intrinsic gives that does not wait
  bool Wait(auto &&);
  bool Test(auto &&);
  operator bool() const;
};
namespace comm {
struct AsyncSession {};
using AsyncEvent = Asked;
enum class DmaEngine { SDMA };
template <DmaEngine> void BuildAsyncSession(auto &, auto *, AsyncSession &, int = 0);
template <class G> struct ParallelGroup { ParallelGroup(G *, int, int); };
}
enum class HistByte { BYTE_0, BYTE_1, BYTE_2, BYTE_3 };
enum class MxQuantAlg { Hif4, OcpMxFp8E4M3, OcpMxFp4E2M1, NvMxFp8E4M3, NvMxFp4E2M1 };
enum class Direction {};
enum class TileSplitAxis {};
template <int, Direction, int, int, int = 2, bool = false> struct TPipe {
  TPipe(void *, uint32_t, uint32_t);
};
struct PrefetchAsyncContext {
  PrefetchAsyncContext(auto *);
  comm::AsyncSession session;
};
"""
TYPES = """\
template <TileType L, class T, int R, int C, BLayout B = BLayout::RowMajor, int VR = R, int VC = C,
          SLayout S = SLayout::NoneBox, int F = 512, PadValue P = PadValue::Null,
          CompactMode M = CompactMode::Null>
struct Tile {
  static constexpr int Numel = R * C;
  using DType = T;
  Tile(int64_t = R, int64_t = C);
  T *data() const;
  T GetValue(int64_t) const;
  void SetValue(int64_t, T);
  void SetValidShape(int64_t, int64_t);
  int64_t GetValidRow() const, GetValidCol() const;
};
template <int64_t... N> struct Five {
  Five() {}
  Five(std::convertible_to<int64_t> auto... n) {
    static_assert(sizeof...(n) == ((N == DYNAMIC) + ...));
  }
};
template <int64_t... N> requires(sizeof...(N) == 5) struct Shape : Five<N...> {
  using Five<N...>::Five;
};
template <int64_t... N> requires(sizeof...(N) == 5) struct Stride : Five<N...> {
  using Five<N...>::Five;
};
template <int64_t...> struct ConvTileShape {};
template <TileType L, class T, int64_t N, Layout F, class S> struct ConvTile { T *data() const; };
template <class T, class S, class D, Layout L = Layout::ND> struct GlobalTensor {
  using DType = T;
  GlobalTensor(T *, const S & = {}, const D & = {});
  GlobalTensor();
  T *data() const;
  int64_t GetShape(int64_t) const, GetStride(int64_t) const;
};
template <class T> constexpr bool tile_v = false;
template <TileType L, class T, BLayout B, SLayout S, PadValue P, CompactMode M, int R,
          int C, int VR, int VC, int F>
constexpr bool tile_v<Tile<L, T, R, C, B, VR, VC, S, F, P, M>> = true;
template <class T> constexpr bool conv_v = false;
template <TileType L, class T, int64_t N, Layout F, class S>
constexpr bool conv_v<ConvTile<L, T, N, F, S>> = true;
template <class T> constexpr bool global_v = false;
template <class T, class S, class D, Layout L>
constexpr bool global_v<GlobalTensor<T, S, D, L>> = true;
template <class T> concept TILE = tile_v<std::remove_cvref_t<T>>;
template <class T> concept CONV = conv_v<std::remove_cvref_t<T>>;
template <class T> concept GLOBAL = global_v<std::remove_cvref_t<T>>;
template <class T> concept PTR = std::is_pointer_v<std::remove_cvref_t<T>>;
template <class T>
concept SCALAR = std::is_arithmetic_v<std::remove_cvref_t<T>> || std::is_same_v<T, half>;
template <class T> concept INDEX = SCALAR<T> && std::is_integral_v<std::remove_cvref_t<T>>;
template <class... T> struct List {};
constexpr bool in_order(List<>, auto) { return true; }
template <class A, class... Rest>
constexpr bool in_order(List<A, Rest...>, List<>) { return false; }
template <class A, class... Rest, class B, class... Known>
constexpr bool in_order(List<A, Rest...>, List<B, Known...>) {
  if constexpr (std::is_same_v<A, B> || (std::is_same_v<A, int> && std::is_same_v<B, bool>))
    if (in_order(List<Rest...>(), List<Known...>())) return true;
  return in_order(List<A, Rest...>(), List<Known...>());
}
template <class Given, class Known> concept IN_ORDER = in_order(Given(), Known());
"""
OTHERS = """\
#define __VEC_SCOPE__
using TRandomKey = uint32_t[2];
using TRandomCounter = uint32_t[4];
struct MrgSortExecutedNumList {
  uint16_t mrgSortList0, mrgSortList1, mrgSortList2, mrgSortList3;
};
enum class cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
struct RecordEvent {};
template <Op, Op, bool, event_t> struct Event {
  void operator=(RecordEvent), Wait();
};
void set_flag(pipe_t, pipe_t, event_t), wait_flag(pipe_t, pipe_t, event_t), pipe_barrier(pipe_t);
void dcci(PTR auto, cache_line_t);
void trap();
void dsb(mem_dsb_t), set_ffts_base_addr(uint64_t);
int64_t ld_dev(auto *, int64_t), get_ctrl(), sbitset0(int64_t, int64_t), sbitset1(int64_t, int64_t);
void st_dev(auto, auto *, int64_t), set_ctrl(uint64_t), set_mov_pad_val(auto);
void set_loop_size_outtoub(uint64_t), set_loop_size_ubtoout(uint64_t);
void set_loop1_stride_outtoub(uint64_t), set_loop2_stride_outtoub(uint64_t);
void set_loop1_stride_ubtoout(uint64_t), set_loop2_stride_ubtoout(uint64_t);
void set_loop_size_outtol1(uint64_t), set_loop1_stride_outtol1(uint64_t);
void set_loop2_stride_outtol1(uint64_t), set_mte2_nz_para(uint64_t), set_pad_val_outtol1(uint64_t);
void set_store_atomic_cfg(uint64_t), set_quant_pre(uint64_t), set_relu_alpha(uint64_t);
void set_fix_clip_relu(uint64_t), set_fpc(uint64_t), set_vector_mask(uint64_t, uint64_t);
void set_mask_count(), set_mask_norm(), set_atomic_add(), set_atomic_max(), set_atomic_min();
void set_atomic_none(), set_atomic_f32(), set_atomic_f16(), set_atomic_bf16(), set_atomic_s32();
void set_atomic_s16(), set_atomic_s8();
uint64_t getFFTSMsg(int64_t, int64_t), getFFTSMsg(int64_t);
void ffts_cross_core_sync(pipe_t, uint64_t), wait_flag_dev(int64_t);
void set_cross_block(pipe_t, int64_t), wait_cross_block(pipe_t, int64_t);
void set_intra_block(pipe_t, int64_t), wait_intra_block(pipe_t, int64_t);
pipe_t pipe_of(Op);
void get_buf(pipe_t, int64_t, int64_t), rls_buf(pipe_t, int64_t, int64_t);
namespace cce { template <class... T> void printf(const char *, T...); }
template <int I, int... Rest> auto &field(auto &of) {
  if constexpr (sizeof...(Rest) == 0) return std::get<I>(of);
  else return field<Rest...>(std::get<I>(of));
}
int64_t get_block_idx(), get_block_num(), get_subblockid(), get_subblockdim();
int64_t get_l2_cache_offset();
"""
COMM = "comm::"  # the namespace of what ranks do together
CALL = re.compile(r"\b((?:comm::)?[A-Z][A-Z0-9_]+)(<.*?>)?\(((?:[^()]|\([^()]*\))*)\);")
STATED = re.compile(r"(\w+)(?:<(.*?)>)?\((.*)\)")
OPTIONAL = re.compile(r"\[(.*?)\]")
HANDLES = ("TILE", "CONV", "GLOBAL")
BY_VALUE = {Kind.INDEX: "INDEX auto", Kind.SCALAR: "SCALAR auto", Kind.PTR: "PTR auto"}


def header() -> str:
    """The text of the header."""
    parts = [
        PRELUDE,
        *_element_types(),
        *_enumerations(),
        TYPES,
        _operations(),
        *_intrinsics(),
        OTHERS,
    ]
    return "\n".join(parts) + "\n"


def _element_types() -> Iterator[str]:
    known = {f"{u}int{bits}_t" for u in ("", "u") for bits in (8, 16, 32, 64)}
    for name in dict.fromkeys(d.cpp for d in DTYPES):
        if name not in known | {"float", "double", "bool", "bfloat16_t"}:
            yield f"using {name} = _Float16;" if name == "half" else f"struct {name} {{}};"


def _words(base: type[Word] = Word) -> Iterator[type[Word]]:
    for each in base.__subclasses__():
        yield each
        yield from _words(each)


def _enumerations() -> Iterator[str]:
    """One for each type of words; those of the C library's kind are not scoped."""
    pages()
    members: dict[str, dict[str, None]] = {}
    for word in _words():
        if word.cpp_type.removeprefix(COMM).isidentifier():
            names = members.setdefault(word.cpp_type, {})
            names |= dict.fromkeys(str(m.cpp) for m in word if str(m.cpp).isidentifier())
    for name, found in members.items():
        scoped = "" if name.endswith("_t") else "class "
        text = f"enum {scoped}{name.removeprefix(COMM)} {{ {', '.join(found)} }};"
        yield f"namespace comm {{ {text} }}" if name.startswith(COMM) else text


def _operations() -> str:
    """The names of events: intrinsics, with the ends of a path where these matter."""
    names = dict.fromkeys(p.cpp for p in pages() if p.asm.dialect == "pto" and p.executes)
    moving = [name for name in names if name in ("TMOV", "TSTORE", "TEXTRACT", "TINSERT")]
    ways = [*ENDS, *(f"{one}2{other}" for one in ENDS for other in ENDS)]
    paths = [f"{name}_{way}" for name in moving for way in ways]
    return f"enum class Op {{ {', '.join([*names, *paths, *ANY_VECTOR])} }};"


Signature = tuple[
    str, tuple[str, ...], bool
]  # a name, kinds of parameters, whether tiles are deduced


def _intrinsics() -> Iterator[str]:
    """Each intrinsic once for each list of parameters that some page has."""
    found: dict[Signature, list[str]] = {}
    for page in pages():
        if page.asm.dialect == "pto":
            calls = _of_text(page) if page.asm.cpp_text else _of_page(page)
            for signature, words in () if page.asm.call else calls:
                found.setdefault(signature, [])
                if words not in found[signature]:
                    found[signature].append(words)
    stated = [line for page in pages() if page.asm.call for line in _stated(page)]
    yield from dict.fromkeys(stated)
    for (name, kinds, deduced), lists in sorted(found.items()):
        yield _declared(name, kinds, deduced, lists)


def _declared(name: str, kinds: Sequence[str], deduced: bool, lists: Sequence[str]) -> str:
    tiles = [f"{k} T{n}" for n, k in enumerate(kinds) if k in ("TILE", "CONV", "GLOBAL")]
    params = [f"T{n} &" if k in ("TILE", "CONV", "GLOBAL") else k for n, k in enumerate(kinds)]
    if name.startswith(COMM):
        return f"namespace comm {{ {_declared(name.removeprefix(COMM), kinds, deduced, lists)} }}"
    if lists[0].startswith("class,"):
        return f"template <{', '.join([lists[0], *tiles])}> void {name}({', '.join(params)});"
    some = "class... A" if "class" in lists else "auto... A"
    names = ", ".join([some, *tiles] if deduced else [*tiles, "auto... A"])
    given = "List<std::remove_cv_t<decltype(A)>...>"
    fits = " || ".join(f"IN_ORDER<{given}, List<{words}>>" for words in lists)
    fits = "" if {"...", "class"} & {*lists} else f" requires({fits})"
    return f"template <{names}>{fits} Asked {name}({', '.join(params)});"


def _of_page(page: type[Instr]) -> Iterator[tuple[Signature, str]]:
    """The call of a page without C++ of its own: operands that are given, in order."""
    words = ", ".join(t for a in page.attrs if a.cpp and (t := _attribute(a)))
    choices = [_ways(operand) for operand in page.operands]
    for kinds in product(*choices):
        yield (page.cpp, tuple(k for some in kinds for k in some), page.asm.deduced), words


def _stated(page: type[Instr]) -> Iterator[str]:
    """The call that a page states, with and without what may be left out."""
    found = STATED.fullmatch(page.asm.call)
    assert found is not None
    name, listed, arguments = found.groups()
    operands = {o.name: o for o in page.operands}
    attrs = {a.name: a for a in page.attrs}
    passed: list[list[list[str]]] = []
    for word in arguments.split(", "):
        if word in operands:
            ways = _ways(operands[word])
            passed.append([[f"{k} auto &" if k in HANDLES else k for k in way] for way in ways])
        else:
            passed.append([[_attribute(attrs[word]) if word in attrs else "auto &&"]])
    words: list[list[str]] = []
    for word in (listed or "").split(", "):
        attr, operand = attrs.get(word.strip("&?=")), operands.get(word)
        optional = word[-1:] in ("?", "=") or (operand is not None and not operand.required)
        words.append(["class" if attr is None else _attribute(attr), *([""] if optional else [])])
    some = {tuple(filter(None, chosen)) for chosen in product(*words)} if listed else {()}
    given = [chosen if {*chosen} != {"class"} else () for chosen in some]
    for types, ways in product(dict.fromkeys(given), product(*passed)):
        head = f"template <{', '.join(types)}> " if types else ""
        yield f"{head}Asked {name}({', '.join(k for way in ways for k in way)});"


def _ways(operand: Operand) -> list[list[str]]:
    """The parameters that an operand may be: none where it may be left out, several of a list."""
    one = _kind(operand)
    if operand.many:
        return [[one] * n for n in range(0, 6)]
    return [[one]] if operand.required else [[], [one]]


def _kind(operand: Operand) -> str:
    if operand.kind in (Kind.TILE, Kind.CONV, Kind.GLOBAL):
        return operand.kind.name
    return BY_VALUE.get(operand.kind, "auto &&")


def _attribute(attr: Attr) -> str:
    """The type of a template argument."""
    if issubclass(attr.kind, Word):
        return attr.kind.cpp_type
    return attr.kind.__name__ if attr.kind in (bool, int) else ""


def _of_text(page: type[Instr]) -> Iterator[tuple[Signature, str]]:
    """The calls of intrinsics in the C++ of a page, with and without what may be left out."""
    text = page.asm.cpp_text or ""
    pieces = OPTIONAL.split(text)  # every second one may be left out
    choices = [("", piece) if n % 2 else (piece,) for n, piece in enumerate(pieces)]
    for chosen in product(*choices):
        for name, templates, arguments in CALL.findall("".join(chosen)):
            kinds = tuple(_argument(page, each) for each in _split(arguments))
            yield (name, kinds, bool(templates)), _of_templates(page, templates)


def _of_templates(page: type[Instr], text: str) -> str:
    """What template arguments in the C++ of a page are: none, types, words, or anything.

    Where they name types of arguments, what each of them is.
    """
    words = [a.kind for a in page.attrs if f"<{{{a.name}}}>" == text]
    if any(issubclass(word, Word) and not word.cpp_type for word in words):
        return "class"
    types = [re.match(r"(\w+)(?:\(|::)", each) for each in _split(text[1:-1])]
    if text and all(types):
        return ", ".join(match[1].replace("decltype", "class") for match in types if match)
    return "..." if text else ""


def _argument(page: type[Instr], text: str) -> str:
    """The kind of an argument: an operand, its address, a word of an enumeration."""
    if match := re.fullmatch(r"(&?)\{(\w+)\}", text):
        operand = next((o for o in page.operands if o.name == match[2]), None)
        kind = "auto &&" if operand is None else _kind(operand)
        return f"{kind} auto *" if match[1] else kind
    if text.startswith("(uint64_t)"):
        return BY_VALUE[Kind.SCALAR]
    match = re.match(r"((?:comm::)?(?!comm\b)\w+)::", text)
    return match[1] if match else "auto &&"


def _split(arguments: str) -> list[str]:
    """The arguments; commas in braces and brackets are their own."""
    found, depth = [""], 0
    for letter in arguments:
        depth += (letter in "({") - (letter in ")}")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [each.strip() for each in found if each.strip()]

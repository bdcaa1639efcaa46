"""A main() for a program in C++: it reads arguments from a file, runs every core, writes them.

Arrays are memory of the host. Tiles that a function takes lie at the addresses where ptokit has
them, in the memories that the headers' simulator gives each thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from public_programs import TARGET, Case

from ptokit.analysis.fifos import lanes_of
from ptokit.forms.percore import launched_cores
from ptokit.ir.module import Value
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import PtrType, ScalarType
from ptokit.isa.model.words import CUBE, VECTOR, KernelKind
from ptokit.text.write.cpptypes import tile_cpp

Array: TypeAlias = "NDArray[Any]"  # Any: of any element type
Bytes: TypeAlias = "NDArray[np.uint8]"
ROOM = 1 << 20  # bytes of memory that is only scratch
FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}
PRELUDE = """\
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>
#include <pto/pto-inst.hpp>
#include <functional>
#include <map>
"""
# one memory for each key: the FIFOs of a block, until the next block starts
SHARED = """\
static std::map<std::string, std::vector<unsigned char>> shared;
static std::mutex sharing;
extern "C" void *pto_cpu_sim_get_shared_storage(std::string key, size_t size)
{
  std::lock_guard lock(sharing);
  auto &found = shared[key];
  if (found.empty()) found.resize(size + 64);
  return (void *)(((uintptr_t)found.data() + 63) / 64 * 64);
}
using Core = std::pair<int, std::function<void()>>;  // its number among vector cores, its body
static void run(int block, int lanes, std::vector<Core> cores)
{
  std::vector<std::thread> threads;
  for (auto &[lane, body] : cores)
    threads.emplace_back([=, lane = lane, body = body] {
      pto::NPU_MEMORY_INIT(pto::NPUArch::A5);
      pto::cpu_sim::set_execution_context(block, lane, lanes);
      body();
    });
  for (auto &thread : threads) thread.join();
}
static std::vector<unsigned char> data;
static unsigned char *at(size_t place) { return data.data() + place; }
"""


class NotHere(Exception):
    """A reason that a program cannot be given its arguments there."""


@dataclass
class Argument:
    """An argument of a function: its place among the bytes of all, and how it is given."""

    value: Value
    place: int
    image: Bytes  # the bytes before the run
    address: int = 0  # of a tile

    @property
    def tile(self) -> TileType | None:
        kind = self.value.type
        return kind if isinstance(kind, TileType) else None


def arguments(case: Case, ours: Mapping[str, Array]) -> list[Argument]:
    """The arguments of the function that runs, with their bytes; outputs begin with zeros."""
    assert case.program is not None
    place, found = 0, list[Argument]()
    maps = case.program.memory(TARGET, case.entry.name)
    starts = {tile.name: tile.start for one in maps for tile in one.tiles}
    for value in case.entry.args:
        given = case.arguments.get(value.name)
        if given is None and value.name in ours:
            given = np.zeros_like(ours[value.name])
        image, start = _image(value, given), starts.get(value.name)
        found.append(Argument(value, place, image, start or 0))
        place += -(-len(image) // 512) * 512
    return found


def _image(value: Value, given: object) -> Bytes:
    """The bytes of an argument: of a tile in the order of its layout."""
    kind = value.type
    if isinstance(kind, ScalarType):
        return np.zeros(0, np.uint8)
    if isinstance(kind, TileType):
        return stored(kind, given)
    if given is None and isinstance(kind, GlobalType | PtrType):
        return np.zeros(ROOM, np.uint8)
    if not isinstance(kind, GlobalType | PtrType):
        raise NotHere(f"its argument {value.name} is a {kind}")
    array = np.ascontiguousarray(given)
    if kind.dtype.packed or array.itemsize != kind.dtype.size:
        raise NotHere(f"an array of {kind.dtype} has other elements in Python than in C++")
    return array.reshape(-1).view(np.uint8).copy()


def stored(kind: TileType, given: object) -> Bytes:
    """The bytes of a tile whose valid region is `given`; zeros elsewhere."""
    if kind.dtype.bits < 8:
        raise NotHere("a tile of two elements a byte has another layout there")
    image = np.zeros(kind.span * kind.size, np.uint8)
    if given is not None:
        cells = image.reshape(-1, kind.size)
        array = np.ascontiguousarray(given)
        rows = array.reshape(array.shape if array.ndim == 2 else (1, -1))
        for (row, col), _ in np.ndenumerate(rows):
            cells[kind.map.offset(row, col)] = np.frombuffer(rows[row, col].tobytes(), np.uint8)
    return image


def logical(kind: TileType, image: Bytes, shape: Sequence[int]) -> Bytes:
    """The bytes of the elements of a tile, row by row."""
    cells = image.reshape(-1, kind.size)
    rows, cols = shape if len(shape) == 2 else (1, shape[0])
    order = [kind.map.offset(r, c) for r in range(rows) for c in range(cols)]
    return cells[order].reshape(-1)


def source(case: Case, given: Sequence[Argument]) -> str:
    """The whole program: the text for each kind of core, and main()."""
    row = case.row
    assert row is not None
    cores = [*_cores(case)]
    lanes = sum(kind is VECTOR for _, kind, _ in cores) or 1
    calls = ", ".join(
        f"Core({lane}, [=] {{ {_call(case, given, kind.name.lower(), function)} }})"
        for function, kind, lane in cores
    )
    total = sum(-(-len(one.image) // 512) * 512 for one in given) + 4096
    lines = [PRELUDE, *_texts(case), SHARED, "int main(int, char **files)", "{"]
    lines += [f"  data.resize({total});", '  FILE *in = fopen(files[1], "rb");']
    lines += ["  if (fread(data.data(), 1, data.size(), in) == 0) return 2;"]
    lines += [f'  setenv("PTO_CPU_SIM_NUM_CORES", "{row.blocks}", 1);']
    lines += ["  pto::cpu_sim::InitializeRuntime();"]
    lines += [f"  for (int block = 0; block < {row.blocks}; ++block)", "  {", "    shared.clear();"]
    lines += [f"    run(block, {lanes}, {{{calls}}});", "  }"]
    lines += ['  FILE *out = fopen(files[2], "wb");', "  fwrite(data.data(), 1, data.size(), out);"]
    return "\n".join([*lines, "  return fclose(out);", "}"]) + "\n"


def _cores(case: Case) -> Iterator[tuple[str, KernelKind, int]]:
    """The function, the kind and the number of each core of a block; vector cores come last."""
    assert case.program is not None
    funcs = launched_cores(case.program.module, case.entry, always=True)
    lanes = lanes_of(funcs)
    for kind in (CUBE, VECTOR):
        if kind in funcs:
            name = case.cores.get(kind, case.called(case.entry.name))
            yield from ((name, kind, n) for n in range(lanes if kind is VECTOR else 1))


def _texts(case: Case) -> Iterator[str]:
    """The text once for each kind of core, in a namespace of its own."""
    assert case.program is not None
    both = len(case.cores) > 1
    plain = re.sub(r"#include.*\n", "", case.text).replace('extern "C" ', "")
    for name, macro, other in (
        ("cube", "__DAV_CUBE__", "__DAV_VEC__"),
        ("vector", "__DAV_VEC__", "__DAV_CUBE__"),
    ):
        yield f"#undef {macro}\n#undef {other}\n#define {macro}"  # the header defines some
        yield "" if both else f"#define {other}"
        yield f"namespace {name} {{\n{plain}}}"


def _call(case: Case, given: Sequence[Argument], kind: str, function: str) -> str:
    """The statements that run a function: tiles are filled before it, and copied back behind."""
    before, after, passed = list[str](), list[str](), list[str]()
    for n, one in enumerate(given):
        value, tile = one.value, one.tile
        array = f"at({one.place})"
        if tile is not None:
            before.append(f"{tile_cpp(tile)} a{n}; TASSIGN(a{n}, {one.address});")
            before.append(f"memcpy((void *)a{n}.data(), {array}, {len(one.image)});")
            after.append(f"memcpy({array}, (void *)a{n}.data(), {len(one.image)});")
            passed.append(f"a{n}")
        elif isinstance(value.type, ScalarType):
            passed.append(_number_or_place(case, value, value.type))
        else:
            kind_ = value.type
            assert isinstance(kind_, PtrType | GlobalType)
            passed.append(f"({kind_.dtype.cpp} *){array}")
            passed += _extents(kind_, case.arguments.get(value.name))
    call = f"{kind}::{function}({', '.join(passed)});"
    return " ".join(["using namespace pto;", *before, call, *after])


def _extents(kind: PtrType | GlobalType, given: Any) -> Iterator[str]:  # Any: an array
    if isinstance(kind, GlobalType):
        pairs = zip(np.asarray(given).shape, kind.shape, strict=False)
        yield from (str(n) for n, stated in pairs if stated is None)


def _number_or_place(case: Case, value: Value, kind: ScalarType) -> str:
    """A number that is given, or one that a launch gives: which block it is, of how many."""
    if value.name in case.arguments:
        return _number(kind, case.arguments[value.name])
    if "subblock" in value.name:
        return "get_subblockdim()" if "num" in value.name else "get_subblockid()"
    return "get_block_num()" if "num" in value.name else "get_block_idx()"


def _number(kind: ScalarType, given: object) -> str:
    """A number as a literal of its type, whatever bits it has."""
    cpp = kind.dtype.cpp if kind.dtype else "int64_t"
    if not kind.is_float:
        return f"({cpp}){int(np.asarray(given))}"
    bits = int.from_bytes(np.asarray(given, FLOATS[kind.bits]).tobytes(), "little")
    return f"std::bit_cast<{cpp}>(uint{kind.bits}_t({bits}u))"

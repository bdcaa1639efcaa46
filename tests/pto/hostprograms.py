"""The host programs of public cases: `main` compiled against a few functions, its launches here.

`run_host` compiles main.cpp and launch.cpp of a case as they are, with functions of the runtime on
ordinary memory. Each `name<<<blocks, ...>>>(...)` calls back with the values of its arguments, so
that sizes, scalars, files and the order of launches are what the program says.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PAGE = 1 << 16  # bytes behind each array, which kernels reach that copy more than the array has
LAUNCH = re.compile(r"(\w+)\s*<<<([^,]+),[^>]*>>>\s*\(")
BYTES = NDArray[np.uint8]
STUB = r"""
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#define __global__
#define __gm__
typedef int aclError; typedef void *aclrtStream; typedef uint16_t aclFloat16;
typedef uint16_t half, bf16_storage_t;
enum { ACL_SUCCESS, ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEMCPY_HOST_TO_DEVICE,
       ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_HOST_TO_HOST };
static std::map<char *, size_t> pto_arrays;
static int aclInit(const void *) { return 0; }
static int aclFinalize() { return 0; }
static int aclrtSetDevice(int) { return 0; }
static int aclrtResetDevice(int) { return 0; }
static int aclrtCreateStream(void **s) { *s = s; return 0; }
static int aclrtDestroyStream(void *) { return 0; }
static int aclrtSynchronizeStream(void *) { return 0; }
static const char *aclGetRecentErrMsg() { return ""; }
static int aclrtMalloc(void **p, size_t n, int) {
  *p = calloc(n + PTO_ROOM, 1); pto_arrays[(char *)*p] = n; return 0; }
static int aclrtMallocHost(void **p, size_t n) { *p = calloc(n + PTO_ROOM, 1); return 0; }
static int aclrtFree(void *) { return 0; }
static int aclrtFreeHost(void *) { return 0; }
static int aclrtMemcpy(void *d, size_t, const void *s, size_t n, int) {
  memcpy(d, s, n); return 0; }
static int aclrtMemset(void *d, size_t, int v, size_t n) { memset(d, v, n); return 0; }
namespace PtoTestCommon {
static bool ReadFile(const std::string &path, size_t &size, void *to, size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  std::string all((std::istreambuf_iterator<char>(file)), {});
  size = all.size() < most ? all.size() : most;
  memcpy(to, all.data(), size);
  return true; }
static bool WriteFile(const std::string &path, const void *from, size_t size) {
  std::ofstream(path, std::ios::binary).write((const char *)from, size);
  return true; }
}
extern "C" { void (*pto_call)(const char *, int, int, const void **, const long *); }
struct PtoArguments {
  const void *at[64]; long bytes[64]; unsigned char numbers[64][8]; int count = 0;
  template <class T> void add(T *pointer) {  // what is left of the array, or minus its size
    auto found = --pto_arrays.upper_bound((char *)pointer);
    at[count] = pointer; bytes[count++] = found->first + found->second - (char *)pointer; }
  template <class T> void add(T number) {
    memcpy(numbers[count], &number, sizeof number);
    at[count] = numbers[count]; bytes[count++] = -(long)sizeof number; }
};
template <class... T> static void pto_launch(const char *name, int blocks, T... given) {
  PtoArguments all; (all.add(given), ...);
  pto_call(name, blocks, all.count, all.at, all.bytes); }
template <class... T> static void pto_launch(const char *name, unsigned blocks, T... given) {
  pto_launch(name, (int)blocks, given...); }
"""
SORTED = "MrgSortExecutedNumList"  # a type that both files declare
TYPES = "hifloat8_t float8_e4m3_t float8_e5m2_t float8_e8m0_t float4_e1m2x2_t float4_e2m1x2_t"
CALL = ctypes.CFUNCTYPE(
    None,
    ctypes.c_char_p,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_long),
)


class Launched(NamedTuple):
    """A launch: the kernel, its blocks, and the bytes of each argument.

    The bytes of an array are those of the program, with PAGE further ones; `sizes` has their
    number without them, and None for numbers.
    """

    kernel: str
    blocks: int
    values: list[BYTES]
    sizes: list[int | None]


def run_host(case: Path, folder: Path, launch: Callable[[Launched], None]) -> str:
    """Run the program of a case in a folder; return the errors of the compiler, if it fails."""
    library = _compiled(case, folder)
    if isinstance(library, str):
        return library
    raised: list[BaseException] = []

    def called(name: bytes, blocks: int, count: int, at: ..., sizes: ...) -> None:
        if raised:
            return
        try:
            many = [int(sizes[i]) for i in range(count)]
            values = [_bytes(at[i], n + PAGE if n >= 0 else -n) for i, n in enumerate(many)]
            launch(Launched(name.decode(), blocks, values, [n if n >= 0 else None for n in many]))
        except BaseException as problem:
            raised.append(problem)

    callback = CALL(called)
    ctypes.c_void_p.in_dll(library, "pto_call").value = ctypes.cast(callback, ctypes.c_void_p).value
    with contextlib.chdir(folder):
        library.main()
    if raised:
        raise raised[0]
    return ""


def _compiled(case: Path, folder: Path) -> ctypes.CDLL | str:
    launch, main = ((case / f"{name}.cpp").read_text("utf-8-sig") for name in ("launch", "main"))
    launch = LAUNCH.sub(r'pto_launch("\1", \2, ', launch)
    text = f"{launch}\n{main.replace(SORTED, f'{SORTED}Host')}".replace("[aicore]", "")
    text = re.sub(r"\b(__fp16|bfloat16_t)\b", "uint16_t", re.sub(r",\s*\)", ")", text))
    types = "".join(f"struct {name};" for name in TYPES.split())
    (folder / "acl").mkdir(exist_ok=True)
    for header in ("acl/acl.h", "test_common.h"):
        (folder / header).write_text("#pragma once\n", encoding="utf-8")
    program, result = folder / "program.cpp", folder / "program.so"
    program.write_text(f"{STUB}{types}\n{text}", encoding="utf-8")
    options = [f"-DPTO_ROOM={PAGE}", "-std=c++17", "-O0", "-w", "-fpermissive", "-shared", "-fPIC"]
    command = ["g++", *options, f"-I{folder}", str(program), "-o", str(result)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
    return ctypes.CDLL(str(result))


def _bytes(at: int, size: int) -> BYTES:
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(at))

"""Entries about C++ kernels: the compiler and the launch."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

CPP: dict[str, Entry] = {
    "no-compiler": Entry(
        "no usable C++ compiler found",
        "C++ kernels are compiled by the machine's own compiler: g++ from version 12 or clang++ "
        "from version 15, which support C++20 and 16-bit floats. ptokit uses the first in PATH, "
        "plain names before numbered ones; PTOKIT_CXX or `--compiler` names another. Install one "
        "with `apt install g++` on Debian and Ubuntu, with `xcode-select --install` on macOS.",
    ),
    "cxx-compile-error": Entry(
        "C++ compilation failed",
        "The message repeats the compiler's errors, with lines of the program. Kernels compile "
        "against ptokit's own headers, whose folder `ptokit cxx include` prints; the headers "
        "declare every instruction that has a page, under its C++ name. `-I` gives further "
        "folders, `-D` macros. A name that the headers lack is no instruction known to ptokit.",
    ),
    "cxx-launch": Entry(
        "the kernel cannot be launched",
        "A launch names a function of the file with all of its template arguments, as C++ would "
        "between `&` and a comma: `add<float, 64>`. A kernel is marked `__global__`. Every other "
        "function is called once and launches kernels itself; in a file in which no function "
        "launches a kernel, that function is a kernel too.",
    ),
}

"""Entries of the catalogue about C++ kernels: the compiler, and what is launched."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

CPP: dict[str, Entry] = {
    "no-compiler": Entry(
        "there is no C++ compiler that can be used",
        "C++ kernels are compiled by the machine's own compiler: g++ from version 12 or clang++ "
        "from version 15, which know C++20 and 16-bit floats. The first one in PATH is taken, "
        "plain names before numbered ones; PTOKIT_CXX or `--compiler` names another. On Debian "
        "and Ubuntu `apt install g++`, on macOS `xcode-select --install` brings one.",
    ),
    "cxx-compile-error": Entry(
        "the C++ compiler refuses the program",
        "The message repeats what the compiler says, with lines of the program. Kernels compile "
        "against ptokit's own headers, whose folder `ptokit cxx include` prints; they declare "
        "every instruction that has a page, under its C++ name. `-I` gives further folders, `-D` "
        "macros. A name that the headers lack is no instruction that ptokit knows.",
    ),
    "cxx-launch": Entry(
        "this kernel cannot be launched",
        "A launch names a function of the file with all of its template arguments, as C++ would "
        "between `&` and a comma: `add<float, 64>`. A kernel is marked `__global__`. Any other "
        "function is called once and launches kernels itself; where no function of the file "
        "launches any, it is a kernel, too.",
    ),
}

"""Compile the C++ of every program against a clone of the public headers, and run it there.

`make cpp PTO_ISA=<clone>`, where the clone is one of github hw-native-sys/pto-isa. Each program of
the tree, and the example of each page, compiles with `-D__CPU_SIM`. Those whose instructions the
CPU simulator of the clone has also run there: bytes are compared with ours on target `cpu`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from public_differences import ENDLESS, EXPLAINED, NOT_COMPILED, PAGES_NOT_COMPILED
from public_harness import Argument, Array, NotHere, arguments, logical, source
from public_programs import TARGET, Case, cases, examples

from ptokit.diagnostics.diagnostic import PtoError

USAGE = "make cpp PTO_ISA=<a clone of github hw-native-sys/pto-isa>"
FLAGS = ("-std=c++20", "-D__CPU_SIM", "-DNDEBUG", "-O1", "-w")
FIRST = ("-include", "cstdint", "-include", "array", "-include", "vector")
HEADERS = "#include <array>\n#include <cmath>\n#include <tuple>\n#include <pto/pto-inst.hpp>\n"
SECONDS = 30
ENDS_NOT = f"did not end within {SECONDS} seconds"


class Compiler:
    """A compiler with the headers of a clone, read once."""

    def __init__(self, name: str, clone: Path, folder: Path) -> None:
        self.name, self.folder = name, folder
        paths = [f"-I{clone / 'include'}", f"-I{clone / 'tests' / 'common'}"]
        self.command = [name, *FLAGS, *FIRST, *paths]
        header = folder / "all.hpp"
        header.write_text(HEADERS)
        self.read = folder / "all.hpp.gch"
        self._run("-x", "c++-header", str(header), "-o", str(self.read)).check_returncode()

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self.command, *arguments], capture_output=True, text=True)

    def compile(self, name: str, text: str, program: Path | None = None) -> str:
        """Compile a text, to a program if one is wanted; return the first error, if any."""
        file = self.folder / f"{name}.cpp"
        file.write_text(text)
        what = ["-fsyntax-only"] if program is None else ["-rdynamic", "-o", str(program), "-ldl"]
        done = self._run("-include-pch", str(self.read), str(file), *what)
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        return "" if done.returncode == 0 else next(iter(errors), done.stderr[-300:])


def ran(compiler: Compiler, case: Case) -> str:
    """Run a program there and here; how the bytes differ, empty if they do not."""
    row, written = case.row, case.program
    assert written is not None
    how = {"target": TARGET, "blocks": row.blocks, "func": case.entry.name}
    ours = written.run(engine="reference", **how, **case.arguments)
    given = arguments(case, ours)
    program = compiler.folder / case.name
    problem = compiler.compile(f"main_{case.name}", source(case, given), program)
    if problem:
        return f"does not compile with its main(): {problem}"
    before, after = compiler.folder / "before", compiler.folder / "after"
    parts = [one.image.tobytes().ljust(-(-len(one.image) // 512) * 512, b"\0") for one in given]
    before.write_bytes(b"".join(parts) + bytes(4096))
    after.unlink(missing_ok=True)
    try:
        done = subprocess.run([program, before, after], capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return ENDS_NOT
    finally:
        program.unlink()
    if done.returncode or not after.exists():
        return f"ended with status {done.returncode}: {done.stderr.decode()[-200:].strip()}"
    return "; ".join(_differences(ours, given, after.read_bytes()))


def _differences(
    ours: Mapping[str, Array], given: Sequence[Argument], there: bytes
) -> Iterator[str]:
    """Name each argument whose bytes differ, with how many of its elements do."""
    for one in given:
        name, tile = one.value.name, one.tile
        if name not in ours or not len(one.image):
            continue
        found = np.frombuffer(there, np.uint8, len(one.image), one.place)
        array = np.ascontiguousarray(ours[name])
        mine = array.reshape(-1).view(np.uint8)
        found = found if tile is None else logical(tile, found, array.shape)
        if len(found) != len(mine):
            yield f"{name} has {len(found)} bytes there, {len(mine)} here"
            continue
        wrong = (found != mine).reshape(array.size, -1).any(1)
        if wrong.any():
            n = int(wrong.argmax())
            there_n = found.view(array.dtype)[n]
            yield (
                f"{int(wrong.sum())} of {array.size} elements of {name}: number {n} is {there_n} "
                f"there, {array.reshape(-1)[n]} here"
            )


def judged(case: Case, compiler: Compiler) -> tuple[str, str]:
    """What is said of a program in one word, and why."""
    if case.problem:
        return "not printed", case.problem
    problem = compiler.compile(case.name, case.text)
    if problem:
        why = NOT_COMPILED.get(case.name)
        return ("does not compile", why) if why else ("FAIL", f"does not compile: {problem}")
    if case.why_not_run:
        return "not run", case.why_not_run
    try:
        problem = ran(compiler, case)
    except NotHere as why:
        return "not run", str(why)
    except PtoError as why:
        return "not run", f"ptokit does not run it on {TARGET}: {why.diagnostics[0].message}"
    if problem == ENDS_NOT and case.name in ENDLESS:
        return "does not end", ENDLESS[case.name]
    known = EXPLAINED.get(case.name)
    if not problem:
        return ("equal", "") if known is None else ("FAIL", f"does not differ any more: {known}")
    return ("differs", f"{known}: {problem}") if known else ("FAIL", problem)


def main(wanted: Sequence[str]) -> int:
    if not wanted or not (Path(wanted[0]) / "include" / "pto" / "pto-inst.hpp").exists():
        print(f"this needs the public headers: {USAGE}", file=sys.stderr)
        return 2
    name = next(filter(shutil.which, ("clang++-19", "clang++")), None)
    if name is None:
        print("this needs clang++ on PATH", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(name, Path(wanted[0]).resolve(), Path(folder))
        for case in cases():
            if wanted[1:] and case.name not in wanted[1:]:
                continue
            verdict, why = judged(case, compiler)
            count[verdict] += 1
            if verdict != "equal":
                print(f"{case.name}: {verdict}: {why}", flush=True)
        pages = Counter[str]()
        for page, text in () if wanted[1:] else examples():
            problem = compiler.compile(page, text)
            known = PAGES_NOT_COMPILED.get(page)
            verdict = "compiles" if not problem else "explained" if known else "FAIL"
            pages[verdict] += 1
            if problem:
                print(f"example of {page}: {verdict}: {known or problem}", flush=True)
    programs = sum(count.values())
    compiled = programs - count["not printed"] - count["does not compile"] - count["FAIL"]
    print(f"{compiled} of {programs} programs compile: {dict(count)}")
    print(f"examples of pages: {dict(pages)}")
    return 1 if count["FAIL"] or pages["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

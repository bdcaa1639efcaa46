"""The programs of the tree: each as C++ with addresses, with arguments, and what runs it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import golden_kernels
import golden_models
import golden_programs
import golden_targets
import golden_tiles
import numpy as np
from golden import GOLDEN, Arrays, Golden

from account.files import ROOT
from ptokit.api.kernel.loading import load, loads
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.forms.percore import per_core
from ptokit.ir.module import Func
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import PtrType, ScalarType
from ptokit.isa.model.words import KernelKind
from ptokit.text.write.cpplacking import Lack
from ptokit.text.write.cppmodule import cpp_of
from ptokit.text.write.cpptypes import identifier

REFERENCES = (golden_kernels, golden_models, golden_programs, golden_targets, golden_tiles)
FOLDERS = ("examples", "examples/pto", "tests/pto")
LAUNCHED = re.compile(r"^// launch: (\w+)<<<", re.MULTILINE)
SEED = 7
TARGET = "cpu"


def blocks_of(random: np.random.Generator, *shapes: tuple[int, ...]) -> Iterator[np.ndarray]:
    for shape in shapes:
        yield random.integers(-4, 5, shape).astype(np.float16)


def gemm(random: np.random.Generator) -> tuple[Arrays, Arrays]:
    a, b = blocks_of(random, (512, 384), (384, 320))
    return {"a": a, "b": b, "c": np.zeros((512, 320), np.float32)}, {}


def square(random: np.random.Generator) -> tuple[Arrays, Arrays]:
    a, b = blocks_of(random, (1024, 1024), (1024, 1024))
    return {"a": a, "b": b, "c": np.zeros((1024, 1024), np.float32)}, {}


def stream(random: np.random.Generator) -> tuple[Arrays, Arrays]:
    x = random.integers(-9, 10, 8192).astype(np.float32)
    return {"x": x, "y": np.zeros_like(x)}, {}


def sampled(func: Func, random: np.random.Generator) -> Iterator[tuple[str, object]]:
    """Yield small whole numbers for each argument of a function, and 1 for each number."""
    for arg in func.args:
        kind = arg.type
        shape = (kind.valid.rows or 1, kind.valid.cols or 1) if isinstance(kind, TileType) else MANY
        if isinstance(kind, GlobalType) and kind.fixed:
            shape = tuple(n or 1 for n in kind.shape)
        if isinstance(kind, ScalarType):
            yield arg.name, 1
        elif isinstance(kind, TileType | GlobalType | PtrType):
            numbers = random.integers(1, 5, shape)
            if kind.dtype.plain or kind.dtype.name == "f16":
                yield arg.name, numbers.astype(kind.dtype.native)


MANY = (1 << 16,)  # elements behind a pointer
FAULTY = ("overrun", "race")
# examples that show something else than what they compute
EXAMPLES = {"gemm": Golden(gemm), "gemm_grid": Golden(square, blocks=4), "stream": Golden(stream)}


@dataclass
class Case:
    """A program, and why it is not compiled or not run, if it is not."""

    path: Path
    text: str = ""
    program: Program | None = None
    lacks: list[Lack] = field(default_factory=list[Lack])
    problem: str = ""

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def row(self) -> Golden:
        """How it is run; without a reference, on random arguments."""
        known = GOLDEN.get(self.name) or EXAMPLES.get(self.name)
        return known or Golden(lambda random: (dict(sampled(self.entry, random)), {}))

    @cached_property
    def arguments(self) -> Arrays:
        return self.row.reference(np.random.default_rng(SEED))[0]

    @cached_property
    def entry(self) -> Func:
        assert self.program is not None
        known = GOLDEN.get(self.name)
        return self.program.entry_named(known.entry if known else None)

    @cached_property
    def cores(self) -> Mapping[KernelKind, str]:
        """The C++ function of each kind of core; of a kernel of one core none."""
        assert self.program is not None
        module = self.program.module
        return {kind: self.called(f.name) for kind, f in per_core(module, self.entry).items()}

    def called(self, name: str) -> str:
        """The name of a function in C++."""
        found = identifier(name)
        return found if re.search(rf"\b{found}\(", self.text) else f"{found}_2"

    @property
    def why_not_run(self) -> str:
        """Why the program is compiled alone."""
        row = self.row
        if self.name in FAULTY:
            return "it shows what is wrong with a program"
        if row.ranks > 1:
            return "it is one of several ranks"
        if row.stops:
            return f"its run ends with {row.stops}"
        if TARGET in row.refused:
            return f"{TARGET} does not take it: {row.refused[TARGET]}"
        if self.lacks:
            missing = dict.fromkeys(one.op.name for one in self.lacks)
            return f"the simulator of the headers lacks {', '.join(missing)}"
        return ""


def cases() -> Iterator[Case]:
    """Yield every program of the tree in C++, with addresses where it can be placed."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.pto")):
            yield case(path)


def case(path: Path) -> Case:
    program = load(path)
    problem = "no passes give it addresses"
    for passes in (("scratch", "place"), ("place",), ("scratch",), ()):
        for name in TARGETS:
            try:
                placed = program.after([*passes, "to_dps"], TARGETS[name])
                text, lacks = cpp_of(placed.module)
            except PtoError as error:
                problem = error.diagnostics[0].message
                continue
            return Case(path, text, placed, lacks)
    return Case(path, problem=problem)


def examples() -> Iterator[tuple[str, str]]:
    """Yield the example of every page in C++, with the scratch of a chip that takes it."""
    for page in pages():
        program = loads(example_program(page))
        for name in ("a2a3", "a5", "cpu"):
            try:
                module = program.after(["scratch", "to_dps"], TARGETS[name]).module
            except PtoError:
                continue
            yield page.__name__, cpp_of(module)[0]
            break
        else:
            yield page.__name__, cpp_of(program.module)[0]

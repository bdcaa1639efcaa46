"""Small functions in PTO text, their arguments' arrays, and the time of the native engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from clock import Measure, Times, random, took

import ptokit as pto
from ptokit.engines.native.compile import compile_program
from ptokit.engines.native.session import Session
from ptokit.isa.model.targets import TARGETS
from ptokit.launch.bind import bind
from ptokit.values.fixpipe import CPU_READING

KINDS: dict[str, Any] = {  # Any: NumPy's types
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f4e1m2": np.uint8,  # codes; this name counts elements, not pairs
    "f8e4m3": ml_dtypes.float8_e4m3fn,
    "f8e8m0": ml_dtypes.float8_e8m0fnu,
    "i8": np.int8,
    "i32": np.int32,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
}
LAYOUTS = {  # blayout, slayout
    "nd": ("row_major", "none_box"),
    "nz": ("col_major", "row_major"),
    "zn": ("row_major", "col_major"),
    "dn": ("col_major", "none_box"),
    "zz": ("row_major", "row_major"),
    "nn": ("col_major", "col_major"),
}
LAYOUT_OF = {"left": "nz", "right": "zn", "acc": "nz", "scaleleft": "zz", "scaleright": "nn"}
FRACTALS = {"acc": 1024, "scaleleft": 32, "scaleright": 32}
PADS = {"null": 0, "zero": 1}
FEWEST, MOST = 16, 1_000_000  # iterations of the loop


@dataclass
class Kernel:
    """A function under construction: arguments with data, what stands before the loop, its body.

    Tiles are arguments, so every one has been written before it is read.
    """

    types: dict[str, str] = field(default_factory=dict[str, str])  # of all values, by name
    arrays: dict[str, Any] = field(default_factory=dict[str, Any])  # of the arguments
    before: list[str] = field(default_factory=list[str])
    body: list[str] = field(default_factory=list[str])

    def tile(
        self,
        name: str,
        loc: str,
        dtype: str,
        rows: int,
        cols: int,
        *,
        layout: str = "",
        valid: tuple[int, int] | None = None,
        pad: str = "null",
        data: np.ndarray | None = None,
        local: bool = False,
    ) -> None:
        """A tile: an argument with data, or, `local`, one that the function allocates."""
        blayout, slayout = LAYOUTS[layout or LAYOUT_OF.get(loc, "nd")]
        v_row, v_col = valid or (rows, cols)
        self.types[name] = (
            f"!pto.tile_buf<loc={loc}, dtype={dtype}, rows={rows}, cols={cols}, v_row={v_row}, "
            f"v_col={v_col}, blayout={blayout}, slayout={slayout}, "
            f"fractal={FRACTALS.get(loc, 512)}, pad={PADS[pad]}>"
        )
        if local:
            self.before.append(f"%{name} = pto.alloc_tile : {self.types[name]}")
        else:
            given = random(KINDS[dtype], v_row, v_col) if data is None else data
            given = given & 15 if dtype == "f4e1m2" else given
            self.arrays[name] = given

    def whole_tiles(self) -> list[Any]:
        """The arguments as arrays of their declared shapes."""
        found: list[Any] = []
        for name, array in self.arrays.items():
            kind = self.types[name]
            if "rows=" not in kind:  # behind a pointer
                found.append(array)
                continue
            shape = [int(kind.partition(f"{n}=")[2].partition(",")[0]) for n in ("rows", "cols")]
            whole = np.zeros(shape, array.dtype)
            whole[: array.shape[0], : array.shape[1]] = array
            found.append(whole)
        return found

    def feature_map(self, name: str, dtype: str, shape: tuple[int, ...], how: str) -> None:
        """A convolution tile with data; `how` it is unrolled."""
        dims = "".join(f"{n}x" for n in shape)
        self.types[name] = f"!pto.conv_tile<nc1hwc0, {dims}{dtype}, {how}>"
        self.arrays[name] = random(KINDS[dtype], *shape)

    def matrix(self, name: str, dtype: str, rows: int, cols: int) -> None:
        """A matrix in global memory: %name is a view of all of the pointer %name_at."""
        at, tensor = f"{name}_at", f"!pto.tensor_view<?x?x{dtype}>"
        self.types[at] = f"!pto.ptr<{dtype}>"
        self.arrays[at] = random(KINDS[dtype], rows, cols)
        self.types[name] = f"!pto.partition_tensor_view<{rows}x{cols}x{dtype}>"
        height, width = self.index(rows), self.index(cols)
        self.before += [
            f"%{name}_all = pto.make_tensor_view %{at}, shape = [%{height}, %{width}],"
            f" strides = [%{width}, %{self.index(1)}] : {tensor}",
            f"%{name} = pto.partition_view %{name}_all, offsets = [%{self.index(0)}, "
            f"%{self.index(0)}], sizes = [%{height}, %{width}] : {tensor} -> {self.types[name]}",
        ]

    def index(self, number: int) -> str:
        """The name of a constant."""
        name = f"c{number}"
        if name not in self.types:
            self.types[name] = "index"
            self.before.append(f"%{name} = arith.constant {number} : index")
        return name

    def op(self, op: str, ins: str, outs: str, attrs: str = "") -> None:
        """One more instruction of the body; operands are names, numbers are indices."""
        read = [self.index(int(name)) if name.isdigit() else name for name in ins.split()]
        self.body.append(
            f"pto.{op} ins({self._values(read, attrs)}) outs({self._values(outs.split())})"
        )

    def _values(self, names: list[str], attrs: str = "") -> str:
        values = ", ".join(f"%{name}" for name in names) + (f", {{{attrs}}}" if attrs else "")
        return f"{values} : {', '.join(self.types[name] for name in names)}"

    def text(self, iterations: int = 1) -> str:
        """The function; more than one iteration is a loop around the body."""
        inner = self.body
        if iterations > 1:
            zero, one, end = self.index(0), self.index(1), self.index(iterations)
            inner = [f"scf.for %i = %{zero} to %{end} step %{one} {{", *inner, "}"]
        arguments = ", ".join(f"%{name}: {self.types[name]}" for name in self.arrays)
        lines = "\n  ".join([*self.before, *inner, "return"])
        return f"func.func @bench({arguments}) {{\n  {lines}\n}}\n"


def compiled(text: str, arrays: dict[str, Any], blocks: int = 1) -> Session:
    """The native engine's program, with memories of its own."""
    target = TARGETS["cpu"]
    bound = bind(pto.loads(text).func(), arrays, target, {})
    session = compile_program(bound, target, CPU_READING, blocks)
    missing = session.plan.by_reference
    assert not missing, f"not compiled: {sorted(missing)}"
    session.code.wait()  # threads may still generate it
    return session


def per_instruction(kernel: Kernel, seconds: float) -> Measure:
    """Nanoseconds per instruction of the body, in a loop of about `seconds`."""
    iterations = FEWEST
    for _ in range(3):  # a call costs something too, so few iterations of little work tell little
        some = timed(compiled(kernel.text(iterations), kernel.arrays))
        taken = min(some() for _ in range(3)).wall / iterations
        iterations = max(FEWEST, min(MOST, int(seconds * 1e9 / taken)))
    whole = timed(compiled(kernel.text(iterations), kernel.arrays))
    return lambda: whole().per(iterations * len(kernel.body))


def timed(session: Session) -> Measure:
    """Nanoseconds of the compiled function, without what goes before it."""

    def measure() -> Times:
        (worker,) = session.workers(1)
        taken = took(worker.run)
        if worker.problem is not None:
            raise worker.problem[0]
        return taken

    return measure

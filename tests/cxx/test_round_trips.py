"""Programs that are printed as C++, compiled and run give the bytes of the programs themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import ml_dtypes
import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from fuzz.scale import sampled
from ptokit.api.cxx.foundcompiler import found_compiler
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.types import PtrType, Type
from ptokit.text.write.cpplacking import CppWarning

# Programs of one function that takes pointers and numbers, in the order of what they use: views,
# scalars and branches, tiles with addresses, the cube, registers, ranks, blocks.
PROGRAMS = (
    *("examples/stream", "examples/pto/bias", "examples/pto/tail", "tests/pto/embedding"),
    *("tests/pto/rope", "tests/pto/moe_router", "tests/pto/own_scalars", "tests/pto/switches"),
    *("tests/pto/pointers", "tests/pto/idle", "tests/pto/trap", "tests/pto/waits"),
    *("examples/pto/level3", "tests/pto/handles", "tests/pto/kv_cache_write", "tests/pto/qk"),
    *("tests/pto/projection", "tests/pto/split_k", "tests/pto/residual_add", "examples/race"),
    *("tests/pto/load_options", "tests/pto/shared_buffers", "tests/pto/sub_blocks"),
    *("tests/pto/ranks_of_parts", "tests/pto/words_in_quotes"),
)
ELEMENTS = 1 << 15
TYPES: dict[str, Any] = {  # Any: NumPy has no type for bf16
    **{"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16},
    **{"i32": np.int32, "u32": np.uint32, "i8": np.int8, "i64": np.int64},
}


def argument(kind: Type, rng: np.random.Generator) -> Any:  # Any: an array or a number
    """An array with indices that are small, or a number of the type."""
    if not isinstance(kind, PtrType):
        return 0.5 if str(kind).startswith(("f", "b")) else 2
    of = TYPES[kind.dtype.name]
    if kind.dtype.is_float:
        return rng.standard_normal(ELEMENTS).astype(of)
    return rng.integers(0, 4, ELEMENTS).astype(of)


@pytest.mark.parametrize("name", sampled(PROGRAMS, 10))
def test_printed_programs_compute_the_same(name: str, tmp_path: Path) -> None:
    try:
        found_compiler()
    except PtoError as problem:
        pytest.skip(str(problem))
    program = pto.load(ROOT / f"{name}.pto")
    (function,) = program.module.funcs
    rng = np.random.default_rng(0)
    given = {value.name: argument(value.type, rng) for value in function.body.args}
    copies: dict[str, Any] = {
        n: v.copy() if isinstance(v, np.ndarray) else v for n, v in given.items()
    }
    file = tmp_path / "printed.cpp"
    with catch_warnings():
        simplefilter("ignore", CppWarning)
        file.write_text(program.text("cpp"))
    pto.cxx(file, target="cpu").launch(function.name, *copies.values())
    outputs = program.execute(given, target="cpu").outputs
    assert outputs
    for output, expected in outputs.items():
        assert copies[output].tobytes() == np.asarray(expected).tobytes(), output

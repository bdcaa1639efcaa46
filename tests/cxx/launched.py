"""What tests of C++ kernels share: compiled once each, a reason to skip where nothing compiles."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from ptokit.api.cxx.cxxkernel import CxxKernel, CxxRun
from ptokit.api.cxx.foundcompiler import found_compiler

HERE = Path(__file__).parent


def _missing() -> str:
    try:
        found_compiler(None)
    except pto.PtoError as problem:
        return problem.diagnostics[0].message
    return ""


needs_compiler = pytest.mark.skipif(bool(_missing()), reason=_missing() or "there is one")


@cache
def kernels(name: str, target: str) -> CxxKernel:
    """The kernels of a file beside this one."""
    return pto.cxx(HERE / f"{name}.cpp", target=target)


def again(ran: CxxRun, arrays: Mapping[str, Any], target: str) -> Mapping[str, Any]:
    """What the recorded program gives on the same arrays, compiled. Any: arrays."""
    program = ran.program
    names = [arg.name for arg in program.func().args]
    given: dict[str, Any] = {name: np.array(arrays[name]) for name in names}
    how: dict[str, Any] = {"target": target, "fixpipe": "hardware"}
    return program.run(**given, **how, blocks=ran.launches[0].blocks)

"""Modules with Python state, and the bytes that their kernels leave."""

from __future__ import annotations

import itertools
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np

HEAD = """
import array, collections, contextvars, dataclasses, decimal, enum, fractions, functools, os
import random, types, weakref
import numpy as np
import ptokit as pto
"""


def module(tmp_path: Path, text: str) -> types.ModuleType:
    """A module of a text, with its file."""
    file = tmp_path / f"state_{next(NUMBER)}.py"
    file.write_text(HEAD + text, encoding="utf-8")
    made = types.ModuleType(file.stem)
    made.__file__ = str(file)
    sys.modules[made.__name__] = made  # dataclasses look there
    try:
        exec(compile(HEAD + text, str(file), "exec"), vars(made))
    finally:
        del sys.modules[made.__name__]
    return made


NUMBER = itertools.count()
ONES = np.ones((1, 8), np.float32)


def left(kernel: Any, *args: Any) -> bytes:
    """The bytes of y as a call leaves them."""
    y = np.zeros_like(ONES)
    kernel(ONES, y, *args)
    return y.tobytes()

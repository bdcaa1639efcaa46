"""Enumerations of element types, layouts and arrays: members with all of their spellings."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cache
from typing import Self, TypeVar

W = TypeVar("W", bound="Word")


class Word(Enum):
    """An enumeration whose members are (text spelling, C++ spelling, further spellings...).

    `mlir` is the name of the enumeration inside `#pto.NAME<...>`; if `bare`, `#pto<NAME word>`.
    `numbers` are the values of the members in C++, where they are not 0, 1, 2 and so on.
    """

    mlir: str
    cpp_type: str
    bare: bool
    numbers: Sequence[int]

    def __init_subclass__(
        cls,
        mlir: str = "",
        cpp_type: str = "",
        bare: bool = False,
        numbers: Sequence[int] = range(16),
    ) -> None:
        super().__init_subclass__()
        cls.mlir, cls.cpp_type, cls.bare, cls.numbers = mlir, cpp_type, bare, numbers

    def __init__(self, text: str, cpp: str, *short: str) -> None:
        self.text = text
        self.cpp = cpp
        self.short = short

    __hash__ = object.__hash__  # members are singletons; Enum would hash the name, slowly

    def __str__(self) -> str:
        return self.short[0] if self.short else self.text

    def __repr__(self) -> str:
        return repr(str(self))

    @property
    def spelled(self) -> str:
        """The member as the value of an attribute in text."""
        return f"#pto<{self.mlir} {self.text}>" if self.bare else f"#pto.{self.mlir}<{self.text}>"

    @classmethod
    def named(cls, word: str) -> Self | None:
        """Return the member that `word` spells in any form, ignoring case, or None."""
        return _spelled(cls).get(word.lower())

    @classmethod
    def numbered(cls, number: int) -> Self | None:
        """Return the member with this number in C++, or None."""
        return next((m for n, m in zip(cls.numbers, cls, strict=False) if n == number), None)

    @classmethod
    def options(cls) -> tuple[str, ...]:
        return tuple(str(m) for m in cls)


@cache
def _spelled(kind: type[W]) -> dict[str, W]:
    """Return the members by each of their spellings; the first member wins a shared spelling."""
    members = list(kind)[::-1]
    return {s.lower(): m for m in members for s in (*m.short, m.cpp, m.text)}


class Rounding(Enum):
    """The rounding mode of an inexact value; the values are the ISA's names.

    RINT is half to even, ROUND half away from zero, FLOOR down, CEIL up, TRUNC toward zero, ODD the
    neighbour whose last bit is one (von Neumann). NONE is TRUNC to integers and RINT to floats.
    """

    NONE = "none"
    RINT = "rint"
    ROUND = "round"
    FLOOR = "floor"
    CEIL = "ceil"
    TRUNC = "trunc"
    ODD = "odd"


class Loc(Word, mlir="address_space", cpp_type="TileType"):
    """The location of a tile: its memory space (TileType in C++). Other text says ub, l1, l0a.

    For a cube core VEC is the buffer of the first vector core, and VEC1 that of the second.
    """

    VEC = "vec", "Vec", "vec", "ub"
    MAT = "mat", "Mat", "mat", "l1"
    LEFT = "left", "Left", "left", "l0a"
    RIGHT = "right", "Right", "right", "l0b"
    ACC = "acc", "Acc", "acc", "l0c"
    BIAS = "bias", "Bias", "bias", "bt"
    SCALING = "scaling", "Scaling", "scaling", "fb"
    SCALE_LEFT = "scaleleft", "ScaleLeft", "scale_left"
    SCALE_RIGHT = "scaleright", "ScaleRight", "scale_right"
    REGISTER = "register", "Register"
    VEC1 = "vec1", "Vec1"


VEC, MAT, LEFT, RIGHT, ACC = Loc.VEC, Loc.MAT, Loc.LEFT, Loc.RIGHT, Loc.ACC


BUFFERS = VEC, Loc.VEC1  # of the vector cores of a block, as its cube core sees them
BIAS, SCALING, SCALE_LEFT, SCALE_RIGHT = Loc.BIAS, Loc.SCALING, Loc.SCALE_LEFT, Loc.SCALE_RIGHT


class BLayout(Word, mlir="blayout", cpp_type="BLayout"):
    """The order of the boxes of a tile, or of its elements when it has no boxes."""

    ROW_MAJOR = "row_major", "RowMajor"
    COL_MAJOR = "col_major", "ColMajor"


class SLayout(Word, mlir="slayout", cpp_type="SLayout"):
    """The order of the elements inside a box (the fractal)."""

    NONE_BOX = "none_box", "NoneBox", "none"
    ROW_MAJOR = "row_major", "RowMajor"
    COL_MAJOR = "col_major", "ColMajor"


class PadValue(Word, mlir="pad_value", cpp_type="PadValue"):
    """The value that fills a tile outside its valid region; `CustomPad` has other bits."""

    NULL = "null", "Null"
    ZERO = "zero", "Zero"
    MAX = "max", "Max"
    MIN = "min", "Min"


class ReluPreMode(Word, mlir="relu_pre_mode", cpp_type="ReluPreMode", bare=True):
    """The modes of the fix-pipe for negative values: they stay, or become zero."""

    NO_RELU = "no_relu", "NoRelu", "none"
    NORMAL_RELU = "normal_relu", "NormalRelu", "normal"


class ConvLayout(Word, mlir="layout", cpp_type="Layout", numbers=(12, 17, 19, 21, 14, 15, 13, 18)):
    """The layouts of a convolution tile: each names the axes that its extents list."""

    NC1HWC0 = "nc1hwc0", "NC1HWC0"
    NDC1HWC0 = "ndc1hwc0", "NDC1HWC0"
    FRACTAL_Z = "fractal_z", "FRACTAL_Z"
    FRACTAL_Z_3D = "fractal_z_3d", "FRACTAL_Z_3D"
    NCHW = "nchw", "NCHW"
    GNCHW = "gnchw", "GNCHW"
    GNC1HWC0 = "gnc1hwc0", "GNC1HWC0"
    NCDHW = "ncdhw", "NCDHW"


class GatherOOB(Word, mlir="gather_oob", cpp_type="GatherOOB", bare=True, numbers=(2, 1, 3, 0)):
    """The policies for an index outside the source of a gather."""

    WRAP = "wrap", "Wrap"
    CLAMP = "clamp", "Clamp"
    ZERO = "zero", "Zero"
    ERROR = "undefined", "Undefined", "error"

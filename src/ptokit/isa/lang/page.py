"""The language of pages, for `from ptokit.isa.lang.page import *` in each page.

The module also exports Python functions that families use, and tile types that examples share.
Pages import by name whatever only one or two of them need.
"""

# ruff: noqa: F401, F403
# pyright: reportUnusedImport=false

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

from ptokit.diagnostics.diagnostic import Judge
from ptokit.isa.formula.formulas import ABSENT, UNKNOWN, Const, Env, Expr, Field, Value, formula
from ptokit.isa.formula.rules import (
    A2A3,
    A5,
    ASSEMBLER,
    BOARDS,
    COMPILED,
    CPU,
    F16_SUMS,
    HARDWARE,
    HEADERS,
    KIRIN,
    KIRIN9030,
    KIRINX90,
    LEVEL3,
    LEVEL12,
    NO_WIDE_CASTS,
    SPACED_BIASES,
    Ruled,
    Rules,
    at,
    both,
    by,
    either,
    named,
    on,
    warns,
    when,
    without,
)
from ptokit.isa.lang.asm import CHIPS, FP, LISTED_LAST, NOWHERE, PRE_QUANT, TYPED_LAST, Asm, in_cpp
from ptokit.isa.lang.bodyhandles import Machine, Place, TileHandle, View
from ptokit.isa.lang.instr import (
    Apart,
    Attr,
    In,
    InOut,
    Like,
    Operand,
    Out,
    Path,
    Result,
    Scratch,
    Spoiled,
    TypeOf,
    like,
    path,
    table_row,
)
from ptokit.isa.lang.instr import Instr as _Instr
from ptokit.isa.lang.samples import *
from ptokit.isa.lang.specials import *
from ptokit.isa.lang.traits import *
from ptokit.isa.lang.vectors import *
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.precisions import *
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import *
from ptokit.isa.model.words import *
from ptokit.values.arrays import Array, Cells, Images, Number, Term, ValidRegion, digits, in_zz
from ptokit.values.dtypes import *
from ptokit.values.enumerations import *
from ptokit.values.layouts import DN, ND, NN, NZ, ZN, ZZ, Layout, Shape
from ptokit.values.scalars import least, most

if TYPE_CHECKING:

    class _BodyOwner(_Instr, Any):
        """A page to pyright, which takes the first operand of a body for the page itself."""

    Instr = _BodyOwner  # Any above: that operand may have every attribute
else:
    Instr = _Instr

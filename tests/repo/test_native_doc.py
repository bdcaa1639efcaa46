"""docs/native.md says what is: the files, and the instructions that the reference executes."""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from fuzz.scale import sampled
from ptokit.ir.module import Op
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.traits import TERMINATOR
from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import ScalarType
from ptokit.launch.bind import bind
from ptokit.machine.record.code import NotNative
from ptokit.values.fixpipe import CPU_READING

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

DOCUMENT = (ROOT / "docs" / "native.md").read_text(encoding="utf-8")
# instructions that no example of the manual contains
MOVED = """\
func.func @f() {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 16 : i64
  %from = pto.castptr %zero : i64 -> !pto.ptr<{kind}, {memory}>
  %to = pto.castptr %zero : i64 -> !pto.ptr<{kind}, l1>
  {move} : !pto.ptr<{kind}, {memory}>, !pto.ptr<{kind}, l1>, i64, i64, i64, i64
  return
}}
"""
MORE = {
    "pto.tsync": "pto.tsync\n",
    "pto.trap": "pto.trap\n",
    "pto.mte_gm_l1": """\
func.func @example(%x: !pto.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %word = arith.constant 1 : i32
  %n = arith.constant 256 : i64
  %p = pto.castptr %zero : i64 -> !pto.ptr<f32, l1>
  pto.mte_gm_l1 %x, %p, %n nburst(%one, %n, %n) : !pto.ptr<f32>, !pto.ptr<f32, l1>, i64, i64,\
 i64, i64
  pto.raw_fill_l1 %p, %zero, %word, %one, %one, %zero {fill_word_bits = 16 : i64} :\
 !pto.ptr<f32, l1>, i64, i32, i64, i64, i64
  return
}""",
    "pto.mte_ub_l1": MOVED.format(
        kind="f16",
        memory="ub",
        move="pto.mte_ub_l1 %from, %to, %n nburst(%one, %zero, %zero)",
    ),
    "pto.mte_l1_ub": """\
func.func @f() {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 32 : i64
  %from = pto.castptr %zero : i64 -> !pto.ptr<f16, l1>
  %to = pto.castptr %zero : i64 -> !pto.ptr<f16, ub>
  pto.mte_l1_ub %from, %to, %n nburst(%one, %n, %n) : !pto.ptr<f16, l1>, !pto.ptr<f16, ub>, i64,\
 i64, i64, i64
  return
}
""",
    "pto.mte_l0c_l1": MOVED.format(
        kind="f32",
        memory="l0c",
        move="pto.mte_l0c_l1 %from, %to, %n, %n, %n, %n, nz2nd",
    ),
}


def empty(kind: Any) -> Any:  # Any: a Type, an array
    """Zeros for an argument."""
    if isinstance(kind, ScalarType):
        return 0
    dtype: Any = kind.dtype
    shape: Any = 1024
    if isinstance(kind, TileType):
        shape = (kind.valid.rows, kind.valid.cols)
    elif isinstance(kind, ConvTileType):
        shape = kind.shape
    codes: Any = np.zeros(shape, dtype.storage)
    narrow = dtype.is_float and dtype.name not in ("f32", "f16")
    return codes if narrow else codes.view(f"{dtype.kind.value[0]}{dtype.size}")


def by_reference(text: str, target: str) -> tuple[set[str], set[str]]:
    """The mnemonics of a program, and those that the reference executes."""
    from ptokit.engines.native.compile import compile_program

    func = pto.loads(text).func()
    arrays = {a.name: empty(a.type) for a in func.args}
    bound = bind(func, arrays, TARGETS[target], {})
    try:
        made = compile_program(bound, TARGETS[target], CPU_READING, 1).plan.by_reference
    except NotNative:  # the document says so of the program as a whole
        made = ()
    ops = (*func.body.walk(), *bound.func.body.walk())  # pointers are lowered to tiles
    present = {op.page.mnemonic() for op in ops if isinstance(op, Op)}
    return present, {mnemonic for mnemonic, _ in made}


def test_the_document_lists_what_the_reference_executes() -> None:
    (listed,) = re.findall(r"<!-- by the reference:.*?-->\n(.*?)<!-- end -->", DOCUMENT, re.S)
    names = re.findall(r"^- `([\w.]+)`$", listed, re.M)
    assert names == sorted(names)
    present, found = set[str](), set[str]()
    run = [p for p in pages() if not p.unexecuted]
    tried = {*sampled(run, 8), *(p for p in run if p.mnemonic() in names)}
    for text in chain((example_program(p) for p in tried), MORE.values()):
        here, there = by_reference(text, "a5")
        present |= here
        found |= there
    assert found == set(names)
    data = {p.mnemonic() for p in tried if p.executes and TERMINATOR not in p.traits}
    assert data - {"scf.for", "scf.if"} <= present, "add a program to MORE"

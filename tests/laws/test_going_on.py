"""The law of accesses that return the pointer behind them: they access the pointer itself."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

# the access, from %a or to %b, and the elements of f32 or bytes by which the pointer goes on
ACCESSES = {
    "%z, %q = pto.vlds %a[%three] : P -> V, P": ("load", 12),
    '%z, %w, %q = pto.vldsx2 %a[%three], "DINTLV_B32" : P, index -> V, V, P': ("even", 12),
    "%z, %q = pto.vsldb %a, %one, %two, %all : P, i16, i16, M -> V, P": ("load", 64),
    "%z, %s, %q = pto.vldus %a, %state, %three : P, !pto.align, index -> V, !pto.align, P": (
        *("load", 12),
    ),
    "%q = pto.vsts %x, %b[%three], %all : V, P, M -> P": ("store", 12),
    "%q = pto.vsstb %x, %b, %one, %two, %all : V, P, i16, i16, M -> P": ("store", 64),
    "%s, %q = pto.vstus %state, %few, %x, %b : !pto.align, i32, V, P -> !pto.align, P": ("few", 12),
    "%q = pto.vstas %state, %b, %few : !pto.align, P, i32 -> P": ("none", 12),
    '%k, %q = pto.plds %a[%four], "NORM" : P, index -> M, P': ("none", 4),
    '%k, %q = pto.pldi %a[%three], "US" : P, index -> M, P': ("none", 48),
    '%q = pto.psts %all, %b[%four], "NORM" : M, P, index -> P': ("ones", 4),
    '%q = pto.psti %all, %b[%three], "NORM" : M, P, index -> P': ("ones", 96),
}
HEAD = """\
func.func @law(%x0: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %behind = arith.constant 4096 : i64
  %bytes = arith.constant 2048 : i64
  %uno = arith.constant 1 : i64
  %c0 = arith.constant 0 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %few = arith.constant 3 : i32
  %one = arith.constant 1 : i16
  %two = arith.constant 2 : i16
  %a = pto.castptr %zero : i64 -> P
  %b = pto.castptr %behind : i64 -> P
  pto.mte_gm_ub %x0, %a, %zero, %bytes nburst(%uno, %bytes, %bytes) : !pto.ptr<f32>, P, i64, i64,\
 i64, i64, i64
  pto.mte_gm_ub %y, %b, %zero, %bytes nburst(%uno, %bytes, %bytes) : !pto.ptr<f32>, P, i64, i64,\
 i64, i64, i64
  pto.vecscope {
    %all = pto.pset_b32 "PAT_ALL" : M
    %state = pto.init_align : !pto.align
    %x = pto.vlds %a[%c0] : P -> V
    ACCESS
    BEHIND
  }
  pto.mte_ub_gm %b, %y, %bytes nburst(%uno, %bytes, %bytes) : P, !pto.ptr<f32>, i64, i64, i64, i64
  return
}
"""
LOADED = """\
    pto.vsts %z, %b[%c0], %all : V, P, M
    %n = pto.vlds %q[%c0] : P -> V
    %far = arith.constant 64 : index
    pto.vsts %n, %b[%far], %all : V, P, M
"""
STORED = "pto.vsts %x, %q[%c0], %all : V, P, M\n"


def meant(kind: str, step: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return what the access and the next one leave at %b."""
    found, next_ = y.copy(), step // 4
    if kind in ("load", "even"):
        found[:64] = x[:64] if kind == "load" else x[:128:2]
        found[64:128] = x[next_ : next_ + 64]
        return found
    if kind in ("store", "few"):
        found[: 64 if kind == "store" else 3] = x[: 64 if kind == "store" else 3]
    if kind == "ones":
        found.view(np.uint8)[:32] = 0x11
    found[next_ : next_ + 64] = x[:64]
    return found


@pytest.mark.parametrize("access", ACCESSES)
def test_an_access_goes_on(access: str) -> None:
    kind, step = ACCESSES[access]
    behind = LOADED if kind in ("load", "even") else STORED
    if kind == "none" and "pld" in access:
        behind = "%w = pto.vlds %q[%c0] : P -> V\npto.vsts %w, %b[%c0], %all : V, P, M"
    text = HEAD.replace("ACCESS", access).replace("BEHIND", behind)
    for word, spelled in (("V", "!pto.vreg<64xf32>"), ("M", "!pto.mask<b32>")):
        text = text.replace(f" {word},", f" {spelled},").replace(f" {word}\n", f" {spelled}\n")
    text = text.replace(" P,", " !pto.ptr<f32, ub>,").replace(" P\n", " !pto.ptr<f32, ub>\n")
    text = text.replace(" P ", " !pto.ptr<f32, ub> ").replace(" V ", " !pto.vreg<64xf32> ")
    text = text.replace(" M ", " !pto.mask<b32> ")
    x = np.arange(512, dtype=np.float32) + 1
    y = -x
    engine = "native" if access[:3] == "%q " else "reference"
    found = pto.loads(text).run(target="a5", engine=engine, x0=x, y=y)["y"]
    wanted = meant(kind, step, x, y)
    if kind == "none" and "pld" in access:
        wanted = y.copy()
        wanted[:64] = x[step // 4 : step // 4 + 64]
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))

"""Element types that each path of windows takes: tables that several tests share."""

from __future__ import annotations

ALL = "cpu a2a3 a5"
BOTH = "a2a3 a5"
CUBE_A2A3 = ("i8", "f16", "bf16", "f32")
CUBE_A5 = (*CUBE_A2A3, "hif8", "f8e4m3", "f8e5m2", "f8e8m0", "f4e2m1x2", "f4e1m2x2")
VEC_A2A3 = ("i8", "u8", "i16", "u16", "i32", "u32", "f16", "bf16", "f32")
VEC_A5 = ("f16", "bf16", "f32", "i32", "i8", *CUBE_A5[4:])
PAIR_A2A3 = ("i8", "f16", "bf16", "f32", "i32")
QUANT = {
    "a2a3": {("f32", "i8"), *(("i32", t) for t in ("i8", "u8", "f16", "i16"))},
    "a5": {
        *(("f32", t) for t in ("i8", "u8", "hif8", "f16", "bf16", "f8e4m3", "f32")),
        *(("i32", t) for t in ("i8", "u8", "f16", "bf16")),
    },
}
OUT = ("i8", "u8", "i16", "u16", "i32", "u32", "f16", "bf16", "f32", "hif8", "f8e4m3", "f8e5m2")
MODES = ("single_mode_vec0", "single_mode_vec1", "dual_mode_split_m", "dual_mode_split_n")

"""References of programs of what one target alone has, of waits and of what no core runs alone."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from golden import Arrays, Random, golden
from golden_programs import numbers

from tiles import parameter

f16, f32, f64, i32 = np.float16, np.float32, np.float64, np.int32
e4m3, e5m2, powers = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu


@golden(refused={"a2a3": "not-on-target"})
def block_scaled(random: Random) -> tuple[Arrays, Arrays]:
    a, b = numbers(random, 16, 64).astype(e4m3), numbers(random, 64, 32).astype(e4m3)
    of_a, of_b = (2.0 ** random.integers(-3, 4, s) for s in ((16, 2), (2, 32)))
    wide = np.repeat(of_a, 32, 1) * a.astype(f64) @ (np.repeat(of_b, 32, 0) * b.astype(f64))
    given = {"a": a, "b": b, "of_a": of_a.astype(powers), "of_b": of_b.astype(powers)}
    return given, {"y": 2 * wide}


@golden(refused={"a2a3": "element-type"})
def narrow_floats(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 4, 32).astype(e4m3)
    wide = x.astype(f32) / 2
    return {"x": x}, {"wide": wide, "y": wide.astype(e5m2), "z": wide}


@golden(refused={"a2a3": "element-type"})
def packed_pairs(random: Random) -> tuple[Arrays, Arrays]:
    codes = random.integers(0, 16, (17, 128)).astype(np.uint8)
    codes[codes == 8] = 0  # there is no -0 to lose
    sizes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], f32)
    window = codes[1:, 64:]
    values = np.where(window < 8, sizes[window % 8], -sizes[window % 8])
    e2m1 = ml_dtypes.float4_e2m1fn
    given: Arrays = {"p": codes, "q": np.zeros((16, 64), ml_dtypes.bfloat16), "rows": 16}
    given["r"] = np.zeros((16, 64), e2m1)
    return given, {"q": values, "r": values}


@golden(refused={"a2a3": "not-on-target"})
def shuffles(random: Random) -> tuple[Arrays, Arrays]:
    a, b = random.integers(-(2**30), 2**30, (2, 4, 32)).astype(i32)
    mixed = np.stack([a, b], 2).reshape(4, 64)
    keys = random.integers(0, 2**16, (4, 64)).astype(np.uint16)
    tally = [np.bincount(row >> 8, minlength=256).cumsum() for row in keys]
    given = {"a": a, "b": b, "keys": keys, "filter": np.zeros((4, 1), np.uint8)}
    wanted = {"low": mixed[:, :32], "high": mixed[:, 32:], "even": a, "odd": b}
    return given, wanted | {"words": a.astype(np.int16), "tally": tally}


@golden()
def prints(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 2, 8)
    return {"x": x, "n": 7}, {"x": x + 0.5}


@golden(stops="trapped")
def trap(_: Random) -> tuple[Arrays, Arrays]:
    return {"n": np.array([7], i32)}, {}


@golden()
def caches(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 1, 128)
    return {"x": x, "room": np.zeros(64, np.int8), "done": np.zeros(1, i32)}, {"x": 2 * x}


@golden()
def waits(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 1, 64)
    return {"x": x, "base": np.zeros(8, np.int64)}, {"x": 2 * x}


@golden()
def shared_buffers(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 1, 64)
    return {"x": x, "id": 3}, {"x": -x}


@golden()
def other_attributes(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 2, 8)
    return {"x": x}, {"x": 4 * x}


@golden()
def both_kinds(random: Random) -> tuple[Arrays, Arrays]:
    a = numbers(random, 16, 16).astype(f16)
    return {"a": a, "y": np.zeros((16, 16), f32)}, {"y": a.astype(f64) @ a.astype(f64)}


@golden(ranks=2)
def ranks(random: Random) -> tuple[Arrays, Arrays]:
    x, y = (numbers(random, 256) for _ in range(2))
    given: Arrays = {"x@0": x, "x@1": 2 * x, "y": y, "flags": np.zeros(1, i32)}
    last = np.concatenate([2 * x[128:], y[128:]])  # of what both write there
    return given, {"x@0": x, "x@1": 2 * x, "y": last, "flags": np.ones(1, i32)}


@golden(ranks=2)
def all_gather(random: Random) -> tuple[Arrays, Arrays]:
    parts, empty, none = numbers(random, 2, 4, 16), np.zeros((8, 16), f32), np.zeros(1, i32)
    given: Arrays = {"there@0": "here@1", "there@1": "here@0"}
    given |= {"sent@0": "arrived@1", "sent@1": "arrived@0"}
    for rank in range(2):
        own = {"rows": parts[rank], "here": empty, "arrived": none, "y": empty, "rank": rank}
        given |= {f"{name}@{rank}": value for name, value in own.items()}
    whole = parts.reshape(8, 16)
    return given, {"y@0": 2 * whole, "y@1": 2 * whole, "here@0": whole, "here@1": whole}


@golden(stops="not-executed")
def fused_region(random: Random) -> tuple[Arrays, Arrays]:
    return {"x": numbers(random, 16, 32)}, {}


@golden()
def convolution(random: Random) -> tuple[Arrays, Arrays]:
    image, filters = numbers(random, 1, 1, 6, 6, 16), numbers(random, 144, 16)
    at = [(r, c) for r in range(4) for c in range(4)]
    patches = np.array([image[0, 0, r : r + 3, c : c + 3].ravel() for r, c in at])
    given = {"image": image.astype(f16), "filters": filters.astype(f16)}
    return given, {"y": patches.astype(f64) @ filters}


@golden()
def pipes_by_function(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 16, 16)
    return {"x": x, "y": np.zeros((16, 16), f32)}, {"y": np.where(np.arange(16) < 8, x.T, 0).T}


@golden()
def pipes_by_handle(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 16, 16)
    given = {"x": x, "memory": np.zeros((8, 16, 16), f32), "y": np.zeros((16, 16), f32)}
    return given, {"y": x, "memory": np.concatenate([x[None], np.zeros((7, 16, 16))])}


@golden()
def sessions(random: Random) -> tuple[Arrays, Arrays]:
    given: Arrays = {name: numbers(random, 128) for name in "xy"}
    given |= {"flags": np.zeros(1, i32), "room": np.zeros(64, np.int8)}
    return given, {"x": given["x"], "y": given["x"]}


@golden()
def cross_core(_: Random) -> tuple[Arrays, Arrays]:
    given: Arrays = {"base": np.zeros(8, np.int64), "g": np.zeros(2, i32), "id": 3}
    return given, {"g": np.array([5, 10])}


@golden(refused={"a2a3": "not-on-target"})
def block_scales(random: Random) -> tuple[Arrays, Arrays]:
    powers_, few = 2.0 ** random.integers(-3, 4, (32, 1)), random.integers(-4, 5, (32, 32))
    few[:, 0] = 4  # the largest of each group: its exponent is 2, and of f8e4m3's largest power 8
    x = few * powers_
    codes, exp = (few * 64).astype(e4m3).view(np.int8), np.log2(4 * powers_) - 8 + 127
    wanted: Arrays = {"bytes": codes, "exp": exp, "down": codes.T}
    wanted["exp_down"] = exp.T
    return {"x": x.astype(f32), "h": x.T.astype(ml_dtypes.bfloat16)}, wanted


@golden()
def registers(random: Random) -> tuple[Arrays, Arrays]:
    image, b = numbers(random, 1, 1, 4, 4, 16), numbers(random, 16, 16)
    return {"image": image.astype(f16), "b": b.astype(f16)}, {"y": image.reshape(16, 16) @ b}


@golden(refused={"a5": "not-on-target"})
def pairs(random: Random) -> tuple[Arrays, Arrays]:
    a, b = numbers(random, 8, 32), numbers(random, 8, 32)
    sums = np.zeros((8, 32), f32)
    sums[:, :16] = a[:, ::2] + a[:, 1::2]
    wanted = {"positive": np.maximum(a + b, 0), "sums": sums, "less": a - 1}
    return {"a": a, "b": b, "sums": 0 * a, "less": a}, wanted


@golden(blocks=3)
def sub_blocks(_: Random) -> tuple[Arrays, Arrays]:
    return {"y": np.zeros((3, 4), i32)}, {"y": [[block, 0, 1, 2] for block in range(3)]}


@golden()
def fix_pipe_moves(random: Random) -> tuple[Arrays, Arrays]:
    acc, scales = random.integers(-999, 999, (32, 32)).astype(i32), 2.0 ** -(np.arange(32) % 4)
    f = np.array([[parameter(s) for s in scales]], np.uint64)
    moved = np.clip(np.rint(acc * scales), -128, 127)
    given = {"acc": acc, "f": f, "c": np.zeros((32, 32), np.int8)}
    return given, dict.fromkeys("abcd", moved)


@golden(refused={"a2a3": "not-on-target"})
def threads(_: Random) -> tuple[Arrays, Arrays]:
    return {"x": np.zeros(4, f32)}, {"x": np.array([129, 0, 0, 0], f32)}


@golden()
def signals_by_number(_: Random) -> tuple[Arrays, Arrays]:
    return {"g": np.zeros(1, i32), "id": 3}, {"g": np.array([2])}


@golden()
def entries(_: Random) -> tuple[Arrays, Arrays]:
    memory = np.zeros((16, 16), f32)
    return {"memory": memory}, {"memory": memory}


@golden(refused={"a2a3": "not-on-target"})
def block_scaled_rows(random: Random) -> tuple[Arrays, Arrays]:
    x, w = numbers(random, 16, 64).astype(e4m3), numbers(random, 64, 32).astype(e4m3)
    of_x, of_w = (2.0 ** random.integers(-2, 3, s) for s in ((16, 2), (2, 32)))
    bias = numbers(random, 1, 32)
    wide = np.repeat(of_x, 32, 1) * x.astype(f64) @ (np.repeat(of_w, 32, 0) * w.astype(f64))
    given: Arrays = {"x": x, "of_x": of_x.astype(powers), "w": w, "of_w": of_w.astype(powers)}
    given |= {"row": x[:1], "of_row": of_x[:1].astype(powers), "bias": bias}
    wanted = {"y": wide + bias, "one": wide[:1], "two": 2 * wide[:1], "more": wide[:1] + bias}
    return given, wanted


@golden(refused=dict.fromkeys(("a2a3", "a5"), "not-on-target"))
def hifloat4(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 16, 64).astype(ml_dtypes.bfloat16)
    a, b = (random.integers(-7, 8, (64, 64)).astype(f32) / 4 for _ in range(2))
    one, two = ((48 + n << 2) for n in (0, 1))  # codes of 1 and 2
    of_a, of_b = np.zeros((64, 4), np.uint8), np.zeros((4, 64), np.uint8)
    of_a[:, 0], of_b[0] = two, one
    most = [np.abs(x.astype(f32)).reshape(-1, n).max(1) for n in (4, 8)]
    largest = np.zeros(512, f32)
    largest[:384] = np.concatenate(most)
    given: Arrays = {"x": x, "a": a, "of_a": of_a, "b": b, "of_b": of_b}
    given["max"] = np.zeros((16, 32), ml_dtypes.bfloat16)
    return given, {"max": largest.reshape(16, 32), "y": 2 * a @ b}

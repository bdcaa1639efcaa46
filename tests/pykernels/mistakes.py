"""Kernels with a mistake each; `mistakes.out` has what is said of it. The order is that of both."""

from __future__ import annotations

from queue import SimpleQueue
from typing import Any

import numpy as np

import ptokit as pto
from ptokit import f32, i32, lanes

X = np.zeros((40, 64), np.float32)
WAITING: SimpleQueue[int] = SimpleQueue()


@pto.kernel
def chain(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.load(pto.block(x, 0, 0, 8, 64))
    for i in pto.range(n):
        if i > 3 and i < 5:
            pto.store(pto.block(y, 0, 0, 8, 64), t)


@pto.kernel
def while_(x: pto.In, y: pto.Out, n: int) -> None:
    while n:
        n = n - 1


@pto.kernel
def whole_number(x: pto.In, y: pto.Out, n: int) -> None:
    for _ in range(int(n)):
        pto.store(pto.block(y, 0, 0, 8, 64), pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def halved(x: pto.In, y: pto.Out, n: int) -> None:
    pto.store(pto.block(y, int(n / 2), 0, 8, 64), pto.load(pto.block(x, 0, 0, 8, 64)))


def clamp(i: int) -> int:
    if i > 3:
        return 3
    return i


@pto.kernel
def plain_helper(x: pto.In, y: pto.Out, n: int) -> None:
    pto.store(pto.block(y, clamp(n), 0, 8, 64), pto.load(pto.block(x, 0, 0, 8, 64)))


def added(t: pto.Tile, n: int) -> None:
    at = 0
    for _ in pto.range(n):
        pto.adds(t, at, out=t)
        at = at + 8


@pto.kernel
def rebinding_helper(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.load(pto.block(x, 0, 0, 8, 64))
    added(t, n)
    pto.store(pto.block(y, 0, 0, 8, 64), t)


@pto.kernel
def rebound_tile(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.load(pto.block(x, 0, 0, 8, 64))
    for _ in pto.range(n):
        u = pto.exp(t)
        t = u
    pto.store(pto.block(y, 0, 0, 8, 64), t)


@pto.kernel
def added_to_a_tile(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.load(pto.block(x, 0, 0, 8, 64))
    for _ in pto.range(n):
        t += 1.0
    pto.store(pto.block(y, 0, 0, 8, 64), t)


@pto.kernel
def different_branches(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.load(pto.block(x, 0, 0, 8, 64))
    if n > 2:
        u: Any = t
    else:
        u = 3
    pto.store(pto.block(y, 0, 0, 8, 64), pto.add(t, u))


@pto.kernel
def one_branch(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.load(pto.block(x, 0, 0, 8, 64))
    if n > 2:
        v = 3
    pto.store(pto.block(y, 0, 0, 8, 64), t + v)  # pyright: ignore


@pto.kernel
def after_its_loop(x: pto.In, y: pto.Out, n: int) -> None:
    for i in pto.range(n):
        u = pto.load(pto.block(x, i, 0, 8, 64))
    pto.store(pto.block(y, 0, 0, 8, 64), u)  # pyright: ignore


@pto.kernel
def number_after_its_loop(x: pto.In, y: pto.Out, n: int) -> None:
    for _ in pto.range(n):
        last = 5
    pto.store(pto.block(y, last, 0, 8, 64), pto.load(x))  # pyright: ignore


@pto.kernel
def breaking(x: pto.In, y: pto.Out, n: int, *, stop: bool = True) -> None:
    for i in pto.range(n):
        pto.store(pto.block(y, i, 0, 8, 64), pto.load(pto.block(x, 0, 0, 8, 64)))
        if stop:
            break


@pto.kernel
def open_shape(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.tile_vec(f32, n, 8)
    pto.store(pto.block(y, 0, 0, n, 8), t)


@pto.kernel
def no_tile(x: pto.In, y: pto.Out, n: int) -> None:
    u = pto.tile_vec(f32, 8, 8)
    pto.texp(u, 3)  # pyright: ignore


@pto.kernel
def no_tile_of_a_value(x: pto.In, y: pto.Out, n: int) -> None:
    pto.exp(3)  # pyright: ignore


@pto.kernel
def numpy_function(x: pto.In, y: pto.Out, n: int) -> None:
    t: Any = pto.load(pto.block(x, 0, 0, 8, 64))
    pto.store(pto.block(y, 0, 0, 8, 64), np.exp(t))


@pto.kernel
def list_of_tiles(x: pto.In, y: pto.Out, n: int) -> None:
    tiles = [pto.load(pto.block(x, at, 0, 8, 64)) for at in range(3)]
    for i in pto.range(n):
        pto.store(pto.block(y, 0, 0, 8, 64), tiles[i])  # pyright: ignore


@pto.kernel
def truth_of_a_tile(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.load(pto.block(x, 0, 0, 8, 64))
    if t:
        pto.store(pto.block(y, 0, 0, 8, 64), t)


@pto.kernel
def array_of_its_own(x: pto.In, y: pto.Out, n: int) -> None:
    pto.tload(pto.tile_vec(f32, 40, 64), pto.tensor(X))


@pto.kernel
def chosen_target(x: pto.In, y: pto.Out, n: int) -> None:
    with pto.target("a5"):
        pto.store(pto.block(y, 0, 0, 8, 64), pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def unread(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.load(pto.block(x, 0, 0, 8, 64))
    y = pto.exp(t)  # type: ignore[assignment]  # noqa: F841


@pto.kernel
def window(x: pto.In, y: pto.Out, n: int) -> None:
    big, left = pto.tile_mat(pto.f16, 64, 256), pto.tile_left(pto.f16, 64, 64)
    pto.textract(left, big,
                 0, 224)  # fmt: skip


@pto.kernel(shapes="x[M, K] y[K, N]")
def product(x: pto.In, y: pto.Out, n: int) -> None:
    pto.store(pto.block(y, 0, 0, 8, 64), pto.load(pto.block(x, 0, 0, 8, 64)))


def forgotten(x: pto.In, y: pto.Out, n: int) -> None:
    pto.store(pto.block(y, 0, 0, 8, 64), pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def changed_list(x: pto.In, y: pto.Out, n: int) -> None:
    seen: list[int] = []
    t = pto.full(f32, 8, 64, 0.0)
    for _ in pto.range(n):
        seen.append(1)
        pto.adds(t, len(seen), out=t)
    pto.store(pto.block(y, 0, 0, 8, 64), t)


@pto.kernel
def wide_tile(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.full(f32, 8000, 64, 1.0, valid=(8, 64))
    pto.store(pto.block(y, 0, 0, 8, 64), t)


@pto.kernel
def narrow_tile(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.tile_vec(f32, 8, 3)
    pto.texpands(t, 1.0)
    pto.store(pto.block(y, 0, 0, 8, 3), t)


@pto.kernel
def block_without_rows(x: pto.In, y: pto.Out, n: int, *, high: int = 0) -> None:
    pto.store(pto.block(y, 0, 0, high, 64), pto.load(pto.block(x, 0, 0, high, 64)))


@pto.kernel
def padded_map(x: pto.In, y: pto.Out, n: int) -> None:
    load: Any = pto.load  # Any: its types refuse that too
    image = load(x, "mat", conv=pto.conv(filter=(1, 1)), pad="zero")
    pto.store(pto.block(y, 0, 0, 8, 64), image)


@pto.kernel
def stored_input(x: pto.In, y: pto.Out, n: int) -> None:
    pto.store(pto.block(y, 0, 0, 8, 64), pto.load(pto.block(x, 0, 0, 8, 64)))
    pto.store(pto.block(x, 8, 0, 8, 64), pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def told_apart(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.full(f32, 8, 64, 0.0)
    for i in pto.range(n):
        pto.adds(t, 1.0 if isinstance(i, int) else 2.0, out=t)
    pto.store(pto.block(y, 0, 0, 8, 64), t)


@pto.kernel
def changed_in_a_branch(x: pto.In, y: pto.Out, n: int) -> None:
    found = {"more": 0}
    if n > 2:
        found["more"] = 1
    pto.store(pto.block(y, 0, 0, 8, 64), pto.full(f32, 8, 64, found["more"]))


@pto.kernel
def unseen(x: pto.In, y: pto.Out, n: int) -> None:
    pto.store(pto.block(y, 0, 0, 8, 64), pto.full(f32, 8, 64, WAITING.qsize()))


@pto.inline
def early(t: pto.Tile, n: int) -> pto.Tile:
    if n > 2:
        return t + 1.0
    return t


@pto.kernel
def return_in_a_helper(x: pto.In, y: pto.Out, n: int) -> None:
    pto.store(pto.block(y, 0, 0, 8, 64), early(pto.load(pto.block(x, 0, 0, 8, 64)), n))


@pto.kernel
def return_in_a_branch(x: pto.In, y: pto.Out, n: int) -> None:
    if n > 2:
        return
    pto.store(pto.block(y, 0, 0, 8, 64), pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def raise_in_a_branch(x: pto.In, y: pto.Out, n: int) -> None:
    if n > 2:
        raise ValueError(n)


@pto.kernel
def number_minus_tile(x: pto.In, y: pto.Out, n: int) -> None:
    pto.store(pto.block(y, 0, 0, 8, 64), 2.0 - pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def fraction_carried(x: pto.In, y: pto.Out, n: int) -> None:
    a = 0
    for _ in pto.range(n):
        a = a + 0.5
    pto.store(pto.block(y, 0, 0, 8, 64), pto.load(pto.block(x, 0, 0, 8, 64)) + a)


@pto.kernel
def square(x: pto.In, y: pto.Out, n: int) -> None:
    t: Any = pto.load(pto.block(x, 0, 0, 8, 64))
    pto.store(pto.block(y, 0, 0, 8, 64), t**2)


@pto.kernel
def product_of_tiles(x: pto.In, y: pto.Out, n: int) -> None:
    t: Any = pto.load(pto.block(x, 0, 0, 8, 64))
    pto.store(pto.block(y, 0, 0, 8, 64), t @ t)


@pto.kernel
def part_of_a_tile(x: pto.In, y: pto.Out, n: int) -> None:
    t: Any = pto.load(pto.block(x, 0, 0, 8, 64))
    pto.store(pto.block(y, 0, 0, 4, 64), t[0:4])


@pto.kernel
def made_in_a_branch(x: pto.In, y: pto.Out, n: int) -> None:
    for p in pto.range(n):
        if p == 0:
            t = pto.load(pto.block(x, 0, 0, 8, 64))
        else:
            pto.adds(t, 1.0, out=t)  # pyright: ignore


@pto.vector
def doubled(x: pto.Tile) -> None:
    m = lanes.pset_b32("PAT_ALL")
    a = lanes.vlds(x, 0)
    lanes.vsts(lanes.vadd(a, a, m), x, 0, m)


@pto.vector
def with_a_narrow_mask(x: pto.Tile) -> None:
    m = lanes.pset_b16("PAT_ALL")
    lanes.vsts(lanes.vexp(lanes.vlds(x, 0), m), x, 0, m)


@pto.vector
def with_a_register_as_mask(x: pto.Tile) -> None:
    a = lanes.vlds(x, 0)
    lanes.vexp(a, a)


@pto.vector
def of_two_types(x: pto.Tile) -> None:
    m, a = lanes.pset_b32("PAT_ALL"), lanes.vlds(x, 0)
    lanes.vadd(a, lanes.vbr(1, dtype=i32), m)


@pto.vector
def of_no_type(x: pto.Tile) -> None:
    m, a = lanes.pset_b32("PAT_ALL"), lanes.vlds(x, 0)
    lanes.vcvt(a, m)


@pto.vector
def behind_the_tile(x: pto.Tile) -> None:
    lanes.vlds(x, 480)


@pto.vector
def that_returns(x: pto.Tile) -> Any:
    return lanes.vlds(x, 0)


@pto.vector
def that_calls_another(x: pto.Tile) -> None:
    doubled(x)


@pto.vector
def of_an_array(x: Any) -> None:  # Any: its types refuse that too
    lanes.vlds(x, 0)


@pto.vector
def of_registers_of_other_types(x: pto.Tile) -> None:
    a = lanes.vlds(x, 0)
    for _ in pto.range(3):
        a = lanes.vbitcast(a, dtype=i32)


@pto.kernel
def narrow_mask(x: pto.In, y: pto.Out, n: int) -> None:
    with_a_narrow_mask(pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def register_as_mask(x: pto.In, y: pto.Out, n: int) -> None:
    with_a_register_as_mask(pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def registers_of_two_types(x: pto.In, y: pto.Out, n: int) -> None:
    of_two_types(pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def result_of_no_type(x: pto.In, y: pto.Out, n: int) -> None:
    of_no_type(pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def lanes_behind_the_tile(x: pto.In, y: pto.Out, n: int) -> None:
    behind_the_tile(pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def vector_function_that_returns(x: pto.In, y: pto.Out, n: int) -> None:
    that_returns(pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def vector_function_in_another(x: pto.In, y: pto.Out, n: int) -> None:
    that_calls_another(pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def lanes_of_an_array(x: pto.In, y: pto.Out, n: int) -> None:
    of_an_array(x)


@pto.kernel
def lanes_outside(x: pto.In, y: pto.Out, n: int) -> None:
    lanes.vlds(pto.load(pto.block(x, 0, 0, 8, 64)), 0)


@pto.kernel
def register_that_changes_its_type(x: pto.In, y: pto.Out, n: int) -> None:
    of_registers_of_other_types(pto.load(pto.block(x, 0, 0, 8, 64)))


@pto.kernel
def vector_function_of_another_chip(x: pto.In, y: pto.Out, n: int) -> None:
    t = pto.load(pto.block(x, 0, 0, 8, 64))
    doubled(t)
    pto.store(pto.block(y, 0, 0, 8, 64), t)

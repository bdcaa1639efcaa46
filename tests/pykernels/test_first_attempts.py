"""What somebody types who knows NumPy: it computes what NumPy does, or one message refuses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit import f32, i32

X = np.random.default_rng(7).standard_normal((9, 37)).astype(np.float32)
load: Any = pto.load  # Any: of an array or of a file, which parts of arrays leave open
TARGETS = ("cpu", "a2a3", "a5")


def block(x: Any) -> pto.Tile:
    return load(pto.block(x, 0, 0, 8, 37))


def put(y: Any, t: pto.Tile) -> None:
    pto.store(pto.block(y, 0, 0, 8, 37), t)


def computed(kernel: Any, *args: Any, blocks: int = 1) -> Any:
    """The last array as a target leaves it; all ways agree."""
    given: list[Any] = []
    for target in TARGETS:
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        launched = kernel.on(target, blocks=blocks)
        launched.verify(*given, blocks=blocks)
        launched(*given)
    return given[-1]


# what is right


def test_strides_of_two_run_time_extents_are_known_wherever_they_are_asked_for() -> None:
    @pto.kernel(shapes="x[b, n, m] s[b] y[b, n, m]")
    def scaled(x: pto.In, s: pto.In, y: pto.Out) -> None:
        b, n, m = x.shape
        for k, i, j in pto.grid(b, pto.cdiv(n, 8), pto.cdiv(m, 16)):
            t = load(pto.block(x[k], i * 8, j * 16, 8, 16))
            pto.store(pto.block(y[k], i * 8, j * 16, 8, 16), t * s[k])

    x, s = np.stack([X, X + 1, X * X]), np.array([2, 3, 5], np.float32)
    y = computed(scaled, x, s, np.zeros_like(x), blocks=5)
    assert (y == x * s[:, None, None]).all()


@pto.kernel
def first_columns(x: pto.In, y: pto.InOut, n: int) -> None:
    t = pto.tile_vec(f32, 16, 40, valid=(9, n))
    pto.tload(t, pto.block(x, 0, 0, 9, n))
    pto.store(pto.block(y, 0, 0, 9, n), t)


@pytest.mark.parametrize("n", [1, 8, 37])
def test_a_block_of_a_run_time_width_is_part_of_an_array_of_known_extents(n: int) -> None:
    for target in TARGETS:
        y = np.zeros_like(X)
        first_columns.on(target).verify(X, y, n)
        first_columns.on(target)(X, y, n)
        assert (y[:, :n] == X[:, :n]).all()
        assert not y[:, n:].any()


@pytest.mark.parametrize("width", [1, 31, 32, 33, 100])
def test_an_array_of_one_axis_is_a_row(width: int) -> None:
    @pto.kernel(shapes="x[n] y[n]")
    def absolute(x: pto.In, y: pto.Out) -> None:
        for i in pto.grid(pto.cdiv(x.shape[0], 32)):
            t = load(pto.block(x, 0, i * 32, 1, 32))
            pto.store(pto.block(y, 0, i * 32, 1, 32), abs(t))

    x = X.ravel()[:width].copy()
    assert (computed(absolute, x, np.zeros_like(x), blocks=2) == abs(x)).all()


def test_a_row_of_an_array_is_loaded() -> None:
    @pto.kernel
    def first(x: pto.In, y: pto.Out) -> None:
        pto.store(y[1], load(x[2]))

    assert (computed(first, X, np.zeros_like(X))[1] == X[2]).all()


def test_a_number_beside_a_tile_has_the_type_of_what_is_read() -> None:
    @pto.kernel
    def positive(x: pto.In, y: pto.Out) -> None:
        t = block(x)
        below = pto.full(f32, 8, 40, -1.5, valid=t.valid)
        put(y, pto.sel(pto.cmps(t, 0.25, cmp="gt"), t, below))

    y = computed(positive, X, np.zeros_like(X))
    assert (y[:8] == np.where(X[:8] > 0.25, X[:8], np.float32(-1.5))).all()


@pytest.mark.parametrize("name", ["outer", "work"])
def test_a_kernel_may_have_any_name_and_a_function_as_default(name: str) -> None:
    def outer(x: pto.In, y: pto.Out, *, f: Callable[[Any], Any] = lambda t: t + 1.0) -> None:
        for _ in pto.range(1):
            put(y, f(block(x)))

    def work(x: pto.In, y: pto.Out, *, f: Callable[[Any], Any] = lambda t: t + 1.0) -> None:
        for _ in pto.range(1):
            put(y, f(block(x)))

    kernel = pto.kernel({"outer": outer, "work": work}[name])
    assert (computed(kernel, X, np.zeros_like(X))[:8] == X[:8] + 1).all()


def test_numbers_have_powers_absolute_values_and_remainders() -> None:
    @pto.kernel
    def reckoned(x: pto.In, n: int, y: pto.Out) -> None:
        a, b = divmod(n, 3)
        put(y, block(x) * (n**2 + abs(-n) + 10 * a + b))

    assert (computed(reckoned, X, 5, np.zeros_like(X))[:8] == X[:8] * np.float32(42)).all()


def test_going_over_an_array_gives_its_rows() -> None:
    @pto.kernel
    def swapped(x: pto.In, y: pto.Out) -> None:
        rows = [load(part) for part in x]
        for i, row in enumerate(reversed(rows)):
            pto.store(y[i], row)

    assert (computed(swapped, X, np.zeros_like(X)) == X[::-1]).all()


# what is refused

REFUSED: dict[str, tuple[Any, str, str]] = {}


def refused(slug: str, says: str) -> Callable[[Any], Any]:
    def noted(function: Any) -> Any:
        REFUSED[function.__name__] = pto.kernel(function), slug, says
        return function

    return noted


@refused("window-out-of-bounds", "count from the start: 37 - 1")
def from_the_end(x: pto.In, y: pto.Out, n: int) -> None:
    put(y, block(x) * x[1, -1])


@refused("window-out-of-bounds", "[40, 41) is out of bounds of an axis of 37 elements")
def beyond_its_row(x: pto.In, y: pto.Out, n: int) -> None:
    put(y, block(x) * x[1, 40])


@refused("window-out-of-bounds", "[0, 100) is out of bounds of an axis of 9")
def beyond_the_rows(x: pto.In, y: pto.Out, n: int) -> None:
    pto.store(y[0:100], load(x[0:100]))


@refused("run-time-number", "enumerate, zip")
def numbered(x: pto.In, y: pto.Out, n: int) -> None:
    for k, i in enumerate(pto.range(n)):
        pto.store(y[k], load(x[i]))


def rows(n: int) -> Iterator[int]:
    for i in pto.range(n):
        yield i + 0


@refused("rebound", "at is rebound")
def generated(x: pto.In, y: pto.Out, n: int) -> None:
    at = 0
    for i in rows(n):
        pto.store(y[at], load(x[i]))
        at = at + 1


@refused("rebound", "count is changed")
def counted_by_a_function(x: pto.In, y: pto.Out, n: int) -> None:
    count = 0

    def more() -> None:
        nonlocal count
        count += 1

    for _ in pto.range(n):
        more()
    put(y, block(x) * count)


@refused("run-time-number", "%n is not known while recording")
def hidden(x: pto.In, y: pto.Out, n: int) -> None:
    try:
        if n and n > 1:
            put(y, block(x))
    except Exception:
        put(y, block(x) * 2.0)


@refused("run-time-number", "pto.cmps(t, 0.0")
def compared(x: pto.In, y: pto.Out, n: int) -> None:
    t = block(x)
    if t == 0:  # pyright: ignore
        put(y, t)


@refused("run-time-number", "is memory, not elements")
def true_array(x: pto.In, y: pto.Out, n: int) -> None:
    if x:
        put(y, block(x))


@refused("run-time-number", "%n is not known while recording")
def in_a_set(x: pto.In, y: pto.Out, n: int) -> None:
    if n in {1, 2, 3}:
        put(y, block(x))


@refused("shape", "src1.valid.rows is 4 and dst.valid.rows is 8")
def other_height(x: pto.In, y: pto.Out, n: int) -> None:
    put(y, block(x) + load(pto.block(x, 0, 0, 4, 37)))


@refused("element-type", "pto.tadd: ")
def other_type(x: pto.In, y: pto.Out, n: int) -> None:
    put(y, block(x) + block(x).cast("f16"))


@refused("element-type", "keeps the bits")
def other_values(x: pto.In, y: pto.Out, n: int) -> None:
    pto.store(y[0:1, 0:8], pto.full(i32, 1, 8, 3))


@refused("tile-shape", "load a block of it")
def open_part(x: pto.In, y: pto.Out, n: int) -> None:
    pto.store(y[0:n], load(x[0:n]))


@refused("out-of-scope", "bind the number before the loop")
def counter_after_its_loop(x: pto.In, y: pto.Out, n: int) -> None:
    for i in pto.range(n):
        pto.store(y[i], load(x[i]))
    pto.store(y[i], load(x[0]))  # pyright: ignore


@every("name", REFUSED)
def test_it_is_refused_in_one_message_with_a_caret(name: str) -> None:
    kernel, slug, says = REFUSED[name]
    y = np.zeros_like(X)
    with pytest.raises(pto.PtoError) as found:
        kernel.on("a5")(X, y, 3)
    text = str(found.value)
    assert text.startswith(f"error[{slug}]")
    assert says in text
    assert text.count("error[") == 1
    assert f"{__file__.rpartition('/')[2]}:" in text
    assert "^" in text
    assert not y.any()


def returning(x: pto.In, y: pto.Out) -> Any:
    put(y, block(x))
    return block(x)


def fractions(x: pto.In, y: pto.Out) -> None:
    for i in pto.range(8 / 2):  # type: ignore[arg-type]
        pto.store(y[i], load(x[i]))


def fraction_of_a_block(x: pto.In, y: pto.Out) -> None:
    pto.store(pto.block(y, 0, 0, 16 / 2, 37), block(x))  # type: ignore[arg-type]


def unknown_word(x: pto.In, y: pto.Out) -> None:
    put(y, pto.cmps(block(x), 0.0, mode="gt"))  # type: ignore[call-arg]


def new_axis(x: pto.In, y: pto.Out) -> None:
    pto.store(y[0], load(x[0, None]))


@every(
    ("function", "says"),
    [
        (returning, "returning returns a tile: a kernel returns nothing"),
        (fractions, "pto.range counts integers, got 4.0"),
        (fraction_of_a_block, "takes integers, got 8.0"),
        (unknown_word, "unknown argument mode=; cmp=, out="),
        (new_axis, "an index of x is made of integers, got None"),
    ],
)
def test_a_wrong_call_says_what_is_right(function: Any, says: str) -> None:
    kernel = pto.kernel(function)
    for run in (kernel, kernel.debug):
        with pytest.raises(TypeError) as found:
            run(X, np.zeros_like(X))
        assert says in str(found.value)


def generator(x: pto.In, y: pto.Out) -> Any:
    yield block(x)


def starred(*arrays: Any) -> None:
    put(arrays[1], block(arrays[0]))


@pytest.mark.parametrize(("function", "says"), [(generator, "generator"), (starred, "*arrays")])
def test_some_functions_are_no_kernels(function: Any, says: str) -> None:
    with pytest.raises(TypeError) as found:
        pto.kernel(function)
    assert says in str(found.value)


@pto.kernel(shapes="y[n, D] x[n, D]")
def doubled_into(y: pto.Out, x: pto.In) -> None:
    put(y, block(x) + block(x))


def test_debug_puts_back_what_it_changed_alone() -> None:
    both = X.copy()
    doubled_into.debug(both, both)
    assert (both[:8] == X[:8] * 2).all()
    frozen, y = X.copy(), np.zeros_like(X)
    frozen.flags.writeable = False
    doubled_into.debug(y, frozen)
    assert (y[:8] == X[:8] * 2).all()

"""Laws that tie the movement instructions together, on random legal tiles."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import ptokit as pto
from fuzz.scale import scaled

LAYOUTS = ("nd", "dn", "nz", "zn", "zz", "nn")
DTYPES = ("f32", "f16", "bf16", "i8", "u16", "i32", "hif8", "f8e4m3", "f4e2m1x2")
PERIOD = {"P0101": 2, "P1010": 2, "P0001": 4, "P0010": 4, "P0100": 4, "P1000": 4, "P1111": 1}


class Spec(NamedTuple):
    """A tile to make: whole boxes of every layout, any valid region inside."""

    layout: str
    rows: int
    cols: int
    valid: tuple[int, int]

    def tile(self, dtype: str, data: Any = None) -> pto.Tile:
        made = pto.tile("vec", dtype, self.rows, self.cols, layout=self.layout, valid=self.valid)
        if data is not None:
            made.handle.assign(data)
        return made


@st.composite
def specs(draw: st.DrawFn, least: tuple[int, int] = (1, 1)) -> Spec:
    rows, cols = (32 * draw(st.integers(1, 2)) for _ in range(2))
    valid = (draw(st.integers(least[0], rows)), draw(st.integers(least[1], cols)))
    return Spec(draw(st.sampled_from(LAYOUTS)), rows, cols, valid)


def codes(dtype: str, shape: tuple[int, int], seed: int) -> Any:
    """Random element codes, NaNs and all."""
    bits = {"f4e2m1x2": 4}.get(dtype) or getattr(pto, dtype).bits
    raw = np.random.default_rng(seed).integers(0, 1 << bits, shape, dtype=np.uint64)
    return raw.astype(getattr(pto, dtype).storage)


SEED = st.integers(0, 1 << 20)
# what does not fit is filtered out: at times more often than hypothesis likes
SLOW = (HealthCheck.filter_too_much, HealthCheck.too_slow)
DTYPE = st.sampled_from(DTYPES)


@settings(max_examples=scaled(15), suppress_health_check=SLOW)
@given(dtype=DTYPE, small=specs(), large=specs(), seed=SEED, at=st.tuples(SEED, SEED))
def test_extract_undoes_insert(
    dtype: str, small: Spec, large: Spec, seed: int, at: tuple[int, int]
) -> None:
    room = [big - little for big, little in zip(large.valid, small.valid, strict=True)]
    assume(min(room) >= 0)
    row, col = (n % (r + 1) for n, r in zip(at, room, strict=True))
    data = codes(dtype, small.valid, seed)
    whole = large.tile(dtype, codes(dtype, large.valid, seed + 1))
    before = whole.handle.codes()
    pto.tinsert(whole, small.tile(dtype, data), row, col)
    back = small.tile(dtype)
    pto.textract(back, whole, row, col)
    assert np.array_equal(back.handle.codes(), data)
    after, window = (
        whole.handle.codes(),
        np.s_[row : row + small.valid[0], col : col + small.valid[1]],
    )
    after[window] = before[window]
    assert np.array_equal(after, before), "an insert leaves the rest alone"


@settings(max_examples=scaled(10), suppress_health_check=SLOW)
@given(dtype=DTYPE, spec=specs(), layout=st.sampled_from(LAYOUTS), seed=SEED)
def test_transposing_twice_is_the_identity(dtype: str, spec: Spec, layout: str, seed: int) -> None:
    data = codes(dtype, spec.valid, seed)
    assume(dtype != "f4e2m1x2")  # its layouts have boxes of 32 columns, not of 16 rows
    transposed = Spec(layout, spec.cols, spec.rows, (spec.valid[1], spec.valid[0])).tile(dtype)
    pto.ttrans(transposed, spec.tile(dtype, data))
    assert np.array_equal(transposed.handle.codes(), data.T)
    back = spec.tile(dtype)
    pto.ttrans(back, transposed)
    assert np.array_equal(back.handle.codes(), data)


@settings(max_examples=scaled(10), suppress_health_check=SLOW)
@given(dtype=DTYPE, one=specs(), two=specs(), seed=SEED)
def test_a_move_keeps_every_element_in_every_layout(
    dtype: str, one: Spec, two: Spec, seed: int
) -> None:
    data = codes(dtype, one.valid, seed)
    assume(one.valid[0] <= two.rows and one.valid[1] <= two.cols)
    moved = two._replace(valid=one.valid).tile(dtype)
    pto.tmov(moved, one.tile(dtype, data))
    assert np.array_equal(moved.handle.codes(), data)


@settings(max_examples=scaled(10), suppress_health_check=SLOW)
@given(
    rows=st.integers(1, 6),
    period=st.sampled_from([("P0101", "P1010"), ("P0001", "P0010", "P0100", "P1000"), ("P1111",)]),
    blocks=st.integers(1, 4),
    seed=SEED,
)
def test_the_masks_of_a_period_partition_the_columns(
    rows: int, period: tuple[str, ...], blocks: int, seed: int
) -> None:
    cols = 32 * blocks
    data = codes("f32", (rows, cols), seed)
    source = Spec("nd", rows, cols, (rows, cols)).tile("f32", data)
    kept = cols // len(period)
    parts: list[Any] = []
    for pattern in period:
        out = Spec("nd", rows, kept, (rows, kept)).tile("f32")
        pto.tgather(out, source, pattern=pattern)  # pyright: ignore[reportArgumentType, reportCallIssue] - a word
        parts.append(out.handle.codes())
    assert np.array_equal(np.stack(parts, axis=2).reshape(rows, cols), data)


@settings(max_examples=scaled(10), suppress_health_check=SLOW)
@given(dtype=DTYPE, left=st.integers(1, 32), right=st.integers(1, 32), seed=SEED)
def test_extract_takes_a_concatenation_apart(dtype: str, left: int, right: int, seed: int) -> None:
    assume(dtype in ("f32", "f16", "bf16", "i8", "u16", "i32"))
    a, b = codes(dtype, (4, left), seed), codes(dtype, (4, right), seed + 1)
    parts = [Spec("nd", 4, 32, d.shape).tile(dtype, d) for d in (a, b)]
    both = Spec("nd", 4, 64, (4, left + right)).tile(dtype)
    pto.tconcat(both, *parts)
    for data, col in ((a, 0), (b, left)):
        back = Spec("nd", 4, 32, data.shape).tile(dtype)
        pto.textract(back, both, 0, col)
        assert np.array_equal(back.handle.codes(), data)


@settings(max_examples=scaled(10), suppress_health_check=SLOW)
@given(dtype=DTYPE, layout=st.sampled_from(LAYOUTS), seed=SEED, box=st.tuples(SEED, SEED))
def test_what_a_view_writes_its_source_sees(
    dtype: str, layout: str, seed: int, box: tuple[int, int]
) -> None:
    data = codes(dtype, (64, 64), seed)
    source = Spec(layout, 64, 64, (64, 64)).tile(dtype, data)
    view = Spec(layout, 64, 64, (32, 32)).tile(dtype)
    row, col = 32 * (box[0] % 2), 32 * (box[1] % 2)
    pto.subview(view, source, row, col)
    assert np.array_equal(view.handle.codes(), data[row : row + 32, col : col + 32])
    new = codes(dtype, (32, 32), seed + 1)
    view.handle.assign(new)
    data[row : row + 32, col : col + 32] = new
    assert np.array_equal(source.handle.codes(), data)


@settings(max_examples=scaled(10), suppress_health_check=SLOW)
@given(dtype=DTYPE, seed=SEED, wide=st.sampled_from([64, 128, 256]))
def test_reshapes_go_round(dtype: str, seed: int, wide: int) -> None:
    data = codes(dtype, (32, 64), seed)
    source = Spec("nd", 32, 64, (32, 64)).tile(dtype, data)
    rows = 32 * 64 // wide
    other = Spec("nd", rows, wide, (rows, wide)).tile(dtype)
    pto.treshape(other, source)
    assert np.array_equal(other.handle.codes(), data.reshape(rows, wide))
    back = Spec("nd", 32, 64, (32, 64)).tile(dtype)
    pto.treshape(back, other)
    assert np.array_equal(back.handle.codes(), data)


@settings(max_examples=scaled(10), suppress_health_check=SLOW)
@given(dtype=st.sampled_from(("f32", "f16", "i8", "u16", "i32")), spec=specs(), seed=SEED)
def test_a_fill_pads_all_the_rest(dtype: str, spec: Spec, seed: int) -> None:
    data = codes(dtype, spec.valid, seed)
    whole = (spec.rows, spec.cols)
    padded = pto.tile("vec", dtype, *whole, layout=spec.layout, pad="min")
    pto.tfillpad(padded, spec.tile(dtype, data))
    values = padded.numpy().copy()
    least = -np.inf if dtype.startswith("f") else np.iinfo(values.dtype).min
    assert np.array_equal(padded.handle.codes()[: spec.valid[0], : spec.valid[1]], data)
    assert (values[spec.valid[0] :, :] == least).all()
    assert (values[:, spec.valid[1] :] == least).all()

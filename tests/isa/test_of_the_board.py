"""Forms that published data of chips have, and that pages and headers leave out or refuse."""

from __future__ import annotations

import numpy as np
import pytest
from ml_dtypes import bfloat16

import ptokit as pto
from every import every

ENGINES = pytest.mark.parametrize("engine", ["reference", "native"])
ROW = "!pto.tile_buf<vec, 4x32x{0}, valid=4x{1}>"
PAIRS = f"pto.tinterleave ins(%a, %b : {ROW}, {ROW}) outs(%c, %d : {ROW}, {ROW})\n"
COUNT = "!pto.tile_buf<vec, 4x8xi32, valid=4x1>"
JOIN = f"pto.tconcatidx ins(%a, %b, %m, %n : {ROW}, {ROW}, {COUNT}, {COUNT}) outs(%c : {ROW})\n"
LEFT = "!pto.tile_buf<left, 16x16xf16, blayout=col_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 16x32xf16, blayout=row_major, slayout=col_major>"
SUM = "!pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
DIVIDED = "pto.trowexpanddiv ins(%a, %b : {0}, {1}) outs(%c : {0}) {{highPrecision = {2}}}\n"


@ENGINES
@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
def test_counts_that_dst_has_no_room_for_are_cut_off(engine: str, target: str) -> None:
    program = pto.loads(JOIN.format("f32", 32))
    a, b = np.arange(128.0).reshape(4, 32).astype("f4"), np.arange(128.0, 256).reshape(4, 32)
    first, second = np.array([[0], [31], [32], [5]]), np.array([[32], [9], [7], [6]])
    m, n = (first * 4).astype("i4"), (second * 4).astype("i4")
    c, given = np.full((4, 32), -1, "f4"), b.astype("f4")
    found = program.run(target=target, engine=engine, a=a, b=given, c=c, m=m, n=n)["c"]
    for row in range(4):
        parts = a[row, : first[row, 0]], b[row, : second[row, 0]], np.full(32, -1)
        expected = np.concatenate(parts)[:32]
        assert (found[row] == expected).all()


SPREAD = """\
pto.tscatter ins(%a, {{maskPattern = #pto.mask_pattern<{1}>}} : !pto.tile_buf<vec, 4x32x{0}>,\
 "col")\
 outs(%c : !pto.tile_buf<vec, 16x64x{0}>)
"""


WIDE, COLUMN = "!pto.tile_buf<vec, 16x32xf32>", "!pto.tile_buf<vec, 16x8xf32>"
TAKEN: dict[str, dict[str, list[str]]] = {  # by target, the errors of forms that chips take
    PAIRS.format("f32", 31): {"cpu": ["shape"], "a5": []},
    SPREAD.format("i16", "P0010"): {"cpu": ["shape"], "a2a3": [], "a5": []},
    DIVIDED.format(WIDE, COLUMN, "false"): {"a5": []},
}


@every("text", TAKEN)
def test_forms_that_chips_take(text: str) -> None:
    found = {target: [d.slug for d in pto.loads(text).check(target)] for target in TAKEN[text]}
    assert found == TAKEN[text]


WINDOW = f"""\
func.func @f(%a: {LEFT}, %b: {RIGHT}, %out: !pto.tile_buf<vec, 24x32xf32, valid=14x16>) {{
  %two = arith.constant 2 : index
  %far = arith.constant 16 : index
  %sum = pto.alloc_tile : {SUM}
  pto.tmatmul ins(%a, %b : {LEFT}, {RIGHT}) outs(%sum : {SUM})
  pto.textract ins(%sum, %two, %far : {SUM}, index, index)\
 outs(%out : !pto.tile_buf<vec, 24x32xf32, valid=14x16>)\
 {{accToVecMode = #pto.acc_to_vec_mode<single_mode_vec0>}}
  return
}}
"""


@ENGINES
def test_from_acc_to_vec_the_valid_region_alone_must_fit(engine: str) -> None:
    program = pto.loads(WINDOW)
    a = np.arange(256).reshape(16, 16).astype("f2") % 7
    b = np.arange(512).reshape(16, 32).astype("f2") % 5
    found = program.run(target="a5", engine=engine, a=a, b=b, out=np.zeros((14, 16), "f4"))["out"]
    assert (found == (a.astype("f4") @ b.astype("f4"))[2:, 16:]).all()
    assert {(d.slug, d.is_error) for d in program.check("a5")} == {("window-out-of-bounds", False)}


FOUND, COUNTS = "!pto.tile_buf<vec, 4x16xi32>", "!pto.tile_buf<vec, 1x8xi32>"
STAGE, KEYS = "!pto.tile_buf<vec, 1x2048xi32>", ROW.format("f32", 32)
MATCHES = f"""\
func.func @f(%a: {KEYS}, %t: {STAGE}, %k: f32, %c: {FOUND}, %n: {COUNTS}) {{
  pto.tgather ins(%a, %k, %t {{cmpMode = #pto<cmp gt>, offset = 0 : i32}} : {KEYS}, f32, {STAGE})\
 outs(%c, %n : {FOUND}, {COUNTS})
  return
}}
"""


@ENGINES
@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
def test_a_comparison_lists_as_many_matches_as_a_row_holds(engine: str, target: str) -> None:
    program, a = pto.loads(MATCHES), np.tile(np.arange(32).astype("f4"), (4, 1))
    c, n, t = (np.zeros(s, "i4") for s in ((4, 16), (1, 8), (1, 2048)))
    found = program.run(target=target, engine=engine, a=a, k=15.0, c=c, n=n, t=t)
    assert (found["c"] == np.arange(4)[:, None] * 32 + np.arange(16, 32)).all()
    assert (found["n"][0, :4] == 16).all()
    with pytest.raises(pto.PtoError, match="scatter-out-of-bounds"):
        program.run(target=target, engine=engine, a=a, k=14.0, c=c, n=n, t=t)


WHOLE = "!pto.tile_buf<vec, 32x32xf32{0}>"
SINGLE = "!pto.tile_buf<vec, 16x8xf32, valid=1x1{0}>"
OF_BOXES = ", blayout=col_major, slayout=row_major"


@ENGINES
@pytest.mark.parametrize("layout", ["", OF_BOXES])
def test_one_element_may_be_anywhere_on_a2a3(engine: str, layout: str) -> None:
    whole, single = WHOLE.format(layout), SINGLE.format(layout)
    head = f"func.func @f(%a: {single}, %b: {whole}, %c: {single}) {{\n"
    at = "%row = arith.constant 5 : index\n%col = arith.constant 9 : index\n"
    insert = f"pto.tinsert ins(%a, %row, %col : {single}, index, index) outs(%b : {whole})\n"
    extract = f"pto.textract ins(%b, %row, %col : {whole}, index, index) outs(%c : {single})\n"
    program = pto.loads(f"{head}{at}{insert}{extract}return\n}}")
    one, b = np.ones((1, 1), "f4"), np.zeros((32, 32), "f4")
    found = program.run(target="a2a3", engine=engine, a=one, b=b, c=np.zeros((1, 1), "f4"))
    assert found["b"][5, 9] == found["b"].sum() == found["c"][0, 0] == 1


TABLE = "!pto.tensor_view<8x16xbf16>"
ADDED = f"""\
func.func @f(%s: !pto.tile_buf<vec, 8x16xbf16>, %i: !pto.tile_buf<vec, 1x8xi32>,\
 %t: !pto.ptr<bf16>) {{
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %v = pto.make_tensor_view %t, shape = [%c8, %c16], strides = [%c16, %c1] : {TABLE}
  pto.mscatter ins(%s, %i : !pto.tile_buf<vec, 8x16xbf16>, !pto.tile_buf<vec, 1x8xi32>)\
 outs(%v : {TABLE}) {{coalesce = #pto<coalesce row>, scatterAtomicOp = #pto<scatter_atomic_op add>}}
  return
}}
"""


@ENGINES
@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
def test_rows_of_bf16_are_added_to_a_table(engine: str, target: str) -> None:
    s = (np.arange(128) / 8).reshape(8, 16).astype(bfloat16)
    rows = np.array([[0, 3, 3, 7, 0, 5, 3, 1]], "i4")
    table, given = np.zeros((8, 16), bfloat16), np.zeros(128, bfloat16)
    for at in range(8):
        table[rows[0, at]] += s[at]
    found = pto.loads(ADDED).run(target=target, engine=engine, s=s, i=rows, t=given)["t"]
    assert (found.reshape(8, 16) == table).all()


SUMS = "pto.tpairreducesum ins(%a : {0}) outs(%c : {0})\n"


@ENGINES
@pytest.mark.parametrize(("target", "last"), [("cpu", 7), ("a2a3", 0), ("a5", 0)])
def test_chips_leave_out_a_column_that_has_no_pair(engine: str, target: str, last: int) -> None:
    program = pto.loads(SUMS.format(ROW.format("f32", 7)))
    a = np.tile(np.arange(1, 8).astype("f4"), (4, 1))
    found = program.run(target=target, engine=engine, a=a, c=np.ones((4, 7), "f4"))["c"]
    assert (found == [3, 7, 11, last, 0, 0, 0]).all()


@ENGINES
@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
def test_a5_rounds_a_product_of_halves_and_its_sum_once(engine: str, target: str) -> None:
    shape, rng = (16, 64), np.random.default_rng(5)
    x, y = (rng.uniform(-4, 4, shape).astype(np.float16) for _ in range(2))
    tile = "!pto.tile_buf<vec, 16x64xf16>"
    program = pto.loads(
        f"func.func @f(%x: {tile}, %y: {tile}, %s: f16) {{\n"
        f"  pto.taxpy ins(%x, %s : {tile}, f16) outs(%y : {tile})\n  return\n}}\n"
    )
    found = program.run(target=target, engine=engine, x=x, y=y, s=np.float16(0.7))["y"]
    product = x.astype(np.float64) * np.float64(np.float16(0.7))
    once = (product + y).astype(np.float16)
    twice = (product.astype(np.float16).astype(np.float64) + y).astype(np.float16)
    assert (once != twice).any()
    assert np.array_equal(np.asarray(found), once if target == "a5" else twice)


@pytest.mark.parametrize("target", ["a2a3", "kirin9030"])
def test_a_scalar_fills_boxes_that_are_all_valid(target: str) -> None:
    """Of fewer, code of boards fills other elements: it counts columns of declared rows (E70)."""
    with pto.target(target):
        whole = pto.tile("vec", pto.f32, 32, 32, layout="nz")
        pto.texpands(whole, 1.5)
        assert (whole.numpy() == 1.5).all()
        part = pto.tile("vec", pto.f32, 32, 32, layout="nz", valid=(16, 32))
        with pytest.raises(pto.PtoError, match="boxes that are all valid"):
            pto.texpands(part, 1.5)

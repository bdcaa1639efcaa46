"""Operands that share bytes: which the vector units of chips may write while they read others.

The tables say what public code does with each page: whether it loads elements behind the ones that
it stores. The two tiles lie at addresses that the program gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import ptokit as pto
from every import every

CHIPS = ("a2a3", "a5")
F32, I32, F16 = "16x64xf32", "16x64xi32", "16x64xf16"
MASK, COLUMN, ROW = "16x32xui8", "16x8xf32, valid=16x1", "1x64xf32"
PART, FILLED = "16x64xf32, valid=3x10", "16x64xf32, pad=1"
RECORDS, LONG, WIDE = "16x128xf32", "1x256xf32", "16x128xf32"


def tile(kind: str) -> str:
    return f"!pto.tile_buf<vec, {kind}>"


def program(
    name: str,
    kinds: Mapping[str, str],
    at: Mapping[str, int],
    outs: Iterable[str] = ("d",),
    attrs: str = "",
    numbers: str = "",
) -> pto.Program:
    """One instruction on tiles at addresses; `kinds` in text order, others lie far behind."""
    types = {key: tile(kind) if "x" in kind else kind for key, kind in kinds.items()}
    far = {key: 65536 + 16384 * place for place, key in enumerate(types)}
    lines = [numbers] if numbers else []
    for key, kind in types.items():
        if kind.startswith("!"):
            address = at.get(key, far[key])
            lines.append(f"%p{key} = arith.constant {address} : i64")
            lines.append(f"%{key} = pto.alloc_tile addr = %p{key} : {kind}")
    ins = [key for key in types if key not in outs]

    def group(keys: Iterable[str], inside: str = "") -> str:
        named = ", ".join(f"%{key}" for key in keys)
        return f"({named}{inside} : {', '.join(types[key] for key in keys)})"

    lines.append(f"pto.{name} ins{group(ins, attrs)} outs{group([*outs])}")
    body = "\n  ".join(lines)
    return pto.loads(f"func.func @f() {{\n  {body}\n  return\n}}\n")


def shares(found: pto.Program, target: str) -> bool:
    """Whether the check says that operands share bytes; else it has nothing against them."""
    slugs = {d.slug for d in found.check(target) if d.is_error and d.slug != "uninitialised-read"}
    assert slugs <= {"shared-storage"}, slugs
    return bool(slugs)


ONE = "%s = arith.constant 2.0 : f32"
TWO = "%s = arith.constant 2 : i32"
RUNS = "%n = arith.constant 64 : i32"
FP = {"a": F32, "b": F32, "d": F32}
UNARY = {"a": F32, "d": F32}
NUMBER = {"a": F32, "s": "f32", "d": F32}
NUMBER_I = {"a": I32, "s": "i32", "d": I32}
GT = " {cmpMode = #pto<cmp gt>}"
NARROW = "16x1xf32, blayout=col_major"
ROWS = {"a": F32, "b": NARROW, "d": F32}
COLS = {"a": F32, "b": ROW, "d": F32}
# name, operands, what dst may begin with on each chip, and the rest of the text
Case = tuple[str, Mapping[str, str], Mapping[str, str], str, str]
CASES: list[Case] = [
    ("tadd", FP, {"a2a3": "ab", "a5": "ab"}, "", ""),
    ("tmul", FP, {"a2a3": "ab", "a5": "ab"}, "", ""),
    ("tfmod", FP, {"a2a3": "", "a5": "ab"}, "", ""),
    ("texp", UNARY, {"a2a3": "a", "a5": "a"}, "", ""),
    ("trecip", UNARY, {"a2a3": "", "a5": "a"}, "", ""),
    ("tadds", NUMBER, {"a2a3": "a", "a5": "a"}, "", ONE),
    ("tdivs", NUMBER, {"a2a3": "a", "a5": "a"}, "", ONE),
    ("tdivs", NUMBER_I, {"a2a3": "", "a5": "a"}, "", TWO),
    ("tfmods", NUMBER, {"a2a3": "", "a5": "a"}, "", ONE),
    ("tpartadd", FP, {"a2a3": "ab", "a5": "ab"}, "", ""),
    ("tcvt", {"a": F32, "d": F16}, {"a2a3": "a", "a5": "a"}, "", ""),
    ("tcvt", {"a": F16, "d": F32}, {"a2a3": "", "a5": ""}, "", ""),
    ("tcmp", {"a": F32, "b": F32, "d": MASK}, {"a2a3": "", "a5": ""}, GT, ""),
    ("trowexpandmul", ROWS, {"a2a3": "a", "a5": "a"}, "", ""),
    ("tcolexpandmul", COLS, {"a2a3": "a", "a5": "a"}, "", ""),
    ("tcolexpand", {"a": ROW, "d": F32}, {"a2a3": "", "a5": ""}, "", ""),
    ("trowexpand", {"a": COLUMN, "d": F32}, {"a2a3": "", "a5": ""}, "", ""),
    ("tcolmax", {"a": F32, "d": ROW}, {"a2a3": "a", "a5": "a"}, "", ""),
    ("tconcat", {"a": F32, "b": F32, "d": WIDE}, {"a2a3": "", "a5": ""}, "", ""),
    ("tpartmax", FP, {"a2a3": "ab", "a5": "ab"}, "", ""),
    ("tfillpad_inplace", {"a": PART, "d": FILLED}, {"a2a3": "a", "a5": "a"}, "", ""),
    ("tgatherb", {"a": F32, "b": "16x8xui32", "d": F32}, {"a2a3": "", "a5": ""}, "", ""),
    ("tscatter", {"a": F32, "b": I32, "d": F32}, {"a2a3": "", "a5": ""}, "", ""),
    ("tsort32", {"a": F32, "b": "16x64xui32", "d": RECORDS}, {"a2a3": "", "a5": ""}, "", ""),
    ("tmrgsort", {"a": LONG, "n": "i32", "d": LONG}, {"a2a3": "", "a5": ""}, "", RUNS),
]
LISTED = [(case, target) for case in CASES for target in CHIPS]


@every(("case", "target"), LISTED, ids=[f"{c[0]}-{t}" for c, t in LISTED])
def test_an_output_over_an_input(case: Case, target: str) -> None:
    name, kinds, over, attrs, numbers = case
    for source in (key for key in kinds if key != "d" and "x" in kinds[key]):
        at = {source: 4096, "d": 4096}
        found = program(name, kinds, at, attrs=attrs, numbers=numbers)
        assert shares(found, target) is (source not in over[target]), source
        # an element further on, or a line before: never
        for step in (32, -32):
            if kinds[source] in (ROW, COLUMN, NARROW):
                continue
            found = program(name, kinds, {**at, "d": 4096 + step}, attrs=attrs, numbers=numbers)
            assert shares(found, target), (source, step)
        assert not shares(program(name, kinds, {}, attrs=attrs, numbers=numbers), target)
        assert not shares(program(name, kinds, at, attrs=attrs, numbers=numbers), "cpu")


WITH_SCRATCH = [
    ("trowmax", {"a": F32, "t": F32, "d": COLUMN}, ""),
    ("txor", {"a": I32, "b": I32, "t": I32, "d": I32}, ""),
    ("tsel", {"m": MASK, "a": F32, "b": F32, "t": "1x16xui32", "d": F32}, ""),
    ("tgather", {"a": F32, "b": I32, "t": I32, "d": F32}, ""),
]


@every(("name", "kinds", "attrs"), WITH_SCRATCH)
def test_scratch_lies_on_no_other_operand(name: str, kinds: dict[str, str], attrs: str) -> None:
    for other in (key for key in kinds if key != "t"):
        found = program(name, kinds, {other: 4096, "t": 4096}, attrs=attrs)
        assert shares(found, "a2a3"), other
        assert not shares(found, "a5"), other  # it does without


def test_parts_of_one_tile_lie_side_by_side() -> None:
    """Left and right halves of rows share no byte, though their first and last ones enclose it."""
    text = """\
func.func @f(%x: {whole}) {{
  %n = arith.constant {col} : index
  %a = pto.subview %x[0, 0] sizes [16, 64] : {whole} -> {half}
  %b = pto.subview %x[0, %n] sizes [16, 64] : {whole} -> {half}
  pto.texp ins(%a : {half}) outs(%b : {half})
  return
}}
"""
    half = "!pto.tile_buf<vec, 16x128xf32, valid=16x64>"
    for col, wrong in ((64, False), (56, True), (8, True), (0, False)):
        found = pto.loads(text.format(whole=tile(WIDE), half=half, col=col))
        assert all(shares(found, target) is wrong for target in CHIPS), col

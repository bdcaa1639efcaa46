"""Block sorts as LLVM IR: 64-bit elements in the order of their keys, which are unsigned i64.

The functions take pointers and counts only. Elements and keys are contiguous; `%out` receives the
elements.
"""

from __future__ import annotations

from functools import reduce

from ptokit.engines.kernels.lanes import Lanes
from ptokit.machine.record.code import Code, Int, Num, text
from ptokit.values.scalars import least

SORT = "define internal void @sort(ptr %keys, ptr %from, ptr noalias %out, i64 %n)"
WHOLE, ALL_RANKS = 32, 31 * 32 // 2  # keys of a whole block, and the sum of their ranks
AT_ONCE = 4  # keys of an iteration


def sort(count: int) -> str:
    """Store each element at its rank: the number of keys that are less, or equal and earlier.

    `count` lanes are ranked at once; keys are padded to a multiple of `count`. Of a whole block the
    upper halves of the keys are ranked first, which is sufficient if all of them differ.
    """
    code = Code()
    lanes = Lanes(code, count)
    kinds = lanes.type("i64")
    half = Lanes(code, 2 * count)
    ranks, sums = code.let(f"alloca {kinds}"), code.let(f"alloca {kinds} ; in a register")
    places = code.let(f"alloca [{WHOLE} x i32], align 64")
    halves = [code.let(f"alloca {half.type('i32')} ; {n}") for n in range(WHOLE // half.count)]
    whole, differ, others = (code.name(n) for n in ("whole", "differ", "others"))
    code.branch(code.let(f"icmp eq i64 %n, {WHOLE}"), whole, others)
    code.start(whole)
    total = _rank_upper_halves(code, half, halves, places)
    code.branch(code.let(f"icmp eq i32 {total}, {ALL_RANKS}"), differ, others)
    code.start(differ)
    with code.loop(WHOLE, "to their places", AT_ONCE) as first:
        for lane in (text(first + number) for number in range(AT_ONCE)):
            where = code.let(f"getelementptr i32, ptr {places}, i64 {lane}")
            rank = code.let(f"load i32, ptr {where}")
            copy(code, lane, code.let(f"zext i32 {rank} to i64"))
    code.do("ret void")
    code.start(others)
    with code.loop(Int(code, "%n"), f"{count} elements", count) as col:
        mine = load(code, kinds, "%keys", text(col))
        places = lanes.counted("i64", text(col), 0, 1)
        code.do(f"store {kinds} {lanes.splat('i64', '0')}, ptr {sums}")

        def compare(other: Num, before: str) -> None:
            """Count one key; `before` says in which lanes an equal one counts."""
            theirs = lanes.spread("i64", load(code, "i64", "%keys", text(other)))
            ahead = lanes.op("icmp ult", "i64", theirs, mine)
            if before:
                equal = lanes.op("icmp eq", "i64", theirs, mine)
                ahead = lanes.op("or", "i1", ahead, lanes.op("and", "i1", equal, before))
            old = code.let(f"load {kinds}, ptr {sums}")
            new = lanes.op("sub", "i64", old, lanes.convert("sext", "i1", ahead, "i64"))
            code.do(f"store {kinds} {new}, ptr {sums}")

        with code.loop(col, "keys before them") as other:
            compare(other, lanes.splat("i1", "true"))
        some = least(Int(code, "%n") - col, count)
        with code.loop(some, "their own keys") as other:
            at = col + other
            compare(at, lanes.op("icmp ult", "i64", lanes.spread("i64", text(at)), places))
        with code.loop(Int(code, "%n") - col - some, "keys behind them") as other:
            compare(col + some + other, "")
        code.do(f"store {kinds} {code.let(f'load {kinds}, ptr {sums}')}, ptr {ranks}")
        with code.loop(some, "to their places") as lane:
            rank = load(code, "i64", ranks, text(lane))
            copy(code, text(col + lane), rank)
    return function(SORT, code)


def _rank_upper_halves(code: Code, lanes: Lanes, sums: list[str], places: str) -> str:
    """Store how many keys of a whole block are less in their upper halves; return the sum.

    `sums`: local variables, which LLVM keeps in registers.
    """
    kind, kinds, both = "i32", lanes.type("i32"), Lanes(code, 2 * lanes.count).type("i32")
    upper = ", ".join(f"i32 {n}" for n in range(1, 2 * lanes.count, 2))
    sign = lanes.splat(kind, str(-(1 << 31)))  # signed comparisons are what processors have
    mine: list[str] = []
    for first in range(0, WHOLE, lanes.count):
        where = code.let(f"getelementptr i64, ptr %keys, i64 {first}")
        words = code.let(f"load {both}, ptr {where}, align 8")
        mask = f"<{lanes.count} x i32> <{upper}>"
        half = code.let(f"shufflevector {both} {words}, {both} poison, {mask}")
        mine.append(lanes.op("xor", kind, half, sign))
    for place in sums:
        code.do(f"store {kinds} zeroinitializer, ptr {place}")
    with code.loop(WHOLE, "keys", AT_ONCE) as first:
        for number in range(AT_ONCE):
            index = text((first + number) * 2 + 1)
            where = code.let(f"getelementptr i32, ptr %keys, i64 {index}")
            theirs = lanes.spread(kind, code.let(f"load i32, ptr {where}, align 4"))
            theirs = lanes.op("xor", kind, theirs, sign)
            for half, place in zip(mine, sums, strict=True):
                less = lanes.convert("sext", "i1", lanes.op("icmp slt", kind, theirs, half), kind)
                old = code.let(f"load {kinds}, ptr {place}")
                code.do(f"store {kinds} {lanes.op('sub', kind, old, less)}, ptr {place}")
    ranks = [code.let(f"load {kinds}, ptr {place}") for place in sums]
    for first, rank in enumerate(ranks):
        where = code.let(f"getelementptr i32, ptr {places}, i64 {first * lanes.count}")
        code.do(f"store {kinds} {rank}, ptr {where}, align 4")
    total = reduce(lambda a, b: lanes.op("add", kind, a, b), ranks)
    return code.let(f"call i32 @llvm.vector.reduce.add.v{lanes.count}i32({kinds} {total})")


def load(code: Code, kind: str, pointer: str, index: str) -> str:
    """Return the element, or the vector of elements, at an index."""
    one = "float" if "float" in kind else "i64"
    where = code.let(f"getelementptr {one}, ptr {pointer}, i64 {index}")
    return code.let(f"load {kind}, ptr {where}, align {4 if one == 'float' else 8}")


def copy(code: Code, source: str, target: str) -> None:
    value = load(code, "i64", "%from", source)
    code.do(f"store i64 {value}, ptr {code.let(f'getelementptr i64, ptr %out, i64 {target}')}")


def function(head: str, code: Code, end: str = "ret void") -> str:
    code.do(end)
    return "\n".join([f"{head} noinline nounwind {{", "entry:", *code.lines, "}", ""])

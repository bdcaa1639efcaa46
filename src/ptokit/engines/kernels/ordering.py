"""Block sorts and run merges as LLVM IR: 64-bit elements in the order of their keys.

The functions take pointers and counts only. Elements and keys are contiguous; `%out` receives the
elements. Sort keys are unsigned i64, merge keys are float.
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
            _copy(code, lane, code.let(f"zext i32 {rank} to i64"))
    code.do("ret void")
    code.start(others)
    with code.loop(Int(code, "%n"), f"{count} elements", count) as col:
        mine = _load(code, kinds, "%keys", text(col))
        places = lanes.counted("i64", text(col), 0, 1)
        code.do(f"store {kinds} {lanes.splat('i64', '0')}, ptr {sums}")

        def compare(other: Num, before: str) -> None:
            """Count one key; `before` says in which lanes an equal one counts."""
            theirs = lanes.spread("i64", _load(code, "i64", "%keys", text(other)))
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
            rank = _load(code, "i64", ranks, text(lane))
            _copy(code, text(col + lane), rank)
    return _function(SORT, code)


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


def merge(runs: int) -> str:
    """Emit the greatest head of all runs until one run is exhausted; ties go to the first run.

    `%taken`, i32, receives how many elements of each run were emitted.
    """
    code = Code()
    numbers = range(runs)
    heads = [code.let(f"alloca i64 ; head {n}") for n in numbers]
    for n, head in enumerate(heads):
        code.do(f"store i64 {_begin(n)}, ptr {head}")
    first, done = code.let("alloca i1"), code.let("alloca i64 ; elements that were emitted")
    code.do(f"store i1 true, ptr {first}")
    code.do(f"store i64 0, ptr {done}")
    full = reduce(
        lambda a, b: code.let(f"and i1 {a}, {b}"),
        [code.let(f"icmp slt i64 {_begin(n)}, %end{n}") for n in numbers],
    )
    with code.when(full):
        _while_full(code, heads, done)
        code.do(f"store i1 false, ptr {first}")
        _count(code, heads)
    before = Int(code, code.let(f"load i64, ptr {done}"))
    with code.loop(Int(code, f"%end{runs - 1}") - before, "the greatest head") as index:
        best, best_key, chosen = "-1", "0.0", "-1"
        for n, head in enumerate(heads):
            at = code.let(f"load i64, ptr {head}")
            left = code.let(f"icmp slt i64 {at}, %end{n}")
            key = _load(code, "float", "%keys", code.let(f"select i1 {left}, i64 {at}, i64 0"))
            none = code.let(f"icmp slt i64 {best}, 0")
            more = code.let(f"fcmp ogt float {key}, {best_key}")
            wins = code.let(f"and i1 {left}, {code.let(f'or i1 {none}, {more}')}")
            best = code.let(f"select i1 {wins}, i64 {at}, i64 {best}")
            best_key = code.let(f"select i1 {wins}, float {key}, float {best_key}")
            chosen = code.let(f"select i1 {wins}, i64 {n}, i64 {chosen}")
        _copy(code, best, text(before + index))
        ended = _advance(code, heads, chosen)
        new = code.let(f"and i1 {ended}, {code.let(f'load i1, ptr {first}')}")
        with code.when(new):
            code.do(f"store i1 false, ptr {first}")
            _count(code, heads)
    ends = ", ".join(f"i64 %end{n}" for n in numbers)
    head = f"@merge{runs}(ptr %keys, ptr %from, ptr noalias %out, ptr noalias %taken, {ends})"
    return _function(f"define internal void {head}", code)


def _begin(run: int) -> str:
    return f"%end{run - 1}" if run else "0"


def _while_full(code: Code, heads: list[str], done: str) -> None:
    """Emit elements until a run is exhausted, with heads in registers.

    All pairs of keys are compared at once; which comparisons count is decided afterwards.
    """
    loop, end, before = code.name("full"), code.name("exhausted"), code.block
    code.jump(loop)
    code.start(loop)
    begin = len(code.lines)  # of the phi instructions, written at the end
    step, *places = [f"%{code.name('at')}" for _ in (done, *heads)]
    keys = [_load(code, "float", "%keys", at) for at in places]
    best, taken = places[0], ["true"]
    for n, at in enumerate(places[1:], 1):
        more = [code.let(f"fcmp ogt float {keys[n]}, {key}") for key in keys[:n]]
        both = [code.let(f"and i1 {a}, {b}") for a, b in zip(taken, more, strict=True)]
        wins = reduce(lambda a, b: code.let(f"or i1 {a}, {b}"), both)
        loses = code.let(f"xor i1 {wins}, true")
        taken = [code.let(f"and i1 {one}, {loses}") for one in taken] + [wins]
        best = code.let(f"select i1 {wins}, i64 {at}, i64 {best}")
    _copy(code, best, step)
    steps = [code.let(f"zext i1 {one} to i64") for one in ("true", *taken)]
    after = [code.let(f"add i64 {at}, {by}") for at, by in zip((step, *places), steps, strict=True)]
    ended = [code.let(f"icmp eq i64 {at}, %end{n}") for n, at in enumerate(after[1:])]
    starts = ["0", *map(_begin, range(len(heads)))]
    code.lines[begin:begin] = [
        f"  {at} = phi i64 [ {start}, %{before} ], [ {later}, %{loop} ]"
        for at, start, later in zip((step, *places), starts, after, strict=True)
    ]
    code.branch(reduce(lambda a, b: code.let(f"or i1 {a}, {b}"), ended), end, loop)
    code.start(end)
    for place, at in zip((done, *heads), after, strict=True):
        code.do(f"store i64 {at}, ptr {place}")


def _advance(code: Code, heads: list[str], chosen: str) -> str:
    """Advance the head that was taken; return whether its run is exhausted."""
    ended = "false"
    for n, head in enumerate(heads):
        mine = code.let(f"icmp eq i64 {chosen}, {n}")
        step = code.let(f"zext i1 {mine} to i64")
        at = code.let(f"add i64 {code.let(f'load i64, ptr {head}')}, {step}")
        code.do(f"store i64 {at}, ptr {head}")
        last = code.let(f"and i1 {mine}, {code.let(f'icmp eq i64 {at}, %end{n}')}")
        ended = code.let(f"or i1 {ended}, {last}")
    return ended


def _count(code: Code, heads: list[str]) -> None:
    for n, head in enumerate(heads):
        at = code.let(f"load i64, ptr {head}")
        count = code.let(f"trunc i64 {code.let(f'sub i64 {at}, {_begin(n)}')} to i32")
        where = code.let(f"getelementptr i32, ptr %taken, i64 {n}")
        code.do(f"store i32 {count}, ptr {where}, align 4")


def _load(code: Code, kind: str, pointer: str, index: str) -> str:
    """Return the element, or the vector of elements, at an index."""
    one = "float" if "float" in kind else "i64"
    where = code.let(f"getelementptr {one}, ptr {pointer}, i64 {index}")
    return code.let(f"load {kind}, ptr {where}, align {4 if one == 'float' else 8}")


def _copy(code: Code, source: str, target: str) -> None:
    value = _load(code, "i64", "%from", source)
    code.do(f"store i64 {value}, ptr {code.let(f'getelementptr i64, ptr %out, i64 {target}')}")


def _function(head: str, code: Code) -> str:
    code.do("ret void")
    return "\n".join([f"{head} noinline nounwind {{", "entry:", *code.lines, "}", ""])

"""Block sorts and run merges as LLVM IR: 64-bit elements in the order of their keys.

The functions take pointers and counts only. Elements and keys are contiguous; `%out` receives the
elements. Sort keys are unsigned i64, merge keys are float.
"""

from __future__ import annotations

from ptokit.engines.kernels.lanes import Lanes
from ptokit.machine.record.code import Code, Int, Num, text
from ptokit.values.scalars import least

SORT = "define internal void @sort(ptr %keys, ptr %from, ptr noalias %out, i64 %n)"


def sort(count: int) -> str:
    """Store each element at its rank: the number of keys that are less, or equal and earlier.

    `count` lanes are ranked at once; keys are padded to a multiple of `count`.
    """
    code = Code()
    lanes = Lanes(code, count)
    kinds = lanes.type("i64")
    ranks, sums = code.let(f"alloca {kinds}"), code.let(f"alloca {kinds} ; in a register")
    with code.loop(Int(code, "%n"), f"{count} elements", count) as col:
        mine = _load(code, kinds, "%keys", text(col))
        places = lanes.iota(text(col))
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


def merge(runs: int) -> str:
    """Emit the greatest head of all runs until one run is exhausted; ties go to the first run.

    `%taken`, i32, receives how many elements of each run were emitted.
    """
    code = Code()
    numbers = range(runs)
    heads = [code.let(f"alloca i64 ; head {n}") for n in numbers]
    for n, head in enumerate(heads):
        code.do(f"store i64 {f'%end{n - 1}' if n else '0'}, ptr {head}")
    first = code.let("alloca i1")
    code.do(f"store i1 true, ptr {first}")
    with code.loop(Int(code, f"%end{runs - 1}"), "the greatest head") as step:
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
        _copy(code, best, text(step))
        ended = _advance(code, heads, chosen)
        new = code.let(f"and i1 {ended}, {code.let(f'load i1, ptr {first}')}")
        with code.when(new):
            code.do(f"store i1 false, ptr {first}")
            _count(code, heads)
    ends = ", ".join(f"i64 %end{n}" for n in numbers)
    head = f"@merge{runs}(ptr %keys, ptr %from, ptr noalias %out, ptr noalias %taken, {ends})"
    return _function(f"define internal void {head}", code)


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
        at, start = code.let(f"load i64, ptr {head}"), f"%end{n - 1}" if n else "0"
        count = code.let(f"trunc i64 {code.let(f'sub i64 {at}, {start}')} to i32")
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

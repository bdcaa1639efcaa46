"""Merges of runs as LLVM IR: 64-bit elements in the order of their keys, which are float.

The functions take pointers and counts only. Elements and keys are contiguous; `%out` receives the
elements. Runs in descending order are merged as packed words, which hold the key and the place of
an element: no two of them are equal, so that both ends of a result, and both ends of its two
halves, can be found at once and without a branch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from ptokit.engines.kernels.lanes import Lanes
from ptokit.engines.kernels.ordering import copy, function, load
from ptokit.machine.record.code import Code, Int, text

GAP = 16  # words between runs: what ends them, and what vectors write behind them
FIRST, LAST = (1 << 63) - 1, -(1 << 63)  # they stand before and behind the words of a run
FINITE = 0x7F800000 << 32 | 0xFFFFFFFF, -0x7F800001 << 32  # the words of infinities, or beyond


def room(total: int, runs: int) -> int:
    """Return how many words a merge needs for runs of so many elements."""
    return 2 * total + GAP * (runs + 3)


def kernels(runs: int, lanes: int) -> dict[str, str]:
    """Return the functions of a merge, by name."""
    return {
        f"merge{runs}": _merge(runs),
        "packed": _packed(lanes),
        "zipped": _zipped(
            "zipped", lambda code, word, where: code.do(f"store i64 {word}, ptr {where}")
        ),
        "unpacked": _zipped("unpacked", _put),
    }


def _merge(runs: int) -> str:
    """Emit the greatest head of all runs until none is left; ties go to the first run.

    `%taken`, i32, receives how many elements of each run were emitted when a run was exhausted.
    """
    code, numbers = Code(), range(runs)
    heads = [code.let(f"alloca i64 ; head {n}") for n in numbers]
    first = code.let("alloca i1")
    others = code.name("others")
    _merge_sorted(code, runs, others)
    code.start(others)
    for n, head in enumerate(heads):
        code.do(f"store i64 {_begin(n)}, ptr {head}")
    code.do(f"store i1 true, ptr {first}")
    _count(code, heads)  # none, if there are none
    with code.loop(Int(code, f"%end{runs - 1}"), "the greatest head") as index:
        best, best_key, chosen = "-1", "0.0", "-1"
        for n, head in enumerate(heads):
            at = code.let(f"load i64, ptr {head}")
            left = code.let(f"icmp slt i64 {at}, %end{n}")
            key = load(code, "float", "%keys", code.let(f"select i1 {left}, i64 {at}, i64 0"))
            none = code.let(f"icmp slt i64 {best}, 0")
            more = code.let(f"fcmp ogt float {key}, {best_key}")
            wins = code.let(f"and i1 {left}, {code.let(f'or i1 {none}, {more}')}")
            best = code.let(f"select i1 {wins}, i64 {at}, i64 {best}")
            best_key = code.let(f"select i1 {wins}, float {key}, float {best_key}")
            chosen = code.let(f"select i1 {wins}, i64 {n}, i64 {chosen}")
        copy(code, best, text(index))
        ended = _advance(code, heads, chosen)
        new = code.let(f"and i1 {ended}, {code.let(f'load i1, ptr {first}')}")
        with code.when(new):
            code.do(f"store i1 false, ptr {first}")
            _count(code, heads)
    ends = ", ".join(f"i64 %end{n}" for n in numbers)
    pointers = "ptr %keys, ptr %from, ptr noalias %out, ptr noalias %taken, ptr noalias %room"
    return function(f"define internal void @merge{runs}({pointers}, {ends})", code)


def _merge_sorted(code: Code, runs: int, others: str) -> None:
    """Merge runs that are sorted, none of them empty, and return; branch to `others` for others."""
    numbers = range(runs)
    some = [code.let(f"icmp slt i64 {_begin(n)}, %end{n}") for n in numbers]
    _unless(code, some, others)
    places = [_at(code, "%room", code.let(f"add i64 {_begin(n)}, {GAP * n + 1}")) for n in numbers]
    ready = [
        code.let(f"call i1 @packed(ptr %keys, ptr {place}, i64 {_begin(n)}, i64 %end{n})")
        for n, place in enumerate(places)
    ]
    _unless(code, ready, others)
    counts = [code.let(f"sub i64 %end{n}, {_begin(n)}") for n in numbers]
    _taken(code, places, counts)
    lists = [*zip(places, counts, strict=True)]
    behind = _at(code, "%room", code.let(f"add i64 %end{runs - 1}, {GAP * runs + 1}"))
    while len(lists) > 2:
        (a, m), (b, n), *left = lists
        code.do(f"call void @zipped(ptr {a}, i64 {m}, ptr {b}, i64 {n}, ptr {behind}, ptr %from)")
        both = code.let(f"add i64 {m}, {n}")
        lists = [*left, (behind, both)] if len(lists) > 3 else [(behind, both), *left]
        behind = _at(code, behind, code.let(f"add i64 {both}, {GAP}"))
    (a, m), (b, n) = lists
    code.do(f"call void @unpacked(ptr {a}, i64 {m}, ptr {b}, i64 {n}, ptr %out, ptr %from)")
    code.do("ret void")


def _unless(code: Code, conditions: list[str], others: str) -> None:
    """Go on if all conditions hold, else at `others`."""
    every, then = reduce(lambda a, b: code.let(f"and i1 {a}, {b}"), conditions), code.name("then")
    code.branch(every, then, others)
    code.start(then)


def _taken(code: Code, places: list[str], counts: list[str]) -> None:
    """Store how many words of each run come before the first of their last words, and that."""
    lasts = [
        _word(code, _at(code, place, code.let(f"sub i64 {count}, 1")))
        for place, count in zip(places, counts, strict=True)
    ]
    first = reduce(lambda a, b: code.let(f"call i64 @llvm.smax.i64(i64 {a}, i64 {b})"), lasts)
    for number, (place, count) in enumerate(zip(places, counts, strict=True)):

        def before(index: str, place: str = place) -> str:
            return code.let(f"icmp sge i64 {_word(code, _at(code, place, index))}, {first}")

        found = code.let(f"trunc i64 {_search(code, '0', count, before)} to i32")
        code.do(f"store i32 {found}, ptr {_at(code, '%taken', str(number), 'i32')}, align 4")


def _packed(lanes: int) -> str:
    """Return the function that packs a run; it returns whether the run is sorted, without NaN.

    The upper half of a word grows with the key, the lower half falls with the place.
    """
    code, twice = Code(), Lanes(Code(), 2 * lanes)
    twice.code = code
    wrong = code.let(f"alloca {Lanes(code, lanes).type('i64')}")
    count = Int(code, code.let("sub i64 %end, %begin"))
    with code.loop(count, f"{twice.count} words", twice.count) as index:
        where = _at(code, "%keys", code.let(f"add i64 %begin, {text(index)}"), "float")
        key = code.let(f"load {twice.type('float')}, ptr {where}, align 4")
        zero = twice.op("fcmp oeq", "float", key, twice.splat("float", "0.0"))
        bits = twice.select(zero, "i32", twice.splat("i32", "0"), twice.bits("float", key, "i32"))
        sign = twice.op("ashr", "i32", bits, twice.splat("i32", "31"))
        bits = twice.op("xor", "i32", bits, twice.op("lshr", "i32", sign, twice.splat("i32", "1")))
        upper = twice.convert("zext", "i32", bits, "i64")
        upper = twice.op("shl", "i64", upper, twice.splat("i64", "32"))
        last = code.let(f"sub i64 {(1 << 32) - 1}, {code.let(f'add i64 %begin, {text(index)}')}")
        word = twice.op("or", "i64", upper, twice.counted("i64", last, 0, -1))
        code.do(f"store {twice.type('i64')} {word}, ptr {_at(code, '%out', text(index))}, align 8")
    lane, behind = Lanes(code, lanes), _at(code, "%out", text(count))
    kinds = lane.type("i64")
    code.do(f"store {kinds} {lane.splat('i64', str(LAST))}, ptr {behind}, align 8")
    code.do(f"store i64 {FIRST}, ptr {_at(code, '%out', '-1')}")
    code.do(f"store {kinds} zeroinitializer, ptr {wrong}")
    with code.loop(count, "sorted?", lanes) as index:
        pair = [load(code, kinds, "%out", text(n)) for n in (index, index + 1)]
        less = lane.convert("sext", "i1", lane.op("icmp slt", "i64", *pair), "i64")
        both = lane.op("or", "i64", code.let(f"load {kinds}, ptr {wrong}"), less)
        code.do(f"store {kinds} {both}, ptr {wrong}")
    found = code.let(f"load {kinds}, ptr {wrong}")
    less = code.let(f"call i64 @llvm.vector.reduce.or.v{lanes}i64({kinds} {found})")
    last = _word(code, _at(code, "%out", text(count - 1)))
    ordered = code.let(f"icmp eq i64 {less}, 0")
    least = code.let(f"icmp sge i64 {last}, {FINITE[1]}")
    most = code.let(f"icmp sle i64 {_word(code, '%out')}, {FINITE[0]}")
    found = code.let(f"and i1 {code.let(f'and i1 {least}, {most}')}, {ordered}")
    head = "define internal i1 @packed(ptr %keys, ptr %out, i64 %begin, i64 %end)"
    return function(head, code, f"ret i1 {found}")


def _zipped(name: str, put: Callable[[Code, str, str], None]) -> str:
    """Return the function that merges two packed runs; `put` stores what a word stands for.

    The result is cut in the middle. Each half is found from its front and from its back, which are
    four chains of steps that do not wait for each other.
    """
    code = Code()
    total = code.let("add i64 %m, %n")
    quarter = code.let(f"lshr i64 {total}, 2")
    half = code.let(f"shl i64 {quarter}, 1")
    rest = code.let(f"sub i64 {half}, %n")
    low = code.let(f"call i64 @llvm.smax.i64(i64 {rest}, i64 0)")
    high = code.let(f"call i64 @llvm.smin.i64(i64 {half}, i64 %m)")

    def before(index: str) -> str:
        other = _at(code, "%b", code.let(f"sub i64 {half}, {index}"))
        there = _word(code, _at(code, other, "-1"))
        return code.let(f"icmp sgt i64 {_word(code, _at(code, '%a', index))}, {there}")

    of_a = _search(code, low, code.let(f"sub i64 {high}, {low}"), before)
    of_b = code.let(f"sub i64 {half}, {of_a}")
    middle = _at(code, "%a", of_a), _at(code, "%b", of_b)
    ends = _at(code, "%a", "%m"), _at(code, "%b", "%n")
    first, second = _Chain(code, 1, ("%a", "%b")), _Chain(code, 1, middle)
    back, last = (_Chain(code, -1, heads) for heads in (middle, ends))
    front, rear = (f"%{code.name('slot')}" for _ in range(2))
    code.do(f"store ptr %out, ptr {front}")
    code.do(f"store ptr {_at(code, _at(code, '%out', half), '-1')}, ptr {rear}")
    behind = code.let(f"sub i64 {total}, {half}")
    loop, done = code.name("four"), code.name("rest")
    code.branch(code.let(f"icmp sgt i64 {quarter}, 0"), loop, done)
    code.start(loop)
    begin, end = (code.let(f"load ptr, ptr {slot}") for slot in (front, rear))
    put(code, first.step(), begin)
    put(code, second.step(), _at(code, begin, half))
    put(code, back.step(), end)
    put(code, last.step(), _at(code, end, behind))
    after = _at(code, begin, "1"), _at(code, end, "-1")
    for slot, place in zip((front, rear), after, strict=True):
        code.do(f"store ptr {place}, ptr {slot}")
    code.branch(code.let(f"icmp ult ptr {after[0]}, {after[1]}"), loop, done)
    code.start(done)
    at = _at(code, code.let(f"load ptr, ptr {front}"), half)
    rest = code.let(f"sub i64 {total}, {code.let(f'shl i64 {half}, 1')}")
    with code.loop(Int(code, rest), "what is left") as index:
        put(code, second.step(), _at(code, at, text(index)))
    if name == "zipped":
        code.do(f"store i64 {FIRST}, ptr {_at(code, '%out', '-1')}")
        code.do(f"store i64 {LAST}, ptr {_at(code, '%out', total)}")
    head = f"@{name}(ptr %a, i64 %m, ptr %b, i64 %n, ptr noalias %out, ptr %from)"
    slots = [front, rear, *(slot for chain in (first, second, back, last) for slot in chain.slots)]
    code.lines[:0] = [f"  {slot} = alloca ptr" for slot in slots]
    return function(f"define internal void {head}", code)


class _Chain:
    """Steps that take the next word of two runs, the greater one forwards, the less backwards."""

    def __init__(self, code: Code, by: int, heads: tuple[str, str]) -> None:
        self.code, self.by = code, by
        self.slots = [f"%{code.name('slot')}" for _ in heads]
        for slot, head in zip(self.slots, heads, strict=True):
            code.do(f"store ptr {head if by > 0 else _at(code, head, '-1')}, ptr {slot}")

    def step(self) -> str:
        """Return the next word."""
        code = self.code
        a, b = (code.let(f"load ptr, ptr {slot}") for slot in self.slots)
        x, y = _word(code, a), _word(code, b)
        first = code.let(f"icmp {'sgt' if self.by > 0 else 'slt'} i64 {x}, {y}")
        taken = code.let(f"zext i1 {first} to i64")
        other = code.let(f"xor i64 {taken}, 1")
        if self.by > 0:
            after = _at(code, a, taken), _at(code, b, other)
        else:  # one back, unless the other word is taken
            after = _at(code, _at(code, a, other), "-1"), _at(code, _at(code, b, taken), "-1")
        for slot, head in zip(self.slots, after, strict=True):
            code.do(f"store ptr {head}, ptr {slot}")
        return code.let(f"select i1 {first}, i64 {x}, i64 {y}")


def _put(code: Code, word: str, where: str) -> None:
    """Store the element whose place is in a word."""
    place = code.let(f"trunc i64 {code.let(f'xor i64 {word}, -1')} to i32")
    place = code.let(f"zext i32 {place} to i64")
    code.do(f"store i64 {_word(code, _at(code, '%from', place))}, ptr {where}")


def _search(code: Code, low: str, count: str, before: Callable[[str], str]) -> str:
    """Return the first of `count` numbers from `low` on for which `before` is false."""
    loop, body, done = (code.name(n) for n in ("search", "body", "found"))
    entry = code.block
    code.jump(loop)
    code.start(loop)
    at, left, after, rest = (f"%{code.name()}" for _ in range(4))
    code.do(f"{at} = phi i64 [ {low}, %{entry} ], [ {after}, %{body} ]")
    code.do(f"{left} = phi i64 [ {count}, %{entry} ], [ {rest}, %{body} ]")
    code.branch(code.let(f"icmp sgt i64 {left}, 0"), body, done)
    code.start(body)
    half = code.let(f"lshr i64 {left}, 1")
    middle = code.let(f"add i64 {at}, {half}")
    ahead = before(middle)
    code.do(f"{after} = select i1 {ahead}, i64 {code.let(f'add i64 {middle}, 1')}, i64 {at}")
    larger = code.let(f"sub i64 {code.let(f'sub i64 {left}, {half}')}, 1")
    code.do(f"{rest} = select i1 {ahead}, i64 {larger}, i64 {half}")
    code.jump(loop)
    code.start(done)
    return at


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


def _begin(run: int) -> str:
    return f"%end{run - 1}" if run else "0"


def _at(code: Code, pointer: str, index: str, kind: str = "i64") -> str:
    return code.let(f"getelementptr {kind}, ptr {pointer}, i64 {index}")


def _word(code: Code, where: str) -> str:
    return code.let(f"load i64, ptr {where}")

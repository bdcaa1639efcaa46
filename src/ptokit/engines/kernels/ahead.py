"""Prefetches: a load predicts the next one of its array, and products fetch it from memory.

Loads wait for global memory, above all where rows are far apart; products compute for microseconds
without touching it. `QUEUE` bytes at the start of the scratch memory hold two predicted loads and,
by array, the place of the last load and its distance from the one before. A load at the same
distance as the last one predicts a further load as far away. A wrong prediction costs time only:
prefetches never fault.
"""

from __future__ import annotations

from ptokit.engines.kernels.loops import Stream
from ptokit.engines.kernels.walk import Access
from ptokit.machine.record.code import Code, Int, Num, text
from ptokit.values.layouts import known

QUEUE = 256  # bytes: two predictions of four words, whose turn it is, eight pairs by array
LEAST = 2048  # bytes of a load that is worth a prediction
LINES = 64  # bytes of a line of the cache

PREDICT = """define internal void @predict(ptr %queue, ptr %array, i64 %from, i64 %rows, i64 %step,
    i64 %bytes) noinline nounwind {
entry:
  %word = alloca ptr
  store ptr %array, ptr %word
  %base = load i64, ptr %word
  %low = lshr i64 %base, 12
  %high = lshr i64 %base, 20
  %mixed = xor i64 %low, %high
  %slot = and i64 %mixed, 7
  %pairs = getelementptr i64, ptr %queue, i64 16
  %last.at = getelementptr [2 x i64], ptr %pairs, i64 %slot
  %before.at = getelementptr i64, ptr %last.at, i64 1
  %last = load i64, ptr %last.at
  %before = load i64, ptr %before.at
  %here = add i64 %base, %from
  %distance = sub i64 %here, %last
  store i64 %here, ptr %last.at
  store i64 %distance, ptr %before.at
  %steady = icmp eq i64 %distance, %before
  br i1 %steady, label %predicted, label %done
predicted:
  %turn.at = getelementptr i64, ptr %queue, i64 8
  %turn = load i64, ptr %turn.at
  %other = xor i64 %turn, 4
  store i64 %other, ptr %turn.at
  %entry.at = getelementptr i64, ptr %queue, i64 %turn
  %rows.at = getelementptr i64, ptr %entry.at, i64 1
  %step.at = getelementptr i64, ptr %entry.at, i64 2
  %bytes.at = getelementptr i64, ptr %entry.at, i64 3
  %next = add i64 %here, %distance
  store i64 %next, ptr %entry.at
  store i64 %rows, ptr %rows.at
  store i64 %step, ptr %step.at
  store i64 %bytes, ptr %bytes.at
  br label %done
done:
  ret void
}
"""


def predict(code: Code, source: Access, rows: Num, cols: Num) -> None:
    """Emit the prediction of a load of rows x cols contiguous elements after this one."""
    size = source.dtype.size
    down, across = source.rows, source.cols
    if not _plain(across, 1):
        down, across, rows, cols = across, down, cols, rows
    if not (_plain(across, 1) and _plain(down)) or source.dtype.packed:
        return
    if isinstance(rows, int) and isinstance(cols, int) and rows * cols * size < LEAST:
        return
    code.kernels["predict"] = PREDICT
    numbers = (source.offset * size, rows, down.step * size, cols * size)
    places = ", ".join(f"i64 {text(n)}" for n in numbers)
    code.do(f"call void @predict(ptr %scratch, ptr {source.pointer}, {places})")


def _plain(line: Stream, step: int | None = None) -> bool:
    """Return whether a stream is one loop from its start; `step`: the elements from one to next."""
    one = len(line.digits) == 1 and known(line.start, 0)
    return one and (step is None or known(line.step, step))


def fetch(code: Code) -> None:
    """Emit the prefetch of one row of a prediction, if one is left in the queue `%ahead`."""
    entries = "%ahead", code.let("getelementptr i64, ptr %ahead, i64 4")
    lefts = [code.let(f"getelementptr i64, ptr {entry}, i64 1") for entry in entries]
    first, second = (code.let(f"load i64, ptr {left}") for left in lefts)
    begun = code.let(f"icmp sgt i64 {first}, 0")
    rows = code.let(f"select i1 {begun}, i64 {first}, i64 {second}")
    entry = code.let("select i1 {}, ptr {}, ptr {}".format(begun, *entries))
    left = code.let("select i1 {}, ptr {}, ptr {}".format(begun, *lefts))
    with code.when(code.let(f"icmp sgt i64 {rows}, 0")):
        code.do(f"store i64 {code.let(f'sub i64 {rows}, 1')}, ptr {left}")
        step, size = (
            code.let(f"load i64, ptr {code.let(f'getelementptr i64, ptr {entry}, i64 {n}')}")
            for n in (2, 3)
        )
        where = code.let(f"load ptr, ptr {entry}")
        after = code.let(f"getelementptr i8, ptr {where}, i64 {step}")
        code.do(f"store ptr {after}, ptr {entry}")
        with code.loop(Int(code, size) + (LINES - 1), "lines of a row", LINES) as at:
            line = code.let(f"getelementptr i8, ptr {where}, i64 {text(at)}")
            code.do(f"call void @llvm.prefetch.p0(ptr {line}, i32 0, i32 2, i32 1)")

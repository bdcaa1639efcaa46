"""The LLVM code that walks an execution log with vector clocks, generated once.

A *row* is a vector clock of eight 32-bit numbers: the number of an entry for each pipe, and last a
block number. Memory is divided into granules, each with two rows: the newest write and the newest
read of each queue. The comparison is conservative: it may report a conflict if two instructions
share a granule but no byte, or if a wait precedes its set.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from enum import IntEnum
from functools import cache

from ptokit.machine import cache as codes
from ptokit.machine.executionlog import OF_BLOCK
from ptokit.machine.record.code import Code, Int, Num, Truth, text

ROW = "<8 x i32>"
LANES, ROW_BYTES, GRANULE_BYTES = 8, 32, 64
STEP_WORDS, CHANNEL_ROWS, SPACE_WORDS, POINT_WORDS = 12, 3, 6, 4
ENTRY = "define i64 @launch(ptr %log, ptr %tables, ptr %state, ptr %none, i64 %first, i64 %end)"


class Stop(IntEnum):
    """The reasons why the code returns; word 0 of the state is the position of the record."""

    END = 0
    CONFLICT = 1
    NEW_KIND = 2  # of operands of an instruction
    BLOCK = 3
    FINER = 4  # granules: state has the number of the memory and the address, as words 1 and 3


class ScanStep(IntEnum):
    """The steps of an executed instruction."""

    WORK = 0
    READ = 1
    WRITE = 2
    POST = 3
    AWAIT = 4
    DRAIN = 5
    DRAIN_ALL = 6


class Table(IntEnum):
    """The arrays of the code, by their index among the addresses that it gets."""

    POINTS = 0
    DECIDING = 1
    KINDS = 2
    SPACES = 3
    CHANNELS = 4
    ROWS = 5


class Row(IntEnum):
    """The indices of single rows and of the first of a group with one row per lane."""

    CLOCKS = 0  # what is complete before the next entry of the queue starts
    OWN = 8  # all bits of the lane itself
    ORDERED = 16  # the greatest number in lanes that need no comparison
    SCALAR = 24  # as OWN, for the scalar unit: its entries are complete before the next is issued
    ELSE = 32  # all bits of the other lanes, but of the last
    DONE = 40  # the entries that each queue has taken
    LIMIT = 41  # the entries that are complete before the current instruction
    OTHER = 42  # the number and block of the current instruction; unused numbers in other lanes
    MINE = 43  # the row that its access enters in a memory of its core
    SHARED = 44  # the row that its access enters in a global memory
    BLOCK = 45  # in the last lane the number of the block
    SEVERAL = 46  # in the last lane the mark for several blocks
    COUNT = 47


class _Words:
    """An array of 64-bit words."""

    def __init__(self, code: Code, base: str) -> None:
        self.code, self.base = code, base

    def at(self, index: Num) -> str:
        return self.code.let(f"getelementptr i64, ptr {self.base}, i64 {text(index)}")

    def __getitem__(self, index: Num) -> Int:
        return Int(self.code, self.code.let(f"load i64, ptr {self.at(index)}"))

    def __setitem__(self, index: Num, value: Num) -> None:
        self.code.do(f"store i64 {text(value)}, ptr {self.at(index)}")


class _Rows:
    """An array of rows."""

    def __init__(self, code: Code, base: str) -> None:
        self.code, self.base = code, base

    def at(self, index: Num) -> str:
        place = text(index * ROW_BYTES)
        return self.code.let(f"getelementptr i8, ptr {self.base}, i64 {place}")

    def __getitem__(self, index: Num) -> str:
        return self.code.let(f"load {ROW}, ptr {self.at(index)}, align 4")

    def __setitem__(self, index: Num, row: str) -> None:
        self.code.do(f"store {ROW} {row}, ptr {self.at(index)}, align 4")


class _Scan:
    """The generator of the function."""

    def __init__(self) -> None:
        self.code = code = Code()
        for name in ("at", "kind", "differs"):
            code.do(f"%{name} = alloca i64")
        code.do(f"%bad = alloca {ROW}")
        self.log, self.state = _Words(code, "%log"), _Words(code, "%state")
        places = {
            table: code.let(f"load ptr, ptr {_Words(code, '%tables').at(int(table))}")
            for table in Table
        }
        self.points, self.deciding, self.kinds, self.spaces = (
            _Words(code, places[t])
            for t in (Table.POINTS, Table.DECIDING, Table.KINDS, Table.SPACES)
        )
        self.channels, self.rows = (_Rows(code, places[t]) for t in (Table.CHANNELS, Table.ROWS))

    def text(self) -> str:
        code = self.code
        code.do("store i64 %first, ptr %at")
        code.jump("record")
        code.start("record")
        self.at = self._variable("%at")
        self._leave_if(self.at >= Int(code, "%end"), Stop.END)
        self._leave_if(self.log[self.at] == OF_BLOCK, Stop.BLOCK)
        point = self.log[self.at] * POINT_WORDS
        kind, deciding = self._kind(point)
        self.points[point + 1] = kind
        steps = kind + 2 + deciding
        with code.loop(self.kinds[kind + 1], "steps") as number:
            self._step(steps + number * STEP_WORDS)
        code.do(f"store i64 {text(self.at + self.points[point])}, ptr %at")
        code.jump("record")
        declared = f"declare {ROW} @llvm.smax.v8i32({ROW}, {ROW})"
        return "\n".join([declared, ENTRY + " {", "entry:", *code.lines, "}\n"])

    def _variable(self, name: str) -> Int:
        return Int(self.code, self.code.let(f"load i64, ptr {name}"))

    def _leave_if(self, condition: Truth, why: Stop) -> None:
        with self._only_if(condition):
            self._return(why)

    def _return(self, why: Stop) -> None:
        self.state[0] = self.at
        self.code.do(f"ret i64 {int(why)}")

    @contextmanager
    def _only_if(self, condition: Truth) -> Generator[None]:
        """Generate instructions that run if the condition holds, and leave the function."""
        yes, no = self.code.name("leave"), self.code.name("on")
        self.code.branch(condition, yes, no)
        self.code.start(yes)
        yield
        self.code.start(no)

    def _kind(self, point: Num) -> tuple[Int, Int]:
        """Return the kind whose deciding numbers match the record; a point's kinds form a ring."""
        code, first = self.code, self.points[point + 1]
        count, listed = self.points[point + 2], self.points[point + 3]
        self._leave_if(first == -1, Stop.NEW_KIND)
        code.do(f"store i64 {first}, ptr %kind")
        code.jump("candidate")
        code.start("candidate")
        kind = self._variable("%kind")
        code.do("store i64 0, ptr %differs")
        with code.loop(count, "deciding numbers") as n:
            wanted, seen = (
                self.kinds[kind + 2 + n],
                self.log[self.at + 1 + self.deciding[listed + n]],
            )
            here = code.let(f"xor i64 {wanted}, {seen}")
            code.do(f"store i64 {self._variable('%differs') | Int(code, here)}, ptr %differs")
        code.branch(self._variable("%differs") == 0, "found", "another")
        code.start("another")
        after = self.kinds[kind]
        code.do(f"store i64 {after}, ptr %kind")
        self._leave_if(after == first, Stop.NEW_KIND)
        code.jump("candidate")
        code.start("found")
        return kind, count

    def _step(self, step: Num) -> None:
        code = self.code
        what, lane = self.kinds[step], self.kinds[step + 1]
        makers = {
            ScanStep.WORK: self._work,
            ScanStep.READ: self._read,
            ScanStep.WRITE: self._write,
            ScanStep.POST: self._post,
            ScanStep.AWAIT: self._await,
            ScanStep.DRAIN: self._drain,
            ScanStep.DRAIN_ALL: self._drain_all,
        }
        cases = " ".join(f"i64 {int(s)}, label %step{int(s)}" for s in makers)
        code.do(f"switch i64 {what}, label %stepped [{cases}]")
        for number, make in makers.items():
            code.start(f"step{int(number)}")
            make(step, lane)
            code.jump("stepped")
        code.start("stepped")

    # clocks

    def _max(self, a: str, b: str) -> str:
        return self.code.let(f"call {ROW} @llvm.smax.v8i32({ROW} {a}, {ROW} {b})")

    def _and(self, a: str, b: str) -> str:
        return self.code.let(f"and {ROW} {a}, {b}")

    def _or(self, a: str, b: str) -> str:
        return self.code.let(f"or {ROW} {a}, {b}")

    def _own(self, lane: Num, rows: Row = Row.OWN) -> str:
        return self.rows[lane + int(rows)]

    def _clock(self, lane: Num) -> str:
        """Return the clock of the queue, joined with that of the scalar unit that issues to it."""
        return self._max(self.rows[lane + int(Row.CLOCKS)], self.rows[int(Row.CLOCKS)])

    def _keep(self, lane: Num, clock: str, done: str) -> None:
        scalar = self._and(done, self._own(lane, Row.SCALAR))
        self.rows[lane + int(Row.CLOCKS)] = self._max(clock, scalar)

    def _next(self, lane: Num) -> tuple[str, str]:
        """Count one more entry of the queue; return the counts, and the count of the lane alone."""
        own = self._own(lane)
        # all bits set is the number -1, so this adds 1
        done = self.code.let(f"sub {ROW} {self.rows[int(Row.DONE)]}, {own}")
        self.rows[int(Row.DONE)] = done
        return done, self._and(done, own)

    def _work(self, step: Num, lane: Num) -> None:
        clock = self._clock(lane)
        inner = self.kinds[step + 2] * self.state[2]
        assert isinstance(inner, Int)
        self._leave_if(inner > 0, Stop.CONFLICT)
        done, mine = self._next(lane)
        self.rows[int(Row.LIMIT)] = self._max(clock, self._own(lane, Row.ORDERED))
        block = self.rows[int(Row.BLOCK)]
        others = self._or(self._own(lane, Row.ELSE), block)
        self.rows[int(Row.OTHER)] = self._or(mine, others)
        self.rows[int(Row.MINE)] = mine
        self.rows[int(Row.SHARED)] = self._or(mine, block)
        self._keep(lane, clock, done)

    def _post(self, step: Num, lane: Num) -> None:
        channel = self.kinds[step + 2] * CHANNEL_ROWS
        clock, done = self._clock(lane), self.rows[int(Row.DONE)]
        ticket = self._max(clock, self._and(done, self._own(lane)))
        up = _Words(self.code, self.channels.at(channel + 2))
        self._leave_if(up[0] != self.kinds[step + 4], Stop.CONFLICT)
        self._conflict_if(self.code.let(f"icmp sgt {ROW} {self.channels[channel + 1]}, {ticket}"))
        up[0] = 1
        self.state[2] = self.state[2] + self.kinds[step + 3]
        self.channels[channel] = ticket
        self._keep(lane, clock, done)

    def _await(self, step: Num, lane: Num) -> None:
        channel = self.kinds[step + 2] * CHANNEL_ROWS
        up = _Words(self.code, self.channels.at(channel + 2))
        self._leave_if(up[0] <= 0, Stop.CONFLICT)
        up[0] = self.kinds[step + 5]
        self.state[2] = self.state[2] - self.kinds[step + 3]
        done, mine = self._next(lane)
        with self.code.when(self.kinds[step + 4] != 0):  # a flag: its next set comes after this
            self.channels[channel + 1] = mine
        self._keep(lane, self._max(self._clock(lane), self.channels[channel]), done)

    def _drain(self, step: Num, lane: Num) -> None:
        done = self.rows[int(Row.DONE)]
        self._keep(lane, self._max(self._clock(lane), self._and(done, self._own(lane))), done)

    def _drain_all(self, step: Num, lane: Num) -> None:
        done = self.rows[int(Row.DONE)]
        self._keep(lane, self._max(self._clock(lane), done), done)

    def _conflict_if(self, lanes: str) -> None:
        """Leave with a conflict if a condition holds in some lane."""
        bits = self.code.let(f"bitcast <8 x i1> {lanes} to i8")
        self._leave_if(Truth(self.code, self.code.let(f"icmp ne i8 {bits}, 0")), Stop.CONFLICT)

    # memory

    def _read(self, step: Num, lane: Num) -> None:
        self._access(step, writes=False)

    def _write(self, step: Num, lane: Num) -> None:
        self._access(step, writes=True)

    def _access(self, step: Num, *, writes: bool) -> None:
        """Check each granule of the lines of an access."""
        code, row = self.code, self.kinds[step + 2] * SPACE_WORDS
        shift, size, low, shared, skipped = (self.spaces[row + n] for n in range(1, 6))
        used = code.name("used")
        code.branch(skipped == 0, used, "stepped")
        code.start(used)
        start = self._start(step)
        width, pitch, count = (self.kinds[step + n] for n in (8, 9, 10))
        with self._only_if(Int(code, code.let(f"and i64 {text(start)}, {low}")) > 0):
            self.state[1], self.state[3] = self.kinds[step + 2], start
            self._return(Stop.FINER)
        last = start + (count - 1) * pitch + width
        self._leave_if(start < 0, Stop.CONFLICT)
        self._leave_if(Int(code, text(last)) > size, Stop.CONFLICT)
        code.do(f"store {ROW} zeroinitializer, ptr %bad")
        base = code.let(f"load ptr, ptr {self.spaces.at(row)}")
        places = int(Row.LIMIT), int(Row.OTHER), shared + int(Row.MINE)
        limit, other, mine = (self.rows[place] for place in places)
        with (
            code.loop(count, "lines") as line,
            self._granules(base, start + line * pitch, width, shift) as granule,
        ):
            self._granule(granule, limit, other, mine, writes=writes)
        bad = code.let(f"load {ROW}, ptr %bad")
        self._conflict_if(code.let(f"icmp ne {ROW} {bad}, zeroinitializer"))

    @contextmanager
    def _granules(self, base: str, first: Num, width: Num, shift: Num) -> Generator[_Rows]:
        """Loop over the granules of a line of bytes; the body gets the rows of one granule."""
        code = self.code
        low = Int(code, code.let(f"ashr i64 {text(first)}, {text(shift)}"))
        high = Int(code, code.let(f"ashr i64 {text(first + width - 1)}, {text(shift)}"))
        with code.loop(high - low + 1, "granules") as number:
            place = text((low + number) * GRANULE_BYTES)
            yield _Rows(code, code.let(f"getelementptr i8, ptr {base}, i64 {place}"))

    def _start(self, step: Num) -> Int:
        """Return the first byte: constant, plus address of the record, plus elements times bits."""
        base, at, times, origin, bits = (self.kinds[step + n] for n in range(3, 8))
        elements = self.log[self.at + origin] * bits
        offset = Int(self.code, self.code.let(f"ashr i64 {text(elements)}, 3"))
        start = base + self.log[self.at + at] * times + offset
        assert isinstance(start, Int)
        return start

    def _granule(self, rows: _Rows, limit: str, other: str, mine: str, *, writes: bool) -> None:
        """Compare earlier accesses with the completed entries, then enter this access."""
        code, wrote, read = self.code, rows[0], rows[1]
        bad, earlier = (self._unordered(row, limit, other) for row in (wrote, read))
        found = self._or(bad, earlier) if writes else bad
        code.do(f"store {ROW} {self._or(code.let(f'load {ROW}, ptr %bad'), found)}, ptr %bad")
        if writes:
            rows[0] = self._max(wrote, mine)
        else:  # a granule that several blocks read gets the mark for several
            several = self._and(earlier, self.rows[int(Row.SEVERAL)])
            rows[1] = self._max(self._max(read, mine), several)

    def _unordered(self, row: str, limit: str, other: str) -> str:
        """Return all bits of the lanes whose access is of another instruction and incomplete."""
        late = self.code.let(f"icmp sgt {ROW} {row}, {limit}")
        apart = self.code.let(f"icmp ne {ROW} {row}, {other}")
        both = self.code.let(f"and <8 x i1> {late}, {apart}")
        return self.code.let(f"sext <8 x i1> {both} to {ROW}")


@cache
def scan_code(processor: codes.Processor) -> codes.MachineCode:
    """Return the machine code of the scan for a processor."""
    made = _Scan().text()
    code, _ = codes.compiled(made, lambda: ([made], b""), processor)
    return code

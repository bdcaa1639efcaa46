"""The queues of a core in compiled code, in which issued records wait.

Queues proceed in the order of `engines.reference.queuedinterpreter`. A record has the number of its
entry and the numbers of its operands. The first words of the memory hold the ends of each queue and
the list of active queues.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ptokit.engines.native.entry import ARGUMENTS
from ptokit.engines.native.frame import CELL, LEAST, MORE, TOO_LARGE
from ptokit.machine.execute import QUEUE_WORDS
from ptokit.machine.state import IDS, PIPES

# words: waiting entries; first and last active queue; set of active queues; their order
PENDING, FIRST, LAST, GOING, ORDER = range(5)
HEADS = ORDER + len(PIPES)
TAILS = HEADS + len(PIPES)
WAITS = TAILS + len(PIPES)  # per queue: a counter, its required value, a further wait
ISSUED = WAITS + 3 * len(PIPES)  # issued operations of each FIFO
MOST_FIFOS, BUFFERS = 32, 32
ACQUIRED = ISSUED + MOST_FIFOS  # issued acquires of each buffer
RELEASED = ACQUIRED + BUFFERS  # executed releases of each buffer
STATE = RELEASED + BUFFERS
NOT_YET = 2  # result of an entry that waits for another core
SET, WAIT, ACQUIRE, RELEASE, OWN = range(5)  # common entries; then those of the program
PASSED = "ptr %frame, ptr %memories, ptr %scratch, ptr %callback"
MOST = (QUEUE_WORDS - STATE) // len(PIPES)  # words of each queue


class QueueSpaces(NamedTuple):
    """The numbers of the spaces of queues and flags."""

    queues: int
    flags: int


def capacity(width: int) -> int:
    """Return the capacity of a queue with records of `width` words: a power of two."""
    return 1 << ((MOST // width).bit_length() - 1)


def queue_functions(places: QueueSpaces, width: int, entries: int) -> Sequence[str]:
    """Return the functions that issue records and execute them."""
    own = range(OWN, OWN + entries)
    filled = {
        **{"arguments": ARGUMENTS, "passed": PASSED, "too_large": TOO_LARGE, "ids": IDS},
        **{"queues": 3 * places.queues, "flags": 3 * places.flags, "most": len(PIPES)},
        **{"pending": PENDING, "first": FIRST, "last": LAST, "going": GOING, "order": ORDER},
        **{"heads": HEADS, "tails": TAILS, "state": STATE, "wait": WAIT, "set": SET},
        **{"width": width, "count": capacity(width), "mask": capacity(width) - 1},
        **{"acquire": ACQUIRE, "release": RELEASE, "released": RELEASED},
        **{"waits": WAITS, "not_yet": NOT_YET, "cell": CELL, "least": LEAST, "more": MORE},
        "cases": " ".join(f"i64 {n}, label %own{n}" for n in own),
        "own": "\n".join(OWN_ENTRY.format(n=n, passed=PASSED) for n in own),
        "results": "".join(f", [ %result{n}, %own{n} ]" for n in own),
    }
    loops = (
        EACH_QUEUE.format(
            **filled, **{part: t.format(**filled) for part, t in one._asdict().items()}
        )
        for one in LOOPS
    )
    return [NOTHING, *(text.format(**filled) for text in (WORDS, ROOM, ISSUE, GO)), *loops]


WORDS = """define internal ptr @queues(ptr %memories) alwaysinline {{
  %at = getelementptr i64, ptr %memories, i64 {queues}
  %found = load ptr, ptr %at
  ret ptr %found
}}

define internal ptr @record(ptr %queues, i64 %queue, i64 %number) alwaysinline {{
  %before = mul i64 %queue, {count}
  %place = and i64 %number, {mask}
  %row = add i64 %before, %place
  %words = mul i64 %row, {width}
  %index = add i64 %words, {state}
  %found = getelementptr i64, ptr %queues, i64 %index
  ret ptr %found
}}

define internal ptr @word(ptr %queues, i64 %field, i64 %queue) alwaysinline {{
  %index = add i64 %field, %queue
  %found = getelementptr i64, ptr %queues, i64 %index
  ret ptr %found
}}"""

ROOM = """define internal ptr @room(ptr %memories, i64 %queue) noinline {{
  %queues = call ptr @queues(ptr %memories)
  %head.at = call ptr @word(ptr %queues, i64 {heads}, i64 %queue)
  %tail.at = call ptr @word(ptr %queues, i64 {tails}, i64 %queue)
  %head = load i64, ptr %head.at
  %tail = load i64, ptr %tail.at
  %used = sub i64 %tail, %head
  %full = icmp sge i64 %used, {count}
  %place = call ptr @record(ptr %queues, i64 %queue, i64 %tail)
  %found = select i1 %full, ptr null, ptr %place
  ret ptr %found
}}"""

ISSUE = """define internal i32 @issue({arguments}, i64 %queue) noinline {{
  %queues = call ptr @queues(ptr %memories)
  %pending.at = getelementptr i64, ptr %queues, i64 {pending}
  %pending = load i64, ptr %pending.at
  %more = add i64 %pending, 1
  store i64 %more, ptr %pending.at
  %head.at = call ptr @word(ptr %queues, i64 {heads}, i64 %queue)
  %tail.at = call ptr @word(ptr %queues, i64 {tails}, i64 %queue)
  %head = load i64, ptr %head.at
  %tail = load i64, ptr %tail.at
  %after = add i64 %tail, 1
  store i64 %after, ptr %tail.at
  %alone = icmp eq i64 %head, %tail
  br i1 %alone, label %goes, label %held
goes:
  %result = call i32 @go({passed}, i64 %queue)
  ret i32 %result
held:
  ret i32 {not_yet}
}}"""

# a function that acts on each queue that meets a condition
EACH_QUEUE = """define internal i32 @{name}({arguments}) noinline {{
entry:
  %queues = call ptr @queues(ptr %memories)
{begins}
  br label %each
each:
  %queue = phi i64 [ 0, %entry ], [ %after, %goes.on ]
  %all = icmp eq i64 %queue, {most}
  br i1 %all, label %done, label %look
look:
{asks}
  br i1 %no, label %goes.on, label %takes
takes:
{does}
goes.on:
  %after = add i64 %queue, 1
  br label %each
done:
{ends}
}}"""

AWAITS_CORE = """  %row = mul i64 %queue, 3
  %node = call ptr @word(ptr %queues, i64 {waits}, i64 %row)
  %counter = load ptr, ptr %node
  %no = icmp eq ptr %counter, null"""
HOLDS = """  %head.at = call ptr @word(ptr %queues, i64 {heads}, i64 %queue)
  %tail.at = call ptr @word(ptr %queues, i64 {tails}, i64 %queue)
  %head = load i64, ptr %head.at
  %tail = load i64, ptr %tail.at
  %no = icmp eq i64 %head, %tail"""
GOES = """  %result = call i32 @go({passed}, i64 %queue)
  %wrong = icmp ne i32 %result, 0
  br i1 %wrong, label %failed, label %goes.on"""
FAILS = """  ret i32 0
failed:
  ret i32 1"""


class QueueLoop(NamedTuple):
    """A function over the queues: its start, the condition on a queue, the action, its end."""

    name: str
    begins: str
    asks: str
    does: str
    ends: str


LOOPS = (
    QueueLoop("again", "", AWAITS_CORE, GOES, FAILS),  # retry the queues that wait for other cores
    QueueLoop("let", "", HOLDS, GOES, FAILS),  # retry all waiting queues, since a buffer is free
    QueueLoop(  # the core waits for the counters of its blocked queues
        "blocked",
        """  %cell.at = getelementptr i64, ptr %frame, i64 {cell}
  %least.at = getelementptr i64, ptr %frame, i64 {least}
  %more.at = getelementptr i64, ptr %frame, i64 {more}
  store ptr null, ptr %more.at
  store ptr @nothing, ptr %cell.at
  store i64 1, ptr %least.at""",
        AWAITS_CORE,
        """  %next = load ptr, ptr %more.at
  %next.at = getelementptr i64, ptr %node, i64 2
  store ptr %next, ptr %next.at
  store ptr %node, ptr %more.at
  %bound.at = getelementptr i64, ptr %node, i64 1
  %bound = load i64, ptr %bound.at
  %now = load i64, ptr %counter
  %met = icmp sge i64 %now, %bound
  %least = load i64, ptr %least.at
  %left = select i1 %met, i64 0, i64 %least
  store i64 %left, ptr %least.at
  br label %goes.on""",
        """  %first = load ptr, ptr %more.at
  %any = icmp ne ptr %first, null
  %found = zext i1 %any to i32
  ret i32 %found""",
    ),
)
NOTHING = "@nothing = internal constant i64 0"

OWN_ENTRY = """own{n}:
  %result{n} = call i32 @entry{n}({passed}, ptr %record)
  br label %acted"""

GO = """define internal i32 @go({arguments}, i64 %queue) noinline {{
entry:
  %queues = call ptr @queues(ptr %memories)
  %flags.at = getelementptr i64, ptr %memories, i64 {flags}
  %pending.at = getelementptr i64, ptr %queues, i64 {pending}
  %first.at = getelementptr i64, ptr %queues, i64 {first}
  %last.at = getelementptr i64, ptr %queues, i64 {last}
  %going.at = getelementptr i64, ptr %queues, i64 {going}
  %bit = shl i64 1, %queue
  %going = load i64, ptr %going.at
  %same = and i64 %going, %bit
  %goes = icmp ne i64 %same, 0
  br i1 %goes, label %later, label %joins
joins:
  %joined = or i64 %going, %bit
  store i64 %joined, ptr %going.at
  %last = load i64, ptr %last.at
  %last.place = urem i64 %last, {most}
  %last.order = call ptr @word(ptr %queues, i64 {order}, i64 %last.place)
  store i64 %queue, ptr %last.order
  %last.next = add i64 %last, 1
  store i64 %last.next, ptr %last.at
  %others = icmp ne i64 %going, 0
  br i1 %others, label %later, label %next
later:
  ret i32 0
next:
  %first = load i64, ptr %first.at
  %end = load i64, ptr %last.at
  %none = icmp eq i64 %first, %end
  br i1 %none, label %later, label %begin
begin:
  %first.place = urem i64 %first, {most}
  %first.order = call ptr @word(ptr %queues, i64 {order}, i64 %first.place)
  %now = load i64, ptr %first.order
  %head.at = call ptr @word(ptr %queues, i64 {heads}, i64 %now)
  %tail.at = call ptr @word(ptr %queues, i64 {tails}, i64 %now)
  br label %look
look:
  %head = load i64, ptr %head.at
  %tail = load i64, ptr %tail.at
  %empty = icmp eq i64 %head, %tail
  br i1 %empty, label %leave, label %take
take:
  %record = call ptr @record(ptr %queues, i64 %now, i64 %head)
  %number = load i64, ptr %record
  %event.at = getelementptr i64, ptr %record, i64 1
  switch i64 %number, label %look [
    i64 {set}, label %raises i64 {wait}, label %asks
    i64 {acquire}, label %acquires i64 {release}, label %releases {cases} ]
acquires:
  %acquired = load i64, ptr %event.at
  %free.at = call ptr @word(ptr %queues, i64 {released}, i64 %acquired)
  %free = load i64, ptr %free.at
  %before.at = getelementptr i64, ptr %record, i64 3
  %before = load i64, ptr %before.at
  %is.free = icmp sge i64 %free, %before
  br i1 %is.free, label %did, label %leave
releases:
  %released = load i64, ptr %event.at
  %times.at = call ptr @word(ptr %queues, i64 {released}, i64 %released)
  %times = load i64, ptr %times.at
  %times.more = add i64 %times, 1
  store i64 %times.more, ptr %times.at
  %let = call i32 @let({passed})
  br label %acted
asks:
  %awaited = load i64, ptr %event.at
  %asked.base = load ptr, ptr %flags.at
  %asked.at = getelementptr i8, ptr %asked.base, i64 %awaited
  %asked = load i8, ptr %asked.at
  %up = icmp ne i8 %asked, 0
  br i1 %up, label %lowers, label %leave
lowers:
  store i8 0, ptr %asked.at
  br label %did
raises:
  %event = load i64, ptr %event.at
  %base = load ptr, ptr %flags.at
  %flag.at = getelementptr i8, ptr %base, i64 %event
  %flag = load i8, ptr %flag.at
  %twice = icmp ne i8 %flag, 0
  br i1 %twice, label %gives.up, label %puts
gives.up:
  %given.up = call i32 %callback(i64 {too_large})
  br label %failed
puts:
  store i8 1, ptr %flag.at
  %pair = udiv i64 %event, {ids}
  %target = urem i64 %pair, {most}
  %went = call i32 @go({passed}, i64 %target)
  br label %acted
{own}
acted:
  %result = phi i32 [ %went, %puts ], [ %let, %releases ]{results}
  switch i32 %result, label %failed [ i32 0, label %did i32 {not_yet}, label %leave ]
did:
  %head.next = add i64 %head, 1
  store i64 %head.next, ptr %head.at
  %pending = load i64, ptr %pending.at
  %fewer = sub i64 %pending, 1
  store i64 %fewer, ptr %pending.at
  %wait.row = mul i64 %now, 3
  %wait.at = call ptr @word(ptr %queues, i64 {waits}, i64 %wait.row)
  store ptr null, ptr %wait.at
  br label %look
leave:
  %left = shl i64 1, %now
  %without = load i64, ptr %going.at
  %stays = xor i64 %without, %left
  store i64 %stays, ptr %going.at
  %first.next = add i64 %first, 1
  store i64 %first.next, ptr %first.at
  br label %next
failed:
  ret i32 1
}}"""

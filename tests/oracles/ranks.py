"""What programs of several ranks give: puts and gets, signals, collectives, begun transfers."""

from __future__ import annotations

import numpy as np

from oracles.registry import Program, say

V, P = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<2x8xf32>"
ALL = "!pto.partition_tensor_view<4x8xf32>"
ONE = "!pto.partition_tensor_view<1x8xf32>"
F, S = "!pto.tensor_view<?xi32>", "!pto.partition_tensor_view<2xi32>"
T = "!pto.tile_buf<vec, 2x8xf32>"
L = "!pto.partition_tensor_view<16xf32>"
MINE = np.arange(32, dtype=np.float32).reshape(4, 8)
THEIRS = 100 + MINE
FLAGS = np.zeros(2, np.int32)


def job(statements: str, *, x: object, y: object, **others: object) -> Program:
    """Rank 0 runs this on its %x, of which %mine are two rows, and on %y of rank 1, on %theirs.

    %flags are its signals, which rank 1 knows as well; %rank is its number.
    """
    lines = "".join(f"    {line}\n" for line in statements.splitlines())
    text = f"""
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %flags: !pto.ptr<i32>, %room: !pto.ptr<i8>,
             %rank: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %three = arith.constant 3 : i32
  %a = pto.make_tensor_view %x, shape = [%c4, %c8], strides = [%c8, %c1] : {V}
  %b = pto.make_tensor_view %y, shape = [%c4, %c8], strides = [%c8, %c1] : {V}
  %c = pto.make_tensor_view %x, shape = [%c16], strides = [%c1] : !pto.tensor_view<?xf32>
  %d = pto.make_tensor_view %y, shape = [%c16], strides = [%c1] : !pto.tensor_view<?xf32>
  %e = pto.make_tensor_view %flags, shape = [%c2], strides = [%c1] : {F}
  %mine = pto.partition_view %a, offsets = [%c0, %c0], sizes = [%c2, %c8] : {V} -> {P}
  %all = pto.partition_view %a, offsets = [%c0, %c0], sizes = [%c4, %c8] : {V} -> {ALL}
  %row = pto.partition_view %a, offsets = [%c0, %c0], sizes = [%c1, %c8] : {V} -> {ONE}
  %last = pto.partition_view %a, offsets = [%c2, %c0], sizes = [%c2, %c8] : {V} -> {P}
  %theirs = pto.partition_view %b, offsets = [%c0, %c0], sizes = [%c2, %c8] : {V} -> {P}
  %line = pto.partition_view %c, offsets = [%c0], sizes = [%c16] : !pto.tensor_view<?xf32> -> {L}
  %their = pto.partition_view %d, offsets = [%c0], sizes = [%c16] : !pto.tensor_view<?xf32> -> {L}
  %signal = pto.partition_view %e, offsets = [%c0], sizes = [%c2] : {F} -> {S}
  %stage = pto.alloc_tile : {T}
  %acc = pto.alloc_tile : {T}
  %scratch = pto.alloc_tile : !pto.tile_buf<vec, 1x32xi8>
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {{
{lines}  }}
  return
}}"""
    given = {"x@0": MINE, "y@0": "x@1", "x@1": THEIRS, "y@1": "x@0", "flags": FLAGS}
    given |= {"room": np.zeros(8, np.int8), "rank@0": 0, "rank@1": 1}
    arrays = {name: a for name, a in (("x@0", x), ("x@1", y)) if a is not MINE and a is not THEIRS}
    wanted = {name: np.asarray(a).tolist() for name, a in arrays.items()} | others
    return Program(text, wanted, given, ranks=2)


def rows(first: object, second: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Two rows above two others."""
    return np.concatenate([np.asarray(first), np.asarray(second)])


GIVEN = f"(%theirs, %mine, buf(%stage) : {P}, {P}, {T})"
ADDED = "{atomicType = #pto<atomic_type atomic_add>}"
say(
    "CommTPut",
    job(
        f"pto.comm.tput{GIVEN}\npto.comm.tput{GIVEN} {ADDED}",
        x=MINE,
        y=rows(2 * MINE[:2], THEIRS[2:]),
    ),
)
say(
    "CommTGet",
    job(
        f"pto.comm.tget(%mine, %theirs, buf(%stage, %acc) : {P}, {P}, {T}, {T})",
        x=rows(THEIRS[:2], MINE[2:]),
        y=THEIRS,
    ),
)

CHANGED = "pto.comm.tnotify(%signal, %three : {}, i32) {{notifyOp = #pto<notify_op {}>}}"
NOTIFIED = "\n".join(CHANGED.format(S, how) for how in ("set", "atomic_add", "atomic_add"))
say("CommTNotify", job(NOTIFIED, x=MINE, y=THEIRS, flags=[9, 0]))


def asked(how: str, word: str, rest: str = "") -> str:
    return f"pto.comm.{how}(%signal, %three : {S}, i32) {{cmp = #pto<wait_cmp {word}>}}{rest}"


# the other rank stores both numbers, the one that waits sees them
WAITED = f"""{asked("twait", "eq")}
pto.comm.tput(%theirs, %mine, buf(%stage) : {P}, {P}, {T})"""
ANSWER = """scf.if %first {
  } else {
    pto.store_scalar %three, %flags[%c0] : !pto.ptr<i32>, i32
    pto.store_scalar %three, %flags[%c1] : !pto.ptr<i32>, i32
  }
  return"""


def answered(program: Program) -> Program:
    """Rank 1 sets both numbers of the signal."""
    text = program.text.replace("  return", f"  {ANSWER}")
    return Program(text, program.outputs, program.arguments, ranks=2)


say("CommTWait", answered(job(WAITED, x=MINE, y=rows(MINE[:2], THEIRS[2:]), flags=[3, 3])))
NUMBERED = "".join(
    f"""%t{n} = {asked("ttest", word, " -> i1")}
%i{n} = arith.extui %t{n} : i1 to i32
%j{n} = arith.sitofp %i{n} : i32 to f32
%k{n} = arith.constant {n} : index
pto.store_scalar %j{n}, %x[%k{n}] : !pto.ptr<f32>, f32
"""
    for n, word in enumerate(("eq", "ne", "gt", "ge", "lt", "le"))
)
TESTED = MINE.copy()
TESTED[0, :6] = [1, 0, 0, 1, 0, 1]
say("CommTTest", answered(job(NUMBERED, x=TESTED, y=THEIRS, flags=[3, 3])))


def among(name: str, data: str, words: str, more: str = "", kind: str = P) -> str:
    types = ", ".join((kind, *((T,) if more else ()), T, P, P))
    inner = f"%{data}, {more}recv(%stage), group(%mine, %theirs)"
    return f"pto.comm.{name}({inner} : {types}) {{{words}root = 0}}"


say(
    "CommTBroadcast",
    job(among("tbroadcast", "last", ""), x=rows(MINE[2:], MINE[2:]), y=rows(MINE[2:], THEIRS[2:])),
)
say(
    "CommTScatter",
    job(among("tscatter", "all", "", kind=ALL), x=MINE, y=rows(MINE[2:], THEIRS[2:])),
)
say(
    "CommTGather",
    job(among("tgather", "all", "", kind=ALL), x=rows(MINE[:2], THEIRS[:2]), y=THEIRS),
)
LARGEST = among("treduce", "last", "reduceOp = #pto<reduce_op max>, ", "%acc, ")
SUM = among("treduce", "last", "reduceOp = #pto<reduce_op sum>, ", "%acc, ")
SMALLEST = among("treduce", "mine", "reduceOp = #pto<reduce_op min>, ", "%acc, ")
say(
    "CommTReduce",
    job(
        f"{LARGEST}\npto.comm.tput(%theirs, %last, buf(%stage) : {P}, {P}, {T})\n{SUM}\n{SMALLEST}",
        x=rows(np.minimum(MINE[:2], THEIRS[:2]), MINE[:2] + THEIRS[:2]),
        y=THEIRS,
    ),
)


BYTES = "!pto.tensor_view<16xi8>"


def begun(prefix: str, way: str, asks: str, room: str = "!pto.ptr<i8>") -> Program:
    """A transfer that is waited for, or asked about."""
    put = way == "put"
    ends = "%their, %line" if put else "%line, %their"
    space = "room" if room.startswith("!pto.ptr") else "bytes"
    text = f"""%bytes = pto.make_tensor_view %room, shape = [%c16], strides = [%c1] : {BYTES}
%session = pto.{prefix}build_async_session(%scratch, %{space} : \
!pto.tile_buf<vec, 1x32xi8>, {room}) -> !pto.async_session
%event = pto.{prefix}t{way}_async({ends}, %session : {L}, {L}, !pto.async_session) \
-> !pto.async_event
%done = pto.{prefix}{asks}_async_event(%event, %session : !pto.async_event, \
!pto.async_session) -> i1
scf.if %done {{
  pto.store_scalar %three, %flags[%c0] : !pto.ptr<i32>, i32
}}"""
    x, y = (MINE, rows(MINE[:2], THEIRS[2:])) if put else (rows(THEIRS[:2], MINE[2:]), THEIRS)
    return job(text, x=x, y=y, flags=[3, 0])


say("BuildAsyncSessionInView", begun("", "put", "test", BYTES))
for prefix, name in (("", ""), ("comm.", "Comm")):
    say(f"{name}BuildAsyncSession", begun(prefix, "put", "test"))
    say(f"{name}TPutAsync", begun(prefix, "put", "wait"))
    say(f"{name}TGetAsync", begun(prefix, "get", "wait"))

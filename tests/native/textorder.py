"""Kernels whose flags leave one order of all pipes, written in any order that keeps each queue's.

A vector core adds 1 to tiles and hands them to the cube, which hands them back; what comes back is
stored, and folded so that the order of the entries shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

import numpy as np

MAT = "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>"
WHOLE = "!pto.tensor_view<16x16xf32>"
ROWS = "!pto.tensor_view<?x16xf32>"
# tiles that are declared, that pops make, global slots, and global memory with signals
STYLES = ("named", "made", "views", "signals")
ARGS = ", ".join(f"%{name}: !pto.ptr<f32>" for name in ("x", "room", "y", "z"))
SHAPE = "shape = [%{}, %c16], strides = [%c16, %c1]"
S = "S"


class Line(NamedTuple):
    """A line in the queue of a pipe; it gives `names` another meaning, and `uses` others."""

    queue: str
    text: str
    names: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()

    def stays_before(self, other: Line) -> bool:
        """Whether it does, where the other follows it."""
        named = self.names & (other.names | other.uses) or self.uses & other.names
        return self.queue == other.queue or bool(named)


def line(queue: str, text: str, names: str = "", uses: str = "") -> Line:
    return Line(queue, text, frozenset(names.split()), frozenset(uses.split()))


def flag(word: str, source: str, target: str, event: int = 0) -> str:
    return f"pto.{word}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{event}>]"


def serialised(lines: Sequence[Line]) -> tuple[list[Line], str, str]:
    """The lines of an iteration with flags, one pipe at a time; what stands around the loop."""
    queues = [one.queue for one in lines if one.queue != S]
    first, last = queues[0], queues[-1]
    found, working = list[Line](), first
    for one in lines:
        if one.queue not in (S, working):
            found.append(line(working, flag("set", working, one.queue)))
            found.append(line(one.queue, flag("wait", working, one.queue)))
            working = one.queue
        found.append(one)
    if first == last:
        return found, "", ""
    raised, awaited = (flag(word, last, first, 1) for word in ("set", "wait"))
    return [line(first, awaited), *found, line(last, raised)], raised, awaited


def held(lines: Sequence[Line], random: Random) -> tuple[str, str]:
    """Waits before the loop of flags that are raised behind it."""
    queues = sorted({one.queue for one in lines if one.queue != S})
    some = random.sample(queues, random.randint(0, len(queues)))
    return tuple("\n".join(flag(w, "M", q, 5) for q in some) for w in ("wait", "set"))  # type: ignore[return-value]


def reordered(lines: Sequence[Line], random: Random, *, whole: bool = False) -> list[Line]:
    """The lines in another order. `whole` cores wait: what a pop needs stays above it."""
    left, found = list(lines), list[Line]()

    def stays(before: Line, one: Line) -> bool:
        waits = "pto.tpop" in one.text or "pto.wait_intra_block" in one.text
        return before.stays_before(one) or (whole and waits)

    while left:
        free = [one for n, one in enumerate(left) if not any(stays(o, one) for o in left[:n])]
        found.append(random.choice(free))
        left.remove(found[-1])
    return found


class Writer(NamedTuple):
    """Writes a kernel in one of the `STYLES`; `shared`: two vector cores have half of each entry.

    `pops` and `pushes` are the queues in which the cores do that, the cube first.
    """

    style: str
    shared: bool
    entries: int
    pops: tuple[str, str]
    whole: bool = False  # cores wait as a whole, not the queues for themselves

    @property
    def rows(self) -> int:
        return 8 if self.shared else 16

    @property
    def tile(self) -> str:
        return f"!pto.tile_buf<vec, {self.rows}x16xf32>"

    @property
    def part(self) -> str:
        return f"!pto.partition_tensor_view<{self.rows}x16xf32>"

    @property
    def split(self) -> str:
        return f"{{split = {int(self.shared)}}}"

    def push(self, name: str, kind: str, other: str) -> str:
        if self.style == "made":
            return f"pto.tpush_to_{other}(%{name} : {kind}) {self.split}"
        fifo = "up" if other == "aic" else "down"
        return f"pto.tpush(%{name}, %{fifo} : {kind}, !pto.pipe) {self.split}"

    def pop(self, name: str, kind: str, other: str) -> str:
        if self.style == "made":
            return f"%{name} = pto.tpop_from_{other} {self.split} -> {kind}"
        fifo = "down" if other == "aic" else "up"
        return f"pto.tpop(%{name}, %{fifo} : {kind}, !pto.pipe) {self.split}"

    def free(self, other: str) -> str:
        if self.style == "made":
            return f"pto.tfree_from_{other} {self.split}"
        return f"pto.tfree(%{'down' if other == 'aic' else 'up'} : !pto.pipe) {self.split}"

    @staticmethod
    def signal(word: str, queue: str, n: int) -> str:
        """A signal that entry `n` is there: with a constant number, or a computed one."""
        return f"pto.{word}_intra_block <PIPE_{queue}>, {8 + n if n % 2 else f'%s{n}'}"

    def sends(self, n: int) -> list[Line]:
        """The vector core hands on entry `n` of an iteration."""
        found = [
            line("MTE2", f"pto.tload ins(%x{n} : {self.part}) outs(%t{n} : {self.tile})"),
            line("V", f"pto.tadds ins(%t{n}, 1.0 : {self.tile}, f32) outs(%t{n} : {self.tile})"),
        ]
        if self.style == "signals":
            stores = f"pto.tstore ins(%t{n} : {self.tile}) outs(%e{n} : {self.part})"
            return [*found, line("MTE3", stores), line("MTE3", self.signal("set", "MTE3", n))]
        if self.style != "views":
            return [*found, line("MTE3", self.push(f"t{n}", self.tile, "aic"))]
        entry = f"%e{n}, %up : {WHOLE}, !pto.pipe"
        return [
            *found,
            line(S, f"pto.talloc({entry}) {self.split}", f"e{n} slots"),
            line("MTE3", f"pto.tstore ins(%t{n} : {self.tile}) outs(%e{n} : {WHOLE})", "", f"e{n}"),
            line("MTE3", f"pto.tpush({entry}) {self.split}", "slots", f"e{n}"),
        ]

    def receives(self, n: int, name: str) -> list[Line]:
        """The vector core takes entry `n` back."""
        queue, tile = self.pops[1], self.tile
        return [
            line(queue, self.pop(name, tile, "aic"), name),
            line("V", f"pto.tmuls ins(%s, 2.0 : {tile}, f32) outs(%s : {tile})"),
            line("V", f"pto.tadd ins(%s, %{name} : {tile}, {tile}) outs(%s : {tile})", "", name),
            line("MTE3", f"pto.tstore ins(%{name} : {tile}) outs(%z{n} : {self.part})", "", name),
            line(queue, self.free("aic")),
        ]

    def returns(self, n: int) -> list[Line]:
        """The cube hands entry `n` back."""
        sends = "FIX" if self.style == "made" else "MTE3"
        if self.style == "signals":
            queue = "MTE2" if self.pops[0] == "MTE1" else S  # where signals hold up the whole core
            waits = line(queue, self.signal("wait", "MTE2", n), f"r{n}")
            loads = f"pto.tload ins(%r{n} : {self.part}) outs(%m{n} : {MAT})"
            return [
                waits,
                line("MTE2", loads, "", f"r{n}"),
                line(sends, self.push(f"m{n}", MAT, "aiv")),
            ]
        if self.style != "views":
            return [
                line(self.pops[0], self.pop(f"m{n}", MAT, "aiv"), f"m{n}"),
                line(sends, self.push(f"m{n}", MAT, "aiv"), "", f"m{n}"),
                line(self.pops[0], self.free("aiv")),
            ]
        return [
            line("MTE2", self.pop(f"r{n}", WHOLE, "aiv"), f"r{n}"),
            line("MTE2", f"pto.tload ins(%r{n} : {WHOLE}) outs(%m{n} : {MAT})", "", f"r{n}"),
            line("MTE2", self.free("aiv")),
            line(sends, self.push(f"m{n}", MAT, "aiv")),
        ]

    def fifos(self, kind: str) -> str:
        """What a core of this kind, or both of them, set up."""
        if self.style == "made":
            size = "size = 8192, auto = true, location = #pto.address_space"
            own, peer = ("up", "vector") if kind == "aic" else ("down", "cube")
            other, loc = ("down", "mat") if kind == "aic" else ("up", "vec")
            sized = size.replace("auto = true, location", "location")
            return f"""
  %{own} = pto.reserve_buffer {{name = "{own}", {sized}<{loc}>, auto = true}} -> i32
  %{other} = pto.import_reserved_buffer {{name = "{other}", peer_func = @{peer}}} -> i32
  pto.{kind}_initialize_pipe {{dir_mask = 3, slot_size = 1024, slot_num = 8}} \
(gm_slot_buffer = %room : !pto.ptr<f32>, c2v_consumer_buf = %down : i32, \
v2c_consumer_buf = %up : i32)"""
        room, opened = f"(%slots : {WHOLE})", "l2g2l"
        if self.style == "named":
            room, opened = "(%at : i32)", "l2l"
        up = f"""
  %slots = pto.make_tensor_view %room, {SHAPE.format("c16")} : {WHOLE}
  %up = pto.initialize_{opened}_pipe {{dir_mask = 2, slot_size = 1024, slot_num = 8, \
flag_base = 0}} {room} -> !pto.pipe"""
        if self.style == "signals":
            up = f"\n  %rooms = pto.make_tensor_view %room, {SHAPE.format('end')} : {ROWS}"
        return f"""
  %at = arith.constant 0 : i32{up}
  %down = pto.initialize_l2l_pipe {{dir_mask = 1, slot_size = 1024, slot_num = 8, \
flag_base = 2}} (%at : i32) -> !pto.pipe"""

    def room(self, name: str) -> str:
        """Signals that entries are there, by computed numbers, and where they lie."""
        if self.style != "signals":
            return ""
        kind = f"sizes = [%rows, %c16] : {ROWS} -> {self.part}"
        return "\n    %number16 = arith.divsi %i16, %c16 : index" + "".join(
            f"""
    %s{n} = arith.addi %number16, %k{n} : index
    %{name}{n} = pto.partition_view %rooms, offsets = [%n{n}, %c0], {kind}"""
            for n in range(self.entries)
        )

    def views(self) -> str:
        """The parts of the arrays that an iteration loads and stores."""
        kind = f"sizes = [%rows, %c16] : {ROWS} -> {self.part}"
        return "\n".join(
            f"""%after{n} = arith.addi %i16, %n{n} : index
    %row{n} = arith.addi %after{n}, %half : index
    %x{n} = pto.partition_view %xs, offsets = [%row{n}, %c0], {kind}
    %z{n} = pto.partition_view %zs, offsets = [%row{n}, %c0], {kind}"""
            for n in range(self.entries)
        )

    def vector(self, lines: Sequence[Line], around: tuple[str, str], names: Sequence[str]) -> str:
        """What the vector core does."""
        every = range(self.entries)
        makes = [f"%{t} = pto.alloc_tile : {self.tile}" for t in ("s", *(f"t{n}" for n in every))]
        if self.style != "made":
            makes += [f"%{u} = pto.declare_tile -> {self.tile}" for u in sorted({*names})]
        if self.style == "views":
            makes += [f"%e{n} = pto.declare_global -> {WHOLE}" for n in every]
        half = "%half = arith.constant 0 : index"
        if self.shared:
            half = """%number = pto.get_subblock_idx
  %lane = arith.index_cast %number : i64 to index
  %half = arith.muli %lane, %rows : index"""
        return f"""
  {half}
  %xs = pto.make_tensor_view %x, {SHAPE.format("end")} : {ROWS}
  %zs = pto.make_tensor_view %z, {SHAPE.format("end")} : {ROWS}
  %ys = pto.make_tensor_view %y, {SHAPE.format("c16")} : {WHOLE}
  %out = pto.partition_view %ys, offsets = [%half, %c0], sizes = [%rows, %c16] \
: {WHOLE} -> {self.part}
  {chr(10).join(makes)}
  pto.texpands ins(0.0 : f32) outs(%s : {self.tile})
  pto.barrier <PIPE_ALL>
  {loop(lines, around, self.views() + self.room("e"))}
  pto.barrier <PIPE_ALL>
  pto.tstore ins(%s : {self.tile}) outs(%out : {self.part})"""

    def cube(self, lines: Sequence[Line], around: tuple[str, str]) -> str:
        """What the cube does."""
        every, makes = range(self.entries), list[str]()
        if self.style == "named":
            makes = [f"%m{n} = pto.declare_tile -> {MAT}" for n in every]
        elif self.style == "signals":
            makes = [f"%m{n} = pto.alloc_tile : {MAT}" for n in every]
        elif self.style == "views":
            makes = [f"%r{n} = pto.declare_global -> {WHOLE}" for n in every]
            makes += [f"%m{n} = pto.alloc_tile : {MAT}" for n in every]
        return "\n  ".join(makes) + "\n" + loop(lines, around, self.room("r"))


def loop(lines: Sequence[Line], around: tuple[str, str], begin: str) -> str:
    body = "\n    ".join(one.text for one in lines)
    return f"""{around[0]}
  scf.for %i16 = %c0 to %end step %step {{
    {begin}
    {body}
  }}
  {around[1]}"""


def written(writer: Writer, iterations: int, seed: int, *, anyhow: bool) -> str:
    """The kernel, in the order in which its pipes work, or `anyhow`."""
    shape, order = Random(seed), Random(seed + 1)
    names = [f"u{n if shape.random() < 0.5 else 0}" for n in range(writer.entries)]
    sent = [writer.sends(n) for n in range(writer.entries)]
    back = [writer.receives(n, name) for n, name in enumerate(names)]
    if writer.style == "made":
        back = [writer.receives(n, f"u{n}") for n in range(writer.entries)]
    parts = (
        [*sent, *back]
        if shape.random() < 0.5
        else [p for pair in zip(sent, back, strict=True) for p in pair]
    )
    sections: list[tuple[list[Line], tuple[str, str]]] = []
    for lines in (
        [one for part in parts for one in part],
        [one for n in range(writer.entries) for one in writer.returns(n)],
    ):
        flagged, before, after = serialised(lines)
        if anyhow:
            holds, raises = ("", "") if writer.whole else held(lines, order)
            flagged, before, after = (
                reordered(flagged, order, whole=writer.whole),
                holds + "\n" + before,
                raises + "\n" + after,
            )
        sections.append((flagged, (before, after)))
    vector, cube = writer.vector(*sections[0], names), writer.cube(*sections[1])
    numbers = {
        "c0": 0,
        "c1": 1,
        "c16": 16,
        "rows": writer.rows,
        "step": 16 * writer.entries,
        "end": 16 * writer.entries * iterations,
        **{f"n{n}": 16 * n for n in range(writer.entries)},
        **{f"k{n}": 8 + n for n in range(writer.entries)},
    }
    common = "\n  ".join(f"%{name} = arith.constant {n} : index" for name, n in numbers.items())
    if writer.style == "made":
        return "\n".join(
            f"""func.func @{name}({ARGS}) attributes {{{entry}pto.kernel_kind = \
#pto.kernel_kind<{name}>}} {{
  {common}{writer.fifos(kind)}
  {text}
  return
}}"""
            for name, entry, kind, text in (
                ("cube", "pto.entry, ", "aic", cube),
                ("vector", "", "aiv", vector),
            )
        )
    return f"""func.func @f({ARGS}) {{
  {common}{writer.fifos("")}
  pto.section.vector {{{vector}
  }}
  pto.section.cube {{
  {cube}
  }}
  return
}}"""


def arrays(entries: int) -> dict[str, Any]:
    """What the kernel is given; nothing of it repeats."""
    x = np.arange(entries * 256, dtype=np.float32).reshape(-1, 16) % 251
    zeros = {name: np.zeros_like(x) for name in ("room", "z")}
    return {"x": x, **zeros, "y": np.zeros((16, 16), np.float32)}


def expected(entries: int) -> dict[str, Any]:
    """What the kernel computes, by NumPy."""
    x = arrays(entries)["x"].reshape(entries, 16, 16) + 1
    folded = np.zeros((16, 16), np.float32)
    for entry in x:
        folded = folded * 2 + entry
    return {"y": folded, "z": x.reshape(-1, 16)}

"""Random programs whose numbers decide which branches are taken and which bytes are touched.

They have two numbers, arguments or words of two arrays, and ask for their block.
"""

from __future__ import annotations

from random import Random

TILE, VIEW = "!pto.tile_buf<vec, 1x64xf32>", "!pto.tensor_view<64x64xf32>"
PART = "!pto.partition_tensor_view<1x64xf32>"
PIPES = ("MTE2", "V", "MTE3")
CONSTANTS = (0, 1, 2, 3, 4, 5, 20, 64, 256)
READ = """\
  %n_word = pto.load_scalar %a[%c0] : !pto.ptr<i32> -> i32
  %m_word = pto.load_scalar %b[%c1] : !pto.ptr<i32> -> i32
  %n = arith.index_cast %n_word : i32 to index
  %m = arith.index_cast %m_word : i32 to index
"""


class BranchyProgram:
    """One program; `large`: conditions compare with larger numbers, too."""

    def __init__(self, seed: int, *, large: bool = False) -> None:
        self.random, self.large = Random(seed), large
        self.lines: list[str] = []
        self.numbers = ["%block", "%n", "%n", "%m", "%m"]
        self.names = 0
        self._body(8, 0)

    def text(self, *, read: bool = False) -> str:
        """`read`: the numbers are words of arrays, else arguments."""
        args = "%a: !pto.ptr<i32>, %b: !pto.ptr<i32>" if read else "%n: index, %m: index"
        head = [f"func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, {args}) {{"]
        head += [f"%c{c} = arith.constant {c} : index" for c in CONSTANTS]
        head += ["%at = pto.get_block_idx -> i64", "%block = arith.index_cast %at : i64 to index"]
        for name in "xy":
            shape = "shape = [%c64, %c64], strides = [%c64, %c1]"
            head.append(f"%{name}v = pto.make_tensor_view %{name}, {shape} : {VIEW}")
        for tile in range(3):
            head.append(f"%at{tile} = arith.constant {256 * tile} : i64")
            head.append(f"%t{tile} = pto.alloc_tile addr = %at{tile} : {TILE}")
        words = READ.splitlines() if read else []
        every = [*head, *words, "pto.barrier <PIPE_ALL>", *self.lines, "return", "}", ""]
        return "\n".join(every)

    def _new(self, op: str) -> str:
        self.names += 1
        self.lines.append(f"%v{self.names} = {op}")
        return f"%v{self.names}"

    def _number(self, below: int) -> str:
        """A number from 0 on that hangs on others."""
        random, made = self.random, self.random.choice(self.numbers)
        if random.random() < 0.5:
            made = self._new(f"arith.muli {made}, %c{random.choice((2, 3))} : index")
        made = self._new(f"arith.addi {made}, {random.choice(('%c1', '%c2', '%m'))} : index")
        if random.random() < 0.75:
            return self._new(f"arith.remui {made}, %c{below} : index")
        return self._new(f"arith.minsi {made}, %c{below - 1} : index")

    def _condition(self) -> str:
        random, asked = self.random, self.random.choice(self.numbers)
        bound = random.choice((0, 1, 2, 3, 4, 5, 20) if self.large else (0, 1, 2, 3, 4, 5))
        if random.random() < 0.3:
            asked = self._new(f"arith.remui {asked}, %c{random.choice((2, 3))} : index")
            bound = random.randrange(2)
        word = random.choice(("eq", "ne", "slt", "sge", "sle", "sgt"))
        return self._new(f"arith.cmpi {word}, {asked}, %c{bound} : index")

    def _tile(self) -> str:
        if self.random.random() < 0.5:
            return f"%t{self.random.randrange(3)}"
        at = self._new(f"arith.muli {self._number(3)}, %c256 : index")
        byte = self._new(f"arith.index_cast {at} : index to i64")
        return self._new(f"pto.alloc_tile addr = {byte} : {TILE}")

    def _view(self, name: str) -> str:
        offsets = f"offsets = [{self._number(4)}, %c0], sizes = [%c1, %c64]"
        return self._new(f"pto.partition_view %{name}v, {offsets} : {VIEW} -> {PART}")

    def _op(self) -> None:
        kind, tile = self.random.randrange(3), self._tile()
        if kind == 0:
            source = self._view(self.random.choice("xxy"))
            self.lines.append(f"pto.tload ins({source} : {PART}) outs({tile} : {TILE})")
        elif kind == 1:
            sides = f"{tile}, {tile} : {TILE}, {TILE}"
            self.lines.append(f"pto.tadd ins({sides}) outs({self._tile()} : {TILE})")
        else:
            self.lines.append(f"pto.tstore ins({tile} : {TILE}) outs({self._view('y')} : {PART})")
        if self.random.random() < 0.5:
            self._order()

    def _order(self) -> None:
        if self.random.random() < 0.4:
            self.lines.append("pto.barrier <PIPE_ALL>")
            return
        pair = "<PIPE_{}>, <PIPE_{}>".format(*self.random.sample(PIPES, 2))
        flag = f"{pair}, <EVENT_ID{self.random.randrange(3)}>"
        self.lines += [f"pto.set_flag[{flag}]", f"pto.wait_flag[{flag}]"]

    def _body(self, count: int, depth: int) -> None:
        for _ in range(count):
            kind = self.random.random()
            if depth < 2 and kind < 0.12:
                self.names += 1
                counter, end = f"%i{self.names}", self.random.choice(("%c2", "%block", "%n", "%m"))
                self.lines.append(f"scf.for {counter} = %c0 to {end} step %c1 {{")
                self.numbers.append(counter)
                self._body(self.random.randint(1, 3), depth + 1)
                self.numbers.remove(counter)
                self.lines.append("}")
            elif depth < 2 and kind < 0.3:
                self.lines.append(f"scf.if {self._condition()} {{")
                self._body(self.random.randint(1, 2), depth + 1)
                if self.random.random() < 0.5:
                    self.lines.append("} else {")
                    self._body(self.random.randint(1, 2), depth + 1)
                self.lines.append("}")
            else:
                self._op()


MULTI, WIDE = "!pto.multi_tile_buf<vec, 1x64xf32, count=3>", "!pto.tile_buf<vec, 2x64xf32>"
OPERATIONS = {"MTE2": "TLOAD", "V": "TVEC", "MTE3": "TSTORE_VEC"}
WORKS = {
    "MTE2": f"pto.tload ins(%px : {PART}) outs(TILE : {TILE})",
    "V": f"pto.tadd ins(TILE, TILE : {TILE}, {TILE}) outs(TILE : {TILE})",
    "MTE3": f"pto.tstore ins(TILE : {TILE}) outs(%py : {PART})",
}


class OrderedProgram(BranchyProgram):
    """One with every way to order pipes, and two buffers that take turns, perhaps with a slip."""

    def __init__(self, seed: int, chip: str) -> None:
        self.chip = chip
        super().__init__(seed)

    def text(self, *, read: bool = False) -> str:
        row = "offsets = [%c5, %c0], sizes = [%c1, %c64]"
        more = [
            f"%mb = pto.alloc_multi_tile addr = %at0 : {MULTI}",
            "%at8 = arith.constant 512 : i64",
            f"%w0 = pto.alloc_tile addr = %at0 : {WIDE}",
            f"%w1 = pto.alloc_tile addr = %at8 : {WIDE}",
            *(f"%p{x} = pto.partition_view %{x}v, {row} : {VIEW} -> {PART}" for x in "xy"),
        ]
        barrier = "pto.barrier <PIPE_ALL>"
        return super().text(read=read).replace(barrier, "\n".join([*more, barrier]), 1)

    def _tile(self) -> str:
        kind = self.random.random()
        if kind < 0.2:
            return self._new(f"pto.multi_tile_get %mb[{self._number(3)}] : {MULTI} -> {TILE}")
        if kind < 0.4:
            wide = f"%w{self.random.randrange(2)}"
            window = f"{wide}[{self._number(2)}, %c0] sizes [1, 64]"
            return self._new(f"pto.subview {window} : {WIDE} -> {TILE}")
        return super()._tile()

    def _op(self) -> None:
        held = self.chip == "a5" and self.random.random() < 0.35
        first = len(self.lines)
        super()._op()
        for n in range(first, len(self.lines)) if held else ():
            for pipe, work in WORKS.items():
                if self.lines[n].startswith(work.split()[0]):
                    buffer = f"[<PIPE_{pipe}>, {self.random.randrange(3)}, 0]"
                    around = (f"pto.get_buf{buffer}", self.lines[n], f"pto.rls_buf{buffer}")
                    self.lines[n : n + 1] = around
                    return

    def _order(self) -> None:
        random, kind = self.random, self.random.random()
        if kind < 0.25:
            self.lines.append("pto.barrier <PIPE_ALL>")
        elif kind < 0.35:
            own = f"pto.barrier <PIPE_{random.choice(['MTE2', 'MTE3'])}>"
            self.lines.append("pto.barrier_sync[<TVEC>]" if random.random() < 0.5 else own)
        elif kind < 0.6:
            pair = "<PIPE_{}>, <PIPE_{}>".format(*random.sample(PIPES, 2))
            event = self._number(2)
            other = event if random.random() < 0.8 else self._number(2)
            self.lines.append(f"pto.set_flag_dyn[{pair}, {event}]")
            self.lines.append(f"pto.wait_flag_dyn[{pair}, {other}]")
        elif kind < 0.8:
            a, b = random.sample(PIPES, 2)
            event = f"<{OPERATIONS[a]}>, <{OPERATIONS[b]}>, <EVENT_ID{random.randrange(3)}>"
            self.lines += [f"pto.record_event[{event}]", f"pto.wait_event[{event}]"]
        else:
            super()._order()

    def _turns(self) -> None:
        """Two buffers by the parity of a counter, with flags before the loop and after it."""
        self.names += 1
        counter, end = f"%i{self.names}", self.random.choice(["%n", "%m", "%c3"])
        a, b = self.random.sample(PIPES, 2)
        slip = self.random.choice([None, None, "id", "drain", "prime", "late"])
        free, full = f"<PIPE_{b}>, <PIPE_{a}>", f"<PIPE_{a}>, <PIPE_{b}>"
        before = (0,) if slip == "prime" else (0, 1)
        self.lines += [f"pto.set_flag[{free}, <EVENT_ID{5 + n}>]" for n in before]
        self.lines.append(f"scf.for {counter} = %c0 to {end} step %c1 {{")
        parity = self._new(f"arith.remui {counter}, %c2 : index")
        event = self._new(f"arith.addi {parity}, %c5 : index")
        other = self._new(f"arith.addi {counter}, %c1 : index") if slip == "id" else counter
        turn = self._new(f"arith.remui {other}, %c2 : index")
        awaited = self._new(f"arith.addi {turn}, %c5 : index")
        tile = self._new(f"pto.multi_tile_get %mb[{parity}] : {MULTI} -> {TILE}")
        first = [WORKS[a].replace("TILE", tile), f"pto.set_flag_dyn[{full}, {event}]"]
        body = [
            f"pto.wait_flag_dyn[{free}, {event}]",
            *(reversed(first) if slip == "late" else first),
            f"pto.wait_flag_dyn[{full}, {awaited}]",
            WORKS[b].replace("TILE", tile),
            f"pto.set_flag_dyn[{free}, {event}]",
        ]
        self.lines += [*body, "}"]
        after = (0,) if slip == "drain" else (0, 1)
        self.lines += [f"pto.wait_flag[{free}, <EVENT_ID{5 + n}>]" for n in after]

    def _body(self, count: int, depth: int) -> None:
        if depth:
            super()._body(count, depth)
            return
        super()._body(3, 0)
        if self.random.random() < 0.7:
            self._turns()
        super()._body(3, 0)

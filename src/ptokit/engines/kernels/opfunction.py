"""One instruction as an LLVM function: each store is a few loop nests over vectors.

Memories, numbers and tables are parameters, so instructions on the same types share a function. The
function returns 1 before it writes anything if the reference must take over: an index out of range,
or a read of an element that was never written.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations

from ptokit.engines.kernels.ahead import predict
from ptokit.engines.kernels.assign import MOST, Assign
from ptokit.engines.kernels.definedness import Definedness, NotSaid, ShadowSpace
from ptokit.engines.kernels.functionbase import FunctionBase
from ptokit.engines.kernels.fusion import walks
from ptokit.engines.kernels.gathers import Gathers
from ptokit.engines.kernels.halves import Halves
from ptokit.engines.kernels.lanes import FLOATS, Lanes, Words, element
from ptokit.engines.kernels.lowering import Gather, Leaf, Preparation, RunGather, gathers, leaves
from ptokit.engines.kernels.overlap import MAY_ALIAS
from ptokit.engines.kernels.runs import Runs
from ptokit.engines.kernels.scatters import Scatter
from ptokit.engines.kernels.temporaries import Temporaries
from ptokit.engines.kernels.walk import FAR, LINE, Access, LanePositions, Walk, address
from ptokit.isa.model.targets import SPACES
from ptokit.machine.record.code import NotNative, Undecided, text
from ptokit.machine.record.expressions import (
    Known,
    Recording,
    Scalar,
    ScatterStore,
    Traced,
    UndefineStore,
    WindowRead,
    WindowStore,
)
from ptokit.machine.record.trace import space_of
from ptokit.values import dtypes as t
from ptokit.values.enumerations import GatherOOB, Loc
from ptokit.values.layouts import known

L1 = SPACES[Loc.MAT]


class OpFunction(FunctionBase):
    """A function under construction."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.gathers, self.halves = Gathers(self), Halves(self)
        self.temporary = Temporaries(self)
        self.runs = Runs(self.lanes, lambda condition: self._check(self.preparation()(condition)))
        self.made: dict[Traced, WindowRead] = {}
        self.said = False  # stores into shadows are among the stores

    def preparation(self, *written: WindowStore) -> Preparation:
        """Return the preparation of expressions for loops."""
        made, runs = self.made, self.runs
        return Preparation(
            self.related, self.temporary, self.halves.read, list(written), made, runs
        )

    @property
    def crossing(self) -> bool:
        """Return whether operands may overlap other than element by element."""
        cells = [c for (_, _, shadow), (_, c) in self.pointers.items() if not shadow]
        return any(self.related(a, b) is MAY_ALIAS for a, b in combinations(cells, 2))

    # body and stores

    def body(self, recording: Recording) -> None:
        """Emit the checks and the stores of a recording."""
        try:
            stores = self._stores(recording)
            if self._in_place(stores):
                stores = stores[1:]
            ready = self.preparation().stores(stores)
            for store in ready:
                self.guard_gathers(store)
            for group in self._walks(ready):
                self.store(*group)
        except Undecided as question:  # the body branches on a run-time number
            raise NotNative(str(question)) from None

    def _walks(self, stores: list[WindowStore]) -> list[list[WindowStore]]:
        """Return the stores that are written together."""
        if self.whole or any(self.tracked(store.cells) for store in stores):
            return [[store] for store in stores]
        return walks(stores, self.related)

    def _in_place(self, stores: Sequence[WindowStore]) -> bool:
        """Emit the first store as a product in its place; return whether that is possible."""
        if not stores or self.tracked(stores[0].cells):
            return False
        alone = all(isinstance(store, UndefineStore) for store in stores[1:])
        return alone and self.temporary.products.in_place(stores[0])

    def _stores(self, recording: Recording) -> list[WindowStore]:
        """Return the stores to emit, those into shadows among them if reads are not checked."""
        if self.whole:
            with suppress(NotSaid):
                definedness = Definedness(self.tracked, self.by_data)
                found = definedness.stores(recording)
                self.check_reads(definedness.deciding)
                self._check_indices(definedness.indices)
                self.said = True
                return found
        self.check_reads(recording.reads)
        return recording.stores

    def store(self, store: WindowStore, *others: WindowStore) -> None:
        """Emit stores as loops: one, or several that walk alike."""
        if isinstance(store, UndefineStore):
            self._undefine(store)
            return
        if self.halves.write(store):
            return
        target = self.access(store.cells, store.rows, store.cols)
        targets = [target, *(self.access(o.cells, o.rows, o.cols) for o in others)]
        if self.tracked(store.cells) and not self.said:
            shadow = self.access(store.cells, store.rows, store.cols, shadow=True)
            targets.append(shadow)
        parts = [part for each in (store, *others) for part in each.parts]
        what = "{} {} x {}".format(store.cells.dtype, *map(text, self.counts(store)))
        for part in parts:
            for gather in gathers(part):
                self.gathers.hold(gather)
        if isinstance(store, ScatterStore):
            Scatter(self, store, targets).run()
            return
        along = known(store.cells.map.cols.digits[-1][1], 1)
        run = Assign(self, (store, *others), targets, self.uses(parts, spread=along))
        shape = (run.lanes(parts), *self.counts(store))
        if run.plain and space_of(store.cells).name == L1 and not self.whole:
            predict(self.code, run.accesses[1], *self.counts(store))
        ways = run.bulk, run.transpose, self.loads.load
        Walk(self.code, *shape, run.accesses, run.act, what, *ways).run()

    def _undefine(self, store: UndefineStore) -> None:
        """Clear the shadow of a window."""
        if not self.tracked(store.cells):  # nothing reads it
            return
        if store.cells.dtype.packed:
            raise NotNative("halves of bytes lose their values")
        size = store.cells.dtype.size
        shadow = self.access(store.cells, store.rows, store.cols, shadow=True)

        def act(point: LanePositions) -> None:
            lanes, kind = Lanes(self.code, point.lanes), f"i{size * 8}"
            place = address(self.code, shadow, self.loads.position(shadow, point, lanes))
            vector, none = lanes.type(kind), lanes.splat(kind, "0")
            self.code.do(f"store {vector} {none}, ptr {place}, align {size}")

        lanes = self.step(size)
        Walk(self.code, lanes, *self.counts(store), [shadow], act, "nothing computed it").run()

    # checks

    @contextmanager
    def flagging(self) -> Generator[Callable[[Lanes, str], None]]:
        """Yield a function that collects failed lanes; any failure exits to the reference."""
        slots, begin = dict[int, str](), len(self.code.lines)

        def flag(lanes: Lanes, wrong: str) -> None:
            kinds = lanes.type("i32")  # as wide as most comparisons: masks would be packed
            slot = slots.setdefault(lanes.count, "") or self.slot(kinds)
            slots[lanes.count] = slot
            old = self.code.let(f"load {kinds}, ptr {slot}")
            new = lanes.op("or", "i32", old, lanes.convert("sext", "i1", wrong, "i32"))
            self.code.do(f"store {kinds} {new}, ptr {slot}")

        yield flag
        self.checks = True
        for count, slot in slots.items():
            kinds = Lanes(self.code, count).type("i32")
            self.code.lines.insert(begin, f"  store {kinds} zeroinitializer, ptr {slot}")
            wrong = self.code.let(f"load {kinds}, ptr {slot}")
            if count > 1:
                name = f"vector.reduce.or.v{count}i32"
                wrong = self.code.let(f"call i32 @llvm.{name}({kinds} {wrong})")
            self.code.fail(self.code.let(f"icmp ne i32 {wrong}, 0"))

    def check_reads(self, reads: Sequence[WindowRead]) -> None:
        """Emit checks that all reads of tracked memories read written elements."""
        for read in reads:
            if self.tracked(read.cells):
                self._check_read(read)

    def _check_read(self, read: WindowRead) -> None:
        access = self.access(read.cells, read.row_span, read.col_span, shadow=True)
        window = WindowStore(read.cells, read.row_span, read.col_span, read)
        with self.flagging() as flag:

            def act(point: LanePositions) -> None:
                lanes = Lanes(self.code, point.lanes)
                kind = f"i{read.dtype.size * 8}"
                codes = self.loads.load(access, point)
                if read.dtype == t.f32:
                    codes = lanes.bits("float", codes, kind)
                full = lanes.splat(kind, "15" if read.dtype.packed else "-1")
                flag(lanes, lanes.op("icmp ne", kind, codes, full))

            lanes = 1 if read.dtype.packed else self.step(read.dtype.size)
            Walk(self.code, lanes, *self.counts(window), [access], act, "was it written?").run()

    def _check_indices(self, defined: Sequence[Traced]) -> None:
        """Emit checks that conditions hold for all elements."""
        for condition in defined:
            self._check(self.preparation()(condition))

    def _check(self, condition: Traced) -> None:
        used = self.uses([condition])
        with self.flagging() as flag:

            def act(point: LanePositions) -> None:
                lanes, words = self.words(point, used)
                true = lanes.splat("i1", "true")
                flag(lanes, lanes.op("xor", "i1", words.value(condition), true))

            shape = self.number(condition.rows), self.number(condition.cols)
            accesses = [Access("", t.i64, FAR, LINE), *used.values()]  # columns innermost
            lanes, what = self.lanes_of([condition]), "indices defined?"
            Walk(self.code, lanes, *shape, accesses, act, what).run()

    def guard_gathers(self, store: WindowStore) -> None:
        """Emit checks of the indices of a store, before anything is written."""
        if isinstance(store.cells.memory, ShadowSpace):  # its indices are those of the elements
            return
        for part in store.parts:
            for gather in gathers(part):
                checked = isinstance(gather, RunGather)
                if gather.taken.outside is GatherOOB.ERROR and not checked:
                    self._guard(gather, store)
        if isinstance(store, ScatterStore):
            scatter = Scatter(self, store, [])
            with self.flagging() as flag:

                def check(point: LanePositions) -> None:
                    flag(*scatter.outside(point))

                lanes = min(self.lanes(4), self.lanes_of(store.parts))
                scatter.walk(check, "indices inside?", lanes)

    def _guard(self, gather: Gather, window: WindowStore) -> None:
        used = self.uses(gather.parts)
        lanes = max(self.lanes(4), self.lanes_of([gather]))
        with self.flagging() as flag:

            def act(point: LanePositions) -> None:
                flag(*self.gathers.inside(gather, point, used))

            first = Access("", t.i64, FAR, LINE)  # columns innermost
            accesses, what = [first, *used.values()], "indices inside?"
            Walk(self.code, lanes, *self.counts(window), accesses, act, what).run()

    # lanes

    def step(self, size: int) -> int:
        """Return how many shadows of elements of `size` bytes are worked on per step."""
        return MOST if self.whole else self.host.width // size

    def lanes_of(self, parts: Sequence[Traced], size: int = 4) -> int:
        """Return how many elements of `size` bytes of these expressions are computed per step."""
        found = [g for part in parts for g in gathers(part)]
        if any(leaf.shares_bytes for part in parts for leaf in leaves(part)):
            return 1
        return min((self.gathers.lanes(g) for g in found), default=self.lanes(size))

    def words(self, point: LanePositions, used: dict[Leaf, Access]) -> tuple[Lanes, Words]:
        """Return the vector instructions for the lanes of a point."""
        lanes = Lanes(self.code, point.lanes)

        def leaf(node: Traced) -> str:
            if isinstance(node, Gather):
                return self.gathers.value(node, point, words)
            node = node if isinstance(node, Leaf) else Leaf(node)  # a constant of a conversion
            return (
                self.loads.load(used[node], point) if node in used else self.constant(node, lanes)
            )

        words = Words(lanes, leaf, used)
        return lanes, words

    def constant(self, leaf: Leaf, lanes: Lanes) -> str:
        source, kind = leaf.source, element(leaf.dtype)
        if isinstance(source, Known):
            code = source.constant
            assert code is not None
            if leaf.dtype in FLOATS:
                bits = f"i{leaf.dtype.bits}"
                return lanes.bits(bits, lanes.splat(bits, str(code)), kind)
            return lanes.splat(kind, ("true" if code else "false") if kind == "i1" else str(code))
        assert isinstance(source, Scalar)
        number = text(self.number(source.value))
        if leaf.dtype.is_float and not source.coded:
            raise NotNative("a float that only the running program knows")
        bits = f"i{leaf.dtype.size * 8}"
        if leaf.dtype.size < 8:
            number = self.code.let(f"trunc i64 {number} to {bits}")
        return lanes.bits(bits, lanes.spread(bits, number), kind)

"""A tile for each output of a function in SSA form: its destination in DPS form.

Values that a loop or branch passes on share one tile, and so do an output and the old content on
which it is based. That requires that no old content is needed when the tile is overwritten.
"""

from __future__ import annotations

from dataclasses import replace

from ptokit.analysis.aliases import ValueClasses
from ptokit.analysis.content import keeps, written_tiles
from ptokit.analysis.defuse import DefUse, ProgramPoint
from ptokit.analysis.facts import facts_of
from ptokit.diagnostics.diagnostic import Note
from ptokit.ir.editing import allocation, is_dynamic, is_tile, refuse
from ptokit.ir.module import AnyOp, Binding, Block, Comments, Func, Op, OpaqueOp, Value
from ptokit.isa.formula.formulas import SameStorage
from ptokit.isa.lang.traits import ALIASES, ALLOCATES, TERMINATOR
from ptokit.isa.model.tiles import ConvTileType
from ptokit.isa.model.types import Kind


class Destinations:
    """The conversion of one function: values in classes, one tile for each class."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.chains = facts_of(func).made(DefUse)
        self.classes = ValueClasses()
        self.tile: dict[Value, Value] = {}  # value -> the tile of its class
        self.places: dict[tuple[int, int], list[Op]] = {}  # (block, index) -> allocations before it
        ops = (op for op in func.ops if isinstance(op, Op))
        self.makers = {result: op for op in ops for result in op.results}
        self._unite_all()
        self._choose_tiles()

    # classes

    def _unite_all(self) -> None:
        for op in self.func.ops:
            if isinstance(op, OpaqueOp):
                continue
            for name, value in op.named_results():
                if op.ssa and name in op.operands:
                    old = op.bound(name)[0]
                    if keeps(op, name) or not self._is_view(old):
                        self.classes.unite(old, value)  # else the value gets its own tile
            if op.regions:
                self._unite_region(op)
        for op in self.func.ops:
            if isinstance(op, Op) and op.ssa:
                self._unite_storage(op)

    def _unite_storage(self, op: Op) -> None:
        """Unite an input that hardware wants in the output's tile, if it is dead afterwards."""
        results = dict(op.named_results())
        formulas = (rule.formula for rule in op.page.all_rules)
        for same in (f for f in formulas if isinstance(f, SameStorage)):
            old, new = op.bound(same.left.operand), results.get(same.right.operand)
            if not old or new is None or old[0] not in self.chains.written | self.chains.undefined:
                continue
            fits = old[0].type == new.type and not self._is_view(old[0])
            if fits and not self.chains.needed_after(old[0], new):
                self.classes.unite(old[0], new)

    def _is_view(self, value: Value) -> bool:
        """Return whether the value names bytes of another tile."""
        maker = self.chains.written.get(value)
        return maker is not None and ALIASES in maker.page.traits

    def _unite_region(self, op: Op) -> None:
        """Unite the values that enter, go around and leave a loop, or leave a branch."""
        for value, name in (pair for _, _, pairs in op.flows() for pair in pairs):
            if is_tile(name):
                self.classes.unite(value, name)

    def _choose_tiles(self) -> None:
        classes: dict[Value, list[Value]] = {}
        united = self.classes.united()
        for value in self.chains.defined:
            if value in self.chains.written or value in united:
                classes.setdefault(self.classes.of(value), []).append(value)
        for members in classes.values():
            self._choose(members)

    def _choose(self, members: list[Value]) -> None:
        """Choose the tile of a class: an existing one, or a new one before the first write."""
        chains = self.chains
        flowing = {v for v in members if v in chains.written or self._flows(v)}
        given = [v for v in members if v not in flowing]
        self._require_no_alias(members)
        if len(given) > 1:
            raise self._conflict(given[0], given[1], "two different tiles meet here")
        if given:
            tile = given[0]
            if tile in self.func.args and any(v in chains.written for v in members):
                message = f"%{tile.name} is an argument, and its content would be overwritten"
                raise refuse(message, tile.span, "load or move it to a tile of its own first")
        else:
            tile = min(members, key=lambda v: chains.defined[v].position)
            self._allocate(tile, members)
        self.tile |= dict.fromkeys(members, tile)

    def _flows(self, value: Value) -> bool:
        """Return whether the value is an argument or result of an op with regions."""
        at = self.chains.defined[value]
        if not at.block.ops or value in self.func.args:
            return False
        return bool(at.block.ops[at.index].regions)

    def _require_no_alias(self, members: list[Value]) -> None:
        if len(members) < 2:
            return
        direct = {v: op for op in self.func.ops for v in written_tiles(op).values()}
        for write in members:
            if write in direct:
                op = direct[write]
                message = f"%{write.name} is written in place and passed on as a value"
                raise refuse(message, getattr(op, "span", None), "use one form for this tile")
            if write not in self.chains.written:
                continue
            others = [v for v in members if v is not write and v not in self.chains.undefined]
            if others and self._is_view(write):
                raise self._conflict(write, others[0], "the first is a view")
            for value in members:
                if self.chains.needed_after(value, write):
                    raise self._conflict(write, value, "its old content is still needed")
            if write.type != members[0].type:
                raise self._conflict(write, members[0], "their types differ")

    def _conflict(self, one: Value, other: Value, why: str) -> Exception:
        message = f"%{one.name} and %{other.name} need one tile, but {why}"
        note = Note(f"%{other.name} is defined here", other.span)
        return refuse(message, one.span, "copy one of them to a separate tile", note)

    # allocations

    def _allocate(self, tile: Value, members: list[Value]) -> None:
        """Allocate a tile before the first write, in a block around all members of the class."""
        points = [self.chains.defined[v] for v in members]
        points += [p for v in members for p in self.chains.used.get(v, ()) if len(members) > 1]
        block, index = _common(self.func, points)
        page = allocation(Kind.CONV if isinstance(tile.type, ConvTileType) else Kind.TILE)
        span = tile.span
        op = Op(page, results=[tile], spans={} if span is None else {"": span})
        if is_dynamic(tile):
            self._extents(op, tile)
        self.places.setdefault((id(block), index), []).append(op)

    def _extents(self, op: Op, tile: Value) -> None:
        """Set the valid extents of a dynamic tile: those of its first tile, or of an input."""
        writer = self.chains.written.get(tile)
        inputs = [] if writer is None else [v for _, v in writer.values() if v.type == tile.type]
        for source in (self._start(tile), *inputs):
            maker = self.makers.get(source)
            if maker is not None and ALLOCATES in maker.page.traits:
                op.operands |= maker.operands
                return
        message = f"%{tile.name}: unknown dynamic valid region"
        help = "give an initial tile: outs(%tile : T) -> T"
        raise refuse(message, tile.span, help)

    def _start(self, value: Value) -> Value:
        """Return the tile at the start of the chain of writes that define `value`."""
        while value in self.chains.written:
            writer = self.chains.written[value]
            name = next(n for n, v in writer.named_results() if v is value)
            if not writer.bound(name):
                break
            value = writer.bound(name)[0]
        return value

    # rewriting

    def finished(self) -> Func:
        return replace(self.func, body=self._block(self.func.body))

    def _block(self, block: Block) -> Block:
        args = [a for a in block.args if a not in self.tile or block is self.func.body]
        new = Block(args, trailing=block.trailing)
        for index, op in enumerate(block.ops):
            before = self.places.get((id(block), index), [])
            if before and op.comments.before:
                before[0].comments = Comments(op.comments.before)
                op = replace(op, comments=Comments((), op.comments.after))
            new.ops += before
            rewritten = self._op(op)
            if rewritten is not None:
                new.ops.append(rewritten)
        return new

    def _op(self, op: AnyOp) -> AnyOp | None:
        if isinstance(op, OpaqueOp):
            return self._opaque(op)
        operands = {n: self._binding(op, b) for n, b in op.operands.items()}
        operands = {n: b for n, b in operands.items() if b != ()}
        results = [v for v in op.results if v not in self.tile or not (op.ssa or op.regions)]
        if op.ssa:
            results = op.results[: len(op.page.results())]
            for name, value in op.named_results():
                if op.page.operand(name).fresh and op.page.operand(name).written:
                    operands[name] = self.tile[value]
        regions = [self._block(r) for r in op.regions]
        if TERMINATOR in op.page.traits and not operands and op.operands:
            return None
        return replace(op, operands=operands, results=results, regions=regions)

    def _opaque(self, op: OpaqueOp) -> OpaqueOp:
        for value in op.uses:
            if value in self.tile and self.tile[value] is not value:
                message = f"{op.name} uses %{value.name}, which is no value of this form"
                raise refuse(message, op.span, "unknown operation: rename the value by hand")
        return replace(op, regions=[self._block(r) for r in op.regions])

    def _binding(self, op: Op, binding: Binding) -> Binding:
        """Return operands by their tiles, without tiles that enter or leave a region."""
        if not isinstance(binding, tuple):
            return self.tile.get(binding, binding)
        drops = op.regions or (TERMINATOR in op.page.traits and self._inside(op))
        kept = (v for v in binding if not (drops and v in self.tile and is_tile(v)))
        return tuple(self.tile.get(v, v) for v in kept)

    def _inside(self, op: Op) -> bool:
        """Return whether a terminator ends a region, not the function."""
        return op not in self.func.body.ops


def _common(func: Func, points: list[ProgramPoint]) -> tuple[Block, int]:
    """Return the innermost block around all points, and the index before the first of them."""
    first = min(points, key=lambda p: p.position)
    frames = list(first.frames)
    for point in points:
        shared = 0
        for one, other in zip(frames, point.frames, strict=False):
            if one[0] is not other[0] or one[1] != other[1]:
                break
            shared += 1
        del frames[shared:]
    block = frames[-1][0].regions[frames[-1][1]] if frames else func.body
    indices = [_index_in(block, p, len(frames)) for p in points]
    return block, min(indices)


def _index_in(block: Block, point: ProgramPoint, depth: int) -> int:
    """Return the index of the op of `block` that is, or contains, the point."""
    if point.block is block:
        return point.index
    return next(i for i, op in enumerate(block.ops) if op is point.frames[depth][0])

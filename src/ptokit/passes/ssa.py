"""DPS to SSA: each write of a tile becomes a new value.

The function is structured: a tile written in a loop becomes loop-carried if its content is needed
in the next iteration or after the loop; a tile written in a branch becomes a result of the branch
if its content is needed later.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from ptokit.analysis.content import keeps, overwritten, read_tiles, writes_inside, written_tiles
from ptokit.analysis.facts import facts_of
from ptokit.analysis.liveness import Liveness
from ptokit.diagnostics.diagnostic import Note
from ptokit.diagnostics.source import Span
from ptokit.forms.structure import structured
from ptokit.ir.editing import (
    FreshNames,
    is_dynamic,
    is_loop,
    is_tile,
    refuse,
    replaced,
    spaced,
    terminator_of,
    trimmed,
    uses_of,
)
from ptokit.ir.module import AnyOp, Binding, Block, Comments, Func, Module, Op, OpaqueOp, Value
from ptokit.isa.lang.instr import Role
from ptokit.isa.lang.traits import ALIASES, ALLOCATES, OUTSIDE, TERMINATOR

Current: TypeAlias = "dict[Value, Value]"  # tile -> the value of its current content


def is_ssa(func: Func) -> bool:
    """Return whether every tile output is a result."""
    return not any(written_tiles(op) for op in func.ops)


def func_to_ssa(func: Func) -> Func:
    """Return the function with every tile output as a result; PtoError if memory is no value."""
    if is_ssa(func):
        return func
    conversion = _ToSsa(structured(func))
    return conversion.finished(conversion.block(conversion.func.body, {}))


class _TileLiveness(Liveness):
    """The liveness of tile contents, each as a whole."""

    def uses(self, op: AnyOp) -> Iterable[Value]:
        return read_tiles(op)

    def kills(self, op: AnyOp) -> Iterable[Value]:
        return overwritten(op)

    def kept(self, func: Func) -> Iterable[Value]:
        """Return the tiles of a flat program, whose content is its result."""
        return func.named() if func.flat else ()


class _ToSsa:
    """The conversion of one function."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.buffers = {v: None for op in func.ops for v in written_tiles(op).values()}
        self.made: dict[Value, list[Value]] = {}  # tile -> the values of its writes, in order
        self.live = facts_of(func).made(_TileLiveness)
        self.classes = facts_of(func).classes
        self.tiles = [v for v in func.named() if is_tile(v)]
        aliases = (op for op in func.ops if isinstance(op, Op) and ALIASES in op.page.traits)
        self.views = {v for op in aliases for v in (*written_tiles(op).values(), *op.results)}
        self._require_values()

    # tiles that can become values

    def _require_values(self) -> None:
        """Require that no other name can observe the writes of a tile that becomes a value."""
        local: set[Value] = set()
        for op in self.func.ops:
            if isinstance(op, Op) and ALLOCATES in op.page.traits and op.results:
                addressed = next((v for n, v in op.values() if n == "addr"), None)
                if addressed is None:
                    local.add(op.results[0])
                elif op.results[0] in self.buffers:
                    message = f"%{op.results[0].name} has an address: memory, not a value"
                    raise refuse(message, op.span, "remove the address")
            elif isinstance(op, OpaqueOp) or not op.page.executes:
                self._require_unseen(op)
        for buffer in self.buffers:
            if buffer not in local and not (self.func.flat and buffer in self.func.args):
                what = "an argument" if buffer in self.func.args else "a handle on other memory"
                message = f"%{buffer.name} is written, but it is {what}, not a value"
                help = "write to a tile that the function allocates"
                raise refuse(message, self._write_of(buffer), help)

    def _require_unseen(self, op: AnyOp) -> None:
        """Refuse a handle op or an opaque op that names the bytes of a written tile."""
        if isinstance(op, Op) and (op.regions or TERMINATOR in op.page.traits):
            self._require_no_views(op)
            return
        for value in uses_of(op):
            if value in self.buffers:
                message = f"{op.name} refers to bytes of %{value.name} that are written"
                note = Note(f"%{value.name} is defined here", value.span)
                raise refuse(message, op.span, "a value has no bytes to refer to", note)

    def _require_no_views(self, op: Op) -> None:
        """Refuse a view that regions pass on, because it would share a written tile."""
        for name, value in op.values():
            if value in self.views:
                message = f"{op.name} passes on %{value.name}, which is a view"
                raise refuse(message, op.span_of(name), "copy it to a separate tile")

    def _require_no_view(self, op: Op, tile: Value) -> None:
        """Refuse a view as the tile of old and new content, unless only its extents are used."""
        if tile in self.views and not is_dynamic(tile):
            message = f"{op.name} changes a part of %{tile.name}, which is a view"
            raise refuse(message, op.span, "change the tile itself, or a copy of the part")

    def _write_of(self, buffer: Value) -> Span | None:
        for op in self.func.ops:
            for name, value in written_tiles(op).items():
                if value is buffer and isinstance(op, Op):
                    return op.span_of(name)
        return None

    # rewriting

    def block(self, block: Block, now: Current) -> Block:
        """Return the new block; `now` has the contents at its start, and afterwards at its end."""
        result = Block(block.args, trailing=block.trailing)
        result.ops = [self.op(op, now) for op in block.ops]
        return result

    def op(self, op: AnyOp, now: Current) -> AnyOp:
        if isinstance(op, OpaqueOp):
            return self._opaque(op)
        if op.regions:
            if (0, 1) in op.page.routes:
                return self._sequence(op, now)
            return self._loop(op, now) if is_loop(op) else self._branch(op, now)
        targets = written_tiles(op)
        if len({*targets.values()}) < len(targets):
            message = f"{op.name} writes two outputs to one tile"
            raise refuse(message, op.span, "use a separate tile for each output")
        for name, tile in targets.items():
            self._require_unshared(op, name, tile)
        operands = {n: replaced(b, now) for n, b in op.operands.items() if n not in targets}
        old = any(self._old_shows(op, n, t, now) for n, t in targets.items())  # then name all
        for name, tile in targets.items():
            if old or op.page.operand(name).role is Role.INOUT:
                self._require_no_view(op, tile)
                operands[name] = now.get(tile, tile)
        new = [self._new(tile, now) for tile in targets.values()]
        return replace(op, operands=operands, results=[*op.results, *new])

    def _old_shows(self, op: Op, name: str, tile: Value, now: Current) -> bool:
        """Return whether an output must name its old value: for its extents, or kept content."""
        written_before = tile in now or tile in self.func.args
        return is_dynamic(tile) or (written_before and keeps(op, name))

    def _require_unshared(self, op: Op, name: str, tile: Value) -> None:
        """Refuse a write that changes another tile of the same bytes that is still needed."""
        needed = self.live.after[op] | {*self.func.args}  # the caller sees its tiles
        for other in (v for v in self.tiles if self.classes.of(v) is self.classes.of(tile)):
            if other is not tile and ALIASES not in op.page.traits and other in needed:
                message = (
                    f"writing %{tile.name} changes %{other.name}, which is a view of its bytes"
                )
                raise refuse(message, op.span_of(name), "copy the part instead of viewing it")

    def _new(self, tile: Value, now: Current) -> Value:
        value = now[tile] = Value(tile.name, tile.type, tile.span)
        self.made.setdefault(tile, []).append(value)
        return value

    def _opaque(self, op: OpaqueOp) -> OpaqueOp:
        for tile in writes_inside(op):
            message = f"%{tile.name} is written inside {op.name}, an unknown operation"
            raise refuse(message, op.span, "convert the surrounding code by hand")
        return op

    def _loop(self, op: Op, now: Current) -> Op:
        body = op.regions[0]
        changed = _outer(op)
        needed = self.live.needs(body) | self.live.after[op]
        tiles = [t for t in changed if t in needed]
        carried = next(o.name for o in op.page.operands if o.many)
        operands = {n: replaced(b, now) for n, b in op.operands.items()}
        for tile in tiles:
            self._require_no_view(op, tile)
        if tiles:
            operands[carried] = (
                *_tuple(operands.get(carried, ())),
                *(now.get(t, t) for t in tiles),
            )
        inner = {t: v for t, v in now.items() if t not in changed}
        args = [self._new(t, inner) for t in tiles]
        new = self.block(body, inner)
        new.args = [*body.args, *args]
        _pass_on(op, new, [inner.get(t, t) for t in tiles])
        for tile in changed:
            now.pop(tile, None)
        results = [*op.results, *(self._new(t, now) for t in tiles)]
        return replace(op, operands=operands, results=results, regions=[new])

    def _sequence(self, op: Op, now: Current) -> Op:
        """Convert regions that run in turn, repeatedly; refuse writes of the function's tiles."""
        for tile in _outer(op):
            message = f"{op.name} changes %{tile.name}, but cannot yield values"
            raise refuse(message, op.span, "use a counted loop, or keep the DPS form")
        regions = [self.block(region, dict(now)) for region in op.regions]
        operands = {n: replaced(b, now) for n, b in op.operands.items()}
        return replace(op, operands=operands, regions=regions)

    def _branch(self, op: Op, now: Current) -> Op:
        changed = _outer(op)
        tiles = [t for t in changed if t in self.live.after[op]]
        for tile in tiles:
            self._require_no_view(op, tile)
        other = tiles and (OUTSIDE, len(op.regions)) in op.page.routes  # an omitted `else`
        sources = [*op.regions, *([Block()] if other else [])]
        regions: list[Block] = []
        for source in sources:
            inner = dict(now)
            regions.append(self.block(source, inner))
            _pass_on(op, regions[-1], [inner.get(t, t) for t in tiles])
        operands = {n: replaced(b, now) for n, b in op.operands.items()}
        for tile in changed:
            now.pop(tile, None)
        results = [*op.results, *(self._new(t, now) for t in tiles)]
        return replace(op, operands=operands, results=results, regions=regions)

    # the end

    def finished(self, body: Block) -> Func:
        """Return the new function, without unused allocations, with names for new values."""
        used = {v for op in body.walk() for v in uses_of(op)}
        gone = {b for b in self.buffers if b not in used}
        _without(body, gone)
        body.args = [a for a in self.func.args if a not in gone]
        func = replace(self.func, body=body)
        made = {v for values in self.made.values() for v in values}
        names = FreshNames(func, made)
        for tile, values in self.made.items():
            for value in values:
                value.name = names.name(tile.name)
        return func


def _tuple(binding: Binding) -> tuple[Value, ...]:
    return binding if isinstance(binding, tuple) else (binding,)


def _outer(op: Op) -> dict[Value, None]:
    """Return the tiles that the regions write and that exist before the op."""
    inside = {v for region in op.regions for inner in region.walk() for v in inner.results}
    return {t: None for t in writes_inside(op) if t not in inside}


def _pass_on(op: Op, block: Block, values: list[Value]) -> None:
    """Make the region yield `values`, too."""
    if not values:
        return
    last = block.ops[-1] if block.ops else None
    if not isinstance(last, Op) or TERMINATOR not in last.page.traits:
        last = Op(terminator_of(op))
        block.ops.append(last)
    name = last.page.operands[0].name
    block.ops[-1] = replace(last, operands={name: (*last.bound(name), *values)})


def _without(block: Block, gone: set[Value]) -> None:
    """Drop the allocations of `gone`; their comments go to the next op."""
    ops: list[AnyOp] = []
    pending: tuple[str, ...] = ()
    for op in block.ops:
        if isinstance(op, Op) and ALLOCATES in op.page.traits and op.results[0] in gone:
            pending = (*pending, *op.comments.before)
            continue
        lines = spaced((*pending, *op.comments.before), not ops)
        if lines != op.comments.before:
            op = replace(op, comments=Comments(lines, op.comments.after))
        pending = ()
        for region in op.regions:
            _without(region, gone)
        ops.append(op)
    block.ops = ops
    block.trailing = trimmed(list(spaced((*pending, *block.trailing), not ops)))


def to_ssa(module: Module) -> Module:
    """Return the module with every tile output as a result; PtoError if memory is no value."""
    return module.mapped(func_to_ssa)

"""Destination-passing to SSA: each write of a tile becomes a new value.

Structured: a tile written in a loop whose content matters in the next iteration or after the loop
is carried by the loop; one written in a branch whose content matters afterwards is its result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ptokit.convert.common import (
    FreshNames,
    is_dynamic,
    is_loop,
    is_tile,
    refuse,
    terminator_of,
    uses_of,
)
from ptokit.convert.effects import Effect, first_effect, reads, writes_inside, written
from ptokit.diagnostics import Note
from ptokit.ir import AnyOp, Block, Comments, Func, Op, OpaqueOp, Value
from ptokit.isa.lang import Role

Current = dict[Value, Value]  # tile -> the value that is its content now
Rest = tuple["Sequence[AnyOp]", ...]  # what runs after a point, innermost block first


def func_to_ssa(func: Func) -> Func:
    """The function with every tile output a result."""
    if not any(written(op) for op in func.body.walk()):
        return func
    conversion = _Conversion(func)
    body = conversion.block(func.body, {}, ())
    return conversion.finished(body)


class _Conversion:
    """One function on its way."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.buffers = {v: None for op in func.body.walk() for v in written(op).values()}
        self.made: dict[Value, list[Value]] = {}  # tile -> the values its writes became, in order
        self._require_values()

    # what can be a value

    def _require_values(self) -> None:
        """Every tile that is written must be one that nothing else can see change."""
        local: set[Value] = set()
        for op in self.func.body.walk():
            if isinstance(op, Op) and op.page.allocates and op.results:
                addressed = next((v for n, v in op.values() if n == "addr"), None)
                if addressed is None:
                    local.add(op.results[0])
                elif op.results[0] in self.buffers:
                    message = f"%{op.results[0].name} has an address: memory, not a value"
                    raise refuse(message, op.span, "remove the address")
            elif isinstance(op, OpaqueOp) or op.page.handle:
                self._require_unseen(op)
        for buffer in self.buffers:
            if buffer not in local and not (self.func.flat and buffer in self.func.args):
                what = "an argument" if buffer in self.func.args else "a handle on other memory"
                message = f"%{buffer.name} is written, but it is {what}, not a value"
                help = "write to a tile that the function allocates"
                raise refuse(message, self._write_of(buffer), help)

    def _require_unseen(self, op: AnyOp) -> None:
        """A handle op or an unknown op must not name the bytes of a tile that is written."""
        if op.regions and isinstance(op, Op) or (isinstance(op, Op) and op.page.terminator):
            return
        for value in uses_of(op):
            if value in self.buffers:
                name = op.name if isinstance(op, OpaqueOp) else op.page.mnemonic()
                message = f"{name} refers to the bytes of %{value.name}, which are written"
                note = Note(f"%{value.name} is defined here", value.span)
                raise refuse(message, op.span, "a value has no bytes to refer to", note)

    def _write_of(self, buffer: Value) -> object:
        for op in self.func.body.walk():
            for name, value in written(op).items():
                if value is buffer and isinstance(op, Op):
                    return op.span_of(name)
        return None

    # rewriting

    def block(self, block: Block, now: Current, rest: Rest) -> Block:
        """The block with `now` as the contents at its start, updated to those at its end."""
        result = Block(block.args, trailing=block.trailing)
        for index, op in enumerate(block.ops):
            after = (block.ops[index + 1 :], *rest)
            result.ops.append(self.op(op, now, after))
        return result

    def op(self, op: AnyOp, now: Current, after: Rest) -> AnyOp:
        if isinstance(op, OpaqueOp):
            return self._opaque(op, now, after)
        if op.regions:
            return self._loop(op, now, after) if is_loop(op) else self._branch(op, now, after)
        targets = written(op)
        operands = {n: _mapped(b, now) for n, b in op.operands.items() if n not in targets}
        results = list(op.results)
        for name, tile in targets.items():
            if op.page.operand(name).role is Role.INOUT or is_dynamic(tile):
                operands[name] = now.get(tile, tile)
        for tile in targets.values():
            results.append(self._new(tile, now))
        return replace(op, operands=operands, results=results)

    def _new(self, tile: Value, now: Current) -> Value:
        value = now[tile] = Value(tile.name, tile.type, tile.span)
        self.made.setdefault(tile, []).append(value)
        return value

    def _opaque(self, op: OpaqueOp, now: Current, after: Rest) -> OpaqueOp:
        changed = writes_inside(op)
        if changed:
            tile = next(iter(changed))
            message = f"%{tile.name} is written inside {op.name}, whose meaning is not known"
            raise refuse(message, op.span, "convert the parts around it by hand")
        return op

    def _carried(self, op: AnyOp, after: Rest) -> list[Value]:
        """The tiles written in a region whose content matters after it."""
        return [tile for tile in writes_inside(op) if _live(tile, after)]

    def _loop(self, op: Op, now: Current, after: Rest) -> Op:
        body = op.regions[0]
        again: Rest = (body.ops, *after)
        tiles = [t for t in writes_inside(op) if self._outside(t, op) and _live(t, again)]
        inits = [now.get(t, t) for t in tiles]
        inner: Current = {**now}
        for tile in writes_inside(op):
            inner.pop(tile, None)
        args = [self._new(t, inner) for t in tiles]
        new = self.block(body, inner, again)
        new.args = [*body.args, *args]
        _pass_on(op, new, [inner.get(t, t) for t in tiles])
        for tile in writes_inside(op):
            now.pop(tile, None)
        results = [*op.results, *(self._new(t, now) for t in tiles)]
        operands = {n: _mapped(b, now_before) for n, b in op.operands.items()}
        return replace(op, operands=operands, results=results, regions=[new])

"""Execution traces: a line per executed instruction, so that `diff` can compare two runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from hashlib import blake2b

import numpy as np

from ptokit.analysis.known import Facts
from ptokit.ir.module import AnyOp, Op, Value
from ptokit.isa.lang.instr import Role
from ptokit.isa.lang.traits import BY_SCALAR
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core
from ptokit.machine.observer import Observer
from ptokit.machine.tile import ConvTile, GlobalView, Matrix, Pointer, Tile
from ptokit.tools.shown import array_of, codes_shown, place_shown, value_shown

DIGEST = 4  # bytes


class Tracer(Observer):
    """An observer that reports each instruction: line, pipe, mnemonic, operands, result digests.

    A digest covers the codes of a tile's valid region or of a view, row by row, and does not depend
    on layout or address. `names`: values whose content is reported each time it is written.
    """

    stepwise = True

    def __init__(
        self, tell: Callable[[str], object], names: Collection[str] = (), *, lines: bool = True
    ) -> None:
        self.tell, self.names, self.lines = tell, names, lines
        self.untold = list(names)  # names without a report yet

    def after(self, op: AnyOp, env: Env, core: Core) -> None:
        """Report an executed instruction and the named values that it wrote."""
        if not isinstance(op, Op):
            return
        if self.lines and (op.page.reported or BY_SCALAR in op.page.traits):
            self.tell(_line(op, env, core))
        for value in defined_or_written(op):
            if value.name in self.names and _has_content(op, env[value]):
                self._show(op, value, env[value], core)

    def entered(self, args: Sequence[Value], env: Env, core: Core) -> None:
        """Report named numbers that a loop counts or carries."""
        for arg in args:
            if arg.name in self.names and not isinstance(env[arg], Matrix | Pointer):
                self._show(None, arg, env[arg], core)

    def _show(self, op: Op | None, value: Value, seen: object, core: Core) -> None:
        if value.name in self.untold:
            self.untold.remove(value.name)
        self.tell(_content(op, value, seen, core))


def defined_or_written(op: Op) -> Iterator[Value]:
    """Yield the values that an op defines or writes."""
    yield from op.results
    yield from (v for o in op.page.outs() for v in op.bound(o.name))


def _has_content(op: Op, seen: object) -> bool:
    """Return whether the op gave the value content, not only a handle."""
    makes = op.page.executes or BY_SCALAR in op.page.traits
    return makes or not isinstance(seen, Matrix | Pointer)


def _line(op: Op, env: Env, core: Core) -> str:
    line = op.span.line if op.span else 0
    page, results = op.page, {o.name for o in op.page.operands if o.written}
    pipe = page.pipe_of(Facts(core.target).environment(op))
    taken = [_operand(v, env[v]) for n, v in op.values() if page.operand(n).role is not Role.OUT]
    outs = [_operand(v, env[v]) + _digest(env[v]) for n, v in op.values() if n in results]
    outs += [_operand(v, env[v]) for v in op.results]
    words = [f"{name}={word}" for name, word in sorted(op.attrs.items())]
    text = ", ".join([*taken, *words])
    arrow = f" -> {', '.join(outs)}" if outs else ""
    where = f"{_block(core)}{line:>5}  {pipe or '':<8}{op.name:<15} "
    return f"{where}{text}{arrow}".rstrip()


def _block(core: Core) -> str:
    place = place_shown(core)
    return f"[{place}]" if place else ""


def _operand(value: Value, seen: object) -> str:
    """Return name, element type and valid extents, or the number."""
    name = f"%{value.name}"
    if isinstance(seen, Tile):
        return f"{name} {seen.dtype}[{seen.valid.rows}x{seen.valid.cols}]"
    if isinstance(seen, ConvTile | GlobalView):
        return f"{name} {seen.dtype}[{'x'.join(map(str, seen.type.shape))}]"
    if isinstance(seen, Pointer):
        return f"{name}+{seen.offset}"
    shown = array_of(seen)
    return f"{name}={shown}" if isinstance(shown, int | float | np.generic) else name


def _digest(seen: object) -> str:
    if not isinstance(seen, Matrix):
        return ""
    raw = np.ascontiguousarray(codes_shown(seen)).tobytes()
    return f" #{blake2b(raw, digest_size=DIGEST).hexdigest()}"


def _content(op: Op | None, value: Value, seen: object, core: Core) -> str:
    span = value.span if op is None else op.span
    line = span.line if span else 0
    array = value_shown(value, seen)
    text = f"\n{array}" if isinstance(array, np.ndarray) else f" {array}"
    return f"{_block(core)}{line:>5}  {_operand(value, seen).partition('=')[0]} ={text}"

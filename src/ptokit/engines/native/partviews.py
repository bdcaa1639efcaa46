"""Views of parts of tiles: which handles are views, as far as the text decides.

An instruction on the whole storage of a tile must not reach past the part that a view shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptokit.ir.module import Block, Func, Op, Value
from ptokit.isa.lang.traits import ALIASES, WINDOW
from ptokit.machine.record.trace import TracedTile


class Views:
    """The views of a function, updated as instructions are generated in program order."""

    def __init__(self, func: Func | None = None) -> None:
        self.mutable = set(_viewed(func.body)) if func else set[Value]()  # views inside regions
        self.possible = _possible_views(func) if func else set[Value]()
        self.known = set[Value]()

    def mark(self, value: Value, handle: object) -> None:
        """Set whether a handle is a view here; None: perhaps."""
        if isinstance(handle, TracedTile):
            if handle.view:  # a window of the shape of its whole tile
                self.known.add(value)
            handle.view = None if value in self.possible else value in self.known

    def marked(self, op: Op, env: Mapping[Value, object]) -> list[object]:
        """Return the operands of an instruction, after marking views."""
        used = [value for _, value in op.values()]
        for value in used:
            self.mark(value, env[value])
        return [env[value] for value in used]

    def follow(self, op: Op) -> None:
        """Record that the output is a view, if the instruction makes one or its input is one."""
        (output, *_), (source, *_) = op.page.outs(), op.page.ins()
        if WINDOW in op.page.traits or not self.known.isdisjoint(op.bound(source.name)):
            self.known.update(op.bound(output.name))

    def touched(self, op: Op) -> bool:
        """Return whether an operand may be a view, which requests to the reference do not show."""
        return any(v in self.known or v in self.possible for _, v in op.values())


def _viewed(block: Block, *, inside: bool = False) -> Iterator[Value]:
    """Yield the tiles from outside a loop or branch that become views of others inside."""
    own = {value for op in block.ops for value in op.results}
    for op in block.ops:
        if inside and isinstance(op, Op) and ALIASES in op.page.traits:
            yield from (v for v in op.bound(op.page.outs()[0].name) if v not in own)
        for region in op.regions:
            yield from _viewed(region, inside=True)


def _possible_views(func: Func) -> set[Value]:
    """Return the tiles that are views on some paths only."""
    found = set[Value]()
    windows = [op for op in func.ops if isinstance(op, Op) and WINDOW in op.page.traits]
    if windows:
        for block, op in _placed(func.body):
            if ALIASES in op.page.traits:
                targets = op.bound(op.page.outs()[0].name)
                found.update(v for v in targets if not _defined_in(block, v))
            if op.regions:
                found.update((*op.results, *(a for region in op.regions for a in region.args)))
    return found


def _placed(block: Block) -> Iterator[tuple[Block, Op]]:
    for op in block.ops:
        if isinstance(op, Op):
            yield block, op
        for region in op.regions:
            yield from _placed(region)


def _defined_in(block: Block, value: Value) -> bool:
    return value in block.args or any(value in op.results for op in block.ops)

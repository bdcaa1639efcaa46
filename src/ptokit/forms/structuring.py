"""Structured control flow: the blocks of a function become loops and branches with regions.

A block that another dominates stands in the region of the dominator or below. A block with several
predecessors stands after their regions, at its dominator; so does the target of an edge out of a
loop. Paths that end at different targets yield flags of one bit that select the target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.diagnostics.source import Span
from ptokit.forms.exits import Exits, Flag, Inverted, Join, Region, Side, Slot
from ptokit.forms.switches import two_way
from ptokit.ir.editing import (
    DEEPEST,
    FreshNames,
    allocation,
    constant,
    new_op,
    refuse,
    renamed,
    shaped,
    spaced,
    terminator_of,
)
from ptokit.ir.graph import FlowGraph, inner_uses, sent
from ptokit.ir.module import NO_COMMENTS, AnyOp, Binding, Block, Comments, Func, Op, Value
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import I1, ScalarType, Type


def flat(func: Func, names: FreshNames) -> Func:
    """Return the function as one block, its regions as they are."""
    return _Structuring(two_way(func, names), names).finished() if func.blocks else func


def of_one(block: Block, names: FreshNames) -> Block:
    """Return the block with regions of one block each."""
    ops = [replace(op, regions=[_region(r, names) for r in op.regions]) for op in block.ops]
    return replace(block, ops=ops)


def _region(block: Block, names: FreshNames) -> Block:
    first, *others = [of_one(b, names) for b in (block, *block.following)]
    ends = [op for b in (block, *others) if (op := b.terminator) and not op.successors]
    given = tuple(value.type for op in ends[:1] for _, value in op.values())
    first.following = []
    return flat(Func("", first, results=given, blocks=others), names).body


class _Structuring:
    """The structuring of one function.

    The number after those of the blocks, `end`, stands for the end of the function.
    """

    def __init__(self, func: Func, names: FreshNames) -> None:
        self.func, self.graph = func, FlowGraph(func)
        self.end = len(self.graph.blocks)
        self.labelled = {block.label: block for block in self.graph.blocks}
        self.names = names
        self.now: dict[Value, Value] = {}  # value -> its replacement at this point
        self.open = [Region()]  # the regions around this point, the innermost last
        self.loops = self._loops()
        self.around: dict[int, list[int]] = {n: [] for n in (*self.graph.order, self.end)}
        for header in (n for n in self.graph.order if n in self.loops):  # from the outside in
            for node in self.loops[header]:
                self.around[node].append(header)
        self.home = {n: self._home(n) for n in (*self.graph.order[1:], self.end)}
        self.level = {0: 0}
        for node in self.graph.order[1:]:
            self.level[node] = self.level[self.home[node][0]] + 1
        self.own = {n: self._own(self.graph.blocks[n]) for n in self.graph.order}
        self.needed = self._needed() if self.loops else {}
        self.returned = [Value(self.names.name("returned"), kind) for kind in func.results]
        self.branch, self.loop = shaped("if"), shaped("while")
        self.goes_on = shaped("condition")
        self.yields = terminator_of(Op(self.branch))

    # the graph

    def _loops(self) -> dict[int, set[int]]:
        """Return the blocks of each loop by its header; PtoError for a second entry."""
        latches: dict[int, list[int]] = {}
        for node, header in self.graph.retreating():
            if not self.graph.dominates(header, node):
                raise self._irreducible(node, header)
            latches.setdefault(header, []).append(node)
        return {header: self.graph.loop(header, some) for header, some in latches.items()}

    def _irreducible(self, node: int, header: int) -> PtoError:
        block, branch = self.graph.blocks[header], self.graph.blocks[node].terminator
        message = f"the loop at {block.label} has a second entry"
        return error("irreducible-graph", message, branch.span if branch else None)

    def _home(self, node: int) -> tuple[int, bool]:
        """Return the block in whose region a block stands, and whether after that block's loop."""
        if node == self.end:
            return 0, False
        above = self.graph.above[node]
        for header in self.around[above]:
            if node not in self.loops[header]:
                return header, True
        return above, False

    def _joins(self, node: int) -> bool:
        """Return whether a block stands after the regions that lead to it."""
        if node == self.end or self.home[node][1]:
            return True
        return sum(not self.graph.dominates(node, n) for n in self.graph.before[node]) > 1

    def _own(self, block: Block) -> dict[Value, None]:
        """Return the values that a block defines."""
        return dict.fromkeys([*block.args, *(v for op in block.ops for v in op.results)])

    def _needed(self) -> dict[int, set[Value]]:
        """Return the live-in values of each block that other blocks define."""
        every = {v: None for own in self.own.values() for v in own}
        needed = dict[int, set[Value]]()
        for node in self.graph.order:
            uses = (v for op in self.graph.blocks[node].ops for _, _, v in inner_uses(op))
            needed[node] = {v for v in uses if v in every and v not in self.own[node]}
        changed = True
        while changed:
            changed = False
            for node in reversed(self.graph.order):
                later = set[Value]().union(*(needed[n] for n in self.graph.after[node]))
                found = needed[node] | {v for v in later if v not in self.own[node]}
                changed |= found != needed[node]
                needed[node] = found
        return needed

    def key(self, target: int) -> tuple[int, bool, int]:
        """Return the key that orders targets: the innermost first."""
        if target < 0:
            return -self.level[~target], True, -1
        block, after = self.home[target]
        return -self.level[block], after, self.graph.rank.get(target, self.end)

    # regions

    def finished(self) -> Func:
        """Return the whole function."""
        region = self.open[0]
        self._follow(self._block(0), {(0, False)})
        ends = [op for block in self.graph.blocks if (op := block.terminator)]
        last = next((op for op in ends if not op.successors), None)
        if last is not None:
            values = [self.now.get(r) or self.anything(region, r, r.type) for r in self.returned]
            rest = iter(values)
            operands = {n: _next_values(bound, rest) for n, bound in last.operands.items()}
            self._emit(replace(last, operands=operands, comments=NO_COMMENTS))
        elif self.returned:
            raise refuse("the function never returns its results", self.func.span, "return them")
        return replace(self.func, body=region.block(self.func.args), blocks=[])

    def _inside(self, start: int, here: set[tuple[int, bool]], outcome: Exits) -> Side:
        """Return a new region that starts with a block, and its exits."""
        self.open.append(Region())
        if len(self.open) > DEEPEST:
            message = f"branches or loops nested more than {DEEPEST} deep"
            last = self.graph.blocks[start].ops[-1:]
            raise error("nesting-too-deep", message, last[0].span if last else None)
        outcome = self._follow(outcome if outcome.flags else self._block(start), here, start)
        return self.open.pop(), outcome

    def _follow(
        self, outcome: Exits, here: set[tuple[int, bool]], start: int | None = None
    ) -> Exits:
        """Continue with the targets that stand in this region, until none is left."""
        while outcome.flags:
            target, flag = next(iter(outcome.flags.items()))
            if target < 0 or not (target == start or self.home[target] in here):
                break
            self._take(target, outcome)
            rest = Exits({t: f for t, f in outcome.flags.items() if t != target})
            rest.values = {s: v for s, v in outcome.values.items() if not _is_of(s, target)}
            if not rest.flags or flag is True:
                outcome = self._enter(target, here)
            elif flag:
                side = self._inside(target, set(), Exits({target: True}))
                outcome = self._either(flag, side, (Region(), rest), {})
            else:
                outcome = rest
        return outcome

    def _enter(self, target: int, here: set[tuple[int, bool]]) -> Exits:
        if target == self.end:
            return Exits({})
        here.add((target, target in self.loops))
        return self._cycle(target) if target in self.loops else self._block(target)

    def _take(self, target: int, outcome: Exits) -> None:
        """Bind the arguments of a block, and values of loops left before it, to current values."""
        args = self.returned if target == self.end else self.graph.blocks[target].args
        for slot, value in outcome.values.items():
            if isinstance(slot, Value):
                self.now[slot] = value
            elif slot[0] == target:
                self.now[args[slot[1]]] = value

    def _block(self, node: int) -> Exits:
        """Emit the ops of a block; return the exits of its terminator."""
        block = self.graph.blocks[node]
        self._remark(block.comments)
        for op in block.ops:
            if op is not block.terminator:
                self._emit(renamed(op, self.now))
        outcome = Exits({self.end: True})
        if block.terminator:
            outcome = self._left(node, block.terminator)
        self.open[-1].comments += block.trailing
        return outcome

    def _left(self, node: int, op: Op) -> Exits:
        """Return the exits of a block's terminator."""
        if not op.successors:
            self._remark(op.comments)
            values = [self.now.get(v, v) for _, v in op.values()]
            return Exits({self.end: True}, {(self.end, n): v for n, v in enumerate(values)})
        ways = [self._way(node, block, values) for block, values in sent(op, self.labelled)]
        if len(ways) == 1:
            self._remark(op.comments)
            return ways[0]
        name = op.page.operands[0].name
        condition = self.now.get(op.bound(name)[0], op.bound(name)[0])
        places = ("", op.span), (self.branch.operands[0].name, op.span_of(name))
        spans = {key: span for key, span in places if span}
        one, other = (self._side(way) for way in ways)
        return self._either(condition, one, other, spans, op.comments)

    def _way(self, node: int, block: Block, values: Sequence[Value]) -> Exits:
        """Return the exit along one edge: passed values, and live values of the loops it leaves."""
        target = self.graph.number[block.label]
        found: dict[Slot, Value] = {}
        for header in self.around[node]:
            if target not in self.loops[header]:
                for inner in sorted(self.loops[header], key=self.graph.rank.__getitem__):
                    left = (v for v in self.own[inner] if v in self.needed[target])
                    found |= {v: self.now.get(v, v) for v in left}
                break
        number = ~target if target in self.around[node] else target
        found |= {(number, n): self.now.get(v, v) for n, v in enumerate(values)}
        return Exits({number: True}, found)

    def _side(self, way: Exits) -> Side:
        """Return one side of a branch: a region, with its target if only this side leads there."""
        target = next(iter(way.flags))
        if target < 0 or self._joins(target):
            return Region(), way
        self._take(target, way)
        return self._inside(target, set(), Exits({target: True}))

    # ops

    def _emit(self, op: AnyOp) -> None:
        region = self.open[-1]
        if region.comments:
            before = spaced([*region.comments, *op.comments.before], first=not region.ops)
            op, region.comments = replace(op, comments=Comments(before, op.comments.after)), []
        region.ops.append(op)

    def _remark(self, comments: Comments) -> None:
        """Keep the comments of an op that disappears."""
        self.open[-1].comments += [*comments.before, *([comments.after] if comments.after else [])]

    def _either(
        self,
        condition: Value | Inverted | bool,
        one: Side,
        other: Side,
        spans: dict[str, Span],
        comments: Comments = NO_COMMENTS,
    ) -> Exits:
        """Emit a branch with these sides; return the exits after it."""
        if isinstance(condition, Inverted):
            one, other, condition = other, one, condition.value
        assert isinstance(condition, Value)
        join = Join(self, condition, (one, other))
        outcome = join.outcome()
        regions = [one[0], other[0]]
        for region, values in zip(regions, join.yielded, strict=True):
            if values:
                region.ops.append(new_op(self.yields, {self.yields.operands[0].name: values}))
        if not other[0].ops and not other[0].comments:
            del regions[1]
        if not any(r.ops or r.comments for r in regions):
            self._remark(comments)
            return outcome
        operands = {self.branch.operands[0].name: [condition]}
        blocks = [region.block() for region in regions]
        op = new_op(self.branch, operands, results=join.results, regions=blocks, spans=spans)
        op.comments = comments
        self._emit(op)
        return outcome

    def _cycle(self, header: int) -> Exits:
        """Emit a loop; return the exits after it."""
        args = self.graph.blocks[header].args
        first = [self.now.pop(a, a) for a in args]
        before, outcome = self._inside(header, {(header, False)}, Exits({}))
        again = outcome.flags.pop(~header) if len(outcome.flags) > 1 else True
        outcome.flags.pop(~header, None)
        nexts = [outcome.values.pop((~header, n), a) for n, a in enumerate(args)]
        body = Region()
        if last := self._exit_branch(before, again):
            op, on, out = last
            before.ops.pop()
            before.comments += [*op.comments.before, *filter(None, [op.comments.after])]
            body.ops = [inner for inner in on.ops if inner is not on.terminator]
            body.comments += on.trailing
            now = dict(zip(op.results, on.passed, strict=True))
            nexts = [now.get(v, v) for v in nexts]
            outcome = outcome.changed(dict(zip(op.results, out.passed, strict=True)))
        passed = self._passed(before, args, body, nexts, outcome)
        condition = self.number(before, again)
        names = [o.name for o in self.goes_on.operands]
        before.ops.append(new_op(self.goes_on, {names[0]: [condition], names[1]: passed}))
        inside, after = ({v: self._like(v) for v in passed} for _ in range(2))
        body.ops = [renamed(op, inside) for op in body.ops]
        values = [inside.get(v, v) for v in nexts]
        body.ops.append(new_op(self.yields, {self.yields.operands[0].name: values}))
        regions = [before.block(args), body.block([*inside.values()])]
        operands = {self.loop.operands[0].name: first}
        results = [*after.values()]
        spans = self._spans(header)
        self._emit(new_op(self.loop, operands, results=results, regions=regions, spans=spans))
        return outcome.changed(after)

    def _spans(self, header: int) -> dict[str, Span]:
        ops = self.graph.blocks[header].ops
        span = ops[0].span if ops else None
        return {"": span} if span else {}

    def _exit_branch(self, before: Region, again: Flag) -> tuple[Op, Block, Block] | None:
        """Return the branch that ends a loop's first region, if one side continues and one leaves.

        Also return the side that continues, and the side that leaves, which only yields.
        """
        last = before.ops[-1] if before.ops else None
        if not isinstance(last, Op) or last.page is not self.branch or before.comments:
            return None
        on, out = (*last.regions, Block())[:2]
        condition = last.bound(self.branch.operands[0].name)[0]
        if again == Inverted(condition):
            on, out = out, on
        elif again is not condition:
            return None
        alone = not out.trailing and all(op is out.terminator for op in out.ops)
        return (last, on, out) if alone else None

    def _passed(
        self,
        before: Region,
        args: Sequence[Value],
        body: Region,
        nexts: Sequence[Value],
        outcome: Exits,
    ) -> list[Value]:
        """Return the values that a loop's first region defines and later code uses."""
        known = before.defined() | {*args}
        flags = [f.value if isinstance(f, Inverted) else f for f in outcome.flags.values()]
        uses = [v for op in body.ops for _, _, v in inner_uses(op)]
        uses += [*nexts, *outcome.values.values(), *(f for f in flags if isinstance(f, Value))]
        return [v for v in dict.fromkeys(uses) if v in known]

    # values

    def _like(self, value: Value) -> Value:
        return Value(self.names.name(value.name), value.type, value.span, resized=value.resized)

    def number(self, region: Region, flag: Flag) -> Value:
        """Return the value of a flag at the end of a region."""
        if isinstance(flag, Value):
            return flag
        value = Value(self.names.name("taken"), I1)
        if isinstance(flag, Inverted):
            sides = [Region(), Region()]
            for side, bit in zip(sides, (False, True), strict=True):
                given = [self.number(side, bit)]
                side.ops.append(new_op(self.yields, {self.yields.operands[0].name: given}))
            operands = {self.branch.operands[0].name: [flag.value]}
            blocks = [side.block() for side in sides]
            region.ops.append(new_op(self.branch, operands, results=[value], regions=blocks))
        else:
            region.ops.append(constant(value, int(bool(flag))))
        return value

    def anything(self, region: Region, slot: Slot, kind: Type) -> Value:
        """Return an arbitrary value for a path on which it is not used."""
        if not isinstance(slot, Value) and slot[0] < 0:
            return self.graph.blocks[~slot[0]].args[slot[1]]
        value = Value(self.names.name("unused"), kind)
        if isinstance(kind, ScalarType):
            region.ops.append(constant(value, 0.0 if kind.is_float else 0))
            return value
        made = (v for around in reversed(self.open) for op in around.ops for v in op.results)
        known = next((v for v in (*made, *self.func.args) if v.type == kind), None)
        if known is None and isinstance(kind, TileType) and kind.valid.static:
            region.ops.append(new_op(allocation(), {}, results=[value]))
            return value
        if known is None:
            help = "define one before, or bring the ways together earlier"
            message = f"only some of the joining paths have a value of {kind}"
            raise refuse(message, None, help)
        return known


def _next_values(bound: Binding, values: Iterator[Value]) -> Binding:
    """Return the next values, as many as are bound here."""
    return tuple(islice(values, len(bound))) if isinstance(bound, tuple) else next(values)


def _is_of(slot: Slot, target: int) -> bool:
    return not isinstance(slot, Value) and slot[0] == target

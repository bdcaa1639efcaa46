"""The control-flow graph of a function: edges between blocks, dominators, loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptokit.ir.module import AnyOp, Block, Func, Op, OpaqueOp, Value


def reverse_postorder(ways: Sequence[Sequence[int]]) -> list[int]:
    """Return the nodes that are reached from node 0 in reverse postorder."""
    order: list[int] = []
    seen = {0}
    stack = [(0, iter(ways[0]))]
    while stack:
        following = next((n for n in stack[-1][1] if n not in seen), None)
        if following is None:
            order.append(stack.pop()[0])
        else:
            seen.add(following)
            stack.append((following, iter(ways[following])))
    return order[::-1]


class FlowGraph:
    """The blocks of a function by number, the entry first; `order` holds the reachable ones.

    `after` and `before` are the successors and predecessors of a block, `above` its immediate
    dominator (the entry's is the entry).
    """

    def __init__(self, func: Func) -> None:
        self.blocks = [func.body, *func.blocks]
        self.number = {block.label: n for n, block in enumerate(self.blocks) if block.label}
        self.after = [[self.number[label] for label in ways(b)] for b in self.blocks]
        self.order = reverse_postorder(self.after)
        self.rank = {node: n for n, node in enumerate(self.order)}
        self.before: list[list[int]] = [[] for _ in self.blocks]
        for node in self.order:
            for following in self.after[node]:
                self.before[following].append(node)
        self.above = self._dominators()
        self.subtree = self._subtrees()

    def _dominators(self) -> dict[int, int]:
        """Return the immediate dominators, computed by iteration to a fixed point."""
        above = {0: 0}
        changed = True
        while changed:
            changed = False
            for node in self.order[1:]:
                known = [n for n in self.before[node] if n in above]
                found = known[0]
                for other in known[1:]:
                    found = self._meet(above, found, other)
                changed |= above.get(node) != found
                above[node] = found
        return above

    def _meet(self, above: Mapping[int, int], one: int, other: int) -> int:
        while one != other:
            if self.rank[one] > self.rank[other]:
                one = above[one]
            else:
                other = above[other]
        return one

    def _subtrees(self) -> dict[int, range]:
        """Return the blocks that each block dominates, as a range of positions in preorder."""
        size = dict.fromkeys(self.order, 1)
        for node in self.order[:0:-1]:
            size[self.above[node]] += size[node]
        found = {0: range(size[0])}
        free = {0: 1}
        for node in self.order[1:]:
            start = free[self.above[node]]
            found[node] = range(start, start + size[node])
            free[self.above[node]], free[node] = start + size[node], start + 1
        return found

    def dominates(self, one: int, other: int) -> bool:
        """Return whether every path to `other` passes `one`; a block dominates itself."""
        return one in self.subtree and self.subtree[other].start in self.subtree[one]

    def retreating(self) -> Iterator[tuple[int, int]]:
        """Yield the retreating edges: each goes to a block that is not later in `order`."""
        for node in self.order:
            yield from ((node, n) for n in self.after[node] if self.rank[n] <= self.rank[node])

    def loop(self, header: int, latches: Sequence[int]) -> set[int]:
        """Return the blocks of a natural loop: the header, and all that reach a latch first."""
        found, new = {header}, list(latches)
        while new:
            node = new.pop()
            if node not in found:
                found.add(node)
                new += self.before[node]
        return found


def ways(block: Block) -> tuple[str, ...]:
    """Return the labels of the successors of a block."""
    return block.terminator.successors if block.terminator else ()


def inner_uses(op: AnyOp) -> Iterator[tuple[AnyOp, str, Value]]:
    """Yield the uses in an op and its regions as (op, operand name, value)."""
    if isinstance(op, OpaqueOp):
        yield from ((op, "", value) for value in op.uses)
    else:
        yield from ((op, name, value) for name, value in op.values())
    for block in (b for region in op.regions for b in (region, *region.following)):
        for inner in block.ops:
            yield from inner_uses(inner)


def sent(op: Op, blocks: Mapping[str, Block]) -> Iterator[tuple[Block, tuple[Value, ...]]]:
    """Yield the successors of a branch with the values that it passes to the arguments of each."""
    values = op.bound(op.page.lists[0])
    for label in op.successors:
        block = blocks[label]
        yield block, values[: len(block.args)]
        values = values[len(block.args) :]


def undominated(func: Func) -> Iterator[tuple[AnyOp, str, Value, Block]]:
    """Yield uses that the definition does not dominate: op, operand, value, defining block."""
    graph = FlowGraph(func)
    home = {v: n for n, b in enumerate(graph.blocks) for op in b.ops for v in op.results}
    home |= {v: n for n, block in enumerate(graph.blocks) for v in block.args}
    for node in graph.order:
        for op in graph.blocks[node].ops:
            for user, name, value in inner_uses(op):
                if value in home and not graph.dominates(home[value], node):
                    yield user, name, value, graph.blocks[home[value]]

"""The blocks of a function as a graph: the ways between them, which one dominates which, loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptokit.ir.module import AnyOp, Block, Func, Op, OpaqueOp, Value


def reverse_postorder(ways: Sequence[Sequence[int]]) -> list[int]:
    """The nodes that are reached from the first, each before those that only it leads to."""
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
    """Blocks by number, the entry first; `order` holds those that are reached.

    `after` and `before` are the ways out of a block and into it, `above` its immediate dominator
    (the entry's is itself).
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
        """Immediate dominators, by the meeting of what is known until nothing changes."""
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
        """The blocks that each one dominates, as a range of places in the tree of dominators."""
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
        """Whether every way to `other` passes `one`; a block dominates itself."""
        return one in self.subtree and self.subtree[other].start in self.subtree[one]

    def retreating(self) -> Iterator[tuple[int, int]]:
        """The ways back, each from a block to one that stands before it in order."""
        for node in self.order:
            yield from ((node, n) for n in self.after[node] if self.rank[n] <= self.rank[node])

    def loop(self, header: int, latches: Sequence[int]) -> set[int]:
        """The blocks from which a way leads back to the header."""
        found, new = {header}, list(latches)
        while new:
            node = new.pop()
            if node not in found:
                found.add(node)
                new += self.before[node]
        return found


def ways(block: Block) -> tuple[str, ...]:
    """The labels of the blocks that may follow."""
    return block.terminator.successors if block.terminator else ()


def inner_uses(op: AnyOp) -> Iterator[tuple[AnyOp, str, Value]]:
    """What an op and those in its regions use: by which op, as which operand."""
    if isinstance(op, OpaqueOp):
        yield from ((op, "", value) for value in op.uses)
    else:
        yield from ((op, name, value) for name, value in op.values())
    for block in (b for region in op.regions for b in (region, *region.following)):
        for inner in block.ops:
            yield from inner_uses(inner)


def sent(op: Op, blocks: Mapping[str, Block]) -> Iterator[tuple[Block, tuple[Value, ...]]]:
    """The blocks that a branch may go to, and what it passes to the arguments of each."""
    values = op.bound(op.page.lists[0])
    for label in op.successors:
        block = blocks[label]
        yield block, values[: len(block.args)]
        values = values[len(block.args) :]


def undominated(func: Func) -> Iterator[tuple[AnyOp, str, Value, Block]]:
    """Uses of values that not every way defines: op, operand, value, the block that defines it."""
    graph = FlowGraph(func)
    home = {v: n for n, b in enumerate(graph.blocks) for op in b.ops for v in op.results}
    home |= {v: n for n, block in enumerate(graph.blocks) for v in block.args}
    for node in graph.order:
        for op in graph.blocks[node].ops:
            for user, name, value in inner_uses(op):
                if value in home and not graph.dominates(home[value], node):
                    yield user, name, value, graph.blocks[home[value]]

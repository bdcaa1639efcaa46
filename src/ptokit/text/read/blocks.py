"""Functions of several blocks: labels, branches, and checks of the control-flow graph.

Labels are found first. A block is read after the blocks that dominate it, wherever it stands in the
text, so that values are defined before their uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ptokit.diagnostics.diagnostic import Diagnostic, Note, PtoError, error
from ptokit.diagnostics.nearest import did_you_mean
from ptokit.diagnostics.source import Span
from ptokit.ir.graph import reverse_postorder, sent, undominated
from ptokit.ir.module import Block, Comments, Func, Op, OpaqueOp, Value
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import TERMINATOR
from ptokit.text.read.attributes import numeral
from ptokit.text.read.callreader import Item, read_item, typed
from ptokit.text.read.cursor import FUNCS
from ptokit.text.read.names import Named
from ptokit.text.read.parser import Parser


class Heads(NamedTuple):
    """The tokens of labels, the labels that each block names, and the token that ends the body."""

    at: list[int]
    named: list[list[str]]  # for the part before the first label, then for each block
    end: int


def read_blocks(p: Parser, args: list[Value], opened: int, before: list[str]) -> list[Block]:
    """Read the blocks of a function up to its closing brace: the entry, then in text order."""
    p.body, p.labels = opened, {}
    entry = Block(args)
    if p.texts[p.i][:1] == "^":
        before = _head(p, entry)
    p.fill(entry, opened, before)
    if p.texts[p.i] == "}" and not p.labels:
        return [entry]
    return [entry, *_others(p, opened)]


def _others(p: Parser, opened: int) -> list[Block]:
    """Read the blocks after the entry, which was read before."""
    heads = _heads(p)
    labels = _labels(p)
    numbers = {p.texts[at]: n for n, at in enumerate(heads.at, 1)}
    ways = [[numbers[label] for label in named if label in numbers] for named in heads.named]
    order = dict.fromkeys(reverse_postorder(ways))
    ways[0] += [n for n in numbers.values() if n not in order]  # unreachable blocks
    for number in [*order, *(n for n in reverse_postorder(ways) if n not in order)][1:]:
        block = labels.get(p.texts[heads.at[number - 1]])
        if block is not None and not block.ops:
            p.i = heads.at[number - 1]
            p.fill(block, opened, _head(p, block))
    p.i = heads.end
    return [*labels.values()]


def read_region(p: Parser, args: list[Value], opened: int, before: list[str]) -> Block:
    """Read the blocks of an op's region; return the first, which holds the rest."""
    around = p.body, p.labels
    p.body, p.labels = p.i - 1, {}
    block = Block(args)
    p.fill(block, opened, before)
    if p.texts[p.i] != "}" or p.labels:
        block.following = _others(p, opened)
        whole = Func("", block, blocks=block.following)
        if not any(map(p.is_broken, (block, *block.following))):
            check_blocks(p, whole)
    p.body, p.labels = around
    return block


def _heads(p: Parser) -> Heads:
    """Find the labels of the function, except the label of its entry."""
    found = Heads([], [[]], 0)
    depth, i = 0, p.body + 1
    entry = i
    while (text := p.texts[i]) not in ("", *FUNCS) and (depth or text != "}"):
        depth += (text == "{") - (text == "}")
        if text[:1] == "^" and not depth and i != entry:
            if _is_head(p, i):
                found.at.append(i)
                found.named.append([])
            else:
                found.named[-1].append(text)
        i += 1
    return found._replace(end=i)


def _is_head(p: Parser, at: int) -> bool:
    """Return whether the label at a token starts a block: `^name:` or `^name(%a: T):`."""
    i, depth = at + 1, 0
    while p.texts[i] == "(" or (depth and p.texts[i]):
        depth += (p.texts[i] == "(") - (p.texts[i] == ")")
        i += 1
        if not depth:
            break
    return p.texts[i] == ":"


def _labels(p: Parser) -> dict[str, Block]:
    """Return the labelled blocks of the function, with their arguments; found on first use."""
    if p.labels:
        return p.labels
    here = p.i
    for at in _heads(p).at:
        p.i, label = at, p.texts[at]
        try:
            if label in p.labels:
                raise p.wrong("redefined-name", f"redefinition of block {label}", at)
            p.labels[label] = Block(label=label)
            p.labels[label].args = p.label()
        except PtoError as problem:
            p.note(problem)
            p.i = at + 1
            while p.texts[p.i] and not p.begins_line():
                p.i += 1
            p.guess(at, p.i)
    p.i = here
    return p.labels


def _head(p: Parser, block: Block) -> list[str]:
    """Step over the label of a block; return the comments before its first op."""
    at = p.i
    _, lines = p.gap(at)
    block.label = p.texts[at]
    p.i += 1
    if p.texts[p.i] == "(" and at > p.body + 1:  # the entry's arguments are the function's
        p.skip_balanced()
    p.expect(":")
    p.reached = p.i
    after, before = p.gap(p.i)
    block.comments = Comments(tuple(lines), after)
    return before


def read_branch(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op ^bb1(%a : T)` or `op %condition, ^bb1, ^bb2(%a, %b : T, U)`."""
    page = forms[0]
    op = Op(page, spans={"": p.span(at)})
    *chosen, _ = page.operands
    for operand in chosen:
        item = read_item(p)
        if item.value is None:
            raise p.wrong("syntax-error", f"the {operand.name} is a value", item.at)
        p.names.serve(item.value, operand)
        p.names.require(item.value, operand, item.at)
        op.operands[operand.name] = item.value
        op.spans[operand.name] = p.span(item.at)
        p.expect(",")
    first = p.i
    values = _successor(p, op)
    for _ in chosen:
        p.expect(",")
        values += _successor(p, op)
    return _passing(p, op, values, first)


def read_switch(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op %flag : i32, [default: ^bb1, 1: ^bb2(%a : T)]`."""
    op = Op(forms[0], spans={"": p.span(at)})
    *_, passed = op.page.operands
    flag = next(o for o in op.page.operands if o is not passed)
    item = read_item(p)
    p.expect(":")
    op.operands[flag.name] = value = typed(p, item, p.type(), p.i - 1)
    p.names.require(value, flag, item.at)
    op.spans[flag.name] = p.span(item.at)
    p.expect(",")
    first = p.i
    p.expect("[")
    p.expect("default")
    p.expect(":")
    values, cases = _successor(p, op), list[int]()
    while p.accept(","):
        number = numeral(p.texts[p.i])
        if not isinstance(number, int):
            p.fail("expected an integer, the case", first)
        p.i += 1
        p.expect(":")
        cases.append(number)
        values += _successor(p, op)
    p.expect("]", first)
    attr = op.page.attrs[0].name
    op.attrs[attr], op.spans[attr] = tuple(cases), p.span(first, p.i - 1)
    return _passing(p, op, values, first)


def _passing(p: Parser, op: Op, values: list[Value], first: int) -> Op:
    """Return a branch with the values for all its blocks, which are written from a token on."""
    passed = op.page.operands[-1].name
    if values:
        op.operands[passed], op.spans[passed] = tuple(values), p.span(first, p.i - 1)
    p.skip_location()
    return op


def _successor(p: Parser, op: Op) -> list[Value]:
    """Read `^bb1(%a, %b : T, U)` into the op's successors; return the values for the block."""
    at = p.i
    block = _named(p, op)
    items: list[Item] = []
    values: list[Value] = []
    if p.accept("("):
        items.append(read_item(p))
        while p.accept(","):
            items.append(read_item(p))
        for item in items:
            p.expect("," if values else ":")
            values.append(typed(p, item, p.type(), p.i - 1))
        p.expect(")", at + 1)
    _fits(p, block, values, at)
    return values


def _named(p: Parser, op: Op) -> Block:
    """Step over a label, add it to the op's successors, and return its block."""
    label = p.texts[p.i]
    if label[:1] != "^":
        p.fail("expected a label, ^name")
    blocks = _labels(p)
    if label not in blocks and p.names.scopes and not blocks:
        message = f"{op.name} cannot branch out of this region"
        raise p.wrong("syntax-error", message, p.token_of(op.span, p.i))
    if label not in blocks:
        help = did_you_mean(label, blocks)
        if label == p.texts[p.body + 1]:
            help = "add an entry block that branches there: the entry block has no predecessors"
        message = f"undefined block {label}"
        raise p.wrong("undefined-name", message, p.i, help=help)
    p.i += 1
    op.successors = (*op.successors, label)
    return blocks[label]


def _fits(p: Parser, block: Block, values: Sequence[Value], at: int) -> None:
    """Require as many values as the block has arguments, and of their types."""
    p.require_count(block.label, len(block.args), "value", len(values), at)
    for value, argument in zip(values, block.args, strict=True):
        p.names.agree(value, argument.type, at)


def with_successors(p: Parser, op: Op, opened: int) -> Op:
    """Read the labels `[^bb1, ^bb2]` of a branch in generic form; values must fit the blocks."""
    here, p.i = p.i, opened
    p.expect("[")
    blocks = [_named(p, op) for _ in p.elements("]", opened)]
    p.i = here
    passed = op.bound(op.page.lists[0])
    wanted = sum(len(block.args) for block in blocks)
    p.require_count(op.name, len(op.page.operands), "successor", len(blocks), opened)
    p.require_count(op.name, wanted, "operand", len(passed), opened)
    for block, values in sent(op, p.labels):
        _fits(p, block, values, opened)
    return op


def check_blocks(p: Parser, func: Func) -> None:
    """Require a terminator at the end of each block, and definitions that dominate their uses."""
    blocks = [func.body, *func.blocks]
    for block in blocks:
        for op in block.ops[:-1]:
            if isinstance(op, Op) and TERMINATOR in op.page.traits:
                raise error("syntax-error", f"{op.name} must end its block", op.span)
        if func.blocks and block.ops and isinstance(block.ops[-1], OpaqueOp):
            continue
        if func.blocks and block.terminator is None:
            at = block.ops[-1].span if block.ops else None
            message = f"{block.label or 'the first block'} must end with a branch or a return"
            raise error("syntax-error", message, at or _place(p, block))
    for op, name, value, home in undominated(func) if func.blocks else ():
        span = op.span_of(name) if isinstance(op, Op) else op.span
        where = home.label or "the first block"
        message = f"%{value.name} of {where} does not dominate this use"
        notes = (Note("defined here", value.span),)
        raise PtoError(Diagnostic("undefined-name", message, span, notes=notes))


def _place(p: Parser, block: Block) -> Span:
    """Return the place of a block's label."""
    return p.span(p.texts.index(block.label, p.body))

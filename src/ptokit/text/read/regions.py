"""Ops with regions: loops and branches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.diagnostics.printable import counted
from ptokit.ir.editing import renamed, trimmed
from ptokit.ir.module import Block, Comments, Op, OpaqueOp
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import OUTSIDE, TERMINATOR
from ptokit.isa.model.types import I64, INDEX, Type
from ptokit.text.read.attributes import Given, bind_attributes, dictionary, numeral, read_value
from ptokit.text.read.binding import UnknownOperandType
from ptokit.text.read.build import defined
from ptokit.text.read.callreader import Item, read_item, typed
from ptokit.text.read.names import Named
from ptokit.text.read.parser import Parser


def read_for(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op %i = %lo to %hi step %s iter_args(%x = %y) -> (T) { ... }`."""
    page = forms[0]
    *bounds, carried = page.operands
    op = Op(page, spans={"": p.span(at)})
    induction = _name(p)
    p.expect("=")
    items: list[Item] = []
    for operand, word in zip(bounds, ("to", "step", None), strict=True):
        items.append(read_item(p))
        op.spans[operand.name] = p.span(items[-1].at)
        if word:
            p.expect(word)
    names, firsts = _carried(p)
    types = _arrow_types(p)
    if types:
        p.require_types(len(firsts), len(types), p.i - 1, "iter_arg")
    kind: Type = INDEX
    if p.accept(":"):
        kind = p.type()
    for operand, item in zip(bounds, items, strict=True):
        op.operands[operand.name] = typed(p, item, kind, item.at)
        p.names.require(op.bound(operand.name)[0], operand, item.at)
    types = types or [(i.value.type if i.value else I64, i.at) for i in firsts]
    kinds = _begin(p, op, carried.name, firsts, types)
    args = [(induction, kind), *zip(names, kinds, strict=True)]
    op.regions = [p.region(args, op)]
    _check_yield(p, op.regions[0], kinds, at)
    return _defined(p, op, kinds, results)


def read_while(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op (%x = %y) : (T) -> U { ... } do { ^bb0(%z: U): ... }`."""
    page = forms[0]
    op = Op(page, spans={"": p.span(at)})
    names, firsts = _carried(p, "") if p.texts[p.i] == "(" else ([], [])
    p.expect(":")
    taken, given = p.types(), _arrow_types(p)
    p.require_types(len(firsts), len(taken), p.i - 1)
    kinds = _begin(p, op, page.operands[0].name, firsts, taken)
    passed = [kind for kind, _ in given]
    op.regions = [p.region([*zip(names, kinds, strict=True)], op)]
    _check_yield(p, op.regions[0], passed, at, conditional=True)
    p.expect("do")
    op.regions.append(p.region([], op))
    after = op.regions[1]
    if [v.type for v in after.args] != passed and not p.is_broken(after):
        message = "arguments of the region do not match the types given"
        raise p.wrong("operand-count", message, at)
    _check_yield(p, after, kinds, at)
    return _defined(p, op, passed, results)


def read_condition(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op(%more) %a, %b : T, U`."""
    page = forms[0]
    op = Op(page, spans={"": p.span(at)})
    p.expect("(")
    condition = read_item(p)
    if condition.value is None:
        raise p.wrong("syntax-error", "expected a condition of type i1", condition.at)
    p.names.serve(condition.value, page.operands[0])
    p.expect(")")
    op.operands[page.operands[0].name] = condition.value
    op.spans[page.operands[0].name] = p.span(condition.at)
    items: list[Item] = []
    while p.at_operand() if items else p.at_operand() and not p.begins_statement():
        items.append(read_item(p))
        if not p.accept(","):
            break
    kinds: list[tuple[Type, int]] = []
    for _ in items:
        p.expect("," if kinds else ":")
        kinds.append((p.type(), p.i - 1))
    _begin(p, op, page.operands[1].name, items, kinds)
    return op


def read_if(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op %condition -> (T) { ... } else { ... }`."""
    page = forms[0]
    op = Op(page, spans={"": p.span(at)})
    item = read_item(p)
    if item.value is None:
        raise p.wrong("syntax-error", "expected a condition of type i1", item.at)
    condition = page.operands[0]
    p.names.serve(item.value, condition)
    if not condition.accepts(item.value.type):
        message = f"condition: expected i1, got {item.value.type}"
        raise p.wrong("type-mismatch", message, item.at)
    op.operands[condition.name] = item.value
    op.spans[condition.name] = p.span(item.at)
    types = [kind for kind, _ in _arrow_types(p)]
    op.regions = [_bare(p, op, op)]
    after, lines = p.gap(p.i)
    if p.accept("else"):
        first = op.regions[0]
        first.trailing = trimmed([*first.trailing, *([after] if after else []), *lines])
        op.regions.append(_bare(p, op, op))
    elif types:
        p.fail("expected 'else': a branch with results needs both regions")
    for region in op.regions:
        _check_yield(p, region, types, at)
    return _defined(p, op, types, results)


def read_cases(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op %n -> T case 2 { ... } default { ... }`; the default's region is the last one."""
    page = forms[0]
    op = Op(page, spans={"": p.span(at)})
    item = read_item(p)
    given = dictionary(p) if p.texts[p.i] == "{" else []
    flag, attr = page.operands[0], page.attrs[0]
    op.operands[flag.name] = typed(p, item, INDEX, item.at)
    op.spans[flag.name] = p.span(item.at)
    types = [kind for kind, _ in _arrow_types(p)]
    cases: list[int] = []
    after, lines = p.gap(p.i)
    op.comments = Comments(after=after)
    while p.accept("case"):
        number = numeral(p.texts[p.i])
        if not isinstance(number, int):
            p.fail("expected an integer, the case")
        if number in cases:
            raise p.wrong("redefined-name", f"duplicate case {number}", p.i)
        op.spans.setdefault(attr.name, p.span(p.i))
        cases.append(number)
        p.i += 1
        op.regions.append(_bare(p, op, remarks=lines))
        after, lines = p.gap(p.i)
        lines = [*([after] if after else []), *lines]
    p.expect("default")
    op.regions.append(_bare(p, op, remarks=lines))
    for region in op.regions:
        _check_yield(p, region, types, at)
    bind_attributes(p, op, given)
    op.attrs[attr.name] = tuple(cases)
    return _defined(p, op, types, results)


def read_executed(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op -> (T) { ... }` or `op no_inline { ... }`."""
    page = forms[0]
    op = Op(page, spans={"": p.span(at)})
    types = [kind for kind, _ in _arrow_types(p)]
    for attr in page.attrs:
        if p.accept(attr.key):
            op.attrs[attr.name] = True
    op.regions = [_bare(p, op, op)]
    _check_yield(p, op.regions[0], types, at)
    return _defined(p, op, types, results)


def read_section(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op<<<1, 2, 3>>> { ... } {attributes} : T, U`, where numbers and results are optional.

    If values stand for the numbers, their types precede those of the results.
    """
    page = forms[0]
    op = Op(page, spans={"": p.span(at)})
    if p.texts[p.i] == "(":
        op.regions = [_isolated(p, op, at)]
        return _defined(p, op, [], results)
    given = _launch(p, page) if p.texts[p.i] == "<" else []
    counted = len(given) if any(p.texts[g.at][:1] == "%" for g in given) else 0
    op.regions = [_bare(p, op, op)]
    if p.texts[p.i] == "{":
        given += dictionary(p)
    bind_attributes(p, op, given)
    kinds = [kind for kind, _ in p.listed_types()] if p.accept(":") else []
    kinds = kinds[counted:]
    _check_yield(p, op.regions[0], kinds, at)
    return _defined(p, op, kinds, results)


def _isolated(p: Parser, op: Op, at: int) -> Block:
    """Read `(%a, %b) { ^bb0(%x: T, %y: U): ... } : (T, U) -> ()`, where the region sees %x and %y.

    They are the values of %a and %b, so the region is one that sees these.
    """
    opened = p.i
    p.expect("(")
    items = [read_item(p) for _ in p.elements(")", opened)]
    with p.names.isolated():
        region = p.region([], op)
    p.expect(":")
    kinds = p.types()
    p.expect("->")
    p.types()
    if not p.is_broken(region) and len(region.args) != len(items):
        message = f"{counted(len(items), 'operand')}, but the region takes {len(region.args)}"
        raise p.wrong("operand-count", message, at)
    values = [typed(p, i, kind, i.at) for i, (kind, _) in zip(items, kinds, strict=False)]
    for inner, item in zip(region.args, items, strict=False):
        typed(p, item, inner.type, item.at)
    now = dict(zip(region.args, values, strict=False))
    if any(isinstance(inner, OpaqueOp) for inner in region.walk()):
        raise UnknownOperandType  # its text has the names of the region
    return replace(region, args=[], ops=[renamed(inner, now) for inner in region.ops], label="")


def _launch(p: Parser, page: type[Instr]) -> list[Given]:
    """Read `<<<1, 2, 3>>>`: the page's required numbers in order, or constants."""
    given: list[Given] = []
    for _ in range(3):
        p.expect("<")
    for number, attr in enumerate(a for a in page.attrs if a.required):
        p.expect(",") if number else None
        at = p.i
        value = read_item(p).value if p.texts[at][:1] == "%" else None
        extent = read_value(p) if value is None else p.names.constants.get(value, value)
        if not isinstance(extent, int):
            raise _no_extent(p, page, attr.key, at)
        given.append(Given(attr.key, at, extent, at, at))
    for _ in range(3):
        p.expect(">")
    return given


def _no_extent(p: Parser, page: type[Instr], key: str, at: int) -> PtoError:
    """Return the error about an extent of a launch that is not known statically."""
    message = f"{page.mnemonic()}: {key} is not known statically"
    found = p.wrong("syntax-error", message, at, "write a number, or the name of a constant")
    rule = f"{key} is a thread count: an integer, or the name of a constant of this function"
    told = replace(found.diagnostics[0], rule=rule, seen=f"{key} is {p.texts[at]}")
    return PtoError(told)


def _name(p: Parser) -> Named:
    text = p.texts[p.i]
    if text[:1] != "%" or len(text) == 1:
        p.fail("expected a name")
    p.i += 1
    return text[1:], p.i - 1


def _carried(p: Parser, word: str = "iter_args") -> tuple[list[Named], list[Item]]:
    """Read `iter_args(%x = %y, ...)`: names and first values."""
    names: list[Named] = []
    firsts: list[Item] = []
    if not word or p.accept(word):
        opened = p.i
        p.expect("(")
        for _ in p.elements(")", opened):
            names.append(_name(p))
            p.expect("=")
            firsts.append(read_item(p))
    return names, firsts


def _bare(p: Parser, op: Op, remarked: Op | None = None, remarks: Sequence[str] = ()) -> Block:
    """Read a region without arguments; `remarked` gets the comment after its brace."""
    at = p.i + 1
    region = p.region([], remarked, remarks)
    if region.args:
        message = f"region of {op.name}: expected no arguments, got {len(region.args)}"
        raise p.wrong("operand-count", message, at, "remove the label")
    return region


def _begin(
    p: Parser, op: Op, name: str, items: list[Item], types: list[tuple[Type, int]]
) -> list[Type]:
    """Bind items with written types to the op's list operand; return the types."""
    values = [typed(p, i, kind, at) for i, (kind, at) in zip(items, types, strict=True)]
    if values:
        op.operands[name] = tuple(values)
        op.spans[name] = p.span(items[0].at, items[-1].at)
    return [v.type for v in values]


def _arrow_types(p: Parser) -> list[tuple[Type, int]]:
    """Read `-> (T, U)`, or nothing."""
    return p.types() if p.accept("->") else []


def _check_yield(
    p: Parser, block: Block, kinds: list[Type], at: int, *, conditional: bool = False
) -> None:
    """Require that the region yields values of these types at each of its ends."""
    for end in (block, *block.following):
        if not p.is_broken(end) and not (end.terminator and end.terminator.successors):
            _check_end(p, end, kinds, at, conditional)


def check_regions(p: Parser, op: Op, at: int) -> None:
    """Check the regions of an op in generic form: their number, arguments and results."""
    routes = [(s, t) for s, t in op.page.routes if s != OUTSIDE]
    needed = 1 + max((s for s, _ in routes), default=-1)
    optional = needed > 1 and not op.results and all(t == OUTSIDE for _, t in routes)
    if routes and len(op.regions) not in (needed, needed - optional):
        message = f"{op.name}: expected {counted(needed, 'region')}, got {len(op.regions)}"
        raise p.wrong("operand-count", message, at)
    results = [v.type for v in op.results]
    for source, target in routes:
        if source < len(op.regions):
            region = op.regions[source]
            ways = {t for s, t in routes if s == source}
            inside = target != OUTSIDE and [v.type for v in op.regions[target].args]
            kinds = results if inside is False else inside[1:] if source == target else inside
            conditional = OUTSIDE in ways and bool(ways - {OUTSIDE, source})
            _check_yield(p, region, kinds, at, conditional=conditional)
    for source, target in op.page.routes:
        if source == OUTSIDE != target and target < len(op.regions):
            lists = op.page.lists
            kinds = [v.type for v in op.bound(lists[0])] if lists else []
            taken = [v.type for v in op.regions[target].args]
            own = len(taken) - len(kinds)
            if taken[own:] != kinds or own > bool(lists):
                given = counted(len(kinds), "value")
                message = f"{op.name}: {given}, but its region takes {len(taken)}"
                raise p.wrong("operand-count", message, at)


def cases_in_text_order(p: Parser, op: Op, at: int) -> None:
    """Move the default's region from the start, its place in generic form, to the end."""
    cases = cast("tuple[int, ...]", op.attrs.setdefault(op.page.attrs[0].name, ()))
    if len(op.regions) != len(cases) + 1 or len(cases) != len({*cases}):
        regions = counted(len(op.regions), "region")
        message = f"{op.name}: {counted(len(cases), 'case')}, but {regions}"
        raise p.wrong("operand-count", message, at)
    op.regions = [*op.regions[1:], op.regions[0]]
    for region in op.regions:
        _check_yield(p, region, [v.type for v in op.results], at)


def _check_end(p: Parser, block: Block, kinds: list[Type], at: int, conditional: bool) -> None:
    """Check one block with which the region ends."""
    last = block.ops[-1] if block.ops else None
    if not isinstance(last, Op) or TERMINATOR not in last.page.traits:
        if not kinds and not conditional:
            return
        message = f"the region must yield {counted(len(kinds), 'value')}"
        raise p.wrong("operand-count", message, p.i - 1)
    if (len(block.outcome) > len(block.passed)) is not conditional:
        message = f"{last.name} cannot end this region"
        raise PtoError(Diagnostic("syntax-error", message, last.span))
    values = block.passed
    if len(values) != len(kinds):
        message = f"{last.name}: expected {counted(len(kinds), 'operand')}, got {len(values)}"
        raise PtoError(Diagnostic("operand-count", message, last.span))
    token = p.token_of(last.span, at)
    for value, kind in zip(values, kinds, strict=True):
        p.names.agree(value, kind, token)


def _defined(p: Parser, op: Op, kinds: list[Type], results: list[Named]) -> Op:
    """Return the op with its results, and with attributes after the last region."""
    if p.texts[p.i] == "{":
        before = op.attrs
        bind_attributes(p, op, dictionary(p))
        op.attrs = before | op.attrs
    op.results = defined(p, op.page, kinds, results)
    return op

"""Random programs of every page, for the law of text: what prints reads back.

Operands, attributes and shape come from the page, so a new instruction takes part by itself. A
page of a new shape in text (`asm.shape`) needs an entry in MAKERS. The programs are not legal for
any target; reading and printing do not care.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from randomtypes import SCALARS, TYPES, attribute, some_type, stated

from ptokit.diagnostics.source import Source, Span
from ptokit.ir.module import AnyOp, Binding, Block, Comments, Func, Module, Op, OpaqueOp, Value
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr, Operand, Role
from ptokit.isa.lang.traits import TERMINATOR
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.types import I1, INDEX, Elided, Kind, ScalarType, Type
from ptokit.text.types.typereader import type_named

NUMBERS = (*SCALARS[1:3], INDEX, ScalarType("f32"))
NOWHERE = Span(Source("random", ""), 0, 0)
DEEPEST = 2
# registers do not convert between forms: tests/text has the programs of pages below tiles
STATEMENTS = [p for p in pages() if TERMINATOR not in p.traits and not p.below]
SYMBOLS = (
    "f",
    "g.h",
    "f b",
    "1x",
    'q"t',
    "a-b",
    "\u00e9",
    "back\\",
    "\r\n\x7f",
    "() { return } @g",
)
STRINGS = ("a  b", 'say "x"', "back\\0A", "\n\t\r\0\x1b", "\u00e9\u202e", "// no remark", "@x")
REMARKS = ("", "// one", "# two", "// !a %b {", "// [<PIPE_V>]")


@dataclass
class Scope:
    """The values that a statement may use, and the program's choices."""

    random: Random
    form: str
    values: list[Value] = field(default_factory=list[Value])
    args: list[Value] = field(default_factory=list[Value])
    count: list[int] = field(default_factory=lambda: [0])
    depth: int = 0

    def chance(self, percent: int) -> bool:
        return self.random.random() * 100 < percent

    def new(self, kind: Type) -> Value:
        self.count[0] += 1
        return Value(f"v{self.count[0]}", kind)

    def argument(self, kind: Type) -> Value:
        value = self.new(kind)
        self.args.append(value)
        self.values.append(value)
        return value

    def use(self, operand: Operand) -> Value:
        """A value that `operand` may be; now and then, or if there is none, a new argument.

        Where the page fixes the type of a number, text without a head does not say another one.
        """
        if kind := stated(operand):
            return self.of(kind)
        fit = [v for v in self.values if operand.accepts(v.type)]
        if fit and self.chance(75):
            return self.random.choice(fit)
        kind = some_type(self.random, operand.kind)
        return self.argument(kind if operand.accepts(kind) else INDEX)

    def number(self, *operands: Operand) -> ScalarType:
        """A type of numbers that all of these operands may have."""
        return self.random.choice([n for n in NUMBERS if all(o.accepts(n) for o in operands)])

    def of(self, kind: Type) -> Value:
        """A value of exactly this type."""
        fit = [v for v in self.values if v.type == kind]
        return self.random.choice(fit) if fit and self.chance(75) else self.argument(kind)

    def results(self, kinds: list[Type]) -> list[Value]:
        made = [self.new(kind) for kind in kinds]
        self.values += made
        return made

    def inner(self) -> Scope:
        """The scope of a region."""
        return Scope(self.random, self.form, [*self.values], self.args, self.count, self.depth + 1)


def attributes(scope: Scope, page: type[Instr], bare: bool = False) -> dict[str, object]:
    given = {a.name: attribute(scope.random, a, bare) for a in page.attrs}
    return {
        a.name: given[a.name]
        for a in page.attrs
        if a.required or (scope.chance(50) and given[a.name] != a.default)
    }


# --- statements, by the shape of a page in text ---


def operation(scope: Scope, page: type[Instr]) -> Op:
    """An instruction: what is positional is given only where all before it is."""
    op = Op(page, attrs=attributes(scope, page))
    given = True
    for operand in page.ins():
        if operand.many:
            values = tuple(scope.use(operand) for _ in range(scope.random.randint(1, 3)))
            op.operands[operand.name] = values
        elif operand.required or page.asm.brackets:
            op.operands[operand.name] = scope.use(operand)
        elif operand.key:
            if scope.chance(50):
                op.operands[operand.name] = scope.use(operand)
        else:
            given = given and scope.chance(50)
            if given:
                op.operands[operand.name] = scope.use(operand)
    for operand in page.outs():
        if scope.form == "dps" or not operand.fresh or operand.role is Role.INOUT:
            op.operands[operand.name] = scope.use(operand)
    fresh = [o for o in page.outs() if scope.form != "dps" and o.fresh]
    kinds = [stated(o) or some_type(scope.random, o.kind) for o in (*page.results(), *fresh)]
    op.results = scope.results(kinds)
    return op


def on_registers(scope: Scope, page: type[Instr]) -> Op:
    """An instruction below tiles: its results are results in every form.

    A function with registers keeps the form of its tiles, so only text in DPS form has them.
    """
    if scope.form != "dps":
        return constant(scope, next(p for p in STATEMENTS if p.asm.shape == "constant"))
    op = Op(page, attrs=attributes(scope, page))
    fresh = [o for o in page.outs() if o.fresh]
    for operand in (*page.ins(), *(o for o in page.outs() if not o.fresh)):
        if operand.required:
            op.operands[operand.name] = scope.of(written_out(scope, operand.kind))
    op.results = scope.results([written_out(scope, o.kind) for o in (*page.results(), *fresh)])
    return op


def written_out(scope: Scope, kind: Kind) -> Type:
    """A type that says all: lowered text leaves none out."""
    while isinstance(made := some_type(scope.random, kind), Elided):
        pass
    return made


def memref_part(scope: Scope, page: type[Instr]) -> Op:
    """A part with as many offsets, sizes and steps as it has dimensions, or a cast without any."""
    source, *lists = page.ins()
    kind = written_out(scope, page.results()[0].kind)
    rank = kind.rank if isinstance(kind, GlobalType) else 2
    operands: dict[str, Binding] = {source.name: scope.of(written_out(scope, source.kind))}
    operands |= {o.name: tuple(scope.use(o) for _ in range(rank)) for o in lists}
    return Op(page, operands, attributes(scope, page), scope.results([kind]))


def same(scope: Scope, page: type[Instr]) -> Op:
    kind = scope.number(*page.ins())
    operands: dict[str, Binding] = {o.name: scope.of(kind) for o in page.ins()}
    return Op(page, operands, attributes(scope, page), scope.results([kind]))


def in_full(scope: Scope, page: type[Instr]) -> Op:
    """Two numbers of one type: a result of that type, and one of it or of its own."""
    op = same(scope, page)
    op.results += scope.results([stated(o) or op.results[0].type for o in page.results()[1:]])
    return op


def constant(scope: Scope, page: type[Instr]) -> Op:
    if not page.attrs:
        return Op(page, results=scope.results([type_named("vector<4xi16>")]))
    if page.attrs[0].kind is tuple:
        given: dict[str, object] = {page.attrs[0].name: (0.5, float(scope.random.randint(-9, 9)))}
        return Op(page, attrs=given, results=scope.results([type_named("vector<2xf16>")]))
    kind = scope.random.choice(NUMBERS)
    number = scope.random.choice((0, 1, -1, 2**31 - 1, -(2**31)))
    floats = (float(number), 0.1, -0.0, 1e30, float("inf"), float("nan"))
    value = scope.random.choice(floats) if kind.is_float else number
    return Op(page, attrs={page.attrs[0].name: value}, results=scope.results([kind]))


def compare(scope: Scope, page: type[Instr]) -> Op:
    kind = scope.number(*page.ins())
    operands: dict[str, Binding] = {o.name: scope.of(kind) for o in page.ins()}
    attr = page.attrs[0]
    word = attribute(scope.random, attr, bare=True)
    given = {} if word == attr.default else {attr.name: word}
    return Op(page, operands, given, scope.results([I1]))


def select(scope: Scope, page: type[Instr]) -> Op:
    first, *others = page.ins()
    kind = scope.number(*others)
    operands: dict[str, Binding] = {first.name: scope.of(I1)}
    operands |= {o.name: scope.of(kind) for o in others}
    return Op(page, operands, results=scope.results([kind]))


def cast(scope: Scope, page: type[Instr]) -> Op:
    operands: dict[str, Binding] = {o.name: scope.of(scope.number(o)) for o in page.ins()}
    return Op(page, operands, results=scope.results([scope.random.choice(NUMBERS)]))


def moved(scope: Scope, page: type[Instr]) -> Op:
    pointer, by = page.ins()
    given = scope.use(pointer)
    operands: dict[str, Binding] = {pointer.name: given, by.name: scope.of(INDEX)}
    return Op(page, operands, results=scope.results([given.type]))


def declared(scope: Scope, page: type[Instr]) -> Op:
    kinds = [some_type(scope.random, o.kind) for o in page.results()]
    return Op(page, results=scope.results(kinds))


def element(scope: Scope, page: type[Instr]) -> Op:
    """An element of a tile or an array: its index is an `index`."""
    whole = [scope.of(INDEX) if o.kind is Kind.INDEX else scope.use(o) for o in ends(page)]
    vectors = [getattr(v.type, "written", "").startswith("vector") for v in whole]  # no memory
    whole = [
        scope.of(some_type(scope.random, o.kind)) if vector else v
        for o, v, vector in zip(ends(page), whole, vectors, strict=True)
    ]
    given = zip(ends(page), whole, strict=True)
    operands: dict[str, Binding] = {
        o.name: (v, *(scope.of(INDEX) for _ in range(scope.random.randint(0, 2)))) if o.many else v
        for o, v in given
    }
    kinds = [
        scope.random.choice(NUMBERS) if o.kind is Kind.SCALAR else some_type(scope.random, o.kind)
        for o in page.results()
    ]
    return Op(page, operands, results=scope.results(kinds))


def ends(page: type[Instr]) -> tuple[Operand, ...]:
    return (*page.ins(), *page.outs())


def field_of(scope: Scope, page: type[Instr]) -> Op:
    """A number of a struct, and the number itself where it is put there."""
    operands: dict[str, Binding] = {o.name: scope.use(o) for o in ends(page)}
    kinds: list[Type] = [scope.random.choice(NUMBERS) for _ in page.results()]
    return Op(page, operands, attributes(scope, page), scope.results(kinds))


def maintained(scope: Scope, page: type[Instr]) -> Op:
    kinds = {o.name: scope.of(INDEX) if o.kind is Kind.INDEX else scope.use(o) for o in page.ins()}
    operands: dict[str, Binding] = {**kinds}
    return Op(page, operands, attributes(scope, page, bare=True))


def words(scope: Scope, page: type[Instr]) -> Op:
    """Flags, events and barriers: all words, and perhaps an operand."""
    operands: dict[str, Binding] = {o.name: scope.use(o) for o in page.ins()}
    return Op(page, operands, attributes(scope, page, bare=True))


def loop(scope: Scope, page: type[Instr]) -> Op:
    *bounds, carried = page.ins()
    op = Op(page, {o.name: scope.of(INDEX) for o in bounds})
    inits = [v for v in scope.values if scope.chance(10)][:2]
    inner = scope.inner()
    args = [inner.new(INDEX), *(inner.new(v.type) for v in inits)]
    inner.values += args
    if inits:
        op.operands[carried.name] = tuple(inits)
    kinds = [v.type for v in inits]
    op.regions = [region(inner, page, args, kinds)]
    op.results = scope.results(kinds)
    return op


def branch(scope: Scope, page: type[Instr]) -> Op:
    op = Op(page, {page.ins()[0].name: scope.of(I1)})
    kinds = [v.type for v in scope.values if scope.chance(8)][:2]
    sides = 2 if kinds else scope.random.randint(1, 2)
    op.regions = [region(scope.inner(), page, [], kinds) for _ in range(sides)]
    op.results = scope.results(kinds)
    return op


def cases(scope: Scope, page: type[Instr]) -> Op:
    """A region for each of some numbers, and one more."""
    numbers = tuple(scope.random.sample(range(-4, 9), scope.random.randint(0, 3)))
    op = Op(page, {page.ins()[0].name: scope.of(INDEX)}, {page.attrs[0].name: numbers})
    kinds = [v.type for v in scope.values if scope.chance(8)][:2]
    op.regions = [region(scope.inner(), page, [], kinds) for _ in (*numbers, "default")]
    op.results = scope.results(kinds)
    return op


def section(scope: Scope, page: type[Instr]) -> Op:
    """One region, which gives values only where its dialect ends regions so."""
    kinds = [v.type for v in scope.values if scope.chance(8)][:2]
    kinds = [] if page.core else kinds
    op = Op(page, attrs=attributes(scope, page))
    op.regions = [region(scope.inner(), page, [], kinds)]
    op.results = scope.results(kinds)
    return op


def repetition(scope: Scope, page: type[Instr]) -> Op:
    """A region that ends with a condition, and one that yields what the first begins with."""
    (carried,) = page.ins()
    inits = tuple(v for v in scope.values if scope.chance(10))[:2]
    op = Op(page, {carried.name: inits} if inits else {})
    first, second = scope.inner(), scope.inner()
    args = [first.new(v.type) for v in inits]
    first.values += args
    passed = [v.type for v in first.values if scope.chance(10)][:2]
    before = Block(args, statements(first, scope.random.randint(0, 2)), remarks(first))
    end = terminator(page.asm.dialect, "condition")
    condition, values = end.ins()
    given = {values.name: tuple(first.of(k) for k in passed)} if passed else {}
    before.ops.append(Op(end, {condition.name: first.of(I1), **given}))
    made = [second.new(k) for k in passed]
    second.values += made
    op.regions = [before, region(second, page, made, [v.type for v in inits])]
    op.results = scope.results(passed)
    return op


def call(scope: Scope, page: type[Instr]) -> Op:
    """Of a function that may be elsewhere; threads that run it are so many."""
    *numbers, passed = page.ins()
    operands: dict[str, Binding] = {n.name: (scope.of(ScalarType("i32")),) for n in numbers}
    given = tuple(v for v in scope.values if scope.chance(10))[:2]
    operands |= {passed.name: given} if given else {}
    kinds: list[Type] = [scope.random.choice(NUMBERS) for _ in range(scope.random.randint(0, 2))]
    return Op(
        page, operands, {page.attrs[0].name: scope.random.choice(SYMBOLS)}, scope.results(kinds)
    )


def terminator(dialect: str, shape: str) -> type[Instr]:
    ends = (p for p in pages() if TERMINATOR in p.traits and p.asm.dialect == dialect)
    return next(p for p in ends if p.asm.shape == shape)


def region(scope: Scope, page: type[Instr], args: list[Value], kinds: list[Type]) -> Block:
    """A region of an op of `page` that gives values of these types."""
    block = Block(args, statements(scope, scope.random.randint(0, 3)), remarks(scope))
    if kinds:
        end = terminator(page.asm.dialect, "yield")
        block.ops.append(Op(end, {end.ins()[0].name: tuple(scope.of(k) for k in kinds)}))
    if not block.ops:
        block.trailing = tuple(line for line in block.trailing if line)
    return block


MAKERS: dict[str, Callable[[Scope, type[Instr]], Op]] = {
    "op": operation,
    "lanes": on_registers,
    "window": operation,
    "part": operation,
    "bound": operation,
    "called": operation,
    "configured": operation,
    "worded": operation,
    "same": same,
    "in_full": in_full,
    "constant": constant,
    "compare": compare,
    "select": select,
    "cast": cast,
    "moved": moved,
    "declared": declared,
    "element": element,
    "tile_element": element,
    "for": loop,
    "if": branch,
    "cases": cases,
    "while": repetition,
    "section": section,
    "executed": section,
    "asserted": operation,
    "call": call,
    "addressed": operation,
    "recast": operation,
    "memref_part": memref_part,
    "memref_cast": memref_part,
    "field": field_of,
    "printed": operation,
    "maintained": maintained,
    "bracketed": words,
    "angled": words,
    "yield": lambda _, page: Op(page),  # the regions above end with one
    "condition": lambda _, page: Op(page),
    "switch": lambda _, page: Op(page),
    "branch": lambda _, page: Op(page),  # graphs of blocks: tests/passes/test_structure.py
}


def unknown(scope: Scope) -> OpaqueOp:
    """An op that nobody knows."""
    op = OpaqueOp("foo.bar", "foo.bar {x = 1}", [], [], NOWHERE)
    if scope.values and scope.chance(50):
        value = scope.random.choice(scope.values)
        op.text, op.uses = f"foo.bar[%{value.name}, 4] : f16", [value]
    return op


def remarks(scope: Scope) -> tuple[str, ...]:
    """Comments on lines of their own, never two blank lines together, none at the end."""
    lines = [scope.random.choice(REMARKS) for _ in range(scope.random.choice((0, 0, 0, 1, 2)))]
    kept = [x for i, x in enumerate(lines) if x or (i and lines[i - 1])]
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def commented(scope: Scope, op: AnyOp, first: bool) -> AnyOp:
    blank = ("",) if not first and scope.chance(20) else ()
    after = scope.random.choice(("// after", "# after")) if scope.chance(15) else None
    op.comments = Comments((*blank, *(x for x in remarks(scope) if x)), after)
    return op


def statements(
    scope: Scope, count: int, pages_first: list[type[Instr]] | None = None
) -> list[AnyOp]:
    """Some statements; those of `pages_first` among them."""
    ops: list[AnyOp] = []
    wanted = [*(pages_first or ())]
    while len(ops) < count or wanted:
        page = wanted.pop() if wanted else scope.random.choice(STATEMENTS)
        if MAKERS[page.asm.shape] in (loop, branch, repetition) and scope.depth >= DEEPEST:
            page = STATEMENTS[0]
        op: AnyOp = (
            unknown(scope)
            if scope.chance(4) and not wanted
            else MAKERS[page.asm.shape](scope, page)
        )
        ops.append(commented(scope, op, not ops))
    return ops


# --- programs ---


def function(scope: Scope, name: str, pages_first: list[type[Instr]]) -> Func:
    body = statements(scope, scope.random.randint(2, 6), pages_first)
    given = [
        scope.random.choice(scope.values) for _ in range(2) if scope.values and scope.chance(20)
    ]
    end = terminator("func", "yield")
    last = Op(end, {end.ins()[0].name: tuple(given)} if given else {})
    attrs: dict[str, object] = {"pto.entry": True} if scope.chance(30) else {}
    if scope.chance(30):
        attrs[scope.random.choice(SYMBOLS)] = scope.random.choice(STRINGS)
    func = Func(name, Block(scope.args, [*body, last]), tuple(v.type for v in given), attrs)
    func.comments = Comments((), "// body" if scope.chance(20) else None)
    if scope.args and scope.chance(20):
        func.arg_attrs[0] = {"pto.hint": 5}
    if given and scope.chance(20):
        func.res_attrs[len(given) - 1] = {"pto.hint": 6}
    return func


def declaration(random: Random, name: str) -> Func:
    kinds = [some_type(random, random.choice(list(TYPES))) for _ in range(random.randint(0, 3))]
    args = [Value(f"arg{i}", kind) for i, kind in enumerate(kinds)]
    results = tuple(INDEX for _ in range(random.randint(0, 2)))
    return Func(name, Block(args), results, visibility="private", declared=True)


def module(seed: int, form: str, pages_first: list[type[Instr]]) -> Module:
    """The program of a seed: flat, or functions; with statements of the given pages."""
    random = Random(f"{form} {seed}")
    if random.random() < 0.15:
        scope = Scope(random, form)
        body = statements(scope, random.randint(2, 6), pages_first)
        return Module([Func("main", Block(scope.args, body), flat=True)], wrapped=False)
    names = random.sample(SYMBOLS, 3)
    funcs = [function(Scope(random, form), names[0], pages_first)]
    if random.random() < 0.3:
        funcs.append(declaration(random, names[1]))
    if random.random() < 0.3:
        funcs.append(function(Scope(random, form), names[2], []))
    attrs: dict[str, object] = {"pto.target_arch": "a5"} if random.random() < 0.5 else {}
    return Module(funcs, attrs, name=random.choice(("", "", *SYMBOLS)))

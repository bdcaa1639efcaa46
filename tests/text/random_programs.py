"""Random programs: any instruction of any page, with operands, types and attributes that fit.

They are not legal for any target; reading and printing do not care.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from ptokit.ir import STORED, Block, Comments, Func, Module, Op, OpaqueOp, Value
from ptokit.isa import pages
from ptokit.isa.dtypes import DTYPES
from ptokit.isa.lang import Attr, Instr, Operand, Role
from ptokit.isa.layouts import Layout
from ptokit.isa.tiles import ConvTileType, CustomPad, GlobalType, tile_type
from ptokit.isa.types import I1, INDEX, Kind, PtrType, ScalarType, Type
from ptokit.isa.words import CompactMode, ConvLayout, Loc, PadValue, Word

INSTRUCTIONS = [p for p in pages() if p.syntax == "op" and not p.allocates]
CONSTANT = next(p for p in pages() if p.syntax == "constant")
ALLOCATION = next(p for p in pages() if p.allocates)
LOOP = next(p for p in pages() if p.syntax == "for")
BRANCH = next(p for p in pages() if p.syntax == "if")
YIELD = next(p for p in pages() if p.terminator and p.dialect == LOOP.dialect)

dtypes = st.sampled_from(DTYPES)
sizes = st.integers(1, 512)
valid = st.none() | st.integers(1, 64)
pads = st.sampled_from(list(PadValue)) | st.builds(CustomPad, st.integers(0, 2**32 - 1))
tiles = st.builds(
    tile_type,
    st.sampled_from(list(Loc)),
    dtypes,
    sizes,
    sizes,
    layout=st.sampled_from(list(Layout)),
    valid=st.none() | st.tuples(valid, valid),
    fractal=st.sampled_from([512, 1024, 32]),
    pad=pads,
    compact=st.sampled_from(list(CompactMode)),
)
views = st.builds(
    GlobalType,
    dtypes,
    st.lists(st.none() | sizes, min_size=1, max_size=5).map(tuple),
    partition=st.booleans(),
)
convs = st.builds(
    ConvTileType,
    dtypes,
    st.lists(sizes, min_size=4, max_size=5).map(tuple),
    st.sampled_from(list(ConvLayout)),
)
scalars = st.sampled_from([ScalarType(n) for n in ("i16", "i32", "i64", "u64", "f32")])
TYPES: dict[Kind, st.SearchStrategy[Type]] = {
    Kind.TILE: tiles,
    Kind.GLOBAL: views,
    Kind.CONV: convs,
    Kind.PTR: st.builds(PtrType, dtypes),
    Kind.INDEX: st.just(INDEX),
    Kind.SCALAR: scalars,
    Kind.ANY: scalars,
}
remarks = st.lists(st.sampled_from(["", "// one", "# two", "// !a %b {"]), max_size=2)


@st.composite
def comments(draw: st.DrawFn) -> Comments:
    lines = draw(remarks)
    lines = [x for i, x in enumerate(lines) if x or (i and lines[i - 1])]  # one blank line at most
    return Comments(tuple(lines), draw(st.sampled_from([None, None, "// after", "# after"])))


@dataclass
class Scope:
    """The values that an op may use."""

    draw: st.DrawFn
    form: str
    values: list[Value]
    args: list[Value]
    count: list[int] = field(default_factory=lambda: [0])

    def new(self, kind: Type) -> Value:
        self.count[0] += 1
        return Value(f"v{self.count[0]}", kind)

    def use(self, operand: Operand) -> Value:
        """A value that `operand` may be; a new argument if there is none."""
        fit = [v for v in self.values if operand.kind.accepts(v.type)]
        if fit and self.draw(st.integers(0, 3)):
            return self.draw(st.sampled_from(fit))
        return self.argument(self.draw(TYPES[operand.kind]))

    def argument(self, kind: Type) -> Value:
        value = self.new(kind)
        self.args.append(value)
        self.values.append(value)
        return value

    def inner(self) -> Scope:
        return Scope(self.draw, self.form, [*self.values], self.args, self.count)


def _attributes(scope: Scope, page: type[Instr]) -> dict[str, object]:
    found: dict[str, object] = {}
    for attr in page.attrs:
        value = scope.draw(_values(attr))
        if value is not None and value != attr.default:
            found[attr.name] = value
    return found


def _values(attr: Attr) -> st.SearchStrategy[object]:
    if issubclass(attr.kind, Word):
        return st.sampled_from([None, *attr.kind])
    return {
        int: st.none() | st.integers(-9, 9),
        bool: st.none() | st.booleans(),
        str: st.none() | st.text(alphabet='ab\\"\n ', max_size=4),
    }[attr.kind]


def _instruction(scope: Scope) -> Op:
    page = scope.draw(st.sampled_from(INSTRUCTIONS))
    op = Op(page, attrs=_attributes(scope, page), comments=scope.draw(comments()))
    given = True  # an optional operand is given only if those before it are
    for operand in page.ins():
        if operand.many:
            op.operands[operand.name] = tuple(scope.use(operand) for _ in range(2))
        elif operand.required or operand.key:
            if operand.required or scope.draw(st.booleans()):
                op.operands[operand.name] = scope.use(operand)
        else:
            given = given and (page.indexed or scope.draw(st.booleans()))
            if given or page.indexed:
                op.operands[operand.name] = scope.use(operand)
    for operand in page.outs():
        if scope.form == "dps" or operand.kind not in STORED or operand.role is Role.INOUT:
            op.operands[operand.name] = scope.use(operand)
    defined = [o for o in page.outs() if scope.form != "dps" and o.kind in STORED]
    op.results = [scope.new(scope.draw(TYPES[o.kind])) for o in (*page.results(), *defined)]
    scope.values += op.results
    return op


def _constant(scope: Scope) -> Op:
    kind = scope.draw(st.sampled_from([INDEX, ScalarType("i32"), ScalarType("f32")]))
    floats = st.floats(width=32, allow_nan=False)
    number = scope.draw(floats if kind.is_float else st.integers(-(2**31), 2**31))
    op = Op(CONSTANT, attrs={"value": number})
    op.results = [scope.new(kind)]
    scope.values += op.results
    return op


def _alloc(scope: Scope) -> Op:
    op = Op(ALLOCATION, results=[scope.new(scope.draw(tiles))], comments=scope.draw(comments()))
    for operand in ALLOCATION.ins():
        if scope.draw(st.booleans()):
            op.operands[operand.name] = scope.use(operand)
    scope.values += op.results
    return op


def _unknown(scope: Scope) -> OpaqueOp:
    op = OpaqueOp("foo.bar", "foo.bar {x = 1}", [], [], None)  # type: ignore[arg-type]  # no text
    if scope.values and scope.draw(st.booleans()):
        value = scope.draw(st.sampled_from(scope.values))
        op.text, op.uses = f"foo.bar %{value.name} : f16 [", [value]
        op.text = op.text.removesuffix(" [")
    return op


def _loop(scope: Scope, depth: int) -> Op:
    low, high, step = (scope.argument(INDEX) for _ in range(3))
    op = Op(LOOP, {"lower": low, "upper": high, "step": step}, comments=scope.draw(comments()))
    inits = [v for v in scope.values if scope.draw(st.integers(0, 5)) == 0][:2]
    inner = scope.inner()
    args = [inner.new(INDEX), *(inner.new(v.type) for v in inits)]
    inner.values += args
    body = Block(args, _ops(inner, depth + 1))
    if inits:
        op.operands["carried"] = tuple(inits)
        body.ops.append(Op(YIELD, {"values": tuple(args[1:])}))
        op.results = [scope.new(v.type) for v in inits]
        scope.values += op.results
    op.regions = [body]
    return op


def _branch(scope: Scope, depth: int) -> Op:
    op = Op(BRANCH, {"condition": scope.argument(I1)}, comments=scope.draw(comments()))
    sides = scope.draw(st.integers(1, 2))
    op.regions = [Block([], _ops(scope.inner(), depth + 1)) for _ in range(sides)]
    return op


def _ops(scope: Scope, depth: int) -> list[Op | OpaqueOp]:
    ops: list[Op | OpaqueOp] = []
    for index in range(scope.draw(st.integers(0, 4))):
        choice = scope.draw(st.integers(0, 9))
        if choice == 0 and depth < 2:
            op: Op | OpaqueOp = _loop(scope, depth)
        elif choice == 1 and depth < 2:
            op = _branch(scope, depth)
        elif choice == 2:
            op = _constant(scope)
        elif choice == 3:
            op = _unknown(scope)
        elif choice == 4:
            op = _alloc(scope)
        else:
            op = _instruction(scope)
        before = op.comments.before
        if not index and before[:1] == ("",):  # a block does not begin with a blank line
            op.comments = Comments(before[1:], op.comments.after)
        ops.append(op)
    return ops


@st.composite
def modules(draw: st.DrawFn, form: str) -> Module:
    """A module with one function whose ops are in the given form."""
    scope = Scope(draw, form, [], [])
    ops = _ops(scope, 0)
    func = Func(
        "f", Block(scope.args, ops), attrs={"pto.entry": True} if draw(st.booleans()) else {}
    )
    return Module([func], {"pto.target_arch": "a5"} if draw(st.booleans()) else {})

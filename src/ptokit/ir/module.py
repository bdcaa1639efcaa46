"""The program as data: modules, functions, blocks, ops and values, for all pages of `isa`.

Ops come in two forms. Destination-passing (DPS): outputs are operands, written in place. SSA (the
PTO-AS form and Level 1): outputs are results. `ptokit.passes` and `ptokit.forms` convert between
the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ptokit.diagnostics.source import Span
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import CALLS, FLAGS, OUTSIDE, TERMINATOR, THREADS, Resource, Trait
from ptokit.isa.model.types import REGISTER_KINDS, Elided, PackedType, PtrType, Type


@dataclass(eq=False)
class Value:
    """A name with a type: a function argument, a block argument, a result, or a free name.

    `literal`: the text gives the number itself; its constant stands at the start of the function.
    `resized`: some op changes the valid region of the tile, or may do so.
    """

    name: str
    type: Type
    span: Span | None = None
    literal: bool = False
    resized: bool = False

    @property
    def elided(self) -> bool:
        return isinstance(self.type, Elided)

    @property
    def packed(self) -> PackedType | None:
        """The type of several numbers that the value is, or to which it points."""
        kind = self.type
        if isinstance(kind, PackedType):
            return kind
        return kind.packed if isinstance(kind, PtrType) else None

    def __repr__(self) -> str:
        return f"%{self.name}: {self.type}"

    def __deepcopy__(self, memo: dict[int, object]) -> Value:
        memo[id(self)] = made = _shallow(self)
        return made  # nothing changes a type, a span or a name


T = TypeVar("T")


def _shallow(one: T) -> T:
    """Return a shallow copy; faster than `copy.copy`, which looks up how to copy the type."""
    made = object.__new__(type(one))
    made.__dict__.update(one.__dict__)
    return made


class Raw(str):
    """Attribute text that is kept as written."""


Binding: TypeAlias = "Value | tuple[Value, ...]"


class Comments(NamedTuple):
    """The comments around an op: lines before it ('' is a blank line), and text on its line."""

    before: tuple[str, ...] = ()
    after: str | None = None


NO_COMMENTS = Comments()
# attributes that mark a function as a kernel, which the host launches
ENTRIES = ("pto.entry", "pto.kernel", "hacc.entry", "pto.aicore")
# an attribute of an allocation: iterations of a loop use this tile and others alternately, so that
# iterations overlap; the tile needs its own bytes for longer than its content is live
IN_TURN = "ptokit.in_turn"


@dataclass(eq=False)
class Op:
    """One instruction: a page with its operands bound by name.

    `operands` holds inputs and, in DPS form, outputs; absent optional operands are missing.
    `results` are the values that the op defines. `successors` are the labels of the blocks to which
    a branch may go; the values for the arguments of all successors stand one after another in the
    branch's list operand. `spans` has the place of each operand by name, and of the mnemonic under
    ''. `dialect` is the version of the assembler whose spelling the text has, if versions spell the
    op differently. `into` is a handle whose name means the result from here on.
    """

    page: type[Instr]
    operands: dict[str, Binding] = field(default_factory=dict[str, Binding])
    attrs: dict[str, object] = field(default_factory=dict[str, object])
    results: list[Value] = field(default_factory=list[Value])
    regions: list[Block] = field(default_factory=list["Block"])
    spans: dict[str, Span] = field(default_factory=dict[str, Span])
    comments: Comments = NO_COMMENTS
    successors: tuple[str, ...] = ()
    dialect: str = ""
    into: Value | None = None

    def __post_init__(self) -> None:
        if self.page.resizes:
            for value in self.bound(self.page.operands[0].name):
                value.resized = True

    @property
    def calls(self) -> bool:
        """True if it calls another function; a launch of threads is none."""
        return CALLS in self.page.traits and THREADS not in self.page.traits

    def __deepcopy__(self, memo: dict[int, object]) -> Op:
        """Return a copy that shares the page, spans and comments, which never change."""
        memo[id(self)] = made = _shallow(self)
        made.operands = {name: deepcopy(bound, memo) for name, bound in self.operands.items()}
        made.attrs = deepcopy(self.attrs, memo) if self.attrs else {}
        made.results = [deepcopy(value, memo) for value in self.results]
        made.regions = [deepcopy(region, memo) for region in self.regions]
        made.into = deepcopy(self.into, memo)
        return made

    @property
    def choice(self) -> object:
        """The first attribute: a constant's number, the callee of a call, the cases of a switch."""
        attr = self.page.attrs[0]
        return self.attrs.get(attr.name, attr.default)

    @property
    def name(self) -> str:
        """The mnemonic; an opaque op has one too."""
        return self.page.mnemonic()

    @property
    def span(self) -> Span | None:
        return self.spans.get("")

    def span_of(self, operand: str) -> Span | None:
        return self.spans.get(operand, self.span)

    def values(self) -> Iterator[tuple[str, Value]]:
        """Yield each operand name with a value bound to it; a list gives one pair per value."""
        for name, bound in self.operands.items():
            for value in bound if isinstance(bound, tuple) else (bound,):
                yield name, value

    def bound(self, name: str) -> tuple[Value, ...]:
        """Return the values of an operand; none if the operand is absent."""
        bound = self.operands.get(name, ())
        return bound if isinstance(bound, tuple) else (bound,)

    @property
    def ssa(self) -> bool:
        """True if the outputs are results instead of operands."""
        return len(self.results) > len(self.page.results()) and bool(self.page.outs())

    @property
    def of_registers(self) -> bool:
        """True if its outputs are registers, which are results in every text form."""
        return all(o.kind in REGISTER_KINDS for o in self.page.outs() if o.fresh)

    @property
    def dps(self) -> bool:
        """True if the outputs that are tiles are operands, written in place."""
        bound = any(o.name in self.operands for o in self.page.outs() if o.fresh)
        return bound and not self.ssa

    def flows(self) -> Iterator[tuple[int, int, list[tuple[Value, Value]]]]:
        """Yield the edges between regions as (from, to, [(passed value, value it becomes)])."""
        for source, target in self.page.routes:
            if source < len(self.regions):
                target = target if target < len(self.regions) else OUTSIDE
                sent = self._sent(source)
                names = self.results if target == OUTSIDE else self.regions[target].args
                yield source, target, list(zip(reversed(sent), reversed(names), strict=False))

    def _sent(self, source: int) -> tuple[Value, ...]:
        if source != OUTSIDE:
            return self.regions[source].passed
        return next((self.bound(o.name) for o in self.page.operands if o.many), ())

    def named_results(self) -> Iterator[tuple[str, Value]]:
        """Yield results by operand name: handles and numbers, then, in SSA form, outputs."""
        outs = [o for o in self.page.outs() if o.fresh]
        for operand, value in zip((*self.page.results(), *outs), self.results, strict=False):
            yield operand.name, value


@dataclass(eq=False)
class OpaqueOp:
    """An op that ptokit does not know: kept as written, printed back, reported when executed.

    In `text` a NUL stands for each region.
    """

    name: str
    text: str
    results: list[Value]
    uses: list[Value]
    span: Span
    comments: Comments = NO_COMMENTS
    regions: list[Block] = field(default_factory=list["Block"])
    expected: str = ""  # the forms of its name, of which it is none

    def __post_init__(self) -> None:
        for value in self.uses:
            value.resized = True  # an unknown op may change any valid region


AnyOp: TypeAlias = "Op | OpaqueOp"


@dataclass(eq=False)
class Block:
    """A list of ops with arguments; `label` is the block's `^name` in a function of several blocks.

    `comments` belong to the label. In a region of several blocks the first block holds the rest as
    `following`: `forms.structure` leaves none.
    """

    args: list[Value] = field(default_factory=list[Value])
    ops: list[AnyOp] = field(default_factory=list[AnyOp])
    trailing: tuple[str, ...] = ()  # comments after the last op
    label: str = ""
    comments: Comments = NO_COMMENTS
    following: list[Block] = field(default_factory=list["Block"])

    @property
    def terminator(self) -> Op | None:
        """The last op, if it is a terminator."""
        last = self.ops[-1] if self.ops else None
        return last if isinstance(last, Op) and TERMINATOR in last.page.traits else None

    @property
    def passed(self) -> tuple[Value, ...]:
        """The values that the terminator passes on."""
        return self.terminator.bound("values") if self.terminator else ()

    @property
    def outcome(self) -> tuple[Value, ...]:
        """All operands of the terminator: its condition, if any, and the values passed on."""
        return tuple(v for _, v in self.terminator.values()) if self.terminator else ()

    def walk(self) -> Iterator[AnyOp]:
        """Yield every op in text order, with the ops of regions."""
        for op in self.ops:
            yield op
            for region in op.regions:
                yield from region.walk()
        for block in self.following:
            yield from block.walk()


@dataclass(eq=False)
class Func:
    """A function; `flat` marks a program without a head, whose arguments are its free names.

    `body` is the entry block; `blocks` are the further targets of branches, in text order. Passes
    and executors see functions of one block: `forms.structure` makes them. `declared`: the text has
    a declaration without a body. `arg_attrs`, `res_attrs`: attributes by position of an argument or
    a result. `known`: cached facts about the function, see `once`.
    """

    name: str
    body: Block
    results: tuple[Type, ...] = ()
    attrs: dict[str, object] = field(default_factory=dict[str, object])
    flat: bool = False
    span: Span | None = None
    comments: Comments = NO_COMMENTS
    visibility: str = ""
    declared: bool = False
    arg_attrs: dict[int, dict[str, object]] = field(default_factory=dict[int, dict[str, object]])
    res_attrs: dict[int, dict[str, object]] = field(default_factory=dict[int, dict[str, object]])
    blocks: list[Block] = field(default_factory=list[Block])
    known: dict[object, Any] = field(default_factory=dict[object, Any], init=False, repr=False)

    def __getstate__(self) -> dict[str, object]:
        """Return the state without cached facts, because a copy may be changed."""
        return {**vars(self), "known": dict[object, Any]()}

    @property
    def args(self) -> list[Value]:
        return self.body.args

    @property
    def launched(self) -> bool:
        """True if the function is a kernel, which the host launches."""
        return any(self.attrs.get(name, False) is not False for name in ENTRIES)

    def walk(self) -> Iterator[AnyOp]:
        """Yield every op of every block in text order, with the ops of regions."""
        for block in (self.body, *self.blocks):
            yield from block.walk()

    @property
    def ops(self) -> Sequence[AnyOp]:
        """The ops of `walk` as a cached sequence."""
        return _ops(self)

    @property
    def pages(self) -> frozenset[type[Instr]]:
        """The pages of all known ops, cached: what the function certainly does not do."""
        return _pages(self)

    def has(self, *traits: Trait) -> bool:
        """Return whether an op of the function has all these traits."""
        return any({*traits} <= {*page.traits} for page in self.pages)

    def takes(self, resource: Resource) -> bool:
        """Return whether an op of the function takes a resource of the machine."""
        return any(resource in page.uses for page in self.pages)

    @property
    def orders_pipes(self) -> bool:
        """True if the function orders its pipes itself, by flags; otherwise a compiler does."""
        return any(page.uses == (FLAGS,) for page in self.pages)

    def named(self) -> Iterator[Value]:
        """Yield every value that the function defines: arguments, of regions too, and results."""
        for block in (self.body, *self.blocks):
            yield from block.args
        for op in self.ops:
            yield from op.results
            for region in op.regions:
                yield from region.args

    def elided(self) -> Iterator[Value]:
        """Yield the arguments and the results of known ops whose types are omitted."""
        results = (value for op in self.ops if isinstance(op, Op) for value in op.results)
        return (value for value in (*self.args, *results) if value.elided)


def once(work: Callable[[Func], T]) -> Callable[[Func], T]:
    """Decorate a function that computes a fact about a `Func`: the fact is computed once.

    The fact is cached in `Func.known` and holds as long as nothing changes the function. Passes
    make new functions, and copies have no facts.
    """

    @wraps(work)
    def found(func: Func) -> T:
        if work not in func.known:
            func.known[work] = work(func)
        return func.known[work]

    return found


@once
def _ops(func: Func) -> Sequence[AnyOp]:
    return tuple(func.walk())


@once
def _pages(func: Func) -> frozenset[type[Instr]]:
    return frozenset(op.page for op in func.ops if isinstance(op, Op))


class Alias(NamedTuple):
    """A type alias of the text: `!left = !pto.tile_buf<...>`; `name` includes the `!`."""

    name: str
    type: Type
    comments: Comments = NO_COMMENTS


@dataclass(eq=False)
class Module:
    """Functions and modules in text order, and attributes of the module (`pto.target_arch`).

    `wrapped`: the text had an explicit `module { }`. A text with several modules becomes one module
    that is not wrapped and has them as parts. `signed` has the types that the text spells with a
    sign, such as si8 for i8.
    """

    parts: Sequence[Func | Module]
    attrs: dict[str, object] = field(default_factory=dict[str, object])
    wrapped: bool = True
    comments: Comments = NO_COMMENTS
    trailing: tuple[str, ...] = ()
    aliases: tuple[Alias, ...] = ()
    inner: tuple[str, ...] = ()  # comments after the last part, inside the braces
    name: str = ""
    signed: frozenset[Type] = frozenset()

    @property
    def funcs(self) -> list[Func]:
        """Every function in text order, with those of inner modules."""
        inner = ([p] if isinstance(p, Func) else p.funcs for p in self.parts)
        return [func for funcs in inner for func in funcs]

    def modules(self) -> Iterator[Module]:
        """Yield this module and all inner modules in text order."""
        yield self
        for part in self.parts:
            if isinstance(part, Module):
                yield from part.modules()

    def owner(self, func: Func) -> Module:
        """Return the module that contains a function; its calls are looked up there."""
        return next(m for m in self.modules() if any(part is func for part in m.parts))

    def called(self, module: Module, name: str) -> Func | None:
        """Return the function that `name` means in `module`; for a declaration, its definition."""
        beside = next((p for p in module.parts if isinstance(p, Func) and p.name == name), None)
        if beside is None or not beside.declared:
            return beside
        bodies = [f for f in self.funcs if f.name == name and not f.declared]
        seen = [f for f in bodies if f.visibility != "private"]  # of the modules inside this one
        return seen[0] if len(seen) == 1 else beside

    def mapped(self, made: Callable[[Func], Func | None]) -> Module:
        """Return the module with each function replaced by `made(func)`; None removes it."""
        parts = (p.mapped(made) if isinstance(p, Module) else made(p) for p in self.parts)
        return replace(self, parts=[part for part in parts if part is not None])

    def attributes(self, func: Func) -> dict[str, object]:
        """Return the attributes of a function and the modules around it; the innermost win."""
        around = (m.attrs for m in self.modules() if func in m.funcs)
        return {k: v for attrs in (*around, func.attrs) for k, v in attrs.items()}

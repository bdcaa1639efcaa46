"""The program as data: modules, functions, blocks, ops and values, generic over the pages of `isa`.

Ops come in two forms. Destination-passing (DPS): outputs are operands, written in place. SSA (the
PTO-AS form and Level 1): outputs are results. `ptokit.passes` turns one into the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ptokit.diagnostics.source import Span
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import OUTSIDE, RESIZES, TERMINATOR
from ptokit.isa.model.types import Elided, Type


@dataclass(eq=False)
class Value:
    """A name with a type: a function argument, a block argument, a result, or a free name.

    `literal`: the text gives the number itself; its constant stands at the function's start.
    `resized`: some op changes its valid region, or may.
    """

    name: str
    type: Type
    span: Span | None = None
    literal: bool = False
    resized: bool = False

    @property
    def elided(self) -> bool:
        return isinstance(self.type, Elided)

    def __repr__(self) -> str:
        return f"%{self.name}: {self.type}"

    def __deepcopy__(self, memo: dict[int, object]) -> Value:
        memo[id(self)] = made = _shallow(self)
        return made  # nothing changes a type, a span or a name


T = TypeVar("T")


def _shallow(one: T) -> T:
    """What `copy` gives, which first asks how such a thing is copied."""
    made = object.__new__(type(one))
    made.__dict__.update(one.__dict__)
    return made


class Raw(str):
    """Attribute text that is kept as written."""


Binding: TypeAlias = "Value | tuple[Value, ...]"


class Comments(NamedTuple):
    """What a person wrote around an op: lines before it ('' is a blank line), and on its line."""

    before: tuple[str, ...] = ()
    after: str | None = None


NO_COMMENTS = Comments()
# attributes of a function that the host starts
ENTRIES = ("pto.entry", "pto.kernel", "hacc.entry", "pto.aicore")
# an attribute of an allocation: a loop takes this tile and others in turn, so that its iterations
# overlap; what the tile holds is no measure of how long it has to have bytes of its own
IN_TURN = "ptokit.in_turn"


@dataclass(eq=False)
class Op:
    """One instruction: a page with its operands bound by name.

    `operands` holds inputs and, in DPS form, outputs; absent optionals are missing. `results` are
    the values it defines. `successors` are the labels of the blocks where it may go; what it passes
    to them stands in its list of operands, one after another. `spans` locates operands by name, and
    the mnemonic under ''. `dialect` is the version of the assembler whose spelling the text has, if
    others spell it otherwise. `into` is a handle whose name means the result from here on.
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
        if RESIZES in self.page.traits:
            for value in self.bound(self.page.operands[0].name):
                value.resized = True

    def __deepcopy__(self, memo: dict[int, object]) -> Op:
        """A copy; the page, spans and comments are shared, as nothing changes them."""
        memo[id(self)] = made = _shallow(self)
        made.operands = {name: deepcopy(bound, memo) for name, bound in self.operands.items()}
        made.attrs = deepcopy(self.attrs, memo) if self.attrs else {}
        made.results = [deepcopy(value, memo) for value in self.results]
        made.regions = [deepcopy(region, memo) for region in self.regions]
        made.into = deepcopy(self.into, memo)
        return made

    @property
    def name(self) -> str:
        """The mnemonic, as of an op that is not known."""
        return self.page.mnemonic()

    @property
    def span(self) -> Span | None:
        return self.spans.get("")

    def span_of(self, operand: str) -> Span | None:
        return self.spans.get(operand, self.span)

    def values(self) -> Iterator[tuple[str, Value]]:
        """Operand names and the values bound to them; lists one by one."""
        for name, bound in self.operands.items():
            for value in bound if isinstance(bound, tuple) else (bound,):
                yield name, value

    def bound(self, name: str) -> tuple[Value, ...]:
        """The values of an operand, none when it is absent."""
        bound = self.operands.get(name, ())
        return bound if isinstance(bound, tuple) else (bound,)

    @property
    def ssa(self) -> bool:
        """Outputs are results instead of operands."""
        return bool(self.page.outs()) and len(self.results) > len(self.page.results())

    @property
    def dps(self) -> bool:
        """Outputs that are tiles are operands, written in place."""
        bound = any(o.name in self.operands for o in self.page.outs() if o.fresh)
        return bound and not self.ssa

    def flows(self) -> Iterator[tuple[int, int, list[tuple[Value, Value]]]]:
        """Where control goes from region to region: each value that is passed, and its new name."""
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
        """Results by operand name: handles and numbers first, then, in SSA form, the outputs."""
        outs = [o for o in self.page.outs() if o.fresh]
        for operand, value in zip((*self.page.results(), *outs), self.results, strict=False):
            yield operand.name, value


@dataclass(eq=False)
class OpaqueOp:
    """An op this version does not know: kept as written, printed back, reported when executed.

    In `text` a NUL stands for each region.
    """

    name: str
    text: str
    results: list[Value]
    uses: list[Value]
    span: Span
    comments: Comments = NO_COMMENTS
    regions: list[Block] = field(default_factory=list["Block"])

    def __post_init__(self) -> None:
        for value in self.uses:
            value.resized = True  # for all that is known of it


AnyOp: TypeAlias = "Op | OpaqueOp"


@dataclass(eq=False)
class Block:
    """A list of ops with arguments. `label` names one of several in a function, with its `^`.

    `comments` are those of the label. Of a region with several blocks the first one holds the
    others, `following`: `forms.structure` leaves none.
    """

    args: list[Value] = field(default_factory=list[Value])
    ops: list[AnyOp] = field(default_factory=list[AnyOp])
    trailing: tuple[str, ...] = ()  # comments after the last op
    label: str = ""
    comments: Comments = NO_COMMENTS
    following: list[Block] = field(default_factory=list["Block"])

    @property
    def terminator(self) -> Op | None:
        """The op that ends it, if it is one that ends regions."""
        last = self.ops[-1] if self.ops else None
        return last if isinstance(last, Op) and TERMINATOR in last.page.traits else None

    @property
    def passed(self) -> tuple[Value, ...]:
        """What its terminator passes on."""
        return self.terminator.bound("values") if self.terminator else ()

    @property
    def outcome(self) -> tuple[Value, ...]:
        """All that its terminator names: what it passes on, and before that its condition."""
        return tuple(v for _, v in self.terminator.values()) if self.terminator else ()

    def walk(self) -> Iterator[AnyOp]:
        """Every op, regions included, in text order."""
        for op in self.ops:
            yield op
            for region in op.regions:
                yield from region.walk()
        for block in self.following:
            yield from block.walk()


@dataclass(eq=False)
class Func:
    """A function. A flat program is one whose arguments are its free names (`flat`).

    `body` is the block it begins with; `blocks` are further ones that branches go to, in text
    order. Passes and executors see functions of one block: `forms.structure` makes them.
    `declared`: only a declaration, without a body. `arg_attrs`, `res_attrs`: attributes by position
    of an argument or a result. `known`: what was worked out of the function, see `once`.
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
        """A copy may be changed: it has no facts yet."""
        return {**vars(self), "known": dict[object, Any]()}

    @property
    def args(self) -> list[Value]:
        return self.body.args

    @property
    def launched(self) -> bool:
        """Whether the host starts it: a kernel."""
        return any(self.attrs.get(name, False) is not False for name in ENTRIES)

    def walk(self) -> Iterator[AnyOp]:
        """Every op of every block, regions included, in text order."""
        for block in (self.body, *self.blocks):
            yield from block.walk()

    @property
    def ops(self) -> Sequence[AnyOp]:
        """The ops that `walk` gives, listed once."""
        return _ops(self)

    def named(self) -> Iterator[Value]:
        """Every value that has a name at the top of the function, in a block or inside."""
        yield from self.args
        for block in self.blocks:
            yield from block.args
        for op in self.walk():
            yield from op.results


def once(work: Callable[[Func], T]) -> Callable[[Func], T]:
    """Decorate a function that works out a fact of a `Func`: it runs when first asked.

    The fact is kept with the function and holds as long as nothing changes the function. Passes
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


class Alias(NamedTuple):
    """A name the text gives a type: `!left = !pto.tile_buf<...>`; `name` with its `!`."""

    name: str
    type: Type
    comments: Comments = NO_COMMENTS


@dataclass(eq=False)
class Module:
    """Functions and modules in text order, and its attributes (`pto.target_arch`).

    `wrapped`: the text had an explicit `module { }`. A text of several modules is one module, not
    wrapped, whose parts they are. `signed` are the types whose text says si8 for i8, and the like.
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
        """Every function, those of inner modules included, in text order."""
        inner = ([p] if isinstance(p, Func) else p.funcs for p in self.parts)
        return [func for funcs in inner for func in funcs]

    def modules(self) -> Iterator[Module]:
        """This module and those inside, in text order."""
        yield self
        for part in self.parts:
            if isinstance(part, Module):
                yield from part.modules()

    def owner(self, func: Func) -> Module:
        """The module that a function stands in: where the names that it calls are looked up."""
        return next(m for m in self.modules() if any(part is func for part in m.parts))

    def called(self, module: Module, name: str) -> Func | None:
        """Whom functions of a module mean by a name: one beside them, or what it only declares."""
        beside = next((p for p in module.parts if isinstance(p, Func) and p.name == name), None)
        if beside is None or not beside.declared:
            return beside
        bodies = [f for f in self.funcs if f.name == name and not f.declared]
        seen = [f for f in bodies if f.visibility != "private"]  # of the modules inside this one
        return seen[0] if len(seen) == 1 else beside

    def mapped(self, made: Callable[[Func], Func | None]) -> Module:
        """The module with what is made of each function in its place; None leaves it out."""
        parts = (p.mapped(made) if isinstance(p, Module) else made(p) for p in self.parts)
        return replace(self, parts=[part for part in parts if part is not None])

    def attributes(self, func: Func) -> dict[str, object]:
        """Those of a function and of the modules around it, where it has not its own."""
        around = (m.attrs for m in self.modules() if func in m.funcs)
        return {k: v for attrs in (*around, func.attrs) for k, v in attrs.items()}

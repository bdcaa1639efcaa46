"""The class of pages: an instruction is a class, and everything else is derived from it.

    class TExtract(Instr):
        dst = Out(Tile)
        src = In(Tile)
        row = In(Index, default=0)

        rules = (row + dst.valid.rows <= src.valid.rows, ...)

        def run(dst, src, row): ...

Operands stand in C++ order, destination first. `rules` are formulas. `run` is the body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import FunctionType
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, cast

from ptokit.isa.formula.formulas import ABSENT, UNKNOWN, Computed, Const, Env, Expr, Field, Many
from ptokit.isa.formula.rules import NO_WIDE_CASTS, Rule, named, on, rules_of, when
from ptokit.isa.lang.asm import Asm
from ptokit.isa.lang.hooks import Hook, check_body, check_hooks, parameters
from ptokit.isa.lang.operands import (
    REQUIRED,
    Apart,
    Attr,
    In,
    InOut,
    Like,
    Operand,
    Out,
    Result,
    Role,
    Scratch,
    Spoiled,
    TypeOf,
    like,
)
from ptokit.isa.lang.paths import Path, one_of_paths, path
from ptokit.isa.lang.traits import (
    ALIASES,
    BY_SCALAR,
    CALLS,
    FIFO,
    HANDLE,
    READDRESSES,
    REGIONS,
    SIGNALS,
    TERMINATOR,
    FifoRole,
    Resource,
    Routes,
    Trait,
)
from ptokit.isa.model.targets import TARGETS, Target
from ptokit.isa.model.types import Kind
from ptokit.isa.model.words import KernelKind, Pipe
from ptokit.values.dtypes import i64, u64
from ptokit.values.enumerations import Loc, Word

__all__ = [
    "NOT_ON_TARGET",
    "PAGES",
    "REQUIRED",
    "SHARED_STORAGE",
    "Apart",
    "Attr",
    "Example",
    "In",
    "InOut",
    "Instr",
    "Like",
    "Operand",
    "Out",
    "Path",
    "Result",
    "Role",
    "Scratch",
    "Spoiled",
    "TypeOf",
    "like",
    "path",
    "table_row",
]

CORES = frozenset({FIFO, SIGNALS})  # an instruction that waits for cores computes no tile
# an instruction with one of these traits computes no tile
NO_TILES = {TERMINATOR, CALLS, BY_SCALAR, HANDLE}
WIDE, NARROW = (i64, u64), "vector instructions compute with at most 32 bits here"
NOT_ON_TARGET = "not-on-target"  # the slug of an instruction that the target lacks
SHARED_STORAGE = "shared-storage"  # the slug of operands that must not alias: see `Instr.apart`
# A program in which NAME stands for the mnemonic; or types and numbers of operands, and values
# of attributes. Defaults: a tile is vec 16x32 f32, a scalar 1.5 or 3, and an optional
# operand is absent.
Example: TypeAlias = "str | Mapping[str, str | float | Word]"
T = TypeVar("T")


class Derived(Generic[T]):
    """A fact about a page that is computed on first use and cached by page."""

    def __init__(self, make: Callable[[type[Instr]], T]) -> None:
        self.make = make
        self.known: dict[type[Instr], T] = {}

    def __get__(self, _: Instr | None, page: type[Instr]) -> T:
        if page not in self.known:
            self.known[page] = self.make(page)
        return self.known[page]


class Instr:
    """A page: one instruction, or one form of it if several pages share a mnemonic."""

    # fields of a page besides its operands
    name: ClassVar[str] = ""
    cpp: ClassVar[str] = ""
    verb: ClassVar[str] = ""  # name of the value form in Python kernels: see `value_name`
    own: ClassVar[str] = ""  # names of a scalar operation in the newest dialect: see `own_names`
    symbol: ClassVar[str] = ""  # the Python operator that means it: see `operation`
    form: ClassVar[str] = ""  # the name of this form among pages with one mnemonic
    targets: ClassVar[tuple[str, ...] | None] = None  # targets that have it; None: all
    rules: ClassVar[Any] = ()  # Any: formulas, rules and groups of them
    paths: ClassVar[tuple[Path, ...]] = ()
    pipe: ClassVar[Pipe | dict[Loc, Pipe] | None] = None  # by location: see `_ends`
    # condition by target under which it waits for all pipes; targets whose pipes all wait for it
    drains_before: ClassVar[Mapping[str, Expr]] = {}
    drains_behind: ClassVar[tuple[str, ...]] = ()
    elided: ClassVar[dict[str, Like]] = {}
    asm: ClassVar[Asm] = Asm()  # its text forms
    example: ClassVar[Example] = {}  # a program, or operands of the one statement
    run: Any = None  # the body; Any: a function of operands, attributes and resources
    unexecuted: ClassVar[str] = ""  # why no engine executes it: then it has no body
    core: ClassVar[KernelKind | None] = None  # the kind of core that has it; None: both
    # the instructions that take its place where a pointer into local memory is an operand
    lowered: Hook | None = None
    in_thread: Hook | None = None  # those that take its place where a thread executes it
    in_parts: Hook | None = None  # those that take its place on the parts of packed numbers
    by_thread: ClassVar[str] = ""  # the name of the instruction that a thread executes instead
    below: ClassVar[bool] = False  # an instruction of the level below tiles
    type_of: Hook | None = None  # infers the type of the result from operands and attributes
    needs: Hook | None = None  # the register contents that it requires on hardware
    # (operands' types, attributes, target) -> the extents that chips move, if they differ although
    # headers assert that they are equal
    moved_types: Hook | None = None
    uses: ClassVar[tuple[Resource, ...]] = ()  # resources of the machine that its body takes
    inner_flags: ClassVar[tuple[str, ...]] = ()  # targets on which it uses flags of `INNER_PAIRS`
    of_one_core: ClassVar[bool] = False  # a signal from one core to another, by their numbers
    fifo_role: ClassVar[FifoRole | None] = None  # its role for a FIFO between cores
    routes: ClassVar[Routes] = ()  # control-flow edges between its regions
    # registers that it changes, each with the operand that it holds afterwards, if that is one
    changes: ClassVar[Mapping[str, str | None]] = {}
    traits: ClassVar[tuple[Trait, ...]] = ()  # properties for analyses and passes
    apart: ClassVar[tuple[Apart, ...]] = ()  # no-alias constraints on hardware
    # outputs with inputs that they may alias, besides pointwise ones. `written_over`: at the same
    # first byte, if no element of the output is larger; `lies_over`: at any offset
    written_over: ClassVar[tuple[tuple[Operand, ...], ...]] = ()
    # input, output and the condition under which, as one tile, the bytes read do not change
    keeps: ClassVar[tuple[Operand, Operand, Expr] | None] = None
    lies_over: ClassVar[tuple[tuple[Operand, ...], ...]] = ()
    spoiled: ClassVar[tuple[Spoiled, ...]] = ()  # inputs that hardware uses as scratch
    specials: ClassVar[str] = ""  # the treatment of NaN and infinities, if its text is silent
    disputes: ClassVar[tuple[str, ...]] = ()
    # forms of recorded vectors -> operands that they name differently
    recorded: ClassVar[dict[str, dict[str, str]]] = {"plain": {}}
    recorded_op: ClassVar[str] = ""  # its name in recordings, if it is not `name`

    # derived from the class
    operands: ClassVar[tuple[Operand, ...]]
    attrs: ClassVar[tuple[Attr, ...]]
    types: ClassVar[dict[str, Operand]]  # parameters of the body that are types -> their operand
    _named: ClassVar[dict[str, Operand]]
    _outs: ClassVar[tuple[Operand, ...]]
    _ins: ClassVar[tuple[Operand, ...]]
    _results: ClassVar[tuple[Operand, ...]]
    all_rules: ClassVar[Derived[tuple[Rule, ...]]] = Derived(
        lambda page: (*_derived_rules(page), *rules_of(page.rules))
    )
    # an instruction on data: reports count it, and its body gets scalars as arrays. Another
    # page defines a handle or a number, or is control flow.
    executes: ClassVar[Derived[bool]] = Derived(
        lambda page: (
            not (
                page.run is None
                or page.results()
                or REGIONS in page.uses
                or not CORES.isdisjoint(page.uses)
                or NO_TILES & {*page.traits}
            )
        )
    )
    # an instruction on tiles: Python and C++ have a function for it
    on_tiles: ClassVar[Derived[bool]] = Derived(lambda page: page.executes and not page.below)
    # reports and limits count it: tile instructions, and waits and signals between cores
    reported: ClassVar[Derived[bool]] = Derived(
        lambda page: (
            page.executes
            or (not CORES.isdisjoint(page.uses) and page.fifo_role is not FifoRole.OPENS)
        )
    )
    # it reads and writes whole operands: its body is not recorded
    declared: ClassVar[Derived[bool]] = Derived(
        lambda page: bool(
            page.run is None
            or BY_SCALAR in page.traits
            or not CORES.isdisjoint(page.uses)
            or (page.results() and ALIASES not in page.traits and _moves(page))
        )
    )
    # its result is a number that depends on its operands alone
    folds: ClassVar[Derived[bool]] = Derived(
        lambda page: (
            {r.kind for r in page.results()} == {Kind.SCALAR}
            and not page.uses
            and page.run is not None
            and BY_SCALAR not in page.traits
        )
    )
    # it changes the valid region of its first operand, a handle
    resizes: ClassVar[Derived[bool]] = Derived(
        lambda page: HANDLE in page.traits and any(o.counts for o in page.operands)
    )
    # its result is storage at an address that follows from the address of its input
    derives: ClassVar[Derived[bool]] = Derived(
        lambda page: READDRESSES in page.traits and "addr" not in page._named
    )
    # the value for rules of each operand and attribute that is not given
    unset: ClassVar[Derived[dict[str, object]]] = Derived(
        lambda page: (
            {f.name: _unset(f) for f in (*page.operands, *page.attrs)}
            | dict.fromkeys(page.types, UNKNOWN)
        )
    )
    lists: ClassVar[Derived[tuple[str, ...]]] = Derived(
        lambda page: tuple(o.name for o in page.operands if o.many)
    )
    body_names: ClassVar[Derived[tuple[str, ...]]] = Derived(
        lambda page: () if page.run is None else parameters(page.run)
    )

    def __init_subclass__(cls, abstract: bool = False, **facts: Any) -> None:  # Any: the above
        super().__init_subclass__()
        cls.name = facts.pop("name", cls.__name__.lower())
        cls.cpp = facts.pop("cpp", cls.name.replace(".", "_").upper())
        for key, value in facts.items():
            setattr(cls, key, value)
        for key, value in list(vars(cls).items()):
            if isinstance(value, FunctionType) and value.__code__.co_varnames[:1] == ("cls",):
                setattr(cls, key, classmethod(value))  # a page has no instances
        family: Asm = next(vars(b)["asm"] for b in cls.__mro__[1:] if "asm" in vars(b))
        cls.asm = cls.asm.over(family)
        declared: dict[str, Operand | Attr] = {}
        for base in reversed(cls.__mro__):
            own = _own(base)
            # a class that repeats inherited operands defines their order; new operands replace them
            again = any(declared.get(k) is v for k, v in own.items())
            declared = own | declared | own if again else declared | own
        cls.operands = tuple(v for v in declared.values() if isinstance(v, Operand))
        cls.attrs = tuple(v for v in declared.values() if isinstance(v, Attr))
        cls.types = {k: of for base in reversed(cls.__mro__) for k, of in _types(base).items()}
        cls._sort()
        if not abstract:
            fields = {f.name for f in (*cls.operands, *cls.attrs)} | cls.types.keys()
            hooks = (cls.lowered, cls.in_thread, cls.in_parts)
            check_body(cls.__name__, cls.run, cls.unexecuted, *hooks)
            check_hooks(cls.__name__, fields, cls.uses, cls.run, (cls.type_of, cls.needs))
            PAGES.append(cls)

    @classmethod
    def _sort(cls) -> None:
        """Cache the operands by name and by role, because they are read all the time."""
        ins = (o for o in cls.operands if o.role in (Role.IN, Role.SCRATCH))
        cls._named = {o.name: o for o in cls.operands}
        cls._outs = cls._in_text(o for o in cls.operands if o.written)
        cls._ins = cls._in_text(ins)
        cls._results = tuple(o for o in cls.operands if o.role is Role.RESULT)

    @classmethod
    def _in_text(cls, some: Iterable[Operand]) -> tuple[Operand, ...]:
        return tuple(sorted(some, key=lambda o: _rank(cls.asm.order, o.name)))

    @classmethod
    def operand(cls, name: str) -> Operand:
        return cls._named[name]

    @classmethod
    def outs(cls) -> tuple[Operand, ...]:
        """Return the operands that the body writes, in text order."""
        return cls._outs

    @classmethod
    def ins(cls) -> tuple[Operand, ...]:
        """Return the operands that text lists as inputs, in text order: inputs and scratch."""
        return cls._ins

    @classmethod
    def results(cls) -> tuple[Operand, ...]:
        return cls._results

    @classmethod
    def mnemonic(cls) -> str:
        """Return the full name in the SSA and DPS forms."""
        return f"{cls.asm.dialect}.{cls.name}"

    @classmethod
    def grid_wide(cls, attrs: Mapping[str, object]) -> bool:
        """Return whether cores of other blocks take part."""
        return False

    @classmethod
    def orders_memory(cls, attrs: Mapping[str, object]) -> bool:
        """Return whether earlier writes of pipes and caches are in global memory afterwards."""
        return False

    @classmethod
    def names_second(cls, env: Env) -> bool:
        """Return whether the cube addresses the second vector core alone."""
        return False

    @classmethod
    def python(cls) -> str:
        """Return the name of the Python function."""
        return cls.name.replace(".", "_")

    @classmethod
    def value_name(cls) -> str:
        """Return the name of its value form in Python kernels: `exp`, `rowmax`, `to`."""
        return cls.verb or cls.python().removeprefix("t")

    @classmethod
    def operation(cls) -> str:
        """Return a name of Python's `operator` module, min or max; by default the name of `f`."""
        function: object = getattr(cls, "f", None)
        return cls.symbol or str(getattr(function, "__name__", "")).strip("_")

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the page's docstring."""
        return (cls.__doc__ or "").strip().split("\n")[0]

    @classmethod
    def exists_on(cls, target: Target) -> bool:
        """Return whether the target has this instruction."""
        lacking = any(name in target.lacks for name in (cls.name, cls.__name__))
        return target.follows(cls.targets) and not lacking

    @classmethod
    def homes(cls) -> tuple[str, ...]:
        """Return the names of the targets that have the instruction."""
        return tuple(t.name for t in TARGETS.values() if cls.exists_on(t))

    @classmethod
    def moves_on(cls, target: Target, path: Path) -> bool:
        """Return whether the target has this path; a target without listed paths has every path."""
        return target.follows(path.on) or not any(target.follows(p.on) for p in cls.paths)

    @classmethod
    def rules_on(cls, target: Target) -> tuple[Rule, ...]:
        """Return the rules on the target; if it lacks the instruction, the rule that says so."""
        return _rules_on(cls, target)

    @classmethod
    def pipe_of(cls, env: Env) -> Pipe | None:
        """Return the pipe that executes it for these operands; None for a path no target has."""
        if isinstance(cls.pipe, Pipe):
            return cls.pipe
        first, second = _ends(cls)
        source = Field(first).loc.eval(env)
        if cls.pipe is not None:
            return cls.pipe.get(source)
        target = Field(second).loc.eval(env)
        return next((p.pipe for p in cls.paths if (p.source, p.target) == (source, target)), None)


P = TypeVar("P", bound=Instr)


def table_row(
    family: type[P], name: str, meaning: str, **facts: Any
) -> type[P]:  # Any: see `Instr`
    """Return a page that is a row of a table: its family with these facts."""
    body = {"__doc__": meaning, "__module__": family.__module__}
    return cast("type[P]", type(name, (family,), body, **facts))


@cache
def _own(base: type) -> dict[str, Operand | Attr]:
    """Return the operands and attributes that a class itself names."""
    return {k: v for k, v in vars(base).items() if isinstance(v, Operand | Attr)}


@cache
def _types(base: type) -> dict[str, Operand]:
    """Return the names that a class itself gives to types of its operands."""
    return {k: v.of for k, v in vars(base).items() if isinstance(v, TypeOf)}


PAGES: list[type[Instr]] = []


@cache
def _rules_on(page: type[Instr], target: Target) -> tuple[Rule, ...]:
    if page.exists_on(target):
        judge = target.judge
        rules = (r.judged(judge) for r in page.all_rules if target.follows(r.targets))
        return (*rules, *(_of_narrow_vectors(page) if target.narrow_vectors else ()))
    homes = ", ".join(page.homes())
    return (Rule(Computed(f"the target is one of: {homes}", lambda: False), NOT_ON_TARGET),)


def _of_narrow_vectors(page: type[Instr]) -> Iterator[Rule]:
    """Yield a rule for each tile of a vector instruction: no elements of 64 bits.

    A page that has a rule of its own about them is left alone.
    """
    own = any(NO_WIDE_CASTS in name for rule in page.all_rules for name in rule.targets or ())
    if page.pipe is Pipe.V and not own:
        for operand in (o for o in page.operands if o.kind is Kind.TILE and not o.many):
            yield from named("element-type", ~operand.dtype.isin(*WIDE), help=NARROW)


def _moves(page: type[Instr]) -> bool:
    """Return whether the instruction writes into an operand."""
    return any(operand.role is Role.OUT for operand in page.operands)


def _unset(field: Operand | Attr) -> object:
    default = None if field.required else field.default
    if isinstance(field, Operand) and field.many and default is not None:
        default = Many(cast("tuple[object, ...]", default))
    return ABSENT if default is None else default


def _rank(order: tuple[str, ...], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _ends(cls: type[Instr]) -> tuple[str, str]:
    """Return the operands between which data moves: first input in memory, first output.

    An instruction that reads no memory fills its output, which is then both.
    """
    target = next(o.name for o in cls.operands if o.written)
    return next((o.name for o in cls.operands if o.role is Role.IN and o.in_memory), target), target


def _derived_rules(cls: type[Instr]) -> Iterator[Rule]:
    """Yield the rules for operand locations and for the table of paths."""
    for operand in cls.operands:
        if operand.fixed_loc is not None:
            yield from named("location", operand.loc == Const(operand.fixed_loc))
    if not cls.paths:
        return
    source, target = (cls.operand(n) for n in _ends(cls))
    for name in dict.fromkeys(name for p in cls.paths for name in p.on):
        available = tuple(p for p in cls.paths if name in p.on)
        yield from on(name, named("location", one_of_paths(source, target, available)))
    for p in cls.paths:
        here = (source.loc == Const(p.source)) & (target.loc == Const(p.target))
        yield from when(here, p.rules)

"""The words a page may use: an instruction is a class, and everything else is read off it.

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
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, cast

from ptokit.isa.formula.formulas import ABSENT, UNKNOWN, Const, Env, Evaluate, Expr, Field, Many
from ptokit.isa.formula.rules import Rule, named, on, rules_of, when
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
from ptokit.isa.lang.paths import OneOfPaths, Path, path
from ptokit.isa.lang.traits import (
    ALIASES,
    BY_SCALAR,
    CALLS,
    DEALLOCATES,
    FIFO,
    REGIONS,
    RESIZES,
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
]

CORES = frozenset({FIFO, SIGNALS})  # what waits for other cores is no tile instruction
NO_TILES = {
    TERMINATOR,
    CALLS,
    BY_SCALAR,
    RESIZES,
    DEALLOCATES,
}  # what has them is no tile instruction
WIDE, NARROW = (i64, u64), "vector instructions compute with at most 32 bits here"
NOT_ON_TARGET = "not-on-target"  # the slug of an instruction that the target lacks
SHARED_STORAGE = "shared-storage"  # of operands that share bytes and may not: see `Instr.apart`
# A program in which NAME stands for the mnemonic; or by operand the type of a tile or a number, and
# by attribute its word. Not said: tiles are vectors of 16x32 f32, a scalar is 1.5 or 3, and what is
# optional is left out.
Example: TypeAlias = "str | Mapping[str, str | float | Word]"
T = TypeVar("T")


class Derived(Generic[T]):
    """A fact about each page that is worked out when it is first asked for."""

    def __init__(self, make: Callable[[type[Instr]], T]) -> None:
        self.make = make
        self.known: dict[type[Instr], T] = {}

    def __get__(self, _: Instr | None, page: type[Instr]) -> T:
        if page not in self.known:
            self.known[page] = self.make(page)
        return self.known[page]


class Instr:
    """A page: one instruction, or one form of it when several pages share a mnemonic."""

    # what a page may say besides its operands; every default is derived from the class
    name: ClassVar[str] = ""
    cpp: ClassVar[str] = ""
    verb: ClassVar[str] = ""  # its name in Python kernels, where it gives a value: see `value_name`
    own: ClassVar[str] = ""  # of a scalar operation in the newest dialect: see `own_names`
    symbol: ClassVar[str] = ""  # what it is to Python's operators: see `operation`
    form: ClassVar[str] = ""  # the name of this form among pages with one mnemonic
    targets: ClassVar[tuple[str, ...] | None] = None  # the only ones that have it; None: all
    rules: ClassVar[Any] = ()  # Any: formulas, rules and groups of them
    paths: ClassVar[tuple[Path, ...]] = ()
    pipe: ClassVar[Pipe | dict[Loc, Pipe] | None] = None  # by location: see `_ends`
    # by target: where all pipes have done their work before it starts, and where all wait for it
    drains_before: ClassVar[Mapping[str, Expr]] = {}
    drains_behind: ClassVar[tuple[str, ...]] = ()
    elided: ClassVar[dict[str, Like]] = {}
    asm: ClassVar[Asm] = Asm()  # how it stands in text
    example: ClassVar[Example] = {}  # a program, or operands of the one statement
    run: Any = None  # the body; Any: a function of operands, attributes and resources
    # types of text that only its results have: what a tile of each holds, which no other page takes
    holds: ClassVar[Mapping[str, str]] = {}
    unexecuted: ClassVar[str] = ""  # why no engine executes it: then it has no body
    core: ClassVar[KernelKind | None] = None  # the only kind of core that has it; None: both
    type_of: Hook | None = None  # the type of its result by what is known
    manual_lines: Hook | None = None  # a function that yields lines that the manual adds
    needs: Hook | None = None  # what registers hold for it on hardware
    # (operands' types, attributes, target) -> those that differ as chips move them, where headers
    # assert that extents are alike
    moved_types: Hook | None = None
    uses: ClassVar[tuple[Resource, ...]] = ()  # what its body takes of the machine
    inner_flags: ClassVar[tuple[str, ...]] = ()  # where it uses flags of `INNER_PAIRS` itself
    of_one_core: ClassVar[bool] = False  # a signal from one core to one other, by numbers of both
    fifo_role: ClassVar[FifoRole | None] = None  # what it is to a FIFO between cores
    routes: ClassVar[Routes] = ()  # the ways of control through its regions
    traits: ClassVar[tuple[Trait, ...]] = ()  # what analyses and passes know of it
    apart: ClassVar[tuple[Apart, ...]] = ()  # operands that may not share bytes on hardware
    # outputs with inputs that they may lie on, beside those whose elements follow from one another;
    # `written_over`: from the first byte on, `shrinks_over`: where none grows, `lies_over`: anyhow
    shrinks_over: ClassVar[tuple[Operand, ...]] = ()
    written_over: ClassVar[tuple[tuple[Operand, ...], ...]] = ()
    # what is read and written; where, as one tile, the bytes that are read are not touched
    keeps: ClassVar[tuple[Operand, Operand, Expr] | None] = None
    lies_over: ClassVar[tuple[tuple[Operand, ...], ...]] = ()
    spoiled: ClassVar[tuple[Spoiled, ...]] = ()  # what hardware works in beside scratch
    wide: ClassVar[bool] = False  # takes 64 bits where other vector instructions do not
    specials: ClassVar[str] = ""  # what becomes of NaN and infinities, where its text is silent
    disputes: ClassVar[tuple[str, ...]] = ()
    # the forms of its recordings, if there are any, with operands that they name otherwise
    recorded: ClassVar[dict[str, dict[str, str]]] = {"plain": {}}
    recorded_op: ClassVar[str] = ""  # the operation recordings file it under, where not the name

    # read off the class
    operands: ClassVar[tuple[Operand, ...]]
    attrs: ClassVar[tuple[Attr, ...]]
    types: ClassVar[dict[str, Operand]]  # whose types the body takes, by its parameters
    _named: ClassVar[dict[str, Operand]]
    _outs: ClassVar[tuple[Operand, ...]]
    _ins: ClassVar[tuple[Operand, ...]]
    _results: ClassVar[tuple[Operand, ...]]
    all_rules: ClassVar[Derived[tuple[Rule, ...]]] = Derived(
        lambda page: (*_derived_rules(page), *rules_of(page.rules))
    )
    # an engine executes it: reports count it, Python has a function for it, and its body gets
    # scalars as arrays. Else it defines a handle or a number, or is control flow.
    executes: ClassVar[Derived[bool]] = Derived(
        lambda page: (
            not (
                page.unexecuted
                or page.results()
                or REGIONS in page.uses
                or not CORES.isdisjoint(page.uses)
                or NO_TILES & {*page.traits}
            )
        )
    )
    # reports and limits count it: what waits for other cores, or lets them go on, too
    reported: ClassVar[Derived[bool]] = Derived(
        lambda page: (
            page.executes
            or (not CORES.isdisjoint(page.uses) and page.fifo_role is not FifoRole.OPENS)
        )
    )
    # what it reads and writes are whole operands: its body is not recorded
    declared: ClassVar[Derived[bool]] = Derived(
        lambda page: bool(
            page.unexecuted
            or BY_SCALAR in page.traits
            or not CORES.isdisjoint(page.uses)
            or (page.results() and ALIASES not in page.traits and _moves(page))
        )
    )
    # its result is a number that follows from its operands alone
    folds: ClassVar[Derived[bool]] = Derived(
        lambda page: (
            {r.kind for r in page.results()} == {Kind.SCALAR}
            and not (page.uses or page.unexecuted)
            and BY_SCALAR not in page.traits
        )
    )
    # what a rule sees of each operand and attribute that is not given
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
        family: Asm = next(vars(b)["asm"] for b in cls.__mro__[1:] if "asm" in vars(b))
        cls.asm = cls.asm.over(family)
        declared: dict[str, Operand | Attr] = {}
        for base in reversed(cls.__mro__):
            own = _own(base)
            # a class that names inherited operands again gives their order; new ones replace them
            again = any(declared.get(k) is v for k, v in own.items())
            declared = own | declared | own if again else declared | own
        cls.operands = tuple(v for v in declared.values() if isinstance(v, Operand))
        cls.attrs = tuple(v for v in declared.values() if isinstance(v, Attr))
        cls.types = {k: of for base in reversed(cls.__mro__) for k, of in _types(base).items()}
        cls._sort()
        if not abstract:
            fields = {f.name for f in (*cls.operands, *cls.attrs)} | cls.types.keys()
            check_body(cls.__name__, cls.run, cls.unexecuted)
            check_hooks(cls.__name__, fields, cls.uses, cls.run, (cls.type_of, cls.needs))
            PAGES.append(cls)

    @classmethod
    def _sort(cls) -> None:
        """The operands by name and by role: asked for all the time."""
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
        """Operands the body writes, in text order."""
        return cls._outs

    @classmethod
    def ins(cls) -> tuple[Operand, ...]:
        """Operands that text lists as inputs, in text order: those that are read, and scratch."""
        return cls._ins

    @classmethod
    def results(cls) -> tuple[Operand, ...]:
        return cls._results

    @classmethod
    def mnemonic(cls) -> str:
        """The full name in the SSA and DPS forms."""
        return f"{cls.asm.dialect}.{cls.name}"

    @classmethod
    def grid_wide(cls, attrs: Mapping[str, object]) -> bool:
        """Whether cores of other blocks take part."""
        return False

    @classmethod
    def orders_memory(cls, attrs: Mapping[str, object]) -> bool:
        """Whether what pipes wrote and what left the cache is in global memory behind it."""
        return False

    @classmethod
    def names_second(cls, env: Env) -> bool:
        """Whether the cube means the second vector core alone."""
        return False

    @classmethod
    def python(cls) -> str:
        """The name of the Python function."""
        return cls.name.replace(".", "_")

    @classmethod
    def value_name(cls) -> str:
        """The name under which Python kernels get a value of it: `exp`, `rowmax`, `to`."""
        return cls.verb or cls.python().removeprefix("t")

    @classmethod
    def operation(cls) -> str:
        """A word of Python's `operator` module, min or max: that of `f`, if the page says none."""
        function: object = getattr(cls, "f", None)
        return cls.symbol or str(getattr(function, "__name__", "")).strip("_")

    @classmethod
    def summary(cls) -> str:
        """What it does, in the first line of its page."""
        return (cls.__doc__ or "").strip().split("\n")[0]

    @classmethod
    def exists_on(cls, target: Target) -> bool:
        """Whether the target has this instruction."""
        lacking = any(name in target.lacks for name in (cls.name, cls.__name__))
        return target.follows(cls.targets) and not lacking

    @classmethod
    def homes(cls) -> tuple[str, ...]:
        """The names of the targets that have it."""
        return tuple(t.name for t in TARGETS.values() if cls.exists_on(t))

    @classmethod
    def moves_on(cls, target: Target, path: Path) -> bool:
        """Whether data may move this way on the target; where it has no paths listed, any way."""
        return target.follows(path.on) or not any(target.follows(p.on) for p in cls.paths)

    @classmethod
    def rules_on(cls, target: Target) -> tuple[Rule, ...]:
        """The rules in force on the target; if it lacks the instruction, the one that says so."""
        return _rules_on(cls, target)

    @classmethod
    def pipe_of(cls, env: Env) -> Pipe | None:
        """The pipe that executes it for these operands; None: a path no target has."""
        if isinstance(cls.pipe, Pipe):
            return cls.pipe
        first, second = _ends(cls)
        source = Field(first).loc.eval(env)
        if cls.pipe is not None:
            return cls.pipe.get(source)
        target = Field(second).loc.eval(env)
        return next((p.pipe for p in cls.paths if (p.source, p.target) == (source, target)), None)


@cache
def _own(base: type) -> dict[str, Operand | Attr]:
    """The operands and attributes that a class itself names."""
    return {k: v for k, v in vars(base).items() if isinstance(v, Operand | Attr)}


@cache
def _types(base: type) -> dict[str, Operand]:
    """The names that a class itself gives to types of its operands."""
    return {k: v.of for k, v in vars(base).items() if isinstance(v, TypeOf)}


PAGES: list[type[Instr]] = []


class OnTarget(Expr):
    """The formula 'the target has the instruction': a rule of the targets that have it not."""

    def __init__(self, page: type[Instr]) -> None:
        self.page = page

    def compile(self) -> Evaluate:
        return lambda env: False

    def __str__(self) -> str:
        return f"the target is one of: {', '.join(self.page.homes())}"


@cache
def _rules_on(page: type[Instr], target: Target) -> tuple[Rule, ...]:
    if page.exists_on(target):
        judge = target.judge
        rules = (r.judged(judge) for r in page.all_rules if target.follows(r.targets))
        return (*rules, *(_of_narrow_vectors(page) if target.narrow_vectors else ()))
    return (Rule(OnTarget(page), NOT_ON_TARGET),)


def _of_narrow_vectors(page: type[Instr]) -> Iterator[Rule]:
    """Yield a rule for each tile of a vector instruction: no elements of 64 bits."""
    if page.pipe is Pipe.V and not page.wide:
        for operand in (o for o in page.operands if o.kind is Kind.TILE):
            yield from named("element-type", ~operand.dtype.isin(*WIDE), help=NARROW)


def _moves(page: type[Instr]) -> bool:
    """Whether it writes into an operand."""
    return any(operand.role is Role.OUT for operand in page.operands)


def _unset(field: Operand | Attr) -> object:
    default = None if field.required else field.default
    if isinstance(field, Operand) and field.many and default is not None:
        default = Many(cast("tuple[object, ...]", default))
    return ABSENT if default is None else default


def _rank(order: tuple[str, ...], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _ends(cls: type[Instr]) -> tuple[str, str]:
    """The operands between which data moves: first read from memory, first written.

    What reads no memory fills the operand that it writes: that is both.
    """
    target = next(o.name for o in cls.operands if o.written)
    return next((o.name for o in cls.operands if o.role is Role.IN and o.in_memory), target), target


def _derived_rules(cls: type[Instr]) -> Iterator[Rule]:
    """Rules that follow from operand locations and from the table of paths."""
    for operand in cls.operands:
        if operand.fixed_loc is not None:
            yield from named("location", operand.loc == Const(operand.fixed_loc))
    if not cls.paths:
        return
    source, target = (cls.operand(n) for n in _ends(cls))
    for name in dict.fromkeys(name for p in cls.paths for name in p.on):
        available = tuple(p for p in cls.paths if name in p.on)
        yield from on(name, named("location", OneOfPaths(source, target, available)))
    for p in cls.paths:
        here = (source.loc == Const(p.source)) & (target.loc == Const(p.target))
        yield from when(here, p.rules)

"""The targets as data: capacities, alignments, aliases, readings."""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, TypeVar

from ptokit.diagnostics.diagnostic import Judge
from ptokit.isa.formula.formulas import Env, Evaluate, Expr, Field, Missing
from ptokit.isa.formula.rules import (
    A2A3,
    A5,
    CPU,
    F16_SUMS,
    LEFT_NZ,
    LEFT_ZZ,
    LEVEL3,
    LEVEL12,
    NO_WIDE_CASTS,
    SPACED_BIASES,
    Rule,
    RuleGroup,
    both,
    named,
    when,
)
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ALIASES, TileType
from ptokit.isa.model.words import FIX, MTE1, MTE2, MTE3, GlobalLayout, M, Order, Pipe, S, V
from ptokit.values.dtypes import DType, bf16, f4e1m2x2, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, hif8
from ptokit.values.enumerations import (
    ACC,
    BIAS,
    LEFT,
    MAT,
    RIGHT,
    SCALE_LEFT,
    SCALE_RIGHT,
    SCALING,
    VEC,
    GatherOOB,
    Loc,
)
from ptokit.values.layouts import NZ, ZZ, Layout

T = TypeVar("T")
KIB = 1024
PLANNED = {"BT": 64 * KIB, "FB": 64 * KIB}  # as large as the assembler takes them to be

# The memory behind each location, by the hardware's name.
SPACES: dict[Loc, str] = {
    VEC: "UB",
    MAT: "L1",
    LEFT: "L0A",
    RIGHT: "L0B",
    ACC: "L0C",
    BIAS: "BT",
    SCALING: "FB",
    SCALE_LEFT: "L0A_MX",
    SCALE_RIGHT: "L0B_MX",
    Loc.REGISTER: "VF",
    Loc.VEC1: "UB1",
}


# Readings, for disputes in which programs need either answer: the behaviour of a target with one.
LARGER_VIEWS, PEDANTIC, SATURATED_SUMS = "larger-views", "pedantic", "saturated-sums"
FINITE_PADS, INFINITE_PADS = "finite-pads", "infinite-pads"
FIRST_COLUMNS, ROW_BLOCKS = "first-columns", "row-blocks"
MASK_STREAMS, MASK_ROWS = "mask-streams", "mask-rows"
ZERO_PADS = "zero-pads"
WORDS_FIRST, ROUNDED_ROOTS = "words-first", "rounded-roots"
KEEPS_FIRST = "keeps-first"
AS = "as-"  # prefix of the readings that select a judge
READINGS = {
    ZERO_PADS: "a load into a tile with a null pad clears all of the tile's other elements",
    LARGER_VIEWS: "a load of a view larger than a tile's valid region takes the upper left part",
    SATURATED_SUMS: "a step of a tree of f16 sums that overflows gives 65504, not infinity",
    FINITE_PADS: "the pads max and min of floats are their largest finite numbers",
    INFINITE_PADS: "the pads max and min of floats are the infinities",
    FIRST_COLUMNS: "a row expand takes the first value of the 32 bytes in each row",
    ROW_BLOCKS: "a row expand repeats all values of the 32 bytes in each row",
    MASK_STREAMS: "a mask with a byte for each element takes a comparison as one stream of bits",
    MASK_ROWS: "a mask with a byte for each element takes each row of a comparison as a row",
    WORDS_FIRST: "floats become i8 or i16 by way of the nearest i32, of which low bits are kept",
    ROUNDED_ROOTS: "a reciprocal root is rounded twice: the root, then its reciprocal",
    KEEPS_FIRST: "a partial search takes its second number only where that is strictly better",
    PEDANTIC: "what assertions of debug builds refuse, though hardware does it, is a warning",
    **{f"{AS}{judge}": f"the verdict of {judge} decides" for judge in Judge},
}

INHERITED: Any = object()  # Any: stands for a value of any type until the target is made
# the values of a target that inherits from no other one
DEFAULTS: dict[str, Any] = {  # Any: values of the fields of a target
    "arch": (),
    "lacks": (),
    "capacity": dict.fromkeys(SPACES.values(), 0),
    "usable": {},
    "left": NZ,
    "wide4": False,
    "alignment": 32,
    "gathers": GatherOOB.ERROR,
    "order": Order.CPU,
    "pinned_left": True,
    "registers": True,
    "every_pair": False,
    "readings": (),
    "infers_nz": True,
    "kinds": True,
    "chip": True,
    "tf32": True,
    "releases": False,
    "separate": False,
    "most_signals": 0,
    "serial": tuple(Pipe),
    "narrow_vectors": False,
    "timed": True,
    "event_barriers": tuple(Pipe),
    "macros": {},
    "dav": "",
}


class _Has:
    """A property of a target: true if it has `reading` and not the reading `unless`."""

    def __init__(self, reading: str, unless: str = "") -> None:
        self.reading, self.unless = reading, unless

    def __get__(self, target: Target, owner: object) -> bool:
        return self.reading in target.readings and self.unless not in target.readings


@dataclass(frozen=True)
class Target:
    """A machine for which a program can be checked and executed.

    A target inherits all fields and rules of the target `like`; fields that it gives replace
    inherited ones. It `lacks` instructions (by the name of a page, or of the class of one form),
    element types and locations. `capacity` is in bytes per memory space; 0: the target has no such
    space. Every tile address must be a multiple of `alignment`. `left` is the layout of the alias
    TileLeft.
    """

    name: str
    title: str
    like: Target | None = None
    lacks: tuple[str | DType | Loc, ...] = ()
    arch: tuple[str, ...] = INHERITED  # its names in programs, as `pto.target_arch`
    capacity: dict[str, int] = INHERITED
    usable: dict[str, int] = INHERITED  # bytes that front ends leave to kernels, if fewer
    left: Layout = INHERITED
    wide4: bool = INHERITED
    alignment: int = INHERITED
    gathers: GatherOOB = INHERITED  # an index outside: undefined on hardware, so reported
    order: Order = INHERITED  # of additions
    pinned_left: bool = INHERITED  # a boxed left tile has the alias's layout, whatever text says
    registers: bool = INHERITED  # instructions read registers that other instructions set
    chip: bool = INHERITED  # follows chips where the CPU simulator differs
    tf32: bool = INHERITED  # has the mode that shortens f32 to TF32
    every_pair: bool = INHERITED  # the fix-pipe scales every pair, see `FixPipe`
    readings: tuple[str, ...] = INHERITED  # names in READINGS or TRAITS
    kinds: bool = INHERITED  # a core has the cube unit or the vector unit, not both
    releases: bool = INHERITED  # popping a tile from a FIFO frees its slot
    separate: bool = INHERITED  # each vector core has its own signals at the cube core
    most_signals: int = INHERITED  # pending signals of one number at a core; 0: unlimited
    serial: tuple[Pipe, ...] = INHERITED  # pipes that complete an entry before the next starts
    timed: bool = INHERITED  # the cost model of the target `like` applies to it
    narrow_vectors: bool = INHERITED  # vector instructions compute with at most 32 bits
    event_barriers: tuple[Pipe, ...] = INHERITED  # pipes on which an event is a barrier
    macros: dict[str, str] = INHERITED  # macros of C++ compilers for it, with their values
    dav: str = INHERITED  # the cores' name in macros: __DAV_C220_CUBE__; empty: none
    infers_nz: bool = INHERITED  # a view made of 16 x 32-byte boxes is nz without a stated layout

    def __post_init__(self) -> None:
        base = DEFAULTS if self.like is None else vars(self.like)
        facts = {k: base[k] if v is INHERITED else v for k, v in vars(self).items()}
        facts["lacks"] = tuple(dict.fromkeys((*base["lacks"], *self.lacks)))
        none = {SPACES[loc]: 0 for loc in self.lacks if isinstance(loc, Loc)}
        facts["capacity"] = base["capacity"] | facts["capacity"] | none
        self.__dict__.update(facts)

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def is_chip(self) -> bool:
        """True for hardware and targets that inherit from it, false for a simulator."""
        return self.follows(("a2a3", "a5"))

    def follows(self, names: tuple[str, ...] | None) -> bool:
        """Return whether a declaration for the targets `names` (None: all) applies to this target.

        It applies to these targets, to targets that inherit from them, and to their readings. The
        name "a5, not sums of f16" means the targets that inherit from a5 and lack that trait.
        """
        if names is None:
            return True
        if names not in self._followed:
            self._followed[names] = any(all(map(self._is, n.split(", "))) for n in names)
        return self._followed[names]

    @cached_property
    def _followed(self) -> dict[tuple[str, ...], bool]:
        """The answers of `follows`, which every rule of every page asks."""
        return {}

    def _is(self, word: str) -> bool:
        if word.startswith("not "):
            return not self._is(word[4:])
        if word in (LEFT_NZ, LEFT_ZZ):
            return (word == LEFT_NZ) is (self.left is NZ)
        same = word in (self.name, *self.readings)
        return same or (self.like is not None and self.like._is(word))

    def at(self, level: int | None) -> Target:
        """Return the target for programs of a level (1, 2 or 3; None: any level)."""
        return self if level is None else _at_level(self, LEVEL3 if level == 3 else LEVEL12)

    @property
    def level(self) -> int | None:
        """The level of the programs that the target judges, or None."""
        return 3 if LEVEL3 in self.readings else 2 if LEVEL12 in self.readings else None

    def __reduce__(self) -> str | tuple[object, ...]:
        """Return the name of a target of the table: a copy is that target."""
        known = MACHINES.get(self.name) is self
        return (_of_table, (self.name,)) if known else super().__reduce__()

    @property
    def in_order(self) -> bool:
        """True if instructions execute one after another, whatever their pipes."""
        return {*self.serial} == {*Pipe}

    larger_views = _Has(LARGER_VIEWS)
    f16_sums = _Has(F16_SUMS)
    saturated_sums = _Has(SATURATED_SUMS)
    spaced_biases = _Has(SPACED_BIASES)
    zero_pads = _Has(ZERO_PADS)
    finite_pads = _Has(FINITE_PADS, unless=INFINITE_PADS)
    first_columns = _Has(FIRST_COLUMNS, unless=ROW_BLOCKS)
    mask_streams = _Has(MASK_STREAMS, unless=MASK_ROWS)
    words_first = _Has(WORDS_FIRST)
    rounded_roots = _Has(ROUNDED_ROOTS)
    keeps_first = _Has(KEEPS_FIRST)

    @property
    def judge(self) -> Judge | None:
        """The judge whose verdict decides; None: any judge may refuse a program."""
        return next((judge for judge in Judge if f"{AS}{judge}" in self.readings), None)

    def capacity_of(self, loc: Loc) -> int:
        return self.capacity[SPACES[loc]]

    def alias(self, loc: Loc) -> tuple[Layout, int]:
        """Return layout and fractal of the alias of an L0 location."""
        layout, fractal = ALIASES[loc]
        return (self.left if loc is LEFT else layout), fractal

    def resolve_any(self, kind: T) -> T | TileType | GlobalType:
        """Return a tile or a view as this target lays it out; other types unchanged."""
        if isinstance(kind, GlobalType) and not self.infers_nz:
            inferred = kind.stated is None and kind.layout is GlobalLayout.NZ
            return replace(kind, stated=GlobalLayout.ND) if inferred else kind
        return self.resolve(kind) if isinstance(kind, TileType) else kind

    def resolve(self, tile: TileType) -> TileType:
        """Return the tile as this target lays it out: the Left alias, 64-element 4-bit boxes."""
        if self.wide4 and tile.dtype.packed:
            tile = replace(tile, wide4=True)
        if self.pinned_left and tile.loc is LEFT and tile.layout in (NZ, ZZ):
            tile = replace(tile, layout=self.left)
        return tile


@cache
def _at_level(target: Target, level: str) -> Target:
    return replace(target, like=target, readings=(*target.readings, level))


class Capacity(Expr):
    """The bytes of the memory of a tile's location, on the target of the check."""

    def __init__(self, tile: Field) -> None:
        self.loc = tile.loc

    def children(self) -> tuple[Expr, ...]:
        return (self.loc,)

    def compile(self) -> Evaluate:
        loc = self.loc.eval

        def capacity(env: Env) -> int | Missing:
            found = loc(env)
            return found if isinstance(found, Missing) else env["machine"].capacity_of(found)

        return capacity

    def __str__(self) -> str:
        return f"capacity of {self.loc}"


def at_address(addr: Field, tile: Field) -> RuleGroup:
    """Return the rules for an explicit address of a tile (SA-0352 to SA-0354)."""
    aligned = named(
        "address-misaligned",
        addr % Field("machine").alignment == 0,
        help="use a multiple of 32 bytes",
    )
    return when(Capacity(tile) > 0, aligned, in_memory(addr, tile))


def in_memory(addr: Field, tile: Field) -> RuleGroup:
    """Require that the bytes of a tile lie in the memory of its location."""
    return named(
        "address-out-of-range",
        both(addr >= 0, addr + tile.nbytes <= Capacity(tile)),
        help="addr is a byte offset in the memory of the tile's location",
    )


MEMORY_RULES = named(  # SA-0351
    "memory-missing", Capacity(Field("tile")) > 0, help="use another location, or another target"
)
ADDRESS_RULES = (*MEMORY_RULES, *at_address(Field("addr"), Field("tile")))


def _sizes(ub: int, l0c: int, bt: int, fb: int, mx: int) -> dict[str, int]:
    l1, l0 = 512, 64
    sizes = {"UB": ub, "L1": l1, "L0A": l0, "L0B": l0, "L0C": l0c, "BT": bt, "FB": fb, "UB1": ub}
    return {name: n * KIB for name, n in (sizes | {"L0A_MX": mx, "L0B_MX": mx, "VF": 1024}).items()}


# The CPU simulator keeps Bias and Scaling tiles in UB; here they have spaces of their own, of A5's
# size, so that equal addresses in different locations never alias.
CPU_TARGET = Target(
    CPU,
    "CPU simulator",
    capacity=_sizes(512, 128, 4, 4, 4),
    gathers=GatherOOB.WRAP,
    chip=False,
    kinds=False,
    pinned_left=False,
    registers=False,
    macros={"__CPU_SIM": "1"},
)
# The simulator with which the recordings were made, where it differs from today's.
RECORDED_TARGET = Target(
    "recorded",
    "CPU simulator of the recordings",
    like=CPU_TARGET,
    order=Order.RECORDED,
    readings=(ZERO_PADS,),
)
A2A3_TARGET = Target(
    A2A3,
    "Ascend A2/A3",
    arch=("a2", "a3"),
    capacity=_sizes(192, 128, 1, 2, 0),
    usable={"UB": 184 * KIB},
    left=ZZ,
    order=Order.A2A3,
    tf32=False,
    releases=True,
    most_signals=15,
    serial=(S, M),
    macros={
        **{"__NPU_ARCH__": "2201", "__CCE_AICORE__": "220"},
        **{"PTO_NPU_ARCH_A2A3": "1", "MEMORY_BASE": "1"},
    },
    dav="C220",
    readings=(WORDS_FIRST,),
)
A5_TARGET = Target(
    A5,
    "Ascend A5",
    arch=("a5",),
    capacity=_sizes(256, 256, 4, 4, 4),
    usable={"UB": 240 * KIB},
    wide4=True,
    every_pair=True,
    order=Order.A5,
    separate=True,
    serial=(S, M, V),
    event_barriers=(MTE2, MTE3),
    macros={
        **{"__NPU_ARCH__": "3101", "__CCE_AICORE__": "310"},
        **{"PTO_NPU_ARCH_A5": "1", "REGISTER_BASE": "1"},
    },
    dav="C310",
    readings=(
        *(LARGER_VIEWS, FINITE_PADS, FIRST_COLUMNS),
        *(MASK_STREAMS, ROUNDED_ROOTS, KEEPS_FIRST),
    ),
    infers_nz=False,
)


# traits of chips that inherit from A5, see `ptokit.isa.formula.rules.without`
TRAITS = {
    F16_SUMS: "accumulators of floats are f16, and leave the cube unit as f16, i16, i8 or u8",
    NO_WIDE_CASTS: "no conversion from or to 64 bits",
    SPACED_BIASES: "the bias of a column of f16 lies in the first two of four bytes",
}


def _kirin_macros(arch: str, name: str) -> dict[str, str]:
    there = (f"PTO_NPU_ARCH_{name}", "REGISTER_BASE", "PTO_COMM_NOT_SUPPORTED")
    return {"__NPU_ARCH__": arch, "__CCE_AICORE__": "310", **dict.fromkeys(there, "1")}


# One core has the cube unit and the vector unit, so cores exchange nothing. The headers
# define narrow floats away, and include A5's files except those of these instructions.
_KIRIN_LACKS = (
    *(bf16, hif8, f8e4m3, f8e5m2, f8e8m0, f4e2m1x2, f4e1m2x2, SCALE_LEFT, SCALE_RIGHT),
    *("mgather", "mscatter", "tinterleave", "tdeinterleave", "tpairreducesum", "trandom"),
    *("tfusedmuladd", "tfusedmuladdrelu", "tmuladddst", "tsubrelu", "taddreluconv"),
    *("tsubreluconv", "tadddeqrelu", "tprefetch", "tprint"),
    *("tmatmul.mx", "tmatmul.mx.acc", "tmatmul.mx.bias", "tquant.mx", "tquant_dn"),
    *("tgemv.mx", "tgemv.mx.acc", "tgemv.mx.bias"),
    *("tpush", "tpop", "tfree", "talloc", "tpush_to_aiv", "tpush_to_aic", "tpop_from_aic"),
    *("tpop_from_aiv", "tfree_from_aic", "tfree_from_aiv", "talloc_to_aiv", "talloc_to_aic"),
    *("aic_initialize_pipe", "aiv_initialize_pipe", "initialize_l2l_pipe"),
    *("initialize_l2g2l_pipe", "reserve_buffer", "import_reserved_buffer"),
    *("syncall", "sync.set", "sync.wait", "set_cross_block", "wait_cross_block"),
    *("set_intra_block", "wait_intra_block", "set_ffts"),
    *("comm.tput", "comm.tget", "comm.tnotify", "comm.twait", "comm.ttest"),
    *("comm.tbroadcast", "comm.tscatter", "comm.tgather", "comm.treduce"),
    *("build_async_session", "comm.build_async_session", "tput_async", "comm.tput_async"),
    *("tget_async", "comm.tget_async", "wait_async_event", "comm.wait_async_event"),
    *("test_async_event", "comm.test_async_event", "tprefetch_async"),
    *("make_prefetch_async_context", "get_prefetch_async_session"),
)
_KIRIN_TARGET = Target(
    "kirin",
    "Kirin",
    like=A5_TARGET,
    arch=(),
    lacks=_KIRIN_LACKS,
    usable={},
    kinds=False,
    tf32=False,
    narrow_vectors=True,
    timed=False,
    event_barriers=(M, MTE1, MTE2, MTE3, FIX),
    dav="",
    readings=(*A5_TARGET.readings, F16_SUMS),
)
KIRIN9030_TARGET = Target(
    "kirin9030",
    "Kirin 9030",
    like=_KIRIN_TARGET,
    lacks=("timg2col", "set_img2col_padding", "set_img2col_rpt"),
    capacity=_sizes(128, 64, 1, 7, 0) | {"L0A": 32 * KIB, "L0B": 32 * KIB},
    macros=_kirin_macros("3113", "KIRIN9030"),
    readings=(*_KIRIN_TARGET.readings, NO_WIDE_CASTS),
)
KIRINX90_TARGET = Target(
    "kirinX90",
    "Kirin X90",
    like=_KIRIN_TARGET,
    arch=("kirinx90",),
    lacks=(
        *("trem", "trems", "tdequant", "thistogram", "tget_scale_addr"),
        *("set_quant_scalar", "set_quant_vector"),
    ),
    capacity=_sizes(128, 128, 1, 6, 0) | {"L1": 1024 * KIB},
    left=ZZ,
    macros=_kirin_macros("3003", "KIRINX90"),
    readings=(*_KIRIN_TARGET.readings, SPACED_BIASES),
)
DEFAULT_TARGET = CPU_TARGET


@cache
def type_rules(target: Target) -> tuple[Rule, ...]:
    """Return the rules for the types of all tiles on a target: no missing element type."""
    lacking = [d for d in target.lacks if isinstance(d, DType)]
    help = f"`ptokit explain {target}` lists what the target lacks"
    rules = named("element-type", ~Field("tile").dtype.isin(*lacking), help=help)
    return tuple(rules) if lacking else ()


def _of_table(name: str) -> Target:
    return MACHINES[name]


# the targets that "all" means, and every target that has a name
TARGETS: dict[str, Target] = {t.name: t for t in (CPU_TARGET, A2A3_TARGET, A5_TARGET)}
FURTHER = {t.name: t for t in (KIRIN9030_TARGET, KIRINX90_TARGET)}
MACHINES = ChainMap(FURTHER, TARGETS)
ARCHES = {word: target.name for target in MACHINES.values() for word in (target.name, *target.arch)}

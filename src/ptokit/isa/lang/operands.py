"""The fields of a page: operands with their roles, attributes, and inference of omitted types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import NamedTuple

from ptokit.isa.formula.formulas import Const, Expr, Field
from ptokit.isa.formula.rules import HARDWARE
from ptokit.isa.model.types import REGISTER_KINDS, HandleType, Kind, ScalarType, Type
from ptokit.values.dtypes import DType
from ptokit.values.enumerations import Loc, Word


class Role(Enum):
    """The use that an instruction makes of an operand."""

    OUT = "written"
    INOUT = "read and written"
    IN = "read"
    SCRATCH = "scratch"
    RESULT = "defined"


REQUIRED = object()
STORED = (Kind.TILE, Kind.CONV, *REGISTER_KINDS)  # outputs of these kinds are results in SSA form
IN_MEMORY = frozenset(
    (
        Kind.TILE,
        Kind.ENTRY,
        Kind.MULTI,
        Kind.GLOBAL,
        Kind.CONV,
        Kind.PTR,
        Kind.ARRAY,
        Kind.STRUCT,
        *REGISTER_KINDS,
    )
)


class Operand(Field):
    """A typed field of a page. In formulas it stands for its value, its attributes for properties.

    `default`: the value when not given; None makes it optional (absent). `key`: the word before it
    in text (`addr = %a`, without `equals` `sizes [8, 8]`). `many`: a list. `loc`: the only legal
    location. `scalar`: the element type of a number; `whole`: the number is an integer, `real`: a
    float, `exact`: of type `scalar` only. `element`: a body gets the number as an array of one
    element of the number's own type. `handle`: the type of a handle. `in_memory`: the operand has
    bytes in memory. `counts`: the axis whose elements the number counts, where text may count pairs
    of elements: rows, cols, extents and steps, in the order of the axes, or elements. `idle`: the
    targets that do not use this scratch. `storage`: hardware takes the bytes one after another,
    whether boxes are whole or not. `buffer`: written in place in SSA form, too. `also`: the type
    that the first use may give a number whose definition has no type.
    """

    def __init__(
        self,
        role: Role,
        kind: Kind,
        default: object = REQUIRED,
        *,
        key: str | None = None,
        equals: bool = True,
        many: bool = False,
        loc: Loc | None = None,
        cpp: str | None = None,
        scalar: str | None = None,
        whole: bool = False,
        real: bool = False,
        element: bool = False,
        exact: bool = False,
        handle: HandleType | None = None,
        counts: str = "",
        idle: tuple[str, ...] = (),
        storage: bool = False,
        buffer: bool = False,
        also: str | None = None,
        doc: str = "",
    ) -> None:
        super().__init__("?")
        self.name = "?"  # until the page sets its name
        self.counts, self.idle, self.storage, self.also = counts, idle, storage, also
        self.role, self.kind, self.default = role, kind, default
        self.in_memory = kind in IN_MEMORY
        self.fresh = kind in STORED and not buffer  # as an output, it is a result in SSA form
        self.key, self.many, self.fixed_loc, self.doc = key, many, loc, doc
        self.cpp_name, self.scalar, self.equals = cpp, scalar, equals
        self.real, self.element, self.exact, self.handle = real, element, exact, handle
        self.whole = whole or (scalar is not None and not ScalarType(scalar).is_float)

    def __set_name__(self, owner: type, name: str) -> None:
        self._operand = self.name = name

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    def accepts(self, given: Type) -> bool:
        """Return whether a value of this type may be the operand."""
        if isinstance(given, HandleType) and self.handle is not None:
            return given == self.handle
        if isinstance(given, ScalarType) and self.exact:
            return given.name == self.scalar
        if isinstance(given, ScalarType) and (self.whole if given.is_float else self.real):
            return False
        return self.kind.accepts(given)

    @property
    def kind_name(self) -> str:
        """The kind in the words of messages."""
        if self.handle is not None:
            return str(self.handle)
        if self.exact:
            return f"number of type {self.scalar}"
        return "integer" if self.whole else "float" if self.real else self.kind.value

    @property
    def wanted(self) -> str:
        """The kind with an article, for messages."""
        return f"{'an' if self.kind_name[0] in 'aei' else 'a'} {self.kind_name}"

    @property
    def read(self) -> bool:
        return self.role in (Role.IN, Role.INOUT)

    @property
    def written(self) -> bool:
        return self.role in (Role.OUT, Role.INOUT)

    @property
    def changed(self) -> bool:
        """True if the instruction may change the operand's bytes."""
        return self.written or self.role is Role.SCRATCH


class Apart(NamedTuple):
    """A no-alias constraint: operands that must not overlap, in pairs, on these targets.

    `placed`: the constraint includes tiles whose addresses the program gives; else only handles on
    one tile count. Without targets a violation is no error: only address assignment obeys the
    constraint. `condition`: a formula about the types.
    """

    operands: tuple[Operand, ...]
    targets: tuple[str, ...] = HARDWARE
    placed: bool = False
    condition: Expr = Const(True)

    def __str__(self) -> str:
        *names, last = (o.name for o in self.operands)
        if not self.targets:
            return f"{', '.join(names)} and {last} are placed apart"
        which = "tiles" if self.placed else "handles on one tile"
        where = "" if isinstance(self.condition, Const) else f" where {self.condition}"
        on = ", ".join(self.targets)
        return f"{', '.join(names)} and {last} share no byte as {which}{where} ({on})"


class Spoiled(NamedTuple):
    """An input that the code of these targets uses as scratch.

    The input is undefined afterwards if `condition` holds for the types.
    """

    operand: Operand
    targets: tuple[str, ...]
    condition: Expr = Const(True)

    def __str__(self) -> str:
        always = isinstance(self.condition, Const)
        when = "" if always else f" where {self.condition}"
        return f"{self.operand.name} is undefined afterwards{when} ({', '.join(self.targets)})"


class Attr(Field):
    """A compile-time choice: an enumeration member, a bool, an int, a string or whole numbers.

    `key` is its name in text attributes; Python uses the field's own name. An attribute without a
    default must be given. `cpp`: True for an argument of the C++ template. `quoted`: DPS text has
    the value alone after the types of operands. `newer`: its key in newer DPS text, `older`: in
    older. `bits`: the width of an int in text. `in_values`: the default in Python's value forms.
    `family`: the attribute that spells the value of a string, `#pto.family<WORD>`. `in_cpp`:
    returns the C++ text of a value.
    """

    def __init__(
        self,
        kind: type[Word | int | str | tuple[int, ...]],
        default: object = REQUIRED,
        *,
        key: str | None = None,
        cpp: bool = True,
        quoted: bool = False,
        newer: str = "",
        older: str = "",
        bits: int = 64,
        family: str = "",
        in_values: object = None,
        in_cpp: Callable[..., str] | None = None,  # takes a value of type `kind`
        doc: str = "",
    ) -> None:
        super().__init__("?")
        self.in_values, self.in_cpp, self.doc = in_values, in_cpp, doc
        self.cpp, self.quoted, self.bits = cpp, quoted, bits
        self.newer, self.older, self.family = newer, older, family
        self.name = "?"  # until the page sets its name
        self.kind, self.default, self._key = kind, default, key

    def __set_name__(self, owner: type, name: str) -> None:
        self._operand = self.name = name

    @property
    def key(self) -> str:
        return self._key or self.operand

    @property
    def required(self) -> bool:
        return self.default is REQUIRED


class TypeOf(Field):
    """The type of an operand that is a number, for rules and as a parameter of the body."""

    def __init__(self, operand: Operand) -> None:
        super().__init__("?")
        self.of = operand

    def __set_name__(self, owner: type, name: str) -> None:
        self._operand = name


In = partial(Operand, Role.IN)  # an input
# an output; elements that the body does not write keep their bits
Out = partial(Operand, Role.OUT)
InOut = partial(Operand, Role.INOUT)
# Storage for intermediate results: never read before, undefined afterwards. Scratch operands
# stand among the inputs in text and calls. Hardware uses them, bodies do not.
Scratch = partial(Operand, Role.SCRATCH)
# a value that the instruction defines in every text form: a handle, a view, a number
Result = partial(Operand, Role.RESULT)


@dataclass(frozen=True, eq=False)
class Like:
    """The inference of an omitted output type: the type of `model`, with changes."""

    model: Field | None
    rows: Expr
    cols: Expr
    loc: Loc | None = None
    whole: bool = False
    dtype: Callable[[DType], DType] | None = None  # element type of the model -> of the output


def like(
    model: Field, dtype: Callable[[DType], DType] | None = None, *, whole: bool = False
) -> Like:
    """Return the inference 'the type of `model`, with its valid region'."""
    return Like(model, model.valid.rows, model.valid.cols, whole=whole, dtype=dtype)

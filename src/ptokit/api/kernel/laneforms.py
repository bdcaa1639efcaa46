"""Instructions on registers and masks as functions: recorded in a kernel, or executed at once.

The operands are those of the text, in its order: `vsts(register, tile, offset, mask)`. A tile
stands where the text has a pointer. Registers that an instruction gives are returned; their types
are those that the rules of the page allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from inspect import Parameter, Signature
from itertools import product
from typing import Any, TypeAlias

from ptokit.api import eager
from ptokit.api.eager import chosen_word, shown
from ptokit.api.hostarrays import LaneRegister, Tile
from ptokit.api.kernel.callplaces import refused
from ptokit.api.kernel.lanesexecuted import Executing, new_register
from ptokit.api.kernel.recorded import RecordedRegister, RecordedTile
from ptokit.api.kernel.recorder import Given, Recorder
from ptokit.api.kernel.runtimenumbers import RunTimeNumber, is_number
from ptokit.api.kernel.scalarkinds import scalar_kind
from ptokit.api.tensors import ElementType, dtype_of
from ptokit.diagnostics.callsite import door
from ptokit.ir.module import Op, Value
from ptokit.isa.index import lookup, pages
from ptokit.isa.lang.environment import call, environment
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.model.targets import DEFAULT_TARGET
from ptokit.isa.model.tiles import ALIGN, RegisterType, mask, register
from ptokit.isa.model.types import Kind, PtrType, ScalarType, Type
from ptokit.launch.settings import recording
from ptokit.text.read.reader import read
from ptokit.text.read.registerops import outcome, plain
from ptokit.values.dtypes import DTYPES, DType

KINDS = {"vreg": "a vector register", "mask": "a mask", "align": "a state of unaligned accesses"}
OUTSIDE = "call it in a function that is marked @pto.vector, from a kernel or on tiles"
inside: list[str] = []  # the vector function that is running, by name

Results: TypeAlias = Any  # Any: what an instruction gives, a register, numbers or several


class LaneForm:
    """An instruction on registers and masks as a function."""

    def __init__(self, name: str, page: type[Instr]) -> None:
        self.name, self.page = name, page
        self.operands, self.results = plain(page), outcome(page)
        self.places = (*(o.name for o in self.operands), *(a.name for a in page.attrs))
        self.__name__ = self.__qualname__ = name
        self.__signature__ = self._signature()
        self.__doc__ = f"{name}{self.__signature__}\n\n{eager.documentation(page)}"

    def __repr__(self) -> str:
        return f"<instruction on registers {self.name}{self.__signature__}>"

    def _signature(self) -> Signature:
        how, empty = Parameter.POSITIONAL_OR_KEYWORD, Parameter.empty
        fields = [*self.operands, *self.page.attrs]
        fields.sort(key=lambda f: not f.required)
        found = [Parameter(f.name, how, default=empty if f.required else f.default) for f in fields]
        return Signature([*found, Parameter("dtype", Parameter.KEYWORD_ONLY, default=None)])

    @door
    def __call__(self, *args: object, dtype: ElementType | None = None, **names: object) -> Results:
        """Return the register, or several results, of the instruction."""
        if not inside:
            raise refused("vector-function", f"{self.name} outside of a vector function", OUTSIDE)
        form = next((form for form in self.forms if form.takes(args, names)), self)
        return form.perform(args, names, dtype)

    @property
    def forms(self) -> tuple[LaneForm, ...]:
        """All forms with the name."""
        return lane_forms(self.name)

    def takes(self, args: Sequence[object], names: Mapping[str, object]) -> bool:
        """Return whether the form takes arguments of these kinds."""
        try:
            self._arguments(args, names)
        except TypeError:
            return False
        return True

    def _arguments(self, args: Sequence[object], names: Mapping[str, object]) -> Given:
        """Return the arguments by name; TypeError if the form does not take them."""
        try:
            given = self.__signature__.bind(*args, **names).arguments
        except TypeError as problem:
            raise TypeError(f"{self.name}{self.__signature__}: {problem}") from None
        for operand in self.operands:
            self._require(operand, given.get(operand.name))
        return given

    def perform(
        self, args: Sequence[object], names: Mapping[str, object], dtype: ElementType | None
    ) -> Results:
        """Record or execute the instruction."""
        given = self._arguments(args, names)
        attrs = {a.name: chosen_word(a, given[a.name]) for a in self.page.attrs if a.name in given}
        kinds = self._kinds(given, attrs, dtype)
        record = recording.get()
        if isinstance(record, Recorder):
            found = self._recorded(record, given, attrs, kinds)
        else:
            found = self._executed(given, attrs, kinds)
        return found[0] if len(found) == 1 else tuple(found) or None

    # operands

    def _require(self, operand: Operand, given: object) -> None:
        """Raise TypeError unless an argument is what the operand takes."""
        if given is None and not operand.required:
            return
        if operand.kind is Kind.REGISTER:
            word = words_of(self.page)[operand.name]
            kind = given.type if isinstance(given, LaneRegister | RecordedRegister) else None
            if isinstance(kind, RegisterType) and kind.word == word:
                return
            seen = f"{KINDS[kind.word]}, {kind}" if isinstance(kind, RegisterType) else shown(given)
            raise TypeError(self._wrong(operand, KINDS[word], seen))
        number = operand.kind in (Kind.INDEX, Kind.SCALAR)
        right = is_number(given) if number else isinstance(given, Tile)
        if not right or isinstance(given, LaneRegister | RecordedRegister):
            raise TypeError(self._wrong(operand, "a number" if number else "a tile", shown(given)))

    def _wrong(self, operand: Operand, wanted: str, seen: str) -> str:
        called = f"{self.name}({', '.join(o.name for o in self.operands)})"
        return f"{called}: {operand.name} must be {wanted}, got {seen}"

    # types of results

    def _kinds(
        self, given: Mapping[str, object], attrs: Mapping[str, object], dtype: ElementType | None
    ) -> list[RegisterType]:
        """Return the types of the registers that the instruction gives."""
        outs = [o for o in self.results if o.kind is Kind.REGISTER]
        if not outs:
            return []
        types = {n: _type(self.page.operand(n), v) for n, v in given.items() if n not in attrs}
        known = {n: t for n, t in types.items() if t is not None}
        words = words_of(self.page)
        like = [t for t in known.values() if isinstance(t, RegisterType)]
        choices = [_candidates(words[o.name], dtype) for o in outs]
        allowed = [
            kinds
            for kinds in product(*choices)
            if self._allows(
                {**known, **dict(zip((o.name for o in outs), kinds, strict=True))}, attrs
            )
        ]
        alike = [kinds for kinds in allowed if len({*kinds}) == 1]
        loaded = [t.dtype for t in known.values() if isinstance(t, PtrType)]
        of_memory = [kinds for kinds in alike if kinds[0].dtype in loaded]
        for found in (allowed, alike, of_memory):
            if len(found) == 1:
                return [*found[0]]
        if not allowed:  # the rules say which operand is wrong
            return [
                next((k for k in like if k.word == words[o.name]), c[0])
                for o, c in zip(outs, choices, strict=True)
            ]
        options = ", ".join(dict.fromkeys(kinds[0].dtype.name for kinds in allowed))
        raise TypeError(f"{self.name}: give dtype=, the element type of the result: {options}")

    def _allows(self, types: Mapping[str, Type], attrs: Mapping[str, object]) -> bool:
        """Return whether no rule refuses these types."""
        env = environment(self.page, types, attrs, DEFAULT_TARGET)
        return all(rule.holds(env) is not False for rule in self.page.rules_on(DEFAULT_TARGET))

    # calls

    def _recorded(
        self,
        record: Recorder,
        given: Mapping[str, object],
        attrs: Mapping[str, object],
        kinds: Sequence[RegisterType],
    ) -> list[RunTimeNumber | RecordedRegister]:
        dtypes = {n: v.type.dtype for n, v in given.items() if isinstance(v, RecordedTile)}
        operands = dict[str, Sequence[Value]]()
        for operand in self.operands:
            if (value := given.get(operand.name)) is not None:
                operands[operand.name] = (self._bound(record, operand, value, dtypes),)
        left, made = [*kinds], list[Value]()
        for result in self.results:
            kind = (
                left.pop(0) if result.kind is Kind.REGISTER else ScalarType(result.scalar or "i32")
            )
            made.append(record.value("", kind))
        order = [*self.page.results(), *(o for o in self.page.outs() if o.fresh)]
        places = [o.name for o in self.results]
        results = [made[places.index(o.name)] for o in order]
        stated = {a.name: a.default for a in self.page.attrs}
        chosen = {n: v for n, v in attrs.items() if v != stated[n]}
        record.emit(self.page, operands, chosen, results, names=self.places)
        return [_handle(value) for value in made]

    def _bound(
        self, record: Recorder, operand: Operand, given: Any, dtypes: Mapping[str, DType]
    ) -> Value:  # Any: an argument
        if operand.kind is Kind.REGISTER:
            return given.value
        if operand.kind is Kind.PTR:
            return pointer_to(record, given)
        if operand.kind is Kind.INDEX:
            return record.number(given)
        return record.number(given, scalar_kind(self.page, operand, given, dtypes))

    def _executed(
        self, given: Given, attrs: Mapping[str, object], kinds: Sequence[RegisterType]
    ) -> list[object]:
        page, make = self.page, Executing()
        outs = [o.name for o in self.results if o.kind is Kind.REGISTER]
        if page.run is not None:
            made = {n: new_register(kind) for n, kind in zip(outs, kinds, strict=True)}
            defaults = {a.name: a.default for a in page.attrs if not a.required}
            eager.execute(page, {**made, **defaults, **given, **attrs})
            return [*made.values()]
        assert page.lowered is not None
        values: dict[str, object] = {o.name: o.default for o in page.operands if not o.required}
        values |= {a.name: attrs.get(a.name, a.default) for a in page.attrs}
        values |= {n: make.argument(page.operand(n), v) for n, v in given.items() if n not in attrs}
        values |= dict(zip(outs, kinds, strict=True)) | {"make": make}
        found: list[object] | None = call(page.lowered, values)
        order = [*page.results(), *(o for o in page.outs() if o.fresh)]
        terms = dict(zip((o.name for o in order), found or [], strict=False))
        return [terms[o.name] for o in self.results]


def _type(operand: Operand, given: Any) -> Type | None:  # Any: an argument
    """Return the type of an argument, of a tile as a pointer; None for a number."""
    if operand.kind is Kind.PTR:
        return PtrType(given.type.dtype, given.type.loc.text)
    return given.type if operand.kind is Kind.REGISTER and given is not None else None


def _handle(value: Value) -> RecordedRegister | RunTimeNumber:
    if isinstance(value.type, ScalarType):
        return RunTimeNumber.of(value, value.type)
    return RecordedRegister(value)


def _candidates(word: str, dtype: ElementType | None) -> list[RegisterType]:
    """Return the types of a kind of register, with elements of a type if one is given."""
    kinds = [d for d in DTYPES if d.bits >= 8] if dtype is None else [dtype_of(dtype)]
    if word == "vreg":
        return [register(d) for d in kinds]
    bits = dict.fromkeys(min(max(d.bits, 8), 32) for d in kinds)
    return [mask(n) for n in bits] if word == "mask" else [ALIGN]


def pointer_to(record: Recorder, tile: RecordedTile) -> Value:
    """Return the pointer to a tile, made once for each region."""
    page = _addressing()
    record.unused.pop(tile.value, None)
    found = record.remembered((page, tile.value))
    if found is None:
        kind = PtrType(tile.type.dtype, tile.type.loc.text)
        found = record.value(f"{tile.value.name}_at", kind)
        record.emit(page, {page.ins()[0].name: (tile.value,)}, {}, [found])
        record.known[(page, tile.value), id(record.stack[-1])] = found
    return found


@cache
def _addressing() -> type[Instr]:
    """Return the page that gives the pointer to a tile."""

    def fits(page: type[Instr]) -> bool:
        ins, results = page.ins(), page.results()
        return [o.kind for o in ins] == [Kind.TILE] and [o.kind for o in results] == [Kind.PTR]

    return next(page for page in pages() if fits(page))


@cache
def words_of(page: type[Instr]) -> Mapping[str, str]:
    """Return the kind of register of each operand, as the example of the page has it."""
    module = read(example_program(page))
    ops = (op for func in module.funcs for op in func.ops if isinstance(op, Op))
    op = next(op for op in ops if op.page is page)
    ends = (*op.values(), *op.named_results())
    return {n: v.type.word for n, v in ends if isinstance(v.type, RegisterType)}


def _usable(page: type[Instr]) -> bool:
    """Return whether the page is an instruction of the level that text has, on registers."""
    kinds = {o.kind for o in page.operands}
    goes_on = any(o.kind is Kind.PTR for o in page.results())  # tiles have no pointers in Python
    of_lanes = page.below and page.asm.shape == "lanes" and not goes_on
    return of_lanes and Kind.TILE not in kinds and (Kind.REGISTER in kinds or not kinds)


@cache
def lane_names() -> tuple[str, ...]:
    """Return the names of all instructions on registers."""
    return tuple(sorted({page.name for page in pages() if _usable(page)}))


@cache
def lane_forms(name: str) -> tuple[LaneForm, ...]:
    """Return the functions of this name: one for each form."""
    found = (p for p in lookup(name) if p.name == name and _usable(p))
    return tuple(LaneForm(name, page) for page in found)

"""Instructions on the vector buffer at an address, executed on the row of bytes that lies there."""

from collections.abc import Mapping
from typing import Any, cast

from ptokit.isa.lang.environment import call
from ptokit.isa.lang.hooks import Hook
from ptokit.isa.lang.localmemory import Lowering
from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.lanefamilies import *

BUFFER = 256 * 1024  # bytes that indices may reach


class AtAddress(Below, abstract=True, example=lanes()):
    """An instruction on the vector buffer at an address.

    With `going_on`, an example, there is a second form, which accesses the pointer itself and
    returns the pointer behind it: `advance` is the operand that says how far, `still` the operands
    that this form does not add to the pointer.
    """

    going_on: ClassVar[str] = ""
    advance: ClassVar[str] = "offset"
    still: ClassVar[Mapping[str, object]] = {"offset": None}
    further: ClassVar[Mapping[str, Operand]] = {}  # operands that the second form alone has

    def __init_subclass__(cls, abstract: bool = False, **facts: Any) -> None:  # Any: as in Below
        super().__init_subclass__(abstract=abstract, **facts)
        if not abstract and "going_on" in vars(cls):
            cls._going_on()

    @classmethod
    def _going_on(cls) -> None:
        fields = {f.name: f for f in (*cls.operands, *cls.attrs)} | dict(cls.further)
        doc = f"""{cls.summary()}

The access is at the pointer itself; `following` is the pointer `{cls.advance}` further on."""
        text = {
            "__doc__": doc,
            "__module__": cls.__module__,
            "rules": cls.rules,
            "lowered": classmethod(_accessed(cls)),
        }
        facts = {"name": cls.name, "example": cls.going_on, "asm": cls.asm, "form": "going on"}
        page_of(
            Below, f"{cls.__name__}GoingOn", {"following": Result(Ptr), **fields, **text}, **facts
        )

    @classmethod
    def pointer(cls) -> Operand:
        return next(o for o in cls.operands if o.kind is Ptr)

    @classmethod
    def behind(
        cls, make: Lowering, pointer: LocalPointer, steps: Quantity, **_: Quantity
    ) -> LocalPointer:
        """Return the pointer so many steps further on."""
        return pointer.moved(make, steps)


def _accessed(page: type[AtAddress]) -> Callable[..., list[Quantity] | None]:
    """Return the lowering of the form that goes on."""

    def lowered(cls: type[Below], make: Lowering, **given: Quantity) -> list[Quantity] | None:
        assert page.lowered is not None
        given = {n: v for n, v in given.items() if n != "following"}
        pointer = local_pointer(given[page.pointer().name])
        following = page.behind(make, pointer, given[page.advance], dist=given.get("dist"))
        found = call(page.lowered, {**given, **page.still, "make": make})
        return None if found is None else [following, *found]

    return lowered


class OnRow(AtAddress, abstract=True):
    """An instruction with a pointer, which is executed as a second form with a row of the buffer.

    `run` is the body of the second form. `row` returns the type of the row; its parameters are
    attributes, types of results, and `unit`, the type of the pointer's elements. `first_alone`
    are the operands that the second form does not have.
    """

    row: ClassVar[Hook]
    first_alone: ClassVar[tuple[str, ...]] = ("offset",)
    body: ClassVar[object] = None
    second: ClassVar[type[Below] | None] = None  # pages of one family have one second form

    def __init_subclass__(cls, abstract: bool = False, **facts: Any) -> None:  # Any: as in Below
        if "run" in vars(cls):
            cls.body, cls.run = vars(cls)["run"], None
        super().__init_subclass__(abstract=abstract, **facts)
        family = next(c for c in cls.__mro__ if "body" in vars(c) and issubclass(c, OnRow))
        if not abstract and family.second is None:
            family.second = cls._second(f"{family.__name__}Row")

    @classmethod
    def _second(cls, title: str) -> type[Below]:
        """Return the form whose operand is the row."""
        fields = {f.name: f for f in (*cls.operands, *cls.attrs) if f.name not in cls.first_alone}
        fields[cls.pointer().name] = Operand(cls.pointer().role, Tile)
        text = {"__doc__": cls.summary(), "__module__": cls.__module__, "run": cls.body}
        facts = {"name": cls.name, "example": cls.example}
        form = "to bytes" if cls.pointer().written else "of bytes"
        return page_of(Below, title, fields | cls.more() | text, **facts, form=form)

    @classmethod
    def more(cls) -> dict[str, object]:
        """Return the operands that the second form alone has."""
        return {}

    def lowered(cls, make, **given):
        pointer = local_pointer(given[cls.pointer().name])
        steps = given.get("offset")
        place = pointer
        if steps is not None:
            place = cls.behind(make, pointer, steps, dist=given.get("dist"))
        row = call(cls.row, {**given, "unit": place.dtype})
        return cls.on_row(make, given, cls.placed(make, place, row))

    @classmethod
    def placed(cls, make: Lowering, place: LocalPointer, row: TileType) -> dict[str, Quantity]:
        """Return the operands that take the place of the pointer."""
        return {cls.pointer().name: make.window(row, place.address)}

    @classmethod
    def on_row(
        cls, make: Lowering, given: Mapping[str, Quantity], row: Mapping[str, Quantity]
    ) -> list[Quantity]:
        """Add the second form; `row`: the operands that take the place of the pointer."""
        page = cls.second
        assert page is not None
        operands = {o.name: given[o.name] for o in page.ins() if o.name not in row}
        results = [given[o.name] for o in page.outs() if o.kind in REGISTER_KINDS]
        return make.op(page, {**operands, **row}, given, cast("list[Type]", results))


class ByIndex(OnRow, abstract=True):
    """An access by indices: `first` is the place of the pointer in the row, the whole buffer."""

    of_bytes: ClassVar[bool] = False  # whether indices count bytes

    @classmethod
    def more(cls) -> dict[str, object]:
        return {"first": In(Scalar, scalar="i64")}

    @classmethod
    def row(cls, unit: DType) -> TileType:
        dtype = u8 if cls.of_bytes else unit
        return line(dtype, BUFFER * 8 // dtype.bits)

    @classmethod
    def placed(cls, make: Lowering, place: LocalPointer, row: TileType) -> dict[str, Quantity]:
        first = make.over(place.address, row.dtype.bits // 8)
        return {cls.pointer().name: make.window(row, 0), "first": first}


def in_buffer(ptr: Operand) -> Ruled:
    """Require a pointer into the vector buffer."""
    return named("location", ptr.space == "vec", help="registers are loaded from the vector buffer")


def same_size(ptr: Operand, register: Operand) -> Ruled:
    """Require elements of one width."""
    help = "the pointer and the register have elements of one type"
    return named("element-type", ptr.dtype == register.dtype, help=help)


def one_of(attr: Attr, *words: str) -> Ruled:
    """Require one of the words, if one is given."""
    return when(
        attr.given, named("attribute", attr.isin(*words), help=f"one of {', '.join(words)}")
    )

"""Views of global memory in C++: types with the numbers that are known, offsets of windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.traits import CALLS, TERMINATOR
from ptokit.isa.model.globaltypes import GlobalType, five
from ptokit.isa.model.types import Kind, PtrType, Type
from ptokit.isa.model.words import GlobalLayout
from ptokit.text.write.cppnumbers import Numbers, Use
from ptokit.text.write.cpptypes import DYNAMIC
from ptokit.values.dtypes import DType

AXES = ("rows", "cols")  # how the extents of a matrix are called


class Term(NamedTuple):
    """An extent or a stride: its text, and True where a compiler knows it."""

    text: str
    fixed: bool


class GlobalViews:
    """The views of a function: what is known of each, and how C++ declares it.

    A view that only instructions and windows use has its numbers in its type. One that a loop
    carries, a call takes or a branch chooses has strides that its constructor takes, so that views
    that differ only in them have one type.
    """

    def __init__(
        self,
        func: Func,
        numbers: Numbers,
        uses: Mapping[Value, list[Use]],
        name: Callable[[Value], str],
    ) -> None:
        self.name, self.numbers, self.uses = name, numbers, uses
        self.args = func.args
        self.steps: dict[Value, list[Term]] = {}  # the strides that the text has names for
        self.begins: dict[Value, str] = {}  # pointers to the first elements of some views
        self.layouts: dict[Value, GlobalLayout] = {}  # those that an op states
        self.first: dict[Value, Value] = {}  # the view or pointer at whose array one begins
        passed = (p for op in func.body.walk() if isinstance(op, Op) for p in op.flows())
        self.passed = {v for _, _, pairs in passed for pair in pairs for v in pair}

    def derive(self, op: Op) -> None:
        """Note that views and pointers that are made of one another are of one array."""
        for result in op.results:
            for _, value in op.values():
                if _dtype_behind(value.type) == _dtype_behind(result.type) is not None:
                    self.first.setdefault(result, self.first.get(value, value))

    def array(self, view: Value) -> str:
        """A pointer to where the array of a view begins, as far as the function shows it."""
        first = self.first.get(view, view)
        if isinstance(first.type, PtrType):
            return self.name(first)
        known = first in self.args and "offset:" not in getattr(first.type, "written", "")
        return f"{self.begin(first)}{'' if known else ' /* from where its array begins */'}"

    def begin(self, view: Value) -> str:
        """A pointer to the first element of a view."""
        return self.begins.get(view) or f"{self.name(view)}.data()"

    def strides(self, view: Value) -> list[Term]:
        """The strides of a view, one for each of its extents."""
        if view in self.steps:
            return self.steps[view]
        rank = view.type.rank if isinstance(view.type, GlobalType) else 0
        return [Term(f"{self.name(view)}.GetStride({n})", False) for n in range(5 - rank, 5)]

    def number(self, value: Value) -> Term:
        """A value as an extent or stride."""
        return Term(self.name(value), value in self.numbers.known)

    def settled(self, view: Value) -> bool:
        """True for a view whose type no other view has to share."""
        return view not in self.passed and all(_plain(op, name) for op, name in self.uses[view])

    def only_windows(self, view: Value) -> bool:
        """True for a view of which only windows are used: they begin at its pointer."""
        uses = self.uses[view]
        return bool(uses) and all(_by_pointer(op, name) for op, name in uses)

    def declared(self, view: Value, shape: Sequence[Term], steps: Sequence[Term]) -> list[str]:
        """The type of a view with these numbers, and what its constructor takes behind a pointer.

        What the type does not have stands in braces: extents, then strides.
        """
        kind = view.type
        assert isinstance(kind, GlobalType)
        kind = replace(kind, stated=self.layouts.get(view, kind.stated))
        if not self.settled(view):
            shape = [Term(s.text, n is not None) for s, n in zip(shape, kind.shape, strict=True)]
            steps = [Term(s.text, False) for s in steps]
        open_shape, open_steps = _open(shape), _open(steps)
        given = [f", {{{open_shape}}}"] if open_shape or open_steps else []
        given += [f", {{{open_steps}}}"] if open_steps else []
        return [_type(kind, shape, steps), "".join(given)]

    def without_place(self, view: Value) -> str:
        """The type of a view that is declared before it has a place: rows lie one by one."""
        kind = view.type
        assert isinstance(kind, GlobalType)
        shape = [Term(DYNAMIC if n is None else str(n), n is not None) for n in kind.shape]
        return self.declared(view, shape, dense(shape))[0]

    def of_argument(self, view: Value, pointer: str) -> Iterator[str]:
        """Yield the declaration of a view that a launch gives as a pointer, if it is needed."""
        kind = view.type
        assert isinstance(kind, GlobalType)
        names = iter(self.extents_of(view, pointer))
        shape = [Term(next(names), False) if n is None else Term(str(n), True) for n in kind.shape]
        given = kind.stride if kind.stride and None not in kind.stride else None
        steps = [Term(str(n), True) for n in given] if given else dense(shape)
        self.steps[view] = steps
        if self.only_windows(view):
            self.begins[view] = pointer
            return
        made, more = self.declared(view, shape, steps)
        yield f"{made} {self.name(view)}({pointer}{more});"

    def extents_of(self, view: Value, pointer: str) -> list[str]:
        """The names of the extents that a launch gives of a view."""
        kind = view.type
        assert isinstance(kind, GlobalType)
        axes = AXES if kind.rank == 2 else [f"n{n}" for n in range(5 - kind.rank, 5)]
        pairs = zip(axes, kind.shape, strict=True)
        return [f"{pointer}_{axis}" for axis, extent in pairs if extent is None]

    def made(self, op: Op, result: Value) -> dict[str, object]:
        """Return what the template of an op that gives a view may say of it.

        `type` and `extents`, what the constructor takes; `NAME_at`, how far the element at the
        offsets NAME lies from the first one.
        """
        kind = result.type
        assert isinstance(kind, GlobalType)
        stated = op.attrs.get("layout")
        if isinstance(stated, GlobalLayout):
            self.layouts[result] = stated
        lists = {o.name: op.bound(o.name) for o in op.page.operands if o.many}
        made: dict[str, object] = {}
        steps = [self.number(v) for v in lists.get("strides", ())]
        source = next((v for _, v in op.values() if isinstance(v.type, GlobalType)), None)
        if source is not None and not steps:
            if source in self.layouts:
                self.layouts.setdefault(result, self.layouts[source])
            steps = self.strides(source)
            made["offsets_at"] = offset(map(self.number, lists.get("offsets", ())), steps)
            by = map(self.number, lists.get("steps", ()))
            steps = [times(a, b) for a, b in zip(by, steps, strict=False)] or steps
        if len(steps) != kind.rank:
            made["type"] = self.without_place(result)
            return made
        sizes = lists.get("sizes") or lists.get("shape") or ()
        shape = self._shape(kind, [self.number(v) for v in sizes])
        self.steps[result] = steps
        made["type"], made["extents"] = self.declared(result, shape, steps)
        return made

    def _shape(self, kind: GlobalType, sizes: Sequence[Term]) -> list[Term]:
        """The extents: those that operands give, else those of the type."""
        if len(sizes) != kind.rank:
            return [Term(str(n), True) for n in kind.shape]
        pairs = zip(sizes, kind.shape, strict=True)
        return [s if s.fixed or n is None else Term(str(n), True) for s, n in pairs]


def offset(places: Iterator[Term], steps: Sequence[Term]) -> str:
    """Return ` + i * stride + j` for the places i and j along these strides."""
    terms = (times(place, step).text for place, step in zip(places, steps, strict=False))
    return "".join(f" + {term}" for term in terms if term != "0")


def times(a: Term, b: Term) -> Term:
    """The product; of two numbers the number, of one nothing else."""
    if a.text.isdecimal() and b.text.isdecimal():
        return Term(str(int(a.text) * int(b.text)), True)
    if "1" in (a.text, b.text):
        return a if b.text == "1" else b
    if "0" in (a.text, b.text):
        return Term("0", True)
    return Term(f"{a.text} * {b.text}", a.fixed and b.fixed)


def dense(shape: Sequence[Term]) -> list[Term]:
    """The strides of rows without gaps."""
    steps = [Term("1", True)]
    for extent in shape[:0:-1]:
        more = Term(DYNAMIC, False) if extent.text == DYNAMIC else times(extent, steps[0])
        steps.insert(0, more if steps[0].text != DYNAMIC else steps[0])
    return steps


def _open(numbers: Sequence[Term]) -> str:
    return ", ".join(n.text for n in numbers if not n.fixed)


def _type(kind: GlobalType, shape: Sequence[Term], steps: Sequence[Term]) -> str:
    """The type with five extents and strides, the outer ones 1."""
    outer = ["1"] * (len(five(kind.shape)) - kind.rank)
    lists = (
        ", ".join(outer + [n.text if n.fixed else DYNAMIC for n in of]) for of in (shape, steps)
    )
    layout = "" if kind.layout in (None, GlobalLayout.ND) else f", Layout::{kind.layout.cpp}"
    return "GlobalTensor<{}, Shape<{}>, Stride<{}>{}>".format(kind.dtype.cpp, *lists, layout)


def _plain(op: Op, name: str) -> bool:
    """True for a use that takes a view of any type."""
    traits = op.page.traits
    if op.page.asm.dialect not in ("pto", "memref") or CALLS in traits or TERMINATOR in traits:
        return False
    text = op.page.asm.cpp_text or ""
    whole = op.page.operand(name).kind is Kind.ANY and f"{{{name}_ptr}}" not in text
    return not whole and not text.startswith("auto &")


def _by_pointer(op: Op, name: str) -> bool:
    """True for a use of which C++ takes the pointer alone: a window, or the slots of a FIFO."""
    text = op.page.asm.cpp_text or ""
    window = f"{{{name}_begin}}" in text and all(isinstance(r.type, GlobalType) for r in op.results)
    return window or f"{{{name}_ptr}}" in text


def _dtype_behind(kind: Type) -> DType | None:
    """The element type of an array that a view or pointer leads to; None of all else."""
    return kind.dtype if isinstance(kind, GlobalType | PtrType) else None

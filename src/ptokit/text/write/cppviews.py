"""Views of global memory in C++: types with known extents and strides, offsets of windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.traits import TERMINATOR
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.types import Kind, PtrType, Type
from ptokit.isa.model.words import GlobalLayout
from ptokit.text.write.cppnumbers import Numbers, Use
from ptokit.text.write.cpptypes import DYNAMIC, view_cpp
from ptokit.values.dtypes import DType

AXES = ("rows", "cols")  # the names of a matrix's extents


class Term(NamedTuple):
    """An extent or a stride: its text, and True if the C++ compiler knows its value."""

    text: str
    fixed: bool


class GlobalViews:
    """The views of a function: facts about each, and its declaration in C++.

    A view that only instructions and windows use has extents and strides in its type. A view that a
    loop carries, a call takes or a branch selects gets strides as constructor arguments, so that
    views that differ only in strides have one type.
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
        self.steps: dict[Value, list[Term]] = {}  # strides that the text names
        self.begins: dict[Value, str] = {}  # pointers to the first element of a view
        self.layouts: dict[Value, GlobalLayout] = {}  # layouts that an op states
        self.first: dict[Value, Value] = {}  # the view or pointer at the start of the same array
        passed = (p for op in func.body.walk() if isinstance(op, Op) for p in op.flows())
        self.passed = {v for _, _, pairs in passed for pair in pairs for v in pair}

    def derive(self, op: Op) -> None:
        """Note that a result and the view or pointer from which the op makes it share an array."""
        for result in op.results:
            for _, value in op.values():
                if _dtype_behind(value.type) == _dtype_behind(result.type) is not None:
                    self.first.setdefault(result, self.first.get(value, value))

    def array(self, view: Value) -> str:
        """Return a pointer to the start of a view's array, as far as the function shows it."""
        first = self.first.get(view, view)
        if isinstance(first.type, PtrType):
            return self.name(first)
        known = first in self.args and "offset:" not in getattr(first.type, "written", "")
        return f"{self.begin(first)}{'' if known else ' /* from where its array begins */'}"

    def begin(self, view: Value) -> str:
        """Return a pointer to the first element of a view."""
        return self.begins.get(view) or f"{self.name(view)}.data()"

    def strides(self, view: Value) -> list[Term]:
        """Return the strides of a view, one for each of its extents."""
        if view in self.steps:
            return self.steps[view]
        rank = view.type.rank if isinstance(view.type, GlobalType) else 0
        return [Term(f"{self.name(view)}.GetStride({n})", False) for n in range(5 - rank, 5)]

    def number(self, value: Value) -> Term:
        """Return a value as an extent or stride."""
        return Term(self.name(value), value in self.numbers.known)

    def settled(self, view: Value) -> bool:
        """Return whether no other view has to share the type of this view."""
        return view not in self.passed and all(_plain(op, name) for op, name in self.uses[view])

    def only_windows(self, view: Value) -> bool:
        """Return whether all uses of a view are windows, which start at its pointer."""
        uses = self.uses[view]
        return bool(uses) and all(_by_pointer(op, name) for op, name in uses)

    def declared(self, view: Value, shape: Sequence[Term], steps: Sequence[Term]) -> list[str]:
        """Return the type of a view, and its constructor arguments after the pointer.

        Extents, then strides, that the type does not fix stand in braces.
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
        lists = ([n.text if n.fixed else DYNAMIC for n in of] for of in (shape, steps))
        return [view_cpp(kind, *lists), "".join(given)]

    def without_place(self, view: Value) -> str:
        """Return the type of a view that is declared before it has a pointer: rows are dense."""
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
        """Return the names of the extents that a launch passes for a view."""
        kind = view.type
        assert isinstance(kind, GlobalType)
        axes = AXES if kind.rank == 2 else [f"n{n}" for n in range(5 - kind.rank, 5)]
        pairs = zip(axes, kind.shape, strict=True)
        return [f"{pointer}_{axis}" for axis, extent in pairs if extent is None]

    def made(self, op: Op, result: Value) -> dict[str, object]:
        """Return the placeholders for the template of an op that makes a view.

        `type` and `extents` are the constructor's; `NAME_at` is the distance from the first element
        to the element at the offsets NAME.
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
        """Return the extents: those of operands, else those of the type."""
        if len(sizes) != kind.rank:
            return [Term(str(n), True) for n in kind.shape]
        pairs = zip(sizes, kind.shape, strict=True)
        return [s if s.fixed or n is None else Term(str(n), True) for s, n in pairs]


def offset(places: Iterator[Term], steps: Sequence[Term]) -> str:
    """Return ` + i * stride + j` for positions i and j along these strides."""
    terms = (times(place, step).text for place, step in zip(places, steps, strict=False))
    return "".join(f" + {term}" for term in terms if term != "0")


def times(a: Term, b: Term) -> Term:
    """Return the product; numbers are multiplied, and factors of 1 are dropped."""
    if a.text.isdecimal() and b.text.isdecimal():
        return Term(str(int(a.text) * int(b.text)), True)
    if "1" in (a.text, b.text):
        return a if b.text == "1" else b
    if "0" in (a.text, b.text):
        return Term("0", True)
    return Term(f"{a.text} * {b.text}", a.fixed and b.fixed)


def dense(shape: Sequence[Term]) -> list[Term]:
    """Return the strides of contiguous rows."""
    steps = [Term("1", True)]
    for extent in shape[:0:-1]:
        more = Term(DYNAMIC, False) if extent.text == DYNAMIC else times(extent, steps[0])
        steps.insert(0, more if steps[0].text != DYNAMIC else steps[0])
    return steps


def _open(numbers: Sequence[Term]) -> str:
    return ", ".join(n.text for n in numbers if not n.fixed)


def _plain(op: Op, name: str) -> bool:
    """Return whether a use takes a view of any C++ type."""
    traits = op.page.traits
    if op.page.asm.dialect not in ("pto", "memref") or op.calls or TERMINATOR in traits:
        return False
    text = op.page.asm.cpp_text or ""
    whole = op.page.operand(name).kind is Kind.ANY and f"{{{name}_ptr}}" not in text
    return not whole and not text.startswith("auto &")


def _by_pointer(op: Op, name: str) -> bool:
    """Return whether C++ takes only the pointer: for a window, or the slots of a FIFO."""
    text = op.page.asm.cpp_text or ""
    window = f"{{{name}_begin}}" in text and all(isinstance(r.type, GlobalType) for r in op.results)
    return window or f"{{{name}_ptr}}" in text


def _dtype_behind(kind: Type) -> DType | None:
    """Return the element type of the array behind a view or pointer; None for other types."""
    return kind.dtype if isinstance(kind, GlobalType | PtrType) else None

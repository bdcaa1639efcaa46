"""`diagnostics.dataclass` makes the classes that the standard library makes, later."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import pytest

import ptokit
from ptokit.diagnostics.dataclass import dataclass, field, fields, replace

Declared = tuple[type[Any], type[Any], type[Any]]


def declared(dataclass: Callable[..., Any]) -> Declared:
    """Three classes: with all kinds of fields, one that inherits them, one that changes."""

    @dataclass(frozen=True)
    class Point:
        """A point."""

        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list[str], hash=False)
        note: str = field(default="", compare=False, repr=False)
        axes: ClassVar[int] = 2
        strict: bool = field(default=False, kw_only=True)

    @dataclass(frozen=True)
    class Named(Point):
        """A point with a name."""

        name: str = "origin"

        def __repr__(self) -> str:
            return self.name

    @dataclass
    class Cell:
        """What may change, and counts itself."""

        value: int
        seen: list[int] = field(default_factory=list[int], init=False)

        def __post_init__(self) -> None:
            self.seen.append(self.value)

    return Point, Named, Cell


OURS, STANDARD = declared(dataclass), declared(dataclasses.dataclass)


def shown(kinds: Declared) -> Iterator[object]:
    """What the classes do, in values that do not depend on the class."""
    point, named, cell = kinds
    one, other = point(1, tags=["a"], strict=True), point(1, 2, ["a"], "seen", strict=True)
    yield from (one == other, hash(one) == hash(other), hash(one), one == point(1), one == 1)
    yield from (repr(one).split("Point")[1], repr(named(3)), named(3).name, named(3) == point(3))
    yield from (one.__match_args__, named.__match_args__, point.axes, point.y)
    yield [(f.name, f.init, f.default) for f in fields(named)]
    yield from (replace(one, x=5).x, dataclasses.asdict(other), dataclasses.astuple(named(1)))
    changing = cell(4)
    changing.value = 5
    yield from (changing.seen, changing == cell(4), cell.__hash__, repr(changing).split("Cell")[1])
    for wrong in (
        lambda: setattr(one, "x", 2),
        lambda: delattr(one, "x"),
        point,
        lambda: hash(changing),
    ):
        with pytest.raises((AttributeError, TypeError)) as told:
            wrong()
        yield type(told.value)


def test_classes_do_what_those_of_the_standard_library_do() -> None:
    assert [*shown(OURS)] == [*shown(STANDARD)]


def test_a_class_that_has_not_been_used_shows_its_parameters() -> None:
    for ours, standard in zip(declared(dataclass), STANDARD, strict=True):
        found, expected = inspect.signature(ours), inspect.signature(standard)
        kinds = [
            [(n, p.kind, p.annotation) for n, p in s.parameters.items()] for s in (found, expected)
        ]
        assert kinds[0] == kinds[1]


@dataclass(frozen=True)
class Sent:
    """An object that comes from another process, which alone called `__init__`."""

    number: int


def test_objects_that_were_not_made_by_init_are_complete() -> None:
    arrived = [pickle.loads(pickle.dumps(Sent.__new__(Sent))) for _ in range(2)]
    for one in arrived:
        one.__dict__["number"] = 7
    assert hash(arrived[0]) == hash(copy.copy(arrived[1]))
    assert arrived[0] == arrived[1]
    match arrived[0]:
        case Sent(number):
            assert number == 7
        case _:
            raise AssertionError


def test_a_method_is_first_called_by_several_threads() -> None:
    for _ in range(50):
        kind = declared(dataclass)[1]
        with ThreadPoolExecutor(4) as threads:
            made = [*threads.map(kind, range(4))]
        assert [one.x for one in made] == [*range(4)]


def test_the_package_makes_its_data_classes_so() -> None:
    """Classes with slots alone are made by the standard library: they are made twice."""
    texts = {path: path.read_text("utf-8") for path in Path(ptokit.__path__[0]).rglob("*.py")}
    standard = re.compile(r"^from dataclasses import .*\bdataclass\b", re.M)
    assert [p.name for p, t in texts.items() if standard.search(t) and "slots=True" not in t] == []

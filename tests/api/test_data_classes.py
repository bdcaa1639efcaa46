"""Data classes of ptokit behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, replace
from typing import Any

import pytest

from account.files import ROOT
from ptokit import records

Dataclass = Callable[..., Any]  # Any: a decorator of classes
WAYS = [
    *({}, {"frozen": True}, {"eq": False}, {"frozen": True, "eq": False}),
    *({"repr": False}, {"slots": True}, {"slots": True, "eq": False}),
    {"frozen": True, "slots": True},
]


def classes(dataclass: Dataclass, **how: bool) -> tuple[Any, Any]:  # Any: classes as made
    @dataclass(**how)
    class Base:
        one: int
        two: list[int] = field(default_factory=list[int])
        three: int = field(default=3, compare=False, repr=False)
        four: dict[str, int] = field(default_factory=dict[str, int], init=False, compare=False)

    @dataclass(**how)
    class Derived(Base):
        five: str = "5"
        six: int = field(kw_only=True)

        def __post_init__(self) -> None:
            if self.six < 0:
                raise ValueError(self.six)

    return Base, Derived


def seen(work: Callable[[], object]) -> object:
    """What a call gives as text, or the error it raises."""
    try:
        return repr(work())
    except (TypeError, ValueError, FrozenInstanceError, AttributeError) as problem:
        return f"{type(problem).__name__}: {problem}"


def behaviour(dataclass: Dataclass, how: dict[str, bool]) -> list[object]:
    base, derived = classes(dataclass, **how)
    x, y, z = base(1), base(one=1, three=4), derived(1, [2], six=6)
    hashable = how.get("frozen") or how.get("eq") is False
    found = [x == y, x == z, x == base(2), base.__match_args__, derived.__match_args__]
    shown = [x, z, replace(z, six=7, two=[3])] if how.get("repr", True) else []
    found += [repr(one) for one in shown]
    found += [seen(lambda: derived(1, six=-1)), seen(lambda: base()), seen(lambda: base(1, no=2))]
    found += [seen(lambda: setattr(x, "one", 5)), seen(lambda: delattr(x, "one"))]
    found += [dataclasses.asdict(z), dataclasses.asdict(copy.deepcopy(z))]
    found.append(seen(lambda: len({base(1), base(1)})) if not hashable else None)
    found.append([f.name for f in dataclasses.fields(derived)])
    return found


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_a_class_behaves_as_one_of_the_standard_library(how: dict[str, bool]) -> None:
    assert behaviour(records.dataclass, how) == behaviour(dataclasses.dataclass, how)


def test_equal_frozen_values_are_one_key() -> None:
    @records.dataclass(frozen=True)
    class Pair:
        one: int
        two: tuple[int, ...] = ()

    assert len({Pair(1), Pair(1, ()), Pair(2)}) == 2
    assert hash(Pair(1)) == hash((1, ()))


def test_methods_that_a_class_writes_stay() -> None:
    @records.dataclass(frozen=True)
    class Named:
        name: str

        def __repr__(self) -> str:
            return self.name

        def __hash__(self) -> int:
            return 7

    assert (repr(Named("x")), hash(Named("x"))) == ("x", 7)


def test_the_package_makes_all_its_data_classes_so() -> None:
    slow = re.compile(r"^ *from dataclasses import .*\bdataclass\b", re.M)
    files = [p for p in (ROOT / "src").rglob("*.py") if p.parent.name != "records"]
    assert [p.name for p in files if slow.search(p.read_text(encoding="utf-8"))] == []

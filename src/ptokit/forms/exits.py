"""Exits of control flow: the target after some ops, and the flags that a branch yields for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from ptokit.ir.editing import FreshNames, spaced
from ptokit.ir.module import AnyOp, Block, Value
from ptokit.isa.model.types import Type

Slot: TypeAlias = "tuple[int, int] | Value"  # (target, argument), or a value of a loop


class Inverted(NamedTuple):
    """A number that is 1 if the value is 0."""

    value: Value


Flag: TypeAlias = "bool | Inverted | Value | None"  # None: not needed


@dataclass
class Exits:
    """The targets of control after some ops: the first whose flag is 1; and the values passed.

    The flag of the last target is 1. A loop's header as the target of a back edge is `~header`.
    """

    flags: dict[int, Flag]
    values: dict[Slot, Value] = field(default_factory=dict[Slot, Value])

    def changed(self, now: Mapping[Value, Value]) -> Exits:
        """Return the exits with values of a region that ends replaced."""
        flags = {t: _renamed_flag(f, now) for t, f in self.flags.items()}
        return Exits(flags, {slot: now.get(v, v) for slot, v in self.values.items()})


@dataclass
class Region:
    """The ops of a region under construction, and comments for the next op."""

    ops: list[AnyOp] = field(default_factory=list[AnyOp])
    comments: list[str] = field(default_factory=list[str])

    def defined(self) -> set[Value]:
        return {value for op in self.ops for value in op.results}

    def block(self, args: Sequence[Value] = ()) -> Block:
        return Block([*args], self.ops, spaced(self.comments, first=not self.ops))


Side: TypeAlias = "tuple[Region, Exits]"


class Maker(Protocol):
    """The maker of ops: it orders targets, names values, and supplies unused values."""

    names: FreshNames

    def key(self, target: int) -> tuple[int, bool, int]: ...
    def number(self, region: Region, flag: Flag) -> Value: ...
    def anything(self, region: Region, slot: Slot, kind: Type) -> Value: ...


class Join:
    """The join of a branch's two sides: the flags and values that both sides yield."""

    def __init__(self, whole: Maker, condition: Value, sides: Sequence[Side]) -> None:
        self.whole, self.condition, self.sides = whole, condition, sides
        self.defined = [region.defined() for region, _ in sides]
        self.results: list[Value] = []
        self.yielded: tuple[list[Value], list[Value]] = [], []

    def outcome(self) -> Exits:
        """Return the exits after the branch."""
        outcomes = [outcome for _, outcome in self.sides]
        targets = sorted({t for o in outcomes for t in o.flags}, key=self.whole.key)
        found = Exits({t: self._flag(t) for t in targets[:-1]})
        found.flags |= dict.fromkeys(targets[-1:], True)
        for slot in dict.fromkeys(slot for o in outcomes for slot in o.values):
            found.values[slot] = self._value(slot, [o.values.get(slot) for o in outcomes])
        return found

    def _flag(self, target: int) -> Flag:
        one, other = (self._flag_on_side(outcome, target) for _, outcome in self.sides)
        if one is None and self._seen(1, other):
            return other
        if (other is None and self._seen(0, one)) or (one == other and self._seen(0, one)):
            return one
        if isinstance(one or False, bool) and isinstance(other or False, bool):
            return self.condition if one else Inverted(self.condition)
        return self._result(
            [self.whole.number(r, f) for (r, _), f in zip(self.sides, (one, other), strict=True)],
            "goes_on",
        )

    def _flag_on_side(self, outcome: Exits, target: int) -> Flag:
        """Return the flag of a target on one side; None if control went elsewhere before."""
        if target in outcome.flags:
            return outcome.flags[target]
        key = self.whole.key
        return False if any(key(t) > key(target) for t in outcome.flags) else None

    def _seen(self, side: int, flag: Flag) -> bool:
        """Return whether a flag is defined outside of the side."""
        value = flag.value if isinstance(flag, Inverted) else flag
        return value not in self.defined[side]

    def _value(self, slot: Slot, given: Sequence[Value | None]) -> Value:
        one, other = given
        if other is not None and (one is None or one is other) and self._seen(1, other):
            return other
        if one is not None and other is None and self._seen(0, one):
            return one
        known = one or other
        assert known is not None
        return self._result(
            [
                value or self.whole.anything(region, slot, known.type)
                for (region, _), value in zip(self.sides, given, strict=True)
            ],
            known.name,
        )

    def _result(self, given: Sequence[Value], name: str) -> Value:
        """Return a result of the branch with these values on its sides."""
        resized = any(value.resized for value in given)
        value = Value(self.whole.names.name(name), given[0].type, given[0].span, resized=resized)
        self.results.append(value)
        for values, one in zip(self.yielded, given, strict=True):
            values.append(one)
        return value


def _renamed_flag(flag: Flag, now: Mapping[Value, Value]) -> Flag:
    if isinstance(flag, Inverted):
        return Inverted(now.get(flag.value, flag.value))
    return now.get(flag, flag) if isinstance(flag, Value) else flag

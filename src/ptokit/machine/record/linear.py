"""Sums of numbers: their terms, and the upper bounds that loops and quotients give to terms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

MOST_STEPS = 16  # forms that are looked at, in which bounds are put in for terms


@dataclass(frozen=True)
class LinearForm:
    """A sum of terms times coefficients, and a constant; terms are texts of numbers."""

    terms: dict[str, int] = field(default_factory=dict[str, int])
    constant: int = 0

    def plus(self, other: LinearForm, times: int = 1) -> LinearForm:
        """Return the sum with a multiple of another form."""
        terms = dict(self.terms)
        for name, factor in other.terms.items():
            terms[name] = terms.get(name, 0) + times * factor
        kept = {name: factor for name, factor in terms.items() if factor}
        return LinearForm(kept, self.constant + times * other.constant)


Bound: TypeAlias = "tuple[int, LinearForm]"  # a factor of a term, and what bounds the product


def combined(word: str, a: LinearForm, b: LinearForm) -> LinearForm | None:
    """Return the form of a sum (`add`), a difference (`sub`) or a product; None if not linear."""
    if word != "mul":
        return a.plus(b, 1 if word == "add" else -1)
    if a.terms and b.terms:
        return None
    return LinearForm().plus(a, b.constant) if a.terms else LinearForm().plus(b, a.constant)


class Bounds:
    """For terms t, factors f and forms with f * t <= form or f * t >= form, wherever t is defined.

    The forms have terms that were noted earlier, or have no bounds.
    """

    def __init__(self) -> None:
        self.above: dict[str, Sequence[Bound]] = {}
        self.below: dict[str, Sequence[Bound]] = {}
        self.order: dict[str, int] = {}  # of the terms, as they were noted

    def _note(self, name: str, above: Sequence[Bound], below: Sequence[Bound] = ()) -> None:
        self.order.setdefault(name, len(self.order))
        self.above[name], self.below[name] = above, below

    def counter(self, name: str, upper: LinearForm) -> None:
        """Note a loop counter, which is below `upper`."""
        self._note(name, [(1, upper.plus(LinearForm({}, -1)))])

    def smallest(self, name: str, forms: Iterable[LinearForm]) -> None:
        """Note the smallest of some numbers."""
        self._note(name, [(1, form) for form in forms])

    def quotient(self, name: str, of: LinearForm, divisor: int) -> None:
        """Note a quotient rounded down; of a bounded term, whole parts of the bound."""
        above = [(divisor, of)]
        if not of.constant and [*of.terms.values()] == [1]:
            for factor, most in self.above.get(next(iter(of.terms)), ()):
                if factor == 1 and all(n % divisor == 0 for n in most.terms.values()):
                    parts = {term: n // divisor for term, n in most.terms.items()}
                    above.append((1, LinearForm(parts, most.constant // divisor)))
        self._note(name, above, [(divisor, of.plus(LinearForm({}, 1 - divisor)))])

    def decided(self, word: str, mine: LinearForm, theirs: LinearForm) -> bool | None:
        """Return the answer of a comparison of two forms, by its LLVM word; None if it is open."""
        if word in ("eq", "ne"):
            return None
        large, small = (mine, theirs) if word.startswith("sg") else (theirs, mine)
        difference, strict = large.plus(small, -1), word.endswith("t")
        if self.least(difference, -1) >= strict:
            return True
        return False if self.least(LinearForm().plus(difference, -1), -1) >= 1 - strict else None

    def least(self, form: LinearForm, known: int) -> int:
        """Return a lower bound of a form: `known`, or more by the bounds of its terms.

        The term that was noted last is replaced by one of its bounds, until none is left.
        """
        found = [form]
        for form in islice(found, MOST_STEPS):  # which grows
            if not form.terms:
                known = max(known, form.constant)
                continue
            last = max(form.terms, key=lambda term: self.order.get(term, -1))
            times = form.terms[last]
            for factor, end in (self.above if times < 0 else self.below).get(last, ()):
                if times % factor == 0:
                    found.append(form.plus(LinearForm({last: -times})).plus(end, times // factor))
        return known


def summands(number: Any) -> tuple[list[str], int]:  # Any: a symbol, whose `sum` has two numbers
    """Return the texts and the constant of which a number is the sum."""
    if number.sum is None:
        return [number.text], 0
    found: list[str] = []
    constant = 0
    for term in number.sum:
        more, extra = ([], term) if isinstance(term, int) else summands(term)
        found += more
        constant += extra
    return found, constant


def summand(number: Any, name: str) -> Any:  # Any: a symbol
    """Return the summand with this text, or None."""
    if number.sum is None:
        return number if number.text == name else None
    found = (summand(t, name) for t in number.sum if not isinstance(t, int))
    return next((t for t in found if t is not None), None)

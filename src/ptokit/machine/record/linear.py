"""Sums of numbers: their terms, and the upper bounds that loops and quotients give to terms."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ptokit.records import dataclass

MOST_STEPS = 8  # bounds that are put in for terms, one after another


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


def combined(word: str, a: LinearForm, b: LinearForm) -> LinearForm | None:
    """Return the form of a sum (`add`), a difference (`sub`) or a product; None if not linear."""
    if word != "mul":
        return a.plus(b, 1 if word == "add" else -1)
    if a.terms and b.terms:
        return None
    return LinearForm().plus(a, b.constant) if a.terms else LinearForm().plus(b, a.constant)


class Bounds:
    """For terms t, a factor f and a form with f * t <= form, wherever t is defined."""

    def __init__(self) -> None:
        self.above: dict[str, tuple[int, LinearForm]] = {}

    def counter(self, name: str, upper: LinearForm) -> None:
        """Note a loop counter, which is below `upper`."""
        self.above[name] = 1, upper.plus(LinearForm({}, -1))

    def quotient(self, name: str, of: LinearForm, divisor: int) -> None:
        """Note a quotient rounded down; of a bounded term, whole parts of the bound."""
        self.above[name] = divisor, of
        if of.constant or list(of.terms.values()) != [1]:
            return
        factor, most = self.above.get(next(iter(of.terms)), (0, of))
        if factor == 1 and all(n % divisor == 0 for n in most.terms.values()):
            parts = {term: n // divisor for term, n in most.terms.items()}
            self.above[name] = 1, LinearForm(parts, most.constant // divisor)

    def least(self, form: LinearForm, known: int) -> int:
        """Return a lower bound of a form: `known`, or more by the bounds of its terms."""
        for _ in range(MOST_STEPS):
            if not form.terms:
                return max(known, form.constant)
            for name, times in form.terms.items():
                factor, most = self.above.get(name, (0, form))
                if times < 0 and factor and times % factor == 0:
                    form = form.plus(LinearForm({name: 1}), -times).plus(most, times // factor)
                    break
            else:
                break
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

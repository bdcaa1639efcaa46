"""Many small cases in one test: each case runs, and all failures are reported together.

`pytest.mark.parametrize` makes an item of every case, and an item costs some milliseconds. It is
right where cases are slow, where they need a folder or a patch of their own, or where the two
processes of a run should share them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, cast

import pytest

Test: TypeAlias = Callable[..., None]
Failure = pytest.fail.Exception
Skip = pytest.skip.Exception  # a failure, too: it would hide the cases behind it
ParameterSet = type(pytest.param())


def every(
    names: str | Sequence[str],
    cases: Iterable[Sequence[object] | object],  # so spelled, empty lists in cases have a type
    ids: Callable[[Any], object] | Iterable[object] | None = None,  # Any: a value of any case
) -> Callable[[Test], Test]:
    """Run the decorated test on each of the cases; the arguments are those of `parametrize`.

    A failure is an exception group with one exception per case that failed; its note names the
    case. Arguments beside the named ones come from fixtures, or from another `every` above this.
    """
    named = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
    listed = [_values(case, len(named)) for case in cases]
    if callable(ids):
        ids = ["-".join(str(ids(value)) for value in values) for values in listed]
    titles = None if ids is None else [str(title) for title in ids]
    assert listed

    def decorated(test: Test) -> Test:
        @functools.wraps(test)
        def run(**others: object) -> None:
            failures: list[BaseException] = []
            for number, values in enumerate(listed):
                given = dict(zip(named, values, strict=True))
                try:
                    test(**given, **others)
                except (Exception, BaseExceptionGroup, Failure, Skip) as failure:
                    title = given if titles is None else titles[number]
                    failure.add_note(f"case {number}: {title}")
                    failures.append(failure)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(listed)} cases fail", failures)

        left = [p for n, p in inspect.signature(test).parameters.items() if n not in named]
        assert len(left) == len(inspect.signature(test).parameters) - len(named)
        vars(run)["__signature__"] = inspect.Signature(left)
        return run

    return decorated


def _values(case: object, count: int) -> Sequence[object]:
    """Return the arguments of a case: one, a tuple of them, or a `pytest.param`."""
    if isinstance(case, ParameterSet):
        assert not case.marks, "a case with a mark needs an item of its own"
        return case.values
    if count == 1:
        return (case,)
    return cast("Sequence[object]", case)  # `zip` is strict: any other number of values fails

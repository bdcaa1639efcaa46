"""Arguments of a job of several ranks: `x` for all ranks, `x@0` for one, `x@0=y@1` for an alias."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import TypeAlias

from ptokit.diagnostics.diagnostic import CallError, call_error
from ptokit.ir.module import Value
from ptokit.isa.model.types import PtrType
from ptokit.launch.fills import Fill
from ptokit.machine.arguments import of_rank

Names: TypeAlias = "tuple[Mapping[str, str], ...]"  # by rank: argument -> array
HELP = "--ranks N, in Python ranks=N, sets the number of ranks"


def for_each(given: Mapping[str, object], ranks: int) -> Mapping[str, object]:
    """Expand `x=y@0`, one rank's array for all ranks, to `x@0=y@0`, `x@1=y@0`, ..."""
    alone = Counter(label.partition("@")[0] for label in given)
    shared = {n for n, v in given.items() if isinstance(v, str) and "@" in v and alone[n] == 1}
    more = {of_rank(name, rank): given[name] for name in sorted(shared) for rank in range(ranks)}
    return {name: value for name, value in given.items() if name not in shared} | more


def named(arguments: Iterable[str], given: Mapping[str, object], ranks: int) -> Names:
    """Return for each rank the name of the array behind each argument.

    An argument that is not given is a separate array of each rank. PtoError if a rank does not
    exist, or the array of another rank is not given.
    """
    own, arguments = {label: _own(label, ranks) for label in given}, [*arguments]
    plain = [name for name, rank in own.values() if rank is None]
    found = [
        {name: of_rank(name, rank) for name in arguments} | {name: name for name in plain}
        for rank in range(ranks)
    ]
    for label, (name, rank) in own.items():
        if rank is None:
            continue
        if name in plain:
            help = f"remove {name}=, or give one for each rank"
            seen = f"{name}= is for every rank, {label}= for one"
            raise call_error("argument-twice", f"%{name}: given twice", seen=seen, help=help)
        found[rank][name] = _others(label, given)
    return tuple(found)


def _own(label: str, ranks: int) -> tuple[str, int | None]:
    """Return the argument and the rank of a name; None: all ranks."""
    name, at, number = label.partition("@")
    if not at:
        return name, None
    if not (number.isdecimal() and number.isascii()):
        raise _wrong(f"{label}: {number!r} is not a rank", f"write {name}@0")
    if int(number) >= ranks:
        raise _wrong(f"{label}: no rank {int(number)}", HELP, _listed(ranks))
    return name, int(number)


def _others(label: str, given: Mapping[str, object]) -> str:
    """Return the name of the array: the argument's own, or that of another argument."""
    named = given[label]
    if not isinstance(named, str):
        return label
    other, _ = _begins(label, named)
    if other not in given or isinstance(given[other], str):
        arrays = ", ".join(n for n, value in given.items() if not isinstance(value, str))
        help = "name an array of a rank, as in theirs@0=mine@1"
        raise _wrong(f"{label}={other}: unknown array {other}", help, f"given are {arrays}")
    return other


def _begins(label: str, other: str) -> tuple[str, int]:
    """Return another argument's array, and the element at which this argument starts."""
    name, more, number = other.partition("+")
    if more and not (number.isdecimal() and number.isascii()):
        help = "write the number of the first element, as in y@1=y@0+1024"
        raise _wrong(f"{label}={other}: {number!r} is not an element number", help)
    return name, int(number or 0)


def starts(
    arguments: Iterable[Value], given: Mapping[str, object], ranks: int
) -> tuple[Mapping[str, int], ...]:
    """Return for each rank the pointers that start inside an array, with the element."""
    found: list[dict[str, int]] = [{} for _ in range(ranks)]
    for arg, rank in product(arguments, range(ranks)):
        other = given.get(label := of_rank(arg.name, rank))
        start = _begins(label, other)[1] if isinstance(other, str) else 0
        if start and not isinstance(arg.type, PtrType):
            help = f"give {label} an array, or another argument's as a whole"
            raise _wrong(f"{label}={other}: only a pointer can start inside an array", help)
        if start:
            found[rank][arg.name] = start
    return tuple(found)


def _wrong(message: str, help: str, seen: str | None = None) -> CallError:
    return call_error("unknown-argument", message, seen=seen, help=help)


def _listed(ranks: int) -> str:
    return "the job has one rank, 0" if ranks == 1 else f"the job has ranks 0 to {ranks - 1}"


def of_each(
    names: Names, given: Mapping[str, object]
) -> Iterator[tuple[Mapping[str, str], dict[str, object]]]:
    """Yield the names and arguments of each rank; random arrays differ between ranks."""
    for rank, labels in enumerate(names):
        mine = {name: given[label] for name, label in labels.items() if label in given}
        for name, value in mine.items():
            if isinstance(value, Fill) and labels[name] != name:
                mine[name] = replace(value, seed=value.seed + rank)
        yield labels, mine

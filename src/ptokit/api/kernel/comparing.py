"""`kernel.verify`: debug, reference and native compute the same bits; where they do not, which."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptokit.diagnostics.diagnostic import PtoError, error

AnyArray: TypeAlias = "NDArray[Any]"  # Any: a user's array
Outputs: TypeAlias = "Mapping[str, AnyArray]"


def same_bits(a: AnyArray, b: AnyArray) -> NDArray[np.bool_]:
    """Where the elements of two arrays have the same bits."""
    bits = f"u{a.itemsize}"
    return np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits)


def differing(name: str, how: tuple[str, str], a: AnyArray, b: AnyArray) -> PtoError | None:
    """The first element of an output that differs, as an error."""
    equal = same_bits(a, b)
    if equal.all():
        return None
    first = tuple(int(i) for i in np.argwhere(~equal)[0])
    place = f"{name}[{', '.join(map(str, first))}]"
    count = int((~equal).sum())
    return error(
        "debug-differs",
        f"{how[0]} and {how[1]} give different values of {name}",
        seen=f"{place} is {a[first]} and {b[first]}; {count} of {a.size} elements differ",
        help="the body of a loop is recorded once: a list, dict or object that it changes is not "
        "changed again in the next turn",
    )


def require_agreement(ways: Mapping[str, Callable[[], Outputs]]) -> None:
    """Run every way; PtoError names the first output and element that differ from the first way."""
    (first, run), *others = ways.items()
    wanted = run()
    for name, other in others:
        found = other()
        for array, values in found.items():
            problem = differing(array, (first, name), wanted[array], values)
            if problem is not None:
                raise problem

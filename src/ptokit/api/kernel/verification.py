"""`kernel.verify`: the comparison of debug, reference and native, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptokit.api.kernel.callplaces import CallPlace, here
from ptokit.api.kernel.kernelarrays import KernelArray
from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.isa.lang.instr import Instr
from ptokit.launch.settings import executed
from ptokit.values.host import AnyArray

Outputs: TypeAlias = "Mapping[str, AnyArray]"
Mask: TypeAlias = "NDArray[np.bool_]"


def same_bits(a: AnyArray, b: AnyArray) -> Mask:
    """Return where the elements of two arrays have the same bits."""
    bits = f"u{a.itemsize}"
    return np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits)


class StoreLog:
    """The stores of a debugged kernel in order, and the last store of each element."""

    def __init__(self) -> None:
        self.places: list[CallPlace] = []
        self.last: dict[str, NDArray[np.int64]] = {}  # by array: the number of the last store

    def of(self, run: Callable[[], Outputs]) -> Outputs:
        """Return the outputs of a run, and record its stores."""
        token = executed.set(self.note)
        try:
            return run()
        finally:
            executed.reset(token)

    def note(self, page: type[Instr], given: Mapping[str, object]) -> None:
        """Record an executed instruction, which may have written parts of arrays."""
        for part in (given.get(o.name) for o in page.operands if o.written):
            if isinstance(part, KernelArray):
                base = part.base
                shape = tuple(n for n in base.extents if isinstance(n, int))  # all, in `debug`
                last = self.last.setdefault(base.name, np.full(shape, -1, np.int64))
                part.of(replace(base, array=last)).numpy()[...] = len(self.places)
                self.places.append(here())

    def first(self, array: str, unequal: Mask) -> tuple[int, tuple[int, ...]]:
        """Return the first store that wrote one of these elements last, and the element."""
        last = self.last.get(array, np.full(unequal.shape, -1))[unequal]
        numbers = np.where(last < 0, len(self.places), last)
        element = np.argwhere(unequal)[numbers.argmin()]
        return int(numbers.min()), tuple(int(i) for i in element)


def differing(how: tuple[str, str], one: Outputs, two: Outputs, log: StoreLog) -> PtoError | None:
    """Return an error for the first store of a differing element; None if all are equal."""
    unequal = {name: ~same_bits(one[name], values) for name, values in two.items()}
    found = [(*log.first(name, mask), name) for name, mask in unequal.items() if mask.any()]
    if not found:
        return None
    number, first, name = min(found)
    a, b, count = one[name][first], two[name][first], int(unequal[name].sum())
    stored = number < len(log.places)
    where = ", first where this stores" if stored else ", where debug stores nothing"
    return error(
        "debug-differs",
        f"{how[0]} and {how[1]} differ in {name}{where}",
        log.places[number].span() if stored else None,
        seen=f"{name}[{', '.join(map(str, first))}] is {a} and {b}; "
        f"{count} of {unequal[name].size} elements differ",
        help="debug runs the function on real tiles, recording on symbolic ones: code that "
        "checks types, or reads a clock or a file, may take another path",
    )


def require_agreement(
    debug: Callable[[], Outputs], engines: Mapping[str, Callable[[], Outputs]]
) -> None:
    """Run every engine; PtoError names the first store that differs from debug."""
    log = StoreLog()
    wanted = log.of(debug)
    for name, run in engines.items():
        problem = differing(("debug", name), wanted, run(), log)
        if problem is not None:
            raise problem

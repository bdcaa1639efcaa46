"""Some blocks of a launch, in order on one thread, on arrays of their own: what they wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard

from ptokit.sim.arguments import Bound
from ptokit.sim.limits import RunLimits
from ptokit.sim.native.compile import CompiledFunction, prints
from ptokit.sim.patches import Patch
from ptokit.sim.record.code import NotNative

Sizes: TypeAlias = "Mapping[str, tuple[int, tuple[int, ...]]]"  # bytes and extents, by argument


@dataclass(frozen=True)
class RangeResult:
    """What some blocks did: `grown` are the outputs without an array that they made larger."""

    written: Mapping[str, Patch]
    grown: Sizes
    count: Counter[str]


def divisible(function: object, bound: Bound, limits: RunLimits) -> TypeGuard[CompiledFunction]:
    """Whether blocks may run apart: no order of them is kept, and nothing counts all of them."""
    if not isinstance(function, CompiledFunction) or function.blocks == 1:
        return False
    if limits.most is not None or prints(bound):
        return False
    try:
        return not function.session(bound, limits, apart=True).plan.serial
    except NotNative:
        return False


def run_range(
    function: CompiledFunction, bound: Bound, limits: RunLimits, span: range, sizes: Sizes | None
) -> RangeResult:
    """Run these blocks of a divisible launch; NotNative where only the reference can.

    `sizes` are those of the outputs without an array, once the first block has told them.
    """
    session = function.session(bound, limits, apart=True)
    arrays = {name.removeprefix("%"): memory for name, memory in session.arrays.items()}
    if sizes is not None:
        for memory in arrays.values():
            memory.growable = False
        for name, size in sizes.items():
            arrays[name].grow(*size)
    _, count = session.run(function.blocks, span=span)
    outputs = {arg.name: arrays[arg.name] for arg in bound.written}
    written = {name: Patch.of(m.data, m.shadow) for name, m in outputs.items()}
    grown = {name: (m.size, m.shape) for name, m in outputs.items() if m.shape is not None}
    return RangeResult(written, grown, count)

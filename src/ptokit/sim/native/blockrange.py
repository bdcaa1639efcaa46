"""Runs a range of blocks on one thread, on arrays of its own, and returns what they wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard

from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.sim.arguments import Bound, BoundKernel
from ptokit.sim.limits import RunLimits
from ptokit.sim.memory import Memory
from ptokit.sim.native.compile import CompiledFunction, prints
from ptokit.sim.native.compiledkernel import CompiledKernel
from ptokit.sim.native.session import taken_warnings
from ptokit.sim.observer import RunWarnings
from ptokit.sim.patches import Patch
from ptokit.sim.record.code import NotNative

Sizes: TypeAlias = "Mapping[str, tuple[int, tuple[int, ...]]]"  # bytes and extents, by argument


@dataclass(frozen=True)
class RangeResult:
    """What some blocks did: `grown` are the outputs without an array that they made larger.

    `warnings`: of their cores, and of what these blocks left in FIFOs.
    """

    written: Mapping[str, Patch]
    grown: Sizes
    count: Counter[str]
    warnings: Sequence[Diagnostic]


def divisible(
    function: object, bound: object, limits: RunLimits
) -> TypeGuard[CompiledFunction | CompiledKernel]:
    """Whether blocks may run apart: no order of them is kept, and nothing counts all of them."""
    if limits.most is not None:
        return False
    try:
        if isinstance(function, CompiledKernel) and isinstance(bound, BoundKernel):
            blocks = range(function.grid.blocks)
            return len(blocks) > 1 and not function.apart(bound, limits, blocks).keeps_order()
        if isinstance(function, CompiledFunction) and isinstance(bound, Bound):
            one = function.blocks == 1 or prints(bound)
            return not one and not function.session(bound, limits, apart=True).plan.serial
    except NotNative:
        pass
    return False


def run_range(
    function: CompiledFunction | CompiledKernel,
    bound: Bound | BoundKernel,
    limits: RunLimits,
    span: range,
    sizes: Sizes | None,
) -> RangeResult:
    """Run these blocks of a divisible launch; NotNative where only the reference can.

    `sizes` are those of the outputs without an array, once the first block has told them.
    """
    if isinstance(function, CompiledKernel):
        assert isinstance(bound, BoundKernel)
        return _of_kernel(function, bound, limits, span)
    assert isinstance(bound, Bound)
    session = function.session(bound, limits, apart=True)
    arrays = {name.removeprefix("%"): memory for name, memory in session.arrays.items()}
    if sizes is not None:
        for memory in arrays.values():
            memory.growable = False
        for name, size in sizes.items():
            arrays[name].grow(*size)
    _, count = session.run(function.blocks, span=span)
    outputs = {arg.name: arrays[arg.name] for arg in bound.written}
    written = _patches(outputs)
    grown = {name: (m.size, m.shape) for name, m in outputs.items() if m.shape is not None}
    return RangeResult(written, grown, count, taken_warnings(session.crew))


def _of_kernel(
    kernel: CompiledKernel, bound: BoundKernel, limits: RunLimits, span: range
) -> RangeResult:
    """`run_range` for several cores, none of whose outputs grows."""
    launch, count = kernel.apart(bound, limits, span), Counter[str]()
    for worker in (worker for cores in launch.switched() for worker in cores):
        count.update(worker.counts())
    launch.tell([warnings := RunWarnings()])
    return RangeResult(_patches(bound.targets(launch.envs)), {}, count, warnings.found)


def _patches(memories: Mapping[str, Memory]) -> dict[str, Patch]:
    return {name: Patch.of(memory.data, memory.shadow) for name, memory in memories.items()}

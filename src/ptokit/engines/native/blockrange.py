"""Runs a range of blocks on one thread, on arrays of its own, and returns what they wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.engines.native.compile import CompiledFunction
from ptokit.engines.native.compiledkernel import CompiledKernel
from ptokit.engines.native.plan import Plan, shared_arrays
from ptokit.engines.native.session import taken_warnings
from ptokit.machine.arguments import Bound, BoundKernel
from ptokit.machine.executionlog import Logged
from ptokit.machine.limits import RunLimits
from ptokit.machine.memory import Memory
from ptokit.machine.observer import RunWarnings
from ptokit.machine.patches import Patch
from ptokit.machine.printing import prints
from ptokit.machine.record.code import NotNative

Sizes: TypeAlias = "Mapping[str, tuple[int, tuple[int, ...]]]"  # bytes and extents, by argument


@dataclass(frozen=True)
class RangeResult:
    """What some blocks did: `grown` are the outputs without an array that they made larger.

    `warnings`: of their cores, and of what these blocks left in FIFOs. `logs` tell what they did to
    the arrays that were `kept`.
    """

    written: Mapping[str, Patch]
    kept: Mapping[str, Memory]
    grown: Sizes
    count: Counter[str]
    warnings: Sequence[Diagnostic]
    logs: Sequence[Logged]


def divided(function: object, bound: object, limits: RunLimits) -> frozenset[str] | None:
    """None where blocks must run together: they keep an order, or something counts all of them.

    Else the arrays that they read and write, by name: blocks may run apart if they do not meet.
    """
    if limits.most is not None:
        return None
    try:
        plans = _plans(function, bound, limits)
    except NotNative:
        return None
    if not plans or any(plan.in_order for plan in plans):
        return None
    assert isinstance(bound, Bound | BoundKernel)
    shared = {name.removeprefix("%") for name in shared_arrays(plans)}
    growing = (memory.growable for n, memory in _targets(bound).items() if n in shared)
    return None if any(growing) else frozenset(shared)


def _plans(function: object, bound: object, limits: RunLimits) -> list[Plan]:
    """What the cores of a block run, if there are several blocks."""
    if isinstance(function, CompiledKernel) and isinstance(bound, BoundKernel):
        blocks = range(function.grid.blocks)
        return function.apart(bound, limits, blocks).plans() if len(blocks) > 1 else []
    if isinstance(function, CompiledFunction) and isinstance(bound, Bound):
        one = function.how.blocks == 1 or prints(bound.func)
        return [] if one else [function.session(bound, limits, apart=True).plan]
    return []


def _targets(bound: Bound | BoundKernel) -> Mapping[str, Memory]:
    return bound.targets(bound.inputs)  # type: ignore[arg-type]


def run_range(
    function: CompiledFunction | CompiledKernel,
    bound: Bound | BoundKernel,
    limits: RunLimits,
    span: range,
    sizes: Sizes | None,
    kept: frozenset[str] = frozenset(),
) -> RangeResult:
    """Run these blocks of a launch that is `divided`; NotNative where only the reference can.

    `sizes` are those of the outputs without an array, once the first block has told them. `kept`:
    the arrays that blocks read and write.
    """
    if isinstance(function, CompiledKernel):
        assert isinstance(bound, BoundKernel)
        return _of_kernel(function, bound, limits, span, kept)
    assert isinstance(bound, Bound)
    session = function.session(bound, limits, apart=True, kept=kept, logged=bool(kept))
    arrays = {name.removeprefix("%"): memory for name, memory in session.arrays.items()}
    if sizes is not None:
        for memory in arrays.values():
            memory.growable = False
        for name, size in sizes.items():
            arrays[name].grow(*size)
    _, count = session.run(function.how.blocks, span=span)
    outputs = {arg.name: arrays[arg.name] for arg in bound.written}
    grown = {name: (m.size, m.shape) for name, m in outputs.items() if m.shape is not None}
    logs = [function.log(worker) for worker in session.crew] if kept else []
    warnings = taken_warnings(session.crew)
    return RangeResult(*_patches(outputs, kept), grown, count, warnings, logs)


def _of_kernel(
    kernel: CompiledKernel,
    bound: BoundKernel,
    limits: RunLimits,
    span: range,
    kept: frozenset[str],
) -> RangeResult:
    """`run_range` for several cores, none of whose outputs grows."""
    launch, count = kernel.apart(bound, limits, span, kept), Counter[str]()
    for worker in (worker for cores in launch.switched() for worker in cores):
        count.update(worker.counts())
    launch.tell([warnings := RunWarnings()])
    outputs, logs = bound.targets(launch.envs), launch.logs() if kept else []
    return RangeResult(*_patches(outputs, kept), {}, count, warnings.found, logs)


def _patches(
    memories: Mapping[str, Memory], kept: frozenset[str]
) -> tuple[dict[str, Patch], dict[str, Memory]]:
    """What was written of the arrays that tell, and the others."""
    others = {name: memory for name, memory in memories.items() if name in kept}
    telling = {name: memory for name, memory in memories.items() if name not in kept}
    return {name: Patch.of(m.data, m.shadow) for name, m in telling.items()}, others

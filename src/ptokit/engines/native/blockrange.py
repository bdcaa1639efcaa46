"""The result of a range of blocks that runs on one thread, on arrays of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.engines.native.plan import Plan, shared_arrays
from ptokit.machine.arguments import Launch
from ptokit.machine.executionlog import Logged
from ptokit.machine.launchoptions import RunLimits
from ptokit.machine.memory import Memory
from ptokit.machine.patches import Patch
from ptokit.machine.record.code import NotNative

Sizes: TypeAlias = "Mapping[str, tuple[int, tuple[int, ...]]]"  # bytes and extents, by argument


@dataclass(frozen=True)
class RangeResult:
    """The writes, warnings and counts of some blocks.

    `grown` are the new sizes of outputs without an array. `warnings` are those of the cores, and of
    FIFOs after the last block. `logs` record the accesses to the arrays in `kept`.
    """

    written: Mapping[str, Patch]
    kept: Mapping[str, Memory]
    grown: Sizes
    count: Counter[str]
    warnings: Sequence[Diagnostic]
    logs: Sequence[Logged]

    @classmethod
    def of(
        cls,
        outputs: Mapping[str, Memory],
        kept: frozenset[str],
        grown: Sizes,
        count: Counter[str],
        warnings: Sequence[Diagnostic],
        logs: Sequence[Logged],
    ) -> RangeResult:
        """Return the written bytes of the arrays that tell, and the arrays that were `kept`."""
        others = {name: memory for name, memory in outputs.items() if name in kept}
        telling = {n: Patch.of(m.data, m.shadow) for n, m in outputs.items() if n not in kept}
        return cls(telling, others, grown, count, warnings, logs)


def divided(
    function: Any, launch: Launch, limits: RunLimits
) -> frozenset[str] | None:  # what the native engine prepares
    """Return the arrays that blocks read and write, by name, if blocks may run separately.

    Blocks may then run separately if their accesses do not conflict. None if blocks must run
    together: in a fixed order, or under a common limit.
    """
    if limits.most is not None:
        return None
    try:
        plans: list[Plan] = function.plans(launch, limits)
    except NotNative:
        return None
    if not plans or any(plan.in_order for plan in plans):
        return None
    shared = {name.removeprefix("%") for name in shared_arrays(plans)}
    targets = launch.targets(launch.inputs).items()
    growing = any(memory.growable for name, memory in targets if name in shared)
    return None if growing else frozenset(shared)

"""The roofline: the times that the units need at their peak rates for the work of a timeline."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.words import M, Pipe
from ptokit.machine.costs.chip import Direction, direction
from ptokit.machine.costs.estimate import cube_peak, path_peak, vector_peak
from ptokit.order.timeline import Bar, Timeline
from ptokit.order.waiting import PipeQueue


@dataclass(frozen=True)
class Roofline:
    """The position of a launch: `compute` and `memory` are the cycles at the peak rates.

    With several cores these are the cycles of the bottleneck core, or of the memory that cores
    share. `bytes` are those of global memory. Paths and instructions without published figures do
    not count.
    """

    cycles: int
    compute: float
    memory: float
    bytes: int
    flop: int

    @property
    def bound(self) -> str:
        """Return "compute" or "memory": the limit of the launch if its pipes overlap perfectly."""
        return "compute" if self.compute >= self.memory else "memory"

    @property
    def share(self) -> float:
        """Return the achieved fraction of the roof, from 0 to 1."""
        return max(self.compute, self.memory) / self.cycles if self.cycles else 0.0

    @property
    def intensity(self) -> float | None:
        """Return the FLOP per byte of global memory; None if no bytes are moved."""
        return self.flop / self.bytes if self.bytes else None


def roofline(timeline: Timeline) -> Roofline:
    """Return the position of a launch, given the peaks of its target."""
    compute: dict[PipeQueue, float] = defaultdict(float)
    memory: dict[PipeQueue, float] = defaultdict(float)
    moved, ways = 0, dict.fromkeys(Direction, 0)
    for bar in timeline.bars:
        if bar.cost.flop:
            compute[bar.queue] += _computing(bar, timeline.target)
        way = direction(bar.cost.path)
        if way is not None:
            moved += bar.cost.bytes
            ways[way] += bar.cost.bytes
            peak = path_peak(timeline.target, bar.cost.path)
            memory[bar.queue] += bar.cost.bytes / peak.per_cycle if peak else 0
    together = (ways[way] / shared.rate for way, shared in timeline.shared.items())
    most = _most(compute, timeline), max(_most(memory, timeline), *together, 0.0)
    return Roofline(timeline.cycles, *most, bytes=moved, flop=timeline.flop)


def _most(cycles: dict[PipeQueue, float], timeline: Timeline) -> float:
    """Return the busy time of the bottleneck queue. Blocks that share a pipe are serialised."""
    of: dict[Pipe, list[float]] = defaultdict(list)
    for queue, needed in cycles.items():
        of[queue.pipe].append(needed)
    serial = (sum(some) / timeline.shape.at_once(len(some)) for some in of.values())
    return max([0.0, *cycles.values(), *serial])


def _computing(bar: Bar, target: Target) -> float:
    """Return the cycles of the operations at the peak of their unit and element type."""
    tiles = [kind for _, kind in bar.entry.operands if isinstance(kind, TileType)]
    if not tiles:
        return 0.0
    cube = bar.queue.pipe is M
    dtype = min((tile.dtype for tile in tiles), key=lambda dtype: dtype.bits)
    peak = cube_peak(target, dtype) if cube else vector_peak(target, dtype)
    return bar.cost.flop / peak.per_cycle

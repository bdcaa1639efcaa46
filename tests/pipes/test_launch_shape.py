"""Launches of several cores: what they share of global memory, and blocks that wait for a core."""

from __future__ import annotations

from itertools import pairwise
from pipes.stream import RIGHT, stream

import pytest

import ptokit as pto
from every import every
from ptokit.isa.model.targets import A2A3_TARGET, A5_TARGET, Target
from ptokit.isa.model.words import FIX, MTE2, MTE3, M, Pipe, V
from ptokit.machine.costs.chip import Direction, chip_of, direction
from ptokit.machine.costs.cost import Cost, Origin
from ptokit.order.footprints import ByteRegions, MemorySpace
from ptokit.order.roofline import roofline
from ptokit.order.scheduling import predicted
from ptokit.order.timeline import Timeline, first_across, shape_of_launch
from ptokit.order.waiting import Await, PipeQueue, PipeWork, Post, QueueEntry, Ticket

OP = pto.loads(stream(*RIGHT)).module.funcs[0].body.ops[0]
REGIONS = ByteRegions()
ARRAY = MemorySpace("global memory")
MOVED = 409_600  # bytes of each transfer below
ALONE = 4000  # cycles that one takes if its core has the memory to itself
ROUNDED = 1e-3  # cycles are whole
# by hand, in bytes a cycle: 24 cores of 32 bytes at 1800 MHz, the cycle one of 1850 MHz
MEMORY = 24 * 32 * 1800 / 1850
CACHE_READ = 24 * 110 * 1800 / 1850
CACHE_WRITE = 24 * 86 * 1800 / 1850


def work(core: int, pipe: Pipe, place: int = 0, number: int = 0) -> PipeWork:
    """An instruction that touches the bytes of a place of global memory."""
    region = REGIONS.at(ARRAY, place * MOVED, ((0, MOVED),))
    reads, writes = ((region,), ()) if pipe is MTE2 else ((), (region,))
    return PipeWork(number, OP, PipeQueue(core, pipe), (), reads, writes)


def transfer(entry: PipeWork) -> Cost:
    """All instructions take as long, those of MTE2 and MTE3 to move bytes."""
    path = {MTE2: "gm>vec", MTE3: "vec>gm"}.get(entry.queue.pipe, "")
    return Cost(ALONE, Origin.FITTED, bytes=MOVED if path else 0, path=path)


def launch(cores: list[list[QueueEntry]], blocks: list[int] | None = None) -> Timeline:
    found, stuck = predicted(cores, A2A3_TARGET, REGIONS, transfer, blocks)
    assert not stuck
    return found


ALL = 32 * MOVED  # bytes of the launches of 32 cores


@every(
    ("pipe", "cores", "places", "lasts"),
    [
        (MTE2, 2, 2, ALONE),  # both fit
        (MTE2, 8, 8, 8 * MOVED / MEMORY),  # each has bytes of its own
        (MTE2, 24, 24, 24 * MOVED / MEMORY),
        (MTE3, 12, 12, ALONE),  # L2 takes what is written
        (MTE2, 8, 1, 8 * MOVED / MEMORY / 8 + ALONE * 7 / 8),  # once out of the memory
        (MTE2, 16, 8, 16 * MOVED / MEMORY / 2 + ALONE / 2),  # every other time
        (MTE2, 32, 1, ALL / MEMORY / 32 + ALL / CACHE_READ * 31 / 32),
        (MTE3, 32, 1, ALL / CACHE_WRITE),
    ],
)
def test_cores_share_the_memory(pipe: Pipe, cores: int, places: int, lasts: float) -> None:
    found = launch([[work(core, pipe, core % places)] for core in range(cores)])
    assert {bar.cycles for bar in found.bars} == {int(lasts)}
    assert found.cycles == int(lasts) >= ALONE
    assert bool(found.slower) == (found.cycles > ALONE)
    assert roofline(found).share <= 1 + ROUNDED


def test_reading_and_writing_do_not_slow_each_other_down() -> None:
    readers: list[list[QueueEntry]] = [[work(n, MTE2, n)] for n in range(16)]
    writers: list[list[QueueEntry]] = [[work(16 + n, MTE3, n)] for n in range(8)]
    cycles = {bar.queue.pipe: bar.cycles for bar in launch(readers + writers).bars}
    assert cycles == {MTE2: int(MOVED * 16 / MEMORY), MTE3: ALONE}


def test_only_cores_that_use_the_memory_share_it() -> None:
    found = launch([[work(0, MTE2, 0)], [work(1, MTE2, 1)], [work(2, V)]])
    assert found.shared[Direction.READ].cores == 2


def test_what_the_cache_does_not_hold_comes_from_memory() -> None:
    """Twice the same 200 MB: more than L2 has."""
    held = chip_of(A2A3_TARGET).cached
    cores = [[work(core, MTE2)] for core in range(2)]
    both = 1 / MEMORY + 1 / CACHE_READ  # cycles of a byte: once from either
    for size, byte in ((held, both), (held + 1, 2 / MEMORY)):
        cost = Cost(1, Origin.FITTED, bytes=size, path="gm>vec")
        found, _ = predicted(cores, A2A3_TARGET, REGIONS, lambda _, cost=cost: cost)
        assert found.cycles == int(size * byte)


def test_a_share_says_where_its_figures_are_from() -> None:
    own = launch([[work(n, MTE2, n)] for n in range(8)])
    same = launch([[work(n, MTE2, 0)] for n in range(32)])
    assert {bar.cost.source for bar in own.bars} == {Origin.PUBLISHED}
    assert {bar.cost.source for bar in same.bars} == {Origin.ESTIMATED}


@pytest.mark.parametrize(
    ("target", "cube", "vector", "memory"),
    [(A2A3_TARGET, 24, 48, MEMORY), (A5_TARGET, 32, 64, 32 * 27)],
    ids=["a2a3", "a5"],
)
def test_the_cores_of_a_chip(target: Target, cube: int, vector: int, memory: float) -> None:
    chip = chip_of(target)
    assert (chip.cube, chip.vector, chip.source) == (cube, vector, Origin.PUBLISHED)
    assert [*chip.memory.values()] == pytest.approx([memory, memory])


def test_directions_of_paths() -> None:
    assert [*map(direction, ("gm>mat", "acc>gm", "mat>left", ""))] == ["read", "write", None, None]


@every(
    ("pipes", "room"),
    [([V], 48), ([MTE2], 48), ([M], 24), ([FIX], 24), ([V, V], 24), ([M, V, V], 24)],
    ids=str,
)
def test_how_many_blocks_run_at_once(pipes: list[Pipe], room: int) -> None:
    blocks = [block for block in range(100) for _ in pipes]
    cores = [[work(core, pipes[core % len(pipes)])] for core in range(len(blocks))]
    shape = shape_of_launch(cores, blocks, A2A3_TARGET)
    assert (shape.room, shape.waits) == (room, True)
    assert shape.at_once(len(cores)) == room * len(pipes)
    assert not shape_of_launch(cores[:3], blocks[:3], A2A3_TARGET).waits


def test_blocks_without_a_core_begin_where_one_has_ended() -> None:
    """48 vector cores: the two blocks beyond follow those that end first, numbers 1 and 0."""
    cores = [[work(n, V)] for n in range(50)]
    lasts = {0: 7, 1: 5}
    found, _ = predicted(
        cores,
        A2A3_TARGET,
        REGIONS,
        lambda e: Cost(lasts.get(e.queue.core, 100), Origin.FITTED),
        [*range(50)],
    )
    starts = {bar.queue.core: bar.start for bar in found.bars}
    assert (starts[48], starts[49]) == (5, 7)
    assert {starts[n] for n in range(48)} == {0}
    assert found.cycles == 107
    assert [entry.queue.core for entry in found.critical] == [0, 49]
    assert not found.bubbles
    assert sum(row.critical for row in found.lines) == found.cycles


def test_waves_share_the_memory_as_the_cores_at_once_do() -> None:
    blocks = [*range(96)]
    found = launch([[work(n, MTE2, n)] for n in blocks], blocks)
    assert found.shared[Direction.READ].cores == 48
    assert found.cycles == 2 * int(MOVED / (MEMORY / 48))
    assert 0.99 < roofline(found).share <= 1 + ROUNDED


def test_all_entries_of_a_block_come_after_the_block_before() -> None:
    """Also flags and several pipes: each core goes on where nothing of the one before is left."""
    texts = [stream(*RIGHT)] * 2
    program = pto.loads(texts[0])
    found = program.profile(n=3, target="a2a3", blocks=100).timeline
    ends = {core: 0 for core in range(100)}
    for entry in found.entries:
        ends[entry.queue.core] = max(ends[entry.queue.core], entry.complete)
    for entry in found.entries:
        assert entry.ready >= found.begins[entry.queue.core]
    assert {*found.begins.values()} <= {0, *ends.values()}
    for one, two in pairwise(found.critical):
        assert two.ready in (one.end, one.complete)


def test_no_block_waits_for_work_of_the_one_before() -> None:
    """Its flags take time when it begins, but nothing else does."""
    found = pto.loads(stream(*RIGHT)).profile(n=3, target="a2a3", blocks=100).timeline
    assert {b.entry.queue.core for b in found.bubbles} == {*range(100)}
    assert all(b.cause.queue.core == b.entry.queue.core for b in found.bubbles)


def test_blocks_that_wait_for_one_another_are_found() -> None:
    ticket, other = Ticket("signal", 1), PipeQueue(1, V)
    cores: list[list[QueueEntry]] = [
        [Post(0, OP, PipeQueue(0, V), (), ticket=ticket)],
        [Await(0, OP, other, (), (ticket,))],
    ]
    assert first_across(cores, shape_of_launch(cores, [0, 1], A2A3_TARGET)) is cores[1][0]
    assert first_across(cores, shape_of_launch(cores, [0, 0], A2A3_TARGET)) is None


@pytest.mark.parametrize(("target", "cycles"), [(A2A3_TARGET, 1), (A5_TARGET, 20)], ids=str)
def test_a_barrier_takes_the_cycles_of_its_target(target: Target, cycles: int) -> None:
    body = "func.func @still() {\n  pto.barrier <PIPE_ALL>\n  pto.barrier <PIPE_ALL>\n  return\n}\n"
    assert pto.loads(body).profile(target=target.name).cycles == 2 * cycles

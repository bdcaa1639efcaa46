"""Samples of arguments, and the choice of the sample runs that show the most of a program."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from math import prod
from random import Random
from typing import TypeAlias

import numpy as np

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.explore.drylaunch import DryLaunch
from ptokit.explore.openvalues import depending, depends, idle, is_issued
from ptokit.explore.pathruns import directed_runs
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.traits import FLAGS, RESIZES
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import PtrType, ScalarType, Type
from ptokit.order.issue import Issue
from ptokit.values.host import AnyArray

MIXED = 20  # further random samples of several numbers
SAMPLES = (1024, 256, 64, 16, 4, 1)  # samples of an integer argument
LARGE = 1 << 16  # an extent that exceeds every window
LARGEST_SAMPLE = 1 << 30  # bytes of a sample array
COMPARED = 5  # compared samples after the first that issues something


Try: TypeAlias = "tuple[Sequence[Func], Sequence[Issue]]"  # functions, and runs of them


def most_telling(tries: Iterable[Try]) -> Sequence[Issue]:
    """Return the runs on the first sample that reach all instructions, else the best of few.

    On some samples a program is legal only because it does nothing: its loops do not iterate, its
    tiles are empty, or only one way of a branch is legal.
    """
    best: Sequence[Issue] = ()
    most, left = (False, 0), COMPARED
    for funcs, issues in tries:
        if not issues:
            continue
        every = sum(1 for _ in _issued_ops(funcs))
        score = not idle(funcs, issues), every - len(unreached(funcs, issues))
        if not best or score > most:
            best, most = issues, score
        left -= most[0]
        if most == (True, every) or not left:
            break
    return best


def unreached(funcs: Sequence[Func], issues: Collection[Issue]) -> list[Op]:
    """Return the instructions that no run issues on a tile that is not empty."""
    reached = set[int]().union(*(issue.reached for issue in issues))
    begun = set[int]().union(*(issue.begun for issue in issues))
    missing = [op for op in _issued_ops(funcs) if id(op) not in reached]
    if not any(id(op) in begun for op in missing):
        return missing
    open = frozenset(value for func in funcs for value in _open_extents(func))
    return [
        op
        for op in missing
        if id(op) not in begun or not open.isdisjoint(value for _, value in op.values())
    ]


def further_blocks(launch: DryLaunch, before: Collection[Issue]) -> Iterator[Issue]:
    """Yield runs of a block after the third that reach further instructions."""
    every = replace(launch, mixed=False, refused=[])
    if not every.together and unreached(launch.funcs, before):
        with suppress(PtoError):  # the run is too long
            begun = set[int]().union(*(issue.begun | issue.reached for issue in before))
            yield from directed_runs(every, begun)


def _open_extents(func: Func) -> frozenset[Value]:
    """Return the values that depend on arguments or memory, and tiles resized by them."""
    open = depending(func)
    every = [[*op.values()] for op in func.ops if isinstance(op, Op) and RESIZES in op.page.traits]
    resized = [values[0][1] for values in every if not open.isdisjoint(v for _, v in values)]
    return depends(func, open | {*resized})


def _issued_ops(funcs: Sequence[Func]) -> Iterator[Op]:
    for func in funcs:
        for op in func.ops:
            if isinstance(op, Op) and is_issued(op) and FLAGS not in op.page.uses:
                yield op


def samples(args: Sequence[Value], *, whole: bool) -> Iterator[dict[str, object]]:
    """Yield samples of arguments; the caller takes the first that are legal.

    Front ends pass the block index last, or before the number of blocks. With `whole`, arrays are
    None and get the size of the program's views.
    """
    numbers = [arg.name for arg in args if isinstance(arg.type, ScalarType)]
    arrays = {arg.name: _sampled_array(arg, whole) for arg in args if arg.name not in numbers}
    real = {arg.name: 1.0 for arg in args if getattr(arg.type, "is_float", False)}
    tried = set[tuple[object, ...]]()
    for given in _given(numbers, whole):
        every = dict(zip(numbers, given, strict=True)) | real
        if (key := tuple(every.values())) not in tried:
            tried.add(key)
            yield {**arrays, **every}


def _given(numbers: Sequence[str], whole: bool) -> Iterator[Sequence[int]]:
    """Yield numbers for these arguments, some of them more than once."""
    count = len(numbers)
    for number in SAMPLES if numbers else SAMPLES[:1]:
        yield [number] * count
        yield [*[number] * (count - 1), 0][:count]
        yield [*[number] * (count - 2), 0, 1][:count]
    if not whole:  # with extents as large the arrays would be, too
        yield from ([LARGE * (n == name) for n in numbers] for name in numbers)
    random = Random(0)
    for _ in range(MIXED if count > 1 else 0):
        yield [random.choice((0, *SAMPLES)) for _ in numbers]


def _sampled_array(arg: Value, whole: bool) -> AnyArray | None:
    kind = arg.type
    if not isinstance(kind, PtrType):
        return _blank(kind)
    return None if whole else np.zeros(1, f"V{kind.dtype.size}")


def _blank(kind: Type) -> AnyArray | None:
    """Return an array for an argument that is a tile or a view with known extents."""
    if not isinstance(kind, TileType | GlobalType | ConvTileType):
        return None
    extents = [*kind.valid] if isinstance(kind, TileType) else [*kind.shape]
    known = [extent for extent in extents if extent is not None]
    fits = known == extents and prod(known) * kind.dtype.size <= LARGEST_SAMPLE
    return np.zeros(known, f"V{kind.dtype.size}") if fits else None

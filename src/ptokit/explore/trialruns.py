"""Trial runs: cores that exchange something, on small exact numbers for all arguments alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, product
from typing import NamedTuple

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.explore.drylaunch import DryLaunch
from ptokit.explore.pathconditions import ALONE
from ptokit.explore.samplenumbers import bounds_of
from ptokit.order.entries import OF_ONE_CORE, Post
from ptokit.order.issue import Issue

COUNTS = (1, 2, 5, 9)  # odd, even, and more than FIFOs have slots
SCALES = (1, 16, 64, 256)  # tile extents, for arguments that are array extents
ENOUGH = 5  # trials in which cores exchange something
ENDLESS = {"deadlock", "fifo-mismatch", "signal-overflow"}  # errors between cores
MOST_TRIALS = 24
MOST_ISSUED = 4_000  # instructions of one trial


class Trial(NamedTuple):
    """The numbers of a run, and its trace or error."""

    numbers: Mapping[str, int]
    outcome: Issue | PtoError


def trials(launch: DryLaunch) -> Iterator[Trial]:
    """Yield the runs on trial numbers in which cores exchange something or deadlock."""
    left, own = ENOUGH, launch.numbers
    near = [n for n in bounds_of(launch.funcs) if n <= max(SCALES)]
    scaled = [scale * count for scale, count in product(SCALES, COUNTS)]
    every = chain(COUNTS, near[: MOST_TRIALS // 2], scaled)
    for number in [*dict.fromkeys(every)][:MOST_TRIALS] if own else ():
        numbers = dict.fromkeys(own, number)
        one = replace(launch.with_numbers(numbers), most=MOST_ISSUED, mixed=False, held=None)
        try:
            outcome: Issue | PtoError = one.issue(ALONE, checks=True)
            counts = _exchanges(outcome)
        except PtoError as problem:
            outcome, counts = problem, problem.diagnostics[0].slug in ENDLESS
        if counts:
            left -= 1
            yield Trial(numbers, outcome)
        if not left:
            return


def _exchanges(issue: Issue) -> bool:
    """Return True if a core signals another core."""
    posts = (entry for entry in chain.from_iterable(issue.cores) if isinstance(entry, Post))
    return any(not isinstance(post.ticket.channel, OF_ONE_CORE) for post in posts)

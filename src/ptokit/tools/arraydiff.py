"""Differences of two arrays: the worst elements, a histogram of distances, and a map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ptokit.api.compare import ArrayPair, Tolerance, paired
from ptokit.values.dtypes import DType

WORST = 10  # elements that are listed
MOST = (32, 64)  # blocks of a map, down and across
BAR = 40  # characters of the longest bar
SIDE = 12  # pixels of a block
ENDS = {0.0: ".", 1.0: "#"}  # characters of blocks of which no element differs, or each


@dataclass(frozen=True)
class DiffMap:
    """The share of differing elements in each block of rows and columns."""

    shares: NDArray[np.float64]
    block: tuple[int, int]

    @classmethod
    def of(cls, wrong: NDArray[np.bool_], block: tuple[int, int] | None) -> DiffMap:
        """Return the map with the last axis across; without a block, its size is limited."""
        flat = wrong.reshape(-1, wrong.shape[-1]) if wrong.ndim else wrong.reshape(1, 1)
        sizes = [max(1, ceil(n / most)) for n, most in zip(flat.shape, MOST, strict=True)]
        height, width = block or sizes
        shape = zip(flat.shape, (height, width), strict=True)
        down, across = (max(1, -(-n // side)) for n, side in shape)
        room = np.full((down * height, across * width), np.nan)
        room[: flat.shape[0], : flat.shape[1]] = flat
        return cls(np.nanmean(room.reshape(down, height, across, width), (1, 3)), (height, width))

    def lines(self) -> Iterator[str]:
        """Yield a character per block: a dot if nothing differs, # if all does, else tenths."""
        yield f"each character is a block of {self.block[0]}x{self.block[1]} elements:"
        yield "  . none differ, 0-9 tenths of them do, # all"
        for row in self.shares:
            yield "  " + "".join(ENDS.get(share, str(int(share * 10))) for share in row)

    def svg(self) -> str:
        """Return the map as a picture, darker for larger shares."""
        (down, across), lines = self.shares.shape, list[str]()
        for (row, col), share in np.ndenumerate(self.shares):
            colour = "#e8efe9" if share == 0 else f"rgba(168, 50, 30, {0.25 + 0.75 * share:.2f})"
            height, width = self.block
            words = f"[{row * height}, {col * width}]: {share:.0%} differ"
            lines.append(
                f'<rect x="{col * SIDE}" y="{row * SIDE}" width="{SIDE - 1}" height="{SIDE - 1}" '
                f'fill="{colour}"><title>{words}</title></rect>'
            )
        size = f'width="{across * SIDE}" height="{down * SIDE}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n' + "\n".join(lines) + "\n</svg>\n"
        )


def histogram(ulps: NDArray[np.integer]) -> Iterator[str]:
    """Yield the number of elements by distance in units in the last place, in powers of two."""
    powers = np.where(ulps > 0, np.frexp(np.maximum(ulps, 1).astype(np.float64))[1], 0)
    counts = np.bincount(powers.astype(np.int64).reshape(-1))
    longest = max(counts.max(), 1)
    yield "units in the last place apart, elements:"
    for power, count in enumerate(counts):
        if count:
            low, high = (0, 0) if power == 0 else (1 << (power - 1), (1 << power) - 1)
            what = str(low) if low == high else f"{low} to {high}"
            yield f"  {what:>24}  {count:>10}  {'#' * ceil(BAR * count / longest)}"


def assert_tiles_equal(
    found: object,
    expected: object,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    ulp: int | None = None,
    name: str = "the array",
    dtype: DType | None = None,
) -> None:
    """AssertionError, with the report of `ptokit diff`, unless two tiles or arrays are alike.

    Tolerances are those of `pto.compare`, and so are ValueErrors.
    """
    __tracebackhide__ = True  # pytest shows the caller's line
    within = Tolerance(rtol, atol, ulp)
    within.require()
    pair = paired(found, expected, name, dtype)
    if not pair.compared(name, within):
        raise AssertionError("\n".join(whole_report(pair, name, within)))


def whole_report(pair: ArrayPair, name: str, within: Tolerance) -> Iterator[str]:
    """The report, and of arrays that differ the map of where."""
    yield from report(pair, name, within)
    wrong = pair.wrong(within)[0].reshape(pair.shape)
    if wrong.any():
        yield from ("", *DiffMap.of(wrong, None).lines())


def report(pair: ArrayPair, name: str, within: Tolerance) -> Iterator[str]:
    """The comparison, and of arrays that differ the worst elements and the distances."""
    compared = pair.compared(name, within)
    yield str(compared)
    if compared:
        return
    wrong = pair.wrong(within)[0]
    yield from ("", f"{'worst elements':<24}{'found':>16}{'expected':>16}{'ulp':>12}")
    worst = np.argsort(np.where(wrong, pair.error, -1.0), kind="stable")[::-1]
    for number in worst[: min(WORST, compared.differing)]:
        place = f"[{', '.join(map(str, pair.place(int(number))))}]"
        found, wanted = pair.found[number], pair.wanted[number]
        yield f"{place:<24}{found!s:>16}{wanted!s:>16}{pair.ulps[number]:>12}"
    yield from ("", *histogram(pair.ulps[pair.finite]))

"""Random operands of a page: legal types along every path, and what fills them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rows import ends, full
from space import Knob, State
from witness import HARDEST, Search, Walk

from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import TARGETS
from ptokit.values.dtypes import DTYPES, DType
from ptokit.values.formats import encode, pack

Bytes: TypeAlias = NDArray[np.uint8]
SIDES = ("rows", "cols", "vrows", "vcols", "n3", "n4")


# --- types ---


class Family:
    """The operands that a page takes on one target."""

    def __init__(self, page: type[Instr], target: str) -> None:
        self.found = Search(page, TARGETS[target])
        self.space = self.found.space
        self.full = list(full(self.space))
        for stricter in HARDEST[: HARDEST.index(target)]:
            first = family(page, stricter).first
            self.found.pool += [first] if first is not None and self.found.meets(first) else []
        self.first = self.found.matching(self.full, "any", {})

    def draw(self, random: Random, changes: int) -> State:
        """A legal state: some path, some element types, and about `changes` other choices."""
        assert self.first is not None
        fixed = self._ends(random)
        knobs = random.sample(list(self.space.domains), min(changes, len(self.space.domains)))
        moved = {knob: self.choice(knob, random) for knob in knobs}
        some = [] if random.random() < 0.1 else self.full  # or operands may be empty
        goal = [*some, *self.found.keep.values(), *self.found.types]
        start = {**self.first, **moved, **fixed}
        for frozen, steps in ((tuple(fixed), 8), ((), 25)):
            state = Walk(self.space, goal, start, random, frozen).run(steps)
            if state is not None:
                return state
        return self.first

    def _ends(self, random: Random) -> State:
        """A path that the page has on the target, and the element type of one end."""
        page, names = self.found.page, ends(self.found.page)
        paths = [p for p in page.paths if self.found.target.name in p.on]
        fixed: State = {}
        if paths:
            path = random.choice(paths)
            fixed = {(names[0], "loc"): path.source, (names[1], "loc"): path.target}
        typed = [k for k in self.space.domains if k[1] == "dtype"]
        if typed:
            fixed |= {random.choice(typed): random.choice(DTYPES)}
        return fixed

    def choice(self, knob: Knob, random: Random) -> Any:  # Any: see State
        """A value a knob may have; any extent up to 70."""
        domain = self.space.domains[knob]
        if knob[1] in SIDES and random.random() < 0.7:
            return random.randint(1, 70)
        return random.choice(domain)


@cache
def family(page: type[Instr], target: str) -> Family:
    return Family(page, target)


@cache
def sample(page: type[Instr], target: str, number: int) -> State:
    """One of a row of states, the same each time."""
    random = Random(f"{page.__name__} {target} {number}")
    return family(page, target).draw(random, number % 3)


JOINTLY = ("dtype", "vrows", "vcols", "rows", "cols", "layout")


def varied(page: type[Instr], target: str, number: int, moves: int = 12) -> State:
    """A legal state some steps away from a sample; each step is taken if all rules still hold.

    A step changes an operand, or together all operands that agree: as fast as the rules, where
    another sample is a search.
    """
    kin, random = family(page, target), Random(f"{page.__name__} {target} varied {number}")
    walk = Walk.holding(kin.found, sample(page, target, number // 8), random)
    state, space = walk.state, kin.space
    for _ in range(moves):
        name, word = random.choice(list(space.domains))
        if random.random() < 0.6:
            word = random.choice(JOINTLY)
        knobs = [k for k in space.domains if k[1] == word]
        if not knobs:
            continue
        first = (name, word) if (name, word) in knobs else random.choice(knobs)
        alike = [k for k in knobs if state[k] == state[first] or random.random() < 0.1]
        value = kin.choice(first, random)
        for some in (alike, [first]):
            taking = (k for k in some if k == first or has(space.domains[k], value))
            if walk.stays(dict.fromkeys(taking, value)):
                break
    return dict(state)


def has(domain: tuple[Any, ...], value: Any) -> bool:  # Any: see State
    """Whether a knob takes a value: False is no number."""
    return any(type(value) is type(word) and value == word for word in domain)


# --- data ---

# Codes that are edges of a format: zeros, denormals, one, the largest, infinities, NaNs.
EDGES = {
    "f32": (
        *(0, 1 << 31, 1, 0x807FFFFF, 0x00800000, 0x3F800000, 0x3F000000, 0x40200000, 0x7F7FFFFF),
        *(0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0xFFFFFFFF),
        *(0x477FE000, 0x477FEFFF, 0x477FF000, 0x33000000, 0x33000001, 0x4F000000, 0xCF000000),
    ),
    "f16": (
        *(0, 0x8000, 1, 0x83FF, 0x0400, 0x3C00, 0x3800, 0x4100, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00),
        *(0x7E00, 0xFE01, 0x7C01, 0xFFFF),
    ),
    "bf16": (
        *(0, 0x8000, 1, 0x807F, 0x0080, 0x3F80, 0x3F00, 0x4020, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80),
        *(0x7FC0, 0xFFC1, 0x7F81, 0xFFFF),
    ),
}
STYLES = ("ordinary", "bytes", "edges", "inside", "beside")


def random_bytes(random: np.random.Generator, count: int) -> Bytes:
    return np.frombuffer(random.bytes(count), np.uint8)


def content(style: str, dtype: DType, count: int, below: int, random: np.random.Generator) -> Bytes:
    """The bytes of `count` elements.

    Ordinary values; random bytes; edges of the format among them; integers in range(below), as
    indices must be; and integers about that range.
    """
    if style == "bytes":
        return random_bytes(random, dtype.nbytes(count))
    if style == "edges":
        codes = _edges(dtype, count, random)
    elif style == "ordinary" and dtype.is_float:
        codes = encode(random.standard_normal(count).astype(np.float32) * np.float32(3), dtype)
    else:
        low, high = {"inside": (0, below), "beside": (-2, below + 2)}.get(style, (-100, 100))
        codes = encode(random.integers(low, max(high, low + 1), count), dtype)
    return pack(codes) if dtype.packed else codes.view(np.uint8)


def parameters(count: int, random: np.random.Generator) -> Bytes:
    """The bytes of fix-pipe parameters: scales about 1, and any offset, shift and sign."""
    scales = random.standard_normal(count).astype(np.float32).view(np.uint32).astype(np.uint64)
    upper = random.integers(0, 1 << 17, count, np.uint64) << np.uint64(32)
    small = (upper >> np.uint64(40)) << np.uint64(40) ^ upper  # offsets below 8
    upper = np.where(random.random(count) < 0.5, small, upper)
    signed = random.integers(0, 2, count, np.uint64) << np.uint64(46)
    return (scales | upper & ~np.uint64(1 << 46) | signed).view(np.uint8)


def _edges(dtype: DType, count: int, random: np.random.Generator) -> NDArray[Any]:
    """Edges, and random codes between them."""
    top = 1 << (dtype.bits - 1)
    edges = EDGES.get(dtype.name, (0, 1, 2, top - 1, top, top + 1, 2 * top - 1))
    chosen = np.array(edges, np.uint64)[random.integers(0, len(edges), count)]
    noise = random.integers(0, 2 * top, count, np.uint64, endpoint=False)
    return np.where(random.random(count) < 0.7, chosen, noise).astype(dtype.storage)


def numbers(
    kinds: Mapping[str, Any], random: Random, name: str, value: int, scalar: str | None
) -> int | float:
    """A number like `value` for a scalar operand: fix-pipe parameters and addends are drawn."""
    if scalar == "u64":
        scale = float(np.float32(random.choice((0.5, 1 / 3, 1.5, 7, 2.0**-9, 100))))
        bits = int(np.float32(scale).view(np.uint32))
        return bits | random.getrandbits(32) << 32 if random.random() < 0.7 else value
    floats = any(getattr(k, "dtype", None) and k.dtype.is_float for k in kinds.values())
    if scalar is None and floats and name == "scalar":
        return random.choice((value, 0.1, -1.5, float("inf"), float("nan"), 1e30, -0.0))
    return value

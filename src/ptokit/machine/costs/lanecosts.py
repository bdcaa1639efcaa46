"""Latency and interval of the instructions of a vector function on A5, and the ports they take."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import MADE
from ptokit.isa.model.tiles import REGISTER_BYTES, RegisterType, TileType
from ptokit.machine.costs.figures import Table, figures
from ptokit.values.dtypes import DType

LOGICAL = "vmi."  # before the names of instructions on logical vectors
LOAD, STORE, COMPUTE = "load", "store", "compute"


class PortUse(NamedTuple):
    """A port, "" for none, how long it is taken, and when the result is there.

    `known` is when another operation can use the result.
    """

    port: str
    interval: int
    latency: int
    known: int
    computes: bool = False


def registers_of(kinds: Iterable[TileType]) -> int:
    """Return how many registers hold the longest of some vectors."""
    sizes = (k.nbytes for k in kinds if isinstance(k, RegisterType) and k.word != "mask")
    return max(1, -(-max(sizes, default=0) // REGISTER_BYTES))


def slots(
    page: type[Instr], port: str, dtype: DType, of_masks: bool, file: str, registers: int
) -> PortUse:
    """Return the slot of an instruction on logical vectors: of one register after the other."""
    one = slot(page, port, dtype, of_masks, file)
    later = (registers - 1) * one.interval
    return one._replace(
        interval=registers * one.interval, latency=one.latency + later, known=one.known + later
    )


@cache
def slot(page: type[Instr], port: str, dtype: DType, of_masks: bool, file: str) -> PortUse:
    """Return the slot of an instruction that computes in registers, or loads or stores them."""
    tables = figures(file)
    unit, lanes = tables["function"], tables["lanes"]
    if MADE in page.traits:
        return PortUse("", 0, 0, 0)
    if port in (LOAD, STORE):
        latency, interval = lanes["slow"].get(_on_registers(page), (unit[port], 1))
        return PortUse(port, interval, latency, latency)
    if of_masks:
        return PortUse("", 0, lanes["mask"], lanes["mask"])
    name = operation(page, lanes)
    latency, interval = unit.get(dtype.name, {}).get(name) or unit["table"][name]
    known = max(1, latency - lanes["forward"])
    return PortUse(COMPUTE, interval, latency, known, name not in tables["moving"]["operations"])


def operation(page: type[Instr], lanes: Table) -> str:
    """Return the operation that an instruction is; "unknown" if the table does not have it."""
    rows = lanes["operations"].items()
    return next((name for name, pages in rows if _on_registers(page) in pages), "unknown")


def _on_registers(page: type[Instr]) -> str:
    """Return the name of the instruction on registers that an instruction on vectors becomes."""
    return page.name.removeprefix(LOGICAL)


class Ports:
    """The ports of a vector core, with the cycles at which each kind is taken."""

    def __init__(self, file: str) -> None:
        unit = figures(file)["function"]
        self.several = {LOAD: unit["loads"], STORE: unit["stores"], COMPUTE: unit["issue"]}
        self.used: dict[str, dict[int, int]] = {port: {} for port in self.several}

    def take(self, port: str, ready: int, interval: int) -> int:
        """Take a port from the first cycle on at which it is free for so long; return the cycle."""
        if not port:
            return ready
        used, several = self.used[port], self.several[port]
        start = ready
        while late := [n for n in range(start, start + interval) if used.get(n, 0) >= several]:
            start = late[-1] + 1
        for n in range(start, start + interval):
            used[n] = used.get(n, 0) + 1
        return start

"""The state of a core besides data: registers that are set, flags that are up.

Programs execute in text order here, so flags order nothing; but each flag has two states, and a
program that sets a flag twice or waits for a flag that is down would hang or race on hardware.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError, error
from ptokit.isa.formula.formulas import Env
from ptokit.isa.lang.environment import Offer, call
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import FLAGS, REGISTERS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.machine.memory import Memory
from ptokit.values.scalars import Integer

IDS = 8  # event ids of each pair of pipes (dispute X13)
PIPES = list(Pipe)
FLAG_MEMORY = "flags"  # its name in compiled programs
Queue: TypeAlias = "Pipe | str"  # a pipe, or the name of an operation without a page
Key: TypeAlias = "tuple[Queue, Queue, int]"


class Flags:
    """The flags of one core: for each pair of pipes eight, up or down.

    `memory` has a byte for each, which compiled programs write too; `named` are flags of operations
    without a page.
    """

    def __init__(self) -> None:
        size = len(PIPES) * len(PIPES) * IDS
        self.memory = Memory(FLAG_MEMORY, np.zeros(size, np.uint8), written=True)
        self.named: set[Key] = set()
        self.given = Counter[tuple[Queue, Queue]]()

    def set(self, source: Queue, target: Queue, event: int) -> None:
        """Raise a flag; PtoError if it is up. A flag within one pipe has no effect."""
        key = (source, target, event)
        if self.is_up(key):
            raise error(
                "event-in-use",
                f"event {event} of {source} -> {target}: {CATALOGUE['event-in-use'].title}",
                rule="each record is followed by one wait before the next record",
                seen=self._ups(source, target),
                help="wait for the event first, or use another of the eight ids of these pipes",
            )
        if source is not target:
            self._put(key, up=True)

    def wait(self, source: Queue, target: Queue, event: int) -> None:
        """Wait for a flag and lower it; PtoError if it is down."""
        key = (source, target, event)
        if source is target:
            return
        if not self.is_up(key):
            raise error(
                "event-not-set",
                f"event {event} of {source} -> {target}: {CATALOGUE['event-not-set'].title}",
                rule="each wait follows one record of the same pipes and id",
                seen=self._ups(source, target),
                help="record the event after the instruction that produces the result",
            )
        self._put(key, up=False)

    def join(self, event: object) -> None:
        """Wait for a Python event; any other value is ignored."""
        key: Key | None = getattr(event, "key", None)
        if key is not None:
            self.wait(*key)

    def barrier(self, pipe: Queue) -> None:
        """Do nothing: in text order all earlier instructions are complete."""

    def acquire(self, pipe: Queue, buffer: int, mode: int) -> None:
        """Do nothing: in text order a buffer is always free."""

    release = acquire

    def clear(self) -> None:
        """Lower all flags."""
        self.memory.data[:] = 0
        self.named.clear()
        self.given.clear()

    def is_up(self, key: Key) -> bool:
        """Return whether a flag is up."""
        number = flag_number(*key)
        return key in self.named if number is None else bool(self.memory.data[number])

    def _put(self, key: Key, *, up: bool) -> None:
        if (number := flag_number(*key)) is not None:
            self.memory.data[number] = up
        elif up:
            self.named.add(key)
        else:
            self.named.remove(key)

    def _ups(self, source: Queue, target: Queue) -> str:
        ids = (event for event in range(IDS) if self.is_up((source, target, event)))
        return f"ids set of {source} -> {target}: {', '.join(map(str, ids)) or 'none'}"

    def allocate(self, source: Queue, target: Queue) -> int:
        """Return the next event id of a pair of pipes, round robin."""
        self.given[source, target] += 1
        return (self.given[source, target] - 1) % IDS


def flag_number(source: Queue, target: Queue, event: Integer) -> Integer:
    """Return the position of a flag in memory; None for operations without a page."""
    if not (isinstance(source, Pipe) and isinstance(target, Pipe)):
        return None
    return (PIPES.index(source) * len(PIPES) + PIPES.index(target)) * IDS + event % IDS


@dataclass
class State:
    """The registers that were written, by name, and the flags."""

    registers: dict[str, int] = field(default_factory=dict[str, int])
    flags: Flags = field(default_factory=Flags)

    def clear(self) -> None:
        """Unset all registers and lower all flags."""
        self.registers.clear()
        self.flags.clear()

    def offer(self) -> Offer:
        """Return the objects for the resources of a body."""
        return {REGISTERS: self.registers, FLAGS: self.flags}


def require_registers(page: type[Instr], target: Target, state: State, available: Env) -> None:
    """Raise PtoError unless registers have the values that a page `needs` on the target."""
    if page.needs is None or not target.registers:
        return
    for name, value in call(page.needs, available).items():
        held = state.registers.get(name)
        if held != value:
            slug = "register-not-set"
            problem = Diagnostic(
                slug,
                f"{page.mnemonic()}: {CATALOGUE[slug].title}",
                rule=f"{name} == {value:#x}",
                seen=f"{name} was never set" if held is None else f"{name} is {held:#x}",
                help="set the registers from the same feature map first, or use an auto mode",
                targets=(target.name,),
            )
            raise PtoError(problem)

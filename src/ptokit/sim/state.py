"""What instructions leave behind besides data: registers that are set, flags that are up.

Programs execute in text order here, so flags order nothing; but each has two states, and a program
that sets one twice or waits for one that is down would hang or race on hardware.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError, error
from ptokit.isa.lang.environment import Offer, call
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import FLAGS, REGISTERS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe

IDS = 8  # event ids of each pair of pipes (X13)
Queue: TypeAlias = "Pipe | str"  # a pipe, or the name of an operation no page has
Key: TypeAlias = "tuple[Queue, Queue, int]"


class Flags:
    """The flags of one core: for each pair of pipes eight, up or down."""

    def __init__(self) -> None:
        self.up: set[Key] = set()
        self.given = Counter[tuple[Queue, Queue]]()

    def set(self, source: Queue, target: Queue, event: int) -> None:
        """Raise a flag. Within one pipe there is nothing to order."""
        key = (source, target, event)
        if key in self.up:
            raise error(
                "event-in-use",
                f"event {event} of {source} -> {target}: {CATALOGUE['event-in-use'].title}",
                rule="each record is followed by one wait before the next record",
                seen=_ups(self.up, source, target),
                help="wait for it first, or use another of the eight ids of these pipes",
            )
        if source is not target:
            self.up.add(key)

    def wait(self, source: Queue, target: Queue, event: int) -> None:
        """Wait for a flag and lower it."""
        key = (source, target, event)
        if source is target:
            return
        if key not in self.up:
            raise error(
                "event-not-set",
                f"event {event} of {source} -> {target}: {CATALOGUE['event-not-set'].title}",
                rule="each wait follows one record of the same pipes and id",
                seen=_ups(self.up, source, target),
                help="record it after the instruction whose result is awaited",
            )
        self.up.remove(key)

    def join(self, event: object) -> None:
        """Wait for a Python event; other values name nothing that is still to come."""
        key: Key | None = getattr(event, "key", None)
        if key is not None:
            self.wait(*key)

    def allocate(self, source: Queue, target: Queue) -> int:
        """The next id of a pair of pipes, round robin."""
        self.given[source, target] += 1
        return (self.given[source, target] - 1) % IDS


def _ups(up: set[Key], source: Queue, target: Queue) -> str:
    ids = sorted(event for a, b, event in up if (a, b) == (source, target))
    listed = ", ".join(map(str, ids)) or "none"
    return f"ids set of {source} -> {target}: {listed}"


@dataclass
class State:
    """The registers that were written, by name, and the flags."""

    registers: dict[str, int] = field(default_factory=dict[str, int])
    flags: Flags = field(default_factory=Flags)

    def offer(self) -> Offer:
        """What a body may use of it."""
        return {REGISTERS: self.registers, FLAGS: self.flags}


def require_registers(
    page: type[Instr], target: Target, state: State, available: Mapping[str, Any]
) -> None:
    """On such targets registers a page `needs` hold what its operands say. Any: as given."""
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

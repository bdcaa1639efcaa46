"""A launch of a compiled kernel: its blocks on cores that are reused, and what they leave."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from ptokit.analysis.fifos import KernelFifos
from ptokit.api.cxx.callrecord import CoreRecord, LaunchRecord
from ptokit.api.cxx.kernelcores import CxxCore, SharedFifo
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.targets import SPACES, Target
from ptokit.isa.model.words import CUBE, VECTOR, KernelKind
from ptokit.machine.memory import Memory
from ptokit.order.group import Grid, problem_on
from ptokit.order.schedule import Schedule
from ptokit.order.signalcounters import SignalBoard
from ptokit.values.enumerations import MAT
from ptokit.values.fixpipe import FixPipe

LANES = 2  # vector cores of a block of a mixed kernel
Program: TypeAlias = "tuple[str, Callable[[], None]]"


class CxxLaunch:
    """Runs the blocks of a kernel: one after the other, and several where cores wait for others.

    `run_core` runs the kernel's text on a core.
    """

    def __init__(
        self,
        name: str,
        blocks: int,
        how: tuple[Target, FixPipe],
        arrays: Mapping[int, Memory],
        run_core: Callable[[CxxCore], None],
        *,
        mixed: bool = False,
    ) -> None:
        target, fixpipe = how
        kinds = (CUBE, VECTOR) if mixed else (VECTOR,)
        fifos = KernelFifos({CUBE: {}, VECTOR: {}}, 0, 0, LANES if mixed else 1)
        rest = {"together": True, "signals": True, "polls": False, "shares": False}
        self.grid = Grid(kinds, fifos, blocks, None, separate=target.separate, **rest)
        self.target, self.fixpipe, self.arrays = target, fixpipe, arrays
        self.run_core, self.mixed = run_core, mixed
        self.schedule = Schedule()
        self.board = SignalBoard([*self.grid], self.schedule)
        self.free: list[list[CxxCore]] = []
        self.cores: list[CxxCore] = []
        self.record = LaunchRecord(name, blocks, mixed, [])
        self.fifos: dict[tuple[int, object], SharedFifo] = {}  # by block and what names them
        self.met: set[KernelKind] = set()  # as what the cores of an unmixed kernel met

    def run(self) -> None:
        """Run every block; PtoError of the first core that fails."""
        blocks = (self._programs(block) for block in range(self.grid.blocks))
        self.schedule.run((), blocks)

    def _programs(self, block: int) -> list[Program]:
        """Begin a block on free cores: the programs of these."""
        cores = self.free.pop() if self.free else self._new()
        running = set(range(len(cores)))
        found: list[Program] = []
        for number, core in enumerate(cores):
            core.enter_block(block)
            found.append((str(core.place), partial(self._run, cores, number, running)))
        return found

    def alone(self) -> list[CxxCore]:
        """Make the cores of the first block, for calls of a host."""
        cores = self._new()
        for core in cores:
            core.enter_block(0)
        return cores

    def _new(self) -> list[CxxCore]:
        """Make the cores of one block; those of both kinds see some memories of one another."""
        how = self.target, self.fixpipe
        places = self.grid.of_block(0)
        cores = [CxxCore(*how, place, self.grid, self.board, self.arrays) for place in places]
        if not self.mixed:
            cores[0].kind, cores[0].met = None, self.met
        else:  # each kind writes into a memory of the other one
            cube, *vectors = cores
            cube.peers = vectors
            for core in vectors:
                core.shared = {SPACES[MAT]: cube.space(MAT)}
        self.cores += cores
        return cores

    def _run(self, cores: list[CxxCore], number: int, running: set[int]) -> None:
        core = cores[number]
        try:
            self.run_core(core)
            if core.problem is not None:
                raise core.problem
        except PtoError as problem:
            raise self._noted(core, problem) from None
        finally:
            self.record.cores.append(CoreRecord(core.place, core.calls, core.places))
        running.discard(number)
        if not running:
            for key in [key for key in self.fifos if key[0] == core.block_idx]:
                del self.fifos[key]
            self.free.append(cores)

    def _noted(self, core: CxxCore, problem: PtoError) -> PtoError:
        """Return the error with the core that met it, where there are several."""
        if self.mixed:
            return problem_on(self.grid, core.place, problem)
        return problem if self.grid.blocks == 1 else problem.noted(f"in block {core.block_idx}")

"""Stored runs of a function: found by everything on which they depend, and stored as JSON.

A file is found by the sources of ptokit, the processor, the program, the options of the launch, and
the kinds of its arguments: element types and extents of arrays, and numbers that are part of code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

from ptokit.launch.textkeys import TEXT, note_run
from ptokit.machine import codefolder
from ptokit.machine.launchoptions import Options
from ptokit.machine.sources import fingerprint_without
from ptokit.values.dtypes import DType
from ptokit.values.host import AnyArray

if TYPE_CHECKING:
    from ptokit.engines.native.storedrun import RepeatedRun
    from ptokit.launch.settings import PreparedFunction
    from ptokit.machine.arguments import Launch

FOUND = tuple[dict[str, AnyArray], dict[str, int], Mapping[str, DType]]
KEPT = 8  # kinds of arguments that a function remembers
DONE = None  # nothing to repeat, and nothing to store


class StoredRuns:
    """The runs of one function with some options, by the kinds of their arguments.

    `program` is a text that determines what the function does; None if there is none.
    """

    def __init__(self, options: Options, program: str | None) -> None:
        self.serves = options.ranks == 1 and options.schedule is None and program is not None
        how = options.func, options.fixpipe, options.blocks, options.types, options.slots
        self.key = repr((options.target, *how, options.strict, options.judged))
        self.program = program or ""
        self.known: dict[object, RepeatedRun | None] = {}
        self._lock = Lock()

    def repeated(
        self, kinds: object, given: Mapping[str, object], direct: frozenset[str]
    ) -> FOUND | None:
        """Return what a stored run gives on these arguments; None if the program has to run."""
        if not self.serves:
            return None
        key = self._processor, kinds
        with self._lock:
            seen, run = key in self.known, self.known.get(key)
        if not seen:
            run = self._read(kinds)
            if run is not None:
                self._remember(kinds, run)
        if run is None:
            return None
        from ptokit.engines.native.storedrun import GivenUp, element_type

        if run.stored.once:
            self._remember(kinds, DONE)
        try:
            outputs, counts = run.run(given, direct)
        except GivenUp:
            self._remember(kinds, DONE)
            return None
        dtypes = {one.name: element_type(one.dtype) for one in run.stored.outputs}
        return outputs, dict(counts), dtypes

    def wants(self, kinds: object) -> bool:
        """Return whether a run of these kinds may be stored."""
        return self.serves and (self._processor, kinds) not in self.known

    def keep(
        self,
        kinds: object,
        function: PreparedFunction | None,
        launch: Launch,
        outputs: Mapping[str, AnyArray],
    ) -> None:
        """Store the run that a function just ended; None: it shall not be stored."""
        self._remember(kinds, DONE)
        if function is None:
            return
        from ptokit.engines.native.storing import stored_run

        run = stored_run(function, launch, outputs)
        if run is not None:
            codefolder.write(self._name(kinds), json.dumps(run).encode())
            if self.program.startswith(TEXT):
                note_run(self.program)

    def _remember(self, kinds: object, run: RepeatedRun | None) -> None:
        """Keep a run, which has memories, for the last few kinds only."""
        with self._lock:
            self.known[self._processor, kinds] = run
            while len(self.known) > KEPT:
                del self.known[next(iter(self.known))]

    def _read(self, kinds: object) -> RepeatedRun | None:
        raw = codefolder.read(self._name(kinds))
        if raw is None:
            return None
        from ptokit.engines.native.storedrun import RepeatedRun, StoredRun

        try:
            return RepeatedRun(StoredRun.of(json.loads(raw)))
        except LookupError:  # the file of its code was removed
            return None

    def _name(self, kinds: object) -> str:
        """Return the name of the file for arguments of these kinds."""
        parts = fingerprint_without(), self._processor, self.program, self.key, kinds
        return codefolder.name_of(("run", *parts))

    @property
    def _processor(self) -> Any:  # Any: see `machine.cache`, which imports llvmlite
        return import_module("ptokit.machine.cache").this_processor()

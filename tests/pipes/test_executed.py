"""What compiled programs write down of themselves: the same entries as the reference issues."""

from __future__ import annotations

from pathlib import Path
from pipes.stream import RIGHT, stream

import numpy as np
import pytest

import ptokit as pto
from ptokit.forms.percore import whole_kernel
from ptokit.isa.model.targets import TARGETS
from ptokit.launch.executable import Executable
from ptokit.machine.executionlog import Logged
from ptokit.machine.launchoptions import Options
from ptokit.order.loggedissue import LoggedIssue
from ptokit.order.waiting import Await, PipeWork, Post, QueueEntry

ROOT = Path(__file__).parents[2]
F16, F32 = np.float16, np.float32
PROGRAMS: dict[str, tuple[str, int, dict[str, object]]] = {
    "stream": (stream(*RIGHT), 1, {"x": np.ones(7168, F32), "y": np.zeros(7168, F32), "n": 7}),
    "blocks": (stream(*RIGHT), 3, {"x": np.ones(2048, F32), "y": np.zeros(2048, F32), "n": 2}),
    "waits": ("tests/pto/waits.pto", 1, {"x": np.ones(64, F32), "base": np.zeros(8, np.int64)}),
    "level 3": (
        "examples/pto/level3.pto",
        1,
        {"x": np.ones(512, F32), "y": np.ones(512, F32), "rows": np.ones(1, np.int32)},
    ),
    "qk": (
        "tests/pto/qk.pto",
        1,
        {"q": np.ones(1 << 14, F16), "k": np.ones(1 << 16, F16), "s": np.ones(1 << 16, F32)},
    ),
}


def entries(name: str, engine: str) -> list[list[tuple[object, ...]]]:
    text, blocks, arrays = PROGRAMS[name]
    source = (ROOT / text).read_text(encoding="utf-8") if text.endswith(".pto") else text
    target, program = TARGETS["a2a3"], pto.loads(source)
    func = whole_kernel(program.module, program.entry_named(None))
    issue = LoggedIssue(target)
    made = Executable(func, Options(target, engine=engine, blocks=blocks))
    made.execute(arrays, observers=(issue,))
    assert not issue.cut
    return [[_facts(entry) for entry in core] for core in issue.cores]


def _facts(entry: QueueEntry) -> tuple[object, ...]:
    span = entry.op.span
    facts = entry.number, entry.op.name, span and span.start, entry.queue, entry.iteration
    if isinstance(entry, PipeWork):
        reads, writes = (
            [(r.space.name, r.space.core, r.ranges) for r in some]
            for some in (entry.reads, entry.writes)
        )
        return *facts, reads, writes, entry.operands
    if isinstance(entry, Post):
        return (*facts, entry.ticket)
    return (*facts, entry.tickets) if isinstance(entry, Await) else facts


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_log_of_compiled_code_has_what_the_reference_issues(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs: list[object] = []
    executed = LoggedIssue.executed

    def noted(self: LoggedIssue, log: Logged) -> None:
        logs.append(log)
        executed(self, log)

    monkeypatch.setattr(LoggedIssue, "executed", noted)
    expected = entries(name, "reference")
    assert not logs
    assert entries(name, "native") == expected
    assert logs
    assert any(expected)


def test_a_log_that_is_full_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("ptokit.machine.execute.LOG_WORDS", 64)
    monkeypatch.setattr("ptokit.engines.native.logwriting.LOG_WORDS", 64)
    monkeypatch.setattr("ptokit.engines.native.mainfunction.LOG_WORDS", 64)
    monkeypatch.setenv("PTOKIT_CACHE", str(tmp_path))
    target, program = TARGETS["a2a3"], pto.loads(stream(*RIGHT, iterations="%c4"))
    func = whole_kernel(program.module, program.entry_named(None))
    issue = LoggedIssue(target)
    arrays = {"x": np.ones(4096, F32), "y": np.zeros(4096, F32), "n": 4}
    Executable(func, Options(target, engine="native")).execute(arrays, observers=(issue,))
    assert issue.cut
    assert 0 < len(issue.cores[0]) < 40
